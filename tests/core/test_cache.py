"""Public facts that are cached between commands: what is used, what is refused, and that all works without."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from commands import refused, started
from dpwords.core import cache as caching
from dpwords.core.limits import Limits
from dpwords.privacy.certificates import certifier, systems
from dpwords.privacy.certificates.certificate import Certificate, store_certificate
from dpwords.privacy.certificates.small_languages import Listed

CELLS = dw.GridWorld(3, 3).by_states()
LENGTH = 9  # more words than are listed
LATER = time.time() + 10**6  # for code that is written by a test
ALL = Limits(worth_keeping=0.0, certified_words=500)
PACKAGES = ("_kernels", "core", "languages", "mechanisms", "privacy", "spaces")  # that prove or compare


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv(caching.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what was computed from now on."""
    found: list[str] = []
    for name in ("_best_for_all", "_bound"):
        original = getattr(systems.SystemCertifier, name)

        def watched(self: Any, *arguments: Any, name: str = name, original: Any = original) -> Any:
            found.append(name)
            return original(self, *arguments)

        monkeypatch.setattr(systems.SystemCertifier, name, watched)
    return found


def certificate(epsilon: float = 4.0) -> Certificate:
    return dw.Exponential(CELLS, epsilon, limits=ALL).certificate(LENGTH)


def files(cache: Path) -> list[Path]:
    return sorted(cache.glob("*.json"))


def test_the_second_mechanism_proves_nothing(cache: Path, searches: list[str]) -> None:
    first = certificate()
    assert searches == ["_best_for_all"]
    assert first.longest is not None
    assert certificate() == first
    assert dw.Exponential(CELLS, 4.0, limits=ALL).certificate() == first
    assert searches == ["_best_for_all"]
    (file,) = files(cache)
    document = json.loads(file.read_text("utf-8"))
    assert document["certificates"][0]["c"] == first.c
    if os.name == "posix":
        assert stat.S_IMODE((cache / "key").stat().st_mode) == 0o600
        assert stat.S_IMODE(cache.stat().st_mode) == 0o700


def test_other_questions_have_other_answers(cache: Path, searches: list[str]) -> None:
    certificate(4.0)
    certificate(3.5)
    dw.Exponential(dw.GridWorld(3, 3, start=(1, 1)).by_states(), 4.0, limits=ALL).certificate(LENGTH)
    dw.Exponential(
        CELLS, 4.0, limits=Limits(worth_keeping=0.0, certified_words=500, certificate_time=100.0)
    ).certificate(LENGTH)
    assert searches == ["_best_for_all"] * 4
    assert len(files(cache)) == 4
    assert certificate(4.0).c > certificate(3.5).c


@pytest.mark.parametrize("change", [{"c": 3.9999}, {"length": 1}, {"detail": [2, 1, 9]}, {"method": "every word"}])
def test_a_forged_certificate_is_refused(cache: Path, searches: list[str], change: dict[str, Any]) -> None:
    honest = certificate()
    (file,) = files(cache)
    document = json.loads(file.read_text("utf-8"))
    document["certificates"][0] |= change
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.warns(UserWarning, match="does not hold"):
        assert certificate() == honest
    assert searches == ["_best_for_all", "_bound", "_best_for_all"]
    assert certificate() == honest  # the honest one has replaced it
    assert len(searches) == 3


