"""Full Levenshtein distance: insertions, deletions and substitutions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Self

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.symbols import Alphabet, Codes, Ragged, Symbol
from dpwords.errors import InvalidValue, named
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Drawing, Private
from dpwords.mechanisms.summary import Averages, InForce
from dpwords.privacy.channel_parameters import best_channel
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.spaces.choice import space_of
from dpwords.spaces.edit_channel import CorruptedLaw, ProjectedLaw, corrupted, projected
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.nearest import nearest_in
from dpwords.spaces.space import Law, LeastDistance


class EditChannel(Private):
    """Release a word with random insertions, deletions and substitutions, so that any edit of it stays hidden.

    Two words within `k` edits (insertions, deletions, substitutions) of each other are `epsilon`-indistinguishable.
    Words over the alphabet of any length, including the empty one, can go in and come out. With `onto=language` only
    words of that public language come out: the one nearest to the noisy word, and of several equally near ones the
    first in the order of the language's alphabet. All probabilities follow from ε, k and the number of symbols. Cost of
    a release: the length of the word, or many times that near the least ε/k, 0.7, where insertions are long; with
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
        self.epsilon, self.projected_onto = checked_epsilon(epsilon), onto
        self._project = None if onto is None else _projection(onto, words.alphabet, limits)
        self._channel = best_channel(len(self.language.alphabet), Fraction(self.epsilon) / self.k)
        self.deleted, self.kept, self.replaced = self._channel.probabilities
        self.inserted = self._channel.inserted
        if self.warning is not None:
            warnings.warn(self.warning, stacklevel=2)

    def __repr__(self) -> str:
        onto = "" if self.projected_onto is None else f", onto={self.projected_onto!r}"
        return f"EditChannel(<{len(self.language.alphabet)} symbols>, epsilon={self.epsilon:g}, k={self.k}{onto})"

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

    def without_projection(self) -> Self:
        """The same channel without the projection. Its outputs are private, and its loss can be audited exactly."""
        return self._with(projected_onto=None, _project=None)

    def _in_force(self, length: int) -> InForce:
        onto = "" if self.projected_onto is None else ", then the nearest word of the language"
        return InForce(f"random insertions, deletions and substitutions{onto}, with all of ε")

    def _least_distance(self, length: int) -> LeastDistance:
        return LeastDistance(1, True)  # any word and the same with one symbol more

    def _public_averages(self, length: int) -> Averages:
        if self.projected_onto is not None:
            return Averages()  # no formula is known
        return replace(super()._public_averages(length), random=None, of_edits=self.edits_made)

    def _law(self, codes: Codes) -> Law:
        law = CorruptedLaw(codes, self._channel, self.limits)
        return law if self._project is None else ProjectedLaw(law, self._project)

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.language.alphabet.symbols, epsilon, k, self.projected_onto, limits=self.limits)

    def _drawing(self, length: int) -> Drawing:
        def parameters() -> tuple[object, ...]:
            onto = self.projected_onto
            symbols = () if onto is None else (onto.alphabet.symbols, onto.max_length, space_of(onto).identity)
            return "channel", *self._channel.parameters, *symbols

        return Drawing(self._draw_each, parameters)

    def _draw_each(self, rows: Codes, stream: Stream) -> Ragged:
        noisy = corrupted(rows, self._channel, stream, self.limits)
        return noisy if self._project is None else projected(noisy, self._project)


def _projection(language: Language, alphabet: Alphabet, limits: Limits) -> Callable[[Codes], Codes]:
    """From any word to the nearest one of a language, both in codes of an alphabet that holds its symbols."""
    if not isinstance(language, Language):
        raise InvalidValue("onto is a Words, a TransitionSystem, … : pass for example Words('abc', max_length=12)")
    if language.spelling is not None:
        raise InvalidValue(
            "a channel edits the symbols of words as they are written, and plans are written in other ones: use words "
            f"of states, by_states() ({named('words', 'states')})"
        )
    if not set(language.alphabet.symbols) <= set(alphabet.symbols):
        raise InvalidValue("words onto a language have its symbols: pass an alphabet that holds all of them")
    inside = np.array([language.alphabet.codes.get(symbol, -1) for symbol in alphabet.symbols], dtype=np.int64)
    outside = np.array([alphabet.codes[symbol] for symbol in language.alphabet.symbols], dtype=np.int64)
    return partial(_project, inside, nearest_in(language, limits), outside)


def _project(inside: Codes, nearest: Callable[[Codes], Codes], outside: Codes, codes: Codes) -> Codes:
    return np.asarray(outside[nearest(inside[codes])])
