"""Transition systems from networkx graphs, and back."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from dpwords.bridges.labelled_edges import by_action, system_of
from dpwords.core.extras import optional
from dpwords.errors import InvalidValue
from dpwords.languages.exploring import State
from dpwords.languages.systems import TransitionSystem

if TYPE_CHECKING:
    from networkx import DiGraph, MultiDiGraph


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
