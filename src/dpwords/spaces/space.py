"""The protocol of spaces: a space gives each word of a language the distribution of its outputs.

A `Space` is a language under a distance. Given a word and `Weights`, it returns a `Law`: the output distribution at
that word. Free words, runs of systems, lists, counted languages and the brute-force space all implement it. The law of
any space draws a distance first, and then a word at exactly that distance; some spaces have a faster one.
"""

from __future__ import annotations

import hashlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, Distance, Ragged, Rows
from dpwords.core.values import read_only
from dpwords.errors import InvalidValue
from dpwords.spaces.graph import Graph


@dataclass(frozen=True, eq=False)
class WeightedWords:
    """All words of one length of a language, a row of codes for each, and their public weights."""

    rows: Integers
    weight: Scaled

    def __post_init__(self) -> None:
        read_only(self.rows, *self.weight)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # a pickle does not keep arrays read-only

    @cached_property
    def _number(self) -> dict[bytes, int]:
        return {row.tobytes(): number for number, row in enumerate(self.rows.astype(np.int64))}

    @cached_property
    def weights_identity(self) -> str:
        """A hash of the words and their weights."""
        return hashlib.sha256(self.rows.astype("<i8").tobytes() + b"|" + self.weight.stored()).hexdigest()

    def number(self, codes: Codes) -> int:
        """The number of a word in the list."""
        return self._number[codes.astype(np.int64).tobytes()]


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of an output: e^(−power), where the power depends on its distance, times a public weight.

    This is everything that a draw needs from calibration. It is read once for each draw, as one immutable value.
    """

    reach: int  # the largest distance that has a power
    rate: Fraction | None  # if the power of distance d is rate · d
    steps: tuple[Fraction, ...] | None  # otherwise, the power of each distance
    base: Graph | WeightedWords | None = None  # the public weight of each word; if it is None, all of them are 1

    @classmethod
    def linear(cls, rate: Fraction, reach: int, base: Graph | WeightedWords | None = None) -> Weights:
        """e^(−rate · d) for distances d up to `reach`."""
        return cls(reach, rate, None, base)

    @classmethod
    def by_distance(cls, powers: tuple[Fraction, ...], base: WeightedWords | None = None) -> Weights:
        """e^(−powers[d]) for d = 0, 1, 2, …."""
        return cls(len(powers) - 1, None, powers, base)

    @property
    def powers(self) -> tuple[Fraction, ...]:
        """The exact power of each distance."""
        if self.steps is not None:
            return self.steps
        assert self.rate is not None
        return tuple(self.rate * d for d in range(self.reach + 1))

    @property
    def parameters(self) -> tuple[object, ...]:
        """All numbers that determine the weights, as values whose `repr` is exact."""
        return self.reach, self.rate, self.steps, None if self.base is None else self.base.weights_identity

    @cached_property
    def z(self) -> Scaled:
        """e^(−rate), rounded once, as an array of one number."""
        assert self.rate is not None
        return scaled.exp_minus([self.rate])

    @cached_property
    def values(self) -> Scaled:
        """The weight of each distance, each rounded once."""
        return scaled.exp_minus(self.powers)

    @cached_property
    def logs(self) -> Floats:
        """Natural logarithms of the weights."""
        return np.array([-float(power) for power in self.powers])


class Distances(NamedTuple):
    """How far the outputs of some words are from these words."""

    means: Floats  # for each word, the mean distance
    proportions: Floats  # a row for each word: the probabilities of the distances 0, 1, 2, …


class LeastDistance(NamedTuple):
    """The least distance between two different words, or a lower bound of it."""

    value: int | None  # None if there are no two words
    is_exact: bool


class Law(Protocol):
    """The output distribution at one private word. Words are arrays of symbol codes."""

    def log_prob(self, codes: Codes) -> float:
        """The natural logarithm of the probability of a word of the language."""

    def draw(self, count: int, stream: Stream) -> Rows:
        """`count` independent words."""

    def distance_distribution(self) -> Floats:
        """The probability of each distance 0, 1, 2, …."""

    def expected_distance(self) -> float:
        """The mean distance from the private word."""


class StoredLaw(Law, Protocol):
    """A law whose probabilities are quotients of stored weights, hence exact fractions."""

    def exact(self, codes: Codes) -> Fraction:
        """The exact probability, without any rounding, with which `draw` returns a word of the language."""


class Surroundings(Protocol):
    """The surroundings of a private word: the words of the language, grouped by their distance from it."""

    codes: Codes  # of the private word
    sizes: Scaled  # the number of words at distance 0, 1, 2, …
    footprint: int  # numbers held at a time for each word that is drawn

    def distance(self, codes: Codes) -> int:
        """The distance of a word of the language from the private one."""

    def draw(self, distances: Integers, stream: Stream) -> Rows:
        """For each distance, one of the words at exactly that distance, all of them equally likely."""

    def probability(self, codes: Codes) -> Fraction:
        """The exact probability with which `draw` returns a word when it draws at the word's distance."""


