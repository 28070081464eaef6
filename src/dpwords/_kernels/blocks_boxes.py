"""Boxes around the own run of a word of states (docs/theory.md, section 9).

A *box* bounds, for every way to an own state p, the mass of each state near p relative to that of p itself. `z` is what
a symbol that differs costs. Every bound that is written is rounded outward (`outward`): it holds for the exact masses
whenever the bounds it was computed from do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.rounding import factors, lowered, raised

Array = Any


class Steps(NamedTuple):
    """The edges of a system, by source and by target."""

    succ_first: Array
    succ: Array  # the successors of state s are succ[succ_first[s]:succ_first[s+1]]
    pred_first: Array
    pred: Array  # and its predecessors pred[pred_first[s]:pred_first[s+1]]
    edge_of: Array  # edge_of[k]: where the edge from pred[k] stands in `succ`


class Around(NamedTuple):
    """The states near p, in ascending order, are states[first[p]:first[p+1]]."""

    first: Array
    states: Array


class Masses(NamedTuple):
    """Boxes of one layer: bounds for each state of `Around`, in the same order, and one for every other state."""

    lo: Array
    hi: Array
    far: float


class EdgeMasses(NamedTuple):
    """Boxes of the runs that end with an edge p → q: bounds for the states near q, from first[edge] on."""

    first: Array
    lo: Array
    hi: Array


@compiled()
def place_in_box(around: Around, own: int, state: int) -> int:
    """Where the box of `own` holds a state, or −1."""
    first, states = around.first, around.states
    left, right = first[own], first[own + 1]
    while left < right:
        middle = (left + right) // 2
        if states[middle] < state:
            left = middle + 1
        else:
            right = middle
    return left if left < first[own + 1] and states[left] == state else -1


@compiled()
def bounds(around: Around, masses: Masses, own: int, state: int) -> tuple[float, float]:
    """What the box of `own` says of a state."""
    place = place_in_box(around, own, state)
    if place < 0:
        return 0.0, masses.far
    return masses.lo[place], masses.hi[place]


@compiled()
def has_edge(first: Array, items: Array, row: int, item: int) -> bool:
    """Whether an item is in a row."""
    for k in range(first[row], first[row + 1]):
        if items[k] == item:
            return True
    return False


@compiled()
def quotient(
    around: Around, masses: Masses, own: int, first: Array, items: Array, one: int, other: int, z: float, matched: int,
    scale: float,
) -> tuple[float, float]:  # fmt: skip
    """Bounds of `scale` times (the sum over row `one`) / (the sum over row `other`) in the box of `own`.

    Each item counts its mass times z, `matched` its mass. What both rows have in common is t in (n + t)/(d + t), which
    grows with t just if n < d; so both ends are attained at corners of the box.
    """
    nlo, nhi, dlo, dhi, tlo, thi = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(first[one], first[one + 1]):
        low, high = bounds(around, masses, own, items[k])
        weight = 1.0 if items[k] == matched else z
        if has_edge(first, items, other, items[k]):
            tlo += weight * low
            thi += weight * high
        else:
            nlo += weight * low
            nhi += weight * high
    for k in range(first[other], first[other + 1]):
        if not has_edge(first, items, one, items[k]):
            low, high = bounds(around, masses, own, items[k])
            weight = 1.0 if items[k] == matched else z
            dlo += weight * low
            dhi += weight * high
    down, up = factors(max(first[one + 1] - first[one], first[other + 1] - first[other]))
    nlo, dlo, tlo = nlo * down, dlo * down, tlo * down
    nhi, dhi, thi = nhi * up, dhi * up, thi * up
    top = thi if dlo > nhi else tlo
    bottom = tlo if dhi > nlo else thi
    down, up = factors(4)
    return lowered(scale * (nlo + bottom) / (dhi + bottom), down), raised(scale * (nhi + top) / (dlo + top), up)


@compiled()
def forward(
    z: float, branching: int, steps: Steps, around: Around, live_before: Array, live: Array, masses: Masses,
    outside: Array, new: Masses, new_outside: Array, edges: EdgeMasses,
) -> None:  # fmt: skip
    """The boxes of one layer, `new`, from those of the layer before it.

    `outside[p]` bounds the mass of all states that are not in the box of p together. A run that enters q from p has a
    narrower box than all runs that enter q; it is written to `edges`.
    """
    succ_first, succ, pred_first, pred = steps.succ_first, steps.succ, steps.pred_first, steps.pred
    first, states = around.first, around.states
    hi, new_lo, new_hi = masses.hi, new.lo, new.hi
    for q in range(len(live)):
        if not live[q]:
            continue
        new_lo[first[q] : first[q + 1]] = np.inf
        for k in range(pred_first[q], pred_first[q + 1]):
            p = pred[k]
            if not live_before[p]:
                continue
            own = 0.0
            for j in range(pred_first[q], pred_first[q + 1]):
                low, _ = bounds(around, masses, p, pred[j])
                own += low
            edge = edges.first[steps.edge_of[k]] - first[q]
            for m in range(first[q], first[q + 1]):
                low, high = 1.0, 1.0
                if states[m] != q:
                    low, high = quotient(around, masses, p, pred_first, pred, states[m], q, 1.0, -1, z)
                edges.lo[edge + m], edges.hi[edge + m] = low, high
                new_lo[m] = min(new_lo[m], low)
                new_hi[m] = max(new_hi[m], high)
            leaving, terms = branching * outside[p], pred_first[q + 1] - pred_first[q]
            for m in range(first[p], first[p + 1]):
                if hi[m] > 0.0:
                    for j in range(succ_first[states[m]], succ_first[states[m] + 1]):
                        if place_in_box(around, q, succ[j]) < 0:
                            leaving += hi[m]
                            terms += 1
            _, up = factors(terms + 4)
            new_outside[q] = max(new_outside[q], raised(z * leaving / own, up))


@compiled()
def backward(
    z: float, steps: Steps, around: Around, live: Array, live_after: Array, masses: Masses, new: Masses
) -> None:  # fmt: skip
    """The boxes of the completions from one layer on, `new`, from those of the layer after it."""
    succ_first, succ = steps.succ_first, steps.succ
    first, states = around.first, around.states
    new_lo, new_hi = new.lo, new.hi
    for q in range(len(live)):
        if not live[q]:
            continue
        new_lo[first[q] : first[q + 1]] = np.inf
        for k in range(succ_first[q], succ_first[q + 1]):
            r = succ[k]
            if not live_after[r]:
                continue
            for m in range(first[q], first[q + 1]):
                low, high = 1.0, 1.0
                if states[m] != q:
                    low, high = quotient(around, masses, r, succ_first, succ, states[m], q, z, r, 1.0)
                new_lo[m] = min(new_lo[m], low)
                new_hi[m] = max(new_hi[m], high)
