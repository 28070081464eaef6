"""Rules, against their definitions on every word, and what they take from the language that they meet."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import dpwords as dw
from dpwords import rules

Word = tuple[str, ...]
ABC: list[Word] = [word for n in range(6) for word in itertools.product("abc", repeat=n)]

MEANING: dict[str, tuple[Any, Callable[[Word], bool]]] = {
    "contains": (rules.contains("a"), lambda w: "a" in w),
    "contains, in a row": (rules.contains("a", "b"), lambda w: "ab" in "".join(w)),
    "contains, overlapping itself": (rules.contains("a", "b", "a", "a"), lambda w: "abaa" in "".join(w)),
    "before": (rules.before("a", "b"), lambda w: "b" not in w or "a" in w[: w.index("b")]),
    "never": (rules.never("b"), lambda w: "b" not in w),
    "never, several": (rules.never("b", "c"), lambda w: not {"b", "c"} & set(w)),
    "at most": (rules.at_most(2, "a"), lambda w: w.count("a") <= 2),
    "at most, several": (rules.at_most(2, "a", "b"), lambda w: w.count("a") + w.count("b") <= 2),
    "at most none": (rules.at_most(0, "a"), lambda w: "a" not in w),
    "at least": (rules.at_least(2, "a"), lambda w: w.count("a") >= 2),
    "at least none": (rules.at_least(0, "a"), lambda w: True),
    "at least, several": (rules.at_least(3, "a", "b"), lambda w: w.count("a") + w.count("b") >= 3),
    "starts in": (rules.starts_in("a", "c"), lambda w: w[:1] in (("a",), ("c",))),
    "ends in": (rules.ends_in("b"), lambda w: w[-1:] == ("b",)),
    "and": (rules.contains("a") & rules.never("b"), lambda w: "a" in w and "b" not in w),
    "or": (rules.contains("a") | rules.ends_in("b"), lambda w: "a" in w or w[-1:] == ("b",)),
    "minus": (rules.contains("a") - rules.ends_in("b"), lambda w: "a" in w and w[-1:] != ("b",)),
    "not": (~rules.contains("a"), lambda w: "a" not in w),
    "not either": (~(rules.contains("a") | rules.contains("b")), lambda w: not {"a", "b"} & set(w)),
    "not a pattern": (~dw.Pattern("ab*"), lambda w: not (w and w[0] == "a" and set(w[1:]) <= {"b"})),
    "pattern and rule": (dw.Pattern(".*a.") & ~rules.contains("b"), lambda w: w[-2:-1] == ("a",) and "b" not in w),
}


@pytest.mark.parametrize("name", MEANING)
def test_every_rule_means_what_it_says(name: str) -> None:
    rule, holds = MEANING[name]
    met, also_met = dw.Words("abc") & rule, rule & dw.Words("abc")
    for word in ABC:
        assert met.accepts(word) == also_met.accepts(word) == holds(word)
    assert [met.count(n) for n in range(6)] == [sum(len(w) == n and holds(w) for w in ABC) for n in range(6)]


@pytest.mark.parametrize("name", rules.__all__)
def test_a_rule_with_an_alphabet_is_a_language(name: str) -> None:
    times = [2] if name.startswith("at_") else []
    symbols = ["a", "b"] if name == "before" else ["a"]
    make = getattr(rules, name)
    own, met = make(*times, *symbols, alphabet="abc"), dw.Words("abc") & make(*times, *symbols)
    assert [word for word in ABC if own.accepts(word)] == [word for word in ABC if met.accepts(word)]
    assert dw.Exponential(own, 1.0).guarantee.epsilon == 1.0  # type: ignore[union-attr]


def test_a_rule_waits_for_an_alphabet() -> None:
    for rule in (rules.contains("a"), rules.contains("a") & rules.never("b"), ~rules.never("b"), ~dw.Pattern("a")):
        for use in (
            lambda rule: dw.Exponential(rule, 1.0),
            lambda rule: dw.Online(rule, 1.0),
            lambda rule: dw.EditChannel("ab", 3.0, onto=rule),
            lambda rule: rule.accepts("a"),
            lambda rule: rule.count(2),
            lambda rule: rule.up_to(3),
            dw.plots.dot,
        ):
            with pytest.raises(dw.InvalidValue, match=r"has no alphabet yet: combine it .* or pass alphabet="):
                use(rule)  # type: ignore[operator]


def test_rules_over_moves_and_over_states() -> None:
    """On words of moves, names of states speak of the states that a run enters, the start excluded."""
    grid = dw.GridWorld(3, 3)
    cells = grid.by_states()
    for rule in (
        rules.contains((1, 1)),
        rules.contains((0, 1), (1, 1)),
        rules.before((1, 1), (2, 2)),
        rules.never((0, 1)),
        rules.starts_in((1, 0)),
        rules.ends_in((0, 0), (2, 0)),
        ~rules.contains((1, 1)),
        dw.Pattern("(1,0|0,1) .* 0,0", separator=" "),
    ):
        moves, states = grid & rule, cells & rule
        for word in itertools.product("NESW", repeat=4):
            entered = grid.run(word) if grid.accepts(word) else None
            assert moves.accepts(word) == (entered is not None and states.accepts(entered))
        assert moves.count(4) == states.count(4)
    assert (grid & rules.contains("E", "E")).count(2) == 1
    assert (grid & rules.contains((0, 0))).count(1) == 0  # the start does not count
    assert (grid - rules.contains((0, 1))).count(1) == 1
    both = grid & (rules.contains((1, 1)) & rules.starts_in("S"))
    assert [word for word in itertools.product("NESW", repeat=2) if both.accepts(word)] == [("S", "E")]


def test_a_name_as_text() -> None:
    cells = dw.GridWorld(3, 3).by_states()
    assert (cells & rules.contains("1,1")).count(4) == (cells & rules.contains((1, 1))).count(4) > 0
    numbers = dw.Words([1, 2, "2"])
    assert (numbers & rules.never("1")).count(1) == 2
    assert (numbers & rules.never("2")).accepts([2])
    with pytest.raises(dw.InvalidValue, match="names 1,1, which is not a symbol"):
        dw.Words([(1, 1), ("1", 1)]) & rules.contains("1,1")  # two symbols are written so


def test_unknown_names_are_refused() -> None:
    grid = dw.GridWorld(3, 3)
    with pytest.raises(dw.InvalidValue, match="names 7,7, which is neither a symbol nor a state of <Grid"):
        grid & rules.contains((7, 7))
    with pytest.raises(dw.InvalidValue, match="before:E;1,1 names both moves and states"):
        grid & rules.before("E", (1, 1))
    with pytest.raises(dw.InvalidValue, match="names z, which is not a symbol of <Words: 2 symbols>"):
        dw.Words("ab") & ~(rules.never("a") & rules.contains("z"))
    with pytest.raises(dw.InvalidValue, match="names z, which is not in its alphabet"):
        rules.contains("z", alphabet="ab")
    for left, right in ((dw.Words("ab"), dw.Pattern("z+")), (dw.Pattern("z+"), dw.Words("ab"))):
        with pytest.raises(dw.InvalidValue, match=r"re:z\+ names z"):
            left & right


def test_bad_arguments() -> None:
    for make in (rules.contains, rules.never, rules.starts_in, rules.ends_in):
        with pytest.raises(dw.InvalidValue, match="at least one hashable symbol"):
            make()
        with pytest.raises(dw.InvalidValue, match="at least one hashable symbol"):
            make(["a"])  # type: ignore[arg-type]
    for number in (-1, 1.5, "2", None, True):
        for count in (rules.at_most, rules.at_least):
            with pytest.raises(dw.InvalidValue, match="number of times must be a whole number"):
                count(number, "a")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="two different symbols"):
        rules.before("a", "a")
    with pytest.raises(dw.InvalidValue, match="before needs at least one hashable symbol"):
        rules.before(["a"], "b")  # type: ignore[arg-type]
    with pytest.raises(dw.TooLarge, match="at most 4096 symbols"):
        rules.at_most(10**6, "a")


def test_goals_of_grids() -> None:
    for goal in ((1, 2), [(1, 2)], {(1, 2)}):
        grid = dw.GridWorld(2, 3, goal=goal)
        assert grid.accepting == {(1, 2)}
        assert [grid.count(n) for n in range(6)] == [
            (dw.GridWorld(2, 3) & rules.ends_in((1, 2))).count(n) for n in range(6)
        ]
    several = dw.GridWorld(2, 3, goal=((1, 2), (0, 1)))
    assert several.accepting == dw.GridWorld(2, 3, accepting=[(0, 1), (1, 2)]).accepting == {(1, 2), (0, 1)}
    assert '"accepting": ["1,2"]' in dw.GridWorld(2, 3, goal=(1, 2)).to_json()
    assert dw.GridWorld(2, 3, goal=(1, 2)).by_states().accepting == {(1, 2)}
    with pytest.raises(dw.InvalidValue, match="pass one of them"):
        dw.GridWorld(2, 3, goal=(1, 2), accepting=[(1, 2)])
    with pytest.raises(dw.InvalidValue, match="goal: 1,1 is not a state"):
        dw.GridWorld(2, 3, goal=(1, 1), walls=[(1, 1)])
    with pytest.raises(dw.InvalidValue, match="goal needs at least one cell"):
        dw.GridWorld(2, 3, goal=[])
    for bad in ("1,2", 5, [5], [(1, 2, 3)]):
        with pytest.raises(dw.InvalidValue):
            dw.GridWorld(2, 3, goal=bad)  # type: ignore[arg-type]


def test_pictures_of_rules() -> None:
    ruled = dw.GridWorld(2, 2) & rules.contains((1, 1))
    text = dw.plots.dot(ruled)
    assert "label=<0,1>" in text  # before the visit
    assert "label=<1,1′>" in text  # after it
    assert "label=<1,1>" not in text
    assert dw.plots.diagram(dw.Pattern("(ab)*")) is not None
    assert dw.plots.runs(ruled, {"": ["ES", "SE"]}) is not None
    with pytest.raises(dw.InvalidValue, match="runs belong to a system"):
        dw.plots.runs(dw.Pattern("(ab)*"), {"": ["ab"]})
