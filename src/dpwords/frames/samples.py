"""A look into a table in a file, for its owner: the first rows, and the symbols that occur."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpwords.errors import InvalidValue, TooLarge, within_memory
from dpwords.frames.coders import is_list
from dpwords.frames.columns import checked_column, named_columns
from dpwords.frames.passes import TableSource
from dpwords.frames.readers import TableReader, empty_batch
from dpwords.frames.requests import Request
from dpwords.frames.tuning import MOST_SYMBOLS, SAMPLE


@within_memory()
def sample_of(source: TableSource) -> Any:
    """The first rows as a record batch. Columns of JSON Lines whose values are of several types are left out.

    Cost: that of reading a batch.
    """
    reader, names = source.reader, source.reader.schema.names
    if reader.guessed:
        names = [name for name in names if _is_readable(reader, name)]
    first = next(reader.batches(names), None)
    return empty_batch(reader.selected(names)) if first is None else first.slice(0, SAMPLE)


@within_memory()
def occurring(source: TableSource, request: Request) -> list[str]:
    """The symbols that occur in a file, sorted, as text. They are as private as the words in it.

    Text is split at the separator of the request; without one, at white space if there is any, and otherwise into
    characters. Cost: that of reading the file, for text without a separator twice.
    """
    with source.hiding_columns():
        return _occurring(source, request)


def _occurring(source: TableSource, request: Request) -> list[str]:
    reader = source.reader
    log = request.log(reader.schema.names)
    if log is not None:
        return _distinct(source, [log.symbol], lambda values: values)
    if request.columns is not None:
        return _distinct(source, named_columns(reader.schema.names, request.columns), lambda values: values)
    column = checked_column(reader.schema.names, request.column or "")
    kind = reader.schema.field(column).type
    if is_list(kind):
        return _distinct(source, [column], lambda values: values.flatten())
    if request.separator is not None:
        separator = request.separator
        return _distinct(source, [column], lambda texts: pc.split_pattern(texts, separator).flatten())
    characters = _distinct(source, [column], _characters)
    if not any(map(str.isspace, characters)):
        return characters
    return _distinct(source, [column], lambda texts: pc.utf8_split_whitespace(texts).flatten())


def _distinct(source: TableSource, columns: Sequence[str], symbols: Callable[[Any], Any]) -> list[str]:
    """The distinct symbols that a function finds in the values of some columns."""
    found: set[str] = set()
    try:
        for batch in source.reader.batches(columns):
            for name in columns:
                values = batch.column(name)
                plain = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
                found.update(_known(pc.unique(symbols(plain)).cast(pa.string())))
            if len(found) > MOST_SYMBOLS:
                raise TooLarge(f"more than {MOST_SYMBOLS:,} symbols occur here: check where the words are")
    except pa.ArrowException:
        raise InvalidValue("the symbols are no single texts or numbers: describe them as a grid or a system") from None
    return sorted(found - {""})


def _characters(texts: Any) -> Any:
    return pa.array(sorted(set("".join(_known(texts.cast(pa.string()))))))


def _known(values: Any) -> list[str]:
    """The values of an array that are not null."""
    known: list[str] = values.drop_null().to_pylist()
    return known


def _is_readable(reader: TableReader, name: str) -> bool:
    try:
        next(reader.batches([name]), None)
    except InvalidValue:
        return False
    return True
