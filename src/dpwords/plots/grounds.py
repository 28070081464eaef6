"""What runs are drawn on: a grid, a map, or a part of a system that has neither cells nor coordinates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpwords.errors import TooLarge
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.figures import drawable, text_width
from dpwords.plots.layout import Box
from dpwords.plots.palette import INK, PALE, ROAD, WALL
from dpwords.plots.places import MOST_ARROWS, MOST_STATES, Spot, cells_of, spread
from dpwords.plots.structure import visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST_BOARD = 100  # rows or columns
MOST_ROADS = 50_000
MOST_NAMES = 40  # states on a map that shows their names
MOST_DIRECTED = 500  # roads on a map that shows their directions
_NAME = 6.5  # font size
_FRAME = 0.94  # of a cell: the side of the frame of the start
_NUMBERS = 25  # rows, or columns, that are numbered
_LANE = 14.0  # points on a map that stand for the side of a cell
Road = tuple[Any, Any]


class Ground(ABC):
    """A background, the places of states on it, and the rectangle of the axes that is shown."""

    spots: Mapping[Any, Spot]
    x: tuple[float, float]  # limits of the axes, left and right
    y: tuple[float, float]  # bottom and top; on a grid, rows grow downwards
    panel: float  # the width of a panel with a run, in inches
    notes: list[str]  # what the background shows

    @property
    def aspect(self) -> float:
        """The height of a panel as a multiple of its width."""
        return abs(self.y[1] - self.y[0]) / (self.x[1] - self.x[0])

    @abstractmethod
    def unit(self, width: float) -> float:
        """The side of a cell, in the coordinates of a panel of this width in inches."""

    @abstractmethod
    def paint(self, axes: Axes, width: float) -> None:
        """Draw the background in a panel of this width in inches."""

    @abstractmethod
    def mark(self, axes: Axes, state: Any) -> str:
        """Mark the start, so that it can be told from proportions; returns what the mark is called."""

    @abstractmethod
    def number(self, axes: Axes) -> float:
        """Write numbers of rows and columns beside the background, if it has them; returns their height in points."""


def ground_of(system: TransitionSystem, visited: Iterable[Any] = ()) -> Ground:
    """The grid or map of a system. A map is as large as the system, or around the states visited if there are any.

    Without cells and coordinates, the system itself is spread out if it is small, otherwise the states visited and,
    if they are few, those that can be reached in one move from there. Cost: the edges.
    """
    around = list(dict.fromkeys(visited))
    if system.positions is not None:
        return Map(system, system.positions, around)
    cells = cells_of(system)
    if cells is not None:
        return Grid(system, cells)
    wider = dict.fromkeys([*around, *(target for state in around for _, target in system.follow(state))])
    for shown in ([*system.states], [*wider], around):
        roads = _roads(system, shown) if len(shown) <= MOST_STATES else []
        if len(shown) <= MOST_STATES and len(roads) <= MOST_ARROWS:
            break
    else:
        raise TooLarge(
            f"on a system without coordinates, runs can be drawn if they visit at most {MOST_STATES} states with "
            f"{MOST_ARROWS} moves between them: draw fewer or shorter runs, or give the system positions"
        )
    numbers = {state: number for number, state in enumerate(shown)}
    pairs = [(numbers[one], numbers[other]) for one, other in roads]
    spots = spread(len(shown), pairs, None if system.start is None else numbers.get(system.start))
    return Map(system, dict(zip(shown, spots, strict=True)), [])


class Grid(Ground):
    """Cells, with walls where there are none.

    Unless the system states them, rows and columns beyond the last free cell are not known and not shown.
    """

    panel = 1.6

    def __init__(self, system: TransitionSystem, cells: Mapping[Any, tuple[int, int]]) -> None:
        self.cells = set(cells.values())
        rows, columns = [row for row, _ in cells.values()], [column for _, column in cells.values()]
        self.rows = range(min(0, *rows), getattr(system, "rows", 1 + max(rows)))
        self.columns = range(min(0, *columns), getattr(system, "columns", 1 + max(columns)))
        if max(len(self.rows), len(self.columns)) > LARGEST_BOARD:
            raise TooLarge(
                f"a picture of a grid can have at most {LARGEST_BOARD} rows and columns, and this has "
                f"{len(self.rows)} × {len(self.columns)}: draw fewer"
            )
        self.spots = {state: (float(column), float(row)) for state, (row, column) in cells.items()}
        self.x = self.columns.start - 0.6, self.columns.stop - 0.4
        self.y = self.rows.stop - 0.4, self.rows.start - 0.6
        moves = {(cell, cells[target]) for state, cell in cells.items() for _, target in system.follow(state)}
        self.one_way = [move for move in moves if move[::-1] not in moves]
        beside = [
            ((row, column), cell)
            for row, column in self.cells
            for cell in ((row, column + 1), (row + 1, column))
            if cell in self.cells
        ]
        self.fences = [pair for pair in beside if pair not in moves and pair[::-1] not in moves]
        has_walls = self.fences or len(self.cells) < len(self.rows) * len(self.columns)
        self.notes = ["grey: wall"] * bool(has_walls) + ["arrowhead: one way"] * bool(self.one_way)

    def unit(self, width: float) -> float:
        return 1.0

    def paint(self, axes: Axes, width: float) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patches import Rectangle

        (left, right), (low, high) = self.x, self.y
        rows, columns = [row - 0.5 for row in (*self.rows, self.rows.stop)], (*self.columns, self.columns.stop)
        axes.hlines(rows, left + 0.1, right - 0.1, colors=PALE, linewidths=0.3, zorder=0)
        axes.vlines([c - 0.5 for c in columns], high + 0.1, low - 0.1, colors=PALE, linewidths=0.3, zorder=0)
        for row in self.rows:
            for column in self.columns:
                if (row, column) not in self.cells:
                    axes.add_patch(Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=WALL, edgecolor="none"))
        fences = [
            [(c + 0.5, r - 0.5), (c + 0.5, r + 0.5)] if r == below else [(c - 0.5, r + 0.5), (c + 0.5, r + 0.5)]
            for (r, c), (below, _) in self.fences
        ]
        axes.add_collection(LineCollection(fences, colors=WALL, linewidths=2.0, zorder=0.5, gid="fence"))
        ends = np.array([[one[::-1], other[::-1]] for one, other in self.one_way], float).reshape(-1, 2, 2)
        axes.add_collection(
            LineCollection(_chevrons(ends, 0.12), colors=WALL, linewidths=0.8, zorder=0.5, gid="one way")
        )

    def mark(self, axes: Axes, state: Any) -> str:
        from matplotlib.patches import Rectangle

        x, y = self.spots[state]
        corner, side = (x - _FRAME / 2, y - _FRAME / 2), _FRAME
        axes.add_patch(Rectangle(corner, side, side, fill=False, edgecolor=INK, linewidth=1.2, zorder=2.5, gid="start"))
        return "black frame: start"

    def number(self, axes: Axes) -> float:
        looks: dict[str, Any] = {"fontsize": 7, "color": INK, "clip_on": False}
        for row in self.rows[:: math.ceil(len(self.rows) / _NUMBERS)]:
            axes.text(self.x[0], row, str(row), ha="right", va="center", gid="row", **looks)
        for column in self.columns[:: math.ceil(len(self.columns) / _NUMBERS)]:
            axes.text(column, self.y[1], str(column), ha="center", va="bottom", gid="column", **looks)
        return 10.0


class Map(Ground):
    """States at their coordinates, and lines between those that a move connects; moves in place are not shown."""

    panel = 3.0

    def __init__(self, system: TransitionSystem, spots: Mapping[Any, Spot], around: list[Any]) -> None:
        self.spots = spots
        self.x, self.y = _frame(np.array([spots[state] for state in around or spots]))
        (left, right), (bottom, top) = self.x, self.y
        self.inside = [state for state, (x, y) in spots.items() if left <= x <= right and bottom <= y <= top]
        near = set(self.inside)
        roads = [road for road in _roads(system, spots) if not near.isdisjoint(road)]
        if len(roads) > MOST_ROADS:
            raise TooLarge(f"a map can have at most {MOST_ROADS} roads, and this has {len(roads)}: draw a part of it")
        self.ends = _lines(roads, spots)
        directed = roads if len(roads) <= MOST_DIRECTED else []
        self.one_way = _lines(
            [(one, other) for one, other in directed if one not in dict(system.follow(other)).values()], spots
        )
        self.notes = ["arrowhead: one way"] if len(self.one_way) else []
        if len(roads) > MOST_DIRECTED:
            self.notes = ["one-way moves are not marked"]
        self.has_names = len(self.inside) <= MOST_NAMES

    def unit(self, width: float) -> float:
        return _LANE * (self.x[1] - self.x[0]) / (72 * width)

    def paint(self, axes: Axes, width: float) -> None:
        from matplotlib.collections import LineCollection
        from matplotlib.patheffects import withStroke

        thick = 1.0 if self.has_names else 0.6
        axes.add_collection(LineCollection([*self.ends], colors=ROAD, linewidths=thick, zorder=0, gid="road"))
        heads = _chevrons(self.one_way, 0.2 * self.unit(width))
        axes.add_collection(LineCollection(heads, colors=WALL, linewidths=0.8, zorder=0.5, gid="one way"))
        if not self.has_names:
            return
        x, y = zip(*(self.spots[state] for state in self.inside), strict=True)
        axes.plot(x, y, linestyle="", marker="o", color=WALL, markersize=2.5, zorder=0.6, gid="state")
        looks: dict[str, Any] = {"fontsize": _NAME, "ha": "center", "va": "center", "parse_math": False, "zorder": 3}
        for name, box in self._names(width):
            text = axes.text(box.x, box.y, drawable(name), color=INK, gid="name", **looks)
            text.set_path_effects([withStroke(linewidth=1.5, foreground="white")])

    def mark(self, axes: Axes, state: Any) -> str:
        x, y = self.spots[state]
        axes.plot(x, y, "o", color=INK, markerfacecolor="none", markersize=10, zorder=2.5, gid="start")
        return "black ring: start"

    def number(self, axes: Axes) -> float:
        return 0.0

    def _names(self, width: float) -> list[tuple[str, Box]]:
        """Names beside their states, on the first side where there is room; a name without room is left out."""
        point = self.unit(width) / _LANE
        page = Box(sum(self.x) / 2, sum(self.y) / 2, self.x[1] - self.x[0], self.y[1] - self.y[0])
        taken = [Box(*self.spots[state], 5 * point, 5 * point) for state in self.inside]
        placed: list[tuple[str, Box]] = []
        for state in self.inside:
            name, (x, y) = visible(state), self.spots[state]
            wide, high = (text_width(name, _NAME) + 2) * point, 9 * point
            right, up = wide / 2 + 4 * point, 8 * point
            for across, above in ((0, up), (0, -up), (right, 0), (-right, 0)):
                box = Box(x + across, y + above, wide, high)
                within = abs(box.x - page.x) + wide / 2 <= page.width / 2
                within &= abs(box.y - page.y) + high / 2 <= page.height / 2
                if within and not any(box.meets(other, 0.0) for other in taken):
                    taken.append(box)
                    placed.append((name, box))
                    break
        return placed


def _frame(spots: NDArray[np.float64]) -> tuple[tuple[float, float], tuple[float, float]]:
    """Limits around places, with a margin, and neither side more than twice as long as the other."""
    low, high = spots.min(axis=0), spots.max(axis=0)
    sides = (high - low) if (high > low).any() else np.ones(2)
    sides = np.maximum(1.15 * sides, 0.6 * sides.max())
    (left, bottom), (right, top) = (low + high - sides) / 2, (low + high + sides) / 2
    return (float(left), float(right)), (float(bottom), float(top))


def _roads(system: TransitionSystem, states: Iterable[Any]) -> list[Road]:
    """The pairs of states between which there is a move, each once, in the direction of a move."""
    kept = dict.fromkeys(states)
    found: dict[frozenset[Any], Road] = {}
    for state in kept:
        for _, target in system.follow(state):
            if target in kept and target != state:
                found.setdefault(frozenset((state, target)), (state, target))
    return list(found.values())


def _lines(roads: Iterable[Road], spots: Mapping[Any, Spot]) -> NDArray[np.float64]:
    """The two ends of each road, as an array of shape (roads, 2, 2)."""
    return np.array([[spots[one], spots[other]] for one, other in roads]).reshape(-1, 2, 2)


def _chevrons(ends: NDArray[np.float64], size: float) -> list[NDArray[np.float64]]:
    """Arrowheads in the middle of lines, each as three points."""
    along = ends[:, 1] - ends[:, 0]
    along = size * along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300)
    aside = along[:, ::-1] * [-0.7, 0.7]
    middle = ends.mean(axis=1) + along / 2
    return [*np.stack([middle - along + aside, middle, middle - along - aside], axis=1)]
