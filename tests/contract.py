"""The laws that every mechanism has to pass, with numbers from the brute-force twin."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpwords as dw
from dpwords.core import sampling
from dpwords.core.symbols import hamming
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.spaces import exhaustive
from dpwords.spaces.by_distance import FoldedLaw, IndependentLaw, ShellLaw

HIGH = Context(prec=60, Emin=-(10**9), Emax=10**9)
Weight = Callable[[int], float]
Symbols = tuple[Any, ...]


def words_of(mechanism: Mechanism, length: int) -> list[Symbols]:
    """What can go in and come out: words of one length, or, under Levenshtein distance, up to that of the longest."""
    listed = exhaustive.words if mechanism.distance == "hamming" else exhaustive.words_up_to
    return listed(mechanism.language, length)


def apart(mechanism: Mechanism, one: Symbols, other: Symbols) -> int:
    """The mechanism's distance, by the plain definition."""
    return hamming(one, other) if mechanism.distance == "hamming" else edits(one, other)


def edits(one: Symbols, other: Symbols) -> int:
    """Levenshtein distance, row by row."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    return row[-1]


def check_probabilities(mechanism: Mechanism, length: int, weight: Weight, by_shell: bool = False) -> None:
    """Every probability equals the twin's to 1e-12, they sum to 1, and no word of the language has none."""
    words = words_of(mechanism, length)
    base = {word: float(share) for word, share in base_measure(mechanism, words).items()}
    for word in words:
        twin = shell_law(mechanism, word, weight) if by_shell else twin_law(mechanism, word, words, weight)
        total = math.fsum(base[w] * twin[w] for w in words)
        twin = {w: base[w] * twin[w] / total for w in words}
        given = mechanism.given(word)
        found = {output: math.exp(given.log_prob(output)) for output in words}
        assert found == pytest.approx(twin, rel=1e-12, abs=0)
        assert math.fsum(found.values()) == pytest.approx(1, abs=1e-12)
        by_distance = [0.0] * (length + 1)
        for output, probability in twin.items():
            by_distance[apart(mechanism, word, output)] += probability
        assert given.distance_distribution() == pytest.approx(by_distance, abs=1e-12)
        mean = math.fsum(d * p for d, p in enumerate(by_distance))
        assert given.expected_distance() == pytest.approx(mean, abs=1e-12)
        assert mechanism.expected_distance(word) == given.expected_distance()
        assert mechanism.log_prob(words[0], given=word) == given.log_prob(words[0])
    for each in {len(word) for word in words} - {0}:
        means = [mechanism.expected_distance(word) for word in words if len(word) == each]
        assert mechanism.expected_distance(length=each) == pytest.approx(math.fsum(means) / len(means), abs=1e-12)


def base_measure(mechanism: Mechanism, words: list[Symbols]) -> dict[Symbols, Fraction]:
    """The public weight of each word: 1, or the product over the places of 1/(1 + a·z), where a counts the words that
    differ at this place only."""
    found, length = dict.fromkeys(words, Fraction(1)), len(words[0])
    listed = isinstance(mechanism.language, dw.Lexicon) or mechanism.distance != "hamming"
    linear = isinstance(mechanism, dw.Exponential) and isinstance(mechanism.utility, dw.Linear)
    if listed or not linear or "levelled" not in mechanism.certificate(length).method:
        return found
    z = Fraction(HIGH.exp(-Decimal(mechanism.certificate(length).c)))
    for place in range(length):
        fitting = Counter((word[:place], word[place + 1 :]) for word in words)
        for word in words:
            found[word] /= 1 + (fitting[word[:place], word[place + 1 :]] - 1) * z
    return found


def twin_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols], weight: Weight) -> dict[Symbols, float]:
    """Each output in proportion to the weight of its distance."""
    weights = {output: weight(apart(mechanism, word, output)) for output in outputs}
    total = math.fsum(weights.values())
    return {output: value / total for output, value in weights.items()}


def shell_law(mechanism: Mechanism, word: Symbols, weight: Weight) -> dict[Symbols, float]:
    """The twin of a law that draws the distance first, and then one of the words there."""
    counts = exhaustive.distance_counts(mechanism.language, word)
    total = math.fsum(weight(d) for d, number in enumerate(counts) if number)
    outputs = exhaustive.words(mechanism.language, len(word))
    shares = {output: hamming(word, output) for output in outputs}
    return {output: weight(d) / total / counts[d] for output, d in shares.items()}


