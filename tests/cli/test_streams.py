"""Standard streams that are closed, full or no longer read: the same exit codes for all commands, and no traceback."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from commands import COMMAND, run

COMMANDS = [
    "--help",
    "--version",
    "release --help",
    "release abab --alphabet ab -e 1",
    "release EES --system grid:3x3 -e 1",  # with a note on standard error
    "accuracy --alphabet ab --length 4 -e 1,2,3",
    "audit --alphabet ab --length 3 -e 1",
    "draw ab --alphabet ab",
    "study",
]


def shell(script: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONUTF8": "1"}
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, check=False)


@contextmanager
def unread() -> Iterator[int]:
    """The end of a pipe to write to; nobody reads from the other end."""
    reader, writer = os.pipe()
    os.close(reader)
    yield writer
    os.close(writer)


@pytest.mark.parametrize("command", COMMANDS)
def test_streams_that_fail(command: str) -> None:
    program = f"{shlex.join(COMMAND)} {command}"
    full = shell(f"{program} >/dev/full")
    assert (full.returncode, full.stdout, full.stderr.count("\n")) == (2, "", 1)
    assert "No space left" in full.stderr
    closed = shell(f"{program} >&-")
    assert (closed.returncode, closed.stderr.count("\n")) == (2, 1)
    assert "standard output is closed" in closed.stderr
    with unread() as pipe:
        done = subprocess.run(shlex.split(program), stdout=pipe, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (141, b"")
    for silent in ("2>&-", "2>/dev/full"):
        said = shell(f"{program} {silent}")
        assert (said.returncode, said.stderr) == (0, "")
        assert said.stdout != ""


def test_what_cannot_be_said_shows_in_the_code() -> None:
    wrong = "release abab --alphabet ab -e 0"
    for silent in ("2>&-", "2>/dev/full"):
        done = shell(f"{shlex.join(COMMAND)} {wrong} {silent}")
        assert (done.returncode, done.stdout, done.stderr) == (2, "", "")
    with unread() as pipe:
        assert subprocess.run([*COMMAND, *wrong.split()], stderr=pipe, check=False).returncode == 2


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_taken_in_part(unbuffered: str, tmp_path: Path) -> None:
    """The output does not fit into a pipe, so it is still being written when `head` leaves; or a file gets too long."""
    word = "ab" * 40
    program = f"PYTHONUNBUFFERED={unbuffered} {shlex.join(COMMAND)}"
    command = f"yes {word} | head -20000 | {program} release --alphabet ab -e 200"
    done = shell(f"{command} | head -1; echo ${{PIPESTATUS[2]}}")
    assert (done.stdout, done.stderr) == (f"{word}\n141\n", "")
    assert shell(f"{command} | tail -1; echo ${{PIPESTATUS[2]}}").stdout == f"{word}\n0\n"
    done = shell(f"ulimit -f 100; {command} >{tmp_path / 'out'}; echo ${{PIPESTATUS[2]}}")
    assert done.stdout == "2\n"
    assert "File too large" in done.stderr


def test_no_input() -> None:
    done = shell(f"{shlex.join(COMMAND)} release --alphabet ab -e 1 <&-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize(
    ("lines", "released"), [("ab\n\n\n", "ab\n"), ("ab\r\n\r\n", "ab\n"), ("\n", ""), ("ab\n\nba\n", None)]
)
def test_blank_lines_at_the_end_are_ignored(lines: str, released: str | None) -> None:
    done = run("release", "--alphabet", "ab", "-e", "200", stdin=lines)
    assert (done.stdout, done.returncode) == (released or "", 2 if released is None else 0)
    assert ("word 2: the empty word" in done.stderr) == (released is None)


def test_blank_lines_are_words_where_the_empty_word_can_be_released() -> None:
    done = run("release", "--alphabet", "abcd", "-e", "200", "--edits", "all", stdin="ab\n\ncd\n\n")
    assert done.stdout == "ab\n\ncd\n\n"


@pytest.mark.parametrize("onto", [">> {0}", "1<> {0}"])
@pytest.mark.parametrize(
    "source",
    [
        "--input {0} --column w",
        "--input - --format csv --column w < {0}",
        "< {0}",
        "--recipe {1}",
        "--recipe {1} --print-recipe",
    ],
)
def test_standard_output_that_is_the_input(source: str, onto: str, tmp_path: Path) -> None:
    """The original would be lost, or its words would stand beside the released ones."""
    file = tmp_path / "in.csv"
    file.write_text("w\nww\n", encoding="utf-8")
    recipe = tmp_path / "release.json"
    recipe.write_text(json.dumps({"input": str(file), "column": "w"}), encoding="utf-8")
    program = f"{shlex.join(COMMAND)} release --alphabet wx -e 1 {source} {onto}"
    done = shell(program.format(shlex.quote(str(file)), shlex.quote(str(recipe))))
    assert done.stderr == "dpwords: standard output is the input file: write to another file\n"
    assert (done.returncode, file.read_text("utf-8")) == (2, "w\nww\n")
