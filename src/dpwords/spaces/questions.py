"""What can be asked about one position of a word: all answers that are possible, the answer at each position, and its
draw.

A question is asked of one position: which symbol is there, which state the run enters, or which transition it takes.
All possible answers follow from the language, so they are public. An answer is drawn by *subset selection*: some of the
possible ones are named, and the true one is more often among them than any other.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, code_type
from dpwords.core.values import read_only
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language, why_empty
from dpwords.languages.systems import ANY_START
from dpwords.spaces.space import batches

Question = Literal["visits", "transitions", "symbols"]
QUESTIONS: tuple[Question, ...] = get_args(Question)
NO_DISTANCE = "a report names answers, which have no distance from a word: see share_if_true and share_if_not"
_NUMBERS = 5  # held at a time for each possible answer of each draw
ItemSteps = Sequence[tuple[int, int, int, Any]]  # state, symbol, next state, and the item that the step is about


@dataclass(frozen=True, eq=False)
class Answers:
    """The possible answers to a question, and a deterministic automaton that finds the true one at each position.

    Reading a symbol takes an edge, and the edge knows the item. If `first_has_none`, the first symbol of a word is only
    the beginning of a step.
    """

    items: tuple[Any, ...]
    symbols: int  # in the alphabet
    keys: Integers  # state · symbols + symbol of each edge, in ascending order
    target: Integers  # the state that each edge leads to; the start is state 0
    item: Integers  # the number of the item that each edge is about, −1 for none
    first_has_none: bool

    def __post_init__(self) -> None:
        read_only(self.keys, self.target, self.item)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()  # a pickle does not keep arrays read-only

    @classmethod
    def of(cls, edges: ItemSteps, symbols: int, order: Iterable[Any], first_has_none: bool = False) -> Answers:
        """From edges; `order` has all items that can occur, and perhaps others, each once."""
        found = {item for *_, item in edges if item is not None}
        items = tuple(item for item in order if item in found)
        number = {item: position for position, item in enumerate(items)}
        ordered = sorted(
            (state * symbols + symbol, target, number.get(item, -1)) for state, symbol, target, item in edges
        )
        columns = np.array(ordered, dtype=np.int64).reshape(-1, 3).T.copy()
        return cls(items, symbols, columns[0], columns[1], columns[2], first_has_none)

    @property
    def least_length(self) -> int:
        """The length of the shortest words that have an answer."""
        return 2 if self.first_has_none else 1

    @cached_property
    def identity(self) -> str:
        """A hash of the items and of the automaton that finds them."""
        parts = [repr(self.items).encode("utf-8", "surrogatepass")]
        parts += [np.asarray(part, dtype="<i8").tobytes() for part in (self.keys, self.target, self.item)]
        return hashlib.sha256(b"|".join(parts)).hexdigest()

    def at_positions(self, rows: Codes) -> Integers:
        """For each row of symbol codes, a word of the language, the numbers of its items, one for each position.

        Cost: one search in a sorted array for each symbol.
        """
        length, skipped = rows.shape[1], int(self.first_has_none)
        found = np.empty((len(rows), length - skipped), dtype=np.int64)
        state = np.zeros(len(rows), dtype=np.int64)
        for position in range(length):
            edge = np.searchsorted(self.keys, state * self.symbols + rows[:, position].astype(np.int64))
            if position >= skipped:
                found[:, position - skipped] = self.item[edge]
            state = self.target[edge]
        return found


def answers_of(language: Language, question: Question, limits: Limits = DEFAULTS) -> Answers:
    """The possible answers to a question about the words of a language. Cost: the edges of the language."""
    if question not in QUESTIONS:
        raise InvalidValue(f"question is one of {', '.join(map(repr, QUESTIONS))}: choose one of them")
    if question == "visits" and language.system is None:
        raise InvalidValue("visits are of the states of a system, and this language has none: ask for 'symbols'")
    if question == "symbols" or (question == "visits" and language.symbols_are == "states"):
        found = _of_symbols(language)
    elif language.system is None:
        found = _of_pairs(language, limits)
    else:
        found = _of_runs(language, question)
    if len(found.items) > limits.answers:
        raise _too_many(limits)
    if len(found.items) < 2:
        raise InvalidValue(
            f"the question {question!r} has fewer than two possible answers here, so there is nothing to ask: choose "
            "another question"
        )
    return found


def _edges(language: Language) -> list[tuple[int, int, int, Any, Any]]:
    """The edges of a language: state, symbol and next state as numbers, then the two positions that it goes between.

    Free words have one state only, whatever their greatest length is.
    """
    found = (Words(language.alphabet.symbols) if language.alike else language).explored()
    if not found.label:
        raise InvalidValue(why_empty(language))
    codes, positions = language.alphabet.codes, [language.place(state) for state in found.states]
    steps = zip(found.sources.tolist(), found.label, found.target.tolist(), strict=True)
    return [(source, codes[label], target, positions[source], positions[target]) for source, label, target in steps]


def _of_symbols(language: Language) -> Answers:
    """Each symbol is an item, if it can occur."""
    used = sorted({symbol for _, symbol, *_ in _edges(language)})
    symbols = language.alphabet.symbols
    return Answers.of([(0, code, 0, symbols[code]) for code in used], len(symbols), symbols)


def _of_pairs(language: Language, limits: Limits) -> Answers:
    """Each pair of symbols is an item, if one can come directly after the other; the state is the last symbol."""
    before: dict[int, set[int]] = {}
    after: dict[int, set[int]] = {}
    for source, symbol, target, *_ in _edges(language):
        after.setdefault(source, set()).add(symbol)
        before.setdefault(target, set()).add(symbol)
    pairs: set[tuple[int, int]] = set()
    for state, ahead in after.items():
        for last in before.get(state, ()):
            pairs.update((last, symbol) for symbol in ahead)
            if len(pairs) > limits.answers:
                raise _too_many(limits)
    symbols = language.alphabet.symbols
    named = {pair: (symbols[pair[0]], symbols[pair[1]]) for pair in sorted(pairs)}
    first: list[tuple[int, int, int, Any]] = [(0, symbol, symbol + 1, None) for symbol in range(len(symbols))]
    steps = [(last + 1, symbol, symbol + 1, item) for (last, symbol), item in named.items()]
    return Answers.of([*first, *steps], len(symbols), named.values(), first_has_none=True)


def _of_runs(language: Language, question: Question) -> Answers:
    """Each state of the system that a run can enter is an item, or each transition that it can take."""
    states, edges = language.system.states, _edges(language)
    if question == "visits":
        entered = [(source, symbol, target, there) for source, symbol, target, _, there in edges]
        return Answers.of(entered, len(language.alphabet), states)
    moves: list[tuple[int, int, int, Any]] = []
    for source, symbol, target, here, there in edges:
        moves.append((source, symbol, target, None if here is ANY_START else (here, there)))
    position = {state: number for number, state in enumerate(states)}
    order = sorted({move for *_, move in moves if move}, key=lambda move: (position[move[0]], position[move[1]]))
    return Answers.of(moves, len(language.alphabet), order, first_has_none=language.system.start is None)


def _too_many(limits: Limits) -> TooLarge:
    return TooLarge(f"a question may have at most {limits.answers} possible answers: ask about a smaller language")


@dataclass(frozen=True, eq=False)
class Selection:
    """How many of the possible answers are named, and how likely the true one is among them, exactly as it is drawn.

    With the probability of the first weight, the true answer is named, and size − 1 of the others; otherwise size of
    the others. All sets of others are equally likely.
    """

    answers: int  # that are possible, at least 2
    size: int  # how many of them are named
    weights: Scaled  # of naming the true one, and of leaving it out

    @property
    def parameters(self) -> tuple[object, ...]:
        """All numbers that determine the draws, as values whose `repr` is exact."""
        return self.answers, self.size, *(tuple(array.tolist()) for array in self.weights)

    @cached_property
    def _parts(self) -> tuple[float, float]:
        """The probabilities that the true answer is named, and that it is left out."""
        named, left_out = self.weights.relative_to(self.weights.exponent.max(keepdims=True)).tolist()
        return named / (named + left_out), left_out / (named + left_out)

    @property
    def share_if_true(self) -> float:
        """The probability that the true answer is named."""
        return self._parts[0]

    @property
    def share_if_not(self) -> float:
        """The probability that any other answer is named."""
        named, left_out = self._parts
        return (named * (self.size - 1) + left_out * self.size) / (self.answers - 1)

    @cached_property
    def log_proportions(self) -> tuple[float, float]:
        """ln of the probability of one set with the true answer in it, and of one without."""
        named, left_out = self.weights.logs().tolist()
        total = float(scaled.total(self.weights).logs()[0])
        sets = math.lgamma(self.answers) - math.lgamma(self.size) - math.lgamma(self.answers - self.size + 1)
        inside = named - total - sets
        return inside, inside + left_out - named + math.log(self.size) - math.log(self.answers - self.size)

    def exact_proportions(self) -> tuple[Fraction, Fraction]:
        """The exact probability, without any rounding, of one set with the true answer in it, and of one without."""
        named, left_out = sampling.probabilities(self.weights)
        others = self.answers - 1
        return named / math.comb(others, self.size - 1), left_out / math.comb(others, self.size)

    def draw(self, true: Integers, stream: Stream) -> Codes:
        """For each true answer, the numbers of the named ones, in ascending order. Cost: all possible answers."""
        left_out = sampling.choose(self.weights, len(true), stream).astype(np.bool_)
        others = sampling.subsets(self.size - 1 + left_out.astype(np.int64), self.answers - 1, stream)
        named = np.zeros((len(true), self.answers), dtype=np.bool_)
        numbers = np.arange(self.answers - 1)
        np.put_along_axis(named, numbers + (numbers >= true[:, None]), others, axis=1)
        named[np.arange(len(true)), true] = ~left_out
        return np.nonzero(named)[1].reshape(len(true), self.size).astype(code_type(self.answers))


def draw_each(rows: Codes, answers: Answers, selection: Selection, stream: Stream, limits: Limits) -> Codes:
    """For each word, the answers that are named: about one of its positions, all of which are equally likely.

    Cost: the length of the word, and a random number for each possible answer.
    """
    drawn = [np.zeros((0, selection.size), dtype=code_type(selection.answers))]
    for part in batches(len(rows), max(_NUMBERS * selection.answers, rows.shape[1]), limits):
        own = stream.of(part)
        items = answers.at_positions(rows[part])
        positions = sampling.below(items.shape[1], (len(items),), own)
        drawn.append(selection.draw(items[np.arange(len(items)), positions], own))
    return np.concatenate(drawn)


class SelectedLaw:
    """The distribution of the named answers at one word. Outputs are numbers of answers, in ascending order."""

    def __init__(self, codes: Codes, answers: Answers, selection: Selection, limits: Limits = DEFAULTS) -> None:
        self._codes, self._answers, self._selection, self._limits = codes, answers, selection, limits
        self._items = answers.at_positions(codes.reshape(1, -1))[0]

    def _proportion(self, codes: Codes) -> Fraction:
        """The proportion of the positions whose answer is among these."""
        return Fraction(int(np.isin(self._items, codes).sum()), len(self._items))

    def log_prob(self, codes: Codes) -> float:
        proportion = self._proportion(codes)
        parts = zip((proportion, 1 - proportion), self._selection.log_proportions, strict=True)
        return float(np.logaddexp.reduce([math.log(part) + log for part, log in parts if part]))

    def exact(self, codes: Codes) -> Fraction:
        proportion, (inside, outside) = self._proportion(codes), self._selection.exact_proportions()
        return proportion * inside + (1 - proportion) * outside

    def draw(self, count: int, stream: Stream) -> Codes:
        rows = np.broadcast_to(self._codes, (count, len(self._codes)))
        return draw_each(rows, self._answers, self._selection, stream, self._limits)

    def distance_distribution(self) -> Floats:
        raise InvalidValue(NO_DISTANCE)

    def expected_distance(self) -> float:
        raise InvalidValue(NO_DISTANCE)
