from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.languages.language import Language
from dpwords.spaces.graph import Graph
from dpwords.spaces.nearest import Nearest, _first_free, nearest_in
from zoo import ALL, SYSTEMS

Codes = tuple[int, ...]
FIRST = Limits(tied_positions=0)  # too few to count nearest words, so that the first one is taken
BITS = SeededSource("nearest words").open()


@cache
def distance(one: Codes, other: Codes) -> int:
    """The definition: the least number of insertions, deletions and substitutions."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        distance(one[1:], other) + 1,
        distance(one, other[1:]) + 1,
        distance(one[1:], other[1:]) + (one[0] != other[0]),
    )


def words_by_length(language: Language) -> Iterator[list[Codes]]:
    """All words of length 0, 1, …: those of the language only, in any order."""
    runs: list[tuple[Codes, object]] = [((), language.initial)]
    while True:
        yield [word for word, state in runs if language.is_accepting(state)]
        runs = [
            ((*word, language.alphabet.codes[symbol]), ahead)
            for word, state in runs
            for symbol, ahead in language.follow(state)
        ]


def all_nearest(language: Language, word: Codes) -> list[Codes]:
    """The nearest words, from a list of all that are short enough; `tuple` order is the order asked for."""
    best: list[tuple[int, Codes]] = []
    for length, words in enumerate(words_by_length(language)):
        if best and length - len(word) > best[0][0]:
            return sorted(other for _, other in best)
        best += [(distance(word, other), other) for other in words]
        least = min(best, default=(0,))[0]
        best = [each for each in best if each[0] == least]
    raise AssertionError


def by_hand(language: Language, word: Codes) -> Codes:
    return all_nearest(language, word)[0]


def found(language: Language, word: Codes) -> Codes:
    return tuple(nearest_in(language, FIRST)(np.array(word, dtype=np.int64), BITS).tolist())


def check_draws(language: Language, word: Codes, nearest: list[Codes], each: int = 40) -> None:
    """All nearest words are drawn, and equally often."""
    draw, codes = nearest_in(language), np.array(word, dtype=np.int64)
    counts = Counter(tuple(draw(codes, BITS).tolist()) for _ in range(each * len(nearest)))
    assert sorted(counts) == nearest
    assert len(nearest) == 1 or stats.chisquare([counts[other] for other in nearest]).pvalue > 1e-6


@st.composite
def systems(draw: st.DrawFn) -> Language:
    """Moves, states, or states from anywhere, of up to 4 states: many with dead ends, some without a word."""
    size, actions = draw(st.integers(1, 4)), "cab"[: draw(st.integers(1, 3))]
    targets = st.one_of(st.none(), st.integers(0, size - 1))
    rows = {state: {action: draw(targets) for action in draw(st.permutations(actions))} for state in range(size)}
    accepting = draw(st.one_of(st.none(), st.sets(st.integers(0, size - 1), max_size=2)))
    shape = draw(st.sampled_from(["moves", "states", "anywhere"]))
    system = dw.TransitionSystem(
        {s: {a: t for a, t in row.items() if t is not None} for s, row in rows.items()},
        start=None if shape == "anywhere" else 0,
        accepting=accepting,
    )
    if shape == "moves":
        assume(any(system.transitions.values()))
        return system
    return system.by_states()


@settings(max_examples=500)
@given(systems(), st.data())
def test_equals_the_brute_force_on_random_systems(language: Language, data: st.DataObject) -> None:
    word = tuple(data.draw(st.lists(st.integers(-1, len(language.alphabet) - 1), max_size=4)))
    if not any(itertools.islice(words_by_length(language), 6)):  # none in as many steps as there are states
        with pytest.raises(dw.InvalidValue, match="no word at all"):
            nearest_in(language)
    else:
        nearest = all_nearest(language, word)
        assert found(language, word) == nearest[0]
        check_draws(language, word, nearest) if len(nearest) < 30 else None


def tree_of(words: set[str]) -> dw.TransitionSystem:
    """The system of just these words: a state for each of their beginnings."""
    beginnings = sorted({word[:size] for word in words for size in range(len(word) + 1)})
    moves = {
        state: {symbol: state + symbol for symbol in "bac" if state + symbol in beginnings} for state in beginnings
    }
    return dw.TransitionSystem(moves, start="", accepting=words)


@settings(max_examples=300)
@given(st.sets(st.text("abc", max_size=9), min_size=1, max_size=12), st.text("abcx", max_size=7))
def test_the_nearest_of_a_list_of_words(words: set[str], word: str) -> None:
    assume(words != {""})
    language = tree_of(words)
    codes = language.alphabet.codes
    candidates = [tuple(codes[symbol] for symbol in other) for other in words]
    given_word = tuple(codes.get(symbol, -1) for symbol in word)
    assert found(language, given_word) == min(candidates, key=lambda other: (distance(given_word, other), other))


@pytest.mark.parametrize("name", SYSTEMS)
def test_equals_the_brute_force_on_every_short_word(name: str) -> None:
    language, _ = SYSTEMS[name]
    symbols = range(-1, min(len(language.alphabet), 4))
    for length in range(4):
        for word in itertools.product(symbols, repeat=length):
            assert found(language, word) == by_hand(language, word)


@pytest.mark.parametrize("letters", ["a", "ab", "abc"])
@pytest.mark.parametrize("max_length", [0, 1, 2, 3, 4, None])
def test_equals_the_brute_force_on_free_words(letters: str, max_length: int | None) -> None:
    language = dw.Words(letters, max_length)
    for length in range(6 if len(letters) < 3 else 5):
        for word in itertools.product(range(-1, len(letters)), repeat=length):
            candidates = [
                other
                for size in range(length + 1 if max_length is None else min(max_length, length) + 1)
                for other in itertools.product(range(len(letters)), repeat=size)
            ]
            first = min(candidates, key=lambda other: (distance(word, other), other))
            assert found(language, word) == first
            assert tuple(_first_free(max_length, np.array(word, dtype=np.int64)).tolist()) == first


@pytest.mark.parametrize("max_length", [2, 3, None])
def test_nearest_free_words_are_equally_likely(max_length: int | None) -> None:
    """Symbols that are unknown, and words that are too long: many ways lead to the same word."""
    language = dw.Words("ab", max_length)
    for word in ((-1, -1), (0, -1, 0), (-1, 0, -1), (0, 1, 0, 1), (1, 1, 0, -1)):
        sizes = range(len(word) + 1 if max_length is None else min(max_length, len(word)) + 1)
        listed = [other for size in sizes for other in itertools.product(range(2), repeat=size)]
        least = min(distance(word, other) for other in listed)
        check_draws(language, word, sorted(other for other in listed if distance(word, other) == least), 60)


@pytest.mark.parametrize("name", SYSTEMS)
def test_nearest_words_are_equally_likely(name: str) -> None:
    language, _ = SYSTEMS[name]
    for word in ((-1,), (0, -1, 0), (-1, -1, -1)):
        check_draws(language, word, all_nearest(language, word))


def test_a_great_number_of_nearest_words() -> None:
    """2,000 unknown symbols become any of 26 each, or vanish: more words than a float can count."""
    word = np.full(2000, -1)
    draw = nearest_in(dw.Words("abcdefghijklmnopqrstuvwxyz"), Limits(tied_positions=2**22))
    drawn = [draw(word, BITS) for _ in range(40)]
    for one in drawn:
        assert np.bincount(one, minlength=26).min() > 30
    assert 30 <= sum(len(one) == 2000 for one in drawn) < 40.1  # 25 of 26 words have all symbols


def test_bounded_words_are_the_same_by_closed_form_and_by_automaton() -> None:
    language, bits = dw.Words("abcd", max_length=12), np.random.default_rng(3)
    through_automaton = Nearest(Graph.of(language), FIRST)
    for length in range(30):
        word = bits.integers(-1, 4, size=length)
        assert _first_free(12, word).tolist() == through_automaton(word, BITS).tolist()


def test_a_long_free_word_needs_no_automaton() -> None:
    word = np.tile([1, 0], 50_000)
    assert nearest_in(dw.Words("ab", max_length=99_999))(word, BITS).tolist() == [0, *word.tolist()[2:]]
    assert nearest_in(dw.Words("ab"))(word, BITS).tolist() == word.tolist()


@given(st.sampled_from(sorted(ALL)), st.data())
def test_words_of_the_language_stay(name: str, data: st.DataObject) -> None:
    language, _ = ALL[name]
    state, word = language.initial, []
    for pick in data.draw(st.lists(st.integers(0, 10**6), max_size=12)):
        moves = list(language.follow(state))
        if moves:
            symbol, state = moves[pick % len(moves)]
            word.append(language.alphabet.codes[symbol])
    assume(language.is_accepting(state))
    assert found(language, tuple(word)) == tuple(word)


@given(st.sampled_from(sorted(SYSTEMS)), st.lists(st.integers(-1, 2), max_size=25))
def test_the_nearest_word_is_in_the_language_and_is_its_own_nearest(name: str, word: list[int]) -> None:
    language, _ = SYSTEMS[name]
    once = found(language, tuple(word))
    assert language.accepts([language.alphabet.symbols[code] for code in once])
    assert found(language, once) == once


def test_what_one_symbol_saves_is_known_at_the_other_end_of_a_long_chain() -> None:
    """Two words of the same length: only a's, and c's with b at the end."""
    size = 10_000
    only_a = {("a", position): {"a": ("a", position + 1)} for position in range(1, size)} | {("a", size): {"a": "end"}}
    c_then_b = {("c", position): {"c": ("c", position + 1)} for position in range(1, size)} | {
        ("c", size): {"b": "end"}
    }
    language = dw.TransitionSystem(
        {"start": {"a": ("a", 1), "c": ("c", 1)}, **only_a, **c_then_b}, start="start", accepting=["end"]
    )
    a, b, c = (language.alphabet.codes[symbol] for symbol in "abc")
    assert a < c
    for word in ((), (-1,), (a,), (a, c), (b, a, c), (c, a, b, a)):
        assert found(language, word) == (a,) * (size + 1)
    for word in ((b,), (c,), (-1, b), (a, c, b)):
        assert found(language, word) == (c,) * size + (b,)


def test_of_many_ways_to_pay_for_a_bridge_the_first_is_taken() -> None:
    """Words a…a, six c, b…b: any six edits around the border of the word will do, and most a's come first."""
    moves = {"left": {"a": "left", "c": 1}} | {i: {"c": i + 1} for i in range(1, 5)} | {5: {"c": "right"}}
    language = dw.TransitionSystem(moves | {"right": {"b": "right"}}, start="left", accepting=["right"])
    assert found(language, (0,) * 9 + (2,) * 9) == (0,) * 9 + (1,) * 6 + (2,) * 3


def test_a_language_without_a_word_is_refused() -> None:
    lost = dw.TransitionSystem({"s": {"a": "t"}, "island": {"b": "island"}}, start="s", accepting=["island"])
    with pytest.raises(dw.InvalidValue, match="no word at all: make an accepting state reachable"):
        nearest_in(lost)


def test_the_only_word_may_be_the_empty_one() -> None:
    language = dw.TransitionSystem({"s": {"a": "t"}, "t": {"a": "t"}}, start="s", accepting=["s"])
    assert found(language, (0, 0, -1)) == ()


def test_a_table_beyond_the_limit_is_refused_before_it_is_built() -> None:
    find = nearest_in(dw.GridWorld(3, 3), Limits(memory=4 * 9 * 8))
    assert len(find(np.full(7, -1), BITS)) <= 7
    with pytest.raises(dw.TooLarge, match=r"9 states and 8 symbols would take .* GiB"):
        find(np.full(8, -1), BITS)
