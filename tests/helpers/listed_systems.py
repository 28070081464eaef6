"""Small systems of every kind, and all their words: what reweighted certificates are compared with.

The listing uses the edges of a graph and the definition of the weights, and nothing of the code that it checks.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

import dpwords as dw
from dpwords.languages.systems import TransitionSystem
from dpwords.privacy.certificates.reweighted_blocks import ReweightedBlocks
from dpwords.privacy.certificates.reweighted_system import Detail, ReweightedSystem
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting

Word = tuple[int, ...]


def words_of(graph: Graph, length: int, most: int) -> list[Word] | None:
    """All words of one length, as states; None if there are more than `most`."""
    following = [graph.target[graph.first[s] : graph.first[s + 1]].tolist() for s in range(graph.size)]
    ends = [set(np.flatnonzero(graph.accepting).tolist())]
    for _ in range(length):
        ends.append({state for state, after in enumerate(following) if ends[-1] & set(after)})
    runs: list[Word] = [(graph.start,)] if graph.start in ends[length] else []
    for left in reversed(range(length)):
        runs = [(*run, state) for run in runs for state in following[run[-1]] if state in ends[left]]
        if len(runs) > most:
            return None
    return [run[1:] for run in runs]


class Listing:
    """All words of one length, their distances, and the numbers of words that differ in one position only."""

    def __init__(self, graph: Graph, words: list[Word]) -> None:
        self.words, rows = words, np.array(words)
        length = rows.shape[1]
        self.apart = (rows[:, None] != rows[None]).sum(axis=2)
        others = np.zeros(rows.shape)
        for position in range(length):
            rests = [word[:position] + word[position + 1 :] for word in words]
            fitting = Counter(rests)
            others[:, position] = [fitting[rest] - 1 for rest in rests]
        at_end = np.arange(length) == length - 1
        at_end[0] |= graph.start not in graph.target
        self.others, self.second = others, np.where(at_end, 0.3, np.where(others >= 2, 0.5, 0.0)) * others**2

    def excess(self, c: float) -> float:
        z = math.exp(-c)
        base = 1 / (1 + self.others * z + self.second * z * z).prod(axis=1)
        logs = np.log(np.exp(-c * self.apart) @ base)
        return float((np.abs(logs[:, None] - logs[None]) / np.maximum(self.apart, 1)).max())


def listings(graph: Graph, most: int = 300, longest: int = 18) -> dict[int, Listing]:
    """By length, as far as there are at most so many words; lengths with fewer than two words are left out."""
    found: dict[int, Listing] = {}
    for length in range(1, longest + 1):
        words = words_of(graph, length, most)
        if words is None:
            break
        if len(words) > 1:
            found[length] = Listing(graph, words)
    return found


KINDS = ("any", "dead ends", "hub", "ring", "two parts", "three parts", "no return", "loops", "ends apart", "rows")


def odd_system(rng: np.random.Generator, kind: str) -> TransitionSystem:
    """A small system of some kind, often from anywhere, often with few accepting states."""
    if kind == "rows":
        height, width = ((2, 2), (2, 3), (3, 3), (1, 5))[rng.integers(4)]
        start = None if rng.random() < 0.5 else (0, 0)
        walls = {(height - 1, width - 1)} if rng.random() < 0.5 else set[tuple[int, int]]()
        return dw.GridWorld(height, width, start=start, stay=rng.random() < 0.3, walls=walls).by_states()
    size, branching = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    edges: set[tuple[int, int]] = set()
    for state in range(size):
        pool = {"two parts": range((state + 1) % 2, size, 2), "no return": range(state + 1, size)}.get(
            kind, range(size)
        )
        if kind == "three parts":
            pool = range((state + 1) % 3, size, 3)
        number = int(rng.integers(1, branching + 1))
        if kind in ("dead ends", "ends apart") and state and rng.random() < 0.4:
            number = 0
        if kind == "ring":
            number = int(rng.random() < 0.4)
            edges.add((state, (state + 1) % size))
        if kind == "hub":
            edges |= {(0, state), (state, 0)}
        if kind == "loops" or (kind == "no return" and rng.random() < 0.6):
            edges.add((state, state))
        chosen = rng.choice(pool, size=min(number, len(pool)), replace=False) if pool else []
        edges |= {(state, int(target)) for target in chosen}
    rows: dict[Any, dict[Any, Any]] = {state: {} for state in range(size)}
    for source, target in sorted(edges):
        rows[source][target] = target
    accepting: list[int] | None = None
    if kind == "ends apart":
        accepting = [state for state in range(size) if not rows[state]] or [size - 1]
    elif rng.random() < 0.4:
        accepting = rng.choice(size, size=int(rng.integers(1, size + 1)), replace=False).tolist()
    return TransitionSystem(rows, None if rng.random() < 0.4 else 0, accepting=accepting)


def blocks_of(graph: Graph, *detail: int) -> ReweightedBlocks | None:
    reweighting = Reweighting.of(graph) if graph.state_named is not None and len(graph.target) else None
    return None if reweighting is None else ReweightedBlocks(ReweightedSystem(graph, reweighting, Detail(*detail)))


def random_cases(seed: int, count: int) -> Any:
    """Systems with detail, and the listings of their words."""
    rng = np.random.default_rng(seed)
    while count:
        try:
            graph = Graph.of(odd_system(rng, KINDS[count % len(KINDS)]))
        except dw.InvalidValue:  # no word at all
            continue
        detail = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
        blocks, listed = blocks_of(graph, *detail), listings(graph)
        if blocks is not None and listed:
            count -= 1
            yield rng, graph, blocks, listed
