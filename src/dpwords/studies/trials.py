"""Simulated releases of true words, and what they are compared with: distances, and the answer to a question."""

from __future__ import annotations

import math
import statistics
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpwords import estimate
from dpwords.core.encoding import Ragged
from dpwords.core.symbols import levenshtein
from dpwords.errors import DPWordsError, InvalidValue, TooLarge
from dpwords.estimate.asking import Asked
from dpwords.estimate.inversion import counted_answers, reported_proportions
from dpwords.mechanisms.mechanism import NamedItems, OutputKind
from dpwords.mechanisms.private import Private
from dpwords.models.releases import Releases
from dpwords.recipes.questions import OF_REPORTS

REPORT = "report, whole words"


@dataclass(frozen=True)
class Trial:
    """What one simulated release of all words gave."""

    observed: float | None  # distance per step; None if what is released are no words
    counted: float  # error of the question if releases are counted as they are
    estimated: float | None = None  # the same of the estimate; None where it was refused
    foreseen: float | None = None  # the error that the estimate expects of itself
    notes: tuple[str, ...] = ()  # why it was refused, or what it warns of

    def document(self) -> dict[str, Any]:
        """The trial for JSON."""
        return {
            "observed_distance_per_step": self.observed,
            "counted_error": self.counted,
            "estimated_error": self.estimated,
            "foreseen_error": self.foreseen,
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class Measured:
    """A mechanism at one ε, and its trials."""

    mechanism: str
    epsilon: float
    rate: str | None  # the calibration in force, with the proportion of words that have it if not all do
    expected: float | None  # distance per step, averaged over the language
    expected_of_words: float | None  # the same for the true words
    trials: tuple[Trial, ...]

    def mean(self, name: str) -> float | None:
        """The mean of a figure over the trials that have it."""
        found = [value for trial in self.trials if (value := getattr(trial, name)) is not None]
        return statistics.fmean(found) if found else None

    def row(self) -> tuple[str | float | None, ...]:
        """The row of a table."""
        means = (self.mean(name) for name in ("observed", "counted", "estimated", "foreseen"))
        return (self.mechanism, self.epsilon, self.rate, self.expected, self.expected_of_words, *means)

    def document(self) -> dict[str, Any]:
        """The same for JSON, with every trial."""
        return {
            "mechanism": self.mechanism,
            "epsilon": self.epsilon,
            "promised_for": "any two words" if self.mechanism == REPORT else "words at most k apart",
            "rate": self.rate,
            "expected_distance_per_step": self.expected,
            "expected_distance_per_step_of_these_words": self.expected_of_words,
            "trials": [trial.document() for trial in self.trials],
        }


@dataclass(frozen=True, eq=False)
class TrueWords:
    """The true words, as codes of symbols, and the question that is asked about them."""

    words: Ragged
    question: str

    @cached_property
    def lengths(self) -> Counter[int]:
        """How many words have each length."""
        return Counter(self.words.sizes.tolist())

    def trial(self, mechanism: Private, source: Private) -> Trial:
        """Release all words once. `source` is the mechanism with the randomness that is wanted."""
        if mechanism.answers is not None:
            return self._report(mechanism, mechanism.answers, source)
        released = source.release_codes(self.words)
        observed = self._distance(released, mechanism) / max(len(self.words.values), 1)
        truth = self._counted(self.words, mechanism)
        counted = error_between(self._counted(released, mechanism), truth)
        return self._with_estimate(released, mechanism, truth, observed, counted)

    def expected(self, mechanism: Private) -> tuple[float | None, float | None]:
        """The expected distance per step, averaged over the language and over the true words.

        They are None where no formula is known or the computation is too large. Cost: for each length, that of the
        public average, and on systems that of the distinct true words.
        """
        if mechanism.releases is OutputKind.ANSWERS or mechanism.projected_onto is not None:
            return None, None
        steps = max(len(self.words.values), 1)
        try:
            public = math.fsum(
                number * mechanism.expected_distance(length=length) for length, number in self.lengths.items() if length
            )
        except TooLarge:
            return None, None
        if mechanism.language.alike:  # all words of a length have the same expected distance
            return public / steps, public / steps
        if not mechanism.is_linear:  # a word costs as much as its length times that of a linear utility
            return public / steps, None
        total = 0.0
        for numbers in self.words.by_length():
            rows, times = np.unique(self.words.rows(numbers), axis=0, return_counts=True)
            total += float(times @ mechanism._distances(rows, 0).means)
        return public / steps, total / steps

    def rate(self, mechanism: Private) -> str | None:
        """The calibration that is in force for the words, with the proportion of words that have it if not all do."""
        if mechanism.releases is OutputKind.ANSWERS:
            return None
        found: Counter[str] = Counter()
        for length, number in self.lengths.items():
            calibration = mechanism.in_force(length).calibration if length else None
            if calibration is not None:
                found[calibration] += number
        if len(found) < 2:
            return next(iter(found), None)
        return f"tight {found['tight'] / found.total():.0%}"

    def _report(self, mechanism: Private, report: NamedItems, source: Private) -> Trial:
        long = np.flatnonzero(self.words.sizes >= mechanism.least_length)
        words = self.words if len(long) == len(self.words) else self.words.chosen(long)
        answers = source.release_codes(words).values.reshape(len(words), -1)
        truth = reported_proportions(words, report)
        counted = error_between(counted_answers(answers, report), truth)
        return self._with_estimate(answers, mechanism, truth, None, counted)

    def _with_estimate(
        self, released: Any, mechanism: Private, truth: Mapping[Any, float], observed: float | None, counted: float
    ) -> Trial:
        asked = self.question if mechanism.answers is None else OF_REPORTS[mechanism.answers.question]
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                found = getattr(estimate, asked)(released, mechanism)
        except (InvalidValue, TooLarge) as error:
            return Trial(observed, counted, notes=(f"no estimate: {error}",))
        proportions = {label: each.value for label, each in found.items()}
        notes = tuple(str(each.message) for each in caught if each.category is UserWarning)
        return Trial(observed, counted, error_between(proportions, truth), found.total_error, notes)

    def _counted(self, words: Ragged, mechanism: Private) -> dict[Any, float]:
        return Asked(self.question, Releases.of(words, mechanism), mechanism).counted()

    def _distance(self, released: Ragged, mechanism: Private) -> int:
        """The sum of the distances between the words and their releases."""
        if mechanism.distance == "hamming":
            return int(np.count_nonzero(released.values != self.words.values))
        pairs = Counter(zip(_texts(self.words), _texts(released), strict=True))
        return sum(number * levenshtein(*pair) for pair, number in pairs.items())


def error_between(found: Mapping[Any, float], truth: Mapping[Any, float]) -> float:
    """The sum of the absolute differences of all proportions, at most 2.

    >>> error_between({"a": 0.75, "b": 0.25}, {"a": 0.5, "c": 0.5})
    1.0
    """
    return math.fsum(abs(found.get(label, 0.0) - truth.get(label, 0.0)) for label in {*found, *truth})


def unavailable(error: DPWordsError, name: str, epsilon: float | None = None) -> str:
    """A note on a mechanism that cannot be tried."""
    return f"{name}{'' if epsilon is None else f' at ε = {epsilon:g}'} is left out: {error}"


def _texts(words: Ragged) -> list[tuple[int, ...]]:
    return [tuple(word.tolist()) for word in words]
