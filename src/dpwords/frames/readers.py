"""What every reader of a table does, and the reader of a table that is in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dpwords.frames.tuning import BYTES, ROWS


class TableReader(ABC):
    """A table that is read in batches of limited size, from the beginning each time."""

    schema: pa.Schema  # the names and types of all columns
    guessed = False  # whether the first rows decide which columns there are, and their types
    line: str | None = None  # the name of a further column: the rows as they stand in the file
    empty_words = False  # whether a blank line is the empty word; whoever knows the mechanism sets it

    @abstractmethod
    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        """These columns of all rows, in order. With `complete`, no row may have values that no column holds."""

    def selected(self, columns: Sequence[str]) -> pa.Schema:
        """The schema of batches with these columns."""
        return pa.schema([(name, pa.string()) if name == self.line else self.schema.field(name) for name in columns])

    def follows_from(self, lines: Sequence[str], columns: Sequence[str], words: Mapping[str, Any]) -> bool:
        """Whether the columns follow from these of the first lines: their names, order and types.

        For a column of words it is enough if the function in `words` gives the same type, that in which it is written.
        """
        return True


class ArrowRows(TableReader):
    """An Arrow table in memory. There is at least one batch, which may be empty."""

    def __init__(self, table: Any) -> None:
        self.table, self.schema = table, table.schema

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        table = self.table.select(list(columns))
        rows = min(ROWS, BYTES * len(table) // max(_size(table), 1))
        yield from table.to_batches(max_chunksize=max(rows, 1)) or [empty_batch(table.schema)]


def empty_batch(schema: Any) -> Any:
    """A record batch without rows, of any types."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _size(table: Any) -> int:
    """The number of bytes of a table, about; old versions of pyarrow cannot tell the proportion of a slice."""
    try:
        return int(table.nbytes)
    except pa.ArrowTypeError:
        return int(table.get_total_buffer_size())
