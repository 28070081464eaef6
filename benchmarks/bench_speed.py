"""Speed and memory beside what a skilled user would take today: OpenFst (pynini), OpenDP, diffprivlib.

Every figure is a ratio of two times (or peaks of memory) from the same run. Before anything is timed, both sides are
shown to draw from the same distribution. OpenFst has the word as an acceptor with weighted arcs, intersected with the
system, weights pushed in the log semiring, then `randgen` with its faster selector. Needs the extra `bench`.

    python benchmarks/bench_speed.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pynini
from numba import njit
from rivals_openfst import RATE, fst_by_distance, fst_given, fst_of

import dpwords as dw
from dpwords.core import scaled
from dpwords.core.limits import CORES, Limits
from dpwords.core.randomness import SeededSource, SystemSource
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Discount, Lattice
from dpwords.spaces.runs import FoldedLaw, Runs, RunSurroundings
from dpwords.spaces.space import Weights

Row = dict[str, Any]


def timed(work: Callable[[], Any], times: int = 3) -> float:
    """The median of some runs, after one that does not count."""
    work()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def grid(side: int, start: tuple[int, int], holes: float = 0.0) -> Graph:
    """Moves on a square grid; with holes, a network of streets."""
    gaps = np.random.default_rng(1).random((side, side)) < holes
    walls = {(int(i), int(j)) for i, j in np.argwhere(gaps)} - {start}
    return Graph.of(dw.GridWorld(side, side, start=start, walls=walls))


def some_word(graph: Graph, length: int, number: int = 1) -> Any:
    return Runs(graph).uniform(length, number, SeededSource("speed").open())


def linear(codes: Any, graph: Graph, most: int = CORES) -> FoldedLaw:
    """The law e^(−c·d) around a word, drawn by at most so many threads."""
    return FoldedLaw(codes, graph, Weights.linear(RATE, len(codes)), Limits(threads=most))


def counted(codes: Any, graph: Graph) -> RunSurroundings:
    """The runs around a word, counted by distance."""
    return RunSurroundings(codes, Runs(graph))


def check_totals(graph: Graph, system: Any, codes: Any) -> None:
    """The sum of all weights is the same, so the pushed weights are the same policy."""
    word = pynini.shortestdistance(fst_given(system, codes, len(graph.alphabet)), reverse=True)
    ours = linear(codes, graph).log_total
    theirs = -float(word[0])
    if abs(ours - theirs) > 1e-6 * abs(ours):
        raise ArithmeticError(f"ln Z differs: {ours} and {theirs}")


def given_rows(quick: bool) -> list[Row]:
    cases = {
        "15×15 grid, 100 steps": (15, (0, 0), 0.0, 100),
        "100×100 grid, 100 steps": (100, (50, 50), 0.0, 100),
        "streets, 50,000 nodes, 400 steps": (236, (118, 118), 0.1, 400),
    }
    rows = []
    for name, (side, start, holes, length) in list(cases.items())[: 1 if quick else None]:
        graph = grid(side, start, holes)
        system, codes = fst_of(graph), some_word(graph, 20 if quick else length)[0]
        check_totals(graph, system, codes)
        ours = timed(lambda: linear(codes, graph))  # noqa: B023
        theirs = timed(lambda: fst_given(system, codes, len(graph.alphabet)), times=1)  # noqa: B023
        rows.append(row(f"given(word), linear: {name}", ours, theirs, "OpenFst"))
    return rows


def memory_of(side: int, length: int, who: str) -> float:
    """The peak that a process takes above what it takes before the work, in bytes."""
    script = f"import bench_speed; bench_speed.any_utility({side}, {length}, {who!r})"
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", script], cwd=here, capture_output=True, text=True, check=True)
    return float(done.stdout)


def peak() -> int:
    """The most memory that this process has taken, in bytes."""
    (line,) = (line for line in Path("/proc/self/status").read_text("utf-8").splitlines() if line.startswith("VmHWM"))
    return 1024 * int(line.split()[1])


def any_utility(side: int, length: int, who: str) -> None:
    """Print the memory that one side takes for counts by distance."""
    graph = grid(side, (side // 2, side // 2))
    codes = some_word(graph, length)[0]
    counted(codes[:2], graph)
    system = fst_of(graph)
    before = peak()
    kept = (
        counted(codes, graph)
        if who == "ours"
        else fst_by_distance(system, codes, len(graph.alphabet), [float(d) for d in range(length + 1)])
    )
    print(max(peak() - before, 2**16))
    del kept


def any_utility_rows(quick: bool) -> list[Row]:
    rows = []
    for side, length in [(15, 12)] if quick else [(15, 100), (40, 100)]:
        graph = grid(side, (side // 2, side // 2))
        system, codes = fst_of(graph), some_word(graph, length)[0]
        symbols, prices = len(graph.alphabet), [0.5 * d for d in range(length + 1)]
        theirs = -float(pynini.shortestdistance(fst_by_distance(system, codes, symbols, prices), reverse=True)[0])
        sizes = counted(codes, graph).sizes.logs()
        if abs(theirs - float(np.logaddexp.reduce(sizes - np.array(prices)))) > 1e-6 * abs(theirs):
            raise ArithmeticError("the counts by distance differ")
        ours = timed(lambda: counted(codes, graph))  # noqa: B023
        rival = timed(lambda: fst_by_distance(system, codes, symbols, prices), times=1)  # noqa: B023
        name = f"{side}×{side} grid, {length} steps"
        rows.append(row(f"given(word), any utility: {name}", ours, rival, "OpenFst"))
        memory = [memory_of(side, length, who) for who in ("ours", "theirs")]
        rows.append(row(f"the same, peak memory in MB: {name}", memory[0] / 2**20, memory[1] / 2**20, "OpenFst", "MB"))
    return rows


def draw_rows(quick: bool) -> list[Row]:
    draws, length = (2000, 10) if quick else (100_000, 28)
    graph = grid(15, (0, 0))
    codes = some_word(graph, length)[0]
    law, policy = linear(codes, graph), fst_given(fst_of(graph), codes, len(graph.alphabet))
    sample = law.draw(2000, SystemSource().open())
    paths = pynini.randgen(policy, npath=2000, select="fast_log_prob").paths()
    theirs = [sum(a != b + 1 for a, b in zip(labels, codes.tolist(), strict=True)) for labels in _labels(paths)]
    ours_mean, error = float((sample != codes).sum(axis=1).mean()), math.sqrt(length / 2000)
    if abs(ours_mean - statistics.fmean(theirs)) > 4 * error:
        raise ArithmeticError("the sampled distances differ")
    alone = linear(codes, graph, most=1)
    one = timed(lambda: alone.draw(draws, SystemSource().open()))
    rival = timed(lambda: pynini.randgen(policy, npath=draws, select="fast_log_prob"), times=1)
    rows = [row(f"{draws} draws from one word, one thread", one, rival, "OpenFst")]
    if CORES > 1:
        pair = linear(codes, graph, most=2)
        two = timed(lambda: pair.draw(draws, SystemSource().open()))
        rows.append(row("the same on two threads, gain", one / two, compute_gain(), "a pure compute loop", "×"))
    return rows


def text_rows(quick: bool) -> list[Row]:
    """From a word to texts, end to end."""
    draws, length = (200, 10) if quick else (20_000, 100)
    world = dw.GridWorld(15, 15)
    graph, symbols = Graph.of(world), world.alphabet.symbols
    codes = some_word(graph, length)[0]
    word = "".join(str(symbols[code]) for code in codes)
    mechanism, system = dw.Exponential(world, 2 * float(RATE), calibration="textbook"), fst_of(graph)

    def theirs() -> list[str]:
        policy = fst_given(system, codes, len(graph.alphabet))
        paths = pynini.randgen(policy, npath=draws, select="fast_log_prob").paths()
        return ["".join(str(symbols[label - 1]) for label in labels) for labels in _labels(paths)]

    name = f"{draws} runs of {length} moves as str, end to end"
    return [row(name, timed(lambda: mechanism.simulate(word, draws)), timed(theirs, times=1), "OpenFst")]


def _labels(paths: Any) -> list[list[int]]:
    found = []
    while not paths.done():
        found.append([label for label in paths.ilabels() if label])
        paths.next()
    return found


@njit(nogil=True)
def _spin(steps: int) -> float:
    total = 0.0
    for i in range(steps):
        total += math.sqrt(i + total)
    return total


def compute_gain() -> float:
    """What two threads gain on work that is all arithmetic."""
    steps = 20_000_000
    one = timed(lambda: [_spin(steps), _spin(steps)])

    def both() -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_spin, [steps, steps]))

    return one / timed(both)


def free_rows(quick: bool) -> list[Row]:
    number = 10_000 if quick else 1_000_000
    words = np.random.default_rng(0).integers(0, 16, (number, 32)).astype(np.uint8)
    stream, piece = SystemSource().open(), 2**22

    def bits() -> None:
        for _ in range(0, words.size * 8, piece):
            stream.take(piece)

    cipher = timed(bits)
    rows = []
    for epsilon in (3, 10):
        mechanism = dw.Exponential(dw.Words("0123456789abcdef"), epsilon)
        changed = float((mechanism.release_codes(words[:10_000]) != words[:10_000]).mean())
        if abs(changed - 15 / (math.exp(epsilon) + 15)) > 0.005:
            raise ArithmeticError("the proportion of changed symbols is off")
        ours = timed(lambda: mechanism.release_codes(words))  # noqa: B023
        rows.append(row(f"{number} free words of 32 out of 16, ε = {epsilon}", ours, cipher, "8 cipher bytes a symbol"))
        texts = ["".join("0123456789abcdef"[c] for c in word) for word in words.tolist()]
        listed = timed(lambda: mechanism.release_all(texts))  # noqa: B023
        rows.append(row(f"the same as a list of str, ε = {epsilon}", listed, ours, "the same as arrays"))
    few = texts[: number // 100]
    alone = timed(lambda: [mechanism.release(text) for text in few], times=1) * 100
    rows.append(row("the same, one release each, ε = 10", alone, listed, "a list of str"))
    return rows


def run_rows(quick: bool) -> list[Row]:
    number, sample = (500, 3) if quick else (100_000, 100)
    world = dw.GridWorld(15, 15)
    graph = Graph.of(world)
    secrets = some_word(graph, 20, number)
    system = fst_of(graph)
    rows = []

    def loop() -> None:
        for codes in secrets[:sample]:
            pynini.randgen(fst_given(system, codes, len(graph.alphabet)), npath=1, select="fast_log_prob")

    rival = timed(loop, times=1) / sample
    for count in sorted({1, CORES}):
        limits = Limits(threads=count)
        mechanism = dw.Exponential(world, 2 * float(RATE), calibration="textbook", limits=limits)
        ours = timed(lambda: mechanism.release_codes(secrets)) / number  # noqa: B023
        name = f"runs of 20 steps, 15×15 grid, each its own secret; {count} threads"
        rows.append(row(name, ours, rival, "OpenFst"))
        rows.append(row("the same, symbols a second", 20 / ours, 20 / rival, "OpenFst (theirs divided by ours)", ""))
    return rows


def enumeration_rows(quick: bool) -> list[Row]:
    """Rivals that weigh every candidate; 16^32 words would be more numbers than there is memory on earth."""
    from diffprivlib.mechanisms import Exponential as Diffprivlib
    from opendp.context import space_of  # noqa: F401  (fails early where OpenDP is missing)
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_noisy_max
    from opendp.measures import max_divergence
    from opendp.metrics import linf_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    rows = []
    for symbols, length in [(4, 4)] if quick else [(4, 8), (5, 9)]:
        words = dw.Words(range(symbols))
        mechanism = dw.Exponential(words, 2.0, calibration="textbook")
        secret = [0] * length

        def scores() -> Any:
            """−d for every candidate."""
            positions = np.indices((symbols,) * length, dtype=np.int8)  # noqa: B023
            return -(positions != 0).reshape(length, -1).sum(axis=0).astype(float)  # noqa: B023

        chosen = make_noisy_max(
            vector_domain(atom_domain(T=float, nan=False)), linf_distance(T=float), max_divergence(), scale=1.0
        )
        ours = timed(lambda: mechanism.release(secret))  # noqa: B023
        name = f"one word of {symbols}^{length}"
        rows.append(row(name, ours, timed(lambda: chosen(scores()), times=1), "OpenDP"))  # noqa: B023
        rows.append(
            row(
                name,
                ours,
                timed(
                    lambda: Diffprivlib(
                        epsilon=2.0, sensitivity=1.0, utility=scores().tolist(), random_state=1
                    ).randomise(),
                    times=1,
                ),
                "diffprivlib",
            )
        )
    return rows


def growth_rows(quick: bool) -> list[Row]:
    """Log–log slopes of the cost of linear utility against length, edges and draws."""
    sizes = [8, 16] if quick else [100, 200, 400, 800]
    small = grid(15, (0, 0))
    words = [some_word(small, n)[0] for n in sizes]
    by_length = [timed(lambda: Lattice(small, w, Discount(scaled.exp_minus([RATE])))) for w in words]  # noqa: B023
    sides = [6, 8] if quick else [40, 80, 160]
    graphs = [grid(side, (side // 2, side // 2)) for side in sides]
    long = [some_word(graph, 10 if quick else 300)[0] for graph in graphs]
    by_edges = [timed(lambda: linear(w, g)) for w, g in zip(long, graphs, strict=True)]  # noqa: B023
    law = linear(words[0], small)
    counts = [100, 200] if quick else [20_000, 40_000, 80_000, 160_000]
    by_draws = [timed(lambda: law.draw(count, SystemSource().open())) for count in counts]  # noqa: B023
    edges = [len(graph.target) for graph in graphs]
    return [
        row(f"growth with {name}: log–log slope", slope(xs, ys), 1.0, "1 is linear", "")
        for name, xs, ys in (("length", sizes, by_length), ("edges", edges, by_edges), ("draws", counts, by_draws))
    ]


def slope(xs: list[int], ys: list[float]) -> float:
    return float(np.polyfit(np.log(xs), np.log(ys), 1)[0])


def start_rows(quick: bool) -> list[Row]:
    def run(*arguments: str) -> float:
        return timed(lambda: subprocess.run([sys.executable, *arguments], check=True, capture_output=True), 1)

    numpy = run("-c", "import numpy")
    word = ("-m", "dpwords", "release", "gattaca", "--alphabet", "acgt", "-e", "3")
    plan = ("-m", "dpwords", "release", "EESS", "--system", "grid:15x15", "-e", "5")
    return [
        row("dpwords release of a word, a new process", run(*word), numpy, "import numpy"),
        row("dpwords release of a plan, a new process", run(*plan), numpy, "import numpy"),
    ]


def row(name: str, ours: float, theirs: float, rival: str, unit: str = "s") -> Row:
    return {"what": name, "ours": ours, "rival": theirs, "ratio": theirs / ours, "beside": rival, "unit": unit}


PARTS: list[Callable[[bool], list[Row]]] = [
    given_rows, any_utility_rows, draw_rows, text_rows, free_rows, run_rows, enumeration_rows, growth_rows, start_rows,
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Times and memory beside those of rivals, as ratios.")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that everything runs")
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    found: list[Row] = []
    print(f"{'':64}{'ours':>12}{'rival':>12}{'ratio':>9}  beside")
    for part in PARTS:
        for each in part(options.quick):
            found.append(each)
            numbers = f"{each['ours']:>12.4g}{each['rival']:>12.4g}{each['ratio']:>9.3g}"
            print(f"{each['what']:64}{numbers}  {each['beside']}", flush=True)
    if options.output:
        options.output.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
