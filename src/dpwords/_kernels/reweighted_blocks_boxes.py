"""Boxes around the own run where words have the weights of `reweighting` (docs/theory.md, section 9).

A *node* is an edge of the system, a *box* holds bounds for all nodes that enter a state near an own one. A *prefix* is
what is known of an own run before a position: its last H nodes, or all of them if there are fewer. A *label* is what is
known of it from a position on: K nodes, or fewer where the run cannot go on. Every bound that is written is rounded
outward (`_kernels/rounding.py`): with the weights as given, it holds for the exact numbers whenever the bounds that it
was computed from do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.rounding import LEAST, UNIT, factors, lowered, raised

Array = Any


class Nodes(NamedTuple):
    """Those that enter state s are lf[s], …, lf[s+1] − 1, those that leave it out[of[s]:of[s+1]]."""

    lf: Array
    of: Array
    out: Array
    src: Array  # where a node begins
    tgt: Array  # and ends
    pf: Array
    pw: Array  # pw[pf[m] + i]: weight of the step to node m from the i-th node that enters src[m]
    fw: Array  # weight of a word's end after a node


class Near(NamedTuple):
    """The states near s are ns[nf[s]:nf[s+1]]."""

    nf: Array
    ns: Array
    slot: Array  # slot[t]: a column for t; states that are near the same one have different columns
    held: Array  # held[s, slot[t]]: the state near s that has this column, −1 if there is none
    at: Array  # at[s, slot[t]]: where its nodes begin in the box of s
    rim: Array  # rim[k]: whether ns[k] is so far out that one step can leave
    size: Array  # nodes in the box of a state


class Degrees(NamedTuple):
    """The largest numbers of nodes that leave a state which some node enters, and that enter any one."""

    leaving: int
    entering: int


class Prefixes(NamedTuple):
    """Sequences of H nodes, then shorter ones that begin at the start; the last one is empty."""

    last: Array  # its last node, −1 if there is none
    before: Array  # a number for the nodes before the last one; negative if there are none
    bf: Array  # where its box begins
    tf: Array  # where numbers for each node that can follow it begin
    child: Array  # child[tf[k] + j]: the prefix after prefix k and the j-th node that follows it
    opens: Array  # the number that `before` has for the prefixes after prefix k


class Labels(NamedTuple):
    """Sequences of K nodes (fewer, where no node follows), in the order of their first node."""

    first: Array  # the first node
    of_node: Array  # the labels that begin with node v are of_node[v], …, of_node[v+1] − 1
    af: Array  # where the box of a label begins
    ef: Array  # where numbers for each node that can precede it begin
    parent: Array  # parent[ef[k] + i]: the label of the i-th node into src[first[k]], then label k without its last


class Proportions(NamedTuple):
    """Bounds on masses after each prefix, relative to that of all nodes into its state."""

    lo: Array
    hi: Array  # of the nodes in its box
    single: float  # of all nodes into any one state outside of it
    outside: Array  # of all nodes outside of it together


class Reached(NamedTuple):
    """Scratch arrays for `leave`: two numbers for each state, which are zeros before and after it."""

    mass: Array
    paths: Array


@compiled(inner=True)
def largest(numbers: Array) -> int:
    """The largest of some numbers, none of them negative; NumPy's own takes longer to compile."""
    most = 0
    for number in numbers:
        most = max(most, number)
    return most


@compiled(error_model="numpy", inner=True)
def begin_of(near: Near, own: int, state: int) -> int:
    """Where the nodes into a state begin in the box of `own`, −1 if it is not near."""
    slot = near.slot[state]
    return near.at[own, slot] if near.held[own, slot] == state else -1


