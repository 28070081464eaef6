"""Certificates for staircases on systems, for k > 1, and the choice between them and linear weights.

With weights e^(−c·ceil((d − j)/k)) the rate c, ε and the bound of a certificate are for each k positions that differ.
The proofs are those of linear weights, with ceil(d/k), which is a distance too, in the place of d (docs/theory.md,
section 9).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

from dpwords.core.elementary import index_of_least
from dpwords.errors import TooLarge
from dpwords.privacy.certificates.certificate import Certificate, Certified, FractionDone
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.reweighted_search import ReweightedSearch
from dpwords.privacy.certificates.systems import SystemCertifier
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.methods import Method
from dpwords.privacy.utilities import Staircase
from dpwords.spaces.graph import Graph
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import WeightedWords, Weights


class StaircaseCertifier(SystemCertifier):
    """Runs of a system, under a staircase. Cost of a certificate: some evaluations of `range_of_constants`."""

    def __init__(self, space: Runs, budget: Budget, staircase: Staircase) -> None:
        super().__init__(space, budget)
        staircase.values(1, budget.k)  # refuses a first step of k or more
        self._staircase, self._step, self._first = staircase, budget.k, staircase.first_step or 0

    @cached_property
    def _search(self) -> ReweightedSearch | None:
        return None  # reweighted certificates are about linear weights

    def _weights(self, rate: Fraction, reach: int, base: Graph | WeightedWords | None) -> Weights:
        assert not isinstance(base, Graph)  # such weights belong to reweighted certificates
        return Weights.by_distance(tuple(-rate * value for value in self._staircase.values(reach, self._step)), base)

    def _epsilon(self, reach: int) -> float:
        """ε for each step, less what rounding may cost."""
        return math.nextafter(float(self._budget.rest(reach)), 0.0)


class EitherCertifier(SystemCertifier):
    """Runs of a system, for k > 1: linear weights or a staircase, whichever has the smaller public expected distance.

    Cost: both certificates, and the expected distances at a few words.
    """

    def __init__(self, space: Runs, budget: Budget) -> None:
        super().__init__(space, budget)
        self._linear = SystemCertifier(space, budget)
        self._stairs = StaircaseCertifier(space, budget, Staircase())

    def _best(self, reach: int, progress: FractionDone | None = None) -> Certificate:
        linear, stairs = self._linear._certified(reach, progress), self._stairs._certified(reach)
        if stairs.certificate.method is Method.TEXTBOOK:
            return linear.certificate  # a staircase at half of ε is worse, except where more than half can be proven
        try:
            means = [self._mean_distance(each.weights, reach) for each in (stairs, linear)]
            return (stairs, linear)[index_of_least(means)].certificate
        except TooLarge:  # words cannot be counted by their distance here
            return linear.certificate

    def _of_all_lengths(self, progress: FractionDone | None = None) -> Certificate | None:
        return self._linear._of_all_lengths(progress)

    def _mean_distance(self, weights: Weights, reach: int) -> float:
        """The expected distance, averaged over typical words."""
        words, times = self._space.typical(reach, steps=reach)
        laws = (self._space.law(codes, weights) for codes in words)
        means = [count * law.expected_distance() for law, count in zip(laws, times.tolist(), strict=True)]
        return math.fsum(means) / int(times.sum())

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        maker = self._maker(certificate)
        assert maker is not None
        return maker._prepared(certificate, reach)

    def _maker(self, certificate: Certificate) -> Certifier | None:
        return self._linear._maker(certificate) or self._stairs._maker(certificate)
