"""Public facts that take long to compute, cached between commands in a directory of the user.

Each is the answer to a question: a JSON document in a file that is named after a hash of the question. The question
includes the version of this package, a hash of the code that finds answers, and the versions of NumPy and Numba: what
another build has cached is not an answer. With each answer a tag is stored that only this user's installation can
compute, from a secret key in the same directory. A valid tag says: this code, run by this user, has found the answer.
Whoever can read the key as this user can change the program itself. In a directory that others can write to, no tag is
valid.

The directory tells which public languages (by a hash), ε and lengths were used. Nothing in it depends on private words
beyond their lengths. `DPWORDS_CACHE` names another directory; if it is empty, nothing is cached. Where nothing can be
read or written, or where the code does not consist of readable files (in a zip archive, or without its source),
everything works without.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import dpwords
from dpwords.core.files import read_bytes, write_whole
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import DPWordsError

VARIABLE = "DPWORDS_CACHE"
_PACKAGES = ("_kernels", "core", "languages", "mechanisms", "privacy", "spaces")  # whose code finds answers
_TOP = Path(dpwords.__path__[0])
_KEY = 32  # bytes


class Cached(NamedTuple):
    """A cached answer; it is *ours* if its tag is valid, otherwise it is only a claim."""

    answer: dict[str, Any]
    ours: bool


def directory() -> Path | None:
    """Where answers are cached; None if they are not."""
    named = os.environ.get(VARIABLE)
    if named is None:
        from platformdirs import user_cache_path

        return user_cache_path("dpwords", appauthor=False)
    return Path(named) if named else None


def cached(question: str) -> Cached | None:
    """The cached answer to a question; None if there is nothing, or if it cannot be read or is too large."""
    place = _place(question)
    try:
        found = None if place is None else json.loads(read_bytes(place, Limits(file=DEFAULTS.cached_file)))
    except (DPWordsError, ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    tag, ours = found.pop("tag", None), False
    with suppress(OSError):
        ours = hmac.compare_digest(str(tag).encode(), _tag(question, found).encode()) and _only_ours()
    return Cached(found, ours)


def store(question: str, answer: dict[str, Any]) -> None:
    """Store an answer with its tag, completely or not at all; none if the code was replaced while it was found."""
    place = _place(question)
    if place is not None and not _is_replaced(_code(_TOP), dpwords._STARTED):
        with suppress(OSError, DPWordsError):
            place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            document = answer | {"tag": _tag(question, answer)}
            write_whole({place: json.dumps(document, indent=1).encode()})


@cache
def build(top: Path = _TOP, since: float = dpwords._STARTED) -> str | None:
    """The version of this package, a hash of the code that finds answers, and the versions of what it rests on.

    None if the code cannot be read, or was replaced since the import of this package. Cost: a few milliseconds, once.
    """
    from importlib.metadata import PackageNotFoundError, version

    found = hashlib.sha256()
    try:
        files = _code(top)
        for path in files:
            content = path.read_bytes()
            found.update(f"{path.relative_to(top).as_posix()} {len(content)} ".encode() + content)
        if not files or _is_replaced(files, since):
            return None
        return f"{dpwords.__version__} {found.hexdigest()} {version('numpy')} {version('numba')}"
    except (OSError, PackageNotFoundError):
        return None


def _code(top: Path) -> list[Path]:
    return sorted(path for package in _PACKAGES for path in (top / package).rglob("*.py"))


def _is_replaced(files: list[Path], since: float) -> bool:
    """Whether a file was written since then, or cannot be found.

    Whoever copies a file may give it an earlier time of writing; the time of its last change is the system's.
    """
    try:
        return any(max(path.stat().st_mtime, path.stat().st_ctime) > since for path in files)
    except OSError:
        return True


def _asked(question: str) -> str:
    return f"{build()} {question}"


def _place(question: str) -> Path | None:
    """The file of a question; None if nothing is cached."""
    folder = directory()
    if folder is None or build() is None:
        return None
    return folder / f"{hashlib.sha256(_asked(question).encode()).hexdigest()[:32]}.json"


def _tag(question: str, answer: dict[str, Any]) -> str:
    claim = json.dumps([_asked(question), answer], sort_keys=True)
    return hmac.new(_key(), claim.encode(), hashlib.sha256).hexdigest()


def _only_ours() -> bool:
    """Whether directory and key belong to this user, and others can neither write to the one nor read the other."""
    folder = directory()
    if folder is None or os.name != "posix":
        return folder is not None
    there, key = folder.stat(), (folder / "key").stat()
    return {there.st_uid, key.st_uid} == {os.geteuid()} and not there.st_mode & 0o022 and not key.st_mode & 0o077


def _key() -> bytes:
    """The secret key of the directory, readable by its owner only; it is made when it is first needed."""
    folder = directory()
    if folder is None:
        raise OSError("nothing is cached")
    place, part = folder / "key", folder / f".{secrets.token_hex(8)}"
    if place.exists() and place.stat().st_size != _KEY:  # damaged: what it has signed is only a claim
        place.unlink()
    if not place.exists():
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_bytes(_KEY))
        with suppress(FileExistsError):  # another process was quicker
            os.link(part, place)  # all of the key, or none
        part.unlink()
    with place.open("rb") as file:
        key = file.read(_KEY + 1)
    if len(key) != _KEY:
        raise OSError("the key is damaged")
    return key
