"""What is said before the draw: numbers by hand, by brute force over all words, and from the exact audit."""

from __future__ import annotations

import inspect
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.mechanisms.choice import best_by_length
from dpwords.mechanisms.private import Private
from dpwords.spaces import exhaustive
from paths import ROOT
from spaces.test_least_distance import to_a_goal
from test_contract import MECHANISMS
from zoo import ALL, FINITE, NO_NEIGHBOURS

SQUARES = dw.Lexicon([f"{number * number:04}" for number in range(100)])


def test_free_words_by_hand() -> None:
    """Each of 18 letters is kept with probability 1/(1 + 3·e^−4) = 0.94792."""
    found = dw.Exponential(dw.Words("acgt"), 4.0).summary(18)
    assert found.unchanged == pytest.approx(0.94792**18, abs=1e-4)
    assert found.expected_distance == pytest.approx(18 * 0.05208, abs=1e-3)
    assert found.nearest is not None
    assert found.whole is not None
    assert (found.nearest.distance, found.nearest.loss, found.nearest_is_exact) == (1, 4.0, True)
    assert found.nearest.ratio == pytest.approx(54.598, abs=1e-3)
    assert found.nearest.certainty == pytest.approx(0.98201, abs=1e-5)
    assert (found.whole.distance, found.whole.loss) == (18, 72.0)
    assert found.warnings == ()
    assert str(found).splitlines() == [
        "words of length 18, ε = 4, k = 1",
        "promised: two words that differ in d positions give any output with probabilities within a factor e^(4·d) of "
        "each other",
        "the nearest two words differ in 1 position: any output is at most e^4 = 54.6 times as likely for one as for "
        "the other, so whoever held both equally likely is at most 98.3% sure afterwards which of them it was",
        "any two words of this length, which differ in up to 18 positions: at most e^72 times as likely, so that one "
        "can be all but sure",
        "a word comes out unchanged with probability 38.2%, on average",
        "0.938 positions are changed, on average",
        "in force: exponential mechanism, tight: all of ε goes into the weights",
        "proof: docs/theory.md, section 3",
    ]


def test_the_guide_shows_this_summary() -> None:
    guide = (ROOT / "docs" / "guide.md").read_text("utf-8")
    assert f"```text\n{dw.Exponential(dw.Words('acgt'), 4.0).summary(18)}\n```" in guide


def test_several_positions_together_by_hand() -> None:
    """At k = 3, words that differ in up to 3 positions lose 2, and in up to 7 positions 3 · 2."""
    found = dw.Exponential(dw.Words("ab"), 2.0, k=3).summary(7)
    assert [None if odds is None else odds.loss for odds in (found.nearest, found.within_k, found.whole)] == [2, 2, 6]
    text = str(found)
    assert "factor e^(2·ceil(d/3)) of each other" in text
    assert (
        "two words that differ in up to 3 positions: at most e^2 = 7.39 times as likely, so that one is at most 88.1%"
        in text
    )
    assert "up to 7 positions: at most e^6 = 403 times as likely, so that one is at most 99.8% sure" in text


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_has_a_summary(name: str) -> None:
    mechanism, length = MECHANISMS[name]
    found = mechanism.summary(length)
    assert pickle.loads(pickle.dumps(found)) == found
    assert (found.epsilon, found.length, found.guarantee) == (mechanism.epsilon, length, mechanism.guarantee)  # type: ignore[attr-defined]
    assert found.in_force == mechanism.in_force(length)
    assert 4 <= len(str(found).splitlines()) <= 12
    if contract.has_endless_outputs(mechanism):
        assert found.unchanged is not None
        assert found.expected_distance is not None
        return
    if isinstance(mechanism, dw.Report):
        assert (found.unchanged, found.expected_distance, found.warnings) == (None, None, ())
        return
    words = [word for word in contract.words_of(mechanism, length) if len(word) == length]
    if mechanism.projected_onto is not None:
        words = [word for word in words if mechanism.projected_onto.accepts(word)]
    unchanged = [math.exp(mechanism.log_prob(word, given=word)) for word in words]
    distances = [mechanism.expected_distance(word) for word in words]
    assert found.unchanged == pytest.approx(math.fsum(unchanged) / len(words), rel=1e-9)
    assert found.expected_distance == pytest.approx(math.fsum(distances) / len(words), rel=1e-9)


