"""How much the normalising constant of reweighted words of states can change with the word (docs/theory.md, section 9).

Nodes, prefixes, boxes and what is near are given as in `reweighted_blocks_boxes`. A *closing* is the whole mass of a
word relative to that of its own state x, where the own run goes over a prefix to x and on to y, q, r, s. A word changes
in one position between paths with the same prefix, in two between paths whose prefixes agree but for the last node.
Bounds are rounded outward; logarithms of them and sums of these are not, which the margin of a certificate covers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.elementary import log
from dpwords._kernels.reweighted_blocks_boxes import (
    Degrees,
    Labels,
    Near,
    Nodes,
    Prefixes,
    Proportions,
    Reached,
    advance,
    begin_of,
    largest,
    leave,
    on_the_rim,
)
from dpwords._kernels.reweighted_blocks_paths import (
    PathMasses,
    ReachedByPaths,
    advance_with,
    discount_with,
    largest_quotients,
    leave_with,
    log_ends,
    mixed,
)
from dpwords._kernels.rounding import as_factor, lowered, raised

Array = Any


class Layer(NamedTuple):
    """The system, and what is known of the words after so many symbols."""

    nodes: Nodes
    near: Near
    degrees: Degrees
    prefixes: Prefixes
    known: Array  # which prefixes words have
    proportions: Proportions


class LastPaths(NamedTuple):
    """The paths from a prefix to y at the end of a word, ordered by what is before the last node of the prefix."""

    prefix: Array  # its number
    first: Array  # the node from x to y


class Paths(NamedTuple):
    """The paths from a prefix over y to q are wf[q], …, wf[q+1] − 1, ordered as the last paths."""

    wf: Array
    prefix: Array  # its number
    first: Array  # the node from x to y
    second: Array  # the node from y to q


class Completions(NamedTuple):
    """Boxes of completions relative to those of the own node, and a bound for all other nodes."""

    labels: Labels
    live: Array  # which labels words have
    lo: Array
    hi: Array
    far: float


class TurnGrowth(NamedTuple):
    """The most by which ln growth to the b-th node exceeds that to the a-th, of those that follow the same nodes.

    It is values[hf[v] + a·(number of nodes that follow) + b], where v is the number of the nodes that they follow, as
    in `Prefixes.opens` and `Prefixes.before`.
    """

    hf: Array
    turn: Array  # turn[w]: which of the nodes that follow the node before it w is
    values: Array


@compiled(error_model="numpy", inner=True)
def _discount(z: float, nodes: Nodes, near: Near, own: int, lo: Array, hi: Array) -> None:
    """Multiply by z what does not enter the own state."""
    lf = nodes.lf
    z_lo, z_hi = as_factor(z)
    begin = begin_of(near, own, own)
    for i in range(begin):
        lo[i], hi[i] = lowered(lo[i], z_lo), raised(hi[i], z_hi)
    for i in range(begin + lf[own + 1] - lf[own], near.size[own]):
        lo[i], hi[i] = lowered(lo[i], z_lo), raised(hi[i], z_hi)


@compiled(error_model="numpy", inner=True)
def _step(
    z: float, layer: Layer, reached: Reached, own: int, lo: Array, hi: Array, single: float, outside: float,
    pivot: int, new: int, new_lo: Array, new_hi: Array,
) -> tuple[float, float]:  # fmt: skip
    """PathMasses after a step to the own state `new`; and what is outside its box."""
    nodes, near = layer.nodes, layer.near
    advance(nodes, near, own, lo, hi, single, pivot, new, new_lo, new_hi)
    one, rest = leave(nodes, near, layer.degrees, reached, own, hi, single, outside, new)
    _discount(z, nodes, near, new, new_lo, new_hi)
    _, z_hi = as_factor(z)
    return raised(one, z_hi), raised(rest, z_hi)


@compiled(error_model="numpy", inner=True, inline="always")
def _first_step(
    z: float, layer: Layer, reached: Reached, k: int, x: int, y: int, new_lo: Array, new_hi: Array
) -> tuple[float, float]:  # fmt: skip
    """PathMasses after a step from prefix k, which ends in x, to y, relative to that of x."""
    nodes, near = layer.nodes, layer.near
    lf, of, out, tgt = nodes.lf, nodes.of, nodes.out, nodes.tgt
    size = near.size
    last, bf = layer.prefixes.last, layer.prefixes.bf
    lo, hi, single, outside = layer.proportions
    if last[k] >= 0:
        own_lo, own_hi, pivot = lo[bf[k] : bf[k + 1]], hi[bf[k] : bf[k + 1]], last[k] - lf[x]
        return _step(z, layer, reached, x, own_lo, own_hi, single, outside[k], pivot, y, new_lo, new_hi)
    new_lo[: size[y]] = 0.0
    new_hi[: size[y]] = 0.0
    total = 0.0
    for j in range(of[x], of[x + 1]):
        m = out[j]
        begin = begin_of(near, y, tgt[m])
        if begin < 0:
            total += 1.0
        else:
            new_lo[begin + m - lf[tgt[m]]] = 1.0
            new_hi[begin + m - lf[tgt[m]]] = 1.0
    _discount(z, nodes, near, y, new_lo, new_hi)
    _, z_hi = as_factor(z)
    return z_hi * min(total, 1.0), z_hi * total


@compiled(error_model="numpy", inner=True)
def _compare(
    layer: Layer, opening: TurnGrowth, count: int, prefix: Array, first: Array, low: Array, high: Array, most: Array
) -> None:  # fmt: skip
    """Raise `most` to the largest change in one position, in two, and between any two closings that go on alike."""
    of, src, tgt = layer.nodes.of, layer.nodes.src, layer.nodes.tgt
    last, before = layer.prefixes.last, layer.prefixes.before
    hf, turn, values = opening
    top, bottom = -np.inf, np.inf
    for a in range(count):
        if not high[a] - low[a] < np.inf:
            most[:] = np.inf
            return
        top, bottom = max(top, high[a]), min(bottom, low[a])
    most[2] = max(most[2], top - bottom)
    begin = 0
    for end in range(1, count + 1):
        if end < count and before[prefix[end]] == before[prefix[begin]]:
            continue
        for a in range(begin, end):
            for b in range(begin, end):
                if tgt[first[a]] == tgt[first[b]]:
                    continue
                change = high[b] - low[a]
                if prefix[a] == prefix[b]:
                    most[0] = max(most[0], change)
                elif tgt[last[prefix[a]]] != tgt[last[prefix[b]]]:
                    v = before[prefix[a]]
                    if v >= 0:
                        old, new = turn[last[prefix[a]]], turn[last[prefix[b]]]
                        common = src[last[prefix[a]]]
                        change += values[hf[v] + old * (of[common + 1] - of[common]) + new]
                    most[1] = max(most[1], change)
        begin = end


@compiled(error_model="numpy", inner=True)
def _scratch(paths: int, rows: int) -> PathMasses:
    return PathMasses(np.zeros((rows, paths)), np.zeros((rows, paths)), np.zeros(paths), np.zeros(paths))


@compiled(error_model="numpy")
def last_closings(
    z: float, layer: Layer, live: Array, paths: LastPaths, opening: TurnGrowth, most: Array
) -> None:  # fmt: skip
    """Closings at the last position of a word, all of them compared; live[e] is of nodes one step after the prefix."""
    nodes, near, known = layer.nodes, layer.near, layer.known
    src, tgt = nodes.src, nodes.tgt
    size = near.size
    prefix, first = paths
    alone = _scratch(1, largest(size))
    lo, hi = alone.lo.reshape(-1), alone.hi.reshape(-1)
    reached = Reached(np.zeros(len(size)), np.zeros(len(size)))
    low, high = np.empty(len(prefix)), np.empty(len(prefix))
    some, ahead = np.empty(len(prefix), np.int64), np.empty(len(prefix), np.int64)
    count = 0
    for i in range(len(prefix)):
        k, e = prefix[i], first[i]
        if not known[k] or not live[e]:
            continue
        _, alone.outside[0] = _first_step(z, layer, reached, k, src[e], tgt[e], lo, hi)
        log_ends(nodes, near, tgt[e], 1, alone, low[count:], high[count:])
        some[count], ahead[count] = k, e
        count += 1
    _compare(layer, opening, count, some, ahead, low, high, most)


@compiled(error_model="numpy", inner=True, inline="always")
def _paths_to(
    z: float, layer: Layer, live: Array, paths: Paths, q: int, masses: PathMasses, some: Array, ahead: Array
) -> int:  # fmt: skip
    """The masses of all paths from a known prefix over y to q, their prefixes and nodes from x to y; and how many."""
    nodes, size = layer.nodes, layer.near.size
    wf, prefix, first, second = paths
    reached = Reached(np.zeros(len(size)), np.zeros(len(size)))
    one_lo, one_hi, two_lo, two_hi = (
        np.empty(largest(size)),
        np.empty(largest(size)),
        np.empty(size[q]),
        np.empty(size[q]),
    )
    count = 0
    for i in range(wf[q], wf[q + 1]):
        k, e = prefix[i], first[i]
        if not (layer.known[k] and live[0, e] and live[1, second[i]]):
            continue
        y = nodes.tgt[e]
        one, rest = _first_step(z, layer, reached, k, nodes.src[e], y, one_lo, one_hi)
        masses.single[count], masses.outside[count] = _step(
            z, layer, reached, y, one_lo, one_hi, one, rest, -1, q, two_lo, two_hi
        )
        for m in range(size[q]):
            masses.lo[m, count], masses.hi[m, count] = two_lo[m], two_hi[m]
        some[count], ahead[count] = k, e
        count += 1
    return count


@compiled(error_model="numpy")
def closings(
    z: float, steps: int, layer: Layer, live: Array, paths: Paths, after: Completions, opening: TurnGrowth, most: Array
) -> None:  # fmt: skip
    """Closings at an earlier position, where `steps` of y, q, r, s come before the word ends.

    live[i] is of the nodes i steps after the prefix. The completions after s are the same for all that are compared,
    in a box that is wide; so each closing is divided by the same mixture of completions.
    """
    nodes, near, degrees = layer.nodes, layer.near, layer.degrees
    of, out, tgt = nodes.of, nodes.out, nodes.tgt
    size = near.size
    wf = paths.wf
    n, widest = largest(size), 0
    for q in range(len(size)):
        widest = max(widest, wf[q + 1] - wf[q])
    by_paths = ReachedByPaths(np.zeros((len(size), widest)), np.zeros(len(size)))
    at_q, at_r, beyond = _scratch(widest, n), _scratch(widest, n), _scratch(widest, n + 1)
    logs, scratch = np.empty((2, widest)), np.empty((6, widest))
    low, high = logs[0], logs[1]
    mixture, t_lo, t_hi, position = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1), np.empty(n + 1, np.int64)
    some, ahead = np.empty(widest, np.int64), np.empty(widest, np.int64)
    for q in range(len(size)):
        count = _paths_to(z, layer, live, paths, q, at_q, some, ahead)
        if count == 0:
            continue
        if steps == 2:
            log_ends(nodes, near, q, count, at_q, low, high)
            _compare(layer, opening, count, some, ahead, low, high, most)
            continue
        for j in range(of[q], of[q + 1]):
            if not live[2, out[j]]:
                continue
            r = tgt[out[j]]
            advance_with(nodes, near, q, count, at_q, r, at_r)
            leave_with(nodes, near, degrees, by_paths, q, count, at_q, r, at_r)
            discount_with(z, nodes, near, r, count, at_r)
            if steps == 3:
                log_ends(nodes, near, r, count, at_r, low, high)
                _compare(layer, opening, count, some, ahead, low, high, most)
                continue
            advance_with(nodes, near, r, count, at_r, r, beyond)
            leave_with(nodes, near, degrees, by_paths, r, count, at_r, r, beyond)
            kept = mixed(beyond, count, size[r], mixture, position)
            for h in range(of[r], of[r + 1]):
                if not live[3, out[h]]:
                    continue
                for label in range(after.labels.of_node[out[h]], after.labels.of_node[out[h] + 1]):
                    if not after.live[label]:
                        continue
                    _completed(z, nodes, near, r, tgt[out[h]], after, label, position, t_lo, t_hi)
                    for up in range(2):
                        masses = beyond.hi if up else beyond.lo
                        largest_quotients(masses, mixture, up, t_lo, t_hi, kept, count, scratch, logs[up])
                    for c in range(count):
                        high[c], low[c] = log(high[c]), -log(low[c])
                    _compare(layer, opening, count, some, ahead, low, high, most)


@compiled(error_model="numpy", inner=True, inline="always")
def _completed(
    z: float, nodes: Nodes, near: Near, r: int, s: int, after: Completions, label: int, position: Array, t_lo: Array,
    t_hi: Array,
) -> None:  # fmt: skip
    """Bounds on z^[does not enter s] · completions, for the nodes in the box of r and for all outside of it."""
    lf = nodes.lf
    nf, ns, size = near.nf, near.ns, near.size
    z_lo, z_hi = as_factor(z)
    box = after.labels.af[label]
    for k in range(nf[r], nf[r + 1]):
        t = ns[k]
        down, up = (1.0, 1.0) if t == s else (z_lo, z_hi)
        here, there = begin_of(near, r, t), begin_of(near, s, t)
        for m in range(lf[t + 1] - lf[t]):
            i = position[here + m]
            if i < 0:
                continue
            if there < 0:
                t_lo[i], t_hi[i] = 0.0, up * after.far
            else:
                t_lo[i], t_hi[i] = down * after.lo[box + there + m], up * after.hi[box + there + m]
    if position[size[r]] >= 0:
        rest = on_the_rim(nodes, near, s, after.hi[box : box + size[s]], after.far)
        t_lo[position[size[r]]], t_hi[position[size[r]]] = 0.0, z_hi * rest


@compiled(error_model="numpy")
def openings(
    layer: Layer, live: Array, grown_lo: Array, grown_hi: Array, opening: TurnGrowth
) -> tuple[float, float]:  # fmt: skip
    """The largest difference of logarithms of growth in one step: from the same prefix, and from any two.

    live[k] is of prefixes after the step. Differences after the same nodes are written to `opening.values`.
    """
    of, tgt, known = layer.nodes.of, layer.nodes.tgt, layer.known
    last, tf, child, opens = layer.prefixes.last, layer.prefixes.tf, layer.prefixes.child, layer.prefixes.opens
    hf, values = opening.hf, opening.values
    values[:] = 0.0
    same, top, bottom = 0.0, -np.inf, np.inf
    for k in range(len(last) - 1):
        if not known[k]:
            continue
        x = tgt[last[k]]
        number, begin = of[x + 1] - of[x], hf[opens[k]]
        for a in range(number):
            if not live[child[tf[k] + a]]:
                continue
            lowest = log(grown_lo[tf[k] + a])
            top, bottom = max(top, log(grown_hi[tf[k] + a])), min(bottom, lowest)
            for b in range(number):
                if a != b and live[child[tf[k] + b]]:
                    change = log(grown_hi[tf[k] + b]) - lowest
                    values[begin + a * number + b] = max(values[begin + a * number + b], change)
                    same = max(same, change)
    return same, max(top - bottom, 0.0)  # no known prefix, no difference
