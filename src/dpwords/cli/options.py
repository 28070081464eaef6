"""Options that several commands share, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpwords.errors import InvalidValue

if TYPE_CHECKING:
    from dpwords.core.symbols import Distance
    from dpwords.languages.language import Language
    from dpwords.mechanisms.edit_channel import EditChannel
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.online import Online
    from dpwords.privacy.utilities import Utility

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
    click.option("--lexicon", help="Words of a list: a file with a word on each line. Public."),
    click.option("--start", help="Where runs on a CSV edge list start.  [default: anywhere]"),
)
K = click.option("-k", default=1, show_default=True, help="Words up to k places or edits apart are neighbours.")
EDITS = click.option(
    "--edits",
    type=click.Choice(["substitutions", "all"]),
    default="substitutions",
    show_default=True,
    help="What is hidden: changed symbols at equal length, or insertions and deletions too (Levenshtein distance).",
)
_MECHANISM = (
    EDITS,
    click.option(
        "--mechanism",
        type=click.Choice(["exponential", "online", "channel"]),
        help="'online' releases symbol by symbol, 'channel' makes random edits; 'dpwords accuracy' tells which is "
        "nearer.  [default: exponential; with --edits all, channel, but for a lexicon]",
    ),
    K,
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
    """--alphabet, --system, --words, --lexicon, --start."""
    return with_options(command, _LANGUAGE)


def mechanism_options(command: Command) -> Command:
    """--edits, --mechanism, -k, --utility, --alpha, --calibration."""
    return with_options(command, _MECHANISM)


def public_language(
    alphabet: str | None, system: str | None, words: Any, start: str | None, lexicon: str | None, **_other: Any
) -> Language:
    """The language that the options describe."""
    from dpwords.bridges.notation import language

    return language(alphabet, system, words, start, lexicon)


def described(
    language: Language,
    epsilon: float,
    edits: str,
    mechanism: str | None,
    k: int,
    utility: str,
    alpha: float,
    calibration: Any,
    **_other: Any,
) -> Exponential | Online | EditChannel:
    """The mechanism that the options describe."""
    from dpwords.accuracy import edit_channel
    from dpwords.languages.lexicon import Lexicon
    from dpwords.mechanisms.exponential import Exponential
    from dpwords.mechanisms.online import Online
    from dpwords.privacy.utilities import Inverse, Linear, Staircase

    listed = isinstance(language, Lexicon)
    name = mechanism or ("channel" if edits == "all" and not listed else "exponential")
    if name != "exponential" and (utility, calibration) != ("best", "tight"):
        raise InvalidValue(f"--mechanism {name} has no utility to calibrate: leave out --utility and --calibration")
    if name == "channel":
        if edits != "all":
            raise InvalidValue("--mechanism channel makes edits of every kind: say --edits all")
        return edit_channel(language, epsilon, k)
    if name == "online":
        if edits == "all":
            raise InvalidValue("--mechanism online is for words that keep their length: leave out --edits all")
        return Online(language, epsilon, k)

    chosen: dict[str, Utility | None] = {
        "best": None,
        "linear": Linear(),
        "inverse": Inverse(alpha),
        "staircase": Staircase(),
    }
    distance: Distance = "levenshtein" if edits == "all" else "hamming"
    return Exponential(language, epsilon, k, chosen[utility], calibration, distance)


def with_options(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
