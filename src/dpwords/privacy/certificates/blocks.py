"""How much the normaliser of e^(−c·d) can change with the word, from public facts only (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue
from dpwords.spaces.graph import Flags, Graph

ALL_OF_IT = 200.0  # a c at which 1 ≤ Z ≤ (1 + D·e^(−c))^n leaves nothing of the order of the margin
_LEAST, _MOST = 1e-100, 1e100  # upper bounds are kept in between: no product of them underflows or overflows
_MOST_LISTED = 1024  # words that are compared pair by pair
_RADII = range(2, 9)  # steps within which states have bounds of their own
_NEARBY = 48  # states on average that have; more would take longer and gain little,
_NEARBY_ANY_START = 130  # unless runs start anywhere, and all other starts have much mass outside
MEMORY_LIMIT = 2**30  # bytes for the boxes of all layers; beyond it the radius shrinks, then blocks are given up
_WORK_LIMIT = 1e11  # steps of one evaluation of blocks, some minutes


def accepts_every_word(graph: Graph) -> bool:
    """Whether every state has every symbol and accepts: then Z is the same for all words."""
    full = np.all(np.diff(graph.first) == len(graph.alphabet))
    return bool(full and graph.accepting.all())


def names_targets(graph: Graph) -> bool:
    """Whether symbols and the states they lead to determine each other: words of states."""
    pairs = np.unique(np.stack([graph.symbol, graph.target]), axis=1)
    return bool(len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1])


def live_states(graph: Graph, length: int) -> Flags:
    """Row i: the states that a word of this length can be in after i symbols. Cost: length · edges."""
    return graph.live(length) & graph.useful(length)


def margin(graph: Graph, length: int) -> float:
    """More than floating point can be off in the bounds."""
    return 1e-9 + 8 * length * (graph.branching + 4) * 2.0**-53


class Blocks:
    """The bound for words of states, from boxes around every own state.

    Cost of `excess`: length · edges · states nearby · branching; memory: 16 bytes · length · states · states nearby.
    """

    def __init__(self, graph: Graph, length: int, radius: int) -> None:
        if radius < _RADII[0]:
            raise InvalidValue(f"a radius is {_RADII[0]} or more: what is outside may not touch the own run")
        self.graph, self.length, self.radius = graph, length, radius
        self.nf, self.nid = _near(graph, radius)
        self.sf, self.st = graph.first, graph.target
        self.edge_of = np.argsort(graph.target, kind="stable")
        self.ps = graph.sources[self.edge_of]
        self.pf = np.searchsorted(graph.target[self.edge_of], np.arange(graph.size + 1))
        self.live = np.concatenate([live_states(graph, length), np.zeros((1, graph.size), dtype=np.bool_)])
        self.branching = int(
            np.diff(graph.first)[_entered(graph)].max(initial=1)
        )  # of states that a run can be in later on
        self.entries = int(np.diff(self.pf).max())
        self.widest = max(graph.branching, self.entries)
        self.ef = offsets(np.diff(self.nf)[graph.target])
        self.first = offsets(np.maximum(np.diff(graph.first)[graph.target], 1))
        self.base = offsets((self.first[graph.first[1:]] - self.first[graph.first[:-1]])[graph.target])

    @classmethod
    def of(cls, graph: Graph, length: int, epsilon: float) -> Blocks | None:
        """With the largest radius that time and memory allow at rates near ε; None if there is none."""
        if length * _work(graph) > _WORK_LIMIT:
            return None
        found = None
        side = math.exp(-epsilon) * cls(graph, 1, _RADII[0]).branching
        starts = 0.0 if _entered(graph)[graph.start] else graph.size * math.exp(-epsilon)
        nearby = _NEARBY if starts * side**2 < 0.1 else _NEARBY_ANY_START
        for radius in _RADII:
            blocks = cls(graph, length, radius)
            if 16 * (len(blocks.nid) * (length + 2) + int(blocks.base[-1])) > MEMORY_LIMIT:
                break
            if found is not None and len(blocks.nid) > nearby * graph.size:
                break
            found = blocks
        return found

    def excess(self, c: float) -> float:
        """A bound on |ln Z(x′)/Z(x)| / d(x, x′) over all pairs of words."""
        if c > ALL_OF_IT:
            return margin(self.graph, self.length)
        blocks, boxes = kernel("blocks"), kernel("blocks_boxes")
        z, length, live = math.exp(-c), self.length, self.live
        system = (self.sf, self.st, self.pf, self.ps, self.nf, self.nid)
        after, far = self._completions(z)
        if not max(float(after.max()), float(far.max())) < _MOST:
            return math.inf
        factor, pairs = 1.0, 0.0
        opening, closing, growth = np.zeros(length + 2), np.zeros(length + 2), np.zeros(length + 2)
        box, outside = np.zeros((2, len(self.nid))), np.zeros(self.graph.size)
        box[:, boxes.place_in_box(self.nf, self.nid, self.graph.start, self.graph.start)] = 1.0
        earlier, edge_box, far_before = (box[0], box[1], 0.0), np.zeros((2, self.ef[-1])), 0.0
        low, high = np.zeros(self.base[-1]), np.zeros(self.base[-1])
        accepting = self.graph.accepting
        for place in range(1, length + 1):
            last = place == length
            ahead = (after[place + 1, 0], after[place + 1, 1], far[place + 1], accepting, last)
            around = (live[place - 1], live[place], live[place + 1])
            nearby = (box[0], box[1], far_before)
            factor = blocks.one_place(z, factor, *system, *around, *nearby, *ahead, self.widest)
            opening[place] = blocks.openings(*system, *around[:2], *nearby)
            if place > 1:
                edges = (self.ef, edge_box[0], edge_box[1])
                within = (live[place - 2], *around)
                growth[place] = blocks.growth(*system, *within[:3], *edges, nearby[2])
                blocks.closings(
                    z, *system[:4], self.edge_of, *system[4:], *within, *edges, outside, *ahead,
                    *self._elsewhere(z, place), self.first, self.base, low, high,
                )  # fmt: skip
                table = (last, self.first, self.base, low, high)
                closing[place] = blocks.widest_closing(self.sf, self.st, *within, *table)
                pairs = max(pairs, blocks.two_places(*system, *within, *earlier, *table))
            earlier, left = nearby, outside
            box, outside, edge_box = np.zeros_like(box), np.zeros_like(outside), np.zeros_like(edge_box)
            boxes.forward(
                z, self.branching, *system, *around[:2], *earlier, left, *box, outside, self.edge_of, self.ef, *edge_box
            )
            if not max(float(box[1].max()), float(outside.max())) < _MOST:
                return math.inf
            far_before = min(float(outside.max()), z * self.entries * max(1.0, far_before, float(earlier[1].max())))
            far_before = max(far_before, _LEAST)
        return max(math.log(factor), pairs / 2, longer_blocks(opening, growth, closing)) + margin(self.graph, length)

    def _completions(self, z: float) -> tuple[Floats, Floats]:
        """Boxes of completions for each layer, and the bound for states outside of them."""
        backward = kernel("blocks_boxes").backward
        boxes = np.zeros((self.length + 2, 2, len(self.nid)))
        far = np.ones(self.length + 2)
        far[:-1] = [self._at_least_apart(z, self.radius + 1, layer) for layer in range(self.length + 1)]
        boxes[self.length] = self.graph.accepting[self.nid]
        for layer in range(self.length - 1, 0, -1):
            after = (*boxes[layer + 1], far[layer + 1])
            backward(
                z, self.sf, self.st, self.nf, self.nid, self.live[layer], self.live[layer + 1], *after, *boxes[layer]
            )
        return boxes, far

    def _at_least_apart(self, z: float, steps: int, place: int) -> float:
        """The most that the completions of a state so many steps away from the own one weigh, relative to its own.

        One step of both runs brings them nearer by two at most, and costs z while they are not side by side.
        """
        side, left = z * self.branching, self.length - place
        if side < 1:
            apart = min(max((steps - 1) // 2, 0), left)
            sums = min((1 - side ** (left - apart + 1)) / (1 - side) * (1 + 1e-9), left - apart + 1.0)
            return max(side**apart * sums, _LEAST)
        return (left + 1) * side**left if left * math.log(side) < math.log(_MOST) else math.inf

    def _elsewhere(self, z: float, place: int) -> tuple[float, float]:
        """Bounds for closings: the completions of a state outside the box of q, and what one outside that of p adds."""
        side = z * self.branching
        if place == self.length:
            return 1.0, side
        beside = side * self._at_least_apart(z, self.radius - 3, place + 1)
        adds = beside if self.radius > 3 else self._at_least_apart(z, 0, place)
        return side * self._at_least_apart(z, self.radius, place + 1), side * adds


def kernel(name: str) -> Any:
    """Compiled loops; importing the compiler takes half a second, so only who needs them does."""
    return import_module(f"dpwords._kernels.{name}")


def longer_blocks(opening: Floats, growth: Floats, closing: Floats) -> float:
    """The largest bound for a block of three places or more, for each place of it. Cost: length²."""
    length, total = len(opening) - 2, np.cumsum(growth)
    most = 0.0
    for last in range(3, length + 1):
        first = np.arange(1, last - 1)
        change = opening[first] - total[first] + total[last - 1] + closing[last]
        most = max(most, float((change / (last - first + 1)).max()))
    return most


def _work(graph: Graph) -> float:
    """About how many steps all pairs of successors of one layer take, with all ways past each of them."""
    out = np.diff(graph.first).astype(np.float64)
    ways = np.bincount(graph.sources, out[graph.target], graph.size)  # of two steps from a state
    past = np.bincount(graph.target, ways[graph.sources], graph.size)[graph.target]  # from all before a successor
    ahead = out[graph.target]
    n, o, oo, a, oa, ooa = (
        np.bincount(graph.sources, each, graph.size)
        for each in (np.ones_like(ahead), ahead, ahead**2, past, ahead * past, ahead**2 * past)
    )
    layer = n * ooa + 2 * o * oa + oo * a
    return float(layer[_entered(graph)].sum())


def _near(graph: Graph, radius: int) -> tuple[Integers, Integers]:
    """The states within so many steps of each state, edges taken both ways.

    A start that is never entered has nobody nearby, and is near everybody: its mass is known, 0 after the first step.
    """
    entered = _entered(graph)
    rows = []
    for state, found in enumerate(neighbourhood(graph, radius)):
        alone = {graph.start} if not entered[graph.start] and state != graph.start else set()
        rows.append(sorted(found.keys() | alone))
    return offsets(np.array([len(row) for row in rows])), np.array([s for row in rows for s in row], dtype=np.int64)


def neighbourhood(graph: Graph, radius: int) -> list[dict[int, int]]:
    """For each state those within so many steps, edges taken both ways, in ascending order, and how far they are.

    Edges from a start that is never entered do not count.
    """
    entered = _entered(graph)
    beside: list[set[int]] = [set() for _ in range(graph.size)]
    for source, target in zip(graph.sources.tolist(), graph.target.tolist(), strict=True):
        if entered[source] or source != graph.start:
            beside[source].add(target)
            beside[target].add(source)
    rows = []
    for state in range(graph.size):
        found, edge = {state: 0}, {state}
        for step in range(1, radius + 1):
            edge = {other for each in edge for other in beside[each]} - found.keys()
            found |= dict.fromkeys(edge, step)
        rows.append({each: found[each] for each in sorted(found)})
    return rows


def _entered(graph: Graph) -> Flags:
    """Which states some edge leads to."""
    return np.isin(np.arange(graph.size), graph.target)


def offsets(sizes: Any) -> Integers:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