def test_a_claim_without_a_tag_is_proven_again(cache: Path, searches: list[str]) -> None:
    """For instance one that was copied from another machine."""
    honest = certificate()
    (cache / "key").unlink()
    assert certificate() == honest
    assert searches == ["_best_for_all", "_bound"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
@pytest.mark.parametrize(("name", "mode"), [(".", 0o770), (".", 0o1777), ("key", 0o640), ("key", 0o604)])
def test_tags_that_others_could_have_made_do_not_count(
    cache: Path, searches: list[str], monkeypatch: pytest.MonkeyPatch, name: str, mode: int
) -> None:
    """An honest certificate is proven again, and a forged one is found out, even if its tag is valid."""
    honest, asked = certificate(), []
    (cache / name).chmod(mode)
    assert certificate() == honest
    assert searches == ["_best_for_all", "_bound"]
    original = certifier.cached_certificate
    monkeypatch.setattr(certifier, "cached_certificate", lambda *given: (asked.append(given[0]), original(*given))[1])
    assert certificate() == honest
    (file,) = files(cache)
    (question,) = (each for each in asked if caching._place(each) == file)
    store_certificate(question, replace(honest, c=3.9999))
    (cache / name).chmod(mode)
    with pytest.warns(UserWarning, match="does not hold"):
        assert certificate() == honest


def test_the_tag_is_for_one_question(cache: Path, searches: list[str]) -> None:
    large = certificate(4.0)
    certificate(3.5)
    by_rate = {json.loads(file.read_text("utf-8"))["certificates"][0]["c"]: file for file in files(cache)}
    small = next(file for c, file in by_rate.items() if c != large.c)
    small.write_bytes(by_rate[large.c].read_bytes())
    searches.clear()
    with pytest.warns(UserWarning, match="does not hold"):
        assert certificate(3.5).bound <= 3.5
    assert searches == ["_best_for_all"]


def test_a_certificate_of_another_length_is_no_answer(cache: Path, searches: list[str]) -> None:
    """It may hold for its own words; that says nothing about others."""
    limits = Limits(worth_keeping=0.0, certified_words=500, certificate_time=0.0)  # each length has its own
    short = dw.Exponential(CELLS, 4.0, limits=limits).certificate(3)
    long = dw.Exponential(CELLS, 4.0, limits=limits).certificate(LENGTH)
    assert (short.longest, long.longest) == (None, None)
    assert short.c > long.c
    by_length = {json.loads(file.read_text("utf-8"))["certificates"][0]["length"]: file for file in files(cache)}
    by_length[LENGTH].write_bytes(by_length[3].read_bytes())
    with pytest.warns(UserWarning, match="does not hold"):
        assert dw.Exponential(CELLS, 4.0, limits=limits).certificate(LENGTH) == long


def test_listed_weights_that_come_out_otherwise_are_proven_anew(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on another machine: the rate that was cached is for weights that do not come out again."""
    assert dw.Exponential(CELLS, 4.0, limits=ALL).certificate(4).method == "listed, balanced"
    monkeypatch.setattr(Listed, "balanced", lambda self, c: np.ones(len(self.rows)))
    mechanism = dw.Exponential(CELLS, 4.0, limits=ALL)
    assert mechanism.certificate(4).c < 3.96  # 3.946 is the best with equal weights
    assert dw.audit.exact(mechanism, 4).holds


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"certificates": []}', b"\xff\xfe", b"[" * 10**5])
def test_a_damaged_file_is_replaced(cache: Path, content: bytes) -> None:
    honest = certificate()
    (file,) = files(cache)
    whole = file.read_bytes()
    file.write_bytes(content)
    with warnings.catch_warnings(action="ignore"):
        assert certificate() == honest
    assert file.read_bytes() == whole


def test_a_damaged_key_is_replaced(cache: Path, searches: list[str]) -> None:
    """What was signed with another key is proven again."""
    honest = certificate()
    for damage in (b"", b"short", b"x" * 33):
        searches.clear()
        (cache / "key").write_bytes(damage)
        assert certificate() == honest
        assert searches == ["_bound"]
        assert len((cache / "key").read_bytes()) == 32


def test_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path, searches: list[str]) -> None:
    monkeypatch.setenv(caching.VARIABLE, "")
    assert caching.directory() is None
    honest = certificate()
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv(caching.VARIABLE, str(tmp_path / "file" / "cache"))  # cannot be made
    assert certificate() == honest
    assert searches == ["_best_for_all"] * 2
    assert not cache.exists()
    monkeypatch.delenv(caching.VARIABLE)
    position = caching.directory()
    assert position is not None
    assert position.name == "dpwords"


def test_the_choice_of_a_mechanism_is_cached_too(cache: Path) -> None:
    world = dw.GridWorld(4, 4)
    first = dw.best(world, 2.3, length=None)
    caching.store(first._question(6), {"tight": 2.0, "online": 1.0})  # type: ignore[attr-defined]
    assert dw.best(world, 2.3, length=None).chosen(6) == "online"  # type: ignore[attr-defined]
    caching.store(first._question(6), {"tight": 2.0, "faith": 1.0})  # type: ignore[attr-defined]
    assert dw.best(world, 2.3, length=None).chosen(6) == "tight"  # type: ignore[attr-defined]


def in_python(code: str, environment: dict[str, str]) -> str:
    """What a process of its own prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=120).stdout


def test_a_certificate_of_a_faulty_build_is_not_used(cache: Path, tmp_path: Path) -> None:
    """The build has this version, user and cache, and proves too much: with its certificate, ε would be exceeded."""
    build = tmp_path / "build"
    shutil.copytree(Path(dw.__file__).parent, build / "dpwords", ignore=shutil.ignore_patterns("__pycache__", "web"))
    proof = build / "dpwords" / "privacy" / "certificates" / "small_languages.py"
    faulty = re.sub(r"return float\(max\(.*\)", "return 0.0", proof.read_text("utf-8"))
    assert faulty.count("return 0.0") == 1
    proof.write_text(faulty, encoding="utf-8")
    code = (
        "import dpwords as dw; from dpwords.core.limits import Limits; "
        "world = dw.GridWorld(3, 3).by_states(); "
        "print(dw.Exponential(world, 1.0, limits=Limits(worth_keeping=0.0)).certificate(3))"
    )
    environment = os.environ | {"PYTHONPATH": str(build)}
    assert in_python(code, environment).startswith("Certificate(c=0.99")
    assert len(files(cache)) == 1
    mechanism = dw.Exponential(CELLS, 1.0, limits=ALL)
    assert dw.audit.exact(mechanism, 3).epsilon <= 1.0
    assert len(files(cache)) == 2  # the honest one stands beside it


def test_nothing_is_cached_by_code_that_is_replaced_with_older_files(cache: Path, tmp_path: Path) -> None:
    """As `cp -p`, `rsync -t` and `tar` do, which keep the time of writing: what runs is not what is on the disk."""
    build = tmp_path / "build"
    shutil.copytree(Path(dw.__file__).parent, build / "dpwords", ignore=shutil.ignore_patterns("__pycache__", "web"))
    code = (
        "import os, sys, dpwords as dw; from dpwords.core import cache as caching; from pathlib import Path\n"
        "if len(sys.argv) > 1: caching.store('first', {'c': 1})\n"
        "position = Path(dw.__file__).parent / 'privacy' / 'utilities.py'\n"
        "position.write_text('', encoding='utf-8'); os.utime(position, (0, 0))\n"
        "caching.store('second', {'c': 1})"
    )
    environment = os.environ | {"PYTHONPATH": str(build)}
    for arguments, expected in (((), 0), (("first",), 1)):
        shutil.copytree(Path(dw.__file__).parent / "privacy", build / "dpwords" / "privacy", dirs_exist_ok=True)
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, env=environment, timeout=120)
        assert len(files(cache)) == expected


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """The files of an installation, older than this process."""
    for package in PACKAGES:
        write_code(tmp_path / package / "code.py", "x = 1")
    return tmp_path


