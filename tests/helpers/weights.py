"""Stored weights for tests: mantissas that are 0 or in [1/2, 1), each with an exponent of its own."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dpwords.core import scaled
from dpwords.core.scaled import Scaled

mantissas = st.one_of(st.just(0.0), st.floats(0.5, 1, exclude_max=True))


def stored(values: list[tuple[float, int]]) -> Scaled:
    """A flat array of the numbers mantissa · 2^exponent."""
    found, exponents = zip(*values, strict=True)
    return scaled.normalised(np.array(found), np.array(exponents, dtype=np.int64))
