"""How near two different words of a language can be to each other: a promise about nearer words is about no words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpwords.core.limits import Limits
from dpwords.core.scaled import Integers
from dpwords.core.symbols import Distance
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.tuning import STEPS_OF_A_LAYER


class LeastDistance(NamedTuple):
    """The least distance between two different words, or a lower bound of it."""

    value: int | None  # None if there are no two words
    is_exact: bool


def in_graph(graph: Graph, length: int, limits: Limits) -> LeastDistance:
    """The least number of positions in which two words of a graph differ, both of this length.

    Two words are followed at a time, as a pair of states and the number of positions that differ so far, up to some
    number; that number is doubled until two words are found. Cost: length · pairs of states within that number of
    positions · branching², but at most a second or so: beyond that, a lower bound is returned.
    """
    if length * graph.size > limits.memory // 4:
        return LeastDistance(1, False)
    live = graph.live(length) & graph.useful(length)  # row i: the states that words can be in after i symbols
    last = live[length - 1, graph.sources] & live[length, graph.target]
    if np.bincount(graph.sources[last], minlength=1).max() > 1:
        return LeastDistance(1, True)  # two words that differ only in the last position
    search, least, most = _PairSearch(graph, live, limits.pair_steps), 1, 1
    while True:
        found = search.within(least, most)
        if found is None:
            return LeastDistance(least, False)
        if found <= most:
            return LeastDistance(found, True)
        if not search.farther:
            return LeastDistance(None, True)
        least, most = most + 1, 2 * most


class _PairSearch:
    """Pairs of words with a common start, layer by layer, until the steps that are allowed are used up."""

    def __init__(self, graph: Graph, live: Flags, steps: int) -> None:
        self._graph, self._live, self._steps = graph, live, steps
        self._degrees = np.diff(graph.first)
        self.farther = False  # whether the last search left out pairs that differ in more positions than it was to find

    def within(self, least: int, most: int) -> int | None:
        """The least number of positions that differ if it is `most` or less, otherwise more than `most`.

        It is known to be at least `least`. None if there are too many pairs.
        """
        graph, best, self.farther = self._graph, most + 1, False
        pairs, differing = np.zeros((2, 0), dtype=np.int64), np.zeros(0, dtype=np.int64)
        for here, after in zip(self._live, self._live[1:], strict=False):
            alike = np.flatnonzero(here)  # words that have not differed yet are in the same state
            one, other = np.concatenate([np.tile(alike, (2, 1)), pairs], axis=1)
            before = np.concatenate([np.zeros(len(alike), dtype=np.int64), differing])
            self._steps -= int((self._degrees[one] * self._degrees[other]).sum()) + STEPS_OF_A_LAYER
            if self._steps < 0:
                return None
            number, first = graph.leaving(one)
            way, second = graph.leaving(other[number])
            number, first = number[way], first[way]
            positions = before[number] + (graph.symbol[first] != graph.symbol[second])
            pairs = np.sort(np.stack([graph.target[first], graph.target[second]]), axis=0)
            kept = after[pairs].all(axis=0) & (positions > 0)
            self.farther |= bool((kept & (positions > most)).any())
            meeting = kept & (pairs[0] == pairs[1])  # from here on both words can go the same way
            best = min(best, int(positions[meeting].min(initial=best)))
            if best == least:
                return best
            kept &= (positions < best) & ~meeting
            pairs, differing = _nearest(pairs[:, kept], positions[kept])
        return min(best, int(differing.min(initial=best)))


def _nearest(pairs: Integers, positions: Integers) -> tuple[Integers, Integers]:
    """Each pair of states once, with the least number of positions."""
    order = np.lexsort((positions, pairs[1], pairs[0]))
    pairs, positions = pairs[:, order], positions[order]
    new = np.ones(len(positions), dtype=np.bool_)
    new[1:] = (pairs[:, 1:] != pairs[:, :-1]).any(axis=0)
    return pairs[:, new], positions[new]


def is_one_apart(texts: Sequence[str], distance: Distance) -> bool:
    """Whether two different words of a list are at distance 1. Cost: the symbols of the words, times their length."""
    known, gaps = set(texts), set()
    for text in known:
        for position in range(len(text)):
            before, behind = text[:position], text[position + 1 :]
            if (before, behind) in gaps or (distance == "levenshtein" and before + behind in known):
                return True
            gaps.add((before, behind))
    return False
