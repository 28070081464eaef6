"""Runs on a grid, one panel for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from dpwords.core.symbols import Word, symbols_of
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.measure import drawable, text_width
from dpwords.plots.structure import states_are_cells
from dpwords.plots.style import CHANGED, FAINT, INK, PALE, WALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGEST_BOARD = 100  # rows or columns
MOST_PANELS = 120
_PANEL, _MARGIN = 1.6, 0.12  # inches
_NOTE = "dot: start, square: end, light grey: the input, orange: steps that differ from it, dark grey: wall"
_LANES = (0.0, 0.17, -0.17, 0.34, -0.34)  # sideways offsets, in cells, of repeated steps between the same two cells
Cell = tuple[int, int]


def runs(system: TransitionSystem, rows: Mapping[str, Sequence[Word]], title: str) -> Figure:
    """Named rows of panels: the input first, then runs with changed steps marked."""
    from matplotlib.figure import Figure

    height, width = _size(system)
    if sum(map(len, rows.values())) > MOST_PANELS or max(height, width) > LARGEST_BOARD:
        raise TooLarge(f"a picture can have at most {MOST_PANELS} runs on {LARGEST_BOARD} rows or columns: draw fewer")
    board = _PANEL * height / width
    heads = [0.3 if name else 0.0 for name in rows]
    texts = [text_width(title, 11.0), text_width(_NOTE, 8.0), *(text_width(name, 9.0, "bold") for name in rows)]
    wide = max(max(map(len, rows.values())) * (_PANEL + _MARGIN), max(texts) / 72 + _MARGIN) + _MARGIN
    top = high = (0.4 if title else 0.1) + sum(head + 0.25 + board + _MARGIN for head in heads) + 0.3
    figure = Figure(figsize=(wide, high))
    looks: dict[str, Any] = {"va": "center", "color": INK, "parse_math": False}
    figure.text(_MARGIN / wide, 1 - 0.2 / high, drawable(title), fontsize=11, **looks)
    figure.text(_MARGIN / wide, 0.15 / high, _NOTE, fontsize=8, **looks)
    top -= 0.4 if title else 0.1
    for head, (name, words) in zip(heads, rows.items(), strict=True):
        figure.text(_MARGIN / wide, (top - head / 2) / high, drawable(name), fontsize=9, weight="bold", **looks)
        top -= head + 0.25 + board + _MARGIN
        for place, word in enumerate(words):
            left = _MARGIN + place * (_PANEL + _MARGIN)
            box = (left / wide, (top + _MARGIN) / high, _PANEL / wide, board / high)
            axes = figure.add_axes(box, xlim=(-0.6, width - 0.4), ylim=(height - 0.4, -0.6))
            axes.set_axis_off()
            changed = [own != other for own, other in zip(words[0], word, strict=True)]
            axes.set_title(f"distance {sum(changed)}" if place else "input", fontsize=9, pad=3, color=INK)
            _board(axes, set(system.states), height, width)
            if place:
                _path(axes, system, words[0], [False] * len(changed), PALE)
            _path(axes, system, word, changed, INK)
    return figure


def _size(system: TransitionSystem) -> tuple[int, int]:
    """The numbers of rows and columns of a grid.

    Unless the system states them, rows and columns beyond the last free cell are unknown and not counted.
    """
    if not states_are_cells(system):
        raise InvalidValue("runs are drawn on grids, where states are cells (row, column): draw the system instead")
    cells = cast(tuple[Cell, ...], system.states)
    return (
        getattr(system, "rows", 1 + max(row for row, _ in cells)),
        getattr(system, "columns", 1 + max(column for _, column in cells)),
    )


def _board(axes: Axes, cells: set[Any], height: int, width: int) -> None:
    """The grid, with walls where there are no cells."""
    from matplotlib.patches import Rectangle

    axes.hlines([line - 0.5 for line in range(height + 1)], -0.5, width - 0.5, colors=FAINT, linewidths=0.5, zorder=0)
    axes.vlines([line - 0.5 for line in range(width + 1)], -0.5, height - 0.5, colors=FAINT, linewidths=0.5, zorder=0)
    for row in range(height):
        for column in range(width):
            if (row, column) not in cells:
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=WALL, edgecolor="none"))


def _path(axes: Axes, system: TransitionSystem, word: Word, changed: Sequence[bool], colour: str) -> None:
    """Draw a run, step by step; a repeated step between the same two cells is drawn beside the earlier one."""
    from matplotlib.collections import LineCollection

    visited = _visited(system, word)
    cell = 72 * _PANEL / _size(system)[1]  # width in points
    thick = min(1.6, 0.13 * cell)
    colours = [CHANGED if differs else colour for differs in changed]
    used: Counter[frozenset[Cell]] = Counter()
    steps: list[list[tuple[float, float]]] = []
    end: tuple[float, float] = (visited[0][1], visited[0][0])
    for (row, column), (next_row, next_column) in pairwise(visited):
        between = frozenset([(row, column), (next_row, next_column)])
        aside = _LANES[used[between] % len(_LANES)]
        used[between] += 1
        x, y = (aside, 0.0) if row != next_row else (0.0, aside)
        steps.append([end, (column + x, row + y), (next_column + x, next_row + y)])
        end = steps[-1][-1]
    axes.add_collection(
        LineCollection(
            steps, colors=colours[len(colours) - len(steps) :], linewidths=thick, capstyle="round", gid="run"
        )
    )
    first = colours[0] if system.start is None else colour
    axes.plot(visited[0][1], visited[0][0], marker="o", color=first, markersize=min(6.0, 0.7 * cell))
    axes.plot(*end, marker="s", color=colours[-1], markersize=min(3.5, 0.4 * cell))


def _visited(system: TransitionSystem, word: Word) -> list[Cell]:
    """The cells of a run, beginning with its start."""
    state = system.initial
    visited: list[Any] = [] if system.start is None else [state]
    for symbol in symbols_of(word):
        state = system.step(state, symbol)
        if state is None:
            raise InvalidValue("only a word of the system can be drawn as a run: pass one that the system accepts")
        visited.append(state)
    return visited
