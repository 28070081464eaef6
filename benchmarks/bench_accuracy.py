"""How near the released words are: the expected distance E[d] of several mechanisms at equal ε.

All keep the same promise, |ln p(w; x)/p(w; x′)| ≤ ε·ceil(d(x, x′)/k) for all words x, x′, w; on small systems that is
checked before anything is compared, and a linear programme adds the best that any mechanism with this promise can do.
k is 1, and on small systems also 2 and 3. Needs SciPy (extra `test`). The programmes for k = 3 take minutes.

    python benchmarks/bench_accuracy.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog

import dpwords as dw
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.uniform import Uniform
from dpwords.spaces import exhaustive
from dpwords.spaces.exhaustive import Symbols

Floats = NDArray[np.float64]
Row = dict[str, float]
Logs = Callable[[Language, list[Symbols], float, int], Floats]  # from ε and k to ln p(w; x), a row for each secret x

EPSILONS, LARGE_EPSILONS = (1, 2, 3, 4, 6), (1, 1.5, 2, 2.5, 3, 4, 5, 6)
EPSILONS_A_POSITION = (1, 2, 3)  # ε/k, for k > 1


def by_states(graph: str, start: str | None) -> Language:
    """Words of states of a graph written as "state:successors state:successors …"."""
    rows = (row.split(":") for row in graph.split())
    return dw.TransitionSystem({state: {target: target for target in ahead} for state, ahead in rows}, start)


PROCESS = dw.TransitionSystem(  # a case is worked on and closed; one that is lost cannot be closed any more
    {
        "new": {"open": "work", "drop": "lost"},
        "work": {"edit": "work", "ask": "wait", "check": "done"},
        "wait": {"answer": "work", "ask": "wait", "drop": "lost"},
        "done": {"reopen": "work", "check": "done", "close": "closed"},
        "closed": {"file": "closed"},
        "lost": {"file": "lost"},
    },
    start="new",
    accepting=["done", "closed"],
)
SYSTEMS: dict[str, tuple[Language, int]] = {
    "3×3 grid from a corner, words of states": (dw.GridWorld(3, 3).by_states(), 4),
    "3×3 grid from a corner, words of moves": (dw.GridWorld(3, 3), 4),
    "roads with one-way streets, any start, words of states": (by_states("a:bg b:ace c:bd d:ac e:f f:cd g:a", None), 4),
    "unequal branching, words of states": (by_states("h:habcd a:h b:bh c:d d:cdh", "h"), 4),
    "process with dead ends and an accepting set, words of moves": (PROCESS, 6),
    "2×4 grid from a corner, words of states": (dw.GridWorld(2, 4).by_states(), 5),
    "3×3 grid, visits of the middle, words of states": (dw.GridWorld(3, 3).by_states() & dw.rules.contains((1, 1)), 4),
}
LARGE: dict[str, Language] = {
    "15×15 grid from a corner, words of states": dw.GridWorld(15, 15).by_states(),
    "15×15 grid from a corner, words of moves": dw.GridWorld(15, 15),
}
LARGE_LENGTH, LARGE_SECRETS = 18, 32


def permute_and_flip(textbook: dw.Exponential, secret: Symbols) -> Floats:
    """The probability of each distance, from the textbook mechanism's: N_l·a_l / Z, where a_l = e^(−ε·l/2).

    Words in random order, the first that is accepted, with probability a_l: a word comes out with probability
    a_l·∫ Π(1 − a·t) dt, t from 0 to 1, over all other words. Gauss's rule on short pieces of ln t.
    """
    distribution = np.array(textbook.given(secret).distance_distribution())
    masses = distribution / distribution[0]
    nodes, weights = np.polynomial.legendre.leggauss(20)
    t = np.exp(-(np.arange(240)[:, None] + (nodes + 1) / 2).ravel() / 4)
    accepted = np.exp(-textbook.epsilon / 2 * np.arange(len(masses)))
    none_taken = np.log1p(-np.outer(t, accepted))
    survival = np.exp(none_taken @ (masses / accepted))
    proportions = masses * ((np.tile(weights, 240) / 8 * t * survival) @ np.exp(-none_taken))
    if abs(proportions.sum() - 1) > 1e-10:
        raise ArithmeticError(f"permute-and-flip: probabilities sum to {proportions.sum()!r}")
    return proportions


def logs_of_mechanism(
    language: Language, words: list[Symbols], epsilon: float, k: int, kind: Any, **options: Any
) -> Floats:
    """Those of a mechanism of the package."""
    mechanism = kind(language, epsilon, k, **options)
    return exhaustive.log_probs([mechanism.given(word) for word in words], words)


def logs_of_permute_and_flip(language: Language, words: list[Symbols], epsilon: float, k: int) -> Floats:
    """From the probability of each distance, shared by the words there."""
    mechanism = dw.Exponential(language, epsilon / k, calibration="textbook")
    logs = []
    for word, row in zip(words, exhaustive.distances(words), strict=True):
        proportions, sizes = permute_and_flip(mechanism, word), np.bincount(row, minlength=len(word) + 1)
        logs.append(np.log(proportions[row] / sizes[row]))
    return np.array(logs)


def logs_of_optimum(_: Language, words: list[Symbols], epsilon: float, k: int) -> Floats:
    """The best mechanism for uniform secrets: a linear programme in all p(w; x)."""
    distances, size = exhaustive.distances(words), len(words)
    steps = -(-distances // k)
    first, second = direct_pairs(steps)
    every = sparse.eye_array(size, format="csr")
    apart = sparse.diags_array(np.exp(-epsilon * steps[first, second]))
    promise = sparse.kron(apart @ every[first] - every[second], every, format="csr")  # e^(−ε·s)·p(w; x) − p(w; x′) ≤ 0
    sums = sparse.kron(every, np.ones((1, size)), format="csr")
    none = np.zeros(promise.shape[0])
    found = linprog(distances.ravel(), promise, none, sums, np.ones(size), method="highs-ipm")
    if not found.success:
        raise ArithmeticError(f"the linear programme failed: {found.message}")
    best = repaired(found.x.reshape(size, size), steps, epsilon)
    if abs((best * distances).sum() - found.fun) > 1e-5 * size:
        raise ArithmeticError("the linear programme was solved too coarsely")
    return np.log(best)


def direct_pairs(distances: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Pairs of words, both ways, with no third word between them: the promise for others follows along a chain.

    `distances` may be any metric, ceil(d/k) too.
    """
    size = len(distances)
    direct = ~np.eye(size, dtype=bool)
    for between in range(size):
        via = distances[:, between, None] + distances[None, between, :] == distances
        via[between, :] = via[:, between] = False
        direct &= ~via
    return np.nonzero(direct)


