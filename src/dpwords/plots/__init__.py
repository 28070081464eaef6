"""Pictures of automata, policies, products and systems, of words and of runs, of estimates and of audits.

`diagram`, `runs`, `words`, `distances`, `curves`, `panels`, `estimates` and `audit` return matplotlib figures (extra
`plot`), `dot` returns text for Graphviz, and `save` writes either; Graphviz itself is not needed. A picture of a
private word's automaton, or of its distances, reveals the word: only its owner may see it.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING

from dpwords.core import files
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.automata import Automaton
from dpwords.languages.language import Language
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.audits import audit
from dpwords.plots.boards import runs, whole
from dpwords.plots.drawing import dot_text, draw
from dpwords.plots.figures import matplotlib_as_it_comes, need_matplotlib, one_line
from dpwords.plots.places import MOST_ARROWS, MOST_STATES, Arrangement, cells_of, to_scale
from dpwords.plots.proportions import estimates
from dpwords.plots.samples import curves, distances, panels, words
from dpwords.plots.structure import Diagram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "FORMATS",
    "audit",
    "curves",
    "diagram",
    "distances",
    "dot",
    "encode",
    "estimates",
    "need_matplotlib",
    "panels",
    "runs",
    "save",
    "words",
]

FORMATS = ("svg", "png", "dot")
LARGEST_PICTURE = 400  # states and arrows in a figure


@matplotlib_as_it_comes()
def diagram(drawn: Automaton | Language, title: str = "") -> Figure:
    """A figure of an automaton, a policy (with V and μ), a product, a transition system, or another language.

    In the diagram of an automaton, columns are numbers of symbols read and rows are numbers of errors. Cells of a grid
    and states with coordinates are drawn at their places, many of them without their moves' names. Other systems may
    have at most 60 states and 200 arrows. Cost: arrows · (states + arrows).

    >>> from dpwords import LevenshteinAutomaton
    >>> figure = diagram(LevenshteinAutomaton("abc", k=2, alphabet="abc"), "at most 2 edits from abc")
    """
    if isinstance(drawn, TransitionSystem):
        states, arrows = len(drawn.states), sum(len({*row.values()}) for row in drawn.transitions.values())
        cells, mapped = cells_of(drawn), drawn.positions is not None
        if (mapped and to_scale(drawn) is None) or (cells and not mapped and states + arrows > LARGEST_PICTURE):
            return whole(drawn, one_line(title))
        _check_size(states, arrows, "spread" if cells is None and not mapped else "cells")
    shown = Diagram.of(drawn)
    _check_size(len(shown.nodes), len(shown.arrows), shown.arranged)
    return draw(shown, one_line(title))


def dot(drawn: Automaton | Language, title: str = "") -> str:
    """The same diagram as text in the DOT language, without a limit on its size. Cost: its edges.

    >>> from dpwords import TransitionSystem
    >>> dot(TransitionSystem({"s0": {"a": "s0"}}, start="s0")).splitlines()[0]
    'digraph {'
    """
    return dot_text(Diagram.of(drawn), one_line(title))


@matplotlib_as_it_comes()
def encode(figure: Figure, form: str) -> bytes:
    """The content of an SVG or PNG file with the figure; equal figures give equal files."""
    if form not in ("svg", "png"):
        raise InvalidValue("a figure can be written as svg or png only")
    content = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    figure.savefig(content, format=form, dpi=150, metadata=metadata)
    return content.getvalue()


def save(drawn: Figure | Automaton | Language, path: str | os.PathLike[str], title: str = "") -> None:
    """Write a figure to an SVG or PNG file, or an automaton or a system to an SVG, PNG or DOT file."""
    files.write_whole({Path(path): content_for(drawn, path, title)})


def content_for(drawn: Figure | Automaton | Language, path: str | os.PathLike[str], title: str = "") -> bytes:
    """What `save` would write to the path."""
    form = checked_form(path)
    if isinstance(drawn, (Automaton, Language)):
        return dot(drawn, title).encode() if form == "dot" else encode(diagram(drawn, title), form)
    need_matplotlib()
    from matplotlib.figure import Figure

    if not isinstance(drawn, Figure):
        raise InvalidValue("only a figure, an automaton or a system can be saved")
    if form == "dot":
        raise InvalidValue("DOT is for automata and systems: write this figure to an .svg or .png file")
    return encode(drawn, form)


def checked_form(path: str | os.PathLike[str]) -> str:
    """The format that the suffix of a path stands for."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise InvalidValue("a picture needs a file name that ends in .svg, .png or .dot")
    return form


def _check_size(states: int, arrows: int, arranged: Arrangement) -> None:
    """Refuse a diagram that nobody could read."""
    if arranged == "spread" and (states > MOST_STATES or arrows > MOST_ARROWS):
        raise TooLarge(
            f"a picture of a system without coordinates can have at most {MOST_STATES} states and {MOST_ARROWS} "
            f"arrows, and this would have {states} and {arrows}: draw a part of it or runs on it, give it positions, "
            "or write DOT for Graphviz"
        )
    if states + arrows > LARGEST_PICTURE:
        smaller = "a shorter word or a smaller k" if arranged == "layers" else "its system, or runs on it"
        raise TooLarge(
            f"a picture can have at most {LARGEST_PICTURE} states and arrows, and this would have {states + arrows}: "
            f"draw {smaller}, or use DOT"
        )
