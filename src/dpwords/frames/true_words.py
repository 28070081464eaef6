"""All words of a file at once, in memory, for studies by their owner."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dpwords.core.encoding import Ragged, code_type
from dpwords.frames.formats import FileForm
from dpwords.frames.passes import TableSource
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Fault
from dpwords.frames.streams import Input
from dpwords.frames.whole import batches_of
from dpwords.mechanisms.private import Private


@dataclass(frozen=True, eq=False)
class FoundWords:
    """The true words of a file, as symbol codes, and how many of its rows were left out."""

    words: Ragged
    skipped: int


def words_in(path: str, named: str | None, request: Request, mechanism: Private, header: bool = True) -> FoundWords:
    """The words of a file that the mechanism could release. They are as private as the file.

    `named` is the format, if the suffix does not say it. A row that is no word raises the error that a release would,
    or is left out with invalid="skip". Cost: that of reading the file; all words are in memory.
    """
    form, asked = FileForm.of(path, named, header), request
    with Input(path) as opened:
        source = TableSource(opened, form, form.reader(opened))
        with source.hiding_columns():
            names = source.reader.schema.names
            used, log = request.needed(names), request.log(names)
            schema = source.reader.read_schema(used)
            batches: Iterable[pa.RecordBatch] = source.reader.batches(used)
            if log is not None:
                cases, _ = log.gathered(pa.Table.from_batches(batches, schema).select(used), request.by)
                request, schema, batches = request.of_cases(log), cases.schema, batches_of(cases)
            survey = request.survey(schema, mechanism, None)
        source.check_header(asked, survey.release.shape, log, mechanism.language.alphabet)
        parts = []
        for batch in batches:
            found = survey.add(batch)
            parts.append(found.words.chosen(np.flatnonzero(found.faults == Fault.NONE)))
    kind = code_type(len(mechanism.language.alphabet))
    values = np.concatenate([np.zeros(0, dtype=kind), *(part.values.astype(kind) for part in parts)])
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(part.sizes for part in parts)])
    return FoundWords(Ragged(values, np.cumsum(sizes)), survey.skipped)
