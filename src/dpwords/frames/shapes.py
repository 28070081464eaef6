"""Where the words are in a table: in a column of lists, in a column of text, or in one column for each step.

A shape is a value that is made for one schema and one alphabet. It reads a batch of rows into symbol codes and writes
released codes back, in columns of the same types. Words in long format, one row for each symbol, are in `long`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpwords.core.symbols import Alphabet, Codes, Ragged, code_type
from dpwords.errors import InvalidValue, named
from dpwords.frames.coders import (
    Coder,
    coder_of,
    contents_of,
    has_nothing,
    is_list,
    is_text,
    kind_name,
    names_of,
    plain_kind,
    symbols_as,
    written_kind,
)
from dpwords.frames.columns import NoColumn, checked_column, named_columns
from dpwords.frames.copies import bare_kind
from dpwords.languages.language import Language
from dpwords.recipes.notation import Notation


class Fault(IntEnum):
    """Why a row has no word that may go in."""

    NONE = 0
    MISSING = 1
    GAP = 2
    UNKNOWN = 3
    EMPTY = 4
    OUTSIDE = 5
    SHORT = 6


@dataclass(frozen=True, eq=False)
class Found:
    """The words of a batch, as codes; what is no symbol has the size of the alphabet as its code."""

    words: Ragged
    faults: NDArray[np.uint8]  # of each row, a `Fault`: those that can be seen without knowing the language


class Shape(Protocol):
    """What every shape does."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that hold the words."""

    @property
    def released(self) -> tuple[str, ...]:
        """The names of the columns that hold what is released."""

    def read(self, batch: Any) -> Found:
        """The words of an Arrow record batch. Cost: their symbols, at the speed of arrays."""

    def write(self, words: Ragged) -> list[Any]:
        """The columns that hold these words, or what was released instead of them."""


@dataclass(frozen=True)
class _OneColumn:
    """Each word is in one column."""

    column: str

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def released(self) -> tuple[str, ...]:
        return self.columns


@dataclass(frozen=True)
class ListWords(_OneColumn):
    """Each word is a list of symbols."""

    kind: Any  # the column's Arrow type
    written: Any  # the Arrow type in which it is written
    alphabet: Alphabet

    @cached_property
    def _coder(self) -> Coder:
        return coder_of(self.alphabet.symbols, self.kind.value_type)

    @cached_property
    def _symbols(self) -> Any:
        return symbols_as(self.alphabet.symbols, self.written.value_type)

    def read(self, batch: Any) -> Found:
        column = batch.column(self.column)
        missing = column.is_null().to_numpy(zero_copy_only=False)
        lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
        lengths = np.where(missing, 0, lengths)  # lists of one length have it even where they are null
        words = Ragged(self._coder.codes(column.flatten()), np.cumsum(lengths, dtype=np.int64))
        return Found(words, np.where(missing, np.uint8(Fault.MISSING), np.uint8(Fault.NONE)))

    def write(self, words: Ragged) -> list[Any]:
        values = self._symbols.take(pa.array(words.values))
        if pa.types.is_fixed_size_list(self.written):
            return [pa.FixedSizeListArray.from_arrays(values, self.written.list_size)]
        ends = np.concatenate([[0], words.ends])
        if pa.types.is_list(self.written):
            return [pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)]
        return [pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)]


