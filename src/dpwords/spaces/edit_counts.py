"""The words of a finite language at each Levenshtein distance from a private word, counted without listing them.

All that matters about a prefix of an output is its state in the language and its *row*: its distance to each prefix of
the private word. The row after one more symbol follows from the row before it, so pairs (state, row) are the states of
a deterministic automaton. Layer i contains the pairs that prefixes of i symbols reach. From the last layer backwards,
each pair gets the number of its completions at each distance, in exact integers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords.core import scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.sampling import integer_below
from dpwords.core.scaled import Integers, Scaled
from dpwords.core.symbols import Codes, Distance, Ragged, levenshtein
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.languages.language import Language
from dpwords.spaces.graph import Graph
from dpwords.spaces.lists import FiniteSpace, Listing, text_of
from dpwords.spaces.runs import Runs
from dpwords.spaces.space import LeastDistance
from dpwords.spaces.tuning import ROWS_MATTER


@dataclass(frozen=True, eq=False)
class _Layer:
    """The pairs (state, row) that prefixes of one length reach; pair p has the edges first[p], …, first[p + 1] − 1."""

    first: Integers
    symbol: Integers
    target: Integers  # pairs of the next layer
    ends: Integers  # for each pair, the distance of the prefix itself if it is a word, otherwise −1
    completions: NDArray[Any]  # integers: completions of each pair (row) at each distance (column)


class CountedSurroundings:
    """The words of a language, grouped by their distance from one of them: exact counts, exactly uniform draws.

    Cost: edges · length for each pair (state, row), see `CountedWords`. Each draw costs the length of the word times
    the branching.
    """

    def __init__(self, codes: Codes, graph: Graph, reach: int, words: int) -> None:
        self.codes = codes
        self._layers = _counted(codes, graph, reach, _kind(words))
        self.counts: list[int] = [int(number) for number in self._layers[0].completions[0]]
        self.sizes: Scaled = scaled.from_integers(self.counts)
        self.footprint = reach + 1

    def distance(self, codes: Codes) -> int:
        return levenshtein(codes.tolist(), self.codes.tolist())

    def draw(self, distances: Integers, stream: Stream) -> Ragged:
        return Ragged.of([self._numbered(integer_below(self.counts[d], stream), d) for d in distances.tolist()])

    def probability(self, codes: Codes) -> Fraction:
        return Fraction(1, self.counts[self.distance(codes)])

    def _numbered(self, number: int, distance: int) -> Integers:
        """The word with this number among the words at a distance, which are numbered from 0."""
        found: list[int] = []
        pair = 0
        for layer, below in zip(self._layers, [*self._layers[1:], None], strict=True):
            if layer.ends[pair] == distance:
                if number == 0:
                    break
                number -= 1
            assert below is not None
            for edge in range(layer.first[pair], layer.first[pair + 1]):
                ways = int(below.completions[layer.target[edge], distance])
                if number < ways:
                    break
                number -= ways
            found.append(int(layer.symbol[edge]))
            pair = int(layer.target[edge])
        return np.array(found, dtype=np.int64)


class CountedWords(FiniteSpace):
    """A finite language under Levenshtein distance.

    The constructor raises `TooLarge` if the tables of any word of the language might exceed the limit (2 GiB). A
    release never does: the size of the tables that a word really needs, often much smaller, would reveal something
    about it. Within the limit are words of up to 20 symbols out of 2, 13 out of 4, 11 out of 26, and 12 steps on a
    grid. Cost: longest word · edges.
    """

    distance: Distance = "levenshtein"

    def __init__(self, language: Language, limits: Limits = DEFAULTS) -> None:
        self.limits = limits
        self._graph, reach, self.words = _measured(Graph.of(language, most=limits.counted_states))
        self.classes = (reach,)
        _refuse_beyond_limit(self._graph, reach, _kind(self.words), limits.counted_numbers)

    @cached_property
    def identity(self) -> str:
        return "levenshtein " + self._graph.identity

    def accepts(self, rows: Codes) -> NDArray[np.bool_]:
        return self._graph.accepts(rows)

    def around(self, codes: Codes) -> CountedSurroundings:
        return CountedSurroundings(codes, self._graph, self.classes[0], self.words)

    def listing(self, reach: int) -> Listing | None:
        return self._listing

    def every(self, length: int, most: int) -> Codes | None:
        return self._of_one_length.every(length, most)

    def uniform(self, length: int, count: int, stream: Stream) -> Codes:
        return self._of_one_length.uniform(length, count, stream)

    def averaged(self, length: int, steps: int) -> tuple[int, int]:
        few = self.limits.averaged_counts
        return (few if self._listing is None else self.limits.compared_words), few

    def least_distance(self, length: int) -> LeastDistance:
        """Exact where words can be listed, and where two words of this length differ in one position."""
        if self._listing is None and self._of_one_length.least_distance(length) == LeastDistance(1, True):
            return LeastDistance(1, True)
        return super().least_distance(length)

    @cached_property
    def _of_one_length(self) -> Runs:
        return Runs(self._graph, self.limits)

    @cached_property
    def _listing(self) -> Listing | None:
        most = self.limits.compared_words
        if self.words > most:
            return None
        lengths = [self._of_one_length.every(length, most) for length in range(1, self.classes[0] + 1)]
        found = [text_of(row) for rows in lengths if rows is not None for row in rows]
        return Listing([""] * bool(self._graph.accepting[self._graph.start]) + found, "levenshtein", self.limits)


def _measured(graph: Graph) -> tuple[Graph, int, int]:
    """The part of a graph from which words can be completed, the length of the longest word, and the number of words.

    Edges that lead nowhere are dropped. Raises `InvalidValue` if the language is empty or infinite.
    """
    forward = [graph.target[graph.first[s] : graph.first[s + 1]].tolist() for s in range(graph.size)]
    useful = set(np.flatnonzero(graph.steps_to(np.flatnonzero(graph.accepting)) < graph.size).tolist())
    if graph.start not in useful:
        raise InvalidValue("the language has no word at all: use a language that has one")
    longest: dict[int, int] = {}
    words: dict[int, int] = {}
    try:
        for state in TopologicalSorter({s: useful.intersection(forward[s]) for s in useful}).static_order():
            ahead = [target for target in forward[state] if target in useful]
            longest[state] = max((longest[target] + 1 for target in ahead), default=0)
            words[state] = sum(words[target] for target in ahead) + int(graph.accepting[state])
    except CycleError:
        raise InvalidValue(
            "under Levenshtein distance this mechanism needs a finite language, but this one has words of any length: "
            f"bound their length, or use the edit channel ({named('mechanism', 'channel')})"
        ) from None
    kept = np.isin(graph.target, list(useful))
    first = np.concatenate([[0], np.cumsum(kept)])[graph.first]
    part = Graph(graph.alphabet, graph.start, graph.symbol[kept], graph.target[kept], first, graph.accepting)
    return part, longest[graph.start], words[graph.start]


def _counted(codes: Codes, graph: Graph, reach: int, kind: type) -> list[_Layer]:
    """All layers, beginning with the first: one forward pass finds the pairs, one backward pass counts completions."""
    states, rows = np.array([graph.start]), np.arange(len(codes) + 1, dtype=np.int32)[None, :]
    steps = []
    while len(states):
        ends = np.where(graph.accepting[states], rows[:, -1], -1)
        source, edge = graph.leaving(states)
        first = np.searchsorted(source, np.arange(len(states) + 1))
        after = _next_rows(rows[source], codes != graph.symbol[edge][:, None])
        kept, target = _distinct(graph.target[edge], after)
        steps.append((first, graph.symbol[edge], target, ends))
        states, rows = graph.target[edge][kept], after[kept]
    layers: list[_Layer] = []
    for first, symbol, target, ends in reversed(steps):
        completions: NDArray[Any] = np.zeros((len(ends), reach + 1), dtype=kind)
        words = np.flatnonzero(ends >= 0)
        completions[words, ends[words]] = 1
        origins = np.flatnonzero(np.diff(first))
        if len(origins):
            completions[origins] += np.add.reduceat(layers[-1].completions[target], first[origins], axis=0)
        layers.append(_Layer(first, symbol, target, ends, completions))
    return layers[::-1]


def _distinct(states: Integers, rows: NDArray[np.int32]) -> tuple[Integers, Integers]:
    """The index of one occurrence of each distinct pair (state, row), and for each input pair its number among them."""
    whole = np.column_stack([states.astype(np.int32), rows])  # each row is compared as a string of bytes
    keys = whole.view(np.dtype((np.void, 4 * whole.shape[1])))[:, 0]
    _, kept, target = np.unique(keys, return_index=True, return_inverse=True)
    return kept, target


def _next_rows(rows: NDArray[np.int32], differs: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The rows after one more symbol; `differs` flags the symbols of the private word that it differs from."""
    positions = np.arange(rows.shape[1], dtype=np.int32)
    after = rows + np.int32(1)  # the symbol is inserted
    np.minimum(after[:, 1:], rows[:, :-1] + differs, out=after[:, 1:])  # it is kept, or substituted
    return np.minimum.accumulate(after - positions, axis=1) + positions  # symbols of the private word are deleted


