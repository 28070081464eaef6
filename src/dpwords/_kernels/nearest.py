"""The nearest words of a language: the least number of edits from every state, and the words that attain it.

The edges of state s are `symbol[first[s]:first[s+1]]` in ascending order, with their targets in `target`; its
predecessors are `before[bf[s]:bf[s+1]]`. `cost[j, s]` is the least number of edits that turn the input from position j
on into a word that is accepted from state s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any
STEP = 2.0**512
UNIT = 2.0**-64


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


@compiled(inner=True)
def _grown(array: Array, needed: int) -> Array:
    """The array, or a longer copy of it that has the needed size."""
    if needed <= len(array):
        return array
    result = np.empty(2 * needed, dtype=np.int32)
    for i in range(len(array)):
        result[i] = array[i]
    return result


@compiled(inner=True)
def _ahead(
    cost: Array, codes: Array, symbol: Array, state: int, t: int, edge: int, positions: Array, count: int, ahead: Array
) -> int:
    """Collect in `ahead` the positions that optimal alignments reach with an edge to t; returns their number."""
    found, end = 0, -1
    for i in range(count):
        j = positions[i]
        if j > end and cost[j, state] == cost[j, t] + 1:
            ahead[found] = j
            found += 1
            end = j
        if j < len(codes) and cost[j, state] == cost[j + 1, t] + (symbol[edge] != codes[j]):
            ahead[found] = j + 1
            found += 1
            end = j + 1
    return found


@compiled(inner=True)
def _known(node: int, before: Array, start: Array, pool: Array, positions: Array, count: int) -> int:
    """The first of a chain of nodes that has these positions; −1 if none has."""
    while node >= 0:
        if start[node + 1] - start[node] == count:
            same = True
            for i in range(count):
                if pool[start[node] + i] != positions[i]:
                    same = False
                    break
            if same:
                return node
        node = before[node]
    return -1


@compiled()
def any_nearest(
    cost: Array, codes: Array, symbol: Array, target: Array, first: Array, accepting: Array, start: int,
    uniforms: Array, most: int,
) -> tuple[Array, bool]:  # fmt: skip
    """A word that cost[0, start] edits lead to, all of which are equally likely; False if there are too many to count.

    A node is a state with the positions of the input that an optimal alignment can have reached. Layer i has the nodes
    that beginnings of i symbols lead to. The positions of node p are pool[at[p]:at[p+1]]; its edges are those of its
    state, in order, from link[p] on: the node that each leads to, or −1. `before` chains the nodes of a layer that have
    the same state. Counts are multiples of 2^(512·shift), with one shift for each layer. `uniforms` are 64 random bits
    for each symbol. Cost: positions of all nodes · branching.
    """
    length, states = len(codes), cost.shape[1]
    longest = length + cost[0, start]
    head = np.full(states, -1, dtype=np.int32)
    ahead, closed = np.empty(length + 2, dtype=np.int32), np.empty(length + 2, dtype=np.int32)
    state, before = np.empty(64, dtype=np.int32), np.empty(64, dtype=np.int32)
    at, link = np.empty(64, dtype=np.int32), np.empty(64, dtype=np.int32)
    pool, edges = np.empty(256, dtype=np.int32), np.empty(256, dtype=np.int32)
    layers = np.zeros(longest + 3, dtype=np.int32)
    ahead[0] = 0
    used, links, nodes = _with_deletions(cost, start, ahead, 1, closed), 0, 1
    pool = _grown(pool, used)
    for i in range(used):
        pool[i] = closed[i]
    state[0], before[0], at[0], at[1], layers[1] = start, -1, 0, used, 1
    depth = 0
    while layers[depth] < layers[depth + 1]:
        for p in range(layers[depth], layers[depth + 1]):
            s = state[p]
            link = _grown(link, p + 1)
            link[p] = links
            edges = _grown(edges, links + first[s + 1] - first[s])
            for k in range(first[s], first[s + 1]):
                t = target[k]
                found = _ahead(cost, codes, symbol, s, t, k, pool[at[p] : at[p + 1]], at[p + 1] - at[p], ahead)
                node = -1
                if found > 0:
                    count = _with_deletions(cost, t, ahead, found, closed)
                    node = _known(head[t], before, at, pool, closed, count)
                    if node < 0:
                        if used + count > most:
                            return np.empty(0, dtype=np.int64), False
                        node = nodes
                        state, before = _grown(state, nodes + 1), _grown(before, nodes + 1)
                        at, pool = _grown(at, nodes + 2), _grown(pool, used + count)
                        for i in range(count):
                            pool[used + i] = closed[i]
                        used += count
                        state[node], before[node], at[node + 1], head[t] = t, head[t], used, node
                        nodes += 1
                edges[links] = node
                links += 1
        depth += 1
        layers[depth + 1] = nodes
        for p in range(layers[depth], nodes):
            head[state[p]] = -1
    counts, shifts = np.zeros(nodes), np.zeros(depth + 1, dtype=np.int64)
    for layer in range(depth - 1, -1, -1):
        shift, top = shifts[layer + 1], 0.0
        for p in range(layers[layer], layers[layer + 1]):
            s, total = state[p], 0.0
            if accepting[s] and pool[at[p + 1] - 1] == length and shift < 2:
                total = 1.0 if shift == 0 else 1.0 / STEP
            for i in range(link[p], link[p] + first[s + 1] - first[s]):
                if edges[i] >= 0:
                    total += counts[edges[i]]
            counts[p] = total
            top = max(top, total)
        shifts[layer] = shift
        if top > STEP:
            shifts[layer] += 1
            for p in range(layers[layer], layers[layer + 1]):
                counts[p] /= STEP
    word, size, p = np.empty(longest, dtype=np.int64), 0, 0
    while True:
        s, shift = state[p], shifts[size + 1]
        ends = 0.0
        if accepting[s] and pool[at[p + 1] - 1] == length and shift < 2:
            ends = 1.0 if shift == 0 else 1.0 / STEP
        total = ends
        for i in range(link[p], link[p] + first[s + 1] - first[s]):
            if edges[i] >= 0:
                total += counts[edges[i]]
        left = uniforms[min(size, longest - 1)] * UNIT * total - ends
        if left < 0.0:
            return word[:size], True
        chosen = -1
        for k in range(first[s], first[s + 1]):
            node = edges[link[p] + k - first[s]]
            if node >= 0 and counts[node] > 0.0:
                chosen = k
                left -= counts[node]
                if left < 0.0:
                    break
        if chosen < 0:
            return word[:size], True
        word[size] = symbol[chosen]
        size += 1
        p = edges[link[p] + chosen - first[s]]
