"""The edit channel: random insertions, deletions and substitutions that hide any single edit. Proofs: docs/theory.md.

Each symbol of a word is deleted, kept, or replaced by a uniform other one; before, between and after the symbols a
random word is inserted, which grows like a tree: it is empty, or two copies of itself side by side, or two copies with
a uniform symbol between them. All probabilities follow from the number of symbols and ε.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from dpwords.core import scaled
from dpwords.core.scaled import Floats, Scaled
from dpwords.errors import InvalidValue

LEAST_EPSILON = 0.7  # for one edit; ln 2 is where trees stop being finite
_MOST = Fraction(100)  # a larger ε is not spent: at e^(−100) nobody would ever see an edit
_FIRST_MARGIN = Decimal("5e-14")  # of e^ε, for the rounding of probabilities
_CERTAIN = Decimal("1e-50")  # more than these digits can be off
_DIGITS = Context(  # e^200 and what is left of 1 after e^(−200), to 60 digits; spelled out, whatever the caller has set
    prec=150, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, capitals=1, clamp=0, flags=[], traps=[]
)
_BISECTIONS = 150


@dataclass(frozen=True, eq=False)
class Channel:
    """The probabilities as they are drawn: each a stored weight over the sum of its group."""

    symbols: int
    operations: Scaled  # of a symbol: deleted, kept, replaced
    growth: Scaled  # of an inserted word: empty, two copies, two copies around a symbol

    @cached_property
    def shares(self) -> tuple[float, float, float]:
        """The probabilities that a symbol is deleted, kept, replaced."""
        deleted, kept, replaced = (float(share) for share in _exact_shares(self.operations))
        return deleted, kept, replaced

    @cached_property
    def tree(self) -> tuple[float, float, float]:
        """The probabilities that an inserted word is empty, two copies, two copies around a symbol."""
        empty, double, around = (float(share) for share in _exact_shares(self.growth))
        return empty, double, around

    @property
    def only_length_shows(self) -> bool:
        """Whether a symbol is kept no more often than replaced by any given other one."""
        _, kept, replaced = self.shares
        return self.symbols > 1 and kept <= replaced / (self.symbols - 1) * (1 + 1e-9)

    @cached_property
    def inserted(self) -> float:
        """The expected length of an inserted word."""
        _, double, around = self.tree
        return around / (1 - 2 * double - 2 * around)

    def edits(self, length: int) -> float:
        """The expected number of edits made to a word."""
        deleted, _, replaced = self.shares
        return length * (deleted + replaced) + (length + 1) * self.inserted

    @cached_property
    def log_radius(self) -> float:
        """ln of s*, the largest s at which Σ h(t)·s^t is finite, h(t) being the probability of an inserted length t."""
        empty, double, _ = self.tree
        return math.log(0.25 / empty - double) - float(self._log_growth[2])

    def log_operations(self) -> Floats:
        """ln of the probabilities that a symbol is deleted, kept, replaced by one given other symbol."""
        logs = self.operations.logs() - scaled.total(self.operations).logs()
        logs[2] -= math.log(max(self.symbols - 1, 1))
        return np.asarray(logs)

    def log_insertions(self, longest: int) -> Floats:
        """ln of the probability that one given word of 0, 1, …, `longest` symbols is inserted. Cost: longest²."""
        empty, double, _ = self.tree
        around = 0.25 / empty - double  # of the tree whose words of length t weigh s*^t times more
        first = 2 * empty / (1 + math.sqrt(1 - 4 * empty * double))
        lengths = np.zeros(longest + 1)
        lengths[0] = first
        for t in range(1, longest + 1):
            head = lengths[:t]
            joined = double * float(head[1:] @ head[:0:-1]) + around * float(head @ head[::-1])
            lengths[t] = joined / (1 - 2 * double * first)
        return np.asarray(np.log(lengths) - np.arange(longest + 1) * (self.log_radius + math.log(self.symbols)))

    def keeps(self, rate: Fraction) -> bool:
        """Whether the stored probabilities hide one edit at ε = rate, with no rounding left out."""
        with localcontext(_DIGITS):
            limit = _exp(rate) * (1 - _CERTAIN)
            deleted, kept, replaced = _decimals(self.operations)
            empty, double, around = _decimals(self.growth)
            other = replaced / max(self.symbols - 1, 1)
            nothing = 2 * empty / (1 + (1 - 4 * empty * double).sqrt())
            spread = (limit - 1) * deleted * 2 * around * nothing / ((1 - 2 * double * nothing) * self.symbols)
            return (
                double + around < Decimal("0.5")
                and double * limit >= deleted
                and around * limit >= self.symbols * max(kept, other)
                and deleted * nothing * limit >= 1
                and (self.symbols == 1 or (kept - limit * other <= spread and other <= limit * kept))
            )

    @cached_property
    def _log_growth(self) -> Floats:
        return np.asarray(self.growth.logs() - scaled.total(self.growth).logs())


@lru_cache(maxsize=64)
def best_channel(symbols: int, rate: Fraction) -> Channel:
    """The channel with the fewest expected edits that hides one edit at ε = rate. Cost: a few milliseconds."""
    if rate < Fraction(LEAST_EPSILON) * (1 - Fraction(1, 2**40)):  # 0.7 · k is a little less than that in floats
        raise InvalidValue(
            f"epsilon is at least {LEAST_EPSILON} for each edit that it hides, {LEAST_EPSILON} times k: below that "
            "nothing of the word would be left"
        )
    spent, margin = min(rate, _MOST), _FIRST_MARGIN
    while not (channel := _solved(symbols, spent, margin)).keeps(rate):
        margin *= 4
    return channel


def _solved(symbols: int, rate: Fraction, margin: Decimal) -> Channel:
    """The best channel at a slightly smaller ε, rounded.

    With E = e^ε and c = 1 − 1/E², a deletion probability δ leaves κ = (E − δ − c/δ)/m to keep a symbol; δ is between
    the value where κ is as likely as any other symbol and the one where substitutions need all of ε.
    """
    with localcontext(_DIGITS):
        big = _exp(rate) * (1 - margin)
        c = 1 - 1 / big**2
        deleted = (big + 1) / big**2
        if symbols > 1:
            slope = (1 - 2 * (big - 1) / (big**2 - 2)) * (symbols - 1) / symbols + big / symbols
            linear = big * (slope - 1)
            highest = 2 * slope * c / (linear + (linear**2 + 4 * (big - slope) * slope * c).sqrt())
            deleted = _least_edits(big, c, symbols, deleted, min(highest, 2 * c / big))
        kept = (big - deleted - c / deleted) / symbols if symbols > 1 else 1 - deleted
        double, around = deleted / big, symbols * kept / big
        operations = [deleted, kept, 1 - deleted - kept]
        growth = [1 - double - around, double, around]
    return Channel(symbols, *(scaled.from_fractions(map(Fraction, each)) for each in (operations, growth)))


def _least_edits(big: Decimal, c: Decimal, symbols: int, low: Decimal, high: Decimal) -> Decimal:
    """Where the expected edits for each symbol, a convex function of δ, are least."""

    def rises(deleted: Decimal) -> bool:
        rest = 2 * c - big * deleted
        if rest <= 0:
            return True
        inserting = (c * big - 4 * c**2 / big) / rest**2 + 1 / big
        return (1 - c / deleted**2) / symbols + inserting >= 0

    if not rises(high):
        return high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if rises(middle) else (middle, high)
    return low


def _exp(rate: Fraction) -> Decimal:
    return (Decimal(rate.numerator) / Decimal(rate.denominator)).exp()


def _exact_shares(weights: Scaled) -> list[Fraction]:
    exact = weights.exact()
    return [weight / sum(exact) for weight in exact]


def _decimals(weights: Scaled) -> list[Decimal]:
    return [Decimal(share.numerator) / Decimal(share.denominator) for share in _exact_shares(weights)]
