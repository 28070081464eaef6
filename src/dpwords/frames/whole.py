"""The release of a table that is in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.encoding import Ragged
from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.frames.people import PeopleFacts
from dpwords.frames.readers import ArrowRows
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Shape, released_names
from dpwords.frames.tables import TableAdapter, opened
from dpwords.frames.word_table import WordTable
from dpwords.mechanisms.private import Private

DrawnBatch = tuple[Any, int, Integers, Ragged]  # a batch, its first row, those of its rows that come out, their words


@within_memory()
def release(mechanism: Private, table: Any, request: Request, key: bytes | None, ledger: Any) -> Any:
    """A table of the same kind with released words; see `dpwords.frames.release`."""
    source = opened(table)
    if (key is not None or ledger is not None) and source.bare:
        raise _bare()
    words = _words(mechanism, source, replace(request, reused_key=key is not None), key)
    first = next(words.reader.batches(words.needed)).slice(0, 1)
    for number in range(1 + len(first)):  # a table that cannot be made is refused before it is paid for
        _made(source, words, [(first, 0, np.arange(number), _some_words(words.release.shape, number))])
    survey = words.survey(charged=ledger is not None)
    batches = list(words.surveyed(survey))
    plan, drawn, done = survey.plan(), [], 0
    if ledger is not None:
        plan.charge(ledger)
    for batch, found in batches:
        drawn.append((batch, done, *plan.release.drawn(batch, found, done, plan.epsilons(done, len(batch)))))
        done += len(batch)
    return _made(source, words, drawn, every=plan.words == plan.rows)


@within_memory()
def facts(mechanism: Private, table: Any, request: Request) -> PeopleFacts:
    """What people spend in a release; see `dpwords.frames.facts`."""
    source = opened(table)
    log = request.log(source.names)
    person = request.by or (request.id if log is None else log.case)
    words = _words(mechanism, source, replace(request, by=person), None)
    survey = words.survey()
    for _ in words.surveyed(survey):
        pass
    found = survey.plan().facts
    if found is None:
        raise InvalidValue(f"facts are about people: name the column that says who it is, with {named('by')}")
    return found


@within_memory()
def words(mechanism: Private, table: Any, request: Request) -> Ragged:
    """The words of a table as they are; see `dpwords.frames.words`."""
    return _words(mechanism, opened(table), request, None).words().words


def _words(mechanism: Private, source: TableAdapter, request: Request, key: bytes | None) -> WordTable:
    if source.bare and request != Request(
        separator=request.separator, invalid=request.invalid, any_word=request.any_word
    ):
        raise _bare()
    reader = ArrowRows(source.arrow(request.needed(source.names)))
    return WordTable.of(reader, request, mechanism, key, source.declares)


def _made(source: TableAdapter, table: WordTable, drawn: list[DrawnBatch], every: bool = False) -> Any:
    """The table that comes out, of the kind that came in; `every` says that all rows do."""
    release, shape = table.release, table.release.shape
    if table.log is not None:
        out = pa.Table.from_batches([release.written(batch, rows, words) for batch, _, rows, words in drawn])
        return source.made(dict(zip(out.schema.names, out.columns, strict=True)))
    columns = [shape.write(words) for *_, words in drawn]
    new = {name: pa.chunked_array(parts) for name, *parts in zip(shape.released, *columns, strict=True)}
    rows = None if every else np.concatenate([first + rows for _, first, rows, _ in drawn])
    return source.replaced(rows, released_names(source.names if release.output is None else release.output, shape), new)


def _some_words(shape: Shape, number: int) -> Ragged:
    """So many words of the first symbol."""
    size = getattr(getattr(shape, "written", None), "list_size", 1)
    return Ragged(np.zeros(number * size, np.int64), size * np.arange(1, number + 1))


def _bare() -> InvalidValue:
    return InvalidValue(
        f"a column without a table takes only {named('separator')} and {named('invalid')}: it has no ids, and can be "
        "a part of a longer column, so pass a table"
    )
