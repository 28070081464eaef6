"""Pairs of words, bounded all at once by sweeps from both ends (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.elementary import exp, log
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Floats, Integers
from dpwords.privacy.certificates.certificate import on_grid
from dpwords.privacy.certificates.reweighted_blocks import Tick
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, price
from dpwords.privacy.certificates.tuning import (
    FEW_SWEEPS,
    FIRST_BOXES,
    FIRST_GAIN,
    FIRST_SHARE,
    FITTING_TIME,
    MANY_BOXES,
    MOST_BOXES,
    PROOFS,
    RATE_PRECISION,
    ROUGH_PRECISION,
    SECONDS_A_STEP,
    SOME_WORDS,
    SWEEPS,
    WORST_PAIRS,
)
from dpwords.spaces.graph import Graph

TABLES = 128  # bytes for each two states of a layer
LIGHTEST = 1e-30  # weight of an edge: products of lighter ones could underflow


class Verdict(NamedTuple):
    """What is known about all pairs of words after some sweeps."""

    proven: bool
    pairs: Integers  # words of which some may be above the limit: two rows of edges for each pair
    work: int = 0  # steps that it took


class Proven(NamedTuple):
    """The largest rate that was proven, 0.0 if none was, and whether a pair of words shows that more is too much."""

    c: float
    largest: bool


@dataclass(frozen=True, eq=False)
class PairProofs:
    """All pairs of words of one length in a graph, which may have weights.

    Cost of a sweep: for each layer, pairs of states · boxes of a pair · boxes of the other sweep · states.
    """

    graph: Graph
    length: int
    limits: Limits = DEFAULTS
    first_boxes: int = FIRST_BOXES
    many_boxes: int = MANY_BOXES

    @property
    def fits(self) -> bool:
        """Whether a few sweeps over all pairs of edges are within the limits. Cost: length · edges."""
        active = self.graph.live(self.length) & self.graph.useful(self.length)
        states, edges = active.sum(axis=1).astype(float), active[:-1] @ np.diff(self.graph.first).astype(float)
        quick = FEW_SWEEPS * 2 * (edges**3).sum() <= self._work
        return bool(quick and TABLES * (states.max() ** 2) * len(states) <= self.limits.certificate_memory)

    @property
    def _work(self) -> int:
        """How many steps a proof may have: not seconds, so that all machines prove the same."""
        return int((1 - FITTING_TIME) * self.limits.certificate_time / (PROOFS * SECONDS_A_STEP))

    def rate(self, epsilon: float, least: float, tick: Tick = lambda: None) -> Proven:
        """The largest rate c above `least` that was proven to have ln Z(x′) − ln Z(x) ≤ (ε − c)·d.

        Where not even a little more than `least` is proven, no more is tried. Pairs of words that were above a limit
        show which other rates are too large; without any, rates between what holds and what failed are tried.
        """
        holds, fails, c = 0.0, epsilon, on_grid(least + FIRST_GAIN * epsilon, epsilon)
        seen, refuted = self.no_pairs, True
        for _ in range(PROOFS):
            verdict = self.verdict(c, epsilon - c, tick, FIRST_SHARE if holds == 0.0 else 1.0)
            if verdict.proven:
                holds = c
            elif holds == 0.0:
                break
            else:
                worst = np.argsort(-self.losses(price(c), verdict.pairs), kind="stable")[:WORST_PAIRS]
                seen = np.concatenate([verdict.pairs[worst], seen])
                fails = self._refuted(seen, epsilon, holds, c)
                refuted = fails < c
            precision = (RATE_PRECISION if refuted else ROUGH_PRECISION) * epsilon
            if fails - holds < precision:
                break
            c = on_grid(fails - precision / 2 if refuted else (holds + fails) / 2, epsilon)
        return Proven(holds, holds > 0.0 and refuted)

    def _refuted(self, seen: Integers, epsilon: float, holds: float, fails: float) -> float:
        """About the least rate above `holds` at which one of the pairs seen is above the limit, or `fails`."""
        low, high = holds, fails
        while len(seen) and high - low > RATE_PRECISION * epsilon / 8:
            c = (low + high) / 2
            low, high = (c, high) if c + self.losses(price(c), seen).max() <= epsilon else (low, c)
        return high

    def hold(self, c: float, epsilon: float, tick: Tick = lambda: None) -> bool:
        """Whether a rate that was found is proven again."""
        return self.verdict(c, epsilon - c, tick).proven

    def verdict(self, c: float, delta: float, tick: Tick = lambda: None, share: float = 1.0) -> Verdict:
        """Whether ln Z(x′) − ln Z(x) ≤ delta · d for all pairs of words, d being their distance.

        A share of the work that a proof may have can be set.
        """
        if not margin(self.length) < delta or c > ALL_OF_IT:
            return Verdict(False, self.no_pairs)
        return self.sweeps(price(c), math.nextafter(exp(margin(self.length) - delta), 1.0), tick, share)

    def sweeps(self, z: float, fall: float, tick: Tick = lambda: None, share: float = 1.0) -> Verdict:
        """Whether fall^d · Z(x′) ≤ Z(x) for all pairs of words, where each symbol that differs costs z.

        Sweeps from the end and from the start take turns. Each one discards what cannot exceed the limit with anything
        that the one before has kept, and has more boxes. They end when nothing is left, when a pair of words is found
        that is above the limit, or when the work that is allowed is done.
        """
        check_memory(TABLES * len(self.layers.ending) ** 2 * (self.length + 1))
        loops, ways, pairs, kept, most = kernel("pairs"), self._ways, self.no_pairs, self._nothing, self.first_boxes
        allowed = work = int(self._work * share)
        boxes = self.limits.certificate_memory // (96 * len(ways[0].ending) + 192)
        means, sizes = [loops.means_of(way, z) for way in ways], list[int]()
        for turn in range(SWEEPS if self._weights_are_usual else 0):
            way, other = turn % 2, kept
            kept, found, work = loops.sweep(
                ways[way], z, fall, means[1 - way], self._allowed[way], other, most, work, boxes
            )
            tick()
            if work < 0:
                break
            if turn > 0:
                if not len(found.ratio):
                    return Verdict(True, pairs, allowed - work)
                pairs = np.concatenate([pairs, self._traced(found.place, kept, other, way)])
                if self.losses(z, pairs).max() > -log(fall):
                    break
            sizes.append(len(kept.lo))
            if sizes[-3:-2] == sizes[-1:]:  # nothing new since the last sweep in this direction
                break
            if len(kept.lo) < self.many_boxes:
                most = min(2 * most, MOST_BOXES)
        return Verdict(False, pairs, allowed - work)

    def spread(self, z: float) -> float:
        """By how much ln Z differs between some words, up to rounding: they are near its range on grids.

        The words take the edges of each state in turn, one at every step, others after up to so many steps.
        Cost: length · edges, for each word.
        """
        layers, number = self.layers, np.arange(SOME_WORDS)
        words, state = np.zeros((SOME_WORDS, self.length), dtype=np.int64), np.zeros(SOME_WORDS, dtype=np.int64)
        for i, begin in enumerate(layers.begin):
            words[:, i] = begin[state] + (i // (number + 1) + number) % (begin[state + 1] - begin[state])
            state = layers.target[i, words[:, i]]
        logs = kernel("pairs").log_constants(layers, z, words)
        return float(logs.max() - logs.min())

    def losses(self, z: float, pairs: Integers) -> Floats:
        """(ln Z(x′) − ln Z(x)) / d for pairs of words, up to rounding."""
        logs = kernel("pairs").log_constants(self.layers, z, pairs.reshape(-1, self.length)).reshape(-1, 2)
        codes = self.codes(pairs)
        return np.asarray((logs[:, 1] - logs[:, 0]) / (codes[:, 0] != codes[:, 1]).sum(axis=1))

    def codes(self, words: Integers) -> Integers:
        """The symbols of words that are rows of edges."""
        return np.asarray(self.layers.symbol[np.arange(self.length), words])

    def _traced(self, places: Integers, kept: Any, other: Any, way: int) -> Integers:
        """Words that stand for the pairs that a sweep has found."""
        found, last = np.zeros((len(places), 2, self.length), dtype=np.int64), self.length - 1
        for row, (layer, one, two, after, of_other) in zip(found, places.tolist(), strict=True):
            row[:, layer], box, before = self._forward(way, layer, [one, two]), after, of_other
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
    def layers(self) -> Any:
        """The edges of all words, from start to end."""
        return self._parts[0]

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
        forward = self.layers
        weights = np.concatenate([forward.weight[forward.weight != 0.0], forward.ending[forward.ending != 0.0]])
        return bool(weights.min() > LIGHTEST and weights.max() < 1 / LIGHTEST)

    @cached_property
    def _allowed(self) -> tuple[Any, Any]:
        """For two states of each layer, in both directions, whether words run through them."""
        loops, n = kernel("pairs"), self.length
        least = loops.least_apart(self.layers) + loops.least_apart(self._ways[1])[::-1]
        return least <= n, (least <= n)[::-1].copy()

    @property
    def no_pairs(self) -> Integers:
        return np.zeros((0, 2, self.length), dtype=np.int64)

    @cached_property
    def _nothing(self) -> Any:
        """What no sweep has kept."""
        layers, width = self.length + 1, len(self.layers.ending)
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
    return kernel("pairs").LayersOfEdges(source, symbol, target, weight, begin, size, ending, int(np.diff(begin).max()))
