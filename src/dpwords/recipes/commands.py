"""A recipe as a command, for a shell."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, TypeGuard

from dpwords.core.files import FileContent
from dpwords.recipes.fields import FIELDS, WHERE, Section, as_option
from dpwords.recipes.kinds import NamedFile

if TYPE_CHECKING:
    from dpwords.recipes.description import Description

_FIRST, _LAST = ("input", "format", "output_format"), ("output",)
_LISTS = {"alphabet": "symbols.txt", "lexicon": "words.txt"}  # the files that a command writes before it reads them
_LONGEST_WRITTEN = 4_000  # characters of a system that is written out


def command(recipe: Description, name: str = "release", more: Mapping[str, Any] | None = None) -> str:
    """The command of this name with the options of a recipe, on several lines; `more` are other options, which come
    first. What came as a list, or as a system in JSON, is written to a file before.
    """
    files, options = _written(recipe)
    values = dict(more or {}) | options
    ordered = [*(more or {}), *sorted((key for key in options if key not in (more or {})), key=_place)]
    parts = [f"dpwords {name}"] + [_option(key, each) for key in ordered for each in _each(values[key])]
    first = parts[:2] if len(parts) > 1 else parts
    written = [f"printf '%s\\n' {' '.join(map(shlex.quote, lines))} > {shlex.quote(f)}" for f, lines in files.items()]
    return "\n".join([*written, _folded([" ".join(first), *parts[2:]])])


def _written(recipe: Description) -> tuple[dict[str, list[str]], dict[str, Any]]:
    """The files that have to be written before, by their names, and the values of all options."""
    files: dict[str, list[str]] = {}
    options = recipe.values()
    if recipe.shares_budget:
        options = {key: value for key, value in options.items() if (key, value) != ("split", "equal")}
    for key, value in list(options.items()):
        mark = "@" if key == "alphabet" else ""
        if isinstance(value, NamedFile):
            options[key] = f"{mark}{value.path or value.name}"
        elif isinstance(value, FileContent):
            options[key] = value.name
            if is_written_out(value):
                files[value.name] = [value.content.decode("utf-8", "replace")]
        elif isinstance(value, tuple) and key in _LISTS:
            options[key], files[_LISTS[key]] = f"{mark}{_LISTS[key]}", list(value)
    return files, options


def is_written_out(value: Any) -> TypeGuard[FileContent]:
    """Whether a value is a small system in JSON, which commands and code have in full; other files have to be there."""
    small = isinstance(value, FileContent) and len(value.content) <= _LONGEST_WRITTEN
    return small and PurePath(value.name).suffix.lower() == ".json"


def _place(key: str) -> tuple[int, int]:
    """Files first, then where the words are, what may be released, what is promised, and whose words they are."""
    section = FIELDS[key].section
    later = [key not in _FIRST, key not in WHERE, section is not Section.LANGUAGE, section is not Section.PROMISE]
    return (later.index(False) if False in later else len(later) + (key in _LAST)), list(FIELDS).index(key)


def _each(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _option(key: str, value: Any) -> str:
    """An option with its value, as a shell takes it."""
    if value is True:
        return as_option(key)
    text = repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
    return f"{as_option(key)} {shlex.quote(text)}"


def _folded(parts: list[str], width: int = 80) -> str:
    """A command on lines of some width."""
    lines = [parts[0]]
    for part in parts[1:]:
        if len(lines[-1]) + len(part) < width:
            lines[-1] += f" {part}"
        else:
            lines[-1] += " \\"
            lines.append(f"    {part}")
    return "\n".join(lines)
