"""The nearest word of a language: the least number of edits from every state, and the first word that attains it.

The edges of state s are `symbol[first[s]:first[s+1]]` in ascending order, with their targets in `target`; its
predecessors are `before[bf[s]:bf[s+1]]`. `cost[j, s]` is the least number of edits that turn the input from position j
on into a word that is accepted from state s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled()
def costs(codes: Array, symbol: Array, target: Array, first: Array, bf: Array, before: Array, steps: Array) -> Array:
    """The table `cost`, computed backwards from its last row `steps`. Cost: length · edges.

    With `here` = cost[j] and `after` = cost[j + 1], an insertion that leads to state t costs here[t] + 1, and a
    substitution costs after[t] + 1. So an insertion can improve on a substitution only if here[t] < after[t]. The
    difference is then exactly 1, since one more symbol in the input changes the least number of edits by at most 1.
    Hence such states can be processed in any order, each once.
    """
    positions, states = len(codes), len(steps)
    cost = np.empty((positions + 1, states), dtype=np.int32)
    for s in range(states):  # element by element: an assignment of arrays takes seconds to compile
        cost[positions, s] = steps[s]
    lower = np.empty(states, dtype=np.int32)
    for j in range(positions - 1, -1, -1):
        here, after, code, count = cost[j], cost[j + 1], codes[j], 0
        for s in range(states):
            least = after[s] + 1
            for k in range(first[s], first[s + 1]):
                least = min(least, after[target[k]] + (symbol[k] != code))
            here[s] = least
            if least < after[s]:
                lower[count] = s
                count += 1
        while count > 0:
            count -= 1
            t = lower[count]
            for k in range(bf[t], bf[t + 1]):
                s = before[k]
                if here[t] + 1 < here[s]:
                    here[s] = here[t] + 1
                    if here[s] < after[s]:
                        lower[count] = s
                        count += 1
    return cost


@compiled(inner=True)
def _with_deletions(cost: Array, state: int, positions: Array, count: int, result: Array) -> int:
    """Collect in `result` the positions, and those reached from them by deletions of an optimal alignment, in ascending
    order; returns their number."""
    size, end = 0, -1
    for i in range(count):
        j = positions[i]
        while j > end:
            result[size] = j
            size += 1
            end = j
            if j + 1 < len(cost) and cost[j, state] == cost[j + 1, state] + 1:
                j += 1
    return size


@compiled()
def first_nearest(
    cost: Array, codes: Array, symbol: Array, target: Array, first: Array, accepting: Array, start: int
) -> Array:
    """The lexicographically first word that cost[0, start] edits lead to.

    The loop keeps the positions of the input that an optimal alignment can have reached after the symbols chosen so
    far; a symbol can be next if an optimal alignment continues with it from one of these positions. Cost: for each
    symbol of the result, positions · branching.
    """
    length = len(codes)
    word = np.empty(length + cost[0, start], dtype=np.int64)
    positions, ahead = np.empty(length + 1, dtype=np.int32), np.empty(length + 1, dtype=np.int32)
    size, state = 0, start
    ahead[0] = 0
    count = _with_deletions(cost, state, ahead, 1, positions)
    while not (accepting[state] and positions[count - 1] == length):
        edge = first[state + 1]
        for i in range(count):
            j = positions[i]
            for k in range(first[state], edge):
                t = target[k]
                if cost[j, state] == cost[j, t] + 1 or (
                    j < length and cost[j, state] == cost[j + 1, t] + (symbol[k] != codes[j])
                ):
                    edge = k
                    break
            if edge == first[state]:
                break
        t, found, end = target[edge], 0, -1
        for i in range(count):
            j = positions[i]
            if j > end and cost[j, state] == cost[j, t] + 1:
                ahead[found] = j
                found += 1
                end = j
            if j < length and cost[j, state] == cost[j + 1, t] + (symbol[edge] != codes[j]):
                ahead[found] = j + 1
                found += 1
                end = j + 1
        word[size] = symbol[edge]
        size += 1
        state = t
        count = _with_deletions(cost, state, ahead, found, positions)
    return word[:size]
