"""What the Tab key offers for the values of options: names of files, alphabets, systems and rules, and never any data.

The functions are for `shell_complete=` of `click.option`; the heavy imports happen only when Tab is pressed.
"""

from __future__ import annotations

from collections.abc import Iterable
from glob import escape, glob
from os.path import isdir
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def files(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Names of files, which the shell finds by itself."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def alphabets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """Alphabets that have a name; after an @, names of files."""
    from dpwords.recipes.notation import NAMED_ALPHABETS

    if incomplete.startswith("@"):
        found = sorted(glob(escape(incomplete[1:]) + "*"))
        return _beginning(incomplete, (f"@{name}{'/' if isdir(name) else ''}" for name in found))
    return _beginning(incomplete, (f"name:{name}" for name in NAMED_ALPHABETS))


def systems(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """A grid, or names of files."""
    return files(context, parameter, incomplete) + _beginning(incomplete, ["grid:"])


def priors(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The uniform prior, or names of files."""
    return files(context, parameter, incomplete) + _beginning(incomplete, ["uniform"])


def rules(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """The names of rules."""
    from dpwords.languages import rules

    return _beginning(incomplete, (f"{name}:" for name in (*rules.__all__, "re")))


def _beginning(incomplete: str, values: Iterable[str]) -> list[CompletionItem[str]]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(value) for value in values if value.startswith(incomplete)]
