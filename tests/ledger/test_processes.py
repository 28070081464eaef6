"""The ledger under processes and threads that hammer it, and under processes that are killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import dpwords as dw

PROMISE = dw.Exponential(dw.Words("ab"), epsilon=0.1).guarantee

HAMMER = """
import multiprocessing, sys
import dpwords as dw

def meet(barrier):
    global together
    together = barrier

def hammer(number):
    promise = dw.Exponential(dw.Words("ab"), epsilon=0.1).guarantee
    together.wait()
    ledger = dw.Ledger(sys.argv[1], budget=4)
    paid = {"ann": 0, "others": 0}
    for whom, id, amount in 40 * [("ann", "ann", 0.1)] + [("others", str(other), 4) for other in range(100)]:
        try:
            ledger.charge({id: amount}, promise)
            paid[whom] += 1
        except dw.InvalidValue as error:
            assert "with 0 left" in str(error), error
    return paid

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    with context.Pool(4, meet, (context.Barrier(4),)) as pool:
        paid = pool.map(hammer, range(4), chunksize=1)
        print(sum(each["ann"] for each in paid), sum(each["others"] for each in paid))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_hammer_one_id_never_exceed_the_budget(tmp_path: Path, method: str) -> None:
    """Four processes race to make the file, to pay 0.1 for ann 40 times each, and all the budget of 100 others."""
    script, path = tmp_path / "hammer.py", tmp_path / "ledger.db"
    script.write_text(HAMMER, encoding="utf-8")
    command = [sys.executable, str(script), str(path), method]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "40 100\n"
    assert {each.spent for each in dw.Ledger(path).accounts()} == {4.0}


def test_threads_that_proportion_a_ledger_never_exceed_the_budget(tmp_path: Path) -> None:
    ledger = dw.Ledger(tmp_path / "ledger.db", budget=2)

    def paid(number: int) -> bool:
        try:
            ledger.charge({number // 8: 2}, PROMISE)
        except dw.InvalidValue:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(paid, range(8 * 30))) == 30
    assert {each.spent for each in ledger.accounts()} == {2.0}


def test_a_run_that_two_processes_resume_pays_once(tmp_path: Path) -> None:
    ledger = dw.Ledger(tmp_path / "ledger.db", budget=2)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(ledger.charge, {"ann": 2}, PROMISE, run="may") for _ in range(20)]:
            done.result()
    assert ledger.spent("ann") == 2


def test_a_process_killed_before_the_draw_has_paid(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    script = """
import os, signal, sys
import dpwords as dw
mechanism = dw.Exponential(dw.Words("ab"), epsilon=0.5)
dw.Ledger(sys.argv[1], budget=1).charge({"ann": 0.5}, mechanism.guarantee, run="may")
os.kill(os.getpid(), signal.SIGKILL)
print(mechanism.release("abab"))
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, b"")
    ledger = dw.Ledger(path, budget=1)
    assert ledger.spent("ann") == 0.5
    ledger.charge({"ann": 0.5}, PROMISE, run="may")  # the run is resumed
    assert ledger.spent("ann") == 0.5


def test_kills_at_any_moment_lose_no_charge(tmp_path: Path) -> None:
    """What was reported as paid is in the ledger; at most the one charge that was not yet reported is there as well."""
    path = tmp_path / "ledger.db"
    script = """
import os, sys
import dpwords as dw
promise = dw.Exponential(dw.Words("ab"), epsilon=0.1).guarantee
ledger = dw.Ledger(sys.argv[1])
while True:
    ledger.charge({f"{person}": 0.001 for person in range(100)}, promise)
    os.write(1, b".")
"""
    reported = killed = 0
    for kill in range(8):
        with subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            reported += len(os.read(process.stdout.fileno(), 1))
            reported += sum(len(os.read(process.stdout.fileno(), 1)) for _ in range(kill))
            process.kill()
            reported += len(process.stdout.read())
        killed += process.returncode == -signal.SIGKILL
        counts = {round(each.spent * 1000) for each in dw.Ledger(path).accounts()}
        assert len(counts) == 1  # each charge is there for all ids or for none
        assert reported <= counts.pop() <= reported + kill + 1
    assert killed == 8


def test_a_charge_that_does_not_fit_on_the_disk_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    script = """
import os, resource, sys
import dpwords as dw
promise = dw.Exponential(dw.Words("ab"), epsilon=0.1).guarantee
ledger = dw.Ledger(sys.argv[1])
ledger.charge({"ann": 1}, promise)
size = os.path.getsize(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50_000, size + 50_000))
try:
    ledger.charge(dict.fromkeys(map(str, range(10_000)), 1), promise)
except dw.InvalidValue as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)
    assert "ledger.db cannot be" in done.stdout
    ledger = dw.Ledger(path)
    assert [each.id for each in ledger.accounts()] == ["ann"]
    ledger.charge({"bob": 1}, PROMISE)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any file")
def test_a_ledger_that_may_not_be_written_can_be_read(tmp_path: Path) -> None:
    ledger = dw.Ledger(tmp_path / "ledger.db", budget=2)
    ledger.charge({"ann": 1}, PROMISE)
    ledger.path.chmod(0o400)
    assert dw.Ledger(ledger.path, budget=2).spent("ann") == 1
    with pytest.raises(dw.InvalidValue, match=r"ledger.db may not be written: allow it"):
        ledger.charge({"ann": 1}, PROMISE)
    ledger.path.chmod(0)
    with pytest.raises(dw.InvalidValue, match=r"ledger.db cannot be opened: check the path"):
        ledger.spent("ann")
