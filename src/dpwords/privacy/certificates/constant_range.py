"""How far apart the largest and the least normalising constant are, for any words of a graph (docs/theory.md, section
9)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.elementary import log
from dpwords.core.scaled import Floats
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, outward, price
from dpwords.spaces.graph import Graph

_LEAST_PRICE = 1e-87  # a lower price is rounded up to this, or down to 0


def range_of_constants(graph: Graph, length: int, c: float, step: int = 1, first: int = 0) -> float:
    """An upper bound of max ln Z − min ln Z over all words of one length. Cost: length · edges · step.

    Weights are e^(−c·ceil((d − first)/step)): of the symbols that differ, `first` are free, then every `step`-th one
    costs e^(−c). Backwards through the layers: for each state, and each number of symbols that may still differ without
    a cost, the largest and least sum that its completions can weigh for any symbols to come, and, for states on the
    word's own run, the least for symbols that the run can take; each rounded outward, all divided by the same number.
    Infinite where the numbers of one layer span too much.
    """
    if c > ALL_OF_IT and step == 1:
        return margin(length)
    step, first = min(step, length + 1), min(first, length)  # of n symbols no more than n can differ
    z, live = price(c), graph.live(length) & graph.useful(length)
    edges, sources = np.diff(graph.first), graph.sources
    has_all = edges == len(graph.alphabet)
    after = np.arange(step) - 1  # from the number of free symbols to that after one that differs; −1 is the last entry
    dear, cheap = np.ones((step, 1)), np.ones((step, 1))
    dear[0], cheap[0] = (z, z) if z > _LEAST_PRICE else (_LEAST_PRICE, 0.0)
    least_kept, (down, up) = outward().LEAST, outward().factors(graph.branching + 4)
    most = least = np.tile(graph.accepting.astype(np.float64), (step, 1))
    own = np.where(most > 0, most, math.inf)

    def sums(values: Floats) -> Floats:
        return np.array([np.bincount(sources, row, graph.size) for row in values])

    def extremes(of: np.ufunc, values: Floats, start: float) -> Floats:
        found = np.full((step, graph.size), start)
        for row, each in zip(found, values, strict=True):
            of.at(row, sources, each)
        return found

    for layer in reversed(range(length)):
        high, low, run = most[:, graph.target], least[:, graph.target], own[:, graph.target]
        high_off, low_off = dear * high[after], cheap * low[after]
        sum_high, sum_low = sums(high_off), sums(low_off)
        others_high = np.maximum(sum_high[:, sources] * up - high_off, 0.0)
        others_low = np.maximum(sum_low[:, sources] * down - low_off, 0.0)  # of a sum rounded down: below the others'
        own = extremes(np.minimum, run + others_low, math.inf)
        worst = extremes(np.minimum, low + others_low, math.inf)
        least = np.where(has_all, worst, np.minimum(worst, sum_low))
        most = np.where(live[layer], np.maximum(extremes(np.maximum, high + others_high, 0.0), sum_high), 0.0)
        scale = most.max()
        most = np.where(most > 0, np.maximum(most / scale * up, least_kept), 0.0)
        least, own = least / scale * down, own / scale * down
        least, own = np.where(least < least_kept, 0.0, least), np.where(own < least_kept, 0.0, own)
    if not (most[first, graph.start] > least_kept and 0.0 < own[first, graph.start] < math.inf):
        return math.inf
    return log(most[first, graph.start]) - log(own[first, graph.start]) + margin(length)