@compiled(error_model="numpy", inner=True)
def advance(
    nodes: Nodes, near: Near, own: int, lo: Array, hi: Array, single: float, pivot: int, new: int, new_lo: Array,
    new_hi: Array,
) -> None:  # fmt: skip
    """Masses one step later, in the box of `new`, from those in the box of `own`; no symbol is compared.

    Where the masses of the nodes into `own` sum to 1, the `pivot`-th is 1 less the others (−1: they need not). Then
    the sum has differences in it; what rounding can do to it is a proportion of `size`, the sum of absolute values.
    """
    lf, src, pf, pw = nodes.lf, nodes.src, nodes.pf, nodes.pw
    nf, ns = near.nf, near.ns
    down, up = factors(near.size[own])
    for k in range(nf[new], nf[new + 1]):
        t = ns[k]
        to = begin_of(near, new, t) - lf[t]
        for m in range(lf[t], lf[t + 1]):
            s = src[m]
            begin, count, weights = begin_of(near, own, s), lf[s + 1] - lf[s], pf[m]
            if begin < 0:
                new_lo[to + m], new_hi[to + m] = 0.0, single
                continue
            low, high = 0.0, 0.0
            for i in range(count):
                low += pw[weights + i] * lo[begin + i]
                high += pw[weights + i] * hi[begin + i]
            low, high = low * down, high * up
            if s == own and pivot >= 0:
                most = least = size = pw[weights + pivot]
                for i in range(count):
                    more = pw[weights + i] - pw[weights + pivot]
                    size += abs(more) * hi[begin + i]
                    if more > 0.0:
                        most += more * hi[begin + i]
                        least += more * lo[begin + i]
                    elif more < 0.0:
                        most += more * lo[begin + i]
                        least += more * hi[begin + i]
                error = (count + 4) * UNIT * size
                low, high = max(low, least - error), min(high, most + error)
            new_lo[to + m], new_hi[to + m] = low, high


@compiled(error_model="numpy", inner=True)
def leave(
    nodes: Nodes, near: Near, degrees: Degrees, reached: Reached, own: int, hi: Array, single: float, outside: float,
    new: int,
) -> tuple[float, float]:  # fmt: skip
    """What is outside the box of `new` one step later: into one state at most, and all together."""
    lf, of, out, tgt, pf, pw = nodes.lf, nodes.of, nodes.out, nodes.tgt, nodes.pf, nodes.pw
    nf, ns, rim = near.nf, near.ns, near.rim
    mass, paths = reached
    most, total, terms = degrees.entering * single, degrees.leaving * outside, 2 * degrees.entering + 4
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
                if again:
                    mass[t], paths[t] = 0.0, 0.0
                    continue
                into = 0.0
                for i in range(lf[s + 1] - lf[s]):
                    into += pw[pf[out[j]] + i] * hi[begin + i]
                mass[t] += into
                paths[t] += 1.0
                total += into
                terms += 1
                most = max(most, mass[t] + (lf[t + 1] - lf[t] - paths[t]) * single)
    _, up = factors(terms)
    return raised(min(most, total), up), raised(total, up)


