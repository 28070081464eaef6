"""Operations that ask for more memory than there is, for `test_faults.py`: what each of them raises, as JSON.

Each operation first runs on something small, so that code is imported and compiled. Then the process may take only
little more address space than it has, and the operation runs on something large.
"""

from __future__ import annotations

import json
import resource
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import dpwords as dw

LITTLE = 48 * 2**20  # bytes
WORDS, WORLD = dw.Words("abcd"), dw.GridWorld(15, 15)
FREE, RUNS = dw.Exponential(WORDS, 1.0), dw.Exponential(WORLD, 1.0)
SHELLS = dw.Exponential(WORLD, 1.0, utility=dw.Inverse(1.0))


def moves(size: int) -> str:
    return "ESWN" * size


def codes(size: int) -> Any:
    return np.zeros((size, 20), dtype=np.uint8)


def table(size: int) -> Any:
    return pa.table({"w": pa.array(["abcd"]).take(pa.array(np.zeros(size, dtype=np.int8)))})


def system(size: int) -> object:
    with tempfile.TemporaryDirectory() as position:
        path = Path(position) / "large.json"
        with path.open("wb") as file:
            file.truncate(size)
        return dw.from_json(path)


OPERATIONS: dict[str, tuple[Callable[[Any], object], Callable[[int], Any], int, int]] = {
    "a grid": (lambda size: dw.GridWorld(size, size), int, 2, 1000),
    "a system": (lambda rows: dw.TransitionSystem(rows, start=0), lambda n: {0: dict.fromkeys(range(n), 0)}, 2, 10**6),
    "a file": (system, int, 1, 2**27),
    "release": (SHELLS.release, moves, 2, 700),
    "release_all": (FREE.release_all, lambda size: ["abcd"] * size, 2, 4 * 10**6),
    "release_codes": (FREE.release_codes, codes, 2, 10**7),
    "release_codes, runs": (RUNS.release_codes, codes, 2, 10**7),
    "given": (SHELLS.given, moves, 2, 700),
    "simulate": (lambda size: FREE.simulate("abcd" * 10, size), int, 2, 2 * 10**6),
    "expected_distance": (lambda size: SHELLS.expected_distance(length=size), int, 4, 1500),
    "distance_distribution": (lambda size: FREE.distance_distribution("ab" * size), int, 4, 10**7),
    "certificate": (lambda size: dw.Exponential(dw.GridWorld(size, 9).by_states(), 4.0).certificate(9), int, 2, 60),
    "estimate": (lambda rows: dw.estimate.frequencies(rows, FREE), codes, 50, 10**7),
    "a table": (lambda some: dw.frames.release(FREE, some, "w"), table, 2, 10**7),
}


def outcome(work: Callable[[Any], object], made_of: Callable[[int], Any], small: int, large: int) -> str:
    """The name and the text of what the operation raises when there is little memory."""
    with suppress(dw.InvalidValue):
        work(made_of(small))
    much = made_of(large)
    taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + LITTLE, resource.RLIM_INFINITY))
    try:
        work(much)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "nothing"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({name: outcome(*operation) for name, operation in OPERATIONS.items()}))
