"""Thousands of damaged files: no traceback, exit code 0 or 2, no private word in a message, nothing half written.

DPWORDS_FUZZ sets the number of mutants of each file; `make fuzz` takes many.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dpwords as dw
from commands import run
from fuzzing import MUTANTS, SECRET, Case

SYSTEM = {"start": "s", "accepting": ["s", "t"], "transitions": {"s": {"a": "t", "b": "s"}, "t": {"a": "s", "b": "u"}}}
JSON = json.dumps(SYSTEM, indent=1).encode()
ROADS = b"source,target,metres\n10,11,5\n11,10,5\n11,12,2.5\n12,10,9\n12,12,0\n"
ACTIVITIES = b"register\ncheck\ndecide\npay\n"
CITIES = b"basel\nberlin\nbern\nbonn\nmilan\nparis\nrome\n"
LEARNED = b"""digraph "odd" {
s0 [label="s0"]; s1 [label=s1, shape=doublecircle];
s0 -> s1 [label="a/0"];
s0 -> s0 [label="b/1"]; // nothing
s1 -> s0 [label="a/1"];
__start0 [shape=none, label=""];
__start0 -> s0 [label=""];
}
"""
GRAPHML = b"""<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="d0" for="edge" attr.name="do" attr.type="string"/>
<graph edgedefault="directed"><node id="p"/><node id="q"/>
<edge source="p" target="q"><data key="d0">x</data></edge><edge source="q" target="p"><data key="d0">y</data></edge>
</graph></graphml>
"""
CHAIN = b"state,symbol,probability\n,a,0.5\n,b,0.5\na,b,1.0\nb,a,0.25\nb,b,0.75\n"
STEPS = json.dumps({"": {"a": 0.5, "b": 0.5}, "a": {"b": 1.0}, "b": {"a": 0.25, "b": 0.75}}, indent=1).encode()
HIDDEN = SECRET.encode()

CASES = [
    Case("alphabet", "a.txt", ACTIVITIES, "release --alphabet @{file} --separator ; -e 2", b"pay;check\n"),
    Case("alphabet, bad word", "a.txt", ACTIVITIES, "release --alphabet @{file} --separator ; -e 2", b"pay;" + HIDDEN),
    Case("JSON", "s.json", JSON, "release --system {file} -e 2 --mechanism online", b"aa\nbaa\n"),
    Case("JSON, bad word", "s.json", JSON, "release --system {file} -e 2 --mechanism online", b"ab" + HIDDEN),
    Case("JSON, states", "s.json", JSON, "release --system {file} --words states -e 2", b"ts\n"),
    Case("JSON, picture", "s.json", JSON, "draw --system {file} -o {output}", output="s.dot"),
    Case("edge list", "r.csv", ROADS, "release --system {file} -e 2 --mechanism online", b"10 11 12\n"),
    Case("edge list, bad word", "r.csv", ROADS, "release --system {file} -e 2 --mechanism online", b"10 " + HIDDEN),
    Case("edge list, start", "r.csv", ROADS, "audit --system {file} --start 10 --length 2 -e 2"),
    Case("DOT", "l.dot", LEARNED, "release --system {file} -e 2 --mechanism online", b"a\nba\n"),
    Case("DOT, bad word", "l.dot", LEARNED, "release --system {file} -e 2 --mechanism online", b"a" + HIDDEN),
    Case("GraphML", "g.graphml", GRAPHML, "release --system {file} -e 2 --mechanism online", b"pqp\n"),
    Case("channel", "m.csv", b",x,y\na,0.75,0.25\nb,0.25,0.75\n", "audit --channel {file}"),
    Case("GraphML, moves", "g.graphml", GRAPHML, "accuracy --system {file} --start p --action do --length 2 -e 2"),
    Case("map", "m.txt", b"S.#\n..G\n", "release --system {file} -e 2 --mechanism exponential", b"ESE\nSEE\n"),
    Case("lexicon", "c.txt", CITIES, "release --lexicon {file} -e 2", b"bern\nbonn\n"),
    Case("lexicon, edits", "c.txt", CITIES, "release --lexicon {file} -e 4 --edits all", b"bern" + HIDDEN),
    Case("words", "", b"abba\nabab\nb" + HIDDEN + b"a\naabbab\n", "release --alphabet ab -e 2", private=True),
    Case("words of any length", "", b"abba\n\nabab\naabbab\n", "release --alphabet ab -e 6 --edits all"),
    Case(
        "words of cells",
        "",
        b"0,1 0,2 1,2\n1,0 " + HIDDEN + b"\n",
        "release --system grid:3x3 --words states -e 2 --mechanism exponential",
        private=True,
    ),
    Case("chain", "c.csv", CHAIN, "attack --alphabet ab --length 2 -e 2 --prior {file}"),
    Case("chain, JSON", "c.json", STEPS, "attack --alphabet ab --length 2 -e 2 --prior {file}"),
    Case("grid", "", b"grid:3x3@1,1", "release --system {text} -e 2 --mechanism online", b"NE\nSW\n"),
    Case("grid, bad word", "", b"grid:3x3@1,1", "release --system {text} -e 2 --mechanism online", HIDDEN),
    Case("literal", "", b"a-cx-z0-9_\\-", "release --alphabet {text} -e 2", b"abc-x\n"),
    Case("literal, bad word", "", b"a-cx-z0-9_\\-", "release --alphabet {text} -e 2", b"ab" + HIDDEN),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_damaged_files(case: Case, tmp_path: Path) -> None:
    assert case.check(0, tmp_path) == (2 if HIDDEN in case.stdin + case.content else 0)
    assert 2 in [case.check(number, tmp_path) for number in range(1, MUTANTS)]


def test_damaged_certificates(tmp_path: Path) -> None:
    arguments = "release --system grid:2x2 -e 2 --mechanism exponential --certificates {file}"
    file = tmp_path / "c.json"
    assert run(*arguments.format(file=file).split(), stdin=b"ES\n").returncode == 0
    case = Case("certificates", "c.json", file.read_bytes(), arguments, b"ES\n")
    file.unlink()
    assert {case.check(number, tmp_path) for number in range(MUTANTS)} == {0, 2}


@pytest.mark.parametrize("more", ["", " --id ann"])
def test_damaged_ledgers(more: str, tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    promise = dw.Exponential(dw.Words("ab"), 2.0).guarantee
    assert isinstance(promise, dw.PureDP)
    dw.Ledger(file, budget=10).charge({"ann": 4, "bob": 2}, promise)
    case = Case("ledger", "l.db", file.read_bytes(), f"ledger show {{file}}{more}")
    file.unlink()
    assert {case.check(number, tmp_path) for number in range(MUTANTS)} == {0, 2}
