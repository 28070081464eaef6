"""Files that a command writes: they can be written, and none of them is a file that the command reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpwords.core.files import check_output, is_same_file, refuse_standard_input
from dpwords.errors import InvalidValue
from dpwords.recipes.fields import as_option
from dpwords.recipes.recipe import Recipe


def check_target(path: Path, option: str = "output", recipe: Recipe | None = None) -> None:
    """Refuse a file that could not be written, or that is read as well, before any work is done.

    `option` is the name of the parameter that says where to write, and `recipe` what a file of a recipe says.
    """
    check_output(path)
    refuse_overwriting(path, option, recipe)


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


def _texts(value: Any) -> list[str]:
    """The texts and paths that were given to an option."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [str(each) for each in values if isinstance(each, (str, Path))]
