from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core import checks


def test_numbers_of_any_kind() -> None:
    assert checks.whole_number(np.int64(3), "n", 1) == 3
    assert checks.positive_number(np.float32(0.5), "x", "1") == 0.5
    assert checks.positive_number(Fraction(1, 4), "x", "1") == 0.25
    assert checks.positive_number(0, "x", "1", zero_allowed=True) == 0.0


@pytest.mark.parametrize("bad", [0, 2.0, "3", True, None, -5])
def test_what_is_no_whole_number(bad: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="n must be a whole number, 1 or more"):
        checks.whole_number(bad, "n", 1)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "1", True, None, 10**400, 1j])
def test_what_is_no_positive_number(bad: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="x must be a finite number above 0: pass for example 1"):
        checks.positive_number(bad, "x", "1")


def test_collections() -> None:
    assert list(checks.collection({1: 2}, "things")) == [1]
    for bad in ("text", 3, None):
        with pytest.raises(dw.InvalidValue, match="things must be a list"):
            checks.collection(bad, "things")
