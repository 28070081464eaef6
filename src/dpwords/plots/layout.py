"""The positions of the parts of a diagram, in points.

Nodes become boxes that fit their texts, arrows avoid the boxes, and labels are placed where there is room.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Union

import numpy as np
from numpy.typing import NDArray

from dpwords.plots.structure import Arrow, Diagram

Points = NDArray[np.float64]
Measure = Callable[[str], float]  # from a text to its width
Way = Union["Curve", "Ring", "Route"]  # the path of an arrow

LINE = 12.0  # distance between lines of text
_MARGIN = 34.0
_HOLE = 9.0  # radius of what is seen inside of a ring
_BENDS = (0.0, 0.16, -0.16, 0.32, -0.32, 0.48, -0.48, 0.64, -0.64)
_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8)  # positions of a label along its arrow
_SIDES = tuple(math.pi / 2 - turn * math.pi / 4 for turn in range(8))  # of a loop, as angles
_ROUTE = (0.5, 0.42, 0.58, 0.34, 0.66, 0.28, 0.72, 0.22, 0.78)  # likewise, between rows
_ASIDE = (0.0, 0.25, -0.25, 0.4, -0.4)  # of a label's width: how far it is moved where there is no room otherwise


class Box(NamedTuple):
    """A rectangle, given by its centre and its sides."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: Box, gap: float) -> bool:
        """Whether two boxes are closer than the gap, both horizontally and vertically."""
        across = abs(self.x - other.x) < (self.width + other.width) / 2 + gap
        return across and abs(self.y - other.y) < (self.height + other.height) / 2 + gap

    def holds(self, points: Points, gap: float) -> bool:
        """Whether one of the points is in the box or closer to it than the gap."""
        inside = np.abs(points - [self.x, self.y]) < [self.width / 2 + gap, self.height / 2 + gap]
        return bool(inside.all(axis=1).any())


class Curve(NamedTuple):
    """The path of an arrow: a quadratic Bézier curve between two points, with `corner` as its control point."""

    start: tuple[float, float]
    corner: tuple[float, float]
    end: tuple[float, float]
    bend: float | None  # offset of the corner, as a fraction of the distance between centres; None: from edge to edge

    @classmethod
    def between(cls, start: Box, end: Box, bend: float) -> Curve:
        """From centre to centre; the boxes hide the ends of the curve."""
        across, up = end.x - start.x, end.y - start.y
        corner = ((start.x + end.x) / 2 + bend * up, (start.y + end.y) / 2 - bend * across)
        return cls((start.x, start.y), corner, (end.x, end.y), bend)

    @classmethod
    def rightwards(cls, start: Box, end: Box) -> Curve:
        """A straight line from the right side of one box to the left side of another."""
        begin, finish = (start.x + start.width / 2, start.y), (end.x - end.width / 2, end.y)
        return cls(begin, ((begin[0] + finish[0]) / 2, (begin[1] + finish[1]) / 2), finish, None)

    @classmethod
    def loop(cls, box: Box, angle: float) -> Curve:
        """A loop that leaves a box and returns to it, on the side given by the angle."""

        def at(turn: float, out: float) -> tuple[float, float]:
            return box.x + (box.width / 2 + out) * math.cos(turn), box.y + (box.height / 2 + out) * math.sin(turn)

        return cls(at(angle - 0.5, 0), at(angle, 44), at(angle + 0.5, 0), None)

    def at(self, proportions: Points) -> Points:
        """The points at these fractions of the curve, from 0 at its start to 1 at its end."""
        t = proportions[:, None]
        start, corner, end = (np.array(point) for point in self[:3])
        return np.asarray((1 - t) ** 2 * start + 2 * t * (1 - t) * corner + t**2 * end)

    def point(self, proportion: float) -> tuple[float, float]:
        """The point at this fraction of the curve."""
        ((x, y),) = self.at(np.array([proportion])).tolist()
        return x, y


class Ring(NamedTuple):
    """The path of a wide arrow from a box to itself: a circle around a point just outside, with a hole to be seen."""

    centre: tuple[float, float]
    radius: float
    angle: float  # of the side of the box; the circle begins and ends on the other side of its centre, in the box

    @classmethod
    def beside(cls, box: Box, angle: float, wide: float) -> Ring:
        """A ring on the side of a box that an angle gives, for a stroke that is so wide."""
        radius = _HOLE + wide / 2
        out = np.array([math.cos(angle), math.sin(angle)])
        x, y = (box.x, box.y) + out * np.add([box.width / 2, box.height / 2], 0.5 * radius)
        return cls((float(x), float(y)), radius, angle)

    def at(self, proportions: Points) -> Points:
        """The points at these fractions of the way around, clockwise."""
        turns = self.angle + math.pi * (1 - 2 * proportions)
        return np.stack([np.cos(turns), np.sin(turns)], axis=1) * self.radius + self.centre

    def point(self, proportion: float) -> tuple[float, float]:
        """The point at this fraction of the way around."""
        ((x, y),) = self.at(np.array([proportion])).tolist()
        return x, y


