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
    places, size = gains.shape[0], gains.shape[1]
    best, came = np.full((places + 1, size), -np.inf), np.zeros((places + 1, size), dtype=np.int64)
    for i in range(len(words)):
        best[:] = -np.inf
        best[0, 0] = 0.0
        for place in range(places):
            for j in range(layers.begin[place], layers.begin[place + 1]):
                k = layers.order[j]
                source, target = layers.source[k], layers.target[k]
                value = best[place, source] + gains[place, target, i]
                if value > best[place + 1, target]:
                    best[place + 1, target] = value
                    came[place + 1, target] = source
        state = -1
        for s in range(size):
            if ending[s] > 0.0 and (state < 0 or best[places, s] > best[places, state]):
                state = s
        reached[i] = best[places, state]
        for place in range(places, 0, -1):
            words[i, place - 1] = state
            state = came[place, state]
