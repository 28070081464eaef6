"""What can be chosen, described once for the command line, the page and `accuracy`.

Nothing heavy is imported before something is made: the help of the command line reads these tables too.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeVar

import dpwords as dw
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import InvalidValue, named
from dpwords.privacy.methods import CalibrationMethod, CalibrationName

if TYPE_CHECKING:
    from dpwords.languages.language import Language
    from dpwords.mechanisms.private import Private
    from dpwords.privacy.utilities import Utility
    from dpwords.spaces.questions import Question

Edits = Literal["substitutions", "all"]
Maker = Callable[[float], "Private"]  # from ε
Made = TypeVar("Made")
EDITS: tuple[Edits, ...] = ("substitutions", "all")
TIGHT, TEXTBOOK = CalibrationMethod
CALIBRATIONS = tuple(each.value for each in CalibrationMethod)
QUESTIONS: tuple[Question, ...] = ("visits", "transitions", "symbols")
UTILITIES: dict[str, Callable[[float], Utility | None]] = {  # by name; made from the constant alpha
    "best": lambda alpha: None,
    "linear": lambda alpha: dw.Linear(),
    "inverse": lambda alpha: dw.Inverse(alpha=alpha),
    "staircase": lambda alpha: dw.Staircase(),
}


class Family(StrEnum):
    """Mechanisms that look alike wherever they are shown: the names are those of their colours."""

    __repr__ = str.__repr__

    TIGHT = "tight"
    ONLINE = "online"
    TEXTBOOK = "textbook"
    STAIRCASE = "staircase"
    INVERSE = "inverse"  # the paper's utility
    CHANNEL = "channel"
    PROJECTED = "projected"  # onto the rules of a language
    LITERAL = "literal"  # the paper's formula, which is not private
    OPTIMUM = "optimum"  # of all mechanisms, as a linear programme finds it


class Title(StrEnum):
    """The names under which users meet mechanisms in tables and pictures, each with its family."""

    __repr__ = str.__repr__
    family: Family

    def __new__(cls, text: str, family: Family) -> Title:
        made = str.__new__(cls, text)
        made._value_, made.family = text, family
        return made

    TIGHT = "tight", Family.TIGHT
    TIGHT_DEFAULT = "tight (default)", Family.TIGHT
    TIGHT_LINEAR = "tight, linear", Family.TIGHT
    TEXTBOOK = "textbook", Family.TEXTBOOK
    TEXTBOOK_DEFAULT = "textbook (default)", Family.TEXTBOOK  # a large lexicon, until its certificate is made
    LINEAR_TEXTBOOK = "linear, textbook", Family.TEXTBOOK
    TEXTBOOK_LINEAR = "textbook, linear", Family.TEXTBOOK
    STAIRCASE_TEXTBOOK = "staircase, textbook", Family.STAIRCASE
    INVERSE_TEXTBOOK = "inverse (α=1), textbook", Family.INVERSE
    PAPERS_UTILITY = "textbook, paper's utility", Family.INVERSE
    ONLINE = "online", Family.ONLINE
    CHANNEL = "channel", Family.CHANNEL
    EDITS_MADE = "channel, edits made", Family.CHANNEL
    CHANNEL_ONTO = "channel onto the language", Family.CHANNEL
    PROJECTED = "projected", Family.PROJECTED
    LITERAL = "the paper's formula, literal", Family.LITERAL
    LITERAL_FORMULA = "literal formula", Family.LITERAL
    OPTIMUM = "optimum", Family.OPTIMUM


_FAMILIES: dict[str, Family] = {title: title.family for title in Title}


def family_of(title: str) -> Family | None:
    """The family of the mechanism that has this title; None if no mechanism has it."""
    return _FAMILIES.get(title)


@dataclass(frozen=True)
class Offer:
    """A mechanism that applies to a language. Called with an ε, it makes the mechanism."""

    title: str
    make: Maker
    calibration: CalibrationMethod | None = None  # the one that is asked for, where there is something to calibrate
    in_language: bool = True  # whether words of the language come out, so that distances between words are compared

    def __call__(self, epsilon: float) -> Private:
        return self.make(epsilon)


@dataclass(frozen=True)
class Named:
    """A mechanism that is chosen by its name, and that leaves nothing else to choose."""

    title: str
    edits: Edits  # the kind of edits that it hides
    make: Callable[[Language, float, int, Limits], Private]  # from language, ε and k
    offered: Callable[[Language], bool]  # whether it can be better than others on a language
    code: str  # the Python code that makes it on `language`, with {} for ε and k
    projects: bool = False  # whether it is projected onto the language, where that has not all words


def _onto_rules(language: Language, epsilon: float, k: int, limits: Limits) -> Private:
    """The best mechanism on a language without its rules and goals, projected onto the language."""
    system = dw.rules.relaxed(language)
    if system is language:
        raise InvalidValue(
            f"{named('mechanism', 'projected')} is for languages with rules or a goal, and this one has none: leave it "
            "out"
        )
    return best_by_length(system, epsilon, k, limits).onto(language, words=language)


NAMED = {
    "online": Named(
        Title.ONLINE,
        "substitutions",
        lambda language, epsilon, k, limits: dw.Online(language, epsilon, k, limits=limits),
        lambda language: not language.listed and not language.alike,
        "dw.Online(language, {})",
    ),
    "projected": Named(
        Title.PROJECTED,
        "substitutions",
        _onto_rules,
        lambda language: dw.rules.relaxed(language) is not language,
        "dw.best(dw.rules.relaxed(language), {}, length=None).onto(language, words=language)",
    ),
    "channel": Named(
        Title.CHANNEL_ONTO,
        "all",
        lambda language, epsilon, k, limits: dw.EditChannel(
            language.alphabet.symbols, epsilon, k, onto=None if language.every_word else language, limits=limits
        ),
        lambda language: not language.every_word,
        "dw.EditChannel(language.alphabet.symbols, {})",
        projects=True,
    ),
}
MECHANISMS = ("best", "exponential", *NAMED)


def mechanism(
    language: Language,
    epsilon: float,
    k: int = 1,
    edits: Edits = "substitutions",
    name: str | None = None,
    utility: str = "best",
    alpha: float = 1.0,
    calibration: CalibrationName = "tight",
    limits: Limits = DEFAULTS,
) -> Private:
    """The mechanism that a user's choices describe; without a name the default for the language.

    "best" is for words that keep their length; under Levenshtein distance see `dpwords.accuracy.best`.
    """
    name = name or default_name(language, edits, utility, calibration)
    if name != "exponential" and (utility, calibration) != ("best", "tight"):
        raise InvalidValue(
            f"{named('mechanism', name)} has no utility to calibrate: leave out {named('utility')} and "
            f"{named('calibration')}"
        )
    if name in NAMED:
        if NAMED[name].edits != edits:
            rule = (
                "is for words that keep their length: leave out" if edits == "all" else "makes edits of every kind: say"
            )
            raise InvalidValue(f"{named('mechanism', name)} {rule} {named('edits', 'all')}")
        return NAMED[name].make(language, epsilon, k, limits)
    if name == "best":
        return best_by_length(language, epsilon, k, limits)
    distance: Literal["hamming", "levenshtein"] = "levenshtein" if edits == "all" else "hamming"
    return dw.Exponential(language, epsilon, k, UTILITIES[utility](alpha), calibration, distance, limits=limits)


def default_name(language: Language, edits: Edits, utility: str = "best", calibration: str = "tight") -> str:
    """The name of the mechanism that is used if none is chosen."""
    if edits == "all":
        return "exponential" if language.listed else "channel"
    compares = not language.listed and not language.alike and (utility, calibration) == ("best", "tight")
    return "best" if compares else "exponential"


def quietly(make: Callable[[float], Made], epsilon: float) -> Made:
    """A mechanism, made without warnings that little of a word survives: for tables that show it anyway."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(epsilon)


