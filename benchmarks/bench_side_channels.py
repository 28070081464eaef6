"""How much the time and the memory of a release tell about the word, at a fixed length.

For each mechanism two words of the same length are released in turn, in random order: two that differ as much as
possible in what a release has to do. The edit channel hides lengths, so for it words of two lengths are tried, too.
Times are compared three ways: between the two words; between releases that left the word as it was and releases that
changed it, which only the owner can tell apart; and between two halves of the releases of one word, which is what
chance alone does. The figure is the ratio of the medians. Memory is the peak of what Python allocates. Only ratios
within one run mean something.

    python benchmarks/bench_side_channels.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import dpwords as dw

CORNER = [(0, 1), (0, 0)] * 9  # a run that stays in a corner
STRAIGHT = [(0, c) for c in range(1, 6)] + [(r, 5) for r in range(1, 6)] + [(5, c) for c in range(6, 14)]
WORDS = sorted({f"{a}{b}{c}{d}" for a in "abcd" for b in "abcd" for c in "abcd" for d in "abcd"} | {"wxyz", "zyxw"})


class Case(NamedTuple):
    """A mechanism, and two words."""

    name: str
    make: Callable[[], Any]
    one: Sequence[Any]
    other: Sequence[Any]


CASES = [
    Case("free words", lambda: dw.Exponential(dw.Words("acgt"), 6.0), "a" * 40, "acgt" * 10),
    Case("free words, k = 2", lambda: dw.Exponential(dw.Words("acgt"), 8.0, k=2), "a" * 40, "acgt" * 10),
    Case("online, free words", lambda: dw.Online(dw.Words("acgt"), 6.0), "a" * 40, "acgt" * 10),
    Case("words of states", lambda: dw.Exponential(dw.GridWorld(15, 15).by_states(), 4.0), CORNER, STRAIGHT),
    Case("moves", lambda: dw.Exponential(dw.GridWorld(15, 15), 12.0), "EW" * 9, "EEEEESSSSSEEEEEEEE"),
    Case("online, words of states", lambda: dw.Online(dw.GridWorld(15, 15).by_states(), 5.0), CORNER, STRAIGHT),
    Case("lexicon", lambda: dw.Exponential(dw.Lexicon(WORDS), 6.0), "abcd", "wxyz"),
    Case(
        "lexicon, all edits",
        lambda: dw.Exponential(dw.Lexicon(WORDS), 6.0, distance="levenshtein"),
        "abcd",
        "wxyz",
    ),
    Case("edit channel", lambda: dw.EditChannel("acgt", 9.0), "a" * 20, "acgt" * 5),
    Case("edit channel, half the length", lambda: dw.EditChannel("acgt", 9.0), "a" * 20, "a" * 10),
    Case("report", lambda: dw.Report(dw.GridWorld(15, 15).by_states(), 4.0), CORNER, STRAIGHT),
]


def measured(case: Case, releases: int) -> dict[str, Any]:
    """The ratios of medians of times, and of peaks of memory."""
    mechanism, draw = case.make(), random.Random(1)
    words = {True: case.one, False: case.other}
    for word in words.values():
        for _ in range(20):
            mechanism.release(word)
    times: dict[bool, list[tuple[int, bool]]] = {True: [], False: []}
    for _ in range(releases):
        which = draw.random() < 0.5
        word = words[which]
        begin = time.perf_counter_ns()
        output = mechanism.release(word)
        times[which].append((time.perf_counter_ns() - begin, output == word))
    first = times[True]
    kept, changed = ([each for each, same in first if same is wanted] for wanted in (True, False))
    peaks = [peak(mechanism, word) for word in words.values()]
    return {
        "name": case.name,
        "microseconds": statistics.median(each for each, _ in first) / 1000,
        "other word": ratio([each for each, _ in times[False]], [each for each, _ in first]),
        "unchanged": ratio(kept, changed) if min(len(kept), len(changed)) >= 50 else None,
        "chance": ratio([each for each, _ in first[::2]], [each for each, _ in first[1::2]]),
        "memory": peaks[1] / peaks[0],
    }


def ratio(one: list[int], other: list[int]) -> float:
    return statistics.median(one) / statistics.median(other)


def peak(mechanism: Any, word: Sequence[Any]) -> int:
    """The least of a few peaks: what a release takes beside what it may keep for later ones."""
    found = []
    for _ in range(20):
        tracemalloc.start()
        mechanism.release(word)
        found.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    return min(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few releases of free words only")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    found = [measured(case, 1000 if options.quick else 4000) for case in (CASES[:1] if options.quick else CASES)]
    print(f"{'':30} {'µs':>8} {'other word':>11} {'unchanged':>10} {'chance':>8} {'memory':>8}")
    for row in found:
        unchanged = "—" if row["unchanged"] is None else f"{row['unchanged']:.3f}"
        figures = f"{row['microseconds']:8.0f} {row['other word']:11.3f} {unchanged:>10}"
        print(f"{row['name']:30} {figures} {row['chance']:8.3f} {row['memory']:8.3f}")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
