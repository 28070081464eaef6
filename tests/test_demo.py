"""`make demo` shows what happened: marks stand under the changes, plans stay on the streets, and rules hold."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
TITLE = "american control conference 2019"
MOVES = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
PARCEL, CUSTOMER = (3, 3), (6, 7)
Cell = tuple[int, int]


@pytest.fixture(scope="module")
def parts() -> list[list[str]]:
    """The lines of each part of the demonstration, as it is when its output is not a terminal."""
    settings = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "TTY_COMPATIBLE")}
    settings["PYTHONIOENCODING"] = "utf-8"
    command = [sys.executable, str(EXAMPLES / "demo.py")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, env=settings)
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    return [part.splitlines() for part in re.split(r"^(?=\d\. )", done.stdout, flags=re.MULTILINE)]


def marked(private: str, released: str, marks: str) -> bool:
    """Whether marks stand under exactly the positions that differ."""
    differs = [own != other for own, other in zip(private, released, strict=True)]
    if not any(differs):
        return marks.strip() == "(unchanged)"
    return [mark == "^" for mark in marks.rstrip().ljust(len(differs))] == differs


def cells(run: str) -> list[Cell]:
    """The cells of a run from the corner of the map; fails where it would leave the streets."""
    streets = (EXAMPLES / "streets.txt").read_text("utf-8").splitlines()
    visited = [(0, 0)]
    for move in run:
        row, column = (at + step for at, step in zip(visited[-1], MOVES[move], strict=True))
        assert row in range(len(streets))
        assert column in range(len(streets[0]))
        assert streets[row][column] != "#"
        visited.append((row, column))
    assert streets[visited[-1][0]][visited[-1][1]] == "G"
    return visited


def drawn_runs(lines: list[str], private: str) -> list[tuple[str, int, int]]:
    """The runs under the maps, after the private one: each with its line and column. Their marks are checked."""
    found = [
        (match[0], number, match.start())
        for number, line in enumerate(lines)
        if re.fullmatch(rf"\s*[NESW]{{{len(private)}}}(\s+[NESW]{{{len(private)}}})*", line)
        for match in re.finditer(r"\w+", line)
    ]
    assert found[0][0] == private
    assert len(found) == 7
    for run, number, left in found[1:]:
        assert marked(private, run, lines[number + 1].ljust(left)[left : left + 24])
    return found[1:]


def test_marks_stand_under_the_letters_that_changed(parts: list[list[str]]) -> None:
    pairs = [(line[12:], below[12:]) for line, below in pairwise(parts[1]) if line.startswith("  released")]
    assert len(pairs) == 6
    assert all(marked(TITLE, released, marks) for released, marks in pairs)
    assert any(released != TITLE for released, _ in pairs)  # all six are unchanged once in 10^12 runs


def test_plans_keep_to_the_streets(parts: list[list[str]]) -> None:
    before = set(cells("EEEEEESSSESSSESSEEES"))
    for run, number, left in drawn_runs(parts[2], "EEEEEESSSESSSESSEEES"):
        drawn = [line[left - 1 : left + 23].ljust(24)[1::2] for line in parts[2][number - 10 : number]]
        shown = {(row, column): mark for row, line in enumerate(drawn) for column, mark in enumerate(line)}
        assert {cell for cell, mark in shown.items() if mark in "ox"} == set(cells(run))
        assert {cell for cell, mark in shown.items() if mark == "x"} == set(cells(run)) - before


def test_traces_are_marked_by_their_edits(parts: list[list[str]]) -> None:
    activities = {*(EXAMPLES / "activities.txt").read_text("utf-8").split()}
    orders = [line.split(",")[2].split(">") for line in (EXAMPLES / "orders.csv").read_text("utf-8").split()[1:]]
    lines, drawn, private = parts[3], 0, list[str]()
    assert len(orders) == 4
    for number, line in enumerate(lines):
        if line.startswith("  private"):
            private = line.split()[1:]
            assert private == orders.pop(0)
        elif re.match(r"  ε = [\d.]+ ", line):
            marks, drawn = lines[number + 1][12:], drawn + 1
            if marks == "(unchanged)":
                assert line[12:].split() == private
                continue
            tokens = [(match[0], marks[match.start() : match.end()]) for match in re.finditer(r"\S+", line[12:])]
            assert all(symbol in activities or (symbol, mark) == ("·", "-") for symbol, mark in tokens)
            assert all(len(set(mark)) <= 1 for _, mark in tokens)
            kept = [(symbol, mark.strip()) for symbol, mark in tokens if "+" not in mark]
            assert all((mark == "") == (symbol == own) for (symbol, mark), own in zip(kept, private, strict=True))
    assert not orders
    assert drawn == 8


def test_the_rule_holds_in_every_run(parts: list[list[str]]) -> None:
    errand = "SSSEEEEEEESSSESSSEEE"
    for run, number, left in drawn_runs(parts[4], errand):
        visited = cells(run)
        steps = visited.index(PARCEL), visited.index(CUSTOMER)
        assert steps[0] < steps[1]
        assert parts[4][number + 2][left:].startswith("P at {}, C at {}".format(*steps))


def test_accuracy_and_audit_are_shown(parts: list[list[str]]) -> None:
    assert re.findall(r"^\W+([1-4])\W+\d+\.\d", "\n".join(parts[5]), re.MULTILINE) == ["1", "2", "3", "4"]
    assert any("the claim holds" in line for line in parts[6])
    assert "6.67" in " ".join(parts[6])  # the true ε of the paper's formula, as in docs/studies.md


CHANGED = "demo.by_position('abba', 'abca')"


def shown(marked: str = CHANGED, **settings: str) -> str:
    """What is written on a terminal with these settings about a word and its release."""
    rest = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLORTERM")}
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", f"import demo; demo.show('ε = 1', {marked})"]
    environment = {**rest, **terminal, **settings}
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True, env=environment, cwd=EXAMPLES
    )
    return done.stdout


@pytest.mark.parametrize(("settings", "has_colour"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_on_terminals_unless_it_is_unwanted(settings: dict[str, str], has_colour: bool) -> None:
    text = shown(COLORTERM="truecolor", **settings)
    styled = re.findall(r"\x1b\[([\d;]+)m(.*?)\x1b\[0m", text)
    assert [text for codes, text in styled if codes.startswith("1")] == ["c"]
    assert ("38;2" in text) == has_colour
    assert re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()[1] == " " * 14 + "^"


def test_edits_have_marks() -> None:
    """An a is left out, an x replaces a d, and a g is new: no other three edits do that."""
    text = re.sub(r"\x1b\[[\d;]*m", "", shown("demo.by_edits('abcdef', 'bcxefg')"))
    assert [line[12:] for line in text.splitlines()] == ["·bcxefg", "-  ^  +"]


def test_changes_can_be_read_where_there_are_sixteen_colours() -> None:
    """Black on yellow; the nearest ones of the usual colours would be yellow on white."""
    assert "\x1b[30;43mc\x1b[0m" in shown()