def check_draws(mechanism: Mechanism, length: int, draws: int = 4000) -> None:
    """The sampler agrees with `log_prob` (chi-square; seeds are fixed, so the verdict is too)."""
    words = words_of(mechanism, length)
    given = mechanism.seeded(7).given(words[len(words) // 2])
    seen = Counter(given.simulate(draws))
    assert set(seen) <= set(words)
    expected = np.array([draws * math.exp(given.log_prob(word)) for word in words])
    found = np.array([seen[word] for word in words])
    common = expected >= 5
    rest = (found[~common].sum(), expected[~common].sum())
    if rest[1] > 1e-6:
        found, expected = np.append(found[common], rest[0]), np.append(expected[common], rest[1])
    else:
        assert rest[0] == 0
        found, expected = found[common], expected[common]
    if len(found) > 1:
        assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-4


def check_promise(mechanism: Mechanism, length: int) -> None:
    """The exact audit finds no more than is claimed, over every pair of words."""
    found = dw.audit.exact(mechanism, length)
    assert isinstance(mechanism.guarantee, dw.PureDP)
    assert found.claimed == mechanism.guarantee.epsilon
    assert found.epsilon <= found.claimed * (1 + 1e-12) + 1e-12
    assert found.holds


def check_stored_law(mechanism: Mechanism, length: int) -> None:
    """The sampler's own thresholds, read back as fractions, keep the promise without any tolerance,
    and lie within half the slack of the ideal law at the calibrated weights."""
    guarantee = mechanism.guarantee
    assert isinstance(guarantee, dw.PureDP)
    words = words_of(mechanism, length)
    laws = {word: stored_law(mechanism, word, words) for word in words}
    reserve = Decimal(guarantee.slack) * length
    for word, law in laws.items():
        assert sum(law.values()) == 1
        ideal = ideal_law(mechanism, word, words)
        for output in words:
            assert abs(log(law[output]) - log(ideal[output])) <= reserve / 2
    for word, law in laws.items():
        for other, other_law in laws.items():
            bound = Decimal(guarantee.epsilon) * math.ceil(apart(mechanism, word, other) / guarantee.k)
            for output in words:
                assert abs(log(law[output] / other_law[output])) <= bound


def stored_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols]) -> dict[Symbols, Fraction]:
    """The exact probability with which the program draws each word, from its stored thresholds."""
    law = mechanism.given(word).law
    codes = mechanism.language.alphabet.codes
    if isinstance(law, FoldedLaw):
        return {w: _walked(law.lattice, [codes[s] for s in w], 0) for w in outputs}
    if isinstance(law, IndependentLaw):
        kept, replaced = _shares(law.weights)
        each = replaced / max(len(codes) - 1, 1)
        return {w: kept ** (len(w) - hamming(word, w)) * each ** hamming(word, w) for w in outputs}
    assert isinstance(law, ShellLaw)
    shells = _shares(law.weights.shells)
    lattice = getattr(law.shells, "lattice", None)
    counts = Counter(apart(mechanism, word, output) for output in outputs)
    return {
        w: shells[d] * (Fraction(1, counts[d]) if lattice is None else _walked(lattice, [codes[s] for s in w], d))
        for w in outputs
        for d in [apart(mechanism, word, w)]
    }


def ideal_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols]) -> dict[Symbols, Fraction]:
    """The law in 60 digits, from the exact powers that calibration chose."""
    assert isinstance(mechanism, dw.Exponential)
    powers = mechanism._profile(len(word)).powers
    weights = [Fraction(HIGH.exp(HIGH.divide(Decimal(-p.numerator), Decimal(p.denominator)))) for p in powers]
    base = base_measure(mechanism, outputs)
    total = sum(base[w] * weights[apart(mechanism, word, w)] for w in outputs)
    return {w: base[w] * weights[apart(mechanism, word, w)] / total for w in outputs}


def log(value: Fraction) -> Decimal:
    """ln to 60 digits."""
    return HIGH.subtract(HIGH.ln(Decimal(value.numerator)), HIGH.ln(Decimal(value.denominator)))


def _shares(weights: Any) -> list[Fraction]:
    span = int(weights.exponent.max() - weights.exponent[weights.mantissa > 0].min())
    thresholds, above = sampling.thresholds(weights, precision=53 + span)
    assert thresholds == above
    return [Fraction(b - a, thresholds[-1]) for a, b in zip([0, *thresholds], thresholds, strict=False)]


def _walked(lattice: Any, codes: list[int], budget: int) -> Fraction:
    probability, state, graph = Fraction(1), lattice.graph.start, lattice.graph
    for place, code in enumerate(codes):
        shares = _shares(lattice.choices(place, state, budget))
        begin, end = graph.first[state], graph.first[state + 1]
        edge = next(k for k in range(begin, end) if graph.symbol[k] == code)
        probability *= shares[edge - begin]
        budget -= int(lattice.by_distance and code != lattice.codes[place])
        state = int(graph.target[edge])
    return probability
