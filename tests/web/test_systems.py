"""Systems that the page reads from a file, without a file."""

from __future__ import annotations

import json
from typing import Any

import pytest

import dpwords as dw
from dpwords.web import runs
from dpwords.web.messages import Message

DOT = 'digraph { __start0 [shape=none]; __start0 -> s; s -> t [label="a"]; t -> s [label="b"]; t -> t [label="a"]; }'
JSON = json.dumps({"start": "s", "transitions": {"s": {"a": "t"}, "t": {"b": "s", "a": "t"}}})
CSV = "source,target\ns,t\nt,s\nt,t\n"
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="x" for="node" attr.name="x" attr.type="double"/>
<key id="y" for="node" attr.name="y" attr.type="double"/><graph edgedefault="directed">
<node id="s"><data key="x">0</data><data key="y">0</data></node>
<node id="t"><data key="x">3</data><data key="y">4</data></node>
<edge source="s" target="t"/><edge source="t" target="s"/><edge source="t" target="t"/></graph></graphml>"""


def loaded(name: str, content: str, **options: Any) -> dict[str, Any]:
    found = runs.load(Message({"name": name, **options}, content.encode()), lambda _share: None)
    found.encoded()
    return found.values


@pytest.mark.parametrize(
    ("name", "content", "start", "words"),
    [
        ("a.dot", DOT, 0, ["plans", "moves", "states"]),
        ("a.GV", DOT, 0, ["plans", "moves", "states"]),
        ("a.json", JSON, 0, ["plans", "moves", "states"]),
        ("a.csv", CSV, None, ["states"]),
        ("a.graphml", GRAPHML, None, ["states"]),
    ],
)
def test_every_kind_of_file(name: str, content: str, start: int | None, words: list[str]) -> None:
    found = loaded(name, content)
    assert [state for state, _, _ in found["states"]] == ["s", "t"]
    assert sorted((one, other) for one, _, other in found["moves"]) == [(0, 1), (1, 0), (1, 1)]
    assert found["start"] == start
    assert found["words"] == words
    assert found["accepting"] is None
    assert found["grid"] is None
    assert json.loads(found["system"])["transitions"].keys() == {"s", "t"}


def test_options_of_files() -> None:
    assert loaded("a.csv", CSV, start="t")["start"] == 1
    labelled = GRAPHML.replace("<graph ", '<key id="l" for="edge" attr.name="road" attr.type="string"/><graph ', 1)
    for road, (one, other) in {"a": "st", "b": "ts", "c": "tt"}.items():
        edge = f'<edge source="{one}" target="{other}"'
        labelled = labelled.replace(f"{edge}/>", f'{edge}><data key="l">{road}</data></edge>')
    found = loaded("a.graphml", labelled, start="s", action="road")
    assert found["words"] == ["plans", "moves", "states"]
    assert sorted(action for _, action, _ in found["moves"]) == ["a", "b", "c"]


def test_coordinates_are_kept() -> None:
    (_, *one), (_, *other) = loaded("a.graphml", GRAPHML)["states"]
    assert [other[0] - one[0], other[1] - one[1]] == [3, -4]  # y grows downwards on the page


def test_a_map_comes_with_its_cells() -> None:
    found = loaded("map.txt", "S.#\n..G\n")
    wanted = {"rows": 2, "columns": 3, "start": (0, 0), "walls": [(0, 2)], "goal": [(1, 2)]}
    assert found["grid"] == wanted
    assert found["states"][0] == ["0,0", 0.0, 0.0]
    assert loaded("map.txt", "..\n..\n")["grid"] is None  # runs may start anywhere
    assert loaded("map.txt", "..\n..\n")["words"] == ["states"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xlsx", "", r"files that end in \.json, \.csv, \.dot, \.gv, \.graphml, \.txt"),
        ("../../etc/passwd", "", "files that end in"),
        ("a.dot", "digraph {", r"a\.dot: "),
        ("a.dot", 'digraph { s -> t [label="a"]; }', r"no start is marked: .* name the start"),
        ("a.json", "{", r"a\.json is not valid JSON"),
        ("a.csv", "source\ns\n", r"a\.csv needs a header line"),
        ("a.graphml", "<graphml>", r"a\.graphml is not valid XML"),
        ("a.txt", "S.\nS.\n", r"a\.txt: the map has 2 starts"),
    ],
)
def test_what_is_refused(name: str, content: str, message: str) -> None:
    with pytest.raises(dw.DPWordsError, match=message) as caught:
        loaded(name, content)
    assert "\n" not in str(caught.value)


def test_systems_that_nobody_could_see_are_refused() -> None:
    ring = "".join(f"s{number},s{(number + 1) % 201}\n" for number in range(201))
    with pytest.raises(dw.TooLarge, match=r"at most 200 states, or 1,000 with coordinates.* has 201 and 201"):
        loaded("ring.csv", f"source,target\n{ring}")
    with pytest.raises(dw.TooLarge, match="has 1,024 and"):
        loaded("map.txt", ("." * 32 + "\n") * 32)
    assert len(loaded("map.txt", ("." * 30 + "\n") * 30)["states"]) == 900


def test_plans_are_offered_where_moves_and_states_tell_each_other() -> None:
    assert loaded("a.json", '{"start": "s", "transitions": {"s": {"a": "s", "b": "s"}}}')["words"] == [
        "moves",
        "states",
    ]
