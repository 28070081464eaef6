"""Diagrams as matplotlib figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpwords.plots.figures import drawable, new_figure, text_width
from dpwords.plots.layout import LINE, Box, Curve, Layout
from dpwords.plots.structure import Arrow, Diagram, Node
from dpwords.plots.style import COMPLETIONS, INK, KINDS, PROPORTION, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import FancyBboxPatch

TEXT = 9.0  # font size; all lengths in this module are in points
_STROKE = 34.0  # length of the sample line in a legend
_LEGEND_LINE = 1.4 * LINE


def draw(diagram: Diagram, title: str) -> Figure:
    """The diagram as a figure; one unit of the axes is one point. Cost: arrows · (nodes + arrows)."""
    layout = Layout.of(diagram, _width)
    notes, page = legend(diagram), layout.page
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
            axes.plot([x, x + _STROKE], [y, y], color=note.colour, linestyle=note.line, linewidth=1.4)
            x += _STROKE + 8
        axes.text(x, y, note.text, fontsize=TEXT, va="center", color=note.colour)
    if title:
        axes.text(left + 20, top + LINE / 2, drawable(title), fontsize=1.2 * TEXT, color=INK, parse_math=False)
    return figure


def _width(text: str) -> float:
    return text_width(text, TEXT)


def _node(axes: Axes, node: Node, box: Box) -> FancyBboxPatch:
    from matplotlib.patches import FancyBboxPatch

    def outline(inset: float, fill: str) -> FancyBboxPatch:
        width, height = box.width - 2 * inset, box.height - 2 * inset
        shape = f"round,pad=0,rounding_size={min(height, 44) / 2}"
        corner = (box.x - width / 2, box.y - height / 2)
        return FancyBboxPatch(
            corner, width, height, shape, facecolor=fill, edgecolor=INK, linewidth=1.1, zorder=3, gid="node"
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


def _arrow(axes: Axes, arrow: Arrow, curve: Curve, patches: list[FancyBboxPatch]) -> None:
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    stroke = KINDS[arrow.kind]
    looks: dict[str, Any] = {"color": stroke.colour, "linestyle": stroke.line, "linewidth": arrow.width, "gid": "arrow"}
    looks |= {"arrowstyle": "-|>", "mutation_scale": 10 + 2 * (arrow.width - 1)}
    if curve.bend is None:
        way = Path([curve.start, curve.corner, curve.end], [Path.MOVETO, Path.CURVE3, Path.CURVE3])
        axes.add_artist(FancyArrowPatch(path=way, **looks))
        return
    looks |= {"patchA": patches[arrow.source], "patchB": patches[arrow.target], "shrinkA": 0, "shrinkB": 1}
    axes.add_artist(FancyArrowPatch(curve.start, curve.end, connectionstyle=f"arc3,rad={curve.bend}", **looks))


def _label(axes: Axes, arrow: Arrow, box: Box) -> None:
    from matplotlib.patches import Rectangle

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
