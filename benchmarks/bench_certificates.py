"""How long certificates take, by the length of words and by the size of the system.

Two proofs are compared in the same run: the bound for words of one length, which looks at each position, and the one
for all lengths at once. Both are evaluated at the same rate c, on grids, for words of states.

    python benchmarks/bench_certificates.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from bench_accuracy import Row, show

import dpwords as dw
from dpwords.privacy.certificates.reweighted_blocks import ReweightedBlocks
from dpwords.privacy.certificates.reweighted_system import Detail, ReweightedSystem
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting

EPSILON, RATE, DETAIL, LARGEST_LEAST = 4.0, 3.95, Detail(2, 1, 3), 12
LENGTHS, SIZES, SIZE = (8, 16, 32, 64), (6, 9, 13, 19), 10


def blocks_of(side: int) -> ReweightedBlocks:
    """The proofs for a square grid, for runs that start anywhere."""
    graph = Graph.of(dw.GridWorld(side, side, start=None).by_states())
    reweighting = Reweighting.of(graph)
    if reweighting is None:
        raise ArithmeticError("the grid has no steps")
    return ReweightedBlocks(ReweightedSystem(graph, reweighting, DETAIL))


def timed(evaluate: Callable[[], float]) -> tuple[float, float]:
    """The result, and the seconds of CPU that it took; it has been computed before, so nothing is compiled."""
    evaluate()
    begin = time.process_time()
    return evaluate(), time.process_time() - begin


def for_all(blocks: ReweightedBlocks) -> float:
    return blocks.excess_of_all(RATE, EPSILON - RATE, LARGEST_LEAST)[0]


def by_length(side: int, lengths: tuple[int, ...]) -> list[Row]:
    blocks, rows = blocks_of(side), list[Row]()
    together, seconds = timed(lambda: for_all(blocks))
    for length in lengths:
        alone, each = timed(lambda length=length: blocks.excess(length, RATE))  # type: ignore[misc]
        row = {"ε": EPSILON, "length": length, "bound, one length": RATE + alone, "bound, all lengths": RATE + together}
        rows.append(row | {"seconds, one length": each, "seconds, all lengths": seconds, "ratio": each / seconds})
    return rows


def by_size(sides: tuple[int, ...], length: int) -> list[Row]:
    rows = list[Row]()
    for side in sides:
        blocks = blocks_of(side)
        _, alone = timed(lambda blocks=blocks: blocks.excess(length, RATE))  # type: ignore[misc]
        _, together = timed(lambda blocks=blocks: for_all(blocks))  # type: ignore[misc]
        rows.append({"states": side**2, "seconds, one length": alone, "seconds, all lengths": together})
    return rows


def slope(rows: list[Row], x: str, y: str) -> float:
    """How y grows with x: 1 if it grows in proportion, 0 if it does not grow."""
    return float(np.polyfit([math.log(row[x]) for row in rows], [math.log(row[y]) for row in rows], 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description="Time of certificates by length and by size.")
    parser.add_argument("--quick", action="store_true", help="small grids and short words")
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    sides, lengths, side = ((3, 4), (8, 12), 3) if options.quick else (SIZES, LENGTHS, SIZE)
    tables = {
        f"by length, {side}×{side} grid, any start": by_length(side, lengths),
        f"by size, words of {lengths[1]} states for one length": by_size(sides, lengths[1]),
    }
    for title, rows in tables.items():
        show(title, rows)
        x = "length" if "length" in rows[0] else "states"
        slopes = [f"{slope(rows, x, f'seconds, {kind}'):.2f} ({kind})" for kind in ("one length", "all lengths")]
        print(f"slope of the time: {', '.join(slopes)}")
    if options.output:
        options.output.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
