"""A program of any origin as a black box: it reads a word on each line, and writes one."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any

from dpwords.core.checks import positive_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, TooLarge

_SHELL = {"|", "||", "|&", "&", "&&", ";", "<", ">", ">>", "2>", "&>", "2>&1"}


class Program:
    """A program that is started once for each batch, and releases the same word on each line.

    `command` is a line such as "python release.py 1", or a list of arguments. No shell is involved, and what
    the program writes to standard error is discarded. `timeout` is how many seconds a batch may take. Words are lines;
    `write` and `read` translate those that are something else. Cost: one start for each batch.

    >>> Program("cat")("gattaca", 2)
    ['gattaca', 'gattaca']
    >>> Program("cat", write=" ".join, read=str.split)(["pay", "ship"], 1)
    [['pay', 'ship']]
    """

    def __init__(
        self,
        command: str | Sequence[str],
        timeout: float = 60.0,
        *,
        write: Callable[[Any], str] = str,
        read: Callable[[str], Any] = str,
        limits: Limits = DEFAULTS,
    ) -> None:
        try:
            self.arguments = shlex.split(command) if isinstance(command, str) else [*map(str, command)]
        except ValueError:
            raise InvalidValue("a quotation mark of the command is not closed: close it, or pass a list") from None
        if isinstance(command, str) and not _SHELL.isdisjoint(self.arguments):
            raise InvalidValue("no shell reads the command, so it cannot have pipes or redirections: write sh -c '…'")
        if not self.arguments:
            raise InvalidValue("the command is empty: write a program and its arguments, as in 'python release.py'")
        self.timeout = positive_number(timeout, "timeout", "timeout=60")
        self._limits, self._write, self._read = limits, write, read

    def __call__(self, word: Any, draws: int) -> list[Any]:
        """What the program writes for so many lines with the word."""
        line = self._write(word)
        if "\n" in line or "\r" in line:
            raise InvalidValue("a program reads a word on each line: pass a word without line breaks")
        try:
            encoded = f"{line}\n".encode()
        except UnicodeEncodeError:
            raise InvalidValue("a program reads UTF-8, which has no single surrogates: pass a word without") from None
        with tempfile.TemporaryFile() as lines:  # rather than a pipe, which could block both sides
            lines.write(encoded * draws)
            lines.seek(0)
            content = self._answer(lines.fileno())
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise InvalidValue("the command writes bytes that are not UTF-8: make it write UTF-8 text") from None
        found = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
        if len(found) != draws:
            raise InvalidValue(
                f"the command read {draws} lines and wrote {len(found)}: make it write one line for each that it reads"
            )
        return [self._read(line) for line in found]

    def _answer(self, lines: int) -> bytes:
        """The standard output of one run; the program is ended in any case."""
        try:
            process = subprocess.Popen(
                self.arguments, stdin=lines, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except FileNotFoundError:
            raise InvalidValue(f"there is no program {self.arguments[0]}: check its name and the path") from None
        except (OSError, ValueError):
            raise InvalidValue(f"{self.arguments[0]} cannot be started: check that it is a program") from None
        assert process.stdout is not None
        written: list[bytes] = []
        stdout, most = process.stdout, self._limits.program_output
        reader = threading.Thread(target=lambda: written.append(stdout.read(most + 1)), daemon=True)
        reader.start()
        try:
            reader.join(self.timeout)
            if reader.is_alive():
                raise InvalidValue(
                    f"the command has not answered within {self.timeout:g} seconds: does it end when its input ends? "
                    "If it is slow, use fewer draws or a longer timeout"
                )
            if len(written[0]) > most:
                raise TooLarge(f"the command writes more than {most // 2**20} MiB for a batch: use fewer draws")
            code = process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            raise InvalidValue("the command does not end after its output: make it end with its input") from None
        finally:
            _end(process)
            reader.join(1.0)
            if not reader.is_alive():  # otherwise a program of its own session still holds the other end
                stdout.close()
        if code != 0:
            raise InvalidValue(f"the command ended with exit code {code}: run it by hand to see what is wrong")
        return written[0]


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the program and those that it has started, if they still run."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    elif process.poll() is None:
        process.kill()
    process.wait()
