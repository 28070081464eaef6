"""The words of a language by their distance from a private word: how many there are, and a uniform one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Integers, Scaled
from dpwords.errors import TooLarge
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Lattice, Tally

LONGEST_FREE_WORD = 20_000  # whose shells are counted; the numbers have so many digits that it takes a second


@dataclass(frozen=True)
class FreeWords:
    """The space of all words over so many symbols, as a `Graph` is that of a system's words."""

    symbols: int


Space = FreeWords | Graph
Rows = Integers | list[Integers]
"""Words as rows of symbol codes, of one length or of several."""


class Shells(Protocol):
    """The words of a space by their distance from the private word."""

    codes: Integers
    sizes: Scaled  # the number of words at distance 0, …, n
    footprint: int  # numbers held at a time for each word drawn

    def distance(self, codes: Integers) -> int:
        """How far a word of the space is from the private one."""

    def draw(self, distances: Integers, stream: Stream) -> Rows:
        """For each distance a uniform word at exactly that distance."""


def shells_around(codes: Integers, space: Space) -> Shells:
    """The shells around a word of the space."""
    return FreeShells(codes, space) if isinstance(space, FreeWords) else LatticeShells(codes, space)


class FreeShells:
    """Shells of all words. Cost: length² / 64 once per length, then the length of each word drawn."""

    def __init__(self, codes: Integers, space: FreeWords) -> None:
        self.codes, self.space = codes, space
        self.sizes = free_sizes(len(codes), space)
        self.footprint = len(codes)

    def distance(self, codes: Integers) -> int:
        return hamming(codes, self.codes)

    def draw(self, distances: Integers, stream: Stream) -> Integers:
        changed = sampling.subsets(distances, len(self.codes), stream)
        return with_other_symbols(self.codes, changed, self.space, stream)


class LatticeShells:
    """Shells of a language given as a graph. Cost: length² · edges once, then the length of each word drawn."""

    def __init__(self, codes: Integers, graph: Graph) -> None:
        self.codes = codes
        self.lattice = Lattice(graph, codes, Tally())
        self.sizes = self.lattice.at_start()
        self.footprint = self.lattice.footprint

    def distance(self, codes: Integers) -> int:
        return hamming(codes, self.codes)

    def draw(self, distances: Integers, stream: Stream) -> Integers:
        return self.lattice.walk(distances, stream)


def hamming(one: Integers, other: Integers) -> int:
    """The number of places where two words of the same length differ."""
    return int(np.count_nonzero(one != other))


def with_other_symbols(codes: Integers, changed: NDArray[np.bool_], space: FreeWords, stream: Stream) -> Integers:
    """Copies of a word, one for each row of flags, with a uniform other symbol wherever a flag is set."""
    words = np.tile(codes, (len(changed), 1))
    kept = words[changed]
    other = sampling.below(max(space.symbols - 1, 1), kept.shape, stream)
    words[changed] = other + (other >= kept)
    return words


@lru_cache(maxsize=64)
def free_sizes(length: int, space: FreeWords) -> Scaled:
    """The number of free words at distance 0, …, n from any one, each rounded once."""
    if length > LONGEST_FREE_WORD:
        raise TooLarge(
            f"distance classes of words are counted up to {LONGEST_FREE_WORD} symbols: split the word (a release with "
            "utility Linear() does without them)"
        )
    return scaled.from_integers(exact_free_sizes(length, space.symbols))


def exact_free_sizes(length: int, symbols: int) -> Iterator[int]:
    """C(n, d) · (m − 1)^d for d = 0, …, n."""
    size = 1
    for d in range(length + 1):
        yield size
        size = size * (length - d) * (symbols - 1) // (d + 1)


def best_first_step(length: int, space: FreeWords, k: int, power: float) -> int:
    """The width j that minimises the expected distance of f(d) = e^(−power · ceil((d − j)/k)) on free words.

    Cost: k · length.
    """
    distances = np.arange(length + 1)
    log_sizes = free_sizes(length, space).logs()
    means = []
    for j in range(k):
        logs = log_sizes - power * np.ceil((distances - j) / k)
        weights = np.exp(logs - logs.max())
        means.append(float(weights @ distances / weights.sum()))
    return int(np.argmin(means))
