"""From ε to weights: how much utility a given ε buys on a given language. Proofs: docs/theory.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Literal

from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.lists import ListCertifier
from dpwords.privacy.certificates.systems import Certifier
from dpwords.privacy.utilities import Linear, Staircase, Utility, sensitivity
from dpwords.spaces.by_distance import Profile
from dpwords.spaces.free_words import FreeWords, Space, best_first_step
from dpwords.spaces.lists import Surroundings


def rounding_slack(space: Space | Surroundings) -> float:
    """What rounding may cost for each symbol of a word.

    On free words only a few weights are rounded, the same ones for all words; on a graph the weights of all nodes
    are, with at most D terms to a sum; on lists only those of the distances.
    """
    if isinstance(space, Surroundings):
        return 2.0**-49
    return 2.0**-50 if isinstance(space, FreeWords) else 4 * (space.branching + 3) * 2.0**-53


@dataclass(frozen=True)
class Calibration:
    """f(d) = exp(power · (u(d) − u(0)) / Δu), or e^(−c·d) with a certified c; public facts only.

    The power is ε/2 for the textbook mechanism, which pays the other half for the normaliser, and ε where the
    normaliser is known to be the same for all words; in all cases less the slack for rounding.
    """

    method: Literal["tight", "textbook"]
    utility: Utility
    epsilon: float
    k: int
    slack: float
    space: Space | Surroundings

    @classmethod
    def choose(
        cls,
        wanted: Literal["tight", "textbook"],
        utility: Utility | None,
        epsilon: float,
        k: int,
        space: Space | Surroundings,
    ) -> Calibration:
        """The best that is proven: tight on free words (for k > 1 a staircase), and with linear utility on systems."""
        if wanted not in ("tight", "textbook"):
            raise InvalidValue("calibration is 'tight' or 'textbook'")
        if utility is not None and not isinstance(utility, Utility):
            raise InvalidValue("utility is Linear(), Inverse(alpha) or Staircase()")
        free = isinstance(space, FreeWords)
        tight = wanted == "tight" and (free or utility is None or isinstance(utility, Linear))
        default = Staircase() if tight and free and k > 1 else Linear()
        method: Literal["tight", "textbook"] = "tight" if tight else "textbook"
        return cls(method, default if utility is None else utility, epsilon, k, rounding_slack(space), space)

    def power(self, length: int) -> Fraction:
        """What of ε is spent on weights: all or half of it, less what rounding may cost at this length."""
        rest = self.rest(length)
        return rest if self.method == "tight" else rest / 2

    def rest(self, length: int) -> Fraction:
        """ε less what rounding may cost at this length."""
        rest = Fraction(self.epsilon) - Fraction(self.slack) * length
        if rest <= 0:
            raise InvalidValue(
                f"epsilon is no larger than the {self.slack * length:.1g} that rounding may cost at this length: "
                "take a larger epsilon"
            )
        return rest

    @cached_property
    def certifier(self) -> Certifier:
        """Certificates of c for each length, where the utility is linear."""
        if not isinstance(self.utility, Linear):
            raise InvalidValue("a certificate is of c in e^(−c·d), for utility Linear(): leave out the utility")

        def epsilon(length: int) -> float:
            return math.nextafter(float(self.rest(length) / self.k), 0.0)

        textbook_only = self.method == "textbook"
        if isinstance(self.space, Surroundings):
            return ListCertifier(self.space, epsilon, textbook_only)
        return Certifier(self.space, epsilon, textbook_only)

    @property
    def in_force(self) -> Literal["tight", "textbook"]:
        """The method, but for lists whose certificate is still to be asked for."""
        waits = self.method == "tight" and isinstance(self.space, Surroundings) and not self.certifier.complete
        return "textbook" if waits else self.method


def rate(calibration: Calibration, length: int) -> Fraction:
    """c, where the utility is linear and f(d) = e^(−c·d): its sensitivity is k."""
    if calibration.method == "tight" and not isinstance(calibration.space, FreeWords):
        return Fraction(calibration.certifier.in_force(length).c)  # not kept here: a certificate may be loaded later
    return calibration.power(length) / calibration.k


def weighted_space(calibration: Calibration, space: Space, length: int) -> Space:
    """The space, with the public weights of words that go with the rate, where the utility is linear."""
    if calibration.method == "tight" and not isinstance(space, FreeWords):
        return calibration.certifier.weighted_space(length)
    return space


def profile(calibration: Calibration, length: int) -> Profile:
    """The weights of distances 0, …, length. Cost: length (times k for the best staircase), once per length."""
    if isinstance(calibration.utility, Linear):
        return Profile.linear(rate(calibration, length), length)
    return _profile(calibration, length)


@lru_cache(maxsize=64)
def _profile(calibration: Calibration, length: int) -> Profile:
    k, utility, power = calibration.k, calibration.utility, calibration.power(length)
    if isinstance(utility, Staircase) and utility.first_step is None and isinstance(calibration.space, FreeWords):
        utility = Staircase(best_first_step(length, calibration.space, k, float(power)))
    values = utility.values(length, k)
    change = sensitivity(values, k)
    return Profile(tuple(power * (values[0] - value) / change for value in values))
