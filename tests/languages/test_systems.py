from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import dpwords as dw
from dpwords.spaces import exhaustive


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


def test_runs_and_their_moves() -> None:
    world = dw.GridWorld(15, 15)
    cells: list[Any] = [(0, 1), (0, 2), (1, 2), (2, 2)]
    assert world.run("EESS") == world.run(["E", "E", "S", "S"]) == cells
    assert world.moves(cells) == world.moves(tuple(cells)) == list("EESS")
    assert world.run("") == world.moves([]) == []
    assert world.by_states().run(cells) == world.by_states().moves(cells) == cells
    for start in (None, (0, 0)):
        system = dw.GridWorld(3, 3, start=start, walls={(1, 1)}, stay=True).by_states()
        assert all(system.run(word) == system.moves(word) == [*word] for word in exhaustive.words(system, 3))
    small = dw.GridWorld(3, 3, start=(2, 1), walls={(1, 1)}, stay=True)
    assert all(small.moves(small.run(word)) == [*word] for word in exhaustive.words(small, 4))


def test_a_run_from_anywhere_begins_with_its_first_state() -> None:
    runs = dw.TransitionSystem({"p": {"go": "q"}, "q": {"go": "p", "stay": "q"}}, start=None).by_states()
    assert runs.run("qqp") == runs.moves("qqp") == ["q", "q", "p"]
    with pytest.raises(dw.NotInLanguage, match="no action leads to state 1 of 1"):
        runs.moves("x")
    with pytest.raises(dw.InvalidValue, match="words of states"):
        dw.GridWorld(2, 2, start=None).run("E")


def test_what_is_no_run_is_refused_by_position() -> None:
    world = dw.GridWorld(3, 3)
    for word, position in (("EEE", "symbol 3 of 3 cannot follow"), ("EX", "symbol 2 of 2 is not in the alphabet")):
        with pytest.raises(dw.NotInLanguage, match=position) as found:
            world.run(word)
        assert "X" not in str(found.value)
    for cells in ([(0, 1), (2, 2)], [(0, 1), [0, 2]], [(0, 1), (0, 3)]):
        with pytest.raises(dw.NotInLanguage, match="no action leads to state 2 of 2") as found:
            world.moves(cells)
        assert not any(character in str(found.value) for character in "013,")
    for wrong in (17, None, {(0, 1)}):
        with pytest.raises(dw.InvalidValue, match="a word must be a str, a list or a tuple"):
            world.moves(wrong)  # type: ignore[arg-type]


def test_a_run_ends_in_an_accepting_state() -> None:
    system = dw.TransitionSystem({0: {"a": 1}, 1: {"a": 0}}, start=0, accepting={1})
    assert system.run("a") == [1]
    assert system.moves([1]) == ["a"]
    with pytest.raises(dw.NotInLanguage, match="it ends where no word of the language may end"):
        system.run("aa")
    with pytest.raises(dw.NotInLanguage, match="they end where no word of the language may end"):
        system.moves([1, 0])


def test_moves_that_are_not_unique_are_refused() -> None:
    system = dw.TransitionSystem({"p": {"slow": "q", "fast": "q", "stay": "p"}, "q": {"back": "p"}}, start="p")
    assert system.moves(["p", "p"]) == ["stay", "stay"]
    with pytest.raises(dw.InvalidValue, match=r"more than one action leads to state 2 of 3.*by_states\(\)") as found:
        system.moves(["p", "q", "p"])
    assert not isinstance(found.value, dw.NotInLanguage)
    assert "slow" not in str(found.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rows": 0}, "rows must be a whole number, 1 or more"),
        ({"columns": 2.5}, "columns must be a whole number"),
        ({"start": (3, 0)}, "start: 3,0 is not a state"),
        ({"start": 5}, "a cell must be a pair"),
        ({"walls": [(9, 9)]}, "walls: 9,9 is not a state"),
        ({"walls": [(0, 0)]}, "must start in a free cell"),
        ({"start": None, "walls": [(r, c) for r in range(3) for c in range(3)]}, "must start in a free cell"),
        ({"start": ([0], 0)}, "a cell must be a pair"),
        ({"walls": None}, "walls must be a list or another collection"),
    ],
)
def test_bad_grids_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.GridWorld(**({"rows": 3, "columns": 3} | arguments))


@pytest.mark.parametrize(
    ("transitions", "start", "accepting", "message"),
    [
        ({}, "s", None, "at least one state"),
        ([("a", "b")], "s", None, "transitions must be a mapping"),
        ({"s": ["a"]}, "s", None, "moves of state s must be one mapping"),
        ({"s": {"a": "s"}}, "t", None, "start: t is not a state"),
        ({"s": {"a": "s"}}, ["s"], None, r"start: .* is not a state"),
        ({"s": {"a": "s"}}, "s", ["x"], "accepting: x is not a state"),
        ({"s": {"a": None}}, "s", None, "state s, action a: the next state must be hashable and not None"),
        ({"s": {"a": "s"}}, "s", 3, "accepting must be a list or another collection"),
        ({"s": {"a": "s"}}, "s", "s", "accepting must be a list or another collection"),
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


def test_positions_are_for_all_states_and_go_with_the_system() -> None:
    moves = {"s": {"a": "t"}, "t": {"b": "s"}}
    positions = {"s": (0, 0), "t": (1.5, -2)}
    system = dw.TransitionSystem(moves, start="s", positions=positions)
    assert system.positions == {"s": (0.0, 0.0), "t": (1.5, -2.0)}
    assert system.by_states().positions == system.positions
    assert pickle.loads(pickle.dumps(system)).positions == system.positions
    assert dw.TransitionSystem(moves, start="s").positions is None
    (system.positions or {}).clear()
    assert len(system.positions or {}) == 2
    for bad in ({"s": (0, 0)}, {"s": (0, 0), "t": (1, math.inf)}, {"s": (0, 0), "t": (1, 2, 3)}, {"s": (0, 0), "t": 7}):
        with pytest.raises(dw.InvalidValue, match=r"state t must have a pair \(x, y\) of finite numbers"):
            dw.TransitionSystem(moves, start="s", positions=bad)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="positions: u is not a state of the system"):
        dw.TransitionSystem(moves, start="s", positions=positions | {"u": (3, 3)})
    with pytest.raises(dw.InvalidValue, match="positions must be a mapping"):
        dw.TransitionSystem(moves, start="s", positions=[(0, 0)])  # type: ignore[arg-type]
