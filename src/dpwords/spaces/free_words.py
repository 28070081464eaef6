"""All words over an alphabet, by Hamming distance: every word has the same number of words at each distance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpwords.core import sampling, scaled
from dpwords.core.compiled import kernel
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, Rows
from dpwords.errors import TooLarge
from dpwords.spaces.space import (
    Distances,
    DistanceWeights,
    LeastDistance,
    Space,
    StoredLaw,
    Weights,
    batches,
    hamming,
)
from dpwords.spaces.tuning import MANY_SYMBOLS, RARE

_BYTE = 256  # values of a byte


@dataclass(frozen=True)
class FreeWords(Space):
    """All words over so many symbols, of any length or of at most `max_length` symbols."""

    symbols: int
    max_length: int | None = None
    limits: Limits = DEFAULTS
    homogeneous = True

    @property
    def identity(self) -> str:
        return f"all words over {self.symbols} symbols"

    @property
    def slack(self) -> float:
        """Only a few weights are rounded, and they are the same for all words."""
        return 2.0**-50

    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        return np.full(len(rows), self.max_length is None or rows.shape[1] <= self.max_length)

    def sizes(self, length: int) -> Scaled:
        """The number of words at distance 0, …, n from any one, each rounded once. Cost: length² / 64."""
        if length > self.limits.free_classes:
            raise TooLarge(
                f"distance classes of words are counted up to {self.limits.free_classes} symbols: split the word (a "
                "release with utility Linear() does without them)"
            )
        return _sizes(length, self.symbols)

    def around(self, codes: Codes) -> FreeSurroundings:
        return FreeSurroundings(codes, self)

    def law(self, codes: Codes, weights: Weights) -> StoredLaw:
        if weights.rate is None:
            return super().law(codes, weights)
        return IndependentLaw(codes, self, weights)

    def draw_each(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row, all of them together: with a rate from one or two random bytes for each symbol,
        otherwise from nine, and at the cost of sorting them. One word alone is drawn in a time that does not depend on
        how much of it is replaced."""
        if weights.rate is None:
            return self._draw_by_distance(rows, weights, stream)
        keep_or_replace, threshold, edge = _kept_and_replaced(self.symbols, weights.rate)
        if len(rows) == 1 and stream.shared:
            return self._draw_alone(rows[0], keep_or_replace, threshold, stream).reshape(rows.shape)
        drawn, many = rows.reshape(-1).copy(), rows.size >= MANY_SYMBOLS
        often = edge is not None and edge <= RARE and self.symbols <= _BYTE and (many or not stream.shared)
        for part, symbols in self._symbols_of(rows, stream):
            if often and edge is not None:
                changed = self._replace_most(drawn[part], keep_or_replace, edge, symbols, many)
            else:
                changed = sampling.exceptions(keep_or_replace, edge, len(drawn[part]), symbols)
            if len(changed):
                other = sampling.below(max(self.symbols - 1, 1), changed.shape, symbols.of(changed))
                drawn[part][changed] = other + (other >= drawn[part][changed])
        return drawn.reshape(rows.shape)

    def distances(self, rows: Rows, weights: Weights, width: int | None) -> Distances:
        """With a rate and a width, the number of replaced symbols is binomial, so no words have to be counted."""
        if weights.rate is None or width is None or not isinstance(rows, np.ndarray):
            return super().distances(rows, weights, width)
        means, proportions = super().distances(rows, weights, 0).means, np.zeros((len(rows), width))
        odds, length = IndependentLaw(rows[0], self, weights).odds, rows.shape[1]
        number = min(width, length + 1) if odds > 0 else min(width, 1)
        d = np.arange(1, number)
        with_more = np.log((length - d + 1) / d) + math.log(odds or 1.0)
        logs = np.concatenate([[0.0], np.cumsum(with_more)]) - length * math.log1p(odds)
        proportions[:, :number] = np.exp(logs[:number])
        return Distances(means, proportions)

    def every(self, length: int, most: int) -> Codes:
        """One word represents all of them, since every word has the same surroundings."""
        return np.zeros((1 if self.max_length is None or length <= self.max_length else 0, length), dtype=np.int64)

    def uniform(self, length: int, count: int, stream: Stream) -> Codes:
        return sampling.below(self.symbols, (count, length), stream)

    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        return 1, 1

    def least_distance(self, length: int) -> LeastDistance:
        return LeastDistance(1 if self.symbols > 1 else None, True)

    def with_other_symbols(self, rows: Codes, changed: NDArray[np.bool_], stream: Stream) -> Codes:
        """A copy of each row, with a uniform other symbol wherever its flag is set."""
        words = rows.copy()
        kept = words[changed]
        other = sampling.below(max(self.symbols - 1, 1), kept.shape, stream.repeated(np.count_nonzero(changed, axis=1)))
        words[changed] = other + (other >= kept)
        return words

    def _draw_by_distance(self, rows: Codes, weights: Weights, stream: Stream) -> Codes:
        """One word for each row: its distance first, then a word at that distance."""
        length = rows.shape[1]
        totals = DistanceWeights.of_words(self.sizes(length), weights).totals
        parts = []
        for part in batches(len(rows), 4 * length, self.limits):
            some, mine = rows[part], stream.of(part)
            distances = sampling.choose(totals, len(some), mine)
            parts.append(self.with_other_symbols(some, sampling.subsets(distances, length, mine), mine))
        return np.concatenate(parts)

    def _draw_alone(self, codes: Codes, keep_or_replace: Scaled, threshold: float, stream: Stream) -> Codes:
        """One word. Every symbol gets a replacement, used or not, so that the work is the same however many are."""
        drawn = codes.copy()
        for part in batches(len(codes), 4, self.limits):
            own = codes[part]
            replaced = sampling.second_of_two(keep_or_replace, threshold, len(own), stream)
            other = sampling.below(max(self.symbols - 1, 1), own.shape, stream)
            drawn[part] = np.where(replaced, other + (other >= own), own)
        return drawn

    def _symbols_of(self, rows: Codes, stream: Stream) -> Iterator[tuple[slice, Stream]]:
        """The symbols of all rows, in parts of limited size, and the stream of each part.

        If rows have streams of their own, no row is divided in a way that depends on other rows.
        """
        if stream.shared:
            yield from ((part, stream) for part in batches(rows.size, 4, self.limits))
            return
        length = rows.shape[1]
        for some in batches(len(rows), 4 * length, self.limits):
            mine, number = stream.of(some), some.stop - some.start
            for part in batches(length, 4, self.limits) if number == 1 else [slice(0, number * length)]:
                size = part.stop - part.start
                begin = some.start * length + part.start
                yield slice(begin, begin + size), mine.repeated(np.full(number, size // number))

    def _replace_most(
        self, codes: Codes, keep_or_replace: Scaled, edge: int, stream: Stream, compiled: bool
    ) -> Integers:
        """Replace symbols in place, using two bytes each; return the positions, about 1 in 256, still to be
        replaced."""
        bits, others = (np.frombuffer(stream.take(len(codes)), dtype=np.uint8) for _ in range(2))
        if compiled:
            flags = np.empty(len(codes), dtype=np.bool_)
            kernel("free_words").replace(codes, bits, others, edge, self.symbols, flags)
            unsure = np.flatnonzero(flags)
        else:
            unsure = self._replace_by_arrays(codes, bits, others, edge)
        undecided = bits[unsure] == edge
        late = np.ones(len(unsure), dtype=np.bool_)
        after = stream.of(unsure[undecided])
        late[undecided] = sampling.after_byte(keep_or_replace, edge, int(undecided.sum()), after)
        return unsure[late]

    def _replace_by_arrays(
        self, codes: Codes, bits: NDArray[np.uint8], others: NDArray[np.uint8], edge: int
    ) -> Integers:
        """The same as the kernel `replace`, without the compiler; returns the positions that are not decided."""
        rest = self.symbols - 1
        late = np.flatnonzero(bits >= edge)
        decided = (bits[late] > edge) & (others[late] < _BYTE - _BYTE % rest)
        positions = late[decided]
        other = others[positions].astype(np.int64) % rest
        codes[positions] = other + (other >= codes[positions])
        return late[~decided]


class FreeSurroundings:
    """Free words by their distance from one. Cost: `FreeWords.sizes`, then the length of each word drawn."""

    def __init__(self, codes: Codes, space: FreeWords) -> None:
        self.codes, self.space = codes, space
        self.sizes, self.footprint = space.sizes(len(codes)), len(codes)

    def distance(self, codes: Codes) -> int:
        return hamming(codes, self.codes)

    def draw(self, distances: Integers, stream: Stream) -> Codes:
        changed = sampling.subsets(distances, len(self.codes), stream)
        words = np.tile(self.codes.astype(np.int64), (len(distances), 1))
        return self.space.with_other_symbols(words, changed, stream)

    def probability(self, codes: Codes) -> Fraction:
        apart, length = self.distance(codes), len(self.codes)
        return Fraction(1, math.comb(length, apart) * (self.space.symbols - 1) ** apart)


class IndependentLaw:
    """Free words in proportion to e^(−rate · distance): each symbol is kept, or replaced by a uniform other one.

    Cost: the length of each word drawn; `distance_distribution` counts the words at each distance.
    """

    def __init__(self, codes: Codes, space: FreeWords, weights: Weights) -> None:
        assert weights.rate is not None
        self.codes, self.space, self.rate = codes, space, weights.rate
        self.weights, *_ = _kept_and_replaced(space.symbols, weights.rate)
        self.odds = float(self.weights.relative_to(np.zeros(2, dtype=np.int64))[1])  # of being replaced

    def log_prob(self, codes: Codes) -> float:
        return -float(self.rate) * hamming(codes, self.codes) - len(codes) * math.log1p(self.odds)

    def exact(self, codes: Codes) -> Fraction:
        kept, replaced = sampling.probabilities(self.weights)
        changed = hamming(codes, self.codes)
        return kept ** (len(codes) - changed) * (replaced / max(self.space.symbols - 1, 1)) ** changed

    def draw(self, count: int, stream: Stream) -> Codes:
        length = len(self.codes)
        parts = []
        for batch in batches(count, length, self.space.limits):
            shape = (batch.stop - batch.start, length)
            changed = sampling.choose(self.weights, shape[0] * length, stream).reshape(shape) == 1
            words = np.tile(self.codes.astype(np.int64), (shape[0], 1))
            parts.append(self.space.with_other_symbols(words, changed, stream))
        return np.concatenate(parts)

    def distance_distribution(self) -> Floats:
        length = len(self.codes)
        return DistanceWeights.of_words(self.space.sizes(length), Weights.linear(self.rate, length)).probabilities

    def expected_distance(self) -> float:
        return len(self.codes) * self.odds / (1.0 + self.odds)


def exact_sizes(length: int, symbols: int) -> Iterator[int]:
    """C(n, d) · (m − 1)^d for d = 0, …, n."""
    size = 1
    for d in range(length + 1):
        yield size
        size = size * (length - d) * (symbols - 1) // (d + 1)


@lru_cache(maxsize=64)
def _sizes(length: int, symbols: int) -> Scaled:
    return scaled.from_integers(exact_sizes(length, symbols))


@lru_cache(maxsize=256)
def _kept_and_replaced(symbols: int, rate: Fraction) -> tuple[Scaled, float, int | None]:
    """The weights 1 and (m − 1) · e^(−rate) of keeping and replacing a symbol, their `float_threshold`, `byte_edge`."""
    z = scaled.exp_minus([Fraction(0), rate])
    weights = z.times(scaled.from_integers([1, symbols - 1]))
    return weights, sampling.float_threshold(weights), sampling.byte_edge(weights)
