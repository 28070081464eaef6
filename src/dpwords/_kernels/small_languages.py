"""Sums over all words of a list, and the largest loss over all pairs of them (docs/theory.md, section 9)."""

from __future__ import annotations

from typing import Any

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def distances(rows: Array, apart: Array, begin: int, end: int) -> None:
    """apart[i, j] for i from `begin` to `end`: the number of positions in which words i and j differ."""
    for i in range(begin, end):
        for j in range(len(rows)):
            count = 0
            for position in range(rows.shape[1]):
                count += rows[i, position] != rows[j, position]
            apart[i, j] = count


@compiled(nogil=True)
def sums(apart: Array, fall: Array, weights: Array, found: Array, begin: int, end: int) -> None:
    """found[i] = Σ fall[apart[i, j]] · weights[j] for i from `begin` to `end`, added in four parts."""
    words = apart.shape[1]
    whole = words // 4 * 4
    for i in range(begin, end):
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(0, whole, 4):
            one += fall[apart[i, j]] * weights[j]
            two += fall[apart[i, j + 1]] * weights[j + 1]
            three += fall[apart[i, j + 2]] * weights[j + 2]
            four += fall[apart[i, j + 3]] * weights[j + 3]
        for j in range(whole, words):
            one += fall[apart[i, j]] * weights[j]
        found[i] = (one + two) + (three + four)


@compiled(nogil=True)
def largest(logs: Array, apart: Array, loss: Array, unit: Array, found: Array, begin: int, end: int) -> None:
    """found[i]: the largest (loss[d] + |logs[i] − logs[j]|) / unit[d] over all words j, where d = apart[i, j]."""
    for i in range(begin, end):
        most = 0.0
        for j in range(i):
            d = apart[i, j]
            most = max(most, (loss[d] + abs(logs[i] - logs[j])) / unit[d])
        found[i] = most
