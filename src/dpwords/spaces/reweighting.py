"""Reweighting: a public base measure π that makes the normalising constants of words of states nearly equal.

With p(w|x) ∝ π(w)·z^d(x,w), a run with many others near it has a larger normalising constant than a run with few,
unless π gives less weight to runs with many others near them. π(w) is the product over all positions of 1/(1 + a·z +
κ·z²), where a is the number of other states that fit between the two neighbours (at the last position: other accepting
states that can follow the state before it), and κ a proportion of a². See docs/theory.md, section 9.

Such a weight depends on two consecutive steps, so a state must remember one of them: the states of the *line graph* are
the edges of the original graph.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Floats, Integers, exp_minus, normalised
from dpwords.spaces.graph import Flags, Graph
from dpwords.spaces.tuning import AT_THE_ENDS, SECOND_ORDER


def position_weights(others: Integers, at_end: Any, z: float) -> Floats:
    """The weight of a position with so many other states that fit, at one of the ends of a word or inside it.

    Inside, κ is 0 where only one other fits. The last position is at an end, and the first one where runs start
    anywhere.
    """
    proportion = np.where(at_end, AT_THE_ENDS, np.where(others >= 2, SECOND_ORDER, 0.0))
    return 1 / (1 + others * z + proportion * others * others * (z * z))


@dataclass(frozen=True, eq=False)
class Reweighting:
    """The line graph of a graph, and the number of other states that fit at each position."""

    line: Graph  # state 0 is the start, state 1 + e is edge e of the graph
    others: Integers  # for each edge of the line graph, a path s → t → u: other states that fit between s and u
    at_start: Flags  # for each edge of the line graph: whether s is a start that no run returns to
    others_at_end: Integers  # for each state of the line graph, an edge s → t: other accepting states that follow s

    @classmethod
    def of(cls, graph: Graph, limits: Limits = DEFAULTS) -> Reweighting | None:
        """The reweighting of a graph; None if it has too many (or no) pairs of consecutive edges.

        Cost: their number, times its logarithm.
        """
        out = np.diff(graph.first)
        if not 0 < int(out[graph.target].sum()) <= limits.reweighted_edges:
            return None
        ends = np.concatenate([[graph.start], graph.target])  # for each state of the line graph, where it leads
        _, edges = graph.leaving(ends)
        first = np.concatenate([[0], np.cumsum(out[ends])])
        line = Graph(graph.alphabet, 0, graph.symbol[edges], 1 + edges, first, graph.accepting[ends])
        begin = np.concatenate([[-1], graph.sources])  # the start is not a symbol of the word and cannot be replaced
        pairs = begin[line.sources] * graph.size + graph.target[edges]
        _, group, count = np.unique(pairs, return_inverse=True, return_counts=True)
        others = np.where(line.sources == 0, 0, count[group] - 1)
        finals = np.bincount(graph.sources, graph.accepting[graph.target], graph.size)
        at_end = np.concatenate([[0], np.maximum(finals[graph.sources] - 1, 0)])
        at_start = (line.sources > 0) & (begin[line.sources] == graph.start) & ~np.isin(graph.start, graph.target)
        return cls(line, others, at_start, at_end.astype(np.int64))

    def weighted(self, rate: Fraction) -> Graph:
        """The line graph with the weights of π at z = e^(−rate); π is defined by these numbers as they are stored."""
        z = float(exp_minus([rate]).relative_to(np.zeros(1, dtype=np.int64))[0])
        weight = normalised(position_weights(self.others, self.at_start, z), np.zeros(len(self.others), dtype=np.int64))
        ending = self.line.accepting * position_weights(self.others_at_end, True, z)
        return replace(self.line, weight=weight, ending=normalised(ending, np.zeros(len(ending), dtype=np.int64)))
