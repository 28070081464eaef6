"""Tables as text: CSV and TSV, plain text with a word on each line, and JSON Lines with an object on each line.

Every value that is not released is kept as the text that it is, letter by letter.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import pyarrow as pa

from dpwords.core.limits import DEFAULTS
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.frames.coders import ARROW_REFUSES, own_kind, plain_kind
from dpwords.frames.rows import GroupWriter, TableReader, in_batches
from dpwords.frames.streams import Input, errors_of_reading, packed
from dpwords.frames.tuning import CELL, CELLS, LONGEST_LINE, ROWS, TEXT_BYTES
from dpwords.recipes.table_formats import Packing

WORD = "word"  # the name of the only column of plain text
DELIMITERS: dict[str, str] = {"csv": ",", "tsv": "\t"}
_LONGEST_ROW = 2 * LONGEST_LINE  # characters; a value in quotes can have line ends
_OTHERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars"}


class DelimitedReader(TableReader):
    """CSV or TSV, read strictly: each row has as many values as the first line, and quotes are closed.

    Without a header, the columns are called 1, 2, 3, ….
    """

    def __init__(self, source: Input, packing: Packing | None, kind: str, header: bool = True) -> None:
        self._source, self._packing, self._kind, self._has_header = source, packing, kind, header
        self.schema = pa.schema([(name, pa.string()) for name in self._header()])

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        width, name = len(self.schema), self._source.name
        rows, size, blanks = [], 0, 0
        blank = [""] if self.empty_words and width == 1 else []
        every = self._rows()
        if self._has_header:
            next(every)
        for number, values in enumerate(every, start=1):
            row = values or blank
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
            every = of_a_row(self._source.lines(self._packing))
            try:
                for row in csv.reader(every, delimiter=DELIMITERS[self._kind], strict=True):
                    yield row
                    number, size = number + 1, 0
            except csv.Error:
                row_number = number if self._has_header else number + 1
                where = f"row {row_number}" if row_number else "the header"
                raise InvalidValue(
                    f"{where} of {name} has a quote that is not closed or not doubled, or a bad line end: correct it"
                ) from None


class DelimitedWriter(GroupWriter):
    """CSV or TSV, with a header or without one; values are quoted where needed."""

    def __init__(self, file: IO[bytes], packing: Packing | None, kind: str, schema: pa.Schema, header: bool) -> None:
        check_flat(schema, kind.upper())
        super().__init__(packed(file, packing))
        self._delimiter = DELIMITERS[kind]
        if header:
            self._write([schema.names])

    def write_group(self, batch: pa.RecordBatch) -> None:
        if batch.num_columns:
            self._write(zip(*map(texts, batch.columns), strict=True))

    def _write(self, rows: Any) -> None:
        written = _Lines()
        csv.writer(written, delimiter=self._delimiter, lineterminator="\r\n").writerows(rows)  # so \r is quoted
        self._out.write("".join([line[:-2] + "\n" for line in written]).encode())


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
        for words in in_batches(self._words(), len):
            yield pa.record_batch([pa.array(words, pa.string())], schema=self.schema)

    def _words(self) -> Iterator[str]:
        blanks = 0
        with errors_of_reading(self._source.name, "text"):
            for line in self._source.lines(self._packing):
                word = line.removesuffix("\n").removesuffix("\r")
                if not word and not self.empty_words:
                    blanks += 1
                    continue
                if blanks:
                    yield from [""] * blanks
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
        super().__init__(packed(file, packing))

    def write_group(self, batch: pa.RecordBatch) -> None:
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


REST = "\0the whole line"  # a column with the lines as they were read; no key of a text file has this name
JsonLine = tuple[str, dict[str, tuple[int, int]]]  # with the positions of its values
_WHITE = " \t\r\n"


def _not_a_number(_name: str) -> None:
    raise ValueError


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_not_a_number)  # numbers are only skipped
_NOT_JSON = (ValueError, IndexError, RecursionError)


def positions(line: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key of a JSON object begins and ends in the text.

    Raises one of `_NOT_JSON` if the text is not one JSON object with distinct keys.
    """
    found: dict[str, tuple[int, int]] = {}
    at = _after("{", line, 0)
    while line[at] != "}":
        if found:
            at = _after(",", line, at)
        key, at = _DECODER.raw_decode(line, at)
        begin = _after(":", line, _after("", line, at))
        if not isinstance(key, str) or key in found:
            raise ValueError
        _, end = _DECODER.raw_decode(line, begin)
        found[key] = begin, end
        at = _after("", line, end)
    if line[at + 1 :].strip(_WHITE):
        raise ValueError
    return found


def _after(mark: str, line: str, at: int) -> int:
    """The next position that is not white space, after a mark that has to be here."""
    if not line.startswith(mark, at):
        raise ValueError
    at += len(mark)
    while line[at] in _WHITE:
        at += 1
    return at


