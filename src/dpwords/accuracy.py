"""The accuracy of a release, computed before there is any data."""

from __future__ import annotations

import math
import statistics
import warnings

import numpy as np

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.encoding import Encoder
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import levenshtein
from dpwords.errors import TooLarge
from dpwords.languages.language import Language
from dpwords.mechanisms.choice import Edits, Maker
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.privacy.channel_parameters import LEAST_EPSILON
from dpwords.spaces.choice import space_of

_LEAST, _MOST = 2.0**-7, 2.0**10  # the range of ε that is searched
_STEPS = 14
_MEASURED = 400  # releases whose mean distance is measured if no formula is known


def lowest_epsilon(k: int, edits: Edits = "substitutions") -> float:
    """The lowest ε that is searched; for the edit channel, the lowest for which it exists."""
    return LEAST_EPSILON * k if edits == "all" else _LEAST


def expected_distance(make: Maker, epsilon: float, length: int) -> float:
    """The public expected distance at this ε; NaN if the computation is too large.

    With linear utility, raises `TooLarge` instead. For the edit channel onto a language it is measured, on words drawn
    uniformly from the language with a fixed seed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings that little of the word survives: the distance shows it anyway
        mechanism = make(epsilon)
    if isinstance(mechanism, EditChannel) and mechanism.onto is not None:
        return _measured(mechanism, mechanism.onto, length)
    try:
        return mechanism.expected_distance(length=length)
    except TooLarge:
        if mechanism.is_linear:
            raise
        return math.nan


def least_epsilon(make: Maker, target: float, length: int, lowest: float = _LEAST) -> float:
    """The least ε at which the expected distance is at most `target`, to 1 part in 1,000; NaN if there is none.

    The search starts at `lowest`. Cost: about 16 times that of the expected distance.
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
    """The mean Levenshtein distance between words of one length and their releases, both drawn with fixed seeds."""
    rows = space_of(language).uniform(whole_number(length, "length", 1), _MEASURED, SeededSource("words").open())
    words = Encoder(language.alphabet).words(np.array(list(rows)), tuple)
    released = channel.seeded("releases").release_all(words)
    return statistics.fmean(levenshtein(*pair) for pair in zip(words, released, strict=True))
