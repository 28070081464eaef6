"""Words that are drawn symbol by symbol, without looking at the symbols to come."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpwords.core import sampling
from dpwords.core.encoding import Codes
from dpwords.core.randomness import Stream
from dpwords.core.scaled import ZERO_EXPONENT, Floats, Integers, Scaled
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Weights, batches


def choice_weights(own: Flags, open_to: Flags, z: Scaled) -> Scaled:
    """The weights of the choices in each row: 1 for the true symbol and z for the others, or 1 for all if it is closed.

    `own` flags the true symbol, and `open_to` the choices that are open; closed choices have weight 0.
    """
    discounted = open_to & ~own & (own & open_to).any(axis=-1, keepdims=True)
    plain = np.where(open_to, 0.5, 0.0)  # the number 1 has mantissa 1/2 and exponent 1
    return Scaled(
        np.where(discounted, z.mantissa, plain),
        np.where(discounted, z.exponent, np.where(open_to, 1, ZERO_EXPONENT)),
    )


@dataclass(frozen=True, eq=False)
class OnlineRuns(Runs):
    """The words of a graph, each drawn symbol by symbol: at each place the true symbol or another one that is open.

    A symbol is *open* if the word can still be completed after it, otherwise it is *closed*. Cost: length · edges for
    each law or batch, then length · branching for each word.
    """

    @property
    def slack(self) -> float:
        """Only e^(−rate) is rounded, and only once."""
        return 2.0**-50

    def law(self, codes: Codes, weights: Weights) -> OnlineLaw:
        return OnlineLaw(codes, self, weights.z)

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row; all rows are drawn together."""
        useful, footprint = self.graph.useful(rows.shape[1]), max(rows.shape[1], self.graph.branching)
        parts = [rows[part] for part in batches(len(rows), footprint, self.limits)]
        return np.concatenate([_drawn(self.graph, useful, part, weights.z, stream) for part in parts])


class OnlineLaw:
    """The output distribution at one word. Cost: length · edges."""

    def __init__(self, codes: Codes, space: OnlineRuns, z: Scaled) -> None:
        self.codes, self.space, self.graph, self.z = codes, space, space.graph, z

    @cached_property
    def useful(self) -> Flags:
        """Row i: the states before symbol i from which a word of this length can be completed."""
        return self.graph.useful(len(self.codes))

    def log_prob(self, codes: Codes) -> float:
        total = 0.0
        for weights, picked in self._steps(codes):
            logs = weights.logs()
            top = float(logs.max())
            total += float(logs[picked]) - top - float(np.log(np.exp(logs - top).sum()))
        return total

    def exact(self, codes: Codes) -> Fraction:
        probability = Fraction(1)
        for weights, picked in self._steps(codes):
            probability *= sampling.shares(weights)[picked]
        return probability

    def draw(self, count: int, stream: Stream) -> Codes:
        rows = np.broadcast_to(self.codes.astype(np.int64), (count, len(self.codes)))
        parts = batches(count, max(len(self.codes), self.graph.branching), self.space.limits)
        return np.concatenate([_drawn(self.graph, self.useful, rows[part], self.z, stream) for part in parts])

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

    def _steps(self, codes: Codes) -> list[tuple[Scaled, int]]:
        """For each place of an output, the weights of the choices there, and the index of the one that it takes."""
        steps, state = [], self.graph.start
        for place, edge in enumerate(self.graph.taken(codes)):
            _, weights = _choices(
                self.graph, self.useful[place + 1], np.array([state]), self.codes[place : place + 1], self.z
            )
            steps.append((weights.take(0), edge - int(self.graph.first[state])))
            state = int(self.graph.target[edge])
        return steps

    def _edge_shares(self, place: int) -> Floats:
        """The probability of each edge at this place, given that the output is in the state that it leaves."""
        graph = self.graph
        open_to = self.useful[place + 1, graph.target]
        own = open_to & (graph.symbol == self.codes[place])
        known = np.bincount(graph.sources, own, graph.size)[graph.sources] > 0
        z = float(self.z.relative_to(np.zeros(1, dtype=np.int64))[0])
        weight = np.where(open_to, np.where(known & ~own, z, 1.0), 0.0)
        total = np.bincount(graph.sources, weight, graph.size)[graph.sources]
        return np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)


def _drawn(graph: Graph, useful: Flags, rows: Codes, z: Scaled, stream: Stream) -> Codes:
    """One word for each row."""
    states = np.full(len(rows), graph.start)
    words = np.empty(rows.shape, dtype=rows.dtype)
    for place in range(rows.shape[1]):
        edges, weights = _choices(graph, useful[place + 1], states, rows[:, place], z)
        taken = edges[np.arange(len(rows)), sampling.choose_each(weights, stream)]
        words[:, place] = graph.symbol[taken]
        states = graph.target[taken]
    return words


def _choices(graph: Graph, useful: Flags, states: Integers, own: Codes, z: Scaled) -> tuple[Integers, Scaled]:
    """The edges of each state, in rows of equal width, and their weights: 0 for padding and for closed symbols.

    `own` is the true symbol of each row; `useful` flags the states after this place from which a word can be completed.
    """
    begin, end = graph.first[states], graph.first[states + 1]
    edges = begin[:, None] + np.arange(int((end - begin).max()))
    there = edges < end[:, None]
    edges[~there] = 0
    open_to = there & useful[graph.target[edges]]
    return edges, choice_weights(graph.symbol[edges] == own[:, None], open_to, z)
