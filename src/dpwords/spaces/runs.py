"""Languages given as graphs, under Hamming distance: runs of systems, and any other regular language."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Rows
from dpwords.core.values import read_only
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.lattice import Discount, Lattice, Tally, walk_each
from dpwords.spaces.space import (
    Distances,
    LeastDistance,
    Space,
    StoredLaw,
    WeightedWords,
    Weights,
    batches,
    hamming,
    none_of_length,
)
from dpwords.spaces.tuning import STEPS_OF_A_LAYER


@dataclass(frozen=True, eq=False)
class Runs(Space):
    """The words of a graph. A law costs length · edges if the weights have a rate, otherwise length² · edges."""

    graph: Graph
    limits: Limits = DEFAULTS

    @property
    def identity(self) -> str:
        return self.graph.identity

    @property
    def slack(self) -> float:
        """The weight of each lattice node is rounded; it is a sum with at most `branching` terms."""
        return 4 * (self.graph.branching + 3) * 2.0**-53

    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        return self.graph.accepts(rows)

    def around(self, codes: Codes) -> RunSurroundings:
        return RunSurroundings(codes, self)

    def law(self, codes: Codes, weights: Weights) -> StoredLaw:
        if isinstance(weights.base, WeightedWords):
            return WeightedLaw(codes, weights.base, weights)
        if weights.rate is None:
            return super().law(codes, weights)
        return FoldedLaw(codes, self.graph, weights, self.limits)

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row. If the weights have a rate, all rows are drawn together, on all cores.

        Cost: reachable edges of all layers, for each row.
        """
        base = weights.base
        if weights.rate is None or len(rows) == 1 or isinstance(base, WeightedWords):
            return np.asarray(super().draw_each(rows, weights, stream))
        graph, parts = base or self.graph, batches(len(rows), rows.shape[1], self.limits)
        return np.concatenate([walk_each(graph, rows[p], weights.z, stream.of(p), self.limits) for p in parts])

    def distances(self, rows: Rows, weights: Weights, width: int | None) -> Distances:
        """If the weights have a rate, one pass over each word gives everything, for all words together, on all cores.

        Cost: reachable edges of all layers · (1 + width), for each word.
        """
        base = weights.base
        if weights.rate is None or not isinstance(rows, np.ndarray) or isinstance(base, WeightedWords):
            return super().distances(rows, weights, width)
        columns = rows.shape[1] + 1 if width is None else width
        lattice = Lattice(base or self.graph, rows[0], Discount(weights.z), self.limits)
        return Distances(*lattice.distances(rows, columns))

    def every(self, length: int, most: int) -> Codes | None:
        if length > self.limits.listed_length or length * self.graph.size > self.limits.memory // 4:
            return None
        listed = self.graph.words(length, most)
        return None if listed is None else self.graph.symbol[listed[0]]

    def uniform(self, length: int, count: int, stream: Stream) -> Codes:
        law = FoldedLaw(np.zeros(length, dtype=np.int64), self.graph, Weights.linear(Fraction(0), length), self.limits)
        if not law.lattice.at_start().mantissa[0]:
            raise none_of_length(length)
        return law.draw(count, stream)

    def typical(self, length: int, steps: int = 1) -> tuple[Rows, Integers]:
        """The last ones are cached with the graph, since mechanisms are compared on the same words."""
        key = (length, self.averaged(length, steps), self.limits)
        cached = self.graph.__dict__.get("_typical")  # replaced in one step: threads may share the graph
        if cached is None or cached[0] != key:
            cached = key, super().typical(length, steps)
            read_only(*cached[1])
            self.graph.__dict__["_typical"] = cached
        return cached[1]

    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        limits = self.limits
        affordable = limits.averaged_steps // (length * (steps * len(self.graph.target) + STEPS_OF_A_LAYER))
        return limits.most_averaged, min(max(affordable, limits.fewest_averaged), limits.most_averaged)

    def least_distance(self, length: int) -> LeastDistance:
        """The least number of positions in which two words differ, both of this length.

        Two words are followed at a time, as a pair of states and the number of positions that differ so far, up to some
        number; that number is doubled until two words are found. Cost: length · pairs of states within that number of
        positions · branching², but at most a second or so: beyond that, a lower bound is returned.
        """
        graph = self.graph
        if length * graph.size > self.limits.memory // 4:
            return LeastDistance(1, False)
        live = graph.live(length) & graph.useful(length)  # row i: the states that words can be in after i symbols
        last = live[length - 1, graph.sources] & live[length, graph.target]
        if np.bincount(graph.sources[last], minlength=1).max() > 1:
            return LeastDistance(1, True)  # two words that differ only in the last position
        search, least, most = _PairSearch(graph, live, self.limits.pair_steps), 1, 1
        while True:
            found = search.within(least, most)
            if found is None:
                return LeastDistance(least, False)
            if found <= most:
                return LeastDistance(found, True)
            if not search.farther:
                return LeastDistance(None, True)
            least, most = most + 1, 2 * most


class RunSurroundings:
    """The words of a graph, grouped by their distance from one of them.

    Cost: length² · edges once, then the length of each word that is drawn.
    """

    def __init__(self, codes: Codes, space: Runs) -> None:
        self.codes = codes
        self.lattice = Lattice(space.graph, codes, Tally(), space.limits)
        self.sizes, self.footprint = self.lattice.at_start(), self.lattice.footprint

    def distance(self, codes: Codes) -> int:
        return hamming(codes, self.codes)

    def draw(self, distances: Integers, stream: Stream) -> Codes:
        return self.lattice.walk(distances, stream)

    def probability(self, codes: Codes) -> Fraction:
        return walked_proportion(self.lattice, codes, self.distance(codes))


