"""Lists of words: their distances from a given word, the number at each distance, and uniform draws.

A word is stored as a *text*, a string whose code points are the codes of its symbols, so that distances between texts
are distances between words, whatever the symbols are.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Integers, Scaled
from dpwords.core.symbols import Codes, Distance, Ragged
from dpwords.languages.lexicon import Lexicon
from dpwords.spaces.space import LeastDistance, Space, none_of_length


def text_of(codes: Codes) -> str:
    """The text of a word."""
    return "".join(map(chr, codes.tolist()))


def codes_of(text: str) -> Integers:
    """The codes of the word that a text stands for."""
    return np.array([ord(mark) for mark in text], dtype=np.int64)


def distances(ones: Sequence[str], others: Sequence[str], distance: Distance, longest: int) -> NDArray[Any]:
    """The distance from each of `ones` (row) to each of `others` (column), computed on all cores.

    No word may have more than `longest` symbols.
    """
    from rapidfuzz.distance import Hamming, Levenshtein
    from rapidfuzz.process import cdist

    kind = np.uint8 if longest < 2**8 else np.uint32
    scorer = Hamming.distance if distance == "hamming" else Levenshtein.distance
    return np.asarray(cdist(ones, others, scorer=scorer, dtype=kind, workers=-1))


class Listing:
    """A list of words; under Hamming distance they must all have the same length."""

    def __init__(self, texts: Sequence[str], distance: Distance, limits: Limits = DEFAULTS) -> None:
        self.texts, self.distance, self.limits = texts, distance, limits
        self.lengths: Integers = np.array([len(text) for text in texts])
        self.longest = int(self.lengths.max())

    def __len__(self) -> int:
        return len(self.texts)

    def from_word(self, text: str) -> NDArray[Any]:
        """The distance of each word of the list from a word. Cost: 10 milliseconds for 100,000 words."""
        return np.asarray(distances([text], self.texts, self.distance, max(self.longest, len(text)))[0])

    def blocks(self) -> Iterator[tuple[int, NDArray[Any]]]:
        """All distances, in blocks: the number of a word, and the distances from it and some words after it (rows) to
        it and all words after it (columns).

        Cost: words² / 2 distances in total, on all cores; a minute or two for 100,000 words.
        """
        first = 0
        while first < len(self):
            rows = max(self.limits.distances // (len(self) - first), 1)
            block = self.texts[first : first + rows]
            yield first, distances(block, self.texts[first:], self.distance, self.longest)
            first += rows


def is_one_apart(texts: Sequence[str], distance: Distance) -> bool:
    """Whether two different words of a list are at distance 1. Cost: the symbols of the words, times their length."""
    known, gaps = set(texts), set()
    for text in known:
        for position in range(len(text)):
            before, behind = text[:position], text[position + 1 :]
            if (before, behind) in gaps or (distance == "levenshtein" and before + behind in known):
                return True
            gaps.add((before, behind))
    return False


class ListedSurroundings:
    """The words of a list, grouped by their distance from one of them: exact counts, exactly uniform draws.

    Cost: all distances once, then little for each draw.
    """

    def __init__(self, codes: Codes, listing: Listing, reach: int) -> None:
        self.codes, self._listing = codes, listing
        apart = listing.from_word(text_of(codes))
        self._counts = np.bincount(apart, minlength=reach + 1)
        self._order = np.argsort(apart, kind="stable")
        self.sizes: Scaled = scaled.from_integers(self._counts.tolist())
        self.footprint = listing.longest + 1

    def distance(self, codes: Codes) -> int:
        own, other = text_of(self.codes), text_of(codes)
        return int(distances([own], [other], self._listing.distance, max(len(own), len(other)))[0, 0])

    def draw(self, distances: Integers, stream: Stream) -> Ragged:
        picked = np.empty(len(distances), dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(self._counts)])
        for distance in np.unique(distances).tolist():
            here = distances == distance
            shape = (int(np.count_nonzero(here)),)
            picked[here] = starts[distance] + sampling.below(int(self._counts[distance]), shape, stream)
        texts = self._listing.texts
        return Ragged.of([codes_of(texts[index]) for index in self._order[picked]])

    def probability(self, codes: Codes) -> Fraction:
        return Fraction(1, int(self._counts[self.distance(codes)]))


class FiniteSpace(Space):
    """A finite language whose words are listed or counted by their distance from a word.

    Words that are possible outputs for each other form a *class*: all words of one length under Hamming distance, all
    words under Levenshtein distance. A class is identified by its reach, the largest possible distance between two of
    its words.
    """

    classes: tuple[int, ...]  # the reach of each class

    @property
    def slack(self) -> float:
        """Counts are exact; only the weights of distances are rounded."""
        return 2.0**-49

    def reach(self, length: int) -> int:
        return length if self.distance == "hamming" else self.classes[0]

    @abstractmethod
    def listing(self, reach: int) -> Listing | None:
        """The words of a class, or None if there are too many to list."""

    def least_distance(self, length: int) -> LeastDistance:
        """Exact for lists that are compared pair by pair; in larger ones only distance 1 is searched for."""
        listing = self.listing(self.reach(length))
        if listing is None:
            return LeastDistance(1, False)
        if is_one_apart(listing.texts, self.distance):
            return LeastDistance(1, True)
        if len(listing) > self.limits.automatic_words:
            return LeastDistance(2, False)
        nearest = [int(apart[apart > 0].min()) for _, apart in listing.blocks() if apart.any()]
        return LeastDistance(min(nearest, default=None), True)


class ListedWords(FiniteSpace):
    """The words of a lexicon under one of the distances."""

    def __init__(self, lexicon: Lexicon, distance: Distance, limits: Limits = DEFAULTS) -> None:
        self.distance, self.limits, self._lexicon = distance, limits, lexicon
        lengths = tuple(lexicon.lengths)
        self.classes = (max(lengths),) if distance == "levenshtein" else tuple(n for n in lengths if n)
        self._listings: dict[int, Listing] = {}

    @cached_property
    def identity(self) -> str:
        words = ("|" + ",".join(str(ord(mark)) for mark in text) for text in self._lexicon.table)
        return hashlib.sha256((self.distance + "".join(words)).encode()).hexdigest()

    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        known = set(self._by_length.get(rows.shape[1], ()))
        return np.array([text_of(row) in known for row in rows], dtype=np.bool_)

    def around(self, codes: Codes) -> ListedSurroundings:
        reach = self.reach(len(codes))
        return ListedSurroundings(codes, self.listing(reach), reach)

    def listing(self, reach: int) -> Listing:
        if reach not in self._listings:
            texts = self._lexicon.table if self.distance == "levenshtein" else self._by_length[reach]
            self._listings[reach] = Listing(texts, self.distance, self.limits)
        return self._listings[reach]

    def every(self, length: int, most: int) -> Codes | None:
        texts = self._by_length.get(length, [])
        if len(texts) > most:
            return None
        return np.array([codes_of(text) for text in texts], dtype=np.int64).reshape(len(texts), length)

    def uniform(self, length: int, count: int, stream: Stream) -> Codes:
        texts = self._by_length.get(length)
        if not texts:
            raise none_of_length(length)
        return np.array([codes_of(texts[index]) for index in sampling.below(len(texts), (count,), stream)])

    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        limits, words = self.limits, len(self._lexicon)
        most = min(max(limits.averaged_distances // words, limits.fewest_averaged), limits.most_averaged)
        return most, most

    @cached_property
    def _by_length(self) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {}
        for text in self._lexicon.table:
            found.setdefault(len(text), []).append(text)
        return found
