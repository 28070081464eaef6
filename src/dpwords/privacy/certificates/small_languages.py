"""The exact excess of a language so small that its words can be listed (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.elementary import log, logs, powers, weighted_sum
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Floats, Integers, normalised
from dpwords.core.values import read_only, read_only_view
from dpwords.errors import InvalidValue
from dpwords.privacy.certificates.rounding import ULP, margin, price
from dpwords.privacy.certificates.tuning import BALANCED, BALANCING_ROUNDS
from dpwords.spaces.graph import Graph
from dpwords.spaces.space import WeightedWords

_BITS = 20  # of a public weight
_FEW = 1024  # words: no compiler is loaded for so many; sums are added in another order, always the same for a list


class Listed:
    """The excess over all pairs of words of a language so small that they can be listed. Cost: words².

    The weight of a distance d is e^(−c·ceil((d − first)/step)), where 0 ≤ first < step; it is e^(−c·d) by default. Two
    words at distance d may lose ε for each `k` positions, or part of k. Losses and excesses are for each `step` of
    these.
    """

    def __init__(self, rows: Integers, step: int = 1, first: int = 0, k: int = 1, threads: int = 1) -> None:
        words, length = rows.shape
        kind = np.uint8 if length < 2**8 else np.uint16
        check_memory(np.dtype(kind).itemsize * words**2)
        self.rows, self._threads = rows, threads
        self.apart = np.zeros((words, words), dtype=kind)
        self._each("distances", read_only_view(rows.astype(np.uint32)), self.apart, steps=length)
        distances = np.arange(length + 1)
        self._steps = -((first - distances) // step)  # ceil((d − first)/step)
        self._loss, self._unit = -(-distances // step), np.maximum(-(-distances // k), 1) * (k / step)
        self._balanced: tuple[float, Floats] | None = None  # the last result, replaced in one step: threads share it

    @classmethod
    def of(
        cls, graph: Graph, length: int, limits: Limits = DEFAULTS, step: int = 1, first: int = 0, k: int = 1
    ) -> Listed | None:
        """None if there are more words than `limits.certified_words`."""
        listed = graph.words(length, limits.certified_words)
        return None if listed is None else cls(graph.symbol[listed[0]], step, first, k, limits.threads)

    def excess(self, c: float) -> float:
        """What c has to be less than ε for each `step`, with equal weights: the largest loss over all pairs, less c."""
        return self._excess(c, np.ones(len(self.rows)))

    def balanced_excess(self, c: float) -> float:
        """The same with the weights of `balanced`."""
        return self._excess(c, self.balanced(c))

    def mean_distance(self, c: float, balanced: bool) -> float:
        """The expected distance from a uniform word."""
        weights, fall = self.balanced(c) if balanced else np.ones(len(self.rows)), self._fall(c)
        means = self._sums(fall * np.arange(len(fall)), weights) / self._sums(fall, weights)
        return math.fsum(means) / len(self.rows)

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
            fall = self._fall(c)
            found = self._solution(fall)
            if not found.min() > 2.0**-_BITS * found.max():
                found = 1 / self._sums(fall, np.ones(len(self.rows)))
                for _ in range(BALANCING_ROUNDS):
                    found = found / self._sums(fall, found)
            cached = self._balanced = c, _rounded(found / found.max())
            read_only(cached[1])
        return cached[1]

    def _solution(self, fall: Floats) -> Floats:
        """The weights with which all sums are 1, by conjugate gradients. Nothing depends on how exact they are."""
        found, rest = np.zeros(len(self.rows)), np.ones(len(self.rows))
        direction, square = rest, math.fsum(rest * rest)
        for _ in range(BALANCING_ROUNDS):
            ahead = self._sums(fall, direction)
            curvature = math.fsum(direction * ahead)
            if not curvature > 0 or square < BALANCED * len(self.rows):
                break
            found, rest = found + square / curvature * direction, rest - square / curvature * ahead
            before, square = square, math.fsum(rest * rest)
            direction = rest + square / before * direction
        return found

    def _fall(self, c: float) -> Floats:
        """The weight e^(−c·steps) of each distance."""
        return np.asarray(powers(price(c), int(self._steps.max()) + 1)[self._steps])

    def _sums(self, fall: Floats, weights: Floats) -> Floats:
        """Σ fall(d(x, w))·weights(w) over all words w, for each x, with a relative error of words · 2^(−53)."""
        found = np.zeros(len(self.rows))
        self._each("sums", self.apart, fall, weights, found)
        return found

    def _excess(self, c: float, weights: Floats) -> float:
        sums, most, length = logs(self._sums(self._fall(c), weights)), np.zeros(len(self.rows)), self.rows.shape[1]
        rounding = 2 * (len(self.rows) + (length + 8) * -log(float(weights.min()))) * ULP
        self._each("largest", sums, self.apart, c * self._loss, self._unit, most)
        return float(max(most.max() - c, 0.0) + rounding + margin(length))

    def _each(self, loop: str, *arguments: Any, steps: int = 1) -> None:
        """Call a loop over all words that compares each of them with all others, in several threads."""
        words = len(self.rows)
        compute = getattr(_Arrays if words <= _FEW else kernel("small_languages"), loop)
        in_parts(lambda part: compute(*arguments, part.start, part.stop), words, words * steps, self._threads)


class _Arrays:
    """The loops of `_kernels/small_languages.py`, for few words, on whole arrays."""

    @staticmethod
    def distances(rows: Any, apart: Any, begin: int, end: int) -> None:
        for column in rows.T:
            apart[begin:end] += column[begin:end, None] != column

    @staticmethod
    def sums(apart: Any, fall: Floats, weights: Floats, found: Floats, begin: int, end: int) -> None:
        found[begin:end] = weighted_sum(fall[apart[:, begin:end]], weights)

    @staticmethod
    def largest(logs: Floats, apart: Any, loss: Any, unit: Floats, found: Floats, begin: int, end: int) -> None:
        own = apart[begin:end]
        losses = (loss[own] + np.abs(logs[begin:end, None] - logs)) / unit[own]
        found[begin:end] = np.where(own > 0, losses, 0.0).max(axis=1)


def _rounded(values: Floats) -> Floats:
    """Numbers between 0 and 1, each rounded to a few bits; none is stored as less than 2^(−100)."""
    mantissa, exponent = np.frexp(np.maximum(values, 2.0**-100))
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS))
