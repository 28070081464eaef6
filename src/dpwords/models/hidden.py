"""Hidden runs: the runs of a language as a population of them is modelled, seen through released words.

The population is a Markov chain on the language. Its *parameters* are the probabilities of the edges of the language's
graph in their states; on free words, whose graph has one state, those of a symbol after the symbol before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream, uint64
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Alphabet, Codes
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.exploring import numbered
from dpwords.models.state_ratios import Emissions, StateRatios, placed_ratios
from dpwords.spaces.graph import Flags, Graph, edges_taken

_PARTS = 64  # in which sums over many words are made, so that they do not depend on the number of threads
_LEAST_PART = 256  # words


class Layers(NamedTuple):
    """The edges of hidden runs, those that can be taken at position t, order[begin[t]:begin[t + 1]], and the states
    that they lead to, reached[since[t]:since[t + 1]]."""

    source: Integers
    target: Integers
    begin: Integers
    order: Integers
    since: Integers
    reached: Integers


class Incoming(NamedTuple):
    """The edges into each state, edge[first[s]:first[s + 1]], and the states that are possible before each position."""

    first: Integers
    edge: Integers
    live: Flags


class Places(NamedTuple):
    """Which place each position of a word is: numbers that go up or down by one, and end at one for each length."""

    last: dict[int, int]
    step: int

    def at(self, position: int, length: int) -> int:
        """The place of a position; −1 for words of other lengths."""
        return self.last[length] - self.step * (length - 1 - position) if length in self.last else -1


class Detector(NamedTuple):
    """An automaton that reads words over an alphabet, from state 0: step[state, symbol] is the next state."""

    step: Integers
    accepting: Flags


class Expected(NamedTuple):
    """What is expected of the hidden runs of some released words, a column for each of them."""

    log_likelihood: Floats
    uses: Floats  # of each edge
    states: Floats  # probabilities of the states after each symbol, or after the last one only


@dataclass(frozen=True, eq=False)
class Hidden:
    """The hidden states and edges of a language: each state is entered by one symbol only. State 0 is the start.

    `parameter` is, for each edge, the parameter of the population that is its probability.
    """

    alphabet: Alphabet
    source: Integers
    target: Integers
    parameter: Integers
    symbol: Integers  # for each state the symbol that enters it, −1 for the start
    origin: Integers  # for each state the state of the language's graph
    accepting: Flags
    groups: Integers  # for each parameter, the number of its state: the parameters of a state sum to 1
    marks: Flags | None = None  # states that a detector has marked
    place: Integers | None = None  # for each state the place at which it is entered, if it is a state of one only
    places: Places | None = None  # which places the positions of a word are

    def same_runs(self, other: Hidden) -> bool:
        """Whether another one has the same runs and parameters. Cost: the edges."""
        arrays = ("source", "target", "parameter", "symbol", "accepting")
        return self.alphabet.symbols == other.alphabet.symbols and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays
        )

    @classmethod
    def of(cls, graph: Graph) -> Hidden:
        """The hidden states of a graph: pairs of a state and a symbol that enters it. Cost: pairs · branching."""
        pairs, entered = np.unique(np.stack([graph.target, graph.symbol]), axis=1, return_inverse=True)
        origin = np.concatenate([[graph.start], pairs[0]])
        source, parameter = graph.leaving(origin)
        return cls(
            graph.alphabet,
            source,
            1 + entered.ravel()[parameter],
            parameter,
            np.concatenate([[-1], pairs[1]]),
            origin,
            graph.accepting[origin],
            graph.sources,
        )

    @classmethod
    def of_free_words(cls, alphabet: Alphabet, limits: Limits = DEFAULTS) -> Hidden:
        """All words over an alphabet: a state for each symbol, with edges between all of them. Cost: symbols²."""
        number = len(alphabet)
        if number**2 > limits.chain_edges:
            raise TooLarge(
                f"pairs of {number} symbols are more than the limit of {limits.chain_edges} for a chain: merge "
                "symbols, or ask for frequencies, starts or ends"
            )
        source, target = np.divmod(np.arange((number + 1) * number), number)
        states = np.arange(number + 1)
        return cls(
            alphabet, source, 1 + target, np.arange(len(source)), states - 1, states, np.ones(number + 1, bool), source
        )

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.symbol)

    @cached_property
    def first(self) -> Integers:
        """The first edge of each state: edges are ordered by their sources."""
        return np.searchsorted(self.source, np.arange(self.size + 1))

    @cached_property
    def of_symbol(self) -> tuple[Integers, Integers]:
        """The states that each symbol enters: those of symbol a are states[first[a]:first[a + 1]]."""
        order = np.argsort(self.symbol, kind="stable")[1:]  # without the start
        return np.searchsorted(self.symbol[order], np.arange(len(self.alphabet) + 1)), order

    def taken(self, words: Codes) -> Integers:
        """The edges that words of the language take, a row for each. Cost: symbols · log edges."""
        kept = np.arange(len(self.source))
        if self.place is not None:  # the start may have steps for words of all lengths
            layers = self.layers(words.shape[1])
            kept = np.concatenate([layers.order[: layers.begin[1]], kept[self.first[1] :]])
        found = edges_taken(0, self.source[kept], self.symbol[self.target[kept]], self.target[kept], words)
        return np.asarray(kept[found])

    @cached_property
    def _by_place(self) -> tuple[Integers, Integers]:
        """The edges into the states of each place: those of place p are edges[first[p]:first[p + 1]]."""
        assert self.place is not None
        place = self.place[self.target]
        order = np.argsort(place, kind="stable")
        return np.searchsorted(place[order], np.arange(int(place.max()) + 2)), order

    def _edges_at(self, position: int, length: int) -> Integers | slice:
        """The edges that can be taken at a position, and perhaps others."""
        if self.places is None:
            return slice(None)
        first, order = self._by_place
        place = self.places.at(position, length)
        return order[first[place] : first[place + 1]] if 0 <= place < len(first) - 1 else order[:0]

    def layers(self, length: int) -> Layers:
        """The edges that words of this length can take at each position. Cost: length · edges."""
        useful = np.zeros((length + 1, self.size), dtype=np.bool_)
        useful[length] = self.accepting
        every = np.arange(len(self.source))
        edges = [every[self._edges_at(position, length)] for position in range(length)]
        for position in reversed(range(length)):
            some = edges[position]
            useful[position, self.source[some[useful[position + 1, self.target[some]]]]] = True
        reached = np.zeros(self.size, dtype=np.bool_)
        reached[0] = True
        order, there = [], []
        for position, some in enumerate(edges):
            taken = some[reached[self.source[some]] & useful[position + 1, self.target[some]]]
            order.append(taken)
            reached = np.zeros(self.size, dtype=np.bool_)
            reached[self.target[taken]] = True
            there.append(np.flatnonzero(reached))
        begin, since = (np.cumsum([0, *map(len, parts)]) for parts in (order, there))
        return Layers(self.source, self.target, begin, np.concatenate(order), since, np.concatenate(there))

    def completing(self, chances: Floats, length: int) -> Floats:
        """For each position, the probability of each edge in its state, given that a word of this length is completed.

        `chances` are the probabilities of the parameters, or any weights of them. Cost: length · edges.
        """
        chance, left, layers = chances[self.parameter], self.accepting.astype(np.float64), self.layers(length)
        steps = np.zeros((length, len(chance)))
        for position in reversed(range(length)):
            taken = layers.order[layers.begin[position] : layers.begin[position + 1]]
            if not len(taken):
                raise InvalidValue(f"the language has no word of length {length}: choose another length")
            weight = chance[taken] * left[self.target[taken]]
            left = np.bincount(self.source[taken], weight, self.size).astype(np.float64)
            if not left.any():
                raise InvalidValue(f"the chain produces no word of length {length}: choose another length or chain")
            steps[position, taken] = weight / np.where(left > 0, left, 1.0)[self.source[taken]]
            left /= left.max()
        return steps

    def paired(self, limits: Limits = DEFAULTS) -> Hidden:
        """The same runs with the edges as states, so that an edge of the result is a pair of consecutive edges.

        Cost: their number.
        """
        out = np.bincount(self.source, minlength=self.size)
        if int(out[self.target].sum()) > limits.chain_edges:
            raise TooLarge(
                f"pairs of consecutive steps are more than the limit of {limits.chain_edges}: use a smaller system"
            )
        ends = np.concatenate([[0], self.target])
        sizes = out[ends]
        source = np.repeat(np.arange(len(ends)), sizes)
        edge = np.repeat(self.first[ends] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(source))
        return self.refined(ends, edge, source, 1 + edge)

    def detected(self, detector: Detector) -> tuple[Hidden, Integers, Integers]:
        """The same runs, beside which a detector reads their symbols; states where it has accepted are marked.

        Also, for each edge and for each state, the one that it was. Cost: edges of the result.
        """

        def follow(pair: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
            for edge in range(self.first[pair[0]], self.first[pair[0] + 1]):
                target = int(self.target[edge])
                yield edge, (target, int(detector.step[pair[1], self.symbol[target]]))

        found = numbered([(0, 0)], follow)
        was, at = np.array(found.states).T
        edge_was = np.array(found.label)
        beside = self.refined(was, edge_was, found.sources, found.target)
        return replace(beside, marks=detector.accepting[at]), edge_was, was

    def refined(self, was: Integers, edge_was: Integers, source: Integers, target: Integers) -> Hidden:
        """The same runs with more states: for each state and each edge, the one that it was."""
        return Hidden(
            self.alphabet,
            source,
            target,
            self.parameter[edge_was],
            self.symbol[was],
            self.origin[was],
            self.accepting[was],
            self.groups,
            place=None if self.place is None else self.place[was],
            places=self.places,
        )


@dataclass(frozen=True, eq=False)
class Pass:
    """Passes over released words of one length. Cost of each: words · edges of all layers, on all cores.

    The weight of a run is the product of the chances of its parameters; `factor` and `ending` multiply the weight of
    each edge, and of each accepting state at the end of a run.
    """

    hidden: Hidden
    seen: Emissions
    limits: Limits = DEFAULTS
    factor: Floats | float = 1.0
    ending: Floats | float = 1.0

    @property
    def length(self) -> int:
        """The length of the words."""
        return int(self.seen.rows.shape[1])

    def weights(self, chances: Floats) -> tuple[Floats, Floats]:
        """The weight of each edge, and of each state at the end of a run."""
        return chances[self.hidden.parameter] * self.factor, self.hidden.accepting * np.asarray(self.ending)

    @cached_property
    def layers(self) -> Layers:
        """The edges that can be taken at each position."""
        return self.hidden.layers(self.length)

    @cached_property
    def _placed(self) -> tuple[Integers, StateRatios]:
        """A row for each word and position, and the likelihood ratios of hidden states in each row."""
        hidden, places = self.hidden, None
        if hidden.places is not None:
            places = np.array([hidden.places.at(position, self.length) for position in range(self.length)])
        return placed_ratios(self.seen, hidden.symbol, len(hidden.alphabet), hidden.place, places)

    @property
    def state_ratios(self) -> StateRatios:
        """The likelihood ratios of hidden states in each row."""
        return self._placed[1]

    @property
    def rows(self) -> Integers:
        """For each word and position, its row of likelihood ratios."""
        return self._placed[0]

    @cached_property
    def parts(self) -> list[slice]:
        """The parts in which words are treated, whatever the number of threads."""
        number = len(self.seen.rows)
        by_position = self.length * self.hidden.size // 2  # what is known of states at all positions is kept, too
        most = max(self.limits.batch // max(len(self.hidden.source), by_position), 1)
        size = min(most, max(_LEAST_PART, -(-number // _PARTS)))
        return [slice(begin, min(begin + size, number)) for begin in range(0, number, size)]

    def log_likelihoods(self, chances: Floats) -> Floats:
        """For each word, ln of the sum of the weights of all hidden runs, times their likelihood ratios."""
        found, loops, weights = np.zeros(len(self.seen.rows)), kernel("hidden"), self.weights(chances)

        def work(part: slice) -> None:
            seen = self.state_ratios, self.rows[part], found[part]
            loops.log_likelihoods(self.layers, *weights, *seen)

        in_parts(work, len(found), cost=len(self.layers.order), most=self.limits.threads)
        return found

    def expected(self, part: slice, chances: Floats, every_position: bool = False) -> Expected:
        """What is expected of the hidden runs of some of the words."""
        rows = self.rows[part]
        likelihood, uses = np.zeros(len(rows)), np.zeros((len(self.hidden.source), len(rows)))
        states = np.zeros((rows.shape[1] if every_position else 1, self.hidden.size, len(rows)))
        runs = self.layers, *self.weights(chances), self.state_ratios
        kernel("hidden").expected(*runs, rows, likelihood, uses, states)
        return Expected(likelihood, uses, states)

    def sampled(self, chances: Floats, runs: int, stream: Stream) -> Integers:
        """For each word so many hidden runs, drawn from their distribution given the word, as edges."""
        words, length = self.seen.rows.shape
        uniform = uniform_numbers(stream, (words, runs, length + 1))
        taken = np.zeros((words, runs, length), dtype=np.int64)
        weighted = self.layers, self.incoming, *self.weights(chances), self.state_ratios

        def work(part: slice) -> None:
            kernel("hidden").sampled(*weighted, self.rows[part], uniform[part], taken[part])

        in_parts(work, words, cost=len(self.layers.order), most=self.limits.threads)
        return taken

    @cached_property
    def incoming(self) -> Incoming:
        """The edges into each state, and the states that are possible before each position."""
        order = np.argsort(self.hidden.target, kind="stable")
        first = np.searchsorted(self.hidden.target[order], np.arange(self.hidden.size + 1))
        live = np.zeros((self.seen.rows.shape[1], self.hidden.size), dtype=np.bool_)
        live[0, 0] = True
        for position, reached in enumerate(np.split(self.layers.reached, self.layers.since[1:-2]), start=1):
            live[position, reached] = True
        return Incoming(first, order, live)


def uniform_numbers(stream: Stream, shape: tuple[int, ...]) -> Floats:
    """Independent numbers, uniform between 0 and 1."""
    return uint64(stream, shape).astype(np.float64) * 2.0**-64


def symbol_proportions(states: Floats, hidden: Hidden) -> Floats:
    """From the probabilities of states, as in `Expected`, those of the symbols that enter them."""
    first, order = hidden.of_symbol
    entered = np.flatnonzero(np.diff(first))
    sums = np.zeros((states.shape[0], len(hidden.alphabet), states.shape[2]))
    several = len(order) > len(entered)  # otherwise each symbol enters one state, and there is nothing to add
    sums[:, entered] = np.add.reduceat(states[:, order], first[entered], axis=1) if several else states[:, order]
    return sums
