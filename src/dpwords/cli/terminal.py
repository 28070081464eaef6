"""Input and output of the terminal: complete output or none, input of limited size, colours, and progress bars.

Colours have the same meanings as in pictures and on the page. A pipe gets none.
"""

from __future__ import annotations

import io
import logging
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar

import click

from dpwords.core.files import staged
from dpwords.errors import InvalidValue, TooLarge

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.progress import Progress

    from dpwords.mechanisms.private import Private
    from dpwords.plots.palette import Colour

Item = TypeVar("Item")
LONGEST_LINE = 2**24  # bytes
LARGEST_INPUT = 2**28  # bytes
_CHUNK = 2**20  # bytes
_LONG = 2.0  # seconds of a proof that is announced
BROKEN_PIPE = 141  # the exit code that a shell reports for a program ended by SIGPIPE
_DARK_BACKGROUNDS = {"0", "1", "2", "3", "4", "5", "6", "8"}  # of the sixteen colours that COLORFGBG numbers
NO_OUTPUT = "standard output is closed, so nothing can be written: open it or redirect it"


@dataclass(frozen=True)
class Terminal:
    """How wide the output may be, and whether it shows colours."""

    width: int | None  # None: as wide as needed
    colours: bool

    @classmethod
    def of_output(cls) -> Terminal:
        """The width and colours of standard output."""
        if sys.stdout is None or not sys.stdout.isatty():
            return cls(None, False)
        return cls(shutil.get_terminal_size().columns, shows_colours(sys.stdout))

    def lines(self, content: RenderableType) -> list[str]:
        """What rich shows of a content on this terminal, line by line."""
        from rich.console import Console

        page = io.StringIO()
        Console(file=page, force_terminal=True, width=self.width, highlight=False).print(content)
        return page.getvalue().splitlines()


def shows_colours(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal with colours, whose user has not refused them with NO_COLOR."""
    refused = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream is not None and stream.isatty() and not refused


def meaning(name: str) -> str:
    """The style of a meaning, such as "changed", in bold type."""
    from dpwords.plots.palette import COLOURS

    return in_bold(COLOURS[name])


def in_bold(colour: Colour) -> str:
    """The style of a colour. A terminal that does not tell its background gets the shade that is legible on both."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return f"bold {colour.dark if background in _DARK_BACKGROUNDS else colour.light}"


def emit(lines: Sequence[str], files: Mapping[Path, bytes] | None = None) -> None:
    """Write all lines to standard output at once, and these files if that succeeds."""
    check_standard_output()
    try:
        content = "".join(f"{line}\n" for line in lines).encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        raise InvalidValue(f"{sys.stdout.encoding} cannot write this output: set PYTHONIOENCODING=utf-8") from None
    with staged(files or {}):
        copy_out(io.BytesIO(content))


def check_standard_output(is_text: bool = True, source: str | os.PathLike[str] | None = None) -> None:
    """Raise `InvalidValue` if standard output cannot take text, or what is not text, or if it is the input file.

    `source` is an input that no option names.
    """
    if sys.stdout is None:
        raise InvalidValue(NO_OUTPUT)
    if _is_input(source):
        raise InvalidValue("standard output is the input file: write to another file")
    if not is_text and sys.stdout.isatty():
        raise InvalidValue("this format is not for a terminal: name a file with --output, or redirect the output")


def _is_input(source: str | os.PathLike[str] | None) -> bool:
    """Whether standard output is a file that is standard input as well, or this source, or that --input names."""
    context = click.get_current_context(silent=True)
    named = None if context is None else context.params.get("input")
    for each in filter(None, (source, named, sys.stdin)):
        with suppress(OSError, ValueError, AttributeError):  # there is none, or it is not a file
            written = os.fstat(sys.stdout.fileno())
            read = os.stat(each) if isinstance(each, (str, os.PathLike)) else os.fstat(each.fileno())
            if stat.S_ISREG(written.st_mode) and os.path.samestat(written, read):
                return True
    return False


def copy_out(file: IO[bytes]) -> None:
    """Copy a file to standard output."""
    sys.stdout.flush()
    while chunk := file.read(_CHUNK):
        rest = memoryview(chunk)
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) or 0 :]  # with PYTHONUNBUFFERED, a call may write a part only
    sys.stdout.buffer.flush()


def flush_output() -> bool:
    """Write what the standard streams still hold; False if standard output takes it no more.

    What cannot be written is discarded, so that the interpreter's own attempt at exit does not fail again.
    """
    failed = []
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            failed.append(stream)
    return sys.stdout not in failed


def is_quiet() -> bool:
    """Whether the running command has to write nothing but errors to standard error."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("quiet"))


def note(text: str) -> None:
    """Write one line to standard error, if there is one and --quiet is not given."""
    if not is_quiet():
        _write(text, dim=True)


class LoggedNotes(logging.Handler):
    """Writes what the package logs as notes."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())


def error(text: str) -> None:
    """Write one line that says what is wrong to standard error, in red where that is a terminal with colours."""
    _write(text, fg="red", bold=True)