def repaired(solution: Floats, distances: NDArray[np.int64], epsilon: float) -> Floats:
    """The solver keeps the promise up to its tolerance; this, next to its solution, keeps it fully.

    Raise each p(w; x) to the least that the others allow; fill what then lacks to a common sum with uniform words.
    """
    least = np.exp(-epsilon * distances)
    raised = np.array([(column[None, :] * least).max(axis=1) for column in solution.T]).T
    sums = raised.sum(axis=1)
    common = sums.max() + max(np.ptp(sums), 1e-12) / math.expm1(epsilon)
    return (raised + (common - sums)[:, None] / len(sums)) / common


def projected(language: Language, epsilon: float, k: int) -> Private:
    """The best mechanism on the language without its rules and goals, projected onto the language."""
    return dw.best(dw.rules.relaxed(language), epsilon, k, length=None).onto(language, words=language)


MECHANISMS: dict[str, Logs] = {
    "textbook": partial(logs_of_mechanism, kind=dw.Exponential, calibration="textbook"),
    "permute-and-flip": logs_of_permute_and_flip,
    "online": partial(logs_of_mechanism, kind=dw.Online),
    "ours": partial(logs_of_mechanism, kind=dw.Exponential),
    "optimum": logs_of_optimum,
}
BY_STEPS = {"linear": partial(logs_of_mechanism, kind=dw.Exponential, utility=dw.Linear())} | {
    name: MECHANISMS[name] for name in ("textbook", "online", "ours", "optimum")
}


