"""The number of words at each distance from each word of a list."""

from __future__ import annotations

from typing import Any

from dpwords._kernels.compiler import compiled

Array = Any


@compiled()
def tally(apart: Array, first: int, counts: Array) -> None:
    """Add a block of distances to the counts: each pair of words counts once for each of the two.

    apart[r, j] is the distance between words first + r and first + j; only entries with r < j are used.
    """
    for column in range(1, apart.shape[1]):
        for row in range(min(column, apart.shape[0])):
            distance = apart[row, column]
            counts[first + row, distance] += 1
            counts[first + column, distance] += 1
