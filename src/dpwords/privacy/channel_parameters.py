"""The probabilities of the edit channel that hide any single edit at a given ε (docs/theory.md, section 12)."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from dpwords.core import sampling, scaled
from dpwords.core.scaled import Scaled
from dpwords.errors import InvalidValue
from dpwords.spaces.edit_channel import Channel

LEAST_EPSILON = 0.7  # for one edit; at ln 2 and below, inserted words would be infinite
_MOST = Fraction(100)  # a larger ε is not used up: at e^(−100), edits practically never happen
_FIRST_MARGIN = Decimal("5e-14")  # relative to e^ε; covers the rounding of probabilities
_CERTAIN = Decimal("1e-50")  # more than the error of the decimal arithmetic
_DIGITS = Context(  # resolves e^200 and 1 − e^(−200) to 60 digits; explicit, whatever the caller's decimal context is
    prec=150, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, capitals=1, clamp=0, flags=[], traps=[]
)
_BISECTIONS = 150


@lru_cache(maxsize=64)
def best_channel(symbols: int, rate: Fraction) -> Channel:
    """The channel with the fewest expected edits that hides one edit at ε = rate. Cost: a few milliseconds."""
    if rate < Fraction(LEAST_EPSILON) * (1 - Fraction(1, 2**40)):  # the float 0.7 · k may be slightly too small
        raise InvalidValue(
            f"epsilon must be at least {LEAST_EPSILON} for each edit that it hides, {LEAST_EPSILON} times k: below "
            "that nothing of the word would be left"
        )
    spent, margin = min(rate, _MOST), _FIRST_MARGIN
    while not keeps(channel := _solved(symbols, spent, margin), rate):
        margin *= 4
    return channel


def keeps(channel: Channel, rate: Fraction) -> bool:
    """Whether the probabilities of a channel, exactly as they are stored, hide one edit at ε = rate."""
    symbols = channel.symbols
    with localcontext(_DIGITS):
        limit = _exp(rate) * (1 - _CERTAIN)
        deleted, kept, replaced = _decimals(channel.operations)
        empty, double, around = _decimals(channel.growth)
        other = replaced / max(symbols - 1, 1)
        nothing = 2 * empty / (1 + (1 - 4 * empty * double).sqrt())
        spread = (limit - 1) * deleted * 2 * around * nothing / ((1 - 2 * double * nothing) * symbols)
        return (
            double + around < Decimal("0.5")
            and double * limit >= deleted
            and around * limit >= symbols * max(kept, other)
            and deleted * nothing * limit >= 1
            and (symbols == 1 or (kept - limit * other <= spread and other <= limit * kept))
        )


def _solved(symbols: int, rate: Fraction, margin: Decimal) -> Channel:
    """The best channel at a slightly smaller ε (e^ε is reduced by `margin`), with rounded probabilities.

    Let E = e^ε, c = 1 − 1/E², and m the number of symbols. If a symbol is deleted with probability δ, it is kept with
    probability κ = (E − δ − c/δ)/m. δ ranges from the value at which a symbol is kept no more often than it becomes any
    given other symbol to the value at which substitutions use up all of ε.
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
    """The δ between `low` and `high` that minimises the expected number of edits for each symbol, which is convex."""

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


def _decimals(weights: Scaled) -> list[Decimal]:
    return [
        Decimal(proportion.numerator) / Decimal(proportion.denominator)
        for proportion in sampling.probabilities(weights)
    ]
