"""The kinds of values that a recipe has: what is checked, whoever gives them, and how each is written as JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.files import FileContent
from dpwords.core.limits import DEFAULTS as LIMITS
from dpwords.errors import InvalidValue, named

_LONGEST_TEXT = 10_000  # characters of a name, a path, a rule or an alphabet that is written as a literal
_MOST_TEXTS = 1_000  # rules
_HASH = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


@dataclass(frozen=True)
class NamedFile:
    """A public file that a recipe names without having its content: it has to be found again."""

    name: str  # without its folder, which is nobody's business but the owner's
    sha256: str | None = None  # of its content as `hash_of` sees it; receipts of earlier versions have none
    path: str | None = field(default=None, compare=False)  # where it was found


class FieldKind:
    """A kind of values."""

    longest = _LONGEST_TEXT
    choices: tuple[str, ...] = ()
    is_flag = False
    is_several = False
    is_number = False
    is_whole = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its values."""
        return {"type": "string", "maxLength": self.longest}

    def checked(self, name: str, value: Any) -> Any:
        """The value of a parameter of this name, which may come from anywhere, as a recipe has it."""
        if not isinstance(value, str) or len(value) > self.longest or "\0" in value:
            raise InvalidValue(f"{named(name)} must be a text of at most {self.longest:,} characters: correct it")
        return value

    def document(self, value: Any) -> Any:
        """The value as JSON has it."""
        return value


class TextField(FieldKind):
    """A text, such as the name of a column."""


@dataclass(frozen=True)
class ChoiceField(FieldKind):
    """One of some names."""

    choices: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """An enumeration."""
        return {"enum": list(self.choices)}

    def checked(self, name: str, value: Any) -> str:
        """The name itself."""
        if not isinstance(value, str) or value not in self.choices:
            raise InvalidValue(f"{named(name)} must be one of {', '.join(self.choices)}: correct it")
        return str(value)


class FlagField(FieldKind):
    """True or false."""

    is_flag = True

    @property
    def schema(self) -> dict[str, Any]:
        """A boolean."""
        return {"type": "boolean"}

    def checked(self, name: str, value: Any) -> bool:
        """The truth value itself."""
        if not isinstance(value, bool):
            raise InvalidValue(f"{named(name)} must be true or false: correct it")
        return value


@dataclass(frozen=True)
class NumberField(FieldKind):
    """A finite number above 0, or from 0 on."""

    example: int
    zero_allowed: bool = False
    is_number = True

    @property
    def schema(self) -> dict[str, Any]:
        """A number."""
        return {"type": "number", "minimum" if self.zero_allowed else "exclusiveMinimum": 0}

    def checked(self, name: str, value: Any) -> float:
        """The number as a float."""
        return positive_number(value, named(name), named(name, self.example), self.zero_allowed)

    def document(self, value: float) -> float | int:
        """The number, a whole one without a fraction."""
        return int(value) if value == int(value) else value


class WholeField(FieldKind):
    """A whole number from 1 on."""

    is_whole = True

    @property
    def schema(self) -> dict[str, Any]:
        """An integer."""
        return {"type": "integer", "minimum": 1}

    def checked(self, name: str, value: Any) -> int:
        """The number as an int."""
        return whole_number(value, named(name), 1)


class TextsField(FieldKind):
    """Several texts."""

    is_several = True

    @property
    def schema(self) -> dict[str, Any]:
        """An array."""
        return {"type": "array", "maxItems": _MOST_TEXTS, "items": super().schema}

    def checked(self, name: str, value: Any) -> tuple[str, ...]:
        """The texts as a tuple."""
        if isinstance(value, str) or not isinstance(value, Sequence) or len(value) > _MOST_TEXTS:
            raise InvalidValue(f"{named(name)} must be a list of at most {_MOST_TEXTS:,} texts: correct it")
        return tuple(super(TextsField, self).checked(name, each) for each in value)

    def document(self, value: Any) -> list[str]:
        """The texts as a list."""
        return list(value)


