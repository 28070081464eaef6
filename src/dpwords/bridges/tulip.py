"""Transition systems from TuLiP, the temporal logic planning toolbox."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpwords.bridges.labelled_edges import by_action, system_of
from dpwords.errors import InvalidValue, named
from dpwords.languages.exploring import State
from dpwords.languages.systems import TransitionSystem


def from_tulip(
    fts: Any, start: State | None = None, action: str | None = None, accepting: Iterable[State] | None = None
) -> TransitionSystem:
    """A system from a finite transition system (FTS) of TuLiP, or anything with the same attributes.

    These are `states` to iterate over, `states.initial`, and `transitions.find()`, a list of (state, next state,
    labels). `action` names the label that has the symbol, such as "sys_actions"; with `action=None` the symbol is the
    next state. `start` is needed unless there is exactly one initial state, or `action=None` and all states are initial
    (a run then starts in any state). Raises `NotDeterministic` with the state and the action. Cost: states and
    transitions.
    """
    try:
        states, initial, transitions = list(fts.states), set(fts.states.initial), list(fts.transitions.find())
    except (AttributeError, TypeError):
        raise InvalidValue("from_tulip needs an FTS with states, states.initial and transitions.find()") from None
    if start is None and len(initial) == 1:
        start = next(iter(initial))
    elif start is None and not (action is None and initial == set(states)):
        raise InvalidValue(f"the system has {len(initial)} initial states: pass {named('start')}")
    return system_of(by_action(transitions, action, "transition", "label"), states, start, accepting)
