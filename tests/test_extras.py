"""Where an optional package is missing, one line names the extra that brings it."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from extras import FILES, NEEDS, WITHOUT_NEEDS, Need

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text("utf-8"))["project"]
FOR_DEVELOPERS = {"all", "test", "docs", "bench", "fuzz", "dev"}


def test_every_extra_is_covered_here() -> None:
    assert {need.extra for need in NEEDS} | WITHOUT_NEEDS == set(PROJECT["optional-dependencies"]) - FOR_DEVELOPERS


@pytest.mark.parametrize("need", NEEDS, ids=lambda need: " ".join((need.extra, *need.command[:2])) + need.code[:12])
def test_a_missing_extra_is_named(need: Need, tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    job = "dpwords.cli.main()" if need.command else need.code
    script = (
        f"import sys; sys.modules[{need.module!r}] = None; sys.argv = ['dpwords', *{need.command!r}]\n"
        f"import dpwords as dw, dpwords.cli\n"
        f"try: {job}\n"
        "except dw.MissingExtra as error: sys.exit(f'dpwords: {error}')"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == (2 if need.command else 1)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert done.stderr.endswith(f": pip install 'dpwords[{need.extra}]'\n")
    assert {path.name for path in tmp_path.iterdir()} == set(FILES)
