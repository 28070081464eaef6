"""What can be chosen, described once for the command line, the page and `accuracy`.

Nothing heavy is imported before something is made: the help of the command line reads these tables too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

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
EDITS: tuple[Edits, ...] = ("substitutions", "all")
MECHANISMS = ("best", "exponential", "online", "channel")
TIGHT, TEXTBOOK = CalibrationMethod
CALIBRATIONS = tuple(each.value for each in CalibrationMethod)
QUESTIONS: tuple[Question, ...] = ("visits", "transitions", "symbols")
UTILITIES: dict[str, Callable[[float], Utility | None]] = {  # by name; made from the constant alpha
    "best": lambda alpha: None,
    "linear": lambda alpha: dw.Linear(),
    "inverse": lambda alpha: dw.Inverse(alpha=alpha),
    "staircase": lambda alpha: dw.Staircase(),
}


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
    if name == "channel":
        if edits != "all":
            raise InvalidValue(
                f"{named('mechanism', 'channel')} makes edits of every kind: say {named('edits', 'all')}"
            )
        return dw.EditChannel(
            language.alphabet.symbols, epsilon, k, onto=None if language.every_word else language, limits=limits
        )
    if name == "online":
        if edits == "all":
            raise InvalidValue(
                f"{named('mechanism', 'online')} is for words that keep their length: leave out {named('edits', 'all')}"
            )
        return dw.Online(language, epsilon, k, limits=limits)
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


def best_by_length(language: Language, epsilon: float, k: int = 1, limits: Limits = DEFAULTS) -> Private:
    """The best mechanism for words that keep their length, chosen anew for each length if there are several."""
    from dpwords.mechanisms.by_length import ByLength

    candidates = {title: make(epsilon) for title, make in contenders(language, k, limits=limits).items()}
    return ByLength(candidates) if len(candidates) > 1 else next(iter(candidates.values()))


def contenders(
    language: Language, k: int, edits: Edits = "substitutions", limits: Limits = DEFAULTS
) -> dict[str, Maker]:
    """Those of the offers among which the best one is chosen: what can be better than the others at some ε and length.

    Their outputs are words of the language, and their distances are distances between words, not bounds. The first one
    alone remains on free words, where it is optimal, and textbook calibration is left out for k = 1, where e^(−c·d) is
    certified with a c of at least ε/2.
    """
    found = offers(language, k, edits, limits)
    if first_is_optimal(language, edits):
        return dict([next(iter(found.items()))])
    left_out = {"channel, edits made"} if not language.every_word else set()
    return {
        title: make
        for title, make in found.items()
        if title not in left_out and (k > 1 or not title.endswith(", textbook"))
    }


def first_is_optimal(language: Language, edits: Edits) -> bool:
    """Whether the first offer is proven to have the least expected distance of all mechanisms with its promise.

    The proof is for free words (docs/theory.md, section 3).
    """
    return language.alike and edits == "substitutions"


def offers(language: Language, k: int, edits: Edits = "substitutions", limits: Limits = DEFAULTS) -> dict[str, Maker]:
    """The mechanisms that apply to a language, by title, the exponential one first; each is made from an ε."""

    def exponential(utility: str, calibration: CalibrationMethod) -> Maker:
        return lambda epsilon: mechanism(
            language, epsilon, k, edits, "exponential", utility=utility, calibration=calibration, limits=limits
        )

    found: dict[str, Maker] = {}
    if edits == "substitutions" or language.listed:
        distance: Literal["hamming", "levenshtein"] = "levenshtein" if edits == "all" else "hamming"
        default = dw.Exponential(language, 1.0, k, distance=distance)
        in_force = default.calibration  # of large lexicons the textbook's, until a certificate is made
        compared = default_name(language, edits) == "best"
        found[in_force if compared else f"{in_force} (default)"] = exponential("best", TIGHT)
        if edits == "substitutions" and not language.listed and not language.alike:
            found["online"] = lambda epsilon: dw.Online(language, epsilon, k, limits=limits)
        found["linear, textbook"] = exponential("linear", TEXTBOOK)
    if edits == "substitutions":
        if k > 1 and not language.alike:
            found["staircase, textbook"] = exponential("staircase", TEXTBOOK)
        found["inverse (α=1), textbook"] = exponential("inverse", TEXTBOOK)
        return found
    found["channel, edits made"] = lambda epsilon: dw.EditChannel(language.alphabet.symbols, epsilon, k, limits=limits)
    if not language.every_word:
        found["channel onto the language"] = lambda epsilon: mechanism(
            language, epsilon, k, edits, "channel", limits=limits
        )
    return found
