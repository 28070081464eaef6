"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from dpwords.errors import InvalidValue
from dpwords.frames.coders import size_of
from dpwords.frames.delimited import ROWS
from dpwords.frames.streams import Input, errors_of_reading, shared

ArrowKind = Literal["arrow", "arrows", "feather"]
_BYTES = 2**24  # of a batch, about


class ParquetReader:
    """A Parquet file, decoded batch by batch."""

    def __init__(self, source: Input) -> None:
        self._source = source
        with errors_of_reading(source.name, "Parquet"):
            file = self._open()
            self.schema = _with_distinct_names(file.schema_arrow, source.name)
            facts = file.metadata
            groups = [facts.row_group(number) for number in range(facts.num_row_groups)]
            size = sum(group.total_byte_size for group in groups)
            self._rows = _rows_of_batch(facts.num_rows, size)

    def read_schema(self, _used: Sequence[str]) -> pa.Schema:
        """The schema of the batches."""
        return self.schema

    def batches(self, _used: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in batches of limited size."""
        with errors_of_reading(self._source.name, "Parquet"):
            for batch in self._open().iter_batches(batch_size=self._rows):
                yield _sound(batch)

    def _open(self) -> pq.ParquetFile:
        return pq.ParquetFile(shared(self._source.rewound()), pre_buffer=False, buffer_size=2**20)


class ParquetWriter:
    """A Parquet file, of which each batch is a row group."""

    most_rows, most_bytes = 2**20, 2**26

    def __init__(self, file: IO[bytes], schema: pa.Schema) -> None:
        self._writer = pq.ParquetWriter(shared(file), schema, compression="snappy")

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of a batch."""
        self._writer.write_batch(batch, row_group_size=self.most_rows)

    def close(self) -> None:
        """Write what is still to be written."""
        self._writer.close()


class ArrowReader:
    """An Arrow or Feather file, or a stream of Arrow batches, whichever it is."""

    def __init__(self, source: Input) -> None:
        self._source = source
        with errors_of_reading(source.name, "Arrow"):
            begin = source.rewound().read(6)
            if begin.startswith(b"FEA1"):
                raise InvalidValue(f"{source.name} is of Feather version 1: write it again as version 2 or as Parquet")
            self._is_file = begin == b"ARROW1"
            self.schema = _with_distinct_names(self._open().schema, source.name)

    def read_schema(self, _used: Sequence[str]) -> pa.Schema:
        """The schema of the batches."""
        return self.schema

    def batches(self, _used: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in batches of limited size."""
        with errors_of_reading(self._source.name, "Arrow"):
            reader = self._open()
            every = map(reader.get_batch, range(reader.num_record_batches)) if self._is_file else reader
            for batch in every:
                rows = _rows_of_batch(batch.num_rows, size_of(_sound(batch)))
                for begin in range(0, batch.num_rows, rows):
                    yield batch.slice(begin, rows)

    def _open(self) -> Any:
        file = shared(self._source.rewound())
        return pa.ipc.open_file(file) if self._is_file else pa.ipc.open_stream(file)


class ArrowWriter:
    """An Arrow file, a Feather file (compressed), or a stream of Arrow batches."""

    most_rows, most_bytes = ROWS, _BYTES

    def __init__(self, file: IO[bytes], kind: ArrowKind, schema: pa.Schema) -> None:
        options = pa.ipc.IpcWriteOptions(
            compression="lz4" if kind == "feather" else None, emit_dictionary_deltas=kind != "arrows"
        )
        make = pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file
        self._writer = make(shared(file), schema, options=options)
        self._dictionaries: dict[int, pa.Array] = {}

    def write(self, batch: pa.RecordBatch) -> None:
        """Append the rows of a batch."""
        columns = [
            self._grown(place, column) if pa.types.is_dictionary(column.type) else column
            for place, column in enumerate(batch.columns)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))

    def close(self) -> None:
        """Write what is still to be written."""
        self._writer.close()

    def _grown(self, place: int, column: pa.DictionaryArray) -> pa.DictionaryArray:
        """The column with a dictionary that begins with the one of the batch before, as Arrow files require."""
        known = self._dictionaries.get(place, column.dictionary)
        found = pa.compute.index_in(column.dictionary, known)
        known = pa.concat_arrays([known, column.dictionary.filter(found.is_null())])
        self._dictionaries[place] = known
        codes = pa.compute.index_in(column.dictionary, known).take(column.indices)
        return pa.DictionaryArray.from_arrays(codes.cast(column.type.index_type), known, ordered=column.type.ordered)


def _sound(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch, if its content is what its types say."""
    batch.validate(full=True)
    return batch


def _rows_of_batch(rows: int, size: int) -> int:
    return max(1, min(ROWS, _BYTES * rows // max(size, 1))) if rows else ROWS


def _with_distinct_names(schema: pa.Schema, name: str) -> pa.Schema:
    if len(set(schema.names)) < len(schema.names):
        raise InvalidValue(f"two columns of {name} have the same name: rename one of them")
    return schema
