"""All pairs of words of small systems: their distances, and their normalising constants from the definition."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dpwords as dw
from dpwords.core.scaled import normalised
from dpwords.core.symbols import Alphabet
from dpwords.spaces.graph import Graph


class Case(NamedTuple):
    """A graph, and all of its words of one length: their symbols, distances and weights."""

    graph: Graph
    length: int
    words: Any
    apart: Any
    weight: list[Fraction]

    def losses(self, z: float) -> Any:
        """(ln Z(x′) − ln Z(x)) / d in rows of x; −1 on the diagonal."""
        logs = np.log(z**self.apart @ np.array([float(each) for each in self.weight]))
        return np.where(self.apart > 0, (logs[None] - logs[:, None]) / np.maximum(self.apart, 1), -1.0)

    def exact_sums(self, z: float) -> list[Fraction]:
        """Z of each word, in exact arithmetic for this float."""
        powers = [Fraction(z) ** d for d in range(self.length + 1)]
        return [sum(powers[d] * w for d, w in zip(row, self.weight, strict=True)) for row in self.apart.tolist()]


def case_of(graph: Graph, length: int) -> Case | None:
    listed = graph.words(length, 250) if graph.useful(length)[0, graph.start] else None
    if listed is None or len(listed[0]) < 2:
        return None
    taken, ends = listed
    words = graph.symbol[taken]
    weight = [Fraction(1)] * len(words)
    if graph.weight is not None and graph.ending is not None:
        edges, states = graph.weight.exact(), graph.ending.exact()
        weight = [math.prod((edges[e] for e in row), start=states[end]) for row, end in zip(taken, ends, strict=True)]
    return Case(graph, length, words, (words[:, None] != words[None]).sum(axis=2), weight)


def random_cases(seed: int, count: int) -> Iterator[tuple[np.random.Generator, Case]]:
    """Systems with dead ends, one-way streets, several accepting states, symbols that lead to one state; weights."""
    rng = np.random.default_rng(seed)
    while count:
        size, symbols, length = (int(rng.integers(*span)) for span in ((2, 7), (2, 5), (2, 8)))
        edges = [(s, a, int(rng.integers(size))) for s in range(size) for a in range(symbols) if rng.random() < 0.7]
        if not edges:
            continue
        source, symbol, target = np.array(edges).T
        accepting, first = rng.random(size) < 0.4, np.searchsorted(source, np.arange(size + 1))
        graph = Graph(Alphabet("abcd"), 0, symbol, target, first, accepting)
        if rng.random() < 0.5:
            weight, ending = (np.exp(rng.normal(size=number) / 2) for number in (len(edges), size))
            graph = replace(
                graph,
                weight=normalised(weight, np.zeros(len(edges), np.int64)),
                ending=normalised(ending * accepting, np.zeros(size, np.int64)),
            )
        case = case_of(graph, length)
        if case is not None:
            count -= 1
            yield rng, case


def streets() -> dw.GridWorld:
    rows = Path(__file__, "../../../examples/streets.txt").resolve().read_text("ascii").split()
    at = {kind: [(r, c) for r, row in enumerate(rows) for c, one in enumerate(row) if one == kind] for kind in "SG#"}
    return dw.GridWorld(len(rows), len(rows[0]), at["S"][0], walls=at["#"], goal=at["G"][0])
