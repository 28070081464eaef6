"""Little memory, a full disk, and an installation and a home that nobody may write to."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from paths import HELPERS

GIB = 2**30
SOURCE = Path(dw.__file__).parents[1]
ROOT = os.name == "posix" and os.geteuid() == 0
LETTERS = ("--alphabet", "ab", "-e", "2")
NO_MEMORY = "dpwords: there is not enough memory for this: use a shorter word or a smaller system\n"


def dpwords(*arguments: str, stdin: str = "", **options: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "dpwords", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )


def test_operations_that_need_too_much_memory_are_too_large() -> None:
    program = HELPERS / "little_memory.py"
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    outcomes = json.loads(done.stdout)
    assert len(outcomes) > 12
    assert set(outcomes.values()) == {NO_MEMORY.replace("dpwords", "TooLarge", 1).strip()}, outcomes


def within_one_gib() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))


def test_commands_within_one_gib_of_address_space(tmp_path: Path) -> None:
    """What fits works, and what does not is refused in one line: no kill, no traceback, nothing half-written."""
    options = {"preexec_fn": within_one_gib, "cwd": tmp_path}
    assert dpwords("release", "EESS", "--system", "grid:6x6", "-e", "2", **options).returncode == 0
    inverse = ("--system", "grid:15x15", "-e", "2", "--utility", "inverse", "--quiet")
    (tmp_path / "long.jsonl").write_text(json.dumps({"w": "ESWN" * 1000}) + "\n", encoding="utf-8")
    pq.write_table(pa.table({"w": pa.array(["a" * 2**28])}), tmp_path / "bomb.parquet", compression="zstd")
    assert (tmp_path / "bomb.parquet").stat().st_size < 2**17
    with (tmp_path / "line.csv").open("wb") as file:
        file.write(b"w\n")
        file.truncate(10 * GIB)  # one line, of which the disk stores nothing
    before = sorted(tmp_path.iterdir())
    for arguments, stdin, said in (
        (("release", *inverse), "ESWN" * 1000, NO_MEMORY),
        (("release", "EESS", "--system", "grid:999x999", "-e", "2"), "", NO_MEMORY),
        (("release", *inverse, "--input", "long.jsonl", "--column", "w", "--output", "o.jsonl"), "", NO_MEMORY[:-1]),
        (("release", *LETTERS, "--input", "bomb.parquet", "--column", "w", "--output", "o.csv"), "", "dpwords: bomb"),
        (("release", *LETTERS, "--input", "line.csv", "--column", "w", "--output", "o.csv"), "", "dpwords: line 2 of"),
        (
            ("estimate", *LETTERS, "--input", "line.csv", "--column", "w", "--question", "lengths"),
            "",
            "dpwords: line 2",
        ),
        (("audit", *LETTERS, "--length", "40"), "", "dpwords: there are about 10^12 words"),
    ):
        done = dpwords(*arguments, stdin=stdin, **options)
        assert (done.returncode, done.stdout) == (2, ""), (arguments, done)
        assert done.stderr.startswith(said), done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
        unfinished = "--resume" in done.stderr
        assert [path.name for path in tmp_path.iterdir() if path not in before] == [".o.jsonl.dpwords"] * unfinished
        shutil.rmtree(tmp_path / ".o.jsonl.dpwords", ignore_errors=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A directory for a file system of 256 KiB, which `on_small_disk` mounts."""
    if not ROOT or shutil.which("unshare") is None:
        pytest.skip("only root can mount a file system")
    position = tmp_path / "disk"
    position.mkdir()
    return position


def on_small_disk(position: Path, steps: str, **environment: str) -> list[str]:
    """Run a script in which a small file system is mounted, and nobody else sees it; the lines that it prints."""
    script = f"set -u; mount -t tmpfs -o size=256k none {position}; cd {position}; {steps}"
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PY": sys.executable, **environment},
    )
    if "permission denied" in done.stderr.lower():
        pytest.skip("no file system can be mounted here")
    return (done.stdout + done.stderr).splitlines()


