"""dpwords beside other published methods, each held to the same promise: wrong positions, populations, exact audits.

Sequences: |ln p(w; x)/p(w; x′)| ≤ ε·d(x, x′) for all x, x′ and w. Populations: ≤ ε in all, however far x and x′ are
apart. docs/rivals.md says how the ε of each paper is converted. Needs SciPy (extra `test`). The proof for words of
states at ε = 2 takes about two minutes the first time, and is cached; the rest takes two minutes.

    python benchmarks/bench_rivals.py [--quick] [--certificate-time SECONDS] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from bench_accuracy import logs_of_permute_and_flip, permute_and_flip
from numpy.typing import NDArray
from rivals_population import ESTIMATES, Population, subset_table, unary_table
from rivals_sequences import (
    Channel,
    FeasibleOnly,
    NGrams,
    Runs,
    proportion_of_runs,
    published_neighbourhood,
    published_response,
    response_channel,
    symbol_distances,
    wrong_after_nearest,
)
from scipy.optimize import linprog

import dpwords as dw
from dpwords.audit.exact import Audited
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.languages.language import Language
from dpwords.mechanisms.uniform import Uniform
from dpwords.spaces import exhaustive
from dpwords.spaces.exhaustive import Symbols

Floats = NDArray[np.float64]
Row = dict[str, float | str]

EPSILONS, TOTAL_EPSILONS = (1, 2, 3, 4, 6), (2, 4, 10)
SECRETS, DRAWS, REPEATS = 256, 32, 10
FREE_WORDS = ((8, 4, 1, 2), (8, 4, 1, 4), (8, 4, 2, 8), (8, 4, 3, 8), (16, 4, 4, 12))  # length, symbols, k, ε


def secrets_of(language: Language, length: int) -> list[Symbols]:
    """All words if they are few, otherwise some that are drawn uniformly, the same ones each time."""
    if language.count(length) <= SECRETS:
        return exhaustive.words(language, length)
    there_and_back = ((0, 1), (0, 0)) if (0, 0) in language.alphabet.codes else ("E", "W")
    return Uniform(language, k=1).seeded("rivals").simulate(there_and_back * (length // 2), SECRETS)


def sequence_rows(language: Language, length: int, epsilons: Sequence[float], limits: Limits) -> list[Row]:
    """The mean number of wrong positions of every method, over the same secrets, with its standard error.

    "runs" is the proportion of outputs that are runs; only randomised response by itself has others, too.
    """
    runs, words = Runs(language), secrets_of(language, length)
    rows, positions, others = runs.codes(words), np.arange(length + 1), len(runs.symbols) - 1
    coins = np.random.default_rng(16)
    uniform = Uniform(language, k=1)
    found: list[Row] = []
    for epsilon in epsilons:
        textbook = dw.Exponential(language, epsilon, calibration="textbook")
        ours = {"Exponential": dw.Exponential(language, epsilon, limits=limits), "Online": dw.Online(language, epsilon)}
        grams, sharper = NGrams(language, epsilon), NGrams(language, epsilon, True)
        drawn: dict[str, Callable[[], Floats]] = {
            "k-RR, nearest run": partial(wrong_after_nearest, runs, rows, epsilon, coins),
            "k-RR on possible symbols, nearest run": partial(wrong_after_nearest, runs, rows, epsilon, coins, True),
            "n-grams": partial(grams.wrong_positions, rows, coins),
            "n-grams, sharpened": partial(sharper.wrong_positions, rows, coins),
        }
        wrong: dict[str, Floats] = {
            "k-RR (no run)": np.full(len(rows), length * others / (math.exp(epsilon) + others)),
            **{name: np.mean([draw() for _ in range(DRAWS)], axis=0) for name, draw in drawn.items()},
            "permute-and-flip at ε/2": np.array([permute_and_flip(textbook, word) @ positions for word in words]),
            "online, UAI 2023": FeasibleOnly(language, epsilon).expected_distances(rows),
        } | {
            f"dpwords: {name}": np.array([mechanism.expected_distance(word) for word in words])
            for name, mechanism in ours.items()
        }
        wrong["no data: a uniform run"] = np.array([uniform.expected_distance(word) for word in words])
        for name, each in wrong.items():
            error = round(float(each.std(ddof=1)) / math.sqrt(len(rows)), 9)
            found.append({"method": name, "ε": epsilon, "wrong": float(each.mean()), "error": error, "runs": 1.0})
        found[-len(wrong)]["runs"] = float(
            np.mean([proportion_of_runs(runs, rows, epsilon, coins) for _ in range(DRAWS)])
        )
    return found


def free_rows(cases: Sequence[tuple[int, int, int, float]]) -> list[Row]:
    """Free words: the optimum over all mechanisms, by a linear programme in the probabilities of the distances."""
    found: list[Row] = []
    for length, size, k, epsilon in cases:
        words = dw.Words(range(size))
        kept = math.exp(epsilon / k)
        textbook = dw.Exponential(words, epsilon / k, calibration="textbook")
        flipped = permute_and_flip(textbook, (0,) * length) @ np.arange(length + 1)
        found.append(
            {
                "length": length,
                "symbols": size,
                "k": k,
                "ε": epsilon,
                "k-RR": length * (size - 1) / (kept + size - 1),
                "permute-and-flip at ε/2": float(flipped),
                "dpwords": dw.Exponential(words, epsilon, k).expected_distance(length=length),
                "optimum": least_distance(length, size, k, epsilon),
            }
        )
    return found


def least_distance(length: int, size: int, k: int, epsilon: float) -> float:
    """min Σ d·N_d·f_d with Σ N_d·f_d = 1 and f_i ≤ e^ε·f_j for |i − j| ≤ k; by symmetry nothing else can be better."""
    number = np.array([math.comb(length, d) * (size - 1) ** d for d in range(length + 1)], dtype=np.float64)
    pairs = [(i, j) for i in range(length + 1) for j in range(length + 1) if 0 < abs(i - j) <= k]
    promise = np.zeros((len(pairs), length + 1))
    for row, (i, j) in zip(promise, pairs, strict=True):
        row[i], row[j] = 1 / number[i], -math.exp(epsilon) / number[j]  # in the masses N_d·f_d
    found = linprog(np.arange(length + 1), promise, np.zeros(len(pairs)), np.ones((1, length + 1)), [1.0])
    if not found.success:
        raise ArithmeticError(f"the linear programme failed: {found.message}")
    return float(found.fun)


def audit_rows(epsilon: float) -> list[Row]:
    """Exact audits on a 3×3 grid: of every method as it was measured, and of published code at a claim of 1."""
    language, ties = dw.GridWorld(3, 3).by_states(), np.random.default_rng(16)
    long, short = exhaustive.words(language, 4), exhaustive.words(language, 3)
    apart, lie = symbol_distances(language.alphabet.symbols), 1 / (math.exp(epsilon) + 8)
    response = np.where(np.eye(9, dtype=np.bool_), math.exp(epsilon) * lie, lie)
    nearest = Channel(long, response_channel(Runs(language), long, epsilon, ties))
    flipped = Channel(long, np.exp(logs_of_permute_and_flip(language, long, epsilon, 1)))
    pieces, sharper = (NGrams(language, epsilon, sharpened).channel(short, ties) for sharpened in (False, True))
    words = dw.Words("abcd")
    found = [
        ("k-RR, one of 9 cells", epsilon, symbol_loss(response)),
        ("k-RR, nearest run, 4 steps", epsilon, word_loss(nearest, language, 4)),
        ("n-grams, 3 steps", epsilon, word_loss(Channel(short, pieces), language, 3)),
        ("n-grams, sharpened, 3 steps", epsilon, word_loss(Channel(short, sharper), language, 3)),
        ("permute-and-flip at ε/2, 4 steps", epsilon, word_loss(flipped, language, 4)),
        ("online, UAI 2023, 4 steps", epsilon, word_loss(FeasibleOnly(language, epsilon), language, 4)),
        ("dpwords: Exponential, 4 steps", epsilon, word_loss(dw.Exponential(language, epsilon), language, 4)),
        ("dpwords: Online, 4 steps", epsilon, word_loss(dw.Online(language, epsilon), language, 4)),
        ("unary encoding, one of 9 values", epsilon, symbol_loss(unary_table(9, epsilon))),
        ("subset selection, one of 20 values", epsilon, symbol_loss(subset_table(20, epsilon))),
        ("weights without counts, 4 of 4 letters", 1.0, word_loss(dw.PaperLiteral(words, 1), words, 4)),
        ("n-gram baseline of an artifact, one of 9 cells", 1.0, symbol_loss(published_neighbourhood(apart, 1, 1))),
        ("k-RR of the same artifact, one of 6 sectors", 1.0, symbol_loss(published_response(6, 1))),
    ]
    return [
        {"audited": name, "claimed": claimed, "measured": measured if math.isfinite(measured) else "infinite"}
        for name, claimed, measured in found
    ]


def word_loss(mechanism: Audited, language: Language, length: int) -> float:
    """The measured ε for each position that differs, over all pairs of words and all outputs."""
    return dw.audit.exact(mechanism, length, language=language, claimed=1, k=1).epsilon


def symbol_loss(table: Floats) -> float:
    """The measured ε of a table with a row for each symbol and a column for each output."""
    with np.errstate(divide="ignore"):
        return float(exhaustive.pair_losses(np.log(table)).max())


def population_rows(people: Population, epsilons: Sequence[float]) -> list[Row]:
    """The errors of visits and transitions, with their standard errors over repeated surveys."""
    found: list[Row] = []
    for name, estimate in ESTIMATES.items():
        for epsilon in epsilons:
            coins = np.random.default_rng([16, round(10 * epsilon)])
            errors = np.array([estimate(people, epsilon, coins).error(people.truth) for _ in range(REPEATS)])
            row: Row = {"method": name, "total ε": epsilon}
            for question, each in zip(("visits", "transitions"), errors.T, strict=True):
                row[question] = float(each.mean())
                row[f"{question}, error"] = round(float(each.std(ddof=1)) / math.sqrt(REPEATS), 9)
            found.append(row)
    return found


def show(title: str, rows: list[Row]) -> None:
    """One aligned table."""
    cells = [[f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()] for row in [*rows]]
    widths = [max(map(len, column)) for column in zip(rows[0], *cells, strict=True)]
    print(f"\n{title}")
    for line in [list(rows[0]), *cells]:
        print("  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="dpwords beside other published methods.")
    parser.add_argument("--quick", action="store_true", help="small systems, few people and two ε")
    parser.add_argument(
        "--certificate-time", type=float, default=DEFAULTS.certificate_time, help="seconds for one proof at most"
    )
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    side, steps, people = (3, 4, 1000) if options.quick else (15, 18, 10_000)
    epsilons, totals = (EPSILONS[1:4:2], TOTAL_EPSILONS[1:]) if options.quick else (EPSILONS, TOTAL_EPSILONS)
    grid, limits = dw.GridWorld(side, side), Limits(certificate_time=options.certificate_time)
    tables: dict[str, list[Row]] = {}

    def add(title: str, rows: list[Row]) -> None:
        tables[title] = rows
        show(title, rows)

    where = f"{side}×{side} grid from a corner, {steps} steps"
    add(f"{where}, words of states: wrong positions", sequence_rows(grid.by_states(), steps, epsilons, limits))
    add(f"{where}, words of moves: wrong positions", sequence_rows(grid, steps, epsilons, limits))
    add("free words: wrong positions", free_rows(FREE_WORDS[:2] if options.quick else FREE_WORDS))
    add(f"{where}, {people} people: L1 error", population_rows(Population(side, people, steps, seed=5), totals))
    add("exact audits", audit_rows(2))
    if options.output:
        options.output.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
