"""Pictures of estimated pairs: graphs from start to end with bands, and bars with the full names of both symbols."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

import dpwords as dw
from dpwords import plots
from dpwords.estimate import Estimate, Estimates
from dpwords.plots.layout import Layout
from plots.test_proportions import estimates, of_kind, words

LONG = "Determine the necessity of an additional advice of the department, aspect"
ORDERS = {("pay", "ship"): 0.5, ("ship", "pay"): 0.3, ("pay", "pay"): 0.2, ("ship", "cancel"): 0.0}


def names(figure: Figure) -> list[str]:
    """The names beside the bars, without line breaks."""
    (axes,) = (axes for axes in figure.axes if axes.get_gid() == "bars")
    return [" ".join(label.get_text().split("\n")) for label in axes.get_yticklabels()]


def arrows(figure: Figure, gid: str = "arrow") -> list[Line2D]:
    return [line for line in of_kind(figure, gid) if isinstance(line, Line2D)]


def middle(figure: Figure, text: str) -> tuple[float, float]:
    """Where a node with this text is."""
    (found,) = (part for part in figure.findobj(Text) if part.get_text() == text)
    return found.get_position()


def test_arrows_are_as_wide_as_estimates_and_bands_as_the_upper_ends() -> None:
    figure = plots.estimates(estimates("dfg", ORDERS), dw.Words(["pay", "ship", "cancel"]), form="graph")
    widths, bands = ([line.get_linewidth() for line in arrows(figure, gid)] for gid in ("arrow", "band"))
    assert [width / widths[0] for width in widths] == pytest.approx([1, 3 / 5, 2 / 5])
    assert bands == pytest.approx([width + 3 for width in widths])  # intervals are narrower than what is seen
    assert all(line.get_alpha() < 1 for line in arrows(figure, "band"))
    text = words(figure)
    for shown in ("50%", "(45–55)", "30%", "(25–35)", "20%", "(15–25)", "the wider, the larger the proportion"):
        assert shown in text
    assert "pale: up to the upper end of the 90% interval" in text
    assert "cancel" not in text


def test_bands_are_as_wide_as_the_upper_ends_of_wide_intervals() -> None:
    rows = {("a", "b"): Estimate(0.2, 0.1, 0.8), ("b", "c"): Estimate(0.4, 0.3, 0.6)}
    facts: dict[str, Any] = {"question": "dfg", "method": "em", "confidence": 0.9, "releases": 9}
    figure = plots.estimates(Estimates(rows.items(), counted=dict.fromkeys(rows, 0.5), **facts), form="graph")
    widths, bands = ([line.get_linewidth() for line in arrows(figure, gid)] for gid in ("arrow", "band"))
    assert [band / width for band, width in zip(bands, widths, strict=True)] == pytest.approx([1.5, 4])
    assert bands[1] / bands[0] == pytest.approx(8 / 6)


def test_a_wide_arrow_from_a_node_to_itself_has_a_hole_and_does_not_lie_on_its_label() -> None:
    figure = plots.estimates(estimates("dfg", {("a", "a"): 0.9, ("a", "b"): 0.1}), form="graph")
    ring, *_ = arrows(figure)
    wide = arrows(figure, "band")[0].get_linewidth()
    points = np.stack(ring.get_data(), axis=1)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    apart = np.hypot(*(points - middle).T)
    assert apart.min() - wide / 2 > 5  # points
    (label,) = (part for part in figure.findobj(Text) if part.get_text() == "90%")
    figure.canvas.draw()
    box = label.get_window_extent().transformed(label.axes.transData.inverted())
    assert box.x0 > points[:, 0].max() + wide / 2


def test_what_nothing_leads_to_is_far_from_the_start_and_a_note_says_why() -> None:
    """Words start with a; whether they start with d is not known, since what leads there is not drawn."""
    shares = {("a", "b"): 0.5, ("b", "c"): 0.4, ("d", "e"): 0.06, ("c", "d"): 0.04}
    figure = plots.estimates(estimates("dfg", shares), form="graph", most=3)
    heights = {text: middle(figure, text)[1] for text in ("▶ start", "a", "c", "d", "e")}
    assert heights["▶ start"] > heights["a"] > heights["d"] > heights["e"] == heights["c"]
    assert "where no arrow leads to a box, what comes before is too rare or too unsure to be drawn" in words(figure)
    assert "where no arrow leads" not in words(plots.estimates(estimates("dfg", ORDERS), form="graph"))


def test_variants_of_characters_are_written_without_arrows() -> None:
    found = estimates("variants", {tuple("bern"): 0.6, tuple("basel"): 0.4, (): 0.0})
    assert names(plots.estimates(found)) == ["bern", "basel", "␣"]
    mixed = estimates("variants", {tuple("bern"): 0.6, ("be", "rn"): 0.4})  # which would look alike
    assert names(plots.estimates(mixed)) == ["b → e → r → n", "be → rn"]


def test_arrows_whose_intervals_reach_0_are_dashed_and_small_ones_are_left_out() -> None:
    shares = {("a", "b"): 0.5, ("b", "c"): 0.44, ("c", "a"): 0.04, ("c", "b"): 0.02}
    figure = plots.estimates(estimates("dfg", shares))
    assert [line.is_dashed() for line in arrows(figure)] == [False, False, True]
    text = words(figure)
    assert "likewise, but its interval reaches 0" in text
    assert "left out: 1 more with intervals that reach 0, each less than 5% of the largest" in text
    assert names(figure)[-1] == "c → b"  # it has a bar
    sure = plots.estimates(estimates("dfg", {("a", "b"): 0.6, ("b", "c"): 0.4}))
    assert "reaches 0" not in words(sure)
    assert "left out" not in words(sure)


def test_a_system_starts_where_it_says() -> None:
    system = dw.TransitionSystem({"in": {"x": "on"}, "on": {"y": "on", "z": "out"}, "out": {}}, start="in")
    shares = {("in", "on"): 0.3, ("on", "on"): 0.4, ("on", "out"): 0.3}
    figure = plots.estimates(estimates("transitions", shares), system)
    assert "▶ start" not in words(figure)
    rows = [middle(figure, text)[1] for text in ("in", "on", "out", "■ end")]
    assert rows == sorted(rows, reverse=True)


def test_arrows_avoid_nodes_and_labels_do_not_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of nine steps, with a way around each of them and a way back."""
    seen: list[Any] = []
    kept = Layout.of.__func__  # type: ignore[attr-defined]

    def noted(cls: type[Layout], *drawn: Any) -> Layout:
        seen.append((drawn[0], kept(cls, *drawn)))
        return seen[-1][1]

    monkeypatch.setattr(Layout, "of", classmethod(noted))
    steps = [f"step {number}" for number in range(9)]
    pairs = dict.fromkeys(itertools.pairwise(steps), 0.1) | dict.fromkeys(zip(steps[:-2], steps[2:], strict=True), 0.02)
    plots.estimates(estimates("dfg", {**pairs, (steps[5], steps[2]): 0.06}), form="graph")
    ((diagram, layout),) = seen
    for arrow, route in zip(diagram.arrows, layout.curves, strict=True):
        others = [box for node, box in enumerate(layout.boxes) if node not in (arrow.source, arrow.target)]
        assert not any(box.holds(route.at(np.linspace(0, 1, 50)), 0.0) for box in others)
    labels = [label for arrow, label in zip(diagram.arrows, layout.labels, strict=True) if arrow.reads]
    assert not any(one.meets(other, 0.0) for one, other in itertools.combinations(labels, 2))
    assert not any(label.meets(box, 0.0) for label in labels for box in layout.boxes)


