"""Estimated proportions: on the grid or map of a system, as a graph with wide and narrow arrows, as bars, or by
position."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.languages.systems import TransitionSystem, written
from dpwords.plots.drawing import draw
from dpwords.plots.figures import drawable, legend_text, matplotlib_as_it_comes, new_figure, one_line
from dpwords.plots.grounds import Grid, Ground, ground_of
from dpwords.plots.palette import INK, PALE, RELEASED, WALL, looks
from dpwords.plots.places import MOST_STATES, apart, cells_of
from dpwords.plots.structure import Arrow, Diagram, Node, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

MOST_BARS = 30
MOST_STEPS = 30  # arrows of a graph
MOST_LINES = 8  # symbols with a line through the positions
_PAIRS = ("transitions", "dfg")
_PROPORTION_OF = {
    "starts": "proportion of the words that start there",
    "ends": "proportion of the words that end there",
}
_PANEL = 4.4  # inches
_WIDEST = 4.5  # points, of an arrow
_NAME = 16  # characters on a line of a node
_LANE, _WEDGE = 0.2, 0.4  # in cells: how far from the middle steps are drawn, and how wide the widest one is


class EstimatedProportions(Protocol):
    """What is drawn of estimates: values with intervals by label, what the releases give, and how they were made."""

    question: str
    confidence: float
    releases: int

    @property
    def counted(self) -> Mapping[Any, float]:
        """The proportion of each label among the releases."""

    def __getitem__(self, label: Any, /) -> tuple[float, float, float]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...


@matplotlib_as_it_comes()
def estimates(
    found: EstimatedProportions | Sequence[EstimatedProportions],
    language: Language | None = None,
    title: str = "",
    *,
    names: Sequence[str] = (),
) -> Figure:
    """Estimated proportions with their intervals, as a function of `dw.estimate` has returned them.

    With the language of the mechanism, visits on a grid become a heat map, and steps on it wedges between cells; on a
    map with coordinates, visits are discs. Other pairs become a graph with wide and narrow arrows, and other
    proportions bars. A list with a table for each position becomes lines. Where there are too many proportions, the
    largest are drawn, and the title says so. `names` are those of the positions, such as months, or of patterns. Cost:
    the proportions that are drawn.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("abc"), epsilon=3)
    >>> found = dw.estimate.frequencies(mechanism.seeded(1).release_all(["abca"] * 200), mechanism)
    >>> figure = estimates(found)
    """
    several = isinstance(found, (list, tuple))
    tables: list[EstimatedProportions] = list(found) if several else [cast("EstimatedProportions", found)]
    if not tables or not all(len(one) and hasattr(one, "counted") for one in tables):
        raise InvalidValue("there is nothing to draw: pass what a function of dw.estimate returned")
    if several:
        return _by_position(tables, one_line(title), names)
    return _proportions(tables[0], language, one_line(title), names)


def _by_position(tables: Sequence[EstimatedProportions], title: str, names: Sequence[str]) -> Figure:
    """The proportions of the most frequent symbols at each position, as lines with their intervals."""
    mean = {label: sum(one[label][0] for one in tables) / len(tables) for label in tables[0]}
    kept = sorted(mean, key=lambda label: -mean[label])[:MOST_LINES]
    figure = new_figure((max(6.0, min(12.0, 2 + 0.14 * len(tables))), 4.2), layout="constrained")
    axes = figure.subplots()
    positions = np.arange(1, len(tables) + 1)
    styles = looks(_name(label) for label in kept)
    for label in kept:
        look = styles[_name(label)]
        value, low, high = np.array([one[label] for one in tables]).T
        axes.fill_between(positions, low, high, color=look.colour, alpha=0.15, linewidth=0, gid="interval")
        axes.plot(positions, value, color=look.colour, linestyle=look.line, linewidth=1.4, gid="proportion")
        axes.lines[-1].set_label(legend_text(_name(label)))
    rest = len(mean) - len(kept)
    shown = f"the {len(kept)} largest of {len(mean)} symbols" if rest else ""
    figure.suptitle(_titled(title, tables[0], shown), fontsize=10, parse_math=False)
    axes.margins(x=0.01)
    axes.set(ylabel="proportion", ylim=(0, None), xlabel="" if names else "position")
    if names:
        step = math.ceil(len(tables) / 24)
        named = [drawable(names[at]) for at in range(0, len(tables), step)]
        axes.set_xticks(positions[::step], named, rotation=90, fontsize=8, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside right center", frameon=False, fontsize=8, title=_interval(tables[0]), title_fontsize=8)
    return figure


def _proportions(found: EstimatedProportions, language: Language | None, title: str, names: Sequence[str]) -> Figure:
    """One table of proportions, in the picture that fits its labels."""
    system = None if language is None else language.system
    pairs = found.question in _PAIRS
    if system is not None and (system.positions is not None or cells_of(system) is not None):
        ends = [end for label in found for end in (label if pairs else (label,))]
        ground = ground_of(system)
        if set(ends) <= set(ground.spots):
            return _on_ground(found, ground, pairs, title)
    return _graph(found, system, title) if pairs else _bars(found, title, names)


def _on_ground(found: EstimatedProportions, ground: Ground, pairs: bool, title: str) -> Figure:
    """The estimates on the grid or map and, beside them in the same scale, what the releases give."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    values = {label: found[label][0] for label in found}
    most = max(*values.values(), *found.counted.values(), 1e-9)
    figure = new_figure((2 * _PANEL + (0.2 if pairs else 1.2), _PANEL * ground.aspect + 1.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, shown, said in zip(panels, (values, found.counted), ("estimated", "counted as released"), strict=True):
        axes.set(xlim=ground.x, ylim=ground.y, aspect="equal")
        axes.set_axis_off()
        axes.set_title(said, fontsize=9, color=INK)
        ground.paint(axes, _PANEL)
        (_steps if pairs else _visits)(axes, ground, shown, most)
    figure.suptitle(_titled(title, found), fontsize=10, parse_math=False)
    if pairs:
        notes = ["a wedge points where the step leads", f"the widest is {_percent(most)} of all steps"]
    elif isinstance(ground, Grid):
        notes = []
        bar = figure.colorbar(ScalarMappable(Normalize(0, most), _colours()), ax=list(panels), shrink=0.8)
        bar.set_label(_PROPORTION_OF.get(found.question, "proportion of the visits"), fontsize=8)
        bar.ax.tick_params(labelsize=8)
    else:
        notes = [f"areas are proportions, the largest is {_percent(most)}"]
    unsure = [] if pairs else [ground.spots[label] for label in found if found[label][1] <= 0 < found[label][0]]
    for x, y in unsure:
        panels[0].plot(x, y, marker=".", color=WALL, markersize=2.5, zorder=3, gid="unsure")
    notes += [f"grey dot: the interval of {found.confidence:.4g} reaches 0"] * bool(unsure)
    figure.supxlabel("; ".join([*notes, *ground.notes]), fontsize=8, color=INK)
    return figure


def _visits(axes: Axes, ground: Ground, shown: Mapping[Any, float], most: float) -> None:
    """Cells in colours, or at the states of a map discs whose areas are the proportions."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    spots = [ground.spots[label] for label in shown]
    values = np.array(list(shown.values()))
    if isinstance(ground, Grid):
        cells = [Rectangle((x - 0.5, y - 0.5), 1, 1) for x, y in spots]
        faces = PatchCollection(
            cells, facecolors=_colours()(values / most), edgecolors=PALE, zorder=0.2, gid="proportion"
        )
        faces.set_linewidth(0.3)
        axes.add_collection(faces)
        return
    x, y = np.array(spots).T
    axes.scatter(x, y, s=260 * values / most, color=RELEASED, alpha=0.7, linewidths=0, zorder=2, gid="proportion")


def _steps(axes: Axes, ground: Ground, shown: Mapping[Any, float], most: float) -> None:
    """Each step as a wedge that points to where it leads, beside the step back; a step in place is a ring."""
    from matplotlib.collections import PolyCollection

    unit, wedges = ground.unit(_PANEL), []
    for (one, other), value in shown.items():
        size = value / most
        here, there = np.array(ground.spots[one]), np.array(ground.spots[other])
        along = there - here
        length = float(np.hypot(*along))
        if length == 0:
            point = 72 * _PANEL / (ground.x[1] - ground.x[0])
            wide = _WEDGE * unit * point * size
            axes.plot(*here, marker="o", markersize=0.3 * unit * point, markerfacecolor="none", gid="proportion")
            axes.lines[-1].set(markeredgecolor=RELEASED, markeredgewidth=wide, zorder=2)
            continue
        aside = unit * np.array([-along[1], along[0]]) / length
        begin, end = here + 0.1 * along + _LANE * aside, there - 0.1 * along + _LANE * aside
        half = _WEDGE / 2 * size * aside
        wedges.append([begin - half, begin + half, end])
    axes.add_collection(PolyCollection(wedges, facecolors=RELEASED, edgecolors="none", zorder=2, gid="proportion"))


def _graph(found: EstimatedProportions, system: TransitionSystem | None, title: str) -> Figure:
    """The largest steps as arrows between symbols or states, the wider the larger."""
    order = sorted((label for label in found if found[label][0] > 0), key=lambda label: -found[label][0])
    steps = order[:MOST_STEPS]
    ends = list(dict.fromkeys(end for step in steps for end in step))
    number = {end: position for position, end in enumerate(ends)}
    pairs = [(number[one], number[other]) for one, other in steps]
    spots = apart(len(ends), pairs, None, MOST_STATES)  # at most 60
    start = None if system is None else system.start
    nodes = tuple(
        Node(_lines(end), "", end == start and start is not None, False, *spot)
        for end, spot in zip(ends, spots, strict=True)
    )
    most = found[steps[0]][0] if steps else 1.0
    arrows = tuple(
        Arrow(*pair, _percent(found[step][0]), "", "step", 0.5 + (_WIDEST - 0.5) * found[step][0] / most)
        for step, pair in zip(steps, pairs, strict=True)
    )
    part = sum(found[step][0] for step in steps)
    shown = f"the {len(steps)} largest of {len(found)}, {part:.0%} of all" if len(order) > len(steps) else ""
    return draw(Diagram(nodes, arrows, "spread"), _titled(title, found, shown))


def _bars(found: EstimatedProportions, title: str, names: Sequence[str]) -> Figure:
    """Bars with their intervals, and what the releases give as a mark beside each."""
    texts = dict(zip(found, names, strict=True)) if names else {label: _name(label) for label in found}
    kept = sorted(found, key=lambda label: -found[label][0])[:MOST_BARS]
    if found.question == "lengths":
        kept = sorted(label for label in kept if found[label][0] > 0 or found.counted[label] > 0)
    figure = new_figure((6.4, 1.3 + 0.24 * len(kept)), layout="constrained")
    axes = figure.subplots()
    value, low, high = np.array([found[label] for label in kept]).T
    rows = np.arange(len(kept))
    axes.barh(rows, value, height=0.6, color=RELEASED, alpha=0.35, gid="proportion")
    reach = np.nan_to_num(np.stack([value - low, high - value]))
    axes.errorbar(value, rows, xerr=reach, fmt=".", color=RELEASED, markersize=5, linewidth=1.2, capsize=2)
    axes.lines[0].set_label(f"estimated, {_interval(found)}")
    axes.plot([found.counted[label] for label in kept], rows, "D", color=INK, markersize=3.5, markerfacecolor="none")
    axes.lines[-1].set(label="counted as released", gid="counted")
    axes.set_yticks(rows, [drawable(texts[label]) for label in kept], fontsize=8, parse_math=False)
    axes.invert_yaxis()
    axes.set(xlabel="proportion", xlim=(0, None))
    shown = f"the {len(kept)} largest of {len(found)}" if len(found) > len(kept) else ""
    figure.suptitle(_titled(title, found, "" if found.question == "lengths" else shown), fontsize=10, parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color=PALE, linewidth=0.4)
    axes.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return figure


def _colours() -> Colormap:
    """From white to the colour of what is released."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("proportions", ["white", RELEASED])


def _titled(title: str, found: EstimatedProportions, shown: str = "") -> str:
    about = title or f"{found.question} estimated from {found.releases:,} releases"
    return drawable(f"{about} ({shown})" if shown else about)


def _percent(proportion: float) -> str:
    return f"{100 * proportion:.2g}%"


def _interval(found: EstimatedProportions) -> str:
    return f"with intervals of {found.confidence:.4g}"


def _name(label: Any) -> str:
    """A label on one line, with visible blanks where there is nothing else."""
    if isinstance(label, int):
        return str(label)
    return visible(label).replace("␣", " ") if written(label).strip() else visible(label)


def _lines(end: Any) -> tuple[str, ...]:
    """A name on as many lines as it needs, with visible blanks where there is nothing else."""
    lines = textwrap.wrap(written(end), _NAME) or [visible(end)]
    return tuple("".join(letter if letter.isprintable() else "�" for letter in line) for line in lines)
