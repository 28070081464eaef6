"""How rules and cells are written as text."""

from __future__ import annotations

import re
from collections.abc import Callable

from dpwords.errors import InvalidValue, named
from dpwords.languages import rules
from dpwords.languages.language import Language
from dpwords.languages.patterns import Pattern
from dpwords.languages.rules import Rule

_BY_NAME: dict[str, Callable[..., Rule]] = {name: getattr(rules, name) for name in rules.__all__}
_COUNTED = ("at_least", "at_most")


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
        by_names = not language.alphabet.of_characters or (" " in pattern and " " not in language.alphabet)
        return language & Pattern(pattern, " " if by_names else None)
    return language & _BY_NAME[name](*arguments)


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
        raise InvalidValue(f"a rule is written NAME:SYMBOL, and NAME is one of {known}: write for example contains:a")
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
    found, characters = [""], iter(text)
    for character in characters:
        if character == ";":
            found.append("")
        elif character == "\\":
            literal = next(characters, None)
            if literal is None:
                raise InvalidValue("the rule ends with a single backslash: write two for a backslash")
            found[-1] += literal
        else:
            found[-1] += character
    if "" in found:
        raise InvalidValue("an argument of the rule is empty: write symbols with ; between them, as in contains:a;b")
    return found
