"""How far apart the largest and the least normalising constant are, for any words of a graph (docs/theory.md, section
9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.elementary import log, logs
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, outward, price
from dpwords.privacy.certificates.tuning import (
    ENTRIES,
    FEWEST_VECTORS,
    QUICKER_RANGE,
    SECONDS_A_NUMBER,
    STORED,
    SURROUNDING_ROUNDS,
    VECTORS,
)
from dpwords.spaces.graph import Flags, Graph

_LEAST_PRICE = 1e-87  # a lower price is rounded up to this, or down to 0
_OF_A_MERGE = 24  # about how many times vectors², entries are read to merge the candidates of a state


def ranges_of_constants(
    graph: Graph, longest: int, c: float, step: int = 1, first: int = 0, limits: Limits = DEFAULTS,
    vectors: int = VECTORS, entries: int = ENTRIES,
) -> Floats:  # fmt: skip
    """Upper bounds of max ln Z − min ln Z over all words of n symbols, at index n, for every n up to `longest`.

    Weights are e^(−c·ceil((d − first)/step)): of the symbols that differ, `first` are free, then every `step`-th one
    costs e^(−c). Infinite where there is no word, where the numbers of one layer span too much, and beyond
    `limits.range_steps`. Cost: longest · states · entries · vectors², where the numbers of entries and vectors are
    lowered until that is within the limit; the fewer, the larger the bounds.
    """
    margins = np.array([margin(length) for length in range(longest + 1)])
    if c > ALL_OF_IT and step == 1:
        return margins
    graph = graph.within(longest)
    step, first = min(step, longest + 1), min(first, longest)  # of n symbols no more than n can differ
    envelopes = _Envelopes(graph, longest, price(c), step, limits, vectors, entries)
    if not envelopes.fits:
        return np.full(longest + 1, math.inf)
    (high, up), (low, down) = envelopes.extremes(first, upper=True), envelopes.extremes(first, upper=False)
    known = (high > 0) & (low > 0) & np.isfinite(low)
    found = np.full(longest + 1, math.inf)
    found[known] = logs(high[known]) - logs(low[known]) + (up - down)[known] * log(2.0) + margins[known]
    return found


def seconds_of_ranges(graph: Graph, longest: int, step: int, limits: Limits) -> float:
    """About how long a search for a rate takes; less where runs leave little choice. Cost: longest · edges."""
    graph = graph.within(longest)
    numbers = _OF_A_MERGE * int(_own(graph, longest).sum()) * _most_entries(graph) * min(step, longest + 1)
    few = min(numbers * FEWEST_VECTORS**2, limits.range_steps)
    return SECONDS_A_NUMBER * max(few, min(numbers * VECTORS**2, limits.range_steps // QUICKER_RANGE))


def _own(graph: Graph, longest: int) -> Flags:
    """Row m: the states of runs with m symbols to go."""
    within = graph.depth + np.arange(longest + 1)[:, None] <= longest
    return np.asarray(graph.useful(longest)[::-1] & within)


def _most_entries(graph: Graph, entries: int = ENTRIES) -> int:
    return max(min(entries, graph.size, STORED // graph.size), 1)


class _Envelopes:
    """Vectors above, or below, the weights of all completions (`_kernels/constant_range.py`)."""

    def __init__(
        self, graph: Graph, longest: int, z: float, step: int, limits: Limits, vectors: int, entries: int
    ) -> None:
        self._graph, self._longest, self._z, self._step, self._threads = graph, longest, z, step, limits.threads
        self._loops, self._edges = kernel("constant_range"), (graph.first, graph.symbol, graph.target)
        self._own, self._vectors = _own(graph, longest), vectors
        self._near = self._surroundings(_most_entries(graph, entries))
        while self._vectors > FEWEST_VECTORS and self._work > limits.range_steps // QUICKER_RANGE:
            self._vectors //= 2
        while self._work > limits.range_steps and self._width > step:
            self._near = self._surroundings(self._width // step // 2)
        self.fits = self._work <= limits.range_steps

    def _surroundings(self, entries: int) -> Any:
        """The states whose entries are stored for each own state: those with the most mass."""
        graph, order = self._graph, np.argsort(self._graph.target, kind="stable")
        begin, before = graph.reversed
        near, mass, size = self._loops.surroundings(
            self._edges, begin, before, graph.symbol[order], self._z, entries, SURROUNDING_ROUNDS
        )
        stored = np.arange(entries) < size[:, None]
        return self._loops.NearStates(np.concatenate([[0], np.cumsum(size)]), near[stored], mass[stored])

    @property
    def _width(self) -> int:
        """The numbers of a vector, at most."""
        return int(np.diff(self._near.nf).max()) * self._step

    @property
    def _work(self) -> int:
        """About how many numbers are read."""
        return (
            int(self._own.sum())
            * len(self._near.near)
            // self._graph.size
            * self._step
            * _OF_A_MERGE
            * self._vectors**2
        )

    def extremes(self, first: int, upper: bool) -> tuple[Floats, Integers]:
        """Bounds of the largest, or of the least, Z for each length, as a number and an exponent of 2.

        The number is not positive, or not finite, where nothing is known.
        """
        graph, loops, near, step = self._graph, self._loops, self._near, self._step
        down, up = outward().factors(graph.branching + 4)
        factor, too_low = (up, _LEAST_PRICE) if upper else (down, 0.0)
        z = self._z if self._z > _LEAST_PRICE else too_low
        width = -(-self._width // 4) * 4  # loops take four entries at a time
        far = np.repeat(graph.accepting.astype(np.float64)[:, None], step, axis=1)
        kept, count = np.zeros((graph.size, self._vectors, width)), graph.accepting.astype(np.int64)
        for state in np.flatnonzero(graph.accepting):
            own = far[near.near[near.nf[state] : near.nf[state + 1]]].ravel()
            kept[state, 0, : len(own)] = own
        after, left, top = np.zeros_like(kept), np.zeros_like(count), np.ones(graph.size)
        found, exponents = np.zeros(self._longest + 1), np.zeros(self._longest + 2, np.int64)
        for length in range(1, self._longest + 1):
            found[length] = loops.extreme(self._edges, near, graph.start, far, kept, count, z, factor, upper, first)
            exponent = math.frexp(float(max(far.max(), top.max())))[1]  # the next numbers are divided by 2^exponent
            exponents[length + 1] = exponents[length] + exponent
            scaled, own = math.ldexp(factor, -exponent), np.flatnonzero(self._own[length])
            left[:], top[:] = 0, 0.0
            self._one_more(own, far, kept, count, z, scaled, upper, after, left, top)
            far = loops.everywhere(self._edges, far, z, scaled, upper, len(graph.alphabet))
            far[graph.depth + length > self._longest] = 0.0  # no run gets there with so many symbols to go
            kept, count, after, left = after, left, kept, count
        return found, exponents[:-1]

    def _one_more(self, own: Integers, *arguments: Any) -> None:
        """The vectors with one more symbol to go, in several threads."""

        def advance(part: slice) -> None:
            self._loops.layer(self._edges, self._near, own[part], *arguments)

        in_parts(advance, len(own), self._vectors**2 * self._width, self._threads)
