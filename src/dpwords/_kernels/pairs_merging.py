"""Merging boxes of pairs of runs: fewer boxes that contain all of them (docs/theory.md, section 9)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any
SAME = 1 + 1e-9  # boxes are always merged if that widens them by less


@compiled(error_model="numpy", inner=True)
def cost(low: Array, high: Array, a: int, b: int, size: int, guide: Array, more: Array, widths: Array) -> float:
    """How wide two boxes are together, relative to the wider one; 0 if they are alike."""
    below, above = 0.0, 0.0
    for s in range(size):
        below += guide[s] * min(low[a, s], low[b, s])
        above += more[s] * max(high[a, s], high[b, s])
    width, wider = above / below, max(widths[a], widths[b])
    return 0.0 if width <= wider * SAME else width / math.sqrt(wider)


@compiled(error_model="numpy", inner=True)
def merged(
    low: Array, high: Array, links: Array, count: int, size: int, guide: Array, more: Array, most: int
) -> int:  # fmt: skip
    """Merge boxes until there are at most so many, the cheapest two first; returns how many are left.

    Any two boxes may be merged: the result contains both. The wider one stands for them in `links`.
    """
    if count < 2:
        return count
    widths, alive, left = np.zeros(count), np.ones(count, np.bool_), count
    costs, partner = np.full((count, count), math.inf), np.zeros(count, np.int64)
    cheapest = np.full(count, math.inf)  # of boxes before it
    for a in range(count):
        below, above = 0.0, 0.0
        for s in range(size):
            below, above = below + guide[s] * low[a, s], above + more[s] * high[a, s]
        widths[a] = above / below
        for b in range(a):
            costs[a, b] = cost(low, high, a, b, size, guide, more, widths)
            if costs[a, b] < cheapest[a]:
                cheapest[a], partner[a] = costs[a, b], b
    while left > 1:
        a = 0
        for b in range(1, count):
            if alive[b] and cheapest[b] < cheapest[a]:
                a = b
        if left <= most and cheapest[a] > 0.0:
            break
        if cheapest[a] == math.inf:  # all of them are infinitely wide: any two will do
            a = 0
            for b in range(1, count):
                if alive[b]:
                    a = b
            for b in range(a):
                if alive[b]:
                    partner[a] = b
        gone = partner[a]
        if widths[gone] > widths[a]:
            links[a] = links[gone]
        below, above = 0.0, 0.0
        for s in range(size):
            low[a, s], high[a, s] = min(low[a, s], low[gone, s]), max(high[a, s], high[gone, s])
            below, above = below + guide[s] * low[a, s], above + more[s] * high[a, s]
        widths[a] = above / below
        alive[gone], cheapest[gone] = False, math.inf
        left -= 1
        for b in range(count):
            if alive[b] and b != a:
                costs[max(a, b), min(a, b)] = cost(low, high, a, b, size, guide, more, widths)
        for b in range(a, count):
            if alive[b] and (b == a or partner[b] == gone or partner[b] == a):
                cheapest[b] = math.inf
                for c in range(b):
                    if alive[c] and costs[b, c] < cheapest[b]:
                        cheapest[b], partner[b] = costs[b, c], c
            elif alive[b] and costs[b, a] < cheapest[b]:
                cheapest[b], partner[b] = costs[b, a], a
        for b in range(gone + 1, a):
            if alive[b] and partner[b] == gone:
                cheapest[b] = math.inf
                for c in range(b):
                    if alive[c] and costs[b, c] < cheapest[b]:
                        cheapest[b], partner[b] = costs[b, c], c
    last = 0
    for a in range(count):
        if alive[a]:
            if last != a:
                low[last], high[last], links[last] = low[a], high[a], links[a]
            last += 1
    return last
