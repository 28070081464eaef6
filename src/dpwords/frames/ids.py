"""Columns of ids: what tells rows, or people, apart.

An id in a table is a text, whatever the format of the file: the whole number 1 is "1", as it is in a CSV file. So a
person is the same one in the ledger, and an id draws the same with the same key, if the file is converted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.keyed import Ids
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.frames.coders import contents_of, is_text, kind_name, plain_kind


def checked_ids(column: Any, name: str, first_row: int) -> Any:
    """A column of ids as an Arrow array of text; raises `InvalidValue` for nulls, and for values of another type.

    Texts are taken as they are: "01", " 1" and "1" are three ids. Bytes are refused, because nobody knows which text
    stands for them. Cost: about 50 nanoseconds for each whole number.
    """
    kind = plain_kind(column.type)
    if not (is_text(kind) or pa.types.is_integer(kind)):
        raise InvalidValue(
            f"ids are text or whole numbers, and column {name} has type {kind_name(kind)}: convert it to text"
        )
    plain = column
    if pa.types.is_dictionary(column.type):  # which can have nulls of its own
        plain = column.cast(pa.large_string() if is_text(kind) else kind)
    if plain.null_count:
        row = first_row + int(np.flatnonzero(plain.is_null().to_numpy(zero_copy_only=False))[0]) + 1
        raise InvalidValue(f"row {row} has no value in column {name}, which tells rows or people apart: give it one")
    return plain.cast(pa.large_string())


def ids_of(column: Any) -> Ids:
    """The ids of an Arrow array: of `checked_ids`, or the numbers of rows. Cost: none."""
    if pa.types.is_integer(column.type):
        return Ids.numbers(column.to_numpy())
    offsets, marks = contents_of(column)
    return Ids.texts(Ragged(marks, offsets[1:] - offsets[0]))
