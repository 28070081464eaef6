"""Every word over an alphabet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Alphabet, Symbol, is_hashable
from dpwords.languages.language import Everything


class Words(Everything):
    """Every word over an alphabet, of any length or of at most `max_length` symbols.

    >>> Words("abc").count(2)
    9
    >>> Words("abc").accepts("abd")
    False
    """

    alike = True

    def __init__(self, alphabet: Iterable[Symbol], max_length: int | None = None) -> None:
        most = None if max_length is None else whole_number(max_length, "max_length", 0)
        super().__init__(Alphabet(alphabet), most)
        self.every_word = max_length is None

    def __repr__(self) -> str:
        bound = "" if self.max_length is None else f", max_length={self.max_length}"
        return f"<Words: {len(self.alphabet)} symbols{bound}>"

    def up_to(self, max_length: int) -> Words:
        """The words of at most this length."""
        most = whole_number(max_length, "max_length", 0)
        return Words(self.alphabet.symbols, most if self.max_length is None else min(most, self.max_length))

    def fault(self, symbols: tuple[Any, ...]) -> str | None:
        if self.max_length is None and all(map(is_hashable, symbols)) and self.alphabet.codes.keys() >= set(symbols):
            return None
        return super().fault(symbols)

    def count(self, length: int) -> int:
        """The exact number of words of this length. Cost: one exponentiation."""
        positions = whole_number(length, "a length", 0)
        return 0 if self.max_length is not None and positions > self.max_length else len(self.alphabet) ** positions
