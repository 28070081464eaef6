"""Languages combine: &, |, - and ~, against the plain definition on every word."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.languages.exploring import explore, minimised, numbered, trimmed
from dpwords.languages.language import Language
from dpwords.spaces.graph import Graph
from zoo import ENDING, random_systems

SIGNS: dict[str, tuple[Callable[[Any, Any], Language], Callable[[bool, bool], bool]]] = {
    "&": (lambda a, b: a & b, lambda a, b: a and b),
    "|": (lambda a, b: a | b, lambda a, b: a or b),
    "-": (lambda a, b: a - b, lambda a, b: a and not b),
}


def words_over(symbols: Any, most: int) -> list[tuple[Any, ...]]:
    return [word for n in range(most + 1) for word in itertools.product(symbols, repeat=n)]


def check_automaton(language: Language, most: int) -> None:
    """The explored automaton accepts what the language accepts, and a word can be completed from all of its states."""
    symbols = language.alphabet.symbols
    accepted = {word for word in words_over(symbols, most) if language.accepts(word)}
    for n in range(most + 1):
        assert language.count(n) == sum(len(word) == n for word in accepted)
    if not trimmed(numbered([language.initial], language.follow), language.is_accepting).label:
        assert accepted <= {()}
        with pytest.raises(dw.InvalidValue, match=r"no word|only the empty word"):
            dw.Exponential(language, 1.0)
        return
    graph = Graph.of(language)
    for n in range(1, most + 1):
        rows = np.array(list(itertools.product(range(len(symbols)), repeat=n)), dtype=np.int64)
        found = {tuple(symbols[code] for code in row) for row in rows[graph.accepts(rows)].tolist()}
        assert found == {word for word in accepted if len(word) == n}
    assert (graph.steps_to(np.flatnonzero(graph.accepting)) < graph.size).all()


@given(random_systems(), random_systems(), st.sampled_from(sorted(SIGNS)))
@settings(max_examples=150)
def test_combinations_of_random_systems(one: tuple[Any, int], other: tuple[Any, int], sign: str) -> None:
    left, right = one[0], other[0]
    combine, holds = SIGNS[sign]
    if sign != "|" and not set(left.alphabet.symbols) & set(right.alphabet.symbols):
        with pytest.raises(dw.InvalidValue, match="no symbol in common"):
            combine(left, right)
        return
    both = combine(left, right)
    every = dict.fromkeys([*left.alphabet.symbols, *right.alphabet.symbols])
    for word in words_over(every, 3):
        assert both.accepts(word) == holds(left.accepts(word), right.accepts(word))
    check_automaton(both, 3)


@given(random_systems())
def test_complements_of_random_systems(case: tuple[Any, int]) -> None:
    language, most = case[0], 3
    rest = ~language
    for word in words_over(language.alphabet.symbols, most):
        assert rest.accepts(word) != language.accepts(word)
        assert (~rest).accepts(word) == language.accepts(word)
    check_automaton(rest, most)


def test_alphabets() -> None:
    abc, cbd = dw.Words("abc"), dw.Words("cbd")
    assert (abc & cbd).alphabet.symbols == ("b", "c")
    assert (abc | cbd).alphabet.symbols == ("a", "b", "c", "d")
    assert (abc - cbd).alphabet.symbols == ("a", "b", "c")
    assert (~(abc - cbd)).alphabet.symbols == ("a", "b", "c")
    assert not (abc & cbd).accepts("abc")
    assert (abc & cbd).accepts("cbb")
    for combine in (SIGNS["&"][0], SIGNS["-"][0]):
        with pytest.raises(dw.InvalidValue, match=r"no symbol in common.*words of states with words of states"):
            combine(dw.GridWorld(2, 2), dw.GridWorld(2, 2).by_states())
    with pytest.raises(TypeError):
        abc & "abc"  # type: ignore[operator]


def test_nothing_is_claimed_of_a_combination() -> None:
    """A promise may rest on these flags, so a combination has none of them, even where it is every word."""
    for both in (dw.Words("ab") & dw.Words("ab"), dw.Words("ab") | dw.Words("ab"), ~~dw.Words("ab")):
        assert (both.every_word, both.alike, both.listed) == (False, False, False)
        assert dw.Exponential(both, 1.0).certificate(3).method == "every word"


def test_the_largest_length() -> None:
    two, three, any_length = dw.Words("ab", max_length=2), dw.Words("ab", max_length=3), dw.Words("ab")
    assert (two & three).max_length == (two & any_length).max_length == (any_length & two).max_length == 2
    assert (two | three).max_length == 3
    assert (two | any_length).max_length is None
    assert (three - two).max_length == (three - any_length).max_length == 3
    assert (any_length - two).max_length is (~two).max_length is None
    assert (dw.GridWorld(3, 3).up_to(5) & dw.rules.contains((1, 1))).max_length == 5


def test_lexicons_are_filtered() -> None:
    cities = dw.Lexicon(["bern", "bonn", "rom", "ulm"])
    kept = cities & dw.rules.contains("n")
    assert isinstance(kept, dw.Lexicon)
    assert list(kept) == ["bern", "bonn"]
    assert list(cities - dw.rules.contains("n")) == ["rom", "ulm"]  # type: ignore[call-overload]
    assert list(cities & dw.Pattern("..m")) == ["rom", "ulm"]  # type: ignore[call-overload]
    other = dw.Words("berno") & cities
    assert [other.count(n) for n in range(5)] == [0, 0, 0, 0, 2]
    assert (cities | dw.Lexicon(["köln"])).count(4) == 3
    with pytest.raises(dw.InvalidValue, match=r"never:n;m leaves no word of <Lexicon: 4 words"):
        cities & dw.rules.never("n", "m")


def test_runs_of_a_system_under_rules() -> None:
    grid = dw.GridWorld(3, 3)
    for language in (grid & dw.rules.contains((1, 1)), (grid & dw.Words("ES")).up_to(9), grid - dw.Pattern("E+")):
        assert language.system is grid
        assert language.symbols_are == "moves"
        assert language.run("ES") == [(0, 1), (1, 1)]
        assert language.moves([(0, 1), (1, 1)]) == ["E", "S"]
    ruled = grid & dw.rules.contains((1, 1))
    with pytest.raises(dw.NotInLanguage, match="only words of the language can be run"):
        ruled.run("EE")
    with pytest.raises(dw.NotInLanguage, match="only runs of the language"):
        ruled.moves([(0, 1), (0, 2)])
    assert (dw.Words("NESW") & grid).system is grid
    assert (grid | grid.up_to(3)).system is grid
    assert (grid | dw.GridWorld(2, 2)).system is None
    with pytest.raises(dw.InvalidValue, match="only words of a transition system have runs"):
        (grid | dw.GridWorld(2, 2)).run("E")
    assert (grid.by_states() & dw.rules.contains((1, 1))).symbols_are == "states"


def test_words_of_states_are_recognised_only_where_symbols_name_states() -> None:
    """Certificates for words of states need a symbol to name one state; rules that remember more take that away."""
    cells = dw.GridWorld(3, 3).by_states()
    named = [dw.rules.never((1, 1)), dw.rules.ends_in((2, 2)), dw.rules.starts_in((0, 1))]
    for rule in named:
        assert Graph.of(cells & rule).state_named is not None
    for rule in (dw.rules.contains((1, 1)), dw.rules.at_most(1, (1, 1)), dw.rules.before((1, 1), (2, 2))):
        assert Graph.of(cells & rule).state_named is None


@st.composite
def ruled_systems(draw: st.DrawFn) -> tuple[Language, int]:
    """A random system under a random rule, and a length at which it has some words."""
    system, _ = draw(random_systems())
    symbols = st.sampled_from(system.alphabet.symbols)
    names = ["contains", "never", "starts_in", "ends_in", "at_most", "at_least", "before"]
    name = draw(st.sampled_from(names))
    one, other = draw(symbols), draw(symbols)
    if name == "before" and one == other:
        name = "contains"
    times = [1] if name.startswith("at_") else []
    rule = getattr(dw.rules, name)(*times, one, *([other] if name == "before" else []))
    language = system & (~rule if draw(st.booleans()) else rule)
    lengths = [n for n in range(1, 5) if 0 < language.count(n) <= 60]
    return (language, draw(st.sampled_from(lengths))) if lengths else (dw.Words("ab") & dw.rules.contains("a"), 3)


@given(ruled_systems(), st.sampled_from([0.7, 2.0, 4.0]), st.integers(1, 2))
@settings(max_examples=60)
def test_promises_on_systems_under_rules(case: tuple[Language, int], epsilon: float, k: int) -> None:
    """Certificates and online draws keep their promise on products, where a symbol may lead to several states."""
    language, length = case
    k = min(k, length)
    unlisted = Limits(certified_words=0)  # for proofs that do not compare all words
    for mechanism in (dw.Exponential(language, epsilon, k, limits=unlisted), dw.Online(language, epsilon, k)):
        assert dw.audit.exact(mechanism, length, draws=0).holds


def test_why_there_is_no_word() -> None:
    grid = dw.GridWorld(3, 3)
    closed = grid & dw.rules.never((0, 1)) & dw.rules.never((1, 0)) & dw.rules.at_most(5, (2, 2))
    with pytest.raises(dw.InvalidValue, match=r"^never:1,0 leaves only the empty word of <Grid.*> & never:0,1: relax"):
        dw.Exponential(closed, 1.0)
    with pytest.raises(dw.InvalidValue, match=r"^ends_in:a leaves no word of <Words: 2 symbols> & never:a: relax"):
        dw.Online(dw.Words("ab") & dw.rules.never("a") & dw.rules.ends_in("a"), 1.0)
    with pytest.raises(dw.InvalidValue, match=r"^~<Words: 2 symbols> has no word"):
        dw.Exponential(~dw.Words("ab"), 1.0)
    with pytest.raises(dw.InvalidValue, match=r"^<GridWorld: 7 states, 12 edges> has no word"):
        dw.Exponential(dw.GridWorld(3, 3, goal=(2, 2), walls=[(1, 2), (2, 1)]) & dw.rules.never("E"), 1.0)
    with pytest.raises(dw.InvalidValue, match=r"^<<GridWorld: 9 states, 24 edges> up to 3 symbols> has no word"):
        dw.Exponential(dw.GridWorld(3, 3, goal=(2, 2)).up_to(3), 1.0)
    assert closed.count(4) == 0
    assert not closed.accepts("ES")


def test_combinations_are_values() -> None:
    cells = dw.GridWorld(3, 3, start=None).by_states() & dw.rules.contains((1, 1))
    mechanism = dw.Exponential(cells, 2.0)
    again = pickle.loads(pickle.dumps(mechanism))
    word = [(0, 0), (0, 1), (1, 1)]
    assert again.log_prob(word, given=word) == mechanism.log_prob(word, given=word)
    assert again.language.accepts(word)
    with pytest.raises(AttributeError, match="read-only"):
        cells.sign = "|"  # type: ignore[attr-defined]


def test_trimming_and_minimising() -> None:
    rows = {0: "a1 b2 c5", 1: "a3", 2: "a4", 3: "", 4: "", 5: "a5"}  # 5 is a dead end, 1 and 2 do the same
    found = numbered([0], lambda state: [(edge[0], int(edge[1])) for edge in rows[state].split()])
    ends = {3, 4}
    small = trimmed(found, ends.__contains__)
    assert list(small.states) == [0, 1, 2, 3, 4]
    least = minimised(small, ends.__contains__)
    assert list(least.states) == [0, 1, 3]
    assert (least.first.tolist(), least.label, least.target.tolist()) == ([0, 2, 3, 3], ["a", "b", "a"], [1, 1, 2])
    nothing = trimmed(found, set[int]().__contains__)
    assert (list(nothing.states), nothing.label) == ([0], [])


def test_a_combination_is_as_small_as_its_words_allow() -> None:
    even = ENDING  # an even number of a's
    states, _ = explore([(~~even).initial], (~~even).follow)
    assert len(states) == 2
    assert Graph.of(even & ~even | even).size == 2
    assert Graph.of(dw.Words("ab") | even).size == 1


def test_too_many_states() -> None:
    grid = dw.GridWorld(30, 30) & dw.rules.at_most(9, (1, 1))
    with pytest.raises(dw.TooLarge, match="at most 100 states"):
        Graph.of(grid, most=100)
