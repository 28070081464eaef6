"""Many words at once: arrays of codes in and out, each row as if it were released by itself."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpwords as dw
from dpwords.core import scaled
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from dpwords.spaces.lattice import Discount, Lattice, walk_each
from dpwords.spaces.runs import Runs
from zoo import SYSTEMS


@pytest.mark.parametrize("epsilon", [0.5, 3.0, 8.0])
@pytest.mark.parametrize("symbols", [1, 2, 16, 100])
def test_symbols_of_free_words(epsilon: float, symbols: int) -> None:
    """Each is kept with probability e^ε/(e^ε + m − 1), and replaced by a uniform other one."""
    mechanism = dw.Exponential(dw.Words(range(symbols)), epsilon).seeded(2)
    rows = np.tile(np.arange(symbols, dtype=np.uint8), (40_000 // symbols, 4))
    released = mechanism.release_codes(rows)
    assert released.dtype == rows.dtype
    assert (rows == np.tile(np.arange(symbols), (len(rows), 4))).all()  # what goes in stays as it is
    kept = math.exp(epsilon) / (math.exp(epsilon) + symbols - 1)
    shift = (released.astype(int) - rows) % symbols
    counts = np.bincount(shift.ravel(), minlength=symbols)
    expected = np.full(symbols, (1 - kept) / max(symbols - 1, 1))
    expected[0] = kept
    assert symbols == 1 or stats.chisquare(counts, expected * shift.size).pvalue > 1e-4


@pytest.mark.parametrize("name", ["grid", "grid by states", "any start", "accepting set"])
def test_rows_follow_the_law_of_their_word(name: str) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, 1.5)
    words = exhaustive.words(language, length)
    codes = language.alphabet.codes
    secrets = [words[0], words[len(words) // 2]]
    draws = 4000
    rows = np.array([[codes[s] for s in word] for word in secrets * draws])
    released = mechanism.seeded(3).release_codes(rows)
    for number, secret in enumerate(secrets):
        seen = Counter(tuple(language.alphabet.symbols[c] for c in row) for row in released[number::2].tolist())
        given = mechanism.given(secret)
        expected = {word: draws * math.exp(given.log_prob(word)) for word in words}
        common = [word for word in words if expected[word] >= 5]
        rest = draws - sum(seen[w] for w in common), draws - sum(expected[w] for w in common)
        found, wanted = [seen[w] for w in common], [expected[w] for w in common]
        if rest[1] > 1e-6:
            found, wanted = [*found, rest[0]], [*wanted, rest[1]]
        assert set(seen) <= set(words)
        assert len(found) == 1 or stats.chisquare(found, np.array(wanted) * sum(found) / sum(wanted)).pvalue > 1e-4


def runs(number: int) -> tuple[Graph, Any]:
    graph = Graph.of(dw.GridWorld(4, 4))
    return graph, Runs(graph).uniform(9, number, SeededSource(1).open())


def test_what_floats_cannot_decide_is_settled_to_the_same_words() -> None:
    """With a wide margin every other step is settled in integers, from the same bits."""
    graph, rows = runs(300)
    z = scaled.exp_minus([Fraction(1, 2)])
    folded = Lattice(graph, rows[0], Discount(z))
    zeros = np.zeros(300, dtype=np.int64)
    for margin in (0.2, 0.5):
        alone = folded.walk(zeros, SeededSource(5).open(), margin=margin)
        assert (alone == folded.walk(zeros, SeededSource(5).open())).all()
        each = walk_each(graph, rows, z, SeededSource(5).open(), margin=margin)
        assert (each == walk_each(graph, rows, z, SeededSource(5).open())).all()


def test_rows_are_the_same_for_any_number_of_threads_and_without_room() -> None:
    graph, rows = runs(5000)
    z = scaled.exp_minus([Fraction(1)])
    found = [walk_each(graph, rows, z, SeededSource(5).open(), Limits(threads=most)) for most in (1, 2, 3)]
    assert (found[0] == found[1]).all()
    assert (found[0] == found[2]).all()
    alone = walk_each(graph, rows[:3], z, SeededSource(5).open(), Limits(memory=1600))
    assert graph.accepts(alone).all()


def test_rows_that_are_words() -> None:
    system = dw.TransitionSystem({"s": {"a": "t"}, "t": {"a": "s", "b": "t"}}, start="s", accepting=["t"])
    rows = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 0]])
    assert Graph.of(system).accepts(rows).tolist() == [True, False, False, False, True]


def test_bad_arrays_are_refused() -> None:
    mechanism = dw.Exponential(dw.GridWorld(3, 3), 2.0)
    for bad in (np.zeros(3, dtype=int), np.zeros((2, 3)), [[0, 1]], "abc"):
        with pytest.raises(dw.InvalidValue, match="two-dimensional array of whole numbers"):
            mechanism.release_codes(bad)  # type: ignore[arg-type]
    with pytest.raises(dw.NotInLanguage, match="outside 0 to 3"):
        mechanism.release_codes(np.array([[0, 4]]))
    with pytest.raises(dw.NotInLanguage, match="row 1 is not in the language"):
        mechanism.release_codes(np.array([[0, 1], [2, 2]]))
    with pytest.raises(dw.InvalidValue, match="empty word"):
        mechanism.release_codes(np.zeros((2, 0), dtype=int))
    assert mechanism.release_codes(np.zeros((0, 4), dtype=int)).shape == (0, 4)
    with pytest.raises(dw.InvalidValue, match="fill it first"):
        mechanism.release_codes(np.ma.MaskedArray(np.array([[0, 1]]), mask=[[True, False]]))
    for language in (dw.Words(range(200)), dw.GridWorld(15, 15).by_states()):
        with pytest.raises(dw.InvalidValue, match="do not fit into int8"):
            dw.Exponential(language, 2.0, calibration="textbook").release_codes(np.zeros((2, 4), dtype=np.int8))


class Tagged(np.ndarray):
    """An array that carries something private along."""

    def __array_finalize__(self, parent: Any) -> None:
        self.note = getattr(parent, "note", None)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
@pytest.mark.parametrize("language", [dw.Words("ab"), dw.TransitionSystem({0: {"a": 1, "b": 1}, 1: {"a": 0}}, start=0)])
def test_only_codes_go_in_and_come_out(language: Any, epsilon: float) -> None:
    """Kinds of arrays with a will of their own are taken as plain numbers."""
    mechanism = dw.Exponential(language, epsilon, calibration="textbook")
    codes = np.tile(np.array([[0, 0, 1, 0]] if isinstance(language, dw.Words) else [[1, 0, 0, 0]]), (300, 1))
    tagged = codes.view(Tagged)
    tagged.note = "private"
    kinds = [codes, np.asmatrix(codes), tagged, codes.astype(">i4"), np.asfortranarray(codes), codes[::-1, ::1]]
    expected = mechanism.seeded(1).release_codes(codes)
    for kind in kinds:
        released = mechanism.seeded(1).release_codes(kind)
        assert type(released) is np.ndarray
        assert (released == expected).all()
    assert (expected != codes).any()
    assert (expected == codes).any()
