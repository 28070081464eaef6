"""The positions of the parts of a diagram, in points.

Nodes become boxes that fit their texts, arrows avoid the boxes, and labels are placed where there is room.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.plots.structure import Arrow, Diagram

Points = NDArray[np.float64]
Measure = Callable[[str], float]  # from a text to its width

LINE = 12.0  # distance between lines of text
_MARGIN = 34.0
_BENDS = (0.0, 0.16, -0.16, 0.32, -0.32, 0.48, -0.48, 0.64, -0.64)
_ALONG = (0.5, 0.44, 0.56, 0.38, 0.62, 0.32, 0.68, 0.26, 0.74, 0.2, 0.8)  # positions of a label along its arrow


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


@dataclass(frozen=True)
class Layout:
    """A box for each node, a curve and a label's box for each arrow, and a box around everything."""

    boxes: list[Box]
    curves: list[Curve]
    labels: list[Box]
    page: Box

    @classmethod
    def of(cls, diagram: Diagram, measure: Measure) -> Layout:
        """The layout of a diagram whose texts have the widths that `measure` gives. Cost: arrows · (nodes + arrows)."""
        boxes = _boxes(diagram, measure)
        curves = _curves(diagram, boxes)
        labels = _labels(diagram, boxes, curves, measure)
        return cls(boxes, curves, labels, _page([*boxes, *labels], curves))


def _page(boxes: list[Box], curves: list[Curve]) -> Box:
    """A box around all boxes and curves, with a margin."""
    corners = [(box.x + side * box.width / 2, box.y + side * box.height / 2) for box in boxes for side in (-1, 1)]
    points = np.concatenate([np.array(corners), *(curve.at(np.linspace(0, 1, 60)) for curve in curves)])
    (left, bottom), (right, top) = points.min(axis=0) - _MARGIN, points.max(axis=0) + _MARGIN
    return Box(float(left + right) / 2, float(bottom + top) / 2, float(right - left), float(top - bottom))


def label_size(arrow: Arrow, measure: Measure) -> tuple[float, float]:
    """The width and height of an arrow's label: the symbols that it reads and, below them, the policy."""
    lines = [*arrow.lines, *([arrow.proportion] if arrow.proportion else [])]
    return max(map(measure, lines)) + 4, LINE * len(lines)


def _boxes(diagram: Diagram, measure: Measure) -> list[Box]:
    """The box of each node; all have the same size."""
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
    left, bottom = min(node.column for node in nodes), max(node.row for node in nodes)
    return [Box((node.column - left) * across, (bottom - node.row) * down, width, height) for node in nodes]


def _curves(diagram: Diagram, boxes: list[Box]) -> list[Curve]:
    """A curve for each arrow that meets as few boxes as possible besides its own two.

    Arrows between the same two boxes get different curves.
    """
    pairs = [frozenset((arrow.source, arrow.target)) for arrow in diagram.arrows]
    taken: dict[frozenset[int], set[float]] = {}
    curves = []
    for arrow, pair in zip(diagram.arrows, pairs, strict=True):
        start, end = boxes[arrow.source], boxes[arrow.target]
        if arrow.source == arrow.target:
            curves.append(Curve.loop(start, _free_side(arrow.source, diagram, boxes)))
            continue
        others = [box for number, box in enumerate(boxes) if number not in pair]
        side = 1.0 if arrow.source < arrow.target else -1.0  # the same bend is on the other side in reverse
        bends = _BENDS if pairs.count(pair) == 1 else _BENDS[1:]
        free = [bend for bend in bends if bend * side not in taken.get(pair, ())]
        ways = [Curve.between(start, end, bend) for bend in free]
        if diagram.arranged == "layers" and start.x < end.x:
            ways.append(Curve.rightwards(start, end))
        drawn = [way.at(np.linspace(0, 1, 60)) for way in ways]
        met = [sum(box.holds(points, gap=4.0) for box in others) for points in drawn]  # or almost touched
        chosen = ways[met.index(min(met))]  # the first one, if several are equally good
        if chosen.bend is not None:
            taken.setdefault(pair, set()).add(chosen.bend * side)
        curves.append(chosen)
    return curves


def _free_side(number: int, diagram: Diagram, boxes: list[Box]) -> float:
    """The one of eight angles that is farthest from all other arrows of a box."""
    box = boxes[number]
    ends = [(arrow.source, arrow.target) for arrow in diagram.arrows if number in (arrow.source, arrow.target)]
    neighbours = [boxes[other] for pair in ends for other in pair if other != number]
    busy = [math.atan2(other.y - box.y, other.x - box.x) for other in neighbours]
    if diagram.nodes[number].is_start:
        busy.append(math.pi)

    def distance(angle: float) -> float:
        return min((math.acos(max(min(math.cos(angle - other), 1), -1)) for other in busy), default=math.pi)

    return max((math.pi / 2 - turn * math.pi / 4 for turn in range(8)), key=distance)


def _labels(diagram: Diagram, boxes: list[Box], curves: list[Curve], measure: Measure) -> list[Box]:
    """A place on each arrow for its label that avoids boxes and other labels first, then other arrows."""
    ways = [curve.at(np.linspace(0, 1, 80)) for curve in curves]
    placed: list[Box] = []
    for number, (arrow, curve) in enumerate(zip(diagram.arrows, curves, strict=True)):
        size = label_size(arrow, measure)
        others = [way for other, way in enumerate(ways) if other != number]

        def trouble(box: Box, others: list[Points] = others) -> tuple[int, int]:
            covered = sum(box.meets(other, 1.0) for other in (*boxes, *placed))
            return covered, sum(box.holds(way, 0.0) for way in others)

        loop = arrow.source == arrow.target
        candidates = [_beyond(curve, *size)] if loop else [Box(*curve.point(along), *size) for along in _ALONG]
        placed.append(min(candidates, key=trouble))
    return placed


def _beyond(loop: Curve, width: float, height: float) -> Box:
    """The place for a label just outside a loop."""
    apex, corner = np.array(loop.point(0.5)), np.array(loop.corner)
    out = (corner - apex) / np.linalg.norm(corner - apex)
    x, y = apex + out * (np.abs(out) @ [width / 2, height / 2] + 1)
    return Box(float(x), float(y), width, height)
