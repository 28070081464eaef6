"""Between the symbols of an alphabet and the values of an Arrow column, without a loop over rows.

A coder reads the values of one type. The code of a symbol is its position in the alphabet, and the code of a value that
is no symbol is the size of the alphabet. Symbols are written by taking them from an array of the whole alphabet, so
whether each of them can be a value of the type never depends on a draw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dpwords.core.symbols import Alphabet, Codes, Symbol, code_type
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.systems import written

CodedSymbols = tuple[Symbol, ...]
ARROW_REFUSES = (pa.ArrowException, TypeError, ValueError, OverflowError)  # what is raised for values of other types


def is_text(kind: Any) -> bool:
    """Whether an Arrow type is one of text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_list(kind: Any) -> bool:
    """Whether an Arrow type is one of lists, of any or of one length."""
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def plain_kind(kind: Any) -> Any:
    """An Arrow type without the encoding by a dictionary."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def kind_name(kind: Any) -> str:
    """An Arrow type in a message. The names in objects are not shown: they can be symbols."""
    if pa.types.is_dictionary(kind):
        return kind_name(kind.value_type)
    if is_list(kind):
        return f"lists of {kind_name(kind.value_type)}"
    return "objects" if pa.types.is_nested(kind) else str(kind)


def has_nothing(kind: Any) -> bool:
    """Whether a type is that of values, or of lists of values, that are all null."""
    return has_nothing(kind.value_type) if is_list(kind) else bool(pa.types.is_null(kind))


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


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
    _, positions, data = texts.buffers()
    offsets = np.frombuffer(positions, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
    marks = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return offsets, marks[offsets[0] : offsets[-1]]


def symbols_as(symbols: CodedSymbols, kind: Any) -> Any:
    """The symbols as an Arrow array of a type; raises `InvalidValue` if one of them is no value of it.

    A dictionary is the alphabet: one of the values that occur in a column would tell which do.
    """
    if pa.types.is_dictionary(kind):
        table = symbols_as(symbols, kind.value_type)
        codes = pa.array(np.arange(len(symbols)), pa.int32())
        return pa.DictionaryArray.from_arrays(codes, table, ordered=kind.ordered)
    if is_text(kind):
        try:
            return pa.array(names_of(symbols), pa.large_string()).cast(kind)
        except UnicodeEncodeError:
            raise InvalidValue("a symbol contains half a character (a surrogate): use other symbols") from None
    try:
        if is_list(kind) and all(isinstance(symbol, tuple) for symbol in symbols):
            return _lists_as(symbols, kind)  # type: ignore[arg-type]
        if all(isinstance(symbol, str) for symbol in symbols):  # as on the command line
            table = pa.array(symbols, pa.string()).cast(kind)
            same = table.cast(pa.string()).to_pylist() == list(symbols)
        else:
            table = pa.array(symbols, kind)
            same = pa.types.is_struct(kind) or table.to_pylist() == list(symbols)
    except ARROW_REFUSES:
        same = False
    if not same:
        raise _unfit(kind)
    return table


def _lists_as(tuples: Sequence[tuple[Symbol, ...]], kind: Any) -> Any:
    """Tuples as an Arrow array of a type of lists."""
    parts = Alphabet(part for symbol in tuples for part in symbol)
    flat = symbols_as(parts.symbols, kind.value_type).take(pa.array([parts.codes[x] for each in tuples for x in each]))
    ends = np.cumsum([0, *map(len, tuples)])
    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), flat).cast(kind)


def written_kind(kind: Any, symbols: CodedSymbols) -> Any:
    """The type in which symbols that stand in a column of some type are written to a file.

    It depends on the alphabet, and on whether the column has text, numbers, lists or objects, but not on widths,
    encodings or dictionaries: programs often choose those by what occurs. If nothing occurs, the alphabet decides.
    """
    if pa.types.is_null(kind):
        kind = next((wide for wide in _NUMBERS if _fits(symbols, wide)), None) or own_kind(symbols)
    if pa.types.is_dictionary(kind):
        return written_kind(kind.value_type, symbols)
    if is_text(kind):
        return pa.string()
    if is_number(kind):
        return next((wide for wide in _NUMBERS if _fits(symbols, wide)), kind)
    if is_list(kind) or pa.types.is_struct(kind):
        tuples = [symbol for symbol in symbols if isinstance(symbol, tuple)]
        even = len(tuples) == len(symbols) and len(set(map(len, tuples))) == 1
        parts = list(zip(*tuples, strict=True)) if even else []
        if is_list(kind):
            return pa.list_(written_kind(kind.value_type, tuple(value for part in parts for value in part)))
        inner = [
            (kind.field(position), parts[position] if position < len(parts) else ())
            for position in range(kind.num_fields)
        ]
        return pa.struct([pa.field(field.name, written_kind(field.type, part)) for field, part in inner])
    return kind


_NUMBERS = (pa.int64(), pa.uint64(), pa.float64())


def own_kind(values: Iterable[Any]) -> Any:
    """The Arrow type that values have by themselves; that of text if they have none in common."""
    try:
        return pa.array(values).type
    except ARROW_REFUSES:
        return pa.string()


def _fits(symbols: CodedSymbols, kind: Any) -> bool:
    try:
        symbols_as(symbols, kind)
    except InvalidValue:
        return False
    return True


@dataclass(frozen=True)
class Coder:
    """Reads values of an Arrow type as codes.

    Cost: one look-up in a hash table for each value; with a dictionary, for each value of the dictionary.
    """

    symbols: CodedSymbols
    kind: Any

    def codes(self, values: Any) -> Codes:
        """The code of each value of an Arrow array."""
        size, code = len(self.symbols), code_type(len(self.symbols) + 1)
        if pa.types.is_null(self.kind):  # as in a column in which all lists are empty
            return np.full(len(values), size, dtype=code)
        if pa.types.is_dictionary(self.kind):
            known = np.append(self._inner.codes(values.dictionary), code(size))
            rows = values.indices.cast(pa.int64()).fill_null(len(known) - 1)
            return np.asarray(known[rows.to_numpy(zero_copy_only=False)])
        plain = values.cast(self._table.type, safe=not is_number(self.kind))
        found = pc.index_in(plain, value_set=self._table).fill_null(size)
        return np.asarray(found.to_numpy(zero_copy_only=False), dtype=code)

    @cached_property
    def _inner(self) -> Coder:
        return coder_of(self.symbols, self.kind.value_type)

    @cached_property
    def _table(self) -> Any:
        """The alphabet as an array, of a type in which values of the column can be looked up."""
        wide = pa.large_string() if is_text(self.kind) else self.kind
        if is_number(self.kind):  # whatever numbers occur, symbols may be others
            whole = pa.types.is_integer(self.kind) and _fits(self.symbols, pa.int64())
            own = pa.uint64() if self.kind == pa.uint64() else pa.int64()
            narrow = pa.types.is_floating(self.kind) and _fits(self.symbols, self.kind)
            wide = own if whole and _fits(self.symbols, own) else self.kind if narrow else pa.float64()
        table = symbols_as(self.symbols, wide)
        try:
            pc.index_in(table, value_set=table)
        except pa.ArrowException:
            raise _unfit(self.kind) from None
        return table


class TupleCoder(Coder):
    """Symbols that are tuples, such as the cells of a grid, as lists of one length or as structs."""

    @cached_property
    def _positions(self) -> list[Alphabet]:
        """For each position of the tuples, what occurs there."""
        widths = {len(symbol) if isinstance(symbol, tuple) else -1 for symbol in self.symbols}
        fields = self.kind.num_fields if pa.types.is_struct(self.kind) else None
        if len(widths) > 1 or min(widths) < 1 or (fields is not None and widths != {fields}):
            raise _unfit(self.kind)
        positions = [Alphabet(position) for position in zip(*self.symbols, strict=True)]
        if math.prod(len(position) + 1 for position in positions) > np.iinfo(np.int64).max:
            raise TooLarge("the symbols are tuples with too many parts: use shorter tuples, or write them as text")
        return positions

    @cached_property
    def _parts(self) -> list[Coder]:
        """For each position of the tuples, the coder of what occurs there."""
        kinds = [self.kind.field(i if pa.types.is_struct(self.kind) else 0).type for i in range(len(self._positions))]
        return [coder_of(position.symbols, kind) for position, kind in zip(self._positions, kinds, strict=True)]

    @cached_property
    def _known(self) -> Any:
        """The number of each symbol, as an Arrow array."""
        columns = zip(self._positions, zip(*self.symbols, strict=True), strict=True)
        return self._numbers([np.array([position.codes[part] for part in column]) for position, column in columns])

    def _numbers(self, parts: Sequence[Codes]) -> Any:
        """Numbers of tuples in mixed radix, from the codes of their parts."""
        numbers = np.zeros(len(parts[0]), dtype=np.int64)
        for part, position in zip(parts, self._positions, strict=True):
            numbers = numbers * (len(position) + 1) + part
        return pa.array(numbers)

    def codes(self, values: Any) -> Codes:
        size, width = len(self.symbols), len(self._positions)
        whole = values.is_valid().to_numpy(zero_copy_only=False)
        if is_list(self.kind):
            lengths = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False)
            whole = whole & (lengths == width)
        flat = (values if whole.all() else values.filter(pa.array(whole))).flatten()
        if is_list(self.kind):
            flat = [flat.take(pa.array(np.arange(position, len(flat), width))) for position in range(width)]
        numbers = self._numbers([part.codes(column) for part, column in zip(self._parts, flat, strict=True)])
        found = np.full(len(values), size, dtype=code_type(size + 1))
        found[whole] = pc.index_in(numbers, value_set=self._known).fill_null(size).to_numpy(zero_copy_only=False)
        return found


def coder_of(symbols: CodedSymbols, kind: Any) -> Coder:
    """The coder of an alphabet for values of an Arrow type."""
    return (TupleCoder if is_list(kind) or pa.types.is_struct(kind) else Coder)(symbols, kind)


def _unfit(kind: Any) -> InvalidValue:
    return InvalidValue(
        f"the column has values of type {kind_name(kind)}, and not every symbol of the language is one: change the "
        "column's type, or the symbols"
    )
