"""Markov chains on a language: how likely its words are, as a population that was fitted or as a public assumption."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes, Word, symbols_of
from dpwords.errors import InvalidValue
from dpwords.languages.exploring import numbered
from dpwords.languages.language import Language, checked_language
from dpwords.languages.systems import ANY_START, written
from dpwords.models.hidden import Hidden, uniform_numbers
from dpwords.models.refined import ModelShape
from dpwords.spaces.choice import graph_of

_ROUNDING = 1e-6  # by which the probabilities of a state may miss 1
_USUAL = 0.9  # of the step that is usual in each state of a predictable chain: an example, not a measurement


class MarkovChain(ABC):
    """A Markov chain on a language: in each state, the probabilities of what comes next."""

    language: Language
    shape: ModelShape

    @property
    @abstractmethod
    def population(self) -> Hidden:
        """The runs, as the chain has them."""

    @property
    @abstractmethod
    def chances(self) -> Floats:
        """The parameters: the probability of each step in its state."""

    @property
    def transitions(self) -> dict[Any, dict[Any, float]]:
        """{state: {symbol: probability}}; on free words the states are symbols, and None is the start of a word."""
        hidden, symbols = self.shape.base, self.language.alphabet.symbols
        table: dict[Any, dict[Any, float]] = {}
        names = self._state_names()
        chances = self._rows()[hidden.parameter].tolist()
        entered = hidden.symbol[hidden.target].tolist()
        for source, symbol, chance in zip(hidden.origin[hidden.source].tolist(), entered, chances, strict=True):
            table.setdefault(names[source], {})[symbols[symbol]] = chance
        return table

    def _rows(self) -> Floats:
        """The probability of each step of the homogeneous chain in its state."""
        return self.chances

    def _state_names(self) -> list[Any]:
        if self.language.alike:
            return [None, *self.language.alphabet.symbols]
        states = self.language.explored().states
        places = [self.language.place(state) for state in states]
        return places if len(set(places)) == len(places) else list(states)

    def log_prob(self, word: Word) -> float:
        """The natural logarithm of the probability of a word among all of its length that the chain can produce.

        Cost: its length · edges.
        """
        symbols = symbols_of(word)
        fault = self.language.fault(symbols)
        if fault is not None or not symbols:
            return -np.inf
        codes = np.array([[self.language.alphabet.codes[symbol] for symbol in self.language.read(symbols)]])
        return float(self.log_probs(codes)[0])

    def log_probs(self, rows: Codes) -> Floats:
        """The same for several words of the language, all of one length, as rows of symbol codes."""
        positions = np.arange(rows.shape[1])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self._steps(len(positions))[positions, self.population.taken(rows)]).sum(axis=1))

    def simulate(self, length: int, draws: int, seed: int | str) -> list[tuple[Any, ...]]:
        """Words of this length drawn from the chain: synthetic data, at no further privacy cost.

        Cost: length · edges, and the length for each word.
        """
        positions, number = whole_number(length, "length", 1), whole_number(draws, "draws", 0)
        words = self.drawn(positions, number, SeededSource(seed).open())
        return self.language.encoder().words(words, tuple)

    def drawn(self, positions: int, number: int, stream: Stream) -> Codes:
        """The same as rows of symbol codes, with the bits of a stream."""
        steps = self._steps(positions)
        uniform = uniform_numbers(stream, (positions, number))
        state, hidden, first = np.zeros(number, dtype=np.int64), self.population, self.population.first
        words = np.zeros((number, positions), dtype=np.int64)
        for position in range(positions):
            total = np.concatenate([[0.0], np.cumsum(steps[position])])
            below = total[first[state]] + uniform[position] * (total[first[state + 1]] - total[first[state]])
            edge = np.clip(np.searchsorted(total, below, side="right") - 1, first[state], first[state + 1] - 1)
            state = hidden.target[edge]
            words[:, position] = hidden.symbol[state]
        return words

    def marginals(self, length: int) -> Floats:
        """For each position of a word of this length (row) the probability of each symbol. Cost: length · edges."""
        steps, hidden = self._steps(length), self.population
        found, reached = np.zeros((length, len(hidden.alphabet))), np.zeros(hidden.size)
        reached[0] = 1.0
        for position in range(length):
            taken = reached[hidden.source] * steps[position]
            reached = np.bincount(hidden.target, taken, hidden.size).astype(np.float64)
            found[position] = np.bincount(hidden.symbol[1:], reached[1:], len(hidden.alphabet))
        return found

    def likeliest(self, length: int) -> tuple[Codes, float]:
        """The most likely word of this length, as symbol codes, and its probability. Cost: length · edges."""
        hidden = self.population
        with np.errstate(divide="ignore"):
            steps = np.log(self._steps(length))
        best, came = np.full(hidden.size, -np.inf), np.zeros((length, hidden.size), dtype=np.int64)
        best[0] = 0.0
        for position in range(length):
            values = best[hidden.source] + steps[position]
            order = np.argsort(values, kind="stable")  # the largest comes last, and is what remains
            best = np.full(hidden.size, -np.inf)
            best[hidden.target[order]], came[position, hidden.target[order]] = values[order], hidden.source[order]
        state, word = int(best.argmax()), np.zeros(length, dtype=np.int64)
        logarithm = float(best[state])
        for position in reversed(range(length)):
            word[position], state = hidden.symbol[state], int(came[position, state])
        return word, float(np.exp(logarithm))

    def _steps(self, length: int) -> Floats:
        """For each position, the probability of each edge in its state, given that a word of this length ends."""
        return self.population.completing(self.chances, length)


@dataclass(frozen=True, eq=False)
class Chain(MarkovChain):
    """A Markov chain on a language that is known beforehand: a public assumption, not a fit; see `estimate.chain`."""

    language: Language
    shape: ModelShape
    weights: Floats

    def __repr__(self) -> str:
        return f"<Chain: a Markov chain on {self.language!r}>"

    @cached_property
    def population(self) -> Hidden:
        return self.shape.runs().hidden

    @property
    def chances(self) -> Floats:
        return self.weights

    @classmethod
    def uniform(cls, language: Language, limits: Limits = DEFAULTS) -> Chain:
        """All words of the language of one length are equally likely: all steps have the same weight."""
        population = hidden_runs(language, limits)
        return cls(language, ModelShape(population, limits=limits), np.ones(len(population.groups)))

    @classmethod
    def predictable(cls, language: Language, limits: Limits = DEFAULTS) -> Chain:
        """In each state, one step is taken in 9 of 10 cases, and the others are equally likely: an example of a
        population that somebody knows well. On free words, the usual symbol is the next one of the alphabet.

        Cost: the edges.
        """
        population = hidden_runs(language, limits)
        groups = population.groups
        sizes = np.bincount(groups)[groups]
        order = np.argsort(groups, kind="stable")
        rank = np.empty_like(groups)
        rank[order] = np.arange(len(groups)) - np.searchsorted(groups[order], groups[order])
        rare = (1 - _USUAL) / np.maximum(sizes - 1, 1)
        weights = np.where(rank == groups % sizes, np.where(sizes > 1, _USUAL, 1.0), rare)
        return cls(language, ModelShape(population, limits=limits), weights)

    @classmethod
    def of(cls, language: Language, transitions: Mapping[Any, Mapping[Any, float]], limits: Limits = DEFAULTS) -> Chain:
        """The chain with these probabilities, {state: {symbol: probability}}; raises `InvalidValue` if it is none."""
        population = hidden_runs(checked_language(language), limits)
        rows = _checked_rows(language, transitions)
        found = cls(language, ModelShape(population, limits=limits), np.zeros(len(population.groups)))
        names, symbols = found._state_names(), language.alphabet.symbols
        entered, used = population.symbol[population.target], {state: set[Any]() for state in rows}
        for parameter, edge in zip(*np.unique(population.parameter, return_index=True), strict=True):
            name = names[population.origin[population.source[edge]]]
            state = _key(language, name, rows)
            if state in rows:
                symbol = symbols[entered[edge]]
                found.weights[parameter] = rows[state].get(symbol, 0.0)
                used[state].add(symbol)
        for state, row in rows.items():
            if any(row[symbol] > 0 for symbol in set(row) - used[state]):
                raise InvalidValue(f"{_row_name(state)} has a step that the language does not have: leave it out")
        _check_reached(found, names, rows)
        return found


def same_runs(one: Language, other: Language, limits: Limits = DEFAULTS) -> bool:
    """Whether two languages have the same hidden runs, so that a chain on one is a chain on the other.

    Cost: the edges.
    """
    return one is other or hidden_runs(one, limits).same_runs(hidden_runs(other, limits))


def hidden_runs(language: Language, limits: Limits = DEFAULTS) -> Hidden:
    """The hidden runs of a language. Cost: its edges; for free words the square of the number of symbols."""
    if language.alike:
        return Hidden.of_free_words(language.alphabet, limits)
    return Hidden.of(graph_of(language))


@dataclass(frozen=True, eq=False)
class PriorWords:
    """How likely each private word of a language is, for somebody who has seen nothing."""

    language: Language
    chain: MarkovChain | None = None  # None if all words of a length are equally likely
    limits: Limits = DEFAULTS

    @property
    def is_uniform(self) -> bool:
        return self.chain is None

    @cached_property
    def known(self) -> MarkovChain:
        """The chain that the words come from."""
        return self.chain or Chain.uniform(self.language, self.limits)


def _checked_rows(language: Language, transitions: object) -> dict[Any, dict[Any, float]]:
    """The rows of a table of probabilities, each of which sums to 1."""
    if not isinstance(transitions, Mapping) or not transitions:
        raise InvalidValue(
            "a chain is a table {state: {symbol: probability}}: pass a mapping with a row for each state"
        )
    rows: dict[Any, dict[Any, float]] = {}
    for state, row in transitions.items():
        if not isinstance(row, Mapping):
            raise InvalidValue(f"{_row_name(state)} is no table: write it as {{symbol: probability}}")
        if not all(_is_proportion(proportion) for proportion in row.values()):
            raise InvalidValue(f"{_row_name(state)} has what is no probability: use numbers from 0 to 1")
        if not set(row) <= set(language.alphabet.symbols):
            raise InvalidValue(f"{_row_name(state)} has a symbol that is not in the alphabet: leave it out")
        total = float(sum(row.values()))
        if abs(total - 1) > _ROUNDING:
            raise InvalidValue(f"{_row_name(state)} sums to {total:.6g}: the probabilities of a state sum to 1")
        rows[state] = {symbol: float(proportion) / total for symbol, proportion in row.items()}
    return rows


def _is_proportion(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and 0 <= float(value) <= 1 + _ROUNDING


def _key(language: Language, name: Any, rows: Mapping[Any, Any]) -> Any:
    """The state whose row belongs to a state of the language: the state itself, or its place in the system."""
    if name in rows:
        return name
    place = name if language.alike else language.place(name)
    return None if place is ANY_START else place


def _check_reached(chain: Chain, names: Sequence[Any], rows: Mapping[Any, Any]) -> None:
    """Refuse a chain that reaches a state for which it has no row, although the language goes on from there."""
    hidden = chain.population
    used = chain.weights[hidden.parameter] > 0

    def follow(state: int) -> Iterator[tuple[int, int]]:
        return ((edge, int(hidden.target[edge])) for edge in range(*hidden.first[state : state + 2]) if used[edge])

    for state in sorted(numbered([0], follow).states):
        name = _key(chain.language, names[hidden.origin[state]], rows)
        if name not in rows and hidden.first[state] < hidden.first[state + 1]:
            raise InvalidValue(f"{_row_name(name)} is missing, and the chain reaches that state: add a row for it")


def _row_name(state: Any) -> str:
    return "the row of the start (None)" if state is None else f"the row of state {written(state)}"
