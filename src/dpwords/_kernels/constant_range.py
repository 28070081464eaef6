"""Envelopes: a few vectors above, or below, all sums that the completions of a word can weigh (docs/theory.md, 9).

The edges of state s are `symbol[first[s]:first[s+1]]`, with their targets in `target`. A vector has an entry for each
state near an own state p, `near[nf[p]:nf[p+1]]`, and for each number of symbols that may still differ without a cost
(`step` of them; the last of these numbers follows 0). `far` has the entries for all other states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.rounding import LEAST

Array = Any
_FREE = 1e-12  # of the value of a vector: merging two costs nothing if it costs less


class NearStates(NamedTuple):
    """The states whose entries are stored, for each own state, and about how much mass is at each of them."""

    nf: Array
    near: Array
    mass: Array


@compiled()
def surroundings(
    edges: tuple[Array, Array, Array], bf: Array, before: Array, by: Array, price: float, most: int, rounds: int
) -> tuple[Array, Array, Array]:
    """About how much mass is at each state around an own one, relative to its own: `most` states or fewer for each.

    A path that enters p enters by each of the edges `before[bf[p]:bf[p+1]]`, with symbols `by`, equally often. Cost:
    rounds · edges · most · branching.
    """
    first, symbol, target = edges
    states = len(first) - 1
    near, mass, size = np.zeros((states, most), np.int64), np.zeros((states, most)), np.ones(states, np.int64)
    for p in range(states):
        near[p, 0], mass[p, 0] = p, 1.0
    total, met, place = np.zeros(states), np.zeros(states, np.bool_), np.zeros(states, np.int64)
    for _ in range(rounds):
        near_new, mass_new, size_new = near.copy(), mass.copy(), size.copy()
        for p in range(states):
            count = 0
            for k in range(bf[p], bf[p + 1]):
                q = before[k]
                if first[q + 1] - first[q] > most:  # such as the root of words that start anywhere
                    continue
                for j in range(size[q]):
                    s = near[q, j]
                    for e in range(first[s], first[s + 1]):
                        t = target[e]
                        if not met[t]:
                            met[t] = True
                            place[count] = t
                            count += 1
                        total[t] += mass[q, j] if symbol[e] == by[k] else mass[q, j] * price
            if count == 0:
                continue
            found = place[:count].copy()
            found.sort()
            if count > most:
                amount = np.empty(count)
                for j in range(count):
                    amount[j] = -total[found[j]] if found[j] != p else -np.inf
                found = found[np.argsort(amount, kind="mergesort")[:most]]
                found.sort()
            own = total[p]
            size_new[p] = len(found)
            for j in range(len(found)):
                near_new[p, j], mass_new[p, j] = found[j], total[found[j]] / own
            for j in range(count):
                total[place[j]], met[place[j]] = 0.0, False
        near, mass, size = near_new, mass_new, size_new
    return near, mass, size


@compiled(inner=True, nogil=True)
def _image(e: int, s: int, j: int, edges: tuple[Array, Array, Array], values: Array, price: float) -> float:
    """What the completions from s weigh if the next own symbol is that of edge e, −1 for a symbol that s has not."""
    first, symbol, target = edges
    sum_, step = 0.0, values.shape[1]
    own = symbol[e] if e >= 0 else -1
    for f in range(first[s], first[s + 1]):
        t = target[f]
        if symbol[f] == own:
            sum_ += values[t, j]
        elif j == 0:
            sum_ += values[t, step - 1] * price
        else:
            sum_ += values[t, j - 1]
    return sum_


@compiled(inner=True, nogil=True)
def _outward(value: float, factor: float, upper: bool) -> float:
    """A number times a factor that is larger, or less, than exact: 0, or at least LEAST."""
    value *= factor
    if 0.0 < value < LEAST:
        return LEAST if upper else 0.0
    return value


@compiled(inner=True, nogil=True)
def _joined(a: Array, b: Array, weight: Array, width: int, upper: bool) -> float:
    """The value of the larger of two vectors at each entry, or of the smaller."""
    x, y, v, w = 0.0, 0.0, 0.0, 0.0
    for i in range(0, width, 4):
        if upper:
            x += weight[i] * max(a[i], b[i])
            y += weight[i + 1] * max(a[i + 1], b[i + 1])
            v += weight[i + 2] * max(a[i + 2], b[i + 2])
            w += weight[i + 3] * max(a[i + 3], b[i + 3])
        else:
            x += weight[i] * min(a[i], b[i])
            y += weight[i + 1] * min(a[i + 1], b[i + 1])
            v += weight[i + 2] * min(a[i + 2], b[i + 2])
            w += weight[i + 3] * min(a[i + 3], b[i + 3])
    total: float = (x + y) + (v + w)
    return total


@compiled(inner=True, nogil=True)
def _cost(i: int, j: int, cand: Array, value: Array, weight: Array, width: int, upper: bool) -> float:
    joined = _joined(cand[i], cand[j], weight, width, upper)
    cost: float = joined - max(value[i], value[j]) if upper else min(value[i], value[j]) - joined
    return cost


@compiled(inner=True, nogil=True)
def _merge(cand: Array, count: int, weight: Array, width: int, most: int, upper: bool, cost: Array) -> int:
    """Merge vectors until `most` are left, the cheapest pair first, and pairs that cost nothing; how many are left."""
    value, least, with_ = np.zeros(count), np.full(count, np.inf), np.zeros(count, np.int64)
    alive, left = np.ones(count, np.bool_), count
    for i in range(count):
        value[i] = _joined(cand[i], cand[i], weight, width, upper)
        for j in range(i):
            cost[i, j] = _cost(i, j, cand, value, weight, width, upper)
            if cost[i, j] < least[i]:
                least[i], with_[i] = cost[i, j], j
    free = _FREE * value.max()
    while left > 1:
        a, cheapest = -1, np.inf
        for i in range(count):
            if alive[i] and least[i] < cheapest:
                cheapest, a = least[i], i
        if a < 0 or (left <= most and cheapest > free):
            break
        b = with_[a]
        for i in range(width):
            cand[a, i] = max(cand[a, i], cand[b, i]) if upper else min(cand[a, i], cand[b, i])
        alive[b] = False
        left -= 1
        value[a] = _joined(cand[a], cand[a], weight, width, upper)
        for j in range(count):
            if alive[j] and j != a:
                cost[max(a, j), min(a, j)] = _cost(a, j, cand, value, weight, width, upper)
        for i in range(count):
            if alive[i] and i >= min(a, b):
                if i == a or with_[i] == a or with_[i] == b:
                    least[i] = np.inf
                    for j in range(i):
                        if alive[j] and cost[i, j] < least[i]:
                            least[i], with_[i] = cost[i, j], j
                elif i > a and cost[i, a] < least[i]:
                    least[i], with_[i] = cost[i, a], a
    kept = 0
    for i in range(count):
        if alive[i]:
            if kept != i:
                for j in range(width):
                    cand[kept, j] = cand[i, j]
            kept += 1
    return kept


@compiled(nogil=True)
def layer(
    edges: tuple[Array, Array, Array],
    near: NearStates,
    own: Array,  # states that own runs can be in here
    far: Array,
    kept: Array,
    count: Array,
    price: float,
    factor: float,
    upper: bool,
    new: Array,
    fresh: Array,
    top: Array,
) -> None:
    """One more symbol to go: the vectors `new`, `fresh` of them for each own state, from those after it.

    All are multiplied by a factor, and `top` has the largest number for each own state. Cost: own states · (vectors ·
    branching)² · entries.
    """
    first, _, target = edges
    most, step = kept.shape[1], far.shape[1]
    cap = 4 * most
    width = kept.shape[2]
    cand, cost, weight = np.zeros((cap, width)), np.zeros((cap, cap)), np.zeros(width)
    values = far.copy()
    for p in own:
        begin, size = near.nf[p], near.nf[p + 1] - near.nf[p]
        for i in range(width):
            weight[i] = near.mass[begin + i // step] if i < size * step else 0.0
            for k in range(cap):
                cand[k, i] = 0.0
        wide = (size * step + 3) // 4 * 4
        k = 0
        for e in range(first[p], first[p + 1]):
            q = target[e]
            after, ends = near.nf[q], near.nf[q + 1]
            for v in range(count[q]):
                if k == cap:
                    k = _merge(cand, k, weight, wide, most, upper, cost)
                for i in range(after, ends):
                    for j in range(step):
                        values[near.near[i], j] = kept[q, v, (i - after) * step + j]
                for i in range(size):
                    for j in range(step):
                        found = _image(e, near.near[begin + i], j, edges, values, price)
                        cand[k, i * step + j] = _outward(found, factor, upper)
                k += 1
            for i in range(after, ends):
                for j in range(step):
                    values[near.near[i], j] = far[near.near[i], j]
        k = _merge(cand, k, weight, wide, most, upper, cost) if k > 1 else k
        fresh[p], top[p] = k, 0.0
        for v in range(k):
            for i in range(width):
                new[p, v, i] = cand[v, i]
                top[p] = max(top[p], cand[v, i])


@compiled()
def extreme(
    edges: tuple[Array, Array, Array], near: NearStates, state: int, far: Array, kept: Array, count: Array,
    price: float, factor: float, upper: bool, free: int,
) -> float:  # fmt: skip
    """The largest, or the least, that the completions of `state` weigh, for own symbols that a run from it can take."""
    first, _, target = edges
    step, best, values = far.shape[1], (-1.0 if upper else np.inf), far.copy()
    for e in range(first[state], first[state + 1]):
        q = target[e]
        after, ends = near.nf[q], near.nf[q + 1]
        for v in range(count[q]):
            for i in range(after, ends):
                for j in range(step):
                    values[near.near[i], j] = kept[q, v, (i - after) * step + j]
            found = _outward(_image(e, state, free, edges, values, price), factor, upper)
            best = max(best, found) if upper else min(best, found)
        for i in range(after, ends):
            for j in range(step):
                values[near.near[i], j] = far[near.near[i], j]
    return best


@compiled()
def everywhere(
    edges: tuple[Array, Array, Array], far: Array, price: float, factor: float, upper: bool, symbols: int
) -> Array:
    """The largest, or the least, that the completions of each state weigh, whatever the own symbols are."""
    first, step, new = edges[0], far.shape[1], np.zeros(far.shape)
    for s in range(len(first) - 1):
        for j in range(step):
            best = _image(-1, s, j, edges, far, price)
            if not upper and first[s + 1] - first[s] == symbols:
                best = np.inf
            for e in range(first[s], first[s + 1]):
                found = _image(e, s, j, edges, far, price)
                best = max(best, found) if upper else min(best, found)
            new[s, j] = _outward(best, factor, upper)
    return new
