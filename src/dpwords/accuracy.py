"""What a release will cost in accuracy, before there is any data."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpwords.automata import Language, Words
from dpwords.checks import positive_number
from dpwords.errors import TooLarge
from dpwords.mechanisms.base import Mechanism
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.online import Online
from dpwords.privacy import Inverse, Linear

Maker = Callable[[float], Mechanism]  # from ε
_LEAST, _MOST = 2.0**-7, 2.0**10  # ε that are searched
_STEPS = 14


def mechanisms(language: Language, k: int) -> dict[str, Maker]:
    """The mechanisms that apply to a language, by name, the default first; each is made from an ε."""
    tight: dict[str, Maker] = {"tight (default)": lambda epsilon: Exponential(language, epsilon, k)}
    if not isinstance(language, Words):
        tight["online"] = lambda epsilon: Online(language, epsilon, k)
    return tight | {
        "linear, textbook": lambda epsilon: Exponential(language, epsilon, k, Linear(), "textbook"),
        "inverse (α=1), textbook": lambda epsilon: Exponential(language, epsilon, k, Inverse(1.0), "textbook"),
    }


def expected_distance(make: Maker, epsilon: float, length: int) -> float:
    """The public expected distance at an ε; NaN where it is too large to compute, but for linear utility."""
    mechanism = make(epsilon)
    try:
        return mechanism.expected_distance(length=length)
    except TooLarge:
        if isinstance(getattr(mechanism, "utility", Linear()), Linear):
            raise
        return math.nan


def least_epsilon(make: Maker, target: float, length: int) -> float:
    """The least ε at which the expected distance is no larger than the target, to 1 part in 1,000; NaN if none is.

    Cost: that of the expected distance, about 16 times.
    """
    positive_number(target, "target", "target=1.0")
    low, high = math.log(_LEAST), math.log(_MOST)
    if not expected_distance(make, _MOST, length) <= target:
        return math.nan
    if expected_distance(make, _LEAST, length) <= target:
        return _LEAST
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if expected_distance(make, math.exp(middle), length) <= target else (middle, high)
    return math.exp(high)
