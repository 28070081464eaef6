"""Pictures as a reader meets them: nothing overlaps, everything is on the page, colours mean what the legend says."""

from __future__ import annotations

import io
import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pydot
import pytest
from matplotlib import image
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch

import dpwords as dw
from dpwords import plots
from dpwords.plots.drawing import KINDS
from dpwords.plots.layout import Layout
from dpwords.plots.palette import CHANGED, COMPLETIONS, INK, PROPORTION, RELEASED
from dpwords.plots.structure import Diagram
from dpwords.studies.figures import figures
from zoo import PARALLEL, ROADS

PAPER = {name: drawn for name, (_, drawn) in figures().items()}
DRAWN: dict[str, Any] = PAPER | {
    "long names": dw.TransitionSystem(
        {"a rather long name of a state": {"again": "a rather long name of a state", "go": "b"}, "b": {"back": "b"}},
        start="b",
        accepting=["b"],
    ),
    "grid with stay": dw.GridWorld(3, 3, stay=True),
    "parallel": PARALLEL,
    "any start": ROADS,
    "accepting": dw.TransitionSystem({"open": {"close": "shut"}, "shut": {"open": "open"}}, "open", accepting=["shut"]),
    "all edits, exactly 1": dw.LevenshteinAutomaton("ab", 2, "ab").exactly(1),
    "blanks": dw.LevenshteinAutomaton("a b", 1, "ab "),
    "grid product": dw.LevenshteinAutomaton("EES", 3, "NESW", "substitutions").product(dw.GridWorld(2, 3)),
}
Box = tuple[float, float, float, float]


