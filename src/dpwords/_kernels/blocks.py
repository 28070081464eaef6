"""How much the normaliser of a word of states can change with the word: one place, two, or more (docs/theory.md, 9).

Systems and boxes are given as in `boxes`. `live` flags are of the states that a word can be in: before the place,
after it, and after the next one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.blocks_boxes import bounds, has_edge, place_in_box, quotient
from dpwords._kernels.compiler import compiled

Array = Any


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
def _surplus(
    z: float,
    factor: float,
    sf: Array,
    st: Array,
    pf: Array,
    ps: Array,
    nf: Array,
    nid: Array,
    lo: Array,
    hi: Array,
    far: float,
    after_lo: Array,
    after_hi: Array,
    after_far: float,
    accepting: Array,
    p: int,
    old: int,
    new: int,
    q: int,
    sources: Array,
    targets: Array,
) -> float:
    """At most what Z exceeds `factor` times itself by when `old` becomes `new` between p and q; q < 0: at the end.

    Each pair of a state before and a state after the place has a coefficient; the product of their masses is taken
    at its upper bound where that is positive, at its lower bound elsewhere. Pairs that neither `old` nor `new` joins
    have a negative coefficient and are left out.
    """
    before = _union(pf, ps, new, old, sources)
    after = _union(sf, st, new, old, targets) if q >= 0 else 1
    surplus = 0.0
    for i in range(before):
        v = sources[i]
        low, high = bounds(nf, nid, lo, hi, far, p, v)
        for j in range(after):
            low_after, high_after, mismatch = 1.0, 1.0, 1.0
            if q >= 0:
                low_after, high_after = bounds(nf, nid, after_lo, after_hi, after_far, q, targets[j])
                mismatch = 1.0 if targets[j] == q else z
            coefficient = 0.0
            for k in range(sf[v], sf[v + 1]):
                y = st[k]
                if has_edge(sf, st, y, targets[j]) if q >= 0 else accepting[y]:
                    if y == new:
                        coefficient += 1.0 - factor * z
                    elif y == old:
                        coefficient += z - factor
                    else:
                        coefficient += z * (1.0 - factor)
            product = high * high_after if coefficient > 0.0 else low * low_after
            surplus += coefficient * mismatch * product
    return surplus


@compiled()
def one_place(
    z: float,
    at_least: float,
    sf: Array,
    st: Array,
    pf: Array,
    ps: Array,
    nf: Array,
    nid: Array,
    live_before: Array,
    live: Array,
    live_after: Array,
    lo: Array,
    hi: Array,
    far: float,
    after_lo: Array,
    after_hi: Array,
    after_far: float,
    accepting: Array,
    is_last: bool,
    widest: int,
) -> float:
    """A factor by which Z changes at most when one place does; no smaller than `at_least`."""
    sources, targets = np.empty(2 * widest, np.int64), np.empty(2 * widest, np.int64)
    factor = at_least
    for p in range(len(live)):
        if not live_before[p]:
            continue
        for a in range(sf[p], sf[p + 1]):
            for b in range(sf[p], sf[p + 1]):
                old, new = st[a], st[b]
                if old == new or not live[old] or not live[new]:
                    continue
                ends = 1 if is_last else sf[old + 1] - sf[old]
                for k in range(ends):
                    q = -1 if is_last else st[sf[old] + k]
                    if q >= 0 and not (live_after[q] and has_edge(sf, st, new, q)):
                        continue
                    low, high = factor, factor
                    while not (
                        _surplus(
                            z, high, sf, st, pf, ps, nf, nid, lo, hi, far, after_lo, after_hi, after_far, accepting,
                            p, old, new, q, sources, targets,
                        )
                        <= 0.0
                    ):  # fmt: skip
                        low, high = high, 1.0 + 2.0 * (high - 1.0) + 1e-6
                        if high > 1.0 / z:
                            return 1.0 / z
                    while high - low > 1e-7 * (high - 1.0) + 1e-12:
                        middle = 0.5 * (low + high)
                        if (
                            _surplus(
                            z, middle, sf, st, pf, ps, nf, nid, lo, hi, far, after_lo, after_hi, after_far, accepting,
                            p, old, new, q, sources, targets,
                        )
                            <= 0.0
                        ):  # fmt: skip
                            high = middle
                        else:
                            low = middle
                    factor = high
    return factor


@compiled()
def _completions(
    z: float, sf: Array, st: Array, nf: Array, nid: Array, lo: Array, hi: Array, far: float, q: int, low: Array,
    high: Array,
) -> None:  # fmt: skip
    """Bounds on the completions of each state near q when q is the next symbol."""
    for m in range(nf[q], nf[q + 1]):
        low[m - nf[q]], high[m - nf[q]] = 0.0, 0.0
        for k in range(sf[nid[m]], sf[nid[m] + 1]):
            below, above = bounds(nf, nid, lo, hi, far, q, st[k])
            weight = 1.0 if st[k] == q else z
            low[m - nf[q]] += weight * below
            high[m - nf[q]] += weight * above


@compiled()
def growth(
    sf: Array, st: Array, pf: Array, ps: Array, nf: Array, nid: Array, live_before: Array, live: Array,
    live_after: Array, ef: Array, edge_lo: Array, edge_hi: Array, far: float,
) -> float:  # fmt: skip
    """The largest difference of logarithms between how own masses grow in one step, over all own runs o → p → q."""
    top, bottom = -np.inf, np.inf
    for o in range(len(live)):
        if not live_before[o]:
            continue
        for k in range(sf[o], sf[o + 1]):
            p = st[k]
            if not live[p]:
                continue
            for j in range(sf[p], sf[p + 1]):
                q = st[j]
                if not live_after[q]:
                    continue
                low, high = 0.0, 0.0
                for m in range(pf[q], pf[q + 1]):
                    place = place_in_box(nf, nid, p, ps[m])
                    if place >= 0:
                        low += edge_lo[ef[k] + place - nf[p]]
                        high += edge_hi[ef[k] + place - nf[p]]
                    else:
                        high += far
                top, bottom = max(top, high), min(bottom, low)
    return math.log(top) - math.log(bottom)


@compiled()
def closings(
    z: float,
    sf: Array,
    st: Array,
    pf: Array,
    ps: Array,
    edge_of: Array,
    nf: Array,
    nid: Array,
    live_first: Array,
    live_before: Array,
    live: Array,
    live_after: Array,
    ef: Array,
    edge_lo: Array,
    edge_hi: Array,
    outside: Array,
    after_lo: Array,
    after_hi: Array,
    after_far: float,
    accepting: Array,
    is_last: bool,
    elsewhere: float,
    rest: float,
    first: Array,
    base: Array,
    low: Array,
    high: Array,
) -> None:
    """Logarithms of the whole mass relative to that of p, where the own run goes o → p → y → q, bounded on both sides.

    The number for o → p (place k of the successors), p → y (place j) and the i-th successor q of y stands at
    base[k] + first[j] − first[sf[p]] + i; at the last place of a word i = 0 is the end. `elsewhere` bounds the
    completions of states outside the box of q, `rest` what a state outside the box of p contributes.
    """
    widest = 0
    for s in range(len(live)):
        widest = max(widest, nf[s + 1] - nf[s])
    some_lo, some_hi = np.empty(widest), np.empty(widest)
    onward_lo, onward_hi = np.empty(widest), np.empty(widest)
    for q in range(1 if is_last else len(live)):
        if not is_last and not live_after[q]:
            continue
        if not is_last:
            _completions(z, sf, st, nf, nid, after_lo, after_hi, after_far, q, some_lo, some_hi)
        for r in range(len(live) if is_last else pf[q + 1] - pf[q]):
            y = r if is_last else ps[pf[q] + r]
            if not live[y]:
                continue
            successor = 0
            if not is_last:
                while st[sf[y] + successor] != q:
                    successor += 1
            for n in range(pf[y], pf[y + 1]):
                p = ps[n]
                if not live_before[p]:
                    continue
                for m in range(nf[p], nf[p + 1]):
                    below, above = 0.0, 0.0
                    for i in range(sf[nid[m]], sf[nid[m] + 1]):
                        v = st[i]
                        weight = 1.0 if v == y else z
                        if is_last:
                            below += weight * accepting[v]
                            above += weight * accepting[v]
                            continue
                        place = place_in_box(nf, nid, q, v)
                        if place >= 0:
                            below += weight * some_lo[place - nf[q]]
                            above += weight * some_hi[place - nf[q]]
                        else:
                            above += weight * elsewhere
                    onward_lo[m - nf[p]], onward_hi[m - nf[p]] = below, above
                slot = first[edge_of[n]] - first[sf[p]] + successor
                for i in range(pf[p], pf[p + 1]):
                    if not live_first[ps[i]]:
                        continue
                    k = edge_of[i]
                    below, above = 0.0, rest * outside[p]
                    for m in range(nf[p + 1] - nf[p]):
                        below += edge_lo[ef[k] + m] * onward_lo[m]
                        above += edge_hi[ef[k] + m] * onward_hi[m]
                    low[base[k] + slot], high[base[k] + slot] = math.log(below), math.log(above)


@compiled()
def openings(
    sf: Array, st: Array, pf: Array, ps: Array, nf: Array, nid: Array, live_before: Array, live: Array,
    lo: Array, hi: Array, far: float,
) -> float:  # fmt: skip
    """The largest logarithm by which the mass that enters a state exceeds that which enters another, from any p."""
    most = 0.0
    for p in range(len(live)):
        if not live_before[p]:
            continue
        for a in range(sf[p], sf[p + 1]):
            for b in range(sf[p], sf[p + 1]):
                if a != b and live[st[a]] and live[st[b]]:
                    _, high = quotient(nf, nid, lo, hi, far, p, pf, ps, st[b], st[a], 1.0, -1)
                    most = max(most, math.log(high))
    return most


@compiled()
def widest_closing(
    sf: Array, st: Array, live_first: Array, live_before: Array, live: Array, live_after: Array, is_last: bool,
    first: Array, base: Array, low: Array, high: Array,
) -> float:  # fmt: skip
    """The largest difference between two closings that lead to the same q."""
    top, bottom = np.full(len(live), -np.inf), np.full(len(live), np.inf)
    for o in range(len(live)):
        if not live_first[o]:
            continue
        for k in range(sf[o], sf[o + 1]):
            p = st[k]
            if not live_before[p]:
                continue
            for j in range(sf[p], sf[p + 1]):
                y = st[j]
                if not live[y]:
                    continue
                slot = base[k] + first[j] - first[sf[p]]
                if is_last:
                    top[0], bottom[0] = max(top[0], high[slot]), min(bottom[0], low[slot])
                    continue
                for i in range(sf[y], sf[y + 1]):
                    q = st[i]
                    if live_after[q]:
                        top[q] = max(top[q], high[slot + i - sf[y]])
                        bottom[q] = min(bottom[q], low[slot + i - sf[y]])
    most = 0.0
    for q in range(len(live)):
        if top[q] > -np.inf:
            most = max(most, top[q] - bottom[q])
    return most


@compiled()
def two_places(
    sf: Array, st: Array, pf: Array, ps: Array, nf: Array, nid: Array, live_first: Array, live_before: Array,
    live: Array, live_after: Array, lo: Array, hi: Array, far: float, is_last: bool, first: Array, base: Array,
    low: Array, high: Array,
) -> float:  # fmt: skip
    """A bound on the logarithm by which Z changes when two places in a row do, after a state o that stays."""
    most = 0.0
    for o in range(len(live)):
        if not live_first[o]:
            continue
        for a in range(sf[o], sf[o + 1]):
            for b in range(sf[o], sf[o + 1]):
                old, new = st[a], st[b]
                if old == new or not live_before[old] or not live_before[new]:
                    continue
                _, entering = quotient(nf, nid, lo, hi, far, o, pf, ps, new, old, 1.0, -1)
                opening = math.log(entering)
                for i in range(sf[old], sf[old + 1]):
                    for j in range(sf[new], sf[new + 1]):
                        if st[i] == st[j] or not live[st[i]] or not live[st[j]]:
                            continue
                        down = base[a] + first[i] - first[sf[old]]
                        up = base[b] + first[j] - first[sf[new]]
                        if is_last:
                            most = max(most, opening + high[up] - low[down])
                            continue
                        for k in range(sf[st[i]], sf[st[i] + 1]):
                            if not live_after[st[k]]:
                                continue
                            for m in range(sf[st[j]], sf[st[j] + 1]):
                                if st[m] == st[k]:
                                    change = high[up + m - sf[st[j]]] - low[down + k - sf[st[i]]]
                                    most = max(most, opening + change)
    return most
