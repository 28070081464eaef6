"""Languages as deterministic automata, and the routine that explores every automaton."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Alphabet, Symbol, Word, symbols_of
from dpwords.core.values import Value
from dpwords.errors import InvalidValue, TooLarge

State = Hashable
Edge = tuple[Any, Any, Any]  # state, label, state
Follow = Callable[[Any], Iterable[tuple[Any, Any]]]


def explore(
    starts: Iterable[State], follow: Follow, most: int | None = None
) -> tuple[tuple[Any, ...], tuple[Edge, ...]]:
    """All states reachable from `starts`, in breadth-first order, and all edges between them.

    `follow(state)` yields pairs (label, next state). Raises `TooLarge` if there are more than `most` states.
    Cost: one call of `follow` for each state reached.
    """
    found = dict.fromkeys(starts)
    waiting, edges = deque(found), []
    while waiting:
        state = waiting.popleft()
        if most is not None and len(found) > most:
            raise TooLarge(f"the language may have at most {most} states here: use a smaller one or shorter words")
        for label, successor in follow(state):
            edges.append((state, label, successor))
            if successor not in found:
                found[successor] = None
                waiting.append(successor)
    return tuple(found), tuple(edges)


class Language(Value, ABC):
    """A public set of words, given as a deterministic automaton: each word has at most one run.

    Languages are immutable.
    """

    alphabet: Alphabet
    max_length: int | None = None  # the largest length of a word, if the language declares one
    every_word = False  # whether every word over the alphabet belongs to the language
    alike = False  # whether all words of the same length have equally many words at each distance
    listed = False  # whether the language is given as a list of words
    symbols_are = "symbols"  # what messages call the symbols

    @property
    @abstractmethod
    def initial(self) -> State:
        """The state before the first symbol."""

    @abstractmethod
    def follow(self, state: Any) -> Iterator[tuple[Symbol, Any]]:
        """The symbols that can be read in a state, each with the state it leads to."""

    @abstractmethod
    def step(self, state: Any, symbol: Any) -> Any:
        """The state after reading a symbol of the alphabet, or None if it cannot be read there."""

    @abstractmethod
    def is_accepting(self, state: Any) -> bool:
        """Whether a word may end in this state."""

    def accepts(self, word: Word) -> bool:
        """Whether the word may be released; False for unknown symbols too. Cost: the word's length."""
        return self.fault(symbols_of(word)) is None

    def fault(self, symbols: tuple[Any, ...]) -> str | None:
        """Why the word is not in the language, in a text without any symbol of the word; None if it is in it."""
        state, size = self.initial, len(symbols)
        for place, symbol in enumerate(symbols, start=1):
            if symbol not in self.alphabet:
                return f"symbol {place} of {size} is not in the alphabet"
            state = self.step(state, symbol)
            if state is None:
                return f"symbol {place} of {size} cannot follow the ones before it"
        return None if self.is_accepting(state) else "it ends where no word of the language may end"

    def up_to(self, max_length: int) -> Language:
        """The words of at most this length.

        >>> from dpwords import Words
        >>> Words("ab").up_to(3).accepts("abab")
        False
        """
        return _UpTo(self, max_length)

    def count(self, length: int) -> int:
        """The exact number of words of this length. Cost: length · edges, in integers of arbitrary size."""
        ways: dict[Any, int] = {self.initial: 1}
        for _ in range(whole_number(length, "a length", 0)):
            ahead: Counter[Any] = Counter()
            for state, number in ways.items():
                for _, successor in self.follow(state):
                    ahead[successor] += number
            ways = ahead
        return sum(number for state, number in ways.items() if self.is_accepting(state))


class _UpTo(Language):
    """The words of a language with at most `max_length` symbols; states are pairs (state of the language, length)."""

    def __init__(self, language: Language, max_length: int) -> None:
        self.language, self.alphabet = language, language.alphabet
        self.max_length = self._most = whole_number(max_length, "max_length", 0)

    def __repr__(self) -> str:
        return f"<{self.language!r} up to {self.max_length} symbols>"

    @property
    def initial(self) -> tuple[Any, int]:
        return self.language.initial, 0

    def follow(self, state: tuple[Any, int]) -> Iterator[tuple[Symbol, Any]]:
        at, read = state
        if read < self._most:
            yield from ((symbol, (successor, read + 1)) for symbol, successor in self.language.follow(at))

    def step(self, state: tuple[Any, int], symbol: Any) -> Any:
        at, read = state
        successor = self.language.step(at, symbol) if read < self._most else None
        return None if successor is None else (successor, read + 1)

    def is_accepting(self, state: tuple[Any, int]) -> bool:
        return self.language.is_accepting(state[0])


def checked_language(language: object) -> Language:
    """The argument itself, if it is a language with an initial state; raises `InvalidValue` otherwise.

    Mechanisms call this on construction, so that a wrong argument is reported there and not at the first release.
    """
    if not isinstance(language, Language):
        raise InvalidValue("the language must be a Words, a TransitionSystem, …: pass for example Words('abc')")
    _ = language.initial  # raises InvalidValue for words of moves without a start
    return language
