"""What a question about a file says: the public language, the promise, where the words are, and whose they are.

The same choices are kept as options of the command line, for the receipt and for the command that the page shows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

from dpwords.bridges.system_files import SYSTEM_FILES, read_system
from dpwords.core.files import FileContent
from dpwords.errors import InvalidValue
from dpwords.frames.requests import Request
from dpwords.languages.free_words import Words
from dpwords.languages.systems import LARGEST_GRID
from dpwords.mechanisms import choice
from dpwords.recipes.notation import alphabet_symbols, language
from dpwords.recipes.rule_notation import rule
from dpwords.recipes.table_formats import DELIMITED, FORMATS
from dpwords.web.fields import Fields
from dpwords.web.names import listed
from dpwords.web.settings import WORDS, rules_of

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private

ROWS_ONLY = "-rows"  # after the name of a format: without a header
KINDS = ("alphabet", "symbols", "grid", "system")
SPENDING = ("word", "equal", "first")
SYMBOLS_FILE = "symbols.txt"  # the name in commands of a list of symbols that was typed
LONGEST_LIST = 2**20  # characters of a list of symbols, or of a system
_LONGEST_NAME = 1_000
DEFAULTS = {"utility": "best", "alpha": 1.0, "calibration": "tight", "any_word": False}  # of the command line


@dataclass(frozen=True)
class DataSettings:
    """The file and its format, what is released and how, and the options that say the same on the command line."""

    name: str
    format: str | None
    mechanism: Private
    request: Request
    options: dict[str, Any]
    symbols: tuple[str, ...] = ()  # those that a command reads from a file, since they were typed as a list

    @classmethod
    def of(cls, fields: Fields) -> DataSettings:
        """From the values of a request; raises `InvalidValue` for what is missing or does not fit together."""
        name, named, header = file_of(fields)
        described, promise, people = (fields.mapping(each) for each in ("language", "promise", "people"))
        where = places_of(fields)
        invalid, drop_others = ("skip" if fields.flag("skip") else None), fields.flag("drop_others")
        fields.done()
        spent = _spent(Fields(people, "the part about people"), Fields(promise, "the promise"))
        text = json.dumps(described, sort_keys=True)
        _, options, symbols = declared(text)
        mechanism = _mechanism(text, spent["epsilon"], spent["k"], spent["edits"])
        onto = mechanism.projected_onto
        request = Request(
            **where,
            by=spent["by"],
            budget=spent["budget"],
            split=spent["split"],
            invalid=invalid or "fail",
            drop_others=drop_others,
            header=bool(header),
            inside=onto,
        )
        found = {**DEFAULTS, **options, **where, **spent, "invalid": invalid, "drop_others": drop_others}
        found["no_header"] = header is False
        return cls(name, named, mechanism, request, found, symbols)


def file_of(fields: Fields) -> tuple[str, str | None, bool | None]:
    """The name of the file that comes with a request, its format if it is not told by the suffix, and its header.

    That is whether there is one, if the owner has said it by choosing a format; columns are otherwise guessed.
    """
    name = PurePath(fields.text("name", _LONGEST_NAME)).name
    if name in ("", "-"):
        raise InvalidValue("a file needs a name that tells its format, such as data.csv: rename it")
    choices = (*FORMATS, *(f"{kind}{ROWS_ONLY}" for kind in DELIMITED))
    named = fields.choice("format", choices) if fields.has("format") else None
    if named is None or named.removesuffix(ROWS_ONLY) not in DELIMITED:
        return name, named, None
    return name, named.removesuffix(ROWS_ONLY), not named.endswith(ROWS_ONLY)


def where_of(fields: Fields) -> Request:
    """Where the words are, for a question that is about nothing else."""
    return Request(**places_of(fields))


def mechanism_of(fields: Fields) -> Private:
    """The mechanism, for a question that is not about a file."""
    described, promise = fields.mapping("language"), Fields(fields.mapping("promise"), "the promise")
    return _mechanism(json.dumps(described, sort_keys=True), *_promise(promise))


def places_of(question: Fields) -> dict[str, Any]:
    """Where the words are, as options of the command line."""
    fields = Fields(question.mapping("where"), "where the words are")
    shape = fields.choice("shape", ("column", "wide", "log"))
    names = {"column": ("column",), "wide": ("first", "last"), "log": ("case", "symbol")}[shape]
    found: dict[str, Any] = {name: fields.text(name, _LONGEST_NAME) for name in names}
    if shape == "wide":
        found = {"columns": f"{found['first']}:{found['last']}"}
    optional = {"column": ("separator",), "wide": (), "log": ("order",)}[shape]
    for name in optional:
        found[name] = fields.text(name, _LONGEST_NAME) if fields.has(name) else None
    fields.done()
    return found


def _spent(people: Fields, promise: Fields) -> dict[str, Any]:
    """ε and what belongs to it; a budget that is shared equally takes the place of ε, as on the command line."""
    by = people.text("by", _LONGEST_NAME) if people.has("by") else None
    spending = people.choice("spending", SPENDING, default="word")
    budget = None if spending == "word" else people.number("budget")
    people.done()
    if budget is not None and by is None:
        raise InvalidValue("a budget is for each person: choose the column that says whose word it is")
    epsilon, k, edits = _promise(promise, budget if spending == "equal" else None)
    split = "first" if spending == "first" else None
    return {"epsilon": epsilon, "k": k, "edits": edits, "by": by, "budget": budget, "split": split}


def _promise(fields: Fields, shared: float | None = None) -> tuple[float, int, str]:
    epsilon = fields.number("epsilon") if shared is None else shared
    k, edits = fields.whole("k", 1, 10**6, default=1), fields.choice("edits", choice.EDITS, default="substitutions")
    fields.done()
    return epsilon, k, edits


@lru_cache(16)
def _mechanism(described: str, epsilon: float, k: int, edits: str) -> Private:
    return choice.mechanism(declared(described)[0], epsilon, k, cast("Edits", edits))


@lru_cache(16)
def declared(described: str) -> tuple[Language, dict[str, Any], tuple[str, ...]]:
    """A language from its JSON, the options that describe it, and the symbols that one of them names as a file."""
    fields = Fields(json.loads(described), "the language")
    kind = fields.choice("kind", KINDS)
    rules = rules_of(fields)
    symbols: tuple[str, ...] = ()
    if kind == "alphabet":
        text = fields.text("alphabet")
        found: Language = Words(alphabet_symbols(text))
        options = {"alphabet": f"\\{text}" if text.startswith("@") else text}  # @ stands for a file there
    elif kind == "symbols":
        symbols = tuple(_lines(fields.text("symbols", LONGEST_LIST)))
        found, options = Words(symbols), {"alphabet": f"@{SYMBOLS_FILE}"}
    else:
        found, options = (_grid if kind == "grid" else _system)(fields)
    fields.done()
    return reduce(lambda so_far, text: rule(text, so_far), rules, found), {**options, "rules": rules}, symbols


def _grid(fields: Fields) -> tuple[Language, dict[str, Any]]:
    rows, columns = (fields.whole(name, 1, LARGEST_GRID) for name in ("rows", "columns"))
    start, words = fields.text("start", 20, default="0,0"), fields.choice("words", WORDS, "moves")
    walls, goal = (fields.text(name) if fields.has(name) else None for name in ("walls", "goal"))
    system = f"grid:{rows}x{columns}" + ("" if start == "0,0" else f"@{start}")
    found = language(None, system, cast(Any, words), walls=walls, goal=goal)
    return found, {"system": system, "words": words if words == "states" else None, "walls": walls, "goal": goal}


def _system(fields: Fields) -> tuple[Language, dict[str, Any]]:
    """A system from the content of a file. The file is not on this machine's disk, as far as the page knows."""
    name, content = PurePath(fields.text("name", _LONGEST_NAME)).name, fields.text("system", LONGEST_LIST)
    words = fields.choice("words", WORDS) if fields.has("words") else None
    start = fields.text("start", _LONGEST_NAME) if fields.has("start") else None
    if PurePath(name).suffix.lower() not in SYSTEM_FILES:
        raise InvalidValue(f"a system is in a file that ends in {', '.join(SYSTEM_FILES)}: convert or rename the file")
    found = read_system(FileContent(name, content.encode()), words, start, None)
    return found.by_states() if words == "states" else found, {"system": name, "words": words, "start": start}


def _lines(text: str) -> list[str]:
    """The names of a list; empty lines at its end do not count."""
    lines = listed(text)
    if "" in lines:
        raise InvalidValue(f"line {lines.index('') + 1} of the list of symbols is empty: write one on each line")
    return lines
