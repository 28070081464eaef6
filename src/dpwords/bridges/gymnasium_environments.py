"""Transition systems from gymnasium's environments with a table of transitions, such as the toy-text ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

from dpwords.bridges.labelled_edges import system_of
from dpwords.core.symbols import Symbol
from dpwords.errors import InvalidValue, NotDeterministic, named
from dpwords.languages.exploring import State, explore
from dpwords.languages.systems import TransitionSystem, written

if TYPE_CHECKING:
    from gymnasium import Env


def from_gymnasium(
    env: Env[Any, Any], start: State | None = None, accepting: Iterable[State] | None = None
) -> TransitionSystem:
    """The words of actions that can be taken in one episode of an environment such as FrozenLake, Taxi or CliffWalking.

    The environment must have a table `P` of its transitions, {state: {action: [(probability, next state, reward,
    terminated)]}}. The system has the states that can be reached from the start; states and actions are gymnasium's
    numbers. A state in which the episode ends has no moves. Every beginning of an episode is a word; `accepting` names
    states to end in, for example `accepting=[15]` for the goal of FrozenLake. (Which of them are goals is not in the
    table: holes end an episode, too.)

    `start` is needed where an episode can begin in several states: pass what `env.reset()` returned, for example.
    Raises `NotDeterministic` with the state and the action if chance decides, as on slippery ice. Cost: the size of the
    table.
    """
    inner = getattr(env, "unwrapped", env)
    table = getattr(inner, "P", None)
    if not isinstance(table, Mapping) or not table:
        raise InvalidValue(
            f"{type(inner).__name__} has no table P of its transitions: only environments with a finite, known table, "
            "such as FrozenLake, are systems"
        )
    first = _number(_only_start(inner) if start is None else start)
    if first not in table:
        raise InvalidValue(f"start: {written(first)} is not a state of the environment: name one of its states")
    ends: dict[State, bool] = {}

    def follow(state: State) -> Iterator[tuple[Symbol, State]]:
        if ends.get(state):
            return
        for action, outcomes in table.get(state, {}).items():
            target, done = _outcome(state, action, outcomes)
            if ends.setdefault(target, done) != done:
                raise InvalidValue(
                    f"entering state {written(target)} ends the episode after some actions and not after others: "
                    "it must depend on the state alone"
                )
            yield _number(action), target

    states, edges = explore([first], follow)
    return system_of(edges, states, first, accepting)


def _only_start(inner: Any) -> State:
    weights = getattr(inner, "initial_state_distrib", None)
    starts = [state for state, weight in enumerate(() if weights is None else weights) if weight > 0]
    if len(starts) != 1:
        number = f"one of {len(starts)} states" if starts else "an unknown state"
        raise InvalidValue(f"the environment starts in {number}: pass {named('start')}, for example env.reset()[0]")
    return starts[0]


def _outcome(state: State, action: Any, outcomes: Iterable[tuple[float, Any, float, bool]]) -> tuple[State, bool]:
    """The one state that follows, and whether the episode ends there."""
    possible = {(_number(target), bool(done)) for probability, target, _, done in outcomes if probability > 0}
    if len(possible) != 1:
        raise NotDeterministic(
            f"state {written(state)}, action {written(action)} leads to {len(possible)} outcomes: a system must be "
            "deterministic, so make the environment without chance (FrozenLake: is_slippery=False)"
        )
    return possible.pop()


def _number(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    return int(value) if isinstance(value, Integral) else value
