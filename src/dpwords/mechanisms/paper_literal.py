"""The paper's mechanism to the letter: for reproduction, not for release."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.scaled import Integers
from dpwords.core.symbols import AnyWord
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.guarantees import NotPrivate, checked_epsilon
from dpwords.privacy.utilities import Inverse, sensitivity
from dpwords.spaces import exhaustive
from dpwords.spaces.by_distance import Profile, ShellLaw, ShellWeights, loss_by_distance
from dpwords.spaces.free_words import shells_around
from dpwords.spaces.graph import Graph


class PaperLiteral(Mechanism):
    """Draw the distance ℓ in proportion to exp(ε·u(ℓ)/(2Δu)), without the number N_ℓ of words at that distance.

    That is what the paper's formula for ρ says, with ℓ = 0 included and distances at which there is no word left out.
    The result is not ε-private: `guarantee.true_epsilon(length)` says what it loses. ε = 0 is allowed.

    >>> from dpwords import PaperLiteral, Words
    >>> round(PaperLiteral(Words("0123456789abcdef"), epsilon=1).guarantee.true_epsilon(32), 2)
    6.67
    """

    def __init__(self, language: Language, epsilon: float, k: int = 1, alpha: float = 1.0) -> None:
        super().__init__(language, k)
        self.epsilon = checked_epsilon(epsilon, zero_allowed=True)
        self.alpha = positive_number(alpha, "alpha", "alpha=1.0")

    def __repr__(self) -> str:
        return f"PaperLiteral({self.language!r}, epsilon={self.epsilon:g}, k={self.k}, alpha={self.alpha:g})"

    @property
    def guarantee(self) -> NotPrivate:
        reason = "the paper's formula leaves out how many words lie at each distance"
        return NotPrivate(reason, self.epsilon, self.k, self._true_epsilon)

    def perturb(self, word: AnyWord) -> AnyWord:
        """One word as the paper's formula draws it; it must not be called private."""
        return self.simulate(word, 1)[0]

    @property
    def _by_distance(self) -> bool:
        return True

    def _law(self, codes: Integers) -> ShellLaw:
        shells = shells_around(codes, self._space)
        values = Inverse(self.alpha).values(len(codes), self.k)
        power = Fraction(self.epsilon) / (2 * sensitivity(values, self.k))
        profile = Profile(tuple(power * (values[0] - value) for value in values))
        return ShellLaw(shells, ShellWeights.ignoring_sizes(shells.sizes, profile))

    def _true_epsilon(self, length: int) -> float:
        """On free words by distances alone; on systems over all pairs of words, which must be few."""
        self._checked_length(whole_number(length, "length", 1))
        if isinstance(self._space, Graph):
            words = exhaustive.words(self.language, length, limit=exhaustive.PAIRS_LIMIT)
            if not words:
                raise InvalidValue(f"the language has no word of length {length}: choose another length")
            losses = exhaustive.pair_losses(exhaustive.log_probs([self.given(word) for word in words], words))
            return float(losses[exhaustive.distances(words) <= self.k].max(initial=0.0))
        logs = self._law(np.zeros(length, dtype=np.int64)).weights.log_probs
        return loss_by_distance(logs[np.isfinite(logs)], self.k)
