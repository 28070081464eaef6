"""The exact excess of a language so small that its words can be listed (docs/theory.md, section 9)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.elementary import log, logs, powers, weighted_sum
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Floats, Integers, normalised
from dpwords.core.values import read_only
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.rounding import ULP, margin, price
from dpwords.privacy.certificates.tuning import BALANCED, BALANCING_ROUNDS
from dpwords.spaces.graph import Graph
from dpwords.spaces.space import WeightedWords

_BITS = 20  # of a public weight


class Listed:
    """The excess over all pairs of words of a language so small that they can be listed. Cost: words².

    The weight of a distance d is e^(−c·ceil((d − first)/step)), where 0 ≤ first < step; it is e^(−c·d) by default.
    Losses and excesses are for each `step` positions in which two words differ.
    """

    def __init__(self, rows: Integers, step: int = 1, first: int = 0) -> None:
        self.rows = rows
        self.apart = np.zeros((len(rows), len(rows)), dtype=np.int64)
        for column in rows.T:
            self.apart += column[:, None] != column[None, :]
        self._steps = -((first - self.apart) // step)  # ceil((d − first)/step)
        self._units = np.maximum(-(-self.apart // step), 1)  # ceil(d/step); a word and itself do not matter
        self._balanced: tuple[float, Floats] | None = None  # the last result, replaced in one step: threads share it

    @classmethod
    def of(cls, graph: Graph, length: int, limits: Limits = DEFAULTS, step: int = 1, first: int = 0) -> Listed | None:
        """None if there are more words than `limits.compared_words`."""
        listed = graph.words(length, limits.compared_words)
        return None if listed is None else cls(graph.symbol[listed[0]], step, first)

    def excess(self, c: float) -> float:
        """The largest |ln Z(x′)/Z(x)| / ceil(d(x, x′)/step) with equal weights."""
        return self._excess(c, np.ones(len(self.rows)))

    def balanced_excess(self, c: float) -> float:
        """The same with the weights of `balanced`."""
        return self._excess(c, self.balanced(c))

    def mean_distance(self, c: float, balanced: bool) -> float:
        """The expected distance from a uniform word."""
        weights, falls = self.balanced(c) if balanced else np.ones(len(self.rows)), self._falls(c)
        return math.fsum(weighted_sum(falls * self.apart, weights) / weighted_sum(falls, weights)) / len(self.rows)

    def weighted(self, c: float, bound: float) -> WeightedWords:
        """The words with their balanced weights as a draw needs them.

        The proof is about these very numbers: raises `InvalidValue` unless c + excess ≤ bound holds for them.
        """
        weights = self.balanced(c)
        if not c + self._excess(c, weights) <= bound:
            raise InvalidValue("the certificate does not hold: make a new one with save")
        return WeightedWords(self.rows, normalised(weights, np.zeros(len(self.rows), dtype=np.int64)))

    def balanced(self, c: float) -> Floats:
        """A weight π(w) > 0 for each word that makes Z(x) = Σ π(w)·e^(−c·steps(x, w)) as equal as possible.

        If the equations Z(x) = 1 for all x have a positive solution, it is this one. Otherwise the rounds π ← π/Z lead
        towards the minimum of π·Aπ/2 − Σπ over π ≥ 0, where Z = 1 except at words of weight 0. Nothing has to be
        proven about π: it is public, and the excess is computed for the numbers that are returned.
        """
        cached = self._balanced
        if cached is None or cached[0] != c:
            falls = self._falls(c)
            found = _solution(falls)
            if not found.min() > 2.0**-_BITS * found.max():
                found = 1 / weighted_sum(falls, np.ones(len(falls)))
                for _ in range(BALANCING_ROUNDS):
                    found = found / weighted_sum(falls, found)
            cached = self._balanced = c, _rounded(found / found.max())
            read_only(cached[1])
        return cached[1]

    def _falls(self, c: float) -> Floats:
        """The weight e^(−c·steps) of the distance between any two words: a symmetric matrix."""
        return np.asarray(powers(price(c), int(self._steps.max()) + 1)[self._steps])

    def _excess(self, c: float, weights: Floats) -> float:
        found, length = logs(weighted_sum(self._falls(c), weights)), self.rows.shape[1]
        rounding = 2 * (len(self.rows) + (length + 8) * -log(float(weights.min()))) * ULP
        excess = (np.subtract.outer(found, found) / self._units).max(initial=0.0)
        return float(excess + rounding + margin(length))


def _solution(falls: Floats) -> Floats:
    """The weights with which all sums are 1, by conjugate gradients. Nothing depends on how exact they are."""
    found, rest = np.zeros(len(falls)), np.ones(len(falls))
    direction, square = rest, math.fsum(rest * rest)
    for _ in range(BALANCING_ROUNDS):
        ahead = weighted_sum(falls, direction)
        curvature = math.fsum(direction * ahead)
        if not curvature > 0 or square < BALANCED * len(falls):
            break
        found, rest = found + square / curvature * direction, rest - square / curvature * ahead
        before, square = square, math.fsum(rest * rest)
        direction = rest + square / before * direction
    return found


def _rounded(values: Floats) -> Floats:
    """Numbers between 0 and 1, each rounded to a few bits; none is stored as less than 2^(−100)."""
    mantissa, exponent = np.frexp(np.maximum(values, 2.0**-100))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS))