@dataclass(frozen=True)
class TextWords(_OneColumn):
    """Each word is a text: single characters, or names of symbols with a separator between them."""

    written: Any  # the Arrow type in which the column is written
    alphabet: Alphabet
    separator: str | None  # "" for single characters, None for white space

    @cached_property
    def _coder(self) -> Coder:
        return coder_of(self.alphabet.symbols, pa.large_string())

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

    @cached_property
    def _pieces(self) -> Any:
        """What each symbol adds to a text: its name and a separator, and then for each symbol its name alone."""
        names = names_of(self.alphabet.symbols)
        between = " " if self.separator is None else self.separator
        return pa.array([name + between for name in names] + names, pa.large_string())

    def read(self, batch: Any) -> Found:
        column = batch.column(self.column).cast(pa.large_string())
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
        codes = self._coder.codes(lists.flatten())
        if empty.any():  # an empty text is the empty word, not a word of one nameless symbol
            codes = np.delete(codes, np.cumsum(lengths)[empty] - 1)
            lengths = np.where(empty, 0, lengths)
        return Ragged(codes, np.cumsum(lengths, dtype=np.int64))

    def write(self, words: Ragged) -> list[Any]:
        ends = np.concatenate([[0], words.ends])
        if self._bytes is not None:
            marks: Any = words.values.astype(np.uint8, copy=False).tobytes().translate(self._bytes[1])
        else:
            codes = words.values.astype(np.int64)
            codes[words.ends[words.sizes > 0] - 1] += len(self.alphabet)  # no separator after the last symbol
            offsets, marks = contents_of(self._pieces.take(pa.array(codes)))
            ends = (offsets - offsets[0])[ends]
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(marks)]
        texts = pa.Array.from_buffers(pa.large_string(), len(words), buffers)
        if pa.types.is_dictionary(self.written):  # of the words that were drawn
            return [texts.cast(self.written.value_type).dictionary_encode()]
        return [texts.cast(self.written)]


@dataclass(frozen=True)
class WideWords:
    """Each word is spread over columns, one for each step; nulls at the end of a row make its word shorter.

    Empty text counts as null: in a file of text nothing else can say that there is no value.
    """

    columns: tuple[str, ...]
    kinds: tuple[Any, ...]
    written: tuple[Any, ...]  # the Arrow types in which the columns are written
    alphabet: Alphabet

    @property
    def released(self) -> tuple[str, ...]:
        return self.columns

    @cached_property
    def _coders(self) -> list[Coder]:
        return [coder_of(self.alphabet.symbols, kind) for kind in self.kinds]

    @cached_property
    def _symbols(self) -> list[Any]:
        return [symbols_as(self.alphabet.symbols, kind) for kind in self.written]

    def read(self, batch: Any) -> Found:
        cells = [batch.column(name) for name in self.columns]
        codes = np.stack([coder.codes(cell) for coder, cell in zip(self._coders, cells, strict=True)], axis=1)
        valid = np.stack([_present(cell) for cell in cells], axis=1)
        lengths = valid.sum(axis=1)
        gap = (valid[:, 1:] & ~valid[:, :-1]).any(axis=1)
        faults = np.where(gap, np.uint8(Fault.GAP), np.uint8(Fault.NONE))
        return Found(Ragged(codes[valid], np.cumsum(lengths, dtype=np.int64)), faults)

    def write(self, words: Ragged) -> list[Any]:
        lengths = words.sizes
        valid = np.arange(len(self.columns)) < lengths[:, None]
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
    alphabet = language.alphabet

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
        return WideWords(names, kinds, tuple(map(written, names)), alphabet)
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
        return ListWords(name, kind, written(name), alphabet)
    if not is_text(plain_kind(kind)):
        raise InvalidValue(
            f"words are in a column of lists or of text, and this one has type {kind_name(kind)}: name another "
            f"{named('column')}, or pass {named('columns')} if each step has a column"
        )
    _ = Notation(language, separator)  # raises if the symbols cannot be distinguished in a text
    by_character = separator is None and alphabet.of_characters
    return TextWords(name, written(name), alphabet, "" if by_character else separator)


def released_names(names: Sequence[str], shape: Shape) -> list[str]:
    """The columns of a table with columns of these names once its words are released.

    If what is released has a column of its own, it stands where the first column of the words was.
    """
    if shape.released == shape.columns:
        return list(names)
    position = names.index(shape.columns[0])
    before, after = (
        [name for name in some if name not in shape.columns] for some in (names[:position], names[position:])
    )
    for name in shape.released:
        if name in before or name in after:
            raise InvalidValue(f"what is released goes into a new column, {name}, and there is one already: rename it")
    return [*before, *shape.released, *after]


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
