"""Balanced weights where words can be listed: equal normalising constants, next to the optimum of linear
programming."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from dpwords.spaces.space import WeightedWords
from mechanisms.test_exponential import random_systems

STATES, MOVES = dw.GridWorld(3, 3).by_states(), dw.GridWorld(3, 3)


@pytest.mark.parametrize(
    ("language", "epsilon", "optimum"),
    [
        (STATES, 1, 1.5656), (STATES, 2, 0.6611), (STATES, 3, 0.2527), (STATES, 4, 0.0941), (STATES, 6, 0.0128),
        (MOVES, 1, 1.591), (MOVES, 2, 0.662), (MOVES, 4, 0.0846), (dw.GridWorld(4, 4), 2, 0.743),
    ],
)  # fmt: skip
def test_the_optimum_of_the_notes(language: Any, epsilon: float, optimum: float) -> None:
    """By linear programming over all mechanisms with the same promise."""
    mechanism = dw.Exponential(language, epsilon)
    found = mechanism.expected_distance(length=4)
    assert optimum - 6e-4 < found < optimum * 1.002 + 6e-4
    assert mechanism.certificate(4).method == "listed, balanced"
    assert dw.audit.exact(mechanism, 4).holds


def test_where_some_weight_would_be_negative() -> None:
    """4×4 grid, 4 moves, ε = 1: the optimum is 1.623, Online 1.741, reweighting 1.741, equal ones 1.85."""
    grid = dw.GridWorld(4, 4)
    words = exhaustive.words(grid, 4)
    assert np.linalg.solve(np.exp(-1.0 * exhaustive.distances(words)), np.ones(len(words))).min() < 0
    mechanism = dw.Exponential(grid, 1)
    assert mechanism.certificate(4).method == "listed, balanced"
    assert 1.623 < mechanism.expected_distance(length=4) < 1.66
    assert dw.audit.exact(mechanism, 4).holds


@given(random_systems(), st.floats(0.02, 9), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_the_excess_of_the_stored_weights(case: tuple[Any, int], c: float, step: int, first: int) -> None:
    """Over all pairs, from the stored numbers; and the weights are few bits, positive and at most 1."""
    (language, length), first = case, first % step
    listed = Listed.of(Graph.of(language), length, step=step, first=first, k=step)
    assert listed is not None
    apart = exhaustive.distances([tuple(row) for row in listed.rows.tolist()])
    falls = np.exp(-c * np.ceil((apart - first) / step))
    base = listed.weighted(c, math.inf)
    stored = np.array([float(weight) for weight in base.weight.exact()])
    assert (stored == listed.balanced(c)).all()
    assert 0 < stored.min() <= stored.max() == 1
    mantissas = np.frexp(stored)[0] * 2**20
    assert (mantissas == np.rint(mantissas)).all()
    for weights, found in ((stored, listed.balanced_excess(c)), (np.ones(len(stored)), listed.excess(c))):
        logs = np.log(falls @ weights)
        pairs = apart > 0
        truth = ((logs[:, None] - logs)[pairs] / np.ceil(apart[pairs] / step)).max(initial=0.0)
        assert truth < found < truth + 1e-8
    means = ((falls * apart) @ stored) / (falls @ stored)
    assert listed.mean_distance(c, balanced=True) == pytest.approx(means.mean(), rel=1e-9, abs=1e-12)


def test_where_the_equations_have_a_positive_solution_it_is_found() -> None:
    for language, c in ((STATES, 1.0), (MOVES, 1.0), (STATES, 2.0), (MOVES, 5.0)):
        words = exhaustive.words(language, 4)
        solution = np.linalg.solve(np.exp(-c * exhaustive.distances(words)), np.ones(len(words)))
        listed = Listed.of(Graph.of(language), 4)
        assert listed is not None
        codes = [tuple(language.alphabet.codes[symbol] for symbol in word) for word in words]
        order = {tuple(row): number for number, row in enumerate(listed.rows.tolist())}
        found = listed.balanced(c)[[order[word] for word in codes]]
        assert found == pytest.approx(solution / solution.max(), rel=1e-4)
        assert listed.balanced_excess(c) < 1e-5


def test_stored_weights_are_proven_once_more() -> None:
    """The numbers that draws use, whatever was computed in between."""
    listed = Listed.of(Graph.of(MOVES), 4)
    assert listed is not None
    bound = 2.0 + listed.balanced_excess(2.0)
    first = listed.weighted(2.0, bound)
    listed.balanced(1.0)
    assert first.weight.exact() == listed.weighted(2.0, bound).weight.exact()
    assert not listed.balanced(2.0).flags.writeable
    with pytest.raises(dw.InvalidValue, match="does not hold"):
        listed.weighted(2.0, 2.0)


def test_a_word_outside_the_list_has_no_number() -> None:
    base = dw.Exponential(MOVES, 2)._calibration.weights(4).base
    assert isinstance(base, WeightedWords)
    assert base.number(base.rows[7].astype(np.uint8)) == 7
    with pytest.raises(KeyError):
        base.number(np.zeros(4, dtype=np.int64) + 77)
