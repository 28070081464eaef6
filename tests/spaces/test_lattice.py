"""The layered pass against enumeration."""

from __future__ import annotations

import math
import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dpwords as dw
from dpwords.core import scaled
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import hamming
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Discount, Lattice, Tally
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


def test_the_limit_is_said_before_memory_is_taken() -> None:
    graph, codes, few = Graph.of(dw.GridWorld(3, 3)), np.zeros(10, dtype=np.int64), Limits(memory=1500)
    folded = Lattice(graph, codes, Discount(scaled.exp_minus([Fraction(1)])), few)
    with pytest.raises(dw.TooLarge, match="9 states and 10 symbols"):
        folded.distances(codes[None], 11)
    with pytest.raises(dw.TooLarge, match="9 states and 10 symbols"):
        Lattice(graph, codes, Tally(), few)


@pytest.mark.parametrize("algebra", [Tally(), Discount(scaled.exp_minus([Fraction(1, 2)]))])
def test_layers_that_are_computed_again_give_the_same(algebra: Tally | Discount) -> None:
    """With less memory only some layers are kept."""
    world = dw.GridWorld(4, 4)
    codes = np.array([world.alphabet.codes[s] for s in "EESSENWSSEENWW"])
    whole = Lattice(Graph.of(world), codes, algebra)
    assert whole.cuts == [0, 14]
    parts = Lattice(Graph.of(world), codes, algebra, Limits(memory=10_500 if isinstance(algebra, Tally) else 1700))
    assert len(parts.cuts) > 3
    assert parts.at_start().exact() == whole.at_start().exact()
    budgets = np.full(300, 7)
    walks = [each.walk(budgets, SeededSource(3).open()) for each in (whole, parts)]
    assert (walks[0] == walks[1]).all()
    assert len(np.unique(walks[0], axis=0)) > 50
    if isinstance(algebra, Discount):
        assert parts.distances(codes[None], 0)[0] == whole.distances(codes[None], 0)[0]


def test_no_more_memory_is_taken_than_the_limit_says() -> None:
    """Of the layers between two cuts, only one table exists at a time: two would take twice the limit."""
    graph, codes, limit = Graph.of(dw.GridWorld(15, 15)), np.zeros(160, dtype=np.int64), 2**23

    def walked() -> Lattice:
        lattice = Lattice(graph, codes, Tally(), Limits(memory=limit))
        lattice.walk(np.full(1, 120), SeededSource(3).open())
        return lattice

    walked()  # the first time loops may be compiled, which takes memory of its own
    tracemalloc.start()
    try:
        lattice = walked()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(lattice.cuts) > 3
    assert limit // 2 < peak < 1.2 * limit


def test_walks_are_the_same_for_any_number_of_threads() -> None:
    world = dw.GridWorld(5, 5)
    codes = np.array([world.alphabet.codes[s] for s in "EESSENWSSE"])
    walks = []
    for most in (1, 2, 5):
        discount = Discount(scaled.exp_minus([Fraction(1, 2)]))
        folded = Lattice(Graph.of(world), codes, discount, Limits(threads=most))
        walks.append(folded.walk(np.zeros(70_000, dtype=np.int64), SeededSource(3).open()))
    assert (walks[0] == walks[1]).all()
    assert (walks[0] == walks[2]).all()


def test_numbers_of_any_size() -> None:
    """e^(−5000·d) and 2^3000 words: far beyond floats, and right to the last bits."""
    system = dw.TransitionSystem({0: {"a": 0, "b": 1}, 1: {"a": 1, "b": 0}}, start=0)
    codes = np.zeros(3000, dtype=np.int64)
    graph = Graph.of(system)
    rate = Fraction(5000)
    folded = Lattice(graph, codes, Discount(scaled.exp_minus([rate])))
    assert folded.at_start().logs() == pytest.approx([0.0], abs=1e-12)
    assert folded.choices(5, 1, 0).logs()[1] == pytest.approx(-5000, abs=1e-9)
    counted = Lattice(graph, codes[:1500], Tally()).at_start()
    expected = [math.comb(1500, d) for d in range(1501)]
    assert counted.logs() == pytest.approx([math.log(number) for number in expected], rel=1e-12)


def test_exponents_never_wrap_around() -> None:
    """e^(−10^6·d) over 10^6 symbols is 2^(−1.4·10^12): more steps of 512 than an int32 may count."""
    graph = Graph.of(dw.TransitionSystem({0: {"a": 0, "b": 0}}, start=0))
    steep = Discount(scaled.exp_minus([Fraction(10**6)]))
    with pytest.raises(dw.TooLarge, match="use less, or shorter words"):
        Lattice(graph, np.zeros(10**6, dtype=np.int64), steep)
    assert Lattice(graph, np.zeros(10**5, dtype=np.int64), steep).at_start().logs() == pytest.approx([0.0], abs=1e-9)
