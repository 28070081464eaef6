"""The two passes over a table in a file: a survey that checks everything, and a draw that writes the released table.

Where the bytes come from and go to is up to the caller: `runs` has files, `memory` has neither.
"""

from __future__ import annotations

import io
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa

from dpwords.core.limits import CORES
from dpwords.core.symbols import Alphabet, Symbol
from dpwords.errors import DPWordsError, InvalidValue, named
from dpwords.frames import receipts
from dpwords.frames.coders import is_text, written_kind
from dpwords.frames.columns import NoColumn
from dpwords.frames.copies import schema_of
from dpwords.frames.delimited import DelimitedReader, TextReader
from dpwords.frames.formats import FileForm, TableReader, TableWriter
from dpwords.frames.groups import GroupWriter
from dpwords.frames.json_lines import ALL, REST, JsonReader
from dpwords.frames.long import LongWords
from dpwords.frames.requests import Request
from dpwords.frames.shapes import Fault, Shape, WideWords
from dpwords.frames.streams import Input, Nowhere
from dpwords.frames.survey import Plan, Survey
from dpwords.frames.tables import empty_batch
from dpwords.frames.whole import batches_of
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.recipes.table_formats import DELIMITED

RowsDone = Callable[[int], None]
DrawBatch = Callable[[int, Callable[[], pa.RecordBatch]], pa.RecordBatch]


@dataclass(frozen=True)
class TableSource:
    """An open file with its format, and what reads it."""

    input: Input
    form: FileForm
    reader: TableReader

    @contextmanager
    def hiding_columns(self) -> Iterator[None]:
        """Show no names of columns in an error if these could be symbols of the first word."""
        try:
            yield
        except NoColumn as error:
            if self._has_first_line:  # it could be private words
                where = f"the first line of {self.input.name}"
                raise InvalidValue(
                    f"{error.fault}: see that {where} has the names of the columns, or use {named('no_header', True)}"
                ) from None
            raise

    def check_header(self, request: Request, words: Shape, log: LongWords | None, alphabet: Alphabet) -> None:
        """Raise `InvalidValue` if the first line, which is taken for a header and written, could have a private word.

        It could if a symbol occurs where words are, and nobody has confirmed that the line is a header. Even a word
        that is not in the language would have some.
        """
        names = self.reader.schema.names
        if not self._has_first_line or request.confirms_header(names):
            return
        shape = words if log is None else WideWords((log.symbol,), (pa.string(),), (pa.string(),), alphabet)
        first = pa.RecordBatch.from_arrays([pa.array([name]) for name in names], names=names)
        if (shape.read(first).words.values < len(alphabet)).any():
            raise InvalidValue(
                f"the first line of {self.input.name} could be a row of words and not the names of the columns: name "
                f"one of its columns ({named('column')}, a range in {named('columns')}, {named('id')}, {named('by')}) "
                f"or use {named('header', True)} if it is a header, or use {named('no_header', True)}"
            )

    @property
    def _has_first_line(self) -> bool:
        return self.form.kind in DELIMITED and self.form.header


