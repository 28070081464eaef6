"""Which levelled certificates are tried, in order of cost, and about how long each search takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpwords.core.elementary import exp
from dpwords.core.limits import Limits
from dpwords.core.room import check_room
from dpwords.privacy.certificates.certificate import largest_rate, on_grid
from dpwords.privacy.certificates.graph_facts import neighbourhood
from dpwords.privacy.certificates.levelled_blocks import LevelledBlocks, Tick, kept_layers
from dpwords.privacy.certificates.levelled_system import LEAST_RADIUS, Detail, LevelledSystem
from dpwords.spaces.graph import Graph
from dpwords.spaces.levelling import Levelling

_EVALUATIONS = 4  # of a search, about
_SECONDS_A_PLACE = 2e-8  # for each way of a prefix and two more steps, and each node in a box; measured
_SECONDS_ALL_PLACES = 3e-7


@dataclass(frozen=True)
class Stage:
    """What is known of a run at one stage of the search, and which share of ε makes a further stage unnecessary."""

    back: int
    ahead: int
    box: int  # nodes in a box on average, at most
    enough: float
    precision: float  # of ε, in the rate


STAGES = (
    Stage(2, 1, 170, 0.96, 2e-4),
    Stage(2, 1, 400, 0.955, 5e-4),
    Stage(2, 1, 1000, 0.95, 5e-4),  # for short words that start anywhere, whose starts are far apart
    Stage(3, 2, 250, 0.93, 5e-4),
    Stage(3, 2, 400, 0.9, 5e-4),
    Stage(4, 2, 1000, 0.0, 1e-3),
)
_SAMPLE = 1000  # states whose boxes are counted
HOPELESS = 0.5  # of ε: an excess beyond which more detail is not tried, once boxes are large
_NEARBY = 0.97  # of ε: where the first guess is made
_FALLS = 1.5  # about how fast ln of the excess falls with c
_ROUNDS = 20
_LARGEST_LEAST = 12  # symbols; a certificate for all lengths covers words of so many, and may leave out shorter ones
FOR_ALL_LENGTHS = (STAGES[0], STAGES[1], STAGES[3])


class Rate(NamedTuple):
    """A rate that was proven, or ε/2; the bound that it keeps, and the least length of its words."""

    c: float
    bound: float
    least: int
    at_first: float  # the excess where the search began; more detail does not help where it is large


@dataclass(frozen=True, eq=False)
class LevelledSearch:
    """The levelled certificates of one system that time and memory allow."""

    graph: Graph
    levelling: Levelling
    limits: Limits

    def __post_init__(self) -> None:
        object.__setattr__(self, "_means", {})

    def attempts(self, length: int | None) -> Iterator[tuple[Stage, Detail]]:
        """The stages for words of one length, or of all lengths, with the radius of their boxes."""
        before: set[Detail] = set()
        for stage in STAGES if length is not None else FOR_ALL_LENGTHS:
            detail = Detail(stage.back, stage.ahead, self._radius(stage.box))
            if detail not in before and self.allowed(detail, length):
                before.add(detail)
                check_room(self._memory(detail, length))
                yield stage, detail

    def allowed(self, detail: Detail, length: int | None) -> bool:
        """Whether a search stays within the limits of time and memory."""
        return self.fits(detail, length) and self.seconds(detail, length) <= self.limits.certificate_time

    def fits(self, detail: Detail, length: int | None) -> bool:
        """Whether an evaluation stays within the limit of memory."""
        return self._memory(detail, length) <= self.limits.certificate_memory

    def _memory(self, detail: Detail, length: int | None) -> int:
        layers, completions = kept_layers(detail, length)
        numbers = self._ways(detail.back) * layers + self._ways(detail.ahead) * completions
        return int(4 * self.graph.size**2 + 16 * numbers * self._mean_box(detail.radius))

    def seconds(self, detail: Detail, length: int | None) -> float:
        """About how long a search takes."""
        numbers = self._ways(detail.back + 2) * self._mean_box(detail.radius)
        each = _SECONDS_ALL_PLACES * detail.ahead if length is None else _SECONDS_A_PLACE * length
        return _EVALUATIONS * each * numbers

    def parts(self, length: int | None) -> int:
        """About how many parts a search has."""
        return _EVALUATIONS * (20 if length is None else length)

    def detail(self, numbers: tuple[int, ...]) -> Detail | None:
        """The detail with these numbers, if it belongs to a stage."""
        known = any((stage.back, stage.ahead, self._radius(stage.box)) == numbers for stage in STAGES)
        return Detail(*numbers) if known else None

    def blocks(self, detail: Detail) -> LevelledBlocks:
        return _blocks(self.graph, self.levelling, detail)

    def rate(self, stage: Stage, detail: Detail, length: int, epsilon: float, guess: float, tick: Tick) -> Rate:
        """The largest rate found for words of one length, near a guess."""
        blocks, seen = self.blocks(detail), list[float]()

        def excess(c: float) -> float:
            seen.append(blocks.excess(length, c, tick))
            return seen[-1]

        c, bound = largest_rate(epsilon, excess, guess, precision=stage.precision)
        if c == guess and epsilon - bound > stage.precision * epsilon:  # more is possible
            c, bound = largest_rate(
                epsilon, excess, on_grid(guess + epsilon - bound, epsilon), precision=stage.precision
            )
        return Rate(c, bound, length, seen[0])

    def rate_for_all(self, stage: Stage, detail: Detail, epsilon: float, tick: Tick) -> Rate:
        """The largest rate found for words of all lengths."""
        blocks, least = self.blocks(detail), dict[float, int]()

        def excess(c: float) -> float:
            more, least[c] = blocks.excess_of_all(c, epsilon - c, _LARGEST_LEAST, tick)
            return more

        nearby = _NEARBY * epsilon
        usual = blocks.usual_excess(nearby)
        guess = nearby
        for _ in range(_ROUNDS):
            guess = epsilon - usual * exp(min(_FALLS * (nearby - guess), 1.0))
        guess = on_grid(guess * (1 - stage.precision / 2), epsilon)
        c, bound = largest_rate(epsilon, excess, guess, precision=stage.precision)
        return Rate(c, bound, least.get(c, 1), usual)

    def _ways(self, steps: int) -> float:
        """The number of ways of so many steps, from any state."""
        ways = np.ones(self.graph.size)
        for _ in range(steps):
            ways = np.bincount(self.graph.target, ways[self.graph.sources], self.graph.size).astype(np.float64)
        return float(ways.sum())

    def _radius(self, most: int) -> int:
        """The largest radius whose boxes have at most so many nodes on average."""
        radius = LEAST_RADIUS
        while self._mean_box(radius) < self._mean_box(radius + 1) <= most:
            radius += 1
        return radius

    def _mean_box(self, radius: int) -> float:
        """How many nodes the boxes of entered states have on average, counted at some states if there are many."""
        means: dict[int, float] = vars(self)["_means"]
        if radius not in means:
            entering = np.bincount(self.graph.target, minlength=self.graph.size)
            some = np.unique(np.linspace(0, self.graph.size - 1, _SAMPLE).astype(np.int64))
            sizes = np.array([entering[list(row)].sum() for row in neighbourhood(self.graph, radius, some.tolist())])
            means[radius] = float(sizes @ entering[some] / max(entering[some].sum(), 1))
        return means[radius]


def progress_of(share_done: Callable[[float], None] | None, expected: int) -> Callable[[], None]:
    """Something to call after each of about `expected` parts of a search; the share that it reports stays below 1."""
    parts = [0]

    def tick() -> None:
        parts[0] += 1
        if share_done is not None:
            share_done(1 - math.exp(-2 * parts[0] / expected))

    return tick


@lru_cache(maxsize=2)
def _blocks(graph: Graph, levelling: Levelling, detail: Detail) -> LevelledBlocks:
    return LevelledBlocks(LevelledSystem(graph, levelling, detail))
