"""Projected mechanisms on the command line."""

from __future__ import annotations

from pathlib import Path

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
    assert "release on the system without its rules, or with --mechanism exponential or online" in error


def test_its_code_makes_the_same_mechanism() -> None:
    recipe = dw.Recipe(
        system="grid:3x3", words="states", rules=("contains:1,1",), epsilon=2, mechanism_name="projected"
    )
    made: dict[str, dw.Exponential] = {}
    exec(recipe.python(), made)
    assert made["mechanism"].parameters(4) == recipe.mechanism().parameters(4)