def test_bars_of_pairs_have_both_names_in_full_and_intervals() -> None:
    shares = {(f"{LONG} {one}", f"{LONG} {other}"): 0.2 for one, other in ("12", "21", "13", "31", "23")}
    figure = plots.estimates(estimates("dfg", shares, dict.fromkeys(shares, 0.1)), form="bars")
    assert names(figure) == [f"{one} → {other}" for one, other in shares]
    figure.canvas.draw()
    axes = figure.axes[0]
    for label in axes.get_yticklabels():
        box = label.get_window_extent()
        assert figure.bbox.x0 <= box.x0 < box.x1 <= axes.bbox.x0
    rows = [label.get_window_extent() for label in axes.get_yticklabels()]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(rows, 2))
    (container,) = (each for each in axes.containers if each.get_label() == "estimated, with 90% intervals")
    (lines,) = container.lines[2]
    assert [segment[:, 0].tolist() for segment in lines.get_segments()] == [pytest.approx([0.15, 0.25])] * 5
    assert of_kind(figure, "counted")[0].get_xdata().tolist() == [0.1] * 5
    assert "20% (15–25)" in words(figure)


def test_labels_of_any_length_are_joined_by_arrows() -> None:
    found = estimates("variants", {("wait",) * 40 + ("go",): 0.5, ("go", "on"): 0.3, ("stop",): 0.2})
    assert names(plots.estimates(found)) == ["wait (40 times) → go", "go → on", "stop"]
    rates = estimates("rates", {(None, "a"): 0.6, ("a", "b"): 0.4})
    assert names(plots.estimates(rates)) == ["start → a", "a → b"]
    cells = estimates("visits", {(0, 1): 0.6, (1, 1): 0.4})  # a cell is one symbol
    assert names(plots.estimates(cells)) == ["0,1", "1,1"]
    endless = [("x" * 300 + "a" * 50 + "y" * 300, "z"), ("x" * 300 + "b" * 50 + "y" * 300, "z")]
    shown = names(plots.estimates(estimates("dfg", dict.fromkeys(endless, 0.5)), form="bars"))
    assert len(set(shown)) == 2


def test_many_pairs_are_cut_to_the_largest() -> None:
    many = {(one, other): 1 / 64 for one in range(8) for other in range(8)}
    figure = plots.estimates(estimates("dfg", many))
    assert "the 30 largest of 64, 47% of all" in words(figure)
    assert len(arrows(figure)) == len(names(figure)) == 30
    figure = plots.estimates(estimates("dfg", many), most=5)
    assert len(arrows(figure)) == len(names(figure)) == 5


def test_without_intervals_there_are_no_bands_and_no_brackets() -> None:
    nan = float("nan")
    rows = {("a", "b"): Estimate(0.7, nan, nan), ("b", "a"): Estimate(0.3, nan, nan)}
    facts: dict[str, Any] = {"question": "dfg", "method": "em", "confidence": 0.95, "releases": 9}
    figure = plots.estimates(Estimates(rows.items(), counted=dict.fromkeys(rows, 0.5), **facts))
    assert not of_kind(figure, "band")
    assert "70%" in words(figure)
    assert "interval of" not in words(figure)
    none = Estimates({("a", "b"): Estimate(0.0, 0.0, 0.1)}.items(), counted={("a", "b"): 0.0}, **facts)
    assert names(plots.estimates(none)) == ["a → b"]
