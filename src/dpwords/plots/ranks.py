"""Graphs from start to end: nodes in rows such that the main arrows lead down, with few crossings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dpwords.plots.places import Spot

Pair = tuple[int, int]
_SWEEPS = 12  # downwards and upwards, of which the order with the fewest crossings is kept; more change little
_LANE = 0.45  # width of a passing arrow, in columns


class Ranked(NamedTuple):
    """The place of each node, and for each arrow the places where it passes the rows between its two ends."""

    spots: list[Spot]
    passes: dict[Pair, list[Spot]]


def ranked(
    number: int,
    flows: Mapping[Pair, float],
    starts: Collection[int] = (),
    ends: Collection[int] = (),
    top: int | None = None,
    bottom: int | None = None,
) -> Ranked:
    """Places for nodes, given how much flows between them; `starts` are as far up as possible, and `ends` down. The
    node `top` is above all others, and `bottom` below. What is not joined with `top` is as far down as possible.

    The largest flows that make no cycle lead down, and a node's row is the length of the longest path to it. Cost:
    flows · (nodes + flows), and for the sweeps arrows · rows.
    """
    down = _without_cycles(flows, starts, ends)
    rows = _rows(number, down, top)
    if top is not None:
        rows = _sunk(rows, flows, top, bottom)
    if bottom is not None:
        rows[bottom] = 1 + max(row for node, row in enumerate(rows) if node != bottom)
    chains: dict[Pair, list[int]] = {}  # nodes and, in the rows between, stand-ins for arrows
    row_of = [*rows]
    for one, other in flows:
        if one == other:
            continue
        upper, lower = (one, other) if rows[one] < rows[other] else (other, one)
        between = [*range(len(row_of), len(row_of) + rows[lower] - rows[upper] - 1)]
        row_of += range(rows[upper] + 1, rows[lower])
        chains[one, other] = [upper, *between, lower] if upper == one else [lower, *reversed(between), upper]
    ways = [(chain, flows[pair]) for pair, chain in chains.items()]
    order = _ordered(row_of, ways)
    columns = _columns(number, order, ways)
    spots = [(columns[node], float(row)) for node, row in enumerate(row_of)]
    return Ranked(spots[:number], {pair: [spots[node] for node in chain[1:-1]] for pair, chain in chains.items()})


def _without_cycles(flows: Mapping[Pair, float], starts: Collection[int], ends: Collection[int]) -> list[Pair]:
    """The largest flows, one after the other, except those that would close a cycle, or lead to a start or from an
    end."""
    after: dict[int, set[int]] = {}
    kept = []

    def reaches(source: int, target: int) -> bool:
        seen, open_ = {source}, [source]
        while open_:
            found = after.get(open_.pop(), set()) - seen
            seen |= found
            open_ += found
        return target in seen

    backwards = {pair: pair[1] in starts or pair[0] in ends for pair in flows}
    for pair in sorted(flows, key=lambda each: (backwards[each], -flows[each])):
        if not reaches(pair[1], pair[0]):
            after.setdefault(pair[0], set()).add(pair[1])
            kept.append(pair)
    return kept


def _rows(number: int, down: Sequence[Pair], top: int | None) -> list[int]:
    """The length of the longest path to each node; a node that nothing leads to is just above what it leads to, but
    below the node `top`."""
    before: list[set[int]] = [set() for _ in range(number)]
    after: list[set[int]] = [set() for _ in range(number)]
    for one, other in down:
        before[other].add(one)
        after[one].add(other)
    roots = [node for node in range(number) if not before[node] and node != top]
    for node in roots:
        before[node] |= set() if top is None else {top}
    rows = [0] * number
    for _ in range(number):
        rows = [1 + max((rows[each] for each in before[node]), default=-1) for node in range(number)]
    for node in roots:
        if after[node]:
            rows[node] = min(rows[each] for each in after[node]) - 1
    least = min(rows, default=0)
    return [row - least for row in rows]


def _sunk(rows: Sequence[int], flows: Iterable[Pair], top: int, bottom: int | None) -> list[int]:
    """The rows, where nodes that are not joined with the node `top` are moved down together; `bottom` joins nothing."""
    joined, more = {top}, {top}
    while more:
        more = {end for pair in flows if not joined.isdisjoint(pair) for end in pair} - joined - {bottom}
        joined |= more
    apart = [node for node in range(len(rows)) if node not in joined and node != bottom]
    drop = max(rows[node] for node in joined) - max((rows[node] for node in apart), default=0)
    return [row + max(drop, 0) if node in apart else row for node, row in enumerate(rows)]


def _ordered(row_of: Sequence[int], ways: Sequence[tuple[list[int], float]]) -> list[list[int]]:
    """The nodes of each row, from left to right, with few crossings between adjacent rows."""
    beside: list[list[int]] = [[] for _ in row_of]
    links = []
    for chain, _ in ways:
        for one, other in pairwise(chain):
            beside[one].append(other)
            beside[other].append(one)
            links.append((one, other) if row_of[one] < row_of[other] else (other, one))
    order: list[list[int]] = [[] for _ in range(1 + max(row_of))]
    for node, at in enumerate(row_of):
        order[at].append(node)
    best, fewest = [[*row] for row in order], _crossings(order, row_of, links)
    for sweep in range(_SWEEPS):
        place = {node: at - (len(row) - 1) / 2 for row in order for at, node in enumerate(row)}
        going = 1 if sweep % 2 == 0 else -1
        for row in order[::going]:
            middle = {
                node: float(np.mean([place[each] for each in near]))
                if (near := [each for each in beside[node] if (row_of[each] - row_of[node]) * going < 0])
                else place[node]
                for node in row
            }
            row.sort(key=lambda node: middle[node])
            place |= {node: at - (len(row) - 1) / 2 for at, node in enumerate(row)}
        crossings = _crossings(order, row_of, links)
        if crossings < fewest:
            best, fewest = [[*row] for row in order], crossings
    return best


def _crossings(order: Sequence[Sequence[int]], row_of: Sequence[int], links: Sequence[Pair]) -> int:
    """The number of crossings of links between adjacent rows."""
    place = {node: at for row in order for at, node in enumerate(row)}
    found = 0
    for row in range(len(order) - 1):
        ends = np.array([(place[one], place[other]) for one, other in links if row_of[one] == row]).reshape(-1, 2)
        apart = ends[:, None] - ends[None]
        found += int(np.count_nonzero(apart[..., 0] * apart[..., 1] < 0)) // 2
    return found


def _columns(number: int, order: Sequence[Sequence[int]], ways: Sequence[tuple[list[int], float]]) -> list[float]:
    """A column for each node near those it is linked with, with room between neighbours of a row.

    Links of arrows that pass weigh more, so that these are straight, and so do those with a large flow.
    """
    most = max((flow for _, flow in ways), default=0.0) or 1.0
    linked: dict[int, list[tuple[int, float]]] = {node: [] for row in order for node in row}
    for chain, flow in ways:
        for one, other in pairwise(chain):
            weight = (0.1 + flow / most) * (1 + (one >= number) + (other >= number))
            linked[one].append((other, weight))
            linked[other].append((one, weight))
    columns = [0.0] * len(linked)
    room = [
        np.cumsum([0.0, *(_room(one, number) + _room(other, number) for one, other in pairwise(row))]) for row in order
    ]
    for row, offsets in zip(order, room, strict=True):
        for node, offset in zip(row, offsets - offsets[-1] / 2, strict=True):
            columns[node] = float(offset)
    for sweep in range(4 * _SWEEPS):
        going = 1 if sweep % 2 == 0 else -1
        for row, offsets in list(zip(order, room, strict=True))[::going]:
            weights = [sum(weight for _, weight in linked[node]) or 1e-6 for node in row]
            wanted = [
                sum(weight * columns[other] for other, weight in linked[node]) / total
                if linked[node]
                else columns[node]
                for node, total in zip(row, weights, strict=True)
            ]
            placed = _increasing(np.array(wanted) - offsets, np.array(weights)) + offsets
            for node, column in zip(row, placed, strict=True):
                columns[node] = float(column)
    return columns


def _room(node: int, number: int) -> float:
    return 0.5 if node < number else _LANE / 2


def _increasing(wanted: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The nearest numbers, by weighted squares, that do not decrease: adjacent ones that do are pooled.

    >>> _increasing(np.array([1.0, 4.0, 2.0]), np.ones(3)).tolist()
    [1.0, 3.0, 3.0]
    """
    pools: list[list[float]] = []  # mean, weight, size
    for value, weight in zip(wanted, weights, strict=True):
        pools.append([float(value), float(weight), 1])
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            mean, mass, size = pools.pop()
            last = pools[-1]
            last[0] = (last[0] * last[1] + mean * mass) / (last[1] + mass)
            last[1], last[2] = last[1] + mass, last[2] + size
    return np.repeat([mean for mean, _, _ in pools], [int(size) for _, _, size in pools])
