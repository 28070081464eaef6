"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import IO, Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from dpwords.errors import InvalidValue
from dpwords.frames.sizes import BYTES, ROWS, is_coded, longest_texts, parts, without_views
from dpwords.frames.streams import Input, errors_of_reading, shared

ArrowKind = Literal["arrow", "arrows", "feather"]
_FEW = 16  # rows of a batch, if texts have to be written out before their sizes are known


class ParquetReader:
    """A Parquet file, decoded batch by batch."""

    def __init__(self, source: Input) -> None:
        self._source = source
        with errors_of_reading(source.name, "Parquet"):
            file = self._open()
            self.schema = _with_distinct_names(file.schema_arrow, source.name)
            self._texts, self._long = _texts_of(file), dict[int, bool]()
            self._rows = _rows_of_batch(file)
            if not all(map(is_coded, self._open(self._texts).schema_arrow.types)):
                self._texts, self._rows = [], min(self._rows, _FEW)

    def read_schema(self, _used: Sequence[str]) -> pa.Schema:
        """The schema of the batches."""
        return self.schema

    def batches(self, _used: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in batches of limited size."""
        done = 0
        with errors_of_reading(self._source.name, "Parquet"):
            for number in range(self._open().num_row_groups):
                coded = self._texts if self._has_long_texts(number) else ()
                for batch in self._open(coded).iter_batches(batch_size=self._rows, row_groups=[number]):
                    for part in parts(_sound(batch), self._source.name, done):
                        own = part if len(part) == len(batch) else part.take(pa.array(range(len(part))))
                        yield from self._written_out(own)
                    done += batch.num_rows

    def _has_long_texts(self, group: int) -> bool:
        """Whether texts of a row group may be too long to be written out for all rows of a batch at once.

        A few rows have the dictionaries of the whole group. To write texts out at once is five times as fast.
        """
        if group not in self._long:
            some = next(self._open(self._texts).iter_batches(batch_size=_FEW, row_groups=[group]), None)
            longest = [] if some is None else [each for column in some.columns for each in longest_texts(column)]
            self._long[group] = any(not 0 < size <= BYTES // ROWS for size in longest)
        return self._long[group]

    def _written_out(self, batch: pa.RecordBatch) -> list[pa.RecordBatch]:
        """The batch with the types of the schema; lists have no values but those of its rows."""
        decoded = pa.Table.from_batches([batch]).cast(self._decoded)
        batches: list[pa.RecordBatch] = decoded.cast(self.schema).to_batches()
        return batches

    @cached_property
    def _decoded(self) -> pa.Schema:
        """The schema with text instead of views of text, to which Arrow cannot convert what has a dictionary."""
        return pa.schema([field.with_type(without_views(field.type)) for field in self.schema])

    def _open(self, coded: Sequence[str] = ()) -> pq.ParquetFile:
        """The file; texts in these columns are not written out, so that a long one that is repeated takes little."""
        file = shared(self._source.rewound())
        return pq.ParquetFile(file, pre_buffer=False, buffer_size=2**20, read_dictionary=list(coded))


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
            done = 0
            for batch in every:
                yield from parts(_sound(batch), self._source.name, done)
                done += batch.num_rows

    def _open(self) -> Any:
        file = shared(self._source.rewound())
        return pa.ipc.open_file(file) if self._is_file else pa.ipc.open_stream(file)


class ArrowWriter:
    """An Arrow file, a Feather file (compressed), or a stream of Arrow batches."""

    most_rows, most_bytes = ROWS, BYTES

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


def _texts_of(file: pq.ParquetFile) -> list[str]:
    """The columns of text or bytes, by their names in Parquet, in which a short file can repeat a long value."""
    columns = (file.schema.column(number) for number in range(len(file.schema)))
    return [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]


def _rows_of_batch(file: pq.ParquetFile) -> int:
    """How many rows are decoded at a time: fewer if they are large, by what the file says and by its types."""
    facts = file.metadata
    size = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
    columns = (file.schema.column(number) for number in range(len(file.schema)))
    widths = sum(column.length for column in columns if column.physical_type == "FIXED_LEN_BYTE_ARRAY")
    return int(max(1, min(ROWS, BYTES * max(facts.num_rows, 1) // max(size, 1), BYTES // max(widths, 1))))


def _with_distinct_names(schema: pa.Schema, name: str) -> pa.Schema:
    if len(set(schema.names)) < len(schema.names):
        raise InvalidValue(f"two columns of {name} have the same name: rename one of them")
    return schema
