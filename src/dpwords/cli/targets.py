"""Files that a command writes: they can be written, and none of them is a file that the command reads."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from dpwords.core.files import check_output, is_same_file, refuse_standard_input
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import as_option
from dpwords.recipes.kinds import NamedFile
from dpwords.recipes.recipe import Recipe

_PICTURES = (".svg", ".png")


def check_target(
    path: Path, option: str = "output", recipe: Recipe | None = None, suffixes: Sequence[str] = ()
) -> None:
    """Refuse a file that could not be written, or that is read as well, before any work is done.

    `option` is the name of the parameter that says where to write, and `recipe` what a file of a recipe says. If there
    are `suffixes`, the name of the file has to end in one of them.
    """
    kind = path.suffix.lower()
    if suffixes and kind not in suffixes:
        *others, last = suffixes
        raise InvalidValue(f"--{option} takes a file name that ends in {', '.join(others)} or {last}")
    if suffixes and kind in _PICTURES:
        from dpwords import plots

        plots.need_matplotlib()
    check_output(path)
    refuse_overwriting(path, option, recipe)


def check_plot(path: Path | None) -> None:
    """Refuse a plot that could not be drawn or written, if one is wanted, before anything is computed."""
    if path is not None:
        check_target(path, "plot", suffixes=_PICTURES)


def refuse_overwriting(path: Path, option: str = "output", recipe: Recipe | None = None) -> None:
    """Refuse to write to a file that is read as well: whatever another option or a recipe names, and standard input.

    Links count as the file that they lead to.
    """
    from dpwords.frames.receipts import path_of

    refuse_standard_input(path)
    context = click.get_current_context()
    values = {as_option(key): value for key, value in (recipe.values() if recipe else {}).items()}
    for parameter in context.command.params:
        if isinstance(parameter, click.Option) and context.params.get(parameter.name or "") is not None:
            values[parameter.opts[0]] = context.params[parameter.name or ""]
    for named, value in values.items():
        for text in _texts(value) if named != as_option(option) else ():
            if any(is_same_file(path, each) for each in (text, text.removeprefix("@"), path_of(Path(text)))):
                raise InvalidValue(f"{path.name} would be overwritten, and {named} needs it: write to another file")


def csv_content(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """The content of a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    return text.getvalue().encode()


def json_content(document: Any) -> bytes:
    """The content of a JSON file."""
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def _texts(value: Any) -> list[str]:
    """The texts and paths that were given to an option, or that a recipe has."""
    values = value if isinstance(value, (list, tuple)) else [value]
    values = [each.path if isinstance(each, NamedFile) else each for each in values]
    return [str(each) for each in values if isinstance(each, (str, Path))]
