"""The view of words: what the server answers, against brute force, formulas and hand-computed numbers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpwords as dw
from dpwords.web.messages import Message, decoded
from dpwords.web.words import LONGEST, release

DNA = {"alphabet": "name:dna"}
EVENTS = {"alphabet": ["order", "pay", "ship"], "separator": " "}
pytestmark = pytest.mark.filterwarnings("ignore:of each word")  # which is part of the answer


def ask(word: str, language: dict[str, Any] = DNA, target: dict[str, Any] | None = None, **promise: Any) -> Any:
    """The answer, after it went through JSON as on its way to the page."""
    question = {"word": word, "recipe": language | promise}
    return decoded(release(Message(question | ({} if target is None else {"target": target}))).encoded()).values


def binomial(length: int, changed: float) -> list[float]:
    return [math.comb(length, d) * changed**d * (1 - changed) ** (length - d) for d in range(length + 1)]


def test_the_figures_are_those_of_independent_places() -> None:
    """For k = 1 each symbol is kept with probability 1/(1 + (m − 1)e^(−ε))."""
    answer = ask("GATTACA", epsilon=2)
    changed = 3 * math.exp(-2) / (1 + 3 * math.exp(-2))
    assert answer["expected"] == pytest.approx(7 * changed)
    assert answer["distribution"] == pytest.approx(binomial(7, changed))
    assert (answer["length"], answer["epsilon"], answer["edits_made"], answer["between"]) == (7, 2, False, "")


def test_releases_are_marked_where_they_differ() -> None:
    answer = ask("GATTACA", epsilon=1)
    assert len(answer["releases"]) == 12
    for marks in answer["releases"]:
        assert len(marks) == 7
        assert all(
            (symbol == own) == (change == "same") for (symbol, change), own in zip(marks, "GATTACA", strict=True)
        )
        assert {change for _, change in marks} <= {"same", "changed"}


def test_edits_of_every_kind() -> None:
    answer = ask("GATTACA", epsilon=2, edits="all")
    for marks in answer["releases"]:
        kept = "".join(symbol for symbol, change in marks if change in ("same", "deleted"))
        assert len(kept) + sum(change == "changed" for _, change in marks) == 7
    assert answer["edits_made"]
    assert answer["literal"] is None
    assert any("edits are made" in line for line in answer["promise"])


def test_a_long_tail_of_edits_is_cut_off() -> None:
    """At the least ε, the channel's distribution has thousands of entries."""
    answer = ask("GATTACA", epsilon=0.7, edits="all")
    assert len(answer["distribution"]) == 1001
    assert "only the length will show" in answer["warnings"][0]


def test_the_least_epsilon_for_an_average() -> None:
    """20 · 3e^(−ε)/(1 + 3e^(−ε)) = 1 at e^ε = 57."""
    answer = ask("ACGT" * 5, target={"distance": 1})
    assert math.log(57) <= answer["epsilon"] < math.log(57) + 0.015
    assert 0.98 < answer["expected"] <= 1


def test_the_least_epsilon_for_a_probability() -> None:
    answer = ask("ACGT" * 5, target={"probability": 0.9, "at_most": 2})
    changed = 3 * math.exp(-answer["epsilon"]) / (1 + 3 * math.exp(-answer["epsilon"]))
    assert 0.9 <= sum(binomial(20, changed)[:3]) < 0.903


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ({"distance": 3}, "even at ε = 0.0078, 1.5 changes are made on average; ask for fewer"),
        ({"probability": 0.4, "at_most": 1}, "the probability of at most 1 is 44%; ask for a higher one"),
    ],
)
def test_a_target_that_a_blind_word_reaches_says_nothing(target: dict[str, Any], reason: str) -> None:
    """Two blind letters of four differ in 2 · 3/4 places on average, in at most one with probability 1 − 9/16."""
    with pytest.raises(dw.InvalidValue, match=reason):
        ask("GA", target=target)


@pytest.mark.parametrize("word", ["pay, ship", "pay,ship"])
def test_names_may_have_commas_between_them(word: str) -> None:
    assert ask(word, EVENTS, epsilon=2)["length"] == 2


