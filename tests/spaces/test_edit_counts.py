"""Words counted by their Levenshtein distance, against other counters and against listing them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.spaces import exhaustive
from dpwords.spaces.edit_counts import CountedSurroundings, CountedWords, rows_at_most
from languages.test_automata import count
from zoo import FINITE, random_systems


def around(language: Any, word: Any) -> CountedSurroundings:
    return CountedWords(language).around(np.array([language.alphabet.codes[symbol] for symbol in word], dtype=np.int64))


def test_the_counts_of_the_notes() -> None:
    found = around(dw.Words("01", max_length=19), "1111011010").counts
    assert found[:10] == [1, 28, 302, 1652, 5533, 14533, 34808, 80407, 180663, 395923]
    assert sum(found) == 2**20 - 1


@pytest.mark.parametrize(("word", "letters"), [("abba", "ab"), ("abcab", "abc"), ("", "ab"), ("aaaa", "abc")])
def test_other_automata_agree(word: str, letters: str) -> None:
    most = 3
    found = around(dw.Words(letters, max_length=len(word) + most), word).counts[: most + 1]
    automata = [DFA.from_nfa(NFA.edit_distance(set(letters), word, d)) for d in range(most + 1)]
    within = [automaton.cardinality() for automaton in automata]
    assert found == np.diff(within, prepend=0).tolist()
    near = dw.LevenshteinAutomaton(word, most, letters)
    policies = [near.exactly(d) for d in range(most + 1)]
    assert found == [count(policy) for policy in policies]


@pytest.mark.parametrize("name", FINITE)
def test_every_word_has_its_number(name: str) -> None:
    """Numbers 0, 1, … of a distance are its words, each once: a uniform number is a uniform word."""
    language, longest = FINITE[name]
    words = exhaustive.words_up_to(language, longest)
    for word in words:
        shells = around(language, word)
        listed = [
            tuple(language.alphabet.symbols[code] for code in shells._numbered(number, distance))
            for distance, count in enumerate(shells.counts)
            for number in range(count)
        ]
        assert len(listed) == len(words)
        assert set(listed) == set(words)
        spent = [distance for distance, count in enumerate(shells.counts) for _ in range(count)]
        assert spent == [contract.edits(word, other) for other in listed]


@given(random_systems(), st.floats(0.05, 8), st.integers(1, 3))
@settings(max_examples=60)
def test_random_systems_keep_the_promise(case: tuple[Any, int], epsilon: float, k: int) -> None:
    language, length = case
    if sum(language.count(n) for n in range(length + 1)) > 60:
        return
    mechanism = dw.Exponential(language.up_to(length), epsilon, k, distance="levenshtein")
    rate = mechanism.certificate().c
    contract.check_probabilities(mechanism, length, lambda d: np.exp(-rate * d))
    contract.check_promise(mechanism, length)


def test_more_words_than_64_bits_count() -> None:
    """From the empty word the distance is the length."""
    words = dw.Words(range(3000), max_length=6)
    assert around(words, []).counts == [3000**n for n in range(7)]
    shells = around(words, [5, 7, 5])
    assert sum(shells.counts) == sum(3000**n for n in range(7)) > 2**63
    mechanism = dw.Exponential(words, 30.0, distance="levenshtein")
    assert words.accepts(mechanism.release([5, 7, 5]))
    assert mechanism.calibration == "textbook"
    probabilities = mechanism.given([5, 7, 5]).distance_distribution()
    weights = [count * np.exp(-15.0 * d) for d, count in enumerate(shells.counts)]
    assert probabilities == pytest.approx([weight / sum(weights) for weight in weights], rel=1e-9)


def test_more_than_1024_words_are_textbook_and_say_so() -> None:
    for bound, method in ((8, "tight"), (10, "textbook")):
        mechanism = dw.Exponential(dw.Words("ab", max_length=bound), 2.0, distance="levenshtein")
        guarantee = mechanism.guarantee
        assert isinstance(guarantee, dw.PureDP)
        assert (mechanism.calibration, guarantee.method, guarantee.distance) == (method, method, "levenshtein")
        mechanism.certificate()
        assert mechanism.calibration == method
    assert mechanism.certificate().c == pytest.approx(1.0)
    assert 0 < mechanism.expected_distance(length=5) < 5


@pytest.mark.parametrize(
    "language", [dw.Words("ab"), dw.GridWorld(2, 2), dw.TransitionSystem({0: {"a": 1}, 1: {"a": 1}}, start=0)]
)
def test_infinite_languages_are_refused(language: Any) -> None:
    with pytest.raises(dw.InvalidValue, match=r"needs a finite language.* bound their length"):
        dw.Exponential(language, 1.0, distance="levenshtein")
    bounded = dw.Exponential(language.up_to(12), 1.0, distance="levenshtein")
    assert bounded.language.accepts(bounded.release(exhaustive.words(bounded.language, 1)[0]))


def test_cycles_that_lead_to_no_word_do_not_count() -> None:
    trap = dw.TransitionSystem({"s": {"a": "end", "b": "t"}, "t": {"b": "t"}}, start="s", accepting=["end"])
    assert dw.Exponential(trap, 1.0, distance="levenshtein").release("a") == "a"
    never = dw.TransitionSystem({"s": {"a": "s"}, "t": {"a": "t"}}, start="s", accepting=["t"])
    with pytest.raises(dw.InvalidValue, match="no word at all"):
        dw.Exponential(never, 1.0, distance="levenshtein")


@given(st.text("abc", max_size=6), st.integers(0, 2))
@settings(max_examples=60)
def test_no_word_takes_more_rows_than_the_language_was_admitted_for(word: str, more: int) -> None:
    """Else a word might be refused, and the refusal would tell about it."""
    longest = len(word) + more
    for layer, found in enumerate(around(dw.Words("abcd", max_length=longest), word)._layers):
        assert len(found.ends) <= rows_at_most(layer, longest)


def test_limits_are_said_before_a_word_goes_in() -> None:
    with pytest.raises(dw.TooLarge, match="at most 1000000 states"):
        dw.Exponential(dw.Words("ab", max_length=10**9), 1.0, distance="levenshtein")
    for language in (
        dw.Words("ab", max_length=40),
        dw.Words(range(99), max_length=200),
        dw.GridWorld(9, 9).up_to(30),
    ):
        with pytest.raises(dw.TooLarge, match=r"list its words .*, or use the edit channel"):
            dw.Exponential(language, 1.0, distance="levenshtein")
    chain = dw.Words("a", max_length=300)
    assert chain.accepts(dw.Exponential(chain, 1.0, distance="levenshtein").release("a" * 200))
    with pytest.raises(dw.TooLarge, match="use fewer symbols"):
        dw.Exponential(dw.Words("ab", max_length=5), 1.0, distance="levenshtein", limits=Limits(counted_numbers=10))


def test_the_public_average_is_over_words_of_one_length() -> None:
    mechanism = dw.Exponential(dw.Words("ab", max_length=3), 2.0, distance="levenshtein")
    words = ["aa", "ab", "ba", "bb"]
    mean = sum(mechanism.expected_distance(word) for word in words) / 4
    assert mechanism.expected_distance(length=2) == pytest.approx(mean)
    assert mechanism.expected_distance("aa") != mechanism.expected_distance("ab")
    with pytest.raises(dw.InvalidValue, match="at most 3 symbols"):
        mechanism.expected_distance(length=4)
    with pytest.raises(dw.InvalidValue, match="no word of length 4"):
        dw.Exponential(FINITE["no cycles"][0], 1.0, distance="levenshtein").expected_distance(length=4)
