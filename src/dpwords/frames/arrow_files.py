"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpwords.errors import InvalidValue
from dpwords.frames.arrays import bare_kind, is_coded, longest_texts, parts
from dpwords.frames.columns import refuse_twins
from dpwords.frames.rows import GroupWriter, TableReader
from dpwords.frames.streams import Input, Shared, errors_of_reading
from dpwords.frames.tuning import BYTES, CHUNK, GROUP_BYTES, GROUP_ROWS, PEEKED_ROWS, ROWS


class ParquetReader(TableReader):
    """A Parquet file, of which the columns that are asked for are decoded, batch by batch."""

    def __init__(self, source: Input) -> None:
        self._source, self._facts = source, None
        with errors_of_reading(source.name, "Parquet"):
            file = self._open()
            self._facts = file.metadata
            self.schema = file.schema_arrow
            refuse_twins(self.schema.names, source.name)
            columns = [file.schema.column(number) for number in range(len(file.schema))]
            # of text or bytes, by their names in Parquet: in these, a short file can repeat a long value
            self._texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
            widths = sum(column.length for column in columns if column.physical_type == "FIXED_LEN_BYTE_ARRAY")
            self._rows = _rows_of_batch(file.metadata, widths)
            if not all(map(is_coded, self._open(self._texts).schema_arrow.types)):
                self._texts, self._rows = [], min(self._rows, PEEKED_ROWS)

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        schema, done = self.selected(columns), 0
        with errors_of_reading(self._source.name, "Parquet"):
            for group in range(self._open().num_row_groups):
                coded = self._texts if self._has_long_texts(group, columns) else ()
                for batch in self._decoded(coded, self._rows, group, columns):
                    batch.validate(full=True)
                    for part in parts(batch, self._source.name, done):
                        own = part if len(part) == len(batch) else part.take(pa.array(range(len(part))))
                        yield from _written_out(own, schema)
                    done += batch.num_rows

    def _has_long_texts(self, group: int, columns: Sequence[str]) -> bool:
        """Whether texts of a row group may be too long to be written out for all rows of a batch at once.

        A few rows have the dictionaries of the whole group. To write texts out at once is five times as fast.
        """
        some = next(self._decoded(self._texts, PEEKED_ROWS, group, columns), None)
        longest = [] if some is None else [each for column in some.columns for each in longest_texts(column)]
        return any(not 0 < size <= BYTES // ROWS for size in longest)

    def _decoded(self, coded: Sequence[str], rows: int, group: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The batches of a row group."""
        wanted = list(columns)  # a name with a dot can also mean a part of an object
        every = self._open(coded).iter_batches(batch_size=rows, row_groups=[group], columns=wanted)
        return (batch.select(wanted) for batch in every)

    def _open(self, coded: Sequence[str] = ()) -> pq.ParquetFile:
        """The file; texts in these columns are not written out, so that a long one that is repeated takes little."""
        file = Shared(self._source.rewound())
        options = {"pre_buffer": False, "buffer_size": CHUNK, "metadata": self._facts}
        return pq.ParquetFile(file, read_dictionary=list(coded), **options)


class ParquetWriter(GroupWriter):
    """A Parquet file, of which each batch is a row group."""

    most_rows, most_bytes = GROUP_ROWS, GROUP_BYTES

    def __init__(self, file: IO[bytes], schema: pa.Schema, changed: Sequence[str]) -> None:
        rest = [name for name in schema.names if name not in changed]  # nobody looks for released words by their order
        super().__init__(pq.ParquetWriter(Shared(file), schema, compression="snappy", write_statistics=rest))

    def write_group(self, batch: pa.RecordBatch) -> None:
        self._out.write_batch(batch, row_group_size=self.most_rows)


class ArrowReader(TableReader):
    """An Arrow or Feather file, or a stream of Arrow batches, whichever it is."""

    def __init__(self, source: Input) -> None:
        self._source = source
        with errors_of_reading(source.name, "Arrow"):
            begin = source.rewound().read(6)
            if begin.startswith(b"FEA1"):
                raise InvalidValue(f"{source.name} is of Feather version 1: write it again as version 2 or as Parquet")
            self._is_file = begin == b"ARROW1"
            self.schema = self._open().schema
            refuse_twins(self.schema.names, source.name)

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        with errors_of_reading(self._source.name, "Arrow"):
            reader = self._open([self.schema.get_field_index(name) for name in columns])
            every = map(reader.get_batch, range(reader.num_record_batches)) if self._is_file else reader
            done = 0
            for batch in (each.select(list(columns)) for each in every):
                batch.validate(full=True)
                yield from parts(batch, self._source.name, done)
                done += batch.num_rows

    def _open(self, positions: Sequence[int] = ()) -> Any:
        file, options = Shared(self._source.rewound()), pa.ipc.IpcReadOptions(included_fields=list(positions))
        return (pa.ipc.open_file if self._is_file else pa.ipc.open_stream)(file, options=options)


class ArrowWriter(GroupWriter):
    """An Arrow file, a Feather file (compressed), or a stream of Arrow batches."""

    most_rows, most_bytes = ROWS, BYTES

    def __init__(self, file: IO[bytes], kind: str, schema: pa.Schema) -> None:
        options = pa.ipc.IpcWriteOptions(
            compression="lz4" if kind == "feather" else None, emit_dictionary_deltas=kind != "arrows"
        )
        make = pa.ipc.new_stream if kind == "arrows" else pa.ipc.new_file
        super().__init__(make(Shared(file), schema, options=options))
        self._dictionaries: dict[int, pa.Array] = {}

    def write_group(self, batch: pa.RecordBatch) -> None:
        columns = [
            self._grown(position, column) if pa.types.is_dictionary(column.type) else column
            for position, column in enumerate(batch.columns)
        ]
        self._out.write_batch(pa.RecordBatch.from_arrays(columns, schema=batch.schema))

    def _grown(self, position: int, column: pa.DictionaryArray) -> pa.DictionaryArray:
        """The column with a dictionary that begins with the one of the batch before, as Arrow files require."""
        known = self._dictionaries.get(position, column.dictionary)
        found = pa.compute.index_in(column.dictionary, known)
        known = pa.concat_arrays([known, column.dictionary.filter(found.is_null())])
        self._dictionaries[position] = known
        codes = pa.compute.index_in(column.dictionary, known).take(column.indices)
        return pa.DictionaryArray.from_arrays(codes.cast(column.type.index_type), known, ordered=column.type.ordered)


def _written_out(batch: pa.RecordBatch, schema: pa.Schema) -> list[pa.RecordBatch]:
    """The batch with the types of the schema; lists have no values but those of its rows."""
    pairs = zip(batch.schema, schema, strict=True)
    plain = pa.schema([new if old.type == new.type else new.with_type(bare_kind(new.type)) for old, new in pairs])
    batches: list[pa.RecordBatch] = pa.Table.from_batches([batch]).cast(plain).cast(schema).to_batches()  # no views yet
    return batches


def _rows_of_batch(facts: pq.FileMetaData, widths: int) -> int:
    """How many rows are decoded at a time: fewer if they are large, by what the file says and by its types."""
    size = sum(facts.row_group(number).total_byte_size for number in range(facts.num_row_groups))
    return int(max(1, min(ROWS, BYTES * max(facts.num_rows, 1) // max(size, 1), BYTES // max(widths, 1))))
