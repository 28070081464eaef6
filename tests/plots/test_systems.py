"""Pictures of systems: grids from files, maps, systems without positions, and runs on each of them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

import dpwords as dw
from dpwords import plots
from dpwords.plots.palette import CHANGED, RELEASED
from dpwords.plots.places import cells_of, spots_of, spread
from dpwords.plots.structure import Arrow, Diagram
from zoo import PARALLEL

SQUARE = {"a": (0.0, 0.0), "b": (10.0, 0.0), "c": (10.0, 10.0), "d": (0.0, 10.0)}
ROUND = dw.TransitionSystem(  # a one-way street from d to a
    {"a": {"b": "b"}, "b": {"a": "a", "c": "c"}, "c": {"b": "b", "d": "d"}, "d": {"c": "c", "a": "a"}},
    start="a",
    accepting=["c"],
    positions=SQUARE,
)


def parts(axes: Any, gid: str) -> list[Any]:
    return [part for part in axes.get_children() if part.get_gid() == gid]


def lines(axes: Any, gid: str) -> list[list[tuple[float, float]]]:
    return [[tuple(point) for point in line.tolist()] for part in parts(axes, gid) for line in part.get_segments()]


def from_json(system: dw.TransitionSystem, folder: Path) -> dw.TransitionSystem:
    path = folder / "system.json"
    path.write_text(system.to_json(), encoding="utf-8")
    return dw.from_json(path)


def test_a_grid_from_json_is_drawn_as_the_grid(tmp_path: Path) -> None:
    grid = dw.GridWorld(3, 4, walls={(1, 1)}, goal=(2, 3))
    read = from_json(grid, tmp_path)
    assert read.states[0] == "0,0"
    assert Diagram.of(read) == Diagram.of(grid)
    runs = [plots.encode(plots.runs(each, {"": ["EESSE", "SSEEE"]}), "svg") for each in (grid, read)]
    assert runs[0] == runs[1]
    ruled = [each & dw.rules.at_most(1, "N") for each in (grid, read)]
    assert Diagram.of(ruled[0]) == Diagram.of(ruled[1])
    edges = dw.from_edges([("0,0", "0,1"), ("0,1", "1,1")], start="0,0")
    assert cells_of(edges) == {"0,0": (0, 0), "0,1": (0, 1), "1,1": (1, 1)}


@pytest.mark.parametrize(
    "edges", [[("0,0", "0,2")], [("0,0", "1")], [("0,0", "0,0,1")], [("0,1", "00,1")], [("a,b", "b,a")]]
)
def test_what_only_looks_like_cells(edges: list[tuple[str, str]]) -> None:
    assert cells_of(dw.from_edges(edges, start=None)) is None


def test_a_large_grid_shows_walls_start_and_goals(tmp_path: Path) -> None:
    walls = {(4, 5), (5, 5)}
    grid = dw.GridWorld(15, 20, walls=walls, goal=(14, 19))
    for system in (grid, from_json(grid, tmp_path)):
        (axes,) = plots.diagram(system, "a title").axes
        assert {(patch.get_y() + 0.5, patch.get_x() + 0.5) for patch in axes.patches} == walls
        assert [tuple(part.get_xydata()[0]) for part in parts(axes, "dot")] == [(0, 0)]
        assert [tuple(part.get_xydata()[0]) for part in parts(axes, "ring")] == [(19, 14)]


def test_moves_that_a_grid_lacks_are_shown() -> None:
    """From (0, 0) one can go to (0, 1) only, and nothing leads from (0, 1) to (1, 1)."""
    system = dw.TransitionSystem(
        {(0, 0): {"E": (0, 1)}, (0, 1): {}, (1, 0): {"E": (1, 1), "N": (0, 0)}, (1, 1): {"W": (1, 0)}}, start=(1, 0)
    )
    (axes,) = plots.runs(system, {"": ["NE"]}).axes
    assert lines(axes, "fence") == [[(0.5, 0.5), (1.5, 0.5)]]  # between (0, 1) and (1, 1)
    assert len(lines(axes, "one way")) == 2


def test_a_map_has_states_at_their_coordinates() -> None:
    figure = plots.diagram(ROUND, "a title")
    (axes,) = figure.axes
    expected = {frozenset([SQUARE[one], SQUARE[other]]) for one, other in ("ab", "bc", "cd", "da")}
    assert {frozenset(road) for road in lines(axes, "road")} == expected
    ((_, tip, _),) = lines(axes, "one way")
    assert tip[0] == 0
    assert {text.get_text() for text in parts(axes, "name")} == set("abcd")
    assert [tuple(part.get_xydata()[0]) for part in parts(axes, "dot")] == [SQUARE["a"]]
    assert [tuple(part.get_xydata()[0]) for part in parts(axes, "ring")] == [SQUARE["c"]]
    across, up = axes.transData.transform((10.0, 10.0)) - axes.transData.transform((0.0, 0.0))
    assert across == pytest.approx(up, rel=1e-6)


def test_moves_with_names_are_drawn_to_scale() -> None:
    named = dw.TransitionSystem({"a": {"go": "b"}, "b": {"on": "c"}}, "a", positions={k: SQUARE[k] for k in "abc"})
    shown = Diagram.of(named)
    assert [(node.column, node.row) for node in shown.nodes] == [(0, 0), (1, 0), (1, -1)]
    assert shown.arranged == "coordinates"


def test_runs_on_a_map_look_as_on_a_grid() -> None:
    before, after = plots.runs(ROUND, {"": [["b", "c", "d", "c"], ["b", "a", "b", "c"]]}).axes
    (secret,) = parts(before, "run")
    assert [tuple(step[1]) for step in secret.get_segments()[:2]] == [SQUARE["a"], SQUARE["b"]]
    back = secret.get_segments()[3]  # beside the same road in the other direction
    assert back[1][1] != 10.0
    assert after.get_title() == "distance 2"
    _, run = parts(after, "run")
    assert [to_hex(colour) for colour in run.get_colors()] == [RELEASED, CHANGED, CHANGED, RELEASED]


def test_runs_are_shown_on_their_part_of_the_map() -> None:
    line = {n: (float(n), 0.0) for n in range(1000)}
    street = dw.TransitionSystem({n: {n + 1: n + 1} for n in range(999)}, start=None, positions=line)
    (axes,) = plots.runs(street, {"": [[500, 501, 502]]}).axes
    left, right = axes.get_xlim()
    assert 499 < left < 500
    assert 502 < right < 503
    assert len(lines(axes, "road")) == 4  # two of them lead outside
    figure = plots.diagram(street)
    (whole,) = figure.axes
    assert len(lines(whole, "road")) == 999
    assert not parts(whole, "name")
    assert "one-way moves are not marked" in [text.get_text() for text in figure.texts]


def test_systems_without_positions() -> None:
    ring = dw.from_edges([(n, (n + 1) % 1000) for n in range(1000)], start=None)
    with pytest.raises(dw.TooLarge, match="at most 60 states and 200 arrows, and this would have 1000 and 1000"):
        plots.diagram(ring)
    (axes,) = plots.runs(ring, {"": [[10, 11, 12]]}).axes
    assert {text.get_text() for text in parts(axes, "name")} == {"10", "11", "12", "13"}
    with pytest.raises(dw.TooLarge, match="visit at most 60 states"):
        plots.runs(ring, {"": [list(range(61))]})
    (axes,) = plots.runs(PARALLEL, {"": ["xz"]}).axes
    assert len(lines(axes, "road")) == 1


def test_neighbours_are_close_together() -> None:
    around = [(n, (n + 1) % 12) for n in range(12)]
    spots = spread(12, around, 3)
    sides = [math.dist(spots[one], spots[other]) for one, other in around]
    assert max(sides) == pytest.approx(min(sides), rel=0.05)
    assert min(math.dist(*pair) for pair in itertools.combinations(spots, 2)) == pytest.approx(min(sides))
    assert spots[3][0] < 0
    apart = spread(8, [(0, 1), (2, 3)], None)  # not connected
    assert min(math.dist(*pair) for pair in itertools.combinations(apart, 2)) >= 0.89


def test_long_lists_of_symbols_are_written_on_several_lines() -> None:
    arrow = Arrow(0, 1, "CONNECT, DISCONNECT, SEND, RECEIVE", "", "move")
    assert arrow.lines == ["CONNECT, DISCONNECT,", "SEND, RECEIVE"]
    assert Arrow(0, 1, "a", "", "move").lines == ["a"]


def test_every_state_has_a_spot() -> None:
    moves = {"a": {"x": "b"}, "b": {"x": "c"}, "c": {}}
    at = {"a": (0.0, 0.0), "b": (2.0, 5.0), "c": (1.0, -1.0)}
    assert spots_of(dw.TransitionSystem(moves, "a", positions=at)) == {"a": (0, 0), "b": (2, -5), "c": (1, 1)}
    assert spots_of(dw.GridWorld(2, 2))[(1, 0)] == (0, 1)  # x is the column, y the row
    circle = spots_of(dw.TransitionSystem(moves, "a"))
    assert len({round(math.hypot(x, y), 9) for x, y in circle.values()}) == 1
    chain = {f"s{number}": {"x": f"s{number + 1}"} for number in range(9)}
    line = spots_of(dw.TransitionSystem(chain, "s0"))
    far = [math.dist(line["s0"], line[f"s{number}"]) for number in range(10)]
    assert far == sorted(far)  # distances resemble numbers of moves
