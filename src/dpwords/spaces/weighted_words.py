"""A short list of words with public weights, and the law that draws from it directly, without a lattice."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpwords.core import sampling
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled, total
from dpwords.core.symbols import Codes
from dpwords.core.values import read_only


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


class WeightedLaw:
    """Gives each word of a list a probability in proportion to its public weight times the weight of its distance.

    `falls` are the weights of the distances, each rounded once, and `logs` their natural logarithms.
    Cost: words · length.
    """

    def __init__(self, codes: Codes, words: WeightedWords, falls: Scaled, logs: Floats) -> None:
        self.words = words
        self.distances: Integers = np.count_nonzero(words.rows != codes, axis=1)
        self.stored = words.weight.times(falls.take(self.distances))
        self._logs = words.weight.logs() + logs[self.distances]
        self._log_total = float(total(self.stored).logs()[0])

    def log_prob(self, codes: Codes) -> float:
        return float(self._logs[self.words.number(codes)]) - self._log_total

    def exact(self, codes: Codes) -> Fraction:
        return sampling.probabilities(self.stored)[self.words.number(codes)]

    def draw(self, count: int, stream: Stream) -> Codes:
        return self.words.rows[sampling.choose(self.stored, count, stream)]

    def distance_distribution(self) -> Floats:
        relative = self.stored.relative_to(self.stored.exponent.max())
        proportions: Floats = relative / math.fsum(relative)
        return np.bincount(self.distances, weights=proportions, minlength=self.words.rows.shape[1] + 1).astype(
            np.float64
        )

    def expected_distance(self) -> float:
        by_distance = self.distance_distribution()
        return math.fsum(by_distance * np.arange(len(by_distance)))
