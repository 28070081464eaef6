"""What every private mechanism becomes at ε = 0."""

from __future__ import annotations

from fractions import Fraction

from dpwords.core.scaled import Integers
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.spaces.by_distance import Law, linear_law


class Uniform(Mechanism):
    """A uniform word of the language, whatever goes in: ε = 0.

    All weights are 1 and stay exact for every word that goes in, so nothing is lost to rounding either.
    """

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(0.0, "hamming", self.k, 0.0, "tight"))

    @property
    def _by_distance(self) -> bool:
        return False

    def _law(self, codes: Integers) -> Law:
        return linear_law(codes, self._space, Fraction(0))
