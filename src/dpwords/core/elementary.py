"""Exponentials, logarithms and choices that come out the same on every machine.

Whatever determines a draw is computed with these functions, because the same key has to draw the same word everywhere
(docs/theory.md, section 8). Mathematical libraries round exponentials and logarithms differently; IEEE operations and
decimal arithmetic are the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords.core import scaled
from dpwords.core.compiled import interpreted
from dpwords.core.scaled import Floats

_AT_A_TIME = 2**15  # products that are added up together: as many as a core has quickly at hand
_ALIKE = 1e-9  # numbers that differ by less, relatively, are taken for equal: more than rounding, less than matters


@lru_cache(maxsize=256)
def exp(power: float) -> float:
    """e^power, rounded once; 0 below the range of floats. Cost: some 20 microseconds."""
    (found,) = scaled.exp_minus([-Fraction(power)]).relative_to(np.zeros(1, dtype=np.int64))
    return float(found)


def log(value: float) -> float:
    """The natural logarithm, within 4 ulp; −∞ for 0."""
    return float(_loops().log(value))


def logs(values: Floats) -> Floats:
    """The natural logarithms of positive numbers, each the same as that of `log`."""
    mantissa, exponent = np.frexp(values)
    low = mantissa < _loops().ROOT_HALF
    return np.asarray(_loops().series(np.where(low, 2.0 * mantissa, mantissa), exponent - low.astype(np.int64)))


def powers(base: float, number: int) -> Floats:
    """base^0, …, base^(number − 1), each off by at most 2^(−53) times its index, relatively."""
    return np.cumprod(np.concatenate([[1.0], np.full(number - 1, base)]))


def weighted_sum(rows: NDArray[Any], weights: Floats) -> Floats:
    """Σ rows[i]·weights[i], added in an order that depends on the shape only, as that of NumPy's products does not.

    The error is at most the number of rows times 2^(−53), relatively, if nothing is negative.
    """
    found = np.zeros(rows.shape[1])
    size = max(_AT_A_TIME // max(rows.shape[1], 1), 1)
    for begin in range(0, len(rows), size):
        part = rows[begin : begin + size] * weights[begin : begin + size, None]
        while len(part) > 1:
            half = (len(part) + 1) // 2
            part[: len(part) - half] += part[half:]
            part = part[:half]
        found += part[0]
    return found


def index_of_least(values: Sequence[float]) -> int:
    """The index of the least number, or of the first of several that are equal but for rounding; not that of a NaN."""
    most = min((value for value in values if not math.isnan(value)), default=math.nan) * (1 + _ALIKE)
    return next((index for index, value in enumerate(values) if value <= most), 0)


def _loops() -> Any:
    return interpreted("elementary")
