"""Arrow arrays that are written: made anew of names, types and values, and divided where these would take too much.

Metadata, dictionaries and the bytes beneath nulls can hold what no row shows: values of rows that were left out, lists
of true words, notes of the program that wrote a file. So a column that is not released is copied by value, in its type
without metadata, and its dictionary has the values of the rows that are written.

A file can also stand for far more than its size: a dictionary with one long text that all rows share, views of the same
bytes, runs of equal values. Such batches are divided before anything is written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpwords.core.limits import DEFAULTS
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.frames.coders import is_list, is_text, kind_name
from dpwords.frames.tuning import BYTES, ROWS

_VIEWS = (pa.types.is_string_view, pa.types.is_binary_view)
_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary, *_VIEWS)
_LIST_VIEWS = (pa.types.is_list_view, pa.types.is_large_list_view)  # which Arrow cannot convert


def schema_of(kinds: Mapping[str, Any]) -> Any:
    """A schema with these columns, and nothing else."""
    return pa.schema([pa.field(name, bare_kind(kind)) for name, kind in kinds.items()])


def bare_kind(kind: Any, dictionaries: bool = True) -> Any:
    """An Arrow type without metadata, and without what programs add to it: extension types, views and runs."""

    def bare(inner: Any) -> Any:
        return bare_kind(inner, dictionaries)

    if isinstance(kind, pa.BaseExtensionType):  # which may have no hash
        return bare(kind.storage_type)
    found = _VIEWED.get(kind, kind)
    if pa.types.is_dictionary(kind):
        values = bare(kind.value_type)
        found = pa.dictionary(pa.int32(), values, kind.ordered) if dictionaries else values
    elif pa.types.is_run_end_encoded(kind):
        found = bare(kind.value_type)
    elif pa.types.is_map(kind):
        found = pa.map_(bare(kind.key_type), bare(kind.item_type))
    elif pa.types.is_fixed_size_list(kind):
        found = pa.list_(bare(kind.value_type), kind.list_size)
    elif is_list(kind):
        found = (pa.large_list if pa.types.is_large_list(kind) else pa.list_)(bare(kind.value_type))
    elif pa.types.is_struct(kind):
        found = pa.struct([(field.name, bare(field.type)) for field in map(kind.field, range(kind.num_fields))])
    return found


_VIEWED = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}  # views share bytes of all rows


def copied(column: Any, name: str, rows: Integers | None = None) -> Any:
    """Some rows of an Arrow array or chunked array (None: all of them), by value. Cost: that of one or two copies.

    A dictionary has the values that occur, in the order in which they do, or in their own order if it counts.
    Dictionaries inside lists and structs, views and runs are replaced by their values.
    """
    if _has(column.type, pa.types.is_union, *_LIST_VIEWS):
        raise InvalidValue(
            f"column {name} has unions or views of lists, which can hold more than they show: convert it, or leave out "
            f"what is not named ({named('drop_others', True)})"
        )
    encoded = pa.types.is_dictionary(column.type)
    plain = bare_kind(column.type, dictionaries=False)
    try:
        found = pc.run_end_decode(column) if pa.types.is_run_end_encoded(column.type) else column
        found = found if encoded or found.type == plain else found.cast(plain)
        rows = np.arange(len(found)) if rows is None else rows
        missing = found.is_null().to_numpy(zero_copy_only=False) if len(found) else np.zeros(0, bool)
        found = found.take(pa.array(rows, mask=missing[rows]))  # not what is beneath the nulls, or outside a slice
        return _encoded(found, plain) if encoded else found
    except (pa.ArrowException, TypeError):
        raise InvalidValue(
            f"values of type {kind_name(column.type)} cannot be copied: convert column {name}, or leave out what is "
            f"not named ({named('drop_others', True)})"
        ) from None


def decoded(column: Any) -> Any:
    """An array without a dictionary, which can have nulls of its own, and not of views of text."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    if not pa.types.is_dictionary(column.type):
        return column
    kind = column.type.value_type
    return column.cast(pa.large_string() if is_text(kind) else kind)


