"""Runs on grids and maps, one panel for each, and pictures of grids and maps themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import hypot
from typing import TYPE_CHECKING, Any

from dpwords.core.symbols import Word, symbols_of
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.figures import Note, drawable, matplotlib_as_it_comes, new_figure, one_line, text_width
from dpwords.plots.grounds import Ground, ground_of
from dpwords.plots.palette import CHANGED, INK, RELEASED
from dpwords.plots.places import Spot
from dpwords.plots.samples import check_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_PANELS = 120
_MARGIN, _WHOLE = 0.12, 7.0  # inches
_ENDS = [Note("dot: start"), Note("square: end")]
_COMPARED = [
    Note("black, or pale behind another: the private run"),
    Note("blue: a sampled run", RELEASED),
    Note("orange: its steps that differ", CHANGED),
]
_ALONE = [Note("blue: a released run", RELEASED)]
_GAP, _SMALL = 10.0, 8.0  # points: between notes, and the size of their letters
_BEHIND = 0.3  # opacity of the private run behind a released one
_LANES = (0.0, 0.17, -0.17, 0.34, -0.34)  # sideways offsets, in cells, of repeated steps between the same two states
_LOOKS: dict[str, Any] = {"va": "center", "color": INK, "parse_math": False}


def whole(system: TransitionSystem, title: str) -> Figure:
    """The grid or map of a system, with its start and its accepting states."""
    ground = ground_of(system)
    starts = [] if system.start is None else [ground.spots[system.start]]
    ends = [ground.spots[state] for state in system.states if state in (system.accepting or ())]
    marks = ["dot: start"][: len(starts)] + ["ring: accepting"][: len(ends)]
    notes = [Note(text) for text in (*marks, *ground.notes)]
    texts = [text_width(title, 11.0), _width(notes)]
    wide = max(_WHOLE, max(texts) / 72 + 2 * _MARGIN)
    head, body = 0.4 if title else 0.0, _WHOLE * ground.aspect
    high = head + body + 0.3
    figure = new_figure((wide, high))
    figure.text(_MARGIN / wide, 1 - 0.2 / high, drawable(title), fontsize=11, **_LOOKS)
    _write(figure, notes)
    axes = figure.add_axes((0, 0.3 / high, _WHOLE / wide, body / high), xlim=ground.x, ylim=ground.y)
    axes.set_axis_off()
    ground.paint(axes, _WHOLE)
    cell = 72 * _WHOLE * ground.unit(_WHOLE) / (ground.x[1] - ground.x[0])
    dot = min(6.0, 0.7 * cell)
    for places, marker, size, fill in ((ends, "ring", 1.6 * dot, "none"), (starts, "dot", dot, INK)):
        for x, y in places:
            axes.plot(x, y, marker="o", color=INK, markerfacecolor=fill, markersize=size, gid=marker)
    return figure


@matplotlib_as_it_comes()
def runs(system: Language, rows: Mapping[str, Sequence[Word]], title: str = "", *, compared: bool = True) -> Figure:
    """Runs on a system, one panel for each, in named rows: the private run first, then released ones.

    Steps of released runs that differ from the private run are marked. With `compared=False` there is no private run:
    all runs are drawn as released ones, without marks, and may have different lengths.

    They are drawn on the grid or, at the coordinates of the states, on the part of the map where they are. Without
    either, the system is spread out or, if it has more than 60 states, the part that the runs visit. A system that is
    combined with rules is drawn as the system itself. Cost: the edges of the system, for each run.

    >>> from dpwords import GridWorld
    >>> figure = runs(GridWorld(3, 3), {"by hand": ["EESS", "ESES"]})
    """
    if not isinstance(system, Language) or system.system is None:
        raise InvalidValue("runs belong to a system: pass a TransitionSystem, for example a GridWorld")
    check_rows(rows.values(), alike=compared)
    rows, title = {one_line(name): words for name, words in rows.items()}, one_line(title)
    if sum(map(len, rows.values())) > MOST_PANELS:
        raise TooLarge(f"a picture can have at most {MOST_PANELS} runs: draw fewer")
    ways = {name: [_visited(system.system, word) for word in words] for name, words in rows.items()}
    ground = ground_of(system.system, [state for visits in ways.values() for visited in visits for state in visited])
    panel, board = ground.panel, ground.panel * ground.aspect
    notes = _ENDS + (_COMPARED if compared else _ALONE) + [Note(text) for text in ground.notes]
    heads = [0.3 if name else 0.0 for name in rows]
    texts = [text_width(title, 11.0), _width(notes), *(text_width(name, 9.0, "bold") for name in rows)]
    wide = max(max(map(len, rows.values())) * (panel + _MARGIN), max(texts) / 72 + _MARGIN) + _MARGIN
    top = high = (0.4 if title else 0.1) + sum(head + 0.25 + board + _MARGIN for head in heads) + 0.3
    figure = new_figure((wide, high))
    figure.text(_MARGIN / wide, 1 - 0.2 / high, drawable(title), fontsize=11, **_LOOKS)
    _write(figure, notes)
    top -= 0.4 if title else 0.1
    for head, (name, words) in zip(heads, rows.items(), strict=True):
        figure.text(_MARGIN / wide, (top - head / 2) / high, drawable(name), fontsize=9, weight="bold", **_LOOKS)
        top -= head + 0.25 + board + _MARGIN
        for place, word in enumerate(words):
            left = _MARGIN + place * (panel + _MARGIN)
            box = (left / wide, (top + _MARGIN) / high, panel / wide, board / high)
            axes = figure.add_axes(box, xlim=ground.x, ylim=ground.y)
            axes.set_axis_off()
            pair = (system.read(symbols_of(each)) for each in (words[0] if compared else word, word))
            changed = [own != other for own, other in zip(*pair, strict=True)]
            said = f"distance {sum(changed)}" if place else "private run"
            axes.set_title(said if compared else "", fontsize=9, pad=3, color=INK)
            ground.paint(axes, panel)
            if compared and place:
                _path(axes, ground, ways[name][0], [False] * len(changed), INK, _BEHIND)
            _path(axes, ground, ways[name][place], changed, RELEASED if place or not compared else INK)
    return figure


def _width(notes: Sequence[Note]) -> float:
    """The width of notes in a line, in points."""
    return sum(text_width(note.text, _SMALL) + _GAP for note in notes) - _GAP


def _write(figure: Figure, notes: Sequence[Note]) -> None:
    """Write notes in a line at the bottom of a figure, each in its colour."""
    wide, high = figure.get_size_inches()
    left = 72 * _MARGIN
    for note in notes:
        looks = {**_LOOKS, "color": note.colour}
        figure.text(left / 72 / wide, 0.15 / high, note.text, fontsize=_SMALL, **looks)
        left += text_width(note.text, _SMALL) + _GAP


def _path(
    axes: Axes, ground: Ground, visited: Sequence[Any], changed: Sequence[bool], colour: str, opacity: float = 1.0
) -> None:
    """Draw a run, step by step; a repeated step between the same two states is drawn beside the earlier one."""
    from matplotlib.collections import LineCollection

    unit = ground.unit(ground.panel)
    cell = 72 * ground.panel * unit / (ground.x[1] - ground.x[0])  # width in points
    colours = [CHANGED if differs else colour for differs in changed]
    used: Counter[frozenset[Any]] = Counter()
    steps: list[list[Spot]] = []
    end = start = ground.spots[visited[0]]
    for state, following in pairwise(visited):
        between = frozenset([state, following])
        aside = unit * _LANES[used[between] % len(_LANES)]
        used[between] += 1
        here, there = ground.spots[state], ground.spots[following]
        x, y = _across(here, there)
        steps.append([end, (here[0] + aside * x, here[1] + aside * y), (there[0] + aside * x, there[1] + aside * y)])
        end = steps[-1][-1]
    lines = LineCollection(steps, colors=colours[len(colours) - len(steps) :], alpha=opacity, gid="run")
    lines.set(linewidths=min(1.6, 0.13 * cell), capstyle="round" if opacity == 1 else "butt")
    axes.add_collection(lines)
    first = colours[0] if len(visited) == len(colours) else colour  # the first symbol may be the state of the start
    axes.plot(*start, marker="o", color=first, markersize=min(6.0, 0.7 * cell), alpha=opacity)
    axes.plot(*end, marker="s", color=colours[-1], markersize=min(3.5, 0.4 * cell), alpha=opacity)


def _across(here: Spot, there: Spot) -> Spot:
    """The direction across a step, the same for the step back; across a step in place, it is that of y."""
    x, y = here[1] - there[1], there[0] - here[0]
    length = hypot(x, y)
    if not length:
        return 0.0, 1.0
    return (x / length, y / length) if (y, x) > (0, 0) else (-x / length, -y / length)


def _visited(system: TransitionSystem, word: Word) -> list[Any]:
    """The states of a run, beginning with its start."""
    state = system.initial
    visited: list[Any] = [] if system.start is None else [state]
    for symbol in system.read(symbols_of(word)):
        state = system.step(state, symbol) if symbol in system.alphabet else None
        if state is None:
            raise InvalidValue("only a word of the system can be drawn as a run: pass one that the system accepts")
        visited.append(state)
    if not word:
        raise InvalidValue("the empty word has no run to draw: leave it out")
    return visited
