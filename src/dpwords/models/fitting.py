"""Expectation–maximisation: the population that makes the releases most likely.

A step computes how often each parameter is expected to have been used, given the releases, and takes these numbers,
divided by their sum in each state, as the new parameters. The likelihood never falls. Steps are extrapolated (SQUAREM);
an extrapolation that lowers the likelihood is dropped.

Where releases tell little, steps become small long before they end: each gains nearly as much as the one before. So the
search does not end when a step gains little, but when all steps to come would. If steps shrink by a factor r, their
gains shrink by r², and what a step gains is a proportion 1 − r² of what is missing to the largest likelihood.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.models.tuning import MISSING, MOST_STEPS, PATIENCE

_LEAST = 1e-9  # expected uses that are added to each parameter, since a parameter of 0 would remain 0

ProgressLine = Callable[[str], None]


class EstimateMethod(StrEnum):
    """How estimates are made. A value is equal to, and shown as, the text that users pass and read."""

    __repr__ = str.__repr__

    AUTO = "auto"  # the best one of the next two
    INVERSE = "inverse"  # counts, with the noise taken off
    EM = "em"  # a chain, fitted by expectation–maximisation
    CORRECTED = "em, corrected"  # the same, where the normalising constant depends on the private word
    COUNTED = "counted"  # where there is no noise


MethodName = EstimateMethod | Literal["auto", "inverse", "em"]  # as users pass it


class Likelihood(Protocol):
    """Releases, and what they tell about the parameters of a population."""

    @property
    def groups(self) -> Integers:
        """For each parameter, the number of its group: the parameters of a group sum to 1."""

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all releases, and the expected number of uses of each parameter."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A population fitted to releases."""

    chances: Floats
    log_likelihood: float
    steps: int
    converged: bool


@dataclass(frozen=True, eq=False)
class Shrunk:
    """Releases, and pseudo-counts that shrink the chances of a population to others (a Dirichlet prior)."""

    evidence: Likelihood
    pseudo: Floats

    @property
    def groups(self) -> Integers:
        """For each parameter, the number of its group."""
        return self.evidence.groups

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood with that of the prior, and the expected uses with the pseudo-counts."""
        found, uses = self.evidence.expected(chances)
        prior = self.pseudo @ np.log(np.maximum(chances, 1e-300))
        return found + float(prior), uses + self.pseudo


def shrunk(evidence: Likelihood, pseudo: Floats | None) -> Likelihood:
    """Releases with pseudo-counts, if there are any."""
    return evidence if pseudo is None else Shrunk(evidence, pseudo)


def normalised(uses: Floats, groups: Integers) -> Floats:
    """The uses of each parameter, divided by those of its group."""
    positive = uses + _LEAST
    return np.asarray(positive / np.bincount(groups, positive)[groups])


def _missing(gain: float, step: float, next_step: float) -> float:
    """What is likely to be missing to the largest log-likelihood, from the squared lengths of two steps.

    Steps that grow tell nothing about it: they lead away from a saddle point.
    """
    return gain * step / (step - next_step) if next_step < step else np.inf if step > 0 else 0.0


def fit(
    evidence: Likelihood,
    start: Floats,
    progress: ProgressLine | None = None,
    most: int = MOST_STEPS,
    enough: float = MISSING,
    patience: int = PATIENCE,
) -> Fit:
    """The parameters with the largest likelihood that steps from `start` lead to. Cost: a pass for each step.

    The search ends when so much as `enough` seems to be missing at most, `patience` times in a row.
    """
    groups, chances, steps, near = evidence.groups, start, 0, 0
    found, uses = evidence.expected(chances)
    while steps < most:
        first = normalised(uses, groups)
        after_first, uses_first = evidence.expected(first)
        second = normalised(uses_first, groups)
        change, next_change = first - chances, second - first
        bend = next_change - change
        length = float(np.sqrt((change @ change) / max(float(bend @ bend), 1e-300)))
        missing = _missing(after_first - found, float(change @ change), float(next_change @ next_change))
        steps += 1
        best = second
        if length > 1:
            leap = normalised(np.maximum(chances + 2 * length * change + length**2 * bend, 0.0), groups)
            reached, uses_leap = evidence.expected(leap)
            steps += 1
            if reached >= found:
                best = normalised(uses_leap, groups)
        value, uses = evidence.expected(best)
        steps += 1
        if value < found:  # the leap went up, the step after it may not go down
            value, uses = evidence.expected(second)
            best, steps = second, steps + 1
        chances, found = best, value
        if progress is not None:
            progress(f"step {steps}: log-likelihood {found:.2f}")
        near = near + 1 if missing < enough else 0
        if near >= patience:
            return Fit(chances, found, steps, True)
    return Fit(chances, found, steps, False)
