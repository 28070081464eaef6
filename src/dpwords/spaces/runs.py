"""Languages given as graphs, under Hamming distance: runs of systems, and any other regular language."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Rows
from dpwords.core.values import read_only
from dpwords.spaces.by_distance import ByDistanceLaw
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Discount, Lattice, Tally, walk_each
from dpwords.spaces.least_distance import LeastDistance, in_graph
from dpwords.spaces.space import Distances, Space, StoredLaw, Weights, batches, hamming, none_of_length
from dpwords.spaces.tuning import STEPS_OF_A_LAYER
from dpwords.spaces.weighted_words import WeightedLaw, WeightedWords


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
            return WeightedLaw(codes, weights.base, weights.values, weights.logs)
        if weights.rate is None:
            return ByDistanceLaw.of(self.around(codes), weights, self.limits)
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
        return in_graph(self.graph, length, self.limits)


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


def walked_proportion(lattice: Lattice, codes: Codes, budget: int) -> Fraction:
    """The exact probability that a walk with `budget` mismatches gives this word; see `Lattice.walk`."""
    probability, state, graph = Fraction(1), lattice.graph.start, lattice.graph
    for position, edge in enumerate(graph.taken(codes)):
        probability *= sampling.probabilities(lattice.choices(position, state, budget))[edge - graph.first[state]]
        budget -= int(lattice.by_distance and codes[position] != lattice.codes[position])
        state = int(graph.target[edge])
    return probability
