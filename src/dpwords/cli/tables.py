"""Lines for a terminal or a pipe: tables, facts, and columns of words with their changes marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dpwords.cli.terminal import Terminal, in_bold, meaning

if TYPE_CHECKING:
    from rich.text import Text

    from dpwords.studies.study import Block, Column, Sample

_GAP = 3


def percentage(confidence: float) -> str:
    """A confidence, in as many digits as it was given with.

    >>> percentage(0.95), percentage(0.999999999)
    ('95%', '99.9999999%')
    """
    return f"{100 * confidence:.12g}%"


def table(header: Sequence[str], rows: Iterable[Sequence[str | float | None]], terminal: Terminal) -> list[str]:
    """A table whose first column is left-aligned and whose other columns are right-aligned, one line for each row.

    If that is too wide for the terminal, each cell gets a line of its own. None stands for a missing number.
    """
    texts = [tuple(header), *(tuple(map(_cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    if terminal.width is not None and sum(widths) + _GAP * (len(widths) - 1) > terminal.width:
        names, longest = header[1:], max(map(len, header))
        return [header[0]] + [
            line
            for name, *values in texts[1:]
            for line in (name, *(f"  {n.ljust(longest)} {v}" for n, v in zip(names, values, strict=True)))
        ]
    if terminal.colours:
        return _rich_table(texts, terminal)
    return [
        (" " * _GAP)
        .join(
            cell.rjust(width) if position else cell.ljust(width)
            for position, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        .rstrip()
        for row in texts
    ]


def _rich_table(rows: Sequence[tuple[str, ...]], terminal: Terminal) -> list[str]:
    """The same with a line below the header, which is in bold type."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), border_style="dim")
    for position, name in enumerate(rows[0]):
        grid.add_column(Text(name), justify="right" if position else "left", no_wrap=True)
    for row in rows[1:]:
        grid.add_row(*map(Text, row))
    return terminal.lines(grid)


def facts(rows: Sequence[tuple[str, str]], terminal: Terminal) -> list[str]:
    """Names and what they stand for. On a terminal with colours names are bold, and long texts wrap beside them."""
    width = max(len(name) for name, _ in rows) + 2
    if not terminal.colours:
        return [f"{name.ljust(width)}{text}" for name, text in rows]
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column()
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return terminal.lines(grid)


def verdict(text: str, holds: bool, terminal: Terminal) -> list[str]:
    """A line that says whether a claim holds, in the colour that means it."""
    if not terminal.colours:
        return [text]
    from rich.text import Text

    return terminal.lines(Text(text, meaning("goal" if holds else "broken")))


def side_by_side(block: Block, terminal: Terminal) -> list[str]:
    """As many columns of samples side by side as fit; changed letters are coloured or have a caret below them."""
    from rich.text import Text

    columns = [_lines(column, terminal) for column in block.columns]
    width = _GAP + max(len(line) for column in columns for line in column)
    abreast = len(columns) if terminal.width is None else max((terminal.width + _GAP) // width, 1)
    lines = [Text(block.title, "bold")]
    for first in range(0, len(columns), abreast):
        for row in zip(*columns[first : first + abreast], strict=True):
            joined = Text.assemble(*(part for line in row for part in (line, " " * (width - len(line)))))
            joined.rstrip()
            lines.append(joined)
    if not terminal.colours:
        return [line.plain for line in lines]
    return [shown for line in lines for shown in terminal.lines(line) or [""]]


def _lines(column: Column, terminal: Terminal) -> list[Text]:
    from rich.text import Text

    from dpwords.plots.palette import mechanism_colour

    bound = column.loss.bound
    facts = f"true ε {bound} {column.loss.epsilon:.4g}, mean distance {column.expected_distance:.4g}"
    head = [Text(column.mechanism, in_bold(mechanism_colour(column.mechanism))), Text(facts)]
    samples = [line for sample in column.samples for line in _sample(sample, terminal.colours)]
    return [*head, *samples, Text()]


def _sample(sample: Sample, colours: bool) -> Sequence[Text]:
    """The letters and the distance of a sample, with changes marked by colour or by carets on a second line."""
    from rich.text import Text

    marked = list(zip(sample.letters, sample.changed, strict=True))
    distance = f" {sample.distance:3}"
    if colours:
        style = f"{meaning('changed')} underline"
        return [Text.assemble(*((letter, style if changed else "") for letter, changed in marked), distance)]
    return [Text(sample.letters + distance), Text("".join("^" if changed else " " for _, changed in marked))]


def _cell(value: str | float | None) -> str:
    if value is None:
        return "—"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
