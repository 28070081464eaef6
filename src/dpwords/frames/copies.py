"""What leaves in an Arrow table is made anew: names, types and values, and nothing that was attached to them.

Metadata, dictionaries and the bytes beneath nulls can hold what no row shows: values of rows that were left out, lists
of true words, notes of the program that wrote a file. So a column that is not released is copied by value, in its type
without metadata, and its dictionary has the values of the rows that are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue, named
from dpwords.frames.coders import is_list, kind_name


def schema_of(kinds: Mapping[str, Any]) -> Any:
    """A schema with these columns, and nothing else."""
    return pa.schema([pa.field(name, bare_kind(kind)) for name, kind in kinds.items()])


def bare_kind(kind: Any, dictionaries: bool = True) -> Any:
    """An Arrow type without metadata, and without what programs add to it: extension types, views and runs."""

    def bare(inner: Any) -> Any:
        return bare_kind(inner, dictionaries)

    found = _VIEWED.get(kind, kind)
    if isinstance(kind, pa.BaseExtensionType):
        found = bare(kind.storage_type)
    elif pa.types.is_dictionary(kind):
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
    if _holds_more(column.type):
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


def one_array(column: Any) -> Any:
    """A chunked array as one array."""
    chunks = column.unify_dictionaries().chunks
    return pa.concat_arrays(chunks) if chunks else pa.nulls(0, column.type)


def _holds_more(kind: Any) -> bool:
    """Whether a type has unions or views of lists, at any depth."""
    if pa.types.is_union(kind) or pa.types.is_list_view(kind) or pa.types.is_large_list_view(kind):
        return True
    return any(_holds_more(kind.field(position).type) for position in range(kind.num_fields))


def _encoded(column: Any, kind: Any) -> Any:
    """A dictionary-encoded column with a dictionary of the values that occur."""
    found = column.cast(column.type.value_type)
    found = (found if found.type == kind else found.cast(kind)).dictionary_encode()
    if not column.type.ordered or not len(found):
        return found.cast(pa.dictionary(pa.int32(), kind, column.type.ordered))
    if isinstance(column, pa.ChunkedArray):  # has one dictionary for all chunks, once it is encoded
        chunks = column.unify_dictionaries().chunks
        parts = zip(chunks, found.unify_dictionaries().chunks, strict=True)
        return pa.chunked_array([_ordered(new, old.dictionary.cast(kind)) for old, new in parts])
    return _ordered(found, column.dictionary.cast(kind))


def _ordered(found: Any, order: Any) -> Any:
    """A dictionary-encoded array whose dictionary has its values in this order."""
    positions = pc.index_in(found.dictionary, order)
    ranks = np.argsort(np.argsort(positions.to_numpy()))
    dictionary = found.dictionary.take(pc.sort_indices(positions))
    codes = pa.array(ranks, pa.int32()).take(found.indices)
    return pa.DictionaryArray.from_arrays(codes, dictionary, ordered=True)
