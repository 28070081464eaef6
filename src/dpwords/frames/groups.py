"""Rows are written in groups that depend on the rows alone.

The batches in which rows arrive depend on the input: on its size, its encoding, and the rows that are left out. Row
groups of Parquet, batches of Arrow and blocks of compressed text would show that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.frames.copies import copied, one_array
from dpwords.frames.sizes import row_sizes
from dpwords.frames.tuning import ROWS, TEXT_BYTES


class GroupWriter(ABC):
    """What writes one group of rows after the other."""

    most_rows: int = ROWS  # of a group
    most_bytes: int = TEXT_BYTES  # of a group: the row that reaches them is its last one
    _out: Any  # what takes them: a stream of bytes, or a writer of pyarrow

    @abstractmethod
    def write(self, batch: Any) -> None:
        """Append the rows of a batch."""

    def close(self) -> None:
        """Write what is still to be written; the file itself stays open."""
        self._out.close()


class Grouped:
    """Hands rows to a writer in groups: as many rows as it takes, or fewer if they are large."""

    def __init__(self, writer: GroupWriter) -> None:
        self._writer = writer
        self._held: list[Any] = []
        self._rows, self._bytes = 0, 0  # of what is held

    def write(self, batch: Any) -> None:
        """Append the rows of a batch."""
        ends = np.cumsum(sum(map(row_sizes, batch.columns), np.zeros(len(batch))))
        done = 0
        while done < len(batch):
            used = 0 if done == 0 else int(ends[done - 1])
            full = int(np.searchsorted(ends, used + self._writer.most_bytes - self._bytes)) + 1
            end = min(full, done + self._writer.most_rows - self._rows)
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
        self._writer.close()

    def _flush(self) -> None:
        if self._held:
            table = pa.Table.from_batches(self._held)
            arrays = [  # whose dictionaries have the values of these rows only
                one_array(copied(column, name) if pa.types.is_dictionary(column.type) else column)
                for name, column in zip(table.column_names, table.columns, strict=True)
            ]
            self._writer.write(pa.RecordBatch.from_arrays(arrays, schema=table.schema))
            self._held, self._rows, self._bytes = [], 0, 0
