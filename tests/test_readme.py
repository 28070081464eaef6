"""The README's and the documentation's code runs, and so do the examples in docstrings and help texts."""

from __future__ import annotations

import doctest
import importlib
import math
import pkgutil
import re
import shlex
import shutil
from pathlib import Path

import pytest

import dpwords
import dpwords as dw
from commands import run

ROOT = Path(__file__).parent.parent
DOCS = [page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *DOCS]
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
def test_commands_run(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = shlex.split(line, comments=True)[1:]
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
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
    text = (ROOT / "docs" / "mechanisms.md").read_text("utf-8")
    rows = re.findall(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    words = dw.Words(range(16))
    for epsilon, *printed in rows:
        mechanisms = (
            dw.Exponential(words, int(epsilon)),
            dw.Exponential(words, int(epsilon), utility=dw.Linear(), calibration="textbook"),
            dw.Exponential(words, int(epsilon), utility=dw.Inverse(1.0), calibration="textbook"),
        )
        assert [f"{m.expected_distance(length=32):#.3g}" for m in mechanisms] == printed


@pytest.mark.parametrize(
    ("page", "lines"),
    [("README.md", 1), ("docs/faq.md", 1), ("docs/guide.md", 1), ("docs/promise.md", 3), ("docs/tutorial.md", 1)],
)
def test_odds_of_100_are_true_and_rounded_up(page: str, lines: int) -> None:
    text = (ROOT / page).read_text("utf-8")
    epsilons = [float(found) for found in re.findall(r"(?<=\| )(?:ε = )?([\d.]+)(?= \|)", _row_with(text, "ε"))]
    rows = re.findall(r"^\| (?:at most … of 100 cases|(\d)) \|(.*)\|$", text, re.MULTILINE)
    assert len(epsilons) == 6
    assert len(rows) == lines
    for positions, cells in rows:
        for epsilon, cell in zip(epsilons, cells.split("|"), strict=True):
            proportion = 100 / (1 + math.exp(-epsilon * int(positions or 1)))
            if cell.strip() == "all but 100":
                assert proportion > 99.9999
                continue
            step = 10.0 ** -len(cell.strip().partition(".")[2])
            assert proportion <= float(cell) < proportion + step


def _row_with(text: str, head: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("|") and head in line)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_marks_stand_under_the_changed_letters(page: str) -> None:
    found = re.search(r"```\nprivate    (.*)\n((?:released.*\n.*\n)+)```", (ROOT / page).read_text("utf-8"))
    assert found
    lines = found[2].splitlines()
    for released, marks in zip(lines[::2], lines[1::2], strict=True):
        differs = [own != other for own, other in zip(found[1], released[11:], strict=True)]
        assert any(differs)
        assert [mark == "^" for mark in marks[11:].ljust(len(differs))] == differs
