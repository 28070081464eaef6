"""Memory that a process may still take: what its own limit, its container and the machine leave."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

_LITTLE, _RESERVED = 2**26, 2**28  # bytes
_LIBRARIES = 2**30  # bytes of address space, most of it no memory, that imports and compiled code take
_GROUPS = Path("/sys/fs/cgroup")
_OF_A_GROUP = {  # the files with the limit and the use of a group of processes, in both versions of cgroups
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def available() -> float:
    """The number of bytes that this process may still take; infinity where nothing is known.

    It is the least of what three limits leave: that of the address space (`ulimit -v`), those of the containers that
    the process runs in, and the machine's memory. Cost: a fraction of a millisecond.
    """
    if sys.platform != "linux":
        return math.inf
    return min(address_space(), *_of_containers(), _of_machine())


def at_most(limit: int, wanted: int) -> int:
    """The limit of memory for tables, or what is left for them where that is less.

    Up to 64 MiB, the limit holds as it is. Of what is left, 256 MiB are reserved for the compiler and all else.
    """
    return limit if wanted <= _LITTLE else int(min(limit, max(available() - _RESERVED, 0)))


def check_memory(needed: int) -> None:
    """Raise `MemoryError` if there is less memory left than the needed number of bytes.

    A container or a machine that runs out of memory ends the process; this makes it an error before that happens.
    """
    if needed > at_most(needed, needed):
        raise MemoryError


def address_space() -> float:
    """The number of bytes of address space that this process may still take; infinity where it has no limit."""
    if sys.platform != "linux":
        return math.inf
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if most == resource.RLIM_INFINITY else most - _taken()


def limit_address_space(more: int) -> None:
    """Let this process take at most so many bytes of address space more, or half of what is left and 1 GiB if that is
    less.

    What is beyond it fails with `MemoryError`, before the machine or the container runs out of memory. A stricter limit
    stays. On other systems than Linux nothing happens.
    """
    if sys.platform != "linux":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _taken() + int(min(more, available() / 2 + _LIBRARIES))
    if soft == resource.RLIM_INFINITY or most < soft:
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def _taken() -> int:
    """The number of bytes of this process's address space, on Linux."""
    import resource

    return int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()


def _of_containers(processes: Path = Path("/proc/self/cgroup"), groups: Path = _GROUPS) -> Iterator[float]:
    """What the group of this process leaves, and each group around it that can be seen from here."""
    for line in _lines(processes):
        _, controllers, name = line.split(":", 2)
        for controller in {*controllers.split(",")} & {*_OF_A_GROUP}:
            innermost = groups / controller / name.strip("/")
            for group in (innermost, *innermost.parents):
                if group.is_relative_to(groups / controller):
                    yield _of_group(group, *_OF_A_GROUP[controller])


def _of_group(group: Path, limit: str, use: str, unused: str) -> float:
    """The limit less the use; files that the system keeps in memory and can drop do not count as used."""
    most, used = (next(iter(_lines(group / name)), "").strip() for name in (limit, use))
    if not most.isdigit() or not used.isdigit():  # there is no such file, or no limit
        return math.inf
    dropped = dict(line.split() for line in _lines(group / "memory.stat")).get(unused, 0)
    return int(most) - int(used) + int(dropped)


def _of_machine() -> float:
    """The memory that the machine can still give without using what others need, and its free swap space."""
    sizes = {name: size.split()[0] for name, _, size in (line.partition(":") for line in _lines(Path("/proc/meminfo")))}
    if not {"MemAvailable", "SwapFree"} <= {*sizes}:
        return math.inf
    return 1024 * (int(sizes["MemAvailable"]) + int(sizes["SwapFree"]))


def _lines(path: Path) -> list[str]:
    """The lines of a file, none if it cannot be read."""
    try:
        return path.read_text("ascii").splitlines()
    except OSError:
        return []
