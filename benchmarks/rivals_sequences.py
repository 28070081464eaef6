"""Other methods that release a sequence, re-implemented from their papers so that all keep the same promise.

Every one of them is held to |ln p(w; x)/p(w; x′)| ≤ ε·d(x, x′) for all words x, x′ and w of a system, where d counts
the positions that differ. `docs/rivals.md` says how the ε of each paper is converted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.languages.language import Language
from dpwords.spaces.exhaustive import Symbols
from dpwords.spaces.graph import Graph

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
_TIE = 1e-6  # costs that differ by less are ties


class Runs:
    """A system whose runs never get stuck and may end anywhere, as arrays. Runs are rows of symbol codes."""

    def __init__(self, language: Language) -> None:
        graph = Graph.of(language)
        self.start, self.first, self.symbol, self.target = graph.start, graph.first, graph.symbol, graph.target
        self.symbols: Sequence[Any] = graph.alphabet.symbols
        self.source = np.repeat(np.arange(graph.size), np.diff(graph.first))

    @cached_property
    def open(self) -> Flags:
        """open[state, symbol]: whether the symbol can follow in that state."""
        found = np.zeros((len(self.first) - 1, len(self.symbols)), dtype=np.bool_)
        found[self.source, self.symbol] = True
        return found

    def codes(self, words: Sequence[Symbols]) -> Integers:
        """Words as rows of codes."""
        code = {symbol: number for number, symbol in enumerate(self.symbols)}
        return np.array([[code[symbol] for symbol in word] for word in words])

    def possible(self, length: int) -> list[Integers]:
        """The symbols that some run has at each position."""
        states, found = np.zeros(len(self.first) - 1, dtype=np.bool_), []
        states[self.start] = True
        for _ in range(length):
            edges = states[self.source]
            states = np.zeros_like(states)
            states[self.target[edges]] = True
            found.append(np.unique(self.symbol[edges]))
        return found

    def cheapest(self, costs: Floats, ties: np.random.Generator) -> Integers:
        """The run with the least sum of costs[case, position, symbol], for each case; ties are broken at random."""
        costs = costs + ties.uniform(0, _TIE / costs.shape[1], costs.shape)
        cases, positions, _ = costs.shape
        ahead = np.zeros((positions + 1, cases, len(self.first) - 1))
        for position in reversed(range(positions)):
            by_edge = costs[:, position, self.symbol] + ahead[position + 1][:, self.target]
            ahead[position] = np.minimum.reduceat(by_edge, self.first[:-1], axis=1)
        branching = int(np.diff(self.first).max())
        edges = np.minimum(self.first[:-1, None] + np.arange(branching), self.first[1:, None] - 1)
        found, states, case = np.empty((cases, positions), dtype=np.int64), np.full(cases, self.start), np.arange(cases)
        for position in range(positions):
            choices = edges[states]
            by_choice = costs[case[:, None], position, self.symbol[choices]]
            by_choice += ahead[position + 1][case[:, None], self.target[choices]]
            taken = choices[case, by_choice.argmin(axis=1)]
            found[:, position], states = self.symbol[taken], self.target[taken]
        return found


def randomised_response(
    rows: Integers, allowed: list[Integers], epsilon: float, coins: np.random.Generator
) -> Integers:
    """Each symbol on its own: kept, or replaced by another one of those allowed at its position."""
    drawn = rows.copy()
    for position, symbols in enumerate(allowed):
        lies = coins.random(len(rows)) * (math.exp(epsilon) + len(symbols) - 1) < len(symbols) - 1
        own = np.searchsorted(symbols, rows[lies, position])
        other = coins.integers(0, len(symbols) - 1, len(own)) if len(symbols) > 1 else own
        drawn[lies, position] = symbols[other + (other >= own)]
    return drawn


def nearest_runs(runs: Runs, drawn: Integers, ties: np.random.Generator) -> Integers:
    """The runs that differ from the drawn words in the fewest positions."""
    return runs.cheapest((drawn[:, :, None] != np.arange(len(runs.symbols))).astype(np.float64), ties)


def wrong_after_nearest(
    runs: Runs, rows: Integers, epsilon: float, coins: np.random.Generator, only_possible: bool = False
) -> Floats:
    """Randomised response, then the nearest run: the number of wrong positions of each row, drawn once.

    The symbols are those of the whole alphabet or only those that a run can have at the position, which is public.
    """
    everything = [np.arange(len(runs.symbols))] * rows.shape[1]
    allowed = runs.possible(rows.shape[1]) if only_possible else everything
    found = nearest_runs(runs, randomised_response(rows, allowed, epsilon, coins), coins)
    return (found != rows).sum(axis=1).astype(np.float64)


def proportion_of_runs(runs: Runs, rows: Integers, epsilon: float, coins: np.random.Generator) -> float:
    """How many of the words that randomised response draws, once for each row, are runs."""
    drawn = randomised_response(rows, [np.arange(len(runs.symbols))] * rows.shape[1], epsilon, coins)
    return float((nearest_runs(runs, drawn, coins) == drawn).all(axis=1).mean())


class FeasibleOnly:
    """The online mechanism of UAI 2023: randomised response among the states that can follow the released one.

    Where the true state cannot follow the released one, every state that can is equally likely.
    """

    def __init__(self, language: Language, epsilon: float) -> None:
        self.language, self.epsilon, self._runs = language, epsilon, Runs(language)

    def expected_distances(self, rows: Integers) -> Floats:
        """The exact mean number of wrong positions for each row."""
        runs, edges = self._runs, np.arange(len(self._runs.symbol))
        released = np.zeros((len(rows), len(runs.first) - 1))
        released[:, runs.start] = 1
        right = np.zeros(len(rows))
        into = np.zeros((len(edges), released.shape[1]))
        into[edges, runs.target] = 1
        for position in range(rows.shape[1]):
            true = rows[:, position]
            weights = np.where(runs.symbol == true[:, None], math.exp(self.epsilon), 1.0)
            totals = np.add.reduceat(weights, runs.first[:-1], axis=1)
            taken = released[:, runs.source] * weights / totals[:, runs.source]
            right += (taken * (runs.symbol == true[:, None])).sum(axis=1)
            released = taken @ into
        return rows.shape[1] - right

    def log_prob(self, output: Symbols, given: Symbols) -> float:
        """ln p(output; given)."""
        runs, state, total = self._runs, self._runs.start, 0.0
        for emitted, true in zip(*runs.codes([output, given]), strict=True):
            edges = np.arange(runs.first[state], runs.first[state + 1])
            (taken,) = edges[runs.symbol[edges] == emitted]
            weights = np.where(runs.symbol[edges] == true, math.exp(self.epsilon), 1.0)
            total += math.log(weights[taken - edges[0]] / weights.sum())
            state = runs.target[taken]
        return total


class Grams(NamedTuple):
    """The n-grams of one length that a run can contain: rows of codes, and the distance between any two."""

    rows: Integers
    apart: Floats

    def chances(self, rate: float) -> Floats:
        """The exponential mechanism e^(−rate·distance), a row for each true n-gram."""
        weights = np.exp(-rate * self.apart)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def textbook_rate(self, epsilon: float) -> float:
        """ε divided by twice the range of the distance, for ε between any two n-grams."""
        return epsilon / (2 * float(self.apart.max()))

    def largest_rate(self, epsilon: float) -> float:
        """The largest rate with a loss of at most ε for each symbol that differs, over all pairs of n-grams."""
        allowed = epsilon * (self.rows[:, None] != self.rows).sum(axis=2)
        low, high = 0.0, 2 * epsilon / float(self.apart[self.apart > 0].min())
        for _ in range(40):
            rate = (low + high) / 2
            totals = np.log(np.exp(-rate * self.apart).sum(axis=1))
            keeps = (rate * self.apart + totals - totals[:, None] <= allowed + 1e-12).all()
            low, high = (rate, high) if keeps else (low, rate)
        return low


class NGrams:
    """Overlapping n-grams with n = 2, each released by an exponential mechanism, then the run that fits them best.

    A run x₁…x_l has the bigrams (x₁,x₂), …, (x_(l−1),x_l) and at its ends the single symbols x₁ and x_l, so each
    position is covered twice. A position that changes changes two of them: each gets ε/2. By default the rate is the
    textbook's and the distance of cells the straight one, as in the paper; `sharpened` takes 0 or 1 for a distance, and
    the largest rate with which each n-gram loses at most ε/2 for each symbol that differs.
    """

    def __init__(self, language: Language, epsilon: float, sharpened: bool = False) -> None:
        self.runs, each = Runs(language), epsilon / 2
        self.apart = 1 - np.eye(len(self.runs.symbols)) if sharpened else symbol_distances(self.runs.symbols)
        follows = np.zeros(self.apart.shape, dtype=np.bool_)
        for symbol, state in zip(self.runs.symbol, self.runs.target, strict=True):
            follows[symbol] |= self.runs.open[state]
        pairs = np.argwhere(follows)
        self.single = Grams(np.arange(len(self.apart))[:, None], self.apart)
        self.pairs = Grams(pairs, self.apart[pairs[:, :1], pairs[:, 0]] + self.apart[pairs[:, 1:], pairs[:, 1]])
        rate = Grams.largest_rate if sharpened else Grams.textbook_rate
        self.chances = [grams.chances(rate(grams, each)) for grams in (self.single, self.pairs)]

    def pieces(self, rows: Integers) -> list[tuple[Grams, Floats, Integers, int]]:
        """The n-grams of each row: their kind, the chances of each kind, their numbers, and the place of the first."""
        number = {tuple(pair): index for index, pair in enumerate(self.pairs.rows.tolist())}
        found = [(self.single, self.chances[0], rows[:, 0], 0)]
        for position in range(rows.shape[1] - 1):
            own = [
                number[pair] for pair in zip(rows[:, position].tolist(), rows[:, position + 1].tolist(), strict=True)
            ]
            found.append((self.pairs, self.chances[1], np.array(own), position))
        return [*found, (self.single, self.chances[0], rows[:, -1], rows.shape[1] - 1)]

    def wrong_positions(self, rows: Integers, coins: np.random.Generator) -> Floats:
        """The number of wrong positions of each row, drawn once."""
        costs = np.zeros((*rows.shape, len(self.apart)))
        for grams, chances, own, position in self.pieces(rows):
            below = chances[own].cumsum(axis=1) <= coins.random(len(rows))[:, None]
            self._add(costs, grams, below[:, :-1].sum(axis=1), position)
        return (self.runs.cheapest(costs, coins) != rows).sum(axis=1).astype(np.float64)

    def channel(self, words: list[Symbols], ties: np.random.Generator) -> Floats:
        """The exact probability of each run at each run, over all combinations of released n-grams."""
        rows = self.runs.codes(words)
        sizes = [len(grams.rows) for grams, *_ in self.pieces(rows)]
        every = np.array(list(product(*map(range, sizes))))
        costs = np.zeros((len(every), rows.shape[1], len(self.apart)))
        chances = np.ones((len(words), len(every)))
        for drawn, (grams, table, own, position) in zip(every.T, self.pieces(rows), strict=True):
            self._add(costs, grams, drawn, position)
            chances *= table[own][:, drawn]
        return summed_by_output(chances, self.runs.cheapest(costs, ties), rows)

    def _add(self, costs: Floats, grams: Grams, drawn: Integers, position: int) -> None:
        for offset, symbols in enumerate(grams.rows[drawn].T):
            costs[:, position + offset] += self.apart[symbols]


def response_channel(runs: Runs, words: list[Symbols], epsilon: float, ties: np.random.Generator) -> Floats:
    """The exact probability of each run at each run for randomised response and the nearest run."""
    rows, size = runs.codes(words), len(runs.symbols)
    every = np.array(list(product(range(size), repeat=rows.shape[1])))
    kept = (rows[:, None, :] == every).sum(axis=2)
    chances = np.exp(epsilon * kept) / (math.exp(epsilon) + size - 1) ** rows.shape[1]
    return summed_by_output(chances, nearest_runs(runs, every, ties), rows)


def summed_by_output(chances: Floats, outputs: Integers, rows: Integers) -> Floats:
    """The chances of all intermediate results, summed by the run to which each of them leads."""
    number = {tuple(row): index for index, row in enumerate(rows.tolist())}
    ends = np.array([number[tuple(output)] for output in outputs.tolist()])
    return np.array([np.bincount(ends, weights=row, minlength=len(rows)) for row in chances])


def symbol_distances(symbols: Sequence[Any]) -> Floats:
    """Between cells the straight distance, between other symbols 0 or 1."""
    if not all(isinstance(symbol, tuple) for symbol in symbols):
        return 1 - np.eye(len(symbols))
    cells = np.array(symbols, dtype=np.float64)
    return np.asarray(np.hypot(*(cells[:, None] - cells).transpose(2, 0, 1)))


class Channel:
    """A table of probabilities, a row for each word, as a mechanism that can be audited."""

    def __init__(self, words: list[Symbols], probabilities: Floats) -> None:
        self._number = {word: index for index, word in enumerate(words)}
        with np.errstate(divide="ignore"):
            self._logs = np.log(probabilities)

    def log_prob(self, output: Symbols, given: Symbols) -> float:
        """ln p(output; given)."""
        return float(self._logs[self._number[given], self._number[output]])


def published_response(size: int, epsilon: float) -> Floats:
    """A randomised response as one artifact has it: all lies together get the probability that is meant for one.

    They also go to one value too many. Row x has the probability of each of the size + 1 outputs.
    """
    lie = 1 / (math.exp(epsilon) + size - 1)
    table = np.full((size, size + 1), lie / size)
    table[np.arange(size), np.arange(size)] = 1 - lie
    return table


def published_neighbourhood(apart: Floats, epsilon: float, radius: float) -> Floats:
    """An exponential mechanism among the cells within a radius of the *true* cell, as one artifact has it."""
    near = apart <= radius
    scores = np.where(near, apart, 0).max(axis=1, keepdims=True)
    weights = np.where(near, np.exp(-epsilon * apart / (2 * scores)), 0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))
