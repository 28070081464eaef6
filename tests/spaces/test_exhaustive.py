from __future__ import annotations

import math

import numpy as np
import pytest

import contract
import dpwords as dw
from dpwords.spaces import exhaustive


def test_words_are_listed_in_order() -> None:
    assert exhaustive.words(dw.Words("ab"), 2) == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert exhaustive.words(dw.GridWorld(1, 2), 3) == [("E", "W", "E")]
    assert exhaustive.words(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 2) == []


def test_the_limit_is_said_before_anything_is_listed() -> None:
    with pytest.raises(dw.TooLarge, match=r"about 10\^954 words of length 2000, and 4096 is the most"):
        exhaustive.words(dw.Words("abc"), 2000)
    with pytest.raises(dw.TooLarge, match="more than 4096 symbols"):
        exhaustive.words(dw.Words("a"), 10**12)
    with pytest.raises(dw.TooLarge, match="there are 9 words"):
        exhaustive.words(dw.Words("abc"), 2, limit=8)


def test_long_words_and_dead_prefixes_cost_nothing() -> None:
    """One word of length 2000; and one of length 60, beside 2^60 prefixes that lead nowhere."""
    assert exhaustive.words(dw.Words("a"), 2000) == [("a",) * 2000]
    trap = dw.TransitionSystem({"s": {"a": "s", "b": "t"}, "t": {"a": "t", "b": "t"}}, start="s", accepting=["s"])
    assert exhaustive.words(trap, 60) == [("a",) * 60]
    with pytest.raises(dw.TooLarge, match=r"about 10\^12288 words"):
        exhaustive.words(dw.Words(range(1000)), 4096)


def test_law_and_counts_by_hand() -> None:
    words = exhaustive.words(dw.Words("ab"), 2)
    law = contract.reference_law(dw.Exponential(dw.Words("ab"), 1.0), ("a", "a"), words, lambda d: [4.0, 2.0, 1.0][d])
    assert law == {("a", "a"): 4 / 9, ("a", "b"): 2 / 9, ("b", "a"): 2 / 9, ("b", "b"): 1 / 9}
    assert exhaustive.distance_counts(dw.Words("abc"), ("a", "b", "c")) == [1, 6, 12, 8]


def test_pair_losses_by_hand() -> None:
    never = -math.inf
    losses = exhaustive.pair_losses(np.array([[-1, -2, never], [-3, -1, never], [-1, -2, -5]]))
    assert losses.tolist() == [[0, 2, math.inf], [2, 0, math.inf], [math.inf, math.inf, 0]]
    assert exhaustive.distances([("a", 1), ("a", 2), ("b", 2)]).tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


def test_words_up_to_a_length() -> None:
    assert exhaustive.words_up_to(dw.Words("ab"), 2) == [(), *(tuple(w) for w in ("a", "b", "aa", "ab", "ba", "bb"))]
    assert len(exhaustive.words_up_to(dw.Words("abc"), 3)) == 1 + 3 + 9 + 27
    with pytest.raises(dw.TooLarge, match="there are 15 words of length 3 or less"):
        exhaustive.words_up_to(dw.Words("ab"), 4, limit=14)
