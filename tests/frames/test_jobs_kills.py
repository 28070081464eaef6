"""Runs that are killed with SIGKILL, at random moments and at every operation on files, and then resumed.

`make kills` sets DPWORDS_KILLS to a larger number of random kills.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import random
import signal
import sys
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import jobs
from jobs import KEY, job

KILLS = int(os.environ.get("DPWORDS_KILLS", "40"))


@pytest.fixture(scope="module")
def processes() -> ForkServerContext:
    """Processes that begin with everything imported, so that a kill hits the run and not its imports."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["jobs", "numba", "pyarrow.parquet", "dpwords.mechanisms.exponential"])
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # the server that imports them is not told where this process finds them
        patch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
        forkserver.ensure_running()
    return context


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Parquet file of several batches."""
    path = tmp_path_factory.mktemp("words") / "in.parquet"
    letters = np.random.default_rng(1).choice(np.frombuffer(b"acgt", dtype=np.uint8), size=(100_000, 10))
    pq.write_table(pa.table({"n": range(100_000), "w": [row.tobytes().decode() for row in letters]}), path)
    return path


def state_of(target: Path) -> Path:
    return target.with_name(f".{target.name}.dpwords")


def is_begun(target: Path) -> bool:
    return (state_of(target) / "run.json").exists()


def secret_of(target: Path) -> bytes | None:
    """The key of an unfinished release, once it is bound to it; None if it is the user's own."""
    key = state_of(target) / "key"
    return key.read_bytes() if is_begun(target) and key.exists() else None


def test_kills_at_random_moments(processes: ForkServerContext, words: Path, tmp_path: Path) -> None:
    """Each run is killed again and again until it comes to its end, and then gives what it would have given."""
    chance, kills, longest = random.Random(7), 0, 0.5
    while kills < KILLS:
        target, (key, id) = tmp_path / "killed.parquet", chance.choice([(KEY, "n"), (None, None)])
        secret: bytes | None = key
        while not target.exists() or is_begun(target):
            process = processes.Process(
                target=jobs.run, args=(job(words, target, id=id), key, True), kwargs={"save_after": -1}
            )
            process.start()
            process.join(chance.uniform(0, longest))  # seconds; adapted so that most runs are killed, but not all
            process.kill()
            process.join()
            assert process.exitcode in (0, -signal.SIGKILL)
            kills += process.exitcode != 0
            longest *= 0.8 if process.exitcode == 0 else 1.05
            secret = secret_of(target) or secret
        if secret is not None:
            jobs.run_with_own_key(job(words, tmp_path / "whole.parquet", id=id), secret)
            assert target.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
        assert pq.ParquetFile(target).metadata.num_rows == 100_000
        target.unlink()
    assert sorted(set(os.listdir(tmp_path)) - {".killed.parquet.dpwords"}) == ["whole.parquet"]


def test_kills_at_every_operation(processes: ForkServerContext, tmp_path: Path) -> None:
    """The process dies when it begins its n-th operation on files, for every n, and so does a first try to resume."""
    source, chance = tmp_path / "in.csv", random.Random(3)
    source.write_text("id,w\n1,gattaca\n2,acgt\n3,tt\n", encoding="utf-8")

    def ended(moment: int, *arguments: Any) -> int | None:
        process = processes.Process(target=jobs.killed_at, args=(moment, *arguments), kwargs={"save_after": -1})
        process.start()
        process.join()
        return process.exitcode

    bound = 0
    for moment in itertools.count(1):
        target = tmp_path / f"out{moment}.csv"
        code = ended(moment, job(source, target))
        if code == 0:
            break
        assert code == -signal.SIGKILL
        secret, once = secret_of(target), target.read_bytes() if target.exists() else None
        if chance.random() < 0.5:
            ended(chance.randrange(1, moment + 1), job(source, target), None, True)
        assert secret is None or secret_of(target) in (secret, None)
        jobs.run(job(source, target), resume=True)
        if secret is not None:
            bound += 1
            jobs.run_with_own_key(job(source, tmp_path / "whole.csv"), secret)
            assert target.read_bytes() == (tmp_path / "whole.csv").read_bytes()
        assert once in (None, target.read_bytes())  # what was in position stays as it is
        assert len(target.read_text("utf-8").splitlines()) == 4
    assert bound > 10
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
