"""Mechanisms whose claims are broken, with their true ε from elsewhere, and ours, whose claims are proven.

The samplers of broken mechanisms are written here from their formulas, without the code of dpwords.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
import time
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpwords as dw
from dpwords.studies.strings import ALPHABET, WORD
from paths import ROOT

BENCHMARKS = ROOT / "benchmarks"


class Broken(NamedTuple):
    """A black box that claims too little, two words that show it, and what it really loses between them."""

    release: Callable[..., Any]
    word: Any
    neighbour: Any
    claimed: float
    loss: float
    distance: Any = "hamming"


def from_table(words: list[Any], table: Any, seed: int) -> Callable[[Any, int], list[Any]]:
    """A sampler of a channel: row x has the probability of each word."""
    coins, number = np.random.default_rng(seed), {word: at for at, word in enumerate(words)}
    rows = np.asarray(table) / np.asarray(table).sum(axis=1, keepdims=True)
    return lambda word, draws: [words[at] for at in coins.choice(rows.shape[1], draws, p=rows[number[word]])]


def by_distance(word: str, weights: list[float], alphabet: str, coins: random.Random) -> str:
    """A distance in proportion to its weight, and then a uniform word at that distance."""
    (distance,) = coins.choices(range(len(word) + 1), weights)
    changed = set(coins.sample(range(len(word)), distance))
    others = {symbol: [other for other in alphabet if other != symbol] for symbol in alphabet}
    return "".join(coins.choice(others[s]) if position in changed else s for position, s in enumerate(word))


def without_counts(weights: list[float], alphabet: str) -> Callable[[str], str]:
    """A mechanism that forgets how many words there are at a distance."""
    coins = random.Random(5)
    return lambda word: by_distance(word, weights, alphabet, coins)


def letters(rate: float, alphabet: str = "abcd", seed: int = 7) -> Callable[[str], str]:
    """The exponential mechanism on free words: each letter on its own stays with odds e^rate against each other one."""
    coins, kept = random.Random(seed), math.exp(rate) / (math.exp(rate) + len(alphabet) - 1)
    return lambda word: "".join(s if coins.random() < kept else coins.choice(alphabet.replace(s, "")) for s in word)


def literal(word: str, alphabet: str, epsilon: float) -> Broken:
    """The paper's formula: e^(ε·u(ℓ)/(2Δu)) with u(ℓ) = 1/(ℓ + 1) and Δu = 1/2 for k = 1, and no N_ℓ.

    The loss between distances 0 and 1 is ε/2 and ln N_1, for the number N_1 of words at distance 1.
    """
    weights = [math.exp(epsilon / (ell + 1)) for ell in range(len(word) + 1)]
    neighbour = word.replace(word[0], next(s for s in alphabet if s != word[0]), 1)
    loss = epsilon / 2 + math.log(len(word) * (len(alphabet) - 1))
    return Broken(without_counts(weights, alphabet), word, neighbour, epsilon, loss)


def shells_dropped() -> Broken:
    """e^(−ε·ℓ/2) for the distance ℓ instead of each word at it: ε/2 + ln N_1 between neighbours."""
    weights = [math.exp(-ell / 2) for ell in range(7)]
    return Broken(without_counts(weights, "abc"), "aaaaaa", "aaaaab", 1.0, 0.5 + math.log(12))


def twice_the_rate() -> Broken:
    """The exponential mechanism with c = 2ε instead of ε."""
    return Broken(letters(2.0), "abcdab", "abcdac", 1.0, 2.0)


def nan_selection() -> Broken:
    """diffprivlib's exponential mechanism at ε = NaN, which it does not refuse: it returns the best candidate."""
    mechanisms = pytest.importorskip("diffprivlib.mechanisms")
    words = ["".join(each) for each in itertools.product("ab", repeat=3)]

    @cache
    def chosen(word: str) -> Any:
        utility = [-float(sum(a != b for a, b in zip(word, other, strict=True))) for other in words]
        return mechanisms.Exponential(epsilon=math.nan, sensitivity=1, utility=utility, candidates=words)

    def release(word: str) -> str:
        return str(chosen(word).randomise())

    return Broken(release, "aaa", "aab", 5.0, math.inf)


