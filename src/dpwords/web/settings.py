"""Languages and mechanisms that a question describes. They are public, and are kept for the next question."""

from __future__ import annotations

import json
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Any, Literal, cast

from dpwords.bridges.json_systems import from_json
from dpwords.core.files import FileContent
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.systems import GridWorld
from dpwords.mechanisms import choice
from dpwords.recipes.notation import Notation, alphabet_symbols
from dpwords.recipes.rule_notation import rule
from dpwords.web.fields import Fields
from dpwords.web.names import spaced

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private

WORDS = ("moves", "states")
KINDS = ("alphabet", "grid", "system")
MOST_SIDE = 60  # rows and columns of a grid
SAMPLES = 500  # simulated words, where it cannot be computed what is guessed
QUICK = Limits(certificate_time=0.0)  # no long proofs while a slider moves
LARGEST_SYSTEM = 2**20  # characters of a system that is described as JSON
MOST_RULES, LONGEST_RULE = 20, 400  # rules, and characters of each
_KEPT = 16  # languages and mechanisms


def language(described: dict[str, Any]) -> Language:
    """The language that an object such as {"kind": "alphabet", "alphabet": "a-z"} describes. Cost: building it once.

    The kinds "grid" and "system" have words of moves or of states. Each kind can have "rules", a list of texts.
    """
    return _language(json.dumps(described, sort_keys=True))


def notation(described: dict[str, Any]) -> Notation:
    """How words of the language are written: names of their own are separated by single spaces."""
    return Notation(language(described), " " if described.get("names") is True else None)


def mechanism(described: dict[str, Any], promise: dict[str, Any], limits: Limits = QUICK) -> Private:
    """The mechanism for a language with a promise {"epsilon": 3, "k": 1, "edits": …, "mechanism": …, "calibration": …}.

    Cost: building it once.
    """
    return _mechanism(json.dumps(described, sort_keys=True), json.dumps(promise, sort_keys=True), limits)


@lru_cache(_KEPT)
def _language(text: str) -> Language:
    fields = Fields(json.loads(text), "the language")
    kind = fields.choice("kind", KINDS)
    rules = rules_of(fields)
    found: Language = {"alphabet": _alphabet, "grid": _grid, "system": _system}[kind](fields)
    fields.done()
    return reduce(lambda so_far, text: rule(text, so_far), rules, found)


@lru_cache(_KEPT)
def _mechanism(described: str, promise: str, limits: Limits) -> Private:
    fields = Fields(json.loads(promise), "the promise")
    epsilon, k = fields.number("epsilon"), fields.whole("k", 1, 10**6, default=1)
    edits = cast("Edits", fields.choice("edits", choice.EDITS, default="substitutions"))
    name = fields.choice("mechanism", choice.MECHANISMS) if fields.has("mechanism") else None
    calibration = cast(
        "Literal['tight', 'textbook']", fields.choice("calibration", choice.CALIBRATIONS, default="tight")
    )
    fields.done()
    return choice.mechanism(_language(described), epsilon, k, edits, name, calibration=calibration, limits=limits)


def _alphabet(fields: Fields) -> Words:
    text, names = fields.text("alphabet"), fields.flag("names")
    return Words(spaced(text) if names else alphabet_symbols(text))


def _grid(fields: Fields) -> Language:
    rows, columns = (fields.whole(name, 1, MOST_SIDE) for name in ("rows", "columns"))
    start = _cell(fields.items("start", 2)) if fields.has("start") else None
    walls, goal = (list(map(_cell, fields.items(name, MOST_SIDE**2))) for name in ("walls", "goal"))
    words = fields.choice("words", WORDS, default="moves")
    grid = GridWorld(rows, columns, start, walls=walls, goal=goal or None)
    return grid.by_states() if words == "states" else grid


def _system(fields: Fields) -> Language:
    """A system that is written as JSON, as `web.systems` sends it to the page."""
    text, words = fields.text("system", LARGEST_SYSTEM), fields.choice("words", WORDS, default="moves")
    system = from_json(FileContent("the system", text.encode()))
    return system.by_states() if words == "states" else system


def rules_of(fields: Fields) -> list[str]:
    """The rules that a language is described with, as texts."""
    rules = fields.items("rules", MOST_RULES)
    if not all(isinstance(each, str) and len(each) <= LONGEST_RULE for each in rules):
        raise InvalidValue(f"a rule must be a text of at most {LONGEST_RULE} characters: write for example contains:a")
    return rules


def _cell(value: object) -> tuple[int, int]:
    """A cell that is written as [row, column]."""
    if not isinstance(value, list) or len(value) != 2 or not all(type(each) is int for each in value):
        raise InvalidValue("a cell is written as [row, column]")
    return (value[0], value[1])
