"""Output distributions that draw a distance first, and then a word at exactly that distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Scaled
from dpwords.core.symbols import Codes, Ragged, Rows
from dpwords.spaces.space import Surroundings, Weights, batches


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

    @classmethod
    def of(cls, around: Surroundings, weights: Weights, limits: Limits) -> ByDistanceLaw:
        """The law that gives each word a probability in proportion to its weight."""
        return cls(around, DistanceWeights.of_words(around.sizes, weights), limits)

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
