"""What is promised, and in terms of what: adjacency, utilities, sensitivity, guarantees."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpwords.checks import positive_number, whole_number
from dpwords.errors import InvalidValue

LARGEST_EPSILON = 1e6
Distance = Literal["hamming", "levenshtein"]
_APART = {"hamming": "that differ in d places", "levenshtein": "d edits apart (insertions, deletions, substitutions)"}


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


@dataclass(frozen=True)
class PureDP:
    """For every pair of words x, x′ of the language and every output: |ln p(w;x)/p(w;x′)| ≤ ε · ceil(d(x, x′)/k).

    The claim is for the program as it runs. `slack` is what rounding may cost for each symbol of the word (under
    Levenshtein distance, of the longest word); slack · length is taken off ε before the weights are chosen, so it is
    inside the claim, not on top of it.
    """

    epsilon: float
    distance: Distance
    k: int
    slack: float
    method: Literal["tight", "textbook", "online", "channel"]

    def loss(self, distance: int) -> float:
        """The most that one output tells between two words this far apart."""
        return self.epsilon * math.ceil(whole_number(distance, "a distance", 0) / self.k)

    def __str__(self) -> str:
        return (
            f"ε = {self.epsilon:g}, k = {self.k}: two words {_APART[self.distance]} give any output with "
            f"probabilities within a factor e^(ε·ceil(d/k)) ({self.method})"
        )


@dataclass(frozen=True)
class NotPrivate:
    """No promise. `nominal` is the ε that was asked for; `true_epsilon(length)` is what is lost, where that is known.

    It cannot be composed with, or counted as, a guarantee.
    """

    reason: str
    nominal: float
    k: int
    measure: Callable[[int], float] | None = field(default=None, repr=False, compare=False)

    def true_epsilon(self, length: int) -> float:
        """The largest log-ratio over all outputs and all pairs of words that differ in at most k places."""
        if self.measure is None:
            raise InvalidValue(f"the true ε is not known here: {self.reason}")
        return self.measure(length)

    def __str__(self) -> str:
        return f"not private: {self.reason}"


Guarantee = PureDP | NotPrivate


def checked_epsilon(epsilon: object, zero_allowed: bool = False) -> float:
    """ε as a float, if it is a finite number above 0 (or 0, where that is allowed)."""
    number = positive_number(epsilon, "epsilon", "epsilon=1.0", zero_allowed)
    if number > LARGEST_EPSILON:
        raise InvalidValue(f"epsilon is at most {LARGEST_EPSILON:g}: beyond that nothing would be hidden")
    return number
