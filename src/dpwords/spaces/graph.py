"""A language as arrays of edges."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.core.compiled import kernel_for
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Alphabet, Codes
from dpwords.core.values import read_only, read_only_view
from dpwords.languages.language import Language

Flags = NDArray[np.bool_]


class Edges(NamedTuple):
    """The edges of a graph, in the form that kernels take."""

    first: NDArray[np.int32]
    symbol: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: Floats
    branching: int


@dataclass(frozen=True, eq=False)
class Graph:
    """A language as arrays. Edges are ordered by source: those of state s are first[s], …, first[s+1] − 1.

    The weight of a word is the product of the weights of its edges and of the state where it ends; without `weight`
    and `ending`, all of these are 1.
    """

    alphabet: Alphabet
    start: int
    symbol: Integers
    target: Integers
    first: Integers
    accepting: Flags
    weight: Scaled | None = None  # for each edge
    ending: Scaled | None = None  # for each state, of the words that end in it

    def __post_init__(self) -> None:
        read_only(self.symbol, self.target, self.first, self.accepting)

    def __getstate__(self) -> dict[str, Any]:
        """Without what was computed from these, since some of it is computed only where a private word needs it."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # a pickle does not keep arrays read-only

    @classmethod
    def of(cls, language: Language, most: int | None = None) -> Graph:
        """The reachable part of a language. Raises `TooLarge` beyond `most` states. Cost: its edges."""
        found, codes = language.explored(most), language.alphabet.codes
        return cls(
            alphabet=language.alphabet,
            start=0,
            symbol=np.array([codes[symbol] for symbol in found.label], dtype=np.int64),
            target=found.target,
            first=found.first,
            accepting=np.array([language.is_accepting(state) for state in found.states], dtype=np.bool_),
        )

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.accepting)

    @cached_property
    def branching(self) -> int:
        """The largest number of edges that leave a state."""
        return int(np.diff(self.first).max())

    @cached_property
    def sources(self) -> Integers:
        """The state that each edge leaves."""
        return np.repeat(np.arange(self.size), np.diff(self.first))

    @cached_property
    def identity(self) -> str:
        """A hash of the arrays; graphs with the same hash have the same words."""
        parts = (self.start, self.symbol, self.target, self.first, self.accepting)
        content = b"".join(np.asarray(part, dtype="<i8").tobytes() + b"|" for part in parts)
        return hashlib.sha256(content).hexdigest()

    @cached_property
    def weights_identity(self) -> str:
        """A hash of the arrays and of all weights."""
        numbers = [weights.stored() for weights in (self.weight, self.ending) if weights is not None]
        return hashlib.sha256(self.identity.encode() + b"|".join(numbers)).hexdigest()

    @cached_property
    def state_named(self) -> Integers | None:
        """For words of states: the state that each symbol leads to, −1 for a symbol of no edge.

        None where symbols and the states that they lead to do not determine each other.
        """
        pairs = np.unique(np.stack([self.symbol, self.target]), axis=1)
        if not len(np.unique(pairs[0])) == len(np.unique(pairs[1])) == pairs.shape[1]:
            return None
        named = np.full(len(self.alphabet), -1)
        named[pairs[0]] = pairs[1]
        return named

    @cached_property
    def reversed(self) -> tuple[Integers, Integers]:
        """The sources of the edges into each state: those of state s are sources[first[s]:first[s+1]]."""
        order = np.argsort(self.target, kind="stable")
        return np.searchsorted(self.target[order], np.arange(self.size + 1)), self.sources[order]

    def steps_to(self, states: Integers) -> Integers:
        """The least number of steps from each state to one of some states, or the number of states if there is no way.

        Cost: edges.
        """
        return _steps_from(states, *self.reversed)

    def leaving(self, states: Integers) -> tuple[Integers, Integers]:
        """All edges that leave the given states: for each edge, the index of its state in `states`, and the edge."""
        return _leaving(states, self.first)

    def taken(self, codes: Codes) -> list[int]:
        """The edges that a word of the language takes. Cost: its length times the branching."""
        state, taken = self.start, []
        for code in codes:
            begin = self.first[state]
            taken.append(begin + int(np.flatnonzero(self.symbol[begin : self.first[state + 1]] == code)[0]))
            state = self.target[taken[-1]]
        return taken

    def log_weight(self, codes: Codes) -> float:
        """ln of the weight of a word of the language. Cost: its length times the branching."""
        if self.weight is None or self.ending is None:
            return 0.0
        taken = self.taken(codes)
        return math.fsum([*self.weight.take(taken).logs(), float(self.ending.take(self.target[taken[-1]]).logs())])

    def accepts(self, rows: Codes) -> Flags:
        """For each row of symbol codes, whether it is a word of the language. Cost: symbols · branching."""
        loops = kernel_for("lattice", rows.size * self.branching)
        return np.asarray(loops.accepted(self.edges, self.accepting, self.start, read_only_view(rows)))

    def useful(self, length: int) -> Flags:
        """Row i: the states before symbol i from which a word of this length can be completed. Cost: length · edges."""
        useful = np.zeros((length + 1, self.size), dtype=np.bool_)
        useful[length] = self.accepting
        for position in reversed(range(length)):
            useful[position, self.sources[useful[position + 1, self.target]]] = True
        return useful

    def words(self, length: int, most: int) -> tuple[Integers, Integers] | None:
        """All words of one length, as rows of edges, and the state where each ends; None if there are more than `most`.

        Cost: words · length · branching.
        """
        useful = self.useful(length)
        taken, states = np.zeros((int(useful[0, self.start]), 0), dtype=np.int64), np.array([self.start])
        for position in range(length if len(taken) else 0):
            parents, edges = self.leaving(states)
            kept = useful[position + 1, self.target[edges]]
            parents, edges = parents[kept], edges[kept]
            if len(edges) > most:
                return None
            taken = np.concatenate([taken[parents], edges[:, None]], axis=1)
            states = self.target[edges]
        return taken.reshape(-1, length), states[: len(taken)]

    @cached_property
    def depth(self) -> Integers:
        """For each state, the least number of symbols that lead to it, or the number of states. Cost: edges."""
        return _steps_from(np.array([self.start]), self.first, self.target)

    def reach(self, length: int) -> Integers:
        """reach[i]: the least r such that states 0, …, r − 1 contain every state reachable with at most i symbols."""
        reached = np.flatnonzero(self.depth < self.size)
        furthest = np.zeros(length + 1, dtype=np.int64)
        np.maximum.at(furthest, np.minimum(self.depth[reached], length), reached)
        return np.maximum.accumulate(furthest) + 1

    def within(self, length: int) -> Graph:
        """The part that words of this length can be in, without weights. Its words of this length are the same."""
        states = 1 + int(np.flatnonzero((self.depth < self.size) & (self.depth <= length)).max())
        return self if states == self.size else self.only(np.arange(self.size) < states)

    def only(self, states: Flags) -> Graph:
        """The part that has only these states, in the same order, without weights. The start is one of them."""
        kept, number = states[self.sources] & states[self.target], np.cumsum(states) - 1
        first = np.searchsorted(number[self.sources[kept]], np.arange(number[-1] + 2))
        edges = self.symbol[kept], number[self.target[kept]], first
        return Graph(self.alphabet, int(number[self.start]), *edges, self.accepting[states])

    def live(self, length: int) -> Flags:
        """Row i: the states that can be reached with i symbols. Cost: length · edges; the last result is cached."""
        kept: tuple[int, Flags] | None = self.__dict__.get("_live")  # replaced in one step: threads may share the graph
        if kept is None or kept[0] != length:
            kept = length, np.zeros((length + 1, self.size), dtype=np.bool_)
            kernel_for("lattice", length * len(self.target)).reached(self.edges, self.start, kept[1])
            self.__dict__["_live"] = kept
        return kept[1]

    def visited(self, length: int) -> int:
        """The number of edges that a pass over all layers of words of this length visits."""
        return int((self.live(length)[:-1] @ np.diff(self.first)).sum())

    @cached_property
    def edges(self) -> Edges:
        """The edges, in the form that kernels take."""
        weight = np.ones(len(self.target)) if self.weight is None else self.weight.relative_to(np.zeros(1, np.int64))
        first, symbol, target = (part.astype(np.int32) for part in (self.first, self.symbol, self.target))
        return Edges(first, symbol, target, weight, self.branching)


