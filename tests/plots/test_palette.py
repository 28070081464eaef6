"""One meaning has one colour, in every figure; the table of colours is the only place that has any."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from matplotlib.colors import to_hex, to_rgb

import dpwords as dw
from dpwords import plots
from dpwords.mechanisms.choice import offers
from dpwords.plots.palette import COLOURS, mechanism_colour
from dpwords.studies.study import LITERAL, TEXTBOOK, TIGHT

SOURCE = Path(dw.__file__).parent
ON_DARK, BACKGROUNDS = "#16181d", {"wall", "mark", "pale"}


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def test_only_the_palette_has_colours() -> None:
    for package in ("plots", "studies", "cli"):
        for file in (SOURCE / package).rglob("*.py"):
            found = re.findall(r"#[0-9a-fA-F]{6}\b", file.read_text("utf-8"))
            assert bool(found) == (file.name == "palette.py"), file.name


@pytest.mark.parametrize("name", sorted(COLOURS.keys() - BACKGROUNDS))
def test_colours_can_be_read_on_their_backgrounds(name: str) -> None:
    assert contrast(COLOURS[name].light, "white") >= 4.5
    assert contrast(COLOURS[name].dark, ON_DARK) >= 4.5


def test_changed_letters_can_be_read_on_their_mark() -> None:
    assert contrast(COLOURS["changed"].light, COLOURS["mark"].light) >= 4.5
    assert contrast(COLOURS["changed"].dark, COLOURS["mark"].dark) >= 4.5


@pytest.mark.parametrize(
    ("title", "colour"),
    [
        ("tight", "tight"),
        ("tight (default)", "tight"),
        ("linear, textbook", "textbook"),
        ("inverse (α=1), textbook", "inverse"),
        ("staircase, textbook", "staircase"),
        ("channel onto the language", "channel"),
        ("online", "online"),
        (LITERAL, "literal"),
        (TEXTBOOK, "inverse"),
        (TIGHT, "tight"),
    ],
)
def test_a_mechanism_has_one_colour(title: str, colour: str) -> None:
    assert mechanism_colour(title) == COLOURS[colour]


def test_a_mechanism_looks_the_same_whatever_else_is_drawn() -> None:
    words = {name: [1.0, 0.5] for name in offers(dw.Words("ab"), k=2)}
    runs = {name: [1.0, 0.5] for name in offers(dw.GridWorld(2, 2), k=2)}
    figures = [plots.curves([1, 2], series) for series in (words, runs)]
    figures.append(plots.distances({"ε = 1": words}))
    look = [
        {str(line.get_label()): (line.get_color(), line.get_marker(), line.get_linestyle()) for line in axes.lines}
        for axes in (figure.axes[0] for figure in figures)
    ]
    shared = look[0].keys() & look[1].keys()
    assert shared == {"linear, textbook", "inverse (α=1), textbook"}
    assert all(look[0][name] == look[1][name] for name in shared)
    assert look[0] == look[2]
    for each in look:
        assert len(set(each.values())) == len(each)
    assert to_hex(str(look[1]["online"][0])) == COLOURS["online"].light


def test_curves_of_one_kind_and_other_curves_can_be_told_apart() -> None:
    names = ["channel, edits made", "channel onto the language", "by hand", "by ear", "tight"]
    lines = plots.curves([1, 2], {name: [1.0, 0.5] for name in names}).axes[0].lines
    look = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in lines]
    assert len(set(look)) == len(names)
    assert look[0][:2] == look[1][:2]
    assert look[4][0] == COLOURS["tight"].light
    assert COLOURS["tight"].light not in (look[2][0], look[3][0])


def test_released_runs_alone_are_not_compared() -> None:
    first, second = plots.runs(dw.GridWorld(2, 3), {"": ["EES", "SE"]}, compared=False).axes
    assert (first.get_title(), second.get_title()) == ("", "")
    for axes in (first, second):
        (run,) = (part for part in axes.collections if part.get_gid() == "run")
        assert {to_hex(colour) for colour in run.get_colors()} == {COLOURS["released"].light}  # type: ignore[attr-defined]


def test_a_pattern_has_no_moves() -> None:
    def legend(language: object) -> list[str]:
        return [text.get_text() for text in plots.diagram(language).axes[0].texts]  # type: ignore[arg-type]

    assert "symbol that is read" in legend(dw.Pattern("(ab|c)*d"))
    assert "move of the system" in legend(dw.GridWorld(2, 2) & dw.rules.contains((1, 1)))
