"""A release from file to file: survey the whole input, then draw, then put the output in place.

Nothing is drawn, charged or written before all of the input has been read and checked. Every draw is keyed, so a run
that was killed draws the same again when it is resumed; see `unfinished`.
"""

from __future__ import annotations

import io
import os
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa

from dpwords.core.kept import version
from dpwords.core.keyed import Key
from dpwords.core.limits import CORES
from dpwords.errors import DPWordsError, InvalidValue
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm, TableReader, TableWriter
from dpwords.frames.json_lines import ALL, REST
from dpwords.frames.requests import Request
from dpwords.frames.shapes import NoColumn
from dpwords.frames.streams import STANDARD, Input
from dpwords.frames.survey import Plan
from dpwords.frames.unfinished import Unfinished
from dpwords.frames.whole import batches_of
from dpwords.mechanisms.private import Private

RowsDone = Callable[[int], None]
WORTH_KEEPING = 1.0  # seconds; batches that took longer to draw are kept until the run is finished


@dataclass(frozen=True)
class Job:
    """What is to be released, from where, and to where. `public` are all options of the user, for the receipt."""

    mechanism: Private
    source: str
    target: str
    source_format: str | None = None
    target_format: str | None = None
    request: Request = field(default_factory=Request)
    public: Mapping[str, Any] = field(default_factory=dict)