@compiled(error_model="numpy")
def forward(
    z: float, nodes: Nodes, near: Near, degrees: Degrees, prefixes: Prefixes, live_before: Array, live: Array,
    proportions: Proportions, grown_lo: Array, grown_hi: Array, new_lo: Array, new_hi: Array, new_outside: Array,
) -> float:  # fmt: skip
    """Boxes of one layer from those of the layer before it: proportions of the mass of the own state.

    How the mass of the own state grows from prefix k to the j-th node that leaves its state goes to grown[tf[k] + j].
    The result bounds what enters any one state outside.
    """
    lf, of, out, tgt = nodes.lf, nodes.of, nodes.out, nodes.tgt
    size = near.size
    last, bf, tf, child = prefixes.last, prefixes.bf, prefixes.tf, prefixes.child
    lo, hi, single, outside = proportions
    new_lo[:] = np.inf
    step_lo, step_hi = np.empty(largest(size)), np.empty(largest(size))
    reached = Reached(np.zeros(len(size)), np.zeros(len(size)))
    down, up = factors(degrees.entering + 4)
    farthest = 0.0
    for k in range(len(last) - 1):
        if not live_before[k]:
            continue
        p = last[k]
        x = tgt[p]
        box_lo, box_hi = lo[bf[k] : bf[k + 1]], hi[bf[k] : bf[k + 1]]
        for j in range(of[x], of[x + 1]):
            q = out[j]
            new = child[tf[k] + j - of[x]]
            if not live[new]:
                continue
            y, box = tgt[q], bf[new]
            advance(nodes, near, x, box_lo, box_hi, single, p - lf[x], y, step_lo, step_hi)
            begin = begin_of(near, y, y)
            end = begin + lf[y + 1] - lf[y]
            all_lo, all_hi = 0.0, 0.0
            for i in range(begin, end):
                all_lo += step_lo[i]
                all_hi += step_hi[i]
            all_lo, all_hi = lowered(all_lo, down), raised(all_hi, up)
            if not all_lo > 0.0:
                return np.inf
            grown_lo[tf[k] + j - of[x]], grown_hi[tf[k] + j - of[x]] = all_lo, all_hi
            for i in range(size[y]):
                if begin <= i < end:
                    rest_lo, rest_hi = 0.0, 0.0
                    for other in range(begin, end):
                        if other != i:
                            rest_lo += step_lo[other]
                            rest_hi += step_hi[other]
                    low = step_lo[i] / (step_lo[i] + rest_hi) if step_lo[i] > 0.0 else 0.0
                    high = step_hi[i] / (step_hi[i] + rest_lo) if step_hi[i] > 0.0 else 0.0
                else:
                    low, high = z * step_lo[i] / all_hi, z * step_hi[i] / all_lo
                new_lo[box + i] = min(new_lo[box + i], lowered(low, down))
                new_hi[box + i] = max(new_hi[box + i], raised(high, up))
            one, total = leave(nodes, near, degrees, reached, x, box_hi, single, outside[k], y)
            new_outside[new] = max(new_outside[new], raised(z * total / all_lo, up))
            farthest = max(farthest, raised(z * one / all_lo, up))
    return farthest


@compiled(error_model="numpy", inner=True)
def largest_quotient(one: Array, other: Array, lo: Array, hi: Array, count: int) -> float:
    """An upper bound of Σ one·t / Σ other·t over lo ≤ t ≤ hi, nearly attained.

    For any number λ it is λ + max(Σ (one − λ·other)·t) / min(Σ other·t); λ is the quotient at a corner that was best
    for the quotient at another one, which leaves a remainder of second order. What rounding can do to the sum of
    differences is a proportion of Σ (one + λ·other)·hi.
    """
    most_one, most_other, least = 0.0, 0.0, 0.0
    for i in range(count):
        most_one += one[i] * hi[i]
        most_other += other[i] * hi[i]
        least += other[i] * lo[i]
    down, up = factors(count + 4)
    least = lowered(least, down)
    if not least > 0.0:
        return np.inf
    guess = most_one / most_other
    above, below = 0.0, 0.0
    for i in range(count):
        t = hi[i] if one[i] > guess * other[i] else lo[i]
        above += one[i] * t
        below += other[i] * t
    guess = above / below
    surplus = 0.0
    for i in range(count):
        more = one[i] - guess * other[i]
        surplus += more * (hi[i] if more > 0.0 else lo[i])
    surplus += (count + 6) * UNIT * (most_one + guess * most_other)
    return raised(guess + max(surplus, 0.0) / least, up)


@compiled(error_model="numpy", inner=True)
def on_the_rim(nodes: Nodes, near: Near, own: int, hi: Array, far: float) -> float:
    """The most that a node on the rim of a box has, or outside of it."""
    lf = nodes.lf
    nf, ns, rim = near.nf, near.ns, near.rim
    most = far
    for k in range(nf[own], nf[own + 1]):
        if rim[k]:
            begin = begin_of(near, own, ns[k])
            for i in range(begin, begin + lf[ns[k] + 1] - lf[ns[k]]):
                most = max(most, hi[i])
    return most