class FoldedLaw:
    """Gives words of a graph probabilities in proportion to e^(−rate · distance) times their public weight.

    Distances are folded into the weights of a lattice instead of being counted. Cost: length · edges.
    """

    def __init__(self, codes: Codes, graph: Graph, weights: Weights, limits: Limits) -> None:
        assert weights.rate is not None
        assert not isinstance(weights.base, WeightedWords)
        self.rate, self.limits = weights.rate, limits
        self.lattice = Lattice(weights.base or graph, codes, Discount(weights.z), limits)
        self.log_total = float(self.lattice.at_start().logs()[0])

    def log_prob(self, codes: Codes) -> float:
        weight = self.lattice.graph.log_weight(codes)
        return weight - float(self.rate) * hamming(codes, self.lattice.codes) - self.log_total

    def exact(self, codes: Codes) -> Fraction:
        return walked_proportion(self.lattice, codes, 0)

    def draw(self, count: int, stream: Stream) -> Codes:
        parts = batches(count, self.lattice.footprint, self.limits)
        walks = [self.lattice.walk(np.zeros(b.stop - b.start, int), stream) for b in parts]
        return walks[0] if len(walks) == 1 else np.concatenate(walks)

    def distance_distribution(self) -> Floats:
        """Cost: length² · edges."""
        return self.lattice.distances(self.lattice.codes[None], len(self.lattice.codes) + 1)[1].reshape(-1)

    def expected_distance(self) -> float:
        return float(self.lattice.distances(self.lattice.codes[None], 0)[0][0])


class WeightedLaw:
    """Gives each word of a list a probability in proportion to its public weight times the weight of its distance.

    It draws from the list directly, without a lattice. Cost: words · length.
    """

    def __init__(self, codes: Codes, words: WeightedWords, weights: Weights) -> None:
        self.words = words
        self.distances: Integers = np.count_nonzero(words.rows != codes, axis=1)
        self.stored = words.weight.times(weights.values.take(self.distances))
        self._logs = words.weight.logs() + weights.logs[self.distances]
        self._log_total = float(scaled.total(self.stored).logs()[0])

    def log_prob(self, codes: Codes) -> float:
        return float(self._logs[self.words.number(codes)]) - self._log_total

    def exact(self, codes: Codes) -> Fraction:
        return sampling.probabilities(self.stored)[self.words.number(codes)]

    def draw(self, count: int, stream: Stream) -> Codes:
        return self.words.rows[sampling.choose(self.stored, count, stream)]

    def distance_distribution(self) -> Floats:
        relative = self.stored.relative_to(self.stored.exponent.max())
        proportions: Floats = relative / math.fsum(relative)
        return np.bincount(self.distances, weights=proportions, minlength=self.words.rows.shape[1] + 1).astype(
            np.float64
        )

    def expected_distance(self) -> float:
        by_distance = self.distance_distribution()
        return math.fsum(by_distance * np.arange(len(by_distance)))


def walked_proportion(lattice: Lattice, codes: Codes, budget: int) -> Fraction:
    """The exact probability that a walk with `budget` mismatches gives this word; see `Lattice.walk`."""
    probability, state, graph = Fraction(1), lattice.graph.start, lattice.graph
    for position, edge in enumerate(graph.taken(codes)):
        probability *= sampling.probabilities(lattice.choices(position, state, budget))[edge - graph.first[state]]
        budget -= int(lattice.by_distance and codes[position] != lattice.codes[position])
        state = int(graph.target[edge])
    return probability


class _PairSearch:
    """Pairs of words with a common start, layer by layer, until the steps that are allowed are used up."""

    def __init__(self, graph: Graph, live: Flags, steps: int) -> None:
        self._graph, self._live, self._steps = graph, live, steps
        self._degrees = np.diff(graph.first)
        self.farther = False  # whether the last search left out pairs that differ in more positions than it was to find

    def within(self, least: int, most: int) -> int | None:
        """The least number of positions that differ if it is `most` or less, otherwise more than `most`.

        It is known to be at least `least`. None if there are too many pairs.
        """
        graph, best, self.farther = self._graph, most + 1, False
        pairs, differing = np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
        for here, after in zip(self._live, self._live[1:], strict=False):
            alike = np.flatnonzero(here)  # words that have not differed yet are in the same state
            one, other = np.concatenate([np.tile(alike, (2, 1)), pairs], axis=1)
            before = np.concatenate([np.zeros(len(alike), dtype=np.int64), differing])
            self._steps -= int((self._degrees[one] * self._degrees[other]).sum()) + STEPS_OF_A_LAYER
            if self._steps < 0:
                return None
            number, first = graph.leaving(one)
            way, second = graph.leaving(other[number])
            number, first = number[way], first[way]
            positions = before[number] + (graph.symbol[first] != graph.symbol[second])
            pairs = np.sort(np.stack([graph.target[first], graph.target[second]]), axis=0)
            kept = after[pairs].all(axis=0) & (positions > 0)
            self.farther |= bool((kept & (positions > most)).any())
            meeting = kept & (pairs[0] == pairs[1])  # from here on both words can go the same way
            best = min(best, int(positions[meeting].min(initial=best)))
            if best == least:
                return best
            kept &= (positions < best) & ~meeting
            pairs, differing = _nearest(pairs[:, kept], positions[kept])
        return min(best, int(differing.min(initial=best)))


def _nearest(pairs: Integers, positions: Integers) -> tuple[Integers, Integers]:
    """Each pair of states once, with the least number of positions."""
    order = np.lexsort((positions, pairs[1], pairs[0]))
    pairs, positions = pairs[:, order], positions[order]
    new = np.ones(len(positions), dtype=np.bool_)
    new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    return pairs[:, new], positions[new]
