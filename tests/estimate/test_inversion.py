"""Inversion on free words: unbiased for every word, by sums over all outputs, and its standard errors."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate.inversion import inverted
from dpwords.estimate.questions import of_symbols
from dpwords.estimate.results import FoundAnswers, on_simplex
from dpwords.models.fitting import EstimateMethod
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
        found, chain = ask(releases, mechanism), ask(releases, mechanism, model="chain")
        assert (found.method, chain.method) == ("inverse", "em")
        error, of_chain = (sum(abs(est[p].value - pairs[p] / 12) for p in est) for est in (found, chain))
        assert error < 0.1 < of_chain
        covered += [found[pair].low <= pairs[pair] / 12 <= found[pair].high for pair in found]
        model = dw.estimate.model(releases, mechanism, "chain")
        assert ask(releases, mechanism, model=model) == found
    assert np.mean(covered) > 0.88


@pytest.mark.filterwarnings("ignore:the estimates are rough")
def test_a_model_replaces_the_inversion_where_it_is_clearly_more_certain() -> None:
    """Words in which each symbol depends on the one before it: over three symbols nothing is to be gained."""
    for symbols, epsilon, expected in ((18, 3.0, "em"), (3, 4.0, "inverse")):
        mechanism, rng = dw.Exponential(dw.Words(range(symbols)), epsilon), np.random.default_rng(5)
        steps = np.roll(np.eye(symbols), 1, axis=1) * 0.9 + 0.1 / symbols
        codes = rng.integers(symbols, size=(5000, 12))
        for position in range(1, 12):
            uniform = rng.random((5000, 1))
            codes[:, position] = (uniform > steps[codes[:, position - 1]].cumsum(axis=1)).sum(axis=1)
        releases = mechanism.seeded(1).release_codes(codes)
        found = dw.estimate.dfg(releases, mechanism)
        assert found.method == expected
        assert found.fits
        inverse = dw.estimate.dfg(releases, mechanism, method="inverse")
        true = {(a, b): steps[a, b] / symbols for a in range(symbols) for b in range(symbols)}
        error, other = (sum(abs(each[pair].value - true[pair]) for pair in true) for each in (found, inverse))
        assert error < 0.5 * other if expected == "em" else found == inverse


def test_estimates_contradict_each_other_beyond_what_errors_explain() -> None:
    """With two equal errors e, the squared distance is e²·χ² with two degrees of freedom, whose 95 % quantile is
    5.99."""
    errors, answers = np.array([0.1, 0.1]), np.full(2, 1000.0)

    def at(*values: float, wide: Any = errors) -> FoundAnswers:
        return FoundAnswers("ab", np.array(values), wide, EstimateMethod.INVERSE, errors, answers=answers)

    found, apart = at(0.5, 0.5), np.sqrt(0.0599 / 2)
    assert not found.contradicts(at(0.5 + 0.98 * apart, 0.5 - 0.98 * apart))
    assert found.contradicts(at(0.5 + 1.02 * apart, 0.5 - 1.02 * apart))
    assert not at(0.5, 0.5, wide=np.zeros(2)).contradicts(at(0.5001, 0.4999))  # less than one answer of 1,000


@pytest.mark.parametrize("method", ["inverse", "em"])
def test_words_shorter_than_k_have_their_length_as_k(method: Any) -> None:
    """As tables release them: their estimates are those of the mechanism with this k, and files mix all lengths."""
    mechanism = dw.Exponential(dw.Words("ab"), 6.0, k=4, utility=dw.Linear())
    short = ["ab", "aa", "ab", "ba", "aa", "ab"] * 20
    found = dw.estimate.frequencies(short, mechanism, method=method)
    assert found == dw.estimate.frequencies(short, mechanism.like(k=2), method=method)
    mixed = dw.estimate.dfg([*short, *["aab", "ababab"] * 60], mechanism, method=method)
    assert sum(each.value for each in mixed.values()) == pytest.approx(1)
