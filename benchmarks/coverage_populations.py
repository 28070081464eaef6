"""Populations whose true proportions are known, on which the coverage of intervals is measured.

Some are Markov chains, and some are what no Markov chain describes: people who stay, trips there and back, shortest
paths, a few fixed variants. Their parameters are drawn from a seed of their own, so that a population is the same in
each run; words are drawn from a generator that is passed.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
from coverage_truths import Floats, Occurrences, Population, Rows

import dpwords as dw

SHAPE = 20_411  # the seed of the parameters
FREE, RUNS = ("words, k = 1", "words, k = 2", "EditChannel", "Report"), ("Exponential", "Online", "Report")


@dataclass(frozen=True, eq=False)
class Chains(Population):
    """Each person follows one of some Markov chains, whose probabilities may differ from position to position.

    For each chain, `weights` is the proportion of people, `first` the distribution of the first symbol, `rows` those
    of the next one at each position, and `going` the probability to go on after each symbol at each position.
    """

    weights: Floats = None  # type: ignore[assignment]
    first: Floats = None  # type: ignore[assignment]
    rows: Floats = None  # type: ignore[assignment]
    going: Floats | None = None

    def draw(self, people: int, coins: np.random.Generator) -> Rows:
        which = coins.choice(len(self.weights), people, p=self.weights)
        words = np.full((people, self.rows.shape[1] + 1), -1)
        words[:, 0] = _chosen(self.first[which], coins)
        for place in range(self.rows.shape[1]):
            here = words[:, place]
            on = here >= 0
            if self.going is not None:
                on &= coins.random(people) < self.going[which, place, here]
            words[on, place + 1] = _chosen(self.rows[which[on], place, here[on]], coins)
        return words

    def exact(self) -> Occurrences:
        here, size = self.weights[:, None] * self.first, len(self.symbols)
        places, steps, last = [here.sum(axis=0)], np.zeros((size, size)), np.zeros(size)
        for place in range(self.rows.shape[1]):
            on = here if self.going is None else here * self.going[:, place]
            last += (here - on).sum(axis=0)
            taken = on[:, :, None] * self.rows[:, place]
            steps += taken.sum(axis=0)
            here = taken.sum(axis=1)
            places.append(here.sum(axis=0))
        return Occurrences(np.array(places), steps, last + here.sum(axis=0))


def _chosen(probabilities: Floats, coins: np.random.Generator) -> Rows:
    """One code for each row of probabilities."""
    upper = np.cumsum(probabilities, axis=1)
    drawn = (coins.random(len(upper))[:, None] * upper[:, -1:] >= upper).sum(axis=1)
    return np.asarray(np.minimum(drawn, upper.shape[1] - 1))


@dataclass(frozen=True, eq=False)
class Variants(Population):
    """A few words, with their shares."""

    shares: tuple[tuple[tuple[Any, ...], float], ...] = ()

    @cached_property
    def _words(self) -> Rows:
        code = {symbol: number for number, symbol in enumerate(self.symbols)}
        longest = max(len(word) for word, _ in self.shares)
        return np.array([[code[s] for s in word] + [-1] * (longest - len(word)) for word, _ in self.shares])

    def draw(self, people: int, coins: np.random.Generator) -> Rows:
        return self._words[coins.choice(len(self.shares), people, p=[share for _, share in self.shares])]

    def exact(self) -> Occurrences:
        size = len(self.symbols)
        places, steps, last = np.zeros((self._words.shape[1], size)), np.zeros((size, size)), np.zeros(size)
        for row, (word, share) in zip(self._words, self.shares, strict=True):
            codes = row[: len(word)].tolist()
            places[range(len(codes)), codes] += share
            last[codes[-1]] += share
            for step in pairwise(codes):
                steps[step] += share
        return Occurrences(places, steps, last)


@dataclass(frozen=True, eq=False)
class Trips(Population):
    """Trips on a 7×7 grid to one of nine cells and back the same way; the rest of 12 steps is a random walk."""

    def draw(self, people: int, coins: np.random.Generator) -> Rows:
        rnd = random.Random(int(coins.integers(2**63)))
        return np.array([[7 * row + column for row, column in self._trip(rnd)] for _ in range(people)])

    @staticmethod
    def _trip(rnd: random.Random) -> list[tuple[int, int]]:
        to, here, trip = (rnd.choice((2, 4, 6)), rnd.choice((0, 3, 6))), (0, 0), []
        while here != to:
            down = here[0] < to[0] and (here[1] == to[1] or rnd.random() < 0.8)
            here = (here[0] + 1, here[1]) if down else (here[0], here[1] + 1)
            trip.append(here)
        trip += [*trip[-2::-1], (0, 0)]
        while len(trip) < 12:
            trip.append(rnd.choice(_neighbours(7, trip[-1])))
        return trip[:12]


def _neighbours(side: int, cell: tuple[int, int]) -> list[tuple[int, int]]:
    row, column = cell
    around = ((row, column + 1), (row + 1, column), (row, column - 1), (row - 1, column))
    return [each for each in around if min(each) >= 0 and max(each) < side]


@dataclass(frozen=True, eq=False)
class Roads(Population):
    """Shortest paths to one random node after another, from any node on: `onward[a, b]` is the node after a on the
    way to b."""

    onward: Rows = None  # type: ignore[assignment]
    length: int = 12

    def draw(self, people: int, coins: np.random.Generator) -> Rows:
        size = len(self.symbols)
        words = np.empty((people, self.length), dtype=np.int64)
        words[:, 0] = here = coins.integers(size, size=people)
        to = here.copy()
        for place in range(1, self.length):
            to = np.where(to == here, (here + coins.integers(1, size, size=people)) % size, to)
            words[:, place] = here = self.onward[here, to]
        return words


def _grid(side: int) -> dict[str, Any]:
    cells = tuple(product(range(side), repeat=2))
    return {"symbols": cells, "system": dw.GridWorld(side, side).by_states(), "start": (0, 0)}


def _on_grid(name: str, side: int, steps: int, shapes: int) -> Chains:
    """Runs of a chain on a grid, with so many matrices, one after the other, over the steps."""
    coins, cells = np.random.default_rng([SHAPE, shapes]), list(product(range(side), repeat=2))
    near = np.array([[b in _neighbours(side, a) for b in cells] for a in cells])
    weights = coins.gamma(0.7, size=(shapes, *near.shape)) * near + 0.02 * near
    rows = (weights / weights.sum(axis=2, keepdims=True))[np.arange(steps) * shapes // steps]
    return Chains(
        name,
        mechanisms=(*RUNS, "words, k = 1"),
        weights=np.ones(1),
        first=rows[None, 0, 0],
        rows=rows[None, 1:],
        **_grid(side),
    )


def _letters() -> Chains:
    """One chain over five letters, 12 of them."""
    coins = np.random.default_rng([SHAPE, 100])
    first, rows = coins.dirichlet(np.ones(5)), coins.dirichlet(np.full(5, 0.6), 5)
    return Chains(
        "letters", tuple("abcde"), FREE, weights=np.ones(1), first=first[None], rows=np.tile(rows, (1, 11, 1, 1))
    )


def _stayers() -> Chains:
    """Activity in 12 months: two thirds never change it, a quarter seldom do, the others often."""
    coins, first = np.random.default_rng([SHAPE, 101]), np.array([0.55, 0.25, 0.15, 0.05])
    others, seldom = coins.dirichlet(np.ones(4), 4), np.full((4, 4), 0.1 / 3) + (0.9 - 0.1 / 3) * np.eye(4)
    rows = np.stack([np.eye(4), seldom, others])
    return Chains(
        "stayers",
        ("work", "school", "care", "jobless"),
        FREE,
        weights=np.array([0.65, 0.25, 0.1]),
        first=np.tile(first, (3, 1)),
        rows=np.repeat(rows[:, None], 11, axis=1),
    )


def _week() -> Chains:
    """Diaries of two weeks from a Monday on: what people do depends on the day of the week, and on the day before."""
    coins, days = np.random.default_rng([SHAPE, 102]), 14
    workday, weekend = np.array([0.12, 0.75, 0.05, 0.04, 0.04]), np.array([0.45, 0.05, 0.2, 0.15, 0.15])
    usual = np.array([coins.dirichlet(60 * (workday if day % 7 < 5 else weekend)) for day in range(7)])
    rows = np.array([0.3 * np.eye(5) + 0.7 * usual[day % 7] for day in range(1, days)])
    return Chains(
        "week",
        ("home", "office", "shops", "sport", "away"),
        FREE,
        weights=np.ones(1),
        first=usual[None, 0],
        rows=rows[None],
    )


def _lengths() -> Chains:
    """Traces of 1 to 20 activities: a chain over six that ends after some of them more often than after others."""
    coins = np.random.default_rng([SHAPE, 103])
    rows, ending = coins.dirichlet(np.full(6, 0.4), 6), np.array([0.02, 0.05, 0.1, 0.15, 0.3, 0.5])
    return Chains(
        "lengths",
        tuple("abcdef"),
        FREE,
        weights=np.ones(1),
        first=np.array([[0.6, 0.2, 0.1, 0.05, 0.03, 0.02]]),
        rows=np.tile(rows, (1, 19, 1, 1)),
        going=np.tile(1 - ending, (1, 19, 1)),
    )


def _variants() -> Variants:
    """An event log with a few rare variants; its system has the steps of the process as it was designed."""
    shares = {
        "register check approve pay close": 0.4,
        "register check reject close": 0.2,
        "register check ask check approve pay close": 0.14,
        "register approve pay close": 0.08,
        "register check ask check reject close": 0.06,
        "register check ask ask check approve pay close": 0.04,
        "register check approve appeal check approve pay close": 0.03,
        "register check reject appeal check approve pay close": 0.02,
        "register check reject appeal check reject close": 0.015,
        "register pay close": 0.008,
        "register close": 0.005,
        "register check approve pay pay close": 0.002,
    }
    listed = tuple((tuple(word.split()), share) for word, share in shares.items())
    symbols = tuple(dict.fromkeys(symbol for word, _ in listed for symbol in word))
    steps = {("start", word[0]) for word, _ in listed} | {step for word, _ in listed for step in pairwise(word)}
    steps |= {("check", "check"), ("ask", "close"), ("approve", "close"), ("appeal", "close"), ("check", "close")}
    system = dw.from_edges(sorted(steps), start="start", accepting=["close"])
    return Variants("variants", symbols, (*FREE, "Exponential", "Online"), system, "start", shares=listed)


def _roads(nodes: int = 40) -> Roads:
    """The Gabriel graph of random points, which is planar and connected: two are neighbours if the circle between them
    is empty."""
    points = np.random.default_rng([SHAPE, 104]).random((nodes, 2))
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    inside = squares[:, None] + squares[None] < squares[:, :, None] * (1 - 1e-12)  # [a, b, c]: c is in the circle
    near = ~inside.any(axis=2) & ~np.eye(nodes, dtype=bool)
    away = np.where(near, np.sqrt(squares), np.inf)
    np.fill_diagonal(away, 0.0)
    total = away.copy()
    for c in range(nodes):
        total = np.minimum(total, total[:, c, None] + total[c])
    onward = np.array(
        [[np.argmin(np.where(near[a], away[a] + total[:, b], np.inf)) for b in range(nodes)] for a in range(nodes)]
    )
    system = dw.from_edges([(a, b) for a, b in product(range(nodes), repeat=2) if near[a, b]])
    return Roads("roads", tuple(range(nodes)), RUNS, system, onward=onward)


def cases_of(path: Path) -> list[tuple[str, ...]]:
    """The cases of an event log in CSV, with the column names of the XES standard, in the order of time."""
    cases: dict[str, list[tuple[str, str]]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for event in csv.DictReader(file):
            cases.setdefault(event["case:concept:name"], []).append((event["time:timestamp"], event["concept:name"]))
    return [tuple(name for _, name in sorted(events, key=lambda event: event[0])) for events in cases.values()]


def log_of(path: Path) -> Variants:
    """A real log as a population of its variants: people are drawn from its cases with replacement."""
    words = cases_of(path)
    symbols = tuple(sorted({symbol for word in words for symbol in word}))
    shares = tuple((word, times / len(words)) for word, times in Counter(words).items())
    return Variants(path.stem, symbols, FREE, shares=shares)


@cache
def population(name: str, *, free: bool = False) -> Population:
    """One of `POPULATIONS`, or the log of a file; `free` as words over an alphabet, also where there is a system."""
    if free:
        return replace(population(name), system=None, start=None)
    return POPULATIONS[name]() if name in POPULATIONS else log_of(Path(name))


POPULATIONS: dict[str, Callable[[], Population]] = {
    "chain": lambda: _on_grid("chain", 5, 12, 1),
    "by place": lambda: _on_grid("by place", 5, 12, 12),
    "letters": _letters,
    "stayers": _stayers,
    "there and back": lambda: Trips("there and back", mechanisms=RUNS, **_grid(7)),
    "roads": _roads,
    "variants": _variants,
    "week": _week,
    "lengths": _lengths,
}
