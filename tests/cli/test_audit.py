"""dpwords audit: by sampling, of programs, of channels in files, and its pictures."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import dpwords as dw
from commands import refused
from dpwords.bridges.probability_files import read_channel, read_distances
from dpwords.cli import cli

KEEPS = """
import random, sys
for line in sys.stdin:
    print("".join(c if random.random() < 0.5 else random.choice("ab") for c in line.rstrip("\\n")))
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["audit", *arguments], standalone_mode=False)


def told(*arguments: str) -> str:
    """What a bad use is told, without a process for each."""
    done = run(*arguments)
    assert isinstance(done.exception, dw.DPWordsError)
    assert done.output == ""
    return str(done.exception)


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Randomised response: a symbol stays with 3/4, so that ε = ln 3."""
    (tmp_path / "keeps.py").write_text(KEEPS, encoding="utf-8")
    return f"'{sys.executable}' '{tmp_path}/keeps.py'"


def test_the_exact_audit_says_what_was_claimed_for_the_distance_of_the_worst_pair() -> None:
    """At k = 2 the literal formula loses most for words 2 apart; both lines by hand for n = 2, m = 2."""
    done = run("--alphabet", "abc", "--length", "4", "-e", "1", "--literal")
    assert done.return_value == 1
    assert "measured ε  2.57944154\n" in done.output  # 1/2 + ln 8
    assert "its loss    2.57944154, at output 'aaaa'\nits claim   1 for distance 1\n" in done.output
    done = run("--alphabet", "ab", "--length", "3", "-e", "2", "-k", "2")
    assert "its claim   2 for distance 1 (1 × ε, as k = 2)" in done.output


def test_long_words_are_sampled() -> None:
    long = ("--alphabet", "abc", "--length", "30", "-e", "1")
    assert "or add --statistical to audit two words by sampling" in refused("audit", *long)
    done = run(*long, "--literal", "--statistical", "--draws", "4000")
    assert (done.return_value, done.output.splitlines()[-1]) == (1, "THE CLAIM IS BROKEN")
    assert f"'{'a' * 30}' and '{'a' * 29}b' (distance 1)" in done.output
    assert "its claim   1 for distance 1\n" in done.output
    done = run(*long, "--statistical", "--draws", "40")
    assert "cannot break this claim: use more" in done.output
    done = run(*long, "--statistical", "--draws", "4000")
    assert done.return_value == 0
    assert "cannot break" not in done.output
    assert done.output.splitlines()[-1] == "the claim is not accused, which does not prove it"


@pytest.mark.parametrize(
    "options",
    [
        "--system grid:4x4 --words states --length 5 -e 2",
        "--system grid:9x9 --length 6 -e 2 -k 2 --mechanism exponential",
        "--alphabet ab --length 5 -e 2 --edits all",
        "--alphabet abc --length 9 -e 1 --report symbols",
        "--alphabet ab --word abba --neighbour abbb -e 2 --mechanism online",
    ],
)
def test_every_kind_of_mechanism_can_be_sampled(options: str) -> None:
    done = run(*options.split(), "--statistical", "--draws", "1000", "--confidence", "0.99999")
    assert done.return_value == 0
    assert "1000 of each word; confidence 0.99999" in done.output


def test_a_program_is_audited(program: str) -> None:
    pair = ("--word", "abba", "--neighbour", "abbb")
    done = run("--command", program, *pair, "-e", "0.5", "--draws", "4000")
    assert (done.return_value, done.output.splitlines()[-1]) == (1, "THE CLAIM IS BROKEN")
    done = run("--command", program, *pair, "-e", "1.2", "--draws", "4000")
    assert done.return_value == 0
    done = run("--command", program, *pair, "--draws", "400")
    assert (done.return_value, done.output.splitlines()[-1]) == (
        0,
        "nothing was claimed: give --epsilon to check a claim",
    )
    done = run("--command", program, "--alphabet", "ab", "--length", "3", "--edits", "all", "-e", "1.2", "-k", "2")
    assert "(distance 2)" in done.output or "(distance 1)" in done.output


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit(3)", "ended with exit code 3"),
        ("print('a')", "read 25 lines and wrote 1:"),
        ("pass", "read 25 lines and wrote 0:"),
        ("import sys; sys.stdout.buffer.write(b'\\xff\\n')", "not UTF-8"),
        ("while True: pass", "has not answered within 0.5 seconds"),
        ("while True: print('a' * 1000)", "more than 64 MiB"),
        (
            "import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'while True: pass'])",
            "has not answered within 0.5 seconds",
        ),
    ],
)
def test_what_a_program_may_not_do(code: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(code, encoding="utf-8")
    timeout = "0.5" if "0.5 seconds" in message else "60"
    line = f"'{sys.executable}' '{tmp_path}/bad.py'"
    options = ("--word", "ab", "--neighbour", "aa", "--draws", "400", "--timeout", timeout)
    assert message in told("--command", line, *options)


def test_a_program_that_is_seeded_by_the_clock_is_accused(tmp_path: Path) -> None:
    """The clock stands still here, so that the verdict does not depend on when a second ends."""
    (tmp_path / "clock.py").write_text(KEEPS.replace("for line", "random.seed(1_700_000_000)\nfor line", 1), "utf-8")
    release = dw.audit.Program([sys.executable, str(tmp_path / "clock.py")])
    found = dw.audit.statistical(release, "abba", "abbb", 4000, claimed=2.0)
    assert (found.epsilon, found.holds) == (math.inf, False)


def test_a_channel_in_a_file(tmp_path: Path) -> None:
    matrix, table, apart = (str(tmp_path / name) for name in ("matrix.csv", "table.csv", "apart.csv"))
    Path(matrix).write_text("input,x,y\naa,0.75,0.25\nab,0.25,0.75\n", encoding="utf-8")
    Path(table).write_text("input,output,probability\naa,x,0.75\naa,y,0.25\nab,x,0.25\n\nab,y,0.75\n", encoding="utf-8")
    Path(apart).write_text(",ab,aa\nab,0,2\naa,2,0\n", encoding="utf-8")
    for file in (matrix, table):
        done = run("--channel", file, "-e", "1")
        assert done.return_value == 1
        assert "measured ε  1.09861229\n" in done.output  # ln 3
        assert "its claim   1 for distance 1\n" in done.output
    assert run("--channel", matrix, "-e", "1.1", "--distance", "levenshtein").return_value == 0
    done = run("--channel", matrix, "--distance", apart)
    assert (done.return_value, "measured ε  0.549306144" in done.output) == (0, True)
    assert run("--channel", matrix, "--distance", apart, "-k", "2", "-e", "1").return_value == 1


def test_what_a_channel_cannot_compare_is_said(tmp_path: Path) -> None:
    """Labels of different lengths under the default, which is Hamming distance."""
    file = tmp_path / "m.csv"
    file.write_text("input,x,y\nyoung,0.75,0.25\nold,0,1\n", encoding="utf-8")
    assert "nothing can be compared: choose any, levenshtein" in told("--channel", str(file), "-e", "1")
    assert run("--channel", str(file), "-e", "1", "--distance", "any").return_value == 1
    file.write_text("input,x,y\nyoung,0.75,0.25\nold,0,1\nnew,0,1\n", encoding="utf-8")
    assert "compared    1 of 3 pairs; the others are at infinite distance\n" in run("--channel", str(file)).output


def test_the_columns_of_a_channel_may_come_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("output,Input,probability\nx,1,0.5\ny,1,0.5\nx,2,1\n", encoding="utf-8")
    assert read_channel(tmp_path / "m.csv") == [("1", "x", 0.5), ("1", "y", 0.5), ("2", "x", 1.0)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no table"),
        ("input,output,probability\n", "has no table"),
        ("input,output,probability\na,x\n", "line 2 of m.csv has 2 columns"),
        ("input,output,probability\na,x,1\na,x,1\nb,x,1\n", "has two probabilities"),
        (",x\na,one\n", "line 2 of m.csv has something that is not a number"),
        (",x,y\na,1\n", "line 2 of m.csv has 1 numbers for 2 columns"),
        (",x,x\na,1,0\n", "two columns of m.csv are called 'x'"),
        (",x\na,1\na,1\n", "two lines of m.csv are called 'a'"),
        (",x\na,nan\nb,1\n", "of input 'a' is negative or not a number"),
        (",x\na,0.5\nb,1\n", "input 'a' sum to 0.5"),
        (",x\na,1\n", "at least two inputs"),
        (',x\n"a,1\n', "is not valid CSV"),
    ],
)
def test_bad_channel_files(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text(text, encoding="utf-8")
    with pytest.raises(dw.InvalidValue) as caught:
        dw.audit.channel(read_channel(tmp_path / "m.csv"), "hamming")
    assert message in str(caught.value)


def test_distances_of_all_inputs_have_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text(",a,b\na,0,1\nb,1,0\n", encoding="utf-8")
    assert read_distances(tmp_path / "d.csv", ["a", "b"])("a", "b") == 1
    with pytest.raises(dw.InvalidValue, match="has no line or no column for input 'c': add it"):
        read_distances(tmp_path / "d.csv", ["a", "c"])


def test_bad_use(tmp_path: Path) -> None:
    free = ("--alphabet", "ab", "-e", "1")
    sampled = (*free, "--statistical")
    assert "--length is missing" in told(*free)
    assert "--epsilon is missing" in told("--alphabet", "ab", "--length", "3")
    assert "leave out --word" in told(*free, "--length", "2", "--word", "ab")
    assert "which words are to be sampled?" in told(*sampled)
    assert "give both --word and --neighbour" in told(*sampled, "--word", "ab")
    assert "leave out --length" in told(*sampled, "--word", "ab", "--neighbour", "aa", "--length", "2")
    assert "--neighbour is not in the language" in told(*sampled, "--word", "ab", "--neighbour", "xx")
    assert "--epsilon must be a finite number" in told("--channel", "m.csv", "-e", "nan")
    assert "the two words are the same" in told(*sampled, "--word", "ab", "--neighbour", "ab")
    assert "draws must be a whole number" in told(*sampled, "--length", "3", "--draws", "0")
    assert "--confidence is between 0 and 1" in told(*sampled, "--length", "3", "--confidence", "1")
    assert "belongs to a --channel" in told(*sampled, "--length", "3", "--distance", "hamming")
    assert "belongs to a --command" in told(*sampled, "--length", "3", "--timeout", "5")
    assert "m.csv cannot be read" in told("--channel", str(tmp_path / "m.csv"))
    assert "leave out --alphabet" in told("--channel", "m.csv", "--alphabet", "ab")
    command = ("--word", "a", "--neighbour", "b", "--command")
    assert "there is no program" in told(*command, "no-such-program-here")
    assert "the command is empty" in told(*command, " ")
    assert "is not closed" in told(*command, "cat 'x")
    assert "cannot have pipes or redirections: write sh -c" in told(*command, "cat | rev")
    assert "cannot be started" in told(*command, str(tmp_path))
    assert "leave out --mechanism" in told(*command, "cat", "--mechanism", "online")
    assert "leave out --walls" in told(*command, "cat", "--walls", "1,1")
    assert "ends in .svg or .png" in told(*free, "--length", "2", "--plot", str(tmp_path / "x.dot"))


def test_a_picture_is_drawn(tmp_path: Path) -> None:
    exact, sampled = tmp_path / "exact.svg", tmp_path / "sampled.png"
    assert run("--alphabet", "ab", "--length", "3", "-e", "1", "--literal", "--plot", str(exact)).return_value == 1
    assert b"claimed" in exact.read_bytes()
    options = ("--alphabet", "ab", "--length", "30", "-e", "1", "--statistical", "--draws", "400")
    assert run(*options, "--plot", str(sampled)).return_value == 0
    assert sampled.read_bytes().startswith(b"\x89PNG")
