"""Estimated proportions: on the grid or map of a system, as a graph with wide and narrow arrows, as bars, or by
position."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.languages.systems import TransitionSystem
from dpwords.plots.bars import Bars, bars, beside
from dpwords.plots.captions import EstimatedProportions, is_of_pairs, name, percent
from dpwords.plots.captions import names as written_out
from dpwords.plots.figures import drawable, legend_text, matplotlib_as_it_comes, new_figure, one_line, text_width
from dpwords.plots.graphs import graph
from dpwords.plots.grounds import Grid, Ground, ground_of
from dpwords.plots.palette import BAND, INK, PALE, RELEASED, WALL, looks
from dpwords.plots.places import cells_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

PictureForm = Literal["auto", "bars", "graph"]
MOST_SHOWN = 30  # bars, and arrows of a graph
MOST_LINES = 8  # symbols with a line through the positions
_PROPORTION_OF = {
    "starts": "proportion of the words that start there",
    "ends": "proportion of the words that end there",
}
_PANEL = 4.4  # inches
_LANE, _WEDGE, _APART = 0.14, 0.26, 0.28  # in cells: how far from the middle steps are, how wide the widest one is, and
# how far from either cell's middle it begins and ends, so that steps in four directions and in place do not overlap
_DRAWN = 0.02  # of the widest step: what is smaller is hardly seen
_SEEN = 1.2  # points: of what is pale, on each side of what it stands behind


@matplotlib_as_it_comes()
def estimates(
    found: EstimatedProportions | Sequence[EstimatedProportions],
    language: Language | None = None,
    title: str = "",
    *,
    names: Sequence[str] = (),
    form: PictureForm = "auto",
    most: int = MOST_SHOWN,
) -> Figure:
    """Estimated proportions with their intervals, as a function of `dw.estimate` has returned them.

    With the language of the mechanism, visits on a grid become a heat map, and steps on it wedges between cells; on a
    map with coordinates, visits are discs. Other pairs become a graph from start to end with wide and narrow arrows,
    and bars beside it; other proportions become bars. A list with a table for each position becomes lines. What is
    paler, behind arrows, wedges and discs, reaches up to the upper ends of the intervals, and is wide enough to be
    seen. Of bars and arrows the `most` largest are drawn, and the title says so; of rates, those whose intervals begin
    highest. `names` are those of the positions, such as months, or of patterns. With `form="bars"` there are only bars,
    also on grids and maps, and with `form="graph"` only the graph of pairs. Cost: the proportions that are drawn, and
    for a graph its arrows squared.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("abc"), epsilon=3)
    >>> found = dw.estimate.frequencies(mechanism.seeded(1).release_all(["abca"] * 200), mechanism)
    >>> figure = estimates(found)
    """
    several = isinstance(found, (list, tuple))
    tables: list[EstimatedProportions] = list(found) if several else [cast("EstimatedProportions", found)]
    if not tables or not all(len(one) and hasattr(one, "counted") for one in tables):
        raise InvalidValue("there is nothing to draw: pass what a function of dw.estimate returned")
    if form not in get_args(PictureForm):
        raise InvalidValue(f"form is one of {', '.join(get_args(PictureForm))}")
    if form == "graph" and not (is_of_pairs(tables[0].question) and not several):
        raise InvalidValue("only pairs are a graph, those of transitions or dfg: leave out form, or pass form='bars'")
    if form == "bars" and several:
        raise InvalidValue("tables by position are lines: leave out form, or draw one of them with form='bars'")
    if several:
        return _by_position(tables, one_line(title), names)
    return _proportions(tables[0], language, one_line(title), names, form, whole_number(most, "most", 1))


def _by_position(tables: Sequence[EstimatedProportions], title: str, names: Sequence[str]) -> Figure:
    """The proportions of the most frequent symbols at each position, as lines with their intervals."""
    mean = {label: sum(one[label][0] for one in tables) / len(tables) for label in tables[0]}
    kept = sorted(mean, key=lambda label: -mean[label])[:MOST_LINES]
    figure = new_figure((max(6.0, min(12.0, 2 + 0.14 * len(tables))), 4.2), layout="constrained")
    axes = figure.subplots()
    positions = np.arange(1, len(tables) + 1)
    styles = looks(name(label) for label in kept)
    for label in kept:
        look = styles[name(label)]
        value, low, high = np.array([one[label] for one in tables]).T
        axes.fill_between(positions, low, high, color=look.colour, alpha=0.15, linewidth=0, gid="interval")
        axes.plot(positions, value, color=look.colour, linestyle=look.line, linewidth=1.4, gid="proportion")
        axes.lines[-1].set_label(legend_text(name(label)))
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


def _proportions(
    found: EstimatedProportions,
    language: Language | None,
    title: str,
    names: Sequence[str],
    form: PictureForm,
    most: int,
) -> Figure:
    """One table of proportions, in the picture that fits its labels."""
    system = None if language is None else language.system
    pairs = is_of_pairs(found.question)
    if form == "auto" and system is not None and (system.positions is not None or cells_of(system) is not None):
        ends = [end for label in found for end in (label if pairs else (label,))]
        ground = ground_of(system)
        if set(ends) <= set(ground.spots):
            return _on_ground(found, ground, pairs, title, system.start)
    return _pairs(found, system, title, form, most) if pairs else _bars(found, title, names, most)


def _on_ground(found: EstimatedProportions, ground: Ground, pairs: bool, title: str, start: Any) -> Figure:
    """The estimates on the grid or map and, beside them in the same scale, what the releases give."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    values = {label: found[label][0] for label in found}
    upper = {label: value if math.isnan(found[label][2]) else found[label][2] for label, value in values.items()}
    heat = not pairs and isinstance(ground, Grid)  # colours do not show intervals
    largest = max(*values.values(), *found.counted.values(), 1e-9)
    most = largest if heat else max(largest, *upper.values())
    unsure = {label for label, value in values.items() if found[label][1] <= 0 < value}
    figure = new_figure((2 * _PANEL + (0.2 if pairs else 1.2), _PANEL * ground.aspect + 1.0), layout="constrained")
    panels = figure.subplots(1, 2)
    for axes, shown, said in zip(panels, (values, found.counted), ("estimated", "counted as released"), strict=True):
        estimated = axes is panels[0]
        axes.set(xlim=ground.x, ylim=ground.y, aspect="equal")
        axes.set_axis_off()
        ground.paint(axes, _PANEL)
        axes.set_title(said, fontsize=9, color=INK, pad=6 + ground.number(axes))
        begin = [] if start is None else [ground.mark(axes, start)]
        if pairs and estimated:
            _steps(axes, ground, upper, most, "interval", behind=values)
        elif estimated and not heat:
            _visits(axes, ground, upper, most, "interval")
        if pairs:
            _steps(axes, ground, shown, most, doubtful=unsure if estimated else ())
        else:
            _visits(axes, ground, shown, most)
    figure.suptitle(_titled(title, found), fontsize=10, parse_math=False)
    sure = f"{100 * found.confidence:.4g}% interval"
    pale = [f"pale: up to the upper end of the {sure}" + ", and wide enough to be seen" * pairs] * (upper != values)
    if pairs:
        notes = ["a wedge points where the step leads", f"the widest is {percent(largest)} of all steps", *pale]
        notes += ["grey wedge: the interval reaches 0"] * bool(unsure)
    elif heat:
        notes = []
        bar = figure.colorbar(ScalarMappable(Normalize(0, most), _colours()), ax=list(panels), shrink=0.8)
        bar.set_label(_PROPORTION_OF.get(found.question, "proportion of the visits"), fontsize=8)
        bar.ax.tick_params(labelsize=8)
    else:
        notes = [f"areas are proportions, the largest is {percent(largest)}", *pale]
    notes = begin + notes
    if not pairs:
        for x, y in (ground.spots[label] for label in values if label in unsure):
            panels[0].plot(x, y, marker=".", color=WALL, markersize=2.5, zorder=3, gid="unsure")
        notes += [f"grey dot: the {sure} reaches 0"] * bool(unsure)
    figure.supxlabel("\n".join(_on_lines([*notes, *ground.notes], 72 * 2 * _PANEL)), fontsize=8, color=INK)
    return figure


