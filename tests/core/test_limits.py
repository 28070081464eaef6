"""How much memory a process may still take, by its own limit and by those of its containers."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from dpwords.core.limits import _of_containers, at_most, available, check_memory

GIB = 2**30


def written(folder: Path, **files: object) -> None:
    """A folder with files, each dot of a name written as two underscores."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(f"{content}\n", encoding="ascii")


def left(tmp_path: Path, lines: str) -> float:
    (tmp_path / "cgroup").write_text(lines, encoding="ascii")
    return min(_of_containers(tmp_path / "cgroup", tmp_path / "groups"))


def test_what_a_container_leaves(tmp_path: Path) -> None:
    """Its own group has no limit, but the one around it has; files that can be dropped from memory are not in use."""
    groups = tmp_path / "groups"
    written(groups / "jobs" / "one", memory__max="max", memory__current=5 * GIB)
    written(groups / "jobs", memory__max=8 * GIB, memory__current=6 * GIB, memory__stat=f"anon 9\ninactive_file {GIB}")
    assert left(tmp_path, "0::/jobs/one\n") == 3 * GIB


def test_the_older_kind_of_containers(tmp_path: Path) -> None:
    """Inside such a container the group has the name that it has outside, and is seen as the outermost one."""
    use = {"memory__limit_in_bytes": GIB, "memory__usage_in_bytes": 1000}
    written(tmp_path / "groups" / "memory", **use, memory__stat="inactive_file 5\ntotal_inactive_file 7")
    assert left(tmp_path, "9:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/\n") == GIB - 1000 + 7


@pytest.mark.parametrize("lines", ["0::/\n", "0::/../..\n", "4:memory:/\n"])
def test_without_a_limit_there_is_no_bound(tmp_path: Path, lines: str) -> None:
    assert left(tmp_path, lines) == math.inf


@pytest.mark.skipif(sys.platform != "linux", reason="the limits are read on Linux")
def test_the_memory_of_this_process() -> None:
    """It has some, and not more than the machine has; with an address space of its own limit, not more than that."""
    total = next(line for line in Path("/proc/meminfo").read_text("ascii").splitlines() if line.startswith("MemTotal"))
    swap = next(line for line in Path("/proc/meminfo").read_text("ascii").splitlines() if line.startswith("SwapTotal"))
    assert 0 < available() <= 1024 * (int(total.split()[1]) + int(swap.split()[1]))
    code = """
import resource
from dpwords.core.limits import address_space, available
resource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))
print(2**28 < address_space() < 2**29, available() <= address_space())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_what_is_more_than_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 1 GiB, a quarter is reserved for all but tables; 64 MiB are always allowed."""
    monkeypatch.setattr("dpwords.core.limits.available", lambda: GIB)
    assert at_most(2 * GIB, GIB) == GIB - GIB // 4
    assert at_most(GIB // 2, GIB) == GIB // 2
    assert at_most(2 * GIB, 2**26) == 2 * GIB
    check_memory(3 * GIB // 4)
    with pytest.raises(MemoryError):
        check_memory(3 * GIB // 4 + 1)
