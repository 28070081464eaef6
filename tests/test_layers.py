"""A module imports only from rows below its own; modules stay short."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import dpwords

ROOT = Path(dpwords.__file__).parent
ROWS = [
    ["__main__"],
    ["cli"],
    ["cli.release", "cli.accuracy", "cli.audit", "cli.draw", "cli.study"],
    ["cli.options", "cli.terminal", "cli.tables"],
    ["studies.strings", "studies.grid", "studies.figures"],
    ["studies.study"],
    ["plots"],
    ["plots.drawing", "plots.boards", "plots.samples", "plots.graphviz"],
    ["plots.layout", "plots.style", "plots.measure"],
    ["plots.structure"],
    ["notation", "audit", "accuracy"],
    [
        "mechanisms.exponential",
        "mechanisms.paper_literal",
        "mechanisms.uniform",
        "mechanisms.online",
        "mechanisms.edit_channel",
    ],
    ["mechanisms.base"],
    ["calibration"],
    ["list_certificates"],
    ["certificates"],
    ["stepwise", "corruption", "edits"],
    ["laws", "census", "nearest"],
    ["listing"],
    ["shells"],
    ["levelled_bounds"],
    ["bounds"],
    ["levelling"],
    ["lattice", "exhaustive", "channel"],
    ["privacy"],
    ["bridges"],
    ["levenshtein", "systems", "lexicon"],
    ["automata", "sampling"],
    ["words", "scaled", "randomness", "files", "threads"],
    ["_kernels.blocks", "_kernels.levelled"],
    [
        "_kernels.boxes",
        "_kernels.shares",
        "_kernels.alignments",
        "_kernels.nearest",
        "_kernels.layers",
        "_kernels.free",
        "_kernels.tallies",
    ],
    ["checks"],
    ["errors"],
]
ROW = {name: number for number, row in enumerate(ROWS) for name in row}
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if path != ROOT / "__init__.py"
}


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dpwords":
            inside = (node.module or "").removeprefix("dpwords").removeprefix(".")
            names = [".".join(filter(None, [inside, alias.name])) for alias in node.names]
            found |= {name if name in FILES else inside for name in names}
    return found - {""}


def test_every_module_has_its_row() -> None:
    assert set(ROW) | {"mechanisms", "studies", "_kernels"} == set(FILES)


def test_the_contributing_guide_shows_every_room() -> None:
    guide = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = {name.split(".")[0] for name in FILES} - {"__main__"}
    assert [room for room in rooms if f"`{room}.py`" not in guide and f"`{room}/`" not in guide] == []


@pytest.mark.parametrize("name", ROW)
def test_imports_go_down(name: str) -> None:
    for other in imported(FILES[name]):
        assert ROW[other] > ROW[name], f"{name} imports {other}"


@pytest.mark.parametrize("name", FILES)
def test_modules_are_short(name: str) -> None:
    assert len(FILES[name].read_text(encoding="utf-8").splitlines()) <= 400


def test_only_proven_mechanisms_release() -> None:
    """`release` is a reserved verb."""
    having = {
        name
        for name, path in FILES.items()
        if name.startswith("mechanisms") and "def release" in path.read_text(encoding="utf-8")
    }
    assert having == {"mechanisms.exponential", "mechanisms.online", "mechanisms.edit_channel"}
