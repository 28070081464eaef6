from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings

import dpwords as dw
from dpwords.languages.exploring import explore
from zoo import ALL, random_systems


def test_explore_reaches_what_can_be_reached_breadth_first() -> None:
    graph = {1: [("a", 2), ("b", 3)], 2: [("a", 4)], 3: [("a", 4)], 4: [("a", 1)], 5: [("a", 1)]}
    states, edges = explore([1], lambda state: graph[state])
    assert states == (1, 2, 3, 4)
    assert edges == ((1, "a", 2), (1, "b", 3), (2, "a", 4), (3, "a", 4), (4, "a", 1))
    assert explore([], lambda state: graph[state]) == ((), ())


def brute_count(language: Any, length: int) -> int:
    return sum(map(language.accepts, itertools.product(language.alphabet.symbols, repeat=length)))


@pytest.mark.parametrize("name", ALL)
def test_count_equals_asking_for_every_word(name: str) -> None:
    language, length = ALL[name]
    for n in range(min(length, 3) + 1):
        assert language.count(n) == brute_count(language, n)


@given(random_systems())
@settings(max_examples=60)
def test_count_equals_asking_for_every_word_of_random_systems(case: tuple[Any, int]) -> None:
    language, length = case
    assert language.count(length) == brute_count(language, length)


def test_count_is_exact_for_long_words() -> None:
    assert dw.Words("abc").count(2000) == 3**2000
    fibonacci = dw.TransitionSystem({0: {"a": 0, "b": 1}, 1: {"a": 0}}, start=0)  # no two b's in a row
    a, b = 1, 2
    for _ in range(299):
        a, b = b, a + b
    assert fibonacci.count(300) == b


def test_words() -> None:
    free = dw.Words("abc")
    assert free.accepts("")
    assert free.accepts("abcabc")
    assert free.accepts(["a", "c"])
    assert not free.accepts("abd")
    assert not free.accepts(["a", ["b"]])
    short = dw.Words("ab", max_length=2)
    assert short.accepts("ab")
    assert not short.accepts("aba")
    assert [short.count(n) for n in range(4)] == [1, 2, 4, 0]
    assert "2 symbols" in repr(short)


@pytest.mark.parametrize("length", [-1, 1.5, "2", None, True])
def test_bad_lengths_are_refused(length: Any) -> None:
    for language in (dw.Words("ab"), dw.GridWorld(2, 2)):
        with pytest.raises(dw.InvalidValue, match="length must be a whole number"):
            language.count(length)


@pytest.mark.parametrize("name", ALL)
def test_words_up_to_a_length(name: str) -> None:
    language, length = ALL[name]
    short = language.up_to(length - 1)
    assert [short.count(n) for n in range(length)] == [language.count(n) for n in range(length)]
    assert short.count(length) == 0
    for n in range(min(length, 3) + 1):
        for word in itertools.product(language.alphabet.symbols, repeat=n):
            assert short.accepts(word) == (n < length and language.accepts(word))


def test_the_shorter_bound_counts() -> None:
    assert dw.Words("ab").up_to(5).up_to(3).max_length == 3
    assert dw.Words("ab", max_length=2).up_to(5).max_length == 2
    grid = dw.GridWorld(2, 2)
    assert grid.up_to(5).up_to(3).count(4) == grid.up_to(3).up_to(5).count(4) == 0
    assert "up to 3 symbols" in repr(grid.up_to(3))
    for bound in (-1, 1.5, "2", None):
        for language in (dw.Words("ab"), grid, dw.Lexicon(["ab"])):
            with pytest.raises(dw.InvalidValue, match="max_length must be a whole number, 0 or more"):
                language.up_to(bound)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="at least one word"):
        dw.Lexicon(["ab"]).up_to(1)


def test_exploring_stops_at_a_limit() -> None:
    with pytest.raises(dw.TooLarge, match="at most 100 states"):
        explore([0], lambda state: [("a", state + 1)], most=100)
    assert len(explore([0], lambda state: [("a", (state + 1) % 100)], most=100)[0]) == 100
