"""Forward passes of words that are released symbol by symbol.

The edges of state s are first[s], …, first[s+1] − 1, each with a symbol and a target. `useful[i]` flags the states
before symbol i from which a word can be completed; an edge is *open* if it leads to one of them. Before symbol i, an
output is in one of the first reach[i] states. `nearness` says what is preferred where the true symbol is closed.
`edges` and `nearness` are the named tuples `Edges` and `Nearness` of dpwords.spaces. Kernels release the GIL, so
several threads may run at the same time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(inner=True, nogil=True)
def _away(edges: Any, nearness: Any, own: int, named: int, k: int, size: int) -> int:
    """How far edge k leads from the true symbol: −1 for this symbol, else steps to its state; `size` if it has none."""
    if edges.symbol[k] == own:
        return -1
    return nearness.steps[named, edges.target[k]] if named >= 0 else size


@compiled(nogil=True)
def distances_each(
    edges: Any, useful: Array, reach: Array, nearness: Any, rows: Array, begin: int, reached: Array, means: Array
) -> None:
    """For each word, the mean distance of an output and the probabilities of its distances.

    reached[row, s, 0] is the probability that the output is in state s after `begin` symbols, reached[row, s, 1 + d]
    that it is there at distance d, and means[row] the mean distance so far. Both are updated to the end of the word.
    Cost: words · edges of all layers · (1 + distances).
    """
    size, columns = reached.shape[1], reached.shape[2]
    there, z = np.empty((size, columns)), nearness.z
    for row in range(len(rows)):
        here = reached[row]
        for position in range(begin, rows.shape[1]):
            there[:] = 0.0
            own = rows[row, position]
            named = nearness.row_of[own]
            for s in range(reach[position]):
                mass = here[s, 0]
                if mass == 0.0:
                    continue
                number, nearest, tied = 0, size, 0
                for k in range(edges.first[s], edges.first[s + 1]):
                    if useful[position + 1, edges.target[k]]:
                        number += 1
                        away = _away(edges, nearness, own, named, k, size)
                        if away < nearest:
                            nearest, tied = away, 1
                        elif away == nearest and away < size:
                            tied += 1
                high = nearness.shared[tied]
                total = tied * high + (number - tied) * z if tied > 0 else 1.0 * number
                for k in range(edges.first[s], edges.first[s + 1]):
                    target = edges.target[k]
                    if not useful[position + 1, target]:
                        continue
                    proportion = high if _away(edges, nearness, own, named, k, size) == nearest else z
                    proportion /= total
                    differs = 1 if edges.symbol[k] != own else 0
                    there[target, 0] += proportion * mass
                    means[row] += proportion * mass * differs
                    for d in range(1, columns - differs):
                        there[target, d + differs] += proportion * here[s, d]
            for s in range(size):
                for d in range(columns):  # element by element: an assignment of arrays takes seconds to compile
                    here[s, d] = there[s, d]
