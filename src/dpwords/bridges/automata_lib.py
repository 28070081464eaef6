"""Languages from and to the deterministic automata of automata-lib."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dpwords.bridges.labelled_edges import system_of
from dpwords.core.extras import optional
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Symbol
from dpwords.errors import InvalidValue, NotDeterministic
from dpwords.languages.exploring import State, explore
from dpwords.languages.language import Language, checked_language
from dpwords.languages.systems import TransitionSystem, written

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

_TRAP: State = frozenset()  # no word leaves it, and none ends in it; the name that the subset construction gives it


def from_dfa(dfa: DFA) -> TransitionSystem:
    """The language that a DFA of automata-lib accepts; partial DFAs are welcome.

    The system has the states that can be reached. Symbols are put into a fixed order, as the DFA has them as a set.
    Raises `NotDeterministic` with the state and the action for an NFA. Cost: states · symbols.

    >>> from automata.fa.dfa import DFA
    >>> from_dfa(DFA.from_substring({"a", "b"}, "ab")).count(3)  # all but aaa, baa, bba and bbb
    4
    """
    purpose = "automata of automata-lib"
    if isinstance(dfa, optional("automata.fa.nfa", "automata", purpose).NFA):
        raise _branch(dfa)
    if not isinstance(dfa, optional("automata.fa.dfa", "automata", purpose).DFA):
        raise InvalidValue(f"from_dfa needs a DFA of automata-lib, not {type(dfa).__name__}: convert it")
    symbols: list[Any] = sorted(dfa.input_symbols, key=repr)

    def follow(state: Any) -> Iterator[tuple[Symbol, State]]:
        row = dfa.transitions.get(state, {})
        return ((symbol, row[symbol]) for symbol in symbols if symbol in row)

    states, edges = explore([dfa.initial_state], follow)
    unused = dict.fromkeys(symbols).keys() - {symbol for _, symbol, _ in edges}
    never = [(dfa.initial_state, symbol, _TRAP) for symbol in symbols if symbol in unused]  # keeps them in the alphabet
    accepting = [state for state in states if state in dfa.final_states]
    return system_of([*edges, *never], states, dfa.initial_state, accepting)


def to_dfa(language: Language, limits: Limits = DEFAULTS) -> DFA:
    """The language as a partial DFA of automata-lib, for example to minimise it; `from_dfa` is the way back.

    The states of a system with a start keep their names; otherwise they are numbers. Raises `TooLarge` beyond
    `limits.converted_states`. Cost: states and edges.

    >>> from dpwords import Lexicon
    >>> to_dfa(Lexicon(["bern", "born"])).accepts_input("born")
    True
    """
    automata = optional("automata.fa.dfa", "automata", "automata of automata-lib")
    states, edges = explore([checked_language(language).initial], language.follow, limits.converted_states)
    keeps_names = isinstance(language, TransitionSystem) and language.start is not None
    names: dict[Any, State] = {state: state if keeps_names else number for number, state in enumerate(states)}
    rows: dict[State, dict[Any, State]] = {name: {} for name in names.values()}
    for source, symbol, target in edges:
        rows[names[source]][symbol] = names[target]
    dfa: DFA = automata.DFA(
        states=set(rows),
        input_symbols=set(language.alphabet.symbols),
        transitions=rows,
        initial_state=names[language.initial],
        final_states={name for state, name in names.items() if language.is_accepting(state)},
        allow_partial=True,
    )
    return dfa


def _branch(nfa: Any) -> InvalidValue:
    for state, row in nfa.transitions.items():
        for symbol, targets in row.items():
            if len(targets) > 1 or symbol == "":
                name = written(symbol) or "ε"
                return NotDeterministic(
                    f"state {written(state)}, action {name} does not lead to one state only: a system must be "
                    "deterministic, so pass DFA.from_nfa(nfa)"
                )
    return InvalidValue("from_dfa needs a DFA, not an NFA: pass DFA.from_nfa(nfa)")
