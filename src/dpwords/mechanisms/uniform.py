"""The mechanism at ε = 0, which every private mechanism approaches."""

from __future__ import annotations

from fractions import Fraction
from typing import Self

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language, checked_language
from dpwords.mechanisms.private import Weighted
from dpwords.mechanisms.summary import InForce
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Weights


class Uniform(Weighted):
    """Release a uniformly random word of the language, whatever the private word is: ε = 0.

    All weights are exactly 1 for every private word, so rounding costs nothing either.
    """

    epsilon = 0.0

    def __init__(self, language: Language, k: int = 1, *, limits: Limits = DEFAULTS) -> None:
        super().__init__(language, space_of(checked_language(language), "hamming", limits), k, limits=limits)

    def __repr__(self) -> str:
        return f"Uniform({self.language!r}, k={self.k})"

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(0.0, "hamming", self.k, 0.0, "tight", proof=7))

    def _in_force(self, length: int) -> InForce:
        return InForce("every word of the language is equally likely")

    def weights(self, length: int) -> Weights:
        return Weights.linear(Fraction(0), length)

    def _like(self, epsilon: float, k: int) -> Self:
        if epsilon:
            raise InvalidValue("a uniform word has ε = 0: use another mechanism")
        return type(self)(self.language, k, limits=self.limits)
