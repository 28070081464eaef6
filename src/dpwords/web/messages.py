"""How the page and its server talk: a line of JSON, and after it the bytes of a file, if there is one.

Requests and answers have the same form, so that a file never has to be written to disk or put into JSON. Messages of
the library are put as the page would put them.
"""

from __future__ import annotations

import json
import math
from typing import Any, NamedTuple

from dpwords.errors import DPWordsError, InvalidValue, as_argument, rendered

CONTENT_TYPE = "application/octet-stream"
_LABELS = {  # of the fields of the page, by the names of parameters
    "alpha": "α of the inverse utility",
    "alphabet": "Alphabet",
    "by": "Whose word it is",
    "budget": "Budget of each person, ε",
    "calibration": "Calibration",
    "case": "Column of the case",
    "column": "Column of the words",
    "columns": "First step",
    "drop_others": "Leave out all other columns",
    "edits": "What is hidden",
    "epsilon": "ε of each word",
    "format": "Format",
    "goal": "Goal",
    "header": "Format: with a header",
    "input": "File",
    "invalid": "Leave out rows that have no word of the language",
    "k": "k",
    "mechanism": "Mechanism",
    "model": "Model of the population",
    "no_header": "Format: without a header",
    "order": "Ordered by",
    "rules": "Rules",
    "separator": "Between symbols",
    "split": "Privacy is spent",
    "start": "Start",
    "symbol": "Column of the symbol",
    "system": "File of the system",
    "utility": "Utility",
    "walls": "Walls",
    "words": "Symbols are",
}


class Message(NamedTuple):
    """A request or an answer: named values, and the bytes of a file."""

    values: dict[str, Any]
    content: bytes = b""

    def encoded(self) -> bytes:
        """The message as bytes; numbers that are not finite are not allowed in it."""
        return json.dumps(self.values, allow_nan=False).encode() + b"\n" + self.content


def picked(value: object, *names: str) -> dict[str, Any]:
    """Some attributes of a value, by name."""
    return {name: getattr(value, name) for name in names}


def finite(value: float) -> float | None:
    """A number as messages can hold it: None if it is not finite."""
    return value if math.isfinite(value) else None


def decoded(body: bytes) -> Message:
    """The message that stands in the body of a request."""
    line, _, content = body.partition(b"\n")
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise InvalidValue("the request could not be read: reload the page")
    return Message(values, content)


def on_page(error: DPWordsError) -> str:
    """The message of an error, with the labels of the page, and parameters that it does not have as those of Python.

    >>> from dpwords.errors import InvalidValue, named
    >>> on_page(InvalidValue(f"row 2 has no word: correct it, or skip such rows ({named('invalid', 'skip')})"))
    'row 2 has no word: correct it, or skip such rows (“Leave out rows that have no word of the language”)'
    """
    return labelled(error.message)


def labelled(message: str) -> str:
    """A text whose parameters have the names that the page gives them."""
    return rendered(message, _label)


def _label(name: str, value: str | None) -> str:
    if name not in _LABELS:
        return f"{as_argument(name, value)} in Python"
    return f"“{_LABELS[name]}”" + ("" if value in (None, "True") or name == "invalid" else f" {value}")
