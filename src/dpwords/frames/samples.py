"""A look into a table, for its owner: the first rows, the symbols that occur, and a guess at where the words are.

The owner confirms or corrects the guess. Nothing that is guessed here reaches a release by itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpwords.errors import InvalidValue, TooLarge, within_memory
from dpwords.frames.coders import is_list, is_text, plain_kind
from dpwords.frames.columns import checked_column, named_columns
from dpwords.frames.long import CASE, ORDER, SYMBOL
from dpwords.frames.requests import Request
from dpwords.frames.rows import TableReader, empty_batch
from dpwords.frames.sources import TableSource
from dpwords.frames.tuning import FEWEST_ALIKE, FEWEST_STEPS, MOST_SYMBOLS, SAMPLE

_SEPARATORS = (";", "->", ">", "|", ",", " ", "/", "-", "_")
_CASES = {CASE, "case", "case_id", "caseid", "case id", "session", "session_id", "trace_id"}
_SYMBOLS = {SYMBOL, "activity", "event", "action", "symbol", "task", "state"}
_ORDERS = {ORDER, "time", "timestamp", "datetime", "date", "order", "step", "position", "start_time"}
_PEOPLE = {"user", "person", "patient", "customer", "client", "rider", "driver", "vehicle", "member", "employee"}
_WORDS = {"word", "words", "route", "trace", "path", "sequence", "run", "course", "trajectory", "cells", "states"}


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
    schema = source.reader.schema
    with source.hiding_columns():
        log = request.log(schema.names)
        if log is not None:
            return _distinct(source, [log.symbol], lambda values: values)
        if request.columns is not None:
            return _distinct(source, named_columns(schema.names, request.columns), lambda values: values)
        column = checked_column(schema.names, request.column or "")
    if is_list(schema.field(column).type):
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
                found.update(pc.unique(symbols(plain)).cast(pa.string()).drop_null().to_pylist())
            if len(found) > MOST_SYMBOLS:
                raise TooLarge(f"more than {MOST_SYMBOLS:,} symbols occur here: check where the words are")
    except pa.ArrowException:
        raise InvalidValue("the symbols are no single texts or numbers: describe them as a grid or a system") from None
    return sorted(found - {""})


def _characters(texts: Any) -> Any:
    return pa.array(sorted(set("".join(texts.cast(pa.string()).drop_null().to_pylist()))))


def _is_readable(reader: TableReader, name: str) -> bool:
    try:
        next(reader.batches([name]), None)
    except InvalidValue:
        return False
    return True


def guessed(sample: Any, header: bool = True) -> Request:
    """Where the words seem to be in a table with these first rows, a record batch: a log, lists, columns, or text.

    Without a header, the names of the columns are numbers, which tell nothing. Cost: that of looking at 200 rows.

    >>> guessed(pa.record_batch({"user": ["ann", "bob"], "route": ["a>b>a", "b>b"]}))  # doctest: +ELLIPSIS
    Request(column='route', columns=None, case=None, symbol=None, order=None, separator='>', id=None, by='user', ...)
    """
    sample = sample.slice(0, SAMPLE)
    names, person = sample.schema.names, _called(_PEOPLE, sample.schema.names)
    log = _log(sample)
    if log is not None:
        return Request(case=log[0], symbol=log[1], order=log[2], by=person)
    lists = [field.name for field in sample.schema if is_list(field.type)]
    if lists:
        return Request(column=_called(_WORDS, lists) or lists[0], by=person)
    kept = [field.name for field in sample.schema if is_text(plain_kind(field.type))]
    texts = {name: [value or "" for value in sample.column(name).to_pylist()] for name in kept}
    steps = _steps(names if header else (), texts)
    if steps is not None:
        return Request(columns=tuple(steps), by=person)
    texts = {name: values for name, values in texts.items() if name != person}
    if not texts:
        return Request(by=person)
    separators = {name: separator_of(values) for name, values in texts.items()}
    longest = max(texts, key=lambda name: _symbols_in_each(texts[name], separators[name]))
    column = _called(_WORDS, texts) or longest
    return Request(column=column, separator=separators[column], by=person)


def separator_of(texts: Sequence[str]) -> str | None:
    """What seems to stand between the symbols in texts; None for nothing, or for white space between longer names.

    >>> separator_of(["register>check", "register"]), separator_of(["abba", "aab"]), separator_of(["go stop", "stop"])
    ('>', None, None)
    """
    for candidate in _SEPARATORS:
        parts = [text.split(candidate) for text in texts if text]
        symbols = [symbol for word in parts for symbol in word]
        several = sum(len(word) > 1 for word in parts)
        if 2 * several >= len(parts) > 0 and "" not in symbols and len(set(symbols)) < len(symbols):
            spaced = candidate == " " and any(len(symbol) > 1 for symbol in symbols)
            return None if spaced else candidate
    return None


def _log(sample: Any) -> tuple[str, str, str | None] | None:
    """The columns of the case, the symbol and the order, if this seems to be an event log."""
    plain = {name: name.strip().lower() for name in sample.schema.names}
    every = (_CASES, _SYMBOLS, _ORDERS)
    case, symbol, order = (next((name for name in plain if plain[name] in known), None) for known in every)
    if case is None or symbol is None:
        return None
    cases = sample.column(case).to_pylist()
    return (case, symbol, order) if len(set(map(str, cases))) < len(cases) or case == CASE else None


def _steps(names: Sequence[str], texts: Mapping[str, Sequence[str]]) -> Sequence[str] | None:
    """The columns that seem to be one for each step: numbered names, or the same few texts in one after the other."""
    numbered = _longest(names, _follows)
    if len(numbered) >= FEWEST_STEPS:
        return numbered
    values = {name: set(every) - {""} for name, every in texts.items()}
    alike = _longest(list(values), lambda one, other: 2 * len(values[one] & values[other]) > len(values[other]) > 0)
    return alike if len(alike) >= FEWEST_ALIKE else None


def _longest(names: Sequence[str], goes_on: Any) -> Sequence[str]:
    """The longest part of a list in which each name goes on from the one before."""
    best = part = list(names[:1])
    for one, other in pairwise(names):
        part = [*part, other] if goes_on(one, other) else [other]
        best = max(best, part, key=len)
    return best


def _follows(one: str, other: str) -> bool:
    first, second = (re.fullmatch(r"(.*?)(\d{1,9})", name) for name in (one, other))
    if first is None or second is None:
        return False
    return first[1] == second[1] and int(second[2]) == int(first[2]) + 1


def _called(known: set[str], names: Iterable[str]) -> str | None:
    """The first of some names that is a known one, perhaps with "id" after it."""
    plain = {
        name: name.strip().lower().removesuffix("_id").removesuffix("id") for name in names if name.lower() != "id"
    }
    return next((name for name in plain if plain[name] in known), None)


def _symbols_in_each(texts: Sequence[str], separator: str | None) -> float:
    """The mean number of symbols, if there are any texts; names with white space between them count as such."""
    lengths = [
        len(text.split(separator)) if separator is not None or " " in text.strip() else len(text) for text in texts
    ]
    return sum(lengths) / max(len(lengths), 1)
