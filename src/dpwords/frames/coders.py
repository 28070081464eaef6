"""Between the symbols of an alphabet and the values of an Arrow column, without a loop over rows.

A coder is made for one alphabet and one type of values. The code of a symbol is its position in the alphabet, and the
code of a value that is no symbol is the size of the alphabet. Whether every symbol can be a value of the type is
checked when the coder is made, so that it never depends on a draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpwords.core.encoding import Codes, code_type
from dpwords.core.symbols import Symbol
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.systems import written

CodedSymbols = tuple[Symbol, ...]


class Coder(Protocol):
    """What every coder does."""

    def codes(self, values: Any) -> Codes:
        """The code of each value of an Arrow array."""

    def values(self, codes: Any) -> Any:
        """The Arrow array of the symbols with these codes; a null for each null code."""


def coder_of(symbols: CodedSymbols, kind: Any) -> Coder:
    """The coder of an alphabet for values of an Arrow type."""
    if pa.types.is_dictionary(kind):
        return DictionaryCoder(symbols, kind)
    if is_list(kind) or pa.types.is_struct(kind):
        return TupleCoder(symbols, kind)
    return PlainCoder(symbols, kind)


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of lists, of any or of one length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def size_of(table: Any) -> int:
    """The number of bytes of a table or batch, about; old versions of pyarrow cannot tell the share of a slice."""
    try:
        return int(table.nbytes)
    except pa.ArrowTypeError:
        return int(table.get_total_buffer_size())


def names_of(symbols: CodedSymbols) -> list[str]:
    """The symbols as text; raises `InvalidValue` if two of them are written alike."""
    names = list(map(written, symbols))
    if len(set(names)) < len(names):
        raise InvalidValue("two symbols are written alike: give them names that differ as text")
    return names


def contents_of(texts: Any) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The offsets of an array of large strings, and the bytes from the first one's beginning to the last one's end."""
    if not len(texts):
        return np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint8)
    _, places, data = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    marks = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return offsets, marks[offsets[0] : offsets[-1]]


def schema_with(schema: Any, kinds: Mapping[str, Any]) -> Any:
    """The schema of some columns with these types, as it was otherwise; those that it does not have are new."""
    fields = [
        schema.field(name).with_type(kind) if name in schema.names else pa.field(name, kind)
        for name, kind in kinds.items()
    ]
    return pa.schema(fields, metadata=schema.metadata)


def rows_of(column: Any, rows: NDArray[np.int64]) -> Any:
    """Some rows of an Arrow array or chunked array, also where Arrow cannot take them, as from views of text."""
    try:
        return column.take(pa.array(rows))
    except pa.ArrowNotImplementedError:
        runs = np.split(rows, np.flatnonzero(np.diff(rows) != 1) + 1)
        parts = [column.slice(run[0], len(run)) for run in runs if len(run)] or [column.slice(0, 0)]
        if isinstance(column, pa.ChunkedArray):
            return pa.chunked_array([chunk for part in parts for chunk in part.chunks], column.type)
        return pa.concat_arrays(parts)


@dataclass(frozen=True)
class PlainCoder:
    """Values that Arrow can look up: text, numbers, dates and their kin. Cost: one look-up in a hash table for each."""

    symbols: CodedSymbols
    kind: Any

    @cached_property
    def _table(self) -> Any:
        """The alphabet as an array, of a type that can be looked up."""
        if is_text(self.kind):
            try:
                return pa.array(names_of(self.symbols), pa.large_string())
            except UnicodeEncodeError:
                raise InvalidValue("a symbol contains half a character (a surrogate): use other symbols") from None
        try:
            if all(isinstance(symbol, str) for symbol in self.symbols):  # as on the command line
                table = pa.array(self.symbols, pa.string()).cast(self.kind)
                same = table.cast(pa.string()).to_pylist() == list(self.symbols)
            else:
                table = pa.array(self.symbols, self.kind)
                same = table.to_pylist() == list(self.symbols)
            pc.index_in(table, value_set=table)  # not every type can be looked up
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            same = False
        if not same:
            raise _unfit(self.kind)
        return table

    def codes(self, values: Any) -> Codes:
        table, size = self._table, len(self.symbols)
        found = pc.index_in(values.cast(table.type), value_set=table)
        return np.asarray(found.fill_null(size).to_numpy(zero_copy_only=False), dtype=code_type(size + 1))

    def values(self, codes: Any) -> Any:
        return self._table.take(pa.array(codes)).cast(self.kind)


