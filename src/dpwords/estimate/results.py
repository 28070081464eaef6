"""What estimates are: a value with an interval, and a table of them."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue
from dpwords.estimate.tuning import AT_ZERO, HOPELESS, NO_PROPORTION, OUT_OF_REACH, ROUGH, VERY_FEW
from dpwords.models.checking import Misfit
from dpwords.models.fitting import EstimateMethod

MEAN_ERROR = 0.8  # the mean absolute error of a normal variable, in standard errors
WIDEST = 0.5  # the largest standard deviation that a number between 0 and 1 can have
_OF_WORDS = ("starts", "ends", "patterns", "variants")  # proportions of words: errors are at least those of a sample
_BY_MODEL = (
    "proportions of patterns come from a model of the population ({}): the intervals leave out what such a model misses"
)


class Estimate(NamedTuple):
    """An estimated proportion, and the ends of its confidence interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ({self.low:.4g} to {self.high:.4g})"


class Estimates(dict[Any, Estimate]):
    """Estimated proportions by label, in the order of the alphabet or the system.

    `method` says how they were made, `model` which model of the population they rest on (None for an inversion, which
    needs none), and `fits` is False where the releases contradict that model. `releases` is the number of releases,
    `counted` what the releases themselves would give if they were counted as they are, `errors` the standard error of
    each proportion, `notes` what to beware of, and `rough` says whether the releases are too few for this ε.

    >>> from dpwords import Exponential, Words, estimate
    >>> mechanism = Exponential(Words("ab"), epsilon=2)
    >>> found = estimate.frequencies(mechanism.seeded(1).release_all(["abba"] * 500), mechanism)
    >>> found.method, abs(found["a"].value - 0.5) < 0.1
    ('inverse', True)
    """

    def __init__(
        self,
        items: Iterable[tuple[Any, Estimate]],
        *,
        question: str,
        method: str,
        confidence: float,
        releases: int,
        counted: Mapping[Any, float],
        errors: Mapping[Any, float] | None = None,
        model: str | None = None,
        fits: bool = True,
        notes: tuple[str, ...] = (),
        rough: bool = False,
    ) -> None:
        super().__init__(items)
        self.question, self.method, self.confidence, self.releases = question, method, confidence, releases
        self.counted, self.errors = dict(counted), dict(errors or {})
        self.model, self.fits, self.notes, self.rough = model, fits, notes, rough

    def ordered(self) -> list[Any]:
        """The labels, those with the largest proportion first; of rates, those that are at least the largest, since
        the rates of a state that is hardly ever left can be anything. Cost: sorting the labels."""
        end = 1 if self.question == "rates" else 0
        return sorted(self, key=lambda label: -self[label][end])

    @property
    def total_error(self) -> float:
        """The sum of the absolute errors to expect of the proportions that are not estimated as 0, by their
        intervals."""
        values, low, high = (np.array([each[end] for each in self.values()]) for end in range(3))
        return expected_error(values, low, high, self.confidence)


