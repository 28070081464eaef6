"""What estimates are: a value with an interval, and a table of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue
from dpwords.estimate.tuning import AT_ZERO, HOPELESS, NO_PROPORTION, OUT_OF_REACH, ROUGH, UNRELIABLE, VERY_FEW
from dpwords.models.fitting import EstimateMethod

_MEAN_ERROR = 0.8  # the mean absolute error of a normal variable, in standard errors
_OF_WORDS = ("starts", "ends", "patterns")  # proportions of words: errors are at least those of a sample of words
_BY_CHAIN = (
    "proportions of patterns come from a Markov chain, in which a symbol depends on the one before it only: the "
    "intervals leave out what such a chain misses"
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

    `method` says how they were made, `releases` from how many releases, `counted` what the releases themselves would
    give if they were counted as they are, `notes` what to beware of, and `rough` whether the releases are too few for
    this ε.

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
        notes: tuple[str, ...] = (),
        rough: bool = False,
    ) -> None:
        super().__init__(items)
        self.question, self.method, self.confidence, self.releases = question, method, confidence, releases
        self.counted, self.notes, self.rough = dict(counted), notes, rough

    @property
    def total_error(self) -> float:
        """The sum of the absolute errors to expect of the proportions that are not estimated as 0, by their
        intervals."""
        wide = 2 * interval_factor(self.confidence)
        return _MEAN_ERROR * sum(each.high - each.low for each in self.values() if each.value >= AT_ZERO) / wide


def interval_factor(confidence: object) -> float:
    """The half-width of an interval, in standard errors."""
    if isinstance(confidence, bool) or not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        raise InvalidValue("confidence is a number between 0 and 1: pass for example confidence=0.95")
    return NormalDist().inv_cdf((1 + confidence) / 2)


def estimates(
    labels: Iterable[Any],
    raw: Floats,
    errors: Floats,
    least: Floats | None = None,
    *,
    confidence: float,
    counted: Floats,
    releases: int,
    question: str,
    method: EstimateMethod,
) -> Estimates:
    """A table of estimates. Intervals are around `raw`, the estimates before those of an inversion are made
    proportions.

    `least` are errors that are known to be too small; where errors are not computed, estimates are refused or called
    rough by these. Patterns are questions of their own each, so that the least certain one counts. Intervals of
    proportions of words, and all intervals from very few releases, are at least as wide as those of a sample of as many
    words without noise. Raises `InvalidValue` if the errors are as large as they can be.
    """
    proportions = on_simplex(raw) if method is EstimateMethod.INVERSE else raw
    possible = (proportions > 0) | (method is EstimateMethod.INVERSE)  # fitted ones are 0 only where they must be
    sampled = releases < VERY_FEW or question in _OF_WORDS
    of_sample = np.where(possible, sampling_errors(proportions, releases), 0.0) if sampled else 0.0
    half = interval_factor(confidence) * np.maximum(errors, of_sample)
    low = np.clip(np.minimum(raw - half, proportions), 0.0, 1.0)
    high = np.clip(np.maximum(raw + half, proportions), 0.0, 1.0)
    names = list(labels)
    known = errors if least is None else np.where(np.isnan(errors), least, errors)
    counting = known[(proportions >= AT_ZERO) | (raw != proportions)]
    apart = question == "patterns"
    expected = _MEAN_ERROR * float(np.nanmax(counting, initial=0.0) if apart else np.nansum(counting))
    notes = []
    if expected >= HOPELESS:
        raise hopeless(expected, releases)
    if expected > UNRELIABLE and method is EstimateMethod.CORRECTED:
        raise InvalidValue(
            f"nothing reliable can be estimated from {releases} releases at this ε: the mechanism's "
            "normalising constant depends on the private word, and the releases tell too little to correct for it; "
            "release with a larger ε, or with "
            "Online"
        )
    if expected > ROUGH:
        off_by = "a proportion is" if apart else "all proportions together are"
        most = 1 if apart else 2
        notes.append(
            f"the estimates are rough: {releases} releases are few for this ε, and {off_by} off by about "
            f"{expected:.1f} (of at most {most})"
        )
    if releases < VERY_FEW:
        notes.append(f"{releases} releases are very few: intervals are rough")
    if apart:
        notes.append(_BY_CHAIN)
    if np.isnan(errors).any():
        notes.append("intervals are not computed for so many parameters: merge symbols or states, or use fewer")
    at_zero, number = int(np.count_nonzero(possible & (proportions < AT_ZERO))), int(np.count_nonzero(possible))
    if 0 < at_zero < number and not np.isnan(errors).any() and method is not EstimateMethod.COUNTED:
        notes.append(
            f"{at_zero} of {number} proportions are estimated as 0, the least possible value: intervals near it can be "
            "too short"
        )
    for note in notes[:1] if expected > ROUGH else ():
        warnings.warn(note, stacklevel=4)
    none = proportions < NO_PROPORTION
    proportions, low = np.where(none, 0.0, proportions), np.where(none & ~np.isnan(low), 0.0, low)
    found = (Estimate(float(v), float(a), float(b)) for v, a, b in zip(proportions, low, high, strict=True))
    return Estimates(
        zip(names, found, strict=True),
        confidence=confidence,
        releases=releases,
        counted=dict(zip(names, counted.tolist(), strict=True)),
        notes=tuple(notes),
        rough=expected > ROUGH,
        question=question,
        method=method,
    )


def hopeless(expected: float, releases: int) -> InvalidValue:
    """The error that refuses estimates whose proportions are together expected to be off by so much."""
    times = (expected / ROUGH) ** 2
    remedy = "release with a larger ε, since even a million times as many releases would not do"
    if times <= OUT_OF_REACH:
        remedy = f"collect about {max(2, int(times) + 1)} times as many releases, or release with a larger ε"
    return InvalidValue(
        f"nothing can be estimated from {releases} releases at this ε: the errors would be as large as the "
        f"proportions; {remedy}"
    )


def sampling_errors(proportions: Floats, releases: float) -> Floats:
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
