"""The release of a table that is in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue
from dpwords.frames.requests import Request
from dpwords.frames.survey import Survey
from dpwords.frames.tables import ArrowTable, opened
from dpwords.mechanisms.private import Private

_ROWS = 2**17  # of a batch
_BYTES = 2**26  # of a batch


def release(mechanism: Private, table: Any, request: Request, key: bytes | None, ledger: Any) -> Any:
    """A table of the same kind with released words; see `dpwords.frames.release`."""
    source = opened(table)
    alone = Request(separator=request.separator, invalid=request.invalid)
    if source.bare and (key is not None or ledger is not None or request != alone):
        raise InvalidValue(
            "a column without a table takes only separator= and invalid=: it has no ids, and can be a part of a longer "
            "column, so pass a table"
        )
    given = source.arrow(request.needed(source.names))
    log, charged = request.log(source.names), ledger is not None
    if log is None:
        survey = request.survey(given.schema, mechanism, key, charged=charged)
        source.check_symbols(survey.release.shape.columns, mechanism.language.alphabet)
        rows, words = _drawn(survey, given, ledger)
        names = source.names if survey.release.kept is None else survey.release.kept
        return source.replaced(None if len(rows) == len(given) else rows, names, words)
    cases, events = log.gathered(given, request.by)
    survey = request.of_cases(log).survey(cases.schema, mechanism, key, charged=charged)
    source.check_symbols([log.symbol], mechanism.language.alphabet)
    rows, words = _drawn(survey, cases, ledger)
    released = ArrowTable(cases).replaced(rows, cases.schema.names, words)
    rebuilt = pa.Table.from_batches([events(batch) for batch in batches_of(released)])
    return source.made(dict(zip(rebuilt.schema.names, rebuilt.columns, strict=True)))


def batches_of(table: Any) -> list[Any]:
    """The record batches of a table, at least one, and none of them large."""
    rows = min(_ROWS, _BYTES * len(table) // max(table.nbytes, 1))
    return table.to_batches(max_chunksize=max(rows, 1)) or [pa.RecordBatch.from_pylist([], schema=table.schema)]


def _drawn(survey: Survey, table: Any, ledger: Any) -> tuple[Integers, dict[str, Any]]:
    """The rows that come out, and the columns of their released words."""
    batches = batches_of(table)
    found = [survey.add(batch) for batch in batches]
    plan = survey.plan()
    if ledger is not None:
        plan.charge(ledger)
    release, first = plan.release, 0
    numbers, parts = [], []
    for batch, words in zip(batches, found, strict=True):
        epsilons = plan.epsilons(first, len(batch))
        rows = release.rows(words, epsilons)
        parts.append(release.shape.write(release.draw(words, rows, release.ids(batch, first), epsilons)))
        numbers.append(first + rows)
        first += len(batch)
    columns = {
        name: pa.chunked_array([part[place] for part in parts]) for place, name in enumerate(release.shape.columns)
    }
    return np.concatenate(numbers), columns
