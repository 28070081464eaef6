"""Full Levenshtein distance: the expected distance of several mechanisms at equal ε, over all words up to a length.

The edit channel onto the language is measured on seeded draws, the exponential mechanism is computed. Sampling
alignments with OpenFst (pynini: a transducer of weighted edits between the word and the language, summed in the log
semiring) counts a word once for each alignment: it is another mechanism, whose distance from the exponential one and
whose true ε are computed here. Needs pynini (extra `bench`).

    python benchmarks/bench_edits.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import warnings
from pathlib import Path

import numpy as np
import pynini
from bench_accuracy import Row, show
from numpy.typing import NDArray
from pynini.lib import pynutil

import dpwords as dw
from dpwords.core.symbols import levenshtein
from dpwords.spaces import exhaustive
from dpwords.spaces.exhaustive import Symbols

Floats = NDArray[np.float64]
EPSILONS = (1, 2, 3, 4, 6)
LANGUAGES = {
    "words over ab of at most 6 symbols": dw.Words("ab", max_length=6),
    "words over abc of at most 4 symbols": dw.Words("abc", max_length=4),
    "words over 8 symbols of at most 2": dw.Words("abcdefgh", max_length=2),
}
DRAWS = 20_000


def channel(language: dw.Words, words: list[Symbols], epsilon: float) -> float:
    """The mean distance of seeded releases, equally many of each word."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that little survives at small ε is what the table shows
        mechanism = dw.EditChannel(language.alphabet.symbols, epsilon, onto=language).seeded("edits")
    each = math.ceil(DRAWS / len(words))
    return statistics.fmean(levenshtein(word, output) for word in words for output in mechanism.simulate(word, each))


def exponential(language: dw.Words, words: list[Symbols], epsilon: float, calibration: str) -> Floats:
    """ln p(w; x), a row for each word x."""
    mechanism = dw.Exponential(language, epsilon, distance="levenshtein", calibration=calibration)
    return exhaustive.log_probs([mechanism.given(word) for word in words], words)


def aligned(language: dw.Words, words: list[Symbols], epsilon: float) -> Floats:
    """ln p(w; x) of sampling alignments in proportion to e^(−ε/2·edits), as OpenFst adds them up."""
    symbols = [str(symbol) for symbol in language.alphabet.symbols]
    price = epsilon / 2
    any_symbol = pynini.union(*symbols)
    changed = [pynutil.add_weight(pynini.cross(a, b), price) for a in symbols for b in [*symbols, ""] if a != b]
    inserted = [pynutil.add_weight(pynini.cross("", b), price) for b in symbols]
    edits = pynini.union(any_symbol, *changed, *inserted).closure().optimize()
    edits = pynini.arcmap(edits, map_type="to_log64")
    listed = [pynini.arcmap(pynini.accep("".join(word)), map_type="to_log64") for word in words]
    from_word = [pynini.compose(word, edits) for word in listed]
    totals = np.array([[_total(pynini.compose(one, other)) for other in listed] for one in from_word])
    return totals - np.logaddexp.reduce(totals, axis=1)[:, None]


def _total(lattice: pynini.Fst) -> float:
    """ln of the sum over all paths."""
    return -float(pynini.shortestdistance(lattice.connect(), reverse=True)[lattice.start()])


def table(language: dw.Words, epsilons: tuple[float, ...]) -> list[Row]:
    """E[d] for uniform words of the language, and what is wrong with counting alignments."""
    assert language.max_length is not None
    words = exhaustive.words_up_to(language, language.max_length)
    distances = exhaustive.distances(words, "levenshtein")
    rows = []
    for epsilon in epsilons:
        textbook = exponential(language, words, epsilon, "textbook")
        alignments = aligned(language, words, epsilon)
        laws = {"textbook": textbook, "tight": exponential(language, words, epsilon, "tight"), "alignments": alignments}
        for name in ("textbook", "tight"):
            if (exhaustive.pair_losses(laws[name]) > epsilon * distances * (1 + 1e-9)).any():
                raise ArithmeticError(f"{name}: the promise is broken at ε = {epsilon}")
        means = {name: float((np.exp(logs) * distances).sum(axis=1).mean()) for name, logs in laws.items()}
        apart = np.abs(np.exp(textbook) - np.exp(alignments)).sum(axis=1) / 2
        true = (exhaustive.pair_losses(alignments) / np.maximum(distances, 1)).max()
        rows.append(
            {"ε": epsilon, "channel": channel(language, words, epsilon)}
            | means
            | {"alignments: total variation": float(apart.max()), "alignments: true ε": float(true)}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="Expected edit distance of several mechanisms at equal ε.")
    parser.add_argument("--quick", action="store_true", help="one small language and two ε")
    parser.add_argument("--output", type=Path, help="a file for the numbers, as JSON")
    options = parser.parse_args()
    languages = {"words over ab of at most 3 symbols": dw.Words("ab", max_length=3)} if options.quick else LANGUAGES
    tables: dict[str, list[Row]] = {}
    for name, language in languages.items():
        tables[name] = table(language, EPSILONS[1:4:2] if options.quick else EPSILONS)
        show(name, tables[name])
    if options.output:
        options.output.write_text(json.dumps(tables, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
