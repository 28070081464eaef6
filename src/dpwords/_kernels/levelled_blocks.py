"""How much the normaliser of levelled words of states can change with the word (docs/theory.md, section 9).

Nodes, prefixes, boxes and what is near are given as in `levelled_blocks_boxes`. A *closing* is the whole mass of a word
relative to that of its own state x, where the own run goes over a prefix to x and on to y, q, r, s. A word changes in
one place between ways with the same prefix, in two between ways whose prefixes have the same first node. Bounds are
rounded outward; logarithms of them and sums of these are not, which the margin of a certificate covers.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.levelled_blocks_boxes import (
    Degrees,
    Near,
    Nodes,
    Prefixes,
    Reached,
    Shares,
    advance,
    largest_quotient,
    leave,
    on_the_rim,
)
from dpwords._kernels.rounding import as_factor, factors, lowered, raised

Array = Any


class Layer(NamedTuple):
    """The system, and what is known of the words after so many symbols."""

    nodes: Nodes
    near: Near
    degrees: Degrees
    prefixes: Prefixes
    known: Array  # which prefixes words have
    shares: Shares


class LastWays(NamedTuple):
    """The ways from a prefix to y at the end of a word, ordered by the first node of the prefix."""

    prefix: Array  # its number
    first: Array  # the node from x to y


class Ways(NamedTuple):
    """The ways from a prefix over y to q are wf[q], …, wf[q+1] − 1, ordered by the first node of the prefix."""

    wf: Array
    prefix: Array  # its number
    first: Array  # the node from x to y
    second: Array  # the node from y to q


class Completions(NamedTuple):
    """Boxes of completions relative to those of each own node, from af[node] on, and a bound for all other nodes."""

    af: Array
    lo: Array
    hi: Array
    far: float


class TurnGrowth(NamedTuple):
    """values[hf[v] + a·(nodes that follow v) + b]: the most by which ln growth to the b-th exceeds that to the a-th."""

    hf: Array
    turn: Array  # turn[w]: which of the nodes that follow the node before it w is
    values: Array


@compiled(error_model="numpy")
def _discount(z: float, nodes: Nodes, near: Near, own: int, lo: Array, hi: Array) -> None:
    """Multiply by z what does not enter the own state."""
    lf = nodes.lf
    z_lo, z_hi = as_factor(z)
    at, size = near.at, near.size
    begin, end = at[own, own], at[own, own] + lf[own + 1] - lf[own]
    for i in range(begin):
        lo[i], hi[i] = lowered(lo[i], z_lo), raised(hi[i], z_hi)
    for i in range(end, size[own]):
        lo[i], hi[i] = lowered(lo[i], z_lo), raised(hi[i], z_hi)


@compiled(error_model="numpy")
def _ends(nodes: Nodes, near: Near, own: int, lo: Array, hi: Array, outside: float) -> tuple[float, float]:
    """Bounds on the logarithm of the whole mass where the word ends."""
    lf, fw = nodes.lf, nodes.fw
    nf, ns, at = near.nf, near.ns, near.at
    low, high = 0.0, outside
    for k in range(nf[own], nf[own + 1]):
        s = ns[k]
        for m in range(lf[s], lf[s + 1]):
            low += fw[m] * lo[at[own, s] + m - lf[s]]
            high += fw[m] * hi[at[own, s] + m - lf[s]]
    down, up = factors(near.size[own] + 2)
    return math.log(lowered(low, down)), math.log(raised(high, up))


@compiled(error_model="numpy")
def _step(
    z: float, layer: Layer, reached: Reached, own: int, lo: Array, hi: Array, single: float, outside: float,
    pivot: int, new: int, new_lo: Array, new_hi: Array,
) -> tuple[float, float]:  # fmt: skip
    """Masses after a step to the own state `new`; and what is outside its box."""
    nodes, near = layer.nodes, layer.near
    advance(nodes, near, own, lo, hi, single, pivot, new, new_lo, new_hi)
    one, rest = leave(nodes, near, layer.degrees, reached, own, hi, single, outside, new)
    _discount(z, nodes, near, new, new_lo, new_hi)
    _, z_hi = as_factor(z)
    return raised(one, z_hi), raised(rest, z_hi)


@compiled(error_model="numpy")
def _first_step(
    z: float, layer: Layer, reached: Reached, k: int, x: int, y: int, new_lo: Array, new_hi: Array
) -> tuple[float, float]:  # fmt: skip
    """Masses after a step from prefix k, which ends in x, to y, relative to that of x."""
    nodes, near = layer.nodes, layer.near
    lf, of, out, tgt = nodes.lf, nodes.of, nodes.out, nodes.tgt
    at, size = near.at, near.size
    last, bf = layer.prefixes.last, layer.prefixes.bf
    lo, hi, single, outside = layer.shares
    if last[k] >= 0:
        own_lo, own_hi, pivot = lo[bf[k] : bf[k + 1]], hi[bf[k] : bf[k + 1]], last[k] - lf[x]
        return _step(z, layer, reached, x, own_lo, own_hi, single, outside[k], pivot, y, new_lo, new_hi)
    new_lo[: size[y]] = 0.0
    new_hi[: size[y]] = 0.0
    total = 0.0
    for j in range(of[x], of[x + 1]):
        m = out[j]
        begin = at[y, tgt[m]]
        if begin < 0:
            total += 1.0
        else:
            new_lo[begin + m - lf[tgt[m]]] = 1.0
            new_hi[begin + m - lf[tgt[m]]] = 1.0
    _discount(z, nodes, near, y, new_lo, new_hi)
    _, z_hi = as_factor(z)
    return z_hi * min(total, 1.0), z_hi * total


@compiled(error_model="numpy")
def _compare(
    layer: Layer, opening: TurnGrowth, count: int, prefix: Array, first: Array, low: Array, high: Array, most: Array
) -> None:  # fmt: skip
    """Raise `most` to the largest change in one place, in two, and between any two closings that go on alike."""
    of, tgt = layer.nodes.of, layer.nodes.tgt
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
                        change += values[hf[v] + old * (of[tgt[v] + 1] - of[tgt[v]]) + new]
                    most[1] = max(most[1], change)
        begin = end


@compiled(error_model="numpy")
def last_closings(
    z: float, layer: Layer, live: Array, ways: LastWays, opening: TurnGrowth, most: Array
) -> None:  # fmt: skip
    """Closings at the last place of a word, all of them compared; live[e] is of nodes one step after the prefix."""
    nodes, near, known = layer.nodes, layer.near, layer.known
    src, tgt = nodes.src, nodes.tgt
    size = near.size
    prefix, first = ways
    lo, hi = np.empty(size.max()), np.empty(size.max())
    reached = Reached(np.zeros(len(size)), np.zeros(len(size)))
    low, high = np.empty(len(prefix)), np.empty(len(prefix))
    some, ahead = np.empty(len(prefix), np.int64), np.empty(len(prefix), np.int64)
    count = 0
    for i in range(len(prefix)):
        k, e = prefix[i], first[i]
        if not known[k] or not live[e]:
            continue
        _, rest = _first_step(z, layer, reached, k, src[e], tgt[e], lo, hi)
        low[count], high[count] = _ends(nodes, near, tgt[e], lo, hi, rest)
        some[count], ahead[count] = k, e
        count += 1
    _compare(layer, opening, count, some, ahead, low, high, most)


@compiled(error_model="numpy")
def _mixed(lo: Array, hi: Array, count: int, size: int, mixture: Array, place: Array) -> int:
    """Between the largest and the least mass of all rows. Columns without any are dropped, `place` tells new places."""
    kept = 0
    for i in range(size):
        most, least = 0.0, np.inf
        for c in range(count):
            most, least = max(most, hi[c, i]), min(least, lo[c, i])
        place[i] = -1
        if most > 0.0:
            place[i], mixture[kept] = kept, 0.5 * (most + least)
            for c in range(count):
                lo[c, kept], hi[c, kept] = lo[c, i], hi[c, i]
            kept += 1
    return kept


@compiled(error_model="numpy")
def closings(
    z: float, steps: int, layer: Layer, live: Array, ways: Ways, after: Completions, opening: TurnGrowth, most: Array
) -> None:  # fmt: skip
    """Closings at an earlier place, where `steps` of y, q, r, s come before the word ends.

    live[i] is of the nodes i steps after the prefix. The completions after s are the same for all that are compared,
    in a box that is wide; so each closing is divided by the same mixture of completions.
    """
    nodes, near, degrees, known = layer.nodes, layer.near, layer.degrees, layer.known
    lf, of, out, src, tgt = nodes.lf, nodes.of, nodes.out, nodes.src, nodes.tgt
    nf, ns, at, size = near.nf, near.ns, near.at, near.size
    wf, prefix, first, second = ways
    af, after_lo, after_hi, far = after
    z_lo, z_hi = as_factor(z)
    reached = Reached(np.zeros(len(size)), np.zeros(len(size)))
    n, widest = size.max(), 0
    for q in range(len(size)):
        widest = max(widest, wf[q + 1] - wf[q])
    one_lo, one_hi, third_lo, third_hi = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    two_lo, two_hi, two_one, two_rest = np.empty((widest, n)), np.empty((widest, n)), np.empty(widest), np.empty(widest)
    mass_lo, mass_hi = np.zeros((widest, n + 1)), np.zeros((widest, n + 1))
    mixture, t_lo, t_hi = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    low, high = np.empty(widest), np.empty(widest)
    some, ahead, place = np.empty(widest, np.int64), np.empty(widest, np.int64), np.empty(n + 1, np.int64)
    for q in range(len(size)):
        count = 0
        for i in range(wf[q], wf[q + 1]):
            k, e = prefix[i], first[i]
            if not (known[k] and live[0, e] and live[1, second[i]]):
                continue
            y = tgt[e]
            one, rest = _first_step(z, layer, reached, k, src[e], y, one_lo, one_hi)
            two_one[count], two_rest[count] = _step(
                z, layer, reached, y, one_lo, one_hi, one, rest, -1, q, two_lo[count], two_hi[count]
            )  # fmt: skip
            if steps == 2:
                low[count], high[count] = _ends(nodes, near, q, two_lo[count], two_hi[count], two_rest[count])
            some[count], ahead[count] = k, e
            count += 1
        if count == 0:
            continue
        if steps == 2:
            _compare(layer, opening, count, some, ahead, low, high, most)
            continue
        for j in range(of[q], of[q + 1]):
            if not live[2, out[j]]:
                continue
            r = tgt[out[j]]
            for c in range(count):
                one, rest = _step(
                    z, layer, reached, q, two_lo[c], two_hi[c], two_one[c], two_rest[c], -1, r, third_lo, third_hi
                )  # fmt: skip
                if steps == 3:
                    low[c], high[c] = _ends(nodes, near, r, third_lo, third_hi, rest)
                    continue
                advance(nodes, near, r, third_lo, third_hi, one, -1, r, mass_lo[c], mass_hi[c])
                _, rest = leave(nodes, near, degrees, reached, r, third_hi, one, rest, r)
                mass_lo[c, size[r]], mass_hi[c, size[r]] = 0.0, rest
            if steps == 3:
                _compare(layer, opening, count, some, ahead, low, high, most)
                continue
            kept = _mixed(mass_lo, mass_hi, count, size[r] + 1, mixture, place)
            for h in range(of[r], of[r + 1]):
                if not live[3, out[h]]:
                    continue
                s, box = tgt[out[h]], af[out[h]]
                for k in range(nf[r], nf[r + 1]):
                    t = ns[k]
                    down, up = (1.0, 1.0) if t == s else (z_lo, z_hi)
                    for m in range(lf[t + 1] - lf[t]):
                        i = place[at[r, t] + m]
                        if i < 0:
                            continue
                        if at[s, t] < 0:
                            t_lo[i], t_hi[i] = 0.0, up * far
                        else:
                            t_lo[i] = down * after_lo[box + at[s, t] + m]
                            t_hi[i] = up * after_hi[box + at[s, t] + m]
                if place[size[r]] >= 0:
                    rest = on_the_rim(nodes, near, s, after_hi[box : box + size[s]], far)
                    t_lo[place[size[r]]], t_hi[place[size[r]]] = 0.0, z_hi * rest
                for c in range(count):
                    high[c] = math.log(largest_quotient(mass_hi[c], mixture, t_lo, t_hi, kept))
                    low[c] = -math.log(largest_quotient(mixture, mass_lo[c], t_lo, t_hi, kept))
                _compare(layer, opening, count, some, ahead, low, high, most)


@compiled(error_model="numpy")
def openings(
    layer: Layer, live: Array, grown_lo: Array, grown_hi: Array, opening: TurnGrowth
) -> tuple[float, float]:  # fmt: skip
    """The largest difference of logarithms of growth in one step: from the same prefix, and from any two.

    Those from the same last node v are written to `opening.values`.
    """
    of, out, tgt = layer.nodes.of, layer.nodes.out, layer.nodes.tgt
    last, tf, known = layer.prefixes.last, layer.prefixes.tf, layer.known
    hf, values = opening.hf, opening.values
    values[:] = 0.0
    same, top, bottom = 0.0, -np.inf, np.inf
    for k in range(len(last) - 1):
        if not known[k]:
            continue
        v = last[k]
        x = tgt[v]
        number = of[x + 1] - of[x]
        for a in range(number):
            if not live[out[of[x] + a]]:
                continue
            lowest = math.log(grown_lo[tf[k] + a])
            top, bottom = max(top, math.log(grown_hi[tf[k] + a])), min(bottom, lowest)
            for b in range(number):
                if a != b and live[out[of[x] + b]]:
                    change = math.log(grown_hi[tf[k] + b]) - lowest
                    values[hf[v] + a * number + b] = max(values[hf[v] + a * number + b], change)
                    same = max(same, change)
    return same, top - bottom
