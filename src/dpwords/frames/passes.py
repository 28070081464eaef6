"""The passes over a table in a file: a survey that checks everything, and a draw that writes the released table.

Where the bytes come from and go to is up to `FileRelease` (`jobs`), and to `MemoryRelease`, which has no disk.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import IO, Any, cast

import pyarrow as pa

from dpwords.core.keyed import Key
from dpwords.core.symbols import Symbol
from dpwords.errors import DPWordsError, InvalidValue, named, within_memory
from dpwords.frames import receipts
from dpwords.frames.arrays import schema_of
from dpwords.frames.coders import is_text, written_kind
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.frames.rows import GroupWriter, empty_batch
from dpwords.frames.sources import TableSource
from dpwords.frames.streams import Nowhere
from dpwords.frames.word_table import Plan
from dpwords.mechanisms.private import Private
from dpwords.recipes.recipe import Recipe

RowsDone = Callable[[int], None]


class Passes:
    """A release of the words of one file with one key. Every draw is keyed, so it can be repeated.

    The survey reads the columns that are needed to know the words. It also reads those that are only copied, if their
    values could be refused: as text, as JSON, or after a ledger is charged. Memory: some batches for each core, and
    what `Survey` takes.
    """

    @within_memory()
    def __init__(
        self, mechanism: Private, request: Request, source: TableSource, target: FileForm, key: bytes, recipe: Recipe
    ) -> None:
        self._source, self._target, self._recipe = source, target, recipe
        self.target_is_text = target.is_text  # otherwise the receipt is in what is written
        self._table = table = source.words(request, mechanism, key)
        reader, used, shape = table.reader, table.needed, table.release.shape
        self._complete = not request.drop_others
        if self._complete and reader.line is not None and target.kind == "jsonl" and shape.released == shape.columns:
            used, self._complete = [*used, reader.line], False  # other keys are copied with the line
        elif self._complete:
            used = reader.schema.names
        self._columns = used
        self._schema = table.release(empty_batch(reader.selected(used))).schema
        with self._errors_of_copies():
            self._writer(io.BytesIO(), self._schema).close()  # raises if the format cannot hold what will come

    @property
    def word_columns(self) -> tuple[str, ...]:
        """The columns that have the words; that of the symbols, if they are in an event log."""
        return self._table.release.shape.columns if self._table.log is None else (self._table.log.symbol,)

    @property
    def copied_columns(self) -> tuple[str, ...]:
        """The columns that are copied as they are, so that nothing in them is protected."""
        table = self._table
        if table.log is not None:
            return (table.log.case,)
        others = table.reader.guessed and not self._table.request.drop_others
        used = (*table.needed, "all other keys") if others else self._columns  # names can be of rows that are left out
        return tuple(name for name in used if name not in self.word_columns)

    @within_memory()
    def survey(self, progress: RowsDone = lambda rows: None, charged: bool = False) -> Plan:
        """Read and check the whole input. `charged` says whether a ledger will be charged."""
        table, survey, trial = self._table, self._table.survey(charged), self._trial_writer()
        all_of_them = charged or trial is not None or table.reader.guessed
        for batch, _ in table.surveyed(survey, self._columns if all_of_them else (), self._complete):
            if trial is not None:
                with self._errors_of_copies():
                    trial.write_group(batch.select(self._copies))
            progress(survey.rows)
        plan = survey.plan()
        if table.reader.guessed and plan.words < plan.rows:
            self._check_left_out(plan)
        return plan

    def _check_left_out(self, plan: Plan) -> None:
        """Refuse columns whose names, order or types follow from rows that are left out."""
        reader, release = self._table.reader, plan.release
        symbols, line = release.mechanism.language.alphabet.symbols, cast(str, reader.line)
        batch = next(iter(reader.batches([*self._table.needed, line])))
        rows = release.rows(release.read(batch), plan.epsilons(0, len(batch)))
        words = dict.fromkeys(release.shape.columns, lambda kind: written_kind(kind, symbols))
        if not reader.follows_from(batch.column(line).take(pa.array(rows)).to_pylist(), self._columns, words):
            raise InvalidValue(
                "rows that are left out decide which columns there are, their order or their types, which would tell "
                "about them: remove these rows, or write all rows with the same keys and types"
            )

    @property
    def _copies(self) -> list[str]:
        """The columns whose values are copied, of the batches that are read."""
        changed = (*self._table.release.shape.released, self._table.reader.line)
        return [name for name in self._schema.names if name not in changed and name in self._columns]

    def _trial_writer(self) -> GroupWriter | None:
        """What tries to write the copied values as text, before anything is charged; None where that cannot fail."""
        kinds = {name: self._table.reader.schema.field(name).type for name in self._copies}
        lines = self._table.reader.line in self._schema.names
        if not self._target.is_text or lines or all(map(is_text, kinds.values())):
            return None
        return replace(self._target, packing=None).writer(cast(IO[bytes], Nowhere()), schema_of(kinds), ())

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

    def receipt(self, plan: Plan) -> dict[str, Any]:
        """The receipt of what is drawn by a plan."""
        return receipts.receipt(plan.release.mechanism, self._recipe, plan.words)

    @within_memory()
    def draw(self, plan: Plan, file: IO[bytes], progress: RowsDone) -> None:
        """Write the whole output to a file, with the receipt if its format has a place for it."""
        metadata = {receipts.METADATA: receipts.encoded(self.receipt(plan))}
        writer = self._writer(file, self._schema.with_metadata(metadata))
        done = 0
        try:
            for rows, batch in self._table.drawn(plan, self._columns, self._complete, self._one):
                writer.write(batch)
                done += rows
                progress(done)
            self._source.input.check_unchanged()
            writer.close()
        except Exception:
            with suppress(Exception):  # otherwise Python 3.13 closes it later, and prints what goes wrong then
                writer.close()
            raise

    def _one(self, number: int, draw: Callable[[], pa.RecordBatch]) -> pa.RecordBatch:
        """A batch of the output, by its number and what draws it. It is called on several threads."""
        return draw()

    @within_memory()
    def examples(self, plan: Plan, most: int) -> list[tuple[list[Symbol], list[Symbol]]]:
        """The first words that are released, each with its release as `draw` writes it; see `WordTable`."""
        return self._table.examples(plan, most)

    def _writer(self, file: IO[bytes], schema: pa.Schema) -> GroupWriter:
        return self._target.writer(file, schema, self._table.release.shape.released)


class MemoryRelease(Passes):
    """A release of the words of a table in memory, in two steps like those of `FileRelease`. The key is fresh.

    The output has the format of the input. `recipe` is what the receipt tells. Memory: the input,
    the output, and that of `Passes`.
    """

    def __init__(self, mechanism: Private, source: TableSource, request: Request, recipe: Recipe | None = None) -> None:
        super().__init__(mechanism, request, source, source.form, Key.fresh().secret, recipe or Recipe())

    def write(self, plan: Plan, progress: RowsDone = lambda rows: None) -> bytes:
        """Draw, and return the released file. A Parquet or Arrow file has the receipt in its metadata."""
        file = io.BytesIO()
        self.draw(plan, file, progress)
        return file.getvalue()
