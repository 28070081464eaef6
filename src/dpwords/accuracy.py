"""What a release will cost in accuracy, before there is any data."""

from __future__ import annotations

import math
import statistics
import warnings
from collections.abc import Callable
from typing import Literal

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.randomness import SeededSource
from dpwords.core.sampling import below
from dpwords.core.symbols import levenshtein
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.free_words import Words
from dpwords.languages.language import Language
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.online import Online
from dpwords.privacy.channel_parameters import LEAST_EPSILON
from dpwords.privacy.utilities import Inverse, Linear
from dpwords.spaces.by_distance import uniform
from dpwords.spaces.graph import Graph

Maker = Callable[[float], Mechanism]  # from ε
_LEAST, _MOST = 2.0**-7, 2.0**10  # ε that are searched
_STEPS = 14
_MEASURED = 400  # releases of which the mean distance is taken where it is not known
Edits = Literal["substitutions", "all"]


def edit_channel(language: Language, epsilon: float, k: int) -> EditChannel:
    """The channel over the symbols of a language, and onto it where not every word belongs to it."""
    onto = None if _has_every_word(language) else language
    return EditChannel(language.alphabet.symbols, epsilon, k, onto=onto)


def mechanisms(language: Language, k: int, edits: Edits = "substitutions") -> dict[str, Maker]:
    """The mechanisms that apply to a language, by name, the default first; each is made from an ε."""
    if edits == "all":
        channels: dict[str, Maker] = {
            "channel, edits made": lambda epsilon: EditChannel(language.alphabet.symbols, epsilon, k)
        }
        if not _has_every_word(language):
            channels["channel onto the language"] = lambda epsilon: edit_channel(language, epsilon, k)
        if isinstance(language, Lexicon):
            default = Exponential(language, 1.0, k, distance="levenshtein").calibration
            return {
                f"{default} (default)": lambda epsilon: Exponential(language, epsilon, k, distance="levenshtein"),
                "linear, textbook": lambda epsilon: Exponential(
                    language, epsilon, k, Linear(), "textbook", "levenshtein"
                ),
                **channels,
            }
        return channels
    default = Exponential(language, 1.0, k).calibration  # of large lexicons the textbook's, until a certificate is made
    tight: dict[str, Maker] = {f"{default} (default)": lambda epsilon: Exponential(language, epsilon, k)}
    if not isinstance(language, Words | Lexicon):
        tight["online"] = lambda epsilon: Online(language, epsilon, k)
    return tight | {
        "linear, textbook": lambda epsilon: Exponential(language, epsilon, k, Linear(), "textbook"),
        "inverse (α=1), textbook": lambda epsilon: Exponential(language, epsilon, k, Inverse(1.0), "textbook"),
    }


def lowest_epsilon(k: int, edits: Edits = "substitutions") -> float:
    """The lowest ε that is searched; for the edit channel the lowest at which there is one."""
    return LEAST_EPSILON * k if edits == "all" else _LEAST


def expected_distance(make: Maker, epsilon: float, length: int) -> float:
    """The public expected distance at an ε; NaN where it is too large to compute, but for linear utility.

    Of the edit channel onto a language it is measured, on words drawn uniformly from the language, the same each time.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that little survives: the figure tells
        mechanism = make(epsilon)
    if isinstance(mechanism, EditChannel) and mechanism.onto is not None:
        return _measured(mechanism, mechanism.onto, length)
    try:
        return mechanism.expected_distance(length=length)
    except TooLarge:
        if isinstance(getattr(mechanism, "utility", Linear()), Linear):
            raise
        return math.nan


def least_epsilon(make: Maker, target: float, length: int, lowest: float = _LEAST) -> float:
    """The least ε at which the expected distance is no larger than the target, to 1 part in 1,000; NaN if none is.

    Searched from `lowest` on. Cost: that of the expected distance, about 16 times.
    """
    positive_number(target, "target", "target=1.0")
    highest = max(_MOST, 100 * lowest)
    low, high = math.log(lowest), math.log(highest)
    if not expected_distance(make, highest, length) <= target:
        return math.nan
    if expected_distance(make, lowest, length) <= target:
        return lowest
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if expected_distance(make, math.exp(middle), length) <= target else (middle, high)
    return math.exp(high)


def _measured(channel: EditChannel, language: Language, length: int) -> float:
    """The mean Levenshtein distance of one release each, of words of one length."""
    symbols, draws = language.alphabet.symbols, channel.seeded("releases")
    words = [[symbols[code] for code in row] for row in _some_words(language, whole_number(length, "length", 1))]
    return statistics.fmean(levenshtein(word, draws.release(word)) for word in words)


def _some_words(language: Language, length: int) -> list[list[int]]:
    """Codes of words of one length, drawn uniformly, the same each time."""
    stream = SeededSource("words").open()
    if not language.count(length):
        raise InvalidValue(f"the language has no word of length {length}: choose another length")
    if isinstance(language, Lexicon):
        texts = [text for text in language.table if len(text) == length]
        return [[ord(mark) for mark in texts[i]] for i in below(len(texts), (_MEASURED,), stream)]
    return [row.tolist() for row in uniform(Graph.of(language), length).draw(_MEASURED, stream)]


def _has_every_word(language: Language) -> bool:
    return isinstance(language, Words) and language.max_length is None
