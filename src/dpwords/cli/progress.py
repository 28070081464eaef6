"""Progress on standard error, when it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

import click

Item = TypeVar("Item")


def shown(items: Sequence[Item], label: str, least: int = 2) -> Iterator[Item]:
    """The items, with a progress bar if there are at least so many and somebody is looking."""
    if not sys.stderr.isatty() or len(items) < least:
        yield from items
        return
    with click.progressbar(items, label=label, file=sys.stderr) as bar:
        yield from bar
