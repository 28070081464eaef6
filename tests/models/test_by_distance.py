"""What is guessed on systems through weights that depend on the distance in any way: the paper's, and staircases."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from attack.test_guessing import CELL_CHAIN, CELLS, FEW, MECHANISMS, by_definition
from dpwords import attack
from dpwords.core.limits import Limits
from dpwords.models.by_distance import DistanceEvidence, DistancePosteriors
from dpwords.models.chains import PriorWords
from dpwords.spaces import exhaustive

NAMES = ("cells, inverse", "moves, inverse", "cells, staircase", "rule, inverse")


@pytest.mark.parametrize("name", NAMES)
def test_simulated_intervals_for_other_weights_hold_the_truth(name: str) -> None:
    """Runs are counted by their distance from the release, and corrected for normalising constants."""
    make, length = MECHANISMS[name]
    found = attack.guess(make(FEW), length, samples=1000)
    positions, whole = by_definition(make(Limits()), length, 1)
    assert (found.method, found.samples, found.exact) == ("simulation", 1000, False)
    assert found.low.hits <= sum(positions) <= found.high.hits
    assert found.low.whole <= whole <= found.high.whole * (1 + 1e-12)
    assert found.hits == pytest.approx(sum(positions), abs=0.2)
    assert list(found.hits_by_place) == pytest.approx(positions, abs=0.1)


@pytest.mark.parametrize("question", [{"releases": 2}, {"prior": CELL_CHAIN}])
def test_other_questions_about_such_weights_are_too_large(question: dict[str, Any]) -> None:
    make, length = MECHANISMS["cells, inverse"]
    with pytest.raises(dw.TooLarge, match="equally likely words and one release"):
        attack.guess(make(FEW), length, **question)


def test_proportions_of_symbols_by_distance_are_those_of_the_releases_of_a_word() -> None:
    """For every word, position and symbol: sums over all outputs. Of words of 200 symbols, all proportions are
    numbers."""
    for name in NAMES:
        make, length = MECHANISMS[name]
        mechanism = make(Limits())
        words = exhaustive.words(mechanism.language, length)
        codes = np.array([[mechanism.language.alphabet.codes[symbol] for symbol in word] for word in words])
        known = DistancePosteriors(DistanceEvidence(mechanism, length), PriorWords(mechanism.language))
        found, totals = known.proportions(codes), known.log_totals(codes)
        for number, word in enumerate(words):
            law = mechanism.given(word)
            expected = np.zeros(found.shape[1:])
            for output, symbols in zip(words, codes, strict=True):
                expected[np.arange(length), symbols] += math.exp(law.log_prob(output))
            assert found[number] == pytest.approx(expected, abs=1e-12)
            assert known.logs[0] - totals[number] == pytest.approx(law.log_prob(word), rel=1e-11)
    many = DistanceEvidence(dw.Exponential(CELLS, 8, utility=dw.Inverse(0.5)), 200)
    long = DistancePosteriors(many, PriorWords(CELLS))
    walk = np.array([[CELLS.alphabet.codes[cell] for cell in [(0, 1), (0, 0)] * 100]])
    assert long.proportions(walk).sum(axis=2) == pytest.approx(1)


def test_no_word_gains_more_than_the_largest_weight_over_the_least() -> None:
    """The paper's weights on 4 × 10⁶ runs at ε = 4: e^(4/2·2·(1 − 1/11)) times 1 in so many."""
    mechanism = dw.Exponential(dw.GridWorld(9, 9), 4, utility=dw.Inverse(1.0), calibration="textbook")
    found = attack.guess(mechanism, 10, samples=100)
    assert found.high.whole == pytest.approx(math.exp(4 * (1 - 1 / 11)) / mechanism.language.count(10), rel=1e-9)
    assert found.without.hits <= found.low.hits <= found.high.hits
