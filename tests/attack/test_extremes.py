"""What can be guessed from very many releases, and with a very large ε, where weights leave the range of floats."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpwords as dw
from dpwords import attack
from dpwords.core.limits import Limits
from dpwords.spaces import exhaustive

FEW = Limits(attacked_words=1)  # so that words are simulated instead of listed
CELLS = dw.GridWorld(2, 3).by_states()
FAIR: Any = {state: {"a": 0.5, "b": 0.5} for state in (None, "a", "b")}


def test_the_majority_of_very_many_releases() -> None:
    """220 releases against 200, each with odds e²: the odds of each position are e^(20·2)."""
    found = attack.posterior(["a" * 13] * 220 + ["b" * 13] * 200, dw.Exponential(dw.Words("ab"), epsilon=2))
    assert found.places[4]["b"] == pytest.approx(math.exp(-40), rel=1e-9)
    assert found.places[4]["a"] == pytest.approx(1.0)
    assert found.probability == pytest.approx(1.0)
    assert found.word == ("a",) * 13


def test_symbols_that_no_release_shows_are_not_mistaken_for_others() -> None:
    """The odds of a against b are e^(2·2), and against c, which no release shows, e^(2·302)."""
    found = attack.posterior(["a" * 3] * 302 + ["b" * 3] * 300, dw.Exponential(dw.Words("abc"), 2, limits=FEW))
    assert found.places[0]["b"] == pytest.approx(1 / (1 + math.exp(4)), rel=1e-9)
    assert found.places[0]["c"] < 1e-250


@pytest.mark.parametrize("kind", [dw.Exponential, dw.Online])
@pytest.mark.parametrize("counts", [(2, 1), (400, 399), (900, 905)])
def test_passes_over_many_releases_against_the_definition(kind: Any, counts: tuple[int, int]) -> None:
    """Two released words, one of them a little more often: Bayes' rule over all words, in logarithms."""
    mechanism, words = kind(CELLS, 2), exhaustive.words(CELLS, 3)
    seen = [words[0]] * counts[0] + [words[-1]] * counts[1]
    laws = [mechanism.given(word) for word in words]
    logs = [counts[0] * law.log_prob(words[0]) + counts[1] * law.log_prob(words[-1]) for law in laws]
    proportions = [math.exp(each - max(logs)) for each in logs]
    found = attack.posterior(seen, kind(CELLS, 2, limits=FEW))
    best = max(zip(proportions, words, strict=True), key=lambda pair: pair[0])
    assert found.probability == pytest.approx(best[0] / sum(proportions), abs=1e-9 + 5 * found.error)
    for position, table in enumerate(found.places):
        for symbol, proportion in table.items():
            truth = sum(each for each, word in zip(proportions, words, strict=True) if word[position] == symbol) / sum(
                proportions
            )
            assert proportion == pytest.approx(truth, abs=1e-9 + 5 * found.error)


@pytest.mark.parametrize(
    ("mechanism", "length"),
    [
        (dw.Exponential(dw.Words("ab"), 1.3), 13),
        (dw.Online(dw.GridWorld(4, 4), 2), 14),
        (dw.Exponential(CELLS, 2, limits=FEW), 3),
        (dw.Exponential(CELLS, 2, calibration="textbook", limits=FEW), 3),
    ],
    ids=str,
)
def test_fifteen_hundred_releases_leave_no_doubt(mechanism: Any, length: int) -> None:
    """A position is guessed wrongly with a chance of e^(−100) or less, by Chernoff's bound."""
    found = attack.guess(mechanism, length, releases=1500, samples=200)
    assert found.whole == pytest.approx(1.0)
    assert found.hits == pytest.approx(length)
    assert found.high == (length, 1.0)


@pytest.mark.parametrize("epsilon", [720, 800, 3000])
@pytest.mark.parametrize("releases", [1, 3])
@pytest.mark.parametrize("name", ["online", "chain", "online chain", "cells"])
def test_a_very_large_epsilon_hides_nothing(name: str, releases: int, epsilon: int) -> None:
    free = dw.Words("ab")
    made: Any = {
        "online": lambda: (dw.Online(dw.GridWorld(5, 5), epsilon), 12, "uniform"),
        "chain": lambda: (dw.Exponential(free, epsilon), 14, FAIR),
        "online chain": lambda: (dw.Online(free, epsilon), 14, FAIR),
        "cells": lambda: (dw.Exponential(CELLS, epsilon, limits=FEW), 4, "uniform"),
    }
    mechanism, length, prior = made[name]()
    found = attack.guess(mechanism, length, prior, releases, samples=150)
    assert (found.whole, found.hits) == (pytest.approx(1.0), pytest.approx(length))
    assert found.high == (length, 1.0)
    assert 0.5 < found.low.whole <= 1.0


def test_the_word_itself_is_likeliest_with_a_very_large_epsilon() -> None:
    word = tuple("NSNSNSNSNSNS")
    found = attack.posterior([word], dw.Online(dw.GridWorld(5, 5, start=(2, 2)), 800))
    assert (found.word, found.probability) == (word, pytest.approx(1.0))