class FileRun:
    """One job, in two steps: `survey` reads and checks everything, `write` draws and puts the output in place.

    With `resume`, an unfinished run with the same output goes on with its key, and gives the output that it would have
    given. If it was killed just after its end, `is_complete` says so, and nothing is left to do. Memory: some batches
    for each core, and what `Survey` takes. Use it in a `with` block.
    """

    def __init__(
        self, job: Job, key: bytes | None = None, resume: bool = False, keep_after: float = WORTH_KEEPING
    ) -> None:
        self.job, self._keep_after = job, keep_after
        self._unfinished = None if job.target == STANDARD else Unfinished(_checked_output(job))
        self._form = FileForm.of(job.source, job.source_format)
        same = self._form.kind if job.target == STANDARD else None
        self._target_form = FileForm.of(job.target, job.target_format or same)
        self._source = Input(job.source)
        try:
            self._reader = self._form.reader(self._source)
            self._key = Key(self._claimed(key, resume))
            self._own_key = key is None
            self.is_complete = resume and self._was_finished()
            self._prepare()
        except NoColumn as error:
            self.__exit__()
            if self._form.kind in ("csv", "tsv"):  # without a header, the first line has private words
                where = f"the first line of {self._source.name}"
                raise InvalidValue(f"{error.fault}: see that {where} has the names of the columns") from None
            raise
        except BaseException:
            self.__exit__()
            raise

    def __enter__(self) -> FileRun:
        return self

    def __exit__(self, *_error: object) -> None:
        self._source.__exit__()
        if self._unfinished is not None:
            self._unfinished.release()

    def survey(self, progress: RowsDone, charged: bool = False) -> Plan:
        """Read and check the whole input. `charged` says whether a ledger will be charged."""
        survey = self._words.request.survey(self._words.schema, self.job.mechanism, self._key.secret, charged=charged)
        lengths: Counter[int] = Counter()
        for batch in self._words.batches():
            found = survey.add(batch)
            sizes, numbers = np.unique(found.words.sizes, return_counts=True)
            lengths.update(dict(zip(sizes.tolist(), numbers.tolist(), strict=True)))
            progress(survey.rows)
        self.commonest_length = max(lengths, key=lambda length: (lengths[length], length), default=0)
        self._digest = self._source.digest(self._key.derived("input"))
        return survey.plan()

    def write(self, plan: Plan, ledger: Any = None, progress: RowsDone = lambda rows: None) -> IO[bytes] | None:
        """Charge the ledger, draw, and put the output in place; for standard output, return a file with it instead."""
        language = receipts.language_hash(self.job.mechanism)
        facts = {"version": version(), **self.job.public, "language": language, "input": self._digest}
        left_out = 0 if plan.facts is None else plan.facts.left_out
        document = receipts.receipt(self.job.mechanism, self.job.public, plan.rows - plan.skipped - left_out)
        if self._unfinished is None:
            if ledger is not None:
                plan.charge(ledger)
            file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
            with _errors_of_writing("make room, then start it again"):
                self._draw(plan, file, document, progress)
            file.seek(0)
            return file
        resumed = self._unfinished.is_begun
        with _errors_of_writing("make room, then start it again"):
            if resumed:
                self._unfinished.check_same(facts)
            else:
                self._unfinished.begin(self._key.secret if self._own_key else None, facts)
        try:
            if ledger is not None:
                plan.charge(ledger)
        except DPWordsError:
            if not resumed:
                self._unfinished.forget()
            raise
        with _errors_of_writing("make room, then finish it with --resume"):
            with self._unfinished.part.open("wb") as file:
                self._draw(plan, file, document, progress)
            if self.receipt is not None:
                self._unfinished.receipt.write_bytes(receipts.encoded(document))
            self._unfinished.finish(self.receipt)
        return None

    @property
    def receipt(self) -> Path | None:
        """The file that the receipt is written to; None if it is inside the output, or if there is no place for it."""
        if self._unfinished is None or not self._target_form.is_text:
            return None
        return receipts.place_of(self._unfinished.output)

    @property
    def target_is_text(self) -> bool:
        """Whether the output is text."""
        return self._target_form.is_text

    @property
    def is_begun(self) -> bool:
        """Whether there is something to resume."""
        return self._unfinished is not None and self._unfinished.is_begun

    def _was_finished(self) -> bool:
        """Whether the output is there already. To draw it again would spend ε again, which resuming never does."""
        if self._unfinished is None or self._unfinished.is_begun or not self._unfinished.output.exists():
            return False
        output = self._unfinished.output
        with suppress(InvalidValue):
            if receipts.is_of(receipts.read(str(output), self._target_form.kind), self.job.mechanism, self.job.public):
                return True
        raise InvalidValue(
            f"there is nothing to resume, and {output.name} is not what this run would write: leave out --resume to "
            "replace it"
        )

    def _claimed(self, key: bytes | None, resume: bool) -> bytes:
        """The key of this run, once the output is ours."""
        if self._unfinished is None:
            return key or Key.fresh().secret
        with _errors_of_writing("check the path, and who may write there"):
            self._unfinished.claim(resume)
        if not self._unfinished.is_begun:
            return key or Key.fresh().secret
        kept = self._unfinished.key()
        if (kept is None) != (key is not None):
            remedy = "give the same --key-file" if kept is None else "leave out --key-file"
            raise InvalidValue(
                f"the unfinished run had another key: {remedy}, or delete {self._unfinished.folder.name}"
            )
        return kept or key or b""

    def _prepare(self) -> None:
        """Find the words, and check that the output's format can hold what will come."""
        self._words = _words_of(self._reader, self.job.request, self._target_form)
        release = self._words.request.survey(self._words.schema, self.job.mechanism, self._key.secret).release
        empty = pa.RecordBatch.from_pylist([], schema=self._words.schema)
        self._schema, self._changed = self._words.written(release(empty)).schema, release.shape.columns
        self._writer(io.BytesIO(), self._schema)

    def _writer(self, file: IO[bytes], schema: pa.Schema) -> TableWriter:
        return self._target_form.writer(file, schema, self._changed, getattr(self._reader, "codec", None))

    def _draw(self, plan: Plan, file: IO[bytes], document: Mapping[str, Any], progress: RowsDone) -> None:
        """Write the whole output to a file."""
        writer = self._writer(file, receipts.in_metadata(self._schema, document))
        done = 0
        for rows, batch in self._drawn(plan):
            writer.write(batch)
            done += rows
            progress(done)
        self._source.check_unchanged()
        writer.close()

    def _drawn(self, plan: Plan) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The number of rows and the output of each batch, in order; some are drawn ahead, on all cores."""
        waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
        first = 0
        pool = ThreadPoolExecutor(CORES)
        try:
            for number, batch in enumerate(self._words.batches()):
                waiting.append((len(batch), pool.submit(self._one, plan, number, first, batch)))
                first += len(batch)
                if len(waiting) > CORES:
                    rows, drawn = waiting.popleft()
                    yield rows, drawn.result()
            for rows, drawn in waiting:
                yield rows, drawn.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _one(self, plan: Plan, number: int, first: int, batch: pa.RecordBatch) -> pa.RecordBatch:
        secret = self._key.derived("kept batches")
        kept = None if self._unfinished is None else self._unfinished.kept(number, secret)
        if kept is not None:
            return kept
        begin = time.monotonic()
        drawn = self._words.written(plan.release(batch, first, plan.epsilons(first, len(batch))))
        if self._unfinished is not None and time.monotonic() - begin > self._keep_after:
            self._unfinished.keep(number, drawn, secret)
        return drawn


@dataclass(frozen=True, eq=False)
class _Words:
    """A table with a word in each row, whatever the file has."""

    request: Request
    schema: pa.Schema
    batches: Callable[[], Iterable[pa.RecordBatch]]
    written: Callable[[pa.RecordBatch], pa.RecordBatch]  # turns what was released into rows of the file


def _words_of(reader: TableReader, request: Request, target: FileForm) -> _Words:
    """The words of a file. The events of a log can be anywhere in it, so they are read into memory at once."""
    used = request.needed(reader.schema.names)
    log = request.log(reader.schema.names)
    if log is None:
        if not request.drop_others:
            used = [*used, REST if target.kind == "jsonl" else ALL]
        return _Words(request, reader.read_schema(used), lambda: reader.batches(used), lambda batch: batch)
    events = pa.Table.from_batches(reader.batches(used), reader.read_schema(used)).select(used)
    cases, rebuilt = log.gathered(events, request.by)
    return _Words(request.of_cases(log), cases.schema, lambda: batches_of(cases), rebuilt)


def _checked_output(job: Job) -> Path:
    """The file to write, if it can be one."""
    try:
        final = Path(job.target).resolve()
        if final.exists() and not final.is_file():
            raise InvalidValue(f"{final.name} is a directory or a device: name a file to write to")
        if not final.parent.is_dir():
            raise InvalidValue(f"there is no directory for {final.name}: make it first")
        if job.source != STANDARD and final.exists() and os.path.samefile(job.source, final):
            raise InvalidValue(f"{final.name} is both input and output: write to another file")
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
