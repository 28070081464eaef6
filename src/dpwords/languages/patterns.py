"""Regular expressions, written as text."""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpwords.core.symbols import Alphabet, Symbol
from dpwords.errors import InvalidValue
from dpwords.languages.expressions import ANYTHING, Expression, InOrder, Letter, OneOf, Repeated, letters_of
from dpwords.languages.rules import Rule

_SPECIAL = frozenset("()[]{}|*+?.\\^$")
_DEEPEST = 100  # groups inside each other
_RANGE = re.compile(r"-[^\]]")  # what makes the symbols before and after it the ends of a range
_TIMES = re.compile(r"\{(\d{1,6})?(,)?(\d{1,6})?\}")


class Pattern(Rule):
    r"""The words that match a regular expression as a whole, from the first symbol to the last.

    Symbols are the characters of the pattern; with `separator`, they are names with the separator between them. There
    are alternatives `a|b`, groups `(ab)`, repetitions `a*`, `a+`, `a?`, `a{2}`, `a{2,}`, `a{2,4}` and `a{,4}`, classes
    `[abc]`, `[a-z]` (of characters only) and `[^abc]`, and `.` for any symbol. A backslash makes the next character
    literal. Without `alphabet`, the alphabet consists of the symbols that occur, or it is that of the language that the
    pattern is combined with; `.` and `[^…]` need one of these. Cost: that of the least automaton, which can be
    exponential in the size of repetitions.

    >>> Pattern("(ab|c)*d").accepts("abcd")
    True
    >>> Pattern("pay (ship | cancel)*", separator=" ").count(3)
    4
    """

    def __init__(self, pattern: str, separator: str | None = None, alphabet: Iterable[Symbol] | None = None) -> None:
        expression = _Parser(pattern, separator).parsed()
        super().__init__(f"re:{pattern}", expression, alphabet)
        if alphabet is None and not any(letter.negated for letter in letters_of(expression)):
            self._alphabet, self.unbound = Alphabet(self.names), False


class _Parser:
    """Reads a pattern from left to right."""

    def __init__(self, text: object, separator: object) -> None:
        if not isinstance(text, str):
            raise InvalidValue("a pattern must be a str: pass for example '(ab|c)*d'")
        if separator is not None and (not isinstance(separator, str) or not separator or _SPECIAL & set(separator)):
            raise InvalidValue("the separator of a pattern must be a text without any of ()[]{}|*+?.\\^$: use ' '")
        self.text, self.separator = text, separator
        self.here = self.depth = 0

    def parsed(self) -> Expression:
        """The expression of the whole text."""
        found = self._alternatives()
        if self.here < len(self.text):  # only a closing bracket ends the alternatives before that
            raise self._error("there is no bracket to close")
        return found

    def _alternatives(self) -> Expression:
        parts = [self._sequence()]
        while self._next() == "|":
            self.here += 1
            parts.append(self._sequence())
        return parts[0] if len(parts) == 1 else OneOf(tuple(parts))

    def _sequence(self) -> Expression:
        parts = []
        while self._next() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom()))
        if not parts:
            raise self._error("a symbol is missing (for nothing or a, write a?)")
        return parts[0] if len(parts) == 1 else InOrder(tuple(parts))

    def _atom(self) -> Expression:
        mark = self._next()
        if mark == "(":
            return self._group()
        if mark == "[":
            return self._class()
        if mark == ".":
            self.here += 1
            return ANYTHING
        if mark in "^$":
            raise self._error(f"a pattern always matches whole words, so leave out {mark} (or write \\{mark})")
        if mark in "*+?{":
            raise self._error("there is nothing to repeat")
        return Letter((self._symbol(),))

    def _group(self) -> Expression:
        self.here, self.depth = self.here + 1, self.depth + 1
        if self.depth > _DEEPEST:
            raise self._error(f"there may be at most {_DEEPEST} groups inside each other")
        found = self._alternatives()
        if self._next() != ")":
            raise self._error("a closing bracket ) is missing")
        self.here, self.depth = self.here + 1, self.depth - 1
        return found

    def _repeated(self, part: Expression) -> Expression:
        mark = self._next()
        if not mark or mark not in "*+?{":
            return part
        if mark == "{":
            match = _TIMES.match(self.text, self.here)
            if match is None or not (match[1] or match[3]):
                raise self._error("repetitions are written {2}, {2,}, {2,4} or {,4}")
            least = int(match[1] or 0)
            most = int(match[3]) if match[3] else None if match[2] else least
            if most is not None and most < least:
                raise self._error("the numbers of repetitions run backwards")
            self.here = match.end()
        else:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[mark]
            self.here += 1
        after = self._next()
        if after and after in "*+?{":
            raise self._error("there are two repetitions in a row (put the first one into a group)")
        return Repeated(part, least, most)

    def _class(self) -> Expression:
        self.here += 1
        negated = self._next() == "^"
        self.here += negated
        symbols: list[str] = []
        while self._next() != "]":
            if self.here >= len(self.text):
                raise self._error("a closing bracket ] is missing")
            first = self._symbol()
            if self.separator is None and _RANGE.match(self.text, self.here):
                self.here += 1
                last = self._symbol()
                if last < first:
                    raise self._error(f"the range {first}-{last} runs backwards")
                symbols.extend(map(chr, range(ord(first), ord(last) + 1)))
            else:
                symbols.append(first)
        self.here += 1
        if not symbols:
            raise self._error("a class needs at least one symbol (for any symbol, write .)")
        return Letter(tuple(dict.fromkeys(symbols)), negated)

    def _next(self) -> str:
        """The next character, or nothing at the end; separators are skipped."""
        while self.separator is not None and self.text.startswith(self.separator, self.here):
            self.here += len(self.separator)
        return self.text[self.here : self.here + 1]

    def _symbol(self) -> str:
        """The next symbol: a character, or with a separator all characters up to the next separator or operator."""
        name = self._character()
        while self.separator is not None and not self.text.startswith(self.separator, self.here):
            mark = self.text[self.here : self.here + 1]
            if not mark or (mark in _SPECIAL and mark != "\\"):
                break
            name += self._character()
        return name

    def _character(self) -> str:
        mark, after = self.text[self.here], self.text[self.here + 1 : self.here + 2]
        if mark == "\\":
            if not after or after.isalnum():
                raise self._error("a backslash makes a character literal that is neither a letter nor a digit")
            self.here += 2
            return after
        if mark in _SPECIAL:
            raise self._error(f"{mark} has no meaning here (for the character itself, write \\{mark})")
        self.here += 1
        return mark

    def _error(self, rule: str) -> InvalidValue:
        return InvalidValue(f"the pattern is not valid at character {min(self.here, len(self.text)) + 1}: {rule}")
