"""Inversion on free words: unbiased for every word, by sums over all outputs, and its standard errors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate.asking import symbols_of
from dpwords.estimate.inversion import inverted
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
    if kind == "place":
        return np.array([symbol == a for symbol in word for a in symbols], dtype=float)
    counted = {"each": word, "first": word[:1], "last": word[-1:]}[kind]
    return np.array([sum(symbol == a for symbol in counted) for a in symbols])


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("kind", ["each", "pair", "first", "last", "place"])
def test_the_mean_over_all_outputs_is_the_truth_for_every_word(name: str, kind: Any) -> None:
    mechanism, length = MECHANISMS[name], 4
    symbols = "".join(mechanism.language.alphabet.symbols)
    words, codes = listed(mechanism.language, length)
    question = symbols_of(mechanism, kind, length if kind == "place" else 1)
    each = np.array([inverted({length: codes[i : i + 1]}, mechanism, question).shares for i in range(len(words))])
    sizes = question.sizes(length)
    truth = np.array([answers(word, kind, symbols) for word in words]) / sizes
    assert channel(mechanism, words) @ each == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("kind", ["each", "pair"])
def test_standard_errors_are_those_of_the_sampling_distribution(kind: Any) -> None:
    """Words of two lengths, half each: the mean reported variance over many samples is the exact variance."""
    mechanism = MECHANISMS["k = 1"]
    question, law = symbols_of(mechanism, kind), {}
    for length in (2, 3):
        words, codes = listed(mechanism.language, length)
        single = np.array([inverted({length: codes[i : i + 1]}, mechanism, question).shares for i in range(len(words))])
        start = words.index(("a", "b", "b")[:length])
        law[length] = (channel(mechanism, words)[start], single * question.sizes(length), codes)
    number, sizes = 400, {length: question.sizes(length)[0] for length in law}
    total = number / 2 * sum(sizes.values())
    means = {length: shares @ values for length, (shares, values, _) in law.items()}
    share = sum(number / 2 * mean for mean in means.values()) / total
    exact = np.zeros(question.number)
    for length, (shares, values, _) in law.items():
        apart = values - share * sizes[length]
        exact += number / 2 * (shares @ apart**2)
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
