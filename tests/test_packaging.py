"""The version has one place, and what is said about the package elsewhere agrees with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from click.testing import CliRunner

import dpwords as dw
from dpwords.cli import cli

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_the_version_has_one_place() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    place = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    (written,) = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$', place.read_text("utf-8"), re.M)
    assert dw.__version__ == written
    assert CliRunner().invoke(cli, ["--version"]).output.endswith(f"version {written}\n")


def test_the_citation_agrees_with_the_package() -> None:
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {dw.__version__}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation
    keywords = citation.partition("\nkeywords:\n")[2].partition("\nreferences:")[0]
    assert keywords.replace("  - ", "").splitlines() == PROJECT["keywords"]


def test_the_wheel_is_checked_on_the_versions_that_are_claimed() -> None:
    claimed = re.findall(r"Python :: 3\.(\d+)", "\n".join(PROJECT["classifiers"]))
    check = (ROOT / "tools" / "check_wheel.py").read_text("utf-8")
    (oldest, newest) = re.findall(r"OLDEST, NEWEST = \(3, (\d+)\), \(3, (\d+)\)", check)[0]
    assert PROJECT["requires-python"] == f">=3.{oldest}"
    assert claimed == [str(minor) for minor in range(int(oldest), int(newest) + 1)]


def test_every_package_has_an_oldest_version() -> None:
    """`make wheel-check` tries them."""
    extras = PROJECT["optional-dependencies"]
    for required in [
        *PROJECT["dependencies"],
        *(each for name in extras["all"][0][8:-1].split(",") for each in extras[name]),
    ]:
        assert ">=" in required or required.startswith("dpwords["), required
