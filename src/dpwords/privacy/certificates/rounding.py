"""How certificates stay proofs in floating point: outward rounding, and a margin for the rest (docs/theory.md, 9)."""

from __future__ import annotations

from typing import Any

from dpwords.core.compiled import interpreted
from dpwords.core.elementary import exp

ALL_OF_IT = 200.0  # a c at which 1 ≤ Z ≤ (1 + D·e^(−c))^n leaves nothing of the order of the margin
ULP = 2.0**-52


def outward() -> Any:
    """`factors`, `lowered`, `raised` and LEAST of `_kernels/rounding.py`, as plain Python for single numbers."""
    return interpreted("rounding")


def price(c: float) -> float:
    """z = e^(−c), what one symbol that differs costs, rounded once, hence never above 1."""
    return exp(-c)


def margin(length: int) -> float:
    """More than the logarithms of bounds, and weights that differ from the mechanism's by rounding, can be off."""
    return 1e-9 + 32 * length * ULP
