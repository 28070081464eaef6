"""A language unrolled to n layers: one backward pass and one forward walk, for sums and for counts alike.

Node (i, s) is state s before symbol i of the word. The backward pass gives each node the total weight of the ways to
complete a word from there; an *algebra* says what a symbol that differs from the private word does to that weight:
`Discount` multiplies it by z (linear utility, distance folded away), `Tally` counts completions by their distance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dpwords import sampling
from dpwords.automata import Language, explore
from dpwords.errors import TooLarge
from dpwords.randomness import Stream
from dpwords.scaled import ZERO_EXPONENT, Floats, Integers, Scaled, group_sums, indicator
from dpwords.words import Alphabet

MEMORY_LIMIT = 2 * 2**30  # bytes that the tables of one word may take
_BYTES = 16  # of one scaled number

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Graph:
    """A language as arrays: edges ordered by source, those of state s from first[s] to first[s+1].

    A word's weight is the product of those of its edges and of the state where it ends; left out, they are 1.
    """

    alphabet: Alphabet
    start: int
    symbol: Integers
    target: Integers
    first: Integers
    accepting: Flags
    weight: Scaled | None = None  # of each edge
    ending: Scaled | None = None  # of each state, where a word ends in it

    @classmethod
    def of(cls, language: Language, most: int | None = None) -> Graph:
        """Explore a language of at most so many states from its initial one. Cost: its reachable edges."""
        states, edges = explore([language.initial], language.follow, most)
        number = {state: index for index, state in enumerate(states)}
        sources = np.array([number[source] for source, _, _ in edges], dtype=np.int64)
        return cls(  # breadth-first order lists the edges of each state together, states in order
            alphabet=language.alphabet,
            start=0,
            symbol=np.array([language.alphabet.codes[symbol] for _, symbol, _ in edges], dtype=np.int64),
            target=np.array([number[target] for _, _, target in edges], dtype=np.int64),
            first=np.searchsorted(sources, np.arange(len(states) + 1)),
            accepting=np.array([language.is_accepting(state) for state in states], dtype=np.bool_),
        )

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.accepting)

    @property
    def branching(self) -> int:
        """The largest number of edges that leave a state."""
        return int(np.diff(self.first).max())

    @cached_property
    def sources(self) -> Integers:
        """The state that each edge leaves."""
        return np.repeat(np.arange(self.size), np.diff(self.first))

    def log_weight(self, codes: Integers) -> float:
        """ln of the weight of a word of the language. Cost: its length times the branching."""
        if self.weight is None or self.ending is None:
            return 0.0
        state, taken = self.start, []
        for code in codes:
            begin = self.first[state]
            taken.append(begin + int(np.flatnonzero(self.symbol[begin : self.first[state + 1]] == code)[0]))
            state = self.target[taken[-1]]
        return math.fsum([*self.weight.take(taken).logs(), float(self.ending.take(state).logs())])

    def useful(self, length: int) -> Flags:
        """Row i: the states before symbol i from which a word of this length can be completed. Cost: length · edges."""
        useful = np.zeros((length + 1, self.size), dtype=np.bool_)
        useful[length] = self.accepting
        for place in reversed(range(length)):
            useful[place, self.sources[useful[place + 1, self.target]]] = True
        return useful


class Algebra(Protocol):
    """What a symbol that differs from the word's does to the weight of a completion."""

    step: int  # how many mismatches of the budget it uses up

    def width(self, remaining: int) -> int:
        """How many numbers a node with so many symbols to go holds."""

    def over_edges(self, layer: Scaled, target: Integers, differs: Flags) -> Scaled:
        """All numbers of each edge, from those of the layer below it."""

    def of_choices(self, layer: Scaled, target: Integers, differs: Flags, budget: Integers) -> Scaled:
        """For each choice of a row of edges, the number that belongs to the row's budget."""


@dataclass(frozen=True, eq=False)
class Discount:
    """One number a node: the sum over completions of z^distance."""

    z: Scaled  # a single number
    step = 0

    def width(self, remaining: int) -> int:
        return 1

    def over_edges(self, layer: Scaled, target: Integers, differs: Flags) -> Scaled:
        return self._discounted(layer.take(target), differs[:, None])

    def of_choices(self, layer: Scaled, target: Integers, differs: Flags, budget: Integers) -> Scaled:
        return self._discounted(layer.take((target, 0)), differs)

    def _discounted(self, values: Scaled, differs: Flags) -> Scaled:
        lower = values.times(self.z)
        return Scaled(
            np.where(differs, lower.mantissa, values.mantissa), np.where(differs, lower.exponent, values.exponent)
        )


@dataclass(frozen=True)
class Tally:
    """For each distance 0, 1, …, remaining: the number of completions at it."""

    step = 1

    def width(self, remaining: int) -> int:
        return remaining + 1

    def over_edges(self, layer: Scaled, target: Integers, differs: Flags) -> Scaled:
        return Scaled(
            _shifted(layer.mantissa[target], differs, 0.0), _shifted(layer.exponent[target], differs, ZERO_EXPONENT)
        )

    def of_choices(self, layer: Scaled, target: Integers, differs: Flags, budget: Integers) -> Scaled:
        left = budget[:, None] - differs
        possible = (left >= 0) & (left < layer.mantissa.shape[1])
        values = layer.take((target, np.where(possible, left, 0)))
        return Scaled(np.where(possible, values.mantissa, 0.0), np.where(possible, values.exponent, ZERO_EXPONENT))


