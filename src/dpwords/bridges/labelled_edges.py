"""What all bridges share: labelled edges become the moves of a deterministic system."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue, NotDeterministic, named
from dpwords.languages.exploring import State
from dpwords.languages.systems import TransitionSystem, written


def system_of(
    edges: Iterable[tuple[State, Symbol, State]],
    states: Iterable[State] = (),
    start: State | None = None,
    accepting: Iterable[State] | None = None,
    positions: Mapping[Any, tuple[float, float]] | None = None,
) -> TransitionSystem:
    """The system with these edges (state, action, next state), and with these states even if they have no edge.

    An edge may be repeated. Raises `NotDeterministic` with the state and the action if an action leads from a state to
    more than one, and `InvalidValue` if there are no states. Cost: the number of edges.
    """
    moves: dict[State, dict[Symbol, State]] = {state: {} for state in states}
    for source, action, target in edges:
        if not is_hashable(action):
            raise InvalidValue(
                f"the action from {written(source)} to {written(target)} is a {type(action).__name__}, which cannot be "
                "a symbol: use text, a number or a tuple"
            )
        known = moves.setdefault(source, {}).setdefault(action, target)
        if known != target:
            raise NotDeterministic(
                f"state {written(source)}, action {written(action)} leads to {written(known)} and {written(target)}: "
                "a system must be deterministic, so give each branch an action of its own"
            )
    if not moves:
        raise InvalidValue("a system needs at least one state, but there is none: check the source")
    return TransitionSystem(moves, start, accepting, positions)


def by_action(
    edges: Iterable[tuple[State, State, Mapping[str, Any]]], action: str | None, kind: str, label: str
) -> Iterator[tuple[State, Symbol, State]]:
    """Edges (source, target, labels) with the one label that is the symbol; with None, that is the target.

    A list becomes a tuple. `kind` and `label` are what edges and labels are called where they come from.
    """
    for source, target, labels in edges:
        if action is not None and action not in labels:
            raise InvalidValue(
                f"the {kind} from {written(source)} to {written(target)} has no {label} {action}: every {kind} needs "
                f"its action; without {named('action')} the symbols are the states"
            )
        symbol = target if action is None else labels[action]
        yield source, tuple(symbol) if isinstance(symbol, list) else symbol, target
