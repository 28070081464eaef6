"""Guesses of runs of a system, simulated: words are drawn, and what is known of each given its releases is computed.

Where the normaliser Z(x) of the exponential mechanism depends on the word x, the probabilities q(x) that forward and
backward passes give are not yet those of Bayes' rule, which are in proportion to q(x)/Z(x)^r. What is missing is found
by proposing runs from q (`metropolis.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core import threads
from dpwords.core.encoding import Codes
from dpwords.core.randomness import SeededSource, uint64
from dpwords.core.scaled import Floats
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain
from dpwords.models.evidence import seen
from dpwords.models.hidden import Seen
from dpwords.models.likeliest import HiddenWords, Likeliest, Told, together
from dpwords.models.metropolis import SPREAD, Corrections, corrections
from dpwords.models.normalisers import Normalisers
from dpwords.spaces.choice import space_of
from dpwords.spaces.graph import Graph

_PROPOSED = 8  # runs for each word, if normalisers are nearly the same for all words
_PROPOSED_UNEVEN = 64
_CLOSE = 1.5  # times the chance of the most likely word, up to which the bound by steepness is taken
_EVEN = 0.03  # standard deviation of ln Z up to which they are


class Simulated(NamedTuple):
    """For each simulated word, what guesses get right: by a guess that is known, and by the best one at most.

    Hits are the mean over the places. Where the distribution given the releases is known exactly, both are the same.
    """

    hits_by_place: Floats  # mean over the words
    hits: Floats
    hits_at_most: Floats
    whole: Floats
    whole_at_most: Floats
    hits_spread: float  # of the range of hits
    whole_spread: float


@dataclass(frozen=True, eq=False)
class RunsAttack:
    """A mechanism whose outputs tell about each place of a word separately, up to the normaliser, and a prior."""

    mechanism: Private
    prior: MarkovChain
    is_uniform: bool
    length: int
    releases: int

    @staticmethod
    def applies_to(mechanism: object, length: int) -> bool:
        """Whether words of this length can be attacked by passes over hidden runs."""
        if isinstance(mechanism, Exponential):
            return mechanism.distance == "hamming" and mechanism.weights(length).rate is not None
        return isinstance(mechanism, Online)

    @cached_property
    def normalisers(self) -> Normalisers | None:
        """The normalisers, if they depend on the word."""
        mechanism = self.mechanism
        if not isinstance(mechanism, Exponential) or mechanism.language.alike:
            return None
        space = space_of(mechanism.language, "hamming", mechanism.limits)
        graph = getattr(space, "graph", None) or Graph.of(mechanism.language)
        return Normalisers(graph, mechanism.weights(self.length), mechanism.limits)

    @cached_property
    def steepness(self) -> float:
        """How much ln Z can change for each place in which words differ: min(c, ε − c), from the promise itself."""
        assert isinstance(self.mechanism, Exponential)
        c = self.mechanism.weights(self.length).rate or Fraction(0)
        return max(float(min(c, Fraction(self.mechanism.epsilon) - c)), 0.0)

    @cached_property
    def proposed(self) -> int:
        """How many runs are proposed for each word."""
        if self.normalisers is None:
            return 0
        space = space_of(self.mechanism.language, "hamming", self.mechanism.limits)
        uneven = self.normalisers.spread(space, self.length) * self.releases > _EVEN
        return _PROPOSED_UNEVEN if uneven else _PROPOSED

    def cost(self) -> int:
        """The number of edges that are visited for each simulated word."""
        layers = self.prior.population.layers(self.length)
        return len(layers.order) * (6 + self.releases + 2 * self.proposed)

    def simulated(self, samples: int) -> Simulated:
        """Draw words and releases with fixed seeds, and guess each of them. Cost: samples · `cost`."""
        source = SeededSource("runs that an adversary guesses")
        words = self.prior.drawn(self.length, samples, source.open())
        seeded = self.mechanism.seeded("outputs that an adversary sees")
        released = np.stack([seeded.release_codes(words) for _ in range(self.releases)], axis=1)
        told = seen(self.mechanism, released.reshape(-1, self.length))
        width = max(self.prior.population.size, len(self.prior.language.alphabet)) * self.length
        size = max(self.mechanism.limits.batch // (4 * width), 1)
        parts = [slice(begin, min(begin + size, samples)) for begin in range(0, samples, size)]
        streams = [source.open() for _ in parts]
        found: list[tuple[Floats, ...]] = [()] * len(parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                part = parts[number]
                rows = told.rows[part.start * self.releases : part.stop * self.releases]
                uniform = uint64(streams[number], (part.stop - part.start, self.proposed)).astype(np.float64) * 2.0**-64
                proposals = SeededSource(f"proposals {number}")
                found[number] = self._guessed(Seen(rows, told.favours), words[part], uniform, proposals)

        threads.in_parts(work, len(parts), cost=size * self.cost(), most=self.mechanism.limits.threads)
        by_place, hits, hits_most, whole, whole_most = (
            np.concatenate([each[column] for each in found]) for column in range(5)
        )
        spread = 1.0 if self.normalisers is None else SPREAD
        whole_spread = spread
        if self.is_uniform and self.releases == 1 and self.normalisers is not None:
            whole = whole_most = self.mechanism._distances(words, 1).shares[:, 0]  # the release is the best guess
            whole_spread = 1.0
        return Simulated(by_place.mean(axis=0), hits, hits_most, whole, whole_most, spread, whole_spread)

    def _together(self, told: Seen, more: tuple[Codes, float] | None = None) -> Told:
        return together(told, self.releases, len(self.prior.population.alphabet), more)

    def _guessed(self, told: Seen, words: Codes, uniform: Floats, proposals: SeededSource) -> tuple[Floats, ...]:
        hidden = HiddenWords(self.prior, self._together(told), self.mechanism.limits)
        logs, shares = hidden.shares()
        best = hidden.likeliest()
        chance = np.minimum(np.exp(best.logs - logs), 1.0)
        if self.normalisers is None:
            by_place = shares.max(axis=1).T
            hits = by_place.mean(axis=1)
            return by_place, hits, hits, chance, chance
        guessed = shares.argmax(axis=1)
        wrong = self._corrected(hidden, words, best, uniform, proposals)
        corrected = shares + wrong.places
        at_guess = np.take_along_axis(corrected, guessed[:, None, :], axis=1)[:, 0].T
        most = corrected.max(axis=1).T
        whole_most = chance
        if not (self.is_uniform and self.releases == 1):  # a case of its own
            steep = self._most(told, best, chance, logs)
            whole_most = np.where(
                steep <= _CLOSE * chance, steep, chance + wrong.largest
            )  # chosen by the releases alone
        return (at_guess + most) / 2, at_guess.mean(axis=1), most.mean(axis=1), chance + wrong.guess, whole_most

    def _corrected(
        self, hidden: HiddenWords, words: Codes, best: Likeliest, uniform: Floats, proposals: SeededSource
    ) -> Corrections:
        """What the normalisers change, for guesses of the most likely words."""
        assert self.normalisers is not None
        taken = hidden.sampled(self.proposed, proposals.open())
        runs = hidden.codes(taken)
        number, length = words.shape
        logs = self.releases * self.normalisers.logs(np.concatenate([words, runs.reshape(-1, length)]))
        own, others = logs[:number], logs[number:].reshape(number, self.proposed)
        return corrections(words, runs, own, others, uniform, best.words, len(hidden.hidden.alphabet))

    def _most(self, told: Seen, best: Likeliest, chance: Floats, logs: Floats) -> Floats:
        """An upper bound on the probability of every word: ln Z changes by at most `steepness` for each place.

        With g the most likely word, q(x)/Z(x)^r ≤ q(x)·e^(L·d(x,g))/Z(g)^r and the sum of q(y)/Z(y)^r is at least
        E[e^(−L·d(y,g))]/Z(g)^r, where L is r times the steepness and y has the distribution q.
        """
        tilt, limits = self.releases * self.steepness, self.mechanism.limits
        if tilt == 0.0:
            return chance
        away = HiddenWords(self.prior, self._together(told, (best.words, -tilt)), limits)
        near = HiddenWords(self.prior, self._together(told, (best.words, tilt)), limits)
        largest = away.likeliest().logs + tilt * self.length - logs
        mean = near.log_totals() - tilt * self.length - logs
        return np.minimum(np.exp(np.minimum(largest - mean, 0.0)), 1.0)
