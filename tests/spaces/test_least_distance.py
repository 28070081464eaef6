"""The least distance between two different words, against brute force over all pairs and against hand counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

import dpwords as dw
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import hamming
from dpwords.languages.language import Language
from dpwords.spaces import exhaustive
from dpwords.spaces.choice import space_of
from dpwords.spaces.exhaustive import EveryWord
from zoo import ALL, FINITE, NO_NEIGHBOURS, random_lexicons, random_systems


def brute_force(language: Language, length: int) -> int | None:
    """Over all pairs of words, by the definition."""
    words = exhaustive.words(language, length)
    return min((hamming(one, other) for one in words for other in words if one != other), default=None)


@pytest.mark.parametrize("name", ALL)
def test_every_language_equals_brute_force(name: str) -> None:
    language, longest = ALL[name]
    for length in range(1, longest + 1):
        if language.count(length):
            expected = brute_force(language, length)
            assert space_of(language).least_distance(length) == (expected, True)
            assert EveryWord(language).least_distance(length) == (expected, True)


@given(random_systems())
def test_random_systems_equal_brute_force(system: tuple[Language, int]) -> None:
    language, length = system
    assert space_of(language).least_distance(length) == (brute_force(language, length), True)


@pytest.mark.parametrize("name", FINITE)
def test_finite_languages_equal_the_reference_under_levenshtein_distance(name: str) -> None:
    language, longest = FINITE[name]
    reference = EveryWord(language, "levenshtein", longest)
    assert space_of(language, "levenshtein").least_distance(longest) == reference.least_distance(longest)


@given(random_lexicons())
def test_random_lexicons_equal_the_reference(drawn: tuple[dw.Lexicon, int]) -> None:
    lexicon, longest = drawn
    reference = EveryWord(lexicon, "levenshtein", longest)
    assert space_of(lexicon, "levenshtein").least_distance(longest) == reference.least_distance(longest)
    for length in set(lexicon.lengths) - {0}:
        assert space_of(lexicon).least_distance(length) == (brute_force(lexicon, length), True)


def to_a_goal(size: int, goal: Any) -> dw.TransitionSystem:
    """Moves on a grid from a corner to a goal."""
    cells = [(row, column) for row in range(size) for column in range(size)]
    moves = {"E": (0, 1), "S": (1, 0), "W": (0, -1), "N": (-1, 0)}
    return dw.TransitionSystem(
        {(r, c): {name: (r + y, c + x) for name, (y, x) in moves.items() if (r + y, c + x) in cells} for r, c in cells},
        start=(0, 0),
        accepting=[goal],
    )


def test_by_hand() -> None:
    """Moves to a goal can be exchanged, never changed alone; a state of a run can, if there is a way around it."""
    goal = to_a_goal(12, (9, 9))
    assert space_of(goal).least_distance(18) == (2, True)
    assert space_of(goal.by_states()).least_distance(18) == (1, True)
    assert space_of(dw.GridWorld(15, 15)).least_distance(18) == (1, True)
    ring = dw.TransitionSystem({n: {"+": (n + 1) % 9, "-": (n - 1) % 9} for n in range(9)}, start=0, accepting=[0])
    assert space_of(ring).least_distance(9) == (9, True)  # all the way around in one direction or the other
    assert space_of(ring).least_distance(8) == (2, True)
    assert space_of(ring.by_states()).least_distance(9) == (8, True)  # all but the last


def test_the_only_word_has_no_other() -> None:
    line = dw.TransitionSystem({n: {"on": n + 1} for n in range(40)}, start=0)
    assert space_of(line).least_distance(30) == (None, True)
    assert space_of(dw.Words("a")).least_distance(7) == (None, True)
    assert space_of(dw.Lexicon(["only"])).least_distance(4) == (None, True)


def test_beyond_the_limit_there_is_a_lower_bound() -> None:
    for steps, expected in (
        (100, 1),
        (5000, 2),
        (7000, 3),
        (10_000, 3),
    ):  # at about 1,000 for each of the three positions
        space = space_of(NO_NEIGHBOURS, limits=replace(DEFAULTS, pair_steps=steps))
        assert space.least_distance(3) == (expected, steps == 10_000)
    assert space_of(NO_NEIGHBOURS, limits=Limits(memory=4)).least_distance(3) == (1, False)


def test_long_lists_are_searched_for_distance_one_only() -> None:
    few = Limits(automatic_words=2)
    with_check_digit = [f"{n:03}{(10 - sum(map(int, str(n))) % 10) % 10}" for n in range(200)]
    for distance in ("hamming", "levenshtein"):
        assert space_of(dw.Lexicon(with_check_digit), distance).least_distance(4) == (2, True)
        assert space_of(dw.Lexicon(with_check_digit), distance, few).least_distance(4) == (2, False)
        assert space_of(dw.Lexicon([*with_check_digit, "0001"]), distance, few).least_distance(4) == (1, True)


def test_words_that_are_counted_and_not_listed() -> None:
    assert space_of(dw.Words("abcd", max_length=8), "levenshtein").least_distance(8) == (1, True)
    unlisted = Limits(compared_words=2)
    assert space_of(FINITE["no cycles"][0], "levenshtein", unlisted).least_distance(3) == (1, False)
