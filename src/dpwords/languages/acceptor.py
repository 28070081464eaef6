"""What one deterministic automaton can do: accept and count words, be explored, and run on a system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Alphabet, Symbol, Word, symbols_of
from dpwords.core.values import Value
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.languages.exploring import Explored, State, numbered


class Acceptor(Value, ABC):
    """A set of words that is given as a deterministic automaton: each word has at most one run."""

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

    def explored(self, most: int | None = None) -> Explored:
        """The states that can be reached, the start first, and the edges between them.

        Raises `TooLarge` beyond `most` states. Cost: the edges.
        """
        return numbered([self.initial], self.follow, most)

    @property
    def system(self) -> Any:
        """The transition system whose runs the words are; None for other words."""
        return None

    def place(self, state: Any) -> Any:
        """The state of `system` that a run has reached when the language is in `state`."""
        return state

    def layer(self, state: Any) -> Any:
        """What a state remembers besides its place: the states of rules."""
        return None if self.system is not None else state

    def run(self, moves: Word) -> list[Any]:
        """The states of `system` that a word enters, one after the other, without the start.

        A word of states enters its own symbols; with `start=None` the first of them is the first state. Raises
        `NotInLanguage` for a word outside the language. Cost: the length of the word.

        >>> from dpwords import GridWorld
        >>> GridWorld(15, 15).run("EESS")
        [(0, 1), (0, 2), (1, 2), (2, 2)]
        """
        self._its_system()
        symbols = symbols_of(moves)
        fault = self.fault(symbols)
        if fault is not None:
            raise NotInLanguage(f"the word is not in the language ({fault}): only words of the language can be run")
        return [self.place(state) for state in accumulate(symbols, self.step, initial=self.initial)][1:]

    def moves(self, states: Word) -> list[Any]:
        """The word that enters these states of `system` one after the other, if it is unique: the inverse of `run`.

        Raises `NotInLanguage` if there is none, and `InvalidValue` if there are several.
        """
        word: list[Any] = self._its_system().moves(states)
        if not self.accepts(word):
            raise NotInLanguage("the run of these states is not in the language: only runs of the language have moves")
        return word

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

    def _its_system(self) -> Any:
        if self.system is None:
            raise InvalidValue(
                "only words of a transition system have runs: combine a system with rules, system & rule"
            )
        return self.system
