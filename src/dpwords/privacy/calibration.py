"""From ε to weights: how much utility a given ε buys on a given language. Proofs: docs/theory.md."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.certificate import Certificate
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.lists import ListCertifier
from dpwords.privacy.certificates.systems import EitherCertifier, FreeCertifier, StaircaseCertifier, SystemCertifier
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.methods import CalibrationMethod, CalibrationName, Method
from dpwords.privacy.utilities import Linear, LinearOrStaircase, Staircase, Utility, checked_values, sensitivity
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.lists import FiniteSpace
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Space, Weights

TIGHT, TEXTBOOK = CalibrationMethod
_CERTIFIERS: tuple[tuple[type[Space], type[Certifier]], ...] = (
    (FreeWords, FreeCertifier), (Runs, SystemCertifier), (FiniteSpace, ListCertifier),
)  # fmt: skip
_MOST_CACHED = 256  # lengths whose weights are cached


@dataclass(frozen=True)
class Calibration:
    """How ε is turned into weights f(d) = exp(power · (u(d) − u(0)) / Δu), or e^(−c·d) with a certified c.

    It is built from public facts only. The power is ε/2 for the textbook mechanism, which spends the other half on the
    normalising constant, and ε where the normalising constant is the same for all words; in all cases less the slack
    for rounding.
    """

    method: CalibrationMethod
    utility: Utility
    budget: Budget
    space: Space
    rates: Certifier | None  # where c is certified, and where the utility is linear
    known: dict[int, Weights] = field(default_factory=dict, repr=False, compare=False)  # by length

    @classmethod
    def choose(
        cls, wanted: CalibrationName, utility: Utility | None, epsilon: float, k: int, space: Space
    ) -> Calibration:
        """The best that is proven: any utility where words are alike (for k > 1 a staircase), else those with
        certificates: linear ones and, on systems, staircases."""
        if wanted not in (TIGHT, TEXTBOOK):
            raise InvalidValue("calibration is 'tight' or 'textbook'")
        if utility is not None and not isinstance(utility, Utility):
            raise InvalidValue("utility is Linear(), Inverse(alpha) or Staircase()")
        budget = Budget(epsilon, k, space.slack)
        if wanted == TIGHT and isinstance(space, Runs) and not space.homogeneous:
            if isinstance(utility, Staircase):
                return cls(TIGHT, utility, budget, space, StaircaseCertifier(space, budget, utility))
            if isinstance(utility, LinearOrStaircase) or (utility is None and k > 1):
                return cls(TIGHT, LinearOrStaircase(), budget, space, EitherCertifier(space, budget))
        tight = wanted == TIGHT and (space.homogeneous or utility is None or utility.is_linear)
        default = Staircase() if tight and space.homogeneous and k > 1 else Linear()
        chosen = utility or default
        rates = _certifier_of(space, budget, textbook_only=not tight) if chosen.is_linear else None
        return cls(TIGHT if tight else TEXTBOOK, chosen, budget, space, rates)

    @property
    def certifier(self) -> Certifier:
        """Certificates of c for each length."""
        if self.rates is None:
            raise InvalidValue(
                "a certificate is of c in e^(−c·d), for utility Linear(), or, for k > 1 on systems, Staircase(): "
                "leave out the utility"
            )
        return self.rates

    @property
    def applied(self) -> CalibrationMethod:
        """The method in force: "textbook" also for a large list whose certificate has not been asked for yet."""
        waits = self.method is TIGHT and self.rates is not None and not self.rates.complete
        return TEXTBOOK if waits else self.method

    @property
    def claim(self) -> Literal["tight", "certified", "textbook"]:
        """The method in force, or "certified" on systems, where each length has the best rate that is proven for it.

        That may be the textbook's; `at` says which it is at a length.
        """
        decided_by_length = isinstance(self.space, Runs) and self.rates is not None
        if self.method is TIGHT and decided_by_length:
            return "certified"
        return "tight" if self.applied is TIGHT else "textbook"

    @property
    def proof(self) -> int:
        """The section of docs/theory.md that proves it."""
        if self.rates is not None:
            return self.rates.proof
        return 3 if self.method is TIGHT else 2

    def at(self, length: int) -> tuple[CalibrationMethod, Certificate | None]:
        """The method in force for words of this length, and its certificate, if it has one."""
        if self.rates is None:
            return self.method, None
        certificate = self.rates.certified(length).certificate
        return TEXTBOOK if certificate.method is Method.TEXTBOOK else TIGHT, certificate

    def weights(self, length: int) -> Weights:
        """Everything that a draw at a word of this length needs, as one immutable value. Computed once per length."""
        if self.rates is not None and self.method is TIGHT and not self.space.homogeneous:
            return self.rates.certified(length).weights
        weights = self.known.get(length)
        if weights is None:
            if len(self.known) >= _MOST_CACHED:
                self.known.clear()
            weights = self.known[length] = self._by_formula(length)
        return weights

    def _by_formula(self, length: int) -> Weights:
        """Weights that need no certificate. Cost: the length, times k for the best staircase."""
        k, reach, utility = self.budget.k, self.space.reach(length), self.utility
        distances = max(reach, k)
        rest = self.budget.rest(distances)
        power = rest if self.method is TIGHT else rest / 2
        if utility.is_linear:
            return Weights.linear(power / k, reach)
        values = checked_values(utility.fitted(distances, k, power, self.space).values(distances, k), distances)
        change = sensitivity(values, k) or Fraction(1)  # a utility that never changes prefers no output
        return Weights.by_distance(tuple(power * (values[0] - value) / change for value in values[: reach + 1]))


def _certifier_of(space: Space, budget: Budget, textbook_only: bool) -> Certifier:
    """What proves how large the rate c in weights e^(−c·d) may be on a space, within a budget."""
    for kind, certifier in _CERTIFIERS:
        if isinstance(space, kind):
            return certifier(space, budget, textbook_only)
    raise InvalidValue(f"there is no certificate for {type(space).__name__}: take calibration='textbook'")
