"""Where the states of a system are in a picture: in the cells of a grid, at their coordinates, or spread out."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.languages.systems import TransitionSystem

Arrangement = Literal["layers", "cells", "coordinates", "spread", "ranks"]  # how places of nodes are chosen
Spot = tuple[float, float]
MOST_STATES, MOST_ARROWS = 60, 200  # in a picture of a system whose states have no places of their own
MOST_ON_A_CIRCLE = 6  # states
_ROUNDS = 300  # steps towards the best places
_MOST_APART = 8.0  # shortest distances between two states across a diagram whose states are at their coordinates


class Cell(NamedTuple):
    """A cell of a grid."""

    row: int
    column: int


def cells_of(system: TransitionSystem) -> dict[Any, Cell] | None:
    """The cell of each state, if the states are the cells of a grid.

    Such states are pairs (row, column) or, as JSON and edge lists write them, texts like `0,1`; moves from states that
    are texts must lead to adjacent cells or stay in place. Cost: the edges.
    """
    cells: dict[Any, Cell] = {}
    named = False
    for state in system.states:
        if isinstance(state, tuple) and [*map(type, state)] == [int, int]:
            cells[state] = Cell(*state)
        elif isinstance(state, str) and re.fullmatch(r"-?\d{1,6},-?\d{1,6}", state, re.ASCII):
            cells[state] = Cell(*map(int, state.split(",")))
            named = True
        else:
            return None
    if len(set(cells.values())) < len(cells) or (named and not _adjacent(system, cells)):
        return None
    return cells


def _adjacent(system: TransitionSystem, cells: dict[Any, Cell]) -> bool:
    steps = ((cells[state], cells[target]) for state, row in system.transitions.items() for target in row.values())
    return all(abs(one.row - other.row) <= 1 and abs(one.column - other.column) <= 1 for one, other in steps)


def to_scale(system: TransitionSystem) -> dict[Any, Spot] | None:
    """The coordinates of a system, with the nearest two states at distance 1 and y growing downwards.

    None if there are no coordinates, if boxes at these places would be too far apart for a readable diagram, or if
    words consist of states, so that moves have no names to show: a map shows more then. Cost: the states, squared if
    there are at most 60.
    """
    at = system.positions
    if at is None or system.symbols_are == "states" or not 1 < len(at) <= MOST_STATES:
        return None
    spots = np.array(list(at.values()))
    nearest = _apart(spots)
    if not 0 < np.ptp(spots, axis=0).max() < _MOST_APART * nearest:
        return None
    return {state: (x / nearest, -y / nearest) for state, (x, y) in at.items()}


def spots_of(system: TransitionSystem) -> dict[Any, Spot]:
    """A place for each state, with y growing downwards: at its coordinates, in its cell, or spread out.

    Cost: the edges; where states have neither coordinates nor cells, that of `spread`.
    """
    if system.positions is not None:
        return {state: (x, -y) for state, (x, y) in system.positions.items()}
    return in_cells_or_spread(system, most=len(system.states))[1]


def in_cells_or_spread(system: TransitionSystem, most: int) -> tuple[Arrangement, dict[Any, Spot]]:
    """Places without regard to coordinates; more than `most` states that have no cells are not spread out."""
    cells = cells_of(system)
    if cells is not None:
        return "cells", {state: (float(cell.column), float(cell.row)) for state, cell in cells.items()}
    numbers = {state: number for number, state in enumerate(system.states)}
    pairs = [(numbers[state], numbers[to]) for state, row in system.transitions.items() for to in row.values()]
    first = None if system.start is None else numbers[system.start]
    return "spread", dict(zip(system.states, apart(len(numbers), pairs, first, most), strict=True))


def apart(number: int, pairs: Iterable[tuple[int, int]], first: int | None, most: int) -> list[Spot]:
    """Places for states that have none of their own: spread out, or on a circle if they are few or more than `most`."""
    return spread(number, pairs, first) if MOST_ON_A_CIRCLE < number <= most else on_a_circle(number)


def on_a_circle(number: int) -> list[Spot]:
    """Places on a circle, the first one on the left."""
    radius = max(number / 4, 0.75)
    turns = [2 * math.pi * index / number for index in range(number)]
    return [(-radius * math.cos(turn), -radius * math.sin(turn)) for turn in turns]


def spread(number: int, pairs: Iterable[tuple[int, int]], first: int | None) -> list[Spot]:
    """Places such that distances resemble numbers of moves between states, the state `first` on the left.

    They minimise the stress of Kamada and Kawai by majorisation. Cost: number³, and 300 · number².
    """
    hops = _hops(number, pairs)
    circle = np.array(on_a_circle(number))
    centred = np.eye(number) - 1 / number
    _, directions = np.linalg.eigh(-centred @ hops**2 @ centred / 2)
    spots = directions[:, -2:][:, ::-1] * number**0.5 + 0.1 * circle
    weights = 1 / (hops + np.eye(number)) ** 2 - np.eye(number)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_ROUNDS):
        between = np.linalg.norm(spots[:, None] - spots[None], axis=2)
        pull = -weights * hops / np.maximum(between, 1e-9)
        np.fill_diagonal(pull, 0.0)
        np.fill_diagonal(pull, -pull.sum(axis=1))
        spots = inverse @ pull @ spots
    spots *= np.where(spots[first or 0] > 0, -1, 1)
    return [(float(x), float(y)) for x, y in spots * max(1.0, 0.9 / _apart(spots))]


def _hops(number: int, pairs: Iterable[tuple[int, int]]) -> NDArray[np.float64]:
    """The numbers of moves between states, in either direction; states that are not connected are far apart."""
    hops = np.full((number, number), np.inf)
    np.fill_diagonal(hops, 0.0)
    for one, other in pairs:
        if one != other:
            hops[one, other] = hops[other, one] = 1.0
    for middle in range(number):
        hops = np.minimum(hops, hops[:, middle, None] + hops[None, middle])
    return np.where(np.isinf(hops), hops[np.isfinite(hops)].max() + 1, hops)


def _apart(spots: NDArray[np.float64]) -> float:
    """The distance of the nearest two places."""
    x, y = spots.T
    between = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(between, np.inf)
    return float(between.min())
