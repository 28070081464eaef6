"""Distributions over the words of one length around a private word, by distance classes or by a folded lattice.

A *profile* f gives each word at distance d the weight f(d). A *law* is the distribution that follows:
`ShellLaw` draws a distance, then a word at exactly that distance; `FoldedLaw` needs no distance classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from dpwords import sampling, scaled
from dpwords.lattice import Discount, Graph, Lattice, Tally
from dpwords.randomness import Stream
from dpwords.scaled import Floats, Integers, Scaled

_BATCH = 2**20  # symbols drawn at a time, to bound memory


@dataclass(frozen=True)
class Profile:
    """f(d) = e^(−powers[d]) for d = 0, …, n, with exact rational powers ≥ 0."""

    powers: tuple[Fraction, ...]

    @cached_property
    def rate(self) -> Fraction | None:
        """c, if f(d) = e^(−c·d)."""
        rate = self.powers[1] if len(self.powers) > 1 else Fraction(0)
        return rate if all(power == rate * d for d, power in enumerate(self.powers)) else None

    @cached_property
    def weights(self) -> Scaled:
        """f(0), …, f(n), each rounded once."""
        return scaled.exp_minus(self.powers)

    @cached_property
    def logs(self) -> Floats:
        """ln f(0), …, ln f(n)."""
        return np.array([-float(power) for power in self.powers])


class Law(Protocol):
    """A distribution over words of one length, as rows of symbol codes."""

    def log_prob(self, codes: Integers) -> float:
        """The logarithm of the probability of a word of the language."""

    def draw(self, count: int, stream: Stream) -> Integers:
        """Independent words, one a row."""

    def distance_distribution(self) -> Floats:
        """The probability of each distance 0, …, n."""

    def expected_distance(self) -> float:
        """The mean distance."""


class Shells(Protocol):
    """The words of a language by their distance from the private word."""

    codes: Integers
    sizes: Scaled  # the number of words at distance 0, …, n

    def draw(self, distances: Integers, stream: Stream) -> Integers:
        """For each distance a uniform word at exactly that distance."""


@dataclass(frozen=True)
class FreeWords:
    """The space of all words over so many symbols, as a `Graph` is that of a system's words."""

    symbols: int


Space = FreeWords | Graph


class FreeShells:
    """Shells of all words over `symbols` symbols. Cost: the length of each word drawn."""

    def __init__(self, codes: Integers, symbols: int) -> None:
        self.codes, self.symbols = codes, symbols
        self.sizes = _free_sizes(len(codes), symbols)

    def draw(self, distances: Integers, stream: Stream) -> Integers:
        words = np.tile(self.codes, (len(distances), 1))
        changed = sampling.subsets(distances, len(self.codes), stream)
        kept = words[changed]
        other = sampling.below(max(self.symbols - 1, 1), kept.shape, stream)
        words[changed] = other + (other >= kept)
        return words


class LatticeShells:
    """Shells of a language given as a graph. Cost: length² · edges once, then the length of each word drawn."""

    def __init__(self, graph: Graph, codes: Integers) -> None:
        self.codes = codes
        self._lattice = Lattice(graph, codes, Tally())
        self.sizes = self._lattice.at_start()

    def draw(self, distances: Integers, stream: Stream) -> Integers:
        return self._lattice.walk(distances, stream)


