"""How the page and its server talk: a line of JSON, and after it the bytes of a file, if there is one.

Requests and answers have the same form, so that a file never has to be written to disk or put into JSON.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from dpwords.errors import InvalidValue

CONTENT_TYPE = "application/octet-stream"
_NOT_READ = "the request could not be read: reload the page"


class Message(NamedTuple):
    """A request or an answer: named values, and the bytes of a file."""

    values: dict[str, Any]
    content: bytes = b""

    def encoded(self) -> bytes:
        """The message as bytes; numbers that are not finite are not allowed in it."""
        return json.dumps(self.values, allow_nan=False).encode() + b"\n" + self.content


def finite(value: float) -> float | None:
    """A number as messages can hold it: None if it is not finite."""
    return value if math.isfinite(value) else None


def decoded(body: bytes) -> Message:
    """The message that stands in the body of a request."""
    line, _, content = body.partition(b"\n")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise InvalidValue(_NOT_READ) from None
    if not isinstance(values, dict):
        raise InvalidValue(_NOT_READ)
    return Message(values, content)
