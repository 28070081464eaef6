"""Errors of the disk and of memory at every operation on files: nothing is half-written, lost, or spent twice."""

from __future__ import annotations

import errno
import itertools
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpwords as dw
import jobs
from commands import run
from dpwords.core.cache import build, cached, store
from dpwords.core.files import write_whole
from dpwords.errors import NO_MEMORY, DPWordsError, InvalidValue
from dpwords.privacy.certificates.certificate import store_certificate
from failing import Failing

ROWS = "id,who,w\n1,ann,gattaca\n2,bob,acgt\n3,ann,tt\n"
SPENT = {"ann": 4.0, "bob": 2.0}  # two words of ann's and one of bob's, at ε = 2
KEY = "5a" * 32
CODES = (errno.ENOSPC, errno.EIO, errno.EACCES)


def disk(of_database: bool) -> Exception:
    """An error of the disk, each time another one."""
    code = next(_CODES)
    return sqlite3.OperationalError("disk I/O error") if of_database else OSError(code, os.strerror(code))


def memory(_of_database: bool) -> Exception:
    return MemoryError()


_CODES = itertools.cycle(CODES)
FAULTS: dict[str, Callable[[int], Failing]] = {
    "disk": lambda moment: Failing(moment, disk),
    "disk, afterwards": lambda moment: Failing(moment, disk, after=True),
    "memory": lambda moment: Failing(moment, memory),
}


class Release:
    """A release from file to file in a folder of its own, with a ledger."""

    def __init__(self, folder: Path, suffix: str, key: str | None = KEY, old: bytes | None = None) -> None:
        folder.mkdir()
        self.source, self.target = folder / "in.csv", folder / f"out.{suffix}"
        self.ledger, self.state = folder / "ledger.db", folder / f".out.{suffix}.dpwords"
        self.receipt, self.keyed, self.old = folder / f"out.{suffix}.receipt.json", key is not None, old
        self.source.write_text(ROWS, encoding="utf-8")
        if old is not None:
            self.target.write_bytes(old)
        where = ("--input", self.source, "--column", "w", "--id", "id", "--by", "who", "--output", self.target)
        self._arguments = ["release", "--alphabet", "acgt", "-e", "2", "-q", *map(str, where)]
        self._arguments += ["--ledger", str(self.ledger)]
        if key is not None:
            (folder / "key").touch(0o600)
            (folder / "key").write_text(key, encoding="utf-8")
            self._arguments += ["--key-file", str(folder / "key")]

    def run(self, *more: str, within: Any = None) -> tuple[int, str]:
        """The exit code, and what was said."""
        done = run(*self._arguments, *more, within=within)
        assert done.stdout == ""
        return done.returncode, done.stderr

    @property
    def is_begun(self) -> bool:
        return (self.state / "run.json").exists()

    def check_after(self, code: int, said: str) -> None:
        """After a fault: one line, and no key of any use, or that others than the owner can read."""
        assert code in (0, 2), said
        assert (said.count("\n"), said.startswith("dpwords: ")) == ((1, True) if code else (0, False)), said
        assert self.source.read_text("utf-8") == ROWS
        assert not self.state.exists() or self.state.stat().st_mode & 0o077 == 0
        key = self.state / "key"
        if key.exists():
            assert key.stat().st_mode & 0o077 == 0
            assert self.is_begun or not key.read_bytes().strip(b"\0")

    def finish(self) -> None:
        """Finish it, or do it again if nothing was begun or done."""
        if self.is_begun or self.output in (None, self.old):
            code, said = self.run(*["--resume"] * self.is_begun)
            assert (code, said) == (0, "")
        assert {each.id: each.spent for each in dw.Ledger(self.ledger).accounts()} == SPENT
        left = list(self.state.iterdir()) if self.state.exists() else []
        assert [path.name for path in left] in ([], ["lock"])  # where it could not be removed

    @property
    def output(self) -> bytes | None:
        return self.target.read_bytes() if self.target.exists() else None

    @property
    def written(self) -> dict[str, bytes]:
        """The output, and the receipt beside it if it has no place for one."""
        return {path.name: path.read_bytes() for path in (self.target, self.receipt) if path.exists()}


def undisturbed(folder: Path, suffix: str, key: str) -> dict[str, bytes]:
    release = Release(folder, suffix, key)
    assert release.run() == (0, "")
    return release.written


@pytest.mark.parametrize(
    ("fault", "suffix"),
    [
        ("disk", "csv"),
        ("disk", "parquet"),
        ("disk, afterwards", "csv.gz"),
        ("memory", "arrow"),
    ],
)
def test_faults_of_a_release_with_a_key(fault: str, suffix: str, tmp_path: Path) -> None:
    """The output that was there is intact until the new one is in its place, complete."""
    whole = undisturbed(tmp_path / "whole", suffix, KEY)
    failed = set()
    for moment in itertools.count(1):
        release = Release(tmp_path / f"{moment}", suffix, KEY, b"an older output")
        block = FAULTS[fault](moment)
        code, said = release.run(within=block)
        release.check_after(code, said)
        assert release.output in ([] if code == 0 else [release.old]) + [whole[release.target.name]]
        assert not release.receipt.exists() or release.receipt.read_bytes() == whole[release.receipt.name]
        assert (
            code == 0 or fault != "memory" or said.startswith(("dpwords: there is not enough memory", "dpwords: in."))
        ), said
        release.finish()
        assert release.written == whole
        if not block.failed:
            break
        failed.add(block.failed)
    assert failed > {"mkdir", "replace", "chmod", "unlink", "fsync", "BufferedWriter.write", "Connection.execute"}


