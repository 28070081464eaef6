"""Figures of words and runs: what was changed, where, and how far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from dpwords.errors import InvalidValue
from dpwords.plots.measure import text_width
from dpwords.plots.structure import states_are_cells
from dpwords.plots.style import CHANGED, FAINT, INK, MARK, PALE
from dpwords.systems import TransitionSystem
from dpwords.words import Word, symbols_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = 8.0  # points
_MONOSPACED = 0.602  # width of a letter of the monospaced font, relative to its size
_SERIES = ((CHANGED, "o"), ("#7570b3", "s"), ("#1b9e77", "^"), ("#4d4d4d", "D"))
_DRIFT = 0.36  # of a cell, from the start of a run to its end, so that no part of it hides another
Cell = tuple[int, int]


def runs(system: TransitionSystem, rows: Mapping[str, Sequence[Word]], title: str) -> Figure:
    """Rows of panels, each with its name: the input first, then runs, with the steps that were changed marked."""
    from matplotlib.figure import Figure

    _check_lengths(rows.values())
    cells = _cells(system)
    height, width = 1 + max(row for row, _ in cells), 1 + max(column for _, column in cells)
    panel, margin = 1.6, 0.12  # inches
    each = 0.55 + panel * height / width + margin  # a row: its name, the panels' titles, the panels
    wide, high = max(map(len, rows.values())) * (panel + margin) + margin, len(rows) * each + 0.7
    figure = Figure(figsize=(max(wide, 5.0), high))
    wide = figure.get_figwidth()
    figure.text(margin / wide, 1 - 0.2 / high, title, fontsize=11, va="center", color=INK)
    for line, (name, words) in enumerate(rows.items()):
        top = high - 0.4 - line * each
        figure.text(margin / wide, (top - 0.15) / high, name, fontsize=9, weight="bold", va="center", color=INK)
        for place, word in enumerate(words):
            left, bottom = margin + place * (panel + margin), top - each + margin
            box = (left / wide, bottom / high, panel / wide, panel * height / width / high)
            axes = figure.add_axes(box, xlim=(-0.6, width - 0.4), ylim=(height - 0.4, -0.6))
            axes.set_axis_off()
            changed = [own != other for own, other in zip(words[0], word, strict=True)]
            axes.set_title(f"distance {sum(changed)}" if place else "input", fontsize=9, pad=3, color=INK)
            _board(axes, cells, height, width)
            if place:
                _path(axes, _visited(system, words[0]), [False] * len(changed), PALE)
            _path(axes, _visited(system, word), changed, INK)
    note = "dot: start, square: end, grey: the input, orange: steps that differ from it"
    figure.text(margin / wide, 0.15 / high, note, fontsize=8, va="center", color=INK)
    return figure


def words(secret: str, blocks: Sequence[Mapping[str, Sequence[str]]]) -> Figure:
    """Blocks of named columns of words and their distances; letters that differ from the secret's are marked."""
    from matplotlib.figure import Figure

    _check_lengths([secret, *samples] for block in blocks for samples in block.values())
    letter, line = _MONOSPACED * _SIZE, 1.6 * _SIZE  # points
    names = [text for block in blocks for name in block for text in name.splitlines()]
    width = 6 * letter + max((len(secret) + 4) * letter, *(text_width(name, _SIZE, "bold") for name in names))
    heads = [max(len(name.splitlines()) for name in block) for block in blocks]
    lines = [head + max(map(len, block.values())) + 1 for head, block in zip(heads, blocks, strict=True)]
    size = width * max(map(len, blocks)), line * (sum(lines) + 1.5)
    figure = Figure(figsize=(size[0] / 72, size[1] / 72))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, size[0]), ylim=(size[1], 0))
    axes.set_axis_off()
    for number, (block, head) in enumerate(zip(blocks, heads, strict=True)):
        for column, (name, samples) in enumerate(block.items()):
            left, top = column * width + 3 * letter, line * (sum(lines[:number]) + 1)
            for row, text in enumerate(name.splitlines()):
                y = top + row * line
                axes.text(left, y, text, fontsize=_SIZE, va="center_baseline", weight="bold", color=INK)
            for row, word in enumerate(samples, start=head):
                _word(axes, secret, word, left, top + row * line, letter)
    note = "orange: letters that differ from the secret's; the number is how many"
    axes.text(3 * letter, size[1] - line, note, fontsize=_SIZE, va="center_baseline", color=INK)
    return figure


