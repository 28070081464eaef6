"""Diagrams as matplotlib figures and as text for Graphviz, and what their colours, strokes and signs mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dpwords.plots.figures import Line, Note, drawable, new_figure, text_width
from dpwords.plots.layout import LINE, Box, Curve, Layout, Points, Way
from dpwords.plots.palette import BAND, CHANGED, COMPLETIONS, DELETION, INK, INSERTION, PALE, PROPORTION, RELEASED
from dpwords.plots.structure import Arrow, Diagram, Kind, Node

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

TEXT = 9.0  # font size; all lengths in this module are in points
_STROKE = 34.0  # length of the sample line in a legend
_LEGEND_LINE = 1.4 * LINE
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})


class Stroke(NamedTuple):
    """The appearance of one kind of arrow, and its meaning in the legend."""

    meaning: str
    colour: str
    line: Line
    dot: str  # the style in Graphviz


_PLAIN, _ERROR = (INK, "solid", "solid"), (CHANGED, (0.0, (5.0, 2.0)), "dashed")
KINDS: dict[Kind, Stroke] = {
    "match": Stroke("match: reads the word's own symbol", *_PLAIN),
    "substitution": Stroke("substitution: reads another symbol", *_ERROR),
    "insertion": Stroke("insertion: reads any symbol", INSERTION, (0.0, (1.5, 1.5)), "dotted"),
    "deletion": Stroke("deletion: reads nothing", DELETION, (0.0, (6.0, 2.0, 1.5, 2.0)), "bold"),
    "same errors": Stroke("the least number of errors stays the same", *_PLAIN),
    "more errors": Stroke("the least number of errors grows by one", *_ERROR),
    "move": Stroke("move of the system", *_PLAIN),
    "symbol": Stroke("symbol that is read", *_PLAIN),
    "step": Stroke("comes directly after; the wider, the larger the proportion", RELEASED, "solid", "solid"),
    "unsure step": Stroke("likewise, but its interval reaches 0", RELEASED, (0.0, (3.0, 1.5)), "dashed"),
    "outside": Stroke("words start there (more steps lead away than arrive) or end there (fewer do)", *_PLAIN),
}

_SIGNS = {"≠": "≠a: any symbol except a", "*": "*: any symbol", "ε": "ε: no symbol"}


def legend(diagram: Diagram) -> list[Note]:
    """The meaning of the colours, strokes and signs that occur in a diagram."""
    used = {arrow.kind for arrow in diagram.arrows}
    notes = [Note(stroke.meaning, stroke.colour, stroke.line) for kind, stroke in KINDS.items() if kind in used]
    if any(node.completions for node in diagram.nodes):
        notes.append(Note("V, blue: the number of words that lead from a state to the end", COMPLETIONS))
    if any(arrow.proportion for arrow in diagram.arrows):
        notes.append(Note("μ, red: the probability of each symbol that an arrow reads", PROPORTION))
    reads = [arrow.reads for arrow in diagram.arrows]
    notes += [Note(text) for sign, text in _SIGNS.items() if any(text.startswith(sign) for text in reads)]
    if diagram.arranged == "layers":
        each = "a box lists all possible i,e: " if used & {"same errors", "more errors"} else "i,e: "
        notes.append(Note(each + "i symbols of the word are read, e errors are spent"))
    if diagram.in_product:
        notes.append(Note("below i,e: the state of the system"))
    if any(node.is_accepting for node in diagram.nodes):
        notes.append(Note("double line: accepting"))
    return notes


def draw(diagram: Diagram, title: str, more: Sequence[Note] = ()) -> Figure:
    """The diagram as a figure, with more notes in its legend; one unit of the axes is one point.

    Cost: arrows · (nodes + arrows).
    """
    layout = Layout.of(diagram, _width)
    notes, page = [*legend(diagram), *more], layout.page
    width = max([page.width, 1.3 * _width(title) + 40, *(_width(note.text) + _STROKE + 50 for note in notes)])
    foot, head = _LEGEND_LINE * len(notes) + 8, 2 * LINE if title else 0.0
    left, bottom, top = page.x - page.width / 2, page.y - page.height / 2, page.y + page.height / 2
    figure = new_figure((width / 72, (page.height + foot + head) / 72))
    axes = figure.add_axes((0, 0, 1, 1), xlim=(left, left + width), ylim=(bottom - foot, top + head))
    axes.set_axis_off()
    patches = [_node(axes, *parts) for parts in zip(diagram.nodes, layout.boxes, strict=True)]
    for arrow, curve, label in zip(diagram.arrows, layout.curves, layout.labels, strict=True):
        _arrow(axes, arrow, curve, patches)
        _label(axes, arrow, label)
    for line, note in enumerate(notes):
        x, y = left + 20, bottom - _LEGEND_LINE * (line + 0.5)
        if note.line:
            axes.plot([x, x + _STROKE], [y, y], color=note.colour, linestyle=note.line, linewidth=note.width)
            axes.lines[-1].set(alpha=note.opacity, solid_capstyle="butt")
            x += _STROKE + 8
        axes.text(x, y, note.text, fontsize=TEXT, va="center", color=note.colour)
    if title:
        axes.text(left + 20, top + LINE / 2, drawable(title), fontsize=1.2 * TEXT, color=INK, parse_math=False)
    return figure


def _width(text: str) -> float:
    return text_width(text, TEXT)


def _node(axes: Axes, node: Node, box: Box) -> FancyBboxPatch:
    from matplotlib.patches import FancyBboxPatch

    edge = PALE if node.is_outside else INK

    def outline(inset: float, fill: str) -> FancyBboxPatch:
        width, height = box.width - 2 * inset, box.height - 2 * inset
        shape = f"round,pad=0,rounding_size={min(height, 44) / 2}"
        corner = (box.x - width / 2, box.y - height / 2)
        return FancyBboxPatch(
            corner, width, height, shape, facecolor=fill, edgecolor=edge, linewidth=1.1, zorder=3, gid="node"
        )

    patch = outline(0, "white")
    axes.add_patch(patch)
    if node.is_accepting:
        axes.add_patch(outline(3, "none"))
    if node.is_start:
        left = box.x - box.width / 2
        axes.annotate("", (left, box.y), (left - 24, box.y), arrowprops={"arrowstyle": "-|>", "color": INK})
    lines = [(text, INK) for text in node.label] + ([(node.completions, COMPLETIONS)] if node.completions else [])
    _lines(axes, lines, box, zorder=4)
    return patch


def _arrow(axes: Axes, arrow: Arrow, curve: Way, patches: list[FancyBboxPatch]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    stroke = KINDS[arrow.kind]
    looks: dict[str, Any] = {"color": stroke.colour, "linestyle": stroke.line, "linewidth": arrow.width, "gid": "arrow"}
    looks |= {"arrowstyle": "-|>", "mutation_scale": 10 + 2 * (arrow.width - 1)}
    if arrow.band:
        points = curve.at(np.linspace(0, 1, 200))
        inside = [patches[end].get_path().contains_points(points, radius=0.5) for end in (arrow.source, arrow.target)]
        _banded(axes, arrow, points[~(inside[0] | inside[1])])
        return
    if not isinstance(curve, Curve):
        looks["path"] = Path(curve.at(np.linspace(0, 1, 100)))
    elif curve.bend is None:
        looks["path"] = Path([curve.start, curve.corner, curve.end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
    else:
        looks |= {"patchA": patches[arrow.source], "patchB": patches[arrow.target], "shrinkA": 0, "shrinkB": 1}
        looks |= {"posA": curve.start, "posB": curve.end, "connectionstyle": f"arc3,rad={curve.bend}"}
    axes.add_artist(FancyArrowPatch(**looks))


def _banded(axes: Axes, arrow: Arrow, points: Points) -> None:
    """A wide arrow with a band behind it: lines up to the head, which is not wider than needed."""
    from matplotlib.patches import Polygon

    stroke, size = KINDS[arrow.kind], 5 + 1.2 * arrow.width  # the length of the head
    left = np.linalg.norm(points - points[-1], axis=1)
    neck = int(np.flatnonzero(left >= min(size, left.max()))[-1])
    body = points[: neck + 2]  # a little into the head, so that there is no gap
    along = points[-1] - points[neck]
    aside = np.array([-along[1], along[0]]) * (0.5 * arrow.width + 2.5) / np.linalg.norm(along)
    axes.plot(*body.T, color=stroke.colour, linewidth=arrow.band, alpha=BAND, zorder=0.5, gid="band")
    axes.lines[-1].set(solid_capstyle="butt")
    axes.plot(*body.T, color=stroke.colour, linewidth=arrow.width, linestyle=stroke.line, zorder=1, gid="arrow")
    axes.lines[-1].set(solid_capstyle="butt", dash_capstyle="butt")
    head = Polygon(
        [points[neck] + aside, points[neck] - aside, points[-1]], facecolor=stroke.colour, edgecolor="none", gid="head"
    )
    axes.add_patch(head)


def _label(axes: Axes, arrow: Arrow, box: Box) -> None:
    from matplotlib.patches import Rectangle

    if not (arrow.reads or arrow.proportion):
        return
    corner = (box.x - box.width / 2, box.y - box.height / 2)
    axes.add_patch(
        Rectangle(corner, box.width, box.height, facecolor="white", edgecolor="none", zorder=2.5, gid="label")
    )
    lines = [(text, KINDS[arrow.kind].colour) for text in arrow.lines] + (
        [(arrow.proportion, PROPORTION)] if arrow.proportion else []
    )
    _lines(axes, lines, box, zorder=2.6)


def _lines(axes: Axes, lines: list[tuple[str, str]], box: Box, zorder: float) -> None:
    """Write lines of text in the middle of a box, each in its colour."""
    looks: dict[str, Any] = {"fontsize": TEXT, "ha": "center", "va": "center_baseline", "parse_math": False}
    for place, (text, colour) in enumerate(lines):
        y = box.y + ((len(lines) - 1) / 2 - place) * LINE
        axes.text(box.x, y, drawable(text), color=colour, zorder=zorder, **looks)


def dot_text(diagram: Diagram, title: str) -> str:
    """The diagram in the DOT language; states of one column share a rank. Cost: its arrows."""
    lines = ["digraph {", "  rankdir=LR", *(f'  {part} [fontname="sans-serif"]' for part in ("graph", "node", "edge"))]
    columns: dict[float, list[str]] = {}
    for number, node in enumerate(diagram.nodes):
        label = _html(node.label, node.completions, COMPLETIONS)
        lines.append(f"  {number} [label={label}, shape=box, style=rounded, peripheries={1 + node.is_accepting}]")
        columns.setdefault(node.column, []).append(str(number))
        if node.is_start:
            lines += ['  start [shape=none, label=""]', f"  start -> {number}"]
    if diagram.arranged == "layers":
        lines += [f"  {{ rank=same; {'; '.join(together)} }}" for together in columns.values()]
    for arrow in diagram.arrows:
        kind = KINDS[arrow.kind]
        lines.append(
            f"  {arrow.source} -> {arrow.target} [label={_html((arrow.reads,), arrow.proportion, PROPORTION)}, "
            f'color="{kind.colour}", fontcolor="{kind.colour}", style={kind.dot}]'
        )
    used = {arrow.kind for arrow in diagram.arrows}
    strokes = {stroke.meaning: f"{stroke.dot} line, " for kind, stroke in KINDS.items() if kind in used}
    notes = [_font(strokes.get(note.text, "") + note.text, note.colour) for note in legend(diagram)]
    label = "".join(f"{note}<br align='left'/>" for note in ([title.translate(_ESCAPES)] if title else []) + notes)
    return "\n".join([*lines, f"  label=<{label}>", "  labeljust=l", "}", ""])


def _html(lines: tuple[str, ...], note: str, colour: str) -> str:
    """An HTML-like label: the lines in black, the note in its colour."""
    parts = [line.translate(_ESCAPES) for line in lines]
    if note:
        parts.append(_font(note, colour))
    return f"<{'<br/>'.join(parts)}>"


def _font(text: str, colour: str) -> str:
    return f'<font color="{colour}">{text.translate(_ESCAPES)}</font>'
