"""dpwords describe: what it says is what the options of the release mean, and needs neither options nor true words."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

import dpwords as dw
from cli.test_estimate import release
from commands import refused, run

LETTERS = ("--alphabet", "acgt")
GRID = ("--system", "grid:3x3")


def described(path: Path, *options: str) -> str:
    """The text on one line."""
    done = run("describe", str(path), *options)
    assert done.returncode == 0, done.stderr
    return " ".join(done.stdout.split())


def table(path: Path, word: str = "gattaca", number: int = 40) -> Path:
    """So many people with two words each."""
    rows = [f"{person},{word}" for person in range(number) for _ in range(2)]
    path.write_text("\n".join(["who,w", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return table(tmp_path / "in.csv")


def test_the_promise_is_in_numbers_that_follow_from_epsilon(source: Path, tmp_path: Path) -> None:
    """e^3 = 20.1, e^3/(1 + e^3) = 95.3 %, and 7 positions with 3 each are 21."""
    target = release(source, tmp_path / "out.csv", "--column", "w", *LETTERS, "-e", "3")
    source.unlink()
    text = described(target)
    assert text.startswith(f"80 words were released under metric differential privacy with dpwords {dw.__version__}.")
    assert "a sequence over a public alphabet of 4 symbols" in text
    assert "drawn by the exponential mechanism, with probabilities that fall exponentially with the Hamming" in text
    assert f"at most e^3 = {math.exp(3):.1f} times as likely" in text
    assert f"{math.ceil(1000 * math.exp(3) / (1 + math.exp(3))) / 10}% sure" in text
    assert "whole words of length 7" in text
    assert "at most e^21 times as likely" in text
    kept = (math.exp(3) / (math.exp(3) + 3)) ** 7
    assert f"unchanged with probability {kept:.1%}" in text
    assert "The length of a word is not protected" in text
    assert "can be estimated by inversion" in text
    assert "did not record whose words they are" in text
    assert f"version {dw.__version__}; Austin Jones, Kevin Leahy and Matthew Hale: Towards Differential" in text


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--by", "who", "-e", "2"), ['(column "who") spends ε = 2: whoever has m words is promised m·2']),
        (
            ("--by", "who", "--budget", "5"),
            [
                '(column "who") shared a budget of ε = 5 equally, and each word had ε = 2.5.',
                "e^5 of each other",
                "e^35.",
            ],
        ),
        (
            ("--by", "who", "--budget", "5", "--split", "first", "-e", "2"),
            ["At most 2 words of each person", "each with ε = 2, within a budget of 5", "factor e^4 of", "e^28."],
        ),
        (("-e", "2", "-k", "3"), ["e^(2·ceil(d/3))", "differ in at most 3 positions", "at most e^6 = 403 times"]),
    ],
    ids=str,
)
def test_what_it_means_for_a_person(options: tuple[str, ...], said: list[str], source: Path, tmp_path: Path) -> None:
    target = release(source, tmp_path / "out.parquet", "--column", "w", *LETTERS, *options)
    text = described(target)
    for each in said:
        assert each in text


def test_words_with_different_epsilons_are_described_and_not_estimated(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text(encoding="utf-8") + "99,gattaca\n", encoding="utf-8")
    target = release(source, tmp_path / "out.csv", "--column", "w", *LETTERS, "--by", "who", "--budget", "5")
    text = described(target)
    assert "The promise about each word is at most ε = 5" in text
    assert "and each of m words had ε divided by m" in text
    assert "cannot be estimated by dpwords: the words have different ε" in text
    assert "--split first" not in text  # it is for whoever releases, and not for the paper
    assert "--split first" in run("describe", str(target)).stderr
    assert "unchanged" not in text  # that depends on the ε of the word


def test_other_mechanisms(tmp_path: Path) -> None:
    source = table(tmp_path / "in.csv", "ESWN")
    report = described(release(source, tmp_path / "a.csv", "--column", "w", *GRID, "--report", "visits", "-e", "2"))
    assert report.startswith("80 answers about private words were released under differential privacy")
    assert "Any two words are neighbours" in report
    assert "can be estimated by inversion of the known probabilities of answers" in report
    plans = described(release(source, tmp_path / "b.csv", "--column", "w", *GRID, "--protect", "states", "-e", "2"))
    assert "a run of a public system of 9 states, written as the moves" in plans
    assert "about the states that a run enters, and not about its moves" in plans
    assert "by a model of the population on the public system, fitted by expectation–maximisation: a homogen" in plans
    assert "or a chain with two steps of memory, whichever explains held-out releases best" in plans
    ruled = ("--rule", "contains:1,1", "--mechanism", "projected")
    onto = described(release(source, tmp_path / "c.csv", "--column", "w", *GRID, *ruled, "-e", "2"))
    assert "which obeys public rules" in onto
    assert "replaced by one of the nearest words of the public language" in onto
    assert "Proportions of a population cannot be estimated from releases that were projected onto a language." in onto
    assert "--mechanism online" in run("describe", str(tmp_path / "c.csv")).stderr
    letters = table(tmp_path / "d.csv")
    edits = described(release(letters, tmp_path / "e.csv", "--column", "w", *LETTERS, "--edits", "all", "-e", "6"))
    assert "by an edit channel, which inserts, deletes and substitutes symbols at random" in edits
    assert "under Levenshtein distance" in edits
    assert "not protected" not in edits
    online = described(
        release(letters, tmp_path / "f.csv", "--column", "w", *LETTERS, "--mechanism", "online", "-e", "6")
    )
    assert "symbol by symbol" in online


def test_where_no_two_words_are_neighbours(tmp_path: Path) -> None:
    """Words of the lexicon differ in two positions or more: 2·4 = 8 is the loss that counts."""
    (tmp_path / "lexicon.txt").write_text("aab\nbba\n", encoding="utf-8")
    source = table(tmp_path / "in.csv", "aab")
    target = release(
        source, tmp_path / "out.csv", "--column", "w", "--lexicon", str(tmp_path / "lexicon.txt"), "-e", "4"
    )
    text = described(target)
    assert "No two words of length 3 are that near: the nearest two differ in 3 positions" in text
    assert f"at most e^12 = {math.exp(12):,.0f} times as likely" in text
    assert "one of a public list of sequences over 2 symbols" in text


def test_forms(source: Path, tmp_path: Path) -> None:
    source.write_text(source.read_text(encoding="utf-8").replace("who,w", "who_is,w"), encoding="utf-8")
    target = release(source, tmp_path / "out.csv", "--column", "w", *LETTERS, "-e", "3", "--by", "who_is")
    plain = run("describe", str(target)).stdout
    assert max(map(len, plain.splitlines())) <= 79
    assert plain.count("\n\n") == 4  # five paragraphs
    latex = run("describe", str(target), "--format", "tex").stdout
    assert "who\\_is" in latex
    assert "$\\varepsilon$" in latex
    assert "$e^{3\\cdot d}$" in latex
    assert "95.3\\%" in latex
    outside = re.sub(r"\$[^$]*\$", "", latex)  # formulas
    assert not re.search(r"(?<!\\)[%&#_^~]", outside)
    marked = run("describe", str(target), "--format", "md").stdout
    assert "who\\_is" in marked
    assert len(marked.splitlines()) == 9  # five paragraphs, unwrapped
    receipt = run("describe", f"{target}.receipt.json").stdout
    assert receipt == plain


def test_without_a_receipt_the_refusals_are_those_of_estimates(source: Path, tmp_path: Path) -> None:
    for path in (source, tmp_path / "absent.csv"):
        described, estimated = (
            refused("describe", str(path)),
            refused("estimate", "--input", str(path), "--question", "dfg"),
        )
        assert described == estimated
    text = run("describe", str(source), "--column", "w", *LETTERS, "-e", "3").stdout
    assert text.startswith("The words were released under metric differential privacy")
    assert "FILE is missing" in refused("describe")
    assert "--format takes one of text, md, tex" in refused("describe", str(source), "--format", "html")


def test_a_receipt_of_another_mechanism_is_refused(source: Path, tmp_path: Path) -> None:
    target = release(source, tmp_path / "out.csv", "--column", "w", *LETTERS, "-e", "3")
    place = Path(f"{target}.receipt.json")
    receipt = json.loads(place.read_text(encoding="utf-8"))
    place.write_text(json.dumps({**receipt, "epsilon": 9.0}), encoding="utf-8")
    assert "the receipt says that ε was 9.0" in refused("describe", str(target))
