"""The mechanism at ε = 0: the same uniform law for every word."""

from __future__ import annotations

import pytest

import contract
import dpwords as dw
from dpwords.mechanisms.uniform import Uniform
from zoo import ALL


@pytest.mark.parametrize("name", ALL)
def test_every_word_is_equally_likely_whatever_goes_in(name: str) -> None:
    language, length = ALL[name]
    mechanism = Uniform(language, k=1)
    contract.check_probabilities(mechanism, length, lambda _: 1.0)
    contract.check_draws(mechanism, length)
    found = dw.audit.exact(mechanism, length)
    assert (found.epsilon, found.claimed, found.holds) == (0, 0, True)
    words = contract.words_of(mechanism, length)
    laws = [contract.stored_law(mechanism, word, words) for word in words]
    assert all(law == laws[0] for law in laws)


def test_seeded_draws_promise_nothing() -> None:
    assert isinstance(Uniform(dw.Words("ab"), k=1).guarantee, dw.PureDP)
    assert isinstance(Uniform(dw.Words("ab"), k=1).seeded(1).guarantee, dw.NotPrivate)
