"""The cookbook for files runs from start to end, as a reader would run it, in an empty directory."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "data.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all commands of the page were run."""
    place = tmp_path_factory.mktemp("cookbook")
    script = "\n".join(re.findall(r"```bash\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=place,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return place


def test_every_output_has_the_shape_of_its_input(folder: Path) -> None:
    visits = [line.split(",") for line in (folder / "private.csv").read_text().splitlines()]
    assert [(row[0], row[1], len(row[2])) for row in visits[1:]] == [
        ("1", "north", 6),
        ("2", "south", 7),
        ("3", "north", 4),
    ]
    runs = [json.loads(line) for line in (folder / "private_runs.jsonl").read_text().splitlines()]
    assert [(run["id"], run["user"], len(run["cells"])) for run in runs] == [
        (1, "ann", 4),
        (2, "bob", 3),
        (3, "ann", 4),
    ]
    log = (folder / "private_log.csv").read_text().splitlines()
    assert log[0] == "case:concept:name,concept:name,time:timestamp"
    assert "2026" not in "".join(log)
    careers = (folder / "private_careers.csv").read_text().splitlines()
    assert [line.count(",") for line in careers] == [6] * 4
    assert careers[2].endswith(",")


def test_nothing_unfinished_is_left(folder: Path) -> None:
    assert not list(folder.glob(".*"))