def best_by_length(language: Language, epsilon: float, k: int = 1, limits: Limits = DEFAULTS) -> Private:
    """The best mechanism for words that keep their length, chosen anew for each length if there are several."""
    from dpwords.mechanisms.by_length import ByLength

    candidates = {title: make(epsilon) for title, make in contenders(language, k, limits=limits).items()}
    return ByLength(candidates) if len(candidates) > 1 else next(iter(candidates.values()))


def contenders(
    language: Language, k: int, edits: Edits = "substitutions", limits: Limits = DEFAULTS
) -> dict[str, Offer]:
    """Those of the offers among which the best one is chosen: what can be better than the others at some ε and length.

    Their outputs are words of the language, and their distances are distances between words, not bounds. The first one
    alone remains on free words, where it is optimal, and textbook calibration is left out for k = 1, where e^(−c·d) is
    certified with a c of at least ε/2.
    """
    found = offers(language, k, edits, limits)
    if first_is_optimal(language, edits):
        return dict([next(iter(found.items()))])
    return {
        title: offer
        for title, offer in found.items()
        if offer.in_language and (k > 1 or offer.calibration is not TEXTBOOK)
    }


def first_is_optimal(language: Language, edits: Edits) -> bool:
    """Whether the first offer is proven to have the least expected distance of all mechanisms with its promise.

    The proof is for free words (docs/theory.md, section 3).
    """
    return language.alike and edits == "substitutions"