def alignments() -> Broken:
    """Sampling alignments with OpenFst, e^(−ε/2) for each edit: a word counts once for each of its alignments.

    Here summed by hand; benchmarks/bench_edits.py has the same from pynini, and the test compares them.
    """
    words = ["".join(each) for n in range(4) for each in itertools.product("ab", repeat=n)]
    table = [[aligned(x, w, math.exp(-0.5)) for w in words] for x in words]
    proportions = [row[0] / sum(row) for row in table[:2]]
    return Broken(from_table(words, table, 3), "", "a", 1.0, math.log(proportions[0] / proportions[1]), "levenshtein")


def aligned(word: str, output: str, price: float) -> float:
    """The sum over all alignments of price^edits."""
    table = [[0.0] * (len(output) + 1) for _ in range(len(word) + 1)]
    table[0][0] = 1.0
    for i, j in itertools.product(range(len(word) + 1), range(len(output) + 1)):
        if i:
            table[i][j] += price * table[i - 1][j]
        if j:
            table[i][j] += price * table[i][j - 1]
        if i and j:
            table[i][j] += table[i - 1][j - 1] * (1.0 if word[i - 1] == output[j - 1] else price)
    return table[-1][-1]


def published(name: str, *arguments: Any) -> Any:
    """A formula of an artifact, as the benchmark of rivals has it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        import rivals_sequences
    finally:
        sys.path.remove(str(BENCHMARKS))
    return getattr(rivals_sequences, name)(*arguments)


def neighbourhood() -> Broken:
    """An artifact's n-gram baseline, which chooses among the cells within a radius of the true one: ε = inf."""
    cells = list(range(9))
    apart = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    release = from_table(cells, published("published_neighbourhood", apart, 1.0, 2.0), 11)
    return Broken(lambda word, draws: release(word[0], draws), [0], [8], 1.0, math.inf)


def response() -> Broken:
    """An artifact's randomised response for six values at ε = 1, which loses ln(6·(e + 4)) = 3.70."""
    release = from_table(list(range(7)), published("published_response", 6, 1.0), 13)
    return Broken(lambda word, draws: release(word[0], draws), [0], [1], 1.0, math.log(6 * (math.e + 4)))


def marked_at_the_end() -> Broken:
    """A correct mechanism that ends with the true first letter, after some letters at random."""
    correct, coins = letters(1.0), random.Random(17)
    release = lambda word: correct(word) + "e" * coins.randrange(4) + word[0]  # noqa: E731
    return Broken(release, "abcdabcdabcd", "bbcdabcdabcd", 1.0, math.inf)


def parity() -> Broken:
    """A correct mechanism that is asked again until the number of a's in its output tells what the first letter is."""
    correct = letters(1.0)

    def release(word: str) -> str:
        return next(out for out in iter(lambda: correct(word), None) if out.count("a") % 2 == (word[0] == "a"))

    return Broken(release, "a" + 7 * "abcd", "b" + 7 * "abcd", 1.0, math.inf)


def noisy_counts() -> Broken:
    """Laplace noise of scale 1/2 on the counts of both letters, each of which changes by one: ε = 4."""
    coins = np.random.default_rng(23)
    return Broken(lambda word: [word.count(each) + coins.laplace(0, 0.5) for each in "ab"], "aabb", "aaab", 1.0, 4.0)


