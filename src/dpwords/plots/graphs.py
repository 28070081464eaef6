"""Estimated pairs as a graph from start to end: wide and narrow arrows with bands up to the ends of their intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from dpwords.languages.systems import TransitionSystem
from dpwords.plots.captions import EstimatedProportions, name, with_interval, wrapped
from dpwords.plots.drawing import draw
from dpwords.plots.figures import Note
from dpwords.plots.palette import BAND, RELEASED
from dpwords.plots.places import MOST_STATES, Arrangement, Spot, apart
from dpwords.plots.ranks import ranked
from dpwords.plots.structure import Arrow, Diagram, Kind, Node

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDEST, _NARROWEST, _SEEN = 14.0, 0.7, 1.5  # points: of a band, of an arrow, and of the band on each side of it
_NAME = 18  # characters on a line of a node
_DENSE, _FEW = 0.5, (4, 8)  # graphs of so many nodes with more than half of all pairs have no order to show
_SMALL = 0.05  # of the largest step: smaller ones whose intervals reach 0 would hide the others
_OUTSIDE = 0.05  # of all words that visibly start or end somewhere: less is not drawn
_UNREACHED = "where no arrow leads to a box, what comes before is too rare or too unsure to be drawn"
START, END = "▶ start", "■ end"


def graph(found: EstimatedProportions, steps: Sequence[Any], system: TransitionSystem | None, title: str) -> Figure:
    """Steps as arrows between symbols or states: the wider the arrow and its band, the larger the estimate and the
    upper end of its interval. Steps that may well not occur and are small are left out. Cost: that of the layout."""
    least = _SMALL * max(found[step][0] for step in steps)
    drawn = [step for step in steps if found[step][0] >= least or found[step][1] > 0]
    ends = list(dict.fromkeys(end for step in drawn for end in step))
    number = {end: position for position, end in enumerate(ends)}
    flows = {(number[one], number[other]): found[one, other][0] for one, other in drawn}
    begins = None if system is None else number.get(system.start)
    placed = _placed(flows, _surplus(found, ends), begins)
    names = [tuple(wrapped(name(end), _NAME)) for end in ends] + [(text,) for text in placed.outside]
    nodes = tuple(
        Node(text, "", place == begins, False, *spot, is_outside=place >= len(ends))
        for place, (text, spot) in enumerate(zip(names, placed.spots, strict=True))
    )
    most = max(_upper(found, step) for step in drawn)
    arrows = [
        _arrow(pair, *found[step], _WIDEST / most, placed.passes.get(pair, []))
        for step, pair in zip(drawn, flows, strict=True)
    ]
    arrows += [
        Arrow(*pair, "", "", "outside", 0.7, passes=tuple(placed.passes[pair]))
        for pair in placed.passes
        if pair not in flows
    ]
    notes = []
    reached = {pair[1] for pair in (*flows, *placed.passes) if pair[0] != pair[1]}
    if begins is not None or START in placed.outside:
        lost = [place for place in range(len(ends)) if place not in reached and place != begins]
        notes += [Note(_UNREACHED)] * bool(lost)
    if not all(math.isnan(found[step][2]) for step in drawn):
        sure = f"the {100 * found.confidence:.4g}% interval"
        notes.append(
            Note(f"pale: up to the upper end of {sure}, and wide enough to be seen", RELEASED, "solid", 8.0, BAND)
        )
        notes.append(Note(f"in brackets: {sure}", RELEASED))
    if len(drawn) < len(steps):
        few = f"{len(steps) - len(drawn)} more with intervals that reach 0"
        notes.append(Note(f"left out: {few}, each less than {_SMALL:.0%} of the largest"))
    return draw(Diagram(nodes, tuple(arrows), placed.arranged), title, notes)


def _arrow(pair: tuple[int, int], value: float, low: float, high: float, scale: float, passes: Iterable[Spot]) -> Arrow:
    """The arrow of a step, with its estimate and its interval."""
    kind: Kind = "unsure step" if low <= 0 else "step"
    width = max(_NARROWEST, scale * value)
    band = 0.0 if math.isnan(high) else max(scale * high, width + 2 * _SEEN)
    return Arrow(*pair, "\n".join(with_interval(value, low, high)).strip(), "", kind, width, band, tuple(passes))


class Placed(NamedTuple):
    """Where the nodes are, where arrows pass in between, and the names of nodes for what is outside of words."""

    arranged: Arrangement
    spots: Sequence[Spot]
    passes: Mapping[tuple[int, int], Sequence[Spot]]
    outside: Sequence[str]


def _placed(flows: Mapping[tuple[int, int], float], surplus: Sequence[float], begins: int | None) -> Placed:
    """Nodes from start to end, with a start and an end by their surplus; around a circle if most of all pairs occur."""
    between = sum(one != other for one, other in flows)
    if _FEW[0] <= len(surplus) <= _FEW[1] and between > _DENSE * len(surplus) * (len(surplus) - 1):
        return Placed("spread", apart(len(surplus), flows, begins, MOST_STATES), {}, [])
    least = _OUTSIDE * sum(map(abs, surplus)) / 2
    starts = [place for place, each in enumerate(surplus) if each > least] if begins is None else []
    stops = [place for place, each in enumerate(surplus) if -each > least]
    outside = [START] * bool(starts) + [END] * bool(stops)
    first, last = len(surplus), len(surplus) + len(outside) - 1
    little = min(flows.values())
    links = {(first, place): little for place in starts} | {(place, last): little for place in stops}
    top = starts if begins is None else [begins]
    ends = first if starts else None, last if stops else None
    spots, passes = ranked(len(surplus) + len(outside), {**flows, **links}, top, stops, *ends)
    return Placed("ranks", spots, passes, outside)


def _upper(found: EstimatedProportions, step: Any) -> float:
    """The upper end of an interval or, if it is not known, the estimate."""
    value, _, high = found[step]
    return value if math.isnan(high) else high


def _surplus(found: EstimatedProportions, ends: Iterable[Any]) -> list[float]:
    """By how much more steps lead away from each symbol than to it, or 0 where the intervals leave that open.

    Words start with a symbol as often as steps lead away from it and not to it, less how often they end with it.
    """
    net, doubt = dict.fromkeys(ends, 0.0), dict.fromkeys(ends, 0.0)
    for one, other in found:
        value, low, high = found[one, other]
        for end, sign in ((one, 1.0), (other, -1.0)):
            if end in net and one != other:
                net[end] += sign * value
                doubt[end] += (high - low) ** 2 / 4
    return [each if abs(each) > math.sqrt(doubt[end]) else 0.0 for end, each in net.items()]
