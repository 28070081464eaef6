"""The version has one position, and what is said about the package elsewhere agrees with it."""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import distributions
from pathlib import Path
from runpy import run_path

from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import dpwords as dw
from dpwords.cli import cli

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]


def test_the_version_has_one_position() -> None:
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    position = ROOT / PYPROJECT["tool"]["hatch"]["version"]["path"]
    (written,) = re.findall(r'^__version__ = "(\d+\.\d+\.\d+)"$', position.read_text("utf-8"), re.M)
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


def test_the_bill_of_materials_is_that_of_the_versions_that_were_tested() -> None:
    """`tools/sbom.py` writes it; the wheel has it in `.dist-info/sboms/`, which `make wheel-check` checks."""
    (position,) = PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sbom-files"]
    text = (ROOT / position).read_text("utf-8")
    found = json.loads(text)
    assert (found["bomFormat"], found["specVersion"], found["version"]) == ("CycloneDX", "1.6", 1)
    assert position.endswith(".cdx.json")  # the name that its format asks for
    main = found["metadata"]["component"]
    assert (main["name"], main["version"]) == (PROJECT["name"], dw.__version__)
    assert main["licenses"] == [{"expression": PROJECT["license"]}]
    tested = dict(line.split("==") for line in (ROOT / "tools" / "versions.txt").read_text("utf-8").splitlines())
    versions = {canonicalize_name(name): version for name, version in tested.items()}
    listed = {each["name"]: each["version"] for each in found["components"]}
    assert listed == {name: versions[name] for name in listed}
    for each in found["components"]:
        assert each["purl"] == each["bom-ref"] == f"pkg:pypi/{each['name']}@{each['version']}"
        assert each["licenses"][0].keys() & {"expression", "license"}, each
        assert each["licenses"] != [{"license": {"name": "not declared"}}], each
    extras = PROJECT["optional-dependencies"]
    chosen = [one for name in extras["all"][0][8:-1].split(",") for one in extras[name]]
    wanted = {False: list(map(Requirement, PROJECT["dependencies"])), True: list(map(Requirement, chosen))}
    scopes = {each["name"]: each["scope"] for each in found["components"]}
    for optional, requirements in wanted.items():
        for one in requirements:
            name = canonicalize_name(one.name)
            if name != "dpwords":
                assert scopes[name] == ("optional" if optional and name not in required(wanted[False]) else "required")
                assert listed[name] in SpecifierSet(str(one.specifier))
    references = {each["bom-ref"] for each in (*found["components"], main)}
    assert {each["ref"] for each in found["dependencies"]} == references
    assert {one for each in found["dependencies"] for one in each["dependsOn"]} == references - {main["bom-ref"]}
    assert not re.search(r"file:|/home/|/root/|/tmp/|/usr/|\\\\", text)  # nothing of a machine
    assert re.findall(r"https?://[^/\"]+", text) == ["http://cyclonedx.org"]  # and no address but that of the format
    installed = {canonicalize_name(each.name): each.version for each in distributions()}
    if versions.items() <= installed.items():  # as in `make check`
        assert found == run_path(str(ROOT / "tools" / "sbom.py"))["document"](), "run tools/sbom.py"


def required(requirements: list[Requirement]) -> set[str]:
    return {canonicalize_name(one.name) for one in requirements}


def test_the_supported_versions_name_this_one() -> None:
    security = (ROOT / "SECURITY.md").read_text("utf-8")
    assert f"the newest release, {dw.__version__.rpartition('.')[0]}.x at present" in security
