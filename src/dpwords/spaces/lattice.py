"""The lattice of a language and a private word: the language unrolled over the positions of the word.

Layer i of the lattice has a *node* (i, s) for each state s that a word can be in before symbol i. One backward pass
gives each node the total weight of its *completions*, the ways to complete a word from there; one forward walk draws a
word. An *algebra* says how a *mismatch*, a symbol that differs from the private word, changes the weight: `Discount`
multiplies it by z (for linear utility, where distances need not be kept), `Tally` counts completions by their distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling
from dpwords.core.compiled import in_parts, kernel_for
from dpwords.core.limits import DEFAULTS, Limits, at_most, check_memory
from dpwords.core.randomness import Stream, uint64
from dpwords.core.scaled import Floats, Integers, Scaled, indicator, normalised
from dpwords.core.symbols import Codes
from dpwords.core.values import read_only_view
from dpwords.errors import TooLarge
from dpwords.spaces.graph import Flags, Graph

_BYTES = 12  # size of one stored number
_BYTES_A_LAYER = 64  # fixed size of a layer, in addition to one flag for each state
_LARGEST_EXPONENT = 2**30  # of a stored number; half of the largest int32
_STEP = 512  # a stored exponent e stands for the factor 2^(512·e)


@dataclass(frozen=True, eq=False)
class Discount:
    """One number for each node: the sum over its completions of weight · z^distance."""

    z: Scaled  # a single number


@dataclass(frozen=True)
class Tally:
    """For each node, the number of completions at each distance from 0 to the remaining length, without weights."""


class LayerTable(NamedTuple):
    """The numbers of some consecutive layers, in the form that kernels take."""

    mantissa: Floats
    exponent: NDArray[np.int32]
    offset: Integers
    width: Integers
    live: Flags


class Lattice:
    """The completions of every node for one private word, from which words can be drawn.

    Memory: 12 bytes · reachable states · numbers for each node, summed over the layers. If that exceeds the limit, only
    some layers, the *cuts*, are kept, and those between them are computed again when they are needed; if that is still
    too much, raises `TooLarge` before allocating. Cost: length · edges for `Discount`, length² · edges for `Tally`.
    """

    def __init__(self, graph: Graph, codes: Codes, algebra: Discount | Tally, limits: Limits = DEFAULTS) -> None:
        self.graph, self.codes, self.by_distance = graph, codes.astype(np.int64), isinstance(algebra, Tally)
        self.limits = limits
        self.footprint = max(len(codes), graph.branching)  # numbers held at a time for each word that is drawn
        self._refuse_beyond_limit((_BYTES_A_LAYER + graph.size) * len(codes))
        remaining = np.arange(len(codes), -1, -1)
        self.reach, self.width = graph.reach(len(codes)), remaining + 1 if self.by_distance else np.ones_like(remaining)
        self._steps = int(graph.first[self.reach] @ self.width)  # cost of one pass over all layers
        self.cuts = self._cuts()
        z = algebra.z if isinstance(algebra, Discount) else indicator(np.ones(1, dtype=np.bool_))
        if len(codes) * (abs(int(z.exponent[0])) // _STEP + 2) > _LARGEST_EXPONENT:
            raise TooLarge("the weights of such long words are too small at this epsilon: use less, or shorter words")
        mantissa, exponent = _stored(z)
        self._z = graph.edges.weight * mantissa[0], int(exponent[0])
        ends = indicator(graph.accepting) if graph.ending is None or self.by_distance else graph.ending
        self._kept = {len(codes): _stored(ends.take(slice(0, int(self.reach[-1]))))}
        for begin, end in reversed(list(pairwise(self.cuts))):
            table = self._filled(begin, end)
            size = int(self.reach[begin] * self.width[begin])
            self._kept[begin] = table.mantissa[:size].copy(), table.exponent[:size].copy()
            self._only = table if len(self.cuts) == 2 else None
            del table  # before there is another one

    def at_start(self) -> Scaled:
        """The numbers of the node at which all words start."""
        begin, width = self.graph.start * int(self.width[0]), int(self.width[0])
        mantissa, exponent = self._kept[0]
        return _scaled(mantissa[begin : begin + width], exponent[begin : begin + width])

    def choices(self, position: int, state: int, budget: int, table: LayerTable | None = None) -> Scaled:
        """The weight of each edge of a node. With `Tally`, only completions with `budget` mismatches count."""
        if table is None:
            table = self._table(max(c for c in self.cuts if c <= position), min(c for c in self.cuts if c > position))
        size = int(self.graph.first[state + 1] - self.graph.first[state])
        mantissa, exponent = np.empty(size), np.empty(size, dtype=np.int32)
        job = (self.graph.edges, self.codes, self._z, self.by_distance)
        kernel_for("lattice", size).edge_weights(*job, table, position, state, budget, mantissa, exponent)
        return _scaled(mantissa, exponent)

    def walk(
        self,
        budgets: Integers,
        stream: Stream,
        uniforms: NDArray[np.uint64] | None = None,
        margin: float | None = None,
    ) -> Integers:
        """One word (a row of codes) for each budget; each step is drawn in proportion to its stored weight.

        With `Tally`, a budget is the distance that the word will have. `uniforms` are the first 64 random bits for each
        step, drawn if they are not given; a step whose number is within `margin` of a threshold is settled in integer
        arithmetic. The result does not depend on the number of threads. Cost: rows · length · branching.
        """
        number = len(budgets)
        words = np.empty((number, len(self.codes)), dtype=np.int64)
        positions, states = np.zeros(number, dtype=np.int64), np.full(number, self.graph.start)
        rows = Walks(positions, states, budgets.astype(np.int64), words)
        uniforms = uint64(stream, rows.words.shape) if uniforms is None else uniforms
        margin = sampling.margin(self.graph.branching) if margin is None else margin
        for begin, end in pairwise(self.cuts):
            self._walk_on(begin, end, rows, uniforms, margin, stream)
        return rows.words

    def _walk_on(
        self, begin: int, end: int, rows: Walks, uniforms: NDArray[np.uint64], margin: float, stream: Stream
    ) -> None:
        """Continue all walks from one cut to the next."""
        table, number = self._table(begin, end), len(rows.words)
        thresholds = self._thresholds(begin, end, table, number)
        job = (self.graph.edges, self.codes, self._z, self.by_distance)
        loops = kernel_for("lattice", rows.words.size * self.graph.branching)

        def advance(part: slice) -> None:
            walked = (uniforms[part], margin, *(array[part] for array in rows))
            loops.walk(*job, table, begin, end, thresholds, *walked)

        in_parts(advance, number, cost=end - begin, most=self.limits.threads)
        while len(stopped := np.flatnonzero(rows.positions < end)):
            for row in stopped.tolist():
                self._settle(row, int(uniforms[row, rows.positions[row]]), table, rows, stream.of(row))
            advance(slice(None))

    def distances(self, rows: Codes, width: int) -> tuple[Floats, Floats]:
        """For each of many words of this length, the mean distance of a walk on its own lattice with this `Discount`.

        The second array has a row for each word: the probabilities of the distances 0, …, width − 1. Cost: words ·
        reachable edges of all layers · (1 + width). Memory: (2 + width) numbers for each state and thread; if that
        exceeds the limit there are fewer threads, so that nothing but time depends on their number.
        """
        graph, length, each = self.graph, rows.shape[1], 2 * 8 * self.graph.size * (2 + width)
        codes = read_only_view(rows.astype(np.int64, copy=False))
        self._refuse_beyond_limit(each)
        means, proportions = np.zeros(len(rows)), np.zeros((len(rows), width))
        steps = graph.visited(length) * (1 + width)
        loops = kernel_for("lattice", len(rows) * steps)

        def advance(part: slice) -> None:
            numbers = np.zeros(2 * graph.size), np.zeros(2 * graph.size, dtype=np.int32)
            offset = np.arange(length + 1) % 2 * graph.size  # layers take turns
            table = LayerTable(*numbers, offset, self.width, graph.live(length))
            job = (graph.edges, self._z, self.reach, table, self._kept[length], graph.start)
            loops.distances_each(*job, codes[part], means[part], proportions[part])

        in_parts(advance, len(rows), cost=steps, most=min(self.limits.threads, self.limits.memory // each))
        return means, proportions

    def _settle(self, row: int, uniform: int, table: LayerTable, rows: Walks, stream: Stream) -> None:
        """Take one step of one row whose uniform number is too close to a threshold for floating-point arithmetic."""
        position, state = int(rows.positions[row]), int(rows.states[row])
        weights = self.choices(position, state, int(rows.budgets[row]), table)
        edge = self.graph.first[state] + sampling.settle(weights, uniform, stream)
        rows.words[row, position] = self.graph.symbol[edge]
        rows.budgets[row] -= self.by_distance and self.graph.symbol[edge] != self.codes[position]
        rows.positions[row], rows.states[row] = position + 1, self.graph.target[edge]

    def _thresholds(self, begin: int, end: int, table: LayerTable, number: int) -> Floats:
        """The thresholds of all nodes in these layers, if there are enough walks to share them and they fit in memory.

        Otherwise an empty array: each step then computes its own.
        """
        size = (end - begin, len(self.graph.target))
        if self.by_distance or number < int(self.reach[end]) or 8 * size[0] * size[1] > self.limits.memory:
            return np.empty((0, 0))
        thresholds = np.empty(size)
        job = (self.graph.edges, self.codes, self._z, self.reach)
        kernel_for("lattice", thresholds.size).all_thresholds(*job, table, begin, end, thresholds)
        return thresholds

    def _table(self, begin: int, end: int) -> LayerTable:
        return self._only or self._filled(begin, end)

    def _filled(self, begin: int, end: int) -> LayerTable:
        """All layers from one cut to the next, computed backwards from the latter."""
        sizes = self.reach[begin : end + 1] * self.width[begin : end + 1]
        offset = np.zeros(len(self.codes) + 1, dtype=np.int64)
        offset[begin + 1 : end + 1] = np.cumsum(sizes[:-1])
        numbers = np.empty(sizes.sum()), np.empty(sizes.sum(), dtype=np.int32)
        table = LayerTable(*numbers, offset, self.width, self.graph.live(len(self.codes)))
        table.mantissa[offset[end] :], table.exponent[offset[end] :] = self._kept[end]
        job = (self.graph.edges, self.codes, self._z, self.by_distance, self.reach)
        kernel_for("lattice", self._steps).fill(*job, table, begin, end)
        return table

    def _cuts(self) -> list[int]:
        """The layers that are kept: the first and the last, and as few others as the memory limit requires."""
        sizes, length = _BYTES * self.reach * self.width, len(self.codes)
        ends = np.cumsum(sizes)
        needed, most = math.inf, at_most(self.limits.memory, int(ends[-1]))
        for blocks in range(1, 2 * math.isqrt(length) + 2):
            inner = np.searchsorted(ends, ends[-1] * np.arange(1, blocks) / blocks)
            cuts = np.unique(np.concatenate([[0], inner, [length]]))
            largest = (ends[cuts[1:]] - ends[cuts[:-1]] + sizes[cuts[:-1]]).max()
            needed = min(needed, int(largest + sizes[cuts].sum()))
            if needed <= most:
                return [int(cut) for cut in cuts]
        self._refuse_beyond_limit(int(needed))
        raise MemoryError  # it is within the limit, but there is less memory than that

    def _refuse_beyond_limit(self, needed: int) -> None:
        if needed > self.limits.memory:
            raise TooLarge(
                f"the tables for {self.graph.size} states and {len(self.codes)} symbols would take "
                f"{needed / 2**30:.1f} GiB, and the limit is {self.limits.memory / 2**30:.0f} GiB: use a shorter word "
                "or a smaller system (a release with utility Linear() needs the least)"
            )
        check_memory(needed)


def walk_each(
    graph: Graph, rows: Codes, z: Scaled, stream: Stream, limits: Limits = DEFAULTS, margin: float | None = None
) -> Codes:
    """One walk for each of many words of the same length, distributed as on `Lattice(graph, word, Discount(z))`.

    Cost: words · reachable edges of all layers, with one table for each thread.
    """
    length = rows.shape[1]
    model = Lattice(graph, rows[0], Discount(z), limits)
    if len(model.cuts) > 2 or _BYTES * int(model.reach.sum()) * limits.threads > limits.memory:
        one = np.zeros(1, np.int64)
        walks = [Lattice(graph, row, Discount(z), limits).walk(one, stream.one(n)) for n, row in enumerate(rows)]
        return np.concatenate(walks).astype(rows.dtype)
    words, positions, uniforms = np.empty_like(rows), np.empty(len(rows), dtype=np.int64), uint64(stream, rows.shape)
    margin = sampling.margin(graph.branching) if margin is None else margin
    loops, rows = kernel_for("lattice", len(rows) * model._steps), read_only_view(rows)

    def advance(part: slice) -> None:
        job = (graph.edges, model._z, model.reach, model._filled(0, length), graph.start)
        loops.walk_each(*job, rows[part], uniforms[part], margin, words[part], positions[part])

    in_parts(advance, len(rows), cost=int(model.reach.sum()), most=limits.threads)
    for row in np.flatnonzero(positions < length).tolist():
        alone = Lattice(graph, rows[row], Discount(z), limits)
        words[row] = alone.walk(np.zeros(1, np.int64), stream.of(row), uniforms[row : row + 1], margin)[0]
    return words


class Walks(NamedTuple):
    """Walks in progress, one in each row: the current position, state and budget, and the symbols drawn so far."""

    positions: Integers
    states: Integers
    budgets: Integers
    words: Integers


def _stored(values: Scaled) -> tuple[Floats, NDArray[np.int32]]:
    """Numbers in the form that kernels use: m · 2^(512·e) with m between about 2^(−256) and 2^256."""
    steps = np.where(values.mantissa > 0, np.rint(values.exponent / _STEP).astype(np.int64), 0)
    shift = np.where(values.mantissa > 0, values.exponent - _STEP * steps, 0)
    return np.ldexp(values.mantissa, shift.astype(np.int32)), steps.astype(np.int32)


def _scaled(mantissa: Floats, exponent: NDArray[np.int32]) -> Scaled:
    return normalised(mantissa, _STEP * exponent.astype(np.int64))
