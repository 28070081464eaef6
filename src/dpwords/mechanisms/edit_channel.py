"""Full Levenshtein distance: insertions, deletions and substitutions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from fractions import Fraction

from dpwords.automata import Words
from dpwords.channel import best_channel
from dpwords.corruption import CorruptedLaw
from dpwords.mechanisms.base import Mechanism
from dpwords.privacy import Guarantee, PureDP, checked_epsilon
from dpwords.scaled import Integers
from dpwords.words import AnyWord, Symbol


class EditChannel(Mechanism):
    """Release a word with random insertions, deletions and substitutions, so that any edit of it stays hidden.

    Two words within `k` edits (insertions, deletions, substitutions) of each other are told apart by at most
    `epsilon`. Words of any length over the alphabet go in, the empty one too, and come out. All probabilities follow
    from ε, k and the number of symbols. Cost of a release: the length of the word, and nothing that depends on ε, but
    for ε/k near its least value, 0.7.

    >>> from dpwords import EditChannel
    >>> private = EditChannel("abc", epsilon=4).release("abacab")
    >>> set(private) <= set("abc")
    True
    """

    def __init__(self, alphabet: Iterable[Symbol], epsilon: float, k: int = 1) -> None:
        super().__init__(Words(alphabet), k, "levenshtein")
        self.epsilon = checked_epsilon(epsilon)
        self._channel = best_channel(len(self.language.alphabet), Fraction(self.epsilon) / self.k)
        if self.kept < 0.5:
            warnings.warn(
                f"of each word only {self.kept:.0%} of the symbols will be kept: at this alphabet size ε = "
                f"{self.epsilon:g} with k = {self.k} hides nearly everything; take a larger epsilon or fewer symbols",
                stacklevel=2,
            )

    def __repr__(self) -> str:
        return f"EditChannel(<{len(self.language.alphabet)} symbols>, epsilon={self.epsilon:g}, k={self.k})"

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "levenshtein", self.k, 0.0, "channel"))

    @property
    def deleted(self) -> float:
        """The probability that a symbol is deleted."""
        return self._channel.shares[0]

    @property
    def kept(self) -> float:
        """The probability that a symbol is kept."""
        return self._channel.shares[1]

    @property
    def replaced(self) -> float:
        """The probability that a symbol is replaced by another."""
        return self._channel.shares[2]

    @property
    def inserted(self) -> float:
        """The expected number of symbols inserted before, between and after the symbols, each time."""
        return self._channel.inserted

    def release(self, word: AnyWord) -> AnyWord:
        """One private word, of the same kind (str, list or tuple). Each release spends ε. Cost: the length."""
        return self.simulate(word, 1)[0]

    @property
    def _by_distance(self) -> bool:
        return False

    def _law(self, codes: Integers) -> CorruptedLaw:
        return CorruptedLaw(codes, self._channel)
