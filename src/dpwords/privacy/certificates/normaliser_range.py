"""The range of the normaliser over all words of a length (docs/theory.md, section 9)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.privacy.certificates.graph_facts import live_states
from dpwords.privacy.certificates.rounding import ALL_OF_IT, margin, outward, price
from dpwords.spaces.graph import Graph


def range_of_normalisers(graph: Graph, length: int, c: float) -> float:
    """ln of the largest Z that a word can have, less ln of the least. Cost: length · edges.

    Backwards, layer by layer: the most and the least that completions of a state can weigh for any symbols to come,
    and, for states on the word's own run, the least for symbols that the run can take; each rounded outward, all
    divided by the same number. Infinite where the numbers of one layer span too much.
    """
    if c > ALL_OF_IT:
        return margin(length)
    z, live = price(c), live_states(graph, length)
    edges, sources = np.diff(graph.first), graph.sources
    has_all = edges == len(graph.alphabet)
    least_kept, (down, up) = outward().LEAST, outward().factors(graph.branching + 4)
    most = least = graph.accepting.astype(np.float64)
    own = np.where(graph.accepting, 1.0, math.inf)
    for layer in reversed(range(length)):
        high, low, run = most[graph.target], least[graph.target], own[graph.target]
        sum_high, sum_low = np.bincount(sources, high, graph.size), np.bincount(sources, low, graph.size)
        best, worst, own = np.zeros(graph.size), np.full(graph.size, math.inf), np.full(graph.size, math.inf)
        np.maximum.at(best, sources, high)
        np.minimum.at(worst, sources, low)
        others = np.maximum(sum_low[sources] * down - low, 0.0)  # of a sum rounded down: below that of the others
        np.minimum.at(own, sources, run + z * others)
        least = z * sum_low + (1 - z) * np.where(has_all, worst, 0.0)
        most = np.where(live[layer] & (best > 0), z * sum_high + (1 - z) * best, 0.0)
        scale = most.max()
        most = np.where(most > 0, np.maximum(most / scale * up, least_kept), 0.0)
        least, own = least / scale * down, own / scale * down
        least, own = np.where(least < least_kept, 0.0, least), np.where(own < least_kept, 0.0, own)
    if not (most[graph.start] > least_kept and 0.0 < own[graph.start] < math.inf):
        return math.inf
    return math.log(most[graph.start]) - math.log(own[graph.start]) + margin(length)
