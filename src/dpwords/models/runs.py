"""What is known of runs given their releases, where releases tell about each position of a run by itself.

Where the normalising constant Z(x) of the exponential mechanism depends on the word x, the probabilities q(x) that
forward and backward passes give are not yet those of Bayes' rule, which are in proportion to q(x)/Z(x)^r. What is
missing is found by proposing runs from q (`posteriors.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import cast

import numpy as np

from dpwords.core.compiled import in_parts
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.online import Online
from dpwords.mechanisms.private import Private
from dpwords.models.chains import PriorWords
from dpwords.models.hidden import uniform_numbers
from dpwords.models.likeliest import HiddenWords, Likeliest
from dpwords.models.normalising_constants import NormalisingConstants, ratio_of
from dpwords.models.posteriors import (
    SPREAD,
    Evidence,
    Known,
    Posteriors,
    Simulated,
    corrections,
    weighted_logs,
)
from dpwords.models.state_ratios import Emissions, emissions_of_own_symbol
from dpwords.models.tuning import CLOSE, DRAWN, EVEN, PROPOSED, PROPOSED_UNEVEN
from dpwords.spaces.choice import graph_of, space_of
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.online_likelihoods import likelihood_ratios


class PositionEvidence(Evidence):
    """Each position shows its true symbol e^rate times as likely as any other one."""

    mechanism: Private
    rate: float

    def seen(self, rows: Codes) -> Emissions:
        return emissions_of_own_symbol(rows, len(self.mechanism.language.alphabet), ratio_of(self.rate))

    def posteriors(self, prior: PriorWords, releases: int) -> RunPosteriors:
        return RunPosteriors(self, prior, releases)

    @property
    def steepness(self) -> float:
        """How much ln Z can change for each position in which words differ; 0 where it does not depend on the word."""
        return 0.0

    @cached_property
    def spread(self) -> float:
        """The standard deviation of ln Z over typical words of the language."""
        if self.constants is None:
            return 0.0
        return self.constants.spread(space_of(self.mechanism.language, "hamming", self.mechanism.limits), self.length)

    def uneven(self) -> NormalisingConstants | None:
        return self.constants if self.spread > EVEN else None


@dataclass(frozen=True, eq=False)
class RunPosteriors(Posteriors):
    """Words that releases tell about position by position, up to the normalising constant, and how likely each of them
    is."""

    evidence: PositionEvidence

    @property
    def constants(self) -> NormalisingConstants | None:
        return self.evidence.constants

    @property
    def _release_is_best(self) -> bool:
        """Whether the release itself is the best guess of the whole word."""
        return self.prior_words.is_uniform and self.releases == 1 and self.constants is not None

    @cached_property
    def proposed(self) -> int:
        """How many runs are proposed for each word."""
        if self.constants is None:
            return 0
        return PROPOSED_UNEVEN if self.evidence.spread * self.releases > EVEN else PROPOSED

    def cost(self) -> int:
        """The number of edges that are visited for each simulated word."""
        layers = self.prior.population.layers(self.length)
        return len(layers.order) * (6 + self.releases + 2 * self.proposed)

    def simulated(self, samples: int) -> Simulated:
        source = SeededSource("runs that an adversary guesses")
        words = self.prior.drawn(self.length, samples, source.open())
        released = np.stack(self.evidence.drawn(words, self.releases), axis=1)
        emissions = self.evidence.seen(released.reshape(-1, self.length))
        size, parts = self._parts(samples)
        streams = [source.open() for _ in parts]
        found: list[tuple[Floats, ...]] = [()] * len(parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                part = parts[number]
                rows = emissions.rows[part.start * self.releases : part.stop * self.releases]
                uniform = uniform_numbers(streams[number], (part.stop - part.start, self.proposed))
                proposals = SeededSource(f"proposals {number}")
                found[number] = self._guessed(Emissions(rows, emissions.ratios), words[part], uniform, proposals)

        in_parts(work, len(parts), cost=size * self.cost(), most=self.mechanism.limits.threads)
        simulated = Simulated.joined(found, 1.0 if self.constants is None else SPREAD)
        if not self._release_is_best:
            return simulated
        whole = self.mechanism._distances(words, 1).proportions[:, 0]
        return simulated._replace(whole=whole, whole_at_most=whole, whole_spread=1.0)

    def _parts(self, words: int) -> tuple[int, list[slice]]:
        """How many words are treated at a time, and the parts that this makes of all of them."""
        width = max(self.prior.population.size, len(self.prior.language.alphabet)) * self.length
        size = max(self.mechanism.limits.batch // (4 * width), 1)
        return size, [slice(begin, min(begin + size, words)) for begin in range(0, words, size)]

    def guessed(self, released: Codes) -> tuple[Floats, Floats]:
        """Forward and backward passes.

        Where normalising constants differ, guesses leave them out, and their chances are weighted averages over runs
        that are drawn: these are nearly exact.
        """
        return self._of_parts(
            released, lambda part, hidden: self._chances(hidden, SeededSource(f"runs of part {part}"))
        )

    def guesses(self, released: Codes) -> tuple[Codes, Codes]:
        return self._of_parts(released, lambda _, hidden: self._likeliest(hidden))

    def symbols(self, released: Codes) -> Floats:
        """For each release, the chances of the symbols (columns) at each position (row), as if normalising constants
        were equal. Cost: words · `cost`."""
        return self._of_parts(released, lambda _, hidden: (hidden.proportions()[1].transpose(2, 0, 1), np.zeros(0)))[0]

    def _of_parts(
        self, released: Codes, found_in: Callable[[int, HiddenWords], tuple[Floats, Floats]]
    ) -> tuple[Floats, Floats]:
        """What is found in each part of the releases, on all cores, given its number and its hidden words."""
        (rows, ratios), (size, parts) = self.evidence.seen(released), self._parts(len(released))
        found: list[tuple[Floats, Floats]] = [(np.zeros(0), np.zeros(0))] * len(parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                found[number] = found_in(number, self._hidden(Emissions(rows[parts[number]], ratios)))

        in_parts(work, len(parts), cost=size * self.cost(), most=self.mechanism.limits.threads)
        one, other = map(np.concatenate, zip(*found, strict=True))
        return one, other

    @staticmethod
    def _likeliest(hidden: HiddenWords) -> tuple[Codes, Codes]:
        """The likeliest symbols, and the likeliest words."""
        return hidden.proportions()[1].argmax(axis=1).T, hidden.by_logs.likeliest().words

    def _chances(self, hidden: HiddenWords, source: SeededSource) -> tuple[Floats, Floats]:
        """The chances of the likeliest symbols, and of the likeliest word."""
        (logs, proportions), best = hidden.proportions(), hidden.by_logs.likeliest()
        positions, chance = proportions.max(axis=1).T, np.minimum(np.exp(best.logs - logs), 1.0)
        constants = self.evidence.uneven()
        if constants is None:
            return positions, chance
        runs = hidden.sampled(self.proposed, source.open())
        powers = constants.logs(np.concatenate([best.words, runs.reshape(-1, self.length)]))
        own, others = powers[: len(runs)], powers[len(runs) :].reshape(len(runs), -1)
        least = others.min(axis=1)
        weights = np.exp(least[:, None] - others)
        agree = runs == proportions.argmax(axis=1).T[:, None, :]
        weighted = np.einsum("ij,ijk->ik", weights / weights.sum(axis=1, keepdims=True), agree)
        whole = chance * np.exp(np.minimum(least - own, 50.0)) / weights.mean(axis=1)
        return np.clip(positions + weighted - agree.mean(axis=1), 0.0, 1.0), np.minimum(whole, 1.0)

    def _hidden(self, emissions: Emissions, more: tuple[Codes, float] | None = None) -> HiddenWords:
        return HiddenWords.of(self.prior, emissions, self.releases, self.mechanism.limits, more)

    def _guessed(
        self, emissions: Emissions, words: Codes, uniform: Floats, proposals: SeededSource
    ) -> tuple[Floats, ...]:
        hidden = self._hidden(emissions)
        logs, proportions = hidden.proportions()
        best = hidden.by_logs.likeliest()
        chance = np.minimum(np.exp(best.logs - logs), 1.0)
        if self.constants is None:
            by_position = proportions.max(axis=1).T
            hits = by_position.mean(axis=1)
            return by_position, hits, hits, chance, chance
        runs, (number, length) = hidden.sampled(self.proposed, proposals.open()), words.shape
        powers = self.releases * self.constants.logs(np.concatenate([words, runs.reshape(-1, length)]))
        own, others = powers[:number], powers[number:].reshape(number, self.proposed)
        wrong = corrections(words, runs, own, others, uniform, best.words, len(hidden.hidden.alphabet))
        whole_most = chance
        if not self._release_is_best:  # a case of its own
            steep = self._most(emissions, best, chance, logs)
            close = steep <= CLOSE * chance  # chosen by the releases alone
            whole_most = np.where(close, steep, chance + wrong.largest)
        return *wrong.hits(proportions), chance + wrong.guess, whole_most

    def _most(self, emissions: Emissions, best: Likeliest, chance: Floats, logs: Floats) -> Floats:
        """An upper bound on the probability of every word: ln Z changes by at most `steepness` for each position.

        With g the most likely word, q(x)/Z(x)^r ≤ q(x)·e^(L·d(x,g))/Z(g)^r and the sum of q(y)/Z(y)^r is at least
        E[e^(−L·d(y,g))]/Z(g)^r, where L is r times the steepness and y has the distribution q.
        """
        tilt = self.releases * self.evidence.steepness
        if tilt == 0.0:
            return chance
        away, near = (self._hidden(emissions, (best.words, sign * tilt)) for sign in (-1, 1))
        largest = away.by_logs.likeliest().logs + tilt * self.length - logs
        mean = near.log_totals() - tilt * self.length - logs
        return np.minimum(np.exp(np.minimum(largest - mean, 0.0)), 1.0)

    def known(self, outputs: list[Codes]) -> Known | None:
        """Forward and backward passes; where normalising constants differ, corrected by an average over runs that are
        drawn."""
        rows = np.stack(outputs)
        hidden = self._hidden(self.evidence.seen(rows))
        logs, proportions = hidden.proportions()
        if not np.isfinite(logs[0]):
            return None
        best = hidden.by_logs.likeliest()
        if self.constants is None:
            return Known(proportions[:, :, 0], best.words[0], float(np.exp(best.logs[0] - logs[0])))
        drawn = hidden.sampled(DRAWN, SeededSource("runs given releases").open())[0]
        words = np.concatenate([drawn, best.words])
        powers = -self.releases * self.constants.logs(words)
        weights = np.exp(powers - float(powers.max()))
        mean = float(weights[:-1].mean())
        weighted = weights[:-1] / weights[:-1].sum()
        symbols = len(hidden.hidden.alphabet)
        is_there = [np.bincount(column[:-1], weighted, symbols) for column in words.T]
        plain = [np.bincount(column[:-1], minlength=symbols) / DRAWN for column in words.T]
        positions = np.clip(proportions[:, :, 0] + np.array(is_there) - np.array(plain), 0.0, 1.0)
        positions /= positions.sum(axis=1, keepdims=True)
        agree = sum((words == output).sum(axis=1) for output in rows)
        chain = hidden.by_logs.factor[hidden.hidden.taken(words)].sum(axis=1)
        log_weights = chain + np.log(ratio_of(self.evidence.rate)) * agree  # as passes have it
        chances = np.exp(log_weights - logs[0]) * weights / mean
        first = int(chances.argmax())
        relative = (
            weights[:-1] - mean
        ) / mean  # the error of a proportion p is at most that of their mean, times p(1 − p)
        error = float(np.sqrt(np.mean(relative**2) / DRAWN))
        return Known(positions, words[first], min(float(chances[first]), 1.0), error)


class OnlineEvidence(PositionEvidence):
    """Releases of runs that are drawn symbol by symbol: a released symbol is more likely for some true ones."""

    mechanism: Online

    def seen(self, rows: Codes) -> Emissions:
        space = cast("OnlineRuns", self.mechanism._space)
        return Emissions(*likelihood_ratios(space, self.mechanism.weights(self.length), rows))

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """A product over positions, of a factor that depends on the released word alone and likelihood ratios of some
        symbols."""
        rows, ratios = self.seen(np.asarray(outputs))
        table = np.zeros((len(ratios.first) - 1, len(self.mechanism.language.alphabet)))
        table[np.repeat(np.arange(len(table)), np.diff(ratios.first)), ratios.symbol] = np.log(ratios.times)
        found = np.zeros((len(words), len(outputs)))
        for position in range(words.shape[1]):
            found += table[rows[:, position]][:, words[:, position]].T
        law = self.mechanism._law(words[0])
        return np.asarray(found + np.array([law.log_prob(output) for output in outputs]) - found[0])


class LinearEvidence(PositionEvidence):
    """Releases of the exponential mechanism with weights e^(−c·distance): the probability is π(w)·e^(−c·d)/Z(x)."""

    mechanism: Exponential

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        return weighted_logs(self.mechanism.weights(self.length), words, outputs)

    @cached_property
    def constants(self) -> NormalisingConstants | None:
        language = self.mechanism.language
        if language.alike:
            return None
        return NormalisingConstants(graph_of(language), self.mechanism.weights(self.length), self.mechanism.limits)

    @property
    def steepness(self) -> float:
        """min(c, ε − c), from the promise itself."""
        c = self.mechanism.weights(self.length).rate or Fraction(0)
        return max(float(min(c, Fraction(self.mechanism.epsilon) - c)), 0.0)
