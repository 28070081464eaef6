"""Work on arrays in several threads at once; the result is the same for any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

MOST = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_WORTH_A_THREAD = 2**17  # steps; a thread takes about as long to start


def in_parts(work: Callable[[slice], None], number: int, cost: int) -> None:
    """Do the work for rows 0, …, number − 1, each of so many steps, in parts where that pays."""
    threads = min(MOST, number, number * cost // _WORTH_A_THREAD)
    if threads < 2:
        work(slice(0, number))
        return
    ends = [number * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, map(slice, ends[:-1], ends[1:])))
