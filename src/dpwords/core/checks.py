"""Checks of plain arguments, shared by all rooms; each error names the rule and a remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from dpwords.errors import InvalidValue


def whole_number(value: object, name: str, least: int) -> int:
    """A whole number, if it is at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidValue(f"{name} is a whole number, {least} or more")
    return int(value)


def collection(value: object, name: str) -> Iterable[Any]:
    """Something to iterate over that is not a text."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidValue(f"{name}: a list or another collection is needed")
    return value


def positive_number(value: object, name: str, example: str, zero_allowed: bool = False) -> float:
    """A finite float above 0 (or 0, where that is allowed)."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero_allowed):
        rule = "0 or more" if zero_allowed else "above 0"
        raise InvalidValue(f"{name} is a finite number {rule}: pass for example {example}")
    return number
