"""How much the normalising constant of reweighted words of states can change with the word (docs/theory.md, section 9).

Nodes, boxes and what is near are given as in `reweighted_blocks_steps`. A *prefix* is what is known of an own run
before a position: its last H nodes, or all of them if there are fewer. A *label* is what is known of it from a position
on: K nodes, or fewer where the run cannot go on. A *closing* is the whole mass of a word relative to that of its own
state x, where the own run goes over a prefix to x and on to y, q, r, s. A word changes in one position between paths
with the same prefix, in two between paths whose prefixes agree but for the last node. Bounds are rounded outward;
logarithms of them and sums of these are not, which the margin of a certificate covers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.elementary import log
from dpwords._kernels.reweighted_blocks_steps import (
    Masses,
    Near,
    Proportions,
    Reached,
    System,
    begin_of,
    largest,
    largest_quotients,
    masses_of,
    on_the_rim,
    step,
    take,
)
from dpwords._kernels.rounding import LEAST, as_factor, factors, lowered, raised

Array = Any


class Prefixes(NamedTuple):
    """Sequences of H nodes, then shorter ones that begin at the start; the last one is empty."""

    last: Array  # its last node, −1 if there is none
    before: Array  # a number for the nodes before the last one; negative if there are none
    turn: Array  # which of the nodes that can follow these is the last one
    row: Array  # where `turns` has growth to the last node and to others in its place; −1 if there are none before
    tf: Array  # where numbers for each node that can follow it begin
    child: Array  # child[tf[k] + j]: the prefix after prefix k and the j-th node that follows it
    begun: Array  # the prefix that has only this node; −1 if no word begins with it


class Labels(NamedTuple):
    """Sequences of K nodes (fewer, where no node follows), in the order of their first node."""

    first: Array  # the first node
    of_node: Array  # the labels that begin with node v are of_node[v], …, of_node[v+1] − 1
    af: Array  # where the box of a label begins
    ef: Array  # where numbers for each node that can precede it begin
    parent: Array  # parent[ef[k] + i]: the label of the i-th node into src[first[k]], then label k without its last


class Paths(NamedTuple):
    """Groups of paths from a prefix over x to y (and on to q) whose words are compared: wf[g], …, wf[g+1] − 1.

    Those to the same q are a group, or, where words end at y, all of them. In a group they are in the order of `first`.
    """

    wf: Array
    alike: Array  # the same paths, ordered in each group by what is before the last node of the prefix
    prefix: Array  # its number
    first: Array  # the node from x to y
    width: int  # the most paths of a group to one y


class Completions(NamedTuple):
    """Boxes of completions relative to those of the own node, and a bound for all other nodes."""

    of_node: Array  # as in `Labels`
    af: Array
    live: Array  # which labels words have
    lo: Array
    hi: Array
    far: float


@compiled(error_model="numpy")
def forward(
    z: float, system: System, prefixes: Prefixes, wf: Array, known: Array, live: Array, proportions: Proportions,
    grown_lo: Array, grown_hi: Array, new_lo: Array, new_hi: Array, new_outside: Array,
) -> float:  # fmt: skip
    """Boxes of one layer from those of the layer before it: proportions of the mass of the own state.

    The prefixes that end in x are known[wf[x]:wf[x+1]]. How the mass of the own state grows from prefix k to the j-th
    node that leaves its state goes to grown[tf[k] + j]. The result bounds what enters any one state outside.
    """
    lf, of, out, tgt = system.lf, system.of, system.out, system.tgt
    nf, slot, at = system.near.nf, system.near.slot, system.near.at
    last, tf, child, bf = prefixes.last, prefixes.tf, prefixes.child, proportions.bf
    states, n, widest = len(slot), largest(nf), largest(wf)
    before, after = masses_of(n, widest), masses_of(n, widest)
    reached = Reached(np.zeros((states + 1, widest)), np.zeros(states))
    lo, hi = after.lo, after.hi
    down, up = factors(system.entering + 4)
    farthest = 0.0
    for x in range(states):
        count = wf[x + 1] - wf[x]
        for c in range(count):
            k = known[wf[x] + c]
            take(before, c, proportions, k, nf[x + 1] - nf[x], last[k] - lf[x] + 1)
        for j in range(of[x], of[x + 1] if count > 0 else of[x]):
            y = tgt[out[j]]
            step(1.0, system, reached, x, count, before, y, after, 0)
            begin = begin_of(slot, at, y, y)
            end = begin + lf[y + 1] - lf[y]
            for c in range(count):
                position = tf[known[wf[x] + c]] + j - of[x]
                new = child[position]
                box = bf[new]
                if not live[new]:
                    continue
                all_lo, all_hi = 0.0, 0.0
                for i in range(begin, end):
                    all_lo += lo[i, c]
                    all_hi += hi[i, c]
                all_lo, all_hi = lowered(all_lo, down), raised(all_hi, up)
                if not all_lo > 0.0:
                    return np.inf
                grown_lo[position], grown_hi[position] = all_lo, all_hi
                for i in range(nf[y + 1] - nf[y]):
                    if begin <= i < end:
                        rest_lo, rest_hi = 0.0, 0.0
                        for other in range(begin, end):
                            if other != i:
                                rest_lo += lo[other, c]
                                rest_hi += hi[other, c]
                        low = lo[i, c] / (lo[i, c] + rest_hi) if lo[i, c] > 0.0 else 0.0
                        high = hi[i, c] / (hi[i, c] + rest_lo) if hi[i, c] > 0.0 else 0.0
                    else:
                        low, high = z * lo[i, c] / all_hi, z * hi[i, c] / all_lo
                    new_lo[box + i] = min(new_lo[box + i], lowered(low, down))
                    new_hi[box + i] = max(new_hi[box + i], raised(high, up))
                new_outside[new] = max(new_outside[new], raised(z * after.outside[c] / all_lo, up))
                farthest = max(farthest, raised(z * after.single[c] / all_lo, up))
    return farthest


@compiled(error_model="numpy")
def backward(
    z: float, system: System, labels: Labels, live: Array, live_after: Array, lo: Array, hi: Array, far: float,
    new_lo: Array, new_hi: Array,
) -> float:  # fmt: skip
    """Boxes of completions relative to those of the own node, from those of the layer after it; and what is outside."""
    first, _, af, ef, parent = labels
    lf, of, out, src, tgt, pf, pw = system.lf, system.of, system.out, system.src, system.tgt, system.pf, system.pw
    nf, ns, _, slot, at = system.near
    widest, entering = system.leaving, system.entering
    boxes, ends = np.zeros((2, largest(nf))), np.zeros((3, widest))
    mine, quotients, scratch = np.zeros((widest, entering)), np.zeros((2, entering)), np.zeros((6, entering))
    low, high = boxes[0], boxes[1]
    other, t_lo, t_hi = ends[0], ends[1], ends[2]
    down, up = factors(4)
    farthest = 0.0
    for label in range(len(first)):
        q, box = first[label], af[label]
        x, y = src[q], tgt[q]
        number, leaving = lf[x + 1] - lf[x], of[x + 1] - of[x]
        if number == 0 or not live_after[label]:
            continue
        for i in range(nf[x + 1] - nf[x]):
            v = ns[nf[x] + i]
            s = tgt[v]
            below, above = 0.0, 0.0
            for j in range(of[s], of[s + 1]):
                w = out[j]
                weight = pw[pf[w] + v - lf[s]] * (1.0 if tgt[w] == y else z)
                begin = begin_of(slot, at, y, tgt[w])
                if begin < 0:
                    above += weight * far
                else:
                    below += weight * lo[box + begin + w - lf[tgt[w]]]
                    above += weight * hi[box + begin + w - lf[tgt[w]]]
            sum_down, sum_up = factors(of[s + 1] - of[s] + 2)
            low[i], high[i] = lowered(below, sum_down), raised(above, sum_up)
        for j in range(leaving):
            w = out[of[x] + j]
            weight, at_w = 1.0 if tgt[w] == y else z, box + begin_of(slot, at, y, tgt[w]) + w - lf[tgt[w]]
            t_lo[j], t_hi[j] = lo[at_w], hi[at_w]
            for v in range(number):
                mine[j, v] = weight * pw[pf[w] + v]
        rest, own = on_the_rim(system.near, y, hi, box, far), begin_of(slot, at, x, x)
        for p in range(number):
            new = parent[ef[label] + p]
            if not live[new]:
                continue
            begin_new = af[new]
            mass_lo, mass_hi = low[own + p], high[own + p]
            if not mass_lo > 0.0:
                return np.inf
            for j in range(leaving):
                other[j] = mine[j, p]
            for above_other in range(2):
                largest_quotients(
                    mine, other, above_other == 1, t_lo, t_hi, leaving, number, scratch, quotients[above_other]
                )
            for i in range(nf[x + 1] - nf[x]):
                v = i - own
                if v == p:
                    least, most = 1.0, 1.0
                elif 0 <= v < number:
                    least, most = lowered(1.0 / quotients[0, v], down), raised(quotients[1, v], up)
                else:
                    least, most = lowered(low[i] / mass_hi, down), raised(high[i] / mass_lo, up)
                new_lo[begin_new + i] = min(new_lo[begin_new + i], least)
                new_hi[begin_new + i] = max(new_hi[begin_new + i], most)
            farthest = max(farthest, raised(z * widest * rest / mass_lo, up))
    return max(farthest, LEAST)


@compiled(error_model="numpy", inner=True)
def compare(
    tgt: Array, prefixes: Prefixes, paths: Paths, turns: Array, begin: int, end: int, low: Array, high: Array,
    most: Array,
) -> None:  # fmt: skip
    """Raise `most` to the largest change in one position, in two, and between any two closings that go on alike.

    turns[row[k] + turn[l]] is the most by which ln growth to the last node of prefix l exceeds that to the last of k.
    """
    before, row, turn = prefixes.before, prefixes.row, prefixes.turn
    alike, prefix, first = paths.alike, paths.prefix, paths.first
    top, bottom = -np.inf, np.inf
    for c in range(end - begin):
        if not high[c] - low[c] < np.inf:
            most[0], most[1], most[2] = np.inf, np.inf, np.inf
            return
        top, bottom = max(top, high[c]), min(bottom, low[c])
    most[2] = max(most[2], top - bottom)
    start = begin
    for stop in range(begin + 1, end + 1):
        if stop < end and before[prefix[alike[stop]]] == before[prefix[alike[start]]]:
            continue
        for i in range(start, stop):
            for j in range(start, stop):
                a, b = alike[i], alike[j]
                if tgt[first[a]] == tgt[first[b]]:
                    continue
                change = high[b - begin] - low[a - begin]
                if prefix[a] == prefix[b]:
                    most[0] = max(most[0], change)
                    continue
                if row[prefix[a]] >= 0:
                    change += turns[row[prefix[a]] + turn[prefix[b]]]
                most[1] = max(most[1], change)
        start = stop


@compiled(error_model="numpy", inner=True)
def log_ends(near: Near, ends: Array, own: int, count: int, masses: Masses, low: Array, high: Array) -> None:
    """Bounds on the logarithm of the whole mass where the word ends."""
    nf, ns = near.nf, near.ns
    for c in range(count):
        low[c], high[c] = 0.0, masses.outside[c]
    for i in range(nf[own + 1] - nf[own]):
        weight, below, above = ends[ns[nf[own] + i]], masses.lo[i], masses.hi[i]
        for c in range(count):
            low[c] += weight * below[c]
            high[c] += weight * above[c]
    down, up = factors(nf[own + 1] - nf[own] + 2)
    for c in range(count):
        low[c], high[c] = log(lowered(low[c], down)), log(raised(high[c], up))


@compiled(error_model="numpy", inner=True)
def mixed(masses: Masses, count: int, size: int, mixture: Array, position: Array) -> int:
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
def completed(
    z: float, lf: Array, tgt: Array, near: Near, r: int, s: int, after: Completions, label: int, position: Array,
    t_lo: Array, t_hi: Array,
) -> None:  # fmt: skip
    """Bounds on z^[does not enter s] · completions, for the nodes in the box of r and for all outside of it."""
    nf, ns, _, slot, at = near
    z_lo, z_hi = as_factor(z)
    size, box = nf[r + 1] - nf[r], after.af[label]
    for k in range(size):
        i, v = position[k], ns[nf[r] + k]
        if i < 0:
            continue
        down, up = (1.0, 1.0) if tgt[v] == s else (z_lo, z_hi)
        there = begin_of(slot, at, s, tgt[v]) + v - lf[tgt[v]]
        if there < v - lf[tgt[v]]:
            t_lo[i], t_hi[i] = 0.0, up * after.far
        else:
            t_lo[i], t_hi[i] = down * after.lo[box + there], up * after.hi[box + there]
    if position[size] >= 0:
        t_lo[position[size]], t_hi[position[size]] = 0.0, z_hi * on_the_rim(near, s, after.hi, box, after.far)


@compiled(error_model="numpy")
def closings(
    z: float, steps: int, system: System, ends: Array, prefixes: Prefixes, proportions: Proportions, paths: Paths,
    live: Array, after: Completions, turns: Array, most: Array,
) -> None:  # fmt: skip
    """Closings at one position, where `steps` of y, q, r, s come before the word ends.

    live[0] and live[1] are of the nodes to r and to s. The completions after s are the same for all that are compared,
    in a box that is wide; so each closing is divided by the same mixture of completions.
    """
    lf, of, out, src, tgt, near = system.lf, system.of, system.out, system.src, system.tgt, system.near
    nf = near.nf
    last, begun = prefixes.last, prefixes.begun
    wf, prefix, first = paths.wf, paths.prefix, paths.first
    n, widest = largest(nf) + 1, largest(wf)
    logs, matrices = np.zeros((2, widest)), widest if steps > 1 else 1
    low, high = logs[0], logs[1]
    reached = Reached(np.zeros((len(nf), max(matrices, paths.width))), np.zeros(len(nf) - 1))
    at_x, at_y = masses_of(n, paths.width), masses_of(n, paths.width)
    at_q, at_r, beyond = masses_of(n, matrices), masses_of(n, matrices), masses_of(n, matrices)
    scratch, rows, position = np.zeros((6, matrices)), np.zeros((3, n)), np.zeros(n, np.int64)
    mixture, t_lo, t_hi = rows[0], rows[1], rows[2]
    for q in range(len(wf) - 1):
        begin, end, i = wf[q], wf[q + 1], wf[q]
        while i < end:
            y, at = tgt[first[i]], i - begin
            width, number = 0, 0  # of paths at y, and of those at x that are not there yet
            while i < end and tgt[first[i]] == y:
                k, e = prefix[i], first[i]
                x = src[e]
                if last[k] < 0:  # the word begins here, and what is known after its first symbol is in another box
                    take(at_y, width, proportions, begun[e], nf[y + 1] - nf[y], 0)
                    width += 1
                else:
                    take(at_x, number, proportions, k, nf[x + 1] - nf[x], last[k] - lf[x] + 1)
                    number += 1
                i += 1
                if number > 0 and (i == end or first[i] != e):
                    step(z, system, reached, x, number, at_x, y, at_y, width)
                    width, number = width + number, 0
            if steps == 1:
                log_ends(near, ends, y, width, at_y, low[at:], high[at:])
            else:
                step(z, system, reached, y, width, at_y, q, at_q, at)
        if begin == end:
            continue
        count = end - begin
        if steps < 3:
            if steps == 2:
                log_ends(near, ends, q, count, at_q, low, high)
            compare(tgt, prefixes, paths, turns, begin, end, low, high, most)
            continue
        for j in range(of[q], of[q + 1]):
            r = tgt[out[j]]
            if not live[0, out[j]]:
                continue
            step(z, system, reached, q, count, at_q, r, at_r, 0)
            if steps == 3:
                log_ends(near, ends, r, count, at_r, low, high)
                compare(tgt, prefixes, paths, turns, begin, end, low, high, most)
                continue
            step(1.0, system, reached, r, count, at_r, r, beyond, 0)
            kept = mixed(beyond, count, nf[r + 1] - nf[r], mixture, position)
            for h in range(of[r], of[r + 1]):
                if not live[1, out[h]]:
                    continue
                for label in range(after.of_node[out[h]], after.of_node[out[h] + 1]):
                    if not after.live[label]:
                        continue
                    completed(z, lf, tgt, near, r, tgt[out[h]], after, label, position, t_lo, t_hi)
                    for up in range(2):
                        masses = beyond.hi if up else beyond.lo
                        largest_quotients(masses, mixture, up == 1, t_lo, t_hi, kept, count, scratch, logs[up])
                    for c in range(count):
                        high[c], low[c] = log(high[c]), -log(low[c])
                    compare(tgt, prefixes, paths, turns, begin, end, low, high, most)
