"""A toy mechanism, written without the parts that other mechanisms are made of, to try what a new one needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np

import dpwords as dw
from dpwords.core import sampling
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Scaled
from dpwords.core.symbols import Codes
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Drawing, Private
from dpwords.mechanisms.summary import InForce
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.spaces.choice import space_of


class Respondent(Private):
    """Randomised response: each symbol is the true one with odds of 1 to `other` against each other symbol."""

    def __init__(self, language: Language, epsilon: float, k: int = 1) -> None:
        super().__init__(language, space_of(language), k)
        self.epsilon = epsilon
        self.other = Fraction(math.ceil(math.exp(-epsilon / k) * 2**40), 2**40)  # so ln(1/other) is at most ε/k

    def __repr__(self) -> str:
        return f"Respondent({self.language!r}, epsilon={self.epsilon:g}, k={self.k})"

    @property
    def rate(self) -> float:
        return -math.log(self.other)

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "hamming", self.k, 0.0, "tight", proof=3))

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.language, epsilon, k)

    def _in_force(self, length: int) -> InForce:
        return InForce("randomised response")

    def _law(self, codes: Codes) -> Answering:
        return Answering(codes, len(self.language.alphabet), self.other)

    def _drawing(self, length: int) -> Drawing:
        symbols = len(self.language.alphabet)

        def draw(rows: Codes, stream: Stream) -> Codes:
            weights = Answering(rows[0], symbols, self.other).weights.take(np.zeros(len(rows), int))
            moved = np.stack([sampling.choose_each(weights, stream) for _ in range(length)])
            return np.asarray((rows + moved.T) % symbols, dtype=rows.dtype)

        return Drawing(draw, lambda: ("response", self.other))


@dataclass(frozen=True, eq=False)
class Answering:
    """The distribution of the answers at a word."""

    codes: Codes
    symbols: int
    other: Fraction

    @property
    def weights(self) -> Scaled:
        """Of how far a symbol is moved on in the alphabet, a single row."""
        return Scaled(np.array([[1.0] + [float(self.other)] * (self.symbols - 1)]), np.zeros((1, self.symbols), int))

    @property
    def kept(self) -> float:
        return float(1 / (1 + (self.symbols - 1) * self.other))

    def log_prob(self, codes: Codes) -> float:
        changed = int(np.count_nonzero(codes != self.codes))
        return len(self.codes) * math.log(self.kept) + changed * math.log(self.other)

    def draw(self, count: int, stream: Stream) -> Codes:
        mechanism = Respondent(dw.Words(range(self.symbols)), 1.0)._with(other=self.other)
        return np.asarray(mechanism._drawing(len(self.codes)).draw(np.tile(self.codes, (count, 1)), stream))

    def distance_distribution(self) -> Floats:
        n, p = len(self.codes), self.kept
        return np.array([math.comb(n, d) * p ** (n - d) * (1 - p) ** d for d in range(n + 1)])

    def expected_distance(self) -> float:
        return len(self.codes) * (1 - self.kept)
