"""Public facts that take long to compute, kept between runs in a directory of the user's cache.

Each is the answer to a question: a JSON document in a file that is named after a hash of the question, which includes
the version of this package. The directory tells which public languages (by a hash), ε and lengths were used. Nothing in
it depends on private words beyond their lengths. `DPWORDS_CACHE` names another directory; if it is empty, nothing is
kept. Where nothing can be read or written, everything works without.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from dpwords import __version__
from dpwords.core.files import write_whole
from dpwords.errors import DPWordsError

VARIABLE = "DPWORDS_CACHE"


def directory() -> Path | None:
    """Where answers are kept; None if they are not."""
    named = os.environ.get(VARIABLE)
    if named is None:
        from platformdirs import user_cache_path

        return user_cache_path("dpwords", appauthor=False)
    return Path(named) if named else None


def kept(question: str) -> dict[str, Any] | None:
    """What was kept as the answer to a question; None if there is nothing, or if it cannot be read."""
    place = _place(question)
    try:
        found = None if place is None else json.loads(place.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def keep(question: str, answer: dict[str, Any]) -> None:
    """Keep an answer, completely or not at all."""
    place = _place(question)
    if place is not None:
        with suppress(OSError, DPWordsError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole({place: json.dumps(answer, indent=1).encode()})


def _place(question: str) -> Path | None:
    folder = directory()
    name = hashlib.sha256(f"{__version__} {question}".encode()).hexdigest()[:32]
    return None if folder is None else folder / f"{name}.json"
