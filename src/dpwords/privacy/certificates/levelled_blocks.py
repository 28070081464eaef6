"""How much the normaliser of levelled words of states can change with the word (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.blocks import longer_blocks
from dpwords.privacy.certificates.graph_facts import live_states, neighbourhood, offsets
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, outward, price
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.levelling import Levelling

_RADII = range(2, 9)  # steps within which states are near
_BOX = 170  # nodes in a box on average; more would take longer and gain little
_HOPELESS = 1e20  # a bound beyond which no closing is of use; no product of them overflows
_AHEAD = 4  # own states after a prefix that closings know


class LevelledBlocks:
    """The bound for words of states with the weights of `levelling`, from boxes around every own run of two nodes.

    Arrays are named as in the kernels (`_kernels/levelled_blocks_boxes.py`). Cost of `excess`: length · ways of four
    steps from a prefix of two · nodes in a box; memory: 16 bytes · length · nodes · nodes in a box.
    """

    def __init__(self, graph: Graph, length: int, levelling: Levelling, radius: int) -> None:
        if radius < _RADII[0]:
            raise InvalidValue(f"a radius is {_RADII[0]} or more: what is outside may not touch the own run")
        self.graph, self.length = graph, length
        order = np.argsort(graph.target, kind="stable")
        self.src, self.tgt = graph.sources[order], graph.target[order]
        self.of_state, self.out = graph.first, np.argsort(order)
        states = np.arange(graph.size + 1)
        self.lf = np.searchsorted(self.tgt, states)
        entering, leaving = np.diff(self.lf), np.diff(graph.first)
        self.degrees = (int(leaving[self.tgt].max(initial=1)), int(entering.max()))
        self.pf = offsets(entering[self.src])
        self.others, self.others_at_end = self._weights(levelling, order)
        self.accepting = graph.accepting[self.tgt]
        self.near, self.size = self._near(radius, entering)
        self.af = offsets(self.size[self.tgt])
        live = live_states(levelling.line, length)[:, 1 + order]
        self.live = np.concatenate([live, np.zeros((_AHEAD - 1, len(order)), dtype=np.bool_)])
        self.first = self.out[graph.first[graph.start] : graph.first[graph.start + 1]]
        self.pairs = int(self.pf[-1])
        node = np.repeat(np.arange(len(order)), entering[self.src])
        earlier = np.arange(self.pairs) - self.pf[node] + self.lf[self.src[node]]
        last = np.concatenate([node, self.first, [-1]])
        self.before = np.concatenate([earlier, np.full(len(self.first), -1), [-2]])
        end = np.where(last >= 0, self.tgt[last], graph.start)
        self.bf, self.tf = offsets(np.where(last >= 0, self.size[end], 0)), offsets(leaving[end])
        self.prefixes = (last, self.before, self.bf, self.tf)
        self.hf = offsets(leaving[self.tgt] ** 2)
        self.turn = np.empty(len(order), dtype=np.int64)
        self.turn[self.out] = np.arange(len(order)) - graph.first[graph.sources]
        prefix, step = self._followed(np.arange(len(last)), end)
        by = np.argsort(self.before[prefix], kind="stable")
        self.last_ways = (prefix[by], step[by])
        way, second = self._followed(np.arange(len(prefix)), self.tgt[step])
        by = np.lexsort((self.before[prefix[way]], self.tgt[second]))
        way, second = way[by], second[by]
        self.ways = (np.searchsorted(self.tgt[second], states), prefix[way], step[way], second)

    @classmethod
    def of(cls, graph: Graph, length: int, levelling: Levelling, limits: Limits = DEFAULTS) -> LevelledBlocks | None:
        """With the largest radius that time and memory allow; None if there is none."""
        entering, leaving = np.bincount(graph.target, minlength=graph.size), np.diff(graph.first)
        beside = entering + np.bincount(graph.sources, entering[graph.target], graph.size)  # less than any box
        ahead = np.bincount(graph.sources, 2.0 + leaving[graph.target], graph.size)  # of two steps from a state
        ways: Floats = entering.astype(np.float64)
        for _ in range(3):
            ways = np.bincount(graph.target, ways[graph.sources], graph.size).astype(np.float64)
        table, memory, work = 4 * graph.size**2, limits.certificate_memory, limits.levelled_steps
        if table + 16 * length * float(entering @ beside) > memory or length * (ways @ ahead) > work:
            return None
        found = None
        for radius in _RADII:
            blocks = cls(graph, length, levelling, radius)
            numbers = int(blocks.af[-1]) * (length + _AHEAD) + 2 * int(blocks.bf[-1])
            if table + 16 * numbers > memory or length * (ways @ (ahead * blocks.size)) > work:
                break
            if found is not None and float(blocks.size[blocks.tgt].mean()) > _BOX:
                break
            found = blocks
        return found

    def excess(self, c: float) -> float:
        """A bound on |ln Z(x′)/Z(x)| / d(x, x′) over all pairs of words."""
        n, live = self.length, self.live
        if c > ALL_OF_IT:
            return margin(n)
        boxes, kernels = kernel("levelled_blocks_boxes"), kernel("levelled_blocks")
        z = price(c)
        ends = self.accepting / (1 + self.others_at_end * z)
        weights = 1 / (1 + self.others * z)
        nodes = boxes.Nodes(self.lf, self.of_state, self.out, self.src, self.tgt, self.pf, weights, ends)
        near, degrees, prefixes = boxes.Near(*self.near), boxes.Degrees(*self.degrees), boxes.Prefixes(*self.prefixes)
        after, far = self._completions(z, nodes, near)
        if not (after[:, 1].max() < _HOPELESS and far.max() < _HOPELESS):
            return math.inf
        most, one, two = np.zeros(3), 0.0, 0.0
        opening, growth, closing = np.zeros(n + 2), np.zeros(n + 2), np.zeros(n + 2)
        shares = boxes.Shares(*np.zeros((2, self.bf[-1])), 0.0, np.zeros(len(self.before)))
        grown, turns = np.ones((2, self.tf[-1])), kernels.TurnGrowth(self.hf, self.turn, np.zeros(self.hf[-1]))
        ways, last_ways = kernels.Ways(*self.ways), kernels.LastWays(*self.last_ways)
        for place in range(1, n + 1):
            layer = kernels.Layer(nodes, near, degrees, prefixes, self._known(place - 1), shares)
            steps = min(_AHEAD, n - place + 1)
            most[:] = 0.0
            if steps == 1:
                kernels.last_closings(z, layer, live[place], last_ways, turns, most)
            else:
                ahead = kernels.Completions(self.af, *after[place + _AHEAD - 1], far[place + _AHEAD - 1])
                kernels.closings(z, steps, layer, live[place : place + _AHEAD], ways, ahead, turns, most)
            one, two, closing[place] = max(one, most[0]), max(two, most[1]), most[2]
            if place == 1:
                shares = boxes.Shares(*self._first_boxes(z))
                continue
            box, outside = np.zeros((2, self.bf[-1])), np.zeros(len(self.before))
            single = boxes.forward(
                z, nodes, near, degrees, prefixes, layer.known, self._known(place), shares, *grown, *box, outside
            )
            shares = boxes.Shares(*box, single, outside)
            if not (single < _HOPELESS and box[1].max() < _HOPELESS and outside.max() < _HOPELESS):
                return math.inf
            opening[place], growth[place] = kernels.openings(layer, live[place], *grown, turns)
        return float(max(one, two / 2, longer_blocks(opening, growth, closing))) + margin(n)

    def _completions(self, z: float, nodes: Any, near: Any) -> tuple[Floats, Floats]:
        """Boxes of completions for each layer, and the bound for nodes outside of them."""
        n, live, ends = self.length, self.live, nodes.fw
        backward = kernel("levelled_blocks_boxes").backward
        boxes, far = np.zeros((n + _AHEAD, 2, self.af[-1])), np.zeros(n + _AHEAD)
        rounded = np.array([outward().factors(1)]).T  # one division
        for node in np.flatnonzero(live[n]):
            own = self.tgt[node]
            for state in near.ns[near.nf[own] : near.nf[own + 1]]:
                some = ends[self.lf[state] : self.lf[state + 1]]
                begin = self.af[node] + near.at[own, state]
                boxes[n, :, begin : begin + len(some)] = some / ends[node] * rounded
        far[n] = rounded[1, 0] / ends[live[n]].min()
        for layer in range(n - 1, 0, -1):
            around = (self.degrees[0], self.af, live[layer], live[layer + 1])
            after = (*boxes[layer + 1], far[layer + 1])
            far[layer] = backward(z, nodes, near, *around, *after, *boxes[layer])
        return boxes, far

    def _first_boxes(self, z: float) -> tuple[Floats, Floats, float, Floats]:
        """Shares after one symbol: 1 for the own node, z for the others."""
        (low, high), outside = np.zeros((2, self.bf[-1])), np.zeros(len(self.before))
        at, up = self.near[2], outward().factors(1)[1]
        for prefix, node in enumerate(self.first, start=self.pairs):
            own = self.tgt[node]
            begin = at[own, self.tgt[self.first]]
            near = self.first[begin >= 0]
            low[self.bf[prefix] + begin[begin >= 0] + near - self.lf[self.tgt[near]]] = z
            low[self.bf[prefix] + at[own, own] + node - self.lf[own]] = 1.0
            outside[prefix] = z * (len(self.first) - len(near)) * up
        high[:] = low  # both are exact
        return low, high, z if outside.any() else 0.0, outside

    def _known(self, layer: int) -> Flags:
        """The prefixes that words have after so many symbols."""
        known = np.zeros(len(self.before), dtype=np.bool_)
        if layer == 0:
            known[-1] = True
        elif layer == 1:
            known[self.pairs : -1] = self.live[1, self.first]
        else:
            pairs = slice(0, self.pairs)
            known[pairs] = self.live[layer - 1, self.before[pairs]] & self.live[layer, self.prefixes[0][pairs]]
        return known

    def _weights(self, levelling: Levelling, order: Integers) -> tuple[Integers, Integers]:
        """How many other states fit, for each step between nodes in the order of `pf`, and for each node at the end."""
        line = levelling.line
        inside = np.flatnonzero(line.sources)
        number = self.out
        steps = inside[np.lexsort((number[line.sources[inside] - 1], number[line.target[inside] - 1]))]
        return levelling.others[steps], levelling.others_at_end[1 + order]

    def _near(self, radius: int, entering: Integers) -> tuple[Any, Integers]:
        """The states near each state, where their nodes begin in its box, which are on the rim; sizes of boxes."""
        size = self.graph.size
        rows = neighbourhood(self.graph, radius)
        ns = np.array([state for row in rows for state in row], dtype=np.int64)
        rim = np.array([row[state] >= radius - 1 for row in rows for state in row], dtype=np.bool_)
        at, sizes = np.full((size, size), -1, dtype=np.int32), np.zeros(size, dtype=np.int64)
        for state, row in enumerate(rows):
            places = offsets(entering[list(row)])
            at[state, list(row)], sizes[state] = places[:-1], places[-1]
        return (offsets([len(row) for row in rows]), ns, at, rim, sizes), sizes

    def _followed(self, items: Integers, ends: Integers) -> tuple[Integers, Integers]:
        """Each item with each node that leaves the state where it ends."""
        item, edges = self.graph.leaving(ends)
        return items[item], self.out[edges]
