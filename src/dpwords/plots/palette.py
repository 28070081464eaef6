"""The colours of pictures, the terminal and the page, by what they mean. One meaning has one colour everywhere.

Each colour comes in two shades: for a light and for a dark background. All of them have a contrast of at least 4.5:1
to white or to #16181d, except the backgrounds at the end of the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dpwords.mechanisms.choice import Family, family_of


class Colour(NamedTuple):
    """One colour, for light and for dark backgrounds."""

    light: str
    dark: str


COLOURS = {
    "private": Colour("#222222", "#f0f0f0"),  # the private word or run, and plain text
    "released": Colour("#0b57d0", "#8ab4f8"),  # a released word or run, where it equals the private one
    "changed": Colour("#b34500", "#ffab70"),  # a symbol or a move that differs from the private one
    "goal": Colour("#1a7f37", "#5fd38d"),  # a goal, and a claim that holds
    "broken": Colour("#b3261e", "#ff8a80"),  # a claim that does not hold, and what is not private
    "tight": Colour("#0b57d0", "#8ab4f8"),  # mechanisms; what is in use by default looks like "released"
    "online": Colour("#00705a", "#4fd1b5"),
    "textbook": Colour("#6f42c1", "#c3a6ff"),
    "staircase": Colour("#9c2f74", "#ff9ad5"),
    "inverse": Colour("#6b6b6b", "#a8a8a8"),
    "channel": Colour("#8a5a00", "#e8b84f"),
    "projected": Colour("#5b6600", "#c5d13f"),
    "literal": Colour("#b3261e", "#ff8a80"),  # the paper's formula, which is not private
    "optimum": Colour("#222222", "#f0f0f0"),
    "wall": Colour("#8d8d8d", "#6a6f78"),  # backgrounds from here on
    "mark": Colour("#fde3cf", "#5c3214"),  # behind changed symbols
    "pale": Colour("#c9c9c9", "#4a4f58"),  # lines of a grid, states that nothing is said about
}

INK = COLOURS["private"].light  # also that of plain text; pictures in files are drawn on white
RELEASED, CHANGED, MARK, WALL, PALE = (COLOURS[name].light for name in ("released", "changed", "mark", "wall", "pale"))
COMPLETIONS, PROPORTION = "#0b57d0", "#c0003c"  # V and μ, in diagrams
BAND = 0.45  # opacity of what reaches up to the upper end of an interval
INSERTION, DELETION, ROAD = "#7b3fa0", "#00705a", "#c3d2e4"

_MARKERS = {  # what is last in the table is first given to curves that are not named after a mechanism
    Family.TIGHT: "o",
    Family.ONLINE: "^",
    Family.LITERAL: "X",
    Family.INVERSE: "D",
    Family.TEXTBOOK: "s",
    Family.CHANNEL: "v",
    Family.PROJECTED: "p",
    Family.STAIRCASE: "P",
    Family.OPTIMUM: "*",
}
_LINES = ("solid", "dashed", "dotted", "dashdot")


def mechanism_colour(title: str) -> Colour:
    """The colour of a mechanism, by the title under which `mechanisms.choice` offers it."""
    return COLOURS[family_of(title) or Family.TIGHT]


class Look(NamedTuple):
    """The colour, marker and line style of a curve."""

    colour: str
    marker: str
    line: str


def looks(names: Iterable[str], titles: Mapping[str, str] | None = None) -> dict[str, Look]:
    """How curves with these names look, all of them differently.

    A curve that is named after a mechanism has its colour and marker, and if several are, they have different lines.
    Other curves have colours that are left, as long as there are any. `titles` has the titles of the mechanisms of
    curves that have a longer name.
    """
    families = {name: family_of((titles or {}).get(name, name)) for name in names}
    left = [family for family in reversed(_MARKERS) if family not in families.values()] or [*_MARKERS]
    others = [name for name, family in families.items() if family is None]
    chosen = {name: family or left[others.index(name) % len(left)] for name, family in families.items()}
    found: dict[str, Look] = {}
    used: list[Family] = []
    for name, family in chosen.items():
        line = _LINES[used.count(family) % len(_LINES)]
        used.append(family)
        found[name] = Look(COLOURS[family].light, _MARKERS[family], line)
    return found
