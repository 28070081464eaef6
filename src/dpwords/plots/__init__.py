"""Pictures of automata, policies, products and systems, of words and of runs.

`diagram`, `runs`, `words` and `distances` return matplotlib figures (extra `plot`), `dot` returns text for Graphviz,
`save` writes either. No Graphviz program is needed. A picture of a private word's automaton, or of its distances,
shows the word: it is for the word's owner.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dpwords import files
from dpwords.errors import InvalidValue, MissingExtra, TooLarge
from dpwords.levenshtein import Automaton
from dpwords.plots.structure import Diagram
from dpwords.systems import TransitionSystem
from dpwords.words import Word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["FORMATS", "diagram", "distances", "dot", "encode", "need_matplotlib", "runs", "save", "words"]

FORMATS = ("svg", "png", "dot")
LARGEST_PICTURE = 400  # states and arrows that a figure may show


def diagram(drawn: Automaton | TransitionSystem, title: str = "") -> Figure:
    """A figure of an automaton, a policy (with V and μ), a product, or a transition system.

    Columns are symbols read, rows are errors. Cost: arrows · (states + arrows), of which there may be 400.

    >>> from dpwords import LevenshteinAutomaton
    >>> figure = diagram(LevenshteinAutomaton("abc", k=2, alphabet="abc"), "at most 2 edits from abc")
    """
    need_matplotlib()
    from dpwords.plots.drawing import draw

    shown = Diagram.of(drawn)
    if len(shown.nodes) + len(shown.arrows) > LARGEST_PICTURE:
        raise TooLarge(
            f"a picture has at most {LARGEST_PICTURE} states and arrows, and this would have "
            f"{len(shown.nodes) + len(shown.arrows)}: draw a shorter word or a smaller k, or take DOT"
        )
    return draw(shown, title)


def dot(drawn: Automaton | TransitionSystem) -> str:
    """The same as text in the DOT language, of any size. Cost: its edges.

    >>> from dpwords import TransitionSystem
    >>> dot(TransitionSystem({"s0": {"a": "s0"}}, start="s0")).splitlines()[0]
    'digraph {'
    """
    from dpwords.plots.graphviz import text

    return text(Diagram.of(drawn))


def runs(system: TransitionSystem, rows: Mapping[str, Sequence[Word]], title: str = "") -> Figure:
    """Runs on a grid, one panel each, in named rows: the input first, then runs with changed steps marked.

    >>> from dpwords import GridWorld
    >>> figure = runs(GridWorld(3, 3), {"by hand": ["EESS", "ESES"]})
    """
    need_matplotlib()
    from dpwords.plots import panels

    return panels.runs(system, rows, title)


def words(secret: str, blocks: Sequence[Mapping[str, Sequence[str]]]) -> Figure:
    """Words in blocks of named columns, with their distances from the secret; changed letters are marked.

    >>> figure = words("gattaca", [{"by hand": ["gattaca", "gactaca"]}])
    """
    need_matplotlib()
    from dpwords.plots import panels

    return panels.words(secret, blocks)


def distances(laws: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Named panels with named distributions of the distance, as `distance_distribution()` gives them.

    >>> figure = distances({"ε = 1": {"fair": [0.5, 0.5], "certain": [1.0, 0.0]}})
    """
    need_matplotlib()
    from dpwords.plots import panels

    return panels.distances(laws)


def encode(figure: Figure, form: str) -> bytes:
    """A figure as the content of an SVG or PNG file, the same for the same figure."""
    import matplotlib

    content = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "dpwords"}):
        figure.savefig(content, format=form, dpi=150, metadata={"Date": None} if form == "svg" else {"Software": None})
    return content.getvalue()


def save(drawn: Figure | Automaton | TransitionSystem, path: str | os.PathLike[str], title: str = "") -> None:
    """Write a figure to an SVG or PNG file, or anything that has a diagram to an SVG, PNG or DOT file."""
    form = Path(path).suffix.lower().removeprefix(".")
    if form not in FORMATS:
        raise InvalidValue("a picture is written to a file that ends in .svg, .png or .dot")
    if isinstance(drawn, (Automaton, TransitionSystem)):
        content = dot(drawn).encode() if form == "dot" else encode(diagram(drawn, title), form)
    elif form == "dot":
        raise InvalidValue("DOT is for automata and systems: write this figure to an .svg or .png file")
    else:
        content = encode(drawn, form)
    files.write_whole({Path(path): content})


def need_matplotlib() -> None:
    """Refuse in one line where matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("pictures need matplotlib: pip install 'dpwords[plot]'")
