"""What many people's runs tell if each person spends a total ε on the whole run: visits and transitions.

The promise is |ln p(w; x)/p(w; x′)| ≤ ε for any two runs x and x′, however many positions differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rivals_sequences import Runs

import dpwords as dw

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Proportions(NamedTuple):
    """Of all steps, the proportion that enters each cell, and the proportion of each transition."""

    visits: Floats
    transitions: Floats

    def error(self, truth: Proportions) -> tuple[float, float]:
        """The L1 distances from the true proportions."""
        return float(np.abs(self.visits - truth.visits).sum()), float(
            np.abs(self.transitions - truth.transitions).sum()
        )


class Population:
    """Runs of a Markov chain on a grid that drifts to the south-east, drawn from a seed; each is a row of edges."""

    def __init__(self, side: int, people: int, steps: int, seed: int) -> None:
        self.grid = dw.GridWorld(side, side).by_states()
        self.runs, coins = Runs(self.grid), np.random.default_rng(seed)
        cells = np.array([self.runs.symbols[code] for code in self.cell_of_state])
        ahead = (cells[self.runs.target] - cells[self.runs.source]).sum(axis=1) > 0
        self.chain = self.normalised(coins.gamma(np.where(ahead, 2.1, 0.7)) + 0.02)
        self.edges = np.empty((people, steps), dtype=np.int64)
        states = np.full(people, self.runs.start)
        upper = np.cumsum(self.chain)
        for step in range(steps):
            first = self.runs.first[states]
            below = np.where(first > 0, upper[first - 1], 0.0)
            found = np.searchsorted(upper, below + coins.random(people), side="right")
            self.edges[:, step] = np.minimum(found, self.runs.first[states + 1] - 1)
            states = self.runs.target[self.edges[:, step]]
        self.truth = self.proportions(self.edges.ravel())

    @property
    def cell_of_state(self) -> Integers:
        """The code of the cell that each state is; the start is one of the cells."""
        codes = np.zeros(len(self.runs.first) - 1, dtype=np.int64)
        codes[self.runs.target] = self.runs.symbol
        return codes

    def normalised(self, weights: Floats) -> Floats:
        """Weights of edges, as probabilities in each state; equal ones where all weights are 0."""
        totals = np.bincount(self.runs.source, weights, len(self.runs.first) - 1)[self.runs.source]
        ways = np.diff(self.runs.first)[self.runs.source]
        return np.where(totals > 0, weights / np.where(totals > 0, totals, 1), 1 / ways)

    def proportions(self, edges: Integers) -> Proportions:
        """The proportions of a list of transitions."""
        transitions = np.bincount(edges, minlength=len(self.runs.target)) / len(edges)
        return Proportions(np.bincount(self.runs.target, transitions, len(self.runs.first) - 1), transitions)

    def expected_proportions(
        self, chain: Floats, starts: Floats | None = None, ends: Floats | None = None
    ) -> Proportions:
        """The exact proportions of infinitely many runs of a chain, of at most the public length.

        They begin at the start, or with these probabilities in each state. In a state in which a run may end, it does
        with this probability, times 0.3 in its first cell, 0.5 in its second, … up to 1.
        """
        states, transitions = np.zeros(len(self.runs.first) - 1), np.zeros(len(chain))
        states[self.runs.start] = 1
        states = states if starts is None else starts
        stopping = np.zeros(len(states)) if ends is None else ends
        for step in range(self.edges.shape[1]):
            goes_on = states * (1 - min(1.0, 0.3 + 0.2 * step) * stopping)
            flow = goes_on[self.runs.source] * chain
            transitions += flow
            states = np.bincount(self.runs.target, flow, len(states))
        transitions /= transitions.sum()
        return Proportions(np.bincount(self.runs.target, transitions, len(states)), transitions)


def unary_counts(counts: Integers, reports: int, epsilon: float, coins: np.random.Generator) -> Floats:
    """Optimised unary encoding: unbiased estimates of how many of the reports name each value."""
    lie = 1 / (math.exp(epsilon) + 1)
    ones = coins.binomial(counts, 0.5) + coins.binomial(reports - counts, lie)
    return np.asarray((ones - reports * lie) / (0.5 - lie))


def unary_table(size: int, epsilon: float) -> Floats:
    """The probability of every unary report, a row for each true value."""
    lie, bits = 1 / (math.exp(epsilon) + 1), np.array(list(product((0, 1), repeat=size)))
    told = np.where(bits == 1, lie, 1 - lie)
    return np.array([0.5 * np.delete(told, true, axis=1).prod(axis=1) for true in range(size)])


def positive_counts(values: Integers, size: int, epsilon: float, coins: np.random.Generator) -> Floats:
    """The estimated number of times that each value was reported, 0 where the estimate is negative."""
    return np.maximum(unary_counts(np.bincount(values, minlength=size), values.size, epsilon, coins), 0)


def ldptrace(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """As published: a tenth of ε for the length; the rest in equal parts for first cell, transitions and last cell.

    Only the length is taken as known, because it is public here: what is spent on it buys nothing.
    """
    runs, cells, each = people.runs, len(people.runs.first) - 1, 0.9 * epsilon / (people.edges.shape[1] + 2)
    taken = positive_counts(people.edges.ravel(), len(runs.target), each, coins)
    starts = positive_counts(np.full(len(people.edges), runs.start), cells, each, coins)
    ends = positive_counts(runs.target[people.edges[:, -1]], cells, each, coins)
    leaving = np.bincount(runs.source, taken, cells)
    stopping = ends / np.maximum(ends + leaving, 1e-9)
    return people.expected_proportions(people.normalised(taken), starts / starts.sum(), stopping)


def ldptrace_known_ends(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """The same if start and length are public: all of ε for the transitions, in equal parts."""
    each = epsilon / people.edges.shape[1]
    return people.expected_proportions(
        people.normalised(positive_counts(people.edges.ravel(), len(people.runs.target), each, coins))
    )


def one_position(people: Population, coins: np.random.Generator) -> Integers:
    """One transition of each person, at a random position."""
    return people.edges[np.arange(len(people.edges)), coins.integers(0, people.edges.shape[1], len(people.edges))]


def one_position_unary(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """One random position of each run, with all of ε, by unary encoding."""
    visits, transitions = (
        to_simplex(unary_counts(np.bincount(values, minlength=size), len(values), epsilon, coins) / len(values))
        for values, size in questions(people, coins)
    )
    return Proportions(visits, transitions)


def one_position_subset(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """One random position of each run, with all of ε, by subset selection: `dw.Report`, and its unbiased estimate."""
    cells = [people.runs.symbols[code] for code in people.cell_of_state]
    steps = [(cells[one], cells[other]) for one, other in zip(people.runs.source, people.runs.target, strict=True)]
    words, seeds = people.runs.symbol[people.edges], coins.integers(2**31, size=2).tolist()
    found = []
    for question, wanted, seed in zip(("visits", "transitions"), (cells, steps), seeds, strict=True):
        report = dw.Report(people.grid, epsilon, question)
        answers = np.asarray(report.seeded(seed).release_codes(words))
        named = np.bincount(answers.ravel(), minlength=len(report.items)) / len(answers)
        proportions = to_simplex((named - report.share_if_not) / (report.share_if_true - report.share_if_not))
        number = {item: index for index, item in enumerate(report.items)}
        found.append(proportions[[number[item] for item in wanted]])
    return Proportions(*found)


def transitions_subset(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """The same if only transitions are asked for: visits are read off them."""
    transitions = one_position_subset(people, epsilon, coins).transitions
    return Proportions(np.bincount(people.runs.target, transitions, len(people.runs.first) - 1), transitions)


def questions(people: Population, coins: np.random.Generator) -> list[tuple[Integers, int]]:
    """The values that people report, and how many there are: of a visit, and in another survey of a transition."""
    visited = people.runs.target[one_position(people, coins)]
    return [(visited, len(people.runs.first) - 1), (one_position(people, coins), len(people.runs.target))]


def subset_size(size: int, epsilon: float) -> int:
    """How many of the values are named."""
    return max(1, round(size / (math.exp(epsilon) + 1)))


def subset_table(size: int, epsilon: float) -> Floats:
    """The probability of every set of values, a row for each true value."""
    sets = np.array(list(combinations(range(size), subset_size(size, epsilon))))
    weights = np.where((sets[None] == np.arange(size)[:, None, None]).any(axis=2), math.exp(epsilon), 1.0)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def to_simplex(proportions: Floats) -> Floats:
    """The nearest proportions that are not negative and sum to 1."""
    falling = np.sort(proportions)[::-1]
    excess = (falling.cumsum() - 1) / np.arange(1, len(proportions) + 1)
    return np.maximum(proportions - excess[np.nonzero(falling > excess)[0][-1]], 0)


def public_guess(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """No data at all: a run that takes each way with equal probability."""
    return people.expected_proportions(people.normalised(np.zeros(len(people.chain))))


def counted(people: Population, epsilon: float, coins: np.random.Generator) -> Proportions:
    """No privacy: one random position of each run, told as it is."""
    visits, transitions = (
        np.bincount(values, minlength=size) / len(values) for values, size in questions(people, coins)
    )
    return Proportions(visits, transitions)


Estimate = Callable[[Population, float, np.random.Generator], Proportions]
ESTIMATES: dict[str, Estimate] = {
    "LDPTrace": ldptrace,
    "LDPTrace, start and length public": ldptrace_known_ends,
    "one random position, unary encoding": one_position_unary,
    "one random position, subset selection": one_position_subset,
    "one random position, subset selection, transitions only": transitions_subset,
    "one random position, no privacy": counted,
    "no data: every way equally likely": public_guess,
}
