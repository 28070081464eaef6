"""Words that are written in other symbols than those that their language, its distance and its promise are about.

The runs of a system from a known start are an example: they are written as moves, and are about the states entered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords.core.symbols import Alphabet, Codes, Encoder, Ragged, Rows, Symbol, code_type
from dpwords.core.values import Value

UNKNOWN, IMPOSSIBLE = object(), object()  # what is read from a letter that there is not, or that cannot come here
_DENSE = 2**22  # keys that are looked up in a table as long as the largest one, which is quicker


class Spelling(Value):
    """Runs from one start, as the letters of their steps: in no state do two letters lead to the same state.

    So runs, words of letters and words of the states entered determine each other.
    """

    def __init__(self, moves: Mapping[Any, Mapping[Any, Any]], start: Any) -> None:
        self.start = start
        self.moves: dict[Any, dict[Symbol, Any]] = {state: dict(row) for state, row in moves.items()}
        self.alphabet = Alphabet(dict.fromkeys(letter for row in self.moves.values() for letter in row))

    @cached_property
    def _letters(self) -> dict[Any, dict[Any, Symbol]]:
        """For each state, the letter that leads to each other one."""
        return {state: {target: letter for letter, target in row.items()} for state, row in self.moves.items()}

    def read(self, letters: Sequence[Any], at: Any = None) -> tuple[Any, ...]:
        """The states that letters enter; from the first wrong letter on, `UNKNOWN` or `IMPOSSIBLE`.

        `at` is the state before them; None is the start.
        """
        at, found = self.start if at is None else at, []
        for letter in letters:
            if at is not UNKNOWN and at is not IMPOSSIBLE:
                known = letter in self.alphabet
                at = self.moves.get(at, {}).get(letter, IMPOSSIBLE) if known else UNKNOWN
            found.append(at)
        return tuple(found)

    def spell(self, states: Sequence[Any], at: Any = None) -> tuple[Any, ...]:
        """The letters of the steps that enter these states."""
        steps = zip((self.start if at is None else at, *states), states, strict=False)
        return tuple(self._letters[state][entered] for state, entered in steps)


def spelled_alike(one: Spelling | None, other: Spelling | None) -> bool:
    """Whether words are written in the same way. Cost: the number of edges."""
    if one is None or other is None:
        return one is other
    return one is other or (one.start == other.start and one.moves == other.moves)


class SpellingEncoder(Encoder):
    """Turns words of letters into codes of states and back, for many words at a time.

    The codes are those of `alphabet`, the states that the language has. Cost: a look-up for each symbol.
    """

    def __init__(self, alphabet: Alphabet, spelling: Spelling) -> None:
        super().__init__(spelling.alphabet)
        self._size, self._letters = len(alphabet), len(spelling.alphabet)
        self.kind = code_type(max(self._size, self._letters) + 2)
        targets = [target for row in spelling.moves.values() for target in row.values()]
        numbers = {state: number for number, state in enumerate(dict.fromkeys([spelling.start, *targets]))}
        edges = np.array(
            [
                (numbers[state], spelling.alphabet.codes[letter], numbers[target])
                for state, row in spelling.moves.items()
                if state in numbers
                for letter, target in row.items()
            ],
            dtype=np.int64,
        ).reshape(-1, 3)
        self._states = len(numbers)
        self._entered = _Table(edges[:, 0] * self._letters + edges[:, 1], edges[:, 2], self._states + 1)
        letters = edges[:, 1].astype(code_type(self._letters))
        self._letter = _Table(edges[:, 0] * self._states + edges[:, 2], letters, 0)
        codes = [alphabet.codes.get(state, self._size + 1) for state in numbers]
        self._code = np.array([*codes, self._size, self._size + 1], dtype=self.kind)  # last, of what is wrong
        small = self._states * max(self._states, self._letters) < 2**31  # whether keys fit into half of the memory
        self._number = np.zeros(self._size, dtype=np.int32 if small else np.int64)
        for state, number in numbers.items():
            if state in alphabet:
                self._number[alphabet.codes[state]] = number

    def texts(self, words: Sequence[str], length: int) -> Codes | None:
        return self._known(super().texts(words, length))

    def sequences(self, words: Sequence[Sequence[Any]], length: int) -> Codes | None:
        return self._known(super().sequences(words, length))

    def words(self, rows: Rows, kind: type) -> list[Any]:
        found = self.of_letters(rows if isinstance(rows, Ragged) else Ragged.even(rows))
        return super().words(found if isinstance(rows, Ragged) else found.values.reshape(rows.shape), kind)

    def _known(self, rows: Codes | None) -> Codes | None:
        """The codes of states; None if a word is not that of a run."""
        if rows is None:
            return None
        found = self.read(Ragged.even(rows)).values
        return None if found.max(initial=0) >= self._size else found.reshape(rows.shape)

    def read(self, words: Ragged) -> Ragged:
        """The codes of the states that words enter, from codes of letters, of which too large ones are unknown.

        From the first wrong letter on, they are the number of states if it is unknown, and one more if it is
        impossible.
        """
        sizes = words.sizes
        order = np.argsort(-sizes, kind="stable")
        first = (words.ends - sizes)[order]
        longer = len(sizes) - np.cumsum(np.bincount(sizes)) if len(sizes) else np.zeros(0, dtype=np.int64)
        at, found = np.zeros(len(sizes), dtype=np.int64), np.empty(len(words.values), dtype=self.kind)
        for position, number in enumerate(longer[:-1].tolist()):
            places = first[:number] + position
            at, letter = at[:number], words.values[places].astype(np.int64)
            right = (at < self._states) & (letter < self._letters)
            entered = self._entered(np.where(right, at * self._letters + letter, -1))
            at = np.where(right, entered, np.where(at < self._states, self._states, at))
            found[places] = self._code[at]
        return Ragged(found, words.ends)

    def of_letters(self, words: Ragged) -> Ragged:
        """The codes of the letters of words of the language, from codes of states."""
        entered = self._number[words.values]
        left = np.empty_like(entered)
        left[1:] = entered[:-1]
        left[(words.ends - words.sizes)[words.sizes > 0]] = 0  # the number of the start
        left *= self._states
        left += entered
        return Ragged(self._letter(left).astype(code_type(self._letters), copy=False), words.ends)


class Written(Value):
    """Words over an alphabet, and how they are written."""

    alphabet: Alphabet
    spelling: Spelling | None = None  # how words are written, if not in the symbols of the alphabet

    @property
    def letters(self) -> Alphabet:
        """What words are written in: the alphabet, or that of the `spelling`."""
        return self.alphabet if self.spelling is None else self.spelling.alphabet

    def read(self, letters: tuple[Any, ...]) -> tuple[Any, ...]:
        """The symbols of a word, which the distance is about, from the letters in which it is written."""
        return letters if self.spelling is None else self.spelling.read(letters)

    def spell(self, symbols: tuple[Any, ...]) -> tuple[Any, ...]:
        """The letters of a word of the language, from its symbols."""
        return symbols if self.spelling is None else self.spelling.spell(symbols)

    def encoder(self) -> Encoder:
        """What turns written words into codes of symbols and back."""
        return Encoder(self.alphabet) if self.spelling is None else SpellingEncoder(self.alphabet, self.spelling)


class _Table:
    """Numbers by key; what has no key, −1 for example, has another one."""

    def __init__(self, keys: NDArray[np.int64], values: Codes, other: int) -> None:
        order = np.argsort(keys, kind="stable")
        self._keys, self._values, self._other = keys[order], values[order], other
        self._dense: Codes | None = None
        if len(keys) and self._keys[-1] < _DENSE:
            self._dense = np.full(int(self._keys[-1]) + 2, other, dtype=values.dtype)  # last: any other key
            self._dense[keys] = values

    def __call__(self, keys: Codes) -> Codes:
        if not len(self._keys):
            return np.full(len(keys), self._other, dtype=self._values.dtype)
        if self._dense is not None:
            return np.asarray(self._dense[np.minimum(keys, len(self._dense) - 1)])  # −1 is the last one
        found = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.where(self._keys[found] == keys, self._values[found], self._other)
