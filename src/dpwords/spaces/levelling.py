"""A public base measure that makes the normalisers of words of states nearly equal (docs/theory.md, section 9).

With p(w|x) ∝ π(w)·z^d(x,w), a run to which many others are near has a larger normaliser than one with few, unless π
gives runs with many others near them less. π(w) is the product over the places of 1/(1 + a·z), where a counts the other
states that fit between the two neighbours (at the last place: other states that follow the one before and accept).

A weight that depends on two steps needs states that remember one: those of the *line graph* are the edges of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Integers, exp_minus, normalised
from dpwords.spaces.graph import Graph


@dataclass(frozen=True, eq=False)
class Levelling:
    """The line graph of a graph, and how many other states fit at each place."""

    line: Graph  # state 0 is the start, state 1 + e is edge e of the graph
    others: Integers  # for each edge of the line graph: between its two ends
    others_at_end: Integers  # for each state of the line graph: instead of its end, as the last of a word

    @classmethod
    def of(cls, graph: Graph, limits: Limits = DEFAULTS) -> Levelling | None:
        """None if there are too many pairs of edges in a row. Cost: their number, times its logarithm."""
        out = np.diff(graph.first)
        if not 0 < int(out[graph.target].sum()) <= limits.levelled_edges:
            return None
        ends = np.concatenate([[graph.start], graph.target])  # of each state of the line graph
        _, edges = graph.leaving(ends)
        first = np.concatenate([[0], np.cumsum(out[ends])])
        line = Graph(graph.alphabet, 0, graph.symbol[edges], 1 + edges, first, graph.accepting[ends])
        begin = np.concatenate([[-1], graph.sources])  # the start is no place of a word: nothing fits instead of it
        pairs = begin[line.sources] * graph.size + graph.target[edges]
        _, group, count = np.unique(pairs, return_inverse=True, return_counts=True)
        others = np.where(line.sources == 0, 0, count[group] - 1)
        finals = np.bincount(graph.sources, graph.accepting[graph.target], graph.size)
        at_end = np.concatenate([[0], np.maximum(finals[graph.sources] - 1, 0)])
        return cls(line, others, at_end.astype(np.int64))

    def weighted(self, rate: Fraction) -> Graph:
        """The line graph with the weights of π at z = e^(−rate); these numbers, as stored, are what π is."""
        z = float(exp_minus([rate]).relative_to(np.zeros(1, dtype=np.int64))[0])
        weight = normalised(1 / (1 + self.others * z), np.zeros(len(self.others), dtype=np.int64))
        ending = self.line.accepting / (1 + self.others_at_end * z)
        return replace(self.line, weight=weight, ending=normalised(ending, np.zeros(len(ending), dtype=np.int64)))
