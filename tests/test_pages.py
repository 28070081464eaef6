"""Pages with bash blocks run from start to end, as a reader would run them, each in an empty directory.

The blocks of all other pages stand alone, and are run by test_readme.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path

import pytest

import dpwords as dw
from attack.test_guessing import by_definition, chain_proportions
from dpwords.spaces import exhaustive

DOCS = Path(__file__).parent.parent / "docs"
FOLLOWED = [page for page in sorted(DOCS.glob("*.md")) if "```bash\n" in page.read_text("utf-8")]


def follow(page: Path, position: Path) -> str:
    """Run all commands and programs of a page in a directory, as one script, and return what they print."""
    blocks = re.findall(r"```(bash|python)\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    script = "\n".join(code if kind == "bash" else f"python - <<'PROGRAM'\n{code}PROGRAM" for kind, code in blocks)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=position,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(position: Path) -> None:
    """Every output has the shape of its input."""
    visits = [line.split(",") for line in (position / "private.csv").read_text().splitlines()]
    assert [(row[0], row[1], len(row[2])) for row in visits[1:]] == [
        ("1", "north", 6),
        ("2", "south", 7),
        ("3", "north", 4),
    ]
    runs = [json.loads(line) for line in (position / "private_runs.jsonl").read_text().splitlines()]
    assert [(run["id"], run["user"], len(run["cells"])) for run in runs] == [
        (1, "ann", 4),
        (2, "bob", 3),
        (3, "ann", 4),
    ]
    log = (position / "private_log.csv").read_text().splitlines()
    assert log[0] == "case:concept:name,concept:name,time:timestamp"
    assert "2026" not in "".join(log)
    careers = (position / "private_careers.csv").read_text().splitlines()
    assert [line.count(",") for line in careers] == [6] * 4
    assert careers[2].endswith(",")
    pairs = {
        tuple(row[:2]): float(row[2])
        for line in (position / "pairs.csv").read_text().splitlines()[1:]
        if (row := line.split(","))
    }
    assert pairs["a", "t"] == pytest.approx(1 / 6, abs=0.05)  # one of the six pairs in gattaca
    assert pairs["g", "g"] < 0.05
    assert (position / "pairs.svg").read_bytes().startswith(b"<?xml")


def diaries(position: Path) -> None:
    """The reader's own file has its rows and lengths, and a receipt that names no word."""
    rows = [line.split(",") for line in (position / "private.csv").read_text().splitlines()]
    assert [(day, who, len(positions)) for day, who, positions in rows[1:]] == [
        ("1", "ann", 10),
        ("2", "ann", 9),
        ("3", "bob", 6),
    ]
    assert set("".join(positions for _, _, positions in rows[1:])) <= set("HWSG")
    assert json.loads((position / "private.csv.receipt.json").read_text())["epsilon"] == 3


