"""What certificates need to know of a graph: its kind, the states of its words, and which states are near others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpwords.core.scaled import Integers
from dpwords.spaces.graph import Flags, Graph


def accepts_every_word(graph: Graph) -> bool:
    """Whether every state has every symbol and accepts: then Z is the same for all words."""
    full = np.all(np.diff(graph.first) == len(graph.alphabet))
    return bool(full and graph.accepting.all())


def live_states(graph: Graph, length: int) -> Flags:
    """Row i: the states that a word of this length can be in after i symbols. Cost: length · edges."""
    return graph.live(length) & graph.useful(length)


def entered(graph: Graph) -> Flags:
    """Which states some edge leads to."""
    return np.isin(np.arange(graph.size), graph.target)


def neighbourhood(graph: Graph, radius: int, states: Sequence[int] | None = None) -> list[dict[int, int]]:
    """For each state (or some) those within so many steps, edges taken both ways, ascending, and how far they are.

    Edges from a start that is never entered do not count.
    """
    is_entered = entered(graph)
    beside: list[set[int]] = [set() for _ in range(graph.size)]
    for source, target in zip(graph.sources.tolist(), graph.target.tolist(), strict=True):
        if is_entered[source] or source != graph.start:
            beside[source].add(target)
            beside[target].add(source)
    rows = []
    for state in range(graph.size) if states is None else states:
        found, edge = {state: 0}, {state}
        for step in range(1, radius + 1):
            edge = {other for each in edge for other in beside[each]} - found.keys()
            found |= dict.fromkeys(edge, step)
        rows.append({each: found[each] for each in sorted(found)})
    return rows


def offsets(sizes: Any) -> Integers:
    """Where each of several rows of these sizes begins when they stand one after another, and where the last ends."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