def write_code(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (0, 0))
    caching.build.cache_clear()


@pytest.mark.parametrize("package", PACKAGES)
def test_a_question_is_for_one_build(code: Path, package: str) -> None:
    before = caching.build(code, LATER)
    assert before is not None
    assert {version("numpy"), version("numba"), dw.__version__} <= set(before.split())
    write_code(code / package / "code.py", "x = 2")
    assert caching.build(code, LATER) not in (None, before)
    write_code(code / package / "code.py", "x = 1")
    assert caching.build(code, LATER) == before
    write_code(code / package / "more.py", "")
    assert caching.build(code, LATER) not in (None, before)


def test_nothing_is_cached_by_code_that_is_not_known(
    code: Path, cache: Path, searches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was replaced while it runs, or there are no files of it to read."""
    os.utime(code / "core" / "code.py", (2 * LATER, 2 * LATER))
    assert caching.build(code, LATER) is None
    assert caching.build(code / "package.zip", LATER) is None
    monkeypatch.setattr(caching, "build", lambda: None)
    assert certificate() == certificate()
    assert searches == ["_best_for_all"] * 2
    assert not cache.exists()


def test_asking_the_cache_loads_nothing_heavy(cache: Path) -> None:
    code = "import sys; from dpwords.core import cache; cache.cached('?'); print({'numba', 'numpy'} & set(sys.modules))"
    assert in_python(code, dict(os.environ)) == "set()\n"


@pytest.mark.parametrize("tagged", [False, True])
def test_a_forged_choice_of_a_mechanism_is_made_anew(cache: Path, tagged: bool) -> None:
    world = dw.GridWorld(4, 4)
    honest = dw.best(world, 2.3, length=None).compared(6)  # type: ignore[attr-defined]
    (file,) = (file for file in files(cache) if '"online"' in file.read_text("utf-8"))
    document = json.loads(file.read_text("utf-8"))
    forged = {"tight": honest["online"], "online": honest["tight"]}
    file.write_text(json.dumps(document | forged if tagged else forged), encoding="utf-8")
    assert dw.best(world, 2.3, length=None).compared(6) == honest  # type: ignore[attr-defined]
    assert json.loads(file.read_text("utf-8")) == document  # and cached again


def test_a_huge_file_is_not_read(cache: Path, searches: list[str]) -> None:
    """It holds the honest certificate, and a terabyte of spaces: who reads all of it runs out of memory."""
    honest = certificate()
    (file,) = files(cache)
    whole = file.read_bytes()
    with file.open("ab") as opened:
        opened.truncate(2**40)
    assert certificate() == honest
    assert file.read_bytes() == whole
    assert searches == ["_best_for_all"] * 2


def test_on_the_command_line(cache: Path) -> None:
    word = " ".join(["0,1", "0,0"] * 5)
    options = ("release", word, "--system", "grid:3x3", "--words", "states", "-e", "4")
    assert started(*options, "--no-cache").returncode == 0
    assert not cache.exists()
    assert started(*options).returncode == 0
    assert (cache / "key").exists()
    before = files(cache)
    assert started(*options).returncode == 0
    assert set(before) <= set(files(cache))
    assert "--certificate-time must be" in refused(*options, "--certificate-time", "-1")
