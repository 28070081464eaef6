"""JSON Lines: an object on each line. Values that are not released are copied letter by letter."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, Any

import pyarrow as pa

from dpwords.core.limits import DEFAULTS
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.frames.rows import GroupWriter, TableReader
from dpwords.frames.streams import Input, errors_of_reading, lines, packed, unpacked
from dpwords.frames.tuning import CELLS, ROWS, TEXT_BYTES
from dpwords.recipes.table_formats import Packing

REST = "\0the whole line"  # a column with the lines as they were read; no key of a text file has this name
JsonLine = tuple[str, dict[str, tuple[int, int]]]  # with the places of its values
_WHITE = " \t\r\n"
_ARROW_REFUSES = (pa.ArrowException, ValueError, TypeError, OverflowError)


class _NotJson(ValueError):
    """A text is not one JSON object with distinct keys."""


def _not_a_number(_name: str) -> None:
    raise _NotJson


_DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_not_a_number)  # numbers are only skipped


def places(line: str) -> dict[str, tuple[int, int]]:
    """Where the value of each key of a JSON object begins and ends in the text."""
    found: dict[str, tuple[int, int]] = {}
    try:
        at = _next(line, 0)
        if line[at] != "{":
            raise _NotJson
        at = _next(line, at + 1)
        while line[at] != "}":
            if found:
                if line[at] != ",":
                    raise _NotJson
                at = _next(line, at + 1)
            key, at = _DECODER.raw_decode(line, at)
            at = _next(line, at)
            if line[at] != ":" or not isinstance(key, str) or key in found:
                raise _NotJson
            begin = _next(line, at + 1)
            _, end = _DECODER.raw_decode(line, begin)
            found[key] = begin, end
            at = _next(line, end)
        if line[at + 1 :].strip(_WHITE):
            raise _NotJson
    except (ValueError, IndexError, RecursionError):
        raise _NotJson from None
    return found


def _next(line: str, at: int) -> int:
    """The next place that is not white space."""
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
        return pa.schema([(key, self._first_type(key, some)) for key in keys])

    def follows_from(self, lines: Sequence[str], columns: Sequence[str], words: Mapping[str, Any]) -> bool:
        given, follow = (
            [(name, words.get(name, _same)(schema.field(name).type)) for name in schema.names if name in columns]
            for schema in (self.schema, self._guessed([(line, places(line)) for line in lines]))
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

    def _first_type(self, key: str, some: list[JsonLine]) -> pa.DataType:
        """The type of a key's values; of values that have none in common, that of text, which refuses them if used."""
        try:
            return pa.array([_value(line, found.get(key)) for line, found in some]).type
        except _ARROW_REFUSES:
            return pa.string()

    def _column(self, field: pa.Field, some: list[JsonLine], done: int) -> pa.Array:
        if field.name == REST:
            return pa.array([line for line, _ in some], pa.string())
        try:
            return pa.array([_value(line, found.get(field.name)) for line, found in some], field.type)
        except _ARROW_REFUSES:
            pass
        for number, (line, found) in enumerate(some, start=done + 1):
            try:
                pa.array([_value(line, found.get(field.name))], field.type)
            except _ARROW_REFUSES:
                raise InvalidValue(
                    f"row {number} of {self._source.name} has another type of value than the first rows in a column "
                    "that is used: write all of them alike, or leave other columns out with "
                    f"{named('drop_others', True)}"
                ) from None
        raise InvalidValue(f"a column of {self._source.name} that is used has values of several types: write all alike")

    def _lines(self) -> Iterator[list[JsonLine]]:
        """The lines with the places of their values, in batches."""
        name, blanks, size = self._source.name, 0, 0
        some: list[JsonLine] = []
        keys = set[str]()
        with errors_of_reading(name, "JSON Lines"):
            for number, text in enumerate(lines(unpacked(self._source.rewound(), self._packing), name), start=1):
                line = text.strip(_WHITE)
                if not line:
                    blanks = blanks or number
                    continue
                if blanks:
                    raise InvalidValue(f"line {blanks} of {name} is blank: only the end of a file may be")
                try:
                    some.append((line, places(line)))
                except _NotJson:
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


def _same(kind: Any) -> Any:
    return kind


def _value(line: str, place: tuple[int, int] | None) -> Any:
    return None if place is None else json.loads(line[slice(*place)])


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
            rows = map(_replaced, batch.column(REST).to_pylist(), rows)
        new = ["{" + ", ".join(f"{_written(key)}: {value}" for key, value in row.items()) + "}" for row in rows]
        self._out.write("".join([f"{line}\n" for line in new]).encode("utf-8", "backslashreplace"))  # half characters


def _replaced(line: str, values: Mapping[str, str]) -> dict[str, str]:
    """The values of a JSON object, as they are written, of which some are new."""
    return {key: values.get(key, line[begin:end]) for key, (begin, end) in places(line).items()}


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