BROKEN: dict[str, Callable[[], Broken]] = {
    **{f"paper, ε = {e:g}, n = 8, m = 4": (lambda e=e: literal("abcdabcd", "abcd", e)) for e in (0, 0.1, 1)},
    **{f"paper, ε = {e:g}, 32 letters": (lambda e=e: literal(WORD, ALPHABET, e)) for e in (0, 0.1, 1)},
    "N_ℓ dropped": shells_dropped,
    "c twice too large": twice_the_rate,
    "diffprivlib at ε = NaN": nan_selection,
    "weighted alignments": alignments,
    "n-gram baseline of an artifact": neighbourhood,
    "k-RR of the same artifact": response,
    "a marker at the end": marked_at_the_end,
    "the parity of a count": parity,
    "noisy counts": noisy_counts,
}


class SlowClock:
    """A clock of its own: so many readings a second, which is what somebody sees whose draws take that long."""

    def __init__(self, readings: int) -> None:
        self.readings, self.read = readings, 0

    def __call__(self) -> float:
        self.read += 1
        return 1.7e9 + self.read / self.readings


def _seconds(word: str) -> str:
    return letters(1.0, seed=int(time.time()))(word)


def _batch_seconds(word: str, draws: int) -> list[str]:
    release = letters(1.0, seed=int(time.time()))
    return [release(word) for _ in range(draws)]


def seeded_by(clock: Callable[[], float], alike: bool = False) -> Callable[[str], str]:
    """A seed for each second. If letters are replaced `alike`, two words lead to one output at half of the times."""

    def apart(word: str) -> str:
        return letters(1.0, seed=int(clock()))(word)

    def replaced(word: str) -> str:
        coins = random.Random(int(clock()))
        return "".join(letter if coins.random() < 0.5 else coins.choice("abcd") for letter in word)

    return replaced if alike else apart


def _within_batches() -> Callable[[str, int], list[str]]:
    release = seeded_by(SlowClock(20))
    return lambda word, draws: [release(word) for _ in range(draws)]


CLOCKS: dict[str, Callable[[], Callable[..., Any]]] = {
    "by the second": lambda: _seconds,
    "batches by the second": lambda: _batch_seconds,
    "by the second, slowly": lambda: seeded_by(SlowClock(20)),
    "by the second, slowly and alike": lambda: seeded_by(SlowClock(20), alike=True),
    "by the second, more slowly": lambda: seeded_by(SlowClock(4)),
    "within batches": _within_batches,
}


class Ours(NamedTuple):
    """A mechanism with a proven guarantee, and two words of its language."""

    mechanism: Any
    word: Any
    neighbour: Any


OURS: dict[str, Callable[[], Ours]] = {
    "Exponential": lambda: Ours(dw.Exponential(dw.Words("abc"), 1.0), "abca", "abcb"),
    "Exponential, k = 2": lambda: Ours(dw.Exponential(dw.Words("ab"), 1.5, k=2), "aaaa", "aabb"),
    "Exponential, textbook": lambda: Ours(dw.Exponential(dw.Words("abcd"), 2.0, calibration="textbook"), "abc", "abd"),
    "staircase": lambda: Ours(dw.Exponential(dw.Words("ab"), 2.0, k=2, utility=dw.Staircase()), "aaaaaa", "aaaabb"),
    "certified, on states": lambda: Ours(
        dw.Exponential(dw.GridWorld(3, 3).by_states(), 2.0), [(0, 1), (1, 1), (1, 0)], [(0, 1), (1, 1), (2, 1)]
    ),
    "best, on moves": lambda: Ours(dw.best(dw.GridWorld(3, 3), 2.0, length=3), "ESW", "ESS"),
    "Online": lambda: Ours(dw.Online(dw.GridWorld(3, 3), 1.0), "ESW", "ESS"),
    "EditChannel": lambda: Ours(dw.EditChannel("ab", 2.0), "ab", "abb"),
    "lexicon": lambda: Ours(
        dw.Exponential(dw.Lexicon(["bern", "berlin", "bonn", "rom"]), 2.0, distance="levenshtein"), "bern", "bonn"
    ),
    "Report": lambda: Ours(dw.Report(dw.Words("abc"), 1.0, "symbols"), "aaa", "bbb"),
}