@pytest.mark.parametrize(("fault", "suffix"), [("disk, afterwards", "csv"), ("memory", "parquet")])
def test_faults_of_a_release_with_a_fresh_key(fault: str, suffix: str, tmp_path: Path) -> None:
    """What was begun is finished with its own key, and nothing is drawn or charged a second time."""
    begun = 0
    for moment in itertools.count(1):
        release = Release(tmp_path / f"{moment}", suffix, None)
        block = FAULTS[fault](moment)
        code, said = release.run(within=block)
        release.check_after(code, said)
        secret = (release.state / "key").read_bytes().hex() if release.is_begun else None
        once = release.output
        release.finish()
        assert once in (None, release.output)
        if secret is not None:
            begun += 1
            assert "--resume" in said, said
            assert release.written == undisturbed(tmp_path / f"whole {moment}", suffix, secret)
        if not block.failed:
            break
    assert begun > 8


def test_what_has_to_survive_a_crash_is_on_the_disk_before_it_counts(tmp_path: Path) -> None:
    """The key, then the facts and their name, before the run is begun; the rest before it is renamed."""
    block = Failing(0, disk)
    assert Release(tmp_path / "run", "csv", None).run(within=block) == (0, "")
    steps = [name.rpartition(".")[2] for name in block.names if name in ("BufferedWriter.write", "fsync", "replace")]
    once = [name for name, same in itertools.groupby(steps) for _ in (list(same) if name == "fsync" else [0])]
    begun = ["write", "fsync", "write", "fsync", "fsync", "replace", "fsync", "fsync"]
    assert once[: len(begun)] == begun
    assert once[len(begun) : len(begun) + 6] == ["write", "fsync", "replace", "fsync", "replace", "fsync"]


def test_faults_while_batches_are_saved(tmp_path: Path) -> None:
    """Batches that took long are saved by the threads that drew them; without them the run is finished all the same."""
    source = tmp_path / "in.csv"
    source.write_text("id,w\n1,gattaca\n2,acgt\n", encoding="utf-8")
    jobs.run(jobs.job(source, tmp_path / "whole.csv", id="id"), jobs.KEY)
    whole = (tmp_path / "whole.csv").read_bytes()
    for fault in ("disk", "memory"):
        for moment in itertools.count(1):
            some, block = jobs.job(source, tmp_path / f"{fault}{moment}.csv", id="id"), FAULTS[fault](moment)
            try:
                with block:
                    jobs.run(some, jobs.KEY, save_after=-1)
            except (DPWordsError, OSError, MemoryError):
                jobs.run(some, jobs.KEY, resume=True, save_after=-1)
            assert Path(some.target).read_bytes() == whole
            if not block.failed:
                break
        assert moment > 30


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_whole_files(fault: str, tmp_path: Path) -> None:
    """`write_whole` leaves each old file or writes each new one, and nothing else."""
    for moment in itertools.count(1):
        folder = tmp_path / f"{moment}"
        folder.mkdir()
        paths = folder / "old", folder / "new" / "deep" / "file"
        paths[0].write_bytes(b"old")
        block, said = FAULTS[fault](moment), ""
        try:
            with block:
                write_whole(dict.fromkeys(paths, b"new"))
        except DPWordsError as error:
            said = str(error)
        assert said in ("", NO_MEMORY) if fault == "memory" else not said or "cannot be written" in said
        left = [path for path in folder.rglob("*") if path.is_file() and path not in paths]
        assert left == [] or block.failed == "unlink"
        assert paths[0].read_bytes() in (b"old", b"new")
        assert not paths[1].exists() or paths[1].read_bytes() == b"new"
        if not block.failed:
            assert all(path.read_bytes() == b"new" for path in paths)
            break
    assert moment > 6


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_certificates(fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Saved ones are all there or none; where the cache cannot be written or read, everything works without."""
    cells = dw.GridWorld(2, 2).by_states()
    assert build() is not None  # which reads all code, once in a process
    for moment in itertools.count(1):
        monkeypatch.setenv("DPWORDS_CACHE", str(tmp_path / f"cache{moment}"))
        mechanism, path = dw.Exponential(cells, 2.0), tmp_path / f"{moment}.json"
        block, raised = FAULTS[fault](moment), None
        try:
            with block:
                found = mechanism.certificate(3)
                store_certificate("another question", found)
                store("a question", {"answer": 1})
                mechanism.certificate.save(path)
        except (InvalidValue, MemoryError) as error:
            raised = error
        assert raised is None or isinstance(raised, MemoryError if fault == "memory" else InvalidValue)
        assert cached("a question") in (None, ({"answer": 1}, True))
        if path.exists():
            dw.Exponential(cells, 2.0).certificate.load(path)
        assert [each for each in tmp_path.iterdir() if each.name.startswith(".")] == []
        key = tmp_path / f"cache{moment}" / "key"
        assert not key.exists() or (key.stat().st_size, key.stat().st_mode & 0o077) == (32, 0)
        if not block.failed:
            assert not [each for each in key.parent.iterdir() if each.name.startswith(".")]
            break
    assert moment > 5
