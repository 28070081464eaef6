"""Deterministic transition systems and grid worlds."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from dpwords.core.checks import collection, whole_number
from dpwords.core.limits import check_memory
from dpwords.core.symbols import Alphabet, Symbol, Word, is_hashable, symbols_of
from dpwords.errors import InvalidValue, NotDeterministic, NotInLanguage, TooLarge, named
from dpwords.languages.exploring import State
from dpwords.languages.language import Language
from dpwords.languages.spelling import Spelling


class _AnyStart:
    """The state before the first symbol of a run that may start in any state."""

    def __repr__(self) -> str:
        return "ANY_START"


ANY_START = _AnyStart()
LARGEST_GRID = 10**6  # cells
_BYTES_OF_A_CELL = 1000  # and of its moves, at most, while a grid is made


class TransitionSystem(Language):
    """Words of moves: sequences of actions that a partial, deterministic system can take from its start.

    `transitions` maps each state to {action: next state}; a state without moves may be left out. With `accepting`,
    only runs that end in one of those states count. `start=None` lets a run start in any state; its words are then the
    states visited, so each action must have the name of the state it leads to (see `by_states`). `positions` are the
    coordinates {state: (x, y)} of all states, for pictures only.

    >>> door = TransitionSystem({"open": {"close": "shut"}, "shut": {"open": "open", "wait": "shut"}}, start="open")
    >>> door.count(3)
    3
    """

    def __init__(
        self,
        transitions: Mapping[Any, Mapping[Any, Any]],
        start: State | None,
        accepting: Iterable[State] | None = None,
        positions: Mapping[Any, tuple[float, float]] | None = None,
    ) -> None:
        moves = _checked_transitions(transitions)
        self._moves: dict[State, dict[Symbol, State]] = moves
        known = dict.fromkeys(state for source, row in moves.items() for state in (source, *row.values()))
        self.states: tuple[State, ...] = tuple(known)
        self.start = _known(start, known, "start") if start is not None else None
        self.accepting = (
            None
            if accepting is None
            else frozenset(_known(s, known, "accepting") for s in collection(accepting, "accepting"))
        )
        self.dead_ends = self.accepting is not None
        self._positions = None if positions is None else _checked_positions(positions, known)
        self._names_targets = all(action == target for row in moves.values() for action, target in row.items())
        self.symbols_are = "states" if self._names_targets else "moves"
        actions = dict.fromkeys(action for row in moves.values() for action in row)
        self.alphabet = Alphabet(self.states if self._names_targets else actions)

    def __repr__(self) -> str:
        edges = sum(map(len, self._moves.values()))
        return f"<{type(self).__name__}: {len(self.states)} states, {edges} edges>"

    @property
    def transitions(self) -> dict[State, dict[Symbol, State]]:
        """A copy of the transitions, {state: {action: next state}}."""
        return {state: dict(row) for state, row in self._moves.items()}

    @property
    def positions(self) -> dict[State, tuple[float, float]] | None:
        """A copy of the coordinates {state: (x, y)}, or None if the states have none."""
        return None if self._positions is None else dict(self._positions)

    @property
    def initial(self) -> State:
        start: State | None = self.start
        if start is not None:
            return start
        if not self._names_targets:
            raise InvalidValue(
                "only words of states may start anywhere: name a start (S in a map), or use by_states() "
                f"({named('words', 'states')})"
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
            positions=self._positions,
        )

    def plans(self) -> Plans:
        """The same words of moves, with a promise and a distance that are about the states that they enter.

        For plans and routes that is usually what is meant: a detour by one cell changes two moves and one state, and a
        route that is shifted as a whole few moves and many states. Moves and states have to determine each other:
        raises `InvalidValue` without a start, and if two moves lead from one state to the
        same. Rules, estimates and arrays of codes are about states. Cost: the number of edges.

        >>> plans = GridWorld(15, 15).plans()
        >>> plans.accepts("EESS"), plans.run("ESE"), plans.moves([(0, 1), (1, 1), (1, 2)])
        (True, [(0, 1), (1, 1), (1, 2)], ['E', 'S', 'E'])
        """
        return Plans(self)

    @cached_property
    def without_goal(self) -> TransitionSystem:
        """The same system, whose runs may end in any state."""
        if self.accepting is None:
            return self
        return TransitionSystem(self._moves, self.start, positions=self._positions)

    @property
    def system(self) -> TransitionSystem:
        return self

    def moves(self, states: Word) -> list[Any]:
        """The actions that enter these states one after the other: the inverse of `run`, if it is unique.

        In a system of words of states, these are the states themselves. Raises `NotInLanguage` if no run enters the
        states, and `InvalidValue` if two actions lead from one of them to the next. Cost: length · branching, and with
        `start=None` the number of states.

        >>> GridWorld(15, 15).moves([(0, 1), (0, 2), (1, 2), (2, 2)])
        ['E', 'E', 'S', 'S']
        """
        entered, at, taken = symbols_of(states), self.initial, []
        for place, state in enumerate(entered, start=1):
            known = is_hashable(state)
            actions = [action for action, target in self.follow(at) if known and target == state]
            if not actions:
                raise _no_run(f"no action leads to state {place} of {len(entered)}")
            if len(actions) > 1:
                raise InvalidValue(
                    f"more than one action leads to state {place} of {len(entered)}, so the moves are not unique: "
                    "use words of states, by_states()"
                )
            at = state
            taken += actions
        if not self.is_accepting(at):
            raise _no_run("they end where no word of the language may end")
        return taken

    def to_json(self) -> str:
        """The system as JSON; tuples are written with commas, so that the cell (0, 1) becomes `0,1`."""
        document: dict[str, Any] = {"start": None if self.start is None else written(self.start)}
        if self.accepting is not None:
            document["accepting"] = [written(state) for state in self.states if state in self.accepting]
        document["transitions"] = {
            written(state): {written(action): written(target) for action, target in row.items()}
            for state, row in self._moves.items()
        }
        if self._positions is not None:
            document["positions"] = {written(state): place for state, place in self._positions.items()}
        for names in (self.states, *self._moves.values()):
            if len({written(name) for name in names}) < len(names):
                raise InvalidValue(
                    "two states or actions are written alike in JSON: give them names that differ as text"
                )
        return json.dumps(document)


class Plans(TransitionSystem):
    """Runs from a known start that are written as moves, and whose symbols are the states entered.

    `TransitionSystem.plans` makes it. The alphabet has the states, and `letters` has the moves.
    """

    spelling: Spelling

    def __init__(self, system: TransitionSystem) -> None:
        remedy = f"use words of states, by_states() ({named('words', 'states')})"
        if system._names_targets:
            raise InvalidValue(
                "these words are words of states already, and their promise is about states: use them as they are, "
                f"without plans() or {named('protect')}"
            )
        if system.start is None:
            raise InvalidValue(
                "moves alone do not tell which states a run enters if it may start anywhere: name a start (S in a "
                f"map), or {remedy}"
            )
        for state, row in system._moves.items():
            leading: dict[State, Symbol] = {}
            for action, target in row.items():
                other = leading.setdefault(target, action)
                if other != action:
                    raise InvalidValue(
                        f"from state {written(state)}, {written(other)} and {written(action)} both lead to "
                        f"{written(target)}, so that states do not tell the moves: {remedy}"
                    )
        by_states = system.by_states()
        super().__init__(by_states._moves, system.start, system.accepting, system._positions)
        self.spelling, self._written = Spelling(system._moves, system.start), system

    @cached_property
    def without_goal(self) -> TransitionSystem:
        return self if self.accepting is None else Plans(self._written.without_goal)

    def plans(self) -> Plans:
        return self

    def moves(self, states: Word) -> list[Any]:
        return list(self.spell(tuple(super().moves(states))))


class GridWorld(TransitionSystem):
    """A robot on a grid of `rows` × `columns` cells, each a pair (row, column) from (0, 0); N leads to row − 1.

    The moves are N, E, S, W and, with `stay`, "." to stay in place; moves off the grid or into a wall do not exist.
    With `goal`, a cell or several, only runs that end there count; `accepting` is the same for a collection of cells.

    >>> GridWorld(2, 3, start=(0, 0)).count(2)
    5
    >>> GridWorld(2, 3, goal=(1, 2)).count(3)
    3
    """

    def __init__(
        self,
        rows: int,
        columns: int,
        start: tuple[int, int] | None = (0, 0),
        walls: Iterable[tuple[int, int]] = (),
        stay: bool = False,
        accepting: Iterable[tuple[int, int]] | None = None,
        goal: tuple[int, int] | Iterable[tuple[int, int]] | None = None,
    ) -> None:
        if accepting is not None and goal is not None:
            raise InvalidValue("goal and accepting both say where runs end: pass one of them")
        self.rows, self.columns = whole_number(rows, "rows", 1), whole_number(columns, "columns", 1)
        if self.rows * self.columns > LARGEST_GRID:
            raise TooLarge(f"a grid can have at most {LARGEST_GRID} cells: use a smaller one")
        check_memory(_BYTES_OF_A_CELL * self.rows * self.columns)
        every = dict.fromkeys((row, column) for row in range(rows) for column in range(columns))
        self.walls = frozenset(_known(_cell(wall), every, "walls") for wall in collection(walls, "walls"))
        cells = {cell: cell for cell in every if cell not in self.walls}  # one object for each cell, however it is met
        if not cells or (start is not None and _cell(start) in self.walls):
            raise InvalidValue("a run must start in a free cell, not in a wall: choose another start or fewer walls")
        moves = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)} | ({".": (0, 0)} if stay else {})
        super().__init__(
            {
                (row, column): {
                    name: target
                    for name, (down, right) in moves.items()
                    if (target := cells.get((row + down, column + right))) is not None
                }
                for row, column in cells
            },
            start=None if start is None else _cell(start),
            accepting=accepting if goal is None else [_known(cell, cells, "goal") for cell in _cells(goal)],
        )


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


def written(symbol: Symbol) -> str:
    """A state or symbol as text: the cell (0, 1) is written 0,1."""
    return ",".join(map(str, symbol)) if isinstance(symbol, tuple) else str(symbol)


def between(words: Iterable[Iterable[Symbol]]) -> str:
    """What to write between the symbols of such words: nothing if each is one character, else a blank or an arrow.

    >>> between(["go", "goo"]), between([["go", "stop"]]), between([["go on", "stop"]])
    ('', ' ', ' → ')
    """
    names = {written(symbol) for word in words for symbol in word}
    if all(len(name) == 1 for name in names):
        return ""
    return " → " if any(" " in name for name in names) else " "


def _no_run(fault: str) -> NotInLanguage:
    return NotInLanguage(f"the states are not those of a run ({fault}): only runs of the system have moves")


def _checked_transitions(transitions: object) -> dict[State, dict[Symbol, State]]:
    if not isinstance(transitions, Mapping) or not transitions:
        raise InvalidValue("transitions must be a mapping {state: {action: next state}} with at least one state")
    for state, row in transitions.items():
        if state is None or not isinstance(row, Mapping):
            raise InvalidValue(f"the moves of state {written(state)} must be one mapping {{action: next state}}")
        for action, target in row.items():
            if isinstance(target, (list, set)):
                raise NotDeterministic(
                    f"state {written(state)}, action {written(action)} leads to a list of states: "
                    "a system must be deterministic, so give each branch an action of its own"
                )
            if target is None or not is_hashable(target):
                raise InvalidValue(
                    f"state {written(state)}, action {written(action)}: the next state must be hashable and not None"
                )
    return {state: dict(row) for state, row in transitions.items()}


def _checked_positions(positions: object, states: Iterable[State]) -> dict[State, tuple[float, float]]:
    if not isinstance(positions, Mapping):
        raise InvalidValue("positions must be a mapping {state: (x, y)}")
    for state in positions:
        _known(state, states, "positions")
    found = {}
    for state in states:
        try:
            x, y = map(float, positions[state])
        except (KeyError, TypeError, ValueError):
            x = y = math.nan
        if not (math.isfinite(x) and math.isfinite(y)):
            raise InvalidValue(f"positions: state {written(state)} must have a pair (x, y) of finite numbers")
        found[state] = x, y
    return found


def _known(state: Any, states: Iterable[State], role: str) -> Any:
    if not is_hashable(state) or state not in states:
        raise InvalidValue(f"{role}: {written(state)} is not a state of the system: name one of its states")
    return state


def _cells(cells: Any) -> list[tuple[int, int]]:
    """The cells of a collection, or a cell on its own."""
    single = isinstance(cells, tuple) and len(cells) == 2 and not any(isinstance(part, tuple) for part in cells)
    found = [_cell(cell) for cell in ([cells] if single else collection(cells, "goal"))]
    if not found:
        raise InvalidValue("goal needs at least one cell: pass for example goal=(0, 0)")
    return found


def _cell(cell: Any) -> tuple[int, int]:
    if not isinstance(cell, tuple) or len(cell) != 2 or not is_hashable(cell):
        raise InvalidValue("a cell must be a pair (row, column)")
    return cell
