"""Questions about a population of words, as they are read off hidden runs: which steps or states count as which answer.

The answers to a question are proportions. They are numbered, and each has a label: a symbol, a state, or a pair of
them. Whether a word has a pattern is asked of a *detector*, which reads the word beside its run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Alphabet, Codes, symbols_of
from dpwords.errors import InvalidValue
from dpwords.languages import rules
from dpwords.languages.language import Language
from dpwords.languages.systems import ANY_START
from dpwords.models.hidden import Detector, Hidden
from dpwords.models.population import Model, RunEvidence
from dpwords.spaces.graph import Graph

QuestionKind = Literal["each", "pair", "first", "last", "position"]
NONE = -1  # the number of a step or a state that is no answer


@dataclass(frozen=True, eq=False)
class RunQuestion:
    """What is asked about a run, each state of which has a *key*: a symbol or a state of a system, as a number.

    The answers are keys that a run enters ("each"), pairs of consecutive keys ("pair"), the first key or the last one
    ("first", "last"), or the key at each of so many positions ("position").
    """

    kind: QuestionKind
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
    alphabet: Alphabet, kind: QuestionKind, positions: int = 1, population: Hidden | None = None
) -> RunQuestion:
    """A question about the symbols of words; with a population, only pairs of symbols that it has are answers.

    Without one, no chain is needed, whose size grows with the square of the alphabet.
    """
    return _question(kind, alphabet.symbols, lambda hidden: hidden.symbol, population, False, positions)


def of_states(population: Hidden, language: Language, kind: Literal["each", "pair"]) -> RunQuestion:
    """A question about the states that runs of a system enter, or the steps between them."""
    names = [language.place(state) for state in language.explored().states]
    labels = tuple(dict.fromkeys(name for name in names if name is not ANY_START))
    number = {name: index for index, name in enumerate(labels)}
    of_origin = np.array([number.get(name, NONE) for name in names], dtype=np.int64)

    def keys(hidden: Hidden) -> Integers:
        return of_origin[hidden.origin]

    return _question(kind, labels, keys, population, bool(of_origin[0] != NONE))


def _question(
    kind: QuestionKind,
    labels: tuple[Any, ...],
    keys: Callable[[Hidden], Integers],
    population: Hidden | None,
    first: bool,
    positions: int = 1,
) -> RunQuestion:
    size = len(labels)
    if kind != "pair":
        return RunQuestion(kind, labels, keys, np.arange(size), size, first, positions)
    known = np.arange(size**2)
    if population is not None:
        counted = (population.source != 0) | first
        one, other = keys(population)[population.source[counted]], keys(population)[population.target[counted]]
        known = np.unique(one * size + other)
    pairs = tuple((labels[pair // size], labels[pair % size]) for pair in known.tolist())
    return RunQuestion(kind, pairs, keys, known, size, first)


def counted_proportions(words: dict[int, Codes], population: Hidden, question: RunQuestion) -> Floats:
    """The answers of words as they are. Cost: their symbols."""
    total, whole = np.zeros(question.number), np.zeros(question.number)
    edges = None if question.by_position else question.edges(population)
    for length, rows in words.items():
        taken = population.taken(rows)
        if edges is None:
            reached = enumerate(population.target[taken].T)
            numbers = np.stack([question.states(population, position, length)[states] for position, states in reached])
        else:
            numbers = edges[taken]
        total += np.bincount(numbers[numbers != NONE], minlength=question.number)
        whole += question.sizes(length) * len(rows)
    return np.divide(total, whole, out=np.zeros_like(total), where=whole > 0)


def detector_of(pattern: Any, language: Language) -> Detector:
    """A detector of a pattern: of symbols that follow each other without a gap, or of the words of a rule or Pattern.

    Cost: the states of the pattern, times the symbols of the alphabet.
    """
    if isinstance(pattern, Language):
        return _of_language(pattern.bound_to(language), language.alphabet)
    if not isinstance(pattern, (str, list, tuple)) or not len(pattern):
        raise InvalidValue(
            "a pattern is some symbols in a row, as in 'ab' or ['pay', 'ship'], or a rule or Pattern for whole words"
        )
    symbols = symbols_of(pattern)
    for position, symbol in enumerate(symbols, start=1):
        if symbol not in language.alphabet:
            raise InvalidValue(f"symbol {position} of the pattern is not in the alphabet: use symbols of the alphabet")
    return _of_language(rules.contains(*symbols, alphabet=language.alphabet.symbols), language.alphabet)


def _of_language(pattern: Language, alphabet: Alphabet) -> Detector:
    """The automaton of a language, with a state for what does not belong to it."""
    graph = Graph.of(pattern)
    lost = graph.size
    step = np.full((graph.size + 1, len(alphabet)), lost)
    code = np.array([alphabet.codes.get(symbol, -1) for symbol in graph.alphabet.symbols])[graph.symbol]
    known = code >= 0
    step[graph.sources[known], code[known]] = graph.target[known]
    return Detector(step, np.append(graph.accepting, False))


def followed(model: Model, pattern: Any) -> tuple[RunEvidence, Hidden, RunQuestion]:
    """Runs beside which a pattern is followed: the releases as evidence about them, the population, and the question
    whether a word has the pattern."""
    detector, evidence = detector_of(pattern, model.language), model.evidence
    hidden, edge_was, was = evidence.hidden.detected(detector)
    lengths = tuple(
        replace(
            each,
            hidden=hidden,
            factor=np.broadcast_to(each.factor, len(evidence.hidden.source))[edge_was],
            ending=np.broadcast_to(each.ending, evidence.hidden.size)[was],
        )
        for each in evidence.lengths
    )
    question = RunQuestion("last", (pattern,), _marks, np.array([1]), 2)
    return replace(evidence, lengths=lengths), model.population.detected(detector)[0], question


def _marks(hidden: Hidden) -> Integers:
    assert hidden.marks is not None
    return hidden.marks.astype(np.int64)
