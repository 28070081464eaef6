"""How alphabets, systems and words are written as text, on the command line and in files."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpwords.core.files import read_text
from dpwords.core.limits import DEFAULTS
from dpwords.core.symbols import Word
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.languages.language import Language
from dpwords.languages.systems import GridWorld, written
from dpwords.recipes.rule_notation import cells

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
        if self.separator is not None and (not self.separator or _unprintable(self.separator)):
            raise InvalidValue("a separator needs at least one character and no line break: leave it out or change it")
        if any(map(_unprintable, self._names)):
            raise InvalidValue("a symbol contains a line break or half a character (a surrogate): use other symbols")
        if not self.as_characters and any(map(self._splits, self._names)):
            raise InvalidValue(f"a symbol is empty or contains the separator: choose another with {named('separator')}")
        if len(self._names) < len(self.language.alphabet):
            raise InvalidValue("two symbols are written alike: give them names that differ as text")

    @cached_property
    def as_characters(self) -> bool:
        """Whether words are written without anything between their symbols."""
        return self.separator is None and self.language.alphabet.of_characters

    @cached_property
    def _names(self) -> dict[str, Any]:
        return {written(symbol): symbol for symbol in self.language.alphabet.symbols}

    def _splits(self, name: str) -> bool:
        return name.split(self.separator) != [name]

    @property
    def manner(self) -> str:
        """How words are read, with a symbol as an example, as a phrase for messages; both are public."""
        language = self.language
        first = next((symbol for symbol, _ in language.follow(language.initial)), language.alphabet.symbols[0])
        example = f"such as {written(first)}"
        if self.as_characters:
            return f"as single characters {example}"
        between = "white space" if self.separator is None else "the separator"
        return f"as {self.language.symbols_are} {example} with {between} between them"

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


def _unprintable(text: str) -> bool:
    """Whether a text contains a line break, or a surrogate, which UTF-8 cannot encode."""
    return any(character in "\r\n" or "\ud800" <= character <= "\udfff" for character in text)


def grid(text: str, walls: str | None, goal: str | None) -> GridWorld:
    """A grid that is written `grid:15x15` (start 0,0), `grid:15x15@1,2` (start 1,2) or `grid:15x15@any`."""
    match = re.fullmatch(r"grid:(\d{1,6})x(\d{1,6})(?:@(?:(\d{1,6}),(\d{1,6})|any))?", text)
    if match is None:
        raise InvalidValue(
            "a grid is written grid:ROWSxCOLUMNS, or with a start: write grid:15x15, grid:15x15@1,2 or grid:15x15@any"
        )
    start = (int(match[3]), int(match[4])) if match[3] else None if text.endswith("@any") else (0, 0)
    return GridWorld(
        int(match[1]),
        int(match[2]),
        start,
        walls=() if walls is None else cells(walls, "walls"),
        goal=None if goal is None else cells(goal, "goal"),
    )
