"""Write the bill of materials of the wheel, in the format CycloneDX 1.6: what is installed with dpwords.

Usage: python tools/sbom.py

It lists the packages that dpwords requires, those of its extras, and what these require in turn, in the versions of
`tools/versions.txt`, with which this version was tested; all of them have to be installed here. Their licences are as
they declare them. Nothing depends on the time or the machine. The wheel has the file in `.dist-info/sboms/`.
"""

from __future__ import annotations

import json
import re
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
POSITION = ROOT / "tools" / "dpwords.cdx.json"
EXTRA = "all"  # of dpwords: what users can install with it
LONGEST = 60  # characters of a licence's name; some packages declare the whole text


def document() -> dict[str, Any]:
    """The bill of materials, from what is installed, with the packages in alphabetical order."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (version,) = re.findall(r'^__version__ = "(.*)"$', (ROOT / "src/dpwords/__init__.py").read_text("utf-8"), re.M)
    ours = [Requirement(each) for each in project["dependencies"]]
    extras = {name: list(map(Requirement, each)) for name, each in project["optional-dependencies"].items()}
    required, found = _closure(ours), _closure(ours + _with_extras(extras, EXTRA))
    main = _reference("dpwords", version)
    own = {"type": "library", "bom-ref": main, "name": "dpwords", "version": version, "purl": main}
    own |= {"description": project["description"], "licenses": [{"expression": project["license"]}]}
    versions = {name: distribution(name).version for name in found}
    uses = {main: sorted({canonicalize_name(each.name) for each in ours + _with_extras(extras, EXTRA)})}
    uses |= {_reference(name, versions[name]): names for name, names in found.items()}
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [_component(name, "required" if name in required else "optional") for name in sorted(found)],
        "dependencies": [
            {"ref": each, "dependsOn": [_reference(name, versions[name]) for name in names]}
            for each, names in sorted(uses.items())
        ],
    }


def _with_extras(extras: dict[str, list[Requirement]], name: str) -> list[Requirement]:
    """What an extra requires; where it names other extras of dpwords, what these require."""
    found: list[Requirement] = []
    for each in extras[name]:
        inner = [some for extra in sorted(each.extras) for some in _with_extras(extras, extra)]
        found += inner if each.name == "dpwords" else [each]
    return found


def _closure(wanted: list[Requirement]) -> dict[str, list[str]]:
    """The packages that are wanted, and those that they need here, each with the names of what it needs."""
    found: dict[str, list[str]] = {}
    waiting = list(wanted)
    while waiting:
        name = canonicalize_name((one := waiting.pop()).name)
        needs = [Requirement(each) for each in distribution(name).requires or ()]
        here = [each for each in needs if _applies(each, one.extras)]
        names = {canonicalize_name(each.name) for each in here}
        if not names <= set(found.get(name, ())) or name not in found:
            found[name] = sorted(names | set(found.get(name, ())))
            waiting += here
    return found


def _applies(one: Requirement, extras: set[str]) -> bool:
    return one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in ("", *extras))


def _component(name: str, scope: str) -> dict[str, Any]:
    package = distribution(name)
    reference = _reference(name, package.version)
    facts = {"type": "library", "bom-ref": reference, "name": name, "version": package.version, "scope": scope}
    return facts | {"licenses": [_licence(package)], "purl": reference}


def _licence(package: Distribution) -> dict[str, Any]:
    """An expression of SPDX where a package declares one, otherwise a name."""
    facts = package.metadata.json
    if "license_expression" in facts:
        return {"expression": facts["license_expression"]}
    named = [each.rpartition(" :: ")[2] for each in facts.get("classifier", ()) if each.startswith("License :: ")]
    short = str(facts.get("license", "")).strip()
    name = short if 0 < len(short) <= LONGEST and "\n" not in short else ", ".join(named)
    return {"license": {"name": name or "not declared"}}


def _reference(name: str, version: str) -> str:
    return f"pkg:pypi/{name}@{version}"


if __name__ == "__main__":
    POSITION.write_text(json.dumps(document(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
