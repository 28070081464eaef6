"""Staircases on systems, for k > 1: certified rates against brute force and against linear programming."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.certificates.constant_range import ranges_of_constants
from dpwords.privacy.utilities import LinearOrStaircase
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from mechanisms.test_exponential import random_systems
from zoo import SYSTEMS

STATES, MOVES = dw.GridWorld(3, 3).by_states(), dw.GridWorld(3, 3)


@pytest.mark.parametrize(
    ("language", "k", "epsilon", "optimum"),
    [
        (STATES, 2, 3, 0.8988), (STATES, 2, 4, 0.4480), (STATES, 2, 6, 0.0751), (STATES, 3, 6, 0.1961),
        (MOVES, 2, 3, 0.9280), (MOVES, 2, 4, 0.4649), (MOVES, 2, 6, 0.0779), (MOVES, 3, 6, 0.1982),
    ],
)  # fmt: skip
def test_the_optimum_of_linear_programming(language: Any, k: int, epsilon: float, optimum: float) -> None:
    """Over all mechanisms with the same promise (benchmarks/bench_accuracy.py); linear weights are far from it."""
    mechanism = dw.Exponential(language, epsilon, k)
    found = mechanism.expected_distance(length=4)
    assert optimum - 6e-5 < found < optimum * 1.001 + 6e-5
    certificate = mechanism.certificate(4)
    assert (certificate.method, certificate.step, mechanism.utility) == ("listed, balanced", k, LinearOrStaircase())
    contract.check_promise(mechanism, 4)
    assert dw.Exponential(language, epsilon, k, dw.Linear()).expected_distance(length=4) > 1.1 * optimum


def brute_range(words: list[Any], c: float, step: int, first: int) -> float:
    sums = np.exp(-c * np.ceil((exhaustive.distances(words) - first) / step)).sum(axis=1)
    return math.log(sums.max() / sums.min())


@given(random_systems(), st.floats(0.02, 9), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_the_range_is_never_below_the_truth(case: tuple[Any, int], c: float, step: int, first: int) -> None:
    (language, length), first = case, first % step
    found = ranges_of_constants(Graph.of(language), length, c, step, first)[length]
    assert found >= brute_range(exhaustive.words(language, length), c, step, first)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize(("c", "step", "first"), [(0.5, 2, 0), (3.0, 2, 1), (6.0, 3, 0), (300.0, 2, 0), (1e5, 3, 2)])
def test_the_range_covers_every_kind_of_word(name: str, c: float, step: int, first: int) -> None:
    language, length = SYSTEMS[name]
    found = ranges_of_constants(Graph.of(language), length, c, step, first)[length]
    truth = brute_range(exhaustive.words(language, length), c, step, first)
    assert truth <= found <= math.log(language.count(length) * 4.0**length)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("epsilon", [2.0, 6.0, 10.0])
@pytest.mark.parametrize("listed", [0, 1024])
@pytest.mark.parametrize("name", ["walls", "any start", "dead ends", "no neighbours"])
def test_staircases_keep_the_promise(name: str, listed: int, epsilon: float, k: int) -> None:
    """With all words listed, and with the range alone."""
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon, k, dw.Staircase(), limits=Limits(certified_words=listed))
    certificate = mechanism.certificate(length)
    assert (certificate.step, certificate.first) == (k, 0)
    assert ("listed" in certificate.method) == (listed > 0)
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-certificate.c * math.ceil(d / k)))
    contract.check_promise(mechanism, length)
    contract.check_draws(mechanism, length)
    if language.count(length) <= 16:
        contract.check_stored_law(mechanism, length)


def test_the_better_of_linear_and_staircase_on_the_15x15_grid() -> None:
    """18 moves, k = 2: at ε = 8 Online has 0.974."""
    moves, cells = (
        dw.Exponential(dw.GridWorld(15, 15), 8, k=2),
        dw.Exponential(dw.GridWorld(15, 15).by_states(), 12, k=2),
    )
    certificate = moves.certificate(18)
    assert (certificate.method, certificate.step) == ("range", 2)
    assert 7.6 < certificate.c < certificate.bound <= 8
    assert moves.expected_distance(length=18) < 0.57
    assert cells.expected_distance(length=18) < 0.0035  # linear: 0.0576
    assert cells.certificate(18).step == 2


def test_too_long_to_count_by_distance_is_linear() -> None:
    mechanism = dw.Exponential(STATES, 60.0, k=2, limits=Limits(memory=20_000))
    assert dw.Exponential(STATES, 60.0, k=2).certificate(40).step == 2
    assert mechanism.certificate(40).step == 1


def test_steps_longer_than_the_word() -> None:
    """All words but the private one are equally likely then, or all of them."""
    graph, words = Graph.of(MOVES), exhaustive.words(MOVES, 4)
    for step, first in ((5, 0), (60, 0), (60, 4), (60, 59)):
        found = ranges_of_constants(graph, 4, 2.0, step, first)[4]
        assert found >= brute_range(words, 2.0, step, first)
        assert found == ranges_of_constants(graph, 4, 2.0, 5, min(first, 4))[4]
    mechanism = dw.Exponential(MOVES, 3.0, k=4, utility=dw.Staircase())
    assert mechanism.expected_distance(length=4) > 1
    contract.check_promise(mechanism, 4)


def test_where_a_range_takes_too_long_the_textbook_rate_remains() -> None:
    limits = Limits(certified_words=0, range_steps=1)
    assert dw.Exponential(MOVES, 9.0, 2, dw.Staircase(), limits=limits).certificate(4).method == "textbook"
    limits = Limits(certified_words=0)
    assert dw.Exponential(MOVES, 9.0, 2, dw.Staircase(), limits=limits).certificate(4).method == "range"


def test_with_k_1_a_staircase_is_linear() -> None:
    stairs, linear = dw.Exponential(MOVES, 2.0, utility=dw.Staircase()), dw.Exponential(MOVES, 2.0)
    assert stairs.certificate(4) == linear.certificate(4)
    assert stairs.expected_distance(length=4) == pytest.approx(linear.expected_distance(length=4), rel=1e-12)


def test_save_and_load(tmp_path: Path) -> None:
    path = tmp_path / "certificates.json"
    made = dw.Exponential(STATES, 8, k=2)
    stairs, short = made.certificate(8), made.certificate(1)
    assert (stairs.step, made.certificate(4).step) == (2, 2)
    made.certificate.save(path)
    loaded = dw.Exponential(STATES, 8, k=2)
    loaded.certificate.load(path)
    assert (loaded.certificate(8), loaded.certificate(1)) == (stairs, short)
    run = exhaustive.words(STATES, 4)[3]
    assert loaded.log_prob(run, given=run) == made.log_prob(run, given=run)
    text = path.read_text("utf-8")
    for other in (
        dw.Exponential(STATES, 8, k=3),
        dw.Exponential(STATES, 8, k=2, utility=dw.Linear()),
        dw.Exponential(STATES, 8, k=2, utility=dw.Staircase(1)),
        dw.Exponential(MOVES, 8, k=2),
    ):
        with pytest.raises(dw.InvalidValue, match="another system or another ε"):
            other.certificate.load(path)
    for change, message in (
        ({"c": 7.9999999}, "does not hold"),
        ({"step": 1}, "another system or another ε"),
        ({"step": True}, "holds no certificates"),
        ({"first": 1}, "another system or another ε"),
        ({"method": "every word"}, "does not hold"),
    ):
        document = json.loads(text)
        document["certificates"][0] |= change
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match=message):
            dw.Exponential(STATES, 8, k=2).certificate.load(path)


def test_where_every_word_is_feasible_a_staircase_spends_all_of_epsilon() -> None:
    system = dw.TransitionSystem({0: {"a": 1, "b": 0}, 1: {"a": 0, "b": 1}}, start=0)
    mechanism = dw.Exponential(system, 4.0, k=2)
    assert mechanism.certificate(5).method == "every word"
    free = dw.Exponential(dw.Words("ab"), 4.0, k=2, utility=dw.Staircase(0))
    assert mechanism.expected_distance(length=5) == pytest.approx(free.expected_distance(length=5), rel=1e-9)


def test_first_steps_are_checked_when_the_mechanism_is_made() -> None:
    with pytest.raises(dw.InvalidValue, match="first_step must be at most k − 1 = 1"):
        dw.Exponential(STATES, 4.0, k=2, utility=dw.Staircase(2))


@pytest.mark.parametrize("k", [1, 2])
def test_for_all_lengths_a_staircase_has_the_textbook_rate(k: int, tmp_path: Path) -> None:
    """The certificates for all lengths of reweighted words are about other weights."""
    mechanism = dw.Exponential(dw.GridWorld(4, 4).by_states(), 3.0 * k, k, utility=dw.Staircase())
    found = mechanism.certificate()
    assert (found.method, found.step, found.c) == ("textbook", k, pytest.approx(1.5 * k))
    alone, path = mechanism.certificate(8), tmp_path / "certificates.json"
    mechanism.certificate.save(path)
    mechanism.certificate.load(path)
    assert (mechanism.certificate(), mechanism.certificate(8)) == (found, alone)


def test_a_certificate_of_reweighted_words_is_none_of_a_staircase(tmp_path: Path) -> None:
    """For k = 1 both weights fall like e^(−c·d), but only one of them is reweighted, and c was proven with that."""
    cells, path = dw.GridWorld(4, 4).by_states(), tmp_path / "certificates.json"
    reweighted = dw.Exponential(cells, 3.0, limits=Limits(certified_words=0))
    assert reweighted.certificate(8).method == "blocks, levelled"
    reweighted.certificate.save(path)
    with pytest.raises(dw.InvalidValue, match="does not hold"):
        dw.Exponential(cells, 3.0, utility=dw.Staircase()).certificate.load(path)
