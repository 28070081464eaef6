"""The layered pass against enumeration."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dpwords as dw
from dpwords import exhaustive, lattice, laws, scaled
from dpwords.lattice import Discount, Graph, Lattice, Tally
from dpwords.randomness import SeededSource
from dpwords.words import hamming
from zoo import ALL, random_systems


def check_sums_and_counts(language: Any, length: int) -> None:
    """V by distance is the number of words, V discounted by z = 1/4 the sum of z^d: both exact in these numbers."""
    graph = Graph.of(language)
    words = exhaustive.words(language, length)
    for word in words[:5]:
        codes = np.array([language.alphabet.codes[symbol] for symbol in word])
        counted = Lattice(graph, codes, Tally()).at_start().exact()
        assert counted == exhaustive.distance_counts(language, word)
        z = scaled.exp_minus([Fraction(0)])  # 1
        quarter = scaled.Scaled(z.mantissa, z.exponent - 2)
        summed = Lattice(graph, codes, Discount(quarter)).at_start().exact()
        assert summed == [sum(Fraction(1, 4) ** hamming(word, other) for other in words)]


@pytest.mark.parametrize("name", ALL)
def test_sums_and_counts_equal_enumeration(name: str) -> None:
    check_sums_and_counts(*ALL[name])


@given(random_systems())
@settings(max_examples=80)
def test_sums_and_counts_of_random_systems_equal_enumeration(case: tuple[Any, int]) -> None:
    check_sums_and_counts(*case)


def test_edges_are_ordered_by_state() -> None:
    graph = Graph.of(dw.GridWorld(3, 3))
    assert graph.size == 9
    assert graph.branching == 4
    assert len(graph.target) == 24
    assert graph.first.tolist()[0] == 0
    assert graph.first.tolist()[-1] == 24
    assert np.diff(graph.first).tolist()[0] == 2  # the corner where runs start


def test_a_walk_spends_exactly_its_budget() -> None:
    world = dw.GridWorld(4, 4)
    graph = Graph.of(world)
    word = "EESS"
    codes = np.array([world.alphabet.codes[s] for s in word])
    tally = Lattice(graph, codes, Tally())
    budgets = np.array([0, 2, 2, 3, 4])  # from the corner there is no run at distance 1
    rows = tally.walk(budgets, SeededSource(0).open())
    for row, budget in zip(rows, budgets, strict=True):
        out = "".join(world.alphabet.symbols[code] for code in row)
        assert world.accepts(out)
        assert hamming(word, out) == budget


def test_uniform_words() -> None:
    drawn = laws.uniform(Graph.of(dw.Words("ab")), 3)
    assert drawn.log_prob(np.array([0, 1, 1])) == pytest.approx(np.log(1 / 8))


def test_the_limit_is_said_before_memory_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = Graph.of(dw.GridWorld(3, 3))
    Lattice(graph, np.zeros(10, dtype=np.int64), Tally())
    monkeypatch.setattr(lattice, "MEMORY_LIMIT", 20_000)
    with pytest.raises(dw.TooLarge, match="9 states and 10 symbols"):
        Lattice(graph, np.zeros(10, dtype=np.int64), Tally())
    folded = Lattice(graph, np.zeros(10, dtype=np.int64), Discount(scaled.exp_minus([Fraction(1)])))
    monkeypatch.setattr(lattice, "MEMORY_LIMIT", 8000)
    with pytest.raises(dw.TooLarge, match="9 states and 10 symbols"):
        folded.distance_distribution()
