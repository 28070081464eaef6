"""Projected mechanisms on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpwords as dw
from commands import refused, run

RULE = ("--system", "grid:3x3", "--words", "states", "--rule", "contains:1,1")
CELLS = "0,1 1,1 1,2 2,2"


def test_the_rule_holds_and_the_summary_says_how() -> None:
    done = run("release", CELLS, *RULE, "-e", "2", "--mechanism", "projected")
    assert "1,1" in done.stdout.split()
    assert run("audit", *RULE, "--length", "4", "-e", "2", "--mechanism", "projected").stdout.endswith("holds\n")


def test_without_a_rule_there_is_nothing_to_project_onto() -> None:
    error = refused("release", "ESES", "--system", "grid:3x3", "-e", "2", "--mechanism", "projected")
    assert "--mechanism projected is for languages with rules or a goal" in error


def test_simulated_figures_are_marked() -> None:
    shown = run("accuracy", "--system", "grid:5x5", "--rule", "contains:3,3", "--length", "12", "-e", "3").stdout
    assert "projected" in shown
    assert "≈" in shown.splitlines()[2]
    assert "(≈ simulated on such words, always the same; the standard error is at most 0." in shown
    assert "≈" not in run("accuracy", *RULE, "--length", "4", "-e", "3").stdout


def test_estimates_from_its_receipt_are_refused(tmp_path: Path) -> None:
    table, private = tmp_path / "routes.csv", tmp_path / "private.csv"
    table.write_text("route\n" + f'"{CELLS}"\n' * 60, encoding="utf-8")
    promise = (*RULE, "-e", "2", "--mechanism", "projected")
    assert (
        run("release", "--input", str(table), "--column", "route", *promise, "--output", str(private)).returncode == 0
    )
    error = refused("estimate", "--input", str(private), "--question", "frequencies")
    assert (
        "release with Online (--mechanism online) or a linear utility (--utility linear), without a projection" in error
    )


def test_its_code_makes_the_same_mechanism() -> None:
    recipe = dw.Recipe(
        system="grid:3x3", words="states", rules=("contains:1,1",), epsilon=2, mechanism_name="projected"
    )
    made: dict[str, dw.Exponential] = {}
    exec(recipe.python(), made)
    assert made["mechanism"].parameters(4) == recipe.mechanism().parameters(4)


@pytest.mark.parametrize(
    ("public", "instead"),
    [
        (
            ("--system", "grid:2x2", "--edits", "all"),
            [("--system", "grid:2x2"), ("--alphabet", "NESW", "--edits", "all")],
        ),
        (("--lexicon", "list.txt", "--edits", "all"), [("--lexicon", "list.txt")]),
        (("--system", "grid:2x2", "--utility", "inverse"), [("--system", "grid:2x2", "--mechanism", "online")]),
    ],
    ids=["system", "lexicon", "utility"],
)
def test_what_is_said_before_a_release_makes_estimates_possible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, public: tuple[str, ...], instead: list[tuple[str, ...]]
) -> None:
    """What is advised is tried: those releases are estimated, without any advice before."""
    monkeypatch.chdir(tmp_path)
    Path("words.csv").write_text("word\n" + "ESNW\nSENW\n" * 40, encoding="utf-8")
    Path("list.txt").write_text("ESNW\nSENW\nSNSN\nEWEW\n", encoding="utf-8")
    given = ("release", "--input", "words.csv", "--column", "word", "-e", "6", "--output", "out.csv")
    said = run(*given, *public).stderr
    line = next(each for each in said.splitlines() if "proportions of a population cannot be estimated" in each)
    asked = ("estimate", "--input", "out.csv", "--question", "starts")
    assert line.removeprefix("dpwords: ") in refused(*asked)
    for options in instead:
        assert all(option in line for option in set(public) ^ set(options) if option.startswith("--"))
        assert "cannot be estimated" not in run(*given, *options).stderr
        assert run(*asked).returncode == 0


def test_moves_on_a_grid_are_told_how_to_protect_states(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("word\n" + "ES\n" * 9, encoding="utf-8")
    given = (
        "--input",
        str(tmp_path / "words.csv"),
        "--column",
        "word",
        "--output",
        str(tmp_path / "out.csv"),
        "-e",
        "2",
    )
    said = run("release", *given, "--system", "grid:3x3").stderr
    assert "usually meant (plans, with --protect states)" in said
    assert (
        "this is about the states entered"
        in run("release", *given, "--system", "grid:3x3", "--protect", "states").stderr
    )
