"""The conditions under which an edit channel is private, at channels that just keep or just break them."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from dpwords.core import scaled
from dpwords.privacy.channel_parameters import keeps
from dpwords.spaces.edit_channel import Channel


def channel_of(symbols: int, limit: Decimal, deleted: Decimal) -> Channel:
    """The channel of section 12 for e^ε = limit that deletes a symbol with this probability, in 60 digits."""
    c = 1 - 1 / limit**2
    kept = (limit - deleted - c / deleted) / symbols
    double, around = deleted / limit, symbols * kept / limit
    parts = ([deleted, kept, max(1 - deleted - kept, Decimal(0))], [1 - double - around, double, around])
    return Channel(symbols, *(scaled.from_fractions(map(Fraction, each)) for each in parts))


def test_a_channel_that_loses_a_little_too_much_is_not_kept() -> None:
    """Substitutions use up all of ε at one δ, found here from the condition of section 12; beyond it they lose more."""
    with localcontext() as digits:
        digits.prec = 60
        limit, symbols = Decimal(3).exp() * (1 - Decimal("1e-12")), 3

        def excess(deleted: Decimal) -> Decimal:
            kept = (limit - deleted - (1 - 1 / limit**2) / deleted) / symbols
            double, around, other = deleted / limit, symbols * kept / limit, (1 - deleted - kept) / (symbols - 1)
            nothing = (1 - (1 - 4 * (1 - double - around) * double).sqrt()) / (2 * double)
            return (
                kept
                - limit * other
                - (limit - 1) * deleted * 2 * around * nothing / (1 - 2 * double * nothing) / symbols
            )

        low, high = (limit + 1) / limit**2, 2 * (1 - 1 / limit**2) / limit
        assert excess(low) < 0 < excess(high)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (low, middle) if excess(middle) > 0 else (middle, high)
        assert keeps(channel_of(symbols, limit, low * (1 - Decimal("1e-6"))), Fraction(3))
        assert not keeps(channel_of(symbols, limit, low * (1 + Decimal("1e-6"))), Fraction(3))


def test_words_that_would_grow_without_end_are_not_kept() -> None:
    """Below ln 2, each symbol that is inserted leads to one more on average, although every other condition holds."""
    with localcontext() as digits:
        digits.prec = 60
        for limit, fine in ((Decimal("1.9"), False), (Decimal("2.1"), True)):
            rate = Fraction(limit.ln() * (1 + Decimal("1e-12")))
            assert keeps(channel_of(1, limit, (limit + 1) / limit**2), rate) == fine
