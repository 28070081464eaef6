"""Work on arrays in several threads at once; the result is the same for any number of them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

_WORTH_A_THREAD = 2**17  # steps; a thread takes about as long to start


def in_parts(work: Callable[[slice], None], number: int, cost: int, most: int) -> None:
    """Do the work for rows 0, …, number − 1, each of `cost` steps, in at most `most` threads where that pays."""
    threads = min(most, number, number * cost // _WORTH_A_THREAD)
    if threads < 2:
        work(slice(0, number))
        return
    ends = [number * part // threads for part in range(threads + 1)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, map(slice, ends[:-1], ends[1:])))