class JsonReader(TableReader):
    """JSON Lines as a table. Columns have the types of the first batch, with which the rows after it have to agree.

    To write JSON Lines again, `REST` is read beside the columns that someone looks into: the whole line.
    """

    guessed, line = True, REST

    def __init__(self, source: Input, packing: Packing | None) -> None:
        self._source, self._packing = source, packing
        self._columns = 0
        first = next(self._lines(), [])
        if not first:
            raise InvalidValue(f"{source.name} is empty: it should have an object on each line")
        self.schema = self._guessed(first)
        self._columns = len(self.schema)

    def _guessed(self, some: list[JsonLine]) -> pa.Schema:
        """The columns that some lines have, in the order in which they occur, with the types of their values."""
        name, keys = self._source.name, dict.fromkeys(key for _, found in some for key in found)
        if len(keys) > DEFAULTS.columns:
            raise TooLarge(f"{name} has more than {DEFAULTS.columns} keys: write symbols as an array instead")
        if any("\ud800" <= letter <= "\udfff" for key in keys for letter in key):
            raise InvalidValue(f"a key of {name} has half a character (a surrogate): rename it")
        return pa.schema([(key, own_kind(_values(key, some))) for key in keys])  # text refuses others if it is used

    def follows_from(self, lines: Sequence[str], columns: Sequence[str], words: Mapping[str, Any]) -> bool:
        given, follow = (
            [
                (name, words.get(name, lambda kind: kind)(schema.field(name).type))
                for name in schema.names
                if name in columns
            ]
            for schema in (self.schema, self._guessed([(line, positions(line)) for line in lines]))
        )
        return given == follow

    def batches(self, columns: Sequence[str], complete: bool = False) -> Iterator[pa.RecordBatch]:
        schema, done = self.selected(columns), 0
        for some in self._lines():
            if complete:
                self._refuse_others(some, done)
            yield pa.record_batch([self._column(field, some, done) for field in schema], schema=schema)
            done += len(some)

    def _refuse_others(self, some: list[JsonLine], done: int) -> None:
        names = set(self.schema.names)
        for number, (_, found) in enumerate(some, start=done + 1):
            if not names.issuperset(found):
                raise InvalidValue(
                    f"row {number} of {self._source.name} has a key that the first rows have not: write to .jsonl, or "
                    f"use {named('drop_others', True)}"
                )

    def _column(self, field: pa.Field, some: list[JsonLine], done: int) -> pa.Array:
        if field.name == REST:
            return pa.array([line for line, _ in some], pa.string())
        try:
            return pa.array(_values(field.name, some), field.type)
        except ARROW_REFUSES:
            pass
        for number, one in enumerate(some, start=done + 1):
            try:
                pa.array(_values(field.name, [one]), field.type)
            except ARROW_REFUSES:
                raise InvalidValue(
                    f"row {number} of {self._source.name} has another type of value than the first rows in a column "
                    "that is used: write all of them alike, or leave other columns out with "
                    f"{named('drop_others', True)}"
                ) from None
        raise InvalidValue(f"a column of {self._source.name} that is used has values of several types: write all alike")

    def _lines(self) -> Iterator[list[JsonLine]]:
        """The lines with the positions of their values, in batches."""
        name, blanks, size = self._source.name, 0, 0
        some: list[JsonLine] = []
        keys = set[str]()
        with errors_of_reading(name, "JSON Lines"):
            for number, text in enumerate(self._source.lines(self._packing), start=1):
                line = text.strip(_WHITE)
                if not line:
                    blanks = blanks or number
                    continue
                if blanks:
                    raise InvalidValue(f"line {blanks} of {name} is blank: only the end of a file may be")
                try:
                    some.append((line, positions(line)))
                except _NOT_JSON:
                    raise InvalidValue(
                        f"line {number} of {name} is not a JSON object with distinct keys: write one on each line"
                    ) from None
                size += len(line)
                keys.update(some[-1][1])
                if len(some) == ROWS or size >= TEXT_BYTES or len(some) * max(len(keys), self._columns) >= CELLS:
                    yield some
                    some, size = [], 0
                    keys.clear()
            if some:
                yield some


def _values(key: str, some: list[JsonLine]) -> Iterator[Any]:
    """The value of a key in each of some lines. A number of thousands of digits is a `ValueError` when it is read."""
    return (json.loads(line[slice(*found[key])]) if key in found else None for line, found in some)


class JsonWriter(GroupWriter):
    """JSON Lines: an object for each row; with `REST`, that in which the row came, with new values where they changed.

    The other values are copied letter by letter, but not the space around them.
    """

    def __init__(self, file: IO[bytes], packing: Packing | None, schema: pa.Schema, changed: Sequence[str]) -> None:
        self._names = [name for name in schema.names if name != REST and (REST not in schema.names or name in changed)]
        super().__init__(packed(file, packing))

    def write_group(self, batch: pa.RecordBatch) -> None:
        columns = [[_written(value) for value in batch.column(name).to_pylist()] for name in self._names]
        rows: Iterable[dict[str, str]] = (
            dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True)
        )
        if REST in batch.schema.names:
            pairs = zip(batch.column(REST).to_pylist(), rows, strict=True)
            rows = ({key: new.get(key, line[slice(*at)]) for key, at in positions(line).items()} for line, new in pairs)
        new = ["{" + ", ".join(f"{_written(key)}: {value}" for key, value in row.items()) + "}" for row in rows]
        self._out.write("".join([f"{line}\n" for line in new]).encode("utf-8", "backslashreplace"))  # half characters


def _written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_as_text)
    except InvalidValue:
        raise
    except ValueError:
        raise InvalidValue("JSON has no infinite numbers and no NaN: write to .parquet or .arrow instead") from None


def _as_text(value: Any) -> str:
    if isinstance(value, bytes):
        raise InvalidValue(
            f"JSON has no bytes: write to .parquet or .arrow instead, or use {named('drop_others', True)}"
        )
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