def boxes(figure: Figure, gid: str) -> list[Box]:
    """Where things of a kind are, in pixels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    return [patch.get_window_extent(renderer).extents for patch in figure.axes[0].patches if patch.get_gid() == gid]


def texts(figure: Figure) -> list[Box]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    return [
        text.get_window_extent(renderer).extents
        for axes in figure.axes
        for text in axes.texts
        if text.get_text().strip()
    ]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_overlaps(name: str) -> None:
    figure = plots.diagram(DRAWN[name], "a title")
    nodes, labels = boxes(figure, "node"), boxes(figure, "label")
    accepting = sum(node.is_accepting for node in Diagram.of(DRAWN[name]).nodes)
    outer = [node for node in nodes if not any(inside(node, other) for other in nodes)]
    assert len(nodes) - len(outer) == accepting  # a double line is a box in a box
    for one, other in itertools.combinations([*outer, *labels], 2):
        assert not overlap(one, other)
    written = texts(figure)
    for one, other in itertools.combinations(written, 2):
        assert not overlap(one, other)
    width, height = figure.bbox.width, figure.bbox.height
    for left, bottom, right, top in [*outer, *labels, *written]:
        assert left >= 0
        assert bottom >= 0
        assert right <= width
        assert top <= height


def inside(one: Box, other: Box) -> bool:
    return one[0] > other[0] and one[1] > other[1] and one[2] < other[2] and one[3] < other[3]


@pytest.mark.parametrize("name", DRAWN)
def test_arrows_meet_no_box_but_their_own_two(name: str) -> None:
    diagram = Diagram.of(DRAWN[name])
    layout = Layout.of(diagram, lambda text: 6.0 * len(text))
    for arrow, curve in zip(diagram.arrows, layout.curves, strict=True):
        points = curve.at(np.linspace(0, 1, 200))
        for number, box in enumerate(layout.boxes):
            assert number in (arrow.source, arrow.target) or not box.holds(points, 0.0)


def by_colour(figure: Figure) -> Counter[str]:
    arrows = [a for a in figure.axes[0].get_children() if isinstance(a, FancyArrowPatch) and a.get_gid() == "arrow"]
    return Counter(to_hex(arrow.get_edgecolor()) for arrow in arrows)


def coloured(figure: Figure, colour: str) -> list[str]:
    """Texts of a colour but for those of the legend, which has a colon."""
    return sorted(t.get_text() for t in figure.axes[0].texts if t.get_color() == colour and ":" not in t.get_text())


def legend(figure: Figure) -> dict[str, str]:
    """What each stroke of the legend means, by colour: a sample and a text on the same height."""
    heights = {text.get_position()[1]: text.get_text() for text in figure.axes[0].texts}
    return {to_hex(str(line.get_color())): heights[float(line.get_ydata()[0])] for line in figure.axes[0].lines}


def test_the_levenshtein_automaton_has_the_arrows_that_its_legend_names() -> None:
    figure = plots.diagram(PAPER["levenshtein"])
    meanings = {meaning.split(":")[0]: colour for colour, meaning in legend(figure).items()}
    found = by_colour(figure)
    counts = {name: found[colour] for name, colour in meanings.items()}
    assert counts == {"match": 9, "substitution": 6, "insertion": 8, "deletion": 6}
    assert len(found) == 4


def test_the_policy_shows_completions_and_proportions() -> None:
    figure = plots.diagram(PAPER["exactly_2"])
    assert coloured(figure, COMPLETIONS) == ["1", "1", "12", "2", "4", "4"]
    assert coloured(figure, PROPORTION) == ["1", "1/2", "1/2", "1/2", "1/3", "1/3", "1/4"]
    assert {"≠a", "≠b", "≠c"} <= {text.get_text() for text in figure.axes[0].texts}
    assert set(legend(figure).values()) == {KINDS["match"].meaning, KINDS["substitution"].meaning}


def test_the_restricted_product_shows_its_three_runs() -> None:
    """s1 s3 s0, s2 s1 s3 and s2 s3 s3 are the runs that differ from s1 s2 s3 in two positions."""
    figure = plots.diagram(PAPER["product_exactly_2"])
    assert coloured(figure, COMPLETIONS) == ["1", "1", "1", "1", "1", "1", "2", "3"]
    assert coloured(figure, PROPORTION) == ["1", "1", "1", "1", "1/2", "1/2", "1/3", "2/3"]


def test_columns_are_symbols_read_and_rows_are_errors() -> None:
    nodes = {node.label[0]: node for node in Diagram.of(PAPER["levenshtein"]).nodes}
    for read, errors in itertools.product(range(4), range(3)):
        node = nodes[f"{read},{errors}"]
        assert (node.column, node.row - nodes["0,0"].row) == (read, errors)
    for node in Diagram.of(PAPER["product"]).nodes:
        assert node.column == int(node.label[0].split(",")[0])


def test_many_symbols_on_an_arrow_are_summed_up() -> None:
    digits = dw.TransitionSystem({0: dict.fromkeys("0123456789", 0), 1: dict.fromkeys("1234567", 0)}, start=0)
    assert [arrow.reads for arrow in Diagram.of(digits).arrows] == ["*", "≠0, 8, 9"]
    letters = dw.TransitionSystem({0: dict.fromkeys("abcdef", 0), 1: dict.fromkeys("ghijkl", 0)}, start=0)
    assert [arrow.reads for arrow in Diagram.of(letters).arrows] == ["a, b, c, … (6)", "g, h, i, … (6)"]
    huge = dw.LevenshteinAutomaton("a" * 30, 30, "abcd", "substitutions").exactly(30)
    assert Diagram.of(huge).nodes[0].completions == "2.06e+14"  # 3^30
    assert [arrow.proportion for arrow in Diagram.of(huge).arrows] == ["1/3"] * 30


@pytest.mark.parametrize("name", DRAWN)
def test_dot_has_the_same_nodes_and_arrows(name: str) -> None:
    diagram = Diagram.of(DRAWN[name])
    (graph,) = pydot.graph_from_dot_data(plots.dot(DRAWN[name])) or [None]
    assert graph is not None
    numbers = {node.get_name() for node in graph.get_nodes()} - {"graph", "node", "edge", "start"}
    assert numbers == {str(number) for number in range(len(diagram.nodes))}
    edges = Counter((e.get_source(), e.get_destination()) for e in graph.get_edges() if e.get_source() != "start")
    assert edges == Counter((str(arrow.source), str(arrow.target)) for arrow in diagram.arrows)


def test_dot_escapes_what_has_a_meaning_in_it() -> None:
    text = plots.dot(dw.TransitionSystem({'<"&\\>': {"a\\n": '<"&\\>'}}, start='<"&\\>'))
    assert "<&lt;&quot;&amp;\\&gt;>" in text
    assert pydot.graph_from_dot_data(text)


def test_dollars_are_no_formulas() -> None:
    figure = plots.diagram(dw.TransitionSystem({"$a_1$": {"$x": "$a_1$"}}, start="$a_1$"), "$title$")
    assert b"<svg" in plots.encode(figure, "svg")


def test_files(tmp_path: Path) -> None:
    policy = PAPER["exactly_2"]
    for form in plots.FORMATS:
        plots.save(policy, tmp_path / "deep" / f"policy.{form}", "title")
    svg = (tmp_path / "deep" / "policy.svg").read_bytes()
    assert svg == plots.encode(plots.diagram(policy, "title"), "svg")
    assert re.search(rb"<svg[^>]*>", svg)
    picture = image.imread(io.BytesIO((tmp_path / "deep" / "policy.png").read_bytes()))
    assert picture.shape[2] == 4
    assert picture[..., :3].std() > 0.05  # not blank
    assert (tmp_path / "deep" / "policy.dot").read_text("utf-8") == plots.dot(policy, "title")
    for name in ("policy.gif", "policy"):
        with pytest.raises(dw.InvalidValue, match=r"ends in \.svg, \.png or \.dot"):
            plots.save(policy, tmp_path / name)
    with pytest.raises(dw.InvalidValue, match="DOT is for automata"):
        plots.save(plots.words("ab", [{"x": ["ab"]}]), tmp_path / "words.dot")
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]


def test_what_is_too_large_for_a_picture_is_said() -> None:
    with pytest.raises(dw.TooLarge, match="draw a shorter word or a smaller k, or use DOT"):
        plots.diagram(dw.LevenshteinAutomaton("a" * 30, 9, "ab"))
    assert plots.dot(dw.GridWorld(15, 15)).count("->") == 841


def test_what_cannot_be_drawn() -> None:
    with pytest.raises(dw.InvalidValue, match="has a diagram"):
        plots.diagram("abc")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="nothing to draw"):
        plots.diagram(dw.LevenshteinAutomaton("aaa", 2, "a", "substitutions").exactly(2))
    for empty in (
        lambda: plots.runs(dw.GridWorld(2, 2), {}),
        lambda: plots.runs(dw.GridWorld(2, 2), {"": []}),
        lambda: plots.words("abc", []),
        lambda: plots.words("abc", [{}]),
        lambda: plots.words("abc", [{"x": ["abd"]}, {}]),
        lambda: plots.distances({}),
        lambda: plots.runs(dw.Words("ab"), {"": ["a"]}),  # type: ignore[arg-type]
        lambda: plots.save(None, "x.png"),  # type: ignore[arg-type]
        lambda: plots.save(PAPER["system"], "a\0b.svg"),
        lambda: plots.encode(plots.diagram(PAPER["system"]), "pdf"),
    ):
        with pytest.raises(dw.InvalidValue):
            empty()
    with pytest.raises(dw.TooLarge, match="draw fewer"):
        plots.runs(dw.GridWorld(101, 1), {"": ["S"]})
    with pytest.raises(dw.InvalidValue, match="a word of the system"):
        plots.runs(dw.GridWorld(3, 3), {"": ["EE", "NN"]})


def test_without_matplotlib_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = plots.diagram(PAPER["system"])
    monkeypatch.setattr("dpwords.plots.figures.find_spec", lambda _: None)
    for draw in (
        lambda: plots.diagram(PAPER["system"]),
        lambda: plots.runs(dw.GridWorld(2, 2), {"": ["E"]}),
        lambda: plots.words("ab", [{"x": ["ab"]}]),
        lambda: plots.distances({"": {"": [1.0]}}),
        lambda: plots.encode(figure, "svg"),
    ):
        with pytest.raises(dw.MissingExtra, match=r"pip install 'dpwords\[plot\]'"):
            draw()
    assert plots.dot(PAPER["system"])


def test_words_mark_what_differs() -> None:
    figure = plots.words("gattaca", [{"one\ntwo": ["gattaca", "cattacc"]}, {"three": [" attaca"]}])
    axes = figure.axes[0]
    assert len(axes.patches) == 3  # c, c and the blank
    shown = [text.get_text() for text in axes.texts]
    assert {"gattaca", " attac ", "c     c", " attaca", "one", "two", "three", "0", "1", "2"} <= set(shown)
    for one, other in itertools.combinations(headings(figure), 2):
        assert not overlap(one, other)


def headings(figure: Figure) -> list[Box]:
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    bold = [text for text in figure.axes[0].texts if text.get_weight() == "bold"]
    return [text.get_window_extent(renderer).extents for text in bold]


def test_distances_have_a_colour_each() -> None:
    names = ["one", "two", "three", "four"]
    figure = plots.distances({"left": {name: [0.5, 0.5] for name in names}, "right": {"four": [0.0, 1.0]}})
    left, right = figure.axes
    colours = [str(line.get_color()) for line in left.lines]
    assert len(set(colours)) == 4
    assert [str(line.get_color()) for line in right.lines] == colours[3:]
    assert list(right.lines[0].get_ydata()) == [0.0, 1.0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == names


def test_runs_show_cells_walls_and_changes() -> None:
    world = dw.GridWorld(2, 3, start=(0, 0), walls={(0, 1)})
    figure = plots.runs(world.by_states(), {"row": [[(1, 0), (1, 1)], [(1, 0), (0, 0)]]}, "title")
    before, after = figure.axes
    assert (before.get_title(), after.get_title()) == ("private run", "distance 1")
    assert len(before.patches) == 1  # the wall
    (path,) = drawn(before)
    assert [step[-1].tolist() for step in path.get_segments()] == [[0, 1], [1, 1]]  # (column, row)
    secret, run = drawn(after)
    assert len(secret.get_segments()) == len(run.get_segments()) == 2
    colours = [to_hex(colour) for colour in run.get_colors()]
    assert [to_hex(colour) for colour in secret.get_colors()] == [INK, INK]
    assert colours == [RELEASED, CHANGED]
    anywhere = dw.GridWorld(2, 2, start=None).by_states()
    (first, second) = plots.runs(anywhere, {"": [[(0, 0), (0, 1)], [(1, 1), (0, 1)]]}).axes
    assert len(drawn(first)[0].get_segments()) == 1
    starts = [to_hex(str(line.get_color())) for line in second.lines if line.get_marker() == "o"]
    assert starts == [INK, CHANGED]  # the private run's, and one that differs from it
    walled = plots.runs(dw.GridWorld(2, 2, walls={(1, 0), (1, 1)}), {"": ["E"]})
    assert len(walled.axes[0].patches) == 2


def drawn(axes: Any) -> list[Any]:
    return [collection for collection in axes.collections if collection.get_gid() == "run"]


def test_steps_that_are_taken_again_are_drawn_beside_the_first() -> None:
    (axes,) = plots.runs(dw.GridWorld(1, 3), {"": ["EWEWEE"]}).axes
    heights = [step[-1][1] for step in drawn(axes)[0].get_segments()[:5]]
    assert len(set(heights[:5])) == 5
    assert max(map(abs, heights)) < 0.5


def test_the_users_settings_do_not_change_a_figure() -> None:
    plain = plots.encode(plots.diagram(PAPER["system"]), "svg")
    with matplotlib.rc_context({"font.size": 30, "text.usetex": True, "axes.titlesize": 50, "font.family": "serif"}):
        assert plots.encode(plots.diagram(PAPER["system"]), "svg") == plain


def test_letters_that_the_font_lacks_are_shown_by_number() -> None:
    figure = plots.diagram(dw.LevenshteinAutomaton("漢é", 1, "漢é"))
    assert {"[U+6F22]", "é"} <= {text.get_text() for text in figure.axes[0].texts}
    assert plots.encode(figure, "png")
    assert plots.encode(plots.words("漢é", [{"漢": ["é漢"]}]), "png")


def test_signs_of_the_legend_that_are_symbols_stand_in_quotes() -> None:
    reads = {arrow.reads for arrow in Diagram.of(dw.LevenshteinAutomaton("*ε", 1, "*εa")).arrows}
    assert reads == {"'*'", "'ε'", "≠'*'", "≠'ε'", "*", "ε"}


def test_legends_of_products_and_sets() -> None:
    product = dw.LevenshteinAutomaton("EE", 1, "NESW").of_length().product(dw.GridWorld(2, 3))
    meanings = set(legend(plots.diagram(product)).values())
    assert meanings == {KINDS["same errors"].meaning, KINDS["more errors"].meaning}
    notes = [text.get_text() for text in plots.diagram(PAPER["product"]).axes[0].texts]
    assert "below i,e: the state of the system" in notes
    anywhere = dw.GridWorld(2, 2, start=None).by_states()
    near = dw.LevenshteinAutomaton([(0, 0)], 1, anywhere.alphabet.symbols, "substitutions")
    assert Diagram.of(near.product(anywhere)).nodes[0].label == ("0,0", "start")