def distances(panels: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Named panels, each with named distributions of the distance."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(2.6 * len(panels) + 0.6, 3.2), layout="constrained")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    for panel, (title, laws) in zip(axes, panels.items(), strict=True):
        for name, law in laws.items():
            colour, marker = _SERIES[names.index(name) % len(_SERIES)]
            panel.plot(range(len(law)), law, color=colour, marker=marker, markersize=3, linewidth=1, label=name)
        panel.set(title=title, xlabel="distance", ylim=(0, None))
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("probability")
    handles = {
        label: handle for panel in axes for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), frameon=False)
    return figure


def _check_lengths(rows: Iterable[Sequence[Word]]) -> None:
    for words in rows:
        if any(len(word) != len(words[0]) for word in words):
            raise InvalidValue("words that are compared have the same length: leave out those of another length")


def _word(axes: Axes, secret: str, word: str, left: float, y: float, letter: float) -> None:
    """A word with what differs from the secret marked, and its distance behind it."""
    from matplotlib.patches import Rectangle

    changed = [own != other for own, other in zip(secret, word, strict=True)]
    for place in (place for place, differs in enumerate(changed) if differs):
        corner = (left + place * letter, y - 0.72 * _SIZE)
        axes.add_patch(Rectangle(corner, letter, 1.44 * _SIZE, facecolor=MARK, edgecolor="none"))
    kept, other = (
        "".join(a if differs == shown else " " for a, differs in zip(word, changed, strict=True))
        for shown in (False, True)
    )
    looks: dict[str, Any] = {"fontsize": _SIZE, "family": "monospace", "va": "center_baseline", "parse_math": False}
    axes.text(left, y, kept, color=INK, **looks)
    axes.text(left, y, other, color=CHANGED, **looks)
    axes.text(left + (len(secret) + 1) * letter, y, str(sum(changed)), color=INK, **looks)


def _cells(system: TransitionSystem) -> set[Cell]:
    if not states_are_cells(system):
        raise InvalidValue("runs are drawn on grids, where states are cells (row, column): draw the system instead")
    return set(cast(tuple[Cell, ...], system.states))


def _visited(system: TransitionSystem, word: Word) -> list[Cell]:
    """The cells of a run, from its start."""
    state = system.initial
    visited: list[Any] = [] if system.start is None else [state]
    for symbol in symbols_of(word):
        state = system.step(state, symbol)
        if state is None:
            raise InvalidValue("a run that is drawn is a word of the system: this one is not")
        visited.append(state)
    return visited


def _board(axes: Axes, cells: set[Cell], height: int, width: int) -> None:
    """The grid, with walls where there are no cells."""
    from matplotlib.patches import Rectangle

    for line in range(height + 1):
        axes.plot([-0.5, width - 0.5], [line - 0.5] * 2, color=FAINT, linewidth=0.5, zorder=0)
    for line in range(width + 1):
        axes.plot([line - 0.5] * 2, [-0.5, height - 0.5], color=FAINT, linewidth=0.5, zorder=0)
    for row in range(height):
        for column in range(width):
            if (row, column) not in cells:
                axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=PALE, edgecolor="none"))


def _path(axes: Axes, visited: Sequence[Cell], changed: Sequence[bool], colour: str) -> None:
    """A run, drawn ever further to the lower right, so that no part of it hides another; changed steps marked."""
    from matplotlib.collections import LineCollection

    last = max(len(visited) - 1, 1)
    points = [
        (column + _DRIFT * (step / last - 0.5), row + _DRIFT * (step / last - 0.5))
        for step, (row, column) in enumerate(visited)
    ]
    steps = list(pairwise(points))
    colours = [CHANGED if differs else colour for differs in changed[len(changed) - len(steps) :]]
    axes.add_collection(LineCollection(steps, colors=colours, linewidths=1.6, capstyle="round"))
    axes.plot(*points[0], marker="o", color=colour, markersize=4)
    axes.plot(*points[-1], marker="s", color=colours[-1] if colours else colour, markersize=4)
