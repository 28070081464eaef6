"""Differences between two populations, each estimated from releases of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from dpwords.errors import InvalidValue
from dpwords.estimate.results import MEAN_ERROR, Estimate, Estimates, interval_factor, sampling_errors
from dpwords.estimate.tuning import AT_ZERO

_INCOMPLETE = ("variants", "rates")  # a label that is missing there is not known to be 0
_KINDS = {"visits": "states", "transitions": "steps", "rates": "steps", "dfg": "pairs of symbols", "lengths": "lengths"}


class Differences(Estimates):
    """Differences between proportions of two populations, by label: values and intervals are between −1 and 1.

    `of` are the numbers of releases of the two, and `found` the labels that at least one of them seems to have.
    `counted` is the difference between the plain counts, and the other attributes are those of `Estimates`, for both
    together.

    >>> from dpwords import Exponential, Words, estimate
    >>> mechanism = Exponential(Words("ab"), epsilon=3)
    >>> releases = [mechanism.seeded(1).release_all([word] * 500) for word in ("aaab", "abbb")]
    >>> found = estimate.difference(*[estimate.frequencies(each, mechanism) for each in releases])
    >>> found.of, found["a"].low < 0.5 < found["a"].high
    ((500, 500), True)
    """

    of: tuple[int, int] = (0, 0)
    found: Sequence[Any] = ()

    @property
    def total_error(self) -> float:
        """The sum of the absolute errors to expect of the differences, but for those of what neither seems to have."""
        return MEAN_ERROR * math.fsum(self.errors[label] for label in self.found)

    @property
    def beyond_chance(self) -> list[Any]:
        """The labels whose interval does not contain 0. Each interval is one for its label alone: of many labels
        without any difference, a proportion of 1 − confidence is expected here."""
        return [label for label, each in self.items() if each.low > 0 or each.high < 0]


@overload
def difference(one: Estimates, other: Estimates, *, confidence: float | None = None) -> Differences: ...


@overload
def difference(
    one: Sequence[Estimates], other: Sequence[Estimates], *, confidence: float | None = None
) -> list[Differences]: ...


def difference(
    one: Estimates | Sequence[Estimates], other: Estimates | Sequence[Estimates], *, confidence: float | None = None
) -> Differences | list[Differences]:
    """How much larger the proportions of one population are than those of another, with confidence intervals.

    Both are answers to the same question, from releases that are independent of each other: of different people, or at
    least of words that have nothing to do with each other. The mechanisms, their ε and the numbers of releases may
    differ. Tables by position are compared position by position. `confidence` is that of `one` unless it is passed.

    A label that only one of the two has counts as 0 in the other. If it is a symbol, a state or a step, words of the
    other language cannot have it, so that this 0 is certain; if it is a length, none of the other's words had it, and
    the 0 has the error of a sample. A note says how many there are. Variants and rates that only one of the two has are
    left out, since nothing is known of them in the other. Patterns have to be the same.

    Cost: the number of labels.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=2)
    >>> before = dw.estimate.frequencies(mechanism.seeded(3).release_all(["aab"] * 1000), mechanism)
    >>> after = dw.estimate.frequencies(mechanism.seeded(4).release_all(["abb"] * 1000), mechanism)
    >>> print(dw.estimate.difference(before, after)["a"])
    0.3401 (0.3182 to 0.3619)
    """
    if isinstance(one, Estimates) and isinstance(other, Estimates):
        return _difference(one, other, confidence)
    tables = [each if isinstance(each, (list, tuple)) else (each,) for each in (one, other)]
    if not all(tables) or not all(isinstance(table, Estimates) for each in tables for table in each):
        raise InvalidValue("differences are those of two estimates: pass for example what frequencies returned, twice")
    if isinstance(one, Estimates) or isinstance(other, Estimates):
        raise InvalidValue("estimates by position are compared with estimates by position: pass two of the same kind")
    if len(one) != len(other):
        raise InvalidValue(
            f"one has a table for each of {len(one)} positions, and the other for each of {len(other)}: compare words "
            "of the same length"
        )
    return [_difference(first, second, confidence) for first, second in zip(one, other, strict=True)]


def _difference(one: Estimates, other: Estimates, confidence: float | None) -> Differences:
    if isinstance(one, Differences) or isinstance(other, Differences):
        raise InvalidValue("differences of proportions are computed, not differences of differences: pass estimates")
    if one.question != other.question:
        raise InvalidValue(
            f"one answers {one.question} and the other {other.question}: ask both the same question to compare them"
        )
    labels = [*one, *(label for label in other if label not in one)]
    alone = sum((label in one) != (label in other) for label in labels)
    unknown = one.question in _INCOMPLETE and alone < len(labels)
    if unknown:
        labels = [label for label in one if label in other]
    if alone and one.question == "patterns":
        raise InvalidValue("the two were asked about different patterns: ask both for the same ones")
    if alone == len(labels) and one.question == "variants":
        raise InvalidValue("no variant was found in both: ask for more variants, or compare pairs of symbols (dfg)")
    if alone == len(labels):
        raise InvalidValue(
            f"the two have different {_KINDS.get(one.question, 'symbols')}, and none in common: compare words over the "
            "same alphabet or system"
        )
    sure = one.confidence if confidence is None else confidence
    factor, found, errors = interval_factor(sure), {}, {}
    for label in labels:
        (first, its_error), (second, other_error) = _part(one, label), _part(other, label)
        value, errors[label] = first - second, math.hypot(its_error, other_error)
        half = factor * errors[label]
        found[label] = Estimate(value, _within(value - half), _within(value + half))
    notes = [f"{name}: {text}" for name, each in (("the first", one), ("the second", other)) for text in each.notes]
    notes.sort(key=lambda text: "does not fit: " not in text)  # what matters most first
    if unknown and alone:
        notes.append(f"{alone} {one.question} are estimated in one of the two only, and are left out")
    elif alone:
        notes.append(
            f"the two have different {_KINDS.get(one.question, 'symbols')}: {alone:,} of {len(labels):,} occur in "
            "one of them only, and count as 0 in the other"
        )
    made = Differences(
        found.items(),
        question=one.question,
        method=_both(one.method, other.method) or "",
        confidence=sure,
        releases=one.releases + other.releases,
        counted={label: one.counted.get(label, 0.0) - other.counted.get(label, 0.0) for label in labels},
        errors=errors,
        model=_both(one.model, other.model),
        fits=one.fits and other.fits,
        notes=tuple(notes),
        rough=one.rough or other.rough,
    )
    made.of = one.releases, other.releases
    made.found = [label for label in labels if max(_part(one, label)[0], _part(other, label)[0]) >= AT_ZERO]
    return made


def _part(table: Estimates, label: Any) -> tuple[float, float]:
    """The proportion of a label and its standard error, NaN if that is not known."""
    if label in table:
        return table[label].value, table.errors.get(label, math.nan)
    error = sampling_errors(np.zeros(1), table.releases)[0] if table.question == "lengths" else 0.0
    return 0.0, float(error)


def _both(one: str | None, other: str | None) -> str | None:
    """What holds for both, as in "inverse", or "inverse and em"."""
    return " and ".join(dict.fromkeys(str(each) for each in (one, other) if each is not None)) or None


def _within(value: float) -> float:
    return value if math.isnan(value) else min(max(value, -1.0), 1.0)
