"""Checks of simple arguments, and of optional packages; each message names the rule and a remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib import import_module
from numbers import Integral, Real
from types import ModuleType
from typing import Any

from dpwords.errors import InvalidValue, MissingExtra

LARGEST_EPSILON = 1e6


def whole_number(value: object, name: str, least: int) -> int:
    """The value as an int, if it is a whole number and at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidValue(f"{name} must be a whole number, {least} or more")
    return int(value)


def collection(value: object, name: str) -> Iterable[Any]:
    """The value itself, if it is an iterable other than a str."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InvalidValue(f"{name} must be a list or another collection")
    return value


def positive_number(
    value: object, name: str, example: str, zero_allowed: bool = False, largest: float = math.inf
) -> float:
    """The value as a float, if it is finite, above 0 (or 0, if that is allowed) and not above the `largest` ε."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero_allowed):
        rule = "0 or more" if zero_allowed else "above 0"
        raise InvalidValue(f"{name} must be a finite number {rule}: pass for example {example}")
    if number > largest:
        raise InvalidValue(f"{name} must be at most {largest:g}: beyond that nothing would be hidden")
    return number


def optional(module: str, extra: str, purpose: str) -> ModuleType:
    """The module, imported; raises `MissingExtra` with the command that installs its package if it is not there."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"{purpose} need {package}, which is not installed: pip install 'dpwords[{extra}]'"
        ) from None
