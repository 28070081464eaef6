"""How curves look: a mechanism has the same colour and marker in every figure, whatever else is drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dpwords.plots.palette import COLOURS, mechanism_kind

_MARKERS = {  # what is last in the table is first given to curves that are not named after a mechanism
    "tight": "o",
    "online": "^",
    "literal": "X",
    "inverse": "D",
    "textbook": "s",
    "channel": "v",
    "staircase": "P",
    "optimum": "*",
}
_LINES = ("solid", "dashed", "dotted", "dashdot")


@dataclass(frozen=True)
class Look:
    """The colour, marker and line style of a curve."""

    colour: str
    marker: str
    line: str


def looks(names: Iterable[str]) -> dict[str, Look]:
    """How curves with these names look, all of them differently.

    A curve that is named after a mechanism has its colour and marker, and if several are, they have different lines.
    Other curves have colours that are left, as long as there are any.
    """
    kinds = {name: mechanism_kind(name) for name in names}
    left = [kind for kind in reversed(_MARKERS) if kind not in kinds.values()] or [*_MARKERS]
    others = [name for name, kind in kinds.items() if kind is None]
    chosen = {name: kind or left[others.index(name) % len(left)] for name, kind in kinds.items()}
    found: dict[str, Look] = {}
    used: list[str] = []
    for name, kind in chosen.items():
        line = _LINES[used.count(kind) % len(_LINES)]
        used.append(kind)
        found[name] = Look(COLOURS[kind].light, _MARKERS[kind], line)
    return found
