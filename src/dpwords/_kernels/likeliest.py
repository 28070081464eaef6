"""The most likely hidden run of each released word. Layers and ratios are as in `_kernels/hidden.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def likeliest(layers: Any, factor: Array, ending: Array, ratios: Any, rows: Array, states: Array, logs: Array) -> None:
    """states[i]: the states of the run with the largest weight for the released word in row i; logs[i]: ln of it.

    `factor` and `ending` are logarithms, and so are ratios.times. Cost: words · edges of all layers.
    """
    positions, size = rows.shape[1], len(ending)
    best, came = np.zeros((positions + 1, size)), np.zeros((positions + 1, size), dtype=np.int64)
    for i in range(len(rows)):
        best[:] = -np.inf
        best[0, 0] = 0.0
        for position in range(positions):
            here, there = best[position], best[position + 1]
            for j in range(layers.begin[position], layers.begin[position + 1]):
                k = layers.order[j]
                value = here[layers.source[k]] + factor[k]
                if value > there[layers.target[k]]:
                    there[layers.target[k]] = value
                    came[position + 1, layers.target[k]] = layers.source[k]
            row = rows[i, position]
            for j in range(ratios.first[row], ratios.first[row + 1]):
                there[ratios.state[j]] += ratios.times[j]
        state, reached = 0, -np.inf
        for s in range(size):
            if best[positions, s] + ending[s] > reached:
                state, reached = s, best[positions, s] + ending[s]
        logs[i] = reached
        for position in range(positions, 0, -1):
            states[i, position - 1] = state
            state = came[position, state]