def _leaving(states: Integers, first: Integers) -> tuple[Integers, Integers]:
    """All edges of some states, of which state s has first[s], …, first[s+1] − 1: see `Graph.leaving`."""
    sizes = first[states + 1] - first[states]
    position = np.repeat(np.arange(len(states)), sizes)
    begin = first[states] - (np.cumsum(sizes) - sizes)
    return position, begin[position] + np.arange(len(position))


def _steps_from(states: Integers, first: Integers, target: Integers) -> Integers:
    """The least number of steps to each state from one of some states, or the number of all if there is no way."""
    size, front, level = len(first) - 1, states, 0
    steps = np.full(size, size)
    while len(front):
        steps[front] = level
        front, level = np.unique(target[_leaving(front, first)[1]]), level + 1
        front = front[steps[front] == size]
    return steps


def edges_taken(start: int, sources: Integers, symbols: Integers, targets: Integers, words: Codes) -> Integers:
    """The edges that words of a deterministic graph take, a row for each word. Cost: symbols · log edges."""
    number = int(symbols.max()) + 1
    keys = sources * number + symbols
    order = np.argsort(keys)
    ordered, state = keys[order], np.full(len(words), start)
    taken = np.zeros(words.shape, dtype=np.int64)
    for position in range(words.shape[1]):
        taken[:, position] = order[np.searchsorted(ordered, state * number + words[:, position])]
        state = targets[taken[:, position]]
    return taken
