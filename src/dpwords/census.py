"""How much the normaliser of e^(−c·d) changes between the words of a list (docs/theory.md, 13)."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords import sampling
from dpwords.errors import TooLarge
from dpwords.listing import Listing
from dpwords.randomness import Stream
from dpwords.scaled import Floats

MARGIN = 1e-9  # more than floating point can be off in a difference of logarithms, for words of up to 10^6 symbols
_MOST_COUNTS = 2**28
_SAMPLED = 8  # words, and words near each of them
_MOST_PAIRS = 2**24  # that are kept one by one; pairs farther apart are bounded by their lengths
Progress = Callable[[float], None]  # from 0 to 1


class Census:
    """The number of words at each distance from each word of a list, and the pairs that are nearest to each other.

    All pairs of up to 5,793 words are kept; of larger lists those up to a radius. Cost: words² / 2 distances, once, a
    minute or two for 100,000 words; memory 150 MB for pairs, 4 bytes · words · longest for counts.
    """

    def __init__(self, listing: Listing, progress: Progress | None = None) -> None:
        if len(listing) * (listing.longest + 1) > _MOST_COUNTS:
            raise TooLarge(f"a certificate counts at most {_MOST_COUNTS} words · distances: leave out long words")
        self._lengths = listing.lengths
        self.radius = listing.longest  # pairs at this distance or nearer are kept, all of them
        self.counts = np.zeros((len(listing), listing.longest + 1), dtype=np.int32)
        self.counts[:, 0] = 1
        tally = import_module("dpwords._kernels.tallies").tally
        kept: list[list[Any]] = []  # of pairs: one word, the other, their distance
        number = 0
        for first, apart in listing.blocks():
            tally(apart, first, self.counts)
            near = apart <= self.radius
            near &= np.arange(apart.shape[1]) > np.arange(len(apart))[:, None]
            one, other = (index.astype(np.int32) for index in np.nonzero(near))
            kept.append([one + np.int32(first), other + np.int32(first), apart[near]])
            number += len(one)
            while number > _MOST_PAIRS:
                self.radius -= 1
                kept = [[part[block[2] <= self.radius] for part in block] for block in kept]
                number = sum(len(block[0]) for block in kept)
            if progress is not None:
                progress(1 - (1 - min(first + len(apart), len(listing)) / len(listing)) ** 2)
        self._one, self._other, self._apart = (np.concatenate(part) for part in zip(*kept, strict=True))

    def excess(self, c: float) -> float:
        """The largest ln Z(x′)/Z(x) for each unit of distance, or, with pairs beyond the radius, a bound of it.

        Cost: words · longest + pairs kept.
        """
        logs = self.log_normalisers(c)
        near = np.abs(logs[self._one] - logs[self._other]) / self._apart
        return max(float(near.max(initial=0.0)), self._beyond(logs)) + MARGIN

    def log_normalisers(self, c: float) -> Floats:
        """ln Z of each word."""
        return np.asarray(np.log(self.counts @ np.exp(-c * np.arange(self.counts.shape[1]))))

    def _beyond(self, logs: Floats) -> float:
        """A bound for pairs beyond the radius: two words are at least as far apart as their lengths are."""
        if self.radius == self.counts.shape[1] - 1:
            return 0.0
        most, least = np.full(self.counts.shape[1], -math.inf), np.full(self.counts.shape[1], math.inf)
        np.maximum.at(most, self._lengths, logs)
        np.minimum.at(least, self._lengths, logs)
        lengths = np.arange(len(most))
        apart = np.maximum(np.abs(lengths[:, None] - lengths), self.radius + 1)
        return float(((most[:, None] - least) / apart).max())


def sampled_excess(listing: Listing, c: float, stream: Stream) -> float:
    """The largest ln Z(x′)/Z(x) for each unit of distance, between a few random words and those nearest to each.

    Never more than `Census.excess`. Cost: 72 · words distances.
    """

    def log_normaliser(apart: NDArray[Any]) -> float:
        return math.log(np.bincount(apart) @ np.exp(-c * np.arange(int(apart.max()) + 1)))

    largest = 0.0
    for index in sampling.below(len(listing), (_SAMPLED,), stream).tolist():
        apart = listing.from_word(listing.texts[index])
        own = log_normaliser(apart)
        for other in np.argsort(apart, kind="stable")[1 : 1 + _SAMPLED].tolist():
            change = abs(log_normaliser(listing.from_word(listing.texts[other])) - own)
            largest = max(largest, change / int(apart[other]))
    return largest
