from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.privacy.guarantees import loss_by_distance
from dpwords.privacy.utilities import sensitivity
from dpwords.spaces import exhaustive


@given(st.integers(1, 6), st.integers(0, 6), st.floats(0.01, 50))
def test_sensitivity_of_the_papers_utility_is_the_lemma(k: int, more: int, alpha: float) -> None:
    values = dw.Inverse(alpha).values(k + more, k)
    exact = Fraction(alpha)
    assert sensitivity(values, k) == k / (exact * (k + exact))


@given(st.integers(1, 5), st.integers(0, 9), st.data())
def test_sensitivity_is_the_largest_change_over_k_positions(k: int, more: int, data: st.DataObject) -> None:
    n = k + more
    utility = data.draw(
        st.sampled_from([dw.Linear(), dw.Inverse(0.5), dw.Inverse(3.0), dw.Staircase(0), dw.Staircase(k - 1)])
    )
    values = utility.values(n, k)
    brute = max(abs(values[i] - values[j]) for i in range(n + 1) for j in range(n + 1) if abs(i - j) <= k)
    assert sensitivity(values, k) == brute
    assert values == sorted(values, reverse=True)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("utility", [dw.Linear(), dw.Inverse(0.7), dw.Staircase(0)])
def test_sensitivity_equals_brute_force_over_words(k: int, utility: Any) -> None:
    """Over every output and every pair of neighbours of {a, b}^3."""
    words = exhaustive.words(dw.Words("ab"), 3)
    values = utility.values(3, k)
    brute = max(
        abs(values[hamming(x, w)] - values[hamming(y, w)])
        for x in words
        for y in words
        for w in words
        if hamming(x, y) <= k
    )
    assert sensitivity(values, k) == brute


def test_linear_and_staircase_by_hand() -> None:
    assert sensitivity(dw.Linear().values(9, 4), 4) == 4
    assert dw.Staircase(1).values(6, 3) == [0, 0, -1, -1, -1, -2, -2]
    assert sensitivity(dw.Staircase(1).values(6, 3), 3) == 1


@pytest.mark.parametrize("alpha", [0, -1.0, math.nan, math.inf, "1", None, True])
def test_bad_alpha_is_refused(alpha: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="alpha must be a finite number above 0"):
        dw.Inverse(alpha)
    with pytest.raises(dw.InvalidValue, match="alpha must be a finite number above 0"):
        dw.PaperLiteral(dw.Words("ab"), 1.0, alpha=alpha)


def test_numbers_of_other_libraries_become_plain_ones() -> None:
    assert type(dw.Inverse(np.int64(1)).alpha) is float
    assert type(dw.Staircase(np.int8(1)).first_step) is int
    private = dw.Exponential(dw.Words("ab"), np.float64(0.1), np.int64(2), dw.Staircase(np.int8(1)))
    assert len(private.release("ab" * 200)) == 400


def test_bad_first_steps_are_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="first_step must be a whole number"):
        dw.Staircase(-1)
    with pytest.raises(dw.InvalidValue, match="first_step must be at most k − 1 = 1"):
        dw.Exponential(dw.Words("ab"), 1.0, 2, dw.Staircase(2)).release("abab")


def test_the_loss_is_epsilon_for_each_k_positions_or_part_of_them() -> None:
    promise = dw.PureDP(2.0, "hamming", 3, 0.0, "tight")
    assert [promise.loss(distance) for distance in range(8)] == [0, 2, 2, 2, 4, 4, 4, 6]
    assert [promise.odds(distance).loss for distance in range(5)] == [0, 2, 2, 2, 4]
    assert promise.odds(0).certainty == 0.5
    assert promise.odds(4).certainty == pytest.approx(0.98201379)  # 1/(1 + e^(−4))
    assert "e^(2·ceil(d/3))" in promise.in_words
    assert "e^(2·d)" in dw.PureDP(2.0, "hamming", 1, 0.0, "tight").in_words


@pytest.mark.parametrize(("k", "loss"), [(1, 4.0), (2, 5.0), (3, 5.0), (9, 5.0)])
def test_the_loss_by_distance_is_over_all_distances_up_to_k(k: int, loss: float) -> None:
    assert loss_by_distance(np.array([0.0, -1.0, -5.0]), k) == loss
