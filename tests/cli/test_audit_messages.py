"""What 'dpwords audit' and 'dpwords attack' say about options that do not fit, and about reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import refused, run

FREE = ("--alphabet", "ab", "--epsilon", "1")


def test_advice_is_about_options_that_the_command_has() -> None:
    unknown = refused("audit", *FREE, "--statistical", "--word", "abc", "--neighbour", "aba")
    assert "words are read as single characters such as a" in unknown
    assert "separator" not in unknown
    drawn = refused("audit", *FREE, "--length", "3", "--draws", "400")
    assert drawn == "dpwords: words are drawn only with --statistical: leave out --draws\n"
    assert "ends in .svg or .png\n" in refused("audit", *FREE, "--length", "3", "--plot", "x.pdf")


def test_the_input_that_distances_lack_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("channel.csv").write_text("input,u,v\nyoung,0.5,0.5\nold,0.5,0.5\nretired,0.5,0.5\n")
    for content in (",young,old\nyoung,0,1\nold,1,0\n", ",young,old\nyoung,0,1\nold,1,0\nretired,1,1\n"):
        Path("distances.csv").write_text(content)
        said = refused("audit", "--channel", "channel.csv", "--distance", "distances.csv")
        assert "no line or no column for input 'retired': add it" in said


def test_the_promise_of_a_report_is_for_any_two_words() -> None:
    report = ("--report", "symbols", "--statistical", "--length", "4", "--draws", "400")
    done = run("audit", *FREE, *report)
    assert "1 for any two words" in done.stdout
    assert "distance" not in done.stdout
    assert "frozenset" not in done.stdout


def test_the_literal_formula_can_be_attacked_at_zero() -> None:
    literal = ("attack", "--alphabet", "ab", "--length", "4", "--mechanism", "literal")
    assert run(*literal, "--epsilon", "0").returncode == 0
    assert "--epsilon must be a finite number above 0" in refused(
        "attack", "--alphabet", "ab", "--length", "4", "--epsilon", "0"
    )