@dataclass(frozen=True)
class DictionaryCoder:
    """Dictionary-encoded values. The dictionary of the output is the alphabet: that of the input shows what occurs."""

    symbols: CodedSymbols
    kind: Any

    @cached_property
    def _inner(self) -> Coder:
        return coder_of(self.symbols, self.kind.value_type)

    @cached_property
    def _table(self) -> Any:
        try:
            pa.array([len(self.symbols) - 1], self.kind.index_type)
        except (pa.ArrowException, OverflowError):
            raise _unfit(self.kind) from None
        return self._inner.values(np.arange(len(self.symbols)))

    def codes(self, values: Any) -> Codes:
        _ = self._table
        size = len(self.symbols)
        known = np.append(self._inner.codes(values.dictionary), code_type(size + 1)(size))
        return np.asarray(known[values.indices.fill_null(len(known) - 1).to_numpy(zero_copy_only=False)])

    def values(self, codes: Any) -> Any:
        indices = pa.array(codes).cast(self.kind.index_type)
        return pa.DictionaryArray.from_arrays(indices, self._table, ordered=self.kind.ordered)


@dataclass(frozen=True)
class TupleCoder:
    """CodedSymbols that are tuples, such as the cells of a grid, as lists of one length or as structs."""

    symbols: CodedSymbols
    kind: Any

    @cached_property
    def _width(self) -> int:
        widths = {len(symbol) if isinstance(symbol, tuple) else -1 for symbol in self.symbols}
        fields = self.kind.num_fields if pa.types.is_struct(self.kind) else None
        if len(widths) > 1 or min(widths) < 1 or (fields is not None and widths != {fields}):
            raise _unfit(self.kind)
        return widths.pop()

    @cached_property
    def _places(self) -> list[tuple[Any, ...]]:
        """For each place of the tuples, what stands there in each of them."""
        _ = self._width
        return list(zip(*self.symbols, strict=True))

    @cached_property
    def _parts(self) -> list[Coder]:
        """For each place of the tuples, the coder of what occurs there."""
        struct = pa.types.is_struct(self.kind)
        kinds = [self.kind.field(i).type if struct else self.kind.value_type for i in range(self._width)]
        return [coder_of(tuple(dict.fromkeys(place)), kind) for place, kind in zip(self._places, kinds, strict=True)]

    @cached_property
    def _radices(self) -> list[int]:
        radices = [len(set(place)) + 1 for place in self._places]
        if math.prod(radices) > np.iinfo(np.int64).max:
            raise TooLarge("the symbols are tuples with too many parts: use shorter tuples, or write them as text")
        return radices

    @cached_property
    def _combined(self) -> tuple[Codes, Codes]:
        """The number of each tuple, in mixed radix, in increasing order, and the codes of the tuples in that order."""
        parts = []
        for place in self._places:
            code = {value: number for number, value in enumerate(dict.fromkeys(place))}
            parts.append(np.array([code[value] for value in place]))
        numbers = self._numbers(parts)
        order = np.argsort(numbers)
        return numbers[order], order

    def _numbers(self, parts: Sequence[Codes]) -> Codes:
        numbers = np.zeros(len(parts[0]), dtype=np.int64)
        for part, radix in zip(parts, self._radices, strict=True):
            numbers = numbers * radix + part
        return numbers

    @cached_property
    def _table(self) -> Any:
        try:
            return pa.array(self.symbols, self.kind)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise _unfit(self.kind) from None

    def codes(self, values: Any) -> Codes:
        _ = self._table
        size = len(self.symbols)
        whole = values.is_valid().to_numpy(zero_copy_only=False)
        if is_list(self.kind):
            lengths = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False)
            whole = whole & (lengths == self._width)
        tuples = values if whole.all() else values.filter(pa.array(whole))
        flat = tuples.flatten()
        columns = (
            flat
            if pa.types.is_struct(self.kind)
            else [flat.take(pa.array(np.arange(place, len(flat), self._width))) for place in range(self._width)]
        )
        numbers = self._numbers([part.codes(column) for part, column in zip(self._parts, columns, strict=True)])
        known, codes = self._combined
        places = np.minimum(np.searchsorted(known, numbers), len(known) - 1)
        found = np.full(len(values), size, dtype=code_type(size + 1))
        found[whole] = np.where(known[places] == numbers, codes[places], size)
        return found

    def values(self, codes: Any) -> Any:
        return self._table.take(pa.array(codes))


def _unfit(kind: Any) -> InvalidValue:
    return InvalidValue(
        f"the column has values of type {kind}, and not every symbol of the language is one: change the column's type, "
        "or the symbols"
    )
