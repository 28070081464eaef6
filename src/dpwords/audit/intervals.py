"""Exact confidence bounds of Clopper and Pearson for a proportion, and quick ones that rank many candidates."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.scaled import Floats

_STEPS = 60  # bisections
_NEGLIGIBLE = 1e-18
_ROUNDING = 1e-6  # part of the error that covers the rounding of the tail


def least_proportion(hits: int, draws: int, error: float) -> float:
    """The largest p such that `hits` or more of `draws` have at most the probability `error`, for proportions up to p.

    So the true proportion is smaller with probability at most `error`. Cost: the square root of `draws`.

    >>> round(least_proportion(100, 100, 0.001), 4)
    0.9333
    """
    if hits == 0:
        return 0.0
    level = math.log(error) + math.log1p(-_ROUNDING)
    if hits == draws:
        return math.exp(level / draws)
    ways = math.lgamma(draws + 1) - math.lgamma(hits + 1) - math.lgamma(draws - hits + 1)
    low, high = (level - ways) / hits, math.log(hits / draws)  # of ln p: the tail is at most ways·p^hits
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _log_tail(hits, draws, math.exp(middle), ways) <= level:
            low = middle
        else:
            high = middle
    return math.exp(low)


def largest_proportion(hits: int, draws: int, error: float) -> float:
    """The proportion that is exceeded with probability at most `error`, if `hits` of `draws` were seen; above 0 always.

    >>> round(largest_proportion(0, 100, 0.001), 4)
    0.0667
    """
    if hits == 0:
        return -math.expm1((math.log(error) + math.log1p(-_ROUNDING)) / draws)
    return 1 - least_proportion(draws - hits, draws, error)


def _log_tail(hits: int, draws: int, proportion: float, ways: float) -> float:
    """ln of the probability of `hits` or more, for a proportion below hits/draws, so that the terms fall; never too
    small.

    What is left out is below a geometric series.
    """
    odds = proportion / (1 - proportion)
    term = total = 1.0
    for more in range(1, draws - hits + 1):
        ratio = (draws - hits - more + 1) / (hits + more) * odds
        term *= ratio
        total += term
        if term < _NEGLIGIBLE * (1 - ratio):
            total += term * ratio / (1 - ratio)
            break
    return ways + hits * math.log(proportion) + (draws - hits) * math.log1p(-proportion) + math.log(total)


def quick_bounds(proportions: Floats, draws: int, error: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds by Chernoff's inequality, for many proportions at a time: a little wider than the exact
    ones.

    They are where draws · KL(proportion, bound) = ln(1/error).
    """
    goal = -math.log(error) / draws
    found = []
    for end in (0.0, 1.0):
        near, far = proportions.copy(), np.full(len(proportions), end)
        for _ in range(_STEPS):
            middle = (near + far) / 2
            inside = _divergence(proportions, middle) <= goal
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        found.append(far)
    return found[0], found[1]


def _divergence(proportions: Floats, others: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(proportions > 0, proportions * np.log(proportions / others), 0.0)
        rest = np.where(proportions < 1, (1 - proportions) * np.log((1 - proportions) / (1 - others)), 0.0)
    return own + rest