def test_a_full_disk(small_disk: Path, tmp_path: Path) -> None:
    """Each command that writes is refused in one line, leaves nothing behind, and the ledger stays as it was."""
    rows = "\n".join(f"p{number % 7},{'abba' * 25}" for number in range(9000))
    (tmp_path / "words.csv").write_text(f"who,w\n{rows}\n", encoding="utf-8")
    release = f"$PY -m dpwords release --alphabet ab -e 2 -q --input {tmp_path}/words.csv --column w --by who"
    few = "$PY -m dpwords release --alphabet ab -e 2 -q --input few.csv --column w --by who --ledger led.db"
    answers = "--alphabet ab -e 2 --input few.csv --column w --question frequencies --per-place"
    said = on_small_disk(
        small_disk,
        f"""
        printf 'who,w\\nann,abba\\nbob,abab\\n' > few.csv
        {few} --output good.csv; echo "code $?"
        $PY -m dpwords ledger show led.db > before
        head -c 60000 /dev/zero > filling
        {release} --output out.csv; echo "code $?"
        {release} --output out.parquet --ledger led.db; echo "code $?"
        head -c 1000000 /dev/zero > more 2>/dev/null
        {few} --output again.csv; echo "code $?"
        $PY -m dpwords estimate {answers} --output e.json; echo "code $?"
        $PY -m dpwords draw abab --alphabet ab -k 2 --output d.svg; echo "code $?"
        $PY -m dpwords accuracy --alphabet ab --length 4 -e 1 --plot p.svg > shown; echo "code $?"
        $PY -m dpwords release --system grid:3x3 --words states "0,1 0,2" -e 2 -q --certificates c.json; echo "code $?"
        $PY -m dpwords release abab --alphabet ab -e 2 -q > words; echo "code $?"
        rm more filling shown words
        $PY -m dpwords ledger show led.db | cmp - before && echo same
        ls -A
        """,
        DPWORDS_CACHE=str(small_disk / "kept"),
    )
    codes = [line for line in said if line.startswith("code")]
    messages = [line for line in said if line.startswith("dpwords: ")]
    assert codes == ["code 0"] + ["code 2"] * 8, said
    assert len(messages) == 8, said
    assert all("No space left on device" in line or "disk" in line for line in messages), said
    assert not [line for line in said if "Traceback" in line], said
    assert "same" in said
    assert set(said) >= {"few.csv", "good.csv", "led.db"}
    left = [line for line in said if line.startswith((".", "out", "again", "e.json", "d.svg", "p.svg", "c.json"))]
    assert left == [".out.csv.dpwords"]  # a run that --resume finishes, as its message says
    assert messages[0].endswith("make room, then finish it with --resume")


def test_caches_on_a_full_disk_are_done_without(small_disk: Path) -> None:
    said = on_small_disk(
        small_disk,
        """
        head -c 1000000 /dev/zero > filling 2>/dev/null
        $PY -m dpwords release "0,1 0,2 1,2" --system grid:3x3 --words states -e 200 -q; echo "code $?"
        """,
        DPWORDS_CACHE=str(small_disk / "kept"),
        NUMBA_CACHE_DIR=str(small_disk / "compiled"),
    )
    assert said == ["0,1 0,2 1,2", "code 0"]


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ("release EESS --system grid:4x4 -e 200 -q", "EESS\n"),
        ("release '0,1 0,2' --system grid:4x4 --words states -e 200 -q", "0,1 0,2\n"),
        ("audit --alphabet ab --length 3 -e 1", "the claim holds"),
        ("accuracy --system grid:4x4 --length 5 -e 2", "expected distance"),
    ],
)
def test_nothing_can_be_written(arguments: str, printed: str, small_disk: Path, tmp_path: Path) -> None:
    """The installation, the home and the current directory are on file systems that are read-only even for root."""
    package = tmp_path / "installed"
    shutil.copytree(SOURCE / "dpwords", package / "dpwords", ignore=shutil.ignore_patterns("__pycache__"))
    lines = on_small_disk(
        small_disk,
        f"""
        mount -o remount,ro {small_disk}
        mount --bind {package} {package}; mount -o remount,ro,bind {package}
        touch {package}/x 2>/dev/null && echo "can be written"
        $PY -m dpwords {arguments}; echo "code $?"
        """,
        HOME=str(small_disk),
        PYTHONPATH=str(package),
        XDG_CACHE_HOME="",
        DPWORDS_CACHE=str(small_disk / "kept"),
    )
    assert "code 0" in lines, lines
    assert printed in "".join(f"{line}\n" for line in lines)
    assert not [line for line in lines if "Traceback" in line or line == "can be written"]