def _write(text: str, **style: Any) -> None:
    if sys.stderr is None:
        return
    name = click.style("dpwords:", **style) if shows_colours(sys.stderr) else "dpwords:"
    with suppress(OSError):
        print(f"{name} {text}", file=sys.stderr, flush=True)


def lines_of_stdin(ends_blank: bool = False) -> Iterator[str]:
    """The lines of standard input, decoded as UTF-8; raises `TooLarge` if a line or the whole input is too long.

    Blank lines at the end are left out, unless `ends_blank`.
    """
    check_standard_output()
    if sys.stdin is None or sys.stdin.isatty():
        raise InvalidValue("no word is given: pass words as arguments, or one on each line of standard input")
    total = number = blank = 0
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 1):
        total, number = total + len(line), number + 1
        if len(line) > LONGEST_LINE:
            raise TooLarge(f"line {number} is longer than {LONGEST_LINE // 2**20} MiB: split it into words")
        if total > LARGEST_INPUT:
            raise TooLarge(f"standard input is longer than {LARGEST_INPUT // 2**20} MiB: release it in parts")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InvalidValue(f"line {number} is not UTF-8 text: convert the input to UTF-8") from None
        if text or ends_blank:
            yield from repeat("", blank)
            yield text
        blank = 0 if text or ends_blank else blank + 1


@contextmanager
def status(text: str) -> Iterator[Callable[[str], None]]:
    """Show what is being computed while the block runs, if standard error is a terminal; then erase it.

    The block gets something to call with another text.
    """
    if not _is_watched():
        yield lambda _text: None
        return
    from rich.progress import SpinnerColumn, TimeElapsedColumn

    with _progress(SpinnerColumn(), "{task.description}", TimeElapsedColumn()) as progress:
        task = progress.add_task(text, total=None)
        yield lambda other: progress.update(task, description=other)


def shown(items: Sequence[Item], label: str, least: int = 2) -> Iterator[Item]:
    """The items, with a progress bar if there are at least `least` of them and standard error is a terminal."""
    if not _is_watched() or len(items) < least:
        yield from items
        return
    with _bar() as progress:
        yield from progress.track(items, description=label)


@contextmanager
def _steps_bar(about: str) -> Iterator[Callable[[str, float | None], None] | None]:
    """Something to call with what is being done, and the fraction of it that is done; None if nobody could see it.

    The bar appears with the first call. `about` follows each text.
    """
    if not _is_watched():
        yield None
        return
    bars: list[Progress] = []
    with ExitStack() as shown:

        def show(text: str, fraction: float | None) -> None:
            if not bars:
                bars.append(shown.enter_context(_bar()))
                bars[0].add_task("", total=1.0)
            bars[0].update(bars[0].task_ids[0], description=text + about, completed=fraction or 0.0)

        yield show


def note_proofs(kinds: Sequence[tuple[Private, int]]) -> None:
    """Say, in a pipe too, that proofs begin which take long, for mechanisms with lengths of words."""
    waits = (each.seconds_to_prepare(length) for each, length in kinds if length and not is_quiet())
    for least, most in waits:
        if least > _LONG:
            number = len({length for _, length in kinds if length})
            lengths = f"{number} lengths" if number > 1 else "one length"
            note(f"proving certificates for words of {lengths}: the first takes about {least:.0f} to {most:.0f} s")
            return


def prepare(mechanism: Private, lengths: Iterable[int], path: Path | None = None, about: str = "") -> None:
    """Load the certificates that a file keeps, and make what draws of words of these lengths need, with a bar."""
    certificates = mechanism.certificates
    with _steps_bar(about) as progress:
        if path is not None and path.exists() and certificates is not None:
            certificates.load(path, None if progress is None else lambda fraction: progress("proving again", fraction))
        for length in sorted(lengths):
            if mechanism.distance != "hamming" or mechanism.k <= length:
                mechanism.prepare(length, progress, in_full=path is not None)


@contextmanager
def rows_bar(label: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Something to call with the number of rows that are done; a bar shows them, their rate, and the time left."""
    if not _is_watched():
        yield lambda _rows: None
        return
    with _bar("{task.completed:,.0f} rows", "{task.fields[rate]:,.0f} rows/s") as progress:
        task = progress.add_task(label, total=total, rate=0.0)
        begin = time.monotonic()

        def show(rows: int) -> None:
            rate = rows / max(time.monotonic() - begin, 1e-9)
            progress.update(task, completed=rows, rate=rate)

        yield show


def _is_watched() -> bool:
    """Whether somebody could see progress: standard error is a terminal, and --quiet is not given."""
    return sys.stderr is not None and sys.stderr.isatty() and not is_quiet()


def _bar(*more: str) -> Progress:
    from rich.progress import BarColumn, TaskProgressColumn, TimeRemainingColumn

    return _progress("{task.description}", BarColumn(), TaskProgressColumn(), *more, TimeRemainingColumn())


def _progress(*columns: Any) -> Progress:
    """A display on standard error that is erased when it ends."""
    from rich.console import Console
    from rich.progress import Progress

    return Progress(*columns, console=Console(file=sys.stderr), transient=True)
