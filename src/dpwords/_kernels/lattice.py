"""Backward passes over the layers of a lattice, and walks through them.

A lattice is a language unrolled over the positions of a private word: node (i, s) is state s before symbol i. Its
numbers are weights of its completions, the ways to complete a word from there: one number, or one for each distance
from 0 on.

A number is m · 2^(512·e) with m = 0 or 2^(−256) ≤ m < 2^256, so that sums and products of floats never leave their
range and exponents seldom change. The numbers of all layers are in one array: those of node (i, s) begin at
offset[i] + s · width[i]. Only the first reach[i] states of layer i have nodes, and of these only those flagged in
`live[i]` are used, since a word can be in no other state after i symbols.

The edges of state s are first[s], …, first[s+1] − 1, each with a symbol, a target and a weight; no state has more than
`branching` edges. `z` gives, for each edge, its weight times the factor for a mismatch (a symbol that differs from the
private word), as mantissas with one common exponent. `edges` and `table` are the named tuples `Edges` and `LayerTable`
of dpwords.spaces. Kernels release the GIL, so several threads may walk at the same time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any
STEP = 2.0**512
HIGH, LOW = 2.0**256, 2.0**-256
NONE = -(2**31)  # below every exponent
UNIT = 2.0**-64
WIDE: Any = np.int64  # of stored exponents: wide enough to be added to


@compiled(inner=True, nogil=True)
def _level(m: float, e: int) -> tuple[float, int]:
    """The same number with m back in its range; m is a product of two mantissas, or a sum of a few."""
    if m >= HIGH:
        return m / STEP, e + 1
    if 0.0 < m < LOW:
        return m * STEP, e - 1
    return m, e


@compiled(inner=True, nogil=True)
def _plus(m: float, e: int, other_m: float, other_e: int) -> tuple[float, int]:
    """The sum of two numbers; a number at least 2^512 times smaller than the other is below rounding and is dropped."""
    if other_m == 0.0 or other_e < e - 1:
        return m, e
    if m == 0.0 or e < other_e - 1:
        return other_m, other_e
    if e == other_e:
        return m + other_m, e
    if e > other_e:
        return m + other_m / STEP, e
    return other_m + m / STEP, other_e


@compiled(inner=True, nogil=True)
def _discounted(edges: Any, codes: Array, z: Any, table: Any, position: int, k: int) -> tuple[float, int]:
    """The contribution of edge k to its node: the completions of its target, times its weight, or `z` at a mismatch."""
    at = table.offset[position + 1] + edges.target[k]
    value, exponent = table.mantissa[at], WIDE(table.exponent[at])
    if edges.symbol[k] == codes[position]:
        value *= edges.weight[k]
    else:
        value, exponent = value * z[0][k], exponent + z[1]
    if value < LOW or value >= HIGH:
        return _level(value, exponent)
    return value, exponent


@compiled(inner=True, nogil=True)
def _counted(edges: Any, codes: Array, table: Any, position: int, k: int, distance: int) -> tuple[float, int]:
    """The number of completions through edge k at this distance."""
    left, width = distance - (edges.symbol[k] != codes[position]), table.width[position + 1]
    if left < 0 or left >= width:
        return 0.0, NONE
    at = table.offset[position + 1] + edges.target[k] * width + left
    return table.mantissa[at], WIDE(table.exponent[at])


@compiled(nogil=True)
def reached(edges: Any, start: int, live: Array) -> None:
    """Flag in live[i] the states that can be reached with exactly i symbols. Cost: edges of all layers."""
    live[0, start] = True
    for position in range(len(live) - 1):
        for s in range(live.shape[1]):
            if live[position, s]:
                for k in range(edges.first[s], edges.first[s + 1]):
                    live[position + 1, edges.target[k]] = True


@compiled(nogil=True)
def fill(edges: Any, codes: Array, z: Any, by_distance: bool, reach: Array, table: Any, begin: int, end: int) -> None:
    """Fill layers begin, …, end − 1: sums over completions of weight · z^distance, or their number at each distance.

    Cost: edges of these layers, times the distances where these are counted.
    """
    for position in range(end - 1, begin - 1, -1):
        width = table.width[position]
        for s in range(reach[position]):
            if not table.live[position, s]:
                continue
            at = table.offset[position] + s * width
            for distance in range(width):
                value, exponent = 0.0, NONE
                for k in range(edges.first[s], edges.first[s + 1]):
                    if by_distance:
                        more, other = _counted(edges, codes, table, position, k, distance)
                    else:
                        more, other = _discounted(edges, codes, z, table, position, k)
                    if other == exponent:
                        value += more
                    else:
                        value, exponent = _plus(value, exponent, more, other)
                table.mantissa[at + distance], table.exponent[at + distance] = _level(value, exponent)


@compiled(nogil=True)
def edge_weights(
    edges: Any,
    codes: Array,
    z: Any,
    by_distance: bool,
    table: Any,
    position: int,
    s: int,
    budget: int,
    m: Array,
    e: Array,
) -> None:
    """The weight of each edge of a node; with `by_distance`, only completions with `budget` mismatches count."""
    begin = edges.first[s]
    for k in range(begin, edges.first[s + 1]):
        if by_distance:
            value, exponent = _counted(edges, codes, table, position, k, budget)
        else:
            value, exponent = _discounted(edges, codes, z, table, position, k)
        m[k - begin], e[k - begin] = value, max(exponent, NONE)  # the exponent of 0 may be below what fits


@compiled(inner=True, nogil=True)
def _cumulate(m: Array, e: Array, count: int, result: Array) -> None:
    """The cumulative sums of some weights, divided by their total."""
    top = NONE
    for k in range(count):
        if m[k] > 0.0:
            top = max(top, e[k])
    total = 0.0
    for k in range(count):
        if e[k] == top:
            total += m[k]
        elif e[k] == top - 1:
            total += m[k] / STEP
        result[k] = total
    for k in range(count):
        result[k] /= total


@compiled(nogil=True)
def all_thresholds(
    edges: Any, codes: Array, z: Any, reach: Array, table: Any, begin: int, end: int, thresholds: Array
) -> None:
    """The thresholds of all nodes of these layers, one row for each layer, in the order of edges. Cost: their edges."""
    m, e = np.empty(edges.branching), np.empty(edges.branching, np.int32)
    for position in range(begin, end):
        row = thresholds[position - begin]
        for s in range(reach[position]):
            if table.live[position, s] and table.mantissa[table.offset[position] + s] > 0.0:
                first, last = edges.first[s], edges.first[s + 1]
                edge_weights(edges, codes, z, False, table, position, s, 0, m, e)
                _cumulate(m, e, last - first, row[first:last])


@compiled(nogil=True)
def walk(
    edges: Any, codes: Array, z: Any, by_distance: bool, table: Any, begin: int, end: int, thresholds: Array,
    uniforms: Array, margin: float, positions: Array, states: Array, budgets: Array, words: Array,
) -> None:  # fmt: skip
    """Walk each row from its position to `end`, or until a uniform number is within `margin` of a threshold.

    `uniforms` are 64 random bits for each position; `thresholds` are those of all nodes, or empty. The caller takes the
    steps at which rows stop. Cost: positions · branching.
    """
    m, e, here = np.empty(edges.branching), np.empty(edges.branching, np.int32), np.empty(edges.branching)
    for row in range(len(positions)):
        s, position = states[row], positions[row]
        while position < end:
            base, last = edges.first[s], edges.first[s + 1] - edges.first[s] - 1
            u = uniforms[row, position] * UNIT
            k, below, above = 0, -1.0, 2.0
            if len(thresholds):
                while k < last and u >= thresholds[position - begin, base + k]:
                    below = thresholds[position - begin, base + k]
                    k += 1
                if k < last:
                    above = thresholds[position - begin, base + k]
            else:
                edge_weights(edges, codes, z, by_distance, table, position, s, budgets[row], m, e)
                _cumulate(m, e, last + 1, here)
                while k < last and u >= here[k]:
                    below = here[k]
                    k += 1
                if k < last:
                    above = here[k]
            if above - u <= margin or u - below <= margin:
                break
            if by_distance and edges.symbol[base + k] != codes[position]:
                budgets[row] -= 1
            words[row, position] = edges.symbol[base + k]
            s = edges.target[base + k]
            position += 1
        states[row], positions[row] = s, position


@compiled(nogil=True)
def accepted(edges: Any, accepting: Array, start: int, rows: Array) -> Array:
    """For each word, whether it can be read and ends in an accepting state. Cost: symbols · branching."""
    found = np.zeros(len(rows), np.bool_)
    for row in range(len(rows)):
        s, position = start, 0
        while position < rows.shape[1]:
            k, last = edges.first[s], edges.first[s + 1]
            while k < last and edges.symbol[k] != rows[row, position]:
                k += 1
            if k == last:
                break
            s = edges.target[k]
            position += 1
        found[row] = position == rows.shape[1] and accepting[s]
    return found


@compiled(nogil=True)
def walk_each(
    edges: Any, z: Any, reach: Array, table: Any, start: int, rows: Array, uniforms: Array, margin: float,
    words: Array, positions: Array,
) -> None:  # fmt: skip
    """For each word, a backward pass (all use the same table) and one walk, as far as floats can decide its steps.

    Cost: words · edges of all layers.
    """
    length = rows.shape[1]
    none, states, budgets = np.empty((0, 0)), np.empty(1, np.int64), np.zeros(1, np.int64)
    codes, drawn = np.empty(length, np.int64), np.empty((1, length), np.int64)  # the loops below know no other integers
    for row in range(len(rows)):
        for position in range(length):  # element by element: an assignment of arrays takes longer to compile
            codes[position] = rows[row, position]
        fill(edges, codes, z, False, reach, table, 0, length)
        states[0], positions[row] = start, 0
        walk(
            edges, codes, z, False, table, 0, length, none, uniforms[row : row + 1], margin, positions[row : row + 1],
            states, budgets, drawn,
        )  # fmt: skip
        for position in range(positions[row]):
            words[row, position] = drawn[0, position]


@compiled(nogil=True)
def distances_each(
    edges: Any, z: Any, reach: Array, table: Any, ends: Any, start: int, rows: Array, means: Array, proportions: Array
) -> None:
    """For each word, the mean distance of a walk and the probabilities of its distances 0, 1, …, one column each.

    All words use the same table. It holds two layers, because the averages over the completions of a node are computed
    in the same backward pass as its weight. Cost: words · edges of all layers · (1 + distances).
    """
    length, width = rows.shape[1], proportions.shape[1]
    m, e = np.empty(edges.branching), np.empty(edges.branching, np.int64)
    mean, chance = np.empty(len(table.mantissa)), np.empty((len(table.mantissa), width))
    for row in range(len(rows)):
        codes = rows[row]
        begin, end = table.offset[length], table.offset[length] + len(ends[0])
        for s in range(len(ends[0])):
            table.mantissa[begin + s], table.exponent[begin + s] = ends[0][s], ends[1][s]
        mean[begin:end] = 0.0
        chance[begin:end] = 0.0
        chance[begin:end, :1] = 1.0
        for position in range(length - 1, -1, -1):
            for s in range(reach[position]):
                if not table.live[position, s]:
                    continue
                at, first, last = table.offset[position] + s, edges.first[s], edges.first[s + 1]
                value, exponent = 0.0, NONE
                for k in range(first, last):
                    m[k - first], e[k - first] = _discounted(edges, codes, z, table, position, k)
                    value, exponent = _plus(value, exponent, m[k - first], e[k - first])
                value, exponent = _level(value, exponent)
                table.mantissa[at], table.exponent[at], mean[at] = value, exponent, 0.0
                for d in range(width):
                    chance[at, d] = 0.0
                if value == 0.0:
                    continue
                for k in range(first, last):
                    proportion, off = m[k - first], e[k - first] - exponent
                    if proportion == 0.0 or off < -1:
                        continue
                    if off != 0:
                        proportion *= STEP if off > 0 else 1.0 / STEP
                    proportion /= value
                    differs = 1 if edges.symbol[k] != codes[position] else 0
                    below = table.offset[position + 1] + edges.target[k]
                    mean[at] += proportion * (mean[below] + differs)
                    for d in range(width - differs):
                        chance[at, d + differs] += proportion * chance[below, d]
        means[row] = mean[table.offset[0] + start]
        for d in range(width):
            proportions[row, d] = chance[table.offset[0] + start, d]
