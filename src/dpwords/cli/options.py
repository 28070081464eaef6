"""Options that several commands share, and their headings; the recipe that the options of a user describe."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from dpwords.cli import completion
from dpwords.core.cache import VARIABLE
from dpwords.core.checks import positive_number, whole_number
from dpwords.errors import InvalidValue
from dpwords.recipes import fields
from dpwords.recipes.fields import DEFAULTS, FIELDS, Section, as_option
from dpwords.recipes.recipe import Recipe

Command = TypeVar("Command", bound=Callable[..., Any])
LANGUAGE = tuple(key for key in fields.LANGUAGE if key != "separator")  # the separator is that of words
MECHANISM = ("edits", "mechanism", "k", "utility", "alpha", "calibration")
_SHORT = {"epsilon": "-e"}
_QUESTION = "The question"
_ASKED = (
    "question",
    "patterns",
    "per_place",
    "confidence",
    "method",
    "top",
    "model",
    "compare",
    "people",
    "releases",
    "prior",
    "released",
    "samples",
)
_HEADINGS: dict[str, str] = {  # those of options in help texts; options that have none come first
    **{key: each.section for key, each in FIELDS.items()},
    **dict.fromkeys(_ASKED, _QUESTION),
    **dict.fromkeys(("no_cache", "certificates"), Section.PROMISE),
    **dict.fromkeys(("ledger", "resume", "key_file"), Section.TABLE),
}
_COMPLETED = {
    "alphabet": completion.ALPHABETS,
    "system": completion.SYSTEMS,
    "rules": completion.RULES,
    **dict.fromkeys(("lexicon", "input", "output"), completion.FILES),
}


class SectionedCommand(click.Command):
    """A command with many options, which its help shows under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options."""
        records: dict[str, list[tuple[str, str]]] = {heading: [] for heading in ("Options", _QUESTION, *Section)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                records[_HEADINGS.get(parameter.name or "", "Options")].append(record)
        for heading, lines in records.items():
            if lines:
                with formatter.section(heading):
                    formatter.write_dl(lines)


def field_options(*keys: str, **changed: Any) -> Callable[[Command], Command]:
    """Add the options of fields of a recipe; `changed` are other arguments for `click.option`."""

    def added(command: Command) -> Command:
        for key in reversed(keys):
            command = _option(key, changed)(command)
        return command

    return added


def _option(key: str, changed: dict[str, Any]) -> Callable[[Any], Any]:
    known = FIELDS[key]
    schema = known.kind.schema
    given: dict[str, Any] = {
        "type": click.Choice(schema["enum"]) if "enum" in schema else None,
        "default": DEFAULTS[key],
        "show_default": bool(DEFAULTS[key]),
        "shell_complete": _COMPLETED.get(key),
        "help": known.help,
        **_OF_TYPES.get(schema.get("type", ""), {}),
    }
    return click.option(as_option(key), *([_SHORT[key]] if key in _SHORT else []), key, **given | changed)


def _checked(_context: click.Context, option: click.Parameter, value: Any) -> Any:
    name = option.name or ""
    return None if value is None else FIELDS[name].kind.checked(name, value)


_OF_TYPES: dict[str, dict[str, Any]] = {  # what `click.option` has to know about the types of JSON Schema
    "number": {"type": float, "callback": _checked},
    "integer": {"type": int, "callback": _checked},
    "boolean": {"is_flag": True},
    "array": {"multiple": True},
}


def given_recipe(keys: Iterable[str] = FIELDS, base: Recipe | None = None) -> Recipe:
    """The recipe that the options of the running command describe, those of these fields that the user gave.

    They come before those of `base`.
    """
    context = click.get_current_context()
    given = {key: context.params[key] for key in keys if was_given(key)}
    alphabet = given.get("alphabet", "")
    if not alphabet.startswith(("@", "name:")) and os.path.isfile(alphabet):
        raise InvalidValue(
            f"there is a file of that name, {alphabet}: write @{alphabet} to read its symbols, or \\{alphabet} for a "
            "literal"
        )
    return (base or Recipe()).changed(given)


def was_given(name: str) -> bool:
    """Whether the user has given this option of the running command, be it as its default."""
    context = click.get_current_context()
    return name in context.params and context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def refuse(rule: str, *names: str, recipe: Recipe | None = None) -> None:
    """Refuse those of the named options of the running command that the user gave, although they have no effect here.

    `rule` says why they have none. Defaults do not count, but a default that the user wrote does. Fields of a recipe
    count as well, wherever it comes from.
    """
    if recipe is not None:
        recipe.refuse(rule, *names)
    context = click.get_current_context()
    given = [
        max(each.opts, key=len) if isinstance(each, click.Option) else "WORD"
        for each in context.command.params
        if each.name in names and was_given(each.name or "") and context.params.get(each.name) != ()
    ]
    if given:
        raise InvalidValue(f"{rule}: leave out {', '.join(given)}")


def above_zero(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """The number that was given to an option, if it is finite and above 0."""
    name = option.opts[0]
    return None if value is None else positive_number(value, name, f"{name} 1")


def at_least_one(_context: click.Context, option: click.Parameter, value: int | None) -> int | None:
    """The number that was given to an option, if it is 1 or more."""
    return None if value is None else whole_number(value, option.opts[0], 1)


def probability(example: float, rule: str = "between 0 and 1") -> Callable[..., float | None]:
    """A callback for an option whose value is above 0 and below 1; `rule` says so."""

    def checked(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            name = option.opts[0]
            raise InvalidValue(f"{name} is {rule}: take for example {name} {example}")
        return value

    return checked


def epsilons(_context: click.Context, _parameter: click.Parameter, text: str | None) -> list[float]:
    """The numbers that were given to --epsilon, with commas between them; none if it was left out."""
    try:
        found = [float(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise InvalidValue("--epsilon takes numbers separated by commas, as in 1,2,5,10") from None
    literal = _context.params.get("mechanism") == "literal"  # which says something at ε = 0, too
    return [positive_number(number, "--epsilon", "--epsilon 1,2,5,10", zero_allowed=literal) for number in found]


def _forget(_context: click.Context, _parameter: click.Parameter, chosen: bool) -> None:
    """Use no cache in this process."""
    if chosen:
        os.environ[VARIABLE] = ""


_NO_CACHE = click.option(
    "--no-cache",
    is_flag=True,
    expose_value=False,
    callback=_forget,
    help="Neither use nor store the proofs of earlier commands. They are public facts, stored in the user's cache "
    "directory, or in the directory that the environment variable DPWORDS_CACHE names.",
)
language_options = field_options(*LANGUAGE)
mechanism_options = field_options(*MECHANISM)


def certificate_options(command: Command) -> Command:
    """Add --certificate-time and --no-cache."""
    return field_options("certificate_time")(_NO_CACHE(command))
