"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.automata import Language
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.online import Online
    from dpwords.privacy import Utility

Command = TypeVar("Command", bound=Callable[..., Any])

_LANGUAGE = (
    click.option(
        "--alphabet",
        help="Symbols: a literal with ranges ('a-z0-9 '), a name (name:dna, name:protein, name:lower, name:digits, "
        "…), or @file with a symbol on each line. Public, never read off the data.",
    ),
    click.option(
        "--system",
        help="Runs of a system: grid:15x15, grid:15x15@1,2 (start), grid:15x15@any, a .json file, or a .csv edge "
        "list. Public.",
    ),
    click.option(
        "--words",
        type=click.Choice(["moves", "states"]),
        help="What a run's symbols are.  [default: moves; of CSV, states]",
    ),
    click.option("--start", help="Where runs on a CSV edge list start.  [default: anywhere]"),
)
_MECHANISM = (
    click.option(
        "--mechanism",
        type=click.Choice(["exponential", "online"]),
        default="exponential",
        show_default=True,
        help="'online' releases symbol by symbol; 'dpwords accuracy' tells which is nearer.",
    ),
    click.option("-k", default=1, show_default=True, help="Words that differ in up to k places are neighbours."),
    click.option(
        "--utility",
        type=click.Choice(["best", "linear", "inverse", "staircase"]),
        default="best",
        show_default=True,
        help="How outputs are valued by distance; 'best' is the best one proven for the language.",
    ),
    click.option("--alpha", default=1.0, show_default=True, help="The constant of --utility inverse."),
    click.option(
        "--calibration",
        type=click.Choice(["tight", "textbook"]),
        default="tight",
        show_default=True,
        help="'tight' takes the best that is proven, 'textbook' is ε/(2Δu).",
    ),
)


def language_options(command: Command) -> Command:
    """--alphabet, --system, --words, --start."""
    return with_options(command, _LANGUAGE)


def mechanism_options(command: Command) -> Command:
    """--mechanism, -k, --utility, --alpha, --calibration."""
    return with_options(command, _MECHANISM)


def public_language(alphabet: str | None, system: str | None, words: Any, start: str | None, **_other: Any) -> Language:
    """The language that the options describe."""
    from dpwords.notation import language

    return language(alphabet, system, words, start)


def described(
    language: Language,
    epsilon: float,
    mechanism: str,
    k: int,
    utility: str,
    alpha: float,
    calibration: Any,
    **_other: Any,
) -> Exponential | Online:
    """The mechanism that the options describe."""
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.online import Online
    from dpwords.privacy import Inverse, Linear, Staircase

    if mechanism == "online":
        if (utility, calibration) != ("best", "tight"):
            raise InvalidValue("--mechanism online has no utility to calibrate: leave out --utility and --calibration")
        return Online(language, epsilon, k)

    chosen: dict[str, Utility | None] = {
        "best": None,
        "linear": Linear(),
        "inverse": Inverse(alpha),
        "staircase": Staircase(),
    }
    return Exponential(language, epsilon, k=k, utility=chosen[utility], calibration=calibration)


def with_options(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
