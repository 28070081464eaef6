"""What a new mechanism needs to be audited, attacked, estimated and offered: one line of dispatch, one of choice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import contract
import dpwords as dw
from dpwords.mechanisms import choice
from dpwords.models.evidence import evidence_of, kind_of_evidence
from dpwords.models.posteriors import Evidence
from dpwords.models.runs import PositionEvidence
from toy import Respondent

WORDS = dw.Words("abc")


@pytest.fixture
def known() -> Iterator[None]:
    """The line of dispatch, for the tests that ask for it."""
    kind_of_evidence.register(Respondent, lambda mechanism, length: PositionEvidence(mechanism, length, mechanism.rate))
    yield
    kind_of_evidence.register(Respondent, Evidence)


def test_it_passes_the_contract() -> None:
    mechanism = Respondent(WORDS, 1.5)
    contract.check_promise(mechanism, 3, draws=10**4)
    contract.check_value(mechanism, 3)
    contract.check_no_traces(mechanism, 3)
    contract.check_release(mechanism, 3)
    contract.check_keyed(mechanism, 3)


def test_without_a_line_of_dispatch_it_is_attacked_over_listed_words() -> None:
    """At one position, the shown symbol is guessed, which is right with probability e^ε/(e^ε + 2)."""
    mechanism = Respondent(WORDS, 1.5)
    found = dw.attack.guess(mechanism, length=2)
    assert found.exact
    assert dw.attack.guess(mechanism, length=2, releases=2).method == "every output"
    right = 1 / (1 + 2 * float(mechanism.other))
    assert found.hits == pytest.approx(2 * right)
    assert found.whole == pytest.approx(right**2)
    assert dw.attack.posterior(["ab"], mechanism).probability == pytest.approx(right**2)
    with pytest.raises(dw.InvalidValue, match="cannot be estimated from releases of this mechanism"):
        dw.estimate.transitions(["ab", "ba"] * 9, mechanism, method="em")


@pytest.mark.usefixtures("known")
def test_with_one_it_is_attacked_and_estimated_like_others() -> None:
    mechanism = Respondent(WORDS, 1.5)
    assert evidence_of(mechanism, 20).rate == mechanism.rate
    found = dw.attack.guess(mechanism, length=20)
    right = 1 / (1 + 2 * float(mechanism.other))
    assert (found.method, found.whole) == ("formula", pytest.approx(right**20))
    words = ["aabc"] * 1500 + ["abca"] * 1500
    released = mechanism.seeded(1).release_all(words)
    proportions = dw.estimate.frequencies(released, mechanism, confidence=0.9999)
    assert proportions["a"].low < 1 / 2 < proportions["a"].high
    same = dw.Online(WORDS, 1.5)  # on free words, it draws each symbol with the same probabilities
    for question in (dw.estimate.transitions, dw.estimate.starts):
        own, expected = (question(released, each, method="em") for each in (mechanism, same))
        assert {pair: each.value for pair, each in own.items()} == pytest.approx(
            {pair: each.value for pair, each in expected.items()}, abs=1e-6
        )
    likely = dw.estimate.decode(released, mechanism, dw.estimate.model(released, mechanism))
    assert likely.expected_distance < likely.released_distance


def test_a_line_of_choice_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    named = choice.Named(
        "response",
        "substitutions",
        lambda language, epsilon, k, limits: Respondent(language, epsilon, k),
        lambda language: language.alike,
        "Respondent(language, {})",
    )
    monkeypatch.setitem(choice.NAMED, "response", named)
    assert isinstance(choice.mechanism(WORDS, 2.0, name="response"), Respondent)
    offers = choice.offers(WORDS, k=1)
    assert "response" in offers
    tight, response = (dw.accuracy.expected_distance(offers[each], 2.0, 9) for each in ("tight (default)", "response"))
    assert response == pytest.approx(tight, rel=1e-9)
    assert "response" not in choice.offers(dw.GridWorld(2, 2), k=1)
