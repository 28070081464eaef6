"""Pictures of automata, policies, products and systems, of words and of runs, of estimates and of audits.

`diagram`, `runs`, `words`, `distances`, `curves`, `panels`, `estimates` and `audit` return matplotlib figures (extra
`plot`), `dot` returns text for Graphviz, and `save` writes either; Graphviz itself is not needed. A picture of a
private word's automaton, or of its distances, reveals the word: only its owner may see it.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, cast

from dpwords.core import files
from dpwords.core.symbols import Word, symbols_of
from dpwords.errors import InvalidValue, MissingExtra, TooLarge
from dpwords.languages.automata import Automaton
from dpwords.languages.language import Language
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.places import MOST_ARROWS, MOST_STATES, cells_of, to_scale
from dpwords.plots.structure import Arrangement, Diagram

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dpwords.plots.audits import AuditedLosses, AuditedPair
    from dpwords.plots.shares import EstimatedShares

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
            with _matplotlib_as_it_comes():
                from dpwords.plots import boards

                return boards.whole(drawn, _one_line(title))
        _check_size(states, arrows, "spread" if cells is None and not mapped else "cells")
    shown = Diagram.of(drawn)
    _check_size(len(shown.nodes), len(shown.arrows), shown.arranged)
    with _matplotlib_as_it_comes():
        from dpwords.plots.drawing import draw

        return draw(shown, _one_line(title))


def dot(drawn: Automaton | Language, title: str = "") -> str:
    """The same diagram as text in the DOT language, without a limit on its size. Cost: its edges.

    >>> from dpwords import TransitionSystem
    >>> dot(TransitionSystem({"s0": {"a": "s0"}}, start="s0")).splitlines()[0]
    'digraph {'
    """
    from dpwords.plots.graphviz import text

    return text(Diagram.of(drawn), _one_line(title))


def runs(system: Language, rows: Mapping[str, Sequence[Word]], title: str = "", *, compared: bool = True) -> Figure:
    """Runs on a system, one panel for each, in named rows: the private run first, then released ones.

    Steps of released runs that differ from the private run are marked. With `compared=False` there is no private run:
    all runs are drawn as released ones, without marks, and may have different lengths.

    They are drawn on the grid or, at the coordinates of the states, on the part of the map where they are. Without
    either, the system is spread out or, if it has more than 60 states, the part that the runs visit. A system that is
    combined with rules is drawn as the system itself. Cost: the edges of the system, for each run.

    >>> from dpwords import GridWorld
    >>> figure = runs(GridWorld(3, 3), {"by hand": ["EESS", "ESES"]})
    """
    if not isinstance(system, Language) or system.system is None:
        raise InvalidValue("runs belong to a system: pass a TransitionSystem, for example a GridWorld")
    _check_rows(rows.values(), alike=compared)
    with _matplotlib_as_it_comes():
        from dpwords.plots import boards

        named = {_one_line(name): words for name, words in rows.items()}
        return boards.runs(system.system, named, _one_line(title), compared)


def words(secret: str, blocks: Sequence[Mapping[str, Sequence[str]]]) -> Figure:
    """Words in blocks of named columns, with their distances from the secret; changed letters are marked.

    >>> figure = words("gattaca", [{"by hand": ["gattaca", "gactaca"]}])
    """
    _check_rows(([secret, *column] for block in blocks for column in block.values()), least=2)
    if not all(blocks):
        raise InvalidValue("a block needs at least one column: leave out empty blocks")
    with _matplotlib_as_it_comes():
        from dpwords.plots import samples

        return samples.words(secret, blocks)


def distances(laws: Mapping[str, Mapping[str, Sequence[float]]]) -> Figure:
    """Named panels with named distributions of the distance, as returned by `distance_distribution()`.

    >>> figure = distances({"ε = 1": {"fair": [0.5, 0.5], "certain": [1.0, 0.0]}})
    """
    if not laws or not all(laws.values()):
        raise InvalidValue("a figure of distances needs at least one panel, and each panel at least one distribution")
    with _matplotlib_as_it_comes():
        from dpwords.plots import samples

        return samples.distances(laws)


def curves(epsilons: Sequence[float], series: Mapping[str, Sequence[float]], title: str = "") -> Figure:
    """Named curves of expected distance against ε.

    >>> figure = curves([1, 2, 4], {"tight": [3.0, 1.0, 0.2]})
    """
    if not epsilons or not series or any(len(values) != len(epsilons) for values in series.values()):
        raise InvalidValue("a curve must have one value for each ε: pass at least one ε and one curve")
    with _matplotlib_as_it_comes():
        from dpwords.plots import samples

        return samples.curves(epsilons, series, _one_line(title))


def panels(
    epsilons: Sequence[float],
    named: Mapping[str, Mapping[str, Sequence[float]]],
    label: str,
    titles: Mapping[str, str] | None = None,
) -> Figure:
    """Named panels side by side, each with named curves against ε; NaN leaves a gap. `label` says what is compared.

    A curve that is named after a mechanism has its colour; `titles` has the mechanisms of curves with longer names.

    >>> figure = panels([1, 2], {"expected": {"tight": [0.5, 0.2]}, "observed": {"tight": [0.4, 0.3]}}, "distance")
    """
    if not named or not all(named.values()):
        raise InvalidValue("there is nothing to draw: give at least one panel, and each at least one curve")
    if not epsilons or any(len(values) != len(epsilons) for curves in named.values() for values in curves.values()):
        raise InvalidValue("a curve must have one value for each ε: pass at least one ε and one curve")
    with _matplotlib_as_it_comes():
        from dpwords.plots import samples

        return samples.panels(epsilons, named, _one_line(label), titles)


def estimates(
    found: EstimatedShares | Sequence[EstimatedShares],
    language: Language | None = None,
    title: str = "",
    *,
    names: Sequence[str] = (),
) -> Figure:
    """Estimated shares with their intervals, as a function of `dw.estimate` has returned them.

    With the language of the mechanism, visits on a grid become a heat map, and steps on it wedges between cells; on a
    map with coordinates, visits are discs. Other pairs become a graph with wide and narrow arrows, and other shares
    bars. A list with a table for each place becomes lines. Where there are too many shares, the largest are drawn, and
    the title says so. `names` are those of the places, such as months, or of patterns. Cost: the shares that are drawn.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("abc"), epsilon=3)
    >>> found = dw.estimate.frequencies(mechanism.seeded(1).release_all(["abca"] * 200), mechanism)
    >>> figure = estimates(found)
    """
    tables: list[EstimatedShares] = (
        list(found) if isinstance(found, (list, tuple)) else [cast("EstimatedShares", found)]
    )
    if not tables or not all(len(one) and hasattr(one, "counted") for one in tables):
        raise InvalidValue("there is nothing to draw: pass what a function of dw.estimate returned")
    with _matplotlib_as_it_comes():
        from dpwords.plots import shares

        if isinstance(found, (list, tuple)):
            return shares.by_place(tables, _one_line(title), names)
        return shares.shares(tables[0], language, _one_line(title), names)


def audit(found: AuditedLosses | AuditedPair, title: str = "") -> Figure:
    """The result of an audit beside its claim, as a function of `dw.audit` has returned it.

    For an exact audit, or that of a channel: the largest loss at each distance, and the line ε·ceil(d/k). For a
    statistical audit: the lower bound on the loss of the pair of words, and what was claimed for their distance.

    >>> import dpwords as dw
    >>> figure = audit(dw.audit.exact(dw.Exponential(dw.Words("ab"), epsilon=1), length=3))
    """
    with _matplotlib_as_it_comes():
        from dpwords.plots import audits

        return audits.picture(found, _one_line(title))


def encode(figure: Figure, form: str) -> bytes:
    """The content of an SVG or PNG file with the figure; equal figures give equal files."""
    if form not in ("svg", "png"):
        raise InvalidValue("a figure can be written as svg or png only")
    content = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else {"Software": None}
    with _matplotlib_as_it_comes():
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


def need_matplotlib() -> None:
    """Raise a one-line error if matplotlib is not installed or cannot be imported."""
    if find_spec("matplotlib") is None:
        raise MissingExtra("pictures need matplotlib: pip install 'dpwords[plot]'")
    try:
        import matplotlib as _matplotlib  # noqa: F401
    except ValueError:
        raise InvalidValue("matplotlib rejects its settings: check MPLBACKEND and the file matplotlibrc") from None


@contextmanager
def _matplotlib_as_it_comes() -> Iterator[None]:
    """Use matplotlib with its own defaults instead of the user's settings, so that figures look the same everywhere."""
    need_matplotlib()
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams["svg.hashsalt"] = "dpwords"
        yield


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


def _check_rows(rows: Iterable[Sequence[Word]], least: int = 1, alike: bool = True) -> None:
    seen = list(rows)
    if not seen or min(map(len, seen)) < least:
        raise InvalidValue("there is nothing to draw: give at least one word in each row or column")
    lengths = [{len(symbols_of(word)) for word in words} for words in seen]
    if alike and max(map(len, lengths)) > 1:
        raise InvalidValue("words that are compared must have the same length: leave out those of another length")


def _one_line(text: str) -> str:
    return " ".join(text.split())
