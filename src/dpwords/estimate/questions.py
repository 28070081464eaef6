"""Questions about a population of words, as they are read off hidden runs: which steps or states count as which answer.

The answers to a question are proportions. They are numbered, and each has a label: a symbol, a state, or a pair of
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.languages.language import Language
from dpwords.languages.systems import ANY_START
from dpwords.models.hidden import Hidden

NONE = -1  # the number of a step or a state that is no answer


@dataclass(frozen=True, eq=False)
class RunQuestion:
    """What is asked about a run, each state of which has a *key*: a symbol or a state of a system, as a number.

    The answers are keys that a run enters ("each"), pairs of consecutive keys ("pair"), the first key or the last one
    ("first", "last"), or the key at each of so many positions ("position").
    """

    kind: Literal["each", "pair", "first", "last", "position"]
    labels: tuple[Any, ...]
    keys: Callable[[Hidden], Integers]  # for each hidden state
    known: Integers  # the keys, or pairs of keys a·size + b, that are answers, in the order of the labels
    size: int  # the number of keys
    first_step: bool = False  # whether the step from the start counts as a pair
    positions: int = 1

    @property
    def number(self) -> int:
        """The number of answers."""
        return len(self.known) * self.positions

    @property
    def by_position(self) -> bool:
        """Whether the state at some position decides, and not every step."""
        return self.kind in ("last", "position")

    def edges(self, hidden: Hidden) -> Integers:
        """For each edge, the number of its answer."""
        keys = self.keys(hidden)
        found = keys[hidden.target]
        if self.kind == "pair":
            found = keys[hidden.source] * self.size + found
        counts = np.full(len(found), True)
        if self.kind == "first":
            counts = hidden.source == 0
        elif self.kind == "pair" and not self.first_step:
            counts = hidden.source != 0
        return np.where(counts, self._numbers(found), NONE)

    def states(self, hidden: Hidden, position: int, length: int) -> Integers:
        """For each state that a word of this length can be in after a position (from 0 on), the number of its
        answer."""
        if self.kind == "last":
            return self._numbers(self.keys(hidden)) if position == length - 1 else np.full(hidden.size, NONE)
        found = self._numbers(self.keys(hidden))
        return np.where(found == NONE, NONE, found + position * len(self.known))

    def sizes(self, length: int) -> Floats:
        """For each answer, the number of answers that a word of this length gives to the question."""
        if self.kind == "position":
            return np.repeat(np.arange(self.positions) < length, len(self.known)).astype(np.float64)
        number = {"each": length, "pair": length if self.first_step else length - 1}.get(self.kind, 1)
        return np.full(self.number, float(number))

    def _numbers(self, keys: Integers) -> Integers:
        order = np.argsort(self.known, kind="stable")
        position = np.minimum(np.searchsorted(self.known, keys, sorter=order), len(order) - 1)
        return np.where(self.known[order[position]] == keys, order[position], NONE)


def of_symbols(
    population: Hidden, kind: Literal["each", "pair", "first", "last", "position"], positions: int = 1
) -> RunQuestion:
    """A question about the symbols of words."""
    symbols = population.alphabet.symbols

    def keys(hidden: Hidden) -> Integers:
        return hidden.symbol

    return _question(kind, symbols, keys, population, False, positions)


def of_states(population: Hidden, language: Language, kind: Literal["each", "pair"]) -> RunQuestion:
    """A question about the states that runs of a system enter, or the steps between them."""
    names = [language.place(state) for state in language.explored().states]
    labels = tuple(dict.fromkeys(name for name in names if name is not ANY_START))
    number = {name: index for index, name in enumerate(labels)}
    of_origin = np.array([number.get(name, NONE) for name in names], dtype=np.int64)

    def keys(hidden: Hidden) -> Integers:
        return of_origin[hidden.origin]

    return _question(kind, labels, keys, population, bool(of_origin[0] != NONE), 1)


def _question(
    kind: Any,
    labels: tuple[Any, ...],
    keys: Callable[[Hidden], Integers],
    population: Hidden,
    first: bool,
    positions: int,
) -> RunQuestion:
    size = len(labels)
    if kind != "pair":
        return RunQuestion(kind, labels, keys, np.arange(size), size, first, positions)
    counted = (population.source != 0) | first
    one, other = keys(population)[population.source[counted]], keys(population)[population.target[counted]]
    known = np.unique(one * size + other)
    pairs = tuple((labels[pair // size], labels[pair % size]) for pair in known.tolist())
    return RunQuestion(kind, pairs, keys, known, size, first)