def _kind(words: int) -> type:
    """The NumPy type of integers that can count this many words exactly."""
    return np.int64 if words < 2**63 else object


def _refuse_beyond_limit(graph: Graph, reach: int, kind: type, most: int) -> None:
    """Raise `TooLarge` if the tables of some private word might hold more than `most` numbers.

    A layer has no more pairs than there are prefixes, and no more than states · possible rows.
    """
    size = 1 if kind is np.int64 else 6  # size of one count, in units of 8 bytes
    prefixes, held, peak = np.zeros(graph.size), 0.0, 0.0
    prefixes[graph.start] = 1.0
    for layer in range(reach + 1):
        pairs = np.minimum(prefixes, rows_at_most(layer, reach) if reach <= ROWS_MATTER else math.inf)
        edges = float(pairs @ np.diff(graph.first))
        held += float(pairs.sum()) * (reach + 1) * size + edges
        peak = max(peak, edges * (4 * (reach + 2) + (reach + 1) * size))
        if held + peak > most:
            raise TooLarge(
                f"counting words by Levenshtein distance might take more than {most} numbers on this language: "
                f"use fewer symbols, list its words ({named('lexicon')}), or use the edit channel "
                f"({named('mechanism', 'channel')})"
            )
        prefixes = np.bincount(graph.target, prefixes[graph.sources], graph.size).astype(np.float64)


@cache
def rows_at_most(layer: int, length: int) -> float:
    """An upper bound on the number of rows of prefixes of `layer` symbols, for private words of up to `length` symbols.

    A row starts with `layer` and changes by at most 1 from position to position; at position j it is at least |layer −
    j| and at most max(layer, j). The rows for shorter private words are prefixes of such rows.
    """
    ways = {layer: 1.0}
    for position in range(1, length + 1):
        ahead: dict[int, float] = {}
        for distance, number in ways.items():
            for after in range(max(distance - 1, abs(layer - position)), min(distance + 1, max(layer, position)) + 1):
                ahead[after] = ahead.get(after, 0.0) + number
        ways = ahead
    return sum(ways.values())
