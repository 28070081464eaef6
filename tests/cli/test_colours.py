"""Colours and tables in a real terminal; a pipe, NO_COLOR and TERM=dumb get the same plain text."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import dpwords as dw
from commands import in_terminal, run
from dpwords.plots.palette import COLOURS, mechanism_colour

NOWHERE = subprocess.DEVNULL
ACCURACY = ("accuracy", "--system", "grid:4x4", "--length", "5", "-e", "0.5,4", "--target-distance", "2")
AUDIT = ("audit", "--alphabet", "ab", "--length", "3", "-e", "1")
LITERAL = (*AUDIT, "--literal")


def painted(text: str, shade: str) -> str:
    """How a terminal with 16 million colours shows a text in bold type and in this shade."""
    red, green, blue = (int(shade[position : position + 2], 16) for position in (1, 3, 5))
    return f"\x1b[1;38;2;{red};{green};{blue}m{text}\x1b[0m"


def unpainted(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def colourful(*arguments: str, columns: int = 120, code: int = 0, **environment: str) -> str:
    """What a command writes to standard output, which is a terminal with 16 million colours."""
    return in_terminal(columns, *arguments, code=code, errors=NOWHERE, COLORTERM="truecolor", **environment)


@pytest.fixture
def spent(tmp_path: Path) -> str:
    path = tmp_path / "ledger.db"
    table = {"word": ["ab", "ba"], "who": ["ann", "bob"]}
    pandas = pytest.importorskip("pandas")
    mechanism = dw.Exponential(dw.Words("ab"), epsilon=1)
    dw.frames.release(mechanism, pandas.DataFrame(table), column="word", by="who", ledger=dw.Ledger(path, budget=3))
    return str(path)


@pytest.mark.parametrize("refusal", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=lambda refusal: next(iter(refusal)))
def test_who_refuses_colours_gets_what_a_pipe_gets(refusal: dict[str, str], spent: str) -> None:
    for arguments in (ACCURACY, AUDIT, ("ledger", "show", spent)):
        assert in_terminal(200, *arguments, errors=NOWHERE, **refusal) == run(*arguments).stdout


def test_a_verdict_has_the_colour_that_means_it() -> None:
    assert painted("the claim holds", COLOURS["goal"].light) in colourful(*AUDIT)
    assert painted("THE CLAIM IS BROKEN", COLOURS["broken"].light) in colourful(*LITERAL, code=1)
    assert unpainted(colourful(*AUDIT)).split() == run(*AUDIT).stdout.split()


def test_a_dark_terminal_gets_the_shade_for_dark_backgrounds() -> None:
    for background, shade in (("15;0", "dark"), ("7;default;8", "dark"), ("0;15", "light"), ("0;7", "light")):
        shown = colourful(*AUDIT, COLORFGBG=background)
        assert painted("the claim holds", getattr(COLOURS["goal"], shade)) in shown


def test_the_best_mechanism_of_a_row_has_its_colour_and_a_mark() -> None:
    shown = colourful(*ACCURACY)
    for epsilon, name in ((0.5, "online"), (4, "tight")):
        figures = dw.accuracy.compare(dw.GridWorld(4, 4), epsilon, length=5).figures[name]
        cell = painted(f"{figures.distance:.4g} ({figures.within:.1%})*", mechanism_colour(name).light)
        assert cell in re.sub(r"m +", "m", shown)  # without the spaces before it
    said = [re.findall(r"[\d.]+(?: \([\d.]+%\))?\*?", text) for text in (unpainted(shown), run(*ACCURACY).stdout)]
    assert said[0] == said[1]


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_tables_are_no_wider_than_the_terminal(columns: int, spent: str) -> None:
    shown = unpainted(colourful(*ACCURACY, columns=columns)).splitlines()
    table = [line for line in shown if line.startswith(" ") or line.startswith("─")]
    assert len(table) >= 5
    assert max(map(len, table)) <= columns
    assert not any("…" in line for line in table)  # nothing is cut off
    shown = unpainted(colourful("ledger", "show", spent, columns=columns)).splitlines()
    rows = [line.split() for line in shown]
    assert ["id", "spent", "left", "runs"] in rows
    assert ["ann", "1", "2", "1"] in rows


def test_a_released_word_is_never_coloured() -> None:
    assert colourful("release", "SSEE", "--system", "grid:15x15", "-e", "200") == "SSEE\n"


def test_errors_are_red_in_a_terminal_only() -> None:
    wrong = ("release", "abq", "--alphabet", "abc", "-e", "1")
    shown = in_terminal(400, *wrong, code=2)
    assert shown.startswith("\x1b[31m\x1b[1mdpwords:\x1b[0m word 1: ")
    assert unpainted(shown) == run(*wrong).stderr == in_terminal(400, *wrong, code=2, NO_COLOR="1")


def test_notes_are_not_red() -> None:
    shown = in_terminal(200, "release", "EES", "--system", "grid:3x3", "-e", "1")
    assert "\x1b[2mdpwords:\x1b[0m best mechanism: " in shown
    assert "\x1b[31m" not in shown.partition("dpwords:")[2]
