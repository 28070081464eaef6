"""Rounding at the length of 2,000 symbols: what is claimed for it, and what it is in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import contract
import dpwords as dw
from contract import HIGH
from dpwords.spaces.graph import Graph

LENGTH = 2_000
MOST = 1e-9  # of ε, for a pair of words
WIDE = dw.TransitionSystem({0: dict.fromkeys(range(1000), 1), 1: dict.fromkeys(range(1000), 0)}, start=0)
CELLS = dw.GridWorld(3, 3).by_states()


@pytest.mark.parametrize(
    "mechanism",
    [
        dw.Exponential(dw.Words("acgt"), 1.0),
        dw.Exponential(dw.Words(range(1000)), 1.0, k=3),
        dw.Exponential(CELLS, 3.0, calibration="textbook"),
        dw.Exponential(WIDE, 1.0),
        dw.Online(CELLS, 3.0),
        dw.Online(WIDE, 3.0),
        dw.EditChannel("acgt", 3.0),
        dw.Report(CELLS, 3.0, question="visits"),
    ],
    ids=repr,
)
def test_what_is_claimed(mechanism: Any) -> None:
    assert 0 <= mechanism.guarantee.slack * LENGTH <= MOST


def total(graph: Graph, codes: Any, z: Decimal) -> Decimal:
    """The sum of π(w)·z^d(x, w) over all words w, in 60 digits, step by step along the graph."""
    edges = 1 if graph.weight is None else [as_decimal(each) for each in graph.weight.exact()]
    ends = 1 if graph.ending is None else [as_decimal(each) for each in graph.ending.exact()]
    symbols, sources, targets = graph.symbol.tolist(), graph.sources.tolist(), graph.target.tolist()
    sums = [Decimal(0)] * graph.size
    sums[graph.start] = Decimal(1)
    for code in codes.tolist():
        after = [Decimal(0)] * graph.size
        for edge, (source, symbol, target) in enumerate(zip(sources, symbols, targets, strict=True)):
            if sums[source]:
                weight = HIGH.multiply(sums[source], Decimal(1) if edges == 1 else edges[edge])
                after[target] = HIGH.add(after[target], weight if symbol == code else HIGH.multiply(weight, z))
        sums = after
    found = Decimal(0)
    for state, value in enumerate(sums):
        if graph.accepting[state]:
            found = HIGH.add(found, HIGH.multiply(value, Decimal(1) if ends == 1 else ends[state]))
    return found


def as_decimal(value: Fraction) -> Decimal:
    return HIGH.divide(Decimal(value.numerator), Decimal(value.denominator))


def word_weight(graph: Graph, codes: Any) -> Decimal:
    """ln π(w) in 60 digits."""
    if graph.weight is None or graph.ending is None:
        return Decimal(0)
    edges, ends, state, found = graph.weight.exact(), graph.ending.exact(), graph.start, Decimal(0)
    for code in codes.tolist():
        (edge,) = np.flatnonzero((graph.sources == state) & (graph.symbol == code))
        found = HIGH.add(found, contract.log(edges[edge]))
        state = int(graph.target[edge])
    return HIGH.add(found, contract.log(ends[state]))


LONG: dict[str, Callable[[], dw.Exponential]] = {
    "cells, textbook": lambda: dw.Exponential(CELLS, 3.0, calibration="textbook", utility=dw.Linear()),
    "cells, reweighted": lambda: dw.Exponential(CELLS, 4.0),
    "moves": lambda: dw.Exponential(dw.GridWorld(3, 3), 0.01, calibration="textbook", utility=dw.Linear()),
    "large ε": lambda: dw.Exponential(CELLS, 40.0, calibration="textbook", utility=dw.Linear()),
}


@pytest.mark.parametrize("name", LONG)
def test_the_stored_law_of_long_runs(name: str) -> None:
    """Words that are drawn, and words far away: half the slack covers ln p̃(w;x) − ln p(w;x)."""
    mechanism = LONG[name]()
    weights = mechanism.weights(LENGTH)
    graph = weights.base if isinstance(weights.base, Graph) else Graph.of(mechanism.language)
    z = HIGH.exp(HIGH.divide(Decimal(-weights.rate.numerator), Decimal(weights.rate.denominator)))  # type: ignore[union-attr]
    uniform = dw.Exponential(mechanism.language, 1e-6, calibration="textbook", utility=dw.Linear()).seeded(1)
    start = ["E", "W"] * (LENGTH // 2) if name == "moves" else [(0, 1), (0, 0)] * (LENGTH // 2)
    word = uniform.release(start)
    outputs = [word, *mechanism.seeded(2).simulate(word, 1), uniform.release(start)]
    given: Any = mechanism.given(word)
    codes = contract.codes_of(mechanism.language, tuple(word))
    constant = HIGH.ln(total(graph, codes, z))
    for output in outputs:
        ends = contract.codes_of(mechanism.language, tuple(output))
        apart = int(np.count_nonzero(codes != ends))
        ideal = HIGH.subtract(HIGH.add(word_weight(graph, ends), HIGH.multiply(HIGH.ln(z), Decimal(apart))), constant)
        stored = contract.log(given.law.exact(ends))
        assert abs(HIGH.subtract(stored, ideal)) <= Decimal(mechanism.guarantee.slack) * LENGTH / 2  # type: ignore[union-attr]


@pytest.mark.parametrize("symbols", [2, 4, 1000])
@pytest.mark.parametrize("epsilon", [0.001, 2.0, 100.0])
def test_the_stored_law_of_long_free_words(symbols: int, epsilon: float) -> None:
    mechanism = dw.Exponential(dw.Words(range(symbols)), epsilon)
    word = tuple(position % symbols for position in range(LENGTH))
    given: Any = mechanism.given(word)
    rate = mechanism.weights(LENGTH).rate
    assert rate is not None
    power = HIGH.divide(Decimal(rate.numerator), Decimal(rate.denominator))
    others = HIGH.multiply(Decimal(symbols - 1), HIGH.exp(-power))
    for output in (word, *mechanism.seeded(1).simulate(word, 1), tuple((code + 1) % symbols for code in word)):
        ends = contract.codes_of(mechanism.language, output)
        apart = sum(one != other for one, other in zip(word, output, strict=True))
        ideal = HIGH.subtract(
            HIGH.multiply(-power, Decimal(apart)), HIGH.multiply(Decimal(LENGTH), HIGH.ln(HIGH.add(1, others)))
        )
        stored = contract.log(given.law.exact(ends))
        assert abs(HIGH.subtract(stored, ideal)) <= Decimal(mechanism.guarantee.slack) * LENGTH / 2  # type: ignore[union-attr]


def test_long_runs_online() -> None:
    """Each step of the online law is a quotient of stored weights; the pair's loss is never above ε for each
    position."""
    mechanism = dw.Online(CELLS, 2.0)
    word = [(0, 1), (0, 0)] * (LENGTH // 2)
    other = [(1, 0), (0, 0)] * (LENGTH // 2)
    laws: list[Any] = [mechanism.given(each).law for each in (word, other)]
    for output in (word, other, *mechanism.seeded(1).simulate(word, 1)):
        ends = contract.codes_of(CELLS, tuple(output))
        one, two = (contract.log(law.exact(ends)) for law in laws)
        assert abs(HIGH.subtract(one, two)) <= Decimal(2) * (LENGTH // 2)
