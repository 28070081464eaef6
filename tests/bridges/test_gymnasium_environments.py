"""Systems from gymnasium's toy-text environments, against the environments themselves."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dpwords as dw


def episode(env: Any, state: int, actions: tuple[int, ...]) -> list[int] | None:
    """The states that the environment itself enters, or None if the episode ends before all actions are taken."""
    env.reset(seed=1)
    env.unwrapped.s = state
    entered, ended = [], False
    for action in actions:
        if ended:
            return None
        found, _, ended, _, _ = env.step(action)
        entered.append(int(found))
    return entered


@pytest.mark.parametrize(
    ("name", "options", "start"),
    [
        ("FrozenLake-v1", {"is_slippery": False, "desc": ["SFH", "HFG"]}, None),
        ("CliffWalking-v1", {}, None),
        ("Taxi-v4", {}, 328),
    ],
)
def test_words_are_the_beginnings_of_episodes(name: str, options: dict[str, Any], start: int | None) -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make(name, **options).unwrapped
    system = dw.from_gymnasium(env, start=start)
    assert (system.start == env.reset(seed=1)[0]) or start is not None
    for actions in product(range(env.action_space.n), repeat=4):
        entered = episode(env, system.start, actions)
        assert system.accepts(actions) == (entered is not None)
        if entered is not None:
            assert system.run(actions) == entered


def test_frozen_lake() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    lake = dw.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=False), accepting=[15])
    assert lake.accepts([1, 1, 2, 2, 1, 2])  # down, down, right, right, down, right: to the goal
    assert not lake.accepts([1, 1])
    assert not lake.accepts([1, 2])  # into a hole
    assert lake.transitions[5] == {}
    assert len(lake.states) == 16
    with pytest.raises(dw.NotDeterministic, match=r"state 0, action 0 leads to 2 outcomes.*is_slippery=False"):
        dw.from_gymnasium(gymnasium.make("FrozenLake-v1", is_slippery=True))


def test_taxis_need_a_start() -> None:
    gymnasium = pytest.importorskip("gymnasium")
    env = gymnasium.make("Taxi-v4")
    with pytest.raises(dw.InvalidValue, match=r"starts in one of 300 states: pass start="):
        dw.from_gymnasium(env)
    state, _ = env.reset(seed=3)
    assert len(dw.from_gymnasium(env, start=state).states) == 101  # 25 cells · 4 places of the passenger, and the end


def environment(table: object, starts: list[float] | None = None) -> Any:
    return SimpleNamespace(P=table, initial_state_distrib=None if starts is None else np.array(starts))


def test_tables_of_ones_own() -> None:
    table = {0: {0: [(0.5, 1, 0, False), (0.5, 1, 9, False), (0.0, 0, 0, False)]}, 1: {0: [(1.0, 2, 0, True)]}}
    system = dw.from_gymnasium(environment(table, [1.0, 0.0, 0.0]))
    assert system.transitions == {0: {0: 1}, 1: {0: 2}, 2: {}}


@pytest.mark.parametrize(
    ("env", "start", "error", "message"),
    [
        (object(), None, dw.InvalidValue, "object has no table P"),
        (environment([]), None, dw.InvalidValue, "no table P"),
        (environment({0: {}}), None, dw.InvalidValue, "starts in an unknown state: pass start="),
        (environment({0: {}}), 4, dw.InvalidValue, "start: 4 is not a state"),
        (environment({0: {7: [(0.0, 0, 0, False)]}}), 0, dw.NotDeterministic, "state 0, action 7 leads to 0 outcomes"),
        (
            environment({0: {7: [(0.9, 0, 0, False), (0.1, 0, 0, True)]}}),
            0,
            dw.NotDeterministic,
            "state 0, action 7 leads to 2 outcomes",
        ),
        (
            environment({0: {0: [(1.0, 1, 0, False)], 1: [(1.0, 1, 0, True)]}, 1: {}}),
            0,
            dw.InvalidValue,
            "entering state 1 ends the episode after some actions",
        ),
    ],
)
def test_bad_environments_are_refused(env: Any, start: int | None, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        dw.from_gymnasium(env, start=start)