@dataclass(frozen=True, eq=False)
class DistanceWeights:
    """For each distance, the total weight of the words there, and the log-probability of any single one of them."""

    totals: Scaled
    log_probs: Floats

    @classmethod
    def of_words(cls, sizes: Scaled, weights: Weights) -> DistanceWeights:
        """Each word has a probability in proportion to its weight, so a distance counts with its number of words."""
        totals = sizes.times(weights.values)
        return cls(totals, weights.logs - scaled.total(totals).logs())

    @classmethod
    def ignoring_sizes(cls, sizes: Scaled, weights: Weights) -> DistanceWeights:
        """Each distance that has words gets a probability in proportion to its weight, whatever their number."""
        totals = scaled.indicator(sizes.mantissa > 0).times(weights.values)
        with np.errstate(invalid="ignore"):  # −inf − −inf at a distance without words, whose entry is never used
            return cls(totals, totals.logs() - scaled.total(totals).logs() - sizes.logs())

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each distance."""
        relative = self.totals.relative_to(self.totals.exponent.max())
        return np.asarray(relative / math.fsum(relative))


@dataclass(frozen=True, eq=False)
class ByDistanceLaw:
    """Draws a distance by its weight, then one of the words at that distance, all of them equally likely."""

    around: Surroundings
    weights: DistanceWeights
    limits: Limits = DEFAULTS

    def log_prob(self, codes: Codes) -> float:
        return float(self.weights.log_probs[self.around.distance(codes)])

    def exact(self, codes: Codes) -> Fraction:
        return sampling.probabilities(self.weights.totals)[self.around.distance(codes)] * self.around.probability(codes)

    def draw(self, count: int, stream: Stream) -> Rows:
        drawn = sampling.choose(self.weights.totals, count, stream)
        parts = [self.around.draw(drawn[b], stream) for b in batches(count, self.around.footprint, self.limits)]
        same_length = [part for part in parts if isinstance(part, np.ndarray)]
        return np.concatenate(same_length) if same_length else Ragged.of([word for part in parts for word in part])

    def distance_distribution(self) -> Floats:
        return self.weights.probabilities

    def expected_distance(self) -> float:
        return math.fsum(self.weights.probabilities * np.arange(len(self.weights.probabilities)))


class Space(ABC):
    """The words of a language under a distance: everything that draws need to know about them."""

    distance: Distance = "hamming"
    limits: Limits = DEFAULTS
    homogeneous = False  # whether all words of the same length have equally many words at each distance

    @property
    @abstractmethod
    def identity(self) -> str:
        """A text that two spaces share only if they have the same words under the same distance."""

    @property
    @abstractmethod
    def slack(self) -> float:
        """The most that rounding can add to the privacy loss, for each symbol of a word (docs/theory.md, section 6)."""

    @abstractmethod
    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        """For each row of symbol codes, whether it is a word of the language."""

    @abstractmethod
    def around(self, codes: Codes) -> Surroundings:
        """The surroundings of a word of the language."""

    def law(self, codes: Codes, weights: Weights) -> StoredLaw:
        """The distribution that gives each output a probability in proportion to its weight."""
        around = self.around(codes)
        return ByDistanceLaw(around, DistanceWeights.of_words(around.sizes, weights), self.limits)

    @abstractmethod
    def every(self, length: int, most: int) -> Rows | None:
        """All words of one length, or None if there are more than `most`."""

    @abstractmethod
    def uniform(self, length: int, count: int, stream: Stream) -> Rows:
        """Independent words, drawn uniformly from all words of one length; raises `InvalidValue` if there are none."""

    @abstractmethod
    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        """(listed, drawn): averages are over all words of one length if there are at most `listed`, otherwise over
        `drawn` random ones.

        `steps` is the cost of visiting one edge.
        """

    @abstractmethod
    def least_distance(self, length: int) -> LeastDistance:
        """The least distance between two different words of this length; under Levenshtein distance, of any length."""

    def reach(self, length: int) -> int:
        """The largest distance that an output can have from a word of this length."""
        return length

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Rows:
        """One word for each row, drawn from that row's law. Cost: one law for each distinct row."""
        if len(rows) == 1:
            alone = self.law(rows[0], weights).draw(1, stream.one(0))
            return alone if self.distance == "levenshtein" else np.array(list(alone)).astype(rows.dtype, copy=False)
        distinct, numbers, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        drawn: list[Codes] = []
        sorted_rows = np.argsort(numbers.ravel(), kind="stable")
        for row, alike in zip(distinct, np.split(sorted_rows, np.cumsum(times)[:-1]), strict=True):
            law = self.law(row, weights)
            if stream.shared:
                drawn.extend(law.draw(len(alike), stream))
            else:
                drawn.extend(word for number in alike for word in law.draw(1, stream.one(number)))
        order = np.argsort(sorted_rows, kind="stable")
        words = [drawn[position] for position in order]
        return np.array(words).astype(rows.dtype) if self.distance == "hamming" else Ragged.of(words)

    def distances(self, rows: Rows, weights: Weights, width: int | None) -> Distances:
        """The distances of the outputs of some words; with `width`, the probabilities of 0, …, width − 1 only."""
        return distances_of([self.law(row, weights) for row in rows], width)

    def typical(self, length: int, steps: int = 1) -> tuple[Rows, Integers]:
        """Words that represent all words of one length, chosen by public facts only, and how often each of them counts.

        These are all words of that length if there are few enough, otherwise words drawn uniformly with a fixed seed.
        """
        listed, drawn = self.averaged(length, steps)
        words = self.every(length, listed)
        if words is not None:
            if not len(words):
                raise none_of_length(length)
            return words, np.ones(len(words), dtype=np.int64)
        sample = self.uniform(length, drawn, SeededSource("typical words").open())
        return np.unique(np.array(list(sample)), axis=0, return_counts=True)


def distances_of(laws: Iterable[Law], width: int | None) -> Distances:
    """The distances under some laws, one after the other. Cost: without a width, or if it is not 0, that of counting
    the words at each distance."""
    means: list[float] = []
    proportions: list[Floats] = []
    for law in laws:
        means.append(law.expected_distance())
        proportions.append(np.zeros(0) if width == 0 else law.distance_distribution()[:width])
    table = np.zeros((len(means), max(map(len, proportions)) if width is None else width))
    for row, found in zip(table, proportions, strict=True):
        row[: len(found)] = found
    return Distances(np.array(means), table)


def batches(count: int, footprint: int, limits: Limits) -> Iterator[slice]:
    """Slices that cover `count` items, each small enough for the batch limit at `footprint` numbers for each item."""
    size = max(limits.batch // max(footprint, 1), 1)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def hamming(one: Codes, other: Codes) -> int:
    """The number of positions where two words of the same length differ."""
    return int(np.count_nonzero(one != other))


def none_of_length(length: int) -> InvalidValue:
    """The exception to raise if a language has no word of this length."""
    return InvalidValue(f"the language has no word of length {length}: choose another length")