@pytest.mark.parametrize("name", [*ALL, *FINITE])
def test_the_odds_hold_for_the_nearest_words(name: str) -> None:
    """The loss between the nearest two words, measured at every output, is within what the summary says of them."""
    language, length = (ALL | FINITE)[name]
    distance: Any = "hamming" if name in ALL else "levenshtein"
    mechanism = dw.Exponential(language, 2.0, distance=distance)
    words = contract.words_of(mechanism, length)
    apart = exhaustive.distances(words, distance)
    losses = exhaustive.pair_losses(exhaustive.log_probs([mechanism.given(word) for word in words], words))
    nearest = mechanism.summary(length).nearest
    if len(words) == 1:
        assert nearest is None
        return
    assert nearest is not None
    assert apart[apart > 0].min() == nearest.distance
    assert losses[apart == nearest.distance].max() <= nearest.loss + 1e-9


def test_the_edit_channel_counts_edits() -> None:
    """At ε = 6 for 2 letters; the probability that no edit is made is a lower bound of that of the word itself."""
    channel = dw.EditChannel("ab", 6.0)
    found = channel.summary(3)
    none = channel.kept**3 * (1 / (1 + channel.inserted)) ** 4  # at least: insertions come in groups
    assert found.unchanged is not None
    assert none <= found.unchanged <= math.exp(channel.log_prob("aba", given="aba"))
    assert "with probability at least" in str(found)
    assert "edits are made, on average" in str(found)
    onto = dw.EditChannel("ab", 6.0, onto=dw.Words("ab", max_length=3)).summary(3)
    assert "edits lie between it and its release (simulated), on average" in str(onto)
    assert "then the nearest word of the language" in str(onto)


def test_no_two_words_within_k() -> None:
    """Moves to a goal can be exchanged, which changes two of them: twice ε at k = 1, once at k = 2."""
    goal = to_a_goal(4, (2, 2))
    found = best_by_length(goal, 1.0).summary(4)
    assert found.nearest is not None
    assert (found.nearest.distance, found.nearest.loss) == (2, 2.0)
    assert found.warnings == (
        "no two of these words differ in fewer than 2 positions, so the promise for k = 1 is about no two words: what "
        "counts is the loss 2 of the nearest two",
    )
    assert f"warning: {found.warnings[0]}" in str(found)
    together = dw.Online(goal, 1.0, k=2).summary(4)
    assert together.nearest is not None
    assert (together.nearest.loss, together.warnings) == (1.0, ())
    far = dw.Exponential(dw.Lexicon(["aaaa", "bbbbbb", "c"]), 0.5, distance="levenshtein").summary(4)
    assert any("are fewer than 4 edits apart" in text for text in far.warnings)


def test_the_only_word_of_a_language() -> None:
    found = dw.Exponential(ALL["one symbol"][0], 1.0).summary(3)
    assert found.nearest is None
    assert found.unchanged == 1.0
    assert found.warnings == ("there is only one word of this length, and it comes out whatever ε is",)


@pytest.mark.parametrize(
    ("epsilon", "length", "expected"), [(0.05, 9, ["so small"]), (3.0, 9, []), (4.4, 5, ["so large"])]
)
def test_epsilon_that_is_too_small_or_too_large(epsilon: float, length: int, expected: list[str]) -> None:
    """A bit is changed with probability 1/(1 + e^ε): 0.4875, 0.0474 and 0.0121. A random bit is changed with 1/2."""
    found = dw.Exponential(dw.Words("ab"), epsilon).summary(length)
    assert [part for part in ("so small", "so large") for text in found.warnings if part in text] == expected


@pytest.mark.parametrize(
    ("epsilon", "part"), [(0.01, "so small"), (0.2, None), (4.0, None), (10.0, "so large"), (40.0, "so large")]
)
def test_warnings_that_are_known_need_no_averages(epsilon: float, part: str | None, monkeypatch: Any) -> None:
    """e^(−0.01·5) > 0.9, so that any two words give nearly the same outputs. At ε = 10 a move is changed with a
    probability of at most 3/(e^10 + 3), so that 5 moves are changed by 0.0007 on average."""
    mechanism = best_by_length(dw.GridWorld(6, 6), epsilon)
    mechanism.release("ESESE")
    full = mechanism.summary(5).warnings
    monkeypatch.setattr("dpwords.spaces.space.Space.typical", None)  # the words that averages are over
    found = mechanism.known_warnings(5)
    assert [text for text in found if part is None or part not in text] == []
    assert bool(found) == (part is not None)
    assert len(found) <= len(full)


