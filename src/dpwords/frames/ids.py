"""Columns of ids: what tells rows, or people, apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.encoding import Ragged
from dpwords.core.keyed import Ids
from dpwords.errors import InvalidValue
from dpwords.frames.coders import contents_of, is_text


def checked_ids(column: Any, name: str, first_row: int) -> Any:
    """A column of ids as a plain Arrow array; raises `InvalidValue` if there are nulls, or values of another type."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    is_bytes = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    if not (is_text(kind) or is_bytes or pa.types.is_integer(kind)):
        raise InvalidValue(f"ids are text, bytes or whole numbers, and column {name} has type {kind}: convert it")
    if column.null_count:
        row = first_row + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        raise InvalidValue(f"row {row} has no value in column {name}, which tells rows or people apart: give it one")
    return column.cast(pa.large_string() if is_text(kind) else kind)


def ids_of(column: Any) -> Ids:
    """The ids of a plain Arrow array. Cost: none for text and numbers, about 300 nanoseconds each for bytes."""
    if pa.types.is_large_string(column.type):
        offsets, marks = contents_of(column)
        return Ids.texts(Ragged(marks, offsets[1:] - offsets[0]))
    return Ids.of(column.to_numpy() if pa.types.is_integer(column.type) else column.to_pylist())
