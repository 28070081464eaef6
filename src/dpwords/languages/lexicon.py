"""Finite sets of words: dictionaries, code lists, gazetteers."""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from dpwords.core.checks import collection, whole_number
from dpwords.core.symbols import Alphabet, Symbol, Word, is_hashable, same_kind, symbols_of
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language

Interval = tuple[int, int, int]  # symbols read; first and last + 1 of the words that begin with them


class Lexicon(Language):
    """The words of a list, each once; a word is a str, a list or a tuple.

    The alphabet is that of the words, sorted, unless one is given; like the words it is public. Words are kept in a
    sorted table, as texts of code points that stand for the symbols; a state is an interval of it. Lines of a file
    end with a newline, which would be a symbol: strip it. Cost: sorting the words, 0.5 seconds for 100,000.

    >>> cities = Lexicon(["berlin", "bern", "bonn"])
    >>> cities.accepts("bern"), cities.accepts("ber"), cities.count(4)
    (True, False, 2)
    """

    listed = True

    def __init__(self, words: Iterable[Word], alphabet: Iterable[Symbol] | None = None) -> None:
        listed = list(collection(words, "words"))
        if not listed:
            raise InvalidValue("a lexicon needs at least one word: pass for example ['bern', 'bonn']")
        symbols = _symbols(listed)
        self.alphabet = Alphabet(_sorted(symbols) if alphabet is None else alphabet)
        if len(self.alphabet) > sys.maxunicode:
            raise TooLarge(f"a lexicon has at most {sys.maxunicode} symbols: take fewer")
        if not all(symbol in self.alphabet for symbol in symbols):
            raise InvalidValue("a word of the lexicon has a symbol outside the alphabet: add it, or give no alphabet")
        if not self.alphabet.of_characters and any(isinstance(word, str) for word in listed):
            raise InvalidValue("a str is a word of single characters, and this alphabet has other symbols: pass lists")
        marks = {symbol: chr(code) for symbol, code in self.alphabet.codes.items()}
        self.table: tuple[str, ...] = tuple(sorted({"".join(map(marks.__getitem__, word)) for word in listed}))
        self.lengths: dict[int, int] = dict(sorted(Counter(map(len, self.table)).items()))

    def __len__(self) -> int:
        return len(self.table)

    def __iter__(self) -> Iterator[str | tuple[Symbol, ...]]:
        """The words in the order of the alphabet: texts where all symbols are characters, else tuples."""
        kind: Any = "" if self.alphabet.of_characters else ()
        return (same_kind(kind, (self.alphabet.symbols[ord(mark)] for mark in text)) for text in self.table)

    def __repr__(self) -> str:
        return f"<Lexicon: {len(self)} words over {len(self.alphabet)} symbols>"

    @property
    def initial(self) -> Interval:
        return 0, 0, len(self.table)

    def follow(self, state: Interval) -> Iterator[tuple[Symbol, Interval]]:
        read, here, end = state
        here += self.is_accepting(state)
        while here < end:
            code = ord(self.table[here][read])
            until = self._first_from(state, code + 1)
            yield self.alphabet.symbols[code], (read + 1, here, until)
            here = until

    def step(self, state: Interval, symbol: Any) -> Interval | None:
        code = self.alphabet.codes[symbol]
        begin, end = self._first_from(state, code), self._first_from(state, code + 1)
        return (state[0] + 1, begin, end) if begin < end else None

    def is_accepting(self, state: Interval) -> bool:
        return len(self.table[state[1]]) == state[0]  # the shortest of the words that begin alike comes first

    def count(self, length: int) -> int:
        """The exact number of words of this length. Cost: one look-up."""
        return self.lengths.get(whole_number(length, "a length", 0), 0)

    def up_to(self, max_length: int) -> Lexicon:
        """The words of at most this length."""
        most = whole_number(max_length, "max_length", 0)
        return Lexicon([word for word in self if len(word) <= most], self.alphabet.symbols)

    def _first_from(self, state: Interval, code: int) -> int:
        """Where the words of an interval begin whose next symbol has at least this code."""
        read, begin, end = state
        return bisect_left(self.table, self.table[begin][:read] + chr(code), begin, end)


def _symbols(words: list[Any]) -> set[Any]:
    """The symbols of all words, each of which must be a word."""
    symbols: set[Any] = set()
    for number, word in enumerate(words, start=1):
        if not isinstance(word, (str, list, tuple)) or not all(map(is_hashable, word)):
            raise InvalidValue(f"word {number} of the lexicon is no word: pass a str, a list or a tuple of symbols")
        symbols.update(symbols_of(word))
    return symbols


def _sorted(symbols: set[Any]) -> list[Any]:
    try:
        return sorted(symbols)
    except TypeError:  # of several kinds, which have no order between them
        return sorted(symbols, key=repr)
