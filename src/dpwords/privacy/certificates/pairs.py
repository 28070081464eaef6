"""Whether no pair of words loses more than a limit, by sweeps from both ends (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.elementary import exp
from dpwords.core.scaled import Floats, Integers
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, price
from dpwords.privacy.certificates.tuning import FIRST_BOXES, MANY_BOXES, SWEEPS
from dpwords.spaces.graph import Graph

LIGHTEST = 1e-30  # weight of an edge: products of lighter ones could underflow


class Verdict(NamedTuple):
    """What is known about all pairs of words after some sweeps."""

    proven: bool
    left: int  # of the work that was allowed; below 0 if it was not enough
    pairs: Integers  # words of which some may be above the limit: two rows of edges for each pair


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of words of one length in a graph, which may have weights.

    Cost of a sweep: for each layer, pairs of states · boxes of a pair · boxes of the other sweep · states.
    """

    graph: Graph
    length: int

    def proves(self, c: float, delta: float, work: int, farthest: int | None = None) -> Verdict:
        """Whether ln Z(x′) − ln Z(x) ≤ delta · d for all pairs of words at distances d up to `farthest`.

        Sweeps from the end and from the start take turns. Each one discards what cannot exceed the limit with anything
        that the one before has kept, and has more boxes. They end when nothing is left, when a pair of words is found
        that is above the limit, or when the work that is allowed is done.
        """
        pairs = np.zeros((0, 2, self.length), dtype=np.int64)
        if not margin(self.length) < delta or c > ALL_OF_IT or not self._weights_are_usual:
            return Verdict(False, work, pairs)
        loops, ways, z = kernel("pairs"), self._ways, price(c)
        fall = math.nextafter(exp(margin(self.length) - delta), 1.0)
        means = [loops.means_of(way, z) for way in ways]
        near = self._least_distances <= (self.length if farthest is None else farthest)
        allowed, kept, most = (near, near[::-1].copy()), self._nothing, FIRST_BOXES
        for turn in range(SWEEPS):
            way, other = turn % 2, kept
            kept, found, work = loops.sweep(ways[way], z, fall, means[1 - way], allowed[way], other, most, work)
            if work < 0:
                break
            if turn > 0:
                if not len(found.ratio):
                    return Verdict(True, work, pairs)
                pairs = np.concatenate([pairs, self._traced(found.place, kept, other, way)])
                if self.losses(c, pairs).max() > delta:
                    break
            if len(kept.lo) < MANY_BOXES:
                most *= 2
        return Verdict(False, work, pairs)

    def losses(self, c: float, pairs: Integers) -> Floats:
        """(ln Z(x′) − ln Z(x)) / d for pairs of words, up to rounding."""
        logs = kernel("pairs").log_constants(self._ways[0], price(c), pairs.reshape(-1, self.length)).reshape(-1, 2)
        codes = self.codes(pairs)
        return np.asarray((logs[:, 1] - logs[:, 0]) / (codes[:, 0] != codes[:, 1]).sum(axis=1))

    def codes(self, words: Integers) -> Integers:
        """The symbols of words that are rows of edges."""
        return np.asarray(self._ways[0].symbol[np.arange(self.length), words])

    def _traced(self, places: Integers, kept: Any, other: Any, way: int) -> Integers:
        """Words that stand for the pairs that a sweep has found."""
        found, last = np.zeros((len(places), 2, self.length), dtype=np.int64), self.length - 1
        for row, (layer, one, two, box, before) in zip(found, places.tolist(), strict=True):
            row[:, layer] = self._forward(way, layer, [one, two])
            for position in range(layer + 1, self.length):
                row[:, position] = self._forward(way, position, kept.link[box, :2])
                box = kept.link[box, 2]
            for position in reversed(range(layer)):
                row[:, position] = self._forward(1 - way, last - position, other.link[before, :2])
                before = other.link[before, 2]
        return found[:, :, ::-1] if way else found

    def _forward(self, way: int, layer: int, edges: Any) -> Any:
        """The numbers that edges of a layer have in the layers from start to end."""
        return self._parts[2][self.length - 1 - layer][edges] if way else edges

    @property
    def _ways(self) -> tuple[Any, Any]:
        """The layers from start to end, and the same from end to start."""
        return self._parts[:2]

    @cached_property
    def _parts(self) -> tuple[Any, Any, list[Integers]]:
        """The layers in both directions, and the numbers of edges of the second in the first."""
        graph, n = self.graph, self.length
        active = graph.live(n) & graph.useful(n)
        number, size = np.cumsum(active, axis=1) - 1, active.sum(axis=1)
        start, end = np.zeros(size.max()), np.zeros(size.max())
        start[number[0, graph.start]] = 1.0
        ending = graph.accepting if graph.ending is None else graph.ending.relative_to(np.zeros(1, dtype=np.int64))
        end[: size[n]] = ending[active[n]]
        rows, order = [], []
        for i in range(n):
            kept = np.flatnonzero(active[i, graph.sources] & active[i + 1, graph.target])
            one, other = number[i, graph.sources[kept]], number[i + 1, graph.target[kept]]
            rows.append((one, graph.symbol[kept], other, graph.edges.weight[kept]))
            order.append(np.argsort(other, kind="stable"))
        back = [(row[2][by], row[1][by], row[0][by], row[3][by]) for row, by in zip(rows, order, strict=True)]
        return _layers(rows, size, end), _layers(back[::-1], size[::-1].copy(), start), order

    @cached_property
    def _weights_are_usual(self) -> bool:
        """Whether no weight is so small or large that products of a few could leave the range of floats."""
        forward = self._ways[0]
        weights = np.concatenate([forward.weight[forward.weight != 0.0], forward.ending[forward.ending != 0.0]])
        return bool(LIGHTEST < weights.min() and weights.max() < 1 / LIGHTEST)

    @cached_property
    def _least_distances(self) -> Any:
        """For two states of each layer, the least distance between words that run through them."""
        loops = kernel("pairs")
        return loops.least_apart(self._ways[0]) + loops.least_apart(self._ways[1])[::-1]

    @cached_property
    def _nothing(self) -> Any:
        """What no sweep has kept."""
        layers, width = self.length + 1, len(self._ways[0].ending)
        links, single, pair = (np.zeros(shape, np.int64) for shape in ((0, 3), (layers, width, 2), (1, 1, 1, 2)))
        return kernel("pairs").Kept(np.zeros((0, width)), np.zeros((0, width)), links, single, pair)


def _layers(rows: list[tuple[Any, ...]], size: Integers, ending: Floats) -> Any:
    """The layers of edges, each given by sources, symbols, targets and weights, in the form that kernels take."""
    most = max(len(row[0]) for row in rows)
    source, symbol, target = (np.zeros((len(rows), most), dtype=np.int64) for _ in range(3))
    weight, begin = np.zeros((len(rows), most)), np.zeros((len(rows), size.max() + 1), dtype=np.int64)
    for i, row in enumerate(rows):
        for into, values in zip((source, symbol, target, weight), row, strict=True):
            into[i, : len(values)] = values
        begin[i] = np.searchsorted(row[0], np.arange(size.max() + 1))
    return kernel("pairs").Layers(source, symbol, target, weight, begin, size, ending, int(np.diff(begin).max()))
