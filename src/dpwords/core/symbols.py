"""Symbols, alphabets, and words in the form that users pass: a str, a list or a tuple."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast

from dpwords.core.values import Value
from dpwords.errors import InvalidValue

Symbol = Hashable
Word = str | Sequence[Any]
Distance = Literal["hamming", "levenshtein"]
PromisedDistance = Literal["hamming", "levenshtein", "any"]  # of a promise; with "any", all different words are 1 apart
AnyWord = TypeVar("AnyWord", bound=str | list[Any] | tuple[Any, ...])


class Alphabet(Value):
    """The symbols that may occur, in a fixed order; they are public, and declared rather than read off the data.

    >>> Alphabet("abc").codes["b"]
    1
    """

    def __init__(self, symbols: Iterable[Symbol]) -> None:
        if isinstance(symbols, (set, frozenset)):  # a set has no order of its own
            symbols = sorted(symbols, key=repr)
        try:
            self.symbols: tuple[Symbol, ...] = tuple(dict.fromkeys(symbols))
        except TypeError as error:
            raise InvalidValue(
                f"an alphabet must be a str or an iterable of hashable symbols ({error}): pass for example 'abc'"
            ) from None
        if not self.symbols:
            raise InvalidValue("an alphabet needs at least one symbol: pass for example 'abc'")
        self.codes: Mapping[Any, int] = MappingProxyType({symbol: code for code, symbol in enumerate(self.symbols)})
        self.of_characters = all(isinstance(s, str) and len(s) == 1 for s in self.symbols)

    def __reduce__(self) -> tuple[type[Alphabet], tuple[tuple[Symbol, ...]]]:
        return Alphabet, (self.symbols,)  # a read-only mapping does not pickle

    def __len__(self) -> int:
        return len(self.symbols)

    def __contains__(self, symbol: object) -> bool:
        return is_hashable(symbol) and symbol in self.codes


def is_hashable(value: object) -> bool:
    """Whether a value can be a symbol; a tuple that contains a list, for example, cannot."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def symbols_of(word: Word) -> tuple[Any, ...]:
    """The symbols of a word; the word must be a str, a list or a tuple."""
    if not isinstance(word, (str, list, tuple)):
        raise InvalidValue(f"a word must be a str, a list or a tuple of symbols, not {type(word).__name__}")
    return tuple(word)


def same_kind(word: AnyWord, symbols: Iterable[Symbol]) -> AnyWord:
    """The symbols as a word of the same type as `word`."""
    if isinstance(word, str):
        return cast(AnyWord, "".join(map(str, symbols)))
    return cast(AnyWord, list(symbols) if isinstance(word, list) else tuple(symbols))


def hamming(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The number of positions where two words of the same length differ."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def levenshtein(one: Sequence[Any], other: Sequence[Any]) -> int:
    """The least number of insertions, deletions and substitutions that turn one word into the other."""
    from rapidfuzz.distance import Levenshtein

    numbers: dict[Any, int] = {}  # symbols that only share a hash, as −1 and −2 do, must not count as equal
    rows = [[numbers.setdefault(symbol, len(numbers)) for symbol in word] for word in (one, other)]
    return Levenshtein.distance(*rows)
