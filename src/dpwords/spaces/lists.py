"""Words in a list: how far each of them is from a given one, how many at each distance, and a uniform one of them.

A word is a text whose code points are the codes of its symbols, so that distances between texts are distances between
words, whatever the symbols are.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import Hamming, Levenshtein

from dpwords.core import sampling, scaled
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Integers, Scaled
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue
from dpwords.languages.lexicon import Lexicon
from dpwords.spaces.free_words import Shells

_BLOCK = 2**23  # distances held at a time
_MOST_AVERAGED, _FEWEST_AVERAGED = 256, 8  # words that stand for a language in its public expected distance
_AVERAGED_DISTANCES = 2**24  # computed before fewer words have to do
_SCORERS: dict[Distance, Any] = {"hamming": Hamming.distance, "levenshtein": Levenshtein.distance}


def text_of(codes: Integers) -> str:
    """A word as a text."""
    return "".join(map(chr, codes.tolist()))


def codes_of(text: str) -> Integers:
    """The word of a text."""
    return np.array([ord(mark) for mark in text], dtype=np.int64)


def distances(ones: Sequence[str], others: Sequence[str], distance: Distance, longest: int) -> NDArray[Any]:
    """From each of some words to each of others, none of more than `longest` symbols; on all cores."""
    kind = np.uint8 if longest < 2**8 else np.uint32
    return np.asarray(process.cdist(ones, others, scorer=_SCORERS[distance], dtype=kind, workers=-1))


class Listing:
    """Some words, all of one length under Hamming distance."""

    def __init__(self, texts: Sequence[str], distance: Distance) -> None:
        self.texts, self.distance = texts, distance
        self.lengths: Integers = np.array([len(text) for text in texts])
        self.longest = int(self.lengths.max())

    def __len__(self) -> int:
        return len(self.texts)

    def from_word(self, text: str) -> NDArray[Any]:
        """The distance of each word of the list from a word. Cost: 10 milliseconds for 100,000 words."""
        return np.asarray(distances([text], self.texts, self.distance, self.longest)[0])

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """The number of a word, and the distances from it and some after it (rows) to it and all after it.

        Cost: words² / 2 distances in all, on all cores; a minute or two for 100,000 words.
        """
        first = 0
        while first < len(self):
            rows = max(_BLOCK // (len(self) - first), 1)
            block = self.texts[first : first + rows]
            yield first, distances(block, self.texts[first:], self.distance, self.longest)
            first += rows


class ListedShells:
    """The words of a list by their distance from a word of it: exact counts, exactly uniform draws.

    Cost: the distances once, then little for each word drawn.
    """

    def __init__(self, codes: Integers, listing: Listing, reach: int) -> None:
        self.codes, self._listing = codes, listing
        apart = listing.from_word(text_of(codes))
        self._counts = np.bincount(apart, minlength=reach + 1)
        self._order = np.argsort(apart, kind="stable")
        self.sizes: Scaled = scaled.from_integers(self._counts.tolist())
        self.footprint = listing.longest + 1

    def distance(self, codes: Integers) -> int:
        """How far a word is from the private one."""
        return int(_SCORERS[self._listing.distance](text_of(codes), text_of(self.codes)))

    def draw(self, distances: Integers, stream: Stream) -> list[Integers]:
        """For each distance a uniform word at exactly that distance."""
        picked = np.empty(len(distances), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(self._counts)])
        for distance in np.unique(distances).tolist():
            here = distances == distance
            shape = (int(np.count_nonzero(here)),)
            picked[here] = starts[distance] + sampling.below(int(self._counts[distance]), shape, stream)
        texts = self._listing.texts
        return [codes_of(texts[index]) for index in self._order[picked]]


class Surroundings(ABC):
    """A finite language with what lies around its words: exact counts by distance, and uniform draws.

    Words that can be taken for each other form a *class*: all words of one length under Hamming distance, all words
    under Levenshtein distance. A class is known by its reach, the largest distance that two of its words can have.
    """

    distance: Distance
    classes: list[int]  # the reach of each

    @abstractmethod
    def shells(self, codes: Integers) -> Shells:
        """The words of the language by their distance from a word of it."""

    @abstractmethod
    def listing(self, reach: int) -> Listing | None:
        """The words of a class, unless they are too many to be listed."""

    @abstractmethod
    def typical(self, length: int) -> tuple[list[Integers], Integers]:
        """Words that stand for all of one length, by public facts only, and how often each counts."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """A hash of the language and the distance."""

    def reach(self, length: int) -> int:
        """The reach of the class of the words of a length."""
        return length if self.distance == "hamming" else self.classes[0]


class Table(Surroundings):
    """A lexicon under one of the distances."""

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, lexicon: Lexicon, distance: Distance) -> Table:
        """The table of a lexicon, which mechanisms at several ε share."""
        return cls(lexicon, distance)

    def __init__(self, lexicon: Lexicon, distance: Distance) -> None:
        self.distance, self._lexicon = distance, lexicon
        self.classes = [max(lexicon.lengths)] if distance == "levenshtein" else [n for n in lexicon.lengths if n]
        self._listings: dict[int, Listing] = {}

    def shells(self, codes: Integers) -> ListedShells:
        reach = self.reach(len(codes))
        return ListedShells(codes, self.listing(reach), reach)

    def listing(self, reach: int) -> Listing:
        """The words of a class."""
        if reach not in self._listings:
            texts = self._lexicon.table if self.distance == "levenshtein" else self._of_length(reach)
            self._listings[reach] = Listing(texts, self.distance)
        return self._listings[reach]

    def typical(self, length: int) -> tuple[list[Integers], Integers]:
        texts = self._of_length(length)
        most = min(max(_AVERAGED_DISTANCES // len(self.listing(self.reach(length))), _FEWEST_AVERAGED), _MOST_AVERAGED)
        if len(texts) > most:
            texts = [texts[i] for i in sampling.below(len(texts), (most,), SeededSource("typical words").open())]
        return [codes_of(text) for text in texts], np.ones(len(texts), dtype=np.int64)

    @cached_property
    def identity(self) -> str:
        words = ("|" + ",".join(str(ord(mark)) for mark in text) for text in self._lexicon.table)
        return hashlib.sha256((self.distance + "".join(words)).encode()).hexdigest()

    def _of_length(self, length: int) -> list[str]:
        if length not in self._by_length:
            raise InvalidValue(f"the language has no word of length {length}: choose another length")
        return self._by_length[length]

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for text in self._lexicon.table:
            found.setdefault(len(text), []).append(text)
        return found
