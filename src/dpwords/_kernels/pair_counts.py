"""How many words lie at each distance from each word of a list."""

from __future__ import annotations

from typing import Any

from dpwords._kernels.compiler import compiled

Array = Any


@compiled()
def tally(apart: Array, first: int, counts: Array) -> None:
    """Add a block of distances to the counts of both words of each pair.

    Row r of `apart` is of word first + r, and column j of word first + j; pairs count once, from the row on.
    """
    for column in range(1, apart.shape[1]):
        for row in range(min(column, apart.shape[0])):
            distance = apart[row, column]
            counts[first + row, distance] += 1
            counts[first + column, distance] += 1