def interval_factor(confidence: object) -> float:
    """The half-width of an interval, in standard errors."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0.01 <= confidence <= 1 - 1e-9:
        raise InvalidValue(
            "confidence is a number between 0 and 1, from 0.01 to 0.999999999: pass for example confidence=0.95"
        )
    return NormalDist().inv_cdf((1 + confidence) / 2)


@dataclass(frozen=True, eq=False)
class FoundAnswers:
    """Answers to a question as a method found them, before they become a table.

    `raw` are the estimates before those of an inversion are made proportions. `answers` says of how many answers in
    true words each is a proportion; None where errors are those of a sample anyway. `least` are errors that are known
    to be too small, for where errors are not computed.
    """

    labels: Sequence[Any]
    raw: Floats
    errors: Floats
    method: EstimateMethod
    counted: Floats
    least: Floats | None = None
    model: str | None = None
    misfit: Misfit | None = None
    covariance: Floats | None = None
    answers: Floats | None = None
    notes: tuple[str, ...] = ()
    most: float = HOPELESS  # the sum of absolute errors beyond which intervals cannot be believed
    proportions: Floats | None = None  # what `raw` becomes, unless that is the nearest numbers that sum to 1

    @classmethod
    def of_model(
        cls,
        model: Any,
        labels: Sequence[Any],
        raw: Floats,
        errors: Floats,
        counted: Floats,
        least: Floats,
        covariance: Floats | None = None,
        answers: Floats | None = None,
    ) -> FoundAnswers:
        """The answers of a fitted model."""
        about = str(model.kind), model.misfit
        return cls(labels, raw, errors, model.method, counted, least, *about, covariance, answers)

    def split(self, parts: int, labels: Sequence[Any]) -> Iterator[FoundAnswers]:
        """Several tables with the same labels, one behind the other."""
        assert self.answers is not None
        names, least = (
            ("raw", "errors", "counted", "least", "answers"),
            self.errors if self.least is None else self.least,
        )
        arrays = (np.split(each, parts) for each in (self.raw, self.errors, self.counted, least, self.answers))
        for each in zip(*arrays, strict=True):
            yield replace(self, labels=labels, **dict(zip(names, each, strict=True)))

    def errors_of_none(self) -> Floats:
        """The standard errors of proportions of 0 in as many true answers."""
        none = np.zeros(len(self.raw))
        return none if self.answers is None else sampling_errors(none, np.maximum(self.answers, 1.0))

    def total_error(self) -> float:
        """The sum of the absolute errors to expect of all proportions."""
        return MEAN_ERROR * float(np.nansum(self.errors))

    def contradicts(self, other: FoundAnswers) -> bool:
        """Whether other estimates are further from these than the errors of both explain (Hausman's test).

        If the others are right and efficient, the squared distance from these is on average the sum of the differences
        of the variances, and nearly a multiple of χ² (Satterthwaite); more than its 95 % quantile is a contradiction.
        What one answer more or less would change is none.
        """
        apart = self.raw - other.raw
        assert self.answers is not None
        variances = np.maximum(self.errors, 1 / np.maximum(self.answers, 1.0)) ** 2
        scale, degrees = (variances**2).sum() / variances.sum(), variances.sum() ** 2 / (variances**2).sum()
        return bool((apart**2).sum() > scale * _chi_squared(float(degrees)))


def _chi_squared(degrees: float) -> float:
    """The 95 % quantile of the χ² distribution, by the approximation of Wilson and Hilferty."""
    third = 2 / (9 * degrees)
    return float(degrees * (1 - third + 1.645 * np.sqrt(third)) ** 3)


def estimates(found: FoundAnswers, *, confidence: float, releases: int, question: str) -> Estimates:
    """A table of estimates. Intervals are around `raw`, the estimates before those of an inversion are made
    proportions.

    Where errors are not computed, estimates are refused or called rough by those that are known to be too small.
    Patterns are questions of their own each, so that the least certain one counts. Intervals of proportions of words,
    and all intervals from very few releases, are at least as wide as those of a sample of as many words without noise;
    all others are at least those of what none of as many true answers is.
    Raises `InvalidValue` if the errors are as large as they can be.
    """
    labels, raw, errors, method, counted, least = (
        found.labels,
        found.raw,
        found.errors,
        found.method,
        found.counted,
        found.least,
    )
    proportions = raw
    if method is EstimateMethod.INVERSE:
        proportions = on_simplex(raw) if found.proportions is None else found.proportions
    possible = (proportions > 0) | (method is EstimateMethod.INVERSE)  # fitted ones are 0 only where they must be
    sampled = releases < VERY_FEW or question in _OF_WORDS
    least_of_sample = sampling_errors(proportions, releases) if sampled else found.errors_of_none()
    standard = np.maximum(errors, np.where(possible, least_of_sample, 0.0))
    half = interval_factor(confidence) * standard
    low, high = within_bounds(raw, half)
    low, high = np.minimum(low, proportions), np.maximum(high, proportions)
    names = list(labels)
    known = errors if least is None else np.where(np.isnan(errors), least, errors)
    counting = known[(proportions >= AT_ZERO) | (raw != proportions)]
    if question == "variants":
        counting = np.append(counting, np.hypot.reduce(counting))  # what is left for all other words
    apart = question == "patterns"
    expected = MEAN_ERROR * float(np.nanmax(counting, initial=0.0) if apart else np.nansum(counting))
    _refuse_useless(found, expected, releases)
    notes = []
    if expected > ROUGH:
        off_by, most, off = "a proportion is", 1, expected
        if not apart:
            off_by, most, off = "all proportions together are", 2, expected_error(proportions, low, high, confidence)
        notes.append(
            f"the estimates are rough: {releases:,} releases are few for this ε, and {off_by} off by about "
            f"{expected if math.isnan(off) else off:.1f} (of at most {most})"
        )
    if releases < VERY_FEW:
        notes.append(f"{releases:,} releases are very few: intervals are rough")
    if apart:
        notes.append(_BY_MODEL.format(found.model))
    if np.isnan(errors).any():
        notes.append("intervals are not computed for so many parameters: merge symbols or states, or use fewer")
    at_zero, number = int(np.count_nonzero(possible & (proportions < AT_ZERO))), int(np.count_nonzero(possible))
    if 0 < at_zero < number and not np.isnan(errors).any() and method is not EstimateMethod.COUNTED:
        notes.append(
            f"{at_zero:,} of {number:,} proportions {'is' if at_zero == 1 else 'are'} estimated as 0, the least "
            "possible value: intervals near it can be too short"
        )
    for note in notes[:1] if expected > ROUGH else ():
        warnings.warn(note, stacklevel=4)
    if found.misfit is not None:
        misfit = (
            f"the model ({found.model}) does not fit: {found.misfit}; proportions that depend on what it misses can"
        )
        notes.insert(0, f"{misfit} be further off than their intervals say")
    notes += found.notes
    none = proportions < NO_PROPORTION
    proportions, low = np.where(none, 0.0, proportions), np.where(none & ~np.isnan(low), 0.0, low)
    rows = (Estimate(float(v), float(a), float(b)) for v, a, b in zip(proportions, low, high, strict=True))
    return Estimates(
        zip(names, rows, strict=True),
        confidence=confidence,
        releases=releases,
        counted=dict(zip(names, counted.tolist(), strict=True)),
        errors=dict(zip(names, standard.tolist(), strict=True)),
        model=found.model,
        fits=found.misfit is None,
        notes=tuple(notes),
        rough=expected > ROUGH,
        question=question,
        method=method,
    )


def _refuse_useless(found: FoundAnswers, expected: float, releases: int) -> None:
    """Raise `InvalidValue` if estimates that are expected to be off by so much, together, are of no use."""
    if expected >= HOPELESS:
        raise hopeless(expected, releases)
    if expected <= found.most:
        return
    if found.method is EstimateMethod.CORRECTED:
        raise InvalidValue(
            f"nothing reliable can be estimated from {releases:,} releases at this ε: the mechanism's normalising "
            "constant depends on the private word, and the releases tell too little to correct for it; release with a "
            "larger ε, or with Online"
        )
    raise InvalidValue(
        f"nothing reliable can be estimated from {releases:,} releases at this ε: fitted proportions would be off by "
        f"about {expected:.1f}, all together, and no interval would say so; collect more of them, or release with a "
        "larger ε"
    )


def within_bounds(raw: Floats, half: Floats) -> tuple[Floats, Floats]:
    """The intervals, between 0 and 1, of proportions whose normal likelihood is at most so much below its largest value
    there, given the half-widths that they would have without these bounds. So they are never empty.

    >>> [ends.round(2).tolist() for ends in within_bounds(np.array([0.5, 0.0, -0.3]), np.array([0.4, 0.4, 0.4]))]
    [[0.1, 0.0, 0.0], [0.9, 0.4, 0.2]]
    """
    high = np.where(raw < 0, raw + np.hypot(raw, half), raw + half)
    low = np.where(raw > 1, raw - np.hypot(raw - 1, half), raw - half)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def expected_error(values: Floats, low: Floats, high: Floats, confidence: float) -> float:
    """The sum of the absolute errors to expect of the proportions that are not estimated as 0, by their intervals."""
    return MEAN_ERROR * math.fsum((high - low)[values >= AT_ZERO]) / (2 * interval_factor(confidence))


def errors_rough(errors: Floats) -> bool:
    """Whether proportions with these errors are called rough."""
    return bool(MEAN_ERROR * float(np.nansum(errors)) > ROUGH)


def hopeless(expected: float, releases: int) -> InvalidValue:
    """The error that refuses estimates whose proportions are together expected to be off by so much."""
    times = (expected / ROUGH) ** 2
    remedy = "release with a larger ε, since even a million times as many releases would not do"
    if times <= OUT_OF_REACH:
        remedy = f"collect about {max(2, int(times) + 1):,} times as many releases, or release with a larger ε"
    return InvalidValue(
        f"nothing can be estimated from {releases:,} releases at this ε: the errors would be as large as the "
        f"proportions; {remedy}"
    )


def sampling_errors(proportions: Floats, releases: float | Floats) -> Floats:
    """The standard errors that proportions of a sample have without any noise, those of 0 and 1 included.

    They are binomial ones, as if two more words had been found with and two without each property.

    >>> sampling_errors(np.array([0.0, 0.5]), 96).round(4).tolist()
    [0.0143, 0.051]
    """
    likely = (releases * proportions + 2) / (releases + 4)
    return np.asarray(np.sqrt(likely * (1 - likely) / releases))


def on_simplex(values: Floats) -> Floats:
    """The nearest numbers, in the sum of squares, that are at least 0 and sum to 1. Cost: n log n.

    >>> on_simplex(np.array([0.7, 0.5, -0.2])).tolist()
    [0.6, 0.4, 0.0]
    """
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - 1) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(ordered > excess)[-1])
    return np.asarray(np.maximum(values - excess[last], 0.0)).round(15)
