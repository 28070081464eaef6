"""Where accuracy falls off a cliff: the mean distance of the best mechanism over ε, and over lengths, on ten systems.

From one ε to the next, and from one length to the next, the mean distance should change little. A factor above 3 is
marked, and so is a length at which the best mechanism is worse than one that it could have chosen. Systems from files
can be added (a road network, a learned protocol).

    python benchmarks/bench_cliffs.py [--quick] [--output FILE] [--system FILE LENGTH]...
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import dpwords as dw
from dpwords.bridges.system_files import SYSTEM_FILES
from dpwords.languages.language import Language
from dpwords.mechanisms.choice import best_by_length, contenders

CLIFF = 3.0
EPSILONS = [half / 2 for half in range(2, 17)]
STREETS = dw.from_map(Path(__file__).parent.parent / "examples" / "streets.txt")
OFFICE = dw.from_map(
    "S.........#.........\n..........#.........\n....................\n..........#.........\n####.######.####.###\n"
    "..........#.........\n....................\n..........#.........\n..........#........G\n"
)
CASES: dict[str, tuple[Callable[[], Language], int, int]] = {
    "streets to the goal, moves": (lambda: STREETS, 20, 2),
    "streets to the goal, 24 moves": (lambda: STREETS, 24, 2),
    "streets to the goal, plans": (STREETS.plans, 20, 1),
    "15×15, moves": (lambda: dw.GridWorld(15, 15), 18, 1),
    "15×15, states": (dw.GridWorld(15, 15).by_states, 18, 1),
    "15×15, goal (7,7), moves": (lambda: dw.GridWorld(15, 15, goal=(7, 7)), 18, 2),
    "6×6, states, contains (2,4)": (lambda: dw.GridWorld(6, 6).by_states() & dw.rules.contains((2, 4)), 14, 1),
    "protocol with dead ends": (
        lambda: dw.TransitionSystem(
            {
                "closed": {"open": "listen", "connect": "sent"},
                "listen": {"syn": "received", "close": "closed", "send": "sent"},
                "sent": {"ack": "up", "syn": "received", "close": "closed"},
                "received": {"ack": "up", "close": "ending", "reset": "listen"},
                "up": {"data": "up", "ack": "up", "fin": "waiting", "close": "ending"},
                "ending": {"ack": "ending", "fin": "closing"},
                "closing": {"ack": "closed"},
                "waiting": {"close": "closing", "data": "waiting"},
            },
            start="closed",
        ), 12, 1,
    ),
    "a lexicon": (lambda: dw.Lexicon(["".join(word) for word in _four()]), 4, 1),
    "a pattern": (lambda: dw.Pattern("[0-9]{2}(a|b|cd)*[0-9]{2}"), 10, 1),
}  # fmt: skip
LENGTHS: dict[str, tuple[Callable[[], Language], float, int, Sequence[int]]] = {
    "streets to the goal, moves": (lambda: STREETS, 6.0, 2, range(20, 33, 2)),
    "an office with a goal, moves": (lambda: OFFICE, 10.0, 2, range(27, 60, 4)),
    "15×15, moves": (lambda: dw.GridWorld(15, 15), 5.0, 1, range(6, 31, 4)),
}


def _four() -> list[str]:
    """Words of four letters in which no letter follows itself and vowels and consonants alternate."""
    return [a + b + c + d for a in "bdkt" for b in "aeio" for c in "lmnrs" for d in "aeu"]


def figures(language: Language, length: int, epsilon: float, k: int) -> dict[str, object]:
    """The mean distance of the best mechanism, of each that it compares, and what is in force."""
    begin = time.perf_counter()
    best = best_by_length(language, epsilon, k)
    each = {title: make(epsilon).expected_distance(length=length) for title, make in contenders(language, k).items()}
    found = best.expected_distance(length=length)
    return {
        "epsilon": epsilon, "length": length, "k": k, "best": found, "each": each,
        "in force": best.in_force(length).text, "seconds": time.perf_counter() - begin,
    }  # fmt: skip


def show(name: str, rows: list[dict[str, object]], by: str) -> None:
    """A line for each row, with marks."""
    print(f"\n{name}")
    before = None
    for row in rows:
        best, each = row["best"], row["each"]
        assert isinstance(best, float)
        assert isinstance(each, dict)
        marks = []
        if before is not None and max(before, best) > CLIFF * min(before, best):
            marks.append(f"cliff: {before / best:.1f}")
        if min(each.values()) < best * 0.98:  # simulated figures have an error
            marks.append(f"worse than {min(each, key=each.__getitem__)}: {min(each.values()):.3g}")
        print(f"  {by} = {row[by]:<4g} {best:8.4f}  {'; '.join(marks):40}  {row['in force']}", flush=True)
        before = best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few figures")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--system", nargs=2, action="append", default=[], metavar=("FILE", "LENGTH"))
    parser.add_argument("--only", help="a part of a name")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = dict(CASES)
    for path, length in options.system:
        make = SYSTEM_FILES[Path(path).suffix].load
        cases[Path(path).name] = (lambda make=make, path=path: make(Path(path)), int(length), 1)
    found: dict[str, list[dict[str, object]]] = {}
    for name, (make, length, k) in cases.items():
        if options.only is None or options.only in name:
            language = make()
            epsilons = EPSILONS[2::6] if options.quick else EPSILONS
            found[name] = [figures(language, length, epsilon, k) for epsilon in epsilons]
            show(f"{name}, {length} symbols, k = {k}", found[name], "epsilon")
    for name, (make, epsilon, k, lengths) in LENGTHS.items():
        if options.only is None or options.only in name:
            language = make()
            some = [n for n in lengths if language.count(n)][: 2 if options.quick else None]
            found[f"{name}, lengths"] = [figures(language, n, epsilon, k) for n in some]
            show(f"{name}, ε = {epsilon:g}, k = {k}", found[f"{name}, lengths"], "length")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
