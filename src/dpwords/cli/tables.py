"""Lines for a terminal: tables, and columns of words with their changes marked."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dpwords.studies.study import Block, Column, Sample, Table

_GAP = 3


@dataclass(frozen=True)
class Terminal:
    """How wide the output may be, and whether it shows colours."""

    width: int | None  # None: as wide as needed
    colours: bool

    @classmethod
    def of_output(cls) -> Terminal:
        """The width and colours of standard output."""
        if sys.stdout is None or not sys.stdout.isatty():
            return cls(None, False)
        colours = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        return cls(shutil.get_terminal_size().columns, colours)


def table(shown: Table, terminal: Terminal) -> list[str]:
    """A table whose first column is left-aligned and whose other columns are right-aligned, one line for each row.

    If that is too wide for the terminal, each cell gets a line of its own.
    """
    rows = [shown.header, *(tuple(_cell(value) for value in row) for row in shown.rows)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    if terminal.width is not None and sum(widths) + _GAP * (len(widths) - 1) > terminal.width:
        names, longest = shown.header[1:], max(map(len, shown.header))
        return [shown.header[0]] + [
            line
            for name, *values in rows[1:]
            for line in (name, *(f"  {n.ljust(longest)} {v}" for n, v in zip(names, values, strict=True)))
        ]
    return [
        (" " * _GAP)
        .join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in rows
    ]


def side_by_side(block: Block, terminal: Terminal) -> list[str]:
    """As many columns of samples side by side as fit; changed letters are coloured or have a caret below them."""
    columns = [_lines(column, terminal) for column in block.columns]
    width = _GAP + max(_length(line) for column in columns for line in column)
    abreast = len(columns) if terminal.width is None else max((terminal.width + _GAP) // width, 1)
    lines = [block.title]
    for first in range(0, len(columns), abreast):
        together = columns[first : first + abreast]
        for row in zip(*together, strict=True):
            lines.append("".join(line + " " * (width - _length(line)) for line in row).rstrip())
    return lines


def _lines(column: Column, terminal: Terminal) -> list[str]:
    bound = column.loss.bound
    head = [column.mechanism, f"true ε {bound} {column.loss.epsilon:.4g}, mean distance {column.expected_distance:.4g}"]
    return head + [line for sample in column.samples for line in _sample(sample, terminal.colours)] + [""]


def _sample(sample: Sample, colours: bool) -> Sequence[str]:
    """The letters and the distance of a sample, with changes marked by colour or by carets on a second line."""
    marked = list(zip(sample.letters, sample.changed, strict=True))
    if colours:
        letters = "".join(click.style(a, fg="red", underline=True) if changed else a for a, changed in marked)
        return [f"{letters} {sample.distance:3}"]
    return [f"{sample.letters} {sample.distance:3}", "".join("^" if changed else " " for _, changed in marked)]


def _length(line: str) -> int:
    return len(click.unstyle(line))


def _cell(value: str | float | None) -> str:
    if value is None:
        return "—"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
