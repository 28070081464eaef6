"""Systems from DOT files in several dialects; pydot reads the same graphs."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Literal

import pydot
import pytest

import dpwords as dw
from commands import refused, run
from dpwords.bridges.dot import read_dot
from dpwords.core.limits import Limits

AALPY_DFA = """digraph "odd" {
s0 [label=s0];
s1 [label="s1", shape=doublecircle];
s0 -> s1  [label=a];
s0 -> s0  [label=b];
s1 -> s0  [label="a"];
s1 -> s1  [label="b"];
__start0 [label="", shape=none];
__start0 -> s0  [label=""];
}
"""
WIKI_MEALY = """digraph g {
    __start0 [label="" shape="none"];

    s0 [shape="circle" label="0"];
    s1 [shape="circle" label="1"];
    s0 -> s1 [label="CONNECT / SYN(FRESH,ZERO,0)"];
    s1 -> s1 [label="RCV / TIMEOUT"];
    s1 -> s0 [label="CLOSE / FIN+ACK(NEXT,CURRENT,0)"];

    __start0 -> s0;
}
"""
LEARNLIB_TABLES = (
    "digraph g { start0 [label=<> shape=point]; start0 -> s0; s0 -> s0 "
    '[label=<<table border="0"><tr><td>a &amp; b</td><td>/</td><td>ok</td></tr></table>>]; }'
)
GRAPHVIZ_GALLERY = """digraph finite_state_machine {
	rankdir=LR;
	node [shape = doublecircle]; 0 "LR 3" LR_4;
	node [shape = circle];
	init [style=invis] /* where it starts */
	init -> 0
	0 -> LR_2 [label = "SS(B)"]; 0 -> LR_1 [label = "SS(S)"];  // two on a line
	LR_1 -> "LR 3" [label = "S($end)"];
# a line for the preprocessor
	LR_2 -> LR_4:e [label = "S" + "(A)"]
}
"""


def written(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def test_a_dfa_of_aalpy(tmp_path: Path) -> None:
    odd = dw.from_dot(written(tmp_path / "odd.dot", AALPY_DFA))
    for word in (word for length in range(5) for word in product("ab", repeat=length)):
        assert odd.accepts(word) == (word.count("a") % 2 == 1)


@pytest.mark.parametrize(
    ("symbols", "word"),
    [
        (None, ["CONNECT", "RCV", "CLOSE"]),
        ("inputs", ["CONNECT", "RCV", "CLOSE"]),
        ("outputs", ["SYN(FRESH,ZERO,0)", "TIMEOUT", "FIN+ACK(NEXT,CURRENT,0)"]),
        ("labels", ["CONNECT / SYN(FRESH,ZERO,0)", "RCV / TIMEOUT", "CLOSE / FIN+ACK(NEXT,CURRENT,0)"]),
    ],
)
def test_a_mealy_machine(
    tmp_path: Path, symbols: Literal["inputs", "outputs", "labels"] | None, word: list[str]
) -> None:
    tcp = dw.from_dot(written(tmp_path / "tcp.dot", WIKI_MEALY), symbols=symbols)
    assert tcp.start == "s0"
    assert tcp.accepting is None
    assert set(tcp.alphabet.symbols) == set(word)
    assert tcp.run(word) == ["s1", "s1", "s0"]


def test_the_command_line_chooses_the_symbols_of_a_mealy_machine(tmp_path: Path) -> None:
    file = str(written(tmp_path / "tcp.dot", WIKI_MEALY))
    system = ("release", "--system", file, "-e", "200")
    assert run(*system, stdin="CONNECT RCV CLOSE\n").stdout == "CONNECT RCV CLOSE\n"
    outputs = "SYN(FRESH,ZERO,0) TIMEOUT\n"
    assert run(*system, "--dot-symbols", "outputs", stdin=outputs).stdout == outputs
    edges = tmp_path / "roads.csv"
    edges.write_text("source,target\n1,2\n2,1\n", encoding="utf-8")
    wrong = ("release", "1 2", "--dot-symbols", "labels", "-e", "1")
    assert "--dot-symbols has no effect on a .csv file" in refused(*wrong, "--system", str(edges))
    assert "a grid takes no --start, --action or --dot-symbols" in refused(*wrong, "--system", "grid:2x2")
    assert "belong to --system" in refused(*wrong, "--alphabet", "12 ")


def test_other_dialects(tmp_path: Path) -> None:
    tables = dw.from_dot(written(tmp_path / "tables.dot", LEARNLIB_TABLES))
    assert tables.run(["a & b", "a & b"]) == ["s0", "s0"]
    machine = dw.from_dot(written(tmp_path / "machine.gv", GRAPHVIZ_GALLERY))
    assert machine.start == "0"
    assert machine.accepting == {"0", "LR 3", "LR_4"}
    assert machine.run(["SS(B)", "S(A)"]) == ["LR_2", "LR_4"]
    paths = dw.from_dot(written(tmp_path / "p.dot", 'digraph { __start0 -> p; p -> p [label="GET /a/b"] }'))
    assert paths.accepts(["GET /a/b"])
    spot = 'digraph { I [label="", style=invis]; I -> 0; 0 [peripheries=2]; 0 -> 1 [label=a]; 1 -> 0 [label=a] }'
    assert dw.from_dot(written(tmp_path / "spot.dot", spot)).accepting == {"0"}


def test_graphs_without_labels_have_words_of_states(tmp_path: Path) -> None:
    file = written(tmp_path / "roads.dot", "digraph { a -> b -> c -> a; a -> {b c}; lonely }")
    roads = dw.from_dot(file)
    assert roads.count(1) == 4
    assert roads.count(2) == 4
    assert roads.accepts(["a", "c", "a"])
    assert dw.from_dot(file, start="a", accepting=["c"]).count(1) == 1


def test_there_and_back(tmp_path: Path) -> None:
    systems = [
        dw.TransitionSystem({"s": {'a "b"': "t"}, "t": {"ü": "s", "c/d": "t", "<e>": "t"}}, start="s", accepting=["t"]),
        dw.GridWorld(2, 3, start=(1, 2)),
        dw.from_edges([("p", "q"), ("q", "p")], start="p"),
    ]
    for system in systems:
        file = written(tmp_path / "system.dot", dw.to_dot(system))
        assert json.loads(dw.from_dot(file, symbols="labels").to_json()) == json.loads(system.to_json())
        assert len(pydot.graph_from_dot_file(file)[0].get_edges()) == 1 + sum(map(len, system.transitions.values()))
    for name in ("", "a\\", "__start0"):
        with pytest.raises(dw.InvalidValue, match="rename it for DOT"):
            dw.to_dot(dw.TransitionSystem({name: {"a": name}}, start=name))
    with pytest.raises(dw.InvalidValue, match="written alike"):
        dw.to_dot(dw.TransitionSystem({1: {"a": "1"}}, start=1))
    with pytest.raises(dw.InvalidValue, match="only a TransitionSystem"):
        dw.to_dot(dw.Words("ab"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("body", "error", "message"),
    [
        (
            "digraph { __start0 -> a; __start1 -> b; a -> b [label=x] }",
            dw.InvalidValue,
            r"more than one start \(a, b\)",
        ),
        ("digraph { __start0 -> {a b}; a -> b [label=x] }", dw.InvalidValue, "more than one start"),
        ("digraph { a -> b [label=x] }", dw.InvalidValue, "no start is marked"),
        (
            "digraph { __start0 -> a; a -> b [label=x]; a -> c [label=x] }",
            dw.NotDeterministic,
            r"bad\.dot: state a, action x leads to b and c",
        ),
        (
            'digraph { __start0 -> a; a -> b [label="x/1"]; a -> c [label="x/2"] }',
            dw.NotDeterministic,
            "state a, action x leads to b and c",
        ),
        ("digraph { __start0 -> a; a -> b [label=x]; b -> a }", dw.InvalidValue, "from b to a has no label"),
        ("graph { a -- b }", dw.InvalidValue, "no directions.*digraph"),
        ("digraph { __start0 -> a; a -> b [label=<<b>x</b>>] }", dw.InvalidValue, "from a to b is HTML"),
        ("digraph { a -> b } digraph { c -> d }", dw.InvalidValue, "more than one graph"),
        ("digraph {}", dw.InvalidValue, "at least one state"),
        ("", dw.InvalidValue, "cut off"),
        (AALPY_DFA[:-3], dw.InvalidValue, "cut off"),
        (AALPY_DFA[: AALPY_DFA.index("[label=a]") + 4], dw.InvalidValue, "cut off"),
        ('digraph {\n a [label="x]\n}', dw.InvalidValue, r"line 2 is not valid DOT"),
        ("digraph {\n a [label=<x]\n}", dw.InvalidValue, r"line 2 is not valid DOT"),
        ("digraph {\n\n a -- b }", dw.InvalidValue, "line 3 is not valid DOT"),
        ("digraph { a -> " + " " * 10_000 + "@ }", dw.InvalidValue, "line 1 is not valid DOT"),
        ("digraph { /* never closed", dw.InvalidValue, "line 1 is not valid DOT"),
        ("source,target\n", dw.InvalidValue, "line 1 is not valid DOT"),
        ("digraph " + "{" * 100_000, dw.InvalidValue, "nested too deeply"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, body: str, error: type[Exception], message: str) -> None:
    file = written(tmp_path / "bad.dot", body)
    with pytest.raises(error, match=message) as caught:
        dw.from_dot(file)
    assert str(caught.value).startswith("bad.dot: ")
    assert "\n" not in str(caught.value)


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    file = written(tmp_path / "odd.dot", AALPY_DFA)
    with pytest.raises(dw.InvalidValue, match="start: s7 is not a state"):
        dw.from_dot(file, start="s7")
    with pytest.raises(dw.InvalidValue, match=r'from s0 to s1 is not of the form "input/output"'):
        dw.from_dot(file, symbols="inputs")
    roads = written(tmp_path / "roads.dot", "digraph { __start0 -> a; a -> b }")
    with pytest.raises(dw.InvalidValue, match="from a to b has no label"):
        dw.from_dot(roads, symbols="labels")
    with pytest.raises(dw.InvalidValue, match="symbols must be"):
        dw.from_dot(file, symbols="both")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"^gone\.dot cannot be read"):
        dw.from_dot(tmp_path / "gone.dot")
    file.write_bytes('digraph { __start0 -> ü; ü -> ü [label="a"] }'.encode("latin-1"))
    with pytest.raises(dw.InvalidValue, match=r"^odd\.dot is not UTF-8"):
        dw.from_dot(file)


def test_a_short_text_that_stands_for_many_edges() -> None:
    text = "digraph { {a b c} -> {d e f} -> g }"
    assert len(read_dot(text, Limits(read_edges=12)).edges) == 12
    with pytest.raises(dw.TooLarge, match="at most 11 edges"):
        read_dot(text, Limits(read_edges=11))


def test_two_starts_and_a_choice(tmp_path: Path) -> None:
    file = written(tmp_path / "two.dot", "digraph { __start0 -> a; __start1 -> b; a -> b [label=x]; b -> b [label=y] }")
    assert dw.from_dot(file, start="b").run(["y"]) == ["b"]


@pytest.mark.parametrize(
    "text",
    [
        AALPY_DFA,
        WIKI_MEALY,
        GRAPHVIZ_GALLERY,
        'strict digraph "a b" { x -> y -> z [label="say \\"hi\\"", weight=2.5]; n [label=<a<b>c</b>>] }',
        "graph { a -- b -- c [color=red] }",
        "digraph { graph [rankdir=LR]; subgraph cluster_1 { label=inner; a } b -> c [a=1,b=2 c=3] ; größe }",
    ],
)
def test_the_reader_agrees_with_pydot(text: str) -> None:
    own, other = read_dot(text), pydot.graph_from_dot_data(text)[0]
    assert own.directed == (other.get_type() == "digraph")

    def plain(value: str) -> str:
        return value[1:-1].replace('\\"', '"') if value.startswith('"') else value

    edges = sorted(other.get_edges(), key=lambda edge: edge.obj_dict["sequence"])
    assert own.edges == [
        (
            plain(edge.get_source()),
            plain(edge.get_destination()).removesuffix(":e"),  # pydot keeps ports
            {name: plain(value) for name, value in edge.get_attributes().items()},
        )
        for edge in edges
    ]
    for node in other.get_nodes():
        if node.get_name() not in ("node", "edge", "graph"):
            found = own.nodes[plain(node.get_name())]
            assert {name: plain(value) for name, value in node.get_attributes().items()}.items() <= found.items()


def test_what_pydot_does_not_read() -> None:
    graph = read_dot('DiGraph { a -> { b c } -> d [x=1][y="p\\\nq"]; -1.5 -> .5; edge [x=2]; a:n:se -> b [bold] }')
    both = {"x": "1", "y": "pq"}
    assert graph.edges == [
        *(("a", "b", both), ("a", "c", both), ("b", "d", both), ("c", "d", both)),
        ("-1.5", ".5", {}),
        ("a", "b", {"x": "2", "bold": "true"}),
    ]
