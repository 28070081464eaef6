"""Steps of masses around the own run where words have the weights of `reweighting` (docs/theory.md, section 9).

A *node* is an edge of the system, a *box* holds bounds for all nodes that enter a state near an own one. Every bound
that is written is rounded outward (`_kernels/rounding.py`): with the weights as given, it holds for the exact numbers
whenever the bounds that it was computed from do.

Paths that are at the same own state are taken together: they are the columns of matrices whose rows are the nodes of
its box. Loops over columns are the innermost ones. They have no order that matters, so the compiler can take several
columns at a time, and each column gets the same result as if it were alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.rounding import UNIT, as_factor, factors, lowered, raised

Array = Any


class Near(NamedTuple):
    """The nodes in the box of state s are ns[nf[s]:nf[s+1]], ordered by the states that they enter."""

    nf: Array
    ns: Array
    rim: Array  # rim[k]: whether node ns[k] enters a state so far out that one step can leave
    slot: Array  # slot[t]: a column for t; states that are near the same one have different columns
    at: Array  # at[s, slot[t]]: the state near s that has this column, −1 if there is none; where its nodes begin


class System(NamedTuple):
    """Nodes that enter state s are lf[s], …, lf[s+1] − 1, those that leave it out[of[s]:of[s+1]]."""

    near: Near
    lf: Array
    of: Array
    out: Array
    src: Array  # where a node begins
    tgt: Array  # and ends
    leaving: int  # the largest number of nodes that leave a state which some node enters,
    entering: int  # and that enter any one
    pf: Array
    pw: Array  # pw[pf[m] + i]: weight of the step to node m from the i-th node that enters src[m]


class Proportions(NamedTuple):
    """Bounds on masses after each prefix, relative to that of all nodes into its state."""

    bf: Array  # where the box of a prefix begins
    lo: Array
    hi: Array  # of the nodes in its box
    single: float  # of all nodes into any one state outside of it
    outside: Array  # of all nodes outside of it together


class Masses(NamedTuple):
    """Bounds on the masses of paths at one own state: rows are nodes of its box, columns are paths."""

    lo: Array
    hi: Array
    single: Array  # the most that enters any one state outside the box
    outside: Array  # and all of them together
    pivot: Array  # i + 1 if the masses of the nodes into the own state sum to 1, and its i-th is the own node; else 0


class Reached(NamedTuple):
    """Scratch arrays for `step`, which are zeros before and after it."""

    mass: Array  # rows are states, and one more; columns are paths
    paths: Array  # of states, the same for all columns


@compiled(inner=True)
def masses_of(rows: int, columns: int) -> Masses:
    """Space for the masses of so many paths."""
    lo, hi = np.zeros((rows, columns)), np.zeros((rows, columns))
    return Masses(lo, hi, np.zeros(columns), np.zeros(columns), np.zeros(columns, np.int64))


@compiled(inner=True)
def largest(begins: Array) -> int:
    """The largest of several rows that begin there."""
    most = 0
    for i in range(len(begins) - 1):
        most = max(most, begins[i + 1] - begins[i])
    return most


@compiled(error_model="numpy", inner=True)
def begin_of(slot: Array, at: Array, own: int, state: int) -> int:
    """Where the nodes into a state begin in the box of `own`, −1 if it is not near."""
    return at[own, slot[state], 1] if at[own, slot[state], 0] == state else -1


@compiled(error_model="numpy", inner=True)
def take(masses: Masses, column: int, proportions: Proportions, prefix: int, rows: int, pivot: int) -> None:
    """Have a column begin with what is known after a prefix."""
    lo, hi, box = masses.lo, masses.hi, proportions.bf[prefix]
    for i in range(rows):
        lo[i, column], hi[i, column] = proportions.lo[box + i], proportions.hi[box + i]
    masses.single[column], masses.outside[column], masses.pivot[column] = (
        proportions.single,
        proportions.outside[prefix],
        pivot,
    )


@compiled(error_model="numpy", inner=True)
def step(
    z: float, system: System, reached: Reached, own: int, count: int, masses: Masses, new: int, after: Masses,
    first: int,
) -> None:  # fmt: skip
    """Masses one step later, in the box of `new`, from those in the box of `own`; they go to columns from `first` on.

    What does not enter `new` is multiplied by z; if z is 1, no symbol is compared.

    Where the masses of the nodes into `own` sum to 1, the pivot is 1 less the others. Then the sum has differences in
    it; what rounding can do to it is a proportion of `size`, the sum of absolute values.
    """
    lf, of, out, src, tgt, pf, pw = system.lf, system.of, system.out, system.src, system.tgt, system.pf, system.pw
    nf, ns, rim, slot, at = system.near
    lo, hi, single, pivot = masses.lo, masses.hi, masses.single, masses.pivot
    down, up = factors(nf[own + 1] - nf[own])
    z_lo, z_hi = as_factor(z)
    for row in range(nf[new + 1] - nf[new]):
        m = ns[nf[new] + row]
        s = src[m]
        begin, number, weights = begin_of(slot, at, own, s), lf[s + 1] - lf[s], pf[m]
        low, high = after.lo[row, first:], after.hi[row, first:]
        for c in range(count):
            low[c], high[c] = 0.0, 0.0 if begin >= 0 else single[c]
        if begin >= 0:
            for i in range(number):
                weight, below, above = pw[weights + i], lo[begin + i], hi[begin + i]
                for c in range(count):
                    low[c] += weight * below[c]
                    high[c] += weight * above[c]
            for c in range(count):
                low[c] *= down
                high[c] *= up
        for c in range(count if s == own else 0):
            if pivot[c] == 0:
                continue
            most = least = size = pw[weights + pivot[c] - 1]
            for i in range(number):
                more = pw[weights + i] - pw[weights + pivot[c] - 1]
                size += abs(more) * hi[begin + i, c]
                if more > 0.0:
                    most += more * hi[begin + i, c]
                    least += more * lo[begin + i, c]
                elif more < 0.0:
                    most += more * lo[begin + i, c]
                    least += more * hi[begin + i, c]
            error = (number + 4) * UNIT * size
            low[c], high[c] = max(low[c], least - error), min(high[c], most + error)
        if z < 1.0 and tgt[m] != new:
            for c in range(count):
                low[c], high[c] = lowered(low[c], z_lo), raised(high[c], z_hi)
    most_of, total, into = after.single[first:], after.outside[first:], reached.mass[len(slot)]
    for c in range(count):
        most_of[c], total[c] = system.entering * single[c], system.leaving * masses.outside[c]
    terms = 2 * system.entering + 4
    for again in range(2):
        for k in range(nf[own], nf[own + 1]):
            s, begin = tgt[ns[k]], k - nf[own]
            if not rim[k] or ns[k] != lf[s]:  # once for each state
                continue
            for j in range(of[s], of[s + 1]):
                t = tgt[out[j]]
                if begin_of(slot, at, new, t) >= 0:
                    continue
                mass = reached.mass[t]
                if again:
                    reached.paths[t] = 0.0
                    for c in range(count):
                        mass[c] = 0.0
                    continue
                for i in range(lf[s + 1] - lf[s]):
                    weight, above = pw[pf[out[j]] + i], hi[begin + i]
                    for c in range(count):
                        into[c] += weight * above[c]
                reached.paths[t] += 1.0
                terms += 1
                others = lf[t + 1] - lf[t] - reached.paths[t]
                for c in range(count):
                    mass[c] += into[c]
                    total[c] += into[c]
                    into[c] = 0.0
                    most_of[c] = max(most_of[c], mass[c] + others * single[c])
    _, up = factors(terms)
    for c in range(count):
        most_of[c], total[c] = raised(min(most_of[c], total[c]), up), raised(total[c], up)
        if z < 1.0:
            most_of[c], total[c] = raised(most_of[c], z_hi), raised(total[c], z_hi)


@compiled(error_model="numpy", inner=True)
def largest_quotients(
    one: Array, other: Array, upward: bool, lo: Array, hi: Array, rows: int, count: int, scratch: Array, result: Array
) -> None:  # fmt: skip
    """For each column of `one` an upper bound of Σ one·t / Σ other·t over lo ≤ t ≤ hi, nearly attained.

    If not `upward`, one of Σ other·t / Σ one·t. For any number λ it is λ + max(Σ (one − λ·other)·t) / min(Σ other·t);
    λ is the quotient at a corner that was best for the quotient at another one, which leaves a remainder of second
    order. What rounding can do to the sum of differences is a proportion of Σ (one + λ·other)·hi.
    """
    guess, below, least, size, above, under = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    down, raising = factors(rows + 4)
    for c in range(count):
        size[c], below[c], least[c], above[c], under[c] = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(rows):
        column, fixed, most_t, least_t = one[i], other[i], hi[i], lo[i]
        for c in range(count):
            first, second = (column[c], fixed) if upward else (fixed, column[c])
            size[c] += first * most_t
            below[c] += second * most_t
            least[c] += second * least_t
    for c in range(count):
        guess[c] = size[c] / below[c]
        least[c] = lowered(least[c], down)
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


@compiled(error_model="numpy", inner=True)
def on_the_rim(near: Near, own: int, hi: Array, box: int, far: float) -> float:
    """The most that a node on the rim of a box has, or outside of it."""
    nf, rim = near.nf, near.rim
    most = far
    for k in range(nf[own], nf[own + 1]):
        if rim[k]:
            most = max(most, hi[box + k - nf[own]])
    return most
