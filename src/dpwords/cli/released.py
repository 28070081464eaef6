"""A released file and its receipt: what it has, and the mechanism that it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from dpwords.cli.options import described, public_language
from dpwords.errors import DPWordsError, InvalidValue

if TYPE_CHECKING:
    from dpwords.frames.formats import FileForm
    from dpwords.frames.released import Released
    from dpwords.frames.streams import Input
    from dpwords.mechanisms.private import Private

_STANDARD = "-"
_INSTEAD = (  # options that stand for each other: if one of a group is given, those of the other groups do not count
    (("alphabet",), ("system", "words", "start", "action", "dot_symbols", "walls", "goal"), ("lexicon",)),
    (("column", "separator"), ("columns",), ("case", "symbol", "order")),
)
_FILES = {"alphabet": "--alphabet @PATH", "system": "--system PATH", "lexicon": "--lexicon PATH"}
_WHERE = ("column", "columns", "case", "symbol", "order", "separator")


@dataclass(frozen=True, eq=False)
class ReleasedFile:
    """What a released file has, and the mechanism that released it."""

    mechanism: Private
    contents: Released
    name: str
    separator: str | None  # between symbols, in words that are texts
    notes: tuple[str, ...]  # where the file differs from its receipt


def released_file(path: str, named: str | None) -> ReleasedFile:
    """Read a file that `dpwords release` wrote. The receipt says how; options of the running command come first."""
    from dpwords import __version__
    from dpwords.frames import need_pyarrow

    need_pyarrow()
    from dpwords.frames import receipts
    from dpwords.frames.formats import FileForm
    from dpwords.frames.passes import TableSource
    from dpwords.frames.released import released
    from dpwords.frames.requests import Request
    from dpwords.frames.streams import Input
    from dpwords.recipes.table_formats import DELIMITED

    form = FileForm.of(path, named)
    with Input(path) as source:
        document = _receipt(path, form, source)
        options = _merged(document, Path(path).parent, source.name)
        form = FileForm.of(path, named, not (options["no_header"] and form.kind in DELIMITED))
        mechanism = described(public_language(**options), **options)
        if document:
            receipts.check_mechanism(document, mechanism)
        words = document.get("words")
        number = words if isinstance(words, int) else None
        request = Request(**{name: options[name] for name in _WHERE})
        found = released(TableSource(source, form, form.reader(source)), mechanism, request, number)
        notes = []
        if number is not None and len(found) != number:
            notes.append(f"the receipt is about {number:,} releases, and {source.name} has {len(found):,}")
        if document.get("version", __version__) != __version__:
            notes.append("the file was released by another version of dpwords, whose calibration may be another one")
        return ReleasedFile(mechanism, found, source.name, options["separator"], tuple(notes))


def _receipt(path: str, form: FileForm, source: Input) -> Mapping[str, Any]:
    """The receipt; empty if there is none, and the options describe the release without it."""
    from dpwords.frames import receipts

    place = receipts.place_of(Path(path))
    told = click.get_current_context().params["epsilon"] is not None
    remedy = "say how the words were released, with --epsilon and --alphabet or --system"
    if not form.is_text:
        try:
            return receipts.inside(form.reader(source).schema, Path(path).name)
        except receipts.NoReceipt as error:
            if told:
                return {}
            raise InvalidValue(f"{error.message}; without it, {remedy}") from None
    if path != _STANDARD and place.exists():
        return receipts.read(path, form.kind)
    if told:
        return {}
    if path == _STANDARD:
        raise InvalidValue(f"standard input comes without a receipt: {remedy}")
    raise InvalidValue(f"there is no receipt {place.name} beside the file: put it there, or {remedy}")


def _merged(document: Mapping[str, Any], folder: Path, name: str) -> dict[str, Any]:
    """The options of the running command; those that the user does not give are those of the receipt."""
    context = click.get_current_context()
    merged = dict(context.params)
    recorded = document.get("options", {})
    if not isinstance(recorded, dict):
        raise _damaged(name)
    recorded = {**recorded, "epsilon": document.get("epsilon")} if document else {}
    given = {each for each in merged if context.get_parameter_source(each) is ParameterSource.COMMANDLINE}
    for parameter in context.command.params:
        option = parameter.name or ""
        if option in given or recorded.get(option) is None or _replaced(option, given):
            continue
        try:
            merged[option] = parameter.process_value(context, recorded[option])
        except (click.ClickException, DPWordsError, TypeError, ValueError):
            raise _damaged(name) from None
        if option in _FILES:
            merged[option] = _found(option, str(merged[option]), folder)
    return merged


def _replaced(option: str, given: set[str]) -> bool:
    """Whether the user has given an option that stands instead of this one."""
    return any(
        option in group and any(not given.isdisjoint(other) for other in groups if other is not group)
        for groups in _INSTEAD
        for group in groups
    )


def _found(option: str, value: str, folder: Path) -> str:
    """The value of an option that can name a file, which may lie where it lay, or beside the released file.

    A receipt has the name of a file without its folder.
    """
    names_file = value.startswith("@") if option == "alphabet" else not value.startswith("grid:")
    mark = "@" if option == "alphabet" else ""
    path = Path(value.removeprefix(mark))
    if not names_file or path.is_file():
        return value
    if (folder / path).is_file():
        return f"{mark}{folder / path}"
    raise InvalidValue(f"the receipt names the file {path.name}, which is not here: say where, with {_FILES[option]}")


def _damaged(name: str) -> InvalidValue:
    return InvalidValue(f"the receipt of {name} is damaged: release the file again, or describe it by options")
