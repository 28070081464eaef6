"""The release of a table that is in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.encoding import Ragged
from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.frames.coders import size_of
from dpwords.frames.long import Events
from dpwords.frames.people import PeopleFacts
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Shape, released_names
from dpwords.frames.survey import Survey
from dpwords.frames.tables import ArrowTable, TableAdapter, empty_batch, opened
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report

_ROWS = 2**17  # of a batch
_BYTES = 2**26  # of a batch


@within_memory()
def release(mechanism: Private, table: Any, request: Request, key: bytes | None, ledger: Any) -> Any:
    """A table of the same kind with released words; see `dpwords.frames.release`."""
    if (key is not None or ledger is not None) and opened(table).bare:
        raise _bare()
    request = replace(request, kept_key=key is not None)
    whole = _Whole.of(mechanism, table, request, key, charged=ledger is not None)
    kept = whole.survey.release.kept
    names = released_names(whole.source.names if kept is None else kept, whole.survey.release.shape)

    def made(rows: Integers, words: dict[str, Any]) -> Any:
        if whole.events is None:
            return whole.source.replaced(None if len(rows) == len(whole.words) else rows, names, words)
        out = ArrowTable(whole.words).replaced(rows, whole.words.schema.names, words)
        if isinstance(mechanism, Report):
            out = whole.events.log.answered(out)
        else:
            out = pa.Table.from_batches([whole.events(batch) for batch in batches_of(out)])
        return whole.source.made(dict(zip(out.schema.names, out.columns, strict=True)))

    made(*_columns(whole.survey.release.shape, []))  # a table that cannot be made is refused before it is paid for
    if len(whole.words):
        made(*_columns(whole.survey.release.shape, [(np.zeros(1, np.int64), _some_word(whole.survey.release.shape))]))
    return made(*_drawn(whole.survey, whole.words, ledger))


@within_memory()
def facts(mechanism: Private, table: Any, request: Request) -> PeopleFacts:
    """What people spend in a release; see `dpwords.frames.facts`."""
    log = request.log(opened(table).names)
    person = request.by or (request.id if log is None else log.case)
    whole = _Whole.of(mechanism, table, replace(request, by=person), None, charged=False)
    for batch in batches_of(whole.words):
        whole.survey.add(batch)
    found = whole.survey.plan().facts
    if found is None:
        raise InvalidValue(f"facts are about people: name the column that says who it is, with {named('by')}")
    return found


@within_memory()
def words(mechanism: Private, table: Any, request: Request) -> Ragged:
    """The words of a table as they are; see `dpwords.frames.words`."""
    whole = _Whole.of(mechanism, table, request, None, charged=False)
    return whole.survey.words(batches_of(whole.words))


def batches_of(table: Any) -> list[Any]:
    """The record batches of a table, at least one, and none of them large."""
    rows = min(_ROWS, _BYTES * len(table) // max(size_of(table), 1))
    return table.to_batches(max_chunksize=max(rows, 1)) or [empty_batch(table.schema)]


@dataclass(frozen=True, eq=False)
class _Whole:
    """A table with a word in each row, ready to be surveyed."""

    source: TableAdapter
    words: Any  # an Arrow table
    events: Events | None  # if the source has a row for each symbol
    survey: Survey

    @classmethod
    def of(cls, mechanism: Private, table: Any, request: Request, key: bytes | None, charged: bool) -> _Whole:
        source = opened(table)
        if source.bare and request != Request(separator=request.separator, invalid=request.invalid):
            raise _bare()
        words, events = source.arrow(request.needed(source.names)), None
        log = request.log(source.names)
        if log is not None:
            words, events = log.gathered(words, request.by)
            request = request.of_cases(log)
        survey = request.survey(words.schema, mechanism, key, charged=charged, declared=source.declares)
        return cls(source, words, events, survey)


def _drawn(survey: Survey, table: Any, ledger: Any) -> tuple[Integers, dict[str, Any]]:
    """The rows that come out, and the columns of their released words."""
    batches = batches_of(table)
    found = [survey.add(batch) for batch in batches]
    plan = survey.plan()
    if ledger is not None:
        plan.charge(ledger)
    release, first = plan.release, 0
    drawn = []
    for batch, words in zip(batches, found, strict=True):
        epsilons = plan.epsilons(first, len(batch))
        rows = release.rows(words, epsilons)
        drawn.append((first + rows, release.draw(words, rows, release.ids(batch, first), epsilons)))
        first += len(batch)
    return _columns(release.shape, drawn)


def _some_word(shape: Shape) -> Ragged:
    """A word of the first symbol."""
    size = getattr(getattr(shape, "written", None), "list_size", 1)
    return Ragged(np.zeros(size, np.int64), np.array([size]))


def _columns(shape: Shape, drawn: list[tuple[Integers, Ragged]]) -> tuple[Integers, dict[str, Any]]:
    """The numbers of all rows, and the columns of their words."""
    nothing = np.zeros(0, dtype=np.int64)
    parts = [shape.write(words) for _, words in drawn] or [shape.write(Ragged(nothing, nothing))]
    columns = {name: pa.chunked_array([part[place] for part in parts]) for place, name in enumerate(shape.released)}
    return np.concatenate([nothing, *(rows for rows, _ in drawn)]), columns


def _bare() -> InvalidValue:
    return InvalidValue(
        f"a column without a table takes only {named('separator')} and {named('invalid')}: it has no ids, and can be "
        "a part of a longer column, so pass a table"
    )
