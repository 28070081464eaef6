"""Work on the rows of arrays in several threads; the result does not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_WORTH_A_THREAD = 2**17  # steps that take about as long as starting a thread


def in_parts(work: Callable[[slice], None], number: int, cost: int, most: int) -> None:
    """Call `work` on slices that together cover rows 0, …, number − 1, in up to `most` threads if that is faster.

    `cost` is the number of steps that one row takes.
    """
    threads = min(most, number, number * cost // _WORTH_A_THREAD)
    if threads < 2:
        work(slice(0, number))
        return
    ends = [number * part // threads for part in range(threads + 1)]
    pool = ThreadPoolExecutor(threads)
    try:
        list(pool.map(work, map(slice, ends[:-1], ends[1:])))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)  # after Ctrl-C, nobody waits for the rest
