"""What all mechanisms share: a word goes in, its exact output distribution comes out."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Generic, Self

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.randomness import SeededSource, Source, SystemSource
from dpwords.core.scaled import Integers
from dpwords.core.symbols import AnyWord, Distance, Word, same_kind, symbols_of
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.privacy.guarantees import Guarantee, NotPrivate, PureDP
from dpwords.spaces import by_distance as laws
from dpwords.spaces import exhaustive
from dpwords.spaces.by_distance import Law
from dpwords.spaces.free_words import FreeWords, Rows, Space
from dpwords.spaces.graph import Graph

_MOST_AVERAGED, _FEWEST_AVERAGED = 256, 8  # words that stand for a language in its public expected distance
_LONGEST_WORD = 10**8
_AVERAGED_STEPS = 2**23  # edges visited, layer by layer, before fewer words have to do
_STEPS_OF_A_LAYER = 1000  # what a layer costs however few its edges, in edges


class Mechanism(ABC):
    """A randomised map from words of a public language to words of the same language.

    Under Hamming distance words keep their length; under Levenshtein distance they need not.
    """

    def __init__(self, language: Language, k: int, distance: Distance = "hamming") -> None:
        if not isinstance(language, Language):
            raise InvalidValue("the language is a Words, a TransitionSystem, … : pass for example Words('abc')")
        self.language = language
        _ = language.initial  # a system without a start is refused here, not when it is first used
        self.k = whole_number(k, "k", 1)
        self.distance = distance
        self._source: Source = SystemSource()

    @cached_property
    def _space(self) -> Space:
        """What a law is computed on. Cost: for a system its edges, once."""
        language = self.language
        return FreeWords(len(language.alphabet)) if isinstance(language, Words) else Graph.of(language)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """What is promised about the draws."""

    @property
    @abstractmethod
    def _by_distance(self) -> bool:
        """Whether a law needs distance classes, which cost a factor of the length."""

    @abstractmethod
    def _law(self, codes: Integers) -> Law:
        """The output distribution at a word of the language."""

    def given(self, word: AnyWord) -> Distribution[AnyWord]:
        """The exact output distribution at a word, prepared once; for the owner of the word, not for release."""
        symbols = self._checked(word)
        codes = np.array([self.language.alphabet.codes[symbol] for symbol in symbols], dtype=np.int64)
        return Distribution(word, self._law(codes), self.language, self._source, self.distance == "hamming")

    def simulate(self, word: AnyWord, draws: int) -> list[AnyWord]:
        """Independent draws for studies; publishing r of them spends r·ε."""
        return self.given(word).simulate(draws)

    def log_prob(self, output: Word, given: AnyWord) -> float:
        """ln of the probability that `given` comes out as `output`; −inf if it cannot."""
        return self.given(given).log_prob(output)

    def expected_distance(self, word: AnyWord | None = None, *, length: int | None = None) -> float:
        """The expected distance from `word` (for its owner), or, public, averaged over the words of one length.

        The average is exact on free words and where the language has at most 256 words of that length. Else it is
        over words drawn uniformly from it, the same ones each time: 256, or down to 8 on large systems and lengths.
        """
        if (word is None) == (length is None):
            raise InvalidValue("expected_distance takes either a word or length=")
        if word is not None:
            return self.given(word).expected_distance()
        assert length is not None
        words, times = self._typical_words(length)
        distances = [count * self._law(codes).expected_distance() for codes, count in zip(words, times, strict=True)]
        return math.fsum(distances) / int(times.sum())

    def seeded(self, seed: int | str) -> Self:
        """The same mechanism with reproducible draws, for tests and studies: its guarantee is `NotPrivate`."""
        return self._drawing_from(SeededSource(seed))

    def _unless_seeded(self, promise: PureDP) -> Guarantee:
        """The promise, if the draws are fresh."""
        if isinstance(self._source, SystemSource):
            return promise
        return NotPrivate("the draws can be repeated by whoever knows the seed", promise.epsilon, self.k)

    def _drawing_from(self, source: Source) -> Self:
        other = copy.copy(self)
        other._source = source
        return other

    def _typical_words(self, length: int) -> tuple[Rows, Integers]:
        """Words (rows of codes) that stand for all of one length, by public facts only, and how often each counts."""
        places = self._checked_length(whole_number(length, "length", 1))
        if isinstance(self._space, FreeWords):
            return np.zeros((1, places), dtype=np.int64), np.ones(1, dtype=np.int64)
        every = laws.uniform(self._space, places)
        if every.log_total == -math.inf:
            raise InvalidValue(f"the language has no word of length {places}: choose another length")
        if every.log_total <= math.log(_MOST_AVERAGED) and places <= exhaustive.LONGEST_LISTED:
            codes = self.language.alphabet.codes
            rows = np.array([[codes[s] for s in word] for word in exhaustive.words(self.language, places)])
            return rows, np.ones(len(rows), dtype=np.int64)
        width = places if self._by_distance else 1
        affordable = _AVERAGED_STEPS // (places * (width * len(self._space.target) + _STEPS_OF_A_LAYER))
        sample = min(max(affordable, _FEWEST_AVERAGED), _MOST_AVERAGED)
        return np.unique(every.draw(sample, SeededSource("typical words").open()), axis=0, return_counts=True)

    def _checked(self, word: Word) -> tuple[Any, ...]:
        """The symbols of a word that may go in; refused before any draw if it may not."""
        symbols = symbols_of(word)
        self._checked_length(len(symbols))
        if isinstance(word, str) and not self.language.alphabet.of_characters:
            raise InvalidValue("a str is a word of single characters, and this language has other symbols: pass a list")
        fault = self.language.fault(symbols)
        if fault is not None:
            raise NotInLanguage(f"the word is not in the language ({fault}): only words of the language can go in")
        return symbols

    def _checked_length(self, length: int) -> int:
        if length == 0 and self.distance == "hamming":
            raise InvalidValue("the empty word has nothing to hide: pass a word of at least one symbol")
        if length > _LONGEST_WORD:
            raise TooLarge(f"a word may have {_LONGEST_WORD} symbols: split it into shorter ones")
        if (
            isinstance(self.language, Words)
            and self.language.max_length is not None
            and length > self.language.max_length
        ):
            raise InvalidValue(
                f"words of this language have at most {self.language.max_length} symbols: this one is longer"
            )
        if length < self.k and self.distance == "hamming":
            raise InvalidValue(f"k is at most the word's length, and here k = {self.k} is beyond it: take a smaller k")
        return length


class Distribution(Generic[AnyWord]):
    """The output distribution at one private word. Everything here depends on the word: for its owner only."""

    def __init__(self, word: AnyWord, law: Law, language: Language, source: Source, same_length: bool = True) -> None:
        self.law, self._same_length = law, same_length
        self._kind: AnyWord = word[:0]  # type: ignore[assignment]  # not the word itself: its owner may change it
        self._length, self._language, self._source = len(word), language, source

    def __repr__(self) -> str:
        return f"<Distribution at a word of {self._length} symbols>"

    def log_prob(self, output: Word) -> float:
        """ln of the probability of an output; −inf where it cannot come out. Cost: mostly its length."""
        symbols = symbols_of(output)
        if (self._same_length and len(symbols) != self._length) or self._language.fault(symbols) is not None:
            return -math.inf
        codes = self._language.alphabet.codes
        return self.law.log_prob(np.array([codes[symbol] for symbol in symbols], dtype=np.int64))

    def simulate(self, draws: int) -> list[AnyWord]:
        """Independent words of the same kind as the one given. Cost: draws · length · branching."""
        count = whole_number(draws, "draws", 0)
        if not count:
            return []
        symbols = self._language.alphabet.symbols
        rows = self.law.draw(count, self._source.open())
        return [same_kind(self._kind, (symbols[code] for code in row.tolist())) for row in rows]

    def distance_distribution(self) -> list[float]:
        """The probability of each distance 0, 1, 2, …. Cost: length² · edges on systems, length² / 64 on free words."""
        return [float(probability) for probability in self.law.distance_distribution()]

    def expected_distance(self) -> float:
        """The mean distance of an output. Cost: length · edges on systems, length on free words."""
        return self.law.expected_distance()
