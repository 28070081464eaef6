"""What the command line tells beyond its results: what is not protected, what a promise is worth, what was meant."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

import dpwords as dw
from commands import refused, run


def told(folder: Path, *arguments: str) -> str:
    """What a command that succeeds writes to standard error."""
    with chdir(folder):
        done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stderr


def refusal(folder: Path, *arguments: str) -> str:
    with chdir(folder):
        return refused(*arguments)


def test_columns_that_are_copied_are_named(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text("id,m1,m2,m3,sex\n1,a,b,a,f\n2,b,b,a,m\n", encoding="utf-8")
    release = ("release", "--input", "wide.csv", "--alphabet", "ab", "-e", "3", "--output", "out.csv")
    said = told(tmp_path, *release, "--columns", "m1:m3")
    assert "each word is in 3 columns, from m1 to m3\n" in said
    assert "copied as they are, and not protected: id, sex (--drop-others leaves out" in said
    assert "out.csv is replaced" not in said
    said = told(tmp_path, *release, "--columns", "m1", "--by", "id")
    assert "each word is in one column, m1\n" in said
    assert "not protected: id, m2, m3, sex (" in said
    assert "2 people have one word each, which spends ε = 3\n" in said
    assert "out.csv is replaced: if it was published, its words have spent ε before\n" in said
    said = told(tmp_path, *release, "--columns", "m1:m3", "--by", "id", "--drop-others")
    assert "not protected: id\n" in said


def test_columns_of_an_event_log_that_are_copied(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("case,act,who\n7,a,x\n7,b,x\n8,a,y\n", encoding="utf-8")
    where = ("--case", "case", "--symbol", "act", "--by", "who")
    said = told(tmp_path, "release", "--input", "log.csv", *where, "--alphabet", "ab", "-e", "3", "--output", "o.csv")
    assert "not protected: case\n" in said
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").startswith("case,act\n")


def test_a_large_sum_of_a_person_and_thin_promises_at_other_lengths_are_told(tmp_path: Path) -> None:
    lines = ["who,word", *["ann,ababababababababababa"] * 4, "bob,a"]
    (tmp_path / "words.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("--column", "word", "--by", "who", "--alphabet", "ab", "-e", "4", "--output", "o.csv")
    said = told(tmp_path, "release", "--input", "words.csv", *options)
    assert "warning: ε = 16 in all promises next to nothing about what the words of a person have in common" in said
    assert "words of length 21, ε = 4, k = 1 (most words have this length)\n" in said
    assert "warning for words of length 1: ε is so large that most words come out as they went in" in said


def test_a_promise_about_no_two_words_is_told_for_single_words_too(tmp_path: Path) -> None:
    """Plans from corner to corner with as many moves differ in two moves at least."""
    plan = ("release", "EESS", "--system", "grid:3x3", "--goal", "2,2", "-e", "1")
    said = told(tmp_path, *plan)
    assert "warning: no two of these words differ in fewer than 2 positions" in said
    assert "the loss 2 of the nearest two" in said
    assert "warning" not in told(
        tmp_path, "release", "EESS", "--system", "grid:3x3", "--goal", "2,2", "-e", "1", "-k", "2"
    )
    assert told(tmp_path, "release", "EESS", "--system", "grid:3x3", "--goal", "2,2", "-e", "1", "-q") == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("release ab --alphabet ab --epsilom 3", "there is no such option: did you mean --epsilon?"),
        ("release ab --alphabet school,work,home -e 3", "put the names into a file, one on each line, and write @file"),
        ("release EESS --system grid:3x3 -e 3 --rule contains:2,0", "word 1 breaks the rule contains:2,0: correct it"),
        ("release --input w.csv --columns m1:m12 --alphabet ab -e 3", "there is no column m12 for an end of the range"),
        (
            "release --input w.csv --columns m1:month2 --alphabet ab -e 3",
            "see that the first line of w.csv has the names",
        ),
        ("release --input log.xes --alphabet ab -e 3", "convert or rename it"),
    ],
)
def test_messages_say_what_was_meant(tmp_path: Path, arguments: str, message: str) -> None:
    (tmp_path / "w.csv").write_text("m1,month_2\na,b\n", encoding="utf-8")
    assert message in refusal(tmp_path, *arguments.split())


def test_patterns_over_states_on_words_of_moves(tmp_path: Path) -> None:
    assert "breaks the rule" in refusal(
        tmp_path, "release", "SSEE", "--system", "grid:3x3", "-e", "9", "--rule", "re:.* 0,1 .*"
    )
    told(tmp_path, "release", "EESS", "--system", "grid:3x3", "-e", "9", "--rule", "re:.* 0,2 .*")


def test_a_target_that_any_epsilon_reaches_is_told() -> None:
    done = run("accuracy", "--alphabet", "abc", "--length", "6", "--target-distance", "50")
    assert done.stdout.splitlines()[-2].split() == ["any", "any", "any"]
    assert "even an output that does not depend on the word" in done.stdout


def test_long_proofs_are_announced_in_a_pipe(tmp_path: Path) -> None:
    """Before they begin, also if a ledger is charged: afterwards, the certifier expects no more of them."""
    table, word = tmp_path / "in.tsv", " ".join(f"0,{step}" for step in range(1, 8)) + " 1,7 2,7"
    table.write_text(f"p\tw\n1\t{word}\n2\t{word} 3,7\n", encoding="utf-8")
    least, most = dw.Exponential(dw.GridWorld(8, 8).by_states(), 6).certificate.seconds(9)
    assert 2 < least < most
    line = f"dpwords: proving certificates for words of 2 lengths: the first takes about {least:.0f} to {most:.0f} s\n"
    arguments = ["--input", str(table), "--column", "w", "--system", "grid:8x8", "--words", "states", "-e", "6"]
    arguments += ["--by", "p", "--ledger", str(tmp_path / "ledger.db")]
    assert line in told(tmp_path, "release", *arguments)
    assert told(tmp_path, "release", *arguments, "-q") == ""
