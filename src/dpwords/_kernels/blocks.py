"""How much the normaliser of a word of states can change with the word: one place, two, or more (docs/theory.md, 9).

Systems and boxes are given as in `blocks_boxes`. Bounds are rounded outward; logarithms of them and sums of these are
not, which the margin of a certificate covers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.blocks_boxes import (
    Around,
    EdgeMasses,
    Masses,
    Steps,
    bounds,
    has_edge,
    place_in_box,
    quotient,
)
from dpwords._kernels.compiler import compiled
from dpwords._kernels.elementary import log
from dpwords._kernels.rounding import UNIT, factors, lowered, raised

Array = Any


class LiveAround(NamedTuple):
    """Which states a word can be in around a place: two symbols before it, one before it, after it, after the next."""

    earlier: Array
    before: Array
    here: Array
    after: Array


class Ahead(NamedTuple):
    """What follows a place: the boxes of completions after the next symbol, or the end of the word."""

    masses: Masses
    accepting: Array
    is_last: bool


class Change(NamedTuple):
    """Between p and q the state `old` becomes `new`; q < 0: at the end of the word."""

    p: int
    old: int
    new: int
    q: int


class ClosingTable(NamedTuple):
    """Logarithms of the whole mass relative to that of p where the own run goes o → p → y → q, bounded on both sides.

    The number for o → p (place k of the successors), p → y (place j) and the i-th successor q of y stands at
    base[k] + first[j] − first[succ_first[p]] + i; at the last place of a word i = 0 is the end.
    """

    first: Array
    base: Array
    low: Array
    high: Array


@compiled()
def _union(first: Array, items: Array, one: int, other: int, found: Array) -> int:
    """The items of two rows, each once; how many there are."""
    count = 0
    for row in (one, other):
        for k in range(first[row], first[row + 1]):
            if row == one or not has_edge(first, items, one, items[k]):
                found[count] = items[k]
                count += 1
    return count


@compiled()
def surplus(
    z: float, factor: float, steps: Steps, around: Around, masses: Masses, ahead: Ahead, change: Change,
    sources: Array, targets: Array,
) -> float:  # fmt: skip
    """At most Z after the change less `factor` ≥ 1 times Z before it, relative to the masses of p and q.

    Each pair of a state before and a state after the place has a coefficient; the product of their masses is taken
    at its upper bound where that is positive, at its lower bound elsewhere. Pairs that neither `old` nor `new` joins
    have no positive coefficient and are left out. What rounding may have taken away is added: a share of `size`, which
    is the same sum with absolute values throughout.
    """
    succ_first, succ = steps.succ_first, steps.succ
    p, old, new, q = change
    before = _union(steps.pred_first, steps.pred, new, old, sources)
    after = _union(succ_first, succ, new, old, targets) if q >= 0 else 1
    total, size, most = 0.0, 0.0, 0
    for i in range(before):
        v = sources[i]
        low, high = bounds(around, masses, p, v)
        most = max(most, succ_first[v + 1] - succ_first[v])
        for j in range(after):
            low_after, high_after, mismatch = 1.0, 1.0, 1.0
            if q >= 0:
                low_after, high_after = bounds(around, ahead.masses, q, targets[j])
                mismatch = 1.0 if targets[j] == q else z
            coefficient, ways = 0.0, 0
            for k in range(succ_first[v], succ_first[v + 1]):
                y = succ[k]
                if has_edge(succ_first, succ, y, targets[j]) if q >= 0 else ahead.accepting[y]:
                    ways += 1
                    if y == new:
                        coefficient += 1.0 - factor * z
                    elif y == old:
                        coefficient += z - factor
                    else:
                        coefficient += z * (1.0 - factor)
            product = high * high_after if coefficient > 0.0 else low * low_after
            total += coefficient * mismatch * product
            size += ways * mismatch * (high * high_after)
    return total + (before * after + most + 8) * UNIT * (1.0 + factor) * size


@compiled()
def one_place(
    z: float, at_least: float, steps: Steps, around: Around, live: LiveAround, masses: Masses, ahead: Ahead,
    widest: int,
) -> float:  # fmt: skip
    """A factor by which Z changes at most when one place does; no smaller than `at_least`."""
    succ_first, succ = steps.succ_first, steps.succ
    sources, targets = np.empty(2 * widest, np.int64), np.empty(2 * widest, np.int64)
    factor = at_least
    for p in range(len(live.here)):
        if not live.before[p]:
            continue
        for a in range(succ_first[p], succ_first[p + 1]):
            for b in range(succ_first[p], succ_first[p + 1]):
                old, new = succ[a], succ[b]
                if old == new or not live.here[old] or not live.here[new]:
                    continue
                ends = 1 if ahead.is_last else succ_first[old + 1] - succ_first[old]
                for k in range(ends):
                    q = -1 if ahead.is_last else succ[succ_first[old] + k]
                    if q >= 0 and not (live.after[q] and has_edge(succ_first, succ, new, q)):
                        continue
                    change = Change(p, old, new, q)
                    low, high = factor, factor
                    while not surplus(z, high, steps, around, masses, ahead, change, sources, targets) <= 0.0:
                        low, high = high, 1.0 + 2.0 * (high - 1.0) + 1e-6
                        if high > 1.0 / z:
                            return 1.0 / z
                    while high - low > 1e-7 * (high - 1.0) + 1e-12:
                        middle = 0.5 * (low + high)
                        if surplus(z, middle, steps, around, masses, ahead, change, sources, targets) <= 0.0:
                            high = middle
                        else:
                            low = middle
                    factor = high
    return factor


@compiled()
def _completions(
    z: float, steps: Steps, around: Around, masses: Masses, q: int, low: Array, high: Array
) -> None:  # fmt: skip
    """Bounds on the completions of each state near q when q is the next symbol."""
    succ_first, succ = steps.succ_first, steps.succ
    begin = around.first[q]
    for m in range(begin, around.first[q + 1]):
        state = around.states[m]
        least, most = 0.0, 0.0
        for k in range(succ_first[state], succ_first[state + 1]):
            below, above = bounds(around, masses, q, succ[k])
            weight = 1.0 if succ[k] == q else z
            least += weight * below
            most += weight * above
        down, up = factors(succ_first[state + 1] - succ_first[state])
        low[m - begin], high[m - begin] = lowered(least, down), raised(most, up)


@compiled()
def growth(steps: Steps, around: Around, live: LiveAround, edges: EdgeMasses, far: float) -> float:
    """The largest difference of logarithms between how own masses grow in one step, over all own runs o → p → q."""
    succ_first, succ, pred_first, pred = steps.succ_first, steps.succ, steps.pred_first, steps.pred
    top, bottom = -np.inf, np.inf
    for o in range(len(live.here)):
        if not live.earlier[o]:
            continue
        for k in range(succ_first[o], succ_first[o + 1]):
            p = succ[k]
            if not live.before[p]:
                continue
            box = edges.first[k] - around.first[p]
            for j in range(succ_first[p], succ_first[p + 1]):
                q = succ[j]
                if not live.here[q]:
                    continue
                low, high = 0.0, 0.0
                for m in range(pred_first[q], pred_first[q + 1]):
                    place = place_in_box(around, p, pred[m])
                    if place >= 0:
                        low += edges.lo[box + place]
                        high += edges.hi[box + place]
                    else:
                        high += far
                down, up = factors(pred_first[q + 1] - pred_first[q])
                top, bottom = max(top, raised(high, up)), min(bottom, lowered(low, down))
    return log(top) - log(bottom)


@compiled()
def closings(
    z: float, steps: Steps, around: Around, live: LiveAround, edges: EdgeMasses, outside: Array, ahead: Ahead,
    elsewhere: float, rest: float, table: ClosingTable,
) -> None:  # fmt: skip
    """Fill the table of closings at one place.

    `elsewhere` bounds the completions of states outside the box of q, `rest` what a state outside the box of p
    contributes, relative to its mass.
    """
    succ_first, succ, pred_first, pred = steps.succ_first, steps.succ, steps.pred_first, steps.pred
    near, states = around.first, around.states
    first, base, low, high = table
    is_last = ahead.is_last
    number, widest = len(live.here), 0
    for s in range(number):
        widest = max(widest, near[s + 1] - near[s])
    some_lo, some_hi = np.empty(widest), np.empty(widest)
    onward_lo, onward_hi = np.empty(widest), np.empty(widest)
    for q in range(1 if is_last else number):
        if not is_last and not live.after[q]:
            continue
        if not is_last:
            _completions(z, steps, around, ahead.masses, q, some_lo, some_hi)
        for r in range(number if is_last else pred_first[q + 1] - pred_first[q]):
            y = r if is_last else pred[pred_first[q] + r]
            if not live.here[y]:
                continue
            successor = 0
            if not is_last:
                while succ[succ_first[y] + successor] != q:
                    successor += 1
            for n in range(pred_first[y], pred_first[y + 1]):
                p = pred[n]
                if not live.before[p]:
                    continue
                for m in range(near[p], near[p + 1]):
                    below, above = 0.0, 0.0
                    for i in range(succ_first[states[m]], succ_first[states[m] + 1]):
                        v = succ[i]
                        weight = 1.0 if v == y else z
                        if is_last:
                            below += weight * ahead.accepting[v]
                            above += weight * ahead.accepting[v]
                            continue
                        place = place_in_box(around, q, v)
                        if place >= 0:
                            below += weight * some_lo[place - near[q]]
                            above += weight * some_hi[place - near[q]]
                        else:
                            above += weight * elsewhere
                    down, up = factors(succ_first[states[m] + 1] - succ_first[states[m]])
                    onward_lo[m - near[p]], onward_hi[m - near[p]] = lowered(below, down), raised(above, up)
                slot = first[steps.edge_of[n]] - first[succ_first[p]] + successor
                down, up = factors(near[p + 1] - near[p] + 1)
                for i in range(pred_first[p], pred_first[p + 1]):
                    if not live.earlier[pred[i]]:
                        continue
                    k = steps.edge_of[i]
                    box = edges.first[k]
                    below, above = 0.0, rest * outside[p]
                    for m in range(near[p + 1] - near[p]):
                        below += edges.lo[box + m] * onward_lo[m]
                        above += edges.hi[box + m] * onward_hi[m]
                    low[base[k] + slot] = log(lowered(below, down))
                    high[base[k] + slot] = log(raised(above, up))


@compiled()
def openings(steps: Steps, around: Around, live: LiveAround, masses: Masses) -> float:
    """The largest logarithm by which the mass that enters a state exceeds that which enters another, from any p."""
    succ_first, succ = steps.succ_first, steps.succ
    most = 0.0
    for p in range(len(live.here)):
        if not live.before[p]:
            continue
        for a in range(succ_first[p], succ_first[p + 1]):
            for b in range(succ_first[p], succ_first[p + 1]):
                if a != b and live.here[succ[a]] and live.here[succ[b]]:
                    _, high = quotient(
                        around, masses, p, steps.pred_first, steps.pred, succ[b], succ[a], 1.0, -1, 1.0
                    )  # fmt: skip
                    most = max(most, log(high))
    return most


@compiled()
def widest_closing(steps: Steps, live: LiveAround, is_last: bool, table: ClosingTable) -> float:
    """The largest difference between two closings that lead to the same q."""
    succ_first, succ = steps.succ_first, steps.succ
    first, base, low, high = table
    number = len(live.here)
    top, bottom = np.full(number, -np.inf), np.full(number, np.inf)
    for o in range(number):
        if not live.earlier[o]:
            continue
        for k in range(succ_first[o], succ_first[o + 1]):
            p = succ[k]
            if not live.before[p]:
                continue
            for j in range(succ_first[p], succ_first[p + 1]):
                y = succ[j]
                if not live.here[y]:
                    continue
                slot = base[k] + first[j] - first[succ_first[p]]
                if is_last:
                    top[0], bottom[0] = max(top[0], high[slot]), min(bottom[0], low[slot])
                    continue
                for i in range(succ_first[y], succ_first[y + 1]):
                    q = succ[i]
                    if live.after[q]:
                        top[q] = max(top[q], high[slot + i - succ_first[y]])
                        bottom[q] = min(bottom[q], low[slot + i - succ_first[y]])
    most = 0.0
    for q in range(number):
        if top[q] > -np.inf:
            most = max(most, top[q] - bottom[q])
    return most


@compiled()
def two_places(
    steps: Steps, around: Around, live: LiveAround, masses: Masses, is_last: bool, table: ClosingTable
) -> float:  # fmt: skip
    """A bound on the logarithm by which Z changes when two places in a row do, after a state o that stays.

    `masses` are the boxes of o, one symbol earlier than the boxes that the table was made from.
    """
    succ_first, succ = steps.succ_first, steps.succ
    first, base, low, high = table
    most = 0.0
    for o in range(len(live.here)):
        if not live.earlier[o]:
            continue
        for a in range(succ_first[o], succ_first[o + 1]):
            for b in range(succ_first[o], succ_first[o + 1]):
                old, new = succ[a], succ[b]
                if old == new or not live.before[old] or not live.before[new]:
                    continue
                _, entering = quotient(around, masses, o, steps.pred_first, steps.pred, new, old, 1.0, -1, 1.0)
                opening = log(entering)
                for i in range(succ_first[old], succ_first[old + 1]):
                    for j in range(succ_first[new], succ_first[new + 1]):
                        u, v = succ[i], succ[j]
                        if u == v or not live.here[u] or not live.here[v]:
                            continue
                        less = base[a] + first[i] - first[succ_first[old]]
                        more = base[b] + first[j] - first[succ_first[new]]
                        if is_last:
                            most = max(most, opening + high[more] - low[less])
                            continue
                        for k in range(succ_first[u], succ_first[u + 1]):
                            if not live.after[succ[k]]:
                                continue
                            for m in range(succ_first[v], succ_first[v + 1]):
                                if succ[m] == succ[k]:
                                    change = high[more + m - succ_first[v]] - low[less + k - succ_first[u]]
                                    most = max(most, opening + change)
    return most
