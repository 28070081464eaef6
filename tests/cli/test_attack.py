"""dpwords attack: what an adversary can guess, as a table, a file and a picture."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import pytest

import dpwords as dw
from commands import refused, run

FREE = ("attack", "--alphabet", "ab", "--length", "4")
CHAIN = "state,symbol,probability\n,a,0.9\n,b,0.1\na,a,0.2\na,b,0.8\nb,a,0.5\nb,b,0.5\n"


def test_the_table_of_free_words() -> None:
    """Positions are guessed with e^c/(e^c + 3), where c is ε, or ε/2 by the textbook; 20 positions."""
    done = run("attack", "--alphabet", "name:dna", "--length", "20", "--epsilon", "3,1")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "what is guessed of words of length 20, if all words are equally likely, k = 1"
    position = math.exp(3) / (math.exp(3) + 3)
    assert lines[2].split()[:3] == ["3", "tight", "(default)"]
    assert f"{20 * position:.4g} of 20" in lines[2]
    assert f"{100 * position**20:.3g}%" in lines[2]
    assert lines[2].endswith("of 100 such words, at most 7 are guessed")
    half = math.exp(1.5) / (math.exp(1.5) + 3)
    assert f"{20 * half:.4g} of 20" in lines[3]
    assert lines[5].startswith("1")
    assert lines[1].endswith("in words, if all words are equally likely")
    assert lines[-2].startswith("(without any release, if all words are equally likely: 5 of 20 positions")
    assert lines[-1].endswith("guesses more, as whoever has the file can: dpwords attack --released FILE)")


def test_files_have_the_figures(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("g.json", "g.csv")]
    for file in files:
        done = run(*FREE, "-e", "1,2", "--releases", "1,3", "--mechanism", "online", "--output", str(file))
        assert done.returncode == 0
        assert "releases" in done.stdout
    written = json.loads(files[0].read_text(encoding="utf-8"))
    rows = list(csv.DictReader(files[1].read_text(encoding="utf-8").splitlines()))
    assert written["without"] == {"hits": 2.0, "whole": 1 / 16, "hits_by_place": [0.5] * 4}
    for row, line in zip(written["rows"], rows, strict=True):
        expected = dw.attack.guess(dw.Online(dw.Words("ab"), row["epsilon"]), 4, releases=row["releases"])
        assert (row["whole"], row["hits"], row["mechanism"]) == (expected.whole, expected.hits, "online")
        assert tuple(row["hits_by_place"]) == expected.hits_by_place
        assert (float(line["whole"]), line["in_words"]) == (expected.whole, expected.of_100)


def test_a_chain_from_a_file(tmp_path: Path) -> None:
    table = tmp_path / "chain.csv"
    table.write_text(CHAIN, encoding="utf-8")
    rows: dict[str, dict[str, float]] = {}
    for line in CHAIN.splitlines()[1:]:
        state, symbol, proportion = line.split(",")
        rows.setdefault(state, {})[symbol] = float(proportion)
    document = tmp_path / "chain.json"
    document.write_text(json.dumps(rows), encoding="utf-8")
    prior = {state or None: row for state, row in rows.items()}
    expected = dw.attack.guess(dw.Exponential(dw.Words("ab"), 2), 4, prior)
    for file in (table, document):
        done = run(*FREE, "-e", "2", "--prior", str(file), "--mechanism", "exponential")
        assert f"{expected.hits:.4g} of 4" in done.stdout
        assert expected.of_100.partition(" as a whole")[0] in done.stdout
        assert "if words come from the given chain" in done.stdout
        assert "--released" not in done.stdout


def test_a_chain_of_cells(tmp_path: Path) -> None:
    file = tmp_path / "chain.json"
    rows = {"0,0": {"E": 1}, "0,1": {"W": 0.25, "S": 0.75}, "1,1": {"N": 0.5, "W": 0.5}, "1,0": {"E": 1.0}}
    file.write_text(json.dumps(rows), encoding="utf-8")
    grid = ("attack", "--system", "grid:2x2", "--length", "3", "-e", "2", "--mechanism", "online")
    done = run(*grid, "--prior", str(file))
    expected = "given chain: 2.13 of 3 positions"  # 1 for E, 0.75 for S, 0.375 for N or W, rounded up
    assert expected in done.stdout
    file.write_text(json.dumps(rows | {"7,7": {"E": 1}}), encoding="utf-8")
    assert "state 5: the language has no such state" in refused(*grid, "--prior", str(file))


def test_a_predictable_population() -> None:
    """Without any release the usual word is guessed, in 0.9⁴ = 65.61% of the cases."""
    done = run(*FREE, "-e", "2", "--prior", "predictable", "--mechanism", "exponential")
    assert "if words are predictable (one usual next symbol, in 9 of 10 cases)" in done.stdout
    assert "of 100 such words, at most 66 are guessed)" in done.stdout


def test_other_mechanisms() -> None:
    assert "report of symbols" in run(*FREE, "-e", "2", "--report", "symbols").stdout
    literal = run(*FREE, "-e", "2", "--mechanism", "literal").stdout
    assert dw.attack.guess(dw.PaperLiteral(dw.Words("ab"), 2), 4).of_100.partition(" as a whole")[0] in literal
    edits = run("attack", "--alphabet", "a-z", "--length", "9", "-e", "6", "--edits", "all", "--releases", "2").stdout
    assert "≤ alone: nothing but a bound is known" in edits
    assert edits.endswith("(somebody who knows which words are usual guesses more: name such a --prior)\n")
    grid = ("attack", "--system", "grid:6x6", "--length", "9", "-e", "2", "--samples", "100")
    assert "too large" not in run(*grid).stdout
    large = run(*grid, "--releases", "2").stdout
    assert "too large" in large
    assert "from 100 simulated words" in large


def test_all_figures_too_large_is_an_error() -> None:
    grid = ("attack", "--system", "grid:9x9", "--length", "12", "-e", "2", "--mechanism")
    assert "at most 20000 symbols" in refused(*FREE[:3], "--length", "30000", "-e", "2")
    assert "at most 4096 words of one length" in refused(*grid, "literal")


def test_the_curves(tmp_path: Path) -> None:
    picture = tmp_path / "guessed.svg"
    assert run(*FREE, "-e", "1,2,4", "--plot", str(picture)).returncode == 0
    assert b"<svg" in picture.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--length", "0", "-e", "1"], "--length must be a whole number, 1 or more"),
        (["-e", "1,x"], "--epsilon takes numbers separated by commas"),
        (["-e", "0"], "--epsilon must be a finite number above 0"),
        ([], "--epsilon is missing"),
        (["-e", "1", "--releases", "0"], "--releases must be a whole number, 1 or more"),
        (["-e", "1", "--releases", "1;2"], "--releases takes whole numbers separated by commas"),
        (["-e", "1", "--mechanism", "fancy"], "--mechanism takes one of all, best"),
        (["-e", "1", "--prior", "popular"], "--prior takes 'uniform', 'predictable', or a file name"),
        (["-e", "1", "--prior", "none.csv"], "none.csv cannot be read"),
        (["-e", "1", "--format", "csv"], "only --released reads words from a file: leave out --format"),
        (["-e", "1", "--samples", "5"], "samples must be a whole number, 100 or more"),
        (["-e", "1", "--output", "x.txt"], "--output takes a file name that ends in .json or .csv"),
        (["-e", "1", "--plot", "x.dot"], "--plot takes a file name that ends in .svg or .png"),
        (["-e", "1", "--mechanism", "literal", "--edits", "all"], "leave out --edits all"),
        (["-e", "1", "--report", "symbols", "-k", "2"], "leave out -k"),
        (["-e", "1", "-k", "5"], "k is at most the word's length"),
    ],
)
def test_bad_use_is_one_line(arguments: list[str], reason: str) -> None:
    assert reason in refused(*FREE, *arguments)


def test_a_length_beyond_the_lexicon(tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("bern\nbonn\n", encoding="utf-8")
    lexicon = ("attack", "--lexicon", str(words), "-e", "1", "--length")
    assert "no word of length 9" in refused(*lexicon, "9")
    assert "of 100 such words" in run(*lexicon, "4").stdout


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "needs the header state,symbol,probability"),
        ("state,symbol,probability\n", "has no steps"),
        (CHAIN + "b,b\n", "line 8 has 2 fields instead of 3"),
        (CHAIN + "b,b,x\n", "the probability is no number"),
        (CHAIN + "b,b,0.5\n", "this step is there twice"),
        (CHAIN.replace("a,a,0.2", "a,c,0.2"), "the alphabet has no such symbol"),
        (CHAIN.replace("a,a,0.2", "a,a,nan"), "numbers from 0 to 1"),
        (CHAIN.replace("a,a,0.2", "a,a,0.1"), "sums to 0.9"),
        (CHAIN.replace("b,a,0.5\nb,b,0.5\n", ""), "the row of state b is missing"),
    ],
)
def test_chains_that_do_not_fit_are_refused(content: str, reason: str, tmp_path: Path) -> None:
    file = tmp_path / "chain.csv"
    file.write_text(content, encoding="utf-8")
    assert reason in refused(*FREE, "-e", "1", "--prior", str(file))