def one_array(column: Any) -> Any:
    """A chunked array as one array; an array as it is."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    chunks = column.unify_dictionaries().chunks
    return pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)


def _has(kind: Any, *tests: Callable[[Any], bool]) -> bool:
    """Whether one of some tests holds for a type, or for one inside it at any depth."""
    inner = (kind.field(number).type for number in range(kind.num_fields))
    return any(test(kind) for test in tests) or any(_has(each, *tests) for each in inner)


def _encoded(column: Any, kind: Any) -> Any:
    """A dictionary-encoded column with a dictionary of the values that occur."""
    found = column.cast(column.type.value_type)
    found = (found if found.type == kind else found.cast(kind)).dictionary_encode()
    if not column.type.ordered or not len(found):
        return found.cast(pa.dictionary(pa.int32(), kind, column.type.ordered))
    found = one_array(found)
    positions = pc.index_in(found.dictionary, one_array(column).dictionary.cast(kind))
    ranks = np.argsort(np.argsort(positions.to_numpy()))
    dictionary = found.dictionary.take(pc.sort_indices(positions))
    codes = pa.array(ranks, pa.int32()).take(found.indices)
    return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=True)


def parts(batch: pa.RecordBatch, name: str, done: int) -> Iterator[pa.RecordBatch]:
    """The rows of a batch, in batches that take about 16 MiB at most when all values are written out.

    `done` is the number of rows before them in the file of this name. Raises `TooLarge` for a row beyond `limits.row`.
    """
    sizes = sum((row_sizes(column) for column in batch.columns), np.zeros(batch.num_rows, dtype=np.float64))
    large = np.flatnonzero(sizes > DEFAULTS.row)
    if len(large):
        raise TooLarge(
            f"row {done + int(large[0]) + 1} of {name} takes more than {DEFAULTS.row // 2**20} MiB when it is decoded: "
            "leave it out, or split it"
        )
    ends, begin = np.cumsum(sizes), 0
    while begin < batch.num_rows:
        before = int(ends[begin - 1]) if begin else 0
        end = int(np.searchsorted(ends, before + BYTES, side="right"))
        end = min(max(end, begin + 1), begin + ROWS)
        yield batch.slice(begin, end - begin)
        begin = end


def row_sizes(column: Any) -> Floats:
    """The number of bytes of each value of an array, about, when it is written out. Cost: the size of the array.

    They are floating-point numbers, which do not overflow however deep the lists are.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return row_sizes(column.storage)
    if pa.types.is_dictionary(kind):
        known = np.append(row_sizes(column.dictionary), 0)  # the last one is that of null
        return np.asarray(known[_numbers(column.indices.cast(pa.int64()).fill_null(-1))])
    if pa.types.is_run_end_encoded(kind):
        rows = column.offset + np.arange(1, len(column) + 1)
        return np.asarray(row_sizes(column.values)[np.searchsorted(_numbers(column.run_ends), rows)])
    if pa.types.is_nested(kind):
        return _nested_sizes(column)
    if any(is_text(kind) for is_text in _TEXTS):
        return _text_sizes(column)
    return np.full(len(column), 1 if pa.types.is_null(kind) else -(-kind.bit_width // 8), dtype=np.float64)


def _nested_sizes(column: Any) -> Floats:
    kind = column.type
    if pa.types.is_struct(kind):
        children = (row_sizes(column.field(number)) for number in range(kind.num_fields))
        return sum(children, np.ones(len(column), dtype=np.float64))
    if pa.types.is_union(kind):  # a row can be any value of any child
        most = max((row_sizes(column.field(number)).max(initial=1) for number in range(kind.num_fields)), default=1)
        return np.full(len(column), most, dtype=np.float64)
    ends = np.append(0, np.cumsum(1 + row_sizes(column.values)))
    if pa.types.is_fixed_size_list(kind):
        begins = kind.list_size * (column.offset + np.arange(len(column)))
        return np.asarray(ends[begins + kind.list_size] - ends[begins])
    begins = _numbers(column.offsets)
    if any(is_view(kind) for is_view in _LIST_VIEWS):
        return np.asarray(ends[begins + _numbers(column.sizes)] - ends[begins])
    return np.diff(ends[begins])


def is_coded(kind: Any) -> bool:
    """Whether all texts of a type are in dictionaries, from which they can be written out later."""
    return not _has(kind, *_TEXTS, *_LIST_VIEWS, lambda each: isinstance(each, pa.BaseExtensionType))


def longest_texts(column: Any) -> Iterator[float]:
    """The number of bytes of the longest text of each dictionary in an array, at any depth; 0 if it is empty."""
    if pa.types.is_dictionary(column.type):
        yield row_sizes(column.dictionary).max(initial=0)
    elif pa.types.is_struct(column.type) or pa.types.is_union(column.type):
        for number in range(column.type.num_fields):
            yield from longest_texts(column.field(number))
    elif pa.types.is_nested(column.type):
        yield from longest_texts(column.values)


def _text_sizes(column: Any) -> Floats:
    if any(is_view(column.type) for is_view in _VIEWS):
        views = np.frombuffer(column.buffers()[1] or b"", dtype="<i4")[4 * column.offset :]
        return views[::4][: len(column)].astype(np.float64)  # of the 16 bytes of a view, the first 4 are the length
    return np.asarray(_numbers(pc.binary_length(column).fill_null(0)), dtype=np.float64)


def _numbers(values: Any) -> Any:
    return np.asarray(values.to_numpy(zero_copy_only=False))
