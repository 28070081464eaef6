"""Words of moves that are read as the states they enter, against plain walks."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core.symbols import Ragged
from dpwords.languages import spelling
from dpwords.languages.spelling import IMPOSSIBLE, UNKNOWN, Spelling, SpellingEncoder

WORLD = dw.GridWorld(3, 4, walls={(1, 1)}, goal=(2, 3))
Rows = dict[Any, dict[str, Any]]


def walked(rows: Rows, start: Any, word: Sequence[Any]) -> list[Any]:
    """The states that a word enters, and from the first wrong letter on what is wrong with it."""
    letters, at, found = {letter for row in rows.values() for letter in row}, start, []
    for letter in word:
        if at not in (UNKNOWN, IMPOSSIBLE):
            at = UNKNOWN if letter not in letters else rows.get(at, {}).get(letter, IMPOSSIBLE)
        found.append(at)
    return found


@st.composite
def systems(draw: st.DrawFn) -> Rows:
    """A random system in which no two letters lead from one state to the same."""
    size = draw(st.integers(1, 5))
    rows = {}
    for state in range(size):
        targets = draw(st.lists(st.integers(0, size - 1), unique=True, max_size=3))
        rows[state] = dict(zip(draw(st.permutations("abc")), targets, strict=False))
    rows[0] = rows[0] or {"a": 0}
    return rows


@given(systems(), st.lists(st.text("abcx", max_size=6), max_size=8), st.booleans())
def test_many_words_are_read_as_one_by_one_and_written_back(rows: Rows, words: list[str], dense: bool) -> None:
    before, spelling._DENSE = spelling._DENSE, spelling._DENSE if dense else 0
    try:
        language = dw.TransitionSystem(rows, start=0).plans()
        encoder = SpellingEncoder(language.alphabet, language.spelling)
    finally:
        spelling._DENSE = before
    letters, size = language.letters.codes, len(language.alphabet)
    codes = [np.array([letters.get(letter, len(letters)) for letter in word], dtype=np.int64) for word in words]
    read = encoder.read(Ragged.of(codes))
    marks = [*language.alphabet.symbols, UNKNOWN, IMPOSSIBLE]
    assert [[marks[code] for code in row] for row in read] == [walked(rows, 0, word) for word in words]
    assert [list(language.read(tuple(word))) for word in words] == [walked(rows, 0, word) for word in words]
    good = [number for number, row in enumerate(read) if (row < size).all()]
    assert [language.accepts(word) for word in words] == [number in good for number in range(len(words))]
    chosen = read.chosen(np.array(good, dtype=np.int64))
    for kind in (str, list, tuple):
        assert encoder.words(chosen, kind) == [kind(words[number]) for number in good]
    for number in good:
        assert "".join(language.spell(language.read(tuple(words[number])))) == words[number]
        assert language.moves(language.run(words[number])) == list(words[number])
        if words[number]:
            row = encoder.texts([words[number]] * 2, len(words[number]))
            assert row is not None
            assert row.tolist() == [chosen.rows(np.array([good.index(number)]))[0].tolist()] * 2
            assert encoder.words(row, str) == [words[number]] * 2
    for word in {word for number, word in enumerate(words) if number not in good}:
        assert encoder.texts([word], len(word)) is None
        assert encoder.sequences([list(word)], len(word)) is None


def test_plans_have_the_words_of_the_system() -> None:
    plans = WORLD.plans()
    assert [plans.count(length) for length in range(9)] == [WORLD.count(length) for length in range(9)]
    assert plans.run("EEESS") == WORLD.run("EEESS")
    assert plans.moves(WORLD.run("EEESS")) == list("EEESS")
    assert (plans.letters.symbols, plans.alphabet.symbols) == (WORLD.alphabet.symbols, WORLD.states)
    assert plans.plans() is plans
    assert plans.by_states().spelling is None
    assert pickle.loads(pickle.dumps(plans)).run("EEESS") == WORLD.run("EEESS")
    assert not plans.accepts([(0, 1), (0, 2)])
    assert not plans.accepts([["E"]])  # what cannot be hashed
    assert not plans.accepts("EEES")  # not the goal


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        ("EES", "it ends where no word of the language may end"),
        ("EWWE", "symbol 3 of 4 cannot follow the ones before it"),
        ("EEEXS", "symbol 4 of 5 is not in the alphabet"),
        ("ESXW", "symbol 2 of 4 cannot follow the ones before it"),
    ],
)
def test_faults_are_those_of_the_system(word: str, fault: str) -> None:
    assert WORLD.plans().fault(tuple(word)) == fault == WORLD.fault(tuple(word))


def test_rules_are_about_states_and_words_stay_moves() -> None:
    ruled = WORLD.plans() & dw.rules.contains((1, 2)) & ~dw.rules.contains((0, 3))
    assert ruled.accepts("EESSE")
    assert not ruled.accepts("EEESS")
    assert not ruled.accepts("SSEEE")
    assert [ruled.count(n) for n in (5, 7)] == [
        (WORLD.by_states() & dw.rules.contains("1,2") & dw.rules.never("0,3")).count(n) for n in (5, 7)
    ]
    assert ruled.moves(ruled.run("EESSE")) == list("EESSE")
    assert ruled.up_to(5).accepts("EESSE")
    assert not ruled.up_to(4).accepts("EESSE")
    some = [state for state in reversed(WORLD.states) if state != (0, 3)]  # other codes, and the start is among them
    fewer = dw.Words(some) & WORLD.plans()
    assert dw.Exponential(fewer, 60.0).release("EESSE") == "EESSE"
    assert not fewer.accepts("EEESS")
    with pytest.raises(dw.NotInLanguage, match="cannot follow"):
        dw.Exponential(WORLD.plans() & dw.rules.never((0, 1)), 3.0).release("EESSE")
    with pytest.raises(dw.InvalidValue, match="names N, which is neither"):
        _ = WORLD.plans() & dw.rules.never("N")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: dw.GridWorld(3, 3, start=None).plans(), "may start anywhere: name a start"),
        (lambda: WORLD.by_states().plans(), "words of states already"),
        (lambda: dw.from_edges([("a", "b"), ("b", "a")], start="a").plans(), "words of states already"),
        (
            lambda: dw.TransitionSystem({"s": {"x": "s", "y": "t"}, "t": {"a": "s", "b": "s"}}, start="s").plans(),
            "from state t, a and b both lead to s",
        ),
        (lambda: ~WORLD.plans(), "cannot be written as moves"),
        (lambda: WORLD.plans() | dw.Words(WORLD.states), "cannot be written as moves"),
        (lambda: dw.EditChannel(WORLD.states, 4.0, onto=WORLD.plans()), "use words of states"),
    ],
)
def test_what_is_refused(make: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        make()


def test_languages_of_one_system_combine() -> None:
    plans = WORLD.plans()
    either = (plans & dw.rules.contains((1, 2))) | (plans & dw.rules.contains((0, 3)))
    assert either.accepts("EESSE")
    assert not either.accepts("SSEEE")
    assert not (plans - either).accepts("EESSE")
    assert (plans - either).accepts("SSEEE")


def test_a_spelling_is_a_value() -> None:
    with pytest.raises(AttributeError):
        Spelling({"s": {"a": "s"}}, "s").start = "t"
