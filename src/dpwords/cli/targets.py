"""Files that a command writes: they can be written, and none of them is a file that the command reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dpwords.core.files import check_output, is_same_file, refuse_standard_input
from dpwords.errors import InvalidValue


def check_target(path: Path, option: str = "output") -> None:
    """Refuse a file that could not be written, or that is read as well, before any work is done.

    `option` is the name of the parameter that says where to write.
    """
    check_output(path)
    refuse_overwriting(path, option)


def refuse_overwriting(path: Path, option: str = "output") -> None:
    """Refuse to write to a file that is read as well: whatever another option names, and standard input.

    Links count as the file that they lead to.
    """
    from dpwords.frames.receipts import place_of

    refuse_standard_input(path)
    context = click.get_current_context()
    for parameter in context.command.params:
        if isinstance(parameter, click.Option) and parameter.name != option:
            for named in _texts(context.params.get(parameter.name or "")):
                if any(is_same_file(path, each) for each in (named, named.removeprefix("@"), place_of(Path(named)))):
                    raise InvalidValue(
                        f"{path.name} would be overwritten, and {parameter.opts[0]} needs it: write to another file"
                    )


def _texts(value: Any) -> list[str]:
    """The texts and paths that were given to an option."""
    values = value if isinstance(value, (list, tuple)) else [value]
    return [str(each) for each in values if isinstance(each, (str, Path))]
