"""A release of a table in a file: survey the whole input, then draw, then put the output in place.

Nothing is drawn, charged or written before all of the input has been read and checked. Every draw is keyed, so one
that was killed draws the same again when it is resumed; see `unfinished`. A release in memory has no disk.
"""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from dpwords import __version__
from dpwords.core.files import is_same_file, refuse_standard_input, resolved
from dpwords.core.keyed import Key
from dpwords.core.symbols import Codes, Symbol
from dpwords.errors import DPWordsError, InvalidValue, named, within_memory
from dpwords.frames import receipts
from dpwords.frames.arrays import schema_of
from dpwords.frames.coders import is_text, written_kind
from dpwords.frames.formats import FileForm
from dpwords.frames.requests import Request
from dpwords.frames.rows import GroupWriter, empty_batch
from dpwords.frames.sources import TableSource
from dpwords.frames.streams import Input, Nowhere
from dpwords.frames.tuning import WORTH_KEEPING
from dpwords.frames.unfinished import Unfinished
from dpwords.frames.word_table import Plan
from dpwords.mechanisms.private import Private
from dpwords.recipes.fields import FIELDS
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import STANDARD

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
        reader, used, same = table.reader, table.needed, table.release.out.columns == table.release.shape.columns
        self._complete = not request.drop_others
        if self._complete and reader.line is not None and target.kind == "jsonl" and same:
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
        symbols, line = release.mechanism.language.letters.symbols, cast(str, reader.line)
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
        changed = (*self._table.release.out.columns, self._table.reader.line)
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
        return receipts.receipt(plan.release.mechanism, self._recipe, plan.words, plan.shared_epsilon)

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
        """The first words that are released, each with its release as `draw` writes it. This is for their owner.

        The draws are keyed, so nothing more is spent. Cost: that of reading batches until there are enough words.
        """
        found: list[tuple[list[Symbol], list[Symbol]]] = []
        language, first = plan.release.mechanism.language, 0

        def spelled(codes: Codes) -> list[Symbol]:
            return list(language.spell(tuple(language.alphabet.symbols[code] for code in codes)))

        for batch in self._table.reader.batches(self._table.needed):
            words, epsilons = plan.release.read(batch, first), plan.epsilons(first, len(batch))
            rows = plan.release.rows(words, epsilons)[: most - len(found)]
            drawn = plan.release.draw(words, rows, plan.release.ids(batch, first), epsilons)
            for before, after in zip(words.words.chosen(rows), drawn, strict=True):
                found.append((spelled(before), spelled(after)))
            if len(found) == most:
                break
            first += len(batch)
        return found

    def _writer(self, file: IO[bytes], schema: pa.Schema) -> GroupWriter:
        return self._target.writer(file, schema, self._table.release.out.columns)


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


@dataclass(frozen=True)
class Job:
    """What is to be released, from where, and to where. `recipe` is what a receipt tells."""

    mechanism: Private
    source: str
    target: str
    source_format: str | None = None
    target_format: str | None = None
    request: Request = field(default_factory=Request)
    recipe: Recipe = field(default_factory=Recipe)
    header: bool = True  # of the source


