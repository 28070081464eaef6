"""What an adversary expects to guess: which of the ways to compute it applies, and the result."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np

from dpwords.attack.bounds import margin, promised
from dpwords.attack.free_words import by_formula
from dpwords.attack.listed import LikelyWords, at_drawn_outputs, number_of_multisets, over_every_output
from dpwords.attack.results import Guess, Success
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.models.chains import Chain, MarkovChain, PriorWords, hidden_runs
from dpwords.models.evidence import kind_of_evidence
from dpwords.models.listed import Evidence
from dpwords.models.posteriors import Posteriors, Simulated
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import none_of_length

PRIOR = (
    "the prior is 'uniform', a table {state: {symbol: probability}}, or what estimate.model or estimate.chain returns"
)
_FEWEST = 100  # simulated words, below which intervals say nothing


@dataclass(frozen=True, eq=False)
class Attack:
    """A mechanism at one length, and how likely each private word is."""

    mechanism: Mechanism
    length: int
    chain: MarkovChain | None  # None if all words of the language are equally likely

    @classmethod
    def of(cls, mechanism: Mechanism, length: int, prior: object) -> Attack:
        """Check the arguments; raises `InvalidValue` if they do not fit together."""
        checked_mechanism(mechanism)
        positions = mechanism._public_length(length)
        if positions < mechanism.least_length:
            raise InvalidValue(f"words have at least {mechanism.least_length} symbols here: use a longer length")
        if positions > mechanism.limits.attacked_length:
            raise TooLarge(
                f"what is guessed is computed for words of at most {mechanism.limits.attacked_length} symbols: use a "
                "shorter length"
            )
        chosen = mechanism.at(positions)
        found = cls(chosen, positions, None)
        if isinstance(prior, str) and prior == "uniform":
            return found
        if isinstance(prior, Mapping):
            return cls(chosen, positions, Chain.of(found.language, prior, chosen.limits))
        if not isinstance(prior, MarkovChain):
            raise InvalidValue(PRIOR)
        if not _is_on(prior, found.language, chosen):
            raise InvalidValue("the prior is a chain on another language: make one on the language of the mechanism")
        return cls(chosen, positions, prior)

    @property
    def language(self) -> Language:
        """The language of the private words: for a channel onto a language, that one."""
        onto = self.mechanism.projected_onto
        return self.mechanism.language if onto is None else onto

    @cached_property
    def prior(self) -> PriorWords:
        """How likely each private word is."""
        return PriorWords(self.language, self.chain, self.mechanism.limits)

    @cached_property
    def evidence(self) -> Evidence:
        """What releases tell."""
        return kind_of_evidence(self.mechanism, self.length)

    @cached_property
    def listing(self) -> LikelyWords | None:
        """All words and how likely they are, if there are few enough."""
        limits = self.mechanism.limits
        words: Any = None
        if not self.language.alike:
            words = space_of(self.language, "hamming", limits).every(self.length, limits.attacked_words)
        elif self.length * np.log2(len(self.language.alphabet)) <= np.log2(limits.attacked_words):
            words = list(product(range(len(self.language.alphabet)), repeat=self.length))
        if words is None:
            return None
        rows = np.asarray(words, dtype=np.int64)
        if not len(rows):
            raise none_of_length(self.length)
        logs = np.full(len(rows), -np.log(len(rows))) if self.chain is None else self.chain.log_probs(rows)
        if self.language is self.mechanism.language:
            return LikelyWords(rows, logs, rows)
        codes = self.mechanism.language.alphabet.codes
        return LikelyWords(rows, logs, np.array([codes[symbol] for symbol in self.language.alphabet.symbols])[rows])

    @cached_property
    def positions(self) -> tuple[float, ...]:
        """The chance of guessing each position for somebody who sees nothing. Cost: length · edges."""
        if self.chain is None and self.language.alike:
            return (1 / len(self.language.alphabet),) * self.length
        return tuple(self.prior.known.marginals(self.length).max(axis=1).tolist())

    @cached_property
    def without(self) -> Success:
        """What somebody guesses who sees nothing. Cost: length · edges."""
        hits = math.fsum(self.positions)
        if self.chain is not None:
            return Success(hits, self.chain.likeliest(self.length)[1])
        if self.language.alike:
            return Success(hits, 1 / len(self.language.alphabet) ** self.length)
        return Success(hits, 1 / self.language.count(self.length))

    def promised(self, releases: int) -> Success | None:
        """What the promise alone allows."""
        every_word = self.chain is None and self.language.alike
        return promised(self.mechanism, self.length, every_word, self.without, releases)


def checked_mechanism(mechanism: object) -> None:
    """Raise `InvalidValue` unless users have passed a mechanism."""
    if not isinstance(mechanism, Mechanism):
        raise InvalidValue("the mechanism is an Exponential, an Online, …: pass for example Online(Words('ab'), 1)")


def guess(mechanism: Mechanism, length: int, prior: Any, releases: int, samples: int, confidence: float) -> Guess:
    """See `dpwords.attack.guess`."""
    attack = Attack.of(mechanism, length, prior)
    number = whole_number(releases, "releases", 1)
    wanted = whole_number(samples, "samples", _FEWEST)
    if not 0 < positive_number(confidence, "confidence", "confidence=0.99") < 1:
        raise InvalidValue("confidence is between 0 and 1: pass for example confidence=0.99")
    made = _Made(attack, number)
    if attack.chain is None:
        found = by_formula(attack.evidence, number)
        if found is not None:
            return made.exactly(np.full(attack.length, found.hits / attack.length), found.whole, "formula")
    listing = attack.listing
    few = listing is not None and len(listing.words) * wanted <= attack.mechanism.limits.attacked_alignments
    by_alignments = attack.evidence.channel is not None and number == 1 and not few
    if listing is not None and not by_alignments:
        return made.listed(listing, wanted, confidence)
    posteriors = attack.evidence.posteriors(attack.prior, number)
    if posteriors is not None:
        return made.given(posteriors, wanted, confidence)
    return made.bounded(
        f"what can be guessed through this mechanism is computed for at most {attack.mechanism.limits.attacked_words} "
        "words of one length, or for equally likely words and one release: use a shorter length, or linear utility"
    )


@dataclass(frozen=True, eq=False)
class _Made:
    """Results of one question."""

    attack: Attack
    releases: int

    @cached_property
    def promised(self) -> Success | None:
        return self.attack.promised(self.releases)

    def result(self, positions: Floats, whole: float, low: Success, high: Success, method: Any, **more: Any) -> Guess:
        """The figures between the ends of intervals, which cannot contradict what is known anyway."""
        length, without = self.attack.length, self.attack.without
        bounds = [high, Success(float(length), 1.0), *([] if self.promised is None else [self.promised])]
        return Guess(
            length,
            self.releases,
            tuple(np.clip(positions, 0.0, 1.0).tolist()),
            whole,
            Success(max(low.hits, without.hits), max(low.whole, without.whole)),
            Success(min(each.hits for each in bounds), min(each.whole for each in bounds)),
            without,
            self.attack.positions,
            self.promised,
            method,
            **more,
        )

    def exactly(self, positions: Floats, whole: float, method: Any) -> Guess:
        """Figures that are known exactly: both ends of the interval are the figures themselves."""
        proportions = tuple(positions.tolist())
        found = Success(math.fsum(proportions), whole)
        known = self.attack.without, self.attack.positions, self.promised
        return Guess(self.attack.length, self.releases, proportions, whole, found, found, *known, method)

    def listed(self, listing: LikelyWords, samples: int, confidence: float) -> Guess:
        """Over all outputs if they are few, otherwise over drawn ones."""
        evidence, limits = self.attack.evidence, self.attack.mechanism.limits
        matrix: Floats | None = None
        try:
            matrix = evidence.log_probs(listing.inputs, evidence.every_output(listing.inputs))
        except TooLarge:
            if evidence.channel is not None:
                samples = min(samples, limits.attacked_alignments // (len(listing.words) * self.releases))
                if samples < _FEWEST:
                    return self.bounded(
                        "there are too many words of this length for an edit channel: use a shorter one"
                    )
        if matrix is not None:
            sets = number_of_multisets(matrix.shape[1], self.releases)
            if sets * len(matrix) <= limits.attacked_outputs:
                positions, whole = over_every_output(listing, matrix, self.releases, limits.batch)
                return self.exactly(positions, whole, "every output")
        return self.simulated(at_drawn_outputs(listing, evidence, matrix, self.releases, samples), confidence)

    def bounded(self, reason: str) -> Guess:
        """What follows from the promise; raises `TooLarge`, for a reason, if nothing is known."""
        if self.promised is None:
            raise TooLarge(reason)
        bound = self.promised
        even = np.full(self.attack.length, bound.hits / self.attack.length)
        return self.result(even, bound.whole, self.attack.without, bound, "bound")

    def given(self, posteriors: Posteriors, samples: int, confidence: float) -> Guess:
        """Over drawn words and outputs, by what is known of each word given its outputs."""
        number = min(samples, self.attack.mechanism.limits.attacked_steps // max(posteriors.cost(), 1))
        if number < _FEWEST:
            return self.bounded(posteriors.too_large)
        most = self.attack.without.whole * posteriors.gain if math.isfinite(posteriors.gain) else 1.0
        return self.simulated(posteriors.simulated(number), confidence, most)

    def simulated(self, found: Simulated, confidence: float, most: float = 1.0) -> Guess:
        """From what is known of drawn words, with intervals. No more than `most` of the whole words can be guessed."""
        number, length = len(found.hits), self.attack.length

        def end(values: Floats, spread: float, sign: int) -> float:
            return float(values.mean()) + sign * margin(values, spread, confidence)

        low = Success(length * end(found.hits, found.hits_spread, -1), end(found.whole, found.whole_spread, -1))
        high = Success(
            length * end(found.hits_at_most, found.hits_spread, 1), end(found.whole_at_most, found.whole_spread, 1)
        )
        high = Success(high.hits, min(high.whole, most))
        whole = float(found.whole.mean())  # of a guess that is known, and hardly ever worse than the best one
        return self.result(found.hits_by_place, whole, low, high, "simulation", samples=number, confidence=confidence)


def _is_on(prior: MarkovChain, language: Language, mechanism: Mechanism) -> bool:
    """Whether a chain is on the runs of this language."""
    return prior.language is language or hidden_runs(language, mechanism.limits).same_runs(prior.population)
