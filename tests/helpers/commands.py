"""How tests run commands: most in this process, which is fast; where the process itself matters, in one of its own."""

from __future__ import annotations

import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import traceback
import warnings
from contextlib import AbstractContextManager, nullcontext, suppress
from fcntl import ioctl
from threading import Thread
from typing import Any
from unittest import mock

from dpwords.cli import main

COMMAND = [sys.executable, "-m", "dpwords"]


def run(
    *arguments: str, stdin: str | bytes = b"", within: AbstractContextManager[Any] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in this process, as if by a shell; exit code 1 can also mean an exception that nobody expected.

    `within` is a block that surrounds the command, and nothing of what captures its output.
    """
    streams = {name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")}
    reader, writer = os.pipe()
    content = stdin.encode() if isinstance(stdin, str) else stdin
    writing = Thread(target=_write, args=(writer, content))
    writing.start()
    code: int | str | None = 1
    with (
        open(reader, encoding="utf-8") as source,
        mock.patch.multiple(sys, argv=["dpwords", *arguments], stdin=source, **streams),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        try:
            with within or nullcontext():
                main()
        except SystemExit as left:
            code = left.code
        except Exception:
            traceback.print_exc()
    writing.join()
    out, err = (stream.buffer.getvalue().decode() for stream in streams.values())  # type: ignore[attr-defined]
    assert isinstance(code, int)
    return subprocess.CompletedProcess([*COMMAND, *arguments], code, out, err)


def _write(pipe: int, content: bytes) -> None:
    with suppress(BrokenPipeError), open(pipe, "wb") as file:
        file.write(content)


def started(*arguments: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    environment = os.environ | {"PYTHONUTF8": "1"}
    done = subprocess.run([*COMMAND, *arguments], input=given, capture_output=True, env=environment, check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), settled(done.stderr.decode()))


def settled(said: str) -> str:
    """What was said, whether or not loops had to be compiled: that depends on earlier runs."""
    return re.sub(r"^.*compiling loops.*\n", "", said, flags=re.MULTILINE)


def refused(*arguments: str, stdin: str | bytes = b"") -> str:
    """The one line that a bad use gets; nothing is written."""
    done = run(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("dpwords: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def in_terminal(columns: int, *arguments: str, code: int = 0, errors: int | None = None, **environment: str) -> str:
    """What a command shows in a terminal of so many columns, from which it could also read.

    `errors` is another position for what it writes to standard error.
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "COLORFGBG")}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if errors is None else errors,
        env=clean | {"TERM": "xterm", "PYTHONUTF8": "1"} | environment,
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 2**16):
                shown += part
        except OSError:  # the other side has closed the terminal
            pass
        assert process.wait() == code
    os.close(ours)
    return settled(shown.decode().replace("\r\n", "\n"))