@dataclass(frozen=True)
class ListField(FieldKind):
    """An alphabet or a lexicon: a text that describes it or names its file, or all of its symbols or words."""

    content: str  # "symbol" or "word"
    longest = LIMITS.alphabet

    @property
    def schema(self) -> dict[str, Any]:
        """A text, a list, or a file that is only named."""
        every = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
        return {"anyOf": [super().schema, every, _NAMED]}

    def checked(self, name: str, value: Any) -> Any:
        """The text; a tuple of all symbols or words; or a named file."""
        if isinstance(value, (str, NamedFile)):
            return value if isinstance(value, NamedFile) else super().checked(name, value)
        if isinstance(value, Mapping):
            return _named_file(name, value)
        if not isinstance(value, Sequence) or not value or not all(map(_is_line, value)):
            raise InvalidValue(
                f"{named(name)} must be a text, or a list of {self.content}s, which are lines of text: correct it"
            )
        return tuple(value)

    def document(self, value: Any) -> Any:
        """A text, a list, or an object that names a file."""
        return list(value) if isinstance(value, tuple) else _document_of(value)


class SystemField(FieldKind):
    """A system: a grid or the path of a file as a text, a system in JSON, or the content of a file."""

    @property
    def schema(self) -> dict[str, Any]:
        """A text, a system, the content of a file, or a file that is only named."""
        name: dict[str, Any] = {"type": "string", "maxLength": _LONGEST_TEXT}
        rows = {
            "type": "object",
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "string"}},
        }
        system = {
            "type": "object",
            "required": ["start", "transitions"],
            "properties": {
                "name": name,
                "start": {"type": ["string", "null"]},
                "accepting": {"type": "array", "items": {"type": "string"}},
                "transitions": rows,
                "positions": {"type": "object"},
            },
            "additionalProperties": False,
        }
        content = {
            "type": "object",
            "required": ["name", "content"],
            "properties": {"name": name, "content": {"type": "string"}},
            "additionalProperties": False,
        }
        return {"anyOf": [super().schema, system, content, _NAMED]}

    def checked(self, name: str, value: Any) -> Any:
        """The text; the content of a file, which is JSON if the system was written as an object; or a named file."""
        if isinstance(value, (NamedFile, FileContent)):
            return value
        if not isinstance(value, Mapping):
            return super().checked(name, value)
        if "content" in value:
            if set(value) != {"name", "content"} or not isinstance(value["content"], str):
                raise InvalidValue(
                    f"{named(name)} has a name and its content, both texts, and nothing else: correct it"
                )
            return FileContent(_file_name(name, value["name"]), value["content"].encode("utf-8", "replace"))
        if "transitions" not in value:
            return _named_file(name, value)
        called = _file_name(name, value.get("name", "system.json"))
        system = {key: each for key, each in value.items() if key != "name"}
        return FileContent(str(PurePath(called).with_suffix(".json")), json.dumps(system, ensure_ascii=False).encode())

    def document(self, value: Any) -> Any:
        """A text, or an object; JSON stays JSON."""
        if not isinstance(value, FileContent):
            return _document_of(value)
        text = value.content.decode("utf-8", "replace")
        if PurePath(value.name).suffix.lower() == ".json":
            try:
                return {"name": value.name, **json.loads(text)}
            except (ValueError, TypeError, RecursionError):
                pass  # damaged: its content shows it again
        return {"name": value.name, "content": text}


_NAMED = {
    "type": "object",
    "required": ["name", "sha256"],
    "properties": {"name": {"type": "string", "minLength": 1, "maxLength": _LONGEST_TEXT}, "sha256": _HASH},
    "additionalProperties": False,
}


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value != "" and not re.search("[\r\n\ud800-\udfff]", value)


def hash_of(document: Any) -> str:
    """The hash by which a large alphabet, system or lexicon is known again."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _document_of(value: Any) -> Any:
    return {"name": value.name, "sha256": value.sha256} if isinstance(value, NamedFile) else value


def _named_file(name: str, value: Mapping[str, Any]) -> NamedFile:
    known = value.get("sha256")
    if set(value) != {"name", "sha256"} or not isinstance(known, str) or len(known) != 64 or not known.isalnum():
        raise InvalidValue(
            f"{named(name)} is an object only with a name and a sha256 of 64 hexadecimal digits: correct it"
        )
    return NamedFile(_file_name(name, value["name"]), known)


def _file_name(name: str, value: Any) -> str:
    """The name of a file without its folder: what came from elsewhere must not lead into other folders."""
    text = TextField().checked(name, value)
    if PurePath(text).name != text or text in ("", ".", ".."):
        raise InvalidValue(f"{named(name)} names a file without its folder: write for example roads.csv")
    return str(text)
