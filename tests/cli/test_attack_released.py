"""dpwords attack --released: what is guessed with a prior that is fitted to a released file."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest

import dpwords as dw
from commands import refused, run

VARIANTS = ["abcde", "abbce", "adce", "abfcde"]
ALPHABET = ("--alphabet", "a-g")
ATTACK = ("attack", "--released")


@pytest.fixture(scope="module")
def words() -> list[str]:
    """The private words: few kinds of them."""
    return [VARIANTS[kind] for kind in np.random.default_rng(1).choice(4, 800, p=[0.5, 0.2, 0.2, 0.1])]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory, words: list[str]) -> Path:
    """Their releases, with a receipt beside them."""
    folder = tmp_path_factory.mktemp("released")
    lines = ["id,word", *(f"{number},{word}" for number, word in enumerate(words))]
    (folder / "words.csv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "key.txt").write_text("5a" * 32, encoding="utf-8")  # the same releases each time
    (folder / "key.txt").chmod(0o600)
    given = ("--input", str(folder / "words.csv"), "--column", "word", "--output", str(folder / "private.csv"))
    key = ("--key-file", str(folder / "key.txt"), "--id", "id")
    assert run("release", *given, *key, *ALPHABET, "-e", "4", "--quiet").returncode == 0
    return folder / "private.csv"


def test_both_priors_and_no_other_option(file: Path, words: list[str], tmp_path: Path) -> None:
    """The uniform one guesses (e⁴/(e⁴ + 6))ⁿ of words of length n; the fitted one, what decoding hits of the truth."""
    done = run(*ATTACK, str(file), "--output", str(tmp_path / "g.json"))
    assert (done.returncode, done.stderr) == (0, "")
    title, _, uniform, fitted, without, how, error = done.stdout.splitlines()
    assert (
        title == f"what is guessed of the 800 words behind {file.name}, of length 4 to 6, through one release of each"
    )
    chance = math.exp(4) / (math.exp(4) + 6)
    expected = np.mean([chance ** len(word) for word in words])
    assert uniform.startswith("uniform prior ")
    assert f"{100 * expected:.3g}%" in uniform
    assert fitted.startswith("prior fitted to the released file ")
    assert fitted.endswith(" are guessed")
    assert without.startswith("(without any release: ")
    assert how == "(from each released word; a fitted prior believes too much, which 1,600 words drawn from it correct)"
    assert error.startswith("(standard error of the fitted row, from the sample of words alone: 0.0")
    written = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert written["lengths"] == {str(size): sum(len(word) == size for word in words) for size in (4, 5, 6)}
    released = [line.partition(",")[2] for line in file.read_text(encoding="utf-8").split()[1:]]
    mechanism = dw.Exponential(dw.Words("abcdefg"), 4)
    decoded = dw.estimate.decode(released, mechanism, dw.estimate.model(released, mechanism))
    hit = np.mean(["".join(guess) == word for guess, word in zip(decoded, words, strict=True)])
    assert hit > expected + 0.2
    assert written["rows"][1]["whole"] == pytest.approx(hit, abs=0.04)
    assert written["rows"][0]["whole"] == pytest.approx(expected)


def test_figures_as_csv_and_a_sample(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "g.csv"
    done = run(*ATTACK, str(file), "--samples", "200", "--output", str(target))
    assert "(from 200 of the released words; a fitted prior" in done.stdout
    assert "(standard error of the fitted row, from the sample of words alone: " in done.stdout
    rows = list(csv.DictReader(target.read_text(encoding="utf-8").splitlines()))
    assert [row["prior"] for row in rows] == ["uniform prior", "prior fitted to the released file"]
    assert rows[0]["assumed"] == "all words are equally likely"
    assert float(rows[1]["whole"]) > float(rows[0]["whole"])


def test_a_file_that_differs_from_its_receipt(file: Path, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("".join(f"{line}\n" for line in file.read_text(encoding="utf-8").split()[:101]), encoding="utf-8")
    receipt = file.with_name(f"{file.name}.receipt.json").read_text(encoding="utf-8")
    short.with_name("short.receipt.json").write_text(receipt, encoding="utf-8")
    done = run(*ATTACK, str(short), "--format", "csv")
    assert "the 100 words behind short" in done.stdout
    assert "the receipt is about 800 releases, and short has 100" in done.stderr


def test_rows_of_another_release_are_refused(file: Path, tmp_path: Path) -> None:
    """Two releases with different ε in one file, of which the receipt is about the first only."""
    both = tmp_path / "both.csv"
    _, *rows = file.read_text(encoding="utf-8").splitlines(keepends=True)
    both.write_text(file.read_text(encoding="utf-8") + rows[0], encoding="utf-8")
    receipt = file.with_name(f"{file.name}.receipt.json")
    both.with_name("both.csv.receipt.json").write_text(receipt.read_text(encoding="utf-8"), encoding="utf-8")
    for command in ([*ATTACK], ["describe"], ["estimate", "--question", "dfg", "--input"]):
        said = refused(*command, str(both))
        assert "the receipt of both.csv is about 800 releases, but the file has 801" in said
        assert "use each released file with its own receipt" in said


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--length", "5"], "the released words have their lengths: leave out --length"),
        (["-e", "4"], "the receipt of the file says how it was released: leave out --epsilon"),
        (["--mechanism", "all", "-k", "1"], "leave out --mechanism, -k"),
        (["--releases", "1"], "leave out --releases"),
        (["--prior", "uniform"], "the uniform one is shown beside it: leave out --prior"),
        (["--plot", "g.svg"], "there is no curve to plot: leave out --plot"),
        (["--alphabet", "abc"], "the words were released with another alphabet"),
        (["--samples", "7"], "--samples must be a whole number, 100 or more"),
        (["--output", "g.txt"], "--output takes a file name that ends in .json or .csv"),
    ],
)
def test_options_that_make_no_sense(file: Path, arguments: list[str], reason: str) -> None:
    assert reason in refused(*ATTACK, str(file), *arguments)


def test_files_that_cannot_be_attacked(file: Path, tmp_path: Path) -> None:
    assert "would be overwritten, and --released needs it" in refused(*ATTACK, str(file), "--output", str(file))
    private = file.with_name("words.csv")
    assert "put it there, or leave out --released and attack with --length, --epsilon" in refused(*ATTACK, str(private))
    described = refused(*ATTACK, str(private), *ALPHABET, "--epsilon", "3")  # is not told of a receipt
    assert "there is no receipt words.csv.receipt.json beside the file" in described
    assert "nothing.csv cannot be read" in refused(*ATTACK, str(tmp_path / "nothing.csv"))
    assert "standard input comes without a receipt" in refused(*ATTACK, "-")
    assert "--length is missing: give it, or --released" in refused("attack", "--alphabet", "ab", "-e", "1")
    for name, more, reason in (
        ("edits.csv", ("--edits", "all"), "leave out --released and pass --length with a --prior"),
        ("twos.csv", ("-k", "2"), "leave out --released and pass --length with a --prior"),
        ("answers.jsonl", ("--report", "symbols", "--drop-others"), "the file has answers of a report"),
    ):
        target = str(tmp_path / name)
        given = ("--input", str(private), "--column", "word", "--output", target, "-e", "8", "--quiet")
        assert run("release", *given, *ALPHABET, *more).returncode == 0
        assert reason in refused(*ATTACK, target)
