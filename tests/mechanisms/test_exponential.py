"""The exponential mechanism against the brute-force reference, the notes' figures, and its own promise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import contract
import dpwords as dw
from dpwords.spaces import exhaustive
from zoo import ALL, FREE, SYSTEMS, random_systems


def linear(epsilon: float, k: int, proportion: float) -> contract.Weight:
    return lambda d: math.exp(-proportion * epsilon * d / k)


def inverse(epsilon: float, k: int, proportion: float, alpha: float = 0.7) -> contract.Weight:
    lemma = k / (alpha * (k + alpha))
    return lambda d: math.exp(proportion * epsilon / lemma / (d + alpha))


def staircase(epsilon: float, k: int, proportion: float, first: int) -> contract.Weight:
    return lambda d: math.exp(-proportion * epsilon * math.ceil((d - first) / k))


UTILITIES: list[tuple[Any, Any]] = [
    (dw.Linear(), linear),
    (dw.Inverse(0.7), inverse),
    (dw.Staircase(0), lambda e, k, proportion: staircase(e, k, proportion, 0)),
]


@pytest.mark.parametrize(("utility", "formula"), UTILITIES)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 1), (4.0, 2)])
def test_textbook_equals_the_reference(name: str, utility: Any, formula: Any, epsilon: float, k: int) -> None:
    language, length = ALL[name]
    mechanism = dw.Exponential(language, epsilon, k, utility, "textbook")
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 0.5))
    contract.check_promise(mechanism, length)


@pytest.mark.parametrize(("utility", "formula"), UTILITIES)
@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 1), (4.0, 2)])
def test_tight_on_free_words_equals_the_reference(
    name: str, utility: Any, formula: Any, epsilon: float, k: int
) -> None:
    language, length = FREE[name]
    mechanism = dw.Exponential(language, epsilon, k, utility)
    assert mechanism.calibration == "tight"
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 1.0))
    contract.check_promise(mechanism, length)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_default_on_systems_is_linear_and_certified(name: str, epsilon: float) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon)
    assert (mechanism.calibration, mechanism.utility) == ("tight", dw.Linear())
    rate = mechanism.certificate(length).c
    assert epsilon / 2 * (1 - 1e-12) <= rate <= epsilon
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-rate * d))
    contract.check_promise(mechanism, length)
    contract.check_draws(mechanism, length)
    if language.count(length) <= 16:
        contract.check_stored_law(mechanism, length)


@given(random_systems(), st.floats(0.05, 12), st.integers(1, 3))
@settings(max_examples=120, deadline=None)
def test_random_systems_keep_the_promise_with_a_certified_rate(case: tuple[Any, int], epsilon: float, k: int) -> None:
    (language, length), k = case, min(k, case[1])
    mechanism = dw.Exponential(language, epsilon, k)
    found = mechanism.certificate(length)
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-found.c * math.ceil(d / found.step)))
    contract.check_promise(mechanism, length)


@given(random_systems(), st.floats(0.05, 12), st.integers(1, 3), st.sampled_from(UTILITIES))
@settings(max_examples=90, deadline=None)
def test_random_systems_equal_the_reference(
    case: tuple[Any, int], epsilon: float, k: int, utility_and_formula: tuple[Any, Any]
) -> None:
    (language, length), (utility, formula) = case, utility_and_formula
    k = min(k, length)
    mechanism = dw.Exponential(language, epsilon, k, utility, "textbook")
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 0.5))
    contract.check_promise(mechanism, length)


@given(random_systems(), st.floats(1e-3, 100), st.sampled_from([dw.Linear(), dw.Inverse(0.7)]))
@settings(max_examples=40, deadline=None)
def test_random_systems_keep_the_promise_in_rational_arithmetic(
    case: tuple[Any, int], epsilon: float, utility: Any
) -> None:
    language, length = case
    if language.count(length) <= 16:
        contract.check_stored_law(dw.Exponential(language, epsilon, utility=utility), length)


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
@pytest.mark.parametrize(
    "mechanism",
    [
        lambda e: (dw.Exponential(dw.Words("ab"), e), 4),
        lambda e: (dw.Exponential(dw.Words("abc"), e, k=2), 3),
        lambda e: (dw.Exponential(dw.Words("abc"), e, utility=dw.Inverse(0.1)), 3),
        lambda e: (dw.Exponential(SYSTEMS["dead ends"][0], e), 4),
        lambda e: (dw.Exponential(SYSTEMS["accepting set"][0], e, k=2), 4),
        lambda e: (dw.Exponential(SYSTEMS["any start"][0], e, utility=dw.Inverse(2.5)), 3),
        lambda e: (dw.Exponential(SYSTEMS["parallel actions"][0], e, k=3, utility=dw.Staircase(1)), 3),
    ],
)
def test_thresholds_read_back_keep_the_promise(mechanism: Any, epsilon: float) -> None:
    contract.check_stored_law(*mechanism(epsilon))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("utility", [dw.Linear(), dw.Inverse(1.0)])
def test_draws_follow_the_law(name: str, utility: Any) -> None:
    language, length = ALL[name]
    contract.check_draws(dw.Exponential(language, 1.5, utility=utility), length)


@pytest.mark.parametrize(
    ("n", "m", "k", "epsilon", "best", "linear_tight", "plain_staircase", "textbook"),
    [
        (8, 4, 1, 4, 0.4167, 0.4167, 0.4167, 2.3101),
        (8, 4, 2, 8, 0.1648, 0.4167, 0.1648, 2.3101),
        (8, 4, 3, 8, 1.0739, 1.3800, 1.0739, 3.5327),
        (16, 4, 4, 12, 1.4969, 2.0792, 1.9647, 6.4157),
        (32, 16, 2, 16, 0.0249, 0.1602, 0.0249, 6.8967),
    ],
)
def test_expected_distances_of_the_notes(
    n: int, m: int, k: int, epsilon: float, best: float, linear_tight: float, plain_staircase: float, textbook: float
) -> None:
    words = dw.Words(range(m))

    def expected(utility: Any, calibration: Any) -> float:
        return dw.Exponential(words, epsilon, k, utility, calibration).expected_distance(length=n)

    assert expected(None, "tight") == pytest.approx(best, abs=5e-5)
    assert expected(dw.Linear(), "tight") == pytest.approx(linear_tight, abs=5e-5)
    assert expected(dw.Staircase(0), "tight") == pytest.approx(plain_staircase, abs=5e-5)
    assert expected(dw.Linear(), "textbook") == pytest.approx(textbook, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "m", "k", "epsilon"), [(6, 3, 1, 1.0), (6, 3, 2, 2.0), (9, 2, 3, 1.5), (12, 5, 4, 6.0), (5, 4, 5, 3.0)]
)
def test_the_default_on_free_words_is_the_optimum(n: int, m: int, k: int, epsilon: float) -> None:
    """The least expected distance over all f with f(i) ≤ e^ε f(j) for |i − j| ≤ k, by linear programming."""
    sizes = np.array([math.comb(n, d) * (m - 1) ** d for d in range(n + 1)], dtype=float)
    rows = []
    for i in range(n + 1):
        for j in range(max(0, i - k), min(n, i + k) + 1):
            if i != j:
                row = np.zeros(n + 1)
                row[i], row[j] = 1.0, -math.exp(epsilon)
                rows.append(row)
    best = linprog(sizes * np.arange(n + 1), rows, np.zeros(len(rows)), sizes[None, :], [1.0]).fun
    assert dw.Exponential(dw.Words(range(m)), epsilon, k).expected_distance(length=n) == pytest.approx(best, rel=1e-7)


def test_the_papers_utility_is_nearly_uniform_and_linear_is_not() -> None:
    words = dw.Words("0123456789abcdef")
    paper = dw.Exponential(words, 10, utility=dw.Inverse(1.0), calibration="textbook")
    assert paper.expected_distance(length=32) == pytest.approx(29.98, abs=5e-3)
    assert dw.Exponential(words, 10, calibration="textbook").expected_distance(length=32) == pytest.approx(
        2.94, abs=5e-3
    )
    assert dw.Exponential(words, 10).expected_distance(length=32) == pytest.approx(0.022, abs=5e-4)


def test_textbook_on_grids_as_in_the_notes() -> None:
    small = dw.GridWorld(3, 3).by_states()
    assert small.count(4) == 48
    found = [dw.Exponential(small, e, calibration="textbook").expected_distance(length=4) for e in (1, 2, 3, 4, 6)]
    assert found == pytest.approx([2.1319, 1.5532, 1.0419, 0.6637, 0.2530], abs=5e-5)
    run = [((i + 0) // 2, (i + 1) // 2) for i in range(1, 19)]  # E, S, E, S, …
    large = dw.GridWorld(15, 15).by_states()
    found = [dw.Exponential(large, e, calibration="textbook").expected_distance(run) for e in (3, 4, 5, 6)]
    assert found == pytest.approx([4.574, 2.409, 1.469, 0.918], abs=5e-4)


def test_no_neighbours_still_means_noise() -> None:
    """Two words at distance 3 and nothing between: the promise is 3ε, not infinity."""
    language, length = SYSTEMS["no neighbours"]
    found = dw.audit.exact(dw.Exponential(language, 1.0), length)
    assert found.worst is not None
    assert found.worst.distance == 3
    assert 0 < found.worst.loss <= 3.0


def test_public_average_of_a_large_language_is_stable_and_near_the_truth() -> None:
    """2 × 10^4 words: 256 of them stand for all, always the same ones."""
    language = dw.GridWorld(3, 3, stay=True)
    mechanism = dw.Exponential(language, 2.0)
    estimate = mechanism.expected_distance(length=7)
    assert estimate == dw.Exponential(language, 2.0).expected_distance(length=7)
    every = exhaustive.words(language, 7, limit=10**5)
    sample = every[:: len(every) // 400]
    truth = sum(mechanism.expected_distance(word) for word in sample) / len(sample)
    assert estimate == pytest.approx(truth, rel=0.03)
