"""--rule, --walls and --goal: how they are written, what they mean in every command, and what is refused."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import dpwords as dw
from cli.test_strict import refused
from commands import run
from dpwords.recipes.notation import rule

GRID = dw.GridWorld(3, 3)
CELLS = GRID.by_states()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("contains:1,1", GRID, GRID & dw.rules.contains((1, 1))),
        ("contains:1,1", CELLS, CELLS & dw.rules.contains((1, 1))),
        ("contains:0,1;1,1", CELLS, CELLS & dw.rules.contains((0, 1), (1, 1))),
        ("contains:E;S", GRID, GRID & dw.rules.contains("E", "S")),
        ("before:1,1;2,2", CELLS, CELLS & dw.rules.before((1, 1), (2, 2))),
        ("never:0,1;1,2", CELLS, CELLS & dw.rules.never((0, 1), (1, 2))),
        ("at_most:1;1,1;0,1", CELLS, CELLS & dw.rules.at_most(1, (1, 1), (0, 1))),
        ("at_least:2;E", GRID, GRID & dw.rules.at_least(2, "E")),
        ("starts_in:0,1", GRID, GRID & dw.rules.starts_in((0, 1))),
        ("ends_in:2,2;0,0", CELLS, CELLS & dw.rules.ends_in((0, 0), (2, 2))),
        ("re:.*ES.*", GRID, GRID & dw.rules.contains("E", "S")),
        ("re:.* 1,1 .*", CELLS, CELLS & dw.rules.contains((1, 1))),
        (r"contains:\;;\\", dw.Words("a;\\"), dw.Words("a;\\") & dw.rules.contains(";", "\\")),
        (r"contains:a:b", dw.Words(["a:b", "c"]), dw.Words(["a:b", "c"]) & dw.rules.contains("a:b")),
        ("re:a:.*", dw.Words("a:"), dw.Words("a:") & dw.rules.starts_in("a") & dw.Pattern(".:.*")),
    ],
)
def test_rules_as_text(text: str, language: dw.Words, expected: dw.Words) -> None:
    found = rule(text, language)
    assert [found.count(n) for n in range(5)] == [expected.count(n) for n in range(5)]
    assert sum(found.count(n) for n in range(5)) > 0


def test_several_rules_walls_and_goals() -> None:
    found = dw.Recipe(
        system="grid:3x3", walls="1,1;0,2", goal="2,2;0,1", rules=("contains:1,0", "ends_in:2,2")
    ).language()
    expected = dw.GridWorld(3, 3, walls=[(1, 1), (0, 2)]) & dw.rules.contains((1, 0)) & dw.rules.ends_in((2, 2))
    assert [found.count(n) for n in range(7)] == [expected.count(n) for n in range(7)]
    assert found.count(4) == 1
    lexicon = dw.Recipe(alphabet="ab", rules=("never:a",)).language()
    assert [lexicon.count(n) for n in range(3)] == [1, 1, 1]


RULED = "--system grid:3x3 --goal 2,2 --rule contains:1,1"


def test_every_command_takes_rules(tmp_path: Path) -> None:
    done = run(*f"release ESES SEES {RULED} -e 2".split())
    assert done.returncode == 0
    language = dw.GridWorld(3, 3, goal=(2, 2)) & dw.rules.contains((1, 1))
    assert all(language.accepts(word) for word in done.stdout.split())
    assert run(*f"audit {RULED} --length 4 -e 2".split()).stdout.endswith("the claim holds\n")
    assert "expected distance" in run(*f"accuracy {RULED} --length 4 -e 2".split()).stdout
    assert run(*f"draw {RULED}".split()).stdout == dw.plots.dot(language)
    assert run("draw", "--alphabet", "ab", "--rule", "re:(ab)*").stdout == dw.plots.dot(dw.Pattern("(ab)*"))
    picture = tmp_path / "runs.svg"
    assert run(*f"draw ESES SEES --runs {RULED} --output {picture}".split()).returncode == 0
    assert picture.read_bytes().startswith(b"<?xml")
    assert "digraph" in run(*f"draw ESES {RULED} --exactly 2".split()).stdout


WORD = "release ab --alphabet ab -e 2"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (f"{WORD} --rule contains", "a rule is written NAME:SYMBOL, and NAME is one of"),
        (f"{WORD} --rule visits:a", "a rule is written NAME:SYMBOL, and NAME is one of"),
        (f"{WORD} --rule contains:", "an argument of the rule is empty"),
        (f"{WORD} --rule contains:a;", "an argument of the rule is empty"),
        (f"{WORD} --rule contains:a\\", "a single backslash"),
        (f"{WORD} --rule before:a,b", "before needs two symbols with ; between them"),
        (f"{WORD} --rule before:a;b;a", "before needs two symbols with ; between them"),
        (f"{WORD} --rule at_most:2,a", "at_most needs a number and a symbol"),
        (f"{WORD} --rule at_least:2", "at_least needs a number and a symbol"),
        (f"{WORD} --rule at_most:-1;a", "at_most needs a number and a symbol"),
        (f"{WORD} --rule contains:z", "names z, which is not a symbol of <Words: 2 symbols>"),
        (f"{WORD} --rule re:(ab", "the pattern is not valid at character 4"),
        (f"{WORD} --rule never:a", "word 1 breaks the rule never:a: correct it"),
        (f"{WORD} --rule ends_in:a", "word 1 breaks the rule ends_in:a: correct it"),
        (f"{WORD} --rule never:a --rule ends_in:a", "ends_in:a leaves no word of <Words: 2 symbols> & never:a"),
        (f"{WORD} --rule never:a;b", "never:a;b has only the empty word"),
        (f"{WORD} --goal 1,1", "--walls and --goal belong to a grid"),
        ("release E --system roads.csv -e 2 --walls 1,1", "--walls and --goal belong to a grid"),
        ("release E --system grid:2x2 -e 2 --walls 1", "--walls takes cells ROW,COLUMN with ; between them"),
        ("release E --system grid:2x2 -e 2 --goal 1,1;", "--goal takes cells ROW,COLUMN with ; between them"),
        ("release E --system grid:2x2 -e 2 --goal 5,5", "goal: 5,5 is not a state of the system"),
        ("release E --system grid:2x2 -e 2 --walls 5,5", "walls: 5,5 is not a state of the system"),
        ("release E --system grid:2x2 -e 2 --goal 1,1 --walls 1,0;0,1", "<GridWorld: 2 states, 0 edges> has no word"),
        ("accuracy --system grid:3x3 -e 2 --goal 2,2 --length 3", "the language has no word of length 3"),
    ],
)
def test_bad_rules(arguments: str, message: str) -> None:
    assert message in refused(arguments)


def test_a_run_with_rules_is_resumed_and_told_in_its_receipt(tmp_path: Path) -> None:
    source, target = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("w\n" + "ESES\nSEES\n" * 2500, encoding="utf-8")
    arguments = f"release --input {source} --column w {RULED} --rule never:2,0 -e 2 -q --output {target}".split()

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2**14, 2**14))  # as on a full disk

    command = [sys.executable, "-m", "dpwords"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False, preexec_fn=limit)
    assert "finish it with --resume" in done.stderr
    assert "had another rules" in run(*arguments, "--resume", "--rule", "never:0,2").stderr
    assert run(*arguments, "--resume").stderr == ""
    options = json.loads((tmp_path / "out.csv.receipt.json").read_text(encoding="utf-8"))["recipe"]
    assert (options["goal"], options["rules"]) == ("2,2", ["contains:1,1", "never:2,0"])
