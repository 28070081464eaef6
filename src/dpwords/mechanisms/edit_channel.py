"""Full Levenshtein distance: insertions, deletions and substitutions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Self

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.symbols import Codes, Ragged, Symbol
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Drawing, Private
from dpwords.mechanisms.summary import Averages, InForce
from dpwords.privacy.channel_parameters import best_channel
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.spaces.edit_channel import CorruptedLaw, corrupted
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.space import Law, LeastDistance


class EditChannel(Private):
    """Release a word with random insertions, deletions and substitutions, so that any edit of it stays hidden.

    Two words within `k` edits (insertions, deletions, substitutions) of each other are `epsilon`-indistinguishable.
    Words over the alphabet of any length, including the empty one, can go in and come out. With `onto=language` only
    words of that public language come out: `EditChannel(alphabet, epsilon, onto=language)` is a short form of
    `EditChannel(alphabet, epsilon).onto(language)`. All probabilities follow from ε, k and the number of symbols. Cost
    of a release: the length of the word, or many times that near the least ε/k, 0.7, where insertions are long; with
    `onto`, also that of `Nearest`.

    >>> from dpwords import EditChannel
    >>> private = EditChannel("abc", epsilon=4).release("abacab")
    >>> set(private) <= set("abc")
    True
    """

    edits_made = True
    deleted: float  #: The probability that a symbol is deleted.
    kept: float  #: The probability that a symbol is kept.
    replaced: float  #: The probability that a symbol is replaced by another.
    inserted: float  #: The expected number of symbols inserted into each gap: before, between and after the symbols.

    def __new__(
        cls,
        alphabet: Iterable[Symbol] = (),
        epsilon: float = 0.0,
        k: int = 1,
        onto: Language | None = None,
        *,
        limits: Limits = DEFAULTS,
    ) -> Any:
        if onto is None:
            return super().__new__(cls)
        return cls(alphabet, epsilon, k, limits=limits).onto(onto)

    def __init__(
        self,
        alphabet: Iterable[Symbol],
        epsilon: float,
        k: int = 1,
        onto: Language | None = None,
        *,
        limits: Limits = DEFAULTS,
    ) -> None:
        if isinstance(alphabet, Language):
            raise InvalidValue("the alphabet comes first: pass language.alphabet.symbols, and onto=language")
        words = Words(alphabet)
        super().__init__(words, FreeWords(len(words.alphabet), limits=limits), k, "levenshtein", limits)
        self.epsilon = checked_epsilon(epsilon)
        self._channel = best_channel(len(self.language.alphabet), Fraction(self.epsilon) / self.k)
        self.deleted, self.kept, self.replaced = self._channel.probabilities
        self.inserted = self._channel.inserted
        if self.warning is not None:
            warnings.warn(self.warning, stacklevel=2)

    def __repr__(self) -> str:
        return f"EditChannel(<{len(self.language.alphabet)} symbols>, epsilon={self.epsilon:g}, k={self.k})"

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "levenshtein", self.k, 0.0, "channel", proof=12))

    @property
    def warning(self) -> str | None:
        """Why little of a word survives, if less than half of its symbols are kept; otherwise None."""
        if self.kept >= 0.5:
            return None
        left = f"only {self.kept:.0%} of the symbols will be kept"
        if self._channel.only_length_shows:
            left = "only the length will show: a symbol comes out as itself no more often than as another"
        return (
            f"of each word {left}, because ε = {self.epsilon:g} with k = {self.k} is small for this alphabet: take "
            "a larger epsilon"
        )

    def _in_force(self, length: int) -> InForce:
        text = "random insertions, deletions and substitutions, with all of ε"
        return InForce(text, drawn="by an edit channel, which inserts, deletes and substitutes symbols at random")

    def _least_distance(self, length: int) -> LeastDistance:
        return LeastDistance(1, True)  # any word and the same with one symbol more

    def _public_averages(self, length: int) -> Averages:
        return replace(super()._public_averages(length), random=None, of_edits=self.edits_made)

    def _law(self, codes: Codes) -> Law:
        return CorruptedLaw(codes, self._channel, self.limits)

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.language.alphabet.symbols, epsilon, k, limits=self.limits)

    def _drawing(self, length: int) -> Drawing:
        return Drawing(self._draw_each, lambda: ("channel", *self._channel.parameters))

    def _draw_each(self, rows: Codes, stream: Stream) -> Ragged:
        return corrupted(rows, self._channel, stream, self.limits)
