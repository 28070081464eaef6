"""The command line as a user meets it: its output, its messages, its exit codes."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from commands import COMMAND, refused, run, started
from dpwords.cli import cli


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        ("release --system grid:15x15 -e 200", "SSEE\nEESS\n", 0),
        ("release --alphabet ab -e 1", "abz\n", 2),
        ("release --alphabet ab", "ab\n", 2),
        ("audit --alphabet ab --length 3 -e 1 --literal", "", 1),
    ],
)
def test_a_process_of_its_own_does_the_same(arguments: str, stdin: str, code: int) -> None:
    """The other tests here run commands in the process of the tests."""
    real, here = (start(*arguments.split(), stdin=stdin) for start in (started, run))
    assert (real.returncode, real.stdout, real.stderr) == (here.returncode, here.stdout, here.stderr)
    assert real.returncode == code


def test_release_of_arguments() -> None:
    done = run("release", "american control", "2019", "--alphabet", "a-z0-9 ", "--epsilon", "5")
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
    assert run("release", "--alphabet", "ab", "-e", "200", stdin=b"\xef\xbb\xbfab\nba").stdout == "ab\nba\n"
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


def test_release_and_audit_symbol_by_symbol() -> None:
    done = run("release", "SSEE", "--system", "grid:15x15", "--epsilon", "200", "--mechanism", "online")
    assert done.stdout == "SSEE\n"
    online = ["--system", "grid:3x3", "-e", "2", "--mechanism", "online"]
    done = run("audit", "--length", "3", *online)
    assert (done.returncode, "the claim holds" in done.stdout) == (0, True)
    assert "leave out --utility" in refused("release", "SSEE", *online, "--utility", "linear")


def test_release_keeps_certificates(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    arguments = ["release", "0,1 0,2 1,2", "--system", "grid:3x3", "--words", "states", "--certificates", str(file)]
    for _ in range(2):
        assert run(*arguments, "-e", "200").stdout == "0,1 0,2 1,2\n"
    assert len(json.loads(file.read_text("utf-8"))["certificates"]) == 1
    assert "another ε" in refused(*arguments, "-e", "100")
    assert "leave out --certificates" in refused(*arguments, "-e", "200", "--mechanism", "online")


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "inf", "abc"])
def test_bad_epsilon(epsilon: str) -> None:
    for command in (["release", "ab"], ["audit", "--length", "2"], ["accuracy", "--length", "2"]):
        assert "epsilon" in refused(*command, "--alphabet", "ab", "--epsilon", epsilon)


def test_refused_input_leaves_no_certificates(tmp_path: Path) -> None:
    file = tmp_path / "certificates.json"
    options = ("--system", "grid:3x3", "--words", "states", "-e", "5", "--certificates", str(file))
    assert "word 2" in refused("release", *options, stdin="0,1 0,2\nEE\n")
    assert "word 2: the empty word" in refused("release", *options, stdin="0,1 0,2\n\n0,1\n")
    assert not file.exists()
    assert run("release", *options, stdin="0,1 0,2\n").returncode == 0
    assert file.exists()


def test_bad_words_are_named_by_row_and_not_shown() -> None:
    message = refused("release", "--alphabet", "abc", "-e", "1", stdin="abc\nabq\n")
    assert message == (
        "dpwords: word 2: the word is not in the language (symbol 3 of 3 is not in the alphabet): only words of the "
        "language can go in; words are read as single characters such as a (--separator changes that)\n"
    )
    assert "read as states such as 0,1 with white space between them" in refused(
        "release", "0,1", "0;1", "--system", "grid:3x3", "--words", "states", "-e", "1"
    )
    assert "word 1: the empty word" in refused("release", "--alphabet", "abc", "-e", "1", stdin="\nabc\n")
    assert "word 1: the empty word" in refused("release", "", "--alphabet", "abc", "-e", "1")
    assert "symbol 1 of 2 cannot follow" in refused("release", "NE", "--system", "grid:3x3", "-e", "1")
    assert "k is at most" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "-k", "3")
    assert "--epsilon must be" in refused("release", "ab", "--alphabet", "ab", "-e", "0")
    assert "-k must be a whole number" in refused("release", "ab", "--alphabet", "ab", "-e", "1", "-k", "0")
    assert "--alpha must be" in refused(
        "release", "ab", "--alphabet", "ab", "-e", "1", "--utility", "inverse", "--alpha", "0"
    )


SECRET = "gattaca"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["release", "ab", "--alphabet", "ab"],
            "--epsilon is missing: say what each word may spend",
        ),
        (["release", "ab", "-e", "1"], "exactly one of --alphabet, --system and --lexicon"),
        (["ledger", "show"], "FILE is missing: see dpwords ledger show --help"),
        (["release", "-e", SECRET, "--alphabet", "acgt"], "--epsilon takes a number, but was given something else"),
        (["release", "-k", SECRET, "--alphabet", "acgt"], "-k takes a whole number"),
        (["release", "--words", SECRET, "--alphabet", "acgt", "-e", "1"], "--words takes one of moves, states"),
        (["release", f"--{SECRET}", "--alphabet", "acgt", "-e", "1"], "words that begin with a hyphen go after --"),
        (["release", f"-{SECRET}", "--alphabet", "acgt-", "-e", "1"], "words that begin with a hyphen go after --"),
        (["release", SECRET, "--alphabet", "acgt", "-e"], "-e needs a value after it: see"),
        (["audit", SECRET, "--alphabet", "acgt", "-e", "1", "--length", "2"], "see dpwords audit --help"),
        (["accuracy", "-e", f"1,{SECRET}", "--alphabet", "acgt", "--length", "2"], "as in 1,2,5,10"),
        (
            [SECRET, "--alphabet", "acgt", "-e", "1"],
            "use one of release, accuracy, estimate, describe, audit, attack, draw, study, ledger",
        ),
        (
            ["audit", "--literal", "--utility", "linear", "--alphabet", "ab", "--length", "2", "-e", "1"],
            "--literal is a mechanism of its own: leave out --utility",
        ),
        (["release", "ab", "--alphabet", "ab", "-e", "1", "--separator", ""], "a separator needs at least"),
        (["accuracy", "--alphabet", "ab", "--length", "1" + "0" * 25, "-e", "1"], "a word may have"),
        (["audit", "--alphabet", "ab", "--length", "100000", "-e", "1"], "use a shorter length"),
        (["release", "EE", "--system", "grid:99999x99999", "-e", "1"], "at most 1000000 cells"),
    ],
)
def test_bad_use_is_told_without_repeating_it(arguments: list[str], message: str) -> None:
    line = refused(*arguments)
    assert message in line
    assert SECRET not in line


def test_words_that_begin_with_a_hyphen() -> None:
    assert run("release", "--alphabet", "ab-", "-e", "200", "--", "-ab-").stdout == "-ab-\n"


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


def test_encodings_that_cannot_say_it() -> None:
    latin = {"PYTHONIOENCODING": "latin-1"}
    arguments = ["release", "路路", "--alphabet", "路街", "-e", "1"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, env=os.environ | latin, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"set PYTHONIOENCODING=utf-8" in done.stderr
    done = subprocess.run([*COMMAND, "audit", "--help"], capture_output=True, env=os.environ | latin, check=False)
    assert done.returncode == 0
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, env=os.environ | plain, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"set PYTHONUTF8=1" in done.stderr


def test_bad_standard_input() -> None:
    assert "line 2 is not UTF-8" in refused("release", "--alphabet", "ab", "-e", "1", stdin=b"ab\n\xff\xfe\n")
    assert "line 1 is longer than 16 MiB" in refused("release", "--alphabet", "ab", "-e", "1", stdin=b"a" * 2**25)


def test_accuracy_before_any_data() -> None:
    done = run("accuracy", "--alphabet", "name:hex", "--length", "32", "--epsilon", "10,1")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[2] == ["10", "0.02178", "(>99.9%)*", "2.937", "(19.4%)", "29.98", "(<0.1%)"]
    assert len(rows) == 5
    done = run("accuracy", "--system", "grid:3x3", "--words", "states", "--length", "4", "-e", "2")
    tight, _, textbook = map(float, re.findall(r"([\d.]+) \(", done.stdout.splitlines()[2])[:3])
    assert textbook == 1.553
    assert 0.6611 <= tight < 0.8606  # the optimum; the best c with equal weights
    assert "the figure for one word is private" in done.stdout


def test_accuracy_finds_epsilon_and_draws(tmp_path: Path) -> None:
    done = run("accuracy", "--alphabet", "name:dna", "--length", "20", "--target-distance", "1")
    assert done.returncode == 0
    assert float(done.stdout.splitlines()[2].split()[0].rstrip("*")) == pytest.approx(math.log(57), rel=2e-3)
    picture = tmp_path / "accuracy.svg"
    done = run("accuracy", "--alphabet", "ab", "--length", "4", "-e", "2,1", "--plot", str(picture))
    assert done.returncode == 0
    assert picture.read_bytes().startswith(b"<?xml")
    for wrong in (["--plot", "a.gif"], ["--plot", "a.dot"], ["--plot", "a.svg", "--target-distance", "1"]):
        arguments = ["accuracy", "--alphabet", "ab", "--length", "4", *wrong]
        assert "ends in .svg" in refused(*arguments, *(["-e", "1"] if len(wrong) == 2 else []))
    assert "give --epsilon" in refused("accuracy", "--alphabet", "ab", "--length", "4")


def test_accuracy_says_what_is_too_large() -> None:
    """On free words of 30,000 symbols no distances are counted, and linear utility does without."""
    done = CliRunner().invoke(cli, ["accuracy", "--alphabet", "ab", "--length", "30000", "-e", "2"])
    assert done.exit_code == 0
    assert re.match(r" +2 +\d+ \(<0.1%\)\* +\d+ \(<0.1%\) +too large$", done.stdout.splitlines()[2])


def test_audit_says_whether_a_claim_holds() -> None:
    done = run("audit", "--system", "grid:3x3", "--words", "states", "--length", "4", "-e", "2")
    assert done.returncode == 0
    assert "words       48 of length 4" in done.stdout
    assert "the claim holds" in done.stdout
    done = run("audit", "--alphabet", "abc", "--length", "4", "-e", "1", "--literal")
    assert done.returncode == 1
    assert "THE CLAIM IS BROKEN" in done.stdout
    assert "1024" in refused("audit", "--alphabet", "abc", "--length", "9", "-e", "1")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["release", "--help"],
        ["accuracy", "-h"],
        ["audit", "-h"],
        ["attack", "-h"],
        ["draw", "-h"],
        ["study"],
        ["study", "strings", "-h"],
        ["study", "grid", "-h"],
        ["study", "data", "-h"],
        ["ledger"],
        ["ledger", "show", "-h"],
        ["serve", "-h"],
        ["completion", "-h"],
    ],
)
def test_help_has_examples_and_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys, atexit\n"
        "heavy = {'numpy', 'numba', 'cryptography', 'rich', 'starlette', 'uvicorn', 'pyarrow', 'matplotlib'}\n"
        "atexit.register(lambda: print('LOADED', sorted(heavy & sys.modules.keys())))\n"
        f"sys.argv = ['dpwords', *{arguments!r}]\n"
        "from dpwords.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Examples:\n" in done.stdout
    assert re.search(r"^ +dpwords [a-z]", done.stdout, re.MULTILINE)
    assert "LOADED []" in done.stdout
