"""The best run through layers of gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def best_runs(layers: Any, ending: Array, gains: Array, words: Array, reached: Array) -> None:
    """words[i]: the states of the run with the largest sum of gains[t, s, i] over its states s after t + 1 symbols.

    reached[i] is that sum. Layers are as in `_kernels/hidden.py`. Cost: words · edges of all layers.
    """
    positions, size = gains.shape[0], gains.shape[1]
    best, came = np.full((positions + 1, size), -np.inf), np.zeros((positions + 1, size), dtype=np.int64)
    for i in range(len(words)):
        best[:] = -np.inf
        best[0, 0] = 0.0
        for position in range(positions):
            for j in range(layers.begin[position], layers.begin[position + 1]):
                k = layers.order[j]
                source, target = layers.source[k], layers.target[k]
                value = best[position, source] + gains[position, target, i]
                if value > best[position + 1, target]:
                    best[position + 1, target] = value
                    came[position + 1, target] = source
        state = -1
        for s in range(size):
            if ending[s] > 0.0 and (state < 0 or best[positions, s] > best[positions, state]):
                state = s
        reached[i] = best[positions, state]
        for position in range(positions, 0, -1):
            words[i, position - 1] = state
            state = came[position, state]
