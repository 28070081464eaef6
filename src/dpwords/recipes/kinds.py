"""The kinds of values that a recipe has: what is checked, whoever gives them, and how each is written as JSON."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.files import FileContent
from dpwords.core.limits import DEFAULTS as LIMITS
from dpwords.errors import InvalidValue, named

_LONGEST_TEXT = 10_000  # characters of a name, a path, a rule or an alphabet that is written as a literal
_MOST_TEXTS = 1_000  # rules
_SURROGATE = re.compile("[\ud800-\udfff]")
UNPRINTABLE = re.compile("[\r\n\ud800-\udfff]")  # a line break, or a surrogate, which UTF-8 cannot encode
HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_SHORT = {"type": "string", "maxLength": _LONGEST_TEXT}
_LONGEST_CELLS = 14 * 10**6  # characters: every cell of the largest grid
_SYSTEM_NAME = "system.json"  # that of a system which is written out without a name


@dataclass(frozen=True)
class NamedFile:
    """A public file that a recipe names without having its content: it has to be found again."""

    name: str  # without its folder, which is nobody's business but the owner's
    sha256: str | None = None  # of its content as `hash_of` sees it; receipts of earlier versions have none
    path: str | None = field(default=None, compare=False)  # where it was found


@dataclass(frozen=True)
class FieldKind:
    """A kind of values."""

    schema: Mapping[str, Any]  # the JSON Schema of its values; the command line derives from it what options take
    checked: Callable[[str, Any], Any]  # the value of a parameter, which may come from anywhere, as a recipe has it
    document: Callable[[Any], Any] = lambda value: value  # the value as JSON has it


def one_of(*choices: str) -> FieldKind:
    """One of some names."""

    def checked(name: str, value: Any) -> str:
        if not isinstance(value, str) or value not in choices:
            raise InvalidValue(f"{named(name)} must be one of {', '.join(choices)}: correct it")
        return str(value)

    return FieldKind({"enum": list(choices)}, checked)


def number(example: int, zero_allowed: bool = False, largest: float = math.inf) -> FieldKind:
    """A finite number above 0, or from 0 on, as a float; JSON has a whole one without a fraction."""
    most = {} if math.isinf(largest) else {"maximum": largest}
    return FieldKind(
        {"type": "number", "minimum" if zero_allowed else "exclusiveMinimum": 0, **most},
        lambda name, value: positive_number(value, named(name), named(name, example), zero_allowed, largest),
        lambda value: int(value) if value == int(value) else value,
    )


def list_of(content: str) -> FieldKind:
    """An alphabet or a lexicon: a text that describes it or names its file, or all of its symbols or words.

    `content` is "symbol" or "word". A recipe has all of them as a tuple.
    """

    def checked(name: str, value: Any) -> Any:
        if isinstance(value, os.PathLike):
            value = f"{'@' if content == 'symbol' else ''}{_file(name, value)}"
        if isinstance(value, str):
            return _text(name, value, LIMITS.alphabet)
        if isinstance(value, (NamedFile, Mapping)):
            return _named_file(name, value)
        if not isinstance(value, Sequence) or not value or not all(map(_is_line, value)):
            raise InvalidValue(
                f"{named(name)} must be a text, or a list of {content}s, which are lines of text: correct it"
            )
        return tuple(value)

    every = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
    return FieldKind(
        {"anyOf": [{"type": "string", "maxLength": LIMITS.alphabet}, every, _NAMED]},
        checked,
        lambda value: list(value) if isinstance(value, tuple) else _document_of(value),
    )


def _text(name: str, value: Any, longest: int = _LONGEST_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest or "\0" in value:
        raise InvalidValue(f"{named(name)} must be a text of at most {longest:,} characters: correct it")
    if _SURROGATE.search(value):
        raise InvalidValue(f"{named(name)} has half a character (a surrogate), which is not valid UTF-8: correct it")
    return value


def _file(name: str, value: Any) -> str:
    """The path of a file as text."""
    return _text(name, os.fspath(value) if isinstance(value, os.PathLike) else value)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > _MOST_TEXTS:
        raise InvalidValue(f"{named(name)} must be a list of at most {_MOST_TEXTS:,} texts: correct it")
    return tuple(_text(name, each) for each in value)


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(f"{named(name)} must be true or false: correct it")
    return value


def _system(name: str, value: Any) -> Any:
    """The text; the content of a file, which is JSON if the system was written as an object; or a named file."""
    if isinstance(value, FileContent):
        return value
    if not isinstance(value, (NamedFile, Mapping)):
        return _file(name, value)
    if isinstance(value, NamedFile) or not {"content", "transitions"} & value.keys():
        return _named_file(name, value)
    if "content" in value:
        if set(value) != {"name", "content"} or not isinstance(value["content"], str):
            raise InvalidValue(f"{named(name)} has a name and its content, both texts, and nothing else: correct it")
        return FileContent(_file_name(name, value["name"]), _text(name, value["content"], LIMITS.file).encode())
    called = _file_name(name, value.get("name", _SYSTEM_NAME))
    system = {key: each for key, each in value.items() if key != "name"}
    try:
        content = json.dumps(system, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidValue(
            f"{named(name)} must be written as in JSON, with UTF-8 texts for states and moves: write (0, 1) as '0,1'"
        ) from None
    return FileContent(str(PurePath(called).with_suffix(".json")), content)


def _system_document(value: Any) -> Any:
    """A text, or an object; JSON stays JSON."""
    if not isinstance(value, FileContent):
        return _document_of(value)
    text = value.content.decode("utf-8", "replace")
    if PurePath(value.name).suffix.lower() == ".json":
        try:
            return ({} if value.name == _SYSTEM_NAME else {"name": value.name}) | json.loads(text)
        except (ValueError, TypeError, RecursionError):
            pass  # damaged: its content shows it again
    return {"name": value.name, "content": text}


def hash_of(document: Any) -> str:
    """The hash by which a large alphabet, system or lexicon is known again."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value != "" and not UNPRINTABLE.search(value)


