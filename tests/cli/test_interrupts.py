"""Ctrl-C at many moments of real processes: exit code 130, one line, nothing printed and no file left behind.

`-X importtime` writes a line for each module that is imported. It is read from a pipe that holds few lines, so a
process cannot run far ahead of its reader, and a signal comes soon after the line that was waited for.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from commands import settled

SMALLEST_PIPE = 4096  # bytes, about 60 lines
INTERRUPTED = (130, "dpwords: interrupted\n")
STATES = ("release", "--system", "grid:15x15", "--words", "states", "-e", "2.5")  # its certificate takes minutes
RUN = b"0,1 0,2 0,3 0,4 0,5 0,6 0,7 0,8 0,9 1,9 2,9 3,9 4,9 5,9 6,9\n"


def interrupted(folder: Path, module: str, *arguments: str) -> tuple[int, str]:
    """The exit code and messages of a command that gets SIGINT after a module was imported; it prints nothing."""
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "dpwords", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=os.environ | {"PYTHONUTF8": "1", "NUMBA_CACHE_DIR": str(folder.parent / "numba")},
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, SMALLEST_PIPE)
        process.stdin.write(RUN)
        process.stdin.close()
        seen = list(itertools.takewhile(lambda line: line.split(b"|")[-1].strip() != module.encode(), process.stderr))
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read().decode()
        assert process.stdout.read() == b""
        assert len(seen) > 50  # the first modules are Python's own
    messages = [line for line in rest.splitlines(keepends=True) if not line.startswith("import time:")]
    return process.returncode, settled("".join(messages))


@pytest.mark.parametrize(
    "module",
    [
        "click.core",
        "dpwords.cli.options",
        "numpy.linalg",
        "dpwords.recipes.notation",
        "cryptography.exceptions",
        "llvmlite.binding",
        "numba.core.types",
        "dpwords._kernels.rounding",  # compilation comes next
    ],
)
def test_while_modules_are_imported_and_compiled(module: str, tmp_path: Path) -> None:
    assert interrupted(tmp_path, module, *STATES) == INTERRUPTED


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("numpy", ("accuracy", "--alphabet", "ab", "--length", "4", "-e", "1", "--plot", "a.svg")),
        ("numpy", ("audit", "--alphabet", "ab", "--length", "4", "-e", "1")),
        ("matplotlib", ("draw", "--paper", "--output", "figures")),
        ("numpy", ("study", "strings", "--output", "figures")),
    ],
)
def test_each_command(module: str, arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    assert interrupted(tmp_path / "here", module, *arguments) == INTERRUPTED
    assert list((tmp_path / "here").iterdir()) == []


def test_while_input_is_awaited() -> None:
    command = [sys.executable, "-m", "dpwords", "release", "--alphabet", "ab", "-e", "1"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:  # type: ignore[call-overload]
        process.stdin.write(b"ab\n" * 2**16)  # more than a pipe holds: some of it has been read when this returns
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        assert (process.stdout.read(), process.stderr.read()) == (b"", INTERRUPTED[1].encode())
    assert process.returncode == INTERRUPTED[0]


def ctrl_c(shown: bytes, *arguments: str, stdin: bytes) -> tuple[int, str]:
    """The exit code of a command whose user presses Ctrl-C when a text is shown, and what the terminal shows then."""
    ours, theirs = pty.openpty()
    on_terminal = f'exec "$0" "$@" 3<>{os.ttyname(theirs)} >&3 2>&3'  # it belongs to the first one who opens it
    with subprocess.Popen(
        ["sh", "-c", on_terminal, sys.executable, "-m", "dpwords", *arguments],
        stdin=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        before, after = b"", b""
        while shown not in before:
            before += os.read(ours, 2**16)
        os.close(theirs)
        os.write(ours, b"\x03")
        try:
            while part := os.read(ours, 2**16):
                after += part
        except OSError:  # the other side has closed the terminal
            pass
    os.close(ours)
    return process.returncode, after.decode()


@pytest.mark.parametrize(
    ("shown", "arguments", "stdin"),
    [
        (b"certifying", STATES, RUN),
        (
            b"releasing",  # in threads
            ("release", "--system", "grid:15x15", "-e", "2", "--mechanism", "online"),
            (b"ESWN" * 100 + b"\n") * 8000 + (b"SENW" * 101 + b"\n") * 8000,  # for seconds
        ),
    ],
)
def test_ctrl_c_on_a_terminal_and_the_cursor_comes_back(shown: bytes, arguments: tuple[str, ...], stdin: bytes) -> None:
    code, text = ctrl_c(shown, *arguments, stdin=stdin)
    assert code == INTERRUPTED[0]
    assert text.endswith("\r\x1b[K\x1b[?25hdpwords: interrupted\r\n")  # on a line of its own, and shows the cursor
    assert "Traceback" not in text


def test_where_python_ignores_exceptions() -> None:
    script = """
import signal, sys
from dpwords.__main__ import main
class Late:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)
sys.addaudithook(lambda event, values: event == "import" and values[0] == "numpy" and Late() and None)
sys.argv = ["dpwords", "audit", "--alphabet", "ab", "--length", "3", "-e", "1"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == INTERRUPTED
