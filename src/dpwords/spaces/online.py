"""Words that are drawn symbol by symbol, without a look at the symbols to come.

A symbol is *open* if the word can still be completed after it, otherwise it is *closed*. At each place the true symbol
is preferred; where it is closed, and symbols name states, the open symbols nearest to it are preferred instead, so that
an output which has left the true run finds its way back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.encoding import Codes
from dpwords.core.randomness import Stream
from dpwords.core.scaled import ZERO_EXPONENT, Floats, Integers, Scaled
from dpwords.spaces.graph import Flags
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Weights, batches


class Preferences:
    """The weights of the open symbols of a state: 1 shared by the preferred ones, and z for each other one.

    If t symbols are preferred, one of them is chosen at random, and it has weight 1 and all others z. So each of the t
    has weight (1 + (t − 1)·z)/t, and the sum of all weights is the same whatever is preferred. If none is preferred,
    all open symbols have weight 1.
    """

    def __init__(self, z: Scaled, branching: int) -> None:
        (exact,) = z.exact()
        shares = scaled.from_fractions([(1 + (t - 1) * exact) / t for t in range(1, branching + 1)])
        plain = Scaled(np.array([0.5]), np.array([1]))  # 1
        self._mantissa = np.concatenate([plain.mantissa, shares.mantissa])
        self._exponent = np.concatenate([plain.exponent, shares.exponent])
        self.z = z

    def weights(self, preferred: Flags, open_to: Flags) -> Scaled:
        """The stored weights of the symbols of each row; 0 for closed ones."""
        number = np.count_nonzero(preferred, axis=-1)[:, None]
        high, low = np.broadcast_to(preferred | (number == 0), open_to.shape) & open_to, open_to & ~preferred
        mantissa = np.where(high, self._mantissa[number], np.where(low, self.z.mantissa, 0.0))
        exponent = np.where(high, self._exponent[number], np.where(low, self.z.exponent, ZERO_EXPONENT))
        return Scaled(mantissa, exponent)


@dataclass(frozen=True, eq=False)
class OnlineRuns(Runs):
    """The words of a graph, each drawn symbol by symbol.

    Cost: length · edges for each law or batch, then length · branching for each word, and the edges once for each true
    symbol that is met where it is closed.
    """

    _steps_to: dict[int, Integers] = field(default_factory=dict, init=False, repr=False)  # by symbol

    @property
    def slack(self) -> float:
        """Only e^(−rate) and the shares of symbols that are equally near are rounded, each once."""
        return 2.0**-49

    def law(self, codes: Codes, weights: Weights) -> OnlineLaw:
        return OnlineLaw(codes, self, weights.z)

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row; all rows are drawn together."""
        useful, footprint = self.graph.useful(rows.shape[1]), max(rows.shape[1], self.graph.branching)
        parts = [rows[part] for part in batches(len(rows), footprint, self.limits)]
        preferences = Preferences(weights.z, self.graph.branching)
        return np.concatenate([self._drawn(useful, part, preferences, stream) for part in parts])

    def steps_to(self, code: int) -> Integers | None:
        """The least number of steps from each state to the one that a symbol names; None if it names none."""
        named = self.graph.state_named
        if named is None or named[code] < 0:
            return None
        found = self._steps_to.get(code)
        if found is None:
            if len(self._steps_to) * self.graph.size > self.limits.batch:
                self._steps_to.clear()
            found = self._steps_to[code] = self.graph.steps_to(int(named[code]))
        return found

    def choices(self, useful: Flags, states: Integers, own: Codes) -> tuple[Integers, Flags, Flags]:
        """The edges of each state, in rows of equal width; which of them are open, and which are preferred.

        `own` is the true symbol of each row; `useful` flags the states after this place from which a word can be
        completed. Cost: rows · branching, and `steps_to` for each true symbol that is closed.
        """
        graph = self.graph
        begin, end = graph.first[states], graph.first[states + 1]
        edges = begin[:, None] + np.arange(int((end - begin).max()))
        there = edges < end[:, None]
        edges[~there] = 0
        open_to = there & useful[graph.target[edges]]
        preferred = open_to & (graph.symbol[edges] == own[:, None])
        lost = np.flatnonzero(~preferred.any(axis=1))
        for code in np.unique(own[lost]).tolist():
            steps = self.steps_to(code)
            if steps is not None:
                rows = lost[own[lost] == code]
                away = np.where(open_to[rows], steps[graph.target[edges[rows]]], graph.size)
                nearest = away.min(axis=1, keepdims=True)
                preferred[rows] = (away == nearest) & (nearest < graph.size)
        return edges, open_to, preferred

    def _drawn(self, useful: Flags, rows: Codes, preferences: Preferences, stream: Stream) -> Codes:
        """One word for each row."""
        states = np.full(len(rows), self.graph.start)
        words = np.empty(rows.shape, dtype=rows.dtype)
        for place in range(rows.shape[1]):
            edges, open_to, preferred = self.choices(useful[place + 1], states, rows[:, place])
            picked = sampling.choose_each(preferences.weights(preferred, open_to), stream)
            taken = edges[np.arange(len(rows)), picked]
            words[:, place] = self.graph.symbol[taken]
            states = self.graph.target[taken]
        return words


