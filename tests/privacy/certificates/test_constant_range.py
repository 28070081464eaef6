"""The range of the normalising constants by envelopes, against listing and in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.certificates.constant_range import ranges_of_constants
from dpwords.privacy.certificates.pairs import PairProofs
from dpwords.privacy.certificates.rounding import price
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from mechanisms.test_exponential import random_systems
from zoo import SYSTEMS

UNLISTED = Limits(certified_words=0)


def true_range(language: Any, length: int, z: Fraction) -> float:
    """From the definition, in rational arithmetic."""
    apart = exhaustive.distances(exhaustive.words(language, length))
    sums = [sum(z ** int(distance) for distance in row) for row in apart]
    return math.log(max(sums) / min(sums))


@given(random_systems(), st.floats(0.05, 6), st.sampled_from([1, 2, 8]), st.sampled_from([1, 2, 512]))
@settings(max_examples=150, deadline=None)
def test_all_lengths_in_one_pass(case: tuple[Any, int], c: float, vectors: int, entries: int) -> None:
    """However few vectors and entries are stored; every length from one pass over the longest."""
    language, longest = case
    z = Fraction(price(c))
    found = ranges_of_constants(Graph.of(language), longest, c, vectors=vectors, entries=entries)
    for length in range(1, longest + 1):
        if 1 <= language.count(length) <= 200:
            truth = true_range(language, length, z)
            assert truth <= found[length]
            if vectors == 8 and entries == 512:
                assert found[length] <= truth + 0.05
        elif not language.count(length):
            assert found[length] == math.inf


@pytest.mark.parametrize(
    ("moves", "c", "known"), [(20, 2.0, 0.395), (20, 2.5, 0.155), (22, 2.5, 0.384), (24, 2.5, 0.64)]
)
def test_streets(moves: int, c: float, known: float) -> None:
    """Ranges of a town map with one goal that were computed by another program, with more vectors."""
    town = dw.from_map(
        "S...........\n..##....##..\n..##....##..\n............\n....###.....\n"
        "....###..##.\n.........##.\n..##........\n..##..##....\n......##...G"
    )
    found = ranges_of_constants(Graph.of(town), moves, c)[moves]
    assert 0.97 * known <= found <= 1.07 * known


def test_no_two_words_at_distance_1() -> None:
    """Words of moves to a goal differ in two positions or more, which the rate makes use of: 2c + R ≤ ε for k = 2."""
    grid = dw.GridWorld(4, 4, goal=(3, 3))
    certificate = dw.Exponential(grid, 5.0, 2, dw.Linear(), limits=UNLISTED).certificate(8)
    assert certificate.method == "range"
    rest = 5.0 - 2 * certificate.c
    assert (
        true_range(grid, 8, Fraction(price(certificate.c)))
        <= rest
        < 0.05 + true_range(grid, 8, Fraction(price(certificate.c)))
    )


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [2.0, 4.0, 7.0])
@pytest.mark.parametrize(
    ("language", "length"),
    [
        (dw.GridWorld(3, 3, goal=(2, 2)), 6),
        (dw.GridWorld(3, 3, goal=(2, 2)).by_states() & dw.rules.contains((1, 1)), 6),
        (dw.GridWorld(2, 3, start=None).by_states(), 4),
        (dw.Words("abc") & dw.rules.contains("a"), 4),
    ],
)
def test_the_promise_holds_with_the_range(language: Any, length: int, epsilon: float, k: int) -> None:
    """Over all pairs and outputs, exactly."""
    for utility in (dw.Linear(), dw.Staircase()):
        mechanism = dw.Exponential(language, epsilon, k, utility, limits=UNLISTED)
        assert not mechanism.certificate(length).method.startswith("listed")
        contract.check_promise(mechanism, length)


def test_some_words_are_within_the_range() -> None:
    """So nothing is given up that could be proven."""
    near = 0
    for name, (language, length) in SYSTEMS.items():
        if not language.listed:
            known = PairProofs(Graph.of(language), length).spread(0.125)
            truth = true_range(language, length, Fraction(1, 8))
            assert 0.0 <= known <= truth + 1e-9, name
            near += known > truth / 2 > 0.0
    assert near >= 3


def test_no_range_is_computed_for_long_words_at_a_small_epsilon() -> None:
    mechanism = dw.Exponential(dw.GridWorld(9, 9), 1.0, utility=dw.Linear())
    assert mechanism.certificate.seconds(1000) == (0.0, 0.0)
    assert mechanism.certificate(1000).method == "textbook"


def test_too_much_to_compute_proves_nothing() -> None:
    graph = Graph.of(dw.GridWorld(4, 4))
    assert np.isinf(ranges_of_constants(graph, 8, 2.0, limits=Limits(range_steps=10))).all()
    less, more = (ranges_of_constants(graph, 8, 2.0, limits=Limits(range_steps=steps))[8] for steps in (10**6, 10**9))
    assert more <= less < math.inf
