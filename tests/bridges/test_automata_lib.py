"""Languages from and to automata-lib, and systems from TuLiP."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA

import dpwords as dw
from dpwords.core.limits import Limits
from zoo import ALL

PARTIAL = DFA(
    states={"p", "q", "far"},
    input_symbols={"go", "stop", "never"},
    transitions={"p": {"go": "q"}, "q": {"go": "q", "stop": "p"}, "far": {"go": "far"}},
    initial_state="p",
    final_states={"q"},
    allow_partial=True,
)


@pytest.mark.parametrize(
    "dfa", [DFA.from_substring({"a", "b"}, "ab"), DFA.from_finite_language({"a", "b"}, {"ab", "b"})]
)
def test_a_dfa_and_its_language_have_the_same_words(dfa: DFA) -> None:
    language = dw.from_dfa(dfa)
    for word in (word for length in range(6) for word in product("ab", repeat=length)):
        assert language.accepts(word) == dfa.accepts_input("".join(word))


def test_partial_dfas() -> None:
    language = dw.from_dfa(PARTIAL)
    assert language.accepts(["go", "stop", "go", "go"])
    assert not language.accepts(["go", "stop"])
    assert language.alphabet.symbols == ("go", "never", "stop")
    assert not any(language.accepts(word) for word in product(["go", "never"], repeat=3) if "never" in word)
    assert "far" not in language.states
    nothing = DFA(states={0}, input_symbols={"a"}, transitions={0: {"a": 0}}, initial_state=0, final_states=set())
    assert dw.from_dfa(nothing).count(3) == 0


def test_the_order_of_symbols_does_not_depend_on_the_hash_seed() -> None:
    script = (
        "from automata.fa.dfa import DFA; import dpwords as dw; d = DFA.from_substring(set('abcdefgh'), 'abc');"
        "print(dw.from_dfa(d).alphabet.symbols, dw.from_dfa(d).states)"
    )
    outputs = {
        subprocess.check_output([sys.executable, "-c", script], env=os.environ | {"PYTHONHASHSEED": seed})
        for seed in "123"
    }
    assert len(outputs) == 1


def test_a_dfa_is_a_rule() -> None:
    turns = DFA.from_substring(set("NESW"), "ES")
    world = dw.GridWorld(3, 3)
    both = world & dw.from_dfa(turns)
    runs = ["".join(word) for word in product("NESW", repeat=4) if world.accepts(word)]
    assert both.count(4) == sum("ES" in run for run in runs)
    assert (~dw.from_dfa(PARTIAL)).accepts(["never"])


@pytest.mark.parametrize("name", ALL)
def test_every_language_becomes_a_dfa(name: str) -> None:
    language, length = ALL[name]
    dfa = dw.to_dfa(language)
    again = dw.from_dfa(dfa)
    for size in range(length + 1):
        assert again.count(size) == language.count(size)
        for word in product(language.alphabet.symbols, repeat=min(size, 3)):
            assert dfa.accepts_input(word) == language.accepts(word)


def test_a_system_keeps_the_names_of_its_states() -> None:
    world = dw.GridWorld(2, 2, goal=[(1, 1)])
    assert dw.from_dfa(dw.to_dfa(world)).run("ES") == [(0, 1), (1, 1)]


def test_what_is_no_dfa_is_refused() -> None:
    moves: dict[Any, Any] = {0: {"a": {0, 1}}, 1: {"b": {0}}}
    nfa = NFA(states={0, 1}, input_symbols={"a", "b"}, transitions=moves, initial_state=0, final_states={1})
    with pytest.raises(dw.NotDeterministic, match=r"state 0, action a .*DFA\.from_nfa"):
        dw.from_dfa(nfa)  # type: ignore[arg-type]
    empty_move = NFA(states={0}, input_symbols={"a"}, transitions={0: {"": {0}}}, initial_state=0, final_states={0})
    with pytest.raises(dw.NotDeterministic, match="state 0, action ε"):
        dw.from_dfa(empty_move)  # type: ignore[arg-type]
    single = NFA(states={0}, input_symbols={"a"}, transitions={0: {"a": {0}}}, initial_state=0, final_states={0})
    with pytest.raises(dw.InvalidValue, match="not an NFA"):
        dw.from_dfa(single)  # type: ignore[arg-type]
    assert dw.from_dfa(DFA.from_nfa(nfa)).accepts("aba")
    with pytest.raises(dw.InvalidValue, match="not dict"):
        dw.from_dfa({})  # type: ignore[arg-type]
    with pytest.raises(dw.TooLarge, match="at most 5 states"):
        dw.to_dfa(dw.GridWorld(3, 3), Limits(converted_states=5))
    with pytest.raises(dw.InvalidValue, match="the language must be"):
        dw.to_dfa("ab")  # type: ignore[arg-type]


class States(list[str]):
    """States as TuLiP has them."""

    initial: set[str]


@dataclass
class Transitions:
    """Transitions as TuLiP has them."""

    found: list[tuple[str, str, dict[str, str]]]

    def find(self) -> list[tuple[str, str, dict[str, str]]]:
        return self.found


class System:
    """The attributes of TuLiP's FTS that are used."""

    def __init__(self, initial: set[str]) -> None:
        self.states = States(["home", "lot", "road"])
        self.states.initial = initial
        self.transitions = Transitions(
            [
                ("home", "road", {"sys_actions": "drive"}),
                ("home", "lot", {"sys_actions": "drive"}),
                ("road", "lot", {"sys_actions": "drive"}),
                ("lot", "home", {"sys_actions": "walk"}),
            ]
        )


def test_tulip() -> None:
    robot = dw.from_tulip(System({"home"}))
    assert robot.accepts(["road", "lot", "home"])
    assert not robot.accepts(["home"])
    assert dw.from_tulip(System({"home", "lot", "road"})).count(1) == 3
    assert dw.from_tulip(System(set()), start="lot", accepting=["road"]).accepts(["home", "road"])
    with pytest.raises(dw.NotDeterministic, match="state home, action drive leads to road and lot"):
        dw.from_tulip(System({"home"}), action="sys_actions")
    for initial in (set(), {"home", "lot"}):
        with pytest.raises(dw.InvalidValue, match=f"the system has {len(initial)} initial states: pass start="):
            dw.from_tulip(System(initial))
    with pytest.raises(dw.InvalidValue, match="3 initial states"):
        dw.from_tulip(System({"home", "lot", "road"}), action="sys_actions")
    with pytest.raises(dw.InvalidValue, match="from home to road has no label env_actions"):
        dw.from_tulip(System({"home"}), action="env_actions")
    with pytest.raises(dw.InvalidValue, match="needs an FTS"):
        dw.from_tulip({"home": "road"})