class Route(NamedTuple):
    """The path of an arrow in ranks: smoothly through points in one row after the other, vertical at its ends."""

    points: tuple[tuple[float, float], ...]

    def at(self, proportions: Points) -> Points:
        """The points at these fractions of the way down or up."""
        x, y = np.array(self.points).T
        steep = np.diff(x) / np.diff(y)
        before, after = steep[:-1], steep[1:]
        turns = before * after <= 0  # slopes in between are harmonic means, so that nothing overshoots
        slopes = np.where(turns, 0.0, 2 * before * after / np.where(turns, 1.0, before + after))
        heights = y[0] + proportions * (y[-1] - y[0])
        going = 1.0 if y[-1] >= y[0] else -1.0
        leg = np.clip(np.searchsorted(going * y, going * heights, side="right") - 1, 0, len(y) - 2)
        high = y[leg + 1] - y[leg]
        t = (heights - y[leg]) / high
        leaving, arriving = np.array([0.0, *slopes, 0.0])[leg], np.array([0.0, *slopes, 0.0])[leg + 1]
        across = x[leg] + (x[leg + 1] - x[leg]) * t * t * (3 - 2 * t)
        across += high * t * (1 - t) * ((1 - t) * leaving - t * arriving)
        return np.stack([across, heights], axis=1)

    def point(self, proportion: float) -> tuple[float, float]:
        """The point at this fraction of the way."""
        ((x, y),) = self.at(np.array([proportion])).tolist()
        return x, y


@dataclass(frozen=True)
class Layout:
    """A box for each node, a curve and a label's box for each arrow, and a box around everything."""

    boxes: list[Box]
    curves: list[Way]
    labels: list[Box]
    page: Box

    @classmethod
    def of(cls, diagram: Diagram, measure: Measure) -> Layout:
        """The layout of a diagram whose texts have the widths that `measure` gives. Cost: arrows · (nodes + arrows)."""
        boxes, (across, down) = _boxes(diagram, measure)
        curves = _routes(diagram, boxes, across, down) if diagram.arranged == "ranks" else _curves(diagram, boxes)
        labels = _labels(diagram, boxes, curves, measure)
        return cls(boxes, curves, labels, _page([*boxes, *labels], curves))


def _page(boxes: list[Box], curves: list[Way]) -> Box:
    """A box around all boxes and curves, with a margin."""
    corners = [(box.x + side * box.width / 2, box.y + side * box.height / 2) for box in boxes for side in (-1, 1)]
    points = np.concatenate([np.array(corners), *(curve.at(np.linspace(0, 1, 60)) for curve in curves)])
    (left, bottom), (right, top) = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    return Box(float(left + right) / 2, float(bottom + top) / 2, float(right - left), float(top - bottom))


def label_size(arrow: Arrow, measure: Measure) -> tuple[float, float]:
    """The width and height of an arrow's label: the symbols that it reads and, below them, the policy."""
    lines = [*arrow.lines, *([arrow.proportion] if arrow.proportion else [])]
    return max(map(measure, lines)) + 4, LINE * len(lines)


def _boxes(diagram: Diagram, measure: Measure) -> tuple[list[Box], tuple[float, float]]:
    """The box of each node, and the distances of columns and rows; all boxes have the same size."""
    nodes = diagram.nodes
    height = LINE * max(len(node.label) + bool(node.completions) for node in nodes) + 12
    width = max(max(measure(text) for node in nodes for text in (*node.label, node.completions)) + 18, height)
    sizes = [label_size(arrow, measure) for arrow in diagram.arrows]
    label = max((wide for wide, _ in sizes), default=0.0)
    rows = max(node.row for node in nodes) - min(node.row for node in nodes)
    across = width + max(2.4 * label, 60.0) + 16 + (14 * rows if diagram.arranged == "layers" else 0)
    down = height + max((high for _, high in sizes), default=0.0) + (24 if diagram.arranged == "layers" else 40)
    if diagram.arranged == "coordinates":
        across = down = max(across, down)
    if diagram.arranged == "ranks":  # labels are between the rows, and wide loops need some height
        height = max(height, 36.0)
        rings = [2 * _HOLE + arrow.thickness for arrow in diagram.arrows if arrow.source == arrow.target]
        across = width + label + max(rings, default=0.0) + 16
        down = height + 3.7 * max((high for _, high in sizes), default=0.0)
    boxes = [Box(node.column * across, -node.row * down, width, height) for node in nodes]
    return boxes, (across, down)


