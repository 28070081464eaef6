"""dpwords release --report and dpwords audit --report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dpwords as dw
from commands import refused, run
from dpwords.frames import receipts
from dpwords.mechanisms import choice
from dpwords.spaces import questions

CELLS = ("--system", "grid:15x15", "--words", "states")


def rows_of(path: Path) -> list[Any]:
    """The rows of a file of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_what_can_be_asked_is_what_can_be_chosen() -> None:
    assert choice.QUESTIONS == questions.QUESTIONS


def test_each_word_has_a_line_of_named_items() -> None:
    done = run("release", "aaa", "b", "--report", "symbols", "--alphabet", "abc", "-e", "200")
    assert (done.returncode, done.stdout) == (0, "a\nb\n")
    assert "is answered by naming 1 of 3 symbols" in done.stderr
    done = run("release", "E", "S", "--report", "transitions", "--system", "grid:2x2", "-e", "200", "-q")
    assert (done.stdout, done.stderr) == ("0,0>0,1\n0,0>1,0\n", "")
    few = run("release", "abc", "--report", "symbols", "--alphabet", "a-f", "-e", "0.5").stdout.split()
    assert len(few) == 2
    assert few == sorted(few)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_file_of_runs_becomes_a_file_of_answers(tmp_path: Path, suffix: str) -> None:
    source, target = tmp_path / "runs.jsonl", tmp_path / f"answers.{suffix}"
    lines = [{"who": number, "run": [[0, 1], [0, 2], [1, 2]]} for number in range(30)]
    source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    where = ("--input", str(source), "--column", "run", "--output", str(target), "--id", "who")
    key = tmp_path / "key"
    key.write_text(bytes(range(32)).hex(), encoding="utf-8")
    key.chmod(0o600)
    done = run("release", "--report", "visits", *where, *CELLS, "-e", "4", "--key-file", str(key))
    assert done.returncode == 0
    assert (
        "any two words, whatever their lengths, give any output with probabilities within a factor e^4" in done.stderr
    )
    found = pq.read_table(target).to_pylist() if suffix == "parquet" else rows_of(target)
    report = dw.Report(dw.GridWorld(15, 15).by_states(), 4.0, "visits")
    drawn = report.release_all([[(0, 1), (0, 2), (1, 2)]] * 30, map(str, range(30)), bytes(range(32)))
    assert [frozenset(map(tuple, row["run"])) for row in found] == drawn
    receipt = receipts.read(str(target))
    assert (receipt["mechanism"], receipt["distance"], receipt["epsilon"]) == ("Report", "any", 4.0)
    assert receipt["recipe"]["report"] == "visits"
    assert receipt["guarantee"] == str(report.guarantee)
    again = run("release", "--report", "visits", *where, *CELLS, "-e", "4", "--key-file", str(key), "--resume")
    assert "is complete: there is nothing to resume" in again.stderr


def test_nothing_of_the_words_stays_beside_an_answer(tmp_path: Path) -> None:
    """True words in columns, in JSON Lines, whose lines are otherwise copied letter by letter."""
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"id": 1, "m1": "a", "m2": "a", "z": 9}\n{"id": 2, "m1": "b", "z": 8}\n', encoding="utf-8")
    wide = ("--input", str(source), "--output", str(target), "--alphabet", "abc", "--report", "symbols")
    assert run("release", *wide, "--columns", "m*", "-e", "200").returncode == 0
    assert rows_of(target) == [
        {"id": 1, "answer": ["a"], "z": 9},
        {"id": 2, "answer": ["b"], "z": 8},
    ]


def test_events_are_answered_in_one_row_for_each_case(tmp_path: Path) -> None:
    source, target = tmp_path / "log.csv", tmp_path / "out.jsonl"
    source.write_text("c,act,t,more\n1,a,2,x\n2,b,1,y\n1,a,1,z\n", encoding="utf-8")
    log = ("--input", str(source), "--case", "c", "--symbol", "act", "--order", "t", "--alphabet", "abc")
    assert run("release", *log, "--report", "symbols", "-e", "200", "--output", str(target)).returncode == 0
    assert rows_of(target) == [{"c": "1", "act": ["a"]}, {"c": "2", "act": ["b"]}]
    flat = refused("release", *log, "--report", "symbols", "-e", "200", "--output", str(tmp_path / "out.csv"))
    assert "a column of CSV cannot hold lists" in flat
    assert "or, if it has neither words nor answers, use --drop-others" in flat


def test_text_stays_text(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("w,z\naa,1\nb,2\n", encoding="utf-8")
    where = ("--input", str(source), "--column", "w", "--output", str(target), "--alphabet", "abc")
    assert run("release", *where, "--report", "symbols", "-e", "200").returncode == 0
    assert target.read_text("utf-8") == "w,z\na,1\nb,2\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mechanism", "online"), "--report is a mechanism of its own, for whole words: leave out --mechanism"),
        (("-k", "2"), "leave out -k"),
        (("--edits", "all", "--calibration", "tight"), "leave out --edits, --calibration"),
        (("--any-word",), "leave out --any-word"),
        (("--certificates", "kept.json"), "certificates are for tight calibration"),
    ],
)
def test_other_mechanisms_are_refused_beside_it(options: tuple[str, ...], message: str) -> None:
    assert message in refused("release", "ES", "--system", "grid:3x3", "--report", "visits", "-e", "1", *options)


def test_the_audit_compares_words_of_all_lengths() -> None:
    done = run("audit", "--alphabet", "abc", "--length", "3", "-e", "1", "--report", "transitions")
    assert done.returncode == 0
    assert "36 of length 3 or less" in done.stdout  # 9 + 27, without the words of one symbol
    assert "the claim holds" in done.stdout
    assert "(distance" not in done.stdout
    both = ("--report", "symbols", "--literal")
    assert "leave out --report" in refused("audit", "--alphabet", "abc", "--length", "3", "-e", "1", *both)


def test_a_ledger_says_what_its_sums_are_for(tmp_path: Path) -> None:
    """A report hides any change, so the sums are as good as the smallest k of the other charges."""
    ledger = dw.Ledger(tmp_path / "ledger.db")
    for mechanism in (dw.Report(dw.Words("ab"), 1.0, "symbols"), dw.Exponential(dw.Words("ab"), 1.0, k=3)):
        ledger.charge({"ann": 1.0}, mechanism.guarantee)  # type: ignore[arg-type]
    done = run("ledger", "show", str(tmp_path / "ledger.db"))
    assert "the sums hold for substitutions in at most k = 3 positions" in done.stdout
