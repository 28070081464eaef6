"""Common words beside a chain: against Bayes' rule over all words, and against populations that are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.models.chains import Chain
from dpwords.models.common_words import CommonWords, Mixture, chain_log_likelihoods, common_words
from dpwords.spaces import exhaustive

CELLS = dw.GridWorld(3, 3).by_states()


@pytest.mark.parametrize("informed", [True, False], ids=["a chain", "equally likely"])
@pytest.mark.parametrize(
    ("mechanism", "length"),
    [(dw.Exponential(dw.Words("abc"), 2), 3), (dw.Online(CELLS, 2), 3), (dw.Online(dw.Words("abc"), 2), 2)],
    ids=repr,
)
def test_guesses_are_those_of_bayes_rule_over_all_words(mechanism: Any, length: int, informed: bool) -> None:
    words = exhaustive.words(mechanism.language, length)
    code_of = mechanism.language.alphabet.codes
    rows = np.array([[code_of[symbol] for symbol in word] for word in words])
    chain = Chain.predictable(mechanism.language)
    common = CommonWords(mechanism, chain if informed else None, rows[[1, 5]], np.array([0.3, 0.2]), 0.5)
    prior = np.exp([chain.log_prob(word) for word in words]) if informed else np.full(len(words), 1 / len(words))
    prior = 0.5 * prior
    prior[[1, 5]] += [0.3, 0.2]
    law = np.exp([[mechanism.log_prob(output, given=word) for output in words] for word in words])
    joint = prior[:, None] * law
    given = joint / joint.sum(axis=0)
    positions, whole = common.guessed(rows)
    symbols, guess = common.guesses(rows)
    assert whole == pytest.approx(given.max(axis=0), rel=1e-6)
    chance = {row.tobytes(): number for number, row in enumerate(rows)}
    assert [given[chance[row.tobytes()], n] for n, row in enumerate(guess)] == pytest.approx(whole, rel=1e-6)
    for position in range(length):
        sums = np.array([given[rows[:, position] == code].sum(axis=0) for code in range(len(code_of))])
        assert positions[:, position] == pytest.approx(sums.max(axis=0), rel=1e-6)
        assert sums[symbols[:, position], np.arange(len(rows))] == pytest.approx(positions[:, position], rel=1e-6)
    hits, most = common.without()
    assert most == pytest.approx(prior.max())
    each = np.array([[prior[column == code].sum() for code in range(len(code_of))] for column in rows.T])
    assert hits == pytest.approx(each.max(axis=1).sum())
    if informed:  # likelihoods are comparable with those of the chain
        alone = np.log(np.exp([chain.log_prob(word) for word in words]) @ law)
        gain = common.log_likelihoods(rows) - chain_log_likelihoods(mechanism, rows, chain)
        assert gain == pytest.approx(np.log(joint.sum(axis=0)) - alone, abs=1e-6)


def test_two_words_are_found_among_noise_and_have_their_proportions() -> None:
    """Two words of ten symbols over four letters, which a release at ε = 1.5 leaves unchanged in 1 of 40 cases."""
    mechanism, chance = dw.Exponential(dw.Words("abcd"), 1.5), np.random.default_rng(7)
    true = np.array([[0, 1, 2, 3, 0, 0, 1, 1, 2, 2], [3, 3, 1, 0, 2, 1, 0, 2, 3, 0]])
    words = np.where((chance.random(1500) < 0.6)[:, None], true[0], true[1])
    released = mechanism.seeded(1).release_codes(words)
    uniform = Chain.uniform(dw.Words("abcd"))
    even = Chain(uniform.language, uniform.shape, np.full(len(uniform.chances), 0.25))
    found = common_words(mechanism, released, even)
    assert {tuple(row) for row in true.tolist()} <= {tuple(row) for row in found.tolist()}
    common = CommonWords.beside(mechanism, None, found, released)
    shares = {tuple(row): share for row, share in zip(found.tolist(), common.proportions, strict=True)}
    assert shares[tuple(true[0].tolist())] == pytest.approx(0.6, abs=0.1)  # words next to them share a little of it
    assert shares[tuple(true[1].tolist())] == pytest.approx(0.4, abs=0.1)


def test_weights_of_a_mixture_are_those_that_are_most_likely() -> None:
    """Two components that never look alike: their proportions are counted."""
    found = Mixture(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]), np.array([3.0, 4.0, 2.0])).fitted()
    assert found == pytest.approx([1 / 3, 2 / 3], abs=1e-6)
