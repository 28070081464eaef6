"""Utilities: how good an output is, as a function of its distance from the private word that never increases."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from numbers import Rational

import numpy as np

from dpwords.core import scaled
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.elementary import index_of_least
from dpwords.errors import InvalidValue
from dpwords.spaces.space import Space


class Utility(ABC):
    """The utility of `Exponential`. A new one must implement `values` and be listed in `mechanisms/choice.py`."""

    is_linear = False  # whether the utility is −d, for which rates can be certified

    @property
    def falls(self) -> str:
        """How probabilities fall with the distance, in words that "the distance" follows."""
        return f"by the utility {self!r} of"

    @abstractmethod
    def values(self, length: int, k: int) -> list[Fraction]:
        """The utility at distances 0, 1, …, length, exactly; each is at most the one before."""

    def fitted(self, length: int, k: int, power: Fraction, space: Space) -> Utility:
        """The same utility with the parameters that were not given chosen from public facts."""
        return self


@dataclass(frozen=True)
class Linear(Utility):
    """u = −d, where d is the distance."""

    is_linear = True

    @property
    def falls(self) -> str:
        return "exponentially with"

    def values(self, length: int, k: int) -> list[Fraction]:
        return [Fraction(-d) for d in range(length + 1)]


@dataclass(frozen=True)
class Inverse(Utility):
    """u = 1/(d + alpha), the paper's utility."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", positive_number(self.alpha, "alpha", "alpha=1.0"))

    @property
    def falls(self) -> str:
        return f"with the utility 1/(d + {self.alpha:g}), where d is"

    def values(self, length: int, k: int) -> list[Fraction]:
        alpha = Fraction(self.alpha)
        return [1 / (d + alpha) for d in range(length + 1)]


@dataclass(frozen=True)
class Staircase(Utility):
    """u = −ceil((d − j)/k): all distances up to j are as good as 0, and then there is a step every k positions.

    `first_step` is j, from 0 to k − 1. By default it is the one with the least expected distance on free words, and 0
    on systems, where the height of a step is certified.
    """

    first_step: int | None = None

    @property
    def falls(self) -> str:
        return "in steps with"

    def __post_init__(self) -> None:
        if self.first_step is not None:
            object.__setattr__(self, "first_step", whole_number(self.first_step, "first_step", least=0))

    def values(self, length: int, k: int) -> list[Fraction]:
        first = self.first_step or 0
        if first >= k:
            raise InvalidValue(f"first_step must be at most k − 1 = {k - 1}: use a smaller first_step or a larger k")
        return [Fraction(-math.ceil(Fraction(d - first, k))) for d in range(length + 1)]

    def fitted(self, length: int, k: int, power: Fraction, space: Space) -> Staircase:
        if self.first_step is not None or not space.homogeneous:
            return self
        return replace(self, first_step=best_first_step(length, k, power, space))


@dataclass(frozen=True)
class LinearOrStaircase(Utility):
    """`Linear()` or `Staircase()`, for each length the one with the smaller expected distance.

    It is the default for k > 1 on systems, where the better one depends on ε and on the system.
    """

    @property
    def falls(self) -> str:
        return "exponentially or in steps (whichever changes fewer positions) with"

    def values(self, length: int, k: int) -> list[Fraction]:
        return Linear().values(length, k)  # where neither is certified


def best_first_step(length: int, k: int, power: Fraction, space: Space) -> int:
    """The j that minimises the expected distance under the weights e^(−power · ceil((d − j)/k)).

    All words of the space must have equally many words at each distance. Cost: k · length.
    """
    distances = np.arange(length + 1)
    sizes = space.around(np.zeros(length, dtype=np.int64)).sizes
    falls = scaled.exp_minus(power * step for step in range(-(-length // k) + 1))
    means = []
    for j in range(k):
        totals = sizes.times(falls.take(-((j - distances) // k)))
        proportions = totals.relative_to(totals.exponent.max())
        means.append(float(np.cumsum(proportions * distances)[-1] / np.cumsum(proportions)[-1]))
    return index_of_least(means)


def checked_values(values: list[Fraction], length: int) -> list[Fraction]:
    """The values of a utility, if the proofs apply to them: exact, one for each distance, and never growing."""
    exact = [Fraction(value) for value in values if isinstance(value, Rational)]
    if len(exact) != len(values) or len(values) != length + 1 or any(b > a for a, b in pairwise(exact)):
        raise InvalidValue(
            "the values of a utility must be fractions, one for each distance from 0 on, that never grow with the "
            "distance: correct its method values"
        )
    return exact


def sensitivity(values: list[Fraction], k: int) -> Fraction:
    """The most that the utility of one output can change when k positions of the private word change.

    `values` never increase with the distance, and k changed positions change a distance by at most k, so this is the
    largest drop over k steps. For `Inverse` it is k / (α(k + α)), as in the paper's lemma. Cost: the length.
    """
    return max(values[d] - values[d + k] for d in range(len(values) - k))
