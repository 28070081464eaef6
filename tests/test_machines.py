"""The same key draws the same word on every machine, however its mathematical library rounds.

IEEE arithmetic (+, −, ·, /) and integers are the same everywhere. Exponentials and logarithms are not: libraries differ
in the last digit. Here all of them are made to.
"""

from __future__ import annotations

import functools
import gc
import math
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.mechanisms.private import Private
from test_contract import MECHANISMS
from zoo import ALL, FINITE

with warnings.catch_warnings(action="ignore"):  # that little of a word remains
    from draws import EVERY
pytestmark = pytest.mark.filterwarnings("ignore:of each word only")
KEY = bytes(range(32))
IN_NUMPY = ("exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "logaddexp", "power", "sin", "cos", "arctan2")
IN_MATH = ("exp", "exp2", "expm1", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "cos", "atan2")
CELLS, UNLISTED = dw.GridWorld(3, 3).by_states(), Limits(compared_words=0)
RATES: dict[str, tuple[Callable[[float], Private], int]] = {
    "listed": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon), 5),
    "listed, staircase": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, k=2, utility=dw.Staircase()), 5),
    "range": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, limits=UNLISTED), 6),
    "either": (lambda epsilon: dw.Exponential(ALL["walls"][0], epsilon, k=2, limits=UNLISTED), 6),
    "blocks": (lambda epsilon: dw.Exponential(CELLS, epsilon, limits=UNLISTED), 9),
    "words by distance": (lambda epsilon: dw.Exponential(dw.Words("abcd"), epsilon, k=3), 12),
    "list by edits": (lambda epsilon: dw.Exponential(FINITE["cities"][0], epsilon, distance="levenshtein"), 6),
    "selection": (lambda epsilon: dw.Report(dw.GridWorld(6, 6), epsilon), 5),
    "best": (lambda epsilon: dw.best(ALL["walls"][0], epsilon, length=None), 6),
}
EPSILONS = (0.3, 0.9, 1.7, 2.6, 3.1, 4.4, 6.3, 9.2)


class Off:
    """A mathematical function whose results are one unit in the last place off, except those that every library has."""

    def __init__(self, function: Any, direction: Callable[[float], float]) -> None:
        self.function, self.direction = function, direction

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        found = self.function(*arguments, **options)
        if np.iscomplexobj(found):
            return found
        plain = np.asarray(found, dtype=np.float64)
        towards = np.array([self.direction(value) for value in plain.ravel().tolist()]).reshape(plain.shape)
        moved = np.where(np.isin(plain, (0.0, 1.0, np.inf, -np.inf)), plain, np.nextafter(plain, towards))
        return float(moved) if isinstance(found, float) and not isinstance(found, np.floating) else moved[()]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)


DIRECTIONS: dict[str, Callable[[float], float]] = {
    "up": lambda value: math.inf,
    "down": lambda value: -math.inf,
    "either": lambda value: math.inf if zlib.crc32(value.hex().encode()) % 2 else -math.inf,
}


def forget() -> None:
    """Empty all caches of computed numbers."""
    for each in gc.get_objects():
        if isinstance(each, functools._lru_cache_wrapper) and (each.__module__ or "").startswith("dpwords."):
            each.cache_clear()


def facts(mechanism: Private, length: int) -> str:
    """Everything that determines the draws at words of one length, given key, id and word."""
    return mechanism._parameters(mechanism._drawing(length))


def everything() -> dict[str, Any]:
    """What every mechanism draws with one key, and what its draws depend on."""
    forget()
    found: dict[str, Any] = {}
    for name, (mechanism, word) in EVERY.items():
        if isinstance(mechanism, Private):
            again = mechanism.like()
            found[name] = facts(again, len(word)), again.release_all([word] * 3, key=KEY)
    for name, (mechanism, length) in MECHANISMS.items():
        found[name] = facts(mechanism if name == "uniform" else mechanism.like(), length)
    for name, (make, length) in RATES.items():
        for epsilon in EPSILONS:
            found[f"{name}, {epsilon}"] = facts(make(epsilon), length)
    return found


@pytest.fixture(scope="module")
def here() -> dict[str, Any]:
    """What this machine draws."""
    return everything()


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_last_digit_of_exp_and_log_has_no_effect(
    here: dict[str, Any], direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, names in ((np, IN_NUMPY), (math, IN_MATH)):
        for name in names:
            if hasattr(module, name):
                monkeypatch.setattr(module, name, Off(getattr(module, name), DIRECTIONS[direction]))
    assert math.exp(1.5) != 4.4816890703380645 or direction == "either"
    there = everything()
    assert {name for name in here if here[name] != there[name]} == set()
