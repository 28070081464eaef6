"""The command line as a user meets it: a real process, its output, its exit code."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpwords import lattice
from dpwords.cli import cli

COMMAND = [sys.executable, "-m", "dpwords"]


def run(*arguments: str, stdin: str | bytes = b"") -> subprocess.CompletedProcess[str]:
    given = stdin.encode() if isinstance(stdin, str) else stdin
    environment = os.environ | {"PYTHONUTF8": "1"}
    done = subprocess.run([*COMMAND, *arguments], input=given, capture_output=True, env=environment, check=False)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def refused(*arguments: str, stdin: str | bytes = b"") -> str:
    """The one line that a bad use gets; nothing is written."""
    done = run(*arguments, stdin=stdin)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("dpwords: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_release_of_arguments() -> None:
    done = run("release", "american control", "2019", "--alphabet", "a-z0-9 ", "--epsilon", "1")
    assert done.returncode == 0
    assert [len(line) for line in done.stdout.splitlines()] == [16, 4]
    assert done.stderr == ""


def test_release_at_a_large_epsilon_is_the_word_itself() -> None:
    done = run("release", "SSEE", "EESS", "--system", "grid:15x15", "--epsilon", "200")
    assert done.stdout == "SSEE\nEESS\n"
    done = run("release", "0,1 0,2 1,2", "--system", "grid:15x15", "--words", "states", "--epsilon", "200")
    assert done.stdout == "0,1 0,2 1,2\n"


def test_release_of_lines(tmp_path: Path) -> None:
    done = run("release", "--alphabet", "name:dna", "-e", "200", stdin="GATTACA\r\nACGT\n")
    assert done.stdout == "GATTACA\nACGT\n"
    assert run("release", "--alphabet", "name:dna", "-e", "1").stdout == ""
    roads = tmp_path / "roads.csv"
    roads.write_text("source,target,metres\n10,11,5\n11,10,5\n11,12,2\n12,10,9\n", encoding="utf-8")
    done = run("release", "--system", str(roads), "-e", "200", stdin="10 11 12\n12 10 11\n")
    assert done.stdout == "10 11 12\n12 10 11\n"
    done = run("release", "--system", str(roads), "--start", "10", "-e", "200", stdin="11 12\n")
    assert done.stdout == "11 12\n"
    acts = tmp_path / "acts.txt"
    acts.write_text("register request\ndecide\npay\n", encoding="utf-8")
    done = run("release", "pay;decide", "--alphabet", f"@{acts}", "--separator", ";", "-e", "200")
    assert done.stdout == "pay;decide\n"


@pytest.mark.parametrize("utility", ["best", "linear", "inverse", "staircase"])
@pytest.mark.parametrize("language", [("--alphabet", "ESab"), ("--system", "grid:3x3")])
def test_release_with_each_utility(utility: str, language: tuple[str, str]) -> None:
    done = run("release", "ES" * 2, *language, "-e", "1", "-k", "2", "--utility", utility, "--calibration", "textbook")
    assert done.returncode == 0
    assert len(done.stdout) == 5


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "abc"])
def test_bad_epsilon(epsilon: str) -> None:
    for command in (["release", "ab"], ["audit", "--length", "2"], ["accuracy", "--length", "2"]):
        assert "epsilon" in refused(*command, "--alphabet", "ab", "--epsilon", epsilon)


def test_bad_words_are_named_by_row_and_not_shown() -> None:
    message = refused("release", "--alphabet", "abc", "-e", "1", stdin="abc\nabq\n")
    assert message == (
        "dpwords: word 2: the word is not in the language (symbol 3 of 3 is not in the alphabet): "
        "only words of the language can go in\n"
    )
    assert "word 1: the empty word" in refused("release", "--alphabet", "abc", "-e", "1", stdin="\nabc\n")
    assert "word 1: the empty word" in refused("release", "", "--alphabet", "abc", "-e", "1")
    assert "symbol 1 of 2 cannot follow" in refused("release", "NE", "--system", "grid:3x3", "-e", "1")
    assert "k is at most" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "-k", "3")
    assert "k is a whole number" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "-k", "0")
    assert "alpha is" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "--utility", "inverse", "--alpha", "0")


def test_bad_use() -> None:
    assert "--epsilon" in refused("release", "ab", "--alphabet", "ab")
    assert "either --alphabet or --system" in refused("release", "ab", "-e", "1")
    assert "No such option" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "--seed", "4")
    assert "No such command" in refused("publish")
    assert "inverse" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "--utility", "cubic")


def test_bad_files(tmp_path: Path) -> None:
    text = json.dumps({"start": "s", "transitions": {"s": {"a": "s", "b": "t"}, "t": {"a": "s"}}})
    half = tmp_path / "half.json"
    half.write_text(text[: len(text) // 2], encoding="utf-8")
    assert "cut off" in refused("release", "ab", "--system", str(half), "-e", "1")
    twice = tmp_path / "twice.json"
    twice.write_text('{"start": "s", "transitions": {"s": {"a": "s", "a": "t"}}}', encoding="utf-8")
    assert "must be deterministic" in refused("release", "ab", "--system", str(twice), "-e", "1")
    ends = tmp_path / "ends.json"
    ends.write_text('{"start": "s", "transitions": {"s": {"a": "end"}}}', encoding="utf-8")
    for command in ("accuracy", "audit"):
        assert "no word of length 2" in refused(command, "--system", str(ends), "--length", "2", "-e", "1")
    assert "cannot be read" in refused("release", "ab", "--system", str(tmp_path / "none.csv"), "-e", "1")


def test_bad_standard_input() -> None:
    assert "line 2 is not UTF-8" in refused("release", "--alphabet", "ab", "-e", "1", stdin=b"ab\n\xff\xfe\n")
    assert "line 1 is longer than 16 MiB" in refused("release", "--alphabet", "ab", "-e", "1", stdin=b"a" * 2**25)


def test_accuracy_before_any_data() -> None:
    done = run("accuracy", "--alphabet", "name:hex", "--length", "32", "--epsilon", "10,1")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[2] == ["10", "0.02178", "2.937", "29.98"]
    assert len(rows) == 4
    done = run("accuracy", "--system", "grid:3x3", "--words", "states", "--length", "4", "-e", "2")
    assert done.stdout.splitlines()[2].split()[:2] == ["2", "1.553"]
    assert "the figure for one word is private" in done.stdout


def test_accuracy_says_what_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice, "MEMORY_LIMIT", 20_000)
    done = CliRunner().invoke(cli, ["accuracy", "--system", "grid:3x3", "--length", "10", "-e", "2"])
    assert done.exit_code == 0
    assert re.match(r" +2 +\d\.\d+ +too large$", done.stdout.splitlines()[2])


def test_audit_says_whether_a_claim_holds() -> None:
    done = run("audit", "--system", "grid:3x3", "--words", "states", "--length", "4", "-e", "2")
    assert done.returncode == 0
    assert "words       48 of length 4" in done.stdout
    assert "the claim holds" in done.stdout
    done = run("audit", "--alphabet", "abc", "--length", "4", "-e", "1", "--literal")
    assert done.returncode == 1
    assert "THE CLAIM IS BROKEN" in done.stdout
    assert "1024" in refused("audit", "--alphabet", "abc", "--length", "9", "-e", "1")


@pytest.mark.parametrize("arguments", [[], ["--help"], ["release", "--help"], ["accuracy", "-h"], ["audit", "-h"]])
def test_help_has_examples_and_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('LOADED', 'numpy' in sys.modules or 'cryptography' in sys.modules))\n"
        f"sys.argv = ['dpwords', *{arguments!r}]\n"
        "from dpwords.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Examples:\n" in done.stdout
    assert "dpwords release" in done.stdout or "dpwords a" in done.stdout
    assert "LOADED False" in done.stdout
