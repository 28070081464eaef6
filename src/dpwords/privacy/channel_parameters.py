"""The probabilities of the edit channel that hide any single edit at a given ε (docs/theory.md, section 12)."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from dpwords.core import sampling, scaled
from dpwords.core.scaled import Scaled
from dpwords.errors import InvalidValue
from dpwords.spaces.edit_channel import Channel

LEAST_EPSILON = 0.7  # for one edit; ln 2 is where trees stop being finite
_MOST = Fraction(100)  # a larger ε is not spent: at e^(−100) nobody would ever see an edit
_FIRST_MARGIN = Decimal("5e-14")  # of e^ε, for the rounding of probabilities
_CERTAIN = Decimal("1e-50")  # more than these digits can be off
_DIGITS = Context(  # e^200 and what is left of 1 after e^(−200), to 60 digits; spelled out, whatever the caller has set
    prec=150, rounding=ROUND_HALF_EVEN, Emin=-(10**9), Emax=10**9, capitals=1, clamp=0, flags=[], traps=[]
)
_BISECTIONS = 150


@lru_cache(maxsize=64)
def best_channel(symbols: int, rate: Fraction) -> Channel:
    """The channel with the fewest expected edits that hides one edit at ε = rate. Cost: a few milliseconds."""
    if rate < Fraction(LEAST_EPSILON) * (1 - Fraction(1, 2**40)):  # 0.7 · k is a little less than that in floats
        raise InvalidValue(
            f"epsilon is at least {LEAST_EPSILON} for each edit that it hides, {LEAST_EPSILON} times k: below that "
            "nothing of the word would be left"
        )
    spent, margin = min(rate, _MOST), _FIRST_MARGIN
    while not keeps(channel := _solved(symbols, spent, margin), rate):
        margin *= 4
    return channel


def keeps(channel: Channel, rate: Fraction) -> bool:
    """Whether the stored probabilities of a channel hide one edit at ε = rate, with no rounding left out."""
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


def _decimals(weights: Scaled) -> list[Decimal]:
    return [Decimal(share.numerator) / Decimal(share.denominator) for share in sampling.shares(weights)]
