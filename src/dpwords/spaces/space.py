"""The protocol of the room: a space gives each word of a language the distribution of its outputs.

A `Space` is a language under a distance. Given a word and `Weights`, it gives a `Law`: the output distribution at that
word. Free words, runs of systems, lists, counted languages and the brute-force twin all implement it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core import scaled
from dpwords.core.encoding import Codes, Ragged, Rows
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue
from dpwords.spaces.graph import Graph


@dataclass(frozen=True, eq=False)
class Weights:
    """The weight of an output: e^(−power of its distance), times a public weight of the output itself.

    This is everything that a draw needs to know from calibration. It is read once for each draw, as one value that
    never changes.
    """

    reach: int  # the largest distance that has a power
    rate: Fraction | None  # where the power of distance d is rate · d
    steps: tuple[Fraction, ...] | None  # where it is not: the power of each distance
    base: Graph | None = None  # gives each word its public weight; without it all words have the same

    @classmethod
    def linear(cls, rate: Fraction, reach: int, base: Graph | None = None) -> Weights:
        """e^(−rate · d) for distances d up to `reach`."""
        return cls(reach, rate, None, base)

    @classmethod
    def by_distance(cls, powers: tuple[Fraction, ...]) -> Weights:
        """e^(−powers[d]) for d = 0, 1, 2, …."""
        return cls(len(powers) - 1, None, powers)

    @property
    def powers(self) -> tuple[Fraction, ...]:
        """The exact power of each distance."""
        if self.steps is not None:
            return self.steps
        assert self.rate is not None
        return tuple(self.rate * d for d in range(self.reach + 1))

    @cached_property
    def z(self) -> Scaled:
        """e^(−rate), rounded once."""
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


class Law(Protocol):
    """The output distribution at one word. Words are arrays of symbol codes."""

    def log_prob(self, codes: Codes) -> float:
        """The natural logarithm of the probability of a word of the language."""

    def draw(self, count: int, stream: Stream) -> Rows:
        """Independent words."""

    def distance_distribution(self) -> Floats:
        """The probability of each distance 0, 1, 2, …."""

    def expected_distance(self) -> float:
        """The mean distance from the private word."""


class StoredLaw(Law, Protocol):
    """A law whose probabilities follow from stored weights, so that they are fractions."""

    def exact(self, codes: Codes) -> Fraction:
        """The probability with which the program really draws a word of the language, without any rounding."""


class Surroundings(Protocol):
    """The words of a language by their distance from a private word."""

    codes: Codes  # of the private word
    sizes: Scaled  # the number of words at distance 0, 1, 2, …
    footprint: int  # numbers held at a time for each word drawn

    def distance(self, codes: Codes) -> int:
        """The distance of a word of the language from the private one."""

    def draw(self, distances: Integers, stream: Stream) -> Rows:
        """For each distance one of the words at exactly that distance, all of them equally likely."""

    def share(self, codes: Codes) -> Fraction:
        """The probability with which `draw` really gives a word, among those at its distance."""


class Space(ABC):
    """The words of a language under a distance, as far as draws need to know them."""

    distance: Distance = "hamming"
    limits: Limits = DEFAULTS
    homogeneous = False  # whether every word has the same number of words at each distance

    @property
    @abstractmethod
    def identity(self) -> str:
        """A text that two spaces share only if they have the same words under the same distance."""

    @property
    @abstractmethod
    def slack(self) -> float:
        """What rounding can add to the privacy loss of any two words, for each symbol of a word (theory, section 6)."""

    @abstractmethod
    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        """For each row of symbol codes whether it is a word of the language."""

    @abstractmethod
    def around(self, codes: Codes) -> Surroundings:
        """The words of the language by their distance from a word of it."""

    @abstractmethod
    def law(self, codes: Codes, weights: Weights) -> StoredLaw:
        """The distribution that gives each output a probability in proportion to its weight."""

    @abstractmethod
    def every(self, length: int, most: int) -> Rows | None:
        """All words of a length, if there are at most so many; else None."""

    @abstractmethod
    def uniform(self, length: int, count: int, stream: Stream) -> Rows:
        """Words drawn uniformly from those of a length. There must be one."""

    @abstractmethod
    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        """How many words of a length are all listed for an average, and, beyond that, how many are drawn.

        `steps` is what a visit of an edge costs.
        """

    def reach(self, length: int) -> int:
        """The largest distance that an output can have from a word of this length."""
        return length

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Rows:
        """One word for each row, drawn from the law of that row. Cost: one law for each distinct row."""
        if len(rows) == 1:
            drawn_alone = self.law(rows[0], weights).draw(1, stream)
            return drawn_alone.astype(rows.dtype, copy=False) if isinstance(drawn_alone, np.ndarray) else drawn_alone
        distinct, numbers, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        drawn: list[Codes] = []
        for row, count in zip(distinct, times.tolist(), strict=True):
            drawn.extend(self.law(row, weights).draw(count, stream))
        order = np.argsort(np.argsort(numbers.ravel(), kind="stable"), kind="stable")
        words = [drawn[place] for place in order]
        return np.array(words).astype(rows.dtype) if self.distance == "hamming" else Ragged.of(words)

    def typical(self, length: int, steps: int = 1) -> tuple[Rows, Integers]:
        """Words that stand for all of a length, chosen by public facts only, and how often each of them counts.

        These are all words of the length where that is affordable, else words drawn uniformly, the same every time.
        """
        listed, drawn = self.averaged(length, steps)
        words = self.every(length, listed)
        if words is not None:
            if not len(words):
                raise none_of_length(length)
            return words, np.ones(len(words), dtype=np.int64)
        sample = self.uniform(length, drawn, SeededSource("typical words").open())
        return np.unique(np.array(list(sample)), axis=0, return_counts=True)


def batches(count: int, footprint: int, limits: Limits) -> Iterator[slice]:
    """Parts of a count so small that the numbers held for one part stay within the limit."""
    size = max(limits.batch // max(footprint, 1), 1)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))


def hamming(one: Codes, other: Codes) -> int:
    """The number of places where two words of the same length differ."""
    return int(np.count_nonzero(one != other))


def loss_by_distance(logs: Floats, k: int) -> float:
    """The true ε where the probability of an output depends on its distance alone, as on free words.

    `logs` are the logarithms of the probability at distances 0, …, n at which there are words. Cost: n · k.
    """
    gaps = (np.abs(logs[lag:] - logs[:-lag]).max() for lag in range(1, min(k, len(logs) - 1) + 1))
    return float(max(gaps, default=0.0))


def none_of_length(length: int) -> InvalidValue:
    """What is said where a language has no word of a length."""
    return InvalidValue(f"the language has no word of length {length}: choose another length")
