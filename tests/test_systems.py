from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dpwords as dw


def test_a_system_runs_what_it_can() -> None:
    system = dw.TransitionSystem({"s0": {"a": "s1"}, "s1": {"a": "s0", "b": "s1"}}, start="s0")
    assert system.accepts("aba")
    assert not system.accepts("b")
    assert not system.accepts("ac")
    assert system.states == ("s0", "s1")
    assert system.transitions == {"s0": {"a": "s1"}, "s1": {"a": "s0", "b": "s1"}}
    assert "2 states, 3 edges" in repr(system)


def test_accepting_states_end_words() -> None:
    system = dw.TransitionSystem({0: {"a": 1}, 1: {"a": 0}}, start=0, accepting={1})
    assert [system.accepts("a" * n) for n in range(4)] == [False, True, False, True]


def test_by_states_merges_parallel_actions() -> None:
    system = dw.TransitionSystem({"p": {"slow": "q", "fast": "q", "stay": "p"}, "q": {"back": "p"}}, start="p")
    runs = system.by_states()
    assert system.count(2) == 5
    assert runs.count(2) == 3
    assert runs.accepts(["q", "p"])
    assert not runs.accepts(["q", "q"])
    assert runs.by_states().count(2) == 3


def test_any_start_is_for_words_of_states() -> None:
    system = dw.TransitionSystem({"p": {"go": "q"}, "q": {"go": "p", "stay": "q"}}, start=None)
    with pytest.raises(dw.InvalidValue, match="words of states"):
        system.accepts(["go"])
    with pytest.raises(dw.InvalidValue, match="words of states"):
        dw.Exponential(system, 1.0)
    runs = system.by_states()
    assert runs.accepts(["q", "q", "p"])
    assert runs.accepts(["p"])
    assert not runs.accepts(["p", "p"])
    assert [runs.count(n) for n in range(4)] == [1, 2, 3, 5]


def test_grid_world() -> None:
    world = dw.GridWorld(2, 3, start=(0, 1), walls={(1, 1)})
    assert world.accepts("ES")  # (0,2), (1,2)
    assert not world.accepts("S")  # a wall
    assert not world.accepts("N")  # off the grid
    assert world.accepts("EWW")
    assert (world.rows, world.columns, world.walls) == (2, 3, {(1, 1)})
    cells = world.by_states()
    assert cells.accepts([(0, 2), (1, 2)])
    assert not cells.accepts([(1, 1)])
    assert dw.GridWorld(15, 15).accepts("EESS")
    assert dw.GridWorld(2, 2, stay=True).accepts("..E.")
    assert dw.GridWorld(1, 1).count(1) == 0
    assert dw.GridWorld(15, 15, start=None).by_states().count(1) == 225


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 0}, "rows is a whole number, 1 or more"),
        ({"columns": 2.5}, "columns is a whole number"),
        ({"start": (3, 0)}, "start: 3,0 is not a state"),
        ({"start": 5}, "a cell is a pair"),
        ({"walls": [(9, 9)]}, "walls: 9,9 is not a state"),
        ({"walls": [(0, 0)]}, "the start is a wall"),
    ],
)
def test_bad_grids_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.GridWorld(**({"rows": 3, "columns": 3} | arguments))


@pytest.mark.parametrize(
    ("transitions", "start", "accepting", "message"),
    [
        ({}, "s", None, "at least one state"),
        ([("a", "b")], "s", None, "transitions are a mapping"),
        ({"s": ["a"]}, "s", None, "moves of state s are not one mapping"),
        ({"s": {"a": "s"}}, "t", None, "start: t is not a state"),
        ({"s": {"a": "s"}}, ["s"], None, r"start: .* is not a state"),
        ({"s": {"a": "s"}}, "s", ["x"], "accepting: x is not a state"),
        ({"s": {"a": None}}, "s", None, "state s, action a: the next state is no state"),
    ],
)
def test_bad_systems_are_refused(transitions: Any, start: Any, accepting: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.TransitionSystem(transitions, start=start, accepting=accepting)


def test_what_is_not_deterministic_is_refused_by_name() -> None:
    with pytest.raises(dw.NotDeterministic, match="state s0, action a leads to 2 states"):
        dw.TransitionSystem({"s0": {"a": ["s0", "s1"]}}, start="s0")  # type: ignore[dict-item]


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
        ("source,target\n1,2\n3", "line 3: source or target is missing"),
        ("source,target\n", "at least one state"),
        ('source,target\n1,"2', "cannot be read as a CSV file"),
    ],
)
def test_bad_edge_lists_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "roads.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_edges(file)


def test_edges_that_are_no_pairs_or_no_file_are_refused(tmp_path: Path) -> None:
    for rows in ([(1, 2, 3)], ["ab"], [([1], 2)]):
        with pytest.raises(dw.InvalidValue, match="edge 1 is not a pair"):
            dw.from_edges(rows)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"missing\.csv cannot be read.*No such file"):
        dw.from_edges(tmp_path / "missing.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(dw.InvalidValue, match="cannot be read as a CSV"):
        dw.from_edges(tmp_path / "binary.csv")


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
    with pytest.raises(dw.InvalidValue, match="written alike"):
        dw.TransitionSystem({1: {"a": "1"}}, start=1).to_json()


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (json.dumps(GOOD)[:50], dw.InvalidValue, r"not valid JSON \(line 1, column \d+\): is the file cut off"),
        ("", dw.InvalidValue, "not valid JSON"),
        ("[]", dw.InvalidValue, "needs the keys"),
        ('{"start": "s"}', dw.InvalidValue, "needs the keys"),
        ('{"start": "s", "transitions": {"s": {"a": "s", "a": "t"}}}', dw.NotDeterministic, "state s, action a"),
        ('{"start": "s", "transitions": {"s": {"a": ["s", "t"]}}}', dw.NotDeterministic, "leads to 2 states"),
        ('{"start": "s", "transitions": {"s": {}, "s": {}}}', dw.InvalidValue, "not one mapping"),
        ('{"start": "0", "transitions": {"0": {"a": 0}}}', dw.InvalidValue, 'states are text in JSON, write "0"'),
        ('{"start": "s", "accepting": "s", "transitions": {"s": {"a": "s"}}}', dw.InvalidValue, "list of states"),
        ("[" * 100_000, dw.InvalidValue, "nested too deeply"),
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
