"""Symbol by symbol: the law against a walk by hand, exact audits at ε, streams."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import contract
import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.spaces import exhaustive
from zoo import ALL, CORRIDOR, ENDING, SYSTEMS, random_systems


def by_hand(language: Any, word: tuple[Any, ...], keep: Any) -> dict[tuple[Any, ...], Any]:
    """The law of the notes: e^c/(e^c + D − 1), 1/(e^c + D − 1), 1/D; a symbol is open if some word begins so."""
    words = exhaustive.words(language, len(word))
    law = {}
    for output in words:
        probability = Fraction(1) if isinstance(keep, Fraction) else 1.0
        for place in range(len(word)):
            symbols = {other[place] for other in words if other[:place] == output[:place]}
            size = len(symbols)
            if word[place] in symbols:
                probability *= (keep if output[place] == word[place] else 1) / (keep + size - 1)
            else:
                probability /= size
        law[output] = probability
    return law


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("epsilon", "k"), [(0.7, 1), (3.0, 2), (6.0, 1)])
def test_the_law_is_that_of_the_notes_and_keeps_its_promise(name: str, epsilon: float, k: int) -> None:
    language, length = ALL[name]
    mechanism = dw.Online(language, epsilon, k)
    for word in exhaustive.words(language, length)[::5]:
        law = by_hand(language, word, math.exp(epsilon / k))
        at = mechanism.given(word)
        assert {output: math.exp(at.log_prob(output)) for output in law} == pytest.approx(law, rel=1e-11)
        by_distance = [0.0] * (length + 1)
        for output, probability in law.items():
            by_distance[hamming(word, output)] += probability
        assert at.distance_distribution() == pytest.approx(by_distance, abs=1e-12)
        assert at.expected_distance() == pytest.approx(sum(d * p for d, p in enumerate(by_distance)), abs=1e-12)
    contract.check_promise(mechanism, length)
    contract.check_draws(mechanism, length)


@given(random_systems(), st.floats(0.05, 8), st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_random_systems_keep_the_promise(case: tuple[Any, int], epsilon: float, k: int) -> None:
    language, length = case
    contract.check_promise(dw.Online(language, epsilon, min(k, length)), length)


@pytest.mark.parametrize("name", ["dead ends", "accepting set", "grid", "any start"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_the_stored_law_keeps_the_promise_without_tolerance(name: str, epsilon: float) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Online(language, epsilon)
    words = exhaustive.words(language, length)
    laws = {word: contract.stored_law(mechanism, word, words) for word in words[:12]}
    for word, law in laws.items():
        assert sum(law.values()) == 1
        for other, other_law in laws.items():
            for output in law:
                loss = abs(contract.log(law[output] / other_law[output]))
                assert loss <= contract.Decimal(epsilon) * hamming(word, other)


def test_the_3x3_grid_of_the_notes() -> None:
    cells = dw.GridWorld(3, 3).by_states()
    found = [dw.Online(cells, epsilon).expected_distance(length=4) for epsilon in (1, 2, 3, 4, 6)]
    assert found == pytest.approx([1.7915, 0.9435, 0.4143, 0.1643, 0.0231], abs=6e-5)


def test_on_free_words_it_is_randomised_response() -> None:
    online, tight = (kind(dw.Words("abcd"), 2.0) for kind in (dw.Online, dw.Exponential))
    assert online.log_prob("abca", given="abcd") == pytest.approx(tight.log_prob("abca", given="abcd"), rel=1e-12)


def test_streams_draw_from_the_same_law() -> None:
    language, length = SYSTEMS["dead ends"]
    mechanism = dw.Online(language, 1.5).seeded(3)
    word = exhaustive.words(language, length)[2]
    seen: Counter[tuple[Any, ...]] = Counter()
    for _ in range(1500):
        stream = mechanism.stream(length)
        seen[tuple(stream.push(symbol) for symbol in word)] += 1
    law = by_hand(language, word, math.exp(1.5))
    assert set(seen) <= set(law)
    expected = [1500 * probability for probability in law.values()]
    assert stats.chisquare([seen[output] for output in law], expected).pvalue > 1e-4


def test_streams_without_an_end() -> None:
    world = dw.GridWorld(4, 4)
    stream = dw.Online(world, 3.0).stream()
    out = "".join(stream.push(symbol) for symbol in "NNNN" * 50)  # nothing that the robot could do
    assert world.accepts(out)
    letters = dw.Online(dw.Words("ab"), 200.0).stream()
    assert [letters.push(symbol) for symbol in "abba"] == list("abba")


def test_bad_use() -> None:
    with pytest.raises(dw.InvalidValue, match=r"pass stream\(length="):
        dw.Online(CORRIDOR, 1.0).stream()
    with pytest.raises(dw.InvalidValue, match=r"pass stream\(length="):
        dw.Online(ENDING, 1.0).stream()
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.Online(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0).stream(2)
    stream = dw.Online(ENDING, 1.0).stream(length=2)
    with pytest.raises(dw.InvalidValue, match="symbol 1 is not in the alphabet"):
        stream.push("secret")
    with pytest.raises(dw.InvalidValue, match="not in the alphabet"):
        stream.push(["a"])
    assert ENDING.accepts([stream.push("a"), stream.push("b")])
    with pytest.raises(dw.InvalidValue, match="opened for 2 symbols"):
        stream.push("a")
    for epsilon in (0, -1, math.nan, 1e-20):
        with pytest.raises(dw.InvalidValue, match="epsilon"):
            dw.Online(ENDING, epsilon)
    assert "epsilon=2, k=3" in repr(dw.Online(ENDING, 2, k=3))
    assert isinstance(dw.Online(ENDING, 2).seeded(1).guarantee, dw.NotPrivate)
    assert "online" in str(dw.Online(ENDING, 2).guarantee)
