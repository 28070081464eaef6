"""What a release will cost: the table, and the way back from a distance to ε."""

from __future__ import annotations

import math

import pytest

import dpwords as dw
from dpwords import accuracy
from dpwords.mechanisms.choice import offers
from dpwords.mechanisms.uniform import Uniform


class AlwaysFar(Uniform):
    """No ε helps it."""


def test_the_mechanisms_that_apply() -> None:
    assert list(offers(dw.Words("ab"), 1)) == [
        "tight (default)",
        "linear, textbook",
        "inverse (α=1), textbook",
    ]
    on_grid = offers(dw.GridWorld(3, 3).by_states(), 1)
    assert list(on_grid)[:2] == ["tight", "online"]
    found = {name: accuracy.expected_distance(make, 3.0, 4) for name, make in on_grid.items()}
    assert found["online"] == pytest.approx(0.41097, abs=6e-5)
    assert found["linear, textbook"] == pytest.approx(1.0419, abs=6e-5)
    assert 0.2527 <= found["tight"] < 0.2904  # the optimum; the best c with equal weights


def test_epsilon_from_a_distance() -> None:
    """On free words m·z/(1 + (m−1)z)-like formulas can be solved: n(m−1)z = d(1 + (m−1)z)."""
    makers = offers(dw.Words("acgt"), 1)
    n, distance = 20, 1.0
    z = distance / (3 * (n - distance))
    assert accuracy.least_epsilon(makers["tight (default)"], distance, n) == pytest.approx(-math.log(z), rel=2e-3)
    assert accuracy.least_epsilon(makers["linear, textbook"], distance, n) == pytest.approx(-2 * math.log(z), rel=2e-3)
    found = accuracy.least_epsilon(makers["tight (default)"], distance, n)
    assert accuracy.expected_distance(makers["tight (default)"], found, n) <= distance
    assert accuracy.least_epsilon(makers["tight (default)"], 15.1, n) < 0.01
    assert math.isnan(accuracy.least_epsilon(lambda _: AlwaysFar(dw.Words("ab"), 1), 1.0, n))
    with pytest.raises(dw.InvalidValue, match="target must be a finite number above 0"):
        accuracy.least_epsilon(makers["tight (default)"], 0.0, n)


@pytest.mark.parametrize("least", [3.9, 3.0, 1.5, 0.4])
def test_a_search_does_not_go_far_below_what_it_finds(least: float) -> None:
    """On words of states, proofs for half of ε can take minutes where those for ε take seconds."""
    tried = []

    def make(epsilon: float) -> dw.Exponential:
        tried.append(epsilon)
        return dw.Exponential(dw.Words("acgt"), epsilon)

    distance = 20 * 3 / (3 + math.exp(least))  # each of 20 letters changes with this probability
    assert accuracy.least_epsilon(make, distance, length=20) == pytest.approx(least, rel=2e-3)
    assert min(tried) > 0.6 * least
