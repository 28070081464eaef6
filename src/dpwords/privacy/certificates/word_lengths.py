"""The words that a certificate is about: those of one length, or of every length from some number on."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpwords.core.scaled import Integers
from dpwords.spaces.graph import Flags, Graph


class WordLengths:
    """Which states words can be in, where the number of symbols before or after is in a range.

    A range is (first, last), both included; `last` is None where it has no end. Cost of a range: its length · edges, or
    the number of steps until no new state is found · edges.
    """

    def __init__(self, graph: Graph, least: int, most: int | None) -> None:
        self.graph, self.least, self.most = graph, least, most
        start = np.zeros(graph.size, dtype=np.bool_)
        start[graph.start] = True
        self._begun, self._ended = [start], [graph.accepting.astype(np.bool_)]
        self.begun, self.ended = lru_cache(None)(self._states_begun), lru_cache(None)(self._states_ended)

    def completed(self, symbols: int) -> Flags:
        """The states from which a word can be completed after so many symbols."""
        return self.ended(self.least - symbols, None if self.most is None else self.most - symbols)

    def reached(self, symbols: int) -> Flags:
        """The states that a word can be in with so many symbols to go."""
        return self.begun(self.least - symbols, None if self.most is None else self.most - symbols)

    def _states_begun(self, first: int, last: int | None) -> Flags:
        """The states that a number of symbols in this range can lead to."""
        return self._found(self._begun, self.graph.sources, self.graph.target, first, last)

    def _states_ended(self, first: int, last: int | None) -> Flags:
        """The states from which a number of symbols in this range can lead to an accepting one."""
        return self._found(self._ended, self.graph.target, self.graph.sources, first, last)

    def _found(self, steps: list[Flags], source: Integers, target: Integers, first: int, last: int | None) -> Flags:
        first = max(first, 0)
        while len(steps) <= max(first, last or 0):
            steps.append(_after(steps[-1], source, target))
        if last is not None:
            some = steps[first : max(last, -1) + 1]
            return np.asarray(np.logical_or.reduce(some)) if some else np.zeros_like(steps[0])
        found = steps[first]
        while True:
            more = found | _after(found, source, target)
            if (more == found).all():
                return found
            found = more


def _after(states: Flags, source: Integers, target: Integers) -> Flags:
    found = np.zeros_like(states)
    found[target[states[source]]] = True
    return found
