"""--mechanism best, and what accuracy shows about the choice."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dpwords as dw
from commands import refused, run
from dpwords import accuracy
from dpwords.cli import cli
from dpwords.mechanisms.choice import offers

GRID = ("--system", "grid:4x4", "-e", "0.5")  # tight is best for 2 moves, online for 3 and 5


def test_the_best_mechanism_is_the_default_on_systems_and_is_named() -> None:
    for more in ((), ("--mechanism", "best")):
        done = run("release", "EESSE", *GRID, *more)
        assert done.returncode == 0
        assert len(done.stdout) == 6
        found = "online for words of length 5 (expected distance: online 2.84, tight 2.85)"
        assert done.stderr == f"dpwords: best mechanism: {found}\n"
    done = run("release", *GRID, stdin="EESSE\nES\nESE\nSE\n")
    assert [len(line) for line in done.stdout.split()] == [5, 2, 3, 2]
    assert done.stderr == "dpwords: best mechanism: tight for words of length 2; online for words of length 3, 5\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("EESS", *GRID, "--mechanism", "online"),
        ("EESS", *GRID, "--mechanism", "exponential"),
        ("EESS", *GRID, "--utility", "linear"),
        ("EESS", *GRID, "--calibration", "textbook"),
        ("abab", "--alphabet", "ab", "-e", "2"),
        ("abab", "--alphabet", "ab", "-e", "2", "--mechanism", "best"),
        ("abab", "--alphabet", "ab", "-e", "5", "--mechanism", "best", "--edits", "all"),
    ],
)
def test_where_nothing_is_compared_nothing_is_said(arguments: tuple[str, ...]) -> None:
    done = run("release", *arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_textbook_rate_is_named_where_nothing_better_is_proven() -> None:
    """10 states from anywhere on the 5×5 grid at ε = 1."""
    run_of_states = "0,0 0,1 0,2 0,3 0,4 1,4 2,4 3,4 4,4 4,3"
    anywhere = ("--system", "grid:5x5@any", "--words", "states", "-e", "1", "--certificate-time", "0")
    done = run("release", run_of_states, *anywhere)
    assert done.stderr.startswith("dpwords: best mechanism: tight (at the textbook rate) for words of length 10 (")
    assert re.search(r"\(expected distance: tight [\d.]+, online [\d.]+\)\n$", done.stderr)
    done = run("release", run_of_states, *anywhere, "--mechanism", "exponential")
    assert done.stderr == "dpwords: the textbook rate, half of ε, is in force for words of length 10\n"


def test_an_audit_says_what_is_in_force() -> None:
    done = run("audit", "--system", "grid:3x3", "--length", "3", "-e", "2", "--mechanism", "exponential")
    assert re.search(r"^in force    exponential mechanism with a certificate .*\(listed, balanced\)", done.stdout, re.M)
    done = run("audit", "--system", "grid:3x3", "--length", "3", "-e", "2", "--calibration", "textbook")
    assert "in force    exponential mechanism at the textbook rate: half of ε" in done.stdout
    assert "in force" not in run("audit", "--alphabet", "ab", "--length", "3", "-e", "2", "--literal").stdout


def test_best_leaves_no_utility_to_choose() -> None:
    for option in (("--utility", "linear"), ("--calibration", "textbook"), ("--alpha", "1")):
        assert f"leave out {option[0]}" in refused("release", "EESS", *GRID, "--mechanism", "best", *option)


def test_best_of_a_list_under_levenshtein_distance(tmp_path: Path) -> None:
    file = tmp_path / "cities.txt"
    file.write_text("basel\nberlin\nbern\nbonn\n", encoding="utf-8")
    options = ("--lexicon", str(file), "--edits", "all", "--mechanism", "best", "-e")
    assert run("release", "bern", *options, "90").stdout == "bern\n"
    assert run("audit", "--length", "6", *options, "2").returncode == 0


def test_certificates_are_kept_for_the_candidate_that_has_them(tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    for _ in range(2):
        assert run("release", "EES", *GRID, "--certificates", str(file)).returncode == 0
    (kept,) = json.loads(file.read_text("utf-8"))["certificates"]
    assert kept["length"] == 3


def test_audit_of_the_best() -> None:
    done = run("audit", "--system", "grid:3x3", "--length", "3", "-e", "2", "--mechanism", "best")
    assert (done.returncode, "the claim holds" in done.stdout) == (0, True)


def cells(row: str) -> list[tuple[float, str, bool]]:
    """Each cell of a row: the expected distance, the probability as it is written, and whether it is marked."""
    return [
        (float(mean), proportion, mark == "*")
        for mean, proportion, mark in re.findall(r"([\d.]+) \(([^)]+)\)(\*?)", row)
    ]


def test_accuracy_marks_the_best_and_shows_probabilities() -> None:
    done = run("accuracy", "--system", "grid:4x4", "--length", "5", "-e", "0.5,4", "--at-most", "2")
    title, header, small, large, legend, public = done.stdout.splitlines()
    assert title == "expected distance for words of length 5, k = 1 (and probability of at most 2 changes)"
    assert re.split("  +", header)[2:4] == ["tight", "online"]
    assert [mark for _, _, mark in cells(small)] == [False, True, False, False]
    assert [mark for _, _, mark in cells(large)] == [True, False, False, False]
    law = dw.Online(dw.GridWorld(4, 4), 0.5).distance_distribution(length=5)
    assert cells(small)[1][1] == f"{sum(law[:3]):.1%}"
    assert legend == "(* the best of the row; at a given ε it is what --mechanism best takes)"
    assert public.startswith("(averaged over words drawn uniformly")


def test_accuracy_marks_the_best_on_free_words_too() -> None:
    done = run("accuracy", "--alphabet", "ab", "--length", "3", "-e", "1,4", "--target-distance", "0.5")
    _title, _header, small, large, _aim, least, legend = done.stdout.splitlines()
    for row in (small, large):
        assert [mark for _, _, mark in cells(row)] == [True, False, False]
    assert [cell.endswith("*") for cell in least.split()] == [True, False, False]
    assert legend == "(* the best of the row)"


def test_edits_made_are_not_compared() -> None:
    done = run("accuracy", "--alphabet", "ab", "--length", "3", "-e", "4", "--edits", "all")
    assert (done.returncode, "*" in done.stdout) == (0, False)


def test_accuracy_finds_epsilon_for_a_probability() -> None:
    options = ("--system", "grid:3x3", "--length", "4", "--at-most", "0", "--target-probability", "0.8")
    done = run("accuracy", *options)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "least ε for a probability of 0.8 of at most 0 changes, for words of length 4, k = 1"
    assert lines[1].split()[:2] == ["ε", "tight"]  # the only header, of the row below it
    found = [float(cell.rstrip("*")) for cell in lines[2].split()]
    assert lines[2].split()[found.index(min(found))].endswith("*")
    for make, epsilon in zip(offers(dw.GridWorld(3, 3), 1).values(), found, strict=True):
        assert make(epsilon * 1.001).distance_distribution(length=4)[0] >= 0.8
        assert make(epsilon * 0.997).distance_distribution(length=4)[0] < 0.8
    both = run("accuracy", *options, "--target-distance", "0.1").stdout.splitlines()
    assert both[0].startswith("least ε for an expected distance of 0.1 and a probability of 0.8 of at most 0 changes, ")
    assert all(float(b.rstrip("*")) >= a for a, b in zip(found, both[2].split(), strict=True))


def test_accuracy_refuses_bad_targets_and_writes_nothing() -> None:
    options = ("accuracy", "--alphabet", "ab", "--length", "4")
    assert "between 0 and 1" in refused(*options, "--target-probability", "1")
    assert "pass for example --target-distance 1" in refused(*options, "--target-distance", "0")
    assert "--at-most must be" in refused(*options, "-e", "1", "--at-most", "-1")
    assert "--epsilon must be" in refused(*options, "-e", "1,0")  # although the first row could be computed
    assert "k is at most" in refused(*options, "-e", "1", "-k", "5")


def test_rows_are_shown_as_soon_as_they_are_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    figures = accuracy.figures

    def watched(make: Any, epsilon: float, length: int, at_most: int) -> accuracy.Figures:
        written.append(sys.stdout.buffer.getvalue().decode())  # type: ignore[attr-defined]
        return figures(make, epsilon, length, at_most)

    monkeypatch.setattr(accuracy, "figures", watched)
    done = CliRunner().invoke(cli, ["accuracy", "--alphabet", "ab", "--length", "4", "-e", "1,2,3"])
    assert done.exit_code == 0
    assert [text.count("\n") for text in written] == [0, 0, 0, 3, 3, 3, 4, 4, 4]  # title, header and rows
    assert done.stdout.startswith(written[-1])
