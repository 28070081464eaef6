"""How good an output is, by its distance from the private word."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpwords.core.checks import positive_number, whole_number
from dpwords.errors import InvalidValue


@dataclass(frozen=True)
class Linear:
    """u = −d."""

    def values(self, length: int, k: int) -> list[Fraction]:
        """The utility at distances 0, 1, …, length, exactly."""
        return [Fraction(-d) for d in range(length + 1)]


@dataclass(frozen=True)
class Inverse:
    """u = 1/(d + alpha), the paper's utility."""

    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", positive_number(self.alpha, "alpha", "alpha=1.0"))

    def values(self, length: int, k: int) -> list[Fraction]:
        """The utility at distances 0, 1, …, length, exactly."""
        alpha = Fraction(self.alpha)
        return [1 / (d + alpha) for d in range(length + 1)]


@dataclass(frozen=True)
class Staircase:
    """u = −ceil((d − j)/k): all distances up to j are as good as 0, then one step every k.

    `first_step` is j, from 0 to k − 1. Left out, it is the one with the least expected distance on free words, and 0
    on systems.
    """

    first_step: int | None = None

    def __post_init__(self) -> None:
        if self.first_step is not None:
            object.__setattr__(self, "first_step", whole_number(self.first_step, "first_step", least=0))

    def values(self, length: int, k: int) -> list[Fraction]:
        """The utility at distances 0, 1, …, length, exactly."""
        first = self.first_step or 0
        if first >= k:
            raise InvalidValue(f"first_step is at most k − 1 = {k - 1}: take a smaller first_step or a larger k")
        return [Fraction(-math.ceil(Fraction(d - first, k))) for d in range(length + 1)]


Utility = Linear | Inverse | Staircase
"""How good an output at distance d is: a number that never grows with d."""


def sensitivity(values: list[Fraction], k: int) -> Fraction:
    """The most that the utility of one output can change when k places of the word do.

    `values` fall with the distance, and k changed places move a distance by at most k, so it is the largest drop
    over k steps. For `Inverse` it equals the paper's lemma, k / (α(k + α)). Cost: the length.
    """
    return max(values[d] - values[d + k] for d in range(len(values) - k))