def _on_lines(notes: Sequence[str], width: float) -> list[str]:
    """Notes on lines of at most so many points, with semicolons between them."""
    lines = [""]
    for note in notes:
        longer = f"{lines[-1]}; {note}" if lines[-1] else note
        lines[-1:] = [longer] if text_width(longer, 8.0) <= width or not lines[-1] else [f"{lines[-1]};", note]
    return lines


def _visits(axes: Axes, ground: Ground, shown: Mapping[Any, float], most: float, gid: str = "proportion") -> None:
    """Cells in colours, or at the states of a map discs whose areas are the proportions."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    spots = [ground.spots[label] for label in shown]
    values = np.array(list(shown.values()))
    if isinstance(ground, Grid):
        cells = [Rectangle((x - 0.5, y - 0.5), 1, 1) for x, y in spots]
        faces = PatchCollection(cells, facecolors=_colours()(values / most), edgecolors=PALE, zorder=0.2, gid=gid)
        faces.set_linewidth(0.3)
        axes.add_collection(faces)
        return
    x, y = np.array(spots).T
    looks: dict[str, Any] = {"alpha": 0.7, "zorder": 2} if gid == "proportion" else {"alpha": BAND, "zorder": 1.5}
    axes.scatter(x, y, s=260 * values / most, color=RELEASED, linewidths=0, gid=gid, **looks)


def _steps(
    axes: Axes,
    ground: Ground,
    shown: Mapping[Any, float],
    most: float,
    gid: str = "proportion",
    doubtful: Collection[Any] = (),
    behind: Mapping[Any, float] | None = None,
) -> None:
    """Each step as a wedge that points to where it leads, beside the step back; a step in place is a ring.

    What stands behind other proportions is wide enough to be seen where these are.
    """
    from matplotlib.collections import PolyCollection

    unit, wedges, fills = ground.unit(_PANEL), [], []
    point = (ground.x[1] - ground.x[0]) / (72 * _PANEL)
    looks: dict[str, Any] = {"zorder": 2} if behind is None else {"alpha": BAND, "zorder": 1.5}
    for step, value in shown.items():
        one, other = step
        wide = _WEDGE * unit * value / most
        before = 0.0 if behind is None else behind[step] / most
        seen = _SEEN * point if before >= _DRAWN else 0.0
        if seen:
            wide = max(wide, _WEDGE * unit * before + 2 * seen)
        here, there = np.array(ground.spots[one]), np.array(ground.spots[other])
        along = there - here
        length = float(np.hypot(*along))
        if length == 0:
            axes.plot(*here, marker="o", markersize=0.3 * unit / point, markerfacecolor="none", gid=gid)
            colour = WALL if step in doubtful else RELEASED
            axes.lines[-1].set(markeredgecolor=colour, markeredgewidth=wide / point, **looks)
            continue
        forth = along / length
        aside = np.array([-forth[1], forth[0]])
        lane, apart = _LANE * unit * aside, min(_APART * unit, 0.35 * length) * forth
        begin, end = here + lane + apart - seen * forth, there + lane - apart + 2 * seen * forth
        wedges.append([begin - wide / 2 * aside, begin + wide / 2 * aside, end])
        fills.append(WALL if step in doubtful else RELEASED)
    axes.add_collection(PolyCollection(wedges, facecolors=fills, edgecolors="none", gid=gid, **looks))


def _pairs(
    found: EstimatedProportions, system: TransitionSystem | None, title: str, form: PictureForm, most: int
) -> Figure:
    """The largest steps as a graph, and beside it as bars."""
    order = [label for label in found.ordered() if found[label][0] > 0]
    steps = order[:most] or [*found][:most]
    form = form if order else "bars"
    part = sum(found[step][0] for step in steps)
    shown = f"the {len(steps)} largest of {len(found)}, {part:.0%} of all" if len(order) > len(steps) else ""
    ready = Bars.of(found, steps, [name(step, found.question) for step in steps])
    if form == "bars":
        return bars(ready, _titled(title, found, shown))
    figure = graph(found, steps, system, _titled(title, found, shown))
    if form == "auto":
        beside(figure, ready)
    return figure


def _bars(found: EstimatedProportions, title: str, names: Sequence[str], most: int) -> Figure:
    """The largest proportions as bars."""
    texts = dict(zip(found, names or written_out(found, found.question), strict=True))
    kept = found.ordered()[:most]
    if found.question == "lengths":
        kept = sorted(label for label in kept if found[label][0] > 0 or found.counted[label] > 0)
    largest = f"{len(kept)} of {len(found)}, those whose intervals begin highest"  # the order of rates
    largest = largest if found.question == "rates" else f"the {len(kept)} largest of {len(found)}"
    shown = largest if len(found) > len(kept) else ""
    about = _titled(title, found, "" if found.question == "lengths" else shown)
    return bars(Bars.of(found, kept, [texts[label] for label in kept]), about)


def _colours() -> Colormap:
    """From white to the colour of what is released."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("proportions", ["white", RELEASED])


def _titled(title: str, found: EstimatedProportions, shown: str = "") -> str:
    about = title or f"{found.question} estimated from {found.releases:,} releases"
    return drawable(f"{about} ({shown})" if shown else about)


def _interval(found: EstimatedProportions) -> str:
    return f"with {100 * found.confidence:.4g}% intervals"
