"""From ε to weights: how much utility a given ε buys on a given language. Proofs: docs/theory.md."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from dpwords.errors import InvalidValue
from dpwords.laws import FreeWords, Profile, Space, best_first_step
from dpwords.privacy import Linear, Staircase, Utility, sensitivity


def rounding_slack(space: Space) -> float:
    """What rounding may cost for each symbol of a word.

    On free words only the n + 1 shell weights are rounded, and they are the same for all words; on a graph the
    weights of all nodes are, with at most D terms to a sum.
    """
    return 2.0**-50 if isinstance(space, FreeWords) else 4 * (space.branching + 3) * 2.0**-53


@dataclass(frozen=True)
class Calibration:
    """f(d) = exp(share · ε · (u(d) − u(0)) / Δu), with ε less the slack; public facts only.

    `share` is 1/2 for the textbook mechanism, which pays the other half for the normaliser, and 1 where the
    normaliser is known to be the same for all words.
    """

    method: Literal["tight", "textbook"]
    utility: Utility
    epsilon: float
    k: int
    slack: float
    free: FreeWords | None  # the space, if all words are in the language

    @classmethod
    def choose(
        cls,
        wanted: Literal["tight", "textbook"],
        utility: Utility | None,
        epsilon: float,
        k: int,
        space: Space,
    ) -> Calibration:
        """The best that is proven: tight on free words (staircase, unless a utility is given), textbook elsewhere."""
        if wanted not in ("tight", "textbook"):
            raise InvalidValue("calibration is 'tight' or 'textbook'")
        if utility is not None and not isinstance(utility, Utility):
            raise InvalidValue("utility is Linear(), Inverse(alpha) or Staircase()")
        free = space if isinstance(space, FreeWords) else None
        tight = wanted == "tight" and free is not None
        default = Staircase() if tight else Linear()
        method: Literal["tight", "textbook"] = "tight" if tight else "textbook"
        return cls(method, default if utility is None else utility, epsilon, k, rounding_slack(space), free)

    @property
    def share(self) -> Fraction:
        return Fraction(1) if self.method == "tight" else Fraction(1, 2)

    def usable(self, length: int) -> Fraction:
        """ε less what rounding may cost at this length."""
        rest = Fraction(self.epsilon) - Fraction(self.slack) * length
        if rest <= 0:
            raise InvalidValue(
                f"epsilon is no larger than the {self.slack * length:.1g} that rounding may cost at this length: "
                "take a larger epsilon"
            )
        return rest


@lru_cache(maxsize=64)
def profile(calibration: Calibration, length: int) -> Profile:
    """The weights of distances 0, …, length. Cost: length (times k for the best staircase), once per length."""
    k, power = calibration.k, calibration.share * calibration.usable(length)
    utility = calibration.utility
    if isinstance(utility, Staircase) and utility.first_step is None and calibration.free is not None:
        utility = replace(utility, first_step=best_first_step(length, calibration.free.symbols, k, float(power)))
    values = utility.values(length, k)
    change = sensitivity(values, k)
    return Profile(tuple(power * (values[0] - value) / change for value in values))