class FileRelease(Passes):
    """One job, in two steps: `survey` reads and checks everything, `write` draws and puts the output in place.

    With `resume`, an unfinished release with the same output goes on with its key, and gives the output that it would
    have given. If it was killed just after its end, `is_complete` says so, and nothing is left to do. Memory: that of
    `Passes`. Use it in a `with` block.
    """

    @within_memory()
    def __init__(
        self, job: Job, key: bytes | None = None, resume: bool = False, save_after: float = WORTH_KEEPING
    ) -> None:
        self.job, self._save_after = job, save_after
        self._unfinished = None if job.target == STANDARD else Unfinished(_checked_output(job))
        form = FileForm.of(job.source, job.source_format, job.header)
        same = form.kind if job.target == STANDARD else None
        target = FileForm.of(job.target, job.target_format or same).like(form)
        self._input = Input(job.source)
        try:
            source = TableSource(self._input, form, form.reader(self._input))
            self._key = Key(self._claimed(key, resume))
            self._own_key = key is None
            self.is_complete = resume and self._was_finished(target)
            request = replace(job.request, reused_key=key is not None)
            super().__init__(job.mechanism, request, source, target, self._key.secret, job.recipe)
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> FileRelease:
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            self._input.__exit__()
        finally:
            if self._unfinished is not None:
                self._unfinished.release()

    @within_memory()
    def write(self, plan: Plan, ledger: Any = None, progress: RowsDone = lambda rows: None) -> IO[bytes] | None:
        """Charge the ledger, draw, and put the output in place; for standard output, return a file with it instead."""
        if self._unfinished is None:
            if ledger is not None:
                plan.charge(ledger)
            file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
            with _errors_of_writing("make room, then start it again"):
                self.draw(plan, file, progress)
            file.seek(0)
            return file
        language, digest = receipts.language_hash(self.job.mechanism), self._input.digest(self._key.derived("input"))
        described = {**dict.fromkeys(FIELDS), **self.job.recipe.document()}
        facts = {"version": __version__, **described, "language": language, "input": digest}
        resumed = self._unfinished.is_begun
        if resumed:
            self._unfinished.check_same(facts)
        else:
            with _errors_of_writing("make room, then start it again"):
                self._unfinished.begin(self._key.secret if self._own_key else None, facts)
        try:
            if ledger is not None:
                plan.charge(ledger)
        except DPWordsError as error:
            if resumed:
                raise
            if plan.may_be_charged(ledger):  # it pays nothing more when it is resumed
                raise type(error)(
                    f"{error.message}; finish this release with {named('resume', True)}, since its ε may be recorded"
                ) from None
            self._unfinished.forget()
            raise
        with _errors_of_writing(f"make room, then finish it with {named('resume', True)}"):
            try:
                with self._unfinished.part.open("wb") as file:
                    self.draw(plan, file, progress)
            except DPWordsError:  # such as a column that is copied, and which cannot be read
                if ledger is None and not resumed and not self._unfinished.has_saved:  # to start again costs no more
                    self._unfinished.forget()
                raise
            if self.receipt_path is not None:
                self._unfinished.receipt.write_bytes(receipts.encoded(self.receipt(plan)))
            self._unfinished.finish(self.receipt_path)
        return None

    @property
    def receipt_path(self) -> Path | None:
        """The file that the receipt is written to; None if it is inside the output, or if there is no place for it."""
        return receipts.path_of(self._unfinished.output) if self._unfinished and self.target_is_text else None

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume."""
        return self._unfinished is not None and self._unfinished.is_begun

    def _was_finished(self, target: FileForm) -> bool:
        """Whether the output is there already. To draw it again would spend ε again, which resuming never does."""
        if self._unfinished is None or self._unfinished.is_begun or not self._unfinished.output.exists():
            return False
        output = self._unfinished.output
        with suppress(InvalidValue):
            if receipts.is_of(receipts.read(str(output), target.kind), self.job.mechanism, self.job.recipe):
                return True
        raise InvalidValue(
            f"there is nothing to resume, and {output.name} is not what this release would write: leave out "
            f"{named('resume')} to replace it"
        )

    def _claimed(self, key: bytes | None, resume: bool) -> bytes:
        """The key of this release, once the output is ours."""
        if self._unfinished is None:
            return key or Key.fresh().secret
        with _errors_of_writing("check the path, and who may write there"):
            self._unfinished.claim(resume)
        if not self._unfinished.is_begun:
            return key or Key.fresh().secret
        saved = self._unfinished.key()
        if (saved is None) != (key is not None):
            remedy = f"{'give the same' if saved is None else 'leave out'} {named('key_file')}"
            raise InvalidValue(
                f"the unfinished release had another key: {remedy}, or delete {self._unfinished.folder.name}"
            )
        return saved or key or b""

    def _one(self, number: int, draw: Callable[[], pa.RecordBatch]) -> pa.RecordBatch:
        """A batch of the output: one that was saved, or a new one, which is saved if it took long."""
        if self._unfinished is None:
            return draw()
        secret = self._key.derived("kept batches")
        saved = self._unfinished.saved(number, secret)
        if saved is not None:
            return saved
        begin = time.monotonic()
        drawn = draw()
        if time.monotonic() - begin > self._save_after:
            self._unfinished.save(number, drawn, secret)
        return drawn


def _checked_output(job: Job) -> Path:
    """The file to write, if it can be one."""
    try:
        final = resolved(Path(job.target))
        if final.exists() and not final.is_file():
            raise InvalidValue(f"{final.name} is a directory or a device: name a file to write to")
        if not final.parent.is_dir():
            raise InvalidValue(f"there is no directory for {final.name}: make it first")
        for written in (final, receipts.path_of(final)):
            refuse_standard_input(written)
            if job.source != STANDARD and is_same_file(job.source, written):
                raise InvalidValue(f"{written.name} is both input and output: write to another file")
    except OSError as error:
        raise InvalidValue(f"the output cannot be written ({error.strerror}): check the paths") from None
    except (ValueError, RuntimeError) as error:
        if isinstance(error, DPWordsError):
            raise
        raise InvalidValue("the path contains a null character or a loop of links: check the path") from None
    return final


@contextmanager
def _errors_of_writing(remedy: str) -> Iterator[None]:
    try:
        yield
    except DPWordsError:
        raise
    except OSError as error:
        reason = error.strerror or "the disk may be full"
        raise InvalidValue(f"the output cannot be written ({reason}): {remedy}") from None
