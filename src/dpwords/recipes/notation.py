"""How alphabets, grids, rules and words are written as text, on the command line and in files."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpwords.core.files import read_text
from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import Word
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.languages import rules
from dpwords.languages.language import Language
from dpwords.languages.patterns import Pattern
from dpwords.languages.rules import Rule
from dpwords.languages.systems import GridWorld, written
from dpwords.recipes.kinds import UNPRINTABLE

NAMED_ALPHABETS = {
    "binary": "01",
    "digits": string.digits,
    "dna": "ACGT",
    "rna": "ACGU",
    "protein": "ACDEFGHIKLMNPQRSTVWY",
    "hex": "0123456789abcdef",
    "lower": string.ascii_lowercase,
    "upper": string.ascii_uppercase,
    "letters": string.ascii_letters,
    "printable": string.digits + string.ascii_letters + string.punctuation + " ",
}
_BY_NAME: dict[str, Callable[..., Rule]] = {name: getattr(rules, name) for name in rules.__all__}
_COUNTED = ("at_least", "at_most")


def alphabet_symbols(text: str) -> list[str]:
    r"""The symbols of an alphabet that is written as a literal with ranges, or as a name such as `name:dna`.

    A backslash makes the next character literal. A hyphen at the beginning or at the end is literal, too.

    >>> "".join(alphabet_symbols("a-e_"))
    'abcde_'
    """
    if text.startswith("name:"):
        name = text.removeprefix("name:")
        if name not in NAMED_ALPHABETS:
            raise InvalidValue(f"there is no alphabet of that name: use one of {', '.join(NAMED_ALPHABETS)}")
        return list(NAMED_ALPHABETS[name])
    if re.search(r"(?<!\\)(\\\\)*\\$", text):
        raise InvalidValue("the alphabet ends with a single backslash: write two to include a backslash")
    symbols: list[str] = []
    for token in re.finditer(r"(\\.|[^\\])-(\\.|[^\\])|(\\.|[^\\])", text, flags=re.DOTALL):
        first, last = (end[-1] for end in ((token[1], token[2]) if token[1] else (token[3], token[3])))
        if first > last:
            raise InvalidValue(f"the range {first}-{last} of the alphabet runs backwards: write {last}-{first}")
        if len(symbols) + ord(last) - ord(first) >= DEFAULTS.alphabet:
            raise TooLarge(f"the ranges of the alphabet have more than {DEFAULTS.alphabet} characters: use fewer")
        symbols.extend(map(chr, range(ord(first), ord(last) + 1)))
    if any(symbols.count(separator) > 1 for separator in ", ;"):
        raise InvalidValue(
            "the alphabet looks like a list of names, but is read as single characters: write each character once, or "
            "put the names into a file, one on each line, and write @file"
        )
    return symbols


@dataclass(frozen=True)
class Notation:
    """How the words of one language are written: as characters, or as symbols with a separator between them."""

    language: Language
    separator: str | None = None  # None: nothing if all symbols are single characters, otherwise white space

    def __post_init__(self) -> None:
        if self.separator is not None and (not self.separator or UNPRINTABLE.search(self.separator)):
            raise InvalidValue("a separator needs at least one character and no line break: leave it out or change it")
        if any(map(UNPRINTABLE.search, self._names)):
            raise InvalidValue("a symbol contains a line break or half a character (a surrogate): use other symbols")
        if not self.as_characters and any(name.split(self.separator) != [name] for name in self._names):
            raise InvalidValue(f"a symbol is empty or contains the separator: choose another with {named('separator')}")
        if len(self._names) < len(self.language.letters):
            raise InvalidValue("two symbols are written alike: give them names that differ as text")

    @cached_property
    def as_characters(self) -> bool:
        """Whether words are written without anything between their symbols."""
        return self.separator is None and self.language.letters.of_characters

    @cached_property
    def _names(self) -> dict[str, Any]:
        return {written(symbol): symbol for symbol in self.language.letters.symbols}

    @property
    def manner(self) -> str:
        """How words are read, with a symbol as an example, as a phrase for messages; both are public."""
        language = self.language
        (first,) = next(
            (language.spell((each,)) for each, _ in language.follow(language.initial)), language.letters.symbols[:1]
        )
        example = f"such as {written(first)}"
        if self.as_characters:
            return f"as single characters {example}"
        between = "white space" if self.separator is None else "the separator"
        called = language.symbols_are if language.spelling is None else "moves"
        return f"as {called} {example} with {between} between them"

    def read(self, text: str) -> str | list[Any]:
        """The word that a text stands for; unknown names stay as they are, so that the language refuses the word."""
        if self.as_characters:
            return text
        return [self._names.get(name, name) for name in text.split(self.separator)] if text else []

    def write(self, word: Word) -> str:
        """The word as text."""
        between = "" if self.as_characters else self.separator or " "
        return between.join(map(written, word))


def lines_of(path: Path, content: str) -> list[str]:
    """The lines of a file that has a symbol or a word on each of them; empty lines at its end do not count."""
    lines = [line.removesuffix("\r") for line in read_text(path).rstrip("\r\n").split("\n")]
    if lines == [""]:
        raise InvalidValue(f"{path.name} is empty: write one {content} on each line")
    if "" in lines:
        raise InvalidValue(f"line {lines.index('') + 1} of {path.name} is empty: write one {content} on each line")
    return lines


def grid(text: str, walls: str | None, goal: str | None) -> GridWorld:
    """A grid that is written `grid:15x15` (start 0,0), `grid:15x15@1,2` (start 1,2) or `grid:15x15@any`."""
    match = re.fullmatch(r"grid:(\d{1,6})x(\d{1,6})(?:@(?:(\d{1,6}),(\d{1,6})|any))?", text)
    if match is None or not int(match[1]) * int(match[2]):
        raise InvalidValue(
            "a grid is written grid:ROWSxCOLUMNS, of 1 or more each, or with a start: write "
            f"{named('system', 'grid:15x15')}, grid:15x15@1,2 or grid:15x15@any"
        )
    start = (int(match[3]), int(match[4])) if match[3] else None if text.endswith("@any") else (0, 0)
    return GridWorld(
        int(match[1]),
        int(match[2]),
        start,
        walls=() if walls is None else cells(walls, "walls"),
        goal=None if goal is None else cells(goal, "goal"),
    )


def rule(text: str, language: Language) -> Language:
    r"""The words of a language that satisfy a rule, such as `contains:depot`, `at_most:2;retry` or `re:a(b|c)*`.

    The name of the rule comes first, then a colon and the arguments with `;` between them, since cells contain commas.
    A backslash makes the next character literal. Symbols are written as words are: the cell (2, 3) is 2,3. After `re:`
    comes a `Pattern`, over characters if all symbols are single characters, and otherwise over names with white space
    between them. It is over names, too, if it has a space that is no symbol: on words of moves, these can be states.

    >>> from dpwords import GridWorld
    >>> rule("contains:1,1", GridWorld(3, 3)).count(2)
    2
    """
    name, arguments = rule_parts(text)
    if name == "re":
        pattern = str(arguments[0])
        return language & Pattern(pattern, pattern_separator(pattern, language))
    return language & _BY_NAME[name](*arguments)


def pattern_separator(pattern: str, language: Language) -> str | None:
    """What separates the names of symbols in a pattern; None if it is over characters."""
    symbols = language.alphabet
    return " " if not symbols.of_characters or (" " in pattern and " " not in symbols) else None


def is_rule(text: str) -> bool:
    """Whether a text begins with the name of a rule and a colon."""
    name, colon, _ = text.partition(":")
    return bool(colon) and (name == "re" or name in _BY_NAME)


def rule_parts(text: str) -> tuple[str, list[int | str]]:
    """The name of a rule, and its arguments as the function of that name in `dpwords.rules` takes them.

    >>> rule_parts("at_most:2;retry")
    ('at_most', [2, 'retry'])
    """
    name, colon, rest = text.partition(":")
    if name == "re" and colon:
        return name, [rest]
    if name not in _BY_NAME or not colon:
        known = ", ".join([*_BY_NAME, "re"])
        unknown = "there is no rule of that name: " if colon else ""
        raise InvalidValue(
            f"{unknown}a rule is written NAME:SYMBOL, and NAME is one of {known}: write for example contains:a"
        )
    arguments = _arguments(rest)
    times: list[int | str] = []
    if name in _COUNTED:
        if not re.fullmatch(r"\d{1,6}", arguments[0]) or len(arguments) < 2:
            raise InvalidValue(f"{name} needs a number and a symbol: write for example {name}:2;a")
        times = [int(arguments.pop(0))]
    if name == "before" and len(arguments) != 2:
        raise InvalidValue("before needs two symbols with ; between them: write for example before:a;b")
    return name, [*times, *arguments]


def cells(text: str, name: str) -> list[tuple[int, int]]:
    """Cells of a grid, written `2,3;4,5`; `name` is that of the parameter."""
    found = [re.fullmatch(r"(\d{1,6}),(\d{1,6})", part) for part in text.split(";")]
    if None in found:
        raise InvalidValue(
            f"{named(name)} takes cells ROW,COLUMN with ; between them: write for example {named(name, '2,3;4,5')}"
        )
    return [(int(match[1]), int(match[2])) for match in found if match is not None]


def _arguments(text: str) -> list[str]:
    """The arguments of a rule: a backslash makes the next character literal."""
    found = [""]
    for literal, character in re.findall(r"\\(.)|(.)", text, re.DOTALL):
        if character == "\\":
            raise InvalidValue("the rule ends with a single backslash: write two for a backslash")
        if character == ";":
            found.append("")
        else:
            found[-1] += literal or character
    if "" in found:
        raise InvalidValue("an argument of the rule is empty: write symbols with ; between them, as in contains:a;b")
    return found
