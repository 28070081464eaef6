"""The mechanism at ε = 0, which every private mechanism approaches."""

from __future__ import annotations

from fractions import Fraction

from dpwords.core.encoding import Codes, Rows
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.languages.language import Language, checked_language
from dpwords.mechanisms.private import Private
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Distances, Law, Weights


class Uniform(Private):
    """Release a uniformly random word of the language, whatever the private word is: ε = 0.

    All weights are exactly 1 for every private word, so rounding costs nothing either.
    """

    def __init__(self, language: Language, k: int = 1, *, limits: Limits = DEFAULTS) -> None:
        super().__init__(language, space_of(checked_language(language), "hamming", limits), k, limits=limits)

    def __repr__(self) -> str:
        return f"Uniform({self.language!r}, k={self.k})"

    @property
    def epsilon(self) -> float:
        """Always 0."""
        return 0.0

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(0.0, "hamming", self.k, 0.0, "tight"))

    def _law(self, codes: Codes) -> Law:
        return self._space.law(codes, Weights.linear(Fraction(0), len(codes)))

    def _draw_each(self, rows: Codes, stream: Stream) -> Rows:
        return self._space.draw_each(rows, Weights.linear(Fraction(0), rows.shape[1]), stream)

    def _distances(self, rows: Rows, width: int | None) -> Distances:
        return self._space.distances(rows, Weights.linear(Fraction(0), len(next(iter(rows)))), width)
