"""Guarantees: what a mechanism promises, and the budget that it may spend."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue

LARGEST_EPSILON = 1e6
_APART = {"hamming": "that differ in d places", "levenshtein": "d edits apart (insertions, deletions, substitutions)"}


@dataclass(frozen=True)
class Budget:
    """The privacy budget: ε for words at distance up to `k`, of which rounding may cost `slack` for each symbol."""

    epsilon: float
    k: int
    slack: float

    def rest(self, length: int) -> Fraction:
        """ε minus what rounding may cost at this length, as an exact fraction; it must be positive."""
        rest = Fraction(self.epsilon) - Fraction(self.slack) * length
        if rest <= 0:
            raise InvalidValue(
                f"epsilon must be larger than the {self.slack * length:.1g} that rounding may cost at this length: "
                "use a larger epsilon"
            )
        return rest

    def per_place(self, length: int) -> float:
        """`rest(length)` divided by k, rounded down: what each place that differs may cost."""
        return math.nextafter(float(self.rest(length) / self.k), 0.0)


@dataclass(frozen=True)
class PureDP:
    """For every pair of words x, x′ of the language and every output: |ln p(w;x)/p(w;x′)| ≤ ε · ceil(d(x, x′)/k).

    The claim holds for the program as it runs, with all its rounding. `slack` is what rounding may cost for each symbol
    of the word (under Levenshtein distance, of the longest word); slack · length is subtracted from ε before the
    weights are chosen, so it is part of the claimed ε and not an addition to it.
    """

    epsilon: float
    distance: Distance
    k: int
    slack: float
    method: Literal["tight", "textbook", "online", "channel", "best"]

    def loss(self, distance: int) -> float:
        """The largest privacy loss |ln p(w;x)/p(w;x′)| for two words at this distance."""
        return self.epsilon * math.ceil(whole_number(distance, "a distance", 0) / self.k)

    def __str__(self) -> str:
        return (
            f"ε = {self.epsilon:g}, k = {self.k}: two words {_APART[self.distance]} give any output with "
            f"probabilities within a factor e^(ε·ceil(d/k)) ({self.method})"
        )


@dataclass(frozen=True)
class NotPrivate:
    """The absence of a guarantee, for a stated reason; it cannot be composed with, or counted as, a guarantee.

    `nominal` is the ε that was requested; `true_epsilon(length)` is the actual privacy loss, if it is known.
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
    """ε as a float, if it is a finite number above 0 (or 0, if that is allowed) and not above `LARGEST_EPSILON`."""
    number = positive_number(epsilon, "epsilon", "epsilon=1.0", zero_allowed)
    if number > LARGEST_EPSILON:
        raise InvalidValue(f"epsilon must be at most {LARGEST_EPSILON:g}: beyond that nothing would be hidden")
    return number


def loss_by_distance(logs: Floats, k: int) -> float:
    """The true ε of a mechanism whose probability of an output depends only on its distance, as on free words.

    `logs` are the log-probabilities of a single output at distances 0, …, n, all those at which there are words.
    Cost: n · k.
    """
    gaps = (np.abs(logs[lag:] - logs[:-lag]).max() for lag in range(1, min(k, len(logs) - 1) + 1))
    return float(max(gaps, default=0.0))
