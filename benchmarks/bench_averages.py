"""Public averages: one batched pass over all averaged words, beside the law of each word on its own, in the same run.

Certificates are made beforehand, so only the averages are timed. Each figure is the best of a few repetitions.

    python benchmarks/bench_averages.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import dpwords as dw
from dpwords.mechanisms.private import Private
from dpwords.spaces.space import Distances, distances_of

EPSILON = 3.0
REPETITIONS = 3


def seconds(work: Callable[[], object]) -> float:
    """The least time of a few repetitions, after one that compiles."""
    work()
    times = []
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def compared(mechanism: Private, length: int, width: int | None) -> dict[str, float]:
    """Milliseconds for all averaged words, in a batch and one by one, and the largest difference of the results."""
    rows, _ = mechanism._space.typical(length)

    def one_by_one() -> Distances:
        return distances_of((mechanism._law(codes) for codes in rows), width)

    def batched() -> Distances:
        return mechanism._distances(rows, width)

    apart = max(abs(a - b).max(initial=0.0) for a, b in zip(batched(), one_by_one(), strict=True))
    old, new = 1000 * seconds(one_by_one), 1000 * seconds(batched)
    return {"words": len(rows), "one by one": old, "batched": new, "ratio": old / new, "difference": float(apart)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small system only")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    found = []
    for side, length in ((4, 6),) if options.quick else ((6, 18), (15, 18)):
        world = dw.GridWorld(side, side)
        for kind, language in (("moves", world), ("states", world.by_states())):
            for mechanism in (dw.Exponential(language, EPSILON), dw.Online(language, EPSILON)):
                for what, width in (("mean", 0), ("mean and distribution", None)):
                    name = f"{side}×{side}, {kind}, length {length}, {type(mechanism).__name__}, {what}"
                    row = compared(mechanism, length, width)
                    found.append({"what": name, **row})
                    print(
                        f"{name}: {row['one by one']:.1f} ms one by one, {row['batched']:.1f} ms, {row['ratio']:.1f}×"
                    )
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