def _routes(diagram: Diagram, boxes: list[Box], across: float, down: float) -> list[Way]:
    """A route for each arrow, from side by side places on the lower or upper edge of a box to such places on another.

    Arrows that leave or enter an edge are in the order of where they come from and lead to, so that they do not cross
    there. A ring is on the right of its box.
    """
    ways: list[list[tuple[float, float]]] = []
    docks: dict[tuple[int, bool], list[tuple[float, int]]] = {}  # arrows at the lower or upper edge of a box
    for number, arrow in enumerate(diagram.arrows):
        ends = boxes[arrow.source], boxes[arrow.target]
        ways.append([ends[0][:2], *((column * across, -row * down) for column, row in arrow.passes), ends[1][:2]])
        if arrow.source != arrow.target:
            below = ends[1].y < ends[0].y
            docks.setdefault((arrow.source, below), []).append((ways[-1][1][0], number))
            docks.setdefault((arrow.target, not below), []).append((ways[-1][-2][0], number))
    for (node, below), arrows in docks.items():
        box = boxes[node]
        for place, (_, number) in enumerate(sorted(arrows)):
            x = box.x + 0.8 * box.width * ((place + 0.5) / len(arrows) - 0.5)
            at = 0 if diagram.arrows[number].source == node else -1
            ways[number][at] = x, box.y + (-0.5 if below else 0.5) * box.height
    return [
        Ring.beside(boxes[arrow.source], 0.0, arrow.thickness) if arrow.source == arrow.target else Route(tuple(way))
        for arrow, way in zip(diagram.arrows, ways, strict=True)
    ]


def _curves(diagram: Diagram, boxes: list[Box]) -> list[Way]:
    """A curve for each arrow that meets as few boxes as possible besides its own two.

    Arrows between the same two boxes get different curves.
    """
    pairs = [frozenset((arrow.source, arrow.target)) for arrow in diagram.arrows]
    taken: dict[frozenset[int], set[float]] = {}
    curves: list[Way] = []
    for arrow, pair in zip(diagram.arrows, pairs, strict=True):
        start, end = boxes[arrow.source], boxes[arrow.target]
        if arrow.source == arrow.target:
            side = _free_side(arrow.source, _SIDES, diagram, boxes)
            curves.append(Ring.beside(start, side, arrow.thickness) if arrow.band else Curve.loop(start, side))
            continue
        others = [box for number, box in enumerate(boxes) if number not in pair]
        sign = 1.0 if arrow.source < arrow.target else -1.0  # the same bend is on the other side in reverse
        bends = _BENDS if pairs.count(pair) == 1 else _BENDS[1:]
        free = [bend for bend in bends if bend * sign not in taken.get(pair, ())]
        ways = [Curve.between(start, end, bend) for bend in free]
        if diagram.arranged == "layers" and start.x < end.x:
            ways.append(Curve.rightwards(start, end))
        drawn = [way.at(np.linspace(0, 1, 60)) for way in ways]
        met = [sum(box.holds(points, gap=4.0) for box in others) for points in drawn]  # or almost touched
        chosen = ways[met.index(min(met))]  # the first one, if several are equally good
        if chosen.bend is not None:
            taken.setdefault(pair, set()).add(chosen.bend * sign)
        curves.append(chosen)
    return curves


def _free_side(number: int, sides: Sequence[float], diagram: Diagram, boxes: list[Box]) -> float:
    """The one of some angles that is farthest from all other arrows of a box."""
    box = boxes[number]
    ends = [(arrow.source, arrow.target) for arrow in diagram.arrows if number in (arrow.source, arrow.target)]
    neighbours = [boxes[other] for pair in ends for other in pair if other != number]
    busy = [math.atan2(other.y - box.y, other.x - box.x) for other in neighbours]
    if diagram.nodes[number].is_start:
        busy.append(math.pi)

    def distance(angle: float) -> float:
        return min((math.acos(max(min(math.cos(angle - other), 1), -1)) for other in busy), default=math.pi)

    return max(sides, key=distance)


def _labels(diagram: Diagram, boxes: list[Box], curves: list[Way], measure: Measure) -> list[Box]:
    """A place on each arrow for its label that avoids boxes and other labels first, then other arrows.

    Labels of loops, which have one place only, come first.
    """
    ways = [curve.at(np.linspace(0, 1, 80)) for curve in curves]
    placed: dict[int, Box] = {}
    each = enumerate(zip(diagram.arrows, curves, strict=True))
    for number, (arrow, curve) in sorted(each, key=lambda item: item[1][0].source != item[1][0].target):
        size = label_size(arrow, measure)
        others = [way for other, way in enumerate(ways) if other != number]

        def trouble(box: Box, others: list[Points] = others) -> tuple[int, int]:
            covered = sum(box.meets(other, 1.0) for other in (*boxes, *placed.values()))
            return covered, sum(box.holds(way, 0.0) for way in others)

        candidates = [Box(*curve.point(along), *size) for along in _ALONG]
        if isinstance(curve, Route):
            candidates = [Box(x + aside * size[0], y, *size) for aside in _ASIDE for x, y in map(curve.point, _ROUTE)]
        elif arrow.source == arrow.target:
            candidates = [_beyond(curve, arrow.thickness, *size)]
        placed[number] = min(candidates, key=trouble)
    return [placed[number] for number in range(len(curves))]


def _beyond(loop: Curve | Ring, thick: float, width: float, height: float) -> Box:
    """The place for a label just outside a loop whose stroke is so thick."""
    apex = np.array(loop.point(0.5))
    out = apex - loop.centre if isinstance(loop, Ring) else np.array(loop.corner) - apex
    out /= np.linalg.norm(out)
    x, y = apex + out * (np.abs(out) @ [width / 2, height / 2] + thick / 2 + 1)
    return Box(float(x), float(y), width, height)
