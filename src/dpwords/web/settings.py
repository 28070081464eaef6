"""Recipes, languages and mechanisms that a question describes. They are public, and are kept for the next question."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dpwords.bridges.system_files import SYSTEM_FILES
from dpwords.core.limits import Limits
from dpwords.errors import InvalidValue
from dpwords.languages.systems import LARGEST_GRID
from dpwords.mechanisms import choice
from dpwords.recipes.notation import Notation
from dpwords.recipes.recipe import Recipe
from dpwords.web.fields import Fields
from dpwords.web.names import listed, spaced

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private

WORDS = ("moves", "states")
MOST_SIDE = 60  # rows and columns of a grid that is drawn
SAMPLES = 500  # simulated words, where it cannot be computed what is guessed
QUICK = Limits(certificate_time=3.0)  # no long proofs while a slider moves
LONGEST_LIST = 2**20  # characters of a list of symbols, or of a system
LONGEST_NAME = 1_000
MOST_RULES, LONGEST_RULE = 20, 400  # rules, and characters of each
_KEPT = 16  # recipes and mechanisms


def language(described: dict[str, Any]) -> Language:
    """The language that an object such as {"kind": "alphabet", "alphabet": "a-z"} describes. Cost: building it once.

    The kinds "grid" and "system" have words of moves or of states. Each kind can have "rules", a list of texts.
    """
    return _drawn(json.dumps(described, sort_keys=True)).language()


def notation(described: dict[str, Any]) -> Notation:
    """How words of the language are written: names of their own are separated by single spaces."""
    return Notation(language(described), " " if described.get("names") is True else None)


def mechanism(described: dict[str, Any], promise: dict[str, Any], limits: Limits = QUICK) -> Private:
    """The mechanism for a language with a promise {"epsilon": 3, "k": 1, "edits": …, "mechanism": …, "calibration": …}.

    Cost: building it once.
    """
    return _mechanism(json.dumps(described, sort_keys=True), json.dumps(promise, sort_keys=True), limits)


@lru_cache(_KEPT)
def _drawn(text: str) -> Recipe:
    return Recipe.of(language_values(json.loads(text), drawn=True))


@lru_cache(_KEPT)
def _mechanism(described: str, promise: str, limits: Limits) -> Private:
    fields = Fields(json.loads(promise), "the promise")
    values = promise_values(fields) | chosen_values(fields, ("mechanism", "calibration"))
    fields.done()
    return _drawn(described).changed(values).mechanism(limits)


def promise_values(fields: Fields, shared: float | None = None) -> dict[str, Any]:
    """ε, k and the edits that are hidden, as fields of a recipe; a budget that is shared takes the place of ε."""
    return {
        "epsilon": fields.number("epsilon") if shared is None else None,
        "k": fields.whole("k", 1, 10**6, default=1),
        "edits": fields.choice("edits", choice.EDITS, default="substitutions"),
    }


def chosen_values(fields: Fields, names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the other choices of a mechanism that a question has, as fields of a recipe."""
    choices = {
        "mechanism": choice.MECHANISMS,
        "utility": tuple(choice.UTILITIES),
        "calibration": choice.CALIBRATIONS,
    }
    found: dict[str, Any] = {name: fields.choice(name, choices[name]) for name in names if fields.has(name)}
    defaults = {"utility": "best", "calibration": "tight"}  # which are given to every mechanism, and then say nothing
    return {name: value for name, value in found.items() if value != defaults.get(name)}


def language_values(described: dict[str, Any], drawn: bool = False) -> dict[str, Any]:
    """The fields of a recipe that describe a language. A grid that is drawn is small, and has a start or none."""
    fields = Fields(described, "the language")
    kind = fields.choice("kind", tuple(_VALUES))
    rules = fields.items("rules", MOST_RULES)
    if not all(isinstance(each, str) and len(each) <= LONGEST_RULE for each in rules):
        raise InvalidValue(f"a rule must be a text of at most {LONGEST_RULE} characters: write for example contains:a")
    found: dict[str, Any] = _VALUES[kind](fields, drawn)
    fields.done()
    return found | {"rules": rules}


def _alphabet(fields: Fields, _drawn: bool) -> dict[str, Any]:
    text = fields.text("alphabet")
    if fields.flag("names"):
        return {"alphabet": spaced(text)}
    return {"alphabet": f"\\{text}" if text.startswith("@") else text}  # @ stands for a file there


def _symbols(fields: Fields, _drawn: bool) -> dict[str, Any]:
    """The names of a list; empty lines at its end do not count."""
    lines = listed(fields.text("symbols", LONGEST_LIST))
    if "" in lines:
        raise InvalidValue(f"line {lines.index('') + 1} of the list of symbols is empty: write one on each line")
    return {"alphabet": lines}


def _grid(fields: Fields, drawn: bool) -> dict[str, Any]:
    rows, columns = (fields.whole(name, 1, MOST_SIDE if drawn else LARGEST_GRID) for name in ("rows", "columns"))
    start, walls, goal = (fields.cells(name, MOST_SIDE**2) for name in ("start", "walls", "goal"))
    start = start or ("any" if drawn else "0,0")
    states = "states" if fields.choice("words", WORDS, default="moves") == "states" else None
    system = f"grid:{rows}x{columns}" + (f"@{start}" if start != "0,0" else "")
    return {"system": system, "walls": walls or None, "goal": goal or None, "words": states}


def _system(fields: Fields, _drawn: bool) -> dict[str, Any]:
    """A system from the content of a file, or from JSON as `web.systems` sends it to the page."""
    name = PurePath(fields.text("name", LONGEST_NAME, default="system.json")).name
    if PurePath(name).suffix.lower() not in SYSTEM_FILES:
        raise InvalidValue(f"a system is in a file that ends in {', '.join(SYSTEM_FILES)}: convert or rename the file")
    start = fields.text("start", LONGEST_NAME) if fields.has("start") else None
    content = fields.text("system", LONGEST_LIST)
    words = fields.choice("words", WORDS) if fields.has("words") else None
    return {"system": {"name": name, "content": content}, "start": start, "words": words}


_VALUES = {"alphabet": _alphabet, "symbols": _symbols, "grid": _grid, "system": _system}
