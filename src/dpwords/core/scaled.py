"""Non-negative numbers that carry their own exponent: mantissa · 2^exponent.

The weights of words span a wider range than floats (e^(−100·2000), for example), so each number has a 64-bit exponent.
All operations are products and sums of non-negative numbers, hence every relative error is a few units of 2^(−53).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.core.values import read_only

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ZERO_EXPONENT = -(2**62)  # of the number 0: below every other exponent, and far from overflow
_LOWEST_SHIFT = -1100  # a float shifted this far down is 0
_DECIMAL = Context(  # all settings are explicit, so that the caller's decimal context has no effect
    prec=60, rounding=ROUND_HALF_EVEN, Emin=-(10**15), Emax=10**15, capitals=1, clamp=0, flags=[], traps=[]
)
_LN2 = Decimal(2).ln(_DECIMAL)


class Scaled(NamedTuple):
    """An array of numbers mantissa · 2^exponent; mantissas are 0 or in [1/2, 1)."""

    mantissa: Floats
    exponent: Integers

    def take(self, index: Any) -> Scaled:
        """The entries at a NumPy index."""
        return Scaled(self.mantissa[index], self.exponent[index])

    def times(self, other: Scaled) -> Scaled:
        """The products, entry by entry, each rounded once."""
        return normalised(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def relative_to(self, exponent: Integers) -> Floats:
        """The numbers divided by 2^exponent, as floats; those below the range of floats become 0."""
        shift = np.maximum(self.exponent - exponent, _LOWEST_SHIFT)
        return np.asarray(np.ldexp(self.mantissa, shift.astype(np.int32)))

    def logs(self) -> Floats:
        """Natural logarithms; −inf for 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.mantissa) + self.exponent * math.log(2.0))

    def stored(self) -> bytes:
        """The stored numbers, the same bytes on every machine."""
        return self.mantissa.astype("<f8").tobytes() + b"|" + self.exponent.astype("<i8").tobytes()

    def exact(self) -> list[Fraction]:
        """The stored numbers of a flat array as fractions, without rounding."""
        return [
            Fraction(m) * (Fraction(2) ** int(e)) if m else Fraction(0)
            for m, e in zip(self.mantissa.tolist(), self.exponent.tolist(), strict=True)
        ]


def normalised(mantissa: Floats, exponent: Integers) -> Scaled:
    """The same numbers with mantissas in [1/2, 1)."""
    fraction, shift = np.frexp(mantissa)
    exponents = np.where(fraction == 0.0, ZERO_EXPONENT, exponent + shift)
    read_only(fraction, exponents)
    return Scaled(fraction, exponents)


def indicator(flags: NDArray[np.bool_]) -> Scaled:
    """1 where the flag is set, 0 elsewhere."""
    return normalised(flags.astype(np.float64), np.zeros(flags.shape, dtype=np.int64))


def from_integers(values: Iterable[int]) -> Scaled:
    """Integers of any size, each rounded once."""
    mantissas, exponents = [], []
    for value in values:
        shift = max(value.bit_length() - 64, 0)
        mantissas.append(float(value >> shift))
        exponents.append(shift)
    return normalised(np.array(mantissas), np.array(exponents, dtype=np.int64))


def from_fractions(values: Iterable[Fraction]) -> Scaled:
    """Fractions ≥ 0, each rounded once."""
    mantissas, exponents = [], []
    for value in values:
        shift = value.numerator.bit_length() - value.denominator.bit_length()
        mantissas.append(float(value / Fraction(2) ** shift))
        exponents.append(shift)
    return normalised(np.array(mantissas), np.array(exponents, dtype=np.int64))


def exp_minus(powers: Iterable[Fraction]) -> Scaled:
    """e^(−power) for each power ≥ 0, rounded once, the same on every machine and in every decimal context."""
    mantissas, exponents = [], []
    for power in powers:
        exact = _DECIMAL.divide(Decimal(power.numerator), Decimal(power.denominator))
        halvings = _DECIMAL.divide_int(exact, _LN2)
        rest = _DECIMAL.subtract(exact, _DECIMAL.multiply(halvings, _LN2))
        mantissas.append(float(_DECIMAL.exp(rest.copy_negate())))
        exponents.append(-int(halvings))
    return normalised(np.array(mantissas), np.array(exponents, dtype=np.int64))


def group_sums(values: Scaled, starts: Integers) -> Scaled:
    """Sums over consecutive groups of rows; group g consists of rows starts[g], …, starts[g+1] − 1 and is not empty.

    The sum of D rows has a relative error of at most D · 2^(−53).
    """
    top = np.maximum.reduceat(values.exponent, starts, axis=0)
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(values.exponent)))
    total = np.add.reduceat(values.relative_to(top[group]), starts, axis=0)
    return normalised(total, top)


def total(values: Scaled) -> Scaled:
    """The sum of a flat array, as an array of one number."""
    return group_sums(values, np.zeros(1, dtype=np.int64))
