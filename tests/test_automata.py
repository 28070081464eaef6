from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings

import dpwords as dw
from dpwords.automata import explore
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
        with pytest.raises(dw.InvalidValue, match="length is a whole number"):
            language.count(length)
