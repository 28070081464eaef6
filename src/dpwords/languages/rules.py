"""Rules in words: what every released word has to satisfy.

A rule is combined with a language: `world & rules.contains("depot")`. It takes the alphabet of the language that it
meets. With `alphabet=` it is a language of its own. Rules combine with each other, too: `&` (both), `|` (either), `-`
and `~` (not).

>>> from dpwords import GridWorld, rules
>>> world = GridWorld(3, 3) & rules.contains((1, 1)) & rules.ends_in((2, 2))
>>> world.count(4)
4
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Alphabet, Symbol, is_hashable
from dpwords.errors import InvalidValue
from dpwords.languages.expressions import ANYTHING, Expression, InOrder, Letter, Repeated, dfa_of, symbols_in
from dpwords.languages.free_words import Words
from dpwords.languages.language import Combination, Derived, Language
from dpwords.languages.systems import written

__all__ = ["at_least", "at_most", "before", "contains", "ends_in", "never", "starts_in"]

_CACHED = 8  # languages without their rules that are cached, so that mechanisms at several ε share one
_ANY_WORD = Repeated(ANYTHING, 0, None)


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


class Entered(Combination):
    """The words of moves that enter states of the system as a rule over states demands."""

    bound_to = Language.bound_to

    def __init__(self, language: Language, rule: Rule) -> None:
        super().__init__("&", language, rule, language.alphabet)
        self.within: Language = language

    def follow(self, state: tuple[Any, int]) -> Iterator[tuple[Symbol, Any]]:
        enter, step, at = self.left.place, self.right.step, state[1]
        for symbol, entered in self.left.follow(state[0]):
            onward = step(at, enter(entered))
            if onward is not None:
                yield symbol, (entered, onward)

    def step(self, state: tuple[Any, int], symbol: Any) -> Any:
        entered = self.left.step(state[0], symbol)
        onward = None if entered is None else self.right.step(state[1], self.left.place(entered))
        return None if onward is None else (entered, onward)


def _meant(name: Any, alphabet: Alphabet) -> list[Any]:
    """The symbol that a name stands for, in a list: the name itself, or the only symbol that is written so."""
    if name in alphabet:
        return [name]
    named = [symbol for symbol in alphabet.symbols if written(symbol) == name] if isinstance(name, str) else []
    return named if len(named) == 1 else []


def contains(*symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """The word contains this symbol; of several, all of them directly one after the other.

    >>> contains("a", "b", alphabet="abc").accepts("cab"), contains("a", "b", alphabet="abc").accepts("acb")
    (True, False)
    """
    wanted = [Letter((symbol,)) for symbol in symbols]
    return _rule("contains", symbols, InOrder((_ANY_WORD, *wanted, _ANY_WORD)), alphabet)


def before(first: Symbol, then: Symbol, *, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """No `then` comes before the first `first`; a word without `then` satisfies the rule.

    >>> rule = before("pay", "ship", alphabet=["pay", "ship", "wait"])
    >>> rule.accepts(["wait", "pay", "ship", "ship"]), rule.accepts(["ship", "pay"]), rule.accepts(["wait"])
    (True, False, True)
    """
    if is_hashable(first) and is_hashable(then) and first == then:
        raise InvalidValue("before needs two different symbols: a symbol cannot come before its own first occurrence")
    without = Repeated(Letter((then,), negated=True), 0, None)
    expression = InOrder((without, Repeated(InOrder((Letter((first,)), _ANY_WORD)), 0, 1)))
    return _rule("before", (first, then), expression, alphabet)


def never(*symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """None of these symbols occurs.

    >>> never("b", alphabet="abc").count(3)
    8
    """
    return _rule("never", symbols, Repeated(Letter(symbols, negated=True), 0, None), alphabet)


def at_most(times: int, *symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """These symbols occur at most so many times in total.

    >>> at_most(1, "b", alphabet="ab").count(3)
    4
    """
    most = whole_number(times, "the number of times", 0)
    others = Repeated(Letter(symbols, negated=True), 0, None)
    expression = InOrder((others, Repeated(InOrder((Letter(symbols), others)), 0, most)))
    return _rule(f"at_most:{most};", symbols, expression, alphabet)


def at_least(times: int, *symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """These symbols occur at least so many times in total.

    >>> at_least(2, "b", alphabet="ab").count(3)
    4
    """
    least = whole_number(times, "the number of times", 0)
    others = Repeated(Letter(symbols, negated=True), 0, None)
    expression = InOrder((Repeated(InOrder((others, Letter(symbols))), least, least), _ANY_WORD))
    return _rule(f"at_least:{least};", symbols, expression, alphabet)


def starts_in(*symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """The first symbol is one of these.

    >>> starts_in("a", alphabet="ab").count(3)
    4
    """
    return _rule("starts_in", symbols, InOrder((Letter(symbols), _ANY_WORD)), alphabet)


def ends_in(*symbols: Symbol, alphabet: Iterable[Symbol] | None = None) -> Rule:
    """The last symbol is one of these.

    >>> ends_in("a", alphabet="ab").count(3)
    4
    """
    return _rule("ends_in", symbols, InOrder((_ANY_WORD, Letter(symbols))), alphabet)


def _rule(name: str, symbols: tuple[Any, ...], expression: Expression, alphabet: Iterable[Symbol] | None) -> Rule:
    """The rule, with a title as it is written on the command line."""
    short = name.partition(":")[0]
    if not symbols or not all(map(is_hashable, symbols)):
        raise InvalidValue(f"{short} needs at least one hashable symbol: pass for example {short}('a')")
    between = "" if name.endswith(";") else ":"
    return Rule(f"{name}{between}{';'.join(map(written, symbols))}", expression, alphabet)


@lru_cache(maxsize=_CACHED)
def relaxed(language: Language) -> Language:
    """A language without its rules and goals: all runs of its system, or all words over its alphabet.

    A language that has none is returned as it is, and so is a list of words.

    >>> import dpwords as dw
    >>> world = dw.GridWorld(3, 3, goal=(2, 2)) & dw.rules.contains((1, 1))
    >>> world.count(4), dw.rules.relaxed(world).count(4)
    (4, 48)
    """
    if language.alike or language.listed:
        return language
    system = language.system
    return Words(language.alphabet.symbols) if system is None else system.without_goal
