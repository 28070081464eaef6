"""Projections: a word is replaced by one of the nearest words of a language, all of which are equally likely.

Words are codes of the symbols of that language, and −1 stands for a symbol that it does not have. Under Hamming
distance a projection keeps the length, and the nearest words are those with the fewest mismatches. That is the draw of
`Lattice` with a factor z for each mismatch that is so small that only the nearest words count (docs/theory.md, section
18): sums and draws take place in numbers with exponents of their own, so there may be any number of nearest words.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, Distance, Ragged, Rows
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.languages.lexicon import Lexicon
from dpwords.spaces.choice import graph_of, space_of
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import walk_each
from dpwords.spaces.lists import codes_of, distances, text_of
from dpwords.spaces.nearest import nearest_in
from dpwords.spaces.space import Law, StoredLaw, batches

_STEP = 512  # bits: in a sum of the lattice, a number is dropped that is smaller by this factor, twice
_NO_PROBABILITY = (
    "the probability of a projected word is not computed, because it is a sum over all words that are projected to it, "
    "and there are too many: call without_projection() and use that mechanism, or use shorter words"
)
_BY_EDITS = (
    "the probability of a word that is projected by edits is never computed, because words of all lengths lead to it: "
    "call without_projection() and use that mechanism"
)
_NO_FORMULA = "the distance of projected words is not computed here: measure it on words from simulate"


class Projection(ABC):
    """From words to the nearest words of a language."""

    @abstractmethod
    def draw(self, rows: Rows, stream: Stream) -> Rows:
        """For each word one of the nearest words, all of them equally likely."""

    def check(self, length: int) -> None:
        """Raise `InvalidValue` if words of this length have no nearest word. It depends on the length alone."""
        if not self.has_words(length):
            raise InvalidValue(
                f"the language that words are projected onto has no word of length {length}: choose another length"
            )

    def has_words(self, length: int) -> bool:
        """Whether words of this length can be projected."""
        return True

    def steps(self, length: int) -> int:
        """About what one word of this length costs, as a number of edges that are visited."""
        return length


def projection_onto(language: Language, distance: Distance, limits: Limits = DEFAULTS) -> Projection:
    """The projection onto a language. Cost: for a system its edges; for `Words` and `Lexicon` nothing."""
    if isinstance(language, Lexicon):
        return OntoList(language, distance, limits)
    if distance == "levenshtein":
        edges = 1 if isinstance(language, Words) else len(graph_of(language).target)
        return ByEdits(nearest_in(language, limits), edges)
    return OntoFreeWords(language) if isinstance(language, Words) else OntoRuns(graph_of(language), limits)


@dataclass(frozen=True, eq=False)
class OntoRuns(Projection):
    """Onto the words of a graph, under Hamming distance. Cost: reachable edges of all layers, for each word.

    A word of the graph stays as it is, at the cost of reading it. Draws are uniform but for the rounding of sums:
    probabilities have a relative error of at most length · branching · 2⁻⁵¹, and words that are not nearest come out
    with a probability below 2⁻⁵⁰⁰.
    """

    graph: Graph
    limits: Limits = DEFAULTS

    def draw(self, rows: Rows, stream: Stream) -> Rows:
        rows, graph = cast(Codes, rows), self.graph
        outside = np.flatnonzero(~graph.accepts(rows))
        found = rows.copy()
        for part in batches(len(outside), rows.shape[1], self.limits):
            some = outside[part]
            found[some] = walk_each(graph, rows[some], self._mismatch(rows.shape[1]), stream.of(some), self.limits)
        return found

    def _mismatch(self, length: int) -> Scaled:
        """A factor that is smaller than 1 over the number of words, thrice."""
        most = -(-length * (self.graph.branching - 1).bit_length() // _STEP) + 3
        return Scaled(np.array([0.5]), np.array([1 - _STEP * most]))

    def has_words(self, length: int) -> bool:
        known: dict[int, bool] = self.graph.__dict__.setdefault("_has_words", {})
        if length not in known:
            ahead = self.graph.accepting
            for _ in range(length):
                ahead = np.bincount(self.graph.sources[ahead[self.graph.target]], minlength=self.graph.size) > 0
            known[length] = bool(ahead[self.graph.start])
        return known[length]

    def steps(self, length: int) -> int:
        return length * len(self.graph.target)


@dataclass(frozen=True, eq=False)
class OntoFreeWords(Projection):
    """Onto all words over an alphabet, under Hamming distance: any other symbol becomes a uniformly drawn one."""

    language: Words

    def draw(self, rows: Rows, stream: Stream) -> Rows:
        found = cast(Codes, rows).copy()
        unknown = found < 0
        times = unknown.sum(axis=1)
        found[unknown] = sampling.below(len(self.language.alphabet), (int(times.sum()),), stream.repeated(times))
        return found

    def has_words(self, length: int) -> bool:
        return self.language.max_length is None or length <= self.language.max_length


class OntoList(Projection):
    """Onto the words of a lexicon, under either distance. Cost: one distance for each word of it."""

    def __init__(self, lexicon: Lexicon, distance: Distance, limits: Limits = DEFAULTS) -> None:
        self._lexicon, self._distance, self._limits = lexicon, distance, limits

    def draw(self, rows: Rows, stream: Stream) -> Rows:
        unknown = len(self._lexicon.alphabet)
        texts = [text_of(np.where(codes < 0, unknown, codes)) for codes in rows]
        drawn: list[Codes] = []
        if self._distance == "levenshtein":
            drawn = self._nearest(texts, self._lexicon.table, stream)
            return Ragged.of(drawn)
        length = cast(Codes, rows).shape[1]
        drawn = self._nearest(texts, [text for text in self._lexicon.table if len(text) == length], stream)
        return np.array(drawn, dtype=np.int64).reshape(len(texts), length)

    def _nearest(self, texts: list[str], listed: Sequence[str], stream: Stream) -> list[Codes]:
        found, longest = [], max(map(len, (*texts, *self._longest)))
        for part in batches(len(texts), len(listed), self._limits):
            apart = distances(texts[part], listed, self._distance, longest)
            for number, row in enumerate(apart, start=part.start):
                nearest = np.flatnonzero(row == row.min())
                one = sampling.integer_below(len(nearest), stream.one(number)) if len(nearest) > 1 else 0
                found.append(codes_of(listed[int(nearest[one])]))
        return found

    @cached_property
    def _longest(self) -> list[str]:
        return [max(self._lexicon.table, key=len)]

    def has_words(self, length: int) -> bool:
        return self._distance == "levenshtein" or length in self._lexicon.lengths

    def steps(self, length: int) -> int:
        return len(self._lexicon.table)


@dataclass(frozen=True, eq=False)
class ByEdits(Projection):
    """Onto any language, under Levenshtein distance, one word after the other."""

    nearest: Callable[[Codes, Stream], Codes]
    edges: int  # of the language

    def draw(self, rows: Rows, stream: Stream) -> Rows:
        try:
            return Ragged.of([self.nearest(word, stream.one(number)) for number, word in enumerate(rows)])
        except TooLarge as error:  # this depends on the noisy word: repeating until it fits would select among draws
            raise TooLarge(f"{error.message} (a word was drawn, so its ε is spent)") from None

    def steps(self, length: int) -> int:
        return length * self.edges


def every_word(language: Language, length: int, most: int) -> Codes | None:
    """All words of one length, unlike `Space.every` also of free words; None if there are more than `most`."""
    symbols = len(language.alphabet)
    if not isinstance(language, Words):
        found = space_of(language).every(length, most)
        return None if found is None else np.asarray(found, dtype=np.int64).reshape(-1, length)
    if length > DEFAULTS.listed_length or symbols**length > most:
        return None
    return np.indices((symbols,) * length).reshape(length, -1).T if symbols > 1 else np.zeros((1, length), np.int64)


@dataclass(frozen=True, eq=False)
class Ties:
    """All words of one length that can be drawn, all words that they are projected to, and which are the nearest."""

    drawn: Codes  # a row of codes of the mechanism each
    words: Codes  # likewise, but codes of what is released
    nearest: NDArray[np.bool_]  # for each of the former (row), whether each of the latter (column) is among the nearest

    @classmethod
    def of(cls, drawn: Codes, inside: Integers, words: Codes, outside: Integers) -> Ties:
        """From both lists; `inside` and `outside` turn codes of what is drawn into those of the words, and these into
        codes of what is released. Cost: drawn words · words · length."""
        apart = np.zeros((len(drawn), len(words)), dtype=np.int32)
        for position in range(drawn.shape[1]):
            apart += inside[drawn[:, position]][:, None] != words[:, position]
        return cls(drawn, outside[words], apart == apart.min(axis=1, keepdims=True))

    @cached_property
    def number(self) -> dict[bytes, int]:
        """The number of each word that can be released."""
        return {row.astype(np.int64).tobytes(): number for number, row in enumerate(self.words)}

    @cached_property
    def sizes(self) -> Integers:
        """For each drawn word, the number of nearest words."""
        return np.asarray(np.count_nonzero(self.nearest, axis=1))


class ProjectedLaw:
    """The distribution of a projected draw: each draw shares its probability among the words that are nearest to it.

    Where there are too many words to list, it can be drawn but not evaluated. Cost of a probability: that of all words
    that can be drawn, once.
    """

    def __init__(
        self, codes: Codes, law: Law, project: Callable[[Rows, Stream], Rows], ties: Ties | None, by_edits: bool
    ) -> None:
        self.codes, self.law, self.ties = codes, law, ties
        self._project, self._by_edits = project, by_edits

    def _listed(self) -> Ties:
        if self.ties is None:
            raise InvalidValue(_BY_EDITS if self._by_edits else _NO_PROBABILITY)
        return self.ties

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each word that can be released."""
        ties = self._listed()
        logs = np.array([self.law.log_prob(codes) for codes in ties.drawn])
        return np.asarray((np.exp(logs) / ties.sizes) @ ties.nearest)

    def log_prob(self, codes: Codes) -> float:
        number = self._listed().number.get(codes.astype(np.int64).tobytes())
        probability = 0.0 if number is None else float(self.probabilities[number])
        return math.log(probability) if probability > 0 else -math.inf

    def exact(self, codes: Codes) -> Fraction:
        """The exact probability, where the law of the draws is stored: ties are drawn as if without rounding."""
        ties, law = self._listed(), cast(StoredLaw, self.law)
        drawn = np.flatnonzero(ties.nearest[:, ties.number[codes.astype(np.int64).tobytes()]])
        return sum((law.exact(ties.drawn[one]) / int(ties.sizes[one]) for one in drawn), Fraction(0))

    def draw(self, count: int, stream: Stream) -> Rows:
        """Independent outputs. Cost: that of the draws, and one projection for each."""
        return self._project(self.law.draw(count, stream), stream)

    def distance_distribution(self) -> Floats:
        if self.ties is None:
            raise InvalidValue(_NO_FORMULA)
        apart: Any = np.count_nonzero(self.ties.words != self.codes, axis=1)
        return np.bincount(apart, weights=self.probabilities, minlength=len(self.codes) + 1).astype(np.float64)

    def expected_distance(self) -> float:
        by_distance = self.distance_distribution()
        return math.fsum(by_distance * np.arange(len(by_distance)))
