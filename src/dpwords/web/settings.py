"""Languages and mechanisms that a question describes. They are public, and are kept for the next question."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from dpwords.bridges.notation import alphabet_symbols
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue
from dpwords.languages.free_words import Words
from dpwords.languages.systems import GridWorld
from dpwords.mechanisms import choice
from dpwords.web.fields import Fields

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private

KINDS = ("alphabet", "grid")
MOST_SIDE = 60  # rows and columns of a grid
QUICK = Limits(certificate_time=0.0)  # no long proofs while a slider moves
_KEPT = 16  # languages and mechanisms


def language(described: dict[str, Any]) -> Language:
    """The language that an object such as {"kind": "alphabet", "alphabet": "a-z"} describes. Cost: building it once."""
    return _language(json.dumps(described, sort_keys=True))


def mechanism(described: dict[str, Any], promise: dict[str, Any], limits: Limits = QUICK) -> Private:
    """The mechanism for a language with the promise {"epsilon": 3, "k": 1, "edits": …, "mechanism": …}."""
    return _mechanism(json.dumps(described, sort_keys=True), json.dumps(promise, sort_keys=True), limits)


@lru_cache(_KEPT)
def _language(text: str) -> Language:
    fields = Fields(json.loads(text), "the language")
    kind = fields.choice("kind", KINDS)
    found: Language = _alphabet(fields) if kind == "alphabet" else _grid(fields)
    fields.done()
    return found


@lru_cache(_KEPT)
def _mechanism(described: str, promise: str, limits: Limits) -> Private:
    fields = Fields(json.loads(promise), "the promise")
    epsilon, k = fields.number("epsilon"), fields.whole("k", 1, 10**6, default=1)
    edits = cast("Edits", fields.choice("edits", choice.EDITS, default="substitutions"))
    name = fields.choice("mechanism", choice.MECHANISMS) if fields.has("mechanism") else None
    fields.done()
    return choice.mechanism(_language(described), epsilon, k, edits, name, limits=limits)


def _alphabet(fields: Fields) -> Words:
    return Words(alphabet_symbols(fields.text("alphabet")))


def _grid(fields: Fields) -> Language:
    rows, columns = (fields.whole(name, 1, MOST_SIDE) for name in ("rows", "columns"))
    start = _cell(fields.items("start", 2)) if fields.has("start") else None
    walls, goal = (list(map(_cell, fields.items(name, MOST_SIDE**2))) for name in ("walls", "goal"))
    words = fields.choice("words", ("moves", "states"), default="moves")
    grid = GridWorld(rows, columns, start, walls=walls, goal=goal or None)
    return grid.by_states() if words == "states" else grid


def _cell(value: object) -> tuple[int, int]:
    """A cell that is written as [row, column]."""
    if not isinstance(value, list) or len(value) != 2 or not all(type(each) is int for each in value):
        raise InvalidValue("a cell is written as [row, column]")
    return (value[0], value[1])
