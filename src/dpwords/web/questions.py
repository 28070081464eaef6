"""Questions of the page: their values, checked one by one, and the recipe in them, with its mechanism and its file.

What is missing from a question, of another kind or too long is refused in one line. Recipes and mechanisms are public,
and are cached for the next question.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms.private import Private
from dpwords.recipes.fields import FIELDS, LANGUAGE
from dpwords.recipes.recipe import Recipe
from dpwords.web.messages import Message
from dpwords.web.workers import ShowProgress

if TYPE_CHECKING:
    from dpwords.frames.sources import TableSource

MOST_SIDE = 60  # rows and columns of a grid that can be edited
_MOST_STATES = MOST_SIDE**2  # of a system that is drawn
SAMPLES = 500  # simulated words, where it cannot be computed what is guessed
QUICK = Limits(certificate_time=3.0)  # no long proofs while a slider moves
_CACHED = 16  # languages and mechanisms
_KINDS: dict[type, str] = {str: "a text", list: "a list", bool: "true or false", dict: "an object with named values"}
_SIZES: dict[type, str] = {str: "may have at most {:,} characters", list: "can have at most {:,} entries"}
NEEDED = object()
Values = dict[str, Any]


class Field(NamedTuple):
    """A value of a question: how it is checked, given its name, and what it is where it is missing, if it may be."""

    check: Callable[[str, Any], Any]
    default: Any = NEEDED


def answers(**fields: Field) -> Callable[[Callable[..., Values | Message]], Callable[..., Message]]:
    """For the function of a task: it takes these fields, and `content` and `progress` if they are parameters of it."""

    def decorate(task: Callable[..., Values | Message]) -> Callable[..., Message]:
        wanted = {"content", "progress"} & signature(task).parameters.keys()

        @wraps(task)
        def answered(question: Message, progress: ShowProgress | None = None) -> Message:
            more = {"content": question.content, "progress": progress}
            found = task(**read(question.values, fields), **{name: more[name] for name in wanted})
            return found if isinstance(found, Message) else Message(found)

        return answered

    return decorate


def read(values: Any, fields: Mapping[str, Field], about: str = "request") -> Values:
    """The values of these fields, checked. Null is none, and values that are not asked for are refused."""
    given = {name: each for name, each in of(dict).check(about, values).items() if each is not None}
    found: Values = {}
    for name, field in fields.items():
        found[name] = field.check(name, given[name]) if name in given else field.default
        if found[name] is NEEDED:
            raise InvalidValue(f"{name} is missing from the {about}")
    if not given.keys() <= fields.keys():
        raise InvalidValue(f"the {about} has values that are not known here: reload the page")
    return found


def of(kind: type[Any], most: int | None = None, default: Any = NEEDED) -> Field:
    """A value of a type, if it is a text or a list of at most so many characters or entries."""

    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kind):
            raise InvalidValue(f"{name} must be {_KINDS[kind]}")
        if most is not None and len(value) > most:
            raise InvalidValue(f"{name} {_SIZES[kind].format(most)} here: use the command line for more")
        return value

    return Field(check, default)


def number(default: float | None) -> Field:
    """A finite number above 0."""
    return Field(lambda name, value: positive_number(value, name, f"{name} = 1"), default)


def whole(least: int, most: int, default: Any = NEEDED) -> Field:
    """A whole number between two others."""

    def check(name: str, value: Any) -> int:
        if whole_number(value, name, least) > most:
            raise InvalidValue(f"{name} can be at most {most:,} here: use the command line for more")
        return int(value)

    return Field(check, default)


def recipe_of(name: str, value: Any) -> Recipe:
    """The recipe in a question, from its JSON. It names no file of this machine. Cost: building its language, once."""
    values = of(dict).check(name, value)
    if not values.keys() <= {"recipe", *FIELDS}:
        raise InvalidValue("the recipe has values that are not known here: reload the page")
    recipe = Recipe.of(values).closed("the page")
    if recipe.alphabet is recipe.system is recipe.lexicon is None:
        return recipe
    public = {key: value for key, value in values.items() if key in LANGUAGE}
    return _with_language(Recipe.of(public)).changed(values)


@lru_cache(_CACHED)
def _with_language(recipe: Recipe) -> Recipe:
    recipe.language()  # which recipes that are changed from this one take over
    return recipe


def _drawn_recipe_of(name: str, value: Any) -> Recipe:
    recipe = recipe_of(name, value)
    system = recipe.language().system
    if system is not None and len(system.states) > _MOST_STATES:
        raise TooLarge(f"a system can have at most {_MOST_STATES:,} states here: use the command line for more")
    return recipe


RECIPE = Field(recipe_of)
DRAWN = Field(_drawn_recipe_of)  # a recipe whose system, if it has one, the page can draw


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
