"""Pictures of estimates: lengths, widths and colours are the proportions, and what is left out is said."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from matplotlib.artist import Artist
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import dpwords as dw
from dpwords import plots
from dpwords.estimate import Estimate, Estimates
from dpwords.plots.palette import RELEASED, WALL

GRID = dw.GridWorld(2, 3)


def estimates(question: str, proportions: dict[Any, float], counted: dict[Any, float] | None = None) -> Estimates:
    """Proportions with intervals that reach 0.05 to each side."""
    rows = {
        label: Estimate(proportion, max(proportion - 0.05, 0), proportion + 0.05)
        for label, proportion in proportions.items()
    }
    return Estimates(
        rows.items(), question=question, method="em", confidence=0.9, releases=1234, counted=counted or proportions
    )


def of_kind(figure: Figure, gid: str) -> list[Any]:
    """The parts of a figure with this mark."""
    return [part for part in figure.findobj(Artist) if part.get_gid() == gid]


def words(figure: Figure) -> str:
    return " | ".join(part.get_text() for part in figure.findobj() if hasattr(part, "get_text") and part.get_text())


def test_visits_on_a_grid_are_a_heat_map() -> None:
    proportions = {(0, 1): 0.4, (1, 0): 0.2, (1, 1): 0.2, (0, 2): 0.1, (1, 2): 0.1, (0, 0): 0.0}
    figure = plots.estimates(estimates("visits", proportions, dict.fromkeys(proportions, 1 / 6)), GRID)
    estimated, counted = of_kind(figure, "proportion")
    colours = [to_hex(colour) for colour in estimated.get_facecolor()]
    assert (colours[0], colours[-1]) == (RELEASED, "#ffffff")
    half = (1 + np.array(to_rgb(RELEASED))) / 2  # between white and the colour of the largest proportion
    assert estimated.get_facecolor()[1][:3] == pytest.approx(half, abs=0.01)
    assert len({to_hex(colour) for colour in counted.get_facecolor()}) == 1
    corners = [path.vertices.min(axis=0).tolist() for path in estimated.get_paths()]
    assert corners[0] == [0.5, -0.5]  # row 0, column 1
    assert corners[1] == [-0.5, 0.5]  # row 1, column 0
    assert "visits estimated from 1,234 releases" in words(figure)
    assert "reaches 0" not in words(figure)
    unsure = plots.estimates(estimates("visits", {(0, 1): 0.98, (1, 0): 0.02}), GRID, "a title of my own")
    assert [mark.get_xydata().tolist() for mark in of_kind(unsure, "unsure")] == [[[0.0, 1.0]]]
    assert "grey dot: the 90% interval reaches 0" in words(unsure)
    assert "a title of my own" in words(unsure)


def test_steps_on_a_grid_are_wedges_as_wide_as_their_proportions() -> None:
    proportions = {((0, 0), (0, 1)): 0.6, ((0, 1), (0, 0)): 0.3, ((0, 1), (1, 1)): 0.1}
    figure = plots.estimates(estimates("transitions", proportions), GRID)
    wedges = [path.vertices[:3] for path in of_kind(figure, "proportion")[0].get_paths()]
    widths = [float(np.hypot(*(wedge[1] - wedge[0]))) for wedge in wedges]
    assert np.array(widths) / widths[0] == pytest.approx([1, 1 / 2, 1 / 6])
    assert wedges[0][2][0] > wedges[0][0][0]  # to the right
    assert wedges[1][2][0] < wedges[1][0][0]  # back, on the other side of the line
    assert (wedges[0][2][1] > 0) != (wedges[1][2][1] > 0)
    assert "the widest is 60% of all steps" in words(figure)
    assert "pale: up to the upper end of the 90% interval" in words(figure)
    (behind,) = of_kind(figure, "interval")  # for the estimates, and not for the counts
    uppers = [float(np.hypot(*(path.vertices[1] - path.vertices[0]))) for path in behind.get_paths()]
    points = 72 * 4.4 / 3.2 * (np.array(uppers) - widths)  # three columns with margins in 4.4 inches
    assert points == pytest.approx(2.4)  # which is more than 0.05 of all steps
    assert behind.get_alpha() < 1
    assert behind.get_zorder() < of_kind(figure, "proportion")[0].get_zorder()


def test_what_is_pale_reaches_to_the_upper_end_if_that_is_far_enough_to_be_seen() -> None:
    rows = {((0, 0), (0, 1)): Estimate(0.1, 0.0, 0.5), ((0, 1), (1, 1)): Estimate(0.5, 0.49, 0.501)}
    facts: dict[str, Any] = {"question": "transitions", "method": "em", "confidence": 0.9, "releases": 9}
    figure = plots.estimates(Estimates(rows.items(), counted=dict.fromkeys(rows, 0.5), **facts), GRID)
    (unsure, sure), (wide, narrow) = (
        [float(np.hypot(*(path.vertices[1] - path.vertices[0]))) for path in of_kind(figure, kind)[0].get_paths()]
        for kind in ("proportion", "interval")
    )
    assert wide / unsure == pytest.approx(0.5 / 0.1)
    assert 72 * 4.4 / 3.2 * (narrow - sure) == pytest.approx(2.4)


def test_steps_in_four_directions_and_in_place_do_not_overlap() -> None:
    """All steps of a cell and its neighbours have the same proportion, which is the largest."""
    (row, column), beside = (1, 1), [(0, 1), (2, 1), (1, 0), (1, 2)]
    steps = [pair for cell in beside for pair in (((row, column), cell), (cell, (row, column)))]
    shown = dict.fromkeys([*steps, ((row, column), (row, column))], 1 / 9)
    figure = plots.estimates(estimates("transitions", shown, shown), dw.GridWorld(3, 3))
    marks = of_kind(figure, "proportion")
    wedges = [path.vertices[:3] for path in next(each for each in marks if hasattr(each, "get_paths")).get_paths()]
    assert len(wedges) == 8
    boxes = [(wedge.min(axis=0), wedge.max(axis=0)) for wedge in wedges]
    for (low, high), (other_low, other_high) in itertools.combinations(boxes, 2):
        assert ((high <= other_low + 1e-9) | (other_high <= low + 1e-9)).any()
    rings = [each for each in marks if isinstance(each, Line2D)]
    assert len(rings) == 2  # estimated and counted
    radius = (rings[1].get_markersize() + rings[1].get_markeredgewidth()) / 2 / 72 / (4.4 / 3.2)
    assert all(np.abs(wedge - [column, row]).max(axis=1).min() >= radius - 1e-9 for wedge in wedges)


def test_grids_have_numbers_and_a_mark_at_the_start() -> None:
    figure = plots.estimates(estimates("visits", {(0, 1): 0.6, (1, 0): 0.4}), dw.GridWorld(2, 3, start=(1, 2)))
    rows, columns = ([each.get_text() for each in of_kind(figure, kind)] for kind in ("row", "column"))
    assert (rows, columns) == (["0", "1"] * 2, ["0", "1", "2"] * 2)  # in both panels
    starts = of_kind(figure, "start")
    assert [np.add(frame.get_center(), 0).tolist() for frame in starts] == [pytest.approx([2, 1])] * 2
    assert "black frame: start" in words(figure)
    free = plots.estimates(estimates("visits", {(0, 1): 0.6, (1, 0): 0.4}), dw.GridWorld(2, 3, start=None))
    assert not of_kind(free, "start")
    large = plots.estimates(estimates("visits", {(0, 1): 1.0}), dw.GridWorld(60, 60))
    assert len(of_kind(large, "row")) == 2 * 20  # every third
    figure.canvas.draw()
    (title,) = (part for part in figure.findobj(Text) if part.get_text() == "estimated")
    assert not any(title.get_window_extent().overlaps(each.get_window_extent()) for each in of_kind(figure, "column"))


def test_rates_say_by_what_they_are_ordered() -> None:
    shares = {("a", f"b{number}"): 0.025 for number in range(40)}
    text = words(plots.estimates(estimates("rates", shares)))
    assert "40 of 40" not in text
    assert "30 of 40, those whose intervals begin highest" in text
    assert "largest" not in text


def test_steps_that_may_not_occur_are_grey_on_a_grid_and_notes_fit_the_picture() -> None:
    proportions = {((0, 0), (0, 1)): 0.97, ((0, 1), (0, 0)): 0.03}
    walled = dw.GridWorld(2, 4, walls={(0, 3)})
    figure = plots.estimates(estimates("transitions", proportions), walled)
    estimated, counted = of_kind(figure, "proportion")
    assert [to_hex(colour) for colour in estimated.get_facecolor()] == [RELEASED, WALL]
    assert {to_hex(colour) for colour in counted.get_facecolor()} == {RELEASED}
    figure.canvas.draw()
    (notes,) = (part for part in figure.findobj(Text) if "grey wedge: the interval reaches 0" in part.get_text())
    assert "grey: wall" in notes.get_text()
    box = notes.get_window_extent()
    assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1


def test_visits_on_a_map_are_discs() -> None:
    positions = {"a": (0.0, 0.0), "b": (2.0, 1.0), "c": (1.0, 3.0)}
    roads = {"a": {"b": "b"}, "b": {"c": "c"}, "c": {"a": "a"}}
    system = dw.TransitionSystem(roads, start=None, positions=positions)
    figure = plots.estimates(estimates("visits", {"a": 0.2, "b": 0.8, "c": 0.0}), system)
    sizes = of_kind(figure, "proportion")[0].get_sizes()
    assert sizes[0] / sizes[1] == pytest.approx(1 / 4)
    assert of_kind(figure, "interval")[0].get_sizes()[0] / sizes[0] == pytest.approx(0.25 / 0.2)  # areas
    assert "areas are proportions, the largest is 80%" in words(figure)


def test_other_proportions_are_bars_with_intervals() -> None:
    figure = plots.estimates(estimates("frequencies", {"a": 0.25, "b": 0.75}, {"a": 0.4, "b": 0.6}))
    assert [bar.get_width() for bar in of_kind(figure, "proportion")] == [0.75, 0.25]
    (marks,) = of_kind(figure, "counted")
    assert marks.get_xdata().tolist() == [0.6, 0.4]
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["b", "a"]
    lengths = estimates("lengths", {0: 0.0, 1: 0.2, 2: 0.8, 3: 0.0})
    assert [label.get_text() for label in plots.estimates(lengths).axes[0].get_yticklabels()] == ["1", "2"]
    many = plots.estimates(estimates("frequencies", dict.fromkeys(range(40), 1 / 40)))
    assert "the 30 largest of 40" in words(many)
    named = plots.estimates(estimates("patterns", {("a", "b"): 0.5}), names=["a b"])
    assert [label.get_text() for label in named.axes[0].get_yticklabels()] == ["a b"]


def test_places_are_lines() -> None:
    tables = [estimates("frequencies", {"a": proportion, "b": 1 - proportion}) for proportion in (0.1, 0.5, 0.6)]
    figure = plots.estimates(tables, names=["Jul", "Aug", "Sep"])
    lines = {line.get_label(): line.get_ydata().tolist() for line in of_kind(figure, "proportion")}
    assert lines == {"b": pytest.approx([0.9, 0.5, 0.4]), "a": pytest.approx([0.1, 0.5, 0.6])}
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["Jul", "Aug", "Sep"]
    assert len(of_kind(figure, "interval")) == 2
    wide = [estimates("frequencies", dict.fromkeys(range(20), 1 / 20))] * 2
    assert "the 8 largest of 20 symbols" in words(plots.estimates(wide))


@pytest.mark.parametrize("symbols", [3, 40])
def test_titles_fit_beside_legends_and_long_names(symbols: int) -> None:
    """A title is inside of its figure, and does not lie on the legend."""
    names = [f"a rather long name of activity {number}" for number in range(symbols)]
    proportions = dict.fromkeys(names, 1 / symbols)
    tables = [estimates("frequencies", proportions) for _ in range(10)]
    for figure in (plots.estimates(tables), plots.estimates(tables[0])):
        figure.canvas.draw()
        (title,) = (part for part in figure.findobj(Text) if "estimated from 1,234" in part.get_text())
        box, (legend,) = title.get_window_extent(), figure.legends
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert not box.overlaps(legend.get_window_extent())
        assert "long name" in words(figure)


def test_blanks_are_shown_as_such_only_where_there_is_nothing_else() -> None:
    shown = words(plots.estimates(estimates("frequencies", {"check receipt": 0.6, " ": 0.4})))
    assert "check receipt" in shown
    assert "␣" in shown


def test_heat_maps_say_what_their_proportions_are_of() -> None:
    assert "proportion of the words that end there" in words(plots.estimates(estimates("ends", {(0, 1): 1.0}), GRID))
    assert "proportion of the visits" in words(plots.estimates(estimates("frequencies", {(0, 1): 1.0}), GRID))


def test_what_is_no_estimate_is_refused() -> None:
    for wrong in ([], {"a": 0.5}, [{}]):
        with pytest.raises(dw.InvalidValue, match="pass what a function of"):
            plots.estimates(wrong)  # type: ignore[arg-type]
    found = estimates("frequencies", {"a": 1.0})
    for wrong_form, message in (("pie", "one of auto, bars, graph"), ("graph", "only pairs are a graph")):
        with pytest.raises(dw.InvalidValue, match=message):
            plots.estimates(found, form=wrong_form)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="by position are lines"):
        plots.estimates([found], form="bars")
