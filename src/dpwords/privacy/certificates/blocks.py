"""How much the normaliser of e^(−c·d) can change with the word, from public facts only (docs/theory.md, section 9)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.elementary import log
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.room import check_room
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.graph_facts import entered, live_states, neighbourhood, offsets
from dpwords.privacy.certificates.rounding import ALL_OF_IT, ULP, margin, outward, price
from dpwords.spaces.graph import Graph

_MOST = 1e100  # upper bounds are kept below: no product of them overflows
_RADII = range(2, 9)  # steps within which states have bounds of their own
_NEARBY = 48  # states on average that have; more would take longer and gain little,
_NEARBY_ANY_START = 130  # unless runs start anywhere, and all other starts have much mass outside


class Blocks:
    """The bound for words of states, from boxes around every own state.

    Cost of `excess`: length · edges · states nearby · branching; memory: 16 bytes · length · states · states nearby.
    """

    def __init__(self, graph: Graph, length: int, radius: int) -> None:
        if radius < _RADII[0]:
            raise InvalidValue(f"a radius is {_RADII[0]} or more: what is outside may not touch the own run")
        self.graph, self.length, self.radius = graph, length, radius
        edge_of = np.argsort(graph.target, kind="stable")
        pred_first = np.searchsorted(graph.target[edge_of], np.arange(graph.size + 1))
        self.steps = (graph.first, graph.target, pred_first, graph.sources[edge_of], edge_of)
        self.around = _near(graph, radius)
        self.live = np.concatenate([live_states(graph, length), np.zeros((1, graph.size), dtype=np.bool_)])
        leaving, sizes = np.diff(graph.first), np.diff(self.around[0])
        self.branching = int(leaving[entered(graph)].max(initial=1))  # of states that a run can be in later on
        self.entries = int(np.diff(pred_first).max())
        self.edge_first = offsets(sizes[graph.target])
        self.closing_first = offsets(np.maximum(leaving[graph.target], 1))
        closings = self.closing_first[graph.first[1:]] - self.closing_first[graph.first[:-1]]
        self.closing_base = offsets(closings[graph.target])

    @classmethod
    def of(cls, graph: Graph, length: int, epsilon: float, limits: Limits = DEFAULTS) -> Blocks | None:
        """With the largest radius that time and memory allow at rates near ε; None if there is none."""
        if length * _work(graph) > limits.block_steps:
            return None
        found = None
        side = price(epsilon) * cls(graph, 1, _RADII[0]).branching
        starts = 0.0 if entered(graph)[graph.start] else graph.size * price(epsilon)
        nearby = _NEARBY if starts * side * side < 0.1 else _NEARBY_ANY_START
        for radius in _RADII:
            blocks = cls(graph, length, radius)
            numbers = len(blocks.around[1]) * (length + 2) + int(blocks.closing_base[-1])
            if 16 * numbers > limits.certificate_memory:
                break
            if found is not None and len(blocks.around[1]) > nearby * graph.size:
                break
            check_room(16 * numbers)
            found = blocks
        return found

    def excess(self, c: float) -> float:
        """A bound on |ln Z(x′)/Z(x)| / d(x, x′) over all pairs of words."""
        if c > ALL_OF_IT:
            return margin(self.length)
        kernels, boxes = kernel("blocks"), kernel("blocks_boxes")
        z, length, live, size = price(c), self.length, self.live, self.graph.size
        steps, around = boxes.Steps(*self.steps), boxes.Around(*self.around)
        bounds = _Elsewhere(z, self.branching, length)
        after, far = self._completions(z, bounds)
        if not (after.max() < _MOST and far.max() < _MOST):
            return math.inf
        factor, pairs = 1.0, 0.0
        opening, closing, growth = np.zeros(length + 2), np.zeros(length + 2), np.zeros(length + 2)
        numbers = np.zeros((2, len(around.states)))
        numbers[:, boxes.place_in_box(around, self.graph.start, self.graph.start)] = 1.0
        masses = earlier = boxes.Masses(*numbers, 0.0)
        outside, edges = np.zeros(size), boxes.EdgeMasses(self.edge_first, *np.zeros((2, self.edge_first[-1])))
        table = kernels.ClosingTable(self.closing_first, self.closing_base, *np.zeros((2, self.closing_base[-1])))
        widest = max(self.graph.branching, self.entries)
        for place in range(1, length + 1):
            last = place == length
            ahead = kernels.Ahead(
                boxes.Masses(*after[place + 1], far[place + 1]), self.graph.accepting, last
            )  # fmt: skip
            near = kernels.LiveAround(live[max(place - 2, 0)], live[place - 1], live[place], live[place + 1])
            factor = kernels.one_place(z, factor, steps, around, near, masses, ahead, widest)
            opening[place] = kernels.openings(steps, around, near, masses)
            if place > 1:
                growth[place] = kernels.growth(steps, around, near, edges, masses.far)
                elsewhere = bounds.in_closings(self.radius, place)
                kernels.closings(z, steps, around, near, edges, outside, ahead, *elsewhere, table)
                closing[place] = kernels.widest_closing(steps, near, last, table)
                pairs = max(pairs, kernels.two_places(steps, around, near, earlier, last, table))
            earlier, left = masses, outside
            outside, edges = np.zeros(size), boxes.EdgeMasses(self.edge_first, *np.zeros((2, self.edge_first[-1])))
            numbers = np.zeros_like(numbers)
            boxes.forward(
                z, self.branching, steps, around, near.before, near.here, earlier, left,
                boxes.Masses(*numbers, 0.0), outside, edges,
            )  # fmt: skip
            if not (numbers[1].max() < _MOST and outside.max() < _MOST):
                return math.inf
            one = bounds.rounded_up(z * self.entries * max(1.0, earlier.far, float(earlier.hi.max())))
            masses = boxes.Masses(*numbers, max(min(float(outside.max()), one), outward().LEAST))
        return max(log(factor), pairs / 2, longer_blocks(opening, growth, closing)) + margin(length)

    def _completions(self, z: float, bounds: _Elsewhere) -> tuple[Floats, Floats]:
        """Boxes of completions for each layer, and the bound for states outside of them."""
        boxes = kernel("blocks_boxes")
        steps, around = boxes.Steps(*self.steps), boxes.Around(*self.around)
        numbers = np.zeros((self.length + 2, 2, len(around.states)))
        far = np.ones(self.length + 2)
        far[:-1] = [bounds.completions(self.radius + 1, place) for place in range(self.length + 1)]
        numbers[self.length] = self.graph.accepting[around.states]
        for layer in range(self.length - 1, 0, -1):
            after = boxes.Masses(*numbers[layer + 1], far[layer + 1])
            new = boxes.Masses(*numbers[layer], far[layer])
            boxes.backward(z, steps, around, self.live[layer], self.live[layer + 1], after, new)
        return numbers, far


class _Elsewhere:
    """Bounds for states that are far from the own one, rounded up."""

    def __init__(self, z: float, branching: int, length: int) -> None:
        """The completions of any state weigh at most sums[i] times those of the own one, i symbols before the end."""
        self._up = outward().factors(4)[1]
        self.length, self.side, self.sums = length, self.rounded_up(z * branching), [1.0]
        for _ in range(length):
            self.sums.append(self.rounded_up(1.0 + self.side * self.sums[-1]))

    def rounded_up(self, value: float) -> float:
        return float(outward().raised(value, self._up))

    def completions(self, steps: int, place: int) -> float:
        """The most that the completions of a state so many steps away from the own one weigh, relative to its own.

        One step of both runs brings them nearer by two at most, and costs z while they are not side by side.
        """
        left = self.length - place
        apart = min(max((steps - 1) // 2, 0), left) if self.side < 1 else 0
        most = self.sums[left - apart]
        for _ in range(apart):
            most = self.rounded_up(self.side * most)
        return most

    def in_closings(self, radius: int, place: int) -> tuple[float, float]:
        """The completions of a state outside the box of q, and what one outside that of p adds."""
        if place == self.length:
            return 1.0, self.side
        beside = self.rounded_up(self.side * self.completions(radius - 3, place + 1))
        adds = beside if radius > 3 else self.completions(0, place)
        return (
            self.rounded_up(self.side * self.completions(radius, place + 1)),
            self.rounded_up(self.side * adds),
        )


def longer_blocks(opening: Floats, growth: Floats, closing: Floats) -> float:
    """The largest bound for a block of three places or more, for each place of it, rounded up. Cost: length².

    Adding up n numbers is off by less than n ulp of the sum of their absolute values.
    """
    length, total = len(opening) - 2, np.cumsum(growth)
    most = 0.0
    for last in range(3, length + 1):
        first = np.arange(1, last - 1)
        change = opening[first] - total[first] + total[last - 1] + closing[last]
        most = max(most, float((change / (last - first + 1)).max()))
    size = np.abs(opening).max() + 2 * math.fsum(np.abs(growth)) + np.abs(closing).max()
    return most + (length + 8) * ULP * float(size)


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
    return float(layer[entered(graph)].sum())


def _near(graph: Graph, radius: int) -> tuple[Integers, Integers]:
    """The states within so many steps of each state, edges taken both ways, as `Around` of the kernels.

    A start that is never entered has nobody nearby, and is near everybody: its mass is known, 0 after the first step.
    """
    is_entered = entered(graph)
    rows = []
    for state, found in enumerate(neighbourhood(graph, radius)):
        alone = {graph.start} if not is_entered[graph.start] and state != graph.start else set()
        rows.append(sorted(found.keys() | alone))
    return offsets(np.array([len(row) for row in rows])), np.array([s for row in rows for s in row], dtype=np.int64)