def test_warnings_on_free_words_are_those_of_the_summary() -> None:
    for mechanism in (
        *(dw.Exponential(dw.Words("ab"), epsilon) for epsilon in (0.05, 3.0, 6.0)),
        dw.EditChannel("ab", 9.0),
    ):
        assert mechanism.known_warnings(5) == mechanism.summary(5).warnings


def test_a_seeded_mechanism_promises_nothing() -> None:
    found = dw.Exponential(dw.Words("ab"), 2.0).seeded(1).summary(5)
    assert (found.nearest, found.within_k, found.whole, found.epsilon) == (None, None, None, 2.0)
    assert "not private: the draws can be repeated by whoever knows the seed; nothing is promised" in str(found)
    assert "promised:" not in str(found)


def test_figures_that_are_too_large_are_left_out() -> None:
    long = dw.Exponential(dw.Words("ab"), 2.0, utility=dw.Inverse(1.0), limits=Limits(free_classes=10)).summary(11)
    assert (long.unchanged, long.expected_distance) == (None, None)
    assert "on average" not in str(long)
    channel = dw.EditChannel("ab", 3.0, limits=Limits(listed_edits=2)).summary(5)
    assert (channel.unchanged, channel.expected_distance) == (
        None,
        pytest.approx(dw.EditChannel("ab", 3.0).expected_distance("ababa")),
    )
    uncertified = dw.Exponential(ALL["walls"][0], 2.0, limits=Limits(certificate_size=1)).summary(4)
    assert uncertified.in_force is None
    unsearched = dw.Online(NO_NEIGHBOURS, 2.0, limits=Limits(pair_steps=0)).summary(3)
    assert not unsearched.nearest_is_exact
    assert "the nearest two words differ in at least 1 position; the search for them was cut short\n" in str(unsearched)
    assert "\ntwo words that differ in 1 position: any output is at most e^2 = 7.39 times as likely" in str(unsearched)
    half_searched = dw.Online(NO_NEIGHBOURS, 2.0, limits=Limits(pair_steps=5000)).summary(3)
    assert "the loss 4 or more of the nearest two" in half_searched.warnings[0]  # the loss is 6


def test_a_length_that_cannot_be_released_is_refused() -> None:
    for mechanism, length, message in [
        (dw.Exponential(dw.Words("ab"), 1.0), 0, "length must be a whole number, 1 or more"),
        (dw.Exponential(dw.Words("ab"), 1.0, k=3), 2, "take a smaller k"),
        (dw.Exponential(NO_NEIGHBOURS, 1.0), 4, "the language has no word of length 4"),
        (dw.Exponential(SQUARES, 1.0), 3, "the language has no word of length 3"),
    ]:
        for ask in (mechanism.summary, mechanism.in_force):
            with pytest.raises(dw.InvalidValue, match=message):
                ask(length)


def test_no_private_word_can_get_in() -> None:
    assert list(inspect.signature(Private.summary).parameters) == ["self", "length"]
    assert list(inspect.signature(Private.known_warnings).parameters) == ["self", "length"]
    assert list(inspect.signature(Private.in_force).parameters) == ["self", "length"]


def test_what_is_in_force_is_said_for_each_length() -> None:
    """Moves on the 15×15 grid: at ε = 2 nothing better than ε/2 is proven for 18 of them; 4 are few enough to list."""
    mechanism = dw.Exponential(dw.GridWorld(15, 15), 2.0)
    short, long = mechanism.in_force(4), mechanism.in_force(18)
    assert (short.calibration, short.proof) == ("tight", "listed, balanced")
    assert (long.calibration, long.proof, long.c) == ("textbook", "textbook", pytest.approx(1.0))
    assert "at the textbook rate, because nothing better has been proven for words of this length" in long.text
    assert "textbook" not in short.text
    for text in (str(mechanism.guarantee), repr(mechanism)):
        assert "tight" not in text
        assert "certified" in text
    asked = dw.Exponential(dw.GridWorld(15, 15), 2.0, calibration="textbook")
    assert asked.in_force(18).text == "exponential mechanism at the textbook rate: half of ε goes into the weights"
    assert "(textbook)" in str(asked.guarantee)
    assert "(tight)" in str(dw.Exponential(dw.Words("ab"), 2.0).guarantee)


