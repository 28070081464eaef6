"""The README's and the documentation's code runs, and so do the examples in docstrings and help texts."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import dpwords
import dpwords as dw

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]
MODULES = [
    "dpwords",
    *(m.name for m in pkgutil.walk_packages(dpwords.__path__, "dpwords.") if m.name != "dpwords.__main__"),
]


def blocks(kind: str) -> list[str]:
    return [
        block for page in PAGES for block in re.findall(rf"```{kind}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    ]


COMMANDS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("dpwords ")]


@pytest.mark.parametrize("code", [code for code in blocks("python") if "pyspark" not in code])  # see test_spark
def test_python_blocks_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE):
        pytest.importorskip(name)  # optional packages, all of which dpwords[test] installs
    exec(compile(code, "README", "exec"), {})


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_run(line: str) -> None:
    arguments = shlex.split(line, comments=True)[1:]
    done = subprocess.run([sys.executable, "-m", "dpwords", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if "--literal" in arguments else 0), done.stderr


def test_there_is_something_to_run() -> None:
    assert blocks("python")
    assert len(COMMANDS) >= 3


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_table_of_expected_distances_is_true() -> None:
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGES[0].read_text("utf-8"), re.MULTILINE)
    assert len(rows) == 3
    words = dw.Words(range(16))
    for epsilon, *printed in rows:
        mechanisms = (
            dw.Exponential(words, int(epsilon)),
            dw.Exponential(words, int(epsilon), utility=dw.Linear(), calibration="textbook"),
            dw.Exponential(words, int(epsilon), utility=dw.Inverse(1.0), calibration="textbook"),
        )
        assert [f"{m.expected_distance(length=32):#.3g}" for m in mechanisms] == printed
