from __future__ import annotations

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


def test_states_are_any_hashable() -> None:
    one, two = frozenset({1}), frozenset({2})
    system = dw.TransitionSystem({one: {"a": two}, two: {"b": one}}, start=one)
    assert system.accepts("aba")
    assert system.by_states().accepts([two, one])


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
        ({"start": None, "walls": [(r, c) for r in range(3) for c in range(3)]}, "the start is a wall"),
        ({"start": ([0], 0)}, "a cell is a pair"),
        ({"walls": None}, "walls: a list or another collection is needed"),
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
        ({"s": {"a": "s"}}, "s", 3, "accepting: a list or another collection is needed"),
        ({"s": {"a": "s"}}, "s", "s", "accepting: a list or another collection is needed"),
    ],
)
def test_bad_systems_are_refused(transitions: Any, start: Any, accepting: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.TransitionSystem(transitions, start=start, accepting=accepting)


def test_a_grid_beyond_memory_is_refused_at_once() -> None:
    with pytest.raises(dw.TooLarge, match="at most 1000000 cells"):
        dw.GridWorld(99_999, 99_999)


def test_what_is_not_deterministic_is_refused_by_name() -> None:
    with pytest.raises(dw.NotDeterministic, match="state s0, action a leads to a list of states"):
        dw.TransitionSystem({"s0": {"a": ["s0", "s1"]}}, start="s0")  # type: ignore[dict-item]
