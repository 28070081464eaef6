"""Distributions over the words of one length around a private word.

A *profile* f gives each word at distance d the weight f(d), and a *law* is the distribution that follows. `ShellLaw`
draws a distance, then a word at exactly that distance. Where f(d) = z^d no distance is needed: on a lattice
`FoldedLaw` walks, and on free words `IndependentLaw` treats each symbol by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Protocol

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.spaces.free_words import FreeWords, Rows, Shells, Space, free_sizes, hamming, with_other_symbols
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Discount, Lattice, walk_each

_BYTE = 256  # values of a byte
_RARE = 240  # where this byte and all below it keep a symbol, edits are so rare that they are looked for one by one
_BATCH = 2**22  # numbers held at a time while drawing, to bound memory


@dataclass(frozen=True)
class Profile:
    """f(d) = e^(−powers[d]) for d = 0, …, n, with exact rational powers ≥ 0."""

    powers: tuple[Fraction, ...]

    @classmethod
    def linear(cls, rate: Fraction, length: int) -> Profile:
        """f(d) = e^(−rate · d)."""
        return cls(tuple(rate * d for d in range(length + 1)))

    def up_to(self, distance: int) -> Profile:
        """The profile of distances 0, …, distance."""
        return self if distance == len(self.powers) - 1 else Profile(self.powers[: distance + 1])

    @cached_property
    def weights(self) -> Scaled:
        """f(0), …, f(n), each rounded once."""
        return scaled.exp_minus(self.powers)

    @cached_property
    def logs(self) -> Floats:
        """ln f(0), …, ln f(n)."""
        return np.array([-float(power) for power in self.powers])


class Law(Protocol):
    """A distribution over words."""

    def log_prob(self, codes: Integers) -> float:
        """The logarithm of the probability of a word of the language."""

    def draw(self, count: int, stream: Stream) -> Rows:
        """Independent words."""

    def distance_distribution(self) -> Floats:
        """The probability of each distance 0, 1, 2, …."""

    def expected_distance(self) -> float:
        """The mean distance."""


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


@dataclass(frozen=True, eq=False)
class ShellLaw:
    """Draw a distance by the weight of its shell, then a uniform word of that shell."""

    shells: Shells
    weights: ShellWeights

    def log_prob(self, codes: Integers) -> float:
        return float(self.weights.log_probs[self.shells.distance(codes)])

    def draw(self, count: int, stream: Stream) -> Rows:
        drawn = sampling.choose(self.weights.shells, count, stream)
        parts = [self.shells.draw(drawn[b], stream) for b in batches(count, self.shells.footprint)]
        same_length = [part for part in parts if isinstance(part, np.ndarray)]
        return np.concatenate(same_length) if same_length else [word for part in parts for word in part]

    def distance_distribution(self) -> Floats:
        return self.weights.probabilities

    def expected_distance(self) -> float:
        return float(self.weights.probabilities @ np.arange(len(self.weights.probabilities)))


def linear_law(codes: Integers, space: Space, rate: Fraction) -> FoldedLaw | IndependentLaw:
    """Words in proportion to e^(−rate · distance), times their weight in a graph that has weights."""
    return IndependentLaw(codes, space, rate) if isinstance(space, FreeWords) else FoldedLaw(codes, space, rate)


def draw_each(rows: Integers, space: Space, rate: Fraction, stream: Stream) -> Integers:
    """One word for each of many of one length, each drawn as from its own `linear_law`; all at once.

    Cost: on free words a byte or two of randomness for each symbol; on a graph the edges in reach for each word.
    """
    if isinstance(space, Graph):
        z, parts = scaled.exp_minus([rate]), batches(len(rows), rows.shape[1])
        return np.concatenate([walk_each(space, rows[part], z, stream) for part in parts])
    drawn, weights = rows.ravel().copy(), _kept_and_replaced(space, rate)
    edge = sampling.byte_edge(weights)
    for part in batches(len(drawn), 4):
        if edge is None or edge > _RARE or space.symbols > _BYTE:
            changed = sampling.exceptions(weights, part.stop - part.start, stream)
        else:
            changed = _replace_most(drawn[part], weights, edge, space, stream)
        other = sampling.below(max(space.symbols - 1, 1), changed.shape, stream)
        drawn[part][changed] = other + (other >= drawn[part][changed])
    return drawn.reshape(rows.shape)


def _replace_most(codes: Integers, weights: Scaled, edge: int, space: FreeWords, stream: Stream) -> Integers:
    """Replace symbols in place, two bytes for each; what is left to be replaced is returned: about one in 256."""
    bits = np.frombuffer(stream.take(2 * len(codes)), dtype=np.uint8).reshape(2, -1)
    flags = np.empty(len(codes), dtype=np.bool_)
    import_module("dpwords._kernels.free_words").replace(codes, *bits, edge, space.symbols, flags)
    unsure = np.flatnonzero(flags)
    undecided = bits[0, unsure] == edge
    late = np.ones(len(unsure), dtype=np.bool_)
    late[undecided] = sampling.after_byte(weights, edge, int(undecided.sum()), stream)
    return unsure[late]


class IndependentLaw:
    """Free words in proportion to e^(−rate · distance): each symbol is kept, or replaced by a uniform other one.

    Cost: the length of each word drawn; `distance_distribution` counts shells.
    """

    def __init__(self, codes: Integers, space: FreeWords, rate: Fraction) -> None:
        self.codes, self.space, self.rate = codes, space, rate
        self.weights = _kept_and_replaced(space, rate)
        self._odds = float(self.weights.relative_to(np.zeros(2, dtype=np.int64))[1])  # of being replaced

    def log_prob(self, codes: Integers) -> float:
        return -float(self.rate) * hamming(codes, self.codes) - len(codes) * math.log1p(self._odds)

    def draw(self, count: int, stream: Stream) -> Integers:
        length = len(self.codes)
        parts = []
        for batch in batches(count, length):
            shape = (batch.stop - batch.start, length)
            changed = sampling.choose(self.weights, shape[0] * length, stream).reshape(shape) == 1
            parts.append(with_other_symbols(self.codes, changed, self.space, stream))
        return np.concatenate(parts)

    def distance_distribution(self) -> Floats:
        length = len(self.codes)
        return ShellWeights.by_profile(free_sizes(length, self.space), Profile.linear(self.rate, length)).probabilities

    def expected_distance(self) -> float:
        return len(self.codes) * self._odds / (1.0 + self._odds)


@lru_cache(maxsize=256)
def _kept_and_replaced(space: FreeWords, rate: Fraction) -> Scaled:
    """The weights 1 and (m − 1) · e^(−rate) of keeping a symbol and of replacing it."""
    z = scaled.exp_minus([Fraction(0), rate])
    return z.times(scaled.from_integers([1, space.symbols - 1]))


class FoldedLaw:
    """Words of a graph in proportion to e^(−rate · distance) times their weight in the graph. Cost: length · edges."""

    def __init__(self, codes: Integers, graph: Graph, rate: Fraction) -> None:
        self.rate = rate
        self.lattice = Lattice(graph, codes, Discount(scaled.exp_minus([rate])))
        self.log_total = float(self.lattice.at_start().logs()[0])

    def log_prob(self, codes: Integers) -> float:
        weight = self.lattice.graph.log_weight(codes)
        return weight - float(self.rate) * hamming(codes, self.lattice.codes) - self.log_total

    def draw(self, count: int, stream: Stream) -> Integers:
        parts = batches(count, self.lattice.footprint)
        walks = [self.lattice.walk(np.zeros(b.stop - b.start, int), stream) for b in parts]
        return walks[0] if len(walks) == 1 else np.concatenate(walks)

    def distance_distribution(self) -> Floats:
        return self.lattice.distance_distribution()

    def expected_distance(self) -> float:
        return self.lattice.mean_distance()


def uniform(graph: Graph, length: int) -> FoldedLaw:
    """The uniform law over a graph's words of one length."""
    return FoldedLaw(np.zeros(length, dtype=np.int64), graph, Fraction(0))


def loss_by_distance(logs: Floats, k: int) -> float:
    """The true ε where the probability of an output depends on its distance alone, as on free words.

    `logs` are its logarithms at distances 0, …, n, of those at which there are words. Cost: n · k.
    """
    gaps = (np.abs(logs[lag:] - logs[:-lag]).max() for lag in range(1, min(k, len(logs) - 1) + 1))
    return float(max(gaps, default=0.0))


def batches(count: int, footprint: int) -> Iterator[slice]:
    """Parts of a count so small that the numbers held for one part stay within bounds."""
    size = max(_BATCH // footprint, 1)
    return (slice(begin, min(begin + size, count)) for begin in range(0, count, size))
