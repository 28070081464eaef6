"""The accuracy of a release, computed before there is any data, and the choice of the best mechanism.

All figures here are public: they depend on the language, ε, k and a length, and on no private word.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dpwords.core.checks import positive_number, whole_number
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue, TooLarge
from dpwords.languages.language import Language, checked_language
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms import choice
from dpwords.mechanisms.by_length import least
from dpwords.mechanisms.choice import Edits, Maker, quietly
from dpwords.mechanisms.private import Private
from dpwords.privacy.channel_parameters import LEAST_EPSILON

_LEAST, _MOST = 2.0**-7, 2.0**10  # the range of ε that is searched
_FIRST = 4.0  # the ε at which a search begins
_PRECISION = 1.001  # of the least ε that is found, as a factor
_STEPS = 40  # evaluations of a search, at most; about 10 are usual


@dataclass(frozen=True)
class Figures:
    """What a mechanism costs at one ε and length, averaged over words drawn uniformly from the language."""

    distance: float  # the expected distance; NaN if the computation is too large
    within: float  # the probability of at most so many changes as was asked for; NaN likewise
    error: float | None = None  # the standard error of the distance, if it is simulated

    @property
    def surely(self) -> float:
        """What mechanisms are compared by: the distance, plus two standard errors if it is simulated."""
        return self.distance + 2 * (self.error or 0.0)


@dataclass(frozen=True)
class Comparison:
    """The figures of several mechanisms at one ε and length, and the name of the one with the least distance."""

    epsilon: float
    length: int
    at_most: int
    figures: Mapping[str, Figures]
    winner: str

    def __str__(self) -> str:
        ordered = sorted(self.figures, key=lambda name: name != self.winner)
        parts = [f"{name} {self.figures[name].distance:.4g}" for name in ordered]
        return f"expected distance at ε = {self.epsilon:g} for words of length {self.length}: {', '.join(parts)}"


@dataclass(frozen=True)
class Target:
    """What a release should reach: an expected distance, a probability of at most so many changes, or both."""

    distance: float | None = None
    probability: float | None = None
    at_most: int = 1

    def __post_init__(self) -> None:
        if self.distance is None and self.probability is None:
            raise InvalidValue("a target is a distance, a probability, or both: pass for example 1.0")
        if self.distance is not None:
            positive_number(self.distance, "target", "target=1.0")
        if self.probability is not None and not 0 < positive_number(self.probability, "probability", "0.9") < 1:
            raise InvalidValue("a probability to reach is between 0 and 1: take for example 0.9")
        whole_number(self.at_most, "at_most", 0)

    def missed_by(self, found: Figures) -> float:
        """By how much the figures miss the target, on a logarithmic scale: at most 0 if they reach it."""
        logs = []
        if self.distance is not None:
            logs.append(_log_ratio(found.distance, self.distance))
        if self.probability is not None:
            logs.append(_log_ratio(1 - found.within, 1 - self.probability))
        return max(logs)


def best(
    language: Language, epsilon: float, k: int = 1, length: int | None = 18, distance: Distance = "hamming"
) -> Private:
    """The mechanism with the least public expected distance, of those that are proven for the language.

    It depends on public facts only. Where nothing has to be compared, as on free words, it is returned at once. With
    `length=None` the choice is made anew for each length: the result is a mechanism that uses, for each word, the best
    one for the word's length. Under Levenshtein distance neighbours may have different lengths, so a single mechanism
    serves all words, and `length=None` then stands for the length that most words of a lexicon have. Words of moves and
    words of states make different promises, so one is never replaced by the other. `compare` shows why a mechanism was
    chosen. Cost: the expected distance of each candidate, and the certificate for that length.

    >>> import dpwords as dw
    >>> dw.best(dw.GridWorld(4, 4), epsilon=0.5, length=5)
    Online(<GridWorld: 16 states, 48 edges>, epsilon=0.5, k=1)
    """
    edits = _edits(distance)
    if length is not None:
        length = whole_number(length, "length", 1)
    if edits == "substitutions":
        found = choice.best_by_length(checked_language(language), epsilon, k)
        return found if length is None else found.at(length)
    makers: Mapping[str, Maker] = choice.contenders(checked_language(language), k, edits)
    if len(makers) > 1 and length is None:
        length = _usual_length(language)
    if len(makers) > 1 and length is not None:
        makers = _existing(makers, epsilon)
        measured = {name: expected_distance(make, epsilon, length) for name, make in makers.items()}
        return makers[least(measured)](epsilon)
    return next(iter(makers.values()))(epsilon)


def compare(
    language: Language, epsilon: float, k: int = 1, length: int = 18, distance: Distance = "hamming", at_most: int = 1
) -> Comparison:
    """The figures of every mechanism among which `best` chooses, and the name of the winner.

    >>> import dpwords as dw
    >>> print(dw.accuracy.compare(dw.GridWorld(4, 4), epsilon=0.5, length=5))
    expected distance at ε = 0.5 for words of length 5: online 2.835, tight 2.854
    """
    makers = _existing(choice.contenders(checked_language(language), k, _edits(distance)), epsilon)
    found = {name: figures(make, epsilon, length, at_most) for name, make in makers.items()}
    return Comparison(epsilon, length, at_most, found, least({name: each.surely for name, each in found.items()}))


def lowest_epsilon(k: int, edits: Edits = "substitutions") -> float:
    """The lowest ε that is searched; for the edit channel, the lowest for which it exists."""
    return LEAST_EPSILON * k if edits == "all" else _LEAST


def figures(make: Maker, epsilon: float, length: int, at_most: int = 1) -> Figures:
    """The public expected distance and probability of at most so many changes; NaN if the computation is too large.

    With linear utility, an expected distance that is too large raises `TooLarge` instead. For a mechanism that is
    projected onto a language, both are simulated unless it has few words.
    """
    mechanism = quietly(make, epsilon)
    mean = _expected(mechanism, length)
    try:
        within = math.fsum(mechanism.distance_distribution(length=length, at_most=at_most))
    except TooLarge:
        within = math.nan
    return Figures(mean, min(within, 1.0), None if math.isnan(mean) else mechanism.standard_error(length))


def expected_distance(make: Maker, epsilon: float, length: int) -> float:
    """The public expected distance alone; see `figures`."""
    return _expected(quietly(make, epsilon), length)


def least_epsilon(make: Maker, target: float | Target, length: int, lowest: float = _LEAST) -> float:
    """The least ε at which a mechanism reaches a target, to 1 part in 1,000; NaN if there is none.

    A number is the expected distance to reach. The search starts at `lowest`. Cost: about 10 times that of the figures.

    >>> import dpwords as dw
    >>> from dpwords.accuracy import Target, least_epsilon
    >>> round(least_epsilon(lambda epsilon: dw.Exponential(dw.Words("acgt"), epsilon), 1.0, length=20), 2)
    4.04
    >>> world, likely = dw.GridWorld(4, 4), Target(probability=0.9, at_most=1)
    >>> round(least_epsilon(lambda epsilon: dw.best(world, epsilon, length=6), likely, length=6), 1)
    2.9
    """
    wanted = target if isinstance(target, Target) else Target(distance=target)
    highest = max(_MOST, 100 * lowest)

    def missed_by(epsilon: float) -> float:
        if wanted.probability is None:
            return wanted.missed_by(Figures(expected_distance(make, epsilon, length), math.nan))
        return wanted.missed_by(figures(make, epsilon, length, wanted.at_most))

    return _least_root(missed_by, lowest, highest)


def _least_root(missed_by: Callable[[float], float], lowest: float, highest: float) -> float:
    """The least ε with missed_by(ε) ≤ 0, for a function that falls; NaN if there is none up to `highest`.

    From ε = 4 on, or a little more than the lowest, ε is doubled, or lowered in small steps, until the root lies
    between `low` and `high`. A line through these two comes close to it, because logarithms of small distances fall
    about linearly in ε. So ε is tried just above that estimate, just below it, and halfway between the two ends, in
    turn.
    """
    high = low = min(max(_FIRST, 2 * lowest), highest)
    above = below = missed_by(high)
    while below <= 0:
        if low == lowest:
            return lowest
        lower = max(_step_down(low, below, high, above), lowest)
        high, above, low = low, below, lower
        below = missed_by(low)
    while above > 0:
        if high == highest:
            return math.nan
        low, below, high = high, above, min(2 * high, highest)
        above = missed_by(high)
    for step in range(_STEPS):
        if high <= low * _PRECISION:
            break
        middle = (low + high) / 2
        if step % 3 < 2 and math.isfinite(above) and math.isfinite(below):
            root = low + (high - low) * below / (below - above)
            aside = 0.4 * (_PRECISION - 1) * root
            inset = 0.01 * (high - low)
            middle = min(max(root + aside if step % 3 == 0 else root - aside, low + inset), high - inset)
        found = missed_by(middle)
        if found <= 0:
            high, above = middle, found
        else:
            low, below = middle, found
    return high


def _step_down(low: float, below: float, high: float, above: float) -> float:
    """An ε below `low`, where the target is still reached: a little below the root of the line through both points.

    It is at least half of `low`, and not lower than it needs to be, because the smaller ε is, the longer its proof can
    take: minutes instead of seconds for half of ε on words of states.
    """
    if high == low:
        return 0.8 * low
    if not below > above:  # the line has no root, also if both distances are 0
        return low / 2
    root = low + (high - low) * below / (below - above)
    return min(max(0.98 * root, low / 2), 0.9 * low)


def _expected(mechanism: Private, length: int) -> float:
    try:
        return mechanism.expected_distance(length=length)
    except TooLarge:
        if mechanism.is_linear:
            raise
        return math.nan


def _existing(makers: Mapping[str, Maker], epsilon: float) -> dict[str, Maker]:
    """Those that exist at this ε; raises what the first one raises if none does."""
    found: dict[str, Maker] = {}
    errors: list[InvalidValue] = []
    for name, make in makers.items():
        try:
            quietly(make, epsilon)
        except InvalidValue as error:
            errors.append(error)
        else:
            found[name] = make
    if not found:
        raise errors[0]
    return found


def _edits(distance: object) -> Edits:
    if distance not in ("hamming", "levenshtein"):
        raise InvalidValue("distance is 'hamming', positions that differ, or 'levenshtein', edits")
    return "all" if distance == "levenshtein" else "substitutions"


def _usual_length(language: Language) -> int:
    """The length that most words of a lexicon have, the least of several."""
    words: Iterable[str] = language.table if isinstance(language, Lexicon) else ()
    counts = Counter(len(word) for word in words if word)
    return min(counts, key=lambda length: (-counts[length], length), default=1)


def _log_ratio(found: float, wanted: float) -> float:
    if math.isnan(found):
        return math.inf
    return math.log(found / wanted) if found > 0 else -math.inf
