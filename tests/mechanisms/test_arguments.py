"""What goes into a mechanism and what comes out; what is refused, and how."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpwords as dw
from zoo import SYSTEMS


def test_words_come_back_as_they_went_in() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 0.5)
    assert isinstance(mechanism.release("abab"), str)
    assert isinstance(mechanism.release(["a", "b"]), list)
    assert isinstance(mechanism.release(("a", "b")), tuple)
    mixed = dw.Exponential(dw.Words([("cell", 1), None, 3.5]), 0.5)
    out = mixed.release([None, 3.5, ("cell", 1)])
    assert set(out) <= {("cell", 1), None, 3.5}
    assert mechanism.simulate("ab", 0) == []


def test_a_distribution_does_not_follow_later_changes_of_the_word() -> None:
    word = list("abc")
    at = dw.Exponential(dw.Words("abc"), 1.0).given(word)
    before = at.log_prob("abc")
    word.append("a")
    assert at.log_prob("abc") == before > -math.inf
    assert len(at.simulate(1)[0]) == 3


def test_log_prob_is_minus_infinity_outside() -> None:
    given_word = dw.Exponential(dw.Words("ab"), 1.0).given("abab")
    assert given_word.log_prob("aba") == -math.inf
    assert given_word.log_prob("abac") == -math.inf
    on_grid = dw.Exponential(dw.GridWorld(2, 2), 1.0)
    assert on_grid.log_prob("N", given="E") == -math.inf


def bad_word_cases() -> list[tuple[Any, Any, str]]:
    grid = dw.GridWorld(3, 3)
    return [
        (dw.Words("abc"), "", "empty word"),
        (dw.Words("abc"), "abd", r"symbol 3 of 3 is not in the alphabet"),
        (dw.Words("abc"), ["a", ["b"]], r"symbol 2 of 2 is not in the alphabet"),
        (dw.Words("abc", max_length=2), "abc", "at most 2 symbols"),
        (dw.Words("abc"), 17, "a word must be a str, a list or a tuple"),
        (dw.Words("abc"), {"a"}, "a word must be a str, a list or a tuple"),
        (dw.Words(["go", "stop"]), "go", "pass a list"),
        (grid.by_states(), "ab", "pass a list"),
        (grid, "NE", r"symbol 1 of 2 cannot follow"),
        (SYSTEMS["accepting set"][0], "ab", "ends where no word"),
    ]


@pytest.mark.parametrize(("language", "word", "message"), bad_word_cases())
def test_bad_words_are_refused(language: Any, word: Any, message: str) -> None:
    for mechanism in (dw.Exponential(language, 1.0), dw.PaperLiteral(language, 1.0)):
        with pytest.raises(dw.InvalidValue, match=message):
            mechanism.given(word)


def test_errors_do_not_tell_which_word_it_was() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 1.0)
    messages = set()
    for word in ("abXc", "ccYa", "aaZb"):
        with pytest.raises(dw.NotInLanguage) as caught:
            mechanism.release(word)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert not set("XYZ") & set(messages.pop())


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "abc", None, True, 1e9, 1j])
def test_bad_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="epsilon= must be"):
        dw.Exponential(dw.Words("ab"), epsilon)


def test_epsilon_below_the_rounding_slack_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="rounding"):
        dw.Exponential(dw.Words("ab"), 1e-15).release("ab")


@pytest.mark.parametrize("k", [0, -1, 1.5, "1", True, None])
def test_bad_k_is_refused(k: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="k must be a whole number, 1 or more"):
        dw.Exponential(dw.Words("ab"), 1.0, k)


def test_k_beyond_the_length_is_refused() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0, k=3)
    assert len(mechanism.release("aba")) == 3
    for use in (lambda: mechanism.release("ab"), lambda: mechanism.expected_distance(length=2)):
        with pytest.raises(dw.InvalidValue, match="k is at most the word's length"):
            use()


def test_other_bad_arguments_are_refused() -> None:
    words = dw.Words("ab")
    with pytest.raises(dw.InvalidValue, match="calibration is"):
        dw.Exponential(words, 1.0, calibration="loose")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"utility is Linear\(\)"):
        dw.Exponential(words, 1.0, utility=dw.Linear)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="the language must be"):
        dw.Exponential("ab", 1.0)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="distance is 'hamming'"):
        dw.Exponential(words, 1.0, distance="edits")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="length must be a whole number, 1 or more"):
        dw.Exponential(words, 1.0).expected_distance(length=0)
    with pytest.raises(dw.InvalidValue, match="a seed is"):
        dw.Exponential(words, 1.0).seeded(None)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="draws must be a whole number"):
        dw.Exponential(words, 1.0).simulate("ab", -1)
    with pytest.raises(dw.InvalidValue, match="either a word or length"):
        dw.Exponential(words, 1.0).expected_distance()
    with pytest.raises(dw.InvalidValue, match="either a word or length"):
        dw.Exponential(words, 1.0).expected_distance("ab", length=2)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.Exponential(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0).expected_distance(length=2)


def test_absurd_lengths_are_refused_at_once() -> None:
    for language in (dw.Words("abc"), dw.GridWorld(3, 3)):
        for utility in (dw.Linear(), dw.Inverse(1.0)):
            with pytest.raises(dw.TooLarge):
                dw.Exponential(language, 1.0, utility=utility).expected_distance(length=10**12)
    with pytest.raises(dw.TooLarge):
        dw.Exponential(dw.GridWorld(3, 3), 1.0).expected_distance(length=10**8)
    with pytest.raises(dw.InvalidValue, match="at most 3 symbols"):
        dw.Exponential(dw.Words("ab", max_length=3), 1.0).expected_distance(length=4)
    assert dw.Exponential(SYSTEMS["one symbol"][0], 1.0).expected_distance(length=5000) == 0.0


def test_guarantee_and_repr_say_what_is_promised() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.5, k=2)
    guarantee = mechanism.guarantee
    assert isinstance(guarantee, dw.PureDP)
    assert (guarantee.epsilon, guarantee.distance, guarantee.k, guarantee.method) == (1.5, "hamming", 2, "tight")
    assert [guarantee.loss(d) for d in range(5)] == [0, 1.5, 1.5, 3.0, 3.0]
    assert 0 < guarantee.slack < 1e-14
    with pytest.raises(dw.InvalidValue, match="a distance must be a whole number"):
        guarantee.loss(-1)
    assert "ε = 1.5, k = 2" in str(guarantee)
    assert "epsilon=1.5, k=2" in repr(mechanism)
    assert "secret" not in repr(dw.Exponential(dw.Words("cerst"), 1.0).given("secret"))
