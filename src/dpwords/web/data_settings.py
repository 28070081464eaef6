"""What a question about a file says, as a recipe: the language, the promise, where the words are, and whose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from dpwords.errors import InvalidValue
from dpwords.frames.requests import Request
from dpwords.recipes.recipe import Recipe
from dpwords.recipes.table_formats import DELIMITED, FORMATS
from dpwords.web.fields import Fields
from dpwords.web.settings import LONGEST_NAME, language_values, promise_values

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private

ROWS_ONLY = "-rows"  # after the name of a format: without a header
SPENDING = ("word", "equal", "first")


@dataclass(frozen=True)
class DataSettings:
    """The recipe of a release of a file, its mechanism, and what is asked of the table."""

    recipe: Recipe
    mechanism: Private
    request: Request

    @classmethod
    def of(cls, fields: Fields) -> DataSettings:
        """From the values of a request; raises `InvalidValue` for what is missing or does not fit together."""
        name, named, header = file_of(fields)
        described, promise, people = (fields.mapping(each) for each in ("language", "promise", "people"))
        values = {"input": name, "format": named, "no_header": header is False, **places_of(fields)}
        values |= {"invalid": "skip" if fields.flag("skip") else None, "drop_others": fields.flag("drop_others")}
        fields.done()
        values |= _spent(Fields(people, "the part about people"), Fields(promise, "the promise"))
        recipe = Recipe.of(values | language_values(described))
        mechanism = mechanism_for(recipe)
        request = replace(Request.of(recipe, recipe.inside(mechanism)), header=bool(header))
        return cls(recipe, mechanism, request)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that were typed as a list."""
        return listed_symbols(self.recipe)


def listed_symbols(recipe: Recipe) -> tuple[str, ...]:
    """The symbols of a recipe that has them as a list, to show how it was read."""
    return recipe.alphabet if isinstance(recipe.alphabet, tuple) else ()


def file_of(fields: Fields) -> tuple[str, str | None, bool | None]:
    """The name of the file that comes with a request, its format if it is not told by the suffix, and its header.

    That is whether there is one, if the owner has said it by choosing a format; columns are otherwise guessed.
    """
    name = PurePath(fields.text("name", LONGEST_NAME)).name
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
    values = language_values(described) | promise_values(promise)
    promise.done()
    return mechanism_for(Recipe.of(values))


@lru_cache(16)
def mechanism_for(recipe: Recipe) -> Private:
    """The mechanism of a recipe, kept for the next question."""
    return recipe.mechanism()


def places_of(question: Fields) -> dict[str, Any]:
    """Where the words are, as options of the command line."""
    fields = Fields(question.mapping("where"), "where the words are")
    shape = fields.choice("shape", ("column", "wide", "log"))
    names = {"column": ("column",), "wide": ("first", "last"), "log": ("case", "symbol")}[shape]
    found: dict[str, Any] = {name: fields.text(name, LONGEST_NAME) for name in names}
    if shape == "wide":
        found = {"columns": f"{found['first']}:{found['last']}"}
    optional = {"column": ("separator",), "wide": (), "log": ("order",)}[shape]
    for name in optional:
        found[name] = fields.text(name, LONGEST_NAME) if fields.has(name) else None
    fields.done()
    return found


def _spent(people: Fields, promise: Fields) -> dict[str, Any]:
    """ε and what belongs to it; a budget that is shared equally takes the place of ε, as on the command line."""
    by = people.text("by", LONGEST_NAME) if people.has("by") else None
    spending = people.choice("spending", SPENDING, default="word")
    budget = None if spending == "word" else people.number("budget")
    people.done()
    if budget is not None and by is None:
        raise InvalidValue("a budget is for each person: choose the column that says whose word it is")
    found = promise_values(promise, budget if spending == "equal" else None)
    promise.done()
    return found | {"by": by, "budget": budget, "split": "first" if spending == "first" else None}
