"""The only place that loads compiled loops, and that decides where plain Python or several threads are faster.

A *kernel* is a file of loops over arrays in `_kernels/`. Importing the compiler takes half a second, so kernels are
loaded by name when they are first needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import dpwords._kernels
from dpwords._kernels.compiler import INTERPRETED
from dpwords.core.tuning import FEW_STEPS, WORTH_A_THREAD

_STEPS_SO_FAR: Counter[str] = Counter()  # both kinds of loops give the same results, so this affects time only


def kernel(name: str) -> Any:
    """The compiled loops of a file in `_kernels`."""
    return import_module(f"dpwords._kernels.{name}")


@cache
def interpreted(name: str) -> Any:
    """The same loops as plain Python: the same operations in the same order, hence the same results, bit for bit."""
    path = Path(dpwords._kernels.__path__[0], f"{name}.py")
    spec = spec_from_file_location(f"{INTERPRETED}{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_for(name: str, steps: int) -> Any:
    """The loops for a task of so many steps: interpreted while a process has done few steps, compiled from then on.

    A process that releases a single short run therefore never waits for the compiler.
    """
    if _STEPS_SO_FAR[name] + steps <= FEW_STEPS:
        _STEPS_SO_FAR[name] += steps
        return interpreted(name)
    return kernel(name)


def in_parts(work: Callable[[slice], None], number: int, cost: int, most: int) -> None:
    """Call `work` on slices that together cover rows 0, …, number − 1, in up to `most` threads if that is faster.

    `cost` is the number of steps that one row takes.
    """
    threads = min(most, number, number * cost // WORTH_A_THREAD)
    if threads < 2:
        work(slice(0, number))
        return
    from concurrent.futures import ThreadPoolExecutor

    ends = [number * part // threads for part in range(threads + 1)]
    pool = ThreadPoolExecutor(threads)
    try:
        list(pool.map(work, map(slice, ends[:-1], ends[1:])))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C, nobody waits for the rest
