"""How curves look: a mechanism has the same colour and marker in every figure, whatever else is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpwords.mechanisms.choice import Family, family_of
from dpwords.plots.palette import COLOURS

_MARKERS = {  # what is last in the table is first given to curves that are not named after a mechanism
    Family.TIGHT: "o",
    Family.ONLINE: "^",
    Family.LITERAL: "X",
    Family.INVERSE: "D",
    Family.TEXTBOOK: "s",
    Family.CHANNEL: "v",
    Family.STAIRCASE: "P",
    Family.OPTIMUM: "*",
}
_LINES = ("solid", "dashed", "dotted", "dashdot")


@dataclass(frozen=True)
class Look:
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
