"""Options that several commands share, and the objects that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.kept import VARIABLE
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue
from dpwords.mechanisms import choice

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private

Command = TypeVar("Command", bound=Callable[..., Any])


def _forget(_context: click.Context, _parameter: click.Parameter, chosen: bool) -> None:
    """Use no cache in this process."""
    if chosen:
        os.environ[VARIABLE] = ""


def above_zero(_context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    """The number that was given to an option, if it is finite and above 0."""
    name = option.opts[0]
    return None if value is None else positive_number(value, name, f"{name} 1")


def at_least_one(_context: click.Context, option: click.Parameter, value: int) -> int:
    """The number that was given to an option, if it is 1 or more."""
    return whole_number(value, option.opts[0], 1)


_LANGUAGE = (
    click.option(
        "--alphabet",
        help="The symbols: a literal with ranges ('a-z0-9 '), a name (name:dna, name:protein, name:lower, "
        "name:digits, …), or @file with a symbol on each line. Public; never read it off the data.",
    ),
    click.option(
        "--system",
        help="A system whose runs are the words: grid:15x15, grid:15x15@1,2 (start), grid:15x15@any, a .json file, "
        "or a .csv edge list. Public.",
    ),
    click.option(
        "--words",
        type=click.Choice(["moves", "states"]),
        help="What the symbols of a run are.  [default: moves; for CSV, states]",
    ),
    click.option("--lexicon", help="The words: a file with a word on each line. Public."),
    click.option("--start", help="Where runs on a CSV edge list start.  [default: anywhere]"),
)
K = click.option(
    "-k",
    default=1,
    show_default=True,
    callback=at_least_one,
    help="Words at most k places or edits apart are neighbours.",
)
EDITS = click.option(
    "--edits",
    type=click.Choice(choice.EDITS),
    default="substitutions",
    show_default=True,
    help="What is hidden: substituted symbols only, or insertions and deletions as well (Levenshtein distance).",
)
_CERTIFICATE = (
    click.option(
        "--certificate-time",
        type=float,
        help="Try only proofs that are expected to take at most so many seconds each: a longer time can allow more "
        "accurate releases of words of states at small ε.  [default: 200]",
    ),
    click.option(
        "--no-cache",
        is_flag=True,
        expose_value=False,
        callback=_forget,
        help="Neither use nor keep the proofs of earlier runs. They are public facts, kept in the user's cache "
        "directory, or in the directory that the environment variable DPWORDS_CACHE names.",
    ),
)
_MECHANISM = (
    EDITS,
    click.option(
        "--mechanism",
        type=click.Choice(choice.MECHANISMS),
        help="'online' releases symbol by symbol, 'channel' makes random edits, and 'best' takes for words of each "
        "length the one with the least public expected distance, as 'dpwords accuracy' shows it.  [default: for a "
        "system, best; with --edits all, channel, except for a lexicon; otherwise exponential]",
    ),
    K,
    click.option(
        "--utility",
        type=click.Choice(list(choice.UTILITIES)),
        default="best",
        show_default=True,
        help="The utility of an output by its distance; 'best' is the best one proven for the language.",
    ),
    click.option(
        "--alpha", default=1.0, show_default=True, callback=above_zero, help="The constant of --utility inverse."
    ),
    click.option(
        "--calibration",
        type=click.Choice(choice.CALIBRATIONS),
        default="tight",
        show_default=True,
        help="'tight' uses the best rate that is proven for each length, 'textbook' uses ε/(2Δu).",
    ),
)


def language_options(command: Command) -> Command:
    """Add --alphabet, --system, --words, --lexicon and --start."""
    return with_options(command, _LANGUAGE)


def mechanism_options(command: Command) -> Command:
    """Add --edits, --mechanism, -k, --utility, --alpha and --calibration."""
    return with_options(command, _MECHANISM)


def certificate_options(command: Command) -> Command:
    """Add --certificate-time and --no-cache."""
    return with_options(command, _CERTIFICATE)


def public_language(
    alphabet: str | None, system: str | None, words: Any, start: str | None, lexicon: str | None, **_other: Any
) -> Language:
    """The language that the options describe."""
    from dpwords.bridges.notation import language

    return language(alphabet, system, words, start, lexicon)


def described(
    language: Language,
    epsilon: float,
    edits: Edits,
    mechanism: str | None,
    k: int,
    utility: str,
    alpha: float,
    calibration: Any,
    certificate_time: float | None = None,
    **_other: Any,
) -> Private:
    """The mechanism that the options describe."""
    positive_number(epsilon, "--epsilon", "--epsilon 1")
    if mechanism == "best" and (utility, calibration) != ("best", "tight"):
        raise InvalidValue("--mechanism best chooses utility and calibration: leave out --utility and --calibration")
    if mechanism == "best" and edits == "all":
        from dpwords.accuracy import best

        return best(language, epsilon, k, length=None, distance="levenshtein")
    limits = limits_for(certificate_time)
    return choice.mechanism(language, epsilon, k, edits, mechanism, utility, alpha, calibration, limits)


def limits_for(certificate_time: float | None) -> Limits:
    """The limits with another time for certificates, if one is given."""
    if certificate_time is None:
        return DEFAULTS
    seconds = positive_number(certificate_time, "--certificate-time", "--certificate-time 600", zero_allowed=True)
    return replace(DEFAULTS, certificate_time=seconds)


def with_options(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
