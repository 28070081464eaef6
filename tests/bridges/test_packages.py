"""Systems from networkx, GraphML and gymnasium, and back; automata-lib and TuLiP are in `test_automata_lib.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

import dpwords as dw


def streets() -> nx.MultiDiGraph:
    """A graph as osmnx makes it: numbers as nodes, coordinates, parallel edges, and lists where ways were merged."""
    graph = nx.MultiDiGraph(crs="epsg:4326")
    for node, (x, y) in {101: (18.0, 59.3), 102: (18.1, 59.3), 103: (18.1, 59.4), 104: (18.2, 59.5)}.items():
        graph.add_node(node, x=x, y=y, street_count=3)
    graph.add_edge(101, 102, osmid=7, length=12.5)
    graph.add_edge(101, 102, osmid=[8, 9], length=30.0)
    graph.add_edge(102, 101, osmid=7, length=12.5)
    graph.add_edge(102, 103, osmid=[10, 11], length=8.0)
    graph.add_edge(103, 103, osmid=12, length=4.0)
    return graph


def test_words_of_nodes() -> None:
    graph = nx.gnp_random_graph(12, 0.3, seed=5, directed=True)
    roads = dw.from_networkx(graph)
    walks = np.linalg.matrix_power(nx.to_numpy_array(graph), 3)
    assert roads.count(4) == walks.sum()
    assert dw.from_networkx(graph, start=4).count(3) == walks[4].sum()
    assert dw.from_networkx(graph, start=4, accepting=[1, 2]).count(3) == walks[4, [1, 2]].sum()


def test_words_of_actions() -> None:
    city = dw.from_networkx(streets(), start=101, action="osmid")
    assert city.run([(8, 9), 7, 7, (10, 11), 12]) == [102, 101, 102, 103, 103]
    assert not city.accepts([12])


def test_osmnx_graphs_keep_positions_and_nodes_without_edges() -> None:
    roads = dw.from_networkx(streets())
    assert roads.accepts([101, 102, 103, 103])
    assert roads.accepts([104])
    assert roads.count(2) == 4
    assert roads.positions == {101: (18.0, 59.3), 102: (18.1, 59.3), 103: (18.1, 59.4), 104: (18.2, 59.5)}
    assert roads.by_states().positions == roads.positions
    plain = nx.DiGraph([("a", "b")])
    assert dw.from_networkx(plain).positions is None
    nx.set_node_attributes(plain, {"a": (0, 0), "b": (1, 2)}, "pos")
    assert dw.from_networkx(plain).positions == {"a": (0.0, 0.0), "b": (1.0, 2.0)}
    for unusable in ("north", (0, float("nan")), None):
        plain.nodes["b"]["pos"] = unusable
        assert dw.from_networkx(plain).positions is None


def test_a_large_graph() -> None:
    ring = dw.from_networkx(nx.cycle_graph(100_000, create_using=nx.DiGraph), start=0, accepting=range(100_000))
    assert ring.accepts(list(range(1, 1000)))
    assert len(ring.states) == 100_000


def test_there_and_back() -> None:
    system = dw.TransitionSystem(
        {"s": {"a": "t", "b": "t"}, "t": {"a": "s"}},
        start="s",
        accepting=["t"],
        positions={"s": (0, 0), "t": (1, 0.5)},
    )
    graph = dw.to_networkx(system)
    assert sorted(graph.edges(data="action")) == [("s", "t", "a"), ("s", "t", "b"), ("t", "s", "a")]
    again = dw.from_networkx(graph, system.start, "action", system.accepting)
    assert again.to_json() == system.to_json()
    with pytest.raises(dw.InvalidValue, match="only a TransitionSystem"):
        dw.to_networkx(dw.Words("ab"))  # type: ignore[arg-type]


def test_branches_are_refused_with_state_and_action() -> None:
    graph = nx.DiGraph()
    graph.add_edge("dock", "left", do="go")
    graph.add_edge("dock", "right", do="go")
    with pytest.raises(dw.NotDeterministic, match="state dock, action go leads to left and right"):
        dw.from_networkx(graph, start="dock", action="do")


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        (nx.Graph([(1, 2)]), {}, r"no directions.*pass graph\.to_directed\(\)"),
        (nx.MultiGraph([(1, 2)]), {}, "no directions"),
        (nx.DiGraph(), {}, "at least one state"),
        (nx.DiGraph([(1, 2)]), {"start": 3}, "start: 3 is not a state"),
        (nx.DiGraph([(1, 2)]), {"start": [1]}, "is not a state"),
        (nx.DiGraph([(1, 2)]), {"start": 1, "action": "name"}, "from 1 to 2 has no attribute name"),
        (nx.DiGraph([(1, 2, {"name": {}})]), {"start": 1, "action": "name"}, "from 1 to 2 is a dict"),
        ([(1, 2)], {}, "needs a networkx graph, not list"),
    ],
)
def test_bad_graphs_are_refused(graph: object, options: dict[str, object], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_networkx(graph, **options)  # type: ignore[arg-type]


def test_graphml(tmp_path: Path) -> None:
    graph = streets()
    for *_, attributes in graph.edges(data=True):
        attributes["osmid"] = str(attributes["osmid"])  # as osmnx writes them
    file = tmp_path / "city.graphml"
    nx.write_graphml(graph, file)
    roads = dw.from_graphml(file)
    assert roads.accepts(["101", "102", "103", "103"])
    assert (roads.positions or {})["104"] == (18.2, 59.5)
    assert dw.from_graphml(str(file), start=101, node_type=int).run([102, 101]) == [102, 101]
    assert dw.from_graphml(file, start="101", action="osmid").run(["[8, 9]", "7"]) == ["102", "101"]
    file.write_bytes(file.read_text("utf-8").replace("utf-8", "utf-16").encode("utf-16"))
    assert dw.from_graphml(file).count(2) == 4


def test_attributes_of_an_undeclared_type_are_text(tmp_path: Path) -> None:
    edge = EDGE.replace('target="b"/>', 'target="b"><data key="do">7</data></edge>')
    file = written(
        tmp_path / "ok.graphml",
        GRAPH.format(f'<key id="do" attr.name="do"/><graph edgedefault="directed">{edge}</graph>'),
    )
    assert dw.from_graphml(file, start="a", action="do").accepts(["7"])


def test_graphml_there_and_back(tmp_path: Path) -> None:
    system = dw.from_dot(written(tmp_path / "s.dot", 'digraph { __start0 -> s; s -> t [label="a"]; t -> s [label=b] }'))
    nx.write_graphml(dw.to_networkx(system), tmp_path / "s.graphml")
    again = dw.from_graphml(tmp_path / "s.graphml", start="s", action="action")
    assert json.loads(again.to_json()) == json.loads(system.to_json())


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
GRAPH = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{}</graphml>'
EDGE = '<node id="a"/><node id="b"/><edge source="a" target="b"/>'
MIXED = EDGE.replace("/>", ' directed="false"/>')
LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            GRAPH.format(f'<graph edgedefault="undirected">{EDGE}</graph>'),
            r'bad\.graphml has no directions.*edgedefault="directed"',
        ),
        (GRAPH.format(f"<graph>{EDGE}</graph>"), "has no directions"),
        (
            GRAPH.format(f'<graph edgedefault="directed">{MIXED}</graph>'),
            "no GraphML that networkx can read",
        ),
        (GRAPH.format('<graph edgedefault="directed"><hyperedge/></graph>'), "no GraphML that networkx can read"),
        (GRAPH.format('<graph edgedefault="directed"><edge source="a"/></graph>'), "line 1: the source or the target"),
        (GRAPH.format(""), "no GraphML that networkx can read"),
        (GRAPH.format(f'<x:graph edgedefault="directed">{EDGE}</x:graph>'), "no GraphML that networkx can read"),
        ("<svg/>", "no GraphML that networkx can read"),
        (GRAPH.format('<graph edgedefault="directed"/>'), r"bad\.graphml: a system needs at least one state"),
        (GRAPH[:20], r"not valid XML \(line 1, column \d+: .*\): is the file cut off"),
        ("", r"not valid XML .*no element found"),
        ("source,target\n", "not valid XML"),
        (HEAD + LAUGHS + GRAPH.format("&c;"), "DOCTYPE"),
        ('<?xml version="1.0" encoding="klingon"?><a/>', "encoding|not valid XML"),
    ],
)
def test_bad_graphml_is_refused(tmp_path: Path, content: str, message: str) -> None:
    file = written(tmp_path / "bad.graphml", content)
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        dw.from_graphml(file)
    assert "\n" not in str(caught.value)


def test_graphml_with_other_bad_arguments_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "ok.graphml", GRAPH.format(f'<graph edgedefault="directed">{EDGE}</graph>'))
    assert dw.from_graphml(file, start="a").count(1) == 1
    with pytest.raises(dw.InvalidValue, match=r"ok\.graphml: start: z is not a state"):
        dw.from_graphml(file, start="z")
    with pytest.raises(dw.InvalidValue, match="invalid literal for int"):
        dw.from_graphml(file, node_type=int)
    with pytest.raises(dw.InvalidValue, match=r"gone\.graphml cannot be read"):
        dw.from_graphml(tmp_path / "gone.graphml")
    file.write_bytes(b"\xff\xfe<\x00g\x00>")
    with pytest.raises(dw.InvalidValue, match="not valid XML"):
        dw.from_graphml(file)


def test_a_package_that_is_not_installed_is_named() -> None:
    script = (
        "import sys; sys.modules['networkx'] = None; import dpwords\n"
        "try: dpwords.from_networkx(None)\n"
        "except dpwords.MissingExtra as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "graphs need networkx, which is not installed: pip install 'dpwords[networkx]'\n"


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
    assert (
        len(dw.from_gymnasium(env, start=state).states) == 101
    )  # 25 cells · 4 positions of the passenger, and the end


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
