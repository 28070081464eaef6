"""A release from file to file: survey the whole input, then draw, then put the output in place.

Nothing is drawn, charged or written before all of the input has been read and checked. Every draw is keyed, so one
that was killed draws the same again when it is resumed; see `unfinished`.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from dpwords import __version__
from dpwords.core.files import is_same_file, refuse_standard_input, resolved
from dpwords.core.keyed import Key
from dpwords.errors import DPWordsError, InvalidValue, named, within_memory
from dpwords.frames import receipts
from dpwords.frames.formats import FileForm
from dpwords.frames.passes import Passes, RowsDone
from dpwords.frames.requests import Request
from dpwords.frames.sources import TableSource
from dpwords.frames.streams import Input
from dpwords.frames.tuning import WORTH_KEEPING
from dpwords.frames.unfinished import Unfinished
from dpwords.frames.word_table import Plan
from dpwords.mechanisms.private import Private
from dpwords.recipes.fields import FIELDS
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import STANDARD


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
        return receipts.place_of(self._unfinished.output) if self._unfinished and self.target_is_text else None

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
        for written in (final, receipts.place_of(final)):
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
