"""Systems from the objects of other packages (networkx, TuLiP, gymnasium, automata-lib), and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from math import isfinite
from numbers import Integral
from typing import TYPE_CHECKING, Any

from dpwords.core.checks import optional
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Symbol
from dpwords.errors import InvalidValue, NotDeterministic, named
from dpwords.languages.exploring import State, explore
from dpwords.languages.language import Language, checked_language
from dpwords.languages.systems import TransitionSystem, system_of, written

if TYPE_CHECKING:
    from automata.fa.dfa import DFA
    from gymnasium import Env
    from networkx import DiGraph, MultiDiGraph


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


def from_networkx(
    graph: DiGraph, start: State | None = None, action: str | None = None, accepting: Iterable[State] | None = None
) -> TransitionSystem:
    """A system from a directed networkx graph, such as a road network from osmnx; its states are the nodes.

    `action` names the edge attribute that has the symbol; a list in it becomes a tuple. With `action=None` the symbol
    is the node that the edge leads to, so the words are sequences of nodes, parallel edges are one move, and
    `start=None` lets a run start in any node. The attributes x and y, or pos, of the nodes become `positions`.

    Raises `NotDeterministic` if two edges with the same action lead from a node to different ones, and `InvalidValue`
    for an undirected graph. Cost: nodes and edges.

    >>> import networkx
    >>> from_networkx(networkx.DiGraph([("a", "b"), ("b", "a"), ("b", "b")]), start="a").count(3)
    3
    """
    networkx = _networkx()
    if not isinstance(graph, networkx.Graph):
        raise InvalidValue(f"from_networkx needs a networkx graph, not {type(graph).__name__}: pass a DiGraph")
    if not graph.is_directed():
        raise InvalidValue("the graph has no directions, and moves have: pass graph.to_directed() for both ways")
    edges = by_action(graph.edges(data=True), action, "edge", "attribute")
    return system_of(edges, graph.nodes, start, accepting, _positions(graph))


def to_networkx(system: TransitionSystem) -> MultiDiGraph:
    """The system as a graph: one edge for each move, with its symbol as the attribute `action`.

    Positions become the attributes x and y of the nodes, as osmnx has them. The start and the accepting states are not
    part of the graph: `from_networkx(graph, system.start, "action", system.accepting)` is the way back. Cost: states
    and edges.

    >>> to_networkx(TransitionSystem({"s": {"a": "t", "b": "t"}}, start="s")).number_of_edges("s", "t")
    2
    """
    if not isinstance(system, TransitionSystem):
        raise InvalidValue("only a TransitionSystem can become a graph: pass a system")
    graph = _networkx().MultiDiGraph()
    graph.add_nodes_from(system.states)
    for state, (x, y) in (system.positions or {}).items():
        graph.add_node(state, x=x, y=y)
    for state, row in system.transitions.items():
        graph.add_edges_from((state, target, {"action": action}) for action, target in row.items())
    return graph


def _networkx() -> Any:
    return optional("networkx", "networkx", "graphs")


def _positions(graph: DiGraph) -> dict[State, tuple[float, float]] | None:
    """The coordinates of the nodes, if every node has them."""
    found: dict[State, tuple[float, float]] = {}
    for node, attributes in graph.nodes(data=True):
        try:
            x, y = attributes["pos"] if "pos" in attributes else (attributes["x"], attributes["y"])
            found[node] = float(x), float(y)
        except (KeyError, TypeError, ValueError):
            return None
    return found if all(map(isfinite, chain.from_iterable(found.values()))) else None


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


_TRAP: State = frozenset()  # no word leaves it, and none ends in it; the name that the subset construction gives it


def from_dfa(dfa: DFA) -> TransitionSystem:
    """The language that a DFA of automata-lib accepts; partial DFAs are welcome.

    The system has the states that can be reached. Symbols are put into a fixed order, as the DFA has them as a set.
    Raises `NotDeterministic` with the state and the action for an NFA. Cost: states · symbols.

    >>> from automata.fa.dfa import DFA
    >>> from_dfa(DFA.from_substring({"a", "b"}, "ab")).count(3)  # all but aaa, baa, bba and bbb
    4
    """
    purpose = "automata of automata-lib"
    if isinstance(dfa, optional("automata.fa.nfa", "automata", purpose).NFA):
        raise _branch(dfa)
    if not isinstance(dfa, optional("automata.fa.dfa", "automata", purpose).DFA):
        raise InvalidValue(f"from_dfa needs a DFA of automata-lib, not {type(dfa).__name__}: convert it")
    symbols: list[Any] = sorted(dfa.input_symbols, key=repr)

    def follow(state: Any) -> Iterator[tuple[Symbol, State]]:
        row = dfa.transitions.get(state, {})
        return ((symbol, row[symbol]) for symbol in symbols if symbol in row)

    states, edges = explore([dfa.initial_state], follow)
    unused = dict.fromkeys(symbols).keys() - {symbol for _, symbol, _ in edges}
    never = [(dfa.initial_state, symbol, _TRAP) for symbol in symbols if symbol in unused]  # keeps them in the alphabet
    accepting = [state for state in states if state in dfa.final_states]
    return system_of([*edges, *never], states, dfa.initial_state, accepting)


def to_dfa(language: Language, limits: Limits = DEFAULTS) -> DFA:
    """The language as a partial DFA of automata-lib, for example to minimise it; `from_dfa` is the way back.

    The states of a system with a start keep their names; otherwise they are numbers. Raises `TooLarge` beyond
    `limits.converted_states`. Cost: states and edges.

    >>> from dpwords import Lexicon
    >>> to_dfa(Lexicon(["bern", "born"])).accepts_input("born")
    True
    """
    automata = optional("automata.fa.dfa", "automata", "automata of automata-lib")
    states, edges = explore([checked_language(language).initial], language.follow, limits.converted_states)
    keeps_names = isinstance(language, TransitionSystem) and language.start is not None
    names: dict[Any, State] = {state: state if keeps_names else number for number, state in enumerate(states)}
    rows: dict[State, dict[Any, State]] = {name: {} for name in names.values()}
    for source, symbol, target in edges:
        rows[names[source]][symbol] = names[target]
    dfa: DFA = automata.DFA(
        states=set(rows),
        input_symbols=set(language.alphabet.symbols),
        transitions=rows,
        initial_state=names[language.initial],
        final_states={name for state, name in names.items() if language.is_accepting(state)},
        allow_partial=True,
    )
    return dfa


def _branch(nfa: Any) -> InvalidValue:
    for state, row in nfa.transitions.items():
        for symbol, targets in row.items():
            if len(targets) > 1 or symbol == "":
                name = written(symbol) or "ε"
                return NotDeterministic(
                    f"state {written(state)}, action {name} does not lead to one state only: a system must be "
                    "deterministic, so pass DFA.from_nfa(nfa)"
                )
    return InvalidValue("from_dfa needs a DFA, not an NFA: pass DFA.from_nfa(nfa)")
