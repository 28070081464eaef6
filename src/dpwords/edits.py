"""All words of a finite language by their Levenshtein distance from a private word, counted without listing them.

A prefix of an output is known by its state in the language and by its *row*: its distance to each prefix of the private
word. The row after one more symbol follows from the row before it, so pairs (state, row) make a deterministic
automaton. Layer i of it holds the pairs that prefixes of i symbols reach; going back from the last layer, each pair
gets the number of its completions at each distance, in exact integers.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords import exhaustive, laws, sampling, scaled
from dpwords.automata import Language
from dpwords.errors import InvalidValue, TooLarge
from dpwords.lattice import Graph
from dpwords.listing import Listing, Surroundings, codes_of
from dpwords.randomness import SeededSource, Stream
from dpwords.scaled import Integers, Scaled
from dpwords.words import levenshtein

MOST_STATES = 10**6  # of the language
MOST_NUMBERS = 2**26  # in all tables of one word; half a gigabyte
_AVERAGED = 8  # words that stand for all of a length in the public expected distance


@dataclass(frozen=True, eq=False)
class _Layer:
    """The pairs (state, row) that prefixes of one length reach; edges of pair p from first[p] to first[p + 1]."""

    first: Integers
    symbol: Integers
    target: Integers  # pairs of the next layer
    ends: Integers  # the distance of the prefix itself, if it is a word; else −1
    completions: NDArray[Any]  # integers: of each pair (row) at each distance


class EditShells:
    """The words of a language by their distance from a word of it: exact counts, exactly uniform draws.

    Cost: edges · length for each pair (state, row), of which there may be many: `TooLarge` is said before more than
    2^26 numbers are held. A word drawn costs its length times the branching.
    """

    def __init__(self, codes: Integers, graph: Graph, reach: int, words: int) -> None:
        self.codes = codes
        self._layers = _counted(codes, graph, reach, np.int64 if words < 2**63 else object)
        self.counts: list[int] = [int(number) for number in self._layers[0].completions[0]]
        self.sizes: Scaled = scaled.from_integers(self.counts)
        self.footprint = reach + 1

    def distance(self, codes: Integers) -> int:
        """How far a word is from the private one."""
        return levenshtein(codes.tolist(), self.codes.tolist())

    def draw(self, distances: Integers, stream: Stream) -> list[Integers]:
        """For each distance a uniform word at exactly that distance: the one with a uniform number."""
        return [self._numbered(sampling.integer_below(self.counts[d], stream), d) for d in distances.tolist()]

    def _numbered(self, number: int, distance: int) -> Integers:
        """One of the words at a distance; numbers 0, 1, … up to their count give each of them once."""
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


class Edits(Surroundings):
    """A finite language under Levenshtein distance. Cost: its edges."""

    distance = "levenshtein"

    def __init__(self, language: Language) -> None:
        self._graph, reach, self.words = _measured(Graph.of(language, most=MOST_STATES))
        self.classes = [reach]

    def shells(self, codes: Integers) -> EditShells:
        return EditShells(codes, self._graph, self.classes[0], self.words)

    def listing(self, reach: int) -> Listing | None:
        """All words, if there are at most 1,024."""
        return self._listing

    def typical(self, length: int) -> tuple[list[Integers], Integers]:
        uniform = laws.uniform(self._graph, length)
        if uniform.log_total == -math.inf:
            raise InvalidValue(f"the language has no word of length {length}: choose another length")
        if self._listing is not None:
            words = [codes_of(text) for text in self._listing.texts if len(text) == length]
            return words, np.ones(len(words), dtype=np.int64)
        drawn = uniform.draw(_AVERAGED, SeededSource("typical words").open())
        rows, times = np.unique(drawn, axis=0, return_counts=True)
        return list(rows), times

    @cached_property
    def identity(self) -> str:
        graph = self._graph
        parts = (graph.start, graph.symbol, graph.target, graph.first, graph.accepting)
        content = b"".join(np.asarray(part, dtype="<i8").tobytes() + b"|" for part in parts)
        return hashlib.sha256(b"levenshtein" + content).hexdigest()

    @cached_property
    def _listing(self) -> Listing | None:
        if self.words > exhaustive.PAIRS_LIMIT:
            return None
        graph, found = self._graph, []
        waiting = [(graph.start, "")]
        while waiting:
            state, text = waiting.pop()
            if graph.accepting[state]:
                found.append(text)
            for edge in range(graph.first[state], graph.first[state + 1]):
                waiting.append((int(graph.target[edge]), text + chr(graph.symbol[edge])))
        return Listing(found, "levenshtein")


def _measured(graph: Graph) -> tuple[Graph, int, int]:
    """The part of a graph that is on the way to a word, the length of the longest word, and the number of words."""
    forward = [graph.target[graph.first[s] : graph.first[s + 1]].tolist() for s in range(graph.size)]
    backward: list[list[int]] = [[] for _ in forward]
    for state, targets in enumerate(forward):
        for target in targets:
            backward[target].append(state)
    useful = set(np.flatnonzero(graph.accepting).tolist())
    waiting = list(useful)
    while waiting:
        new = set(backward[waiting.pop()]) - useful
        useful |= new
        waiting.extend(new)
    if graph.start not in useful:
        raise InvalidValue("the language has no word at all: take one that has")
    longest: dict[int, int] = {}
    words: dict[int, int] = {}
    try:
        for state in TopologicalSorter({s: useful.intersection(forward[s]) for s in useful}).static_order():
            ahead = [target for target in forward[state] if target in useful]
            longest[state] = max((longest[target] + 1 for target in ahead), default=0)
            words[state] = sum(words[target] for target in ahead) + int(graph.accepting[state])
    except CycleError:
        raise InvalidValue(
            "under Levenshtein distance a language has to be finite, and this one has words of any length: bound it, "
            "for example with .up_to(12)"
        ) from None
    kept = np.isin(graph.target, list(useful))
    first = np.concatenate([[0], np.cumsum(kept)])[graph.first]
    part = Graph(graph.alphabet, graph.start, graph.symbol[kept], graph.target[kept], first, graph.accepting)
    return part, longest[graph.start], words[graph.start]


def _counted(codes: Integers, graph: Graph, reach: int, kind: type) -> list[_Layer]:
    """All layers, the first one first."""
    length, held = len(codes), 0
    size = 1 if kind is np.int64 else 6  # of a count, in numbers of 8 bytes
    states, rows = np.array([graph.start]), np.arange(length + 1, dtype=np.int32)[None, :]
    steps = []
    while len(states):
        ends = np.where(graph.accepting[states], rows[:, -1], -1)
        fan = graph.first[states + 1] - graph.first[states]
        first = np.concatenate([[0], np.cumsum(fan)])
        held += len(states) * (reach + 1) * size + int(first[-1])
        _refuse_beyond_limit(held + int(first[-1]) * (4 * (length + 2) + (reach + 1) * size), length)
        source = np.repeat(np.arange(len(states)), fan)
        edge = np.arange(first[-1]) - first[source] + graph.first[states][source]
        after = np.column_stack([graph.target[edge], _next_rows(rows[source], codes != graph.symbol[edge][:, None])])
        pairs, target = np.unique(after, axis=0, return_inverse=True)
        steps.append((first, graph.symbol[edge], target.reshape(-1), ends))
        states, rows = pairs[:, 0].astype(np.int64), pairs[:, 1:].astype(np.int32)
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


def _next_rows(rows: NDArray[np.int32], differs: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The rows after one more symbol, which differs from some symbols of the private word and equals others."""
    places = np.arange(rows.shape[1], dtype=np.int32)
    after = rows + np.int32(1)  # the symbol is inserted
    np.minimum(after[:, 1:], rows[:, :-1] + differs, out=after[:, 1:])  # it is kept, or substituted
    return np.minimum.accumulate(after - places, axis=1) + places  # symbols of the private word are deleted


def _refuse_beyond_limit(needed: int, length: int) -> None:
    if needed > MOST_NUMBERS:
        raise TooLarge(
            f"counting words by Levenshtein distance from one of {length} symbols takes more than {MOST_NUMBERS} "
            "numbers on this language: bound it by fewer symbols, or list its words in a Lexicon"
        )
