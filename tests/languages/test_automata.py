"""The paper's automata against words listed one by one, and against the paper's sizes."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.languages.automata import ANY, EMPTY, AnyBut, Policy
from dpwords.spaces import exhaustive
from zoo import SYSTEMS

ACC = "american control conference 2019"
PATH = "SSSSEEESSSSSSENNN"


def levenshtein(one: str, other: str) -> int:
    """The textbook table."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        above, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    return row[-1]


def all_words(alphabet: str, longest: int) -> list[str]:
    return ["".join(w) for n in range(longest + 1) for w in itertools.product(alphabet, repeat=n)]


def test_sizes_of_case_study_1() -> None:
    near = dw.LevenshteinAutomaton(ACC, k=32, alphabet=ACC, edits="substitutions")
    assert len(near.alphabet) == 16
    assert (len(near.states), len(near.edges)) == (561, 1056)


def test_sizes_of_case_study_2() -> None:
    near = dw.LevenshteinAutomaton(PATH, k=17, alphabet="NESW", edits="substitutions")
    product = near.product(dw.GridWorld(15, 15, start=(1, 2)))
    assert (len(product.states), len(product.edges)) == (6194, 18762)
    assert product.accepts(PATH)
    assert not product.accepts("N" * 17)


def test_the_figures_automata_for_abc() -> None:
    everything = dw.LevenshteinAutomaton("abc", k=2, alphabet="abc")
    assert len(everything.states) == 12
    labels = [label for _, label, _ in everything.edges]
    assert (labels.count(ANY), labels.count(EMPTY), len(labels)) == (8, 6, 9 + 8 + 6 + 6)
    assert sum(isinstance(label, AnyBut) for label in labels) == 6
    assert everything.accepting == {(3, 0), (3, 1), (3, 2)}
    policy = dw.LevenshteinAutomaton("abc", k=2, alphabet="abc", edits="substitutions").exactly(2)
    assert policy.completions == {(0, 0): 12, (1, 0): 4, (1, 1): 4, (2, 1): 2, (2, 2): 1, (3, 2): 1}
    assert policy.policy[(0, 0), "a"] == Fraction(1, 3)
    assert policy.policy[(0, 0), "b"] == policy.policy[(0, 0), "c"] == Fraction(1, 3)
    assert policy.policy[(1, 1), "b"] == Fraction(1, 2)
    assert policy.policy[(1, 1), "a"] == policy.policy[(1, 1), "c"] == Fraction(1, 4)
    assert str(AnyBut("a")) == "any but a"
    assert str(EMPTY) == "empty"


@pytest.mark.parametrize(
    ("word", "k", "alphabet"), [("abc", 2, "abc"), ("aab", 1, "ab"), ("", 2, "ab"), ("aa", 3, "a")]
)
def test_acceptance_is_distance_at_most_k(word: str, k: int, alphabet: str) -> None:
    everything = dw.LevenshteinAutomaton(word, k, alphabet)
    substituted = dw.LevenshteinAutomaton(word, k, alphabet, edits="substitutions")
    for other in all_words(alphabet, len(word) + k + 1):
        assert everything.accepts(other) == (levenshtein(word, other) <= k)
        same_length = len(other) == len(word)
        assert substituted.accepts(other) == (same_length and hamming(word, other) <= k)
        assert everything.of_length().accepts(other) == (same_length and levenshtein(word, other) <= k)
    assert substituted.of_length() is substituted
    assert not everything.accepts("z" * len(word) if word else "z")


def count(policy: Policy) -> int:
    return policy.completions[policy.start]


@pytest.mark.parametrize(("word", "k", "alphabet"), [("abc", 2, "abc"), ("abab", 3, "ab"), ("aa", 2, "a")])
def test_completions_count_words_at_exact_distance(word: str, k: int, alphabet: str) -> None:
    everything = dw.LevenshteinAutomaton(word, k, alphabet)
    substituted = dw.LevenshteinAutomaton(word, k, alphabet, edits="substitutions")
    listed = all_words(alphabet, len(word) + k)
    for distance in range(k + 1):
        at = [other for other in listed if levenshtein(word, other) == distance]
        assert count(everything.exactly(distance)) == len(at)
        assert count(everything.of_length().exactly(distance)) == sum(len(w) == len(word) for w in at)
        hamming_at = [w for w in listed if len(w) == len(word) and hamming(word, w) == distance]
        assert count(substituted.exactly(distance)) == len(hamming_at)
        for other in listed:
            assert substituted.exactly(distance).accepts(other) == (other in hamming_at)


def test_counts_at_exact_levenshtein_distance_of_the_notes() -> None:
    automaton = dw.LevenshteinAutomaton("1111011010", k=9, alphabet="01")
    expected = [1, 28, 302, 1652, 5533, 14533, 34808, 80407, 180663, 395923]
    assert [count(automaton.exactly(d)) for d in range(10)] == expected


def probability(policy: Policy, word: Any) -> Fraction:
    """The product of μ along the word's run."""
    runs = {(source, symbol): target for source, label, target in policy.edges for symbol in policy._symbols(label)}
    state, product = policy.start, Fraction(1)
    for symbol in word:
        product *= policy.policy.get((state, symbol), Fraction(0))
        state = runs.get((state, symbol))
    return product


@pytest.mark.parametrize("name", SYSTEMS)
def test_products_restrict_to_the_system_and_policies_draw_uniformly(name: str) -> None:
    language, length = SYSTEMS[name]
    words = exhaustive.words(language, length)
    word = words[-1]
    near = dw.LevenshteinAutomaton(word, length, language.alphabet.symbols, edits="substitutions")
    product = near.product(language)
    for other in itertools.islice(itertools.product(language.alphabet.symbols, repeat=length), 300):
        assert product.accepts(other) == language.accepts(other)
    counts = exhaustive.distance_counts(language, word)
    for distance in range(length + 1):
        policy = product.exactly(distance)
        assert count(policy) == counts[distance]
        for other in words:
            expected = Fraction(1, counts[distance]) if hamming(word, other) == distance else 0
            assert probability(policy, other) == expected


@given(st.text("ab", min_size=1, max_size=5), st.integers(0, 4), st.text("ab", max_size=6))
@settings(max_examples=150)
def test_random_words(word: str, k: int, other: str) -> None:
    assert dw.LevenshteinAutomaton(word, k, "ab").accepts(other) == (levenshtein(word, other) <= k)


def test_bad_input() -> None:
    with pytest.raises(dw.InvalidValue, match="symbol 2 of 3 is not in the alphabet"):
        dw.LevenshteinAutomaton("axa", 1, "ab")
    with pytest.raises(dw.InvalidValue, match="k must be a whole number, 0 or more"):
        dw.LevenshteinAutomaton("aa", -1, "ab")
    with pytest.raises(dw.InvalidValue, match="edits must be"):
        dw.LevenshteinAutomaton("aa", 1, "ab", edits="some")  # type: ignore[arg-type]
    near = dw.LevenshteinAutomaton("aa", 1, "ab")
    with pytest.raises(dw.InvalidValue, match="from 0 to 1"):
        near.exactly(2)
    with pytest.raises(dw.InvalidValue, match="deterministic automaton"):
        near.product(dw.GridWorld(2, 2))
    with pytest.raises(dw.InvalidValue, match="a product needs a language"):
        near.of_length().product(3)  # type: ignore[arg-type]
    assert "6 states" in repr(near)
