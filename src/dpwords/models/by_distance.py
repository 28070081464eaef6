"""Guesses of runs through weights that depend on the distance in any way, if all words are equally likely.

Given one release w, the distribution q of the private word, without its normaliser, is that of the releases of w. Its
probabilities of symbols are sums over runs that are counted by their distance from w. What the normalisers change is
found by proposing runs from q (`metropolis.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpwords.core import threads
from dpwords.core.compiled import kernel
from dpwords.core.encoding import Codes
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import SeededSource, uint64
from dpwords.core.scaled import Floats
from dpwords.mechanisms.exponential import Exponential
from dpwords.models.metropolis import SPREAD, corrections
from dpwords.models.runs import Simulated
from dpwords.spaces.choice import space_of
from dpwords.spaces.graph import Graph
from dpwords.spaces.space import Space

_PROPOSED = 8  # runs for each word
_TOGETHER = 500  # words whose corrections are computed at a time


@dataclass(frozen=True, eq=False)
class DistanceAttack:
    """An exponential mechanism on a system whose weights are no power of a single number, at one length."""

    mechanism: Exponential
    length: int

    @classmethod
    def of(cls, mechanism: object, length: int) -> DistanceAttack | None:
        """The attack on a mechanism, or None if it has linear weights, or public weights of words."""
        if not isinstance(mechanism, Exponential) or mechanism.distance != "hamming" or mechanism.language.alike:
            return None
        weights = mechanism.weights(length)
        return cls(mechanism, length) if weights.rate is None and weights.base is None else None

    @cached_property
    def _space(self) -> Space:
        return space_of(self.mechanism.language, "hamming", self.mechanism.limits)

    @cached_property
    def passes(self) -> DistancePasses:
        """Sums over all runs."""
        graph = getattr(self._space, "graph", None) or Graph.of(self.mechanism.language)
        return DistancePasses(graph, np.exp(self.mechanism.weights(self.length).logs), self.mechanism.limits)

    def cost(self) -> int:
        """The number of edges that are visited for each simulated word, by distance."""
        return len(self.passes.graph.target) * self.length**2 * (2 + _PROPOSED)

    @property
    def gain(self) -> float:
        """How many times as likely a guess of the whole word can become: the largest weight divided by the least.

        All words of the length have at least the least weight, so no output is more likely than this for any word,
        divided by their number.
        """
        logs = self.mechanism.weights(self.length).logs
        return float(np.exp(min(logs.max() - logs.min(), 700.0)))

    def simulated(self, samples: int) -> Simulated:
        """Draw words and releases with fixed seeds, and guess each of them. Cost: samples · `cost`."""
        source = SeededSource("runs that an adversary guesses")
        words = np.asarray(self._space.uniform(self.length, samples, source.open()))
        released = np.asarray(self.mechanism.seeded("outputs that an adversary sees").release_codes(words))
        stretches = [slice(begin, begin + _TOGETHER) for begin in range(0, samples, _TOGETHER)]
        parts = [self._guessed(words[stretch], released[stretch], source) for stretch in stretches]
        by_place, hits, hits_most, whole, whole_most = (
            np.concatenate([each[column] for each in parts]) for column in range(5)
        )
        return Simulated(by_place.mean(axis=0), hits, hits_most, whole, whole_most, SPREAD, SPREAD)

    def _guessed(self, words: Codes, released: Codes, source: SeededSource) -> tuple[Floats, ...]:
        shares, stream = self.passes.shares(released).transpose(1, 2, 0), source.open()
        runs = np.stack([np.asarray(self.mechanism._law(codes).draw(_PROPOSED, stream)) for codes in released])
        logs = self.passes.log_totals(np.concatenate([words, released, *runs]))
        own, of_released, proposed = np.split(logs, [len(words), 2 * len(words)])
        proposed, chance = proposed.reshape(-1, _PROPOSED), self.passes.values[0] * np.exp(-of_released)
        uniform = uint64(stream, proposed.shape).astype(np.float64) * 2.0**-64
        wrong = corrections(words, runs, own, proposed, uniform, released, shares.shape[1])
        guessed, corrected = shares.argmax(axis=1), shares + wrong.places
        at_guess = np.take_along_axis(corrected, guessed[:, None, :], axis=1)[:, 0].T
        most = corrected.max(axis=1).T
        hits = (at_guess + most) / 2, at_guess.mean(axis=1), most.mean(axis=1)
        return *hits, chance + wrong.guess, chance + wrong.largest


@dataclass(frozen=True, eq=False)
class DistancePasses:
    """Sums over all runs of a graph of the weight values[d] of their distance d from each of some words."""

    graph: Graph
    values: Floats
    limits: Limits = DEFAULTS

    def log_totals(self, words: Codes) -> Floats:
        """The logarithm of the sum for each word. Cost: words · edges · length² / 2."""
        logs = np.empty(len(words))
        self._passed("log_totals", words, logs)
        return logs

    def shares(self, words: Codes) -> Floats:
        """[word, place, symbol]: the share that runs with a symbol at a place have in the sum.

        Cost: words · edges · length².
        """
        found = np.empty((*words.shape, len(self.graph.alphabet)))
        self._passed("shares", words, found)
        return found

    def _passed(self, name: str, words: Codes, found: Floats) -> None:
        """Fill an array that has an entry for each word."""
        loop, codes = getattr(kernel("by_distance"), name), np.ascontiguousarray(words, dtype=np.int64)
        graph = (self.graph.edges, self.graph.start, self.graph.accepting, self.values)

        def fill(part: slice) -> None:
            loop(codes[part], *graph, found[part])

        steps = len(self.graph.target) * words.shape[1] ** 2
        threads.in_parts(fill, len(words), cost=steps, most=self.limits.threads)
