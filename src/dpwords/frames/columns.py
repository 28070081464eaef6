"""Columns of a table: those that a user names, and those of ids, which tell rows or people apart.

An id in a table is a text, whatever the format of the file: the whole number 1 is "1", as it is in a CSV file. So a
person is the same one in the ledger, and an id draws the same with the same key, if the file is converted.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.keyed import Ids
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue, named
from dpwords.frames.arrays import decoded
from dpwords.frames.coders import contents_of, is_text, kind_name, plain_kind
from dpwords.frames.tuning import LISTED


class NoColumn(InvalidValue):
    """A table does not have the columns that it should have. The message lists those that it has, or has a hint."""

    def __init__(self, fault: str, names: Sequence[str] = (), hint: str | None = None) -> None:
        listed = ", ".join(names[:LISTED]) + (", …" if len(names) > LISTED else "")
        super().__init__(f"{fault}: {hint or f'the columns are {listed}'}" if names or hint else fault)
        self.fault = fault  # without the names


def refuse_twins(names: Sequence[str], table: str = "the table") -> None:
    """Raise `InvalidValue` if two columns have the same name."""
    if len(set(names)) < len(names):
        raise InvalidValue(f"two columns of {table} have the same name: rename one of them")


def named_columns(names: Sequence[str], columns: str | Sequence[str]) -> tuple[str, ...]:
    """The columns that a list of names, a range "A:B" or a pattern "m*" stands for.

    >>> named_columns(["id", "m1", "m2", "m3"], "m1:m2")
    ('m1', 'm2')
    >>> named_columns(["id", "m1", "m2", "m3"], "m*")
    ('m1', 'm2', 'm3')
    """
    texts = [columns] if isinstance(columns, str) else list(columns)
    found = [name for text in texts for name in _named(names, text)]
    if len(found) != len(set(found)):
        raise InvalidValue(f"{named('columns')} names a column twice: name each step once")
    if not found:
        raise InvalidValue(
            f"{named('columns')} names no column: pass a list of names, a range such as 'm1:m12', or a pattern 'm*'"
        )
    return tuple(found)


def _named(names: Sequence[str], text: str) -> Sequence[str]:
    if not isinstance(text, str) or text in names:
        return [checked_column(names, text)]
    first, colon, last = text.partition(":")
    if colon and first in names and last in names:
        begin, end = names.index(first), names.index(last)
        if begin > end:
            raise InvalidValue(f"the range {text} runs backwards: write {last}:{first}")
        return names[begin : end + 1]
    if colon and (first in names or last in names):
        missing = last if first in names else first
        near = get_close_matches(missing, names, 1)
        meant = f"did you mean {near[0]}?" if near else "correct the range"
        raise NoColumn(f"there is no column {missing} for an end of the range {text}", hint=meant)
    matching = [name for name in names if fnmatchcase(name, text)]
    if not matching:
        raise NoColumn(f"no column is called {text}, and none matches it", names)
    return matching


def checked_column(names: Sequence[str], name: str) -> str:
    """The name itself, if it is that of a column."""
    if not isinstance(name, str):
        raise InvalidValue("a column is named by a text, also where its label is a number: pass '0' for column 0")
    if name not in names:
        raise NoColumn(f"there is no column {name}", names)
    return name


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
    plain = decoded(column)
    if plain.null_count:
        row = first_row + first_null(plain)
        raise InvalidValue(f"row {row} has no value in column {name}, which tells rows or people apart: give it one")
    return plain.cast(pa.large_string())


def first_null(column: Any) -> int:
    """The number of the first row that is null, from 1."""
    return int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0]) + 1


def ids_of(column: Any) -> Ids:
    """The ids of an Arrow array: of `checked_ids`, or the numbers of rows. Cost: none."""
    if pa.types.is_integer(column.type):
        return Ids.numbers(column.to_numpy())
    offsets, marks = contents_of(column)
    return Ids.texts(Ragged(marks, offsets[1:] - offsets[0]))
