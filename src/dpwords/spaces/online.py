"""Words that are drawn symbol by symbol, without a look at the symbols to come."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core import sampling
from dpwords.core.randomness import Stream
from dpwords.core.scaled import ZERO_EXPONENT, Floats, Integers, Scaled
from dpwords.spaces.by_distance import batches
from dpwords.spaces.graph import Flags, Graph


def weights(own: Flags, open_to: Flags, z: Scaled) -> Scaled:
    """The weight of each choice of a row: 1 for the true symbol, z for others; all 1 where the true one is closed."""
    discounted = open_to & ~own & (own & open_to).any(axis=-1, keepdims=True)
    plain = np.where(open_to, 0.5, 0.0)  # mantissa and exponent of 1
    return Scaled(
        np.where(discounted, z.mantissa, plain),
        np.where(discounted, z.exponent, np.where(open_to, 1, ZERO_EXPONENT)),
    )


class OnlineLaw:
    """At each place of a word the true symbol, if it is open, or another open one with e^(−c) of its weight.

    A symbol is open if the word can still be completed after it. Cost: length · edges.
    """

    def __init__(self, codes: Integers, graph: Graph, z: Scaled) -> None:
        self.codes, self.graph, self.z = codes, graph, z
        self.useful = graph.useful(len(codes))
        self.footprint = max(len(codes), graph.branching)

    def log_prob(self, codes: Integers) -> float:
        state, total = self.graph.start, 0.0
        for place, code in enumerate(codes):
            edges, shares = self._choices(place, np.array([state]))
            row = shares.relative_to(shares.exponent.max(axis=1, keepdims=True))[0]
            picked = int(np.flatnonzero((self.graph.symbol[edges[0]] == code) & (row > 0))[0])
            total += math.log(row[picked] / row.sum())
            state = int(self.graph.target[edges[0, picked]])
        return total

    def draw(self, count: int, stream: Stream) -> Integers:
        return np.concatenate([self._drawn(b.stop - b.start, stream) for b in batches(count, self.footprint)])

    def _drawn(self, count: int, stream: Stream) -> Integers:
        states = np.full(count, self.graph.start)
        words = np.empty((count, len(self.codes)), dtype=np.int64)
        for place in range(len(self.codes)):
            edges, shares = self._choices(place, states)
            taken = edges[np.arange(count), sampling.choose_each(shares, stream)]
            words[:, place] = self.graph.symbol[taken]
            states = self.graph.target[taken]
        return words

    def distance_distribution(self) -> Floats:
        graph, length = self.graph, len(self.codes)
        reached = np.zeros((graph.size, length + 1))
        reached[graph.start, 0] = 1.0
        for place in range(length):
            share = reached[graph.sources] * self._edge_shares(place)[:, None]
            differs = graph.symbol != self.codes[place]
            share[differs, 1:], share[differs, 0] = share[differs, :-1], 0.0
            reached = np.zeros_like(reached)
            np.add.at(reached, graph.target, share)
        return np.asarray(reached.sum(axis=0))

    def expected_distance(self) -> float:
        graph, mean = self.graph, 0.0
        reached = np.zeros(graph.size)
        reached[graph.start] = 1.0
        for place in range(len(self.codes)):
            share = reached[graph.sources] * self._edge_shares(place)
            mean += float(share[graph.symbol != self.codes[place]].sum())
            reached = np.bincount(graph.target, share, graph.size).astype(np.float64)
        return mean

    def _choices(self, place: int, states: Integers) -> tuple[Integers, Scaled]:
        """The edges of each state, in rows of the same width, and their weights: 0 where none is, or a closed one."""
        graph = self.graph
        begin, end = graph.first[states], graph.first[states + 1]
        edges = begin[:, None] + np.arange(int((end - begin).max()))
        there = edges < end[:, None]
        edges[~there] = 0
        open_to = there & self.useful[place + 1, graph.target[edges]]
        return edges, weights(graph.symbol[edges] == self.codes[place], open_to, self.z)

    def _edge_shares(self, place: int) -> Floats:
        """The probability of each edge in its state."""
        graph = self.graph
        open_to = self.useful[place + 1, graph.target]
        own = open_to & (graph.symbol == self.codes[place])
        known = np.bincount(graph.sources, own, graph.size)[graph.sources] > 0
        z = float(self.z.relative_to(np.zeros(1, dtype=np.int64))[0])
        weight = np.where(open_to, np.where(known & ~own, z, 1.0), 0.0)
        total = np.bincount(graph.sources, weight, graph.size)[graph.sources]
        return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
