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

from collections.abc import Iterable
from typing import Any

from dpwords.core.checks import whole_number
from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue
from dpwords.languages.expressions import ANYTHING, Expression, InOrder, Letter, Repeated
from dpwords.languages.rule import Rule
from dpwords.languages.systems import written

__all__ = ["at_least", "at_most", "before", "contains", "ends_in", "never", "starts_in"]

_ANY_WORD = Repeated(ANYTHING, 0, None)


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
