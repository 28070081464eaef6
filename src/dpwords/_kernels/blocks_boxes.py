"""Boxes around the own run of a word of states (docs/theory.md, section 9).

A system is given by its edges twice: the successors of state s are `st[sf[s]:sf[s+1]]`, its predecessors
`ps[pf[s]:pf[s+1]]`. A *box* bounds, for every way to an own state p, the mass of each state near p relative to that
of p itself: `nid[nf[p]:nf[p+1]]` are the states near p in ascending order, `lo` and `hi` their bounds in the same
order, and `far` is an upper bound for every other state. `z` is what a symbol that differs costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any
LEAST = 1e-100  # an upper bound that is positive stays so: nothing is lost to underflow


@compiled()
def place_in_box(nf: Array, nid: Array, own: int, state: int) -> int:
    """Where the box of `own` holds a state, or −1."""
    left, right = nf[own], nf[own + 1]
    while left < right:
        middle = (left + right) // 2
        if nid[middle] < state:
            left = middle + 1
        else:
            right = middle
    return left if left < nf[own + 1] and nid[left] == state else -1


@compiled()
def bounds(nf: Array, nid: Array, lo: Array, hi: Array, far: float, own: int, state: int) -> tuple[float, float]:
    """What the box of `own` says of a state."""
    place = place_in_box(nf, nid, own, state)
    if place < 0:
        return 0.0, far
    return lo[place], hi[place]


@compiled()
def has_edge(first: Array, items: Array, row: int, item: int) -> bool:
    for k in range(first[row], first[row + 1]):
        if items[k] == item:
            return True
    return False


@compiled()
def quotient(
    nf: Array,
    nid: Array,
    lo: Array,
    hi: Array,
    far: float,
    own: int,
    first: Array,
    items: Array,
    one: int,
    other: int,
    z: float,
    matched: int,
) -> tuple[float, float]:
    """The least and the largest (sum over row `one`) / (sum over row `other`) in the box of `own`.

    Each item counts its mass times z, `matched` its mass. What both rows have in common is t in (n + t)/(d + t), which
    grows with t just if n < d; so both ends are attained at corners of the box.
    """
    nlo, nhi, dlo, dhi, tlo, thi = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first[one], first[one + 1]):
        low, high = bounds(nf, nid, lo, hi, far, own, items[k])
        weight = 1.0 if items[k] == matched else z
        if has_edge(first, items, other, items[k]):
            tlo += weight * low
            thi += weight * high
        else:
            nlo += weight * low
            nhi += weight * high
    for k in range(first[other], first[other + 1]):
        if not has_edge(first, items, one, items[k]):
            low, high = bounds(nf, nid, lo, hi, far, own, items[k])
            weight = 1.0 if items[k] == matched else z
            dlo += weight * low
            dhi += weight * high
    top = thi if dlo > nhi else tlo
    bottom = tlo if dhi > nlo else thi
    return (nlo + bottom) / (dhi + bottom), (nhi + top) / (dlo + top)


@compiled()
def forward(
    z: float,
    branching: int,
    sf: Array,
    st: Array,
    pf: Array,
    ps: Array,
    nf: Array,
    nid: Array,
    live_before: Array,
    live: Array,
    lo: Array,
    hi: Array,
    far: float,
    outside: Array,
    new_lo: Array,
    new_hi: Array,
    new_outside: Array,
    edge_of: Array,
    ef: Array,
    edge_lo: Array,
    edge_hi: Array,
) -> None:
    """The boxes of one layer from those of the layer before it.

    `outside[p]` bounds the mass of all states that are not in the box of p together, `far` that of each.
    A run that enters q from p has a narrower box than all runs that enter q: that of the edge from p to q, which has
    number edge_of[k] for place k of the predecessors, begins at ef[edge_of[k]].
    """
    for q in range(len(live)):
        if not live[q]:
            continue
        new_lo[nf[q] : nf[q + 1]] = np.inf
        for k in range(pf[q], pf[q + 1]):
            p = ps[k]
            if not live_before[p]:
                continue
            own = 0.0
            for j in range(pf[q], pf[q + 1]):
                low, _ = bounds(nf, nid, lo, hi, far, p, ps[j])
                own += low
            edge = ef[edge_of[k]] - nf[q]
            for m in range(nf[q], nf[q + 1]):
                low, high = 1.0, 1.0
                if nid[m] != q:
                    low, high = quotient(nf, nid, lo, hi, far, p, pf, ps, nid[m], q, 1.0, -1)
                    low, high = z * low, z * high
                    if high > 0.0:
                        high = max(high, LEAST)
                edge_lo[edge + m], edge_hi[edge + m] = low, high
                new_lo[m] = min(new_lo[m], low)
                new_hi[m] = max(new_hi[m], high)
            leaving = branching * outside[p]
            for m in range(nf[p], nf[p + 1]):
                if hi[m] > 0.0:
                    for j in range(sf[nid[m]], sf[nid[m] + 1]):
                        if place_in_box(nf, nid, q, st[j]) < 0:
                            leaving += hi[m]
            if leaving > 0.0:
                new_outside[q] = max(new_outside[q], z * leaving / own, LEAST)


@compiled()
def backward(
    z: float,
    sf: Array,
    st: Array,
    nf: Array,
    nid: Array,
    live: Array,
    live_after: Array,
    lo: Array,
    hi: Array,
    far: float,
    new_lo: Array,
    new_hi: Array,
) -> None:
    """The boxes of the completions from one layer on, from those of the layer after it."""
    for q in range(len(live)):
        if not live[q]:
            continue
        new_lo[nf[q] : nf[q + 1]] = np.inf
        for k in range(sf[q], sf[q + 1]):
            r = st[k]
            if not live_after[r]:
                continue
            for m in range(nf[q], nf[q + 1]):
                low, high = 1.0, 1.0
                if nid[m] != q:
                    low, high = quotient(nf, nid, lo, hi, far, r, sf, st, nid[m], q, z, r)
                    if high > 0.0:
                        high = max(high, LEAST)
                new_lo[m] = min(new_lo[m], low)
                new_hi[m] = max(new_hi[m], high)