def offers(language: Language, k: int, edits: Edits = "substitutions", limits: Limits = DEFAULTS) -> dict[str, Offer]:
    """The mechanisms that apply to a language, by title, the exponential one first; each is made from an ε."""

    def offer(title: str, name: str, utility: str = "best", calibration: CalibrationMethod | None = None) -> Offer:
        def make(epsilon: float) -> Private:
            return mechanism(language, epsilon, k, edits, name, utility, 1.0, calibration or TIGHT, limits)

        return Offer(title, make, calibration)

    found: list[Offer] = []
    if edits == "substitutions" or language.listed:
        found.append(offer(_default_title(language, k, edits), "exponential", calibration=TIGHT))
    fitting = [name for name, each in NAMED.items() if each.edits == edits and each.offered(language)]
    chosen_by_name = [offer(NAMED[name].title, name) for name in fitting]
    if edits == "all":
        if language.listed:
            found.append(offer(Title.LINEAR_TEXTBOOK, "exponential", "linear", TEXTBOOK))
        channel = Offer(
            Title.EDITS_MADE,
            lambda epsilon: dw.EditChannel(language.alphabet.symbols, epsilon, k, limits=limits),
            in_language=language.every_word,
        )
        found += [channel, *chosen_by_name]
    else:
        found += [*chosen_by_name, offer(Title.LINEAR_TEXTBOOK, "exponential", "linear", TEXTBOOK)]
        if k > 1 and not language.alike:
            found.append(offer(Title.STAIRCASE_TEXTBOOK, "exponential", "staircase", TEXTBOOK))
        found.append(offer(Title.INVERSE_TEXTBOOK, "exponential", "inverse", TEXTBOOK))
    return {each.title: each for each in found}


def _default_title(language: Language, k: int, edits: Edits) -> Title:
    """The title of the exponential mechanism with nothing chosen: the calibration that is in force."""
    default = dw.Exponential(language, 1.0, k, distance="levenshtein" if edits == "all" else "hamming")
    tight = default.calibration == TIGHT
    if default_name(language, edits) == "best":
        return Title.TIGHT if tight else Title.TEXTBOOK
    return Title.TIGHT_DEFAULT if tight else Title.TEXTBOOK_DEFAULT
