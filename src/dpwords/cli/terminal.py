"""Input and output of the terminal: complete output or none, input of limited size, and progress bars."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import repeat
from typing import Any, TextIO, TypeVar

import click

from dpwords.errors import InvalidValue, TooLarge

Item = TypeVar("Item")
LONGEST_LINE = 2**24  # bytes
LARGEST_INPUT = 2**28  # bytes
_STEPS = 1000  # of a progress bar
BROKEN_PIPE = 141  # the exit code that a shell reports for a program ended by SIGPIPE
NO_OUTPUT = "standard output is closed, so nothing can be written: open it or redirect it"


def emit(lines: Sequence[str]) -> None:
    """Write all lines to standard output at once."""
    if sys.stdout is None:
        raise InvalidValue(NO_OUTPUT)
    try:
        rest = memoryview("".join(f"{line}\n" for line in lines).encode(sys.stdout.encoding))
    except UnicodeEncodeError:
        raise InvalidValue(f"{sys.stdout.encoding} cannot write this output: set PYTHONIOENCODING=utf-8") from None
    sys.stdout.flush()
    while rest:
        rest = rest[sys.stdout.buffer.write(rest) or 0 :]  # with PYTHONUNBUFFERED, a call may write a part only
    sys.stdout.buffer.flush()


def flush_output() -> bool:
    """Write what the standard streams still hold; False if standard output takes it no more.

    What cannot be written is discarded, so that the interpreter's own attempt at exit does not fail again.
    """
    failed = [stream for stream in (sys.stdout, sys.stderr) if stream is not None and not _flushed(stream)]
    for stream in failed:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return sys.stdout not in failed


def _flushed(stream: TextIO) -> bool:
    try:
        stream.flush()
    except OSError:
        return False
    return True


@contextmanager
def status(text: str) -> Iterator[None]:
    """Show what is being computed while the block runs, if standard error is a terminal; then erase it."""
    visible = sys.stderr is not None and sys.stderr.isatty()
    if visible:
        click.echo(f"{text} …", file=sys.stderr, nl=False)
    try:
        yield
    finally:
        if visible:
            click.echo("\r" + " " * (len(text) + 2) + "\r", file=sys.stderr, nl=False)


def note(text: str) -> None:
    """Write one line to standard error, if there is one."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(f"dpwords: {text}", file=sys.stderr, flush=True)


def lines_of_stdin(ends_blank: bool = False) -> Iterator[str]:
    """The lines of standard input, decoded as UTF-8; raises `TooLarge` if a line or the whole input is too long.

    Blank lines at the end are left out, unless `ends_blank`.
    """
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


def shown(items: Sequence[Item], label: str, least: int = 2) -> Iterator[Item]:
    """The items, with a progress bar if there are at least `least` of them and standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty() or len(items) < least:
        yield from items
        return
    with click.progressbar(items, label=label, file=sys.stderr) as bar:
        yield from bar


@contextmanager
def progress_bar(label: Callable[[], str]) -> Iterator[Callable[[float], None] | None]:
    """Something to call with the share that is done, from 0 to 1; None if standard error is not a terminal.

    The bar appears with the first call. It starts again if the share falls, for the next of several tasks.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bars: list[Any] = []

    def show(share: float) -> None:
        if not bars:
            bars.append(click.progressbar(length=_STEPS, label=label(), file=sys.stderr).__enter__())
        bars[0].update(int(share * _STEPS) - bars[0].pos)

    try:
        yield show
        for bar in bars:
            bar.update(_STEPS - bar.pos)
    finally:
        for bar in bars:
            bar.__exit__(None, None, None)
