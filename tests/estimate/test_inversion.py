"""Inversion on free words: unbiased for every word, by sums over all outputs, and its standard errors."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate.inversion import Inverted, inverted
from dpwords.estimate.questions import of_symbols
from dpwords.estimate.results import on_simplex
from populations import channel, listed

MECHANISMS = {
    "k = 1": dw.Exponential(dw.Words("abc"), 1.5),
    "k = 2, a staircase": dw.Exponential(dw.Words("abc"), 2.0, k=2),
    "k = 3": dw.Exponential(dw.Words("ab"), 2.5, k=3),
    "textbook": dw.Exponential(dw.Words("abc"), 3.0, calibration="textbook"),
    "the paper's utility": dw.Exponential(dw.Words("abc"), 4.0, utility=dw.Inverse(1.0)),
    "online": dw.Online(dw.Words("abc"), 1.0),
    "one symbol": dw.Exponential(dw.Words("a"), 1.0),
}


def answers(word: Any, kind: str, symbols: str) -> Any:
    """What a word itself answers, by definition."""
    if kind == "pair":
        return np.array([sum(pair == (a, b) for pair in pairwise(word)) for a in symbols for b in symbols])
    if kind == "position":
        return np.array([symbol == a for symbol in word for a in symbols], dtype=float)
    counted = {"each": word, "first": word[:1], "last": word[-1:]}[kind]
    return np.array([sum(symbol == a for symbol in counted) for a in symbols])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", ["each", "pair", "first", "last", "position"])
def test_the_mean_over_all_outputs_is_the_truth_for_every_word(name: str, kind: Any) -> None:
    mechanism, length = MECHANISMS[name], 4
    symbols = "".join(mechanism.language.alphabet.symbols)
    words, codes = listed(mechanism.language, length)
    question = of_symbols(mechanism.language.alphabet, kind, length if kind == "position" else 1)
    each = np.array([inverted({length: codes[i : i + 1]}, mechanism, question).proportions for i in range(len(words))])
    sizes = question.sizes(length)
    truth = np.array([answers(word, kind, symbols) for word in words]) / sizes
    assert channel(mechanism, words) @ each == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("kind", ["each", "pair"])
def test_standard_errors_are_those_of_the_sampling_distribution(kind: Any) -> None:
    """Words of two lengths, half each: the mean reported variance over many samples is the exact variance."""
    mechanism = MECHANISMS["k = 1"]
    question, law = of_symbols(mechanism.language.alphabet, kind), {}
    for length in (2, 3):
        words, codes = listed(mechanism.language, length)
        single = np.array(
            [inverted({length: codes[i : i + 1]}, mechanism, question).proportions for i in range(len(words))]
        )
        start = words.index(("a", "b", "b")[:length])
        law[length] = (channel(mechanism, words)[start], single * question.sizes(length), codes)
    number, sizes = 400, {length: question.sizes(length)[0] for length in law}
    total = number / 2 * sum(sizes.values())
    means = {length: proportions @ values for length, (proportions, values, _) in law.items()}
    proportion = sum(number / 2 * mean for mean in means.values()) / total
    exact = np.zeros(question.number)
    for length, (proportions, values, _) in law.items():
        apart = values - proportion * sizes[length]
        exact += number / 2 * (proportions @ apart**2)
    rng, found = np.random.default_rng(4), []
    for _ in range(60):
        rows = {
            length: codes[rng.choice(len(codes), number // 2, p=p / p.sum())] for length, (p, _, codes) in law.items()
        }
        found.append(inverted(rows, mechanism, question).errors ** 2)
    assert np.mean(found, axis=0) == pytest.approx(exact / total**2, rel=0.1)


def test_projection_is_the_nearest_point_of_the_simplex() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        given = rng.normal(0.3, 0.5, 4)
        found = on_simplex(given)
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert found.min() >= 0
        for other in rng.dirichlet(np.ones(4), 200):  # no point of the simplex is nearer
            assert ((found - given) ** 2).sum() <= ((other - given) ** 2).sum() + 1e-12


def test_pairs_are_counted_as_they_are_where_nothing_is_changed() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 200.0)
    found = dw.estimate.dfg(["aab", "ab", "b"], mechanism, method="inverse")
    assert [found[pair].value for pair in found] == pytest.approx([1 / 3, 2 / 3, 0, 0], abs=1e-9)
    assert found.counted == pytest.approx({("a", "a"): 1 / 3, ("a", "b"): 2 / 3, ("b", "a"): 0, ("b", "b"): 0})


VARIANTS = ["abcab", "cabba", "abaab"]  # after ab comes c, b or a, which the word decides and not the symbol before


@pytest.mark.parametrize("ask", [dw.estimate.dfg, dw.estimate.transitions])
def test_pairs_are_inverted_where_a_chain_does_not_fit_the_words(ask: Any) -> None:
    pairs = Counter(pair for word in VARIANTS for pair in pairwise(word))
    mechanism, covered = dw.Exponential(dw.Words("abc"), 2.0), []
    for seed in range(4):
        releases = mechanism.seeded(seed).release_all(VARIANTS * 600)
        found, chain = ask(releases, mechanism), ask(releases, mechanism, method="em")
        assert (found.method, chain.method) == ("inverse", "em")
        error, of_chain = (sum(abs(est[p].value - pairs[p] / 12) for p in est) for est in (found, chain))
        assert error < 0.1 < of_chain
        covered += [found[pair].low <= pairs[pair] / 12 <= found[pair].high for pair in found]
        model = dw.estimate.model(releases, mechanism)
        assert ask(releases, mechanism, model=model) == found
    assert np.mean(covered) > 0.88


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_pairs_of_a_chain_are_estimated_by_one(epsilon: float) -> None:
    """Words in which each symbol depends on the one before it."""
    mechanism, rng, methods = dw.Exponential(dw.Words("abc"), epsilon), np.random.default_rng(5), Counter[str]()
    steps = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
    for seed in range(15):
        codes = rng.integers(3, size=(200, 6))
        for position in range(1, 6):
            codes[:, position] = (rng.random((200, 1)) > steps[codes[:, position - 1]].cumsum(axis=1)).sum(axis=1)
        words = ["".join("abc"[code] for code in row) for row in codes]
        methods[dw.estimate.dfg(mechanism.seeded(seed).release_all(words), mechanism).method] += 1
    assert methods["em"] >= 14


def test_estimates_contradict_each_other_beyond_four_standard_deviations() -> None:
    """With two equal errors e, a squared distance is 2e² on average, with a standard deviation of 2e²: at most 10e²."""
    errors = np.array([0.1, 0.1])
    found = Inverted(np.array([0.5, 0.5]), errors, errors)
    assert not found.contradicts(np.array([0.5, 0.5]) + np.array([1, -1]) * np.sqrt(0.049), 1000)
    assert found.contradicts(np.array([0.5, 0.5]) + np.array([1, -1]) * np.sqrt(0.051), 1000)
    exact = Inverted(np.array([0.5, 0.5]), np.zeros(2), errors)
    assert not exact.contradicts(np.array([0.5001, 0.4999]), 1000)  # less than one answer of 1,000


@pytest.mark.parametrize("method", ["inverse", "em"])
def test_words_shorter_than_k_have_their_length_as_k(method: Any) -> None:
    """As tables release them: their estimates are those of the mechanism with this k, and files mix all lengths."""
    mechanism = dw.Exponential(dw.Words("ab"), 6.0, k=4, utility=dw.Linear())
    short = ["ab", "aa", "ab", "ba", "aa", "ab"] * 20
    found = dw.estimate.frequencies(short, mechanism, method=method)
    assert found == dw.estimate.frequencies(short, mechanism.like(k=2), method=method)
    mixed = dw.estimate.dfg([*short, *["aab", "ababab"] * 60], mechanism, method=method)
    assert sum(each.value for each in mixed.values()) == pytest.approx(1)