class Passes:
    """A release of the words of one file with one key. Every draw is keyed, so it can be repeated.

    Memory: some batches for each core, and what `Survey` takes.
    """

    def __init__(self, mechanism: Private, request: Request, source: TableSource, target: FileForm, key: bytes) -> None:
        self._mechanism, self._source, self._target, self._key = mechanism, source, target, key
        self.lengths: Counter[int] = Counter()  # how many words have each length, once they are surveyed
        if isinstance(source.reader, DelimitedReader | TextReader):
            source.reader.empty_words = not mechanism.least_length
        with source.hiding_columns():
            self._words = words_of(source.reader, request, target, answers=isinstance(mechanism, Report))
            release = self._survey().release
        source.check_header(request, release.shape, self._words.log, mechanism.language.alphabet)
        empty = empty_batch(self._words.schema)
        self._schema, self._changed = self._words.written(release(empty)).schema, release.shape.released
        self._read = release.shape.columns
        with self._errors_of_copies():
            self._writer(io.BytesIO(), self._schema).close()  # raises if the format cannot hold what will come

    @property
    def word_columns(self) -> tuple[str, ...]:
        """The columns that have the words; that of the symbols, if they are in an event log."""
        return self._read if self._words.log is None else (self._words.log.symbol,)

    @property
    def copied_columns(self) -> tuple[str, ...]:
        """The columns that are copied as they are, so that nothing in them is protected."""
        return tuple(name for name in self._words.kept if name not in self.word_columns)

    def survey(self, progress: RowsDone, charged: bool = False) -> Plan:
        """Read and check the whole input. `charged` says whether a ledger will be charged."""
        survey, trial = self._survey(charged), self._trial_writer()
        self.lengths.clear()
        for batch in self._words.batches():
            found = survey.add(batch)
            if trial is not None:
                with self._errors_of_copies():
                    trial.write(batch.select(self._copies))
            sizes, numbers = np.unique(found.words.sizes[found.faults == Fault.NONE], return_counts=True)
            self.lengths.update(dict(zip(sizes.tolist(), numbers.tolist(), strict=True)))
            progress(survey.rows)
        plan = survey.plan()
        if isinstance(self._source.reader, JsonReader) and self._words.log is None and plan.words < plan.rows:
            self._check_guesses(self._source.reader, plan)
        return plan

    def _check_guesses(self, reader: JsonReader, plan: Plan) -> None:
        """Refuse columns of JSON whose names, order or types follow from rows that are left out."""
        symbols, request = self._mechanism.language.alphabet.symbols, self._words.request
        batch = next(iter(reader.batches([*request.needed(reader.schema.names), REST])))
        rows = plan.release.rows(plan.release.read(batch), plan.epsilons(0, len(batch)))
        lines = batch.column(REST).take(pa.array(rows)).to_pylist()
        words = dict.fromkeys(self._read, lambda kind: written_kind(kind, symbols))
        if not reader.follows_from(lines, self._words.used, words):
            raise InvalidValue(
                "rows that are left out decide which columns there are, their order or their types, which would tell "
                "about them: remove these rows, or write all rows with the same keys and types"
            )

    @property
    def _copies(self) -> list[str]:
        """The columns whose values are copied, of the batches that are read."""
        return [
            name
            for name in self._schema.names
            if name not in (*self._changed, REST) and name in self._words.schema.names
        ]

    def _trial_writer(self) -> GroupWriter | None:
        """What tries to write the copied values as text, before anything is charged; None where that cannot fail."""
        kinds = [self._words.schema.field(name).type for name in self._copies]
        if not self._target.is_text or REST in self._schema.names or all(map(is_text, kinds)):
            return None
        schema = schema_of(dict(zip(self._copies, kinds, strict=True)))
        return replace(self._target, packing=None).group_writer(cast(IO[bytes], Nowhere()), schema, ())

    @contextmanager
    def _errors_of_copies(self) -> Iterator[None]:
        try:
            yield
        except DPWordsError:
            raise
        except (pa.ArrowException, ValueError, OverflowError):
            raise InvalidValue(
                f"a column that is copied has values that cannot be written as {self._target.kind}: convert it, write "
                f"another format, or use {named('drop_others', True)}"
            ) from None

    def _survey(self, charged: bool = False) -> Survey:
        table = self._words
        return table.request.survey(table.schema, self._mechanism, self._key, charged=charged)

    @property
    def commonest_length(self) -> int:
        """The length that most words have, the longest of several; 0 if there are no words."""
        return max(self.lengths, key=lambda length: (self.lengths[length], length), default=0)

    def draw(
        self,
        plan: Plan,
        file: IO[bytes],
        document: Mapping[str, Any],
        progress: RowsDone,
        one: DrawBatch = lambda number, draw: draw(),
    ) -> None:
        """Write the whole output to a file, with the receipt if its format has a place for it.

        `one` is called with the number of each batch and the function that draws it, on several threads.
        """
        writer = self._writer(file, self._schema.with_metadata({receipts.METADATA: receipts.encoded(document)}))
        done = 0
        try:
            for rows, batch in self._drawn(plan, one):
                writer.write(batch)
                done += rows
                progress(done)
            self._source.input.check_unchanged()
            writer.close()
        except Exception:
            with suppress(Exception):  # otherwise Python 3.13 closes it later, and prints what goes wrong then
                writer.close()
            raise

    def examples(self, plan: Plan, most: int) -> list[tuple[list[Symbol], list[Symbol]]]:
        """The first words that are released, each with its release as `draw` writes it. This is for their owner.

        The draws are keyed, so nothing more is spent. Cost: that of reading batches until there are enough words.
        """
        found: list[tuple[list[Symbol], list[Symbol]]] = []
        symbols = self._mechanism.language.alphabet.symbols
        first = 0
        for batch in self._words.batches():
            if len(found) == most:
                break
            words, epsilons = plan.release.read(batch, first), plan.epsilons(first, len(batch))
            rows = plan.release.rows(words, epsilons)[: most - len(found)]
            drawn = plan.release.draw(words, rows, plan.release.ids(batch, first), epsilons)
            for before, after in zip(words.words.chosen(rows), drawn, strict=True):
                found.append(([symbols[code] for code in before], [symbols[code] for code in after]))
            first += len(batch)
        return found

    def _writer(self, file: IO[bytes], schema: pa.Schema) -> TableWriter:
        return self._target.writer(file, schema, self._changed)

    def _drawn(self, plan: Plan, one: DrawBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The number of rows and the output of each batch, in order; some are drawn ahead, on all cores."""
        waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
        first = 0
        pool = ThreadPoolExecutor(CORES)
        try:
            for number, batch in enumerate(self._words.batches()):
                waiting.append((len(batch), pool.submit(one, number, self._drawer(plan, first, batch))))
                first += len(batch)
                if len(waiting) > CORES:
                    rows, drawn = waiting.popleft()
                    yield rows, drawn.result()
            for rows, drawn in waiting:
                yield rows, drawn.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _drawer(self, plan: Plan, first: int, batch: pa.RecordBatch) -> Callable[[], pa.RecordBatch]:
        return lambda: self._words.written(plan.release(batch, first, plan.epsilons(first, len(batch))))


@dataclass(frozen=True, eq=False)
class WordTable:
    """A table with a word in each row, whatever the file has."""

    request: Request
    schema: pa.Schema
    batches: Callable[[], Iterable[pa.RecordBatch]]
    written: Callable[[pa.RecordBatch], pa.RecordBatch]  # turns what was released into rows of the file
    kept: tuple[str, ...]  # the columns of the file that come out, changed or not, as they are told to people
    log: LongWords | None = None
    used: Sequence[str] = ()  # the columns that are read


def words_of(reader: TableReader, request: Request, target: FileForm, answers: bool) -> WordTable:
    """The words of a file. The events of a log can be anywhere in it, so they are read into memory at once.

    `answers` says that a report is released, of which each case of a log keeps one row.
    """
    used = request.needed(reader.schema.names)
    log = request.log(reader.schema.names)
    if log is None:
        of_json = isinstance(reader, JsonReader)
        kept = tuple(used if request.drop_others else reader.schema.names)
        if not request.drop_others:
            kept = (
                (*used, "all other keys") if of_json else kept
            )  # their names could be those of rows that are left out
            whole_lines = target.kind == "jsonl" and not (answers and request.columns is not None)
            used = [*used, REST if whole_lines else ALL]  # whole lines would keep columns that answers replace
        schema = reader.read_schema(used)
        return WordTable(request, schema, lambda: reader.batches(used), lambda batch: batch, kept, used=used)
    events = pa.Table.from_batches(reader.batches(used), reader.read_schema(used)).select(used)
    cases, rebuilt = log.gathered(events, request.by)
    written = log.answered if answers else rebuilt
    return WordTable(request.of_cases(log), cases.schema, lambda: batches_of(cases), written, (log.case,), log)