def free_sizes(length: int, symbols: int) -> list[int]:
    """The number of words at distance 0, …, n from any word: C(n, d) · (m − 1)^d, exactly."""
    sizes = [1]
    for d in range(1, length + 1):
        sizes.append(sizes[-1] * (length - d + 1) * (symbols - 1) // d)
    return sizes


def shells_around(codes: Integers, space: Space) -> Shells:
    """The words of a space by their distance from one of them."""
    return FreeShells(codes, space.symbols) if isinstance(space, FreeWords) else LatticeShells(space, codes)


@lru_cache(maxsize=64)
def _free_sizes(length: int, symbols: int) -> Scaled:
    return scaled.from_integers(free_sizes(length, symbols))


@dataclass(frozen=True, eq=False)
class ShellWeights:
    """The weight of each whole shell, and the log-probability of each single word in it."""

    shells: Scaled
    log_probs: Floats

    @classmethod
    def by_profile(cls, sizes: Scaled, profile: Profile) -> ShellWeights:
        """Each word in proportion to f(d), so each shell to its size · f(d)."""
        shells = sizes.times(profile.weights)
        return cls(shells, profile.logs - scaled.total(shells).logs())

    @classmethod
    def ignoring_sizes(cls, sizes: Scaled, profile: Profile) -> ShellWeights:
        """Each shell that has a word in proportion to f(d), however many words it has."""
        shells = scaled.indicator(sizes.mantissa > 0).times(profile.weights)
        with np.errstate(invalid="ignore"):  # −inf − −inf at an empty shell, where no word will ask
            return cls(shells, shells.logs() - scaled.total(shells).logs() - sizes.logs())

    @cached_property
    def probabilities(self) -> Floats:
        """The probability of each distance."""
        relative = self.shells.relative_to(self.shells.exponent.max())
        return np.asarray(relative / relative.sum())

    def mean(self) -> float:
        """The expected distance."""
        return float(self.probabilities @ np.arange(len(self.probabilities)))


@dataclass(frozen=True, eq=False)
class ShellLaw:
    """Draw a distance by the weight of its shell, then a uniform word of that shell."""

    shells: Shells
    weights: ShellWeights

    def log_prob(self, codes: Integers) -> float:
        return float(self.weights.log_probs[_distance(codes, self.shells.codes)])

    def draw(self, count: int, stream: Stream) -> Integers:
        drawn = sampling.choose(self.weights.shells, count, stream)
        return np.concatenate([self.shells.draw(drawn[b], stream) for b in _batches(count, len(self.shells.codes))])

    def distance_distribution(self) -> Floats:
        return self.weights.probabilities

    def expected_distance(self) -> float:
        return self.weights.mean()


class FoldedLaw:
    """Words in proportion to e^(−rate · distance), without distance classes. Cost: length · edges."""

    def __init__(self, graph: Graph, codes: Integers, rate: Fraction) -> None:
        self.rate = rate
        self.lattice = Lattice(graph, codes, Discount(scaled.exp_minus([rate])))
        self._log_total = float(self.lattice.at_start().logs()[0])

    def log_prob(self, codes: Integers) -> float:
        return -float(self.rate * _distance(codes, self.lattice.codes)) - self._log_total

    def draw(self, count: int, stream: Stream) -> Integers:
        batches = _batches(count, len(self.lattice.codes))
        return np.concatenate([self.lattice.walk(np.zeros(b.stop - b.start, int), stream) for b in batches])

    def distance_distribution(self) -> Floats:
        return self.lattice.distance_distribution()

    def expected_distance(self) -> float:
        return self.lattice.mean_distance()


def uniform(graph: Graph, length: int) -> FoldedLaw:
    """The uniform law over a graph's words of one length."""
    return FoldedLaw(graph, np.zeros(length, dtype=np.int64), Fraction(0))


def best_first_step(length: int, symbols: int, k: int, power: float) -> int:
    """The width j that minimises the expected distance of f(d) = e^(−power · ceil((d − j)/k)) on free words.

    Cost: k · length.
    """
    if k == 1:
        return 0
    distances = np.arange(length + 1)
    log_sizes = _free_sizes(length, symbols).logs()
    means = []
    for j in range(k):
        logs = log_sizes - power * np.ceil((distances - j) / k)
        weights = np.exp(logs - logs.max())
        means.append(float(weights @ distances / weights.sum()))
    return int(np.argmin(means))


def _distance(one: Integers, other: Integers) -> int:
    return int((one != other).sum())


def _batches(count: int, length: int) -> Iterator[slice]:
    size = max(_BATCH // max(length, 1), 1)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
