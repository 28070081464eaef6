"""One pass over a table of words, whatever holds the table and wherever its words are.

A table comes as a `TableReader`: a file of any format, or a table in memory. Its words are in a column of lists or of
text, in one column for each step, or in the rows of an event log, whose cases are gathered into words first. From then
on each row has one word, and rows go through here batch by batch:

    read    a batch of rows becomes symbol codes, and each word is checked against the language, once
    survey  all batches are read; what may not go in is refused; a `Plan` says what will be drawn, and at which ε
    draw    all batches are read again; words are drawn as the plan says, and the batch that comes out is made anew

Everybody makes the same passes: releases of files (`passes`) and of data frames (`whole`), which differ in where
batches come from and go to; workers of a cluster (`dpwords.spark`), to whom a `BatchRelease` is sent; and whoever
only reads words, true ones (`passes.words_in`) or released ones (`released`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dpwords.core.limits import CORES
from dpwords.core.symbols import Ragged, Symbol, code_type
from dpwords.frames.batches import BatchRelease
from dpwords.frames.long import LongWords
from dpwords.frames.people import Division
from dpwords.frames.readers import ArrowRows, TableReader
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Fault, Found
from dpwords.frames.survey import Plan, Survey
from dpwords.mechanisms.mechanism import OutputKind
from dpwords.mechanisms.private import Private

DrawBatch = Callable[[int, Callable[[], pa.RecordBatch]], pa.RecordBatch]


@dataclass(frozen=True, eq=False)
class FoundWords:
    """The words of a table, as symbol codes, and how many of its rows were left out."""

    words: Ragged
    skipped: int


@dataclass(frozen=True, eq=False)
class WordTable:
    """A table with a word in each row, and what a release makes of a batch of its rows."""

    reader: TableReader
    request: Request  # about these rows; see `Request.of_cases`
    release: BatchRelease
    log: LongWords | None  # where the words were, if each row is a case of an event log

    @classmethod
    def of(
        cls,
        reader: TableReader,
        request: Request,
        mechanism: Private,
        key: bytes | None = None,
        declared: Callable[[str], bool] = lambda name: False,
    ) -> WordTable:
        """The words of a table, where the request says. The events of a log are read into memory at once."""
        names, events = reader.schema.names, None
        log = request.log(names)
        if log is not None:
            used = request.needed(names)
            rows = pa.Table.from_batches(reader.batches(used), reader.selected(used))
            cases, events = log.gathered(rows, request.by)
            reader, request = ArrowRows(cases), request.of_cases(log)
        release = request.release(reader.schema, mechanism, key, declared)
        if log is not None and mechanism.releases is OutputKind.WORDS:
            release = replace(release, events=events)
        elif log is not None:  # the answers about a case stay one row
            release = replace(release, output=(log.case, log.symbol))
        return cls(reader, request, release, log)

    @property
    def needed(self) -> list[str]:
        """The columns that say what the words are, and whose."""
        wanted = {*self.release.shape.columns, self.release.id, self.request.by}
        return [name for name in self.reader.schema.names if name in wanted]

    def survey(self, charged: bool = False) -> Survey:
        """What all batches are to be added to; `charged` says whether a ledger will be charged."""
        request = self.request
        division = Division.of(self.release.mechanism.epsilon, request.budget, request.split)
        return Survey(self.release, request.by, division, charged, request.reused_key)

    def surveyed(
        self, survey: Survey, columns: Sequence[str] = (), complete: bool = False
    ) -> Iterator[tuple[pa.RecordBatch, Found]]:
        """Each batch, with these columns or else those that are needed, and its words, which the survey has seen."""
        for batch in self.reader.batches(columns or self.needed, complete):
            yield batch, survey.add(batch)

    def words(self) -> FoundWords:
        """All words as they are, in memory. Cost: that of reading."""
        survey = Survey(replace(self.release, id=None))
        parts = [
            found.words.chosen(np.flatnonzero(found.faults == Fault.NONE)) if found.faults.any() else found.words
            for _, found in self.surveyed(survey)
        ]
        kind = code_type(len(self.release.mechanism.language.alphabet))
        values = np.concatenate([np.zeros(0, dtype=kind), *(part.values.astype(kind, copy=False) for part in parts)])
        sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(part.sizes for part in parts)])
        return FoundWords(Ragged(values, np.cumsum(sizes)), survey.skipped)

    def drawn(
        self,
        plan: Plan,
        columns: Sequence[str] = (),
        complete: bool = False,
        one: DrawBatch = lambda number, draw: draw(),
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The number of rows of each batch, and what comes out of it, in order; some are drawn ahead, on all cores.

        `one` is called with the number of each batch and the function that draws it, on several threads.
        """

        def draw(batch: pa.RecordBatch, first: int) -> Callable[[], pa.RecordBatch]:
            return lambda: plan.release(batch, first, plan.epsilons(first, len(batch)))

        waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
        first, pool = 0, ThreadPoolExecutor(CORES)
        try:
            for number, batch in enumerate(self.reader.batches(columns or self.needed, complete)):
                waiting.append((len(batch), pool.submit(one, number, draw(batch, first))))
                first += len(batch)
                if len(waiting) > CORES:
                    rows, drawn = waiting.popleft()
                    yield rows, drawn.result()
            for rows, drawn in waiting:
                yield rows, drawn.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def examples(self, plan: Plan, most: int) -> list[tuple[list[Symbol], list[Symbol]]]:
        """The first words that are released, each with its release as `drawn` has it. This is for their owner.

        The draws are keyed, so nothing more is spent. Cost: that of reading batches until there are enough words.
        """
        found: list[tuple[list[Symbol], list[Symbol]]] = []
        symbols, first = plan.release.mechanism.language.alphabet.symbols, 0
        for batch in self.reader.batches(self.needed):
            words, epsilons = plan.release.read(batch, first), plan.epsilons(first, len(batch))
            rows = plan.release.rows(words, epsilons)[: most - len(found)]
            drawn = plan.release.draw(words, rows, plan.release.ids(batch, first), epsilons)
            for before, after in zip(words.words.chosen(rows), drawn, strict=True):
                found.append(([symbols[code] for code in before], [symbols[code] for code in after]))
            if len(found) == most:
                break
            first += len(batch)
        return found
