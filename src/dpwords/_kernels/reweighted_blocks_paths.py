"""The steps of `reweighted_blocks_boxes` for many paths at once that are at the same own state: columns are paths.

The loops over the columns are the innermost ones. They have no order that matters, so the compiler can take several
columns at a time, and each column gets the same result as if it were alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.elementary import log
from dpwords._kernels.reweighted_blocks_boxes import Degrees, Near, Nodes, begin_of
from dpwords._kernels.rounding import UNIT, as_factor, factors, lowered, raised

Array = Any


class PathMasses(NamedTuple):
    """Bounds on the masses of paths at one own state: rows are nodes of its box, columns are paths."""

    lo: Array
    hi: Array
    single: Array  # the most that enters any one state outside the box
    outside: Array  # and all of them together


class ReachedByPaths(NamedTuple):
    """Scratch arrays for `leave_with`: rows are states, which are zeros before and after it."""

    mass: Array
    paths: Array  # the same for all columns


@compiled(error_model="numpy", inner=True)
def advance_with(
    nodes: Nodes, near: Near, own: int, count: int, masses: PathMasses, new: int, step: PathMasses
) -> None:
    """Masses one step later, in the box of `new`, from those in the box of `own`; no symbol is compared."""
    lf, src, pf, pw = nodes.lf, nodes.src, nodes.pf, nodes.pw
    nf, ns = near.nf, near.ns
    lo, hi, single = masses.lo, masses.hi, masses.single
    down, up = factors(near.size[own])
    for k in range(nf[new], nf[new + 1]):
        t = ns[k]
        to = begin_of(near, new, t) - lf[t]
        for m in range(lf[t], lf[t + 1]):
            s = src[m]
            begin, weights = begin_of(near, own, s), pf[m]
            low, high = step.lo[to + m], step.hi[to + m]
            if begin < 0:
                for c in range(count):
                    low[c], high[c] = 0.0, single[c]
                continue
            for c in range(count):
                low[c], high[c] = 0.0, 0.0
            for i in range(lf[s + 1] - lf[s]):
                weight = pw[weights + i]
                below, above = lo[begin + i], hi[begin + i]
                for c in range(count):
                    low[c] += weight * below[c]
                    high[c] += weight * above[c]
            for c in range(count):
                low[c] *= down
                high[c] *= up


@compiled(error_model="numpy", inner=True)
def leave_with(
    nodes: Nodes, near: Near, degrees: Degrees, reached: ReachedByPaths, own: int, count: int, masses: PathMasses,
    new: int, step: PathMasses,
) -> None:  # fmt: skip
    """What is outside the box of `new` one step later: into one state at most, and all together."""
    lf, of, out, tgt, pf, pw = nodes.lf, nodes.of, nodes.out, nodes.tgt, nodes.pf, nodes.pw
    nf, ns, rim = near.nf, near.ns, near.rim
    hi, single, outside = masses.hi, masses.single, masses.outside
    most, total, terms = step.single, step.outside, 2 * degrees.entering + 4
    for c in range(count):
        most[c], total[c] = degrees.entering * single[c], degrees.leaving * outside[c]
    for again in range(2):
        for k in range(nf[own], nf[own + 1]):
            if not rim[k]:
                continue
            s = ns[k]
            begin = begin_of(near, own, s)
            for j in range(of[s], of[s + 1]):
                t = tgt[out[j]]
                if begin_of(near, new, t) >= 0:
                    continue
                mass = reached.mass[t]
                if again:
                    reached.paths[t] = 0.0
                    for c in range(count):
                        mass[c] = 0.0
                    continue
                for i in range(lf[s + 1] - lf[s]):
                    weight = pw[pf[out[j]] + i]
                    above = hi[begin + i]
                    for c in range(count):
                        mass[c] += weight * above[c]
                        total[c] += weight * above[c]
                reached.paths[t] += 1.0
                terms += lf[s + 1] - lf[s]
                others = lf[t + 1] - lf[t] - reached.paths[t]
                for c in range(count):
                    most[c] = max(most[c], mass[c] + others * single[c])
    _, up = factors(terms)
    for c in range(count):
        most[c] = raised(min(most[c], total[c]), up)
        total[c] = raised(total[c], up)


@compiled(error_model="numpy", inner=True)
def discount_with(z: float, nodes: Nodes, near: Near, own: int, count: int, masses: PathMasses) -> None:
    """Multiply by z what does not enter the own state."""
    lf = nodes.lf
    z_lo, z_hi = as_factor(z)
    begin = begin_of(near, own, own)
    for i in range(near.size[own]):
        if begin <= i < begin + lf[own + 1] - lf[own]:
            continue
        low, high = masses.lo[i], masses.hi[i]
        for c in range(count):
            low[c], high[c] = lowered(low[c], z_lo), raised(high[c], z_hi)
    for c in range(count):
        masses.single[c] = raised(masses.single[c], z_hi)
        masses.outside[c] = raised(masses.outside[c], z_hi)


@compiled(error_model="numpy", inner=True)
def log_ends(nodes: Nodes, near: Near, own: int, count: int, masses: PathMasses, low: Array, high: Array) -> None:
    """Bounds on the logarithm of the whole mass where the word ends."""
    lf, fw = nodes.lf, nodes.fw
    nf, ns = near.nf, near.ns
    for c in range(count):
        low[c], high[c] = 0.0, masses.outside[c]
    for k in range(nf[own], nf[own + 1]):
        s = ns[k]
        begin = begin_of(near, own, s) - lf[s]
        for m in range(lf[s], lf[s + 1]):
            below, above = masses.lo[begin + m], masses.hi[begin + m]
            for c in range(count):
                low[c] += fw[m] * below[c]
                high[c] += fw[m] * above[c]
    down, up = factors(near.size[own] + 2)
    for c in range(count):
        low[c], high[c] = log(lowered(low[c], down)), log(raised(high[c], up))


@compiled(error_model="numpy", inner=True)
def mixed(masses: PathMasses, count: int, size: int, mixture: Array, position: Array) -> int:
    """Between the largest and the least mass of all paths, for each node of a box, and for all outside of it.

    Rows without any mass are dropped, and the others moved up; `position` tells where they are then.
    """
    lo, hi = masses.lo, masses.hi
    kept = 0
    for i in range(size + 1):
        below, above = lo[i], hi[i]
        if i == size:
            for c in range(count):
                below[c], above[c] = 0.0, masses.outside[c]
        most, least = 0.0, np.inf
        for c in range(count):
            most, least = max(most, above[c]), min(least, below[c])
        position[i] = -1
        if most > 0.0:
            position[i], mixture[kept] = kept, 0.5 * (most + least)
            if kept < i:
                for c in range(count):
                    lo[kept, c], hi[kept, c] = below[c], above[c]
            kept += 1
    return kept


@compiled(error_model="numpy", inner=True)
def largest_quotients(
    one: Array, other: Array, up: int, lo: Array, hi: Array, rows: int, count: int, scratch: Array, result: Array
) -> None:  # fmt: skip
    """For each column of `one` what `largest_quotient` is for it over `other`; if up is 0, for `other` over it."""
    guess, below, least, size = scratch[0], scratch[1], scratch[2], scratch[3]
    down, raising = factors(rows + 4)
    upward = up == 1
    for c in range(count):
        guess[c], below[c], least[c] = 0.0, 0.0, 0.0
    for i in range(rows):
        column, fixed, most_t, least_t = one[i], other[i], hi[i], lo[i]
        if upward:
            for c in range(count):
                guess[c] += column[c] * most_t
                below[c] += fixed * most_t
                least[c] += fixed * least_t
        else:
            for c in range(count):
                guess[c] += fixed * most_t
                below[c] += column[c] * most_t
                least[c] += column[c] * least_t
    for c in range(count):
        size[c] = guess[c]
        guess[c] = guess[c] / below[c]
        least[c] = lowered(least[c], down)
    above, under = scratch[4], scratch[5]
    for c in range(count):
        above[c], under[c] = 0.0, 0.0
    for i in range(rows):
        column, fixed, most_t, least_t = one[i], other[i], hi[i], lo[i]
        for c in range(count):
            first, second = (column[c], fixed) if upward else (fixed, column[c])
            t = most_t if first > guess[c] * second else least_t
            above[c] += first * t
            under[c] += second * t
    for c in range(count):
        guess[c] = above[c] / under[c]
        size[c] += guess[c] * below[c]
        above[c] = 0.0
    for i in range(rows):
        column, fixed, most_t, least_t = one[i], other[i], hi[i], lo[i]
        for c in range(count):
            first, second = (column[c], fixed) if upward else (fixed, column[c])
            more = first - guess[c] * second
            above[c] += more * (most_t if more > 0.0 else least_t)
    for c in range(count):
        surplus = above[c] + (rows + 6) * UNIT * size[c]
        found = raised(guess[c] + max(surplus, 0.0) / least[c], raising)
        result[c] = found if least[c] > 0.0 else np.inf
