"""The public base measure against its definition."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dpwords as dw
from contract import reweighted_weights
from dpwords.core.limits import Limits
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting
from privacy.certificates.test_certificates import systems_by_states


def check_weights(language: Any, length: int, rate: float) -> None:
    """At each position 1/(1 + a·z + κ·z²), where a counts the words that differ there only."""
    found = Reweighting.of(Graph.of(language))
    if found is None:
        return
    graph = found.weighted(Fraction(rate))
    words = exhaustive.words(language, length)
    expected = reweighted_weights(language, words, Fraction(math.exp(-rate)))
    for word in words:
        codes = np.array([language.alphabet.codes[symbol] for symbol in word])
        assert graph.log_weight(codes) == pytest.approx(math.log(expected[word]), abs=1e-12)


@given(systems_by_states())
@settings(max_examples=100, deadline=None)
def test_weights_count_the_words_that_differ_in_one_position(case: tuple[Any, int]) -> None:
    check_weights(*case, rate=1.0)


def test_weights_on_grids() -> None:
    check_weights(dw.GridWorld(3, 3).by_states(), 5, 0.5)
    graph = Graph.of(dw.GridWorld(3, 3).by_states())
    assert graph.log_weight(np.zeros(4, dtype=np.int64)) == 0.0  # without weights every word has weight 1


def test_weights_at_the_first_position() -> None:
    check_weights(dw.GridWorld(3, 2, start=None).by_states(), 4, 0.7)
    check_weights(dw.from_edges([("s", "a"), ("s", "b"), ("a", "c"), ("b", "c"), ("c", "a")], start="s"), 4, 0.7)


def test_systems_with_too_many_steps_are_left_alone() -> None:
    mechanism = dw.Exponential(dw.GridWorld(3, 3).by_states(), 6, limits=Limits(reweighted_edges=10, certified_words=0))
    assert mechanism.certificate(8).method == "range"
