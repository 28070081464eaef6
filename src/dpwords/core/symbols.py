"""Symbols, alphabets and words: as users pass them, and as arrays of symbol codes, for many words at a time.

Users pass words as a str, a list or a tuple. The code of a symbol is its position in the alphabet. `Rows` are the codes
of several words: a two-dimensional array if all have the same length, otherwise `Ragged`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from dpwords.core.values import Value
from dpwords.errors import InvalidValue

Symbol = Hashable
Word = str | Sequence[Any]
Distance = Literal["hamming", "levenshtein"]
PromisedDistance = Literal["hamming", "levenshtein", "any"]  # of a promise; with "any", all different words are 1 apart
Codes = NDArray[Any]  # whole numbers
AnyWord = TypeVar("AnyWord", bound=str | list[Any] | tuple[Any, ...])
_ONE_BYTE = 256
_UNKNOWN = -1


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


@dataclass(frozen=True, eq=False)
class Ragged:
    """Words of any lengths, one behind the other: word i is values[ends[i−1]:ends[i]]."""

    values: Codes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, words: Sequence[Codes]) -> Ragged:
        """From one array for each word."""
        values = np.concatenate(words) if words else np.zeros(0, dtype=np.int64)
        return cls(values, np.cumsum([len(word) for word in words], dtype=np.int64))

    @classmethod
    def gathered(cls, groups: Sequence[tuple[NDArray[np.int64], Rows]], number: int, kind: type) -> Ragged:
        """From groups of words: for each group, the numbers of its words in the result, and the words themselves."""
        sizes = np.zeros(number, dtype=np.int64)
        parts = [(numbers, rows if isinstance(rows, Ragged) else cls.even(rows)) for numbers, rows in groups]
        if len(parts) == 1 and len(parts[0][0]) == number and (np.diff(parts[0][0]) == 1).all():  # already in order
            return cls(parts[0][1].values.astype(kind, copy=False), parts[0][1].ends)
        for numbers, words in parts:
            sizes[numbers] = words.sizes
        ends = np.cumsum(sizes)
        values: Codes = np.empty(int(ends[-1]) if number else 0, dtype=kind)
        for numbers, words in parts:
            values[words.positions(ends[numbers])] = words.values
        return cls(values, ends)

    @classmethod
    def even(cls, rows: Codes) -> Ragged:
        """From words of one length, a row each."""
        return cls(rows.reshape(-1), rows.shape[1] * np.arange(1, len(rows) + 1))

    def __len__(self) -> int:
        return len(self.ends)

    def __iter__(self) -> Iterator[Codes]:
        """The words, one array each."""
        return iter(np.split(self.values, self.ends[:-1]) if len(self.ends) else ())

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The length of each word."""
        return np.diff(self.ends, prepend=0)

    def by_length(self) -> list[NDArray[np.int64]]:
        """The numbers of the words of each length that occurs."""
        sizes = self.sizes
        if len(sizes) and (sizes == sizes[0]).all():
            return [np.arange(len(sizes))]
        lengths, first = np.unique(np.sort(sizes), return_index=True)
        return np.split(np.argsort(sizes, kind="stable"), first[1:]) if len(lengths) else []

    def rows(self, numbers: NDArray[np.int64]) -> Codes:
        """The words with these numbers, all of one length, a row each."""
        length = int(self.sizes[numbers[0]])
        if len(numbers) == len(self):
            return self.values[int(self.ends[0]) - length :].reshape(len(numbers), length)
        return np.asarray(self.values[(self.ends[numbers] - length)[:, None] + np.arange(length)])

    def chosen(self, numbers: NDArray[np.int64]) -> Ragged:
        """The words with these numbers, in this order."""
        sizes = self.sizes[numbers]
        ends = np.cumsum(sizes)
        positions = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(self.ends[numbers] - ends, sizes)
        return Ragged(self.values[positions], ends)

    def positions(self, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where each value is, if the words end at these positions instead."""
        return np.repeat(ends - self.ends, self.sizes) + np.arange(len(self.values))


Rows = Codes | Ragged


def code_type(size: int) -> type[np.unsignedinteger[Any]]:
    """The smallest kind of number that holds the codes of so many symbols."""
    if size <= 2**8:
        return np.uint8
    return np.uint16 if size <= 2**16 else np.uint32


class Encoder:
    """Turns words over one alphabet into codes and back. Cost: the number of symbols, at the speed of arrays."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.kind, self._code_of = code_type(len(alphabet)), dict(alphabet.codes)
        self._symbols = np.empty(len(alphabet), dtype=object)
        self._symbols[:] = alphabet.symbols
        points = [ord(str(symbol)) for symbol in alphabet.symbols] if alphabet.of_characters else []
        self._points = np.array(points, dtype="<u4")
        self._bytes = bytes(points) if points and max(points) < _ONE_BYTE else b""  # if all characters fit in a byte
        known = {point: code for code, point in enumerate(self._bytes)}
        self._table = bytes(known.get(point, len(self._bytes) % _ONE_BYTE) for point in range(_ONE_BYTE))
        self._codes = np.full(max(points, default=0) + 2, _UNKNOWN, dtype=np.int64)  # last: any other character
        self._codes[points] = np.arange(len(points))

    def texts(self, words: Sequence[str], length: int) -> Codes | None:
        """The codes of texts of one length, a row each; None if a character is not in the alphabet."""
        text = "".join(words)
        if self._bytes:
            try:
                marks = text.encode("latin-1")
            except UnicodeEncodeError:
                return None
            codes = np.frombuffer(marks.translate(self._table), dtype=np.uint8)
            if len(self._bytes) < _ONE_BYTE and codes.max(initial=0) == len(self._bytes):
                return None
            return codes.reshape(len(words), length)
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
        codes = np.take(self._codes, np.minimum(points, len(self._codes) - 1))
        if len(codes) and codes.min() < 0:
            return None
        return np.asarray(codes.astype(self.kind).reshape(len(words), length))

    def sequences(self, words: Sequence[Sequence[Any]], length: int) -> Codes | None:
        """The codes of lists or tuples of one length, a row each; None if a symbol is not in the alphabet."""
        symbols = chain.from_iterable(words)
        try:
            codes = np.fromiter(map(self._code_of.__getitem__, symbols), dtype=self.kind)
        except (KeyError, TypeError):  # an unknown symbol, or one that cannot be hashed
            return None
        return codes.reshape(len(words), length)

    def words(self, rows: Rows, kind: type) -> list[Any]:
        """The words of rows of codes, each a str, a list or a tuple."""
        if kind is str:
            return self._texts(rows)
        if isinstance(rows, Ragged):
            flat: list[Any] = self._symbols[rows.values].tolist()
            ends = [0, *rows.ends.tolist()]
            return [kind(flat[begin:end]) for begin, end in pairwise(ends)]
        lists: list[Any] = self._symbols[rows].tolist()
        return lists if kind is list else [kind(word) for word in lists]

    def _texts(self, rows: Rows) -> list[str]:
        codes = rows.values if isinstance(rows, Ragged) else rows.ravel()
        if self._bytes and codes.dtype == np.uint8:
            text = codes.tobytes().translate(self._bytes.ljust(_ONE_BYTE)).decode("latin-1")
        else:
            text = np.take(self._points, codes).tobytes().decode("utf-32-le", "surrogatepass")
        if isinstance(rows, Ragged):
            return [text[begin:end] for begin, end in pairwise([0, *rows.ends.tolist()])]
        length = rows.shape[1]
        return [text[begin : begin + length] for begin in range(0, len(text), length)] if length else [""] * len(rows)