class OnlineLaw:
    """The output distribution at one word. Cost: length · edges."""

    def __init__(self, codes: Codes, space: OnlineRuns, z: Scaled) -> None:
        self.codes, self.space, self.graph = codes, space, space.graph
        self.preferences = Preferences(z, space.graph.branching)

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
        drawn = [self.space._drawn(self.useful, rows[part], self.preferences, stream) for part in parts]
        return np.concatenate(drawn)

    def distance_distribution(self) -> Floats:
        graph, length = self.graph, len(self.codes)
        reached = np.zeros((graph.size, length + 1))
        reached[graph.start, 0] = 1.0
        for place in range(length):
            edges, shares = self._edge_shares(place, np.asarray(reached.any(axis=1)))
            share = reached[graph.sources[edges]] * shares[:, None]
            differs = graph.symbol[edges] != self.codes[place]
            share[differs, 1:], share[differs, 0] = share[differs, :-1], 0.0
            reached = np.zeros_like(reached)
            np.add.at(reached, graph.target[edges], share)
        return np.asarray(reached.sum(axis=0))

    def expected_distance(self) -> float:
        graph, mean = self.graph, 0.0
        reached = np.zeros(graph.size)
        reached[graph.start] = 1.0
        for place in range(len(self.codes)):
            edges, shares = self._edge_shares(place, np.asarray(reached > 0))
            share = reached[graph.sources[edges]] * shares
            mean += float(share[graph.symbol[edges] != self.codes[place]].sum())
            reached = np.bincount(graph.target[edges], share, graph.size).astype(np.float64)
        return mean

    def _steps(self, codes: Codes) -> list[tuple[Scaled, int]]:
        """For each place of an output, the weights of the choices there, and the index of the one that it takes."""
        steps, state = [], self.graph.start
        for place, edge in enumerate(self.graph.taken(codes)):
            own = self.codes[place : place + 1]
            _, open_to, preferred = self.space.choices(self.useful[place + 1], np.array([state]), own)
            weights = self.preferences.weights(preferred, open_to)
            steps.append((weights.take(0), edge - int(self.graph.first[state])))
            state = int(self.graph.target[edge])
        return steps

    def _edge_shares(self, place: int, reached: Flags) -> tuple[Integers, Floats]:
        """The open edges of the states reached at this place, and the probability of each in its state."""
        states = np.flatnonzero(reached)
        own = np.full(len(states), self.codes[place])
        edges, open_to, preferred = self.space.choices(self.useful[place + 1], states, own)
        weights = self.preferences.weights(preferred, open_to)
        relative = weights.relative_to(weights.exponent.max(axis=1, keepdims=True))
        shares = relative / relative.sum(axis=1, keepdims=True)
        return edges[open_to], shares[open_to]
