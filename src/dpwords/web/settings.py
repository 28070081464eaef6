"""The recipe in a question, and its mechanism. They are public, and are cached for the next question."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, TooLarge
from dpwords.recipes.fields import FIELDS, Section
from dpwords.recipes.recipe import Recipe
from dpwords.web.fields import Fields

if TYPE_CHECKING:
    from dpwords.frames.sources import TableSource
    from dpwords.mechanisms.private import Private

MOST_SIDE = 60  # rows and columns of a grid that can be edited
_MOST_STATES = MOST_SIDE**2  # of a system that is drawn
SAMPLES = 500  # simulated words, where it cannot be computed what is guessed
QUICK = Limits(certificate_time=3.0)  # no long proofs while a slider moves
_CACHED = 16  # languages and mechanisms
_OF_LANGUAGE = {key for key, each in FIELDS.items() if each.section is Section.LANGUAGE}


def recipe_of(fields: Fields) -> Recipe:
    """The recipe in a question, from its JSON. It names no file of this machine. Cost: building its language, once."""
    values = fields.mapping("recipe")
    if not values.keys() <= {"recipe", *FIELDS}:
        raise InvalidValue("the recipe has values that are not known here: reload the page")
    recipe = Recipe.of(values).closed("the page")
    if recipe.alphabet is recipe.system is recipe.lexicon is None:
        return recipe
    public = {key: value for key, value in values.items() if key in _OF_LANGUAGE}
    return _with_language(Recipe.of(public)).changed(values)


@lru_cache(_CACHED)
def _with_language(recipe: Recipe) -> Recipe:
    recipe.language()  # which recipes that are changed from this one take over
    return recipe


def drawn_recipe_of(fields: Fields) -> Recipe:
    """The recipe in a question, if its system is one that the page can draw."""
    recipe = recipe_of(fields)
    system = recipe.language().system
    if system is not None and len(system.states) > _MOST_STATES:
        raise TooLarge(f"a system can have at most {_MOST_STATES:,} states here: use the command line for more")
    return recipe


@lru_cache(_CACHED)
def mechanism_of(recipe: Recipe, limits: Limits = DEFAULTS) -> Private:
    """The mechanism of a recipe."""
    return recipe.mechanism(limits)


def source_of(recipe: Recipe, content: bytes) -> TableSource:
    """The table with this content, in a file that is called and written as a recipe says."""
    from dpwords.frames.sources import memory_source

    if recipe.input in (None, "", "-"):
        raise InvalidValue("a file needs a name that tells its format, such as data.csv: rename it")
    return memory_source(str(recipe.input), content, recipe.format, not recipe.no_header)