def robot_plans(position: Path) -> None:
    """Every released plan walks on free cells, visits the depot, keeps out of the lake, and ends at home."""
    rows = (position / "map.txt").read_text().splitlines()
    free = {(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell != "#"}
    steps = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
    plans = (position / "private_plans.txt").read_text().splitlines()
    assert [len(plan) for plan in plans] == [15, 13, 11]
    for plan in plans:
        cells = [(0, 0)]
        for move in plan:
            cells.append((cells[-1][0] + steps[move][0], cells[-1][1] + steps[move][1]))
        assert (0, 6) in cells
        assert cells[-1] == (4, 7)
        assert set(cells) <= free - {(2, 5), (2, 6), (3, 5)}


def routes(position: Path) -> None:
    """Every released route follows streets of the city, and nobody has spent more than the budget."""
    networkx = pytest.importorskip("networkx")
    parquet = pytest.importorskip("pyarrow.parquet")
    city = networkx.read_graphml(position / "city.graphml", node_type=int)
    for name, lengths in (("march", [6, 6, 6, 6, 7, 5]), ("april", [6, 5])):
        table = parquet.read_table(position / f"{name}.parquet")
        assert table.column_names == ["trip", "person", "route"]
        released = table["route"].to_pylist()
        assert [len(route) for route in released] == lengths
        assert all(city.has_edge(one, other) for route in released for one, other in pairwise(route))
    ledger = dw.Ledger(position / "ledger.db")
    assert [ledger.spent(who) for who in ("ann", "bob", "cem")] == [15, 8, 7]


def traces(position: Path) -> None:
    """Every released trace takes steps of the published log only, and no time or resource is left."""
    with (position / "private_log.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert set(rows[0]) == {"case:concept:name", "concept:name", "time:timestamp"}
    assert all(row["time:timestamp"].startswith("2000-01-01T") for row in rows)
    cases = {
        case: [row["concept:name"] for row in events]
        for case, events in groupby(rows, lambda row: row["case:concept:name"])
    }
    assert list(cases) == ["A", "B", "C"]
    steps = {
        "register": {"check", "ask"},
        "check": {"check", "ask", "decide"},
        "ask": {"check"},
        "decide": {"pay", "reject"},
    }
    for trace in cases.values():
        assert trace[0] == "register"
        assert trace[-1] in ("pay", "reject")
        assert all(other in steps[one] for one, other in pairwise(trace))


def sessions(position: Path) -> None:
    """Every released session begins with CONNECT and ends closed; the machine itself is run by the page."""
    for name in ("private", "edited"):
        rows = [json.loads(line) for line in (position / f"{name}.jsonl").read_text().splitlines()]
        assert [row["session"] for row in rows] == [1, 2, 3, 4]
        assert all(row["inputs"][0] == "CONNECT" and row["inputs"][-1] in ("RESET", "FINACK") for row in rows)


def careers(position: Path) -> None:
    """Everybody has the four months of the page, in states that are declared, and the region is left out."""
    with (position / "private.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row.pop("person") for row in rows] == [str(person) for person in range(1, 301)]
    assert all(list(row) == ["Jul.93", "Jan.94", "Jul.94", "Jan.95"] for row in rows)
    assert {state for row in rows for state in row.values()} == {"school", "training", "work", "jobless"}


def terminal(position: Path) -> None:
    """Words came through the pipe, and the audit of the paper's formula was kept."""
    assert [len(line) for line in (position / "private.txt").read_text().splitlines()] == [7, 4]
    assert (position / "audit.txt").read_text().endswith("THE CLAIM IS BROKEN\n")


def audited(position: Path) -> None:
    """The picture of the losses is there."""
    assert (position / "losses.svg").read_bytes().startswith(b"<?xml")


def guesses(position: Path) -> None:
    """The figures of a week of sun and rain, by definition over all weeks and all releases."""
    rows = {None: {"s": 0.5, "r": 0.5}, "s": {"s": 0.9, "r": 0.1}, "r": {"s": 0.3, "r": 0.7}}
    mechanism = dw.Exponential(dw.Words("sr"), 1)
    prior = chain_proportions(exhaustive.words(mechanism.language, 7), rows, None)
    positions, whole = by_definition(mechanism, 7, 1, prior)
    (found,) = json.loads((position / "guessed.json").read_text())["rows"]
    assert found["whole"] == pytest.approx(whole)
    assert found["hits_by_place"] == pytest.approx(positions)
    uniform, fitted = json.loads((position / "guessed_log.json").read_text())["rows"]
    assert uniform["whole"] == pytest.approx((math.exp(4) / (math.exp(4) + 7)) ** 6)
    assert fitted["whole"] == pytest.approx(0.97, abs=0.04)  # near what the page says; the release is a random one


def recipes(position: Path) -> None:
    """The recipe that the page prints is the one of its options."""
    grid = dw.Recipe(system="grid:15x15", rules=("contains:3,4",), epsilon=5)
    assert dw.Recipe.from_json(position / "release.json") == grid


CHECKS: dict[str, Callable[[Path], None]] = {
    "audits": audited,
    "attack": guesses,
    "command_line": terminal,
    "cookbook_mobility": routes,
    "cookbook_panels": careers,
    "cookbook_process_mining": traces,
    "cookbook_protocols": sessions,
    "cookbook_robotics": robot_plans,
    "data": files,
    "recipes": recipes,
    "tutorial": diaries,
}


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda page: page.stem)
def test_pages_that_are_followed(page: Path, tmp_path: Path) -> None:
    printed = follow(page, tmp_path)
    for block in re.findall(r"```text\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
        for line in block.splitlines():  # what the page quotes is what the reader sees
            assert line in printed
    assert not list(tmp_path.glob(".*"))  # nothing unfinished is left
    CHECKS[page.stem](tmp_path)