def test_a_large_lexicon_is_at_the_textbook_rate_until_it_has_a_certificate() -> None:
    mechanism = dw.Exponential(SQUARES, 2.0, limits=Limits(automatic_words=10))
    before = mechanism.in_force(4)
    assert (before.calibration, before.c) == ("textbook", pytest.approx(1.0))
    assert "for words of this length yet" in before.text
    proof = mechanism.certificate(4)
    assert (mechanism.in_force(4).calibration, mechanism.in_force(4).c) == ("tight", proof.c)


@pytest.mark.parametrize(
    ("one", "other", "distance", "loss"),
    [("abba", "abba", 0, 0.0), ("abba", "abab", 2, 1.5), ("abba", "baab", 4, 3.0), ([(0, 1)], ((1, 0),), 1, 1.5)],
)
def test_two_words_of_the_callers_choice(one: Any, other: Any, distance: int, loss: float) -> None:
    found = dw.Exponential(dw.Words("ab"), 1.5, k=2).guarantee.explain(one, other)
    assert (found.distance, found.loss) == (distance, loss)
    assert found.ratio == pytest.approx(math.exp(loss))


def test_explanations_in_words() -> None:
    promise = dw.Exponential(dw.Words("ab"), 1.0).guarantee
    assert str(promise.explain("ab", "ab")) == "the two words are the same: there is nothing to tell apart"
    assert str(promise.explain("abc", "acc")) == (
        "the two words differ in 1 position: any output is at most e^1 = 2.72 times as likely for one as for the "
        "other, so whoever held both equally likely is at most 73.2% sure afterwards which of them it was"
    )
    edits = dw.EditChannel("ab", 6.0).guarantee.explain("kitten", ["s", "i", "t", "t", "i", "n", "g"])
    assert (edits.distance, edits.loss) == (3, 18.0)
    assert "are 3 edits apart: any output is at most e^18 times as likely" in str(edits)
    assert "can be all but sure" in str(edits)


@given(st.floats(0, 2000))
def test_certainty_is_bayes_rule(loss: float) -> None:
    odds = dw.PureDP(loss, "hamming", 1, 0.0, "tight").odds(1)
    assert 0.5 <= odds.certainty <= 1
    assert odds.certainty == pytest.approx(odds.ratio / (1 + odds.ratio) if loss < 700 else 1.0)


def test_without_a_promise_nothing_is_explained_away() -> None:
    for mechanism in (dw.Exponential(dw.Words("ab"), 1.0).seeded(0), dw.PaperLiteral(dw.Words("ab"), 1.0)):
        found = mechanism.guarantee.explain("abab", "abba")
        assert (found.distance, found.loss, found.certainty) == (2, math.inf, 1.0)
        assert str(found) == "the two words differ in 2 positions, and nothing is promised about them"
        assert mechanism.guarantee.explain("abab", "abab").loss == 0.0


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        ("secret", "secrets", "pass two words of one length"),
        (["secret", []], ["secret", 1], "a symbol is a hashable value"),
        (5, "secret", "a word must be a str, a list or a tuple"),
    ],
)
def test_what_has_no_distance_is_refused_without_a_symbol(one: Any, other: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message) as refused:
        dw.Exponential(dw.Words("ab"), 1.0).guarantee.explain(one, other)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("loss", "cases"), [(0.0, 50), (0.5, 63), (1.0, 74), (2.0, 89), (3.0, 96), (5.0, 99.4), (50.0, 100)]
)
def test_cases_of_100_are_rounded_up(loss: float, cases: float) -> None:
    """e^loss/(1 + e^loss) is 62.2%, 73.1%, 88.1%, 95.3% and 99.33%."""
    odds = dw.Exponential(dw.Words("ab"), 1.0).guarantee.odds(1)
    found = type(odds)(1, "hamming", loss)
    assert found.cases == cases
    assert (f"at most {cases:g} with it" if cases < 100 else "perhaps all with it") in found.of_100


def test_a_lower_bound_of_next_to_nothing_is_left_out() -> None:
    assert "unchanged" not in str(dw.EditChannel("acgt", 4.0).summary(100))
