"""The paper's mechanism, taken literally: for reproduction, not for release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import AnyWord, Codes
from dpwords.languages.language import Language, checked_language
from dpwords.mechanisms.mechanism import Mechanism, estimates_refused
from dpwords.privacy.guarantees import NotPrivate, checked_epsilon, loss_by_distance
from dpwords.privacy.utilities import Inverse, sensitivity
from dpwords.spaces import exhaustive
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import ByDistanceLaw, DistanceWeights, Weights, none_of_length


class PaperLiteral(Mechanism):
    """Draw the distance ℓ in proportion to exp(ε·u(ℓ)/(2Δu)), without the number N_ℓ of words at that distance.

    This is what the paper's formula for ρ says, with ℓ = 0 included and with distances left out at which there is no
    word. The result is not ε-private; `guarantee.true_epsilon(length)` is what it really loses. ε = 0 is allowed.

    >>> from dpwords import PaperLiteral, Words
    >>> round(PaperLiteral(Words("0123456789abcdef"), epsilon=1).guarantee.true_epsilon(32), 2)
    6.67
    """

    epsilon: float
    alpha: float

    def __init__(
        self, language: Language, epsilon: float, k: int = 1, alpha: float = 1.0, *, limits: Limits = DEFAULTS
    ) -> None:
        super().__init__(language, space_of(checked_language(language), "hamming", limits), k, limits=limits)
        self.epsilon = checked_epsilon(epsilon, zero_allowed=True)
        self.alpha = positive_number(alpha, "alpha", "alpha=1.0")

    def __repr__(self) -> str:
        return f"PaperLiteral({self.language!r}, epsilon={self.epsilon:g}, k={self.k}, alpha={self.alpha:g})"

    def no_estimates(self, length: int) -> str | None:
        return estimates_refused()

    @property
    def is_linear(self) -> bool:
        return False

    @property
    def guarantee(self) -> NotPrivate:
        reason = "the paper's formula leaves out how many words lie at each distance"
        return NotPrivate(reason, self.epsilon, self.k, self._true_epsilon, self._spelled)

    def perturb(self, word: AnyWord) -> AnyWord:
        """One word as the paper's formula draws it. It must not be called private."""
        return self.simulate(word, 1)[0]

    def _law(self, codes: Codes) -> ByDistanceLaw:
        values = Inverse(self.alpha).values(len(codes), self.k)
        power = Fraction(self.epsilon) / (2 * sensitivity(values, self.k))
        weights = Weights.by_distance(tuple(power * (values[0] - value) for value in values))
        around = self._space.around(codes)
        return ByDistanceLaw(around, DistanceWeights.ignoring_sizes(around.sizes, weights), self.limits)

    def _true_epsilon(self, length: int) -> float:
        """The loss between words within k positions, by distances alone on free words, else over all pairs of words."""
        self._checked_length(whole_number(length, "length", 1))
        if self._space.homogeneous:
            logs = self._law(np.zeros(length, dtype=np.int64)).weights.log_probs
            return loss_by_distance(logs[np.isfinite(logs)], self.k)
        words = exhaustive.words(self.language, length, limit=self.limits.compared_words)
        if not words:
            raise none_of_length(length)
        written = [self.language.spell(word) for word in words]
        losses = exhaustive.pair_losses(exhaustive.log_probs([self.given(word) for word in written], written))
        return float(losses[exhaustive.distances(words) <= self.k].max(initial=0.0))
