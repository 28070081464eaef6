"""The paper's formula to the letter, and what it really loses."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.spaces import exhaustive
from zoo import ALL, random_systems

TABLE = {1: {0: 6.17, 0.1: 6.22, 1: 6.67, 10: 11.17}, 32: {0: 87.45, 0.1: 87.50, 1: 87.95, 10: 92.44}}


@pytest.mark.parametrize(("k", "epsilon"), [(k, e) for k, row in TABLE.items() for e in row])
def test_true_epsilon_as_in_the_notes(k: int, epsilon: float) -> None:
    literal = dw.PaperLiteral(dw.Words("0123456789abcdef"), epsilon, k=k, alpha=1.0)
    assert literal.guarantee.true_epsilon(32) == pytest.approx(TABLE[k][epsilon], abs=5e-3)


def formula(epsilon: float, k: int, alpha: float) -> contract.Weight:
    return lambda d: math.exp(epsilon * alpha * (k + alpha) / (2 * k * (d + alpha)))


def brute_true_epsilon(mechanism: dw.PaperLiteral, length: int, weight: contract.Weight) -> float:
    words = exhaustive.words(mechanism.language, length)
    laws = {word: contract.shell_law(mechanism, word, weight) for word in words}
    return max(
        (
            abs(math.log(laws[x][w] / laws[y][w]))
            for x in words
            for y in words
            if hamming(x, y) <= mechanism.k
            for w in words
        ),
        default=0.0,
    )


def check(language: Any, length: int, epsilon: float, k: int, alpha: float) -> None:
    literal = dw.PaperLiteral(language, epsilon, k, alpha)
    weight = formula(epsilon, k, alpha)
    contract.check_probabilities(literal, length, weight, by_shell=True)
    if language.count(length) <= 48:
        brute = brute_true_epsilon(literal, length, weight)
        assert literal.guarantee.true_epsilon(length) == pytest.approx(brute, abs=1e-11)


@pytest.mark.parametrize("name", ALL)
def test_probabilities_and_true_epsilon_equal_brute_force(name: str) -> None:
    language, length = ALL[name]
    for epsilon, k, alpha in ((0.0, 1, 1.0), (2.0, 2, 0.4)):
        check(language, length, epsilon, k, alpha)


@given(random_systems(), st.floats(0, 5), st.integers(1, 3), st.floats(0.2, 3))
@settings(max_examples=40)
def test_random_systems(case: tuple[Any, int], epsilon: float, k: int, alpha: float) -> None:
    language, length = case
    check(language, length, epsilon, min(k, length), alpha)


@pytest.mark.parametrize("name", ["grid", "three letters"])
def test_draws_follow_the_formula(name: str) -> None:
    language, length = ALL[name]
    contract.check_draws(dw.PaperLiteral(language, 1.0), length)


def test_it_is_never_called_private() -> None:
    literal = dw.PaperLiteral(dw.Words("abc"), 1.0)
    assert not hasattr(literal, "release")
    assert isinstance(literal.guarantee, dw.NotPrivate)
    assert "not private" in str(literal.guarantee)
    assert len(literal.perturb("abcabc")) == 6
    assert isinstance(literal.perturb(["a", "b"]), list)
    assert isinstance(literal.seeded(1).guarantee, dw.NotPrivate)
    assert "PaperLiteral" in repr(literal)
    with pytest.raises(dw.InvalidValue, match="epsilon= must be a finite number 0 or more"):
        dw.PaperLiteral(dw.Words("abc"), -0.5)
    with pytest.raises(dw.InvalidValue, match="k is at most the word's length"):
        dw.PaperLiteral(dw.Words("abc"), 1.0, k=3).guarantee.true_epsilon(2)
    with pytest.raises(dw.InvalidValue, match="at most 3 symbols"):
        dw.PaperLiteral(dw.Words("ab", max_length=3), 1.0).guarantee.true_epsilon(5)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.PaperLiteral(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0).guarantee.true_epsilon(2)
    with pytest.raises(dw.TooLarge):
        dw.PaperLiteral(dw.GridWorld(5, 5), 1.0).guarantee.true_epsilon(12)


def test_at_epsilon_zero_it_is_not_uniform() -> None:
    """All distances are equally likely then, though almost all words are far away."""
    literal = dw.PaperLiteral(dw.Words("ab"), 0.0)
    assert literal.given("abab").distance_distribution() == pytest.approx([0.2] * 5)
