"""Which reweighted certificates are tried, in order of cost, and about how long each search takes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from dpwords.core.elementary import exp
from dpwords.core.limits import Limits, check_memory
from dpwords.privacy.certificates.certificate import largest_rate, on_grid
from dpwords.privacy.certificates.reweighted_blocks import COVER, ReweightedBlocks, Tick
from dpwords.privacy.certificates.reweighted_system import LEAST_RADIUS, Detail, ReweightedSystem, neighbourhood
from dpwords.privacy.certificates.tuning import (
    EVALUATIONS,
    FALLS,
    FOR_ALL_LENGTHS,
    GUESSING_ROUNDS,
    LARGEST_LEAST,
    NEARBY,
    SAMPLED_BOXES,
    SECONDS_A_POSITION,
    SECONDS_ALL_POSITIONS,
    STAGES,
    Stage,
)
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting


class Rate(NamedTuple):
    """A rate that was proven, or ε/2; the bound that it keeps, and the least length of its words."""

    c: float
    bound: float
    least: int
    at_first: float  # the excess where the search began; more detail does not help where it is large


@dataclass(frozen=True, eq=False)
class ReweightedSearch:
    """The reweighted certificates of one system that time and memory allow."""

    graph: Graph
    reweighting: Reweighting
    limits: Limits
    _means: dict[int, float] = field(default_factory=dict)

    def attempts(self, length: int | None) -> Iterator[tuple[Stage, Detail]]:
        """The stages for words of one length, or of all lengths, with the radius of their boxes.

        The first one has smaller boxes where the limits demand it.
        """
        before: set[Detail] = set()
        for stage in STAGES if length is not None else FOR_ALL_LENGTHS:
            largest = self._radius(stage.box)
            least = LEAST_RADIUS if stage is STAGES[0] else largest
            details = (Detail(stage.back, stage.ahead, radius) for radius in range(largest, least - 1, -1))
            quick = (each for each in details if self.seconds(each, length) <= self.limits.certificate_time)
            detail = next((each for each in quick if self.fits(each, length)), None)
            if detail is not None and detail not in before:
                before.add(detail)
                check_memory(self._memory(detail, length))
                yield stage, detail

    def fits(self, detail: Detail, length: int | None) -> bool:
        """Whether an evaluation stays within the limit of memory."""
        return self._memory(detail, length) <= self.limits.certificate_memory

    def _memory(self, detail: Detail, length: int | None) -> int:
        kept = (detail.back + 2 * COVER.layers, 2 * COVER.completions) if length is None else (2, length)
        layers, completions = kept  # including unions of them
        numbers = self._paths(detail.back) * layers + self._paths(detail.ahead) * completions
        return int((8 * self.graph.size + 16 * numbers) * self._mean_box(detail.radius))

    def seconds(self, detail: Detail, length: int | None) -> float:
        """About how long a search takes."""
        numbers = self._paths(detail.back + 2) * self._mean_box(detail.radius)
        each = SECONDS_ALL_POSITIONS * detail.ahead if length is None else SECONDS_A_POSITION * length
        return EVALUATIONS * each * numbers

    def first_seconds(self, length: int | None) -> float:
        """About how long the first attempt takes; 0 if there is none."""
        return next((self.seconds(detail, length) for _, detail in self.attempts(length)), 0.0)

    def parts(self, length: int | None) -> int:
        """About how many parts a search has."""
        return EVALUATIONS * (20 if length is None else length)

    def detail(self, numbers: tuple[int, ...]) -> Detail | None:
        """The detail with these numbers, if it belongs to a stage, or has smaller boxes."""
        largest = {(stage.back, stage.ahead): self._radius(stage.box) for stage in STAGES}  # later ones are larger
        known = len(numbers) == 3 and LEAST_RADIUS <= numbers[2] <= largest.get(numbers[:2], 0)
        return Detail(*numbers) if known else None

    @lru_cache(maxsize=2)  # noqa: B019  # a few searches live as long as the process
    def within(self, length: int) -> ReweightedSearch | None:
        """The certificates for words of one length, which cannot be in other states; None if there are none.

        Their weights are the same in the smaller system: other states that fit at a position can be reached too. Only
        whether a run can return to its start depends on other states.
        """
        part = self.graph.within(length)
        if part is self.graph:
            return self
        reweighting = Reweighting.of(part, self.limits)
        if reweighting is not None and not self.reweighting.at_start.any():
            reweighting = replace(reweighting, at_start=np.zeros_like(reweighting.at_start))
        return None if reweighting is None else ReweightedSearch(part, reweighting, self.limits)

    def blocks(self, detail: Detail) -> ReweightedBlocks:
        return _blocks(self.graph, self.reweighting, detail)

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
            more, least[c] = blocks.excess_of_all(c, epsilon - c, LARGEST_LEAST, tick)
            return more

        nearby = NEARBY * epsilon
        usual = blocks.usual_excess(nearby)
        guess = nearby
        for _ in range(GUESSING_ROUNDS):
            guess = epsilon - usual * exp(min(FALLS * (nearby - guess), 1.0))
        guess = on_grid(guess * (1 - stage.precision / 2), epsilon)
        c, bound = largest_rate(epsilon, excess, guess, precision=stage.precision)
        return Rate(c, bound, least.get(c, 1), usual)

    def _paths(self, steps: int) -> float:
        """The number of paths of so many steps, from any state."""
        paths = np.ones(self.graph.size)
        for _ in range(steps):
            paths = np.bincount(self.graph.target, paths[self.graph.sources], self.graph.size).astype(np.float64)
        return float(paths.sum())

    def _radius(self, most: int) -> int:
        """The largest radius whose boxes have at most so many nodes on average."""
        radius = LEAST_RADIUS
        while self._mean_box(radius) < self._mean_box(radius + 1) <= most:
            radius += 1
        return radius

    def _mean_box(self, radius: int) -> float:
        """How many nodes the boxes of entered states have on average, counted at some states if there are many."""
        if radius not in self._means:
            entering = np.bincount(self.graph.target, minlength=self.graph.size)
            some = np.unique(np.linspace(0, self.graph.size - 1, SAMPLED_BOXES).astype(np.int64))
            sizes = np.array([entering[list(row)].sum() for row in neighbourhood(self.graph, radius, some.tolist())])
            self._means[radius] = float(sizes @ entering[some] / max(entering[some].sum(), 1))
        return self._means[radius]


def progress_of(fraction_done: Callable[[float], None] | None, expected: int) -> Callable[[], None]:
    """Something to call after each of about `expected` parts of a search; the fraction that it reports stays below
    1."""
    parts = [0]

    def tick() -> None:
        parts[0] += 1
        if fraction_done is not None:
            fraction_done(1 - math.exp(-2 * parts[0] / expected))

    return tick


@lru_cache(maxsize=2)
def _blocks(graph: Graph, reweighting: Reweighting, detail: Detail) -> ReweightedBlocks:
    return ReweightedBlocks(ReweightedSystem(graph, reweighting, detail))