def test_names_with_commas_in_them_stay_whole() -> None:
    assert ask("0,2", EVENTS | {"alphabet": ["0,1", "0,2", "0,3"]}, epsilon=2)["length"] == 1


@pytest.mark.parametrize("edits", ["substitutions", "all"])
def test_a_target_is_reached_for_every_k_and_kind_of_edits(edits: str) -> None:
    answer = ask("ACGT" * 5, target={"distance": 3}, k=2, edits=edits)
    assert 2.9 < answer["expected"] <= 3


def test_the_papers_formula_beside_it() -> None:
    """ℓ is drawn in proportion to exp(ε·u(ℓ)/(2Δu)), u(ℓ) = 1/(1 + ℓ) and Δu = 1/2, and its true ε by brute force."""
    answer = ask("abc", {"alphabet": "abc"}, epsilon=2)
    weights = [math.exp(2 / (1 + d)) for d in range(4)]
    shares = [weight / sum(weights) for weight in weights]
    literal = answer["literal"]
    assert literal["distribution"] == pytest.approx(shares)
    assert literal["expected"] == pytest.approx(sum(d * share for d, share in enumerate(shares)))
    logs = [math.log(share / (math.comb(3, d) * 2**d)) for d, share in enumerate(shares)]
    assert literal["true"] == pytest.approx(max(abs(logs[d] - logs[d + 1]) for d in range(3)))
    assert literal["true"] > literal["claimed"] == 2
    assert [len(marks) for marks in literal["words"]] == [3, 3, 3]


def test_the_promise_in_words() -> None:
    """e^3/(1 + e^3) = 95.26%."""
    answer = ask("GATTACA", epsilon=3)
    assert answer["of_100"].endswith("50 are right without the output and at most 96 with it, on average")
    assert any("at most 95.3% sure" in line for line in answer["promise"])
    assert answer["warnings"] == []
    assert "ε is so large" in ask("GATTACA", epsilon=12)["warnings"][0]


def test_names_are_separated_by_spaces() -> None:
    answer = ask(" order  pay ship ", EVENTS, epsilon=3)
    assert answer["length"] == 3
    assert answer["between"] == " "
    assert {symbol for marks in answer["releases"] for symbol, _ in marks} <= {"order", "pay", "ship"}
    single = ask("a b", {"alphabet": list("abc"), "separator": " "}, epsilon=3)
    assert single["length"] == 2


@pytest.mark.parametrize(
    ("word", "language", "promise", "reason"),
    [
        ("", DNA, {}, "the word is empty: type at least one symbol"),
        ("GATTAXA", DNA, {}, r"symbol 6 of 7 is not in the alphabet\): choose an alphabet that has all its symbols"),
        ("order payed", EVENTS, {}, "symbol 2 of 2 is not in the alphabet"),
        ("GAT", DNA, {"k": 4}, "k = 4 is beyond it: take a smaller k"),
        ("GAT", DNA, {"epsilon": 0}, "epsilon= must be a finite number above 0"),
        ("GAT", DNA, {"epsilon": 0.5, "edits": "all"}, r"epsilon must be at least 0.7"),
        ("GAT", DNA, {"edits": "some"}, "edits= must be one of substitutions, all"),
        ("GAT", {"alphabet": "name:greek"}, {}, "there is no alphabet of that name"),
        ("GAT", {"alphabet": r"\@names"}, {}, "not in the alphabet"),
        ("GAT", {"alphabet": "@names"}, {}, "must not name a path"),
        ("A" * (LONGEST + 1), DNA, {}, "at most 400 symbols here"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(
    word: str, language: dict[str, Any], promise: dict[str, Any], reason: str
) -> None:
    with pytest.raises(dw.DPWordsError, match=reason) as caught:
        ask(word, language, **({"epsilon": 2} | promise))
    assert "\n" not in str(caught.value)
    assert not any(text in str(caught.value) for text in ("GAT", "payed", "X", "AAA"))


@pytest.mark.parametrize(
    "target", [{}, {"distance": -1}, {"probability": 1.5, "at_most": 1}, {"distance": 1, "at_most": -1}, {"more": 1}]
)
def test_targets_that_make_no_sense_are_refused(target: dict[str, Any]) -> None:
    with pytest.raises(dw.InvalidValue):
        ask("GATTACA", target=target)
