"""Regular expressions over symbols, and the least automaton of each.

An expression names some symbols; all others are alike to it. So its automaton reads the named symbols and one letter
more, which stands for every *other* symbol, and does not depend on the alphabet over which it is used later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import Symbol
from dpwords.errors import TooLarge
from dpwords.languages.exploring import minimised, numbered, trimmed


@dataclass(frozen=True)
class Letter:
    """One symbol out of some, or with `negated` one that is none of them."""

    symbols: tuple[Symbol, ...]
    negated: bool = False


@dataclass(frozen=True)
class InOrder:
    """Expressions one after the other."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class OneOf:
    """One of several expressions."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True)
class Repeated:
    """An expression at least `least` times, and at most `most` times if that is given."""

    part: Expression
    least: int
    most: int | None


Expression = Letter | InOrder | OneOf | Repeated
ANYTHING = Letter((), negated=True)


class _Other:
    """The letter that stands for every symbol that an expression does not name."""

    def __reduce__(self) -> str:
        return "_OTHER"  # the same object after pickling


_OTHER = _Other()


def letters_of(expression: Expression) -> Iterator[Letter]:
    """The letters of an expression, in their order."""
    if isinstance(expression, Letter):
        yield expression
        return
    for part in (expression.part,) if isinstance(expression, Repeated) else expression.parts:
        yield from letters_of(part)


def symbols_in(expression: Expression) -> dict[Symbol, None]:
    """The symbols that an expression names, in their order."""
    return dict.fromkeys(symbol for letter in letters_of(expression) for symbol in letter.symbols)


@dataclass(frozen=True)
class DFA:
    """A deterministic automaton over named symbols and others. It starts in state 0."""

    names: frozenset[Symbol]
    rows: tuple[Mapping[Symbol, int], ...]  # for each state where a symbol leads to, if it can be read there
    accepting: tuple[bool, ...]

    def step(self, state: int, symbol: Symbol) -> int | None:
        """The state after a symbol, or None if it cannot be read."""
        return self.rows[state].get(symbol if symbol in self.names else _OTHER)

    def renamed(self, names: Mapping[Symbol, Symbol]) -> DFA:
        """The same automaton with other names for its symbols."""
        rows = ({names.get(name, name): target for name, target in row.items()} for row in self.rows)
        return DFA(frozenset(names.values()), tuple(rows), self.accepting)


_START = 1  # the bit of the position before the first symbol


def dfa_of(expression: Expression) -> DFA:
    """The least deterministic automaton of an expression: Glushkov's construction, subsets of positions as bits of
    ints.

    Raises `TooLarge` if the expression has too many positions, or its automaton too many states. Cost: states ·
    (positions + names).
    """
    names = symbols_in(expression)
    positions = _Positions()
    whole = positions.of(expression)
    positions.link(_START, whole.first)
    ends = whole.last | (_START if whole.empty else 0)
    letters = [(name, positions.reading(name)) for name in (*names, _OTHER)]

    def follow(at: int) -> Iterator[tuple[Symbol, int]]:
        ahead = 0
        for position in _bits(at):
            ahead |= positions.follow[position]
        for letter, reading in letters:
            if ahead & reading:
                yield letter, ahead & reading

    def is_end(at: int) -> bool:
        return bool(at & ends)

    try:
        found = numbered([_START], follow, DEFAULTS.pattern_states)
    except TooLarge:
        raise TooLarge(
            f"the automaton of the pattern has more than {DEFAULTS.pattern_states} states: use smaller repetitions"
        ) from None
    least = minimised(trimmed(found, is_end), is_end)
    rows: list[dict[Symbol, int]] = [{} for _ in least.states]
    for source, letter, target in zip(least.sources.tolist(), least.label, least.target.tolist(), strict=True):
        rows[source][letter] = target
    return DFA(frozenset(names), tuple(rows), tuple(map(is_end, least.states)))


class _Ends(NamedTuple):
    """The positions where the words of an expression can begin and end, as bits, and whether it allows the empty
    word."""

    first: int
    last: int
    empty: bool


class _Positions:
    """The positions of an expression: its letters, with repetitions written out. Position 0 is the start."""

    def __init__(self) -> None:
        self.letters: list[Letter] = [Letter(())]
        self.follow: list[int] = [0]  # for each position the positions that can come next, as bits

    def of(self, expression: Expression) -> _Ends:
        """Add the positions of an expression."""
        if isinstance(expression, Letter):
            if len(self.letters) > DEFAULTS.pattern_positions:
                raise TooLarge(
                    f"a pattern may have at most {DEFAULTS.pattern_positions} symbols with its repetitions written "
                    "out: use smaller repetitions"
                )
            self.letters.append(expression)
            self.follow.append(0)
            position = 1 << (len(self.letters) - 1)
            return _Ends(position, position, False)
        if isinstance(expression, OneOf):
            ends = [self.of(part) for part in expression.parts]
            return _Ends(_all(e.first for e in ends), _all(e.last for e in ends), any(e.empty for e in ends))
        if isinstance(expression, InOrder):
            whole = _Ends(0, 0, True)
            for part in expression.parts:
                whole = self._joined(whole, self.of(part))
            return whole
        return self._repeated(expression)

    def _joined(self, one: _Ends, other: _Ends) -> _Ends:
        self.link(one.last, other.first)
        first = one.first | (other.first if one.empty else 0)
        return _Ends(first, other.last | (one.last if other.empty else 0), one.empty and other.empty)

    def _repeated(self, expression: Repeated) -> _Ends:
        """Copies one after the other; the word may end after each copy from the `least` one on."""
        part, least, most = expression.part, expression.least, expression.most
        copies = max(least, 1) if most is None else most
        whole, last, empty, before = _Ends(0, 0, True), 0, least == 0, len(self.letters)
        for number in range(1, copies + 1):
            copy = self.of(part)
            if len(self.letters) == before:  # the part has only the empty word, however often it is repeated
                return copy
            whole = self._joined(whole, copy)
            if number >= least:
                last, empty = last | whole.last, empty or whole.empty
            if most is None and number == copies:
                self.link(copy.last, copy.first)
        return _Ends(whole.first, last, empty)

    def link(self, sources: int, targets: int) -> None:
        """Let positions be followed by others."""
        for source in _bits(sources):
            self.follow[source] |= targets

    def reading(self, name: Symbol) -> int:
        """The positions that read a symbol."""
        return _all(1 << p for p, at in enumerate(self.letters) if (name in at.symbols) != at.negated)


def _all(bits: Iterable[int]) -> int:
    found = 0
    for each in bits:
        found |= each
    return found


def _bits(number: int) -> Iterator[int]:
    """The positions of the ones of a number."""
    while number:
        low: Any = number & -number
        yield low.bit_length() - 1
        number ^= low
