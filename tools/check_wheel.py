"""Build the wheel and the source distribution, and try the wheel in clean environments.

Usage: python tools/check_wheel.py

The oldest supported Python gets the oldest versions of all packages that the wheel allows, and the newest Python the
newest ones. These Pythons are searched for on the search path, and among the versions of pyenv; the running one stands
in for what is not found. Packages come from the index that pip is configured for.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from packaging.metadata import Metadata
from sbom import POSITION as MATERIALS
from sbom import document

ROOT = Path(__file__).parents[1]
OLDEST, NEWEST = (3, 11), (3, 13)  # of the supported versions of Python
EXTRAS = ("plot", "frames", "web")  # tried where they are present; the others are large, and the tests try them
IN_SOURCES = (
    "tests/cli/test_cli.py",
    "docs/theory.md",
    "examples",
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
)


def run(*command: str | Path) -> str:
    """What a command prints; one that fails ends the check."""
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment | {"DPWORDS_CACHE": ""})
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def in_the_tree() -> set[str]:
    """The files of the package, as they are in the working tree."""
    files = (path for path in (ROOT / "src" / "dpwords").rglob("*") if path.is_file())
    return {path.relative_to(ROOT / "src").as_posix() for path in files if "__pycache__" not in path.parts}


def check_contents(wheel: Path, sources: Path) -> Metadata:
    """Compare the contents of both files with the working tree, and return their metadata."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (described,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        facts = Metadata.from_email(archive.read(described), validate=True)
        materials = [archive.read(name) for name in names if ".dist-info/sboms/" in name]
    if materials != [MATERIALS.read_bytes()]:
        sys.exit(f"{wheel.name} does not have {MATERIALS.name} as its bill of materials")
    if json.loads(materials[0]) != document():
        sys.exit(f"{MATERIALS.name} is not what is installed: install tools/versions.txt, and run tools/sbom.py")
    if {name for name in names if ".dist-info/" not in name} != in_the_tree():
        sys.exit(f"{wheel.name} does not have the files of src: {in_the_tree() ^ names}")
    with tarfile.open(sources) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    missing = [name for name in IN_SOURCES if not any(each == name or each.startswith(f"{name}/") for each in inside)]
    if missing:
        sys.exit(f"{sources.name} lacks {', '.join(missing)}")
    return facts


def oldest(facts: Metadata) -> list[str]:
    """The oldest versions of all packages that the wheel allows, as constraints for pip."""
    bounds = {
        required.name: least.version
        for required in facts.requires_dist or ()
        for least in required.specifier
        if least.operator == ">="
    }
    return [f"{name}=={version}" for name, version in bounds.items()]


def pythons() -> tuple[Path, Path]:
    """The oldest supported Python and the newest at hand; the running one in place of what cannot be found."""
    found = {sys.version_info[:2]: Path(sys.executable)}
    folders = [Path(folder) for folder in os.get_exec_path()]
    folders += sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob("versions/*/bin"))
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        for path in (folder / f"python3.{minor}" for folder in folders):
            if (3, minor) not in found and path.is_file() and works(path, minor):
                found[3, minor] = path
    supported = sorted(version for version in found if OLDEST <= version <= NEWEST)
    return found[supported[0]], found[supported[-1]]


def works(python: Path, minor: int) -> bool:
    """Whether this is a Python of that version, and not a name for one that is not installed."""
    script = "import sys, venv; print(sys.version_info[1])"
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=False)
    return done.returncode == 0 and done.stdout == f"{minor}\n"


def check_installed(python: Path, wheel: Path, version: str, folder: Path, constraints: list[str]) -> None:
    """Install the wheel, first alone and then with extras, and run the main jobs outside of the source tree."""
    bounds = folder / "constraints.txt"
    bounds.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
    environment = folder / "environment"
    run(python, "-m", "venv", environment)
    own = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    name = run(own, "-c", "import platform; print(platform.python_version())").strip()
    for extras in ((), EXTRAS):
        begin = time.monotonic()
        asked = f"dpwords[{','.join(extras)}] @ {wheel.as_uri()}"
        run(own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--constraint", bounds, asked)
        installed = time.monotonic()
        position = folder / ("with" if extras else "without")
        position.mkdir()
        run(own, ROOT / "tests" / "helpers" / "installed.py", position, version, *extras)
        kind = f"with the extras {', '.join(extras)}" if extras else "without extras"
        seconds = f"{installed - begin:.0f} s to install, {time.monotonic() - installed:.0f} s to run"
        age = ", with the oldest packages that it allows" if constraints else ""
        print(f"Python {name}: {wheel.name} works {kind}{age} ({seconds})", flush=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
        (wheel,), (sources,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
        facts = check_contents(wheel, sources)
        print(f"{wheel.name} and {sources.name} have what they should", flush=True)
        old, new = pythons()
        for name, python, constraints in (("old", old, oldest(facts)), ("new", new, [])):
            (folder / name).mkdir()
            check_installed(python, wheel, str(facts.version), folder / name, constraints)


main()
