"""Full Levenshtein distance: insertions, deletions and substitutions."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Self

import numpy as np

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Alphabet, AnyWord, Symbol
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.channel_parameters import best_channel
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.spaces.by_distance import Law
from dpwords.spaces.edit_channel import CorruptedLaw, ProjectedLaw
from dpwords.spaces.nearest import nearest_in


class EditChannel(Mechanism):
    """Release a word with random insertions, deletions and substitutions, so that any edit of it stays hidden.

    Two words within `k` edits (insertions, deletions, substitutions) of each other are told apart by at most
    `epsilon`. Words of any length over the alphabet go in, the empty one too, and come out; `onto` a public language
    only words of that language come out: of those nearest to the noisy word the first in the order of the language's
    alphabet. All probabilities follow from ε, k and the number of symbols. Cost of a release: the length of the word;
    near the least ε/k, 0.7, many times more, since insertions are long there; with `onto`, that of `Nearest`.

    >>> from dpwords import EditChannel
    >>> private = EditChannel("abc", epsilon=4).release("abacab")
    >>> set(private) <= set("abc")
    True
    """

    def __init__(self, alphabet: Iterable[Symbol], epsilon: float, k: int = 1, onto: Language | None = None) -> None:
        if isinstance(alphabet, Language):
            raise InvalidValue("the alphabet comes first: pass language.alphabet.symbols, and onto=language")
        super().__init__(Words(alphabet), k, "levenshtein")
        self.epsilon, self.onto = checked_epsilon(epsilon), onto
        self._project = None if onto is None else _projection(self.language.alphabet, onto)
        self._channel = best_channel(len(self.language.alphabet), Fraction(self.epsilon) / self.k)
        if self.kept < 0.5:
            left = f"only {self.kept:.0%} of the symbols will be kept"
            if self._channel.only_length_shows:
                left = "nothing but its length will show: a symbol comes out as itself no more often than as another"
            warnings.warn(
                f"of each word {left}, since ε = {self.epsilon:g} with k = {self.k} is small for this alphabet: take a "
                "larger epsilon",
                stacklevel=2,
            )

    def __repr__(self) -> str:
        onto = "" if self.onto is None else f", onto={self.onto!r}"
        return f"EditChannel(<{len(self.language.alphabet)} symbols>, epsilon={self.epsilon:g}, k={self.k}{onto})"

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

    def without_projection(self) -> Self:
        """The same channel over all words: what is private about the projected one, and can be audited."""
        other = copy.copy(self)
        other.onto = other._project = None
        return other

    def release(self, word: AnyWord) -> AnyWord:
        """One private word, of the same kind (str, list or tuple). Each release spends ε. Cost: the length."""
        return self.simulate(word, 1)[0]

    @property
    def _by_distance(self) -> bool:
        return False

    def _law(self, codes: Integers) -> Law:
        law = CorruptedLaw(codes, self._channel)
        return law if self._project is None else ProjectedLaw(law, self._project)


def _projection(alphabet: Alphabet, language: Language) -> Callable[[Integers], Integers]:
    """From any word to the nearest one of the language, both in codes of the alphabet."""
    if not isinstance(language, Language):
        raise InvalidValue("onto is a Words, a TransitionSystem, … : pass for example Words('abc', max_length=12)")
    if not set(language.alphabet.symbols) <= set(alphabet.symbols):
        raise InvalidValue("words onto a language have its symbols: pass an alphabet that holds all of them")
    inside = np.array([language.alphabet.codes.get(symbol, -1) for symbol in alphabet.symbols], dtype=np.int64)
    outside = np.array([alphabet.codes[symbol] for symbol in language.alphabet.symbols], dtype=np.int64)
    nearest = nearest_in(language)
    return lambda codes: outside[nearest(inside[codes])]
