"""Inversion of the edit channel: unbiased for every word, by sums over all outputs, and valid for people who stay."""

from __future__ import annotations

import random
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate.edit_inversion import is_invertible, unbiased_answers
from dpwords.models.evidence import evidence_of

KINDS = ("each", "pair", "first", "last")
# 40 % never change, 40 % never change from something else, and a fifth change every time: no Markov chain.
STAYERS = (("aaaaaaaa", 4), ("bbbbbbbb", 4), ("abcabcab", 1), ("cabcabca", 1))


def channel_of(mechanism: dw.EditChannel) -> Any:
    return evidence_of(mechanism, 1).channel


def own_answers(word: str, kind: str, symbols: str) -> np.ndarray:
    """What a word itself answers, by definition."""
    if kind == "pair":
        return np.array([sum(pair == (a, b) for pair in pairwise(word)) for a in symbols for b in symbols], dtype=float)
    counted = {"each": word, "first": word[:1], "last": word[-1:]}[kind]
    return np.array([counted.count(a) for a in symbols], dtype=float)


@pytest.mark.parametrize(
    ("mechanism", "symbols", "longest"),
    [
        (dw.EditChannel("ab", 6.0), "ab", 8),
        (dw.EditChannel("abc", 7.0), "abc", 5),
        (dw.EditChannel("ab", 12.0, k=2), "ab", 8),
        (dw.EditChannel("a", 3.0), "a", 60),
    ],
    ids=repr,
)
def test_the_mean_over_all_outputs_is_the_truth_for_every_word(
    mechanism: dw.EditChannel, symbols: str, longest: int
) -> None:
    words = [word for word in ("", "a", "b", "ab", "bb", "aba", "aaa", "bcb") if set(word) <= set(symbols)]
    true = {(word, kind): own_answers(word, kind, symbols) for word in words for kind in KINDS}
    means = {key: np.zeros(len(each) + 1) for key, each in true.items()}
    reached = dict.fromkeys(words, 0.0)
    for length in range(longest + 1):
        codes = np.array(list(product(range(len(symbols)), repeat=length)), dtype=np.int64)
        outputs = ["".join(symbols[code] for code in row) for row in codes]
        found = {kind: np.column_stack(unbiased_answers(codes, channel_of(mechanism), kind)) for kind in KINDS}
        for word in words:
            law = np.exp([mechanism.given(word).log_prob(output) for output in outputs])
            reached[word] += law.sum()
            for kind in KINDS:
                means[word, kind] += law @ found[kind]
    for word in words:
        assert reached[word] > 1 - 2e-5  # the others are longer
        for kind in KINDS:
            truth, size = true[word, kind], float(len(word) if kind == "each" else true[word, kind].sum())
            assert means[word, kind] == pytest.approx(np.append(truth, size), abs=2e-3), (word, kind)


def test_an_output_of_any_length_is_taken() -> None:
    """Sums of alternating powers stay finite for long releases, and for empty ones."""
    mechanism = dw.EditChannel("ab", 2.0)
    for length in (0, 1, 2000):
        for kind in KINDS:
            found, size = unbiased_answers(np.zeros((1, length), dtype=np.int64), channel_of(mechanism), kind)
            assert np.isfinite(found).all()
            assert np.isfinite(size).all()


@pytest.mark.filterwarnings("ignore:of each word only")
@pytest.mark.parametrize("epsilon", [0.8, 1.0, 1.5, 2.0, 4.0])
def test_whatever_shows_can_be_inverted(epsilon: float) -> None:
    """Half of the symbols are deleted only at an ε at which nothing but the length shows."""
    for symbols in (2, 3, 5, 26, 500):
        channel = channel_of(dw.EditChannel(range(symbols), epsilon))
        assert is_invertible(channel) == (not channel.only_length_shows)
    assert not is_invertible(channel_of(dw.EditChannel("ab", 0.8)))
    assert is_invertible(channel_of(dw.EditChannel("ab", 2)))


def test_intervals_cover_for_people_who_stay() -> None:
    """Nobody who stays ever changes, so that a chain with a single kind of people has too few changes."""
    words, chance = [word for word, times in STAYERS for _ in range(times)], random.Random(5)
    pairs = [pair for word in words for pair in pairwise(word)]
    truth = {(a, b): pairs.count((a, b)) / len(pairs) for a in "abc" for b in "abc"}
    mechanism = dw.EditChannel("abc", 3.5)
    covered, total = 0, 0
    for repetition in range(12):
        releases = mechanism.seeded(repetition).release_all(chance.choices(words, k=400))
        found = dw.estimate.dfg(releases, mechanism)
        assert found.method == "inverse"
        assert found.model is None
        assert found.fits
        held = [found[pair].low <= truth[pair] <= found[pair].high for pair in truth if truth[pair] > 0.01]
        covered, total = covered + sum(held), total + len(held)
    assert covered >= 0.9 * total
    rates = dw.estimate.rates(releases, mechanism)
    row = sum(truth["a", b] for b in "abc")
    assert rates["a", "a"].low <= truth["a", "a"] / row <= rates["a", "a"].high
    chain = dw.estimate.dfg(releases, mechanism, method="em")
    assert not chain.fits
    assert chain["c", "a"].high < truth["c", "a"]


def test_a_chain_takes_its_place_where_it_is_clearly_surer() -> None:
    """Words of a chain, at a small ε: inverted pairs are noisy, and the chain is right."""
    mechanism, chance = dw.EditChannel("ab", 1.8), random.Random(3)
    words = []
    for _ in range(400):
        word = "a"
        while len(word) < 10:
            word += word[-1] if chance.random() < 0.95 else "ab"[word[-1] == "a"]
        words.append(word)
    releases = mechanism.seeded(1).release_all(words)
    inverse, model = dw.estimate.dfg(releases, mechanism, method="inverse"), dw.estimate.dfg(releases, mechanism)
    assert (inverse.method, model.method, model.model) == ("inverse", "em", "chain")
    assert 2 * sum(model.errors.values()) < sum(inverse.errors.values())
