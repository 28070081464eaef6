"""Tables as text: CSV, TSV, and plain text with a word on each line. Every value is kept as the text that it is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import IO, Any, Literal

import pyarrow as pa

from dpwords.core.limits import DEFAULTS
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.frames.coders import plain_kind
from dpwords.frames.groups import GroupWriter
from dpwords.frames.readers import TableReader
from dpwords.frames.streams import Input, errors_of_reading, lines, packed, unpacked
from dpwords.frames.tuning import CELL, LONGEST_LINE, ROWS, TEXT_BYTES
from dpwords.recipes.table_formats import Packing

WORD = "word"  # the name of the only column of plain text
DELIMITERS: dict[str, str] = {"csv": ",", "tsv": "\t"}
_LONGEST_ROW = 2 * LONGEST_LINE  # characters; a value in quotes can have line ends
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class DelimitedReader(TableReader):
    """CSV or TSV, read strictly: each row has as many values as the first line, and quotes are closed.

    Without a header, the columns are called 1, 2, 3, ….
    """

    def __init__(
        self, source: Input, packing: Packing | None, kind: Literal["csv", "tsv"], header: bool = True
    ) -> None:
        self._source, self._packing, self._kind, self._has_header = source, packing, kind, header
        self.schema = pa.schema([(name, pa.string()) for name in self._header()])

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        width, name = len(self.schema), self._source.name
        rows, size, blanks = [], 0, 0
        blank = [""] if self.empty_words and width == 1 else []
        for number, values in enumerate(self._rows(), start=0 if self._has_header else 1):
            row = values or blank
            if number == 0:
                continue
            if not row:
                blanks += 1
                continue
            if blanks:
                raise InvalidValue(f"row {number - blanks} of {name} is blank: only the end of a file may be")
            if len(row) != width:
                first = "the header" if self._has_header else "row 1"
                raise InvalidValue(
                    f"row {number} of {name} has {len(row)} values, but {first} has {width}: correct the row"
                )
            rows.append(row)
            size += sum(map(len, row)) + CELL * width
            if len(rows) == ROWS or size >= TEXT_BYTES:
                yield self._batch(rows, columns)
                rows, size = [], 0
        if rows:
            yield self._batch(rows, columns)

    def _batch(self, rows: list[list[str]], columns: Sequence[str]) -> pa.RecordBatch:
        values = dict(zip(self.schema.names, zip(*rows, strict=True), strict=True))
        arrays = [pa.array(values[name], pa.string()) for name in columns]
        return pa.RecordBatch.from_arrays(arrays, names=list(columns))

    def _header(self) -> list[str]:
        name = self._source.name
        header = next(self._rows(), None)
        if not self._has_header:
            if not header:
                raise InvalidValue(f"{name} begins with a blank line, or is empty: begin with the first row")
            return [str(number) for number in range(1, len(header) + 1)]
        if not header:
            raise InvalidValue(f"{name} does not begin with the names of its columns: add a header")
        if len(header) > DEFAULTS.columns:
            raise TooLarge(f"{name} has more than {DEFAULTS.columns} columns: write symbols one below the other")
        if len(set(header)) < len(header):
            raise InvalidValue(
                f"two columns of {name} have the same name: rename one of them, or use "
                f"{named('no_header', True)} if there is none"
            )
        for mark, called in _OTHERS.items():
            if len(header) == 1 and mark in header[0]:
                kind = "rename it to end in .tsv" if mark == "\t" else "convert it to commas"
                raise InvalidValue(f"the values in {name} seem to stand between {called}: {kind}")
        return header

    def _rows(self) -> Iterator[list[str]]:
        name, number, size = self._source.name, 0, 0

        def of_a_row(every: Iterator[str]) -> Iterator[str]:
            nonlocal size
            for line in every:
                size += len(line)
                if size > _LONGEST_ROW:
                    most = _LONGEST_ROW // 2**20
                    raise TooLarge(
                        f"row {number} of {name} is longer than {most} MiB: see whether its quotes are closed"
                    )
                yield line

        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_LINE))
        with errors_of_reading(name, self._kind.upper()):
            stream = unpacked(self._source.rewound(), self._packing)
            try:
                for row in csv.reader(of_a_row(lines(stream, name)), delimiter=DELIMITERS[self._kind], strict=True):
                    yield row
                    number, size = number + 1, 0
            except csv.Error:
                position = number if self._has_header else number + 1
                where = f"row {position}" if position else "the header"
                raise InvalidValue(
                    f"{where} of {name} has a quote that is not closed or not doubled, or a bad line end: correct it"
                ) from None


class DelimitedWriter(GroupWriter):
    """CSV or TSV, with a header or without one; values are quoted where needed."""

    def __init__(
        self, file: IO[bytes], packing: Packing | None, kind: Literal["csv", "tsv"], schema: pa.Schema, header: bool
    ) -> None:
        check_flat(schema, kind.upper())
        self._out, self._rows = packed(file, packing), _Lines()
        self._writer = csv.writer(self._rows, delimiter=DELIMITERS[kind], lineterminator="\r\n")  # so \r is quoted
        if header:
            self._write([schema.names])

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_columns:
            self._write(zip(*map(texts, batch.columns), strict=True))

    def _write(self, rows: Any) -> None:
        self._writer.writerows(rows)
        self._out.write("".join([line[:-2] + "\n" for line in self._rows]).encode())
        self._rows.clear()


class _Lines(list[str]):
    """Lines that a writer of CSV makes, one call each."""

    write = list.append


class TextReader(TableReader):
    """Plain text: a table with one column, a row for each line. Blank lines at the end are ignored.

    With `empty_words` they are words like others: then a word that becomes empty must not make a row vanish.
    """

    schema = pa.schema([(WORD, pa.string())])

    def __init__(self, source: Input, packing: Packing | None) -> None:
        self._source, self._packing = source, packing

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        words: list[str] = []
        size = 0
        for word in self._words():
            words.append(word)
            size += len(word)
            if len(words) == ROWS or size >= TEXT_BYTES:
                yield pa.record_batch([pa.array(words, pa.string())], schema=self.schema)
                words, size = [], 0
        if words:
            yield pa.record_batch([pa.array(words, pa.string())], schema=self.schema)

    def _words(self) -> Iterator[str]:
        blanks = 0
        with errors_of_reading(self._source.name, "text"):
            for line in lines(unpacked(self._source.rewound(), self._packing), self._source.name):
                word = line.removesuffix("\n").removesuffix("\r")
                if not word and not self.empty_words:
                    blanks += 1
                    continue
                for _ in range(blanks):
                    yield ""
                blanks = 0
                yield word


class TextWriter(GroupWriter):
    """Plain text: the values of the only column, one on each line."""

    def __init__(self, file: IO[bytes], packing: Packing | None, schema: pa.Schema) -> None:
        if len(schema) != 1:
            raise InvalidValue(
                f"plain text holds one column: use {named('drop_others', True)}, or write another format"
            )
        check_flat(schema, "plain text")
        self._out = packed(file, packing)

    def write(self, batch: pa.RecordBatch) -> None:
        values = texts(batch.column(0))
        if any("\n" in value or "\r" in value for value in values):
            raise InvalidValue("a word with a line break cannot be written as plain text: write another format")
        self._out.write("".join([f"{value}\n" for value in values]).encode())


def check_flat(schema: pa.Schema, kind: str) -> None:
    """Raise `InvalidValue` if a column holds lists or other values that are no text in this format."""
    for field in schema:
        inner = plain_kind(field.type)
        if pa.types.is_nested(inner) or pa.types.is_binary(inner) or pa.types.is_large_binary(inner):
            raise InvalidValue(
                f"a column of {kind} cannot hold lists, objects or bytes: write to .jsonl, .parquet or .arrow, or, if "
                f"it has neither words nor answers, use {named('drop_others', True)}"
            )


def texts(column: pa.Array) -> list[str]:
    """The values of a column as text; a missing one is empty."""
    plain = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    written = plain if pa.types.is_string(plain.type) else plain.cast(pa.string())
    return [value or "" for value in written.to_pylist()]
