"""What every reader and every writer of a table does, and the reader of a table that is in memory.

Rows are written in groups that depend on the rows alone. The batches in which rows arrive depend on the input: on its
size, its encoding, and the rows that are left out. Row groups of Parquet, batches of Arrow and blocks of compressed
text would show that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from dpwords.frames.arrays import copied, one_array, row_sizes
from dpwords.frames.tuning import BYTES, ROWS, TEXT_BYTES

Row = TypeVar("Row")


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
    """The number of bytes of a table, about; old versions of pyarrow cannot tell the size of a slice."""
    try:
        return int(table.nbytes)
    except pa.ArrowTypeError:
        return int(table.get_total_buffer_size())


def in_batches(rows: Iterable[Row], size: Callable[[Row], int]) -> Iterator[list[Row]]:
    """Rows of text in batches of limited size; `size` says what a row counts."""
    some, held = list[Row](), 0
    for row in rows:
        some.append(row)
        held += size(row)
        if len(some) == ROWS or held >= TEXT_BYTES:
            yield some
            some, held = [], 0
    if some:
        yield some


class GroupWriter(ABC):
    """Writes rows in groups: as many as the format takes, or fewer if they are large."""

    most_rows: int = ROWS  # of a group
    most_bytes: int = TEXT_BYTES  # of a group: the row that reaches them is its last one

    def __init__(self, out: Any) -> None:
        self._out = out  # what takes the groups: a stream of bytes, or a writer of pyarrow
        self._held: list[Any] = []
        self._rows, self._bytes = 0, 0  # of what is held

    @abstractmethod
    def write_group(self, batch: Any) -> None:
        """Append one group, the rows of a batch."""

    def write(self, batch: Any) -> None:
        """Append the rows of a batch."""
        ends = np.cumsum(sum(map(row_sizes, batch.columns), np.zeros(len(batch))))
        done = 0
        while done < len(batch):
            used = 0 if done == 0 else int(ends[done - 1])
            full = int(np.searchsorted(ends, used + self.most_bytes - self._bytes)) + 1
            end = min(full, done + self.most_rows - self._rows)
            part = batch.slice(done, end - done)
            self._held.append(part)
            self._rows += len(part)
            self._bytes += int(ends[done + len(part) - 1]) - used
            done += len(part)
            if end <= len(batch):
                self._flush()

    def close(self) -> None:
        """Write what is still to be written; the file itself stays open."""
        self._flush()
        self._out.close()

    def _flush(self) -> None:
        if self._held:
            table = pa.Table.from_batches(self._held)
            arrays = [  # whose dictionaries have the values of these rows only
                one_array(copied(column, name) if pa.types.is_dictionary(column.type) else column)
                for name, column in zip(table.column_names, table.columns, strict=True)
            ]
            self.write_group(pa.RecordBatch.from_arrays(arrays, schema=table.schema))
            self._held, self._rows, self._bytes = [], 0, 0
