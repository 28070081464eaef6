"""Options that several commands share, and the objects that they describe."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

import dpwords as dw
from dpwords.cli import completing
from dpwords.core.checks import positive_number, whole_number
from dpwords.core.kept import VARIABLE
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue
from dpwords.mechanisms import choice

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.choice import Edits
    from dpwords.mechanisms.private import Private
    from dpwords.spaces.questions import Question

Command = TypeVar("Command", bound=Callable[..., Any])
_SPELLED = {"k": "-k", "rules": "--rule", "symbols": "--dot-symbols"}  # other than their parameters
_NOT_FOR_REPORTS = ("edits", "mechanism", "k", "utility", "alpha", "calibration", "certificate_time", "any_word")
_NO_PROOF = "long proofs are for tight calibration on words of states that keep their length, which is not in use here"


def as_option(name: str, value: str | None = None) -> str:
    """A parameter of a message as an option, with its value if it has one."""
    option = _SPELLED.get(name) or f"--{name.replace('_', '-')}"
    return option if value in (None, "True") else f"{option} {quote(value)}"


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


def epsilons(_context: click.Context, _parameter: click.Parameter, text: str | None) -> list[float]:
    """The numbers that were given to --epsilon, with commas between them; none if it was left out."""
    try:
        found = [float(part) for part in text.split(",")] if text is not None else []
    except ValueError:
        raise InvalidValue("--epsilon takes numbers separated by commas, as in 1,2,5,10") from None
    literal = _context.params.get("mechanism") == "literal"  # which says something at ε = 0, too
    return [positive_number(number, "--epsilon", "--epsilon 1,2,5,10", zero_allowed=literal) for number in found]


_LANGUAGE = (
    click.option(
        "--alphabet",
        shell_complete=completing.alphabets,
        help="The symbols: a literal with ranges ('a-z0-9 '), a name (name:dna, name:protein, name:lower, "
        "name:digits, …), or @file with a symbol on each line; a backslash makes the next character literal. Public; "
        "never read it off the data.",
    ),
    click.option(
        "--system",
        shell_complete=completing.systems,
        help="A system whose runs are the words: grid:15x15, grid:15x15@1,2 (start), grid:15x15@any, or a file: "
        ".json, .csv (edge list), .dot, .graphml, or .txt (a map with # for walls, S for the start, G for goals). "
        "Public.",
    ),
    click.option(
        "--words",
        type=click.Choice(["moves", "states"]),
        help="What the symbols of a run are.  [default: moves; for CSV, and GraphML without --action, states]",
    ),
    click.option(
        "--lexicon", shell_complete=completing.files, help="The words: a file with a word on each line. Public."
    ),
    click.option(
        "--start",
        help="The state in which runs start, for .csv, .graphml and .dot files.  [default: as marked in the DOT file; "
        "otherwise anywhere]",
    ),
    click.option("--action", help="The edge attribute with the moves, for .graphml files.  [default: none]"),
    click.option(
        "--dot-symbols",
        type=click.Choice(["inputs", "outputs", "labels"]),
        help="What the moves of a .dot file are, where edges are labelled 'input / output'.  [default: inputs if all "
        "labels have this form, otherwise labels]",
    ),
    click.option("--walls", help="Cells of a grid that no run enters: '2,3;4,5'."),
    click.option("--goal", help="Where runs on a grid end: a cell '5,5', or several with ; between them."),
    click.option(
        "--rule",
        "rules",
        multiple=True,
        shell_complete=completing.rules,
        help="Only words that satisfy a rule: contains:a, contains:a;b (one directly after the other), before:a;b, "
        "never:a, at_most:2;a, at_least:2;a, starts_in:a, ends_in:a, or re:PATTERN. It can be given several times. "
        "On words of moves, symbols can also be the states that a run enters. Public.",
    ),
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


_REPORT = click.option(
    "--report",
    type=click.Choice(choice.QUESTIONS),
    help="Instead of words, release answers about one random place of each whole word: which state the run enters "
    "there (visits), which state or symbol comes after which (transitions), or which symbol is there. ε is then "
    "promised for any two words, whatever their lengths.",
)


def language_options(command: Command) -> Command:
    """Add --alphabet, --system, --lexicon, --rule, and the options that belong to a --system."""
    return with_options(command, _LANGUAGE)


def mechanism_options(command: Command) -> Command:
    """Add --edits, --mechanism, -k, --utility, --alpha and --calibration."""
    return with_options(command, _MECHANISM)


def report_option(command: Command) -> Command:
    """Add --report."""
    return with_options(command, (_REPORT,))


def certificate_options(command: Command) -> Command:
    """Add --certificate-time and --no-cache."""
    return with_options(command, _CERTIFICATE)


def public_language(
    alphabet: str | None,
    system: str | None,
    words: Any,
    start: str | None,
    lexicon: str | None,
    action: str | None,
    walls: str | None,
    goal: str | None,
    rules: tuple[str, ...],
    dot_symbols: str | None,
    **_other: Any,
) -> Language:
    """The language that the options describe."""
    from dpwords.recipes.notation import language

    return language(alphabet, system, words, start, lexicon, action, walls, goal, rules, dot_symbols)


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
    report: Question | None = None,
    **_other: Any,
) -> Private:
    """The mechanism that the options describe."""
    positive_number(epsilon, "--epsilon", "--epsilon 1")
    if report is not None:
        refuse("--report is a mechanism of its own, for whole words", *_NOT_FOR_REPORTS)
        return dw.Report(language, epsilon, report)
    name = mechanism or choice.default_name(language, edits, utility, calibration)
    if name != "exponential":
        refuse(f"--mechanism {name} leaves no utility to choose", "utility", "alpha", "calibration")
    elif utility != "inverse":
        refuse("--alpha is the constant of --utility inverse", "alpha")
    if name not in ("best", "exponential") or utility == "inverse" or calibration == "textbook":
        refuse(_NO_PROOF, "certificate_time")
    limits = limits_for(certificate_time, language, edits)
    if mechanism == "best" and edits == "all":
        from dpwords.accuracy import best

        return best(language, epsilon, k, length=None, distance="levenshtein")
    return choice.mechanism(language, epsilon, k, edits, mechanism, utility, alpha, calibration, limits)


def refuse(rule: str, *names: str) -> None:
    """Refuse those of the named options of the running command that the user gave, although they have no effect here.

    `rule` says why they have none. Defaults do not count, but a default that the user wrote does.
    """
    context = click.get_current_context()
    given = [
        max(each.opts, key=len) if isinstance(each, click.Option) else "WORD"
        for each in context.command.params
        if each.name in names
        and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE
        and context.params.get(each.name) != ()
    ]
    if given:
        raise InvalidValue(f"{rule}: leave out {', '.join(given)}")


def limits_for(certificate_time: float | None, language: Language, edits: Edits) -> Limits:
    """The limits with another time for certificates, if one is given."""
    if certificate_time is None:
        return DEFAULTS
    if language.symbols_are != "states" or edits == "all":
        refuse(_NO_PROOF, "certificate_time")
    seconds = positive_number(certificate_time, "--certificate-time", "--certificate-time 600", zero_allowed=True)
    return replace(DEFAULTS, certificate_time=seconds)


def with_options(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    """The command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command
