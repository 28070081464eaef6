from __future__ import annotations

import math
from decimal import Context, Decimal, Inexact, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpwords.core import scaled
from dpwords.core.scaled import Scaled
from weights import mantissas, stored

HALF_ULP = Fraction(1, 2**53)
HIGH = Context(prec=50, Emin=-(10**9), Emax=10**9)


def near(found: Fraction, exact: Fraction, units: float) -> bool:
    return abs(found - exact) <= Fraction(units) * HALF_ULP * exact


@given(st.lists(st.integers(0, 10**400), min_size=1, max_size=5))
def test_integers_are_rounded_once(values: list[int]) -> None:
    for found, exact in zip(scaled.from_integers(values).exact(), values, strict=True):
        assert near(found, Fraction(exact), 1.01)


@given(st.fractions(0, 10**6))
def test_exponentials_are_rounded_once(power: Fraction) -> None:
    found = scaled.exp_minus([power])
    mantissa, exponent = Fraction(float(found.mantissa[0])), int(found.exponent[0])
    log2 = HIGH.ln(Decimal(2))
    exact = HIGH.divide(Decimal(power.numerator), Decimal(power.denominator))
    ideal = Fraction(HIGH.exp(HIGH.subtract(HIGH.multiply(Decimal(-exponent), log2), exact)))
    assert near(mantissa, ideal, 1.01)
    assert found.mantissa[0] >= 0.5


def test_exponentials_do_not_depend_on_the_callers_decimal_context() -> None:
    powers = [Fraction(13, 10), Fraction(1, 3), Fraction(10**6)]
    expected = scaled.exp_minus(powers).exact()
    with localcontext(prec=3) as context:
        context.traps[Inexact] = True
        assert scaled.exp_minus(powers).exact() == expected


def test_known_exponentials() -> None:
    found = scaled.exp_minus([Fraction(0), Fraction(1), Fraction(100)])
    assert [float(v) for v in found.exact()] == pytest.approx([1, math.exp(-1), math.exp(-100)], rel=1e-15)
    far = scaled.exp_minus([Fraction(200_000)])
    assert far.logs()[0] == pytest.approx(-200_000, rel=1e-15)


pairs = st.lists(st.tuples(mantissas, st.integers(-300_000, 300_000)), min_size=1, max_size=8)


@given(pairs)
def test_sums_and_products_of_any_magnitude(values: list[tuple[float, int]]) -> None:
    array = stored(values)
    exact = array.exact()
    assert near(scaled.total(array).exact()[0], sum(exact, Fraction(0)), len(values))
    for found, one in zip(array.times(array).exact(), exact, strict=True):
        assert near(found, one * one, 1)
    for log, one in zip(array.logs(), exact, strict=True):
        assert (log == -math.inf) == (one == 0)


def test_group_sums_by_hand() -> None:
    column = stored([(0.5, 1), (0.5, 2), (0.75, 2), (0.5, 0)])
    table = Scaled(column.mantissa[:, None], column.exponent[:, None])
    sums = scaled.group_sums(table, np.array([0, 1, 3]))
    assert sums.take((slice(None), 0)).exact() == [1, 2 + 3, Fraction(1, 2)]


def test_indicator_is_one_and_zero() -> None:
    assert scaled.indicator(np.array([True, False])).exact() == [1, 0]
