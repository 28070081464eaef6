"""Which certifier belongs to a space: the one place that knows the kinds of spaces."""

from __future__ import annotations

from functools import singledispatch

from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.lists import ListCertifier
from dpwords.privacy.certificates.staircases import EitherCertifier, StaircaseCertifier
from dpwords.privacy.certificates.systems import FreeCertifier, SystemCertifier
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.utilities import LinearOrStaircase, Staircase, Utility
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.lists import FiniteSpace
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Space


@singledispatch
def certifier_of(space: Space, budget: Budget, textbook_only: bool = False) -> Certifier:
    """What proves how large the rate c in weights e^(−c·d) may be on a space, within a budget."""
    raise InvalidValue(f"there is no certificate for {type(space).__name__}: take calibration='textbook'")


@certifier_of.register
def _(space: FreeWords, budget: Budget, textbook_only: bool = False) -> Certifier:
    return FreeCertifier(space, budget, textbook_only)


@certifier_of.register
def _(space: Runs, budget: Budget, textbook_only: bool = False) -> Certifier:
    return SystemCertifier(space, budget, textbook_only)


def steps_certifier_of(space: Space, budget: Budget, utility: Utility) -> Certifier | None:
    """The same for a staircase, or for the better of it and linear weights; None where nothing but §2 is proven."""
    if not isinstance(space, Runs):
        return None
    if isinstance(utility, LinearOrStaircase):
        return EitherCertifier(space, budget)
    return StaircaseCertifier(space, budget, utility) if isinstance(utility, Staircase) else None


@certifier_of.register
def _(space: FiniteSpace, budget: Budget, textbook_only: bool = False) -> Certifier:
    return ListCertifier(space, budget, textbook_only)
