"""The exact audit of any finite channel, against brute force and closed forms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dpwords as dw
from dpwords.core import limits
from gallery import published

channel = dw.audit.channel
WORDS = ["".join(each) for each in itertools.product("ab", repeat=2)]


def response(size: int, epsilon: float) -> Any:
    """k-RR: e^ε for the truth against 1 for each other value."""
    table = np.ones((size, size)) + (math.exp(epsilon) - 1) * np.eye(size)
    return table / table.sum(axis=1, keepdims=True)


def brute(table: Any, apart: Any) -> float:
    """The definition, pair by pair and output by output."""
    return max(
        (
            abs(math.log(p) - math.log(q)) / apart[x][y]
            for x, y in itertools.permutations(range(len(table)), 2)
            for p, q in zip(table[x], table[y], strict=True)
        ),
        default=0.0,
    )


@pytest.mark.parametrize("seed", range(5))
def test_it_measures_the_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(6), size=5)
    apart = rng.integers(1, 4, (5, 5))
    apart = np.triu(apart, 1) + np.triu(apart, 1).T
    found = channel(table, apart)
    assert found.epsilon == pytest.approx(brute(table, apart), rel=1e-12)
    worst = found.worst
    assert worst is not None
    loss = abs(math.log(table[worst.input][worst.output] / table[worst.neighbour][worst.output]))
    assert (worst.loss, worst.distance) == (pytest.approx(loss), apart[worst.input][worst.neighbour])
    assert found.epsilon == pytest.approx(worst.loss / worst.distance)
    assert (found.holds, found.allowed) == (None, None)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_randomised_response_spends_just_what_it_claims(epsilon: float) -> None:
    found = channel(response(6, epsilon), "any", claimed=epsilon)
    one = lambda x, y: float(x != y)  # noqa: E731
    assert found == channel(response(6, epsilon), one, claimed=epsilon)
    assert found.epsilon == pytest.approx(epsilon)
    assert found.holds
    assert not channel(response(6, epsilon), one, claimed=0.999 * epsilon).holds


def test_losses_of_positions_add_up_under_hamming_distance() -> None:
    each = response(2, 1.5)
    found = channel(np.kron(each, each), "hamming", inputs=WORDS, outputs=WORDS, claimed=1.5)
    assert found.epsilon == pytest.approx(1.5)
    assert dict(found.losses) == pytest.approx({1: 1.5, 2: 3.0})
    assert channel(np.kron(each, each), "hamming", inputs=WORDS, k=2).epsilon == pytest.approx(3.0)
    assert found.worst is not None
    assert sum(a != b for a, b in zip(found.worst.input, found.worst.neighbour, strict=True)) == found.worst.distance


def test_what_artifacts_really_lose() -> None:
    """docs/rivals.md: ln(6·(e + 4)) = 3.70 at a claim of 1, and no ε at all for cells that are out of reach."""
    found = channel(published("published_response", 6, 1.0), lambda x, y: x != y, claimed=1)
    assert found.epsilon == pytest.approx(math.log(6 * (math.e + 4)))
    assert (found.holds, found.allowed) == (False, 1)
    apart = np.abs(np.subtract.outer(np.arange(9.0), np.arange(9.0)))
    found = channel(published("published_neighbourhood", apart, 1.0, 2.0), apart, claimed=1)
    assert (found.epsilon, found.holds) == (math.inf, False)
    assert found.worst is not None
    assert found.worst.loss == math.inf
    assert "BROKEN" in str(found)


def test_a_mechanism_as_a_channel() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.3)
    law = lambda word: {w: math.exp(mechanism.log_prob(w, given=word)) for w in WORDS}  # noqa: E731
    assert channel(law, "hamming", inputs=WORDS, claimed=1.3).holds
    assert channel(law, "hamming", inputs=WORDS).epsilon == pytest.approx(dw.audit.exact(mechanism, 2).epsilon)


ROWS = [("a", 0, 0.75), ("a", 1, 0.25), ("b", 0, 0.5), ("b", 1, 0.5)]
COLUMNS = dict(zip(("x", "w", "p"), map(list, zip(*ROWS, strict=True)), strict=True))


@pytest.mark.parametrize(
    "given",
    [
        ROWS,
        iter(ROWS),
        {"a": {0: 0.75, 1: 0.25}, "b": {0: 0.5, 1: 0.5}},
        pyarrow.table(COLUMNS),
        pandas.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS),
    ],
    ids=["tuples", "iterator", "dicts", "pyarrow", "pandas", "polars"],
)
def test_every_form_is_the_same_channel(given: Any) -> None:
    found = channel(given, "hamming")
    assert found.epsilon == pytest.approx(math.log(2))  # at output 1
    assert found.worst is not None
    assert (found.worst.input, found.worst.neighbour, found.worst.output, found.worst.distance) == ("a", "b", 1, 1)


def test_a_law_can_be_listed_as_pairs() -> None:
    assert channel(lambda x: [(x, 0.5), (1 - x, 0.5)], [[0, 1], [1, 0]], inputs=[0, 1]).epsilon == 0
    assert channel(lambda x: [(x, 0.5), (1 - x, 0.5)], [[0, 1], [1, 0]], inputs=[0, 1]).worst is None


def test_distances_at_the_ends() -> None:
    """Equal rows at distance 0 are fine, different ones are not; at infinite distance nothing is claimed."""
    table = [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]]
    near = [[0, 0, math.inf], [0, 0, math.inf], [math.inf, math.inf, 0]]
    assert channel(table, near).epsilon == 0
    assert channel(table, [[0, 1, 0], [1, 0, 1], [0, 1, 0]]).epsilon == math.inf
    found = channel([[0.75, 0.25], [0.5, 0.5]], [[0, 0], [0, 0]], claimed=3)
    assert (found.epsilon, found.holds) == (math.inf, False)
    lengths = {"a": {"a": 1.0}, "bb": {"b": 1.0}}
    assert channel(lengths, "levenshtein").epsilon == math.inf
    assert channel([[0.75, 0.25], [0.5, 0.5]], [[0, 0.5], [0.5, 0]]).epsilon == pytest.approx(2 * math.log(2))


def test_a_claim_about_nothing_does_not_hold() -> None:
    """Words of different lengths have no Hamming distance: a channel that tells them apart for sure is not private."""
    with pytest.raises(dw.InvalidValue, match="nothing can be compared: choose any, levenshtein"):
        channel({"young": {0: 1.0}, "old": {1: 1.0}}, "hamming", claimed=0.1)
    assert channel({"young": {0: 1.0}, "old": {1: 1.0}}, "any", claimed=0.1).epsilon == math.inf
    found = channel({"new": {0: 1.0}, "old": {0: 1.0}, "retired": {1: 1.0}}, "hamming", claimed=0.1)
    assert (found.holds, found.compared, found.pairs) == (True, 1, 3)
    assert "1 of 3 pairs compared" in str(found)


def test_pairs_at_distance_0_are_among_the_losses() -> None:
    table, apart = [[0.8, 0.2], [0.5, 0.5], [0.5, 0.5]], [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    found = channel(table, apart, claimed=2)
    assert (found.epsilon, found.holds) == (math.inf, False)
    assert found.losses == pytest.approx({0: math.log(2.5), 1: math.log(2.5)})


def test_a_matrix_of_tuples_is_a_matrix() -> None:
    assert channel(((0.5, 0.3, 0.2), (0.2, 0.3, 0.5)), APART).epsilon == pytest.approx(math.log(2.5))


def test_columns_with_their_own_names_may_come_in_any_order() -> None:
    """Inputs 0 and 1, of which 0 always gives 0; the other way round, every input would have one output."""
    given = {"output": [0, 0, 1], "probability": [1.0, 0.25, 0.75], "input": [0, 1, 1]}
    for table in (pyarrow.table(given), pandas.DataFrame(given), polars.DataFrame(given)):
        found = channel(table, APART)
        assert (found.epsilon, found.worst.output) == (math.inf, 1)


GOOD = [[0.5, 0.5], [0.25, 0.75]]
APART = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("given", "apart", "options", "message"),
    [
        ([[0.5, math.nan], [0.5, 0.5]], APART, {}, "of input 0 is negative or not a number"),
        ([[0.5, 0.5], [1.5, -0.5]], APART, {}, "of input 1 is negative or not a number"),
        ([[0.5, 0.5], [0.5, 0.4]], APART, {}, "input 1 sum to 0.9, not to 1 within 1e-06"),
        ([[0.5, 0.5]], [[0]], {}, "at least two inputs"),
        ([[0.5, 0.5], [1.0]], APART, {}, "equally many numbers"),
        ([["x", "y"], ["z", "v"]], APART, {}, "equally many numbers"),
        ([0.5, 0.5], APART, {}, "a row for each input"),
        ("matrix.csv", APART, {}, "a channel is a matrix"),
        (3, APART, {}, "a channel is a matrix"),
        ([], APART, {}, "a row for each input"),
        ({}, APART, {}, "no rows"),
        ({"a": 0.5}, APART, {}, "give each input a dict"),
        ([("a", 0, 0.5), ("a", 0, 0.5)], APART, {}, "the pair 'a', '0' has two probabilities"),
        ([("a", 0, "half")], APART, {}, "probabilities are numbers"),
        ([("a", 0, 1), ("b", 0, 1)], APART, {"inputs": ["a"]}, "an input that inputs= does not name"),
        (ROWS, APART, {"outputs": [0]}, "an output that outputs= does not name"),
        (GOOD, APART, {"inputs": ["a"]}, "1 names for 2 inputs"),
        (GOOD, APART, {"outputs": ["a", "a"]}, "two outputs have the same name"),
        (GOOD, APART, {"inputs": [{}, {}]}, "is a str, a number or a tuple"),
        (GOOD, "hamming", {}, "for inputs that are words: pass inputs="),
        (GOOD, "edit", {}, "'hamming', 'levenshtein', 'any', a callable, or a matrix"),
        (GOOD, None, {}, "needs 2 rows and columns"),
        (GOOD, [[0, 1, 1], [1, 0, 1], [1, 1, 0]], {}, "needs 2 rows and columns"),
        (GOOD, [[0, 1], [2, 0]], {}, "distances are symmetric"),
        (GOOD, [[0, -1], [-1, 0]], {}, "a distance is 0 or more"),
        (GOOD, [[0, math.nan], [math.nan, 0]], {}, "a distance is 0 or more"),
        (GOOD, [[1, 1], [1, 0]], {}, "from itself is 0"),
        (GOOD, lambda x: x, {}, "the distance fails"),
        (GOOD, APART, {"claimed": math.nan}, "claimed must be a finite number"),
        (GOOD, APART, {"k": 0}, "k must be a whole number"),
        (lambda x: {0: 1.0}, APART, {}, "pass inputs="),
        (lambda x: [0.5, 0.5], APART, {"inputs": [0, 1]}, "returns {output: probability} or pairs"),
        (lambda x: None, APART, {"inputs": [0, 1]}, "returns {output: probability} or pairs"),
        (lambda x: {0: 1.0}, APART, {"inputs": [0, 0]}, "named twice"),
        (pandas.DataFrame(GOOD), APART, {}, "3 columns"),
    ],
)
def test_what_is_refused(given: Any, apart: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.InvalidValue) as caught:
        channel(given, apart, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_large_channels_are_refused_before_they_are_compared() -> None:
    size = limits.DEFAULTS.channel_inputs + 1
    with pytest.raises(dw.TooLarge, match="at most 4096 inputs"):
        channel(np.ones((size, 1)), "hamming", inputs=[str(each) for each in range(size)])


def test_too_little_memory_is_said() -> None:
    def apart(one: Any, other: Any) -> float:
        raise MemoryError

    with pytest.raises(dw.TooLarge, match="not enough memory"):
        channel(GOOD, apart)
