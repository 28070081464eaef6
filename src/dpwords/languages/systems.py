"""Deterministic transition systems and grid worlds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dpwords.core.checks import collection, whole_number
from dpwords.core.symbols import Alphabet, Symbol, is_hashable
from dpwords.errors import InvalidValue, NotDeterministic, TooLarge
from dpwords.languages.language import Language, State


class _AnyStart:
    """The state before the first one, where a run may start anywhere."""

    def __repr__(self) -> str:
        return "ANY_START"


ANY_START = _AnyStart()
LARGEST_GRID = 10**6  # cells


class TransitionSystem(Language):
    """Words of moves: sequences of actions that a partial, deterministic system can take from its start.

    `transitions` maps each state to {action: next state}; a state without moves may be left out. With `accepting`,
    only runs that end in one of those states count. `start=None` lets a run start anywhere; its words are then the
    states visited, so it exists only where each action is named after the state it leads to (see `by_states`).

    >>> door = TransitionSystem({"open": {"close": "shut"}, "shut": {"open": "open", "wait": "shut"}}, start="open")
    >>> door.count(3)
    3
    """

    def __init__(
        self,
        transitions: Mapping[Any, Mapping[Any, Any]],
        start: State | None,
        accepting: Iterable[State] | None = None,
    ) -> None:
        moves = _checked_transitions(transitions)
        self._moves: dict[State, dict[Symbol, State]] = moves
        self.states: tuple[State, ...] = tuple(
            dict.fromkeys(state for source, row in moves.items() for state in (source, *row.values()))
        )
        self.start = _known(start, self.states, "start") if start is not None else None
        self.accepting = (
            None
            if accepting is None
            else frozenset(_known(s, self.states, "accepting") for s in collection(accepting, "accepting"))
        )
        self._names_targets = all(action == target for row in moves.values() for action, target in row.items())
        self.symbols_are = "states" if self._names_targets else "moves"
        actions = dict.fromkeys(action for row in moves.values() for action in row)
        self.alphabet = Alphabet(self.states if self._names_targets else actions)

    def __repr__(self) -> str:
        edges = sum(map(len, self._moves.values()))
        return f"<{type(self).__name__}: {len(self.states)} states, {edges} edges>"

    @property
    def transitions(self) -> dict[State, dict[Symbol, State]]:
        """A copy of the moves, {state: {action: next state}}."""
        return {state: dict(row) for state, row in self._moves.items()}

    @property
    def initial(self) -> State:
        start: State | None = self.start
        if start is not None:
            return start
        if not self._names_targets:
            raise InvalidValue(
                "start=None is only for words of states: name a start, or take by_states(), --words states"
            )
        return ANY_START

    def follow(self, state: Any) -> Iterator[tuple[Symbol, Any]]:
        if state is ANY_START:
            return ((first, first) for first in self.states)
        return iter(self._moves.get(state, {}).items())

    def step(self, state: Any, symbol: Any) -> Any:
        return symbol if state is ANY_START else self._moves.get(state, {}).get(symbol)

    def is_accepting(self, state: Any) -> bool:
        return self.accepting is None or state in self.accepting

    def by_states(self) -> TransitionSystem:
        """The same runs as words of the states entered: actions that lead to the same state become one symbol.

        With `start=None` the first symbol is the state in which the run starts.
        """
        return TransitionSystem(
            {state: {target: target for target in row.values()} for state, row in self._moves.items()},
            start=self.start,
            accepting=self.accepting,
        )

    def to_json(self) -> str:
        """The system as JSON; states and actions that are tuples are written with commas, as in `0,1`."""
        document: dict[str, Any] = {"start": None if self.start is None else written(self.start)}
        if self.accepting is not None:
            document["accepting"] = [written(state) for state in self.states if state in self.accepting]
        document["transitions"] = {
            written(state): {written(action): written(target) for action, target in row.items()}
            for state, row in self._moves.items()
        }
        for names in (self.states, *self._moves.values()):
            if len({written(name) for name in names}) < len(names):
                raise InvalidValue(
                    "two states or actions are written alike in JSON: give them names that differ as text"
                )
        return json.dumps(document)


class GridWorld(TransitionSystem):
    """A robot on a grid of `rows` × `columns` cells (row, column), from (0, 0); N is row − 1.

    Moves are N, E, S, W and, with `stay`, the dot "." that stays; moves off the grid or into a wall do not exist.

    >>> GridWorld(2, 3, start=(0, 0)).count(2)
    5
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        start: tuple[int, int] | None = (0, 0),
        walls: Iterable[tuple[int, int]] = (),
        stay: bool = False,
    ) -> None:
        self.rows, self.columns = whole_number(rows, "rows", 1), whole_number(columns, "columns", 1)
        if self.rows * self.columns > LARGEST_GRID:
            raise TooLarge(f"a grid has at most {LARGEST_GRID} cells: take a smaller one")
        every = dict.fromkeys((row, column) for row in range(rows) for column in range(columns))
        self.walls = frozenset(_known(_cell(wall), every, "walls") for wall in collection(walls, "walls"))
        cells = dict.fromkeys(cell for cell in every if cell not in self.walls)
        if not cells or (start is not None and _cell(start) in self.walls):
            raise InvalidValue("the start is a wall: start in a free cell")
        moves = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)} | ({".": (0, 0)} if stay else {})
        super().__init__(
            {
                (row, column): {
                    name: (row + down, column + right)
                    for name, (down, right) in moves.items()
                    if (row + down, column + right) in cells
                }
                for row, column in cells
            },
            start=None if start is None else _cell(start),
        )


def written(symbol: Symbol) -> str:
    """A state or symbol as text: a cell (0, 1) is written 0,1."""
    return ",".join(map(str, symbol)) if isinstance(symbol, tuple) else str(symbol)


def _checked_transitions(transitions: object) -> dict[State, dict[Symbol, State]]:
    if not isinstance(transitions, Mapping) or not transitions:
        raise InvalidValue("transitions are a mapping {state: {action: next state}} with at least one state")
    for state, row in transitions.items():
        if state is None or not isinstance(row, Mapping):
            raise InvalidValue(f"the moves of state {written(state)} are not one mapping {{action: next state}}")
        for action, target in row.items():
            if isinstance(target, (list, set)):
                raise NotDeterministic(
                    f"state {written(state)}, action {written(action)} leads to a list of states: "
                    "a system must be deterministic, give each branch an action of its own"
                )
            if target is None or not is_hashable(target):
                raise InvalidValue(f"state {written(state)}, action {written(action)}: the next state is no state")
    return {state: dict(row) for state, row in transitions.items()}


def _known(state: Any, states: Iterable[State], role: str) -> Any:
    if not is_hashable(state) or state not in states:
        raise InvalidValue(f"{role}: {written(state)} is not a state of the system: name one of its states")
    return state


def _cell(cell: Any) -> tuple[int, int]:
    if not isinstance(cell, tuple) or len(cell) != 2 or not is_hashable(cell):
        raise InvalidValue("a cell is a pair (row, column)")
    return cell