@compiled(error_model="numpy")
def backward(
    z: float, nodes: Nodes, near: Near, widest: int, labels: Labels, live: Array, live_after: Array, lo: Array,
    hi: Array, far: float, new_lo: Array, new_hi: Array,
) -> float:  # fmt: skip
    """Boxes of completions relative to those of the own node, from those of the layer after it; and what is outside."""
    first, af, ef, parent = labels.first, labels.af, labels.ef, labels.parent
    lf, of, out, src, tgt, pf, pw = nodes.lf, nodes.of, nodes.out, nodes.src, nodes.tgt, nodes.pf, nodes.pw
    nf, ns, size = near.nf, near.ns, near.size
    new_lo[:] = np.inf
    low, high = np.empty(largest(size)), np.empty(largest(size))
    mine, other, t_lo, t_hi = np.empty(widest), np.empty(widest), np.empty(widest), np.empty(widest)
    down, up = factors(4)
    farthest = 0.0
    for label in range(len(first)):
        if not live_after[label]:
            continue
        q, box = first[label], af[label]
        x, y = src[q], tgt[q]
        for k in range(nf[x], nf[x + 1]):
            s = ns[k]
            at_s = begin_of(near, x, s) - lf[s]
            sum_down, sum_up = factors(of[s + 1] - of[s] + 2)
            for v in range(lf[s], lf[s + 1]):
                below, above = 0.0, 0.0
                for j in range(of[s], of[s + 1]):
                    w = out[j]
                    weight = pw[pf[w] + v - lf[s]] * (1.0 if tgt[w] == y else z)
                    begin = begin_of(near, y, tgt[w])
                    if begin < 0:
                        above += weight * far
                    else:
                        below += weight * lo[box + begin + w - lf[tgt[w]]]
                        above += weight * hi[box + begin + w - lf[tgt[w]]]
                low[at_s + v], high[at_s + v] = lowered(below, sum_down), raised(above, sum_up)
        rest = on_the_rim(nodes, near, y, hi[box : box + size[y]], far)
        own = begin_of(near, x, x)
        for p in range(lf[x], lf[x + 1]):
            new = parent[ef[label] + p - lf[x]]
            if not live[new]:
                continue
            begin_new = af[new]
            mass_lo, mass_hi = low[own + p - lf[x]], high[own + p - lf[x]]
            if not mass_lo > 0.0:
                return np.inf
            for i in range(size[x]):
                if own <= i < own + lf[x + 1] - lf[x]:
                    v = lf[x] + i - own
                    if v == p:
                        least, most = 1.0, 1.0
                    else:
                        for j in range(of[x], of[x + 1]):
                            w = out[j]
                            weight = 1.0 if tgt[w] == y else z
                            mine[j - of[x]] = weight * pw[pf[w] + v - lf[x]]
                            other[j - of[x]] = weight * pw[pf[w] + p - lf[x]]
                            begin = begin_of(near, y, tgt[w])
                            t_lo[j - of[x]] = lo[box + begin + w - lf[tgt[w]]]
                            t_hi[j - of[x]] = hi[box + begin + w - lf[tgt[w]]]
                        most = raised(largest_quotient(mine, other, t_lo, t_hi, of[x + 1] - of[x]), up)
                        least = lowered(1.0 / largest_quotient(other, mine, t_lo, t_hi, of[x + 1] - of[x]), down)
                else:
                    least, most = lowered(low[i] / mass_hi, down), raised(high[i] / mass_lo, up)
                new_lo[begin_new + i] = min(new_lo[begin_new + i], least)
                new_hi[begin_new + i] = max(new_hi[begin_new + i], most)
            farthest = max(farthest, raised(z * widest * rest / mass_lo, up))
    return max(farthest, LEAST)