def checked_mean_distance(name: str, logs: Floats, distances: NDArray[np.int64], epsilon: float, k: int) -> float:
    """E[d] for a uniform secret; refused unless every row is a distribution and all pairs keep the promise."""
    probabilities = np.exp(logs)
    if np.abs(probabilities.sum(axis=1) - 1).max() > 1e-9:
        raise ArithmeticError(f"{name}: probabilities do not sum to 1")
    if (exhaustive.pair_losses(logs) > epsilon * -(-distances // k) * (1 + 1e-9)).any():
        raise ArithmeticError(f"{name}: the promise is broken at ε = {epsilon}")
    return float((probabilities * distances).sum(axis=1).mean())


def small_table(language: Language, length: int, epsilons: Sequence[float], k: int = 1) -> list[Row]:
    """E[d] of all mechanisms, over all words of one length."""
    words = exhaustive.words(language, length)
    distances = exhaustive.distances(words)
    rows = []
    for epsilon in epsilons:
        compared = dict(MECHANISMS if k == 1 else BY_STEPS)
        if dw.rules.relaxed(language) is not language:
            compared["projected"] = partial(logs_of_mechanism, kind=projected)
        logs = {name: of(language, words, epsilon, k) for name, of in compared.items()}
        row = {name: checked_mean_distance(name, logs[name], distances, epsilon, k) for name in logs}
        rows.append(with_ratios(epsilon, row))
    return rows


def large_row(language: Language, secrets: Sequence[Symbols], epsilon: float, k: int) -> Row:
    """E[d] over some words of a language that is too large to list.

    "c = ε/k" is e^(−c·d) with nothing spent on the normalising constant: no mechanism with this promise, but a line to
    come near.
    """
    textbook = dw.Exponential(language, epsilon / k, calibration="textbook")
    positions = np.arange(len(secrets[0]) + 1)
    at: dict[str, Callable[[Symbols], float]] = {
        "textbook": textbook.expected_distance,
        "permute-and-flip": lambda secret: float(permute_and_flip(textbook, secret) @ positions),
        "online": dw.Online(language, epsilon, k).expected_distance,
        "ours": dw.Exponential(language, epsilon, k).expected_distance,
        "best": dw.best(language, epsilon, k, LARGE_LENGTH).expected_distance,
        "c = ε/k": dw.Exponential(language, 2 * epsilon / k, calibration="textbook").expected_distance,
    }
    return {name: math.fsum(map(mean, secrets)) / len(secrets) for name, mean in at.items()}


def large_table(language: Language, epsilons: Sequence[float], k: int = 1) -> list[Row]:
    """Rows for a large system; its secrets are drawn uniformly, the same ones each time."""
    uniform = Uniform(language, k=1)
    there_and_back: Symbols = (((0, 1), (0, 0)) if (0, 0) in language.alphabet.codes else ("E", "W")) * (
        LARGE_LENGTH // 2
    )
    secrets = uniform.seeded("accuracy").simulate(there_and_back, LARGE_SECRETS)
    return [with_ratios(epsilon, large_row(language, secrets, epsilon, k)) for epsilon in epsilons]


def with_ratios(epsilon: float, row: Row) -> Row:
    """The row with its ε in front, and how the release compares with the textbook's and the optimum at the end."""
    full = {"ε": epsilon} | row | {"textbook/ours": row["textbook"] / row["ours"]}
    return full | {"ours/optimum": row["ours"] / row["optimum"]} if "optimum" in row else full


def show(title: str, rows: list[Row]) -> None:
    """One aligned table."""
    widths = {name: max(len(name), 8) for name in rows[0]}
    print(f"\n{title}\n" + "  ".join(f"{name:>{width}}" for name, width in widths.items()))
    for row in rows:
        cells = {name: f"{value:g}" if name == "ε" else f"{value:.4f}" for name, value in row.items()}
        print("  ".join(f"{cells[name]:>{width}}" for name, width in widths.items()), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Expected distance of several mechanisms at equal ε.")
    parser.add_argument("--quick", action="store_true", help="two small systems and two ε")
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    names, epsilons = (list(SYSTEMS)[:2], EPSILONS[1:4:2]) if options.quick else (list(SYSTEMS), EPSILONS)
    tables: dict[str, list[Row]] = {}
    for name in names:
        language, length = SYSTEMS[name]
        title = f"{name}: {language.count(length)} words of {length} symbols"
        tables[title] = small_table(language, length, epsilons)
        show(title, tables[title])
    for k, name in [(2, names[0])] if options.quick else [(k, name) for k in (2, 3) for name in names]:
        language, length = SYSTEMS[name]
        title = f"k = {k}, {name}"
        tables[title] = small_table(language, length, [k * each for each in EPSILONS_A_POSITION], k)
        show(title, tables[title])
    for name, language in () if options.quick else LARGE.items():
        for k in (1, 2):
            title = (
                f"k = {k}, {name}: {LARGE_SECRETS} of {language.count(LARGE_LENGTH)} words of {LARGE_LENGTH} symbols"
            )
            tables[title] = large_table(language, [k * each for each in LARGE_EPSILONS if k == 1 or each >= 3], k)
            show(title, tables[title])
    if options.output:
        options.output.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
