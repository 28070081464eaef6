"""OpenFst (pynini) as a rival: a word as an acceptor with weighted arcs, intersected with a system, weights pushed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pynini

from dpwords.spaces.graph import Graph

RATE = Fraction(2)


def weight(value: float) -> Any:
    return pynini.Weight("log64", value)


def fst_of(graph: Graph) -> Any:
    """The system as an acceptor."""
    fst, one = pynini.Fst(arc_type="log64"), weight(0.0)
    fst.add_states(graph.size)
    fst.set_start(graph.start)
    for state in range(graph.size):
        fst.set_final(state, one)
        for k in range(graph.first[state], graph.first[state + 1]):
            label = int(graph.symbol[k]) + 1
            fst.add_arc(state, pynini.Arc(label, label, one, int(graph.target[k])))
    return fst.arcsort()


def fst_given(system: Any, codes: Any, symbols: int) -> Any:
    """e^(−c·d) around a word: intersect, push. Pushed weights are the policy."""
    word, one, price = pynini.Fst(arc_type="log64"), weight(0.0), weight(float(RATE))
    word.add_states(len(codes) + 1)
    word.set_start(0)
    word.set_final(len(codes), one)
    for position, code in enumerate(codes.tolist()):
        for a in range(symbols):
            word.add_arc(position, pynini.Arc(a + 1, a + 1, one if a == code else price, position + 1))
    return pynini.push(pynini.compose(word, system), push_weights=True, reweight_type="to_initial")


def fst_by_distance(system: Any, codes: Any, symbols: int, prices: list[float]) -> Any:
    """Any weight of the distance: the word's acceptor counts mismatches, as a Levenshtein automaton does."""
    length, one = len(codes), weight(0.0)
    word = pynini.Fst(arc_type="log64")
    number = {(i, d): i * (i + 1) // 2 + d for i in range(length + 1) for d in range(i + 1)}
    word.add_states(len(number))
    word.set_start(0)
    for (i, d), state in number.items():
        if i == length:
            word.set_final(state, weight(prices[d]))
            continue
        for a in range(symbols):
            word.add_arc(state, pynini.Arc(a + 1, a + 1, one, number[i + 1, d + (a != codes[i])]))
    return pynini.push(pynini.compose(word, system), push_weights=True, reweight_type="to_initial")
