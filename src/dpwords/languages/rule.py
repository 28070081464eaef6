"""Rules: regular expressions that take the alphabet of the language that they meet."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

from dpwords.core.symbols import Alphabet, Symbol
from dpwords.errors import InvalidValue
from dpwords.languages.expressions import Expression, dfa_of, symbols_in
from dpwords.languages.language import Derived, Language
from dpwords.languages.systems import written


class Rule(Derived):
    """The words that match a regular expression as a whole.

    With `alphabet` it is a language of its own. Without, it waits for the language that it is combined with, and takes
    its alphabet. If the language has words of moves and the rule names states of the system instead, the rule is about
    the states that a run enters after the start. A name that is a text also stands for the one symbol that is written
    so: "2,3" for the cell (2, 3).
    """

    def __init__(self, title: str, expression: Expression, alphabet: Iterable[Symbol] | None = None) -> None:
        self.title = title
        self.names: tuple[Any, ...] = tuple(symbols_in(expression))
        self._dfa = dfa_of(expression)
        self._alphabet = None if alphabet is None else Alphabet(alphabet)
        self.unbound = self.adapts = alphabet is None
        for name in self.names:
            if self._alphabet is not None and name not in self._alphabet:
                raise InvalidValue(
                    f"the rule {title} names {written(name)}, which is not in its alphabet: add it, or correct the name"
                )

    def __repr__(self) -> str:
        return self.title

    @property
    def initial(self) -> int:
        return 0

    def follow(self, state: int) -> Iterator[tuple[Symbol, int]]:
        for symbol in self.alphabet.symbols:
            successor = self._dfa.step(state, symbol)
            if successor is not None:
                yield symbol, successor

    def step(self, state: int, symbol: Any) -> int | None:
        return self._dfa.step(state, symbol)

    def is_accepting(self, state: int) -> bool:
        return self._dfa.accepting[state]

    def bound_to(self, language: Language) -> Language:
        """The rule over the alphabet of a language, or over the states of its system; raises for unknown names."""
        if not self.adapts:
            return self
        found = [_meant(name, language.alphabet) for name in self.names]
        if all(symbols for symbols in found):
            return self._over(language.alphabet, [symbols[0] for symbols in found])
        system = language.system
        states = language.alphabet if system is None else Alphabet(system.states)
        places = [_meant(name, states) for name in self.names]
        if all(symbols for symbols in places):
            return Entered(language, self._over(states, [symbols[0] for symbols in places]))
        unknown = [name for name, one, other in zip(self.names, found, places, strict=True) if not one and not other]
        if not unknown:
            raise InvalidValue(f"the rule {self.title} names both moves and states: write a rule for each of them")
        either = "neither a symbol nor a state" if system is not None else "not a symbol"
        raise InvalidValue(
            f"the rule {self.title} names {written(unknown[0])}, which is {either} of {language!r}: correct the name"
        )

    def _over(self, alphabet: Alphabet, names: list[Symbol]) -> Rule:
        """The same rule over an alphabet, with other names."""
        bound = copy.copy(self)
        dfa = self._dfa if tuple(names) == self.names else self._dfa.renamed(dict(zip(self.names, names, strict=True)))
        vars(bound).update(_alphabet=alphabet, unbound=False, adapts=False, names=tuple(names), _dfa=dfa)
        return bound


class Entered(Derived):
    """The words of moves that enter states of the system as a rule over states demands.

    A state is a pair (state of the language, state of the rule).
    """

    def __init__(self, language: Language, rule: Rule) -> None:
        self.within: Language = language
        self.rule, self._alphabet, self.symbols_are = rule, language.alphabet, language.symbols_are
        self.max_length = language.max_length

    def __repr__(self) -> str:
        return f"{self.within!r} & {self.rule!r}"

    @property
    def conditions(self) -> tuple[Language, Language]:
        return self.within, self.rule

    @property
    def initial(self) -> tuple[Any, int]:
        return self.within.initial, self.rule.initial

    def follow(self, state: tuple[Any, int]) -> Iterator[tuple[Symbol, Any]]:
        enter, step, at = self.within.place, self.rule.step, state[1]
        for symbol, entered in self.within.follow(state[0]):
            onward = step(at, enter(entered))
            if onward is not None:
                yield symbol, (entered, onward)

    def step(self, state: tuple[Any, int], symbol: Any) -> Any:
        entered = self.within.step(state[0], symbol)
        onward = None if entered is None else self.rule.step(state[1], self.within.place(entered))
        return None if onward is None else (entered, onward)

    def is_accepting(self, state: tuple[Any, int]) -> bool:
        return self.within.is_accepting(state[0]) and self.rule.is_accepting(state[1])

    @property
    def system(self) -> Any:
        return self.within.system

    def place(self, state: tuple[Any, int]) -> Any:
        return self.within.place(state[0])

    def layer(self, state: tuple[Any, int]) -> Any:
        return self.within.layer(state[0]), state[1]


def _meant(name: Any, alphabet: Alphabet) -> list[Any]:
    """The symbol that a name stands for, in a list: the name itself, or the only symbol that is written so."""
    if name in alphabet:
        return [name]
    named = [symbol for symbol in alphabet.symbols if written(symbol) == name] if isinstance(name, str) else []
    return named if len(named) == 1 else []