class Lattice:
    """The completions of every node for one private word, ready to be walked.

    Memory: 16 bytes · states · numbers a node holds, summed over layers; `TooLarge` is said before it is taken.
    Cost: length · edges for `Discount`, length² · edges for `Tally`.
    """

    def __init__(self, graph: Graph, codes: Integers, algebra: Algebra) -> None:
        self.graph, self.codes, self.algebra = graph, codes, algebra
        self.footprint = max(len(codes), graph.branching)  # numbers held at a time for each word drawn
        _refuse_beyond_limit(_table_bytes(graph, len(codes), algebra), graph, len(codes))
        origins = np.flatnonzero(np.diff(graph.first))  # states with at least one edge
        ends = indicator(graph.accepting) if graph.ending is None else graph.ending
        self.layers = [ends.take((slice(None), None))]
        for place in reversed(range(len(codes))):
            below = self.layers[-1]
            edges = self._over_edges(below, graph.symbol != codes[place])
            sums = group_sums(edges, graph.first[origins])
            width = sums.mantissa.shape[1]
            here = Scaled(np.zeros((graph.size, width)), np.full((graph.size, width), ZERO_EXPONENT))
            here.mantissa[origins], here.exponent[origins] = sums
            self.layers.append(here)
        self.layers.reverse()

    def at_start(self) -> Scaled:
        """The numbers of the first node."""
        return self.layers[0].take(self.graph.start)

    def choices(self, place: int, states: Integers, budgets: Integers) -> tuple[Integers, Flags, Scaled]:
        """The edges open at each of these nodes, which of them differ from the word, and their weights.

        Rows are padded to the same width with edges of weight 0.
        """
        begin, end = self.graph.first[states], self.graph.first[states + 1]
        edges = begin[:, None] + np.arange(int((end - begin).max()))
        padding = edges >= end[:, None]
        edges[padding] = 0
        differs = self.graph.symbol[edges] != self.codes[place]
        weights = self.algebra.of_choices(self.layers[place + 1], self.graph.target[edges], differs, budgets)
        if self.graph.weight is not None:
            weights = weights.times(self.graph.weight.take(edges))
        weights.mantissa[padding], weights.exponent[padding] = 0.0, ZERO_EXPONENT
        return edges, differs, weights

    def walk(self, budgets: Integers, stream: Stream) -> Integers:
        """One word (a row of codes) for each budget, each step in proportion to its stored completions."""
        rows = np.arange(len(budgets))
        states = np.full(len(budgets), self.graph.start)
        words = np.empty((len(budgets), len(self.codes)), dtype=np.int64)
        for place in range(len(self.codes)):
            edges, differs, weights = self.choices(place, states, budgets)
            picked = sampling.choose_each(weights, stream)
            taken = edges[rows, picked]
            words[:, place] = self.graph.symbol[taken]
            budgets = budgets - self.algebra.step * differs[rows, picked]
            states = self.graph.target[taken]
        return words

    def mean_distance(self) -> float:
        """The expected distance of a walk. Cost: length · edges."""
        values = np.zeros((self.graph.size, 1))
        for share, differs in self._edge_shares():
            values = self._averaged(share, values[self.graph.target] + differs[:, None])
        return float(values[self.graph.start, 0])

    def distance_distribution(self) -> Floats:
        """The probability of each distance under a walk. Cost: length² · edges, memory length · edges."""
        _refuse_beyond_limit(4 * 8 * len(self.graph.target) * (len(self.codes) + 1), self.graph, len(self.codes))
        values = np.ones((self.graph.size, 1))
        for share, differs in self._edge_shares():
            values = self._averaged(share, _shifted(values[self.graph.target], differs, 0.0))
        return np.asarray(values[self.graph.start])

    def _edge_shares(self) -> Any:
        """From the last place to the first: each edge's probability at its node, and whether it differs."""
        sources = self.graph.sources
        for place in reversed(range(len(self.codes))):
            differs = self.graph.symbol != self.codes[place]
            edges = self._over_edges(self.layers[place + 1], differs)
            node = self.layers[place].take(sources)
            share = np.where(node.mantissa > 0, edges.relative_to(node.exponent), 0.0)
            yield share / np.where(node.mantissa > 0, node.mantissa, 1.0), differs

    def _over_edges(self, below: Scaled, differs: Flags) -> Scaled:
        edges = self.algebra.over_edges(below, self.graph.target, differs)
        return edges if self.graph.weight is None else edges.times(self.graph.weight.take((slice(None), None)))

    def _averaged(self, share: Floats, values: Floats) -> Floats:
        origins = np.flatnonzero(np.diff(self.graph.first))
        result = np.zeros((self.graph.size, values.shape[1]))
        result[origins] = np.add.reduceat(share * values, self.graph.first[origins], axis=0)
        return result


def _shifted(values: NDArray[Any], differs: Flags, fill: float) -> NDArray[Any]:
    """Rows with one more column: moved right by one where the edge differs, else filled up at the end."""
    wider = np.full((len(values), values.shape[1] + 1), fill, dtype=values.dtype)
    wider[:, :-1] = values
    wider[differs, 1:] = values[differs]
    wider[differs, 0] = fill
    return wider


def _table_bytes(graph: Graph, length: int, algebra: Algebra) -> int:
    tables = graph.size * (length + 1) * (algebra.width(0) + algebra.width(length)) // 2  # widths grow evenly
    working = 8 * len(graph.target) * algebra.width(length)
    return _BYTES * (tables + working)


def _refuse_beyond_limit(needed: int, graph: Graph, length: int) -> None:
    if needed > MEMORY_LIMIT:
        raise TooLarge(
            f"the tables for {graph.size} states and {length} symbols would take {needed / 2**30:.1f} GiB, the limit "
            f"is {MEMORY_LIMIT / 2**30:.0f} GiB: take a shorter word or a smaller system (a release with utility "
            "Linear() needs the least)"
        )
