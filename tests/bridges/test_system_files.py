"""Systems from edge lists and JSON files, and from maps drawn with characters."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpwords as dw


def test_edge_lists(tmp_path: Path) -> None:
    file = tmp_path / "roads.csv"
    file.write_text("source,target,metres\n1,2,7.5\n2,1,7.5\n2,3,1\n2,3,1\n3,3,0\n", encoding="utf-8")
    roads = dw.from_edges(file)
    assert roads.accepts(["1", "2", "3", "3"])
    assert not roads.accepts(["1", "3"])
    assert roads.count(2) == 4
    assert dw.from_edges(str(file), start="1").count(2) == 2
    assert dw.from_edges([(1, 2), (2, 1)], start=1, accepting=[2]).count(3) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("from,to\n1,2\n", "needs a header line"),
        ("", "needs a header line"),
        ("source,target\n1,2\n3", "line 3: the source or the target is missing"),
        ("source,target\n", "a header, but no edges"),
        ('source,target\n1,"2', r"not valid CSV \(unexpected end of data\)"),
    ],
)
def test_bad_edge_lists_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "roads.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_edges(file)


def test_edges_that_are_no_pairs_or_no_file_are_refused(tmp_path: Path) -> None:
    for rows in ([(1, 2, 3)], ["ab"], [([1], 2)], [1]):
        with pytest.raises(dw.InvalidValue, match="edge 1 must be a pair"):
            dw.from_edges(rows)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"missing\.csv cannot be read.*No such file"):
        dw.from_edges(tmp_path / "missing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(dw.InvalidValue, match=r"binary\.csv is not UTF-8 text"):
        dw.from_edges(tmp_path / "binary.csv")
    for nothing in (None, 3):
        with pytest.raises(dw.InvalidValue, match="edges must be a list or another collection"):
            dw.from_edges(nothing)  # type: ignore[arg-type]


GOOD = {"start": "s0", "accepting": ["s1"], "transitions": {"s0": {"a": "s1"}, "s1": {"a": "s0", "b": "s1"}}}


def test_json(tmp_path: Path) -> None:
    file = tmp_path / "system.json"
    file.write_text(json.dumps(GOOD), encoding="utf-8")
    system = dw.from_json(file)
    assert system.accepts("ab")
    assert not system.accepts("aa")
    assert json.loads(system.to_json()) == GOOD
    world = dw.GridWorld(2, 2, start=(0, 1))
    file.write_text(world.to_json(), encoding="utf-8")
    assert dw.from_json(file).count(5) == world.count(5)
    file.write_text(dw.from_edges([("p", "q"), ("q", "p")]).to_json(), encoding="utf-8")
    assert dw.from_json(file).count(3) == 2  # start: null
    file.write_text(json.dumps(GOOD), encoding="utf-8-sig")
    assert dw.from_json(file).accepts("ab")
    placed = GOOD | {"positions": {"s0": [0.5, 1.0], "s1": [2.0, -3.0]}}
    file.write_text(json.dumps(placed), encoding="utf-8")
    assert dw.from_json(file).positions == {"s0": (0.5, 1.0), "s1": (2.0, -3.0)}
    assert json.loads(dw.from_json(file).to_json()) == placed
    with pytest.raises(dw.InvalidValue, match="written alike"):
        dw.TransitionSystem({1: {"a": "1"}}, start=1).to_json()
    with pytest.raises(dw.InvalidValue, match="written alike"):
        dw.TransitionSystem({"s": {("a", "b"): "s", "a,b": "s"}}, start="s").to_json()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (json.dumps(GOOD)[:50], dw.InvalidValue, r"not valid JSON \(line 1, column \d+\): is the file cut off"),
        ("", dw.InvalidValue, "not valid JSON"),
        ("[]", dw.InvalidValue, "needs the keys"),
        ('{"start": "s"}', dw.InvalidValue, "needs the keys"),
        ('{"start": "s", "transitions": {"s": {"a": "s", "a": "t"}}}', dw.NotDeterministic, "state s, action a"),
        ('{"start": "s", "transitions": {"s": {"a": ["s", "t"]}}}', dw.NotDeterministic, "leads to a list of states"),
        ('{"start": "s", "transitions": {"s": {}, "s": {}}}', dw.InvalidValue, "must be one mapping"),
        (
            '{"start": "0", "transitions": {"0": {"a": 0}}}',
            dw.InvalidValue,
            'states must be strings in JSON: write "0"',
        ),
        ('{"start": "s", "accepting": "s", "transitions": {"s": {"a": "s"}}}', dw.InvalidValue, "list of states"),
        (
            '{"start": 0, "transitions": {"0": {"a": "0"}}}',
            dw.InvalidValue,
            'start: states must be strings in JSON: write "0"',
        ),
        ('{"start": "s", "accepting": 3, "transitions": {"s": {"a": "s"}}}', dw.InvalidValue, "list of states"),
        (
            '{"start": "s", "accepting": [3], "transitions": {"s": {"a": "s"}}}',
            dw.InvalidValue,
            "accepting: states must be strings",
        ),
        ("[" * 100_000, dw.InvalidValue, "not a transition system"),
        ('{"start": "s", "transitions": {}}', dw.InvalidValue, r"system\.json: transitions must be a mapping"),
        (json.dumps(GOOD | {"positions": {"s0": [0, 0]}}), dw.InvalidValue, r"system\.json: positions: state s1 must"),
        (json.dumps(GOOD | {"positions": 3}), dw.InvalidValue, "positions must be a mapping"),
        ("1" * 5000, dw.InvalidValue, "not a transition system"),
    ],
)
def test_bad_json_is_refused(tmp_path: Path, content: str, error: type[Exception], message: str) -> None:
    file = tmp_path / "system.json"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(error, match=message):
        dw.from_json(file)


def test_json_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(dw.InvalidValue, match=r"gone\.json cannot be read"):
        dw.from_json(tmp_path / "gone.json")


def test_maps() -> None:
    world = dw.from_map("#S.\n.#G\n..G\n")
    assert (world.rows, world.columns) == (3, 3)
    assert world.start == (0, 1)
    assert world.walls == {(0, 0), (1, 1)}
    assert world.accepting == {(1, 2), (2, 2)}
    assert world.accepts("ES")
    assert world.accepts("ESS")
    assert not world.accepts("E")
    assert not world.accepts("ESW")
    assert dw.from_map("S G", stay=True).accepts("E.E.")


def test_maps_without_marks() -> None:
    anywhere = dw.from_map("..\n..")
    assert anywhere.start is None
    assert anywhere.accepting is None
    assert anywhere.by_states().count(2) == 8
    assert dw.from_map("S..").count(2) == 2


def test_empty_lines_around_the_map_are_left_out(tmp_path: Path) -> None:
    assert dw.from_map("\n\nS.\n..\n\n").to_json() == dw.GridWorld(2, 2).to_json()
    file = tmp_path / "map.txt"
    file.write_bytes(b"S.\r\n..\r\n")
    assert dw.from_map(file).to_json() == dw.GridWorld(2, 2).to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S.\nS.", "the map has 2 starts"),
        ("\n..\n...", "line 3 of the map has 3 cells, and the first 2: fill up with #"),
        ("..\n\n..", "line 2 of the map has 0 cells"),
        ("..\n.x", r"line 2 of the map, column 2, is none of # S G \. and the space"),
        ("\t.", "line 1 of the map, column 1"),
        ("map.txt", r"to read it from a file, pass from_map\(Path\('map.txt'\)\)"),
        ("##", "must start in a free cell"),
        ("", "a map must be a text with cells"),
        ("\n\n", "a map must be a text with cells"),
        ("\x1c\x85\u2028", "a map must be a text with cells"),  # which end lines, too
        (None, "a map must be a text"),
    ],
)
def test_bad_maps_are_refused(text: str, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_map(text)


def test_large_maps_are_refused() -> None:
    assert len(dw.from_map("." * 1000).states) == 1000
    with pytest.raises(dw.TooLarge, match="at most 1000000 cells"):
        dw.from_map("." * 1_000_001)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_text("S?", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"map\.txt: line 1 of the map, column 2"):
        dw.from_map(tmp_path / "map.txt")
    (tmp_path / "map.txt").write_text("##", encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=r"map\.txt: a run must start in a free cell"):
        dw.from_map(tmp_path / "map.txt")
    with pytest.raises(dw.InvalidValue, match=r"^gone\.txt cannot be read"):
        dw.from_map(tmp_path / "gone.txt")
