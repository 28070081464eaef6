"""The table of `dpwords accuracy`, row by row: plain in a pipe; on a terminal with colours, as wide as it is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpwords.cli.terminal import Terminal, in_bold

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table as Grid

    from dpwords.accuracy import Figures

MARK = "*"
_WIDTH = len("0.01234 (>99.9%)*")  # of a cell; smaller numbers reach into the gap before it
_NARROW = len("0.0001234")  # of a cell whose probability is on a second line
_FIRST = 8  # the width of the column of ε
_GAP = 2  # between columns of a terminal


@dataclass(frozen=True)
class AccuracyTable:
    """A column for each mechanism, with the names of those among which the best one is marked."""

    names: tuple[str, ...]
    contest: frozenset[str]
    terminal: Terminal

    def head(self) -> list[str]:
        """The names of the columns."""
        if not self.terminal.colours:
            return [_row("ε", map(_wide, self.names))]
        from rich.text import Text

        from dpwords.plots.palette import mechanism_colour

        names = [Text(name, in_bold(mechanism_colour(name))) for name in self.names]
        grid = self._grid()
        grid.add_row(Text("ε", "bold"), *names)
        ruled = _FIRST + len(self.names) * (self._width + _GAP)
        return self.terminal.lines(grid) + self.terminal.lines(Text("─" * ruled, "dim"))

    def distances(self, epsilon: float, found: Mapping[str, Figures]) -> list[str]:
        """The row of one ε, with the least distance marked."""
        best = self._least({name: each.distance for name, each in found.items()})
        return self._cells(f"{epsilon:g}", {name: _figures(each) for name, each in found.items()}, best)

    def epsilons(self, found: Mapping[str, float]) -> list[str]:
        """A row with an ε for each mechanism, the least of them marked; 0 stands for any ε, which is no distinction."""
        texts = {name: _number(each) if each else "any" for name, each in found.items()}
        return self._cells("", texts, None if 0.0 in found.values() else self._least(found))

    def _least(self, values: Mapping[str, float]) -> str | None:
        """The name with the least number, if there are several to compare."""
        known = {name: values[name] for name in values if name in self.contest and not math.isnan(values[name])}
        return min(known, key=lambda name: known[name]) if known and len(self.contest) > 1 else None

    def _cells(self, first: str, texts: Mapping[str, str], best: str | None) -> list[str]:
        if not self.terminal.colours:
            cells = {name: text + (MARK if name == best else " ") for name, text in texts.items()}
            return [_row(first, (cell.rjust(len(_wide(name))) for name, cell in cells.items()))]
        grid = self._grid()
        grid.add_row(first, *(_coloured(name, text, name == best) for name, text in texts.items()))
        return self.terminal.lines(grid)

    @property
    def _width(self) -> int:
        """The width of a column on a terminal; long names take several lines, and so do cells where it is narrow."""
        fits = _FIRST + len(self.names) * (_WIDTH + _GAP) <= (self.terminal.width or 0)
        return _WIDTH if fits else _NARROW

    def _grid(self) -> Grid:
        from rich.table import Table as Grid

        grid = Grid.grid(padding=(0, 0, 0, _GAP), pad_edge=False)
        grid.add_column(width=_FIRST, justify="right")
        for _ in self.names:
            grid.add_column(width=_GAP + self._width, justify="right")
        return grid


def _coloured(name: str, text: str, best: bool) -> RenderableType:
    """A cell with the mark, or with the room for it."""
    from rich.padding import Padding
    from rich.text import Text

    from dpwords.plots.palette import mechanism_colour

    if best:
        return Text(text + MARK, in_bold(mechanism_colour(name)))
    return Padding(Text(text), (0, len(MARK), 0, 0))


def _wide(name: str) -> str:
    return name.rjust(_WIDTH)


def _row(name: str, cells: Iterable[str]) -> str:
    return (name.rjust(_FIRST) + "".join(f"   {cell}" for cell in cells)).rstrip()


def _figures(found: Figures) -> str:
    within = "" if math.isnan(found.within) else f" ({_percent(found.within)})"
    return _number(found.distance) + within


def _percent(share: float) -> str:
    """A probability, without claiming that anything is certain or impossible."""
    return "<0.1%" if share < 0.001 else ">99.9%" if share > 0.999 else f"{share:.1%}"


def _number(value: float) -> str:
    return "too large" if math.isnan(value) else f"{value:.4g}"
