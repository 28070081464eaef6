"""Outward rounding: what is a bound in exact arithmetic stays one in floating point (docs/theory.md, section 9)."""

from __future__ import annotations

from dpwords._kernels.compiler import compiled

LEAST = 1e-100  # bounds are 0 or at least this, so that no product of a few of them underflows
UNIT = 2.0**-52  # twice the largest relative error of one rounding


@compiled(inner=True)
def factors(roundings: int) -> tuple[float, float]:
    """What `lowered` and `raised` multiply by where each part of a result went through at most so many roundings."""
    return 1.0 - (roundings + 2) * UNIT, 1.0 + (roundings + 2) * UNIT


@compiled(inner=True)
def lowered(value: float, down: float) -> float:
    """A lower bound of the exact result, which is not negative, from its floating-point value."""
    low = value * down
    return low if low >= LEAST else 0.0


@compiled(inner=True)
def raised(value: float, up: float) -> float:
    """An upper bound of the exact result, which is not negative, from its floating-point value; 0 stays 0."""
    high = value * up
    return LEAST if 0.0 < high < LEAST else high


@compiled(inner=True)
def as_factor(value: float) -> tuple[float, float]:
    """Two numbers: a product with the first is at most that with `value`, one with the second at least."""
    down, up = factors(2)
    return value * down, value * up
