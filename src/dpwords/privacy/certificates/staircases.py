"""Certificates for staircases on systems, for k > 1, and the choice between them and linear weights.

With weights e^(−c·ceil((d − j)/k)) the rate c, ε and the bound of a certificate are for each k places that differ. The
proofs are those of linear weights, with ceil(d/k), which is a distance too, in the place of d (docs/theory.md, section
9).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache

from dpwords.core.elementary import index_of_least
from dpwords.core.limits import Limits
from dpwords.errors import TooLarge
from dpwords.privacy.certificates.certificate import (
    TRIES,
    Certificate,
    Certified,
    Excess,
    ShareDone,
    largest_rate,
)
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.certificates.levelled_search import LevelledSearch
from dpwords.privacy.certificates.normaliser_range import range_of_normalisers
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.privacy.certificates.systems import NEARLY, SystemCertifier
from dpwords.privacy.guarantees import Budget
from dpwords.privacy.methods import Method
from dpwords.privacy.utilities import Staircase
from dpwords.spaces.graph import Graph
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import Weights


class StaircaseCertifier(SystemCertifier):
    """Runs of a system, under a staircase. Cost of a certificate: some evaluations of `range_of_normalisers`."""

    def __init__(self, space: Runs, budget: Budget, staircase: Staircase) -> None:
        super().__init__(space, budget)
        staircase.values(1, budget.k)  # refuses a first step of k or more
        self._staircase, self._step, self._first = staircase, budget.k, staircase.first_step or 0

    @cached_property
    def _search(self) -> LevelledSearch | None:
        return None  # levelled certificates are about linear weights

    def _methods(self, reach: int, progress: ShareDone | None = None) -> dict[Method, Excess]:
        methods: dict[Method, Excess] = {Method.TEXTBOOK: lambda c: c}
        graph, step, first = self._graph, self._step, self._first
        self._refuse(reach)
        if self._every_word:
            return methods | {Method.EVERY_WORD: lambda _: 0.0}
        listed = self._by_steps(reach)
        if listed is not None:
            return methods | {Method.LISTED: listed.excess, Method.BALANCED: listed.balanced_excess}
        if min(step, reach + 1) * len(graph.target) * reach > self._limits.range_steps:
            return methods
        return methods | {Method.RANGE: lambda c: range_of_normalisers(graph, reach, c, step, first)}

    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        epsilon, found = self._epsilon(reach), []
        for method, excess in self._methods(reach).items():
            start, tries = (epsilon * NEARLY, 0) if method is Method.BALANCED else (epsilon, TRIES)
            c, bound = largest_rate(epsilon, excess, start, tries)
            steps = self._step, self._first
            found.append(Certificate(c, bound, method, epsilon, reach, self._space.identity, *steps))
        listed = None if len(found) < 3 else self._by_steps(reach)
        if listed is None:
            return max(found, key=lambda each: each.c)
        return min(found, key=lambda each: (listed.mean_distance(each.c, each.method is Method.BALANCED), -each.c))

    def _prepared(self, certificate: Certificate, reach: int) -> Certified:
        rate, listed, base = Fraction(certificate.c), self._by_steps(reach), None
        if certificate.method is Method.BALANCED and listed is not None:
            base = listed.weighted(certificate.c, certificate.epsilon)
        values = self._staircase.values(reach, self._step)
        return Certified(certificate, Weights.by_distance(tuple(-rate * value for value in values), base))

    def _maker(self, certificate: Certificate) -> Certifier | None:
        wanted = self._space.identity, self._step, self._first
        return self if (certificate.system, certificate.step, certificate.first) == wanted else None

    def _epsilon(self, reach: int) -> float:
        """ε for each step, less what rounding may cost."""
        return math.nextafter(float(self._budget.rest(reach)), 0.0)

    def _by_steps(self, length: int) -> Listed | None:
        return _listed_by_steps(self._graph, length, self._limits, self._step, self._first)


class EitherCertifier(SystemCertifier):
    """Runs of a system, for k > 1: linear weights or a staircase, whichever has the smaller public expected distance.

    Cost: both certificates, and the expected distances at a few words.
    """

    def __init__(self, space: Runs, budget: Budget) -> None:
        super().__init__(space, budget)
        self._linear = SystemCertifier(space, budget)
        self._stairs = StaircaseCertifier(space, budget, Staircase())

    def _best(self, reach: int, progress: ShareDone | None = None) -> Certificate:
        linear, stairs = self._linear._certified(reach, progress), self._stairs._certified(reach)
        if stairs.certificate.method is Method.TEXTBOOK:
            return linear.certificate  # a staircase at half of ε is worse, except where more than half can be proven
        try:
            means = [self._mean_distance(each.weights, reach) for each in (stairs, linear)]
            return (stairs, linear)[index_of_least(means)].certificate
        except TooLarge:  # words cannot be counted by their distance here
            return linear.certificate

    def _of_all_lengths(self, progress: ShareDone | None = None) -> Certificate | None:
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


@lru_cache(maxsize=2)
def _listed_by_steps(graph: Graph, length: int, limits: Limits, step: int, first: int) -> Listed | None:
    return Listed.of(graph, length, limits, step, first)
