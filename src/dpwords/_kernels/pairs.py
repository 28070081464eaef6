"""Sweeps over pairs of runs that part once, from either end of a word (docs/theory.md, section 9).

A *box* holds bounds on the completions of words, a number for each state. Boxes of single words have bounds of one
vector; boxes of pairs have a lower bound for the first word of the pair and an upper bound for the second. Every bound
that is written is rounded outward (`_kernels/rounding.py`). Where sums are compared, one side is widened likewise.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.elementary import log
from dpwords._kernels.pairs_merging import merged
from dpwords._kernels.rounding import factors, lowered, raised

Array = Any
FAR = 10**6  # more than any distance
MOST = 1e100  # so that sums of products of two lower bounds are finite


class LayersOfEdges(NamedTuple):
    """The edges between the states of each layer and of the next; those of state s of layer i begin at begin[i, s]."""

    source: Array
    symbol: Array
    target: Array
    weight: Array
    begin: Array
    size: Array  # the number of states of each layer
    ending: Array  # the weight of words that end in each state of the last layer, 0 where none does
    branching: int  # the largest number of edges of a state in a layer


class Kept(NamedTuple):
    """The boxes that a sweep has kept; those of one kind are from `[…, 0]` on, `[…, 1]` of them."""

    lo: Array
    hi: Array
    link: Array  # of one member: the edges of its first and second word, and the box that they lead to
    single: Array  # single[i, p]: words whose completions begin in p
    pair: Array  # pair[i, p, q]: pairs of words that have parted and not met; p = q: that have done both


class Above(NamedTuple):
    """Pairs above the limit: ratio; layer where they part, two edges, box of the pair, box of the other sweep."""

    ratio: Array
    place: Array


@compiled(error_model="numpy", inner=True)
def image(layers: LayersOfEdges, i: int, own: int, z: float, vector: Array, into: Array) -> None:
    """Completions one symbol longer, whose first symbol is `own`."""
    size = layers.size[i]
    for s in range(size):
        into[s] = 0.0
    for g in range(layers.begin[i, size]):
        term = layers.weight[i, g] * vector[layers.target[i, g]]
        into[layers.source[i, g]] += term if layers.symbol[i, g] == own else term * z


@compiled(error_model="numpy", inner=True)
def scaled_outward(lo: Array, hi: Array, factor: float, size: int, guide: Array, more: Array, roundings: int) -> None:
    """Round a box outward after multiplying `hi` by a factor and both bounds by one number, so that all compare."""
    low, high = 0.0, 0.0
    for s in range(size):
        low, high = low + guide[s] * lo[s], high + more[s] * hi[s]
    scale = 1.0 / math.sqrt(low * high * factor) if low * high * factor > 1e-60 else 1.0
    scale = scale if scale > 1e-30 else 1.0
    down, up = factors(roundings)
    for s in range(size):
        lo[s] = min(lowered(lo[s] * scale, down), MOST)  # a lower bound that is lowered stays one
        hi[s] = raised(hi[s] * (factor * scale), up)


@compiled(error_model="numpy", inner=True)
def exceeds(lo: Array, hi: Array, first: Array, second: Array, size: int) -> bool:
    """Whether a·second > a·first for some a between lo and hi, or may be, as far as rounding is concerned."""
    above, below = 0.0, 0.0
    for s in range(size):
        more = second[s] - first[s]
        if more > 0.0:
            above += hi[s] * more
        else:
            below -= lo[s] * more
    down, up = factors(size + 2)
    return not above * up <= below * down


@compiled(error_model="numpy", inner=True)
def ratio(lo: Array, hi: Array, first: Array, second: Array, size: int) -> float:
    """About the largest a·second / a·first."""
    above, below = 0.0, 0.0
    for s in range(size):
        a = hi[s] if second[s] > first[s] else lo[s]
        above, below = above + a * second[s], below + a * first[s]
    return above / below if below > 0.0 else math.inf


@compiled(error_model="numpy", inner=True)
def both_exceed(first: Array, second: Array, kept: Kept, u: int, size: int) -> bool:
    """Whether two pairs, one of completions and one of beginnings, may have a ratio above 1."""
    above, below = 0.0, 0.0
    for s in range(size):
        above, below = above + kept.hi[u, s] * second[s], below + kept.lo[u, s] * first[s]
    down, up = factors(size + 2)
    return not above * up <= below * down


@compiled(inner=True)
def larger(rows: Array, least: int) -> Array:
    """The same array, or a copy with at least so many rows."""
    if least <= len(rows):
        return rows
    copy = np.zeros((max(least, 2 * len(rows)), rows.shape[1]), rows.dtype)
    copy[: len(rows)] = rows
    return copy


@compiled(error_model="numpy")
def sweep(
    layers: LayersOfEdges,
    z: float,
    fall: float,
    means: Array,
    allowed: Array,
    other: Kept,
    most: int,
    work: int,
    boxes: int,
) -> tuple[Kept, Above, int]:
    """The boxes of completions, from the last layer to the first; of pairs, what is above the limit only.

    `other` is what a sweep in the other direction has kept. A box is kept if, with some box of the other sweep, the
    second word of a pair can have a sum above that of the first, each symbol that differs counted as `fall` times the
    sum. Without boxes of another sweep all are kept. Boxes of a kind are merged until there are `most`. Returns what is
    left of the work that is allowed; it is below 0, and the sweep not finished, if more work or more boxes are needed.
    """
    n, width, have = len(layers.size) - 1, len(layers.ending), len(other.lo) > 0
    lo, hi, link = np.zeros((1024, width)), np.zeros((1024, width)), np.zeros((1024, 3), np.int64)
    single, pair = np.zeros((n + 1, width, 2), np.int64), np.zeros((n + 1, width, width, 2), np.int64)
    ratios, places = np.zeros((n + width) * width), np.zeros(((n + width) * width, 5), np.int64)
    used, number = 0, 0
    for p in range(layers.size[n]):
        for q in range(-1, layers.size[n]):  # −1 stands for single words
            if layers.ending[p] > 0.0 and p != q and (q < 0 or (allowed[n, p, q] and layers.ending[q] > 0.0)):
                lo, hi, link = larger(lo, used + 1), larger(hi, used + 1), larger(link, used + 1)
                lo[used], hi[used] = layers.ending, layers.ending
                if q < 0:
                    single[n, p, 0], single[n, p, 1] = used, 1
                else:
                    pair[n, p, q, 0], pair[n, p, q, 1] = used, 1
                used += 1
    room = 4 * most + 64
    low, high, links, widths = np.zeros((room, width)), np.zeros((room, width)), np.zeros((room, 3), np.int64), 0
    guide, more = np.zeros(width), np.zeros(width)
    for i in range(n - 1, -1, -1):
        size, edges, m, widths = layers.size[i], layers.begin[i, layers.size[i]], n - i, layers.branching + 6
        for p in range(size):
            for q in range(-1, size):
                if q >= 0 and not allowed[i, p, q]:
                    continue
                own = q if q >= 0 else p
                begin = other.pair[m, p, own, 0] if have else 0
                end = begin + (other.pair[m, p, own, 1] if have else 0)
                if q == p:
                    begin = other.single[m, p, 0] if have else 0
                    end = begin + (other.single[m, p, 1] if have else 0)
                if have and begin == end:
                    continue
                if have:
                    for s in range(size):
                        guide[s], more[s] = 1e-9, 1e-9
                    for u in range(begin, end):
                        for s in range(size):
                            guide[s] += other.lo[u, s]
                            more[s] += other.hi[u, s]
                    if p == own:
                        for s in range(size):
                            guide[s] += more[s]
                            more[s] = guide[s]
                else:
                    for s in range(size):
                        guide[s], more[s] = means[m, p, s] + 1e-12, means[m, own, s] + 1e-12
                count, top = 0, 0.0
                for e in range(layers.begin[i, p], layers.begin[i, p + 1]):
                    for f in range(layers.begin[i, own], layers.begin[i, own + 1]):
                        if q < 0 and e != f:
                            continue
                        y, t = layers.target[i, e], layers.target[i, f]
                        parts = e != f if p == q else i == 0 and q >= 0  # at the last layer: they never meet
                        if q < 0 or (y == t and e != f):
                            first, behind = single[i + 1, y, 0], single[i + 1, y, 1]
                        else:
                            first, behind = pair[i + 1, y, t, 0], pair[i + 1, y, t, 1]
                        factor = 1.0 if layers.symbol[i, e] == layers.symbol[i, f] else fall
                        for j in range(first, first + behind):
                            if count == room:
                                work -= count * count * size
                                count = merged(low, high, links, count, size, guide, more, most)
                            image(layers, i, layers.symbol[i, e], z, lo[j], low[count])
                            image(layers, i, layers.symbol[i, f], z, hi[j], high[count])
                            scaled_outward(low[count], high[count], factor, size, guide, more, widths)
                            links[count, 0], links[count, 1], links[count, 2] = e, f, j
                            work -= 2 * edges
                            stays = not have
                            for u in range(begin, end):
                                work -= size
                                if q < 0:
                                    above = exceeds(low[count], high[count], other.lo[u], other.hi[u], size)
                                elif p != q:
                                    above = both_exceed(low[count], high[count], other, u, size)
                                else:
                                    above = exceeds(other.lo[u], other.hi[u], low[count], high[count], size)
                                if not above:
                                    continue
                                stays = True
                                if not parts:
                                    break
                                value = ratio(other.lo[u], other.hi[u], low[count], high[count], size)
                                if value > top:
                                    top, ratios[number] = value, value
                                    places[number, 0], places[number, 1], places[number, 2] = i, e, f
                                    places[number, 3], places[number, 4] = j, u
                            if stays:
                                count += 1
                    if work < 0:
                        return Kept(lo, hi, link, single, pair), Above(ratios[:0], places[:0]), work
                if top > 0.0:
                    number += 1
                if count > 0:
                    work -= count * count * size
                    count = merged(low, high, links, count, size, guide, more, most)
                    lo, hi, link = larger(lo, used + count), larger(hi, used + count), larger(link, used + count)
                    lo[used : used + count], hi[used : used + count] = low[:count], high[:count]
                    link[used : used + count] = links[:count]
                    if q < 0:
                        single[i, p, 0], single[i, p, 1] = used, count
                    else:
                        pair[i, p, q, 0], pair[i, p, q, 1] = used, count
                    used += count
                    if used > boxes:
                        return Kept(lo, hi, link, single, pair), Above(ratios[:0], places[:0]), -1
    kept = Kept(lo[:used].copy(), hi[:used].copy(), link[:used].copy(), single, pair)
    return kept, Above(ratios[:number].copy(), places[:number].copy()), work


@compiled(error_model="numpy")
def means_of(layers: LayersOfEdges, z: float) -> Array:
    """means[i, p]: completions from state p of layer i on, averaged over all words. They guide merges only."""
    n, width = len(layers.size) - 1, len(layers.ending)
    means, words, after, vector = np.zeros((n + 1, width, width)), np.zeros(width), np.zeros(width), np.zeros(width)
    for p in range(layers.size[n]):
        words[p] = 1.0 if layers.ending[p] > 0.0 else 0.0
        means[n, p] = layers.ending
    for i in range(n - 1, -1, -1):
        size, most = layers.size[i], words.max()
        after[:] = words / most
        words[:] = 0.0
        for p in range(size):
            for e in range(layers.begin[i, p], layers.begin[i, p + 1]):
                y = layers.target[i, e]
                image(layers, i, layers.symbol[i, e], z, means[i + 1, y], vector)
                for s in range(size):
                    means[i, p, s] += after[y] * vector[s]
                words[p] += after[y]
            total = means[i, p].sum()
            for s in range(size):
                means[i, p, s] /= total
    return means


@compiled(error_model="numpy")
def least_apart(layers: LayersOfEdges) -> Array:
    """least[i, p, q]: the least distance between a completion from p and one from q; `FAR` if there are none."""
    n, width = len(layers.size) - 1, len(layers.ending)
    least = np.full((n + 1, width, width), FAR)
    for p in range(layers.size[n]):
        for q in range(layers.size[n]):
            if layers.ending[p] > 0.0 and layers.ending[q] > 0.0:
                least[n, p, q] = 0
    for i in range(n - 1, -1, -1):
        edges = layers.begin[i, layers.size[i]]
        for e in range(edges):
            for f in range(edges):
                p, q, y, t = layers.source[i, e], layers.source[i, f], layers.target[i, e], layers.target[i, f]
                differ = 0 if layers.symbol[i, e] == layers.symbol[i, f] else 1
                least[i, p, q] = min(least[i, p, q], least[i + 1, y, t] + differ)
    return least


@compiled(error_model="numpy")
def log_constants(layers: LayersOfEdges, z: float, words: Array) -> Array:
    """ln Z of words, which are rows of edges."""
    n, width = len(layers.size) - 1, len(layers.ending)
    found, after, vector = np.zeros(len(words)), np.zeros(width), np.zeros(width)
    for w in range(len(words)):
        after[:] = layers.ending
        for i in range(n - 1, -1, -1):
            image(layers, i, layers.symbol[i, words[w, i]], z, after, vector)
            most = vector[: layers.size[i]].max()
            found[w] += log(most)
            after[: layers.size[i]] = vector[: layers.size[i]] / most
        found[w] += log(after[layers.source[0, words[w, 0]]])
    return found
