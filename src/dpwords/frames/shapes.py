"""Where the words are in a table: in a column of lists, in a column of text, or in one column for each step.

A shape is a value that is made for one schema and one alphabet. It reads a batch of rows into symbol codes and writes
released codes back, in columns of the same types. Words in long format, one row for each symbol, are in `long`.

The answers of a report take the place of the words, in one column. A column of lists becomes one of lists of items, and
a column of text stays text. Words that were spread over columns, or over the rows of an event log, are answered in one
list for each word.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpwords.core.symbols import Alphabet, Codes, Ragged, code_type
from dpwords.errors import InvalidValue, named
from dpwords.frames.arrays import bare_kind
from dpwords.frames.coders import (
    Coder,
    coder_of,
    contents_of,
    has_nothing,
    is_list,
    is_text,
    kind_name,
    names_of,
    own_kind,
    plain_kind,
    symbols_as,
    written_kind,
)
from dpwords.frames.columns import NoColumn, checked_column, named_columns
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.recipes.notation import Notation

_TEXT = (pa.large_string(),)
ANSWER = "answer"  # the column of the answers, where words have no column of their own


class Fault(IntEnum):
    """Why a row has no word that may go in."""

    NONE = 0
    MISSING = 1
    GAP = 2
    UNKNOWN = 3
    EMPTY = 4
    OUTSIDE = 5
    SHORT = 6
    LENGTH = 7


@dataclass(frozen=True, eq=False)
class Found:
    """The words of a batch, as codes; what is no symbol has the size of the alphabet as its code."""

    words: Ragged
    faults: NDArray[np.uint8]  # of each row, a `Fault`: those that can be seen without knowing the language


@dataclass(frozen=True)
class Shape(ABC):
    """What every shape does."""

    columns: tuple[str, ...]  # the names of those that hold the words
    written: tuple[Any, ...]  # the Arrow types in which they are written
    alphabet: Alphabet  # in which they are written
    kinds: tuple[Any, ...]  # the Arrow types of symbols in them, as they are read

    @property
    def _kinds_out(self) -> tuple[Any, ...]:
        """The Arrow types of symbols, as they are written."""
        return self.written

    @cached_property
    def _coders(self) -> list[Coder]:
        return [coder_of(self.alphabet.symbols, kind) for kind in self.kinds]

    @cached_property
    def _symbols(self) -> list[Any]:
        return [symbols_as(self.alphabet.symbols, kind) for kind in self._kinds_out]

    @abstractmethod
    def read(self, batch: Any) -> Found:
        """The words of an Arrow record batch. Cost: their symbols, at the speed of arrays."""

    @abstractmethod
    def write(self, words: Ragged) -> list[Any]:
        """The columns that hold these words."""


@dataclass(frozen=True)
class ListWords(Shape):
    """Each word is a list of symbols."""

    @property
    def _kinds_out(self) -> tuple[Any, ...]:
        return (self.written[0].value_type,)

    def read(self, batch: Any) -> Found:
        column = batch.column(self.columns[0])
        missing = column.is_null().to_numpy(zero_copy_only=False)
        lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
        lengths = np.where(missing, 0, lengths)  # lists of one length have it even where they are null
        words = Ragged(self._coders[0].codes(column.flatten()), np.cumsum(lengths, dtype=np.int64))
        return Found(words, np.where(missing, np.uint8(Fault.MISSING), np.uint8(Fault.NONE)))

    def write(self, words: Ragged) -> list[Any]:
        (written,) = self.written
        values = self._symbols[0].take(pa.array(words.values))
        if pa.types.is_fixed_size_list(written):
            return [pa.FixedSizeListArray.from_arrays(values, written.list_size)]
        ends = np.concatenate([[0], words.ends])
        if pa.types.is_list(written):
            return [pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)]
        return [pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)]


@dataclass(frozen=True)
class TextWords(Shape):
    """Each word is a text: single characters, or names of symbols with a separator between them."""

    separator: str | None  # "" for single characters, None for white space

    @property
    def _kinds_out(self) -> tuple[Any, ...]:
        return self.kinds

    @cached_property
    def _points(self) -> Codes:
        """The code of each character, up to the largest one of the alphabet; last, that of any other character."""
        points = [ord(name) for name in names_of(self.alphabet.symbols)]
        size = len(points)
        codes = np.full(max(*points, 127) + 2, size, dtype=code_type(size + 1))
        codes[points] = np.arange(size)
        return codes

    @cached_property
    def _bytes(self) -> tuple[bytes, bytes] | None:
        """For each byte its code, and for each code its byte, if each symbol is a single byte; otherwise None."""
        text = "".join(names_of(self.alphabet.symbols))
        if self.separator != "" or not text.isascii():
            return None
        codes = bytearray([len(text)] * 256)
        for code, byte in enumerate(text.encode()):
            codes[byte] = code
        return bytes(codes), text.encode().ljust(256, b"\0")

    def read(self, batch: Any) -> Found:
        column = batch.column(self.columns[0]).cast(pa.large_string())
        faults = np.where(column.is_null().to_numpy(zero_copy_only=False), Fault.MISSING, Fault.NONE).astype(np.uint8)
        texts = column.fill_null("")
        return Found(self._characters(texts) if self.separator == "" else self._names(texts), faults)

    def _characters(self, texts: Any) -> Ragged:
        offsets, marks = contents_of(texts)
        if not len(marks) or marks.max() < 128:
            ends = offsets[1:] - offsets[0]
            if self._bytes is None:
                return Ragged(self._points[marks], ends)
            return Ragged(np.frombuffer(marks.tobytes().translate(self._bytes[0]), dtype=np.uint8), ends)
        points = np.frombuffer(marks.tobytes().decode("utf-8").encode("utf-32-le"), dtype="<u4")
        ends = np.cumsum(pc.utf8_length(texts).to_numpy(zero_copy_only=False), dtype=np.int64)
        return Ragged(self._points[np.minimum(points, len(self._points) - 1)], ends)

    def _names(self, texts: Any) -> Ragged:
        if self.separator is None:
            texts = pc.utf8_trim_whitespace(texts)
            lists = pc.utf8_split_whitespace(texts)
        else:
            lists = pc.split_pattern(texts, self.separator)
        empty = pc.equal(texts, "").to_numpy(zero_copy_only=False)
        lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False)
        codes = self._coders[0].codes(lists.flatten())
        if empty.any():  # an empty text is the empty word, not a word of one nameless symbol
            codes = np.delete(codes, np.cumsum(lengths)[empty] - 1)
            lengths = np.where(empty, 0, lengths)
        return Ragged(codes, np.cumsum(lengths, dtype=np.int64))

    def write(self, words: Ragged) -> list[Any]:
        ends, (written,) = np.concatenate([[0], words.ends]), self.written
        if self._bytes is not None:
            marks = words.values.astype(np.uint8, copy=False).tobytes().translate(self._bytes[1])
            buffers = [None, pa.py_buffer(ends), pa.py_buffer(marks)]
            texts = pa.Array.from_buffers(pa.large_string(), len(words), buffers)
        else:
            names = pa.LargeListArray.from_arrays(ends, self._symbols[0].take(pa.array(words.values)))
            between = " " if self.separator is None else self.separator
            texts = pc.binary_join(names, pa.scalar(between, pa.large_string()))
        if pa.types.is_dictionary(written):  # of the words that were drawn
            return [texts.cast(written.value_type).dictionary_encode()]
        return [texts.cast(written)]


@dataclass(frozen=True)
class WideWords(Shape):
    """Each word is spread over columns, one for each step; nulls at the end of a row make its word shorter.

    Empty text counts as null: in a file of text nothing else can say that there is no value.
    """

    def read(self, batch: Any) -> Found:
        cells = [batch.column(name) for name in self.columns]
        codes = np.stack([coder.codes(cell) for coder, cell in zip(self._coders, cells, strict=True)], axis=1)
        valid = np.stack([_present(cell) for cell in cells], axis=1)
        gap = (valid[:, 1:] & ~valid[:, :-1]).any(axis=1)
        faults = np.where(gap, np.uint8(Fault.GAP), np.uint8(Fault.NONE))
        return Found(Ragged(codes[valid], np.cumsum(valid.sum(axis=1), dtype=np.int64)), faults)

    def write(self, words: Ragged) -> list[Any]:
        valid = np.arange(len(self.columns)) < words.sizes[:, None]
        codes = np.zeros(valid.shape, dtype=words.values.dtype)
        codes[valid] = words.values
        return [
            symbols.take(pa.array(codes[:, position], mask=~valid[:, position]))
            for position, symbols in enumerate(self._symbols)
        ]


def shape_of(
    schema: Any,
    language: Language,
    column: str | None = None,
    columns: str | Sequence[str] | None = None,
    separator: str | None = None,
    *,
    same_length: bool = True,
    declared: Callable[[str], bool] = lambda name: False,
) -> Shape:
    """The shape of the words in tables of a schema.

    A list column holds lists of symbols. A text column is split at the separator; without one, it holds single
    characters if the alphabet consists of characters, and otherwise names with white space between them, as on the
    command line. `columns` names one column for each step: a list of names, a range such as "m1:m12" in the order of
    the table, or a pattern such as "m*". `same_length` says whether the mechanism keeps the lengths of words.
    `declared` says whether somebody has chosen the type of a column, so that released words have it as well. Words in
    other columns, as in those of files, are written in the types of `written_kind`.
    """
    alphabet = language.letters

    def written(name: str) -> Any:
        kind = schema.field(name).type
        if declared(name) and not has_nothing(kind):
            return bare_kind(kind)
        if is_list(kind) and columns is None:
            return pa.list_(written_kind(kind.value_type, alphabet.symbols))
        return written_kind(kind, alphabet.symbols)

    if columns is not None:
        if column is not None or separator is not None:
            raise InvalidValue(
                f"{named('column')} and {named('separator')} do not go with {named('columns')}: leave them out"
            )
        names = named_columns(schema.names, columns)
        if not same_length:
            raise InvalidValue(
                "this mechanism changes the lengths of words, and a table has a fixed number of columns: put each word "
                "into one column, or use a mechanism under Hamming distance"
            )
        kinds = tuple(schema.field(name).type for name in names)
        return WideWords(names, tuple(map(written, names)), alphabet, kinds)
    name = _only_column(schema) if column is None else checked_column(schema.names, column)
    kind = schema.field(name).type
    if is_list(kind):
        if separator is not None:
            raise InvalidValue(f"{named('separator')} is for a column of text, and this one has lists: leave it out")
        if pa.types.is_fixed_size_list(kind) and kind.list_size == 0:
            raise InvalidValue("this column has lists of length 0, which have nothing to hide: name another column")
        if pa.types.is_fixed_size_list(kind) and not same_length and declared(name):
            raise InvalidValue(
                "this mechanism changes the lengths of words, and this column has lists of one length: change its type "
                "to lists of any length"
            )
        return ListWords((name,), (written(name),), alphabet, (kind.value_type,))
    if not is_text(plain_kind(kind)):
        raise InvalidValue(
            f"words are in a column of lists or of text, and this one has type {kind_name(kind)}: name another "
            f"{named('column')}, or pass {named('columns')} if each step has a column"
        )
    _ = Notation(language, separator)  # raises if the symbols cannot be distinguished in a text
    by_character = separator is None and alphabet.of_characters
    return TextWords((name,), (written(name),), alphabet, _TEXT, "" if by_character else separator)


def _only_column(schema: Any) -> str:
    """The column of words if there is no doubt: the only one, or the only one that has lists."""
    names = [field.name for field in schema if is_list(field.type)] or schema.names
    if len(names) != 1:
        raise NoColumn(
            f"say where the words are, with {named('column')}, {named('columns')}, or {named('case')} and "
            f"{named('symbol')}",
            schema.names,
        )
    return str(names[0])


def _present(cells: Any) -> NDArray[np.bool_]:
    """Which values of a column are there."""
    text = is_text(plain_kind(cells.type))
    there = pc.not_equal(cells.cast(pa.large_string()), "").fill_null(False) if text else cells.is_valid()
    return np.asarray(there.to_numpy(zero_copy_only=False))


def answer_shape(words: Shape, answers: NamedItems) -> Shape:
    """Where the answers about these words go: the items that are named for each of them are the symbols there."""
    (name, *_), (out, *_) = words.columns, words.written
    if isinstance(words, TextWords):
        return _text(name, out, words.separator, answers)
    inner = out.value_type if isinstance(words, ListWords) else out
    ends = [end for item in answers.items for end in (item if answers.question == "transitions" else (item,))]
    kind = plain_kind(inner) if set(ends) <= set(words.alphabet.symbols) else own_kind(ends)  # states, but moves here
    kind = pa.list_(kind) if answers.question == "transitions" else kind
    kind = pa.large_list(kind) if pa.types.is_large_list(out) else pa.list_(kind)
    found = _listed(ANSWER if isinstance(words, WideWords) else name, kind, answers)
    found.write(Ragged(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)))  # raises if items cannot be values
    return found


def released_answers(schema: Any, answers: NamedItems, column: str, separator: str | None) -> Shape:
    """What reads answers in a column of a released table, each item as its number."""
    kind = schema.field(checked_column(schema.names, column)).type
    if is_list(kind):
        return _listed(column, kind, answers)
    if not is_text(plain_kind(kind)):
        raise InvalidValue(
            f"answers are lists or text, and column {column} has type {kind_name(kind)}: name another column"
        )
    return _text(column, kind, separator, answers)


def _listed(column: str, kind: Any, answers: NamedItems) -> ListWords:
    """What reads and writes items in lists."""
    return ListWords((column,), (kind,), Alphabet(answers.items), (kind.value_type,))


def _text(column: str, kind: Any, separator: str | None, answers: NamedItems) -> TextWords:
    """What reads and writes items as text, with the separator of the words between them, or a space."""
    separator = separator or None
    if any(name.split(separator) != [name] for name in answers.names):
        raise InvalidValue(
            "an item is empty, or contains what separates items in a text: choose another separator, or put words into "
            "lists"
        )
    return TextWords((column,), (kind,), Alphabet(answers.names), _TEXT, separator)
