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
from dpwords.languages.exploring import explore
from dpwords.spaces import exhaustive
from zoo import ALL, CORRIDOR, ENDING, SYSTEMS, random_systems


def by_hand(language: Any, word: tuple[Any, ...], keep: Any) -> dict[tuple[Any, ...], Any]:
    """The law of the notes, from its definition: a symbol is open if some word begins so.

    The true symbol has keep/(keep + D − 1). If it is closed in words of states, one of the nearest open ones, chosen at
    random, has its place; in words of moves all have 1/D.
    """
    words = exhaustive.words(language, len(word))
    law = {}
    for output in words:
        probability = Fraction(1) if isinstance(keep, Fraction) else 1.0
        for position in range(len(word)):
            symbols = {other[position] for other in words if other[:position] == output[:position]}
            near = nearest(language, output[:position], symbols, word[position])
            size = len(symbols)
            if near:
                others = Fraction(len(near) - 1) if isinstance(keep, Fraction) else len(near) - 1.0
                proportion = (keep + others) / len(near) if output[position] in near else 1
                probability *= proportion / (keep + size - 1)
            else:
                probability /= size
        law[output] = probability
    return law


def nearest(language: Any, before: tuple[Any, ...], symbols: set[Any], true: Any) -> set[Any]:
    """The true symbol if it is open, else the open ones from whose states that of the true one is nearest."""
    if true in symbols:
        return {true}
    _, edges = explore([language.initial], language.follow)
    leads = {symbol: {target for _, label, target in edges if label == symbol} for _, symbol, _ in edges}
    named = all(len(targets) == 1 for targets in leads.values()) and len(leads) == len(set().union(*leads.values()))
    if not named or true not in leads:
        return set()
    (goal,) = leads[true]
    steps, front = {goal: 0}, {goal}
    while front:
        front = {source for source, _, target in edges if target in front} - steps.keys()
        steps |= dict.fromkeys(front, max(steps.values()) + 1)
    away = {symbol: steps[next(iter(leads[symbol]))] for symbol in symbols if next(iter(leads[symbol])) in steps}
    return {symbol for symbol, number in away.items() if number == min(away.values())}


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


@pytest.mark.parametrize(
    ("epsilon", "expected"), [(1, 13.14), (1.5, 10.96), (2, 8.52), (2.5, 6.19), (3, 4.24), (4, 1.78), (6, 0.26)]
)
def test_on_the_15x15_grid_it_finds_home_as_in_the_notes(epsilon: float, expected: float) -> None:
    """The notes' figures are exact means over all runs of 18 steps; ours are over 256 of them."""
    found = dw.Online(dw.GridWorld(15, 15).by_states(), epsilon).expected_distance(length=18)
    assert found == pytest.approx(expected, rel=0.035)


def meeting(language: Any, one: Any, other: Any) -> int:
    """The least number of steps after which runs from two states can be in the same state; 7 if it is more than 6."""
    fronts = [{one}, {other}]
    for steps in range(7):
        if fronts[0] & fronts[1]:
            return steps
        fronts = [{target for state in front for _, target in language.follow(state)} for front in fronts]
    return 7


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize(
    "language",
    [
        dw.GridWorld(4, 4, start=None).by_states(),
        dw.GridWorld(4, 5, start=None, walls={(1, 1), (2, 3)}).by_states(),
        dw.from_edges([(i, (i * i + j) % 19) for i in range(19) for j in (1, 3)] + [(19, 0)], start=None),
    ],
)
def test_of_many_starts_those_that_meet_the_true_run_soon_are_preferred(language: Any, epsilon: float) -> None:
    """The first state: always as many are preferred, each with e^c times the weight of the others."""
    mechanism = dw.Online(language, epsilon)
    words = exhaustive.words(language, 2)
    firsts = [symbol for symbol, _ in language.follow(language.initial) if any(word[0] == symbol for word in words)]
    number = mechanism._space.best_starts(math.exp(-epsilon), 2)  # type: ignore[attr-defined]
    total = number * math.exp(epsilon) + len(firsts) - number
    for word in words[::7]:
        given_word = mechanism.given(word)
        found = {s: sum(math.exp(given_word.log_prob(w)) for w in words if w[0] == s) for s in firsts}
        near = [s for s in firsts if found[s] == pytest.approx(math.exp(epsilon) / total, rel=1e-9)]
        assert len(near) == number
        assert all(found[s] == pytest.approx(1 / total, rel=1e-9) for s in firsts if s not in near)
        levels = {s: meeting(language, s, word[0]) for s in firsts}
        assert max(levels[s] for s in near) <= min([levels[s] for s in firsts if s not in near], default=7)
        assert word[0] in near
    contract.check_promise(mechanism, 2)


def test_of_many_starts_the_stored_law_keeps_the_promise_without_tolerance() -> None:
    language = dw.GridWorld(4, 4, start=None).by_states()
    mechanism = dw.Online(language, 1.5)
    words = exhaustive.words(language, 2)
    laws = {word: contract.stored_law(mechanism, word, words) for word in words[::6]}
    for word, law in laws.items():
        assert sum(law.values()) == 1
        for other, other_law in laws.items():
            bound = contract.Decimal(1.5) * hamming(word, other)
            assert all(abs(contract.log(law[output] / other_law[output])) <= bound for output in words)


def test_many_starts_are_not_lost() -> None:
    """Half as far as with e^c/(e^c + 224) for the true first state and 1/D for closed ones: 14.46 and 6.42."""
    cells = dw.GridWorld(15, 15, start=None).by_states()
    found = [dw.Online(cells, epsilon).expected_distance(length=18) for epsilon in (4, 6)]
    assert found[0] < 8.2
    assert found[1] < 3.9


def test_words_of_moves_are_as_in_the_notes() -> None:
    found = [dw.Online(dw.GridWorld(15, 15), epsilon).expected_distance(length=18) for epsilon in (1, 2, 4, 6)]
    assert found == pytest.approx([9.02, 5.08, 0.978, 0.142], rel=0.035)


def test_a_run_that_was_left_is_found_again() -> None:
    """Pushed towards a far cell, the released run walks there by a shortest way, but for a few steps."""
    world = dw.GridWorld(9, 9).by_states()
    stream = dw.Online(world, 8.0).seeded(1).stream()
    released = [stream.push((8, 8)) for _ in range(40)]
    assert world.accepts(released)
    assert any(cell == (8, 8) for cell in released[15:24])


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