def _document_of(value: Any) -> Any:
    return {"name": value.name, "sha256": value.sha256} if isinstance(value, NamedFile) else value


def _named_file(name: str, value: NamedFile | Mapping[str, Any]) -> NamedFile:
    if isinstance(value, NamedFile):
        return value
    known = value.get("sha256")
    if set(value) != {"name", "sha256"} or not isinstance(known, str) or len(known) != 64 or not known.isalnum():
        raise InvalidValue(
            f"{named(name)} is an object only with a name and a sha256 of 64 hexadecimal digits: correct it"
        )
    return NamedFile(_file_name(name, value["name"]), known)


def _file_name(name: str, value: Any) -> str:
    """The name of a file without its folder: what came from elsewhere must not lead into other folders."""
    text = _text(name, value)
    if PurePath(text).name != text or text in ("", ".", ".."):
        raise InvalidValue(f"{named(name)} names a file without its folder: write for example roads.csv")
    return text


def _object(required: Sequence[str], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties, "additionalProperties": False}


_NAMED = _object(["name", "sha256"], name={"type": "string", "minLength": 1, "maxLength": _LONGEST_TEXT}, sha256=HASH)
_TRANSITIONS = _object(
    ["start", "transitions"],
    name=_SHORT,
    start={"type": ["string", "null"]},
    accepting={"type": "array", "items": {"type": "string"}},
    transitions={
        "type": "object",
        "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    positions={"type": "object"},
)
_CONTENT = _object(["name", "content"], name=_SHORT, content={"type": "string"})
TEXT = FieldKind(_SHORT, _text)  # such as the name of a column
FILE = FieldKind(_SHORT, _file)
CELLS = FieldKind(
    {"type": "string", "maxLength": _LONGEST_CELLS}, lambda name, value: _text(name, value, _LONGEST_CELLS)
)
TEXTS = FieldKind({"type": "array", "maxItems": _MOST_TEXTS, "items": _SHORT}, _texts, list)
FLAG = FieldKind({"type": "boolean"}, _flag)
WHOLE = FieldKind({"type": "integer", "minimum": 1}, lambda name, value: whole_number(value, named(name), 1))
SYSTEM = FieldKind({"anyOf": [_SHORT, _TRANSITIONS, _CONTENT, _NAMED]}, _system, _system_document)
