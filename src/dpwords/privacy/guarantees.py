"""Guarantees: what a mechanism promises, and the budget that it may spend."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from dpwords.core.checks import LARGEST_EPSILON, positive_number, whole_number
from dpwords.core.scaled import Floats
from dpwords.core.symbols import PromisedDistance, Word, hamming, is_hashable, levenshtein, symbols_of
from dpwords.errors import InvalidValue, NotInLanguage, named
from dpwords.languages.language import Language

_LARGEST_RATIO = 1e6  # larger ones are written as powers of e only
_CERTAIN = 0.999  # larger probabilities would be written as 100.0%
_METHODS = {"certified": "certified for each length"}  # how they are called where the name does not say it
_APART = {
    "hamming": "two words that differ in d positions",
    "levenshtein": "two words d edits apart (insertions, deletions, substitutions)",
    "any": "any two words, whatever their lengths,",
}
_STATES_APART = "two words whose runs differ in d of the states entered"


@dataclass(frozen=True)
class Budget:
    """The privacy budget: ε for words at distance up to `k`, of which rounding may cost `slack` for each symbol."""

    epsilon: float
    k: int
    slack: float

    def rest(self, length: int) -> Fraction:
        """ε minus what rounding may cost at this length, as an exact fraction; it must be positive."""
        rest = Fraction(self.epsilon) - Fraction(self.slack) * length
        if rest <= 0:
            raise InvalidValue(
                f"epsilon must be larger than the {self.slack * length:.1g} that rounding may cost at this length: "
                "use a larger epsilon"
            )
        return rest

    def per_position(self, length: int) -> float:
        """`rest(length)` divided by k, rounded down: what each position that differs may cost."""
        return math.nextafter(float(self.rest(length) / self.k), 0.0)


@dataclass(frozen=True)
class Odds:
    """How well outputs can tell two words at some distance apart, at most.

    `loss` is the largest `|ln p(w;x)/p(w;x′)|` over all outputs w; it is infinite where nothing is promised.
    """

    distance: int
    measure: PromisedDistance
    loss: float
    unit: str = "position"  # what is counted under Hamming distance

    @property
    def ratio(self) -> float:
        """How many times as likely an output can be for one word as for the other: e^loss."""
        return math.exp(self.loss) if self.loss < math.log(sys.float_info.max) else math.inf

    @property
    def certainty(self) -> float:
        """The largest probability, after an output, of one of two words that were equally likely before it."""
        return 1 / (1 + math.exp(-self.loss))

    def apart(self, about: str = "") -> str:
        """The distance in words, as in "differ in 2 positions", or, with `about`, "differ in up to 2 positions"."""
        if self.measure == "any":
            return "are different"
        number, plural = f"{about}{self.distance}", "" if self.distance == 1 else "s"
        return (
            f"differ in {number} {self.unit}{plural}"
            if self.measure == "hamming"
            else f"are {number} edit{plural} apart"
        )

    @property
    def likelier(self) -> str:
        """The ratio in words, as in "at most e^4 = 54.6 times as likely"."""
        number = ""
        if self.ratio < _LARGEST_RATIO:
            number = f" = {self.ratio:,.0f}" if self.ratio >= 100 else f" = {self.ratio:.3g}"
        return f"at most e^{self.loss:g}{number} times as likely"

    @property
    def surer(self) -> str:
        """The certainty in words, rounded up, as in "is at most 98.3% sure"."""
        most = math.ceil(1000 * self.certainty) / 10
        return f"is at most {most:.1f}% sure" if self.certainty < _CERTAIN else "can be all but sure"

    @property
    def cases(self) -> float:
        """In how many of 100 cases a guess between the two words is right, at most: 100 times the certainty.

        It is rounded up to a whole number, or to a tenth above 99, so that it remains a bound.
        """
        fraction = 100 * self.certainty
        return float(math.ceil(fraction)) if fraction <= 99 else math.ceil(10 * fraction) / 10

    @property
    def of_100(self) -> str:
        """The cases in words, as in "of 100 guesses …, 50 are right without the output and at most 89 with it"."""
        most = f"at most {self.cases:g}" if self.cases < 100 else "perhaps all"
        return f"of 100 guesses which of the two it was, 50 are right without the output and {most} with it, on average"

    @property
    def in_words(self) -> str:
        """Ratio and certainty in a sentence for readers who are new to privacy."""
        return (
            f"any output is {self.likelier} for one as for the other, so whoever held both equally likely "
            f"{self.surer} afterwards which of them it was"
        )

    def __str__(self) -> str:
        if self.distance == 0:
            return "the two words are the same: there is nothing to tell apart"
        if math.isinf(self.loss):
            return f"the two words {self.apart()}, and nothing is promised about them"
        return f"the two words {self.apart()}: {self.in_words}"


@dataclass(frozen=True)
class PureDP:
    """For every pair of words x, x′ of the language and every output: `|ln p(w;x)/p(w;x′)|` ≤ ε · ceil(d(x, x′)/k).

    d is the Hamming or the Levenshtein distance. A report promises ε for any two words, whatever their lengths: its
    distance is "any", by which two different words are always 1 apart, and its k is 1.

    The claim holds for the program as it runs, with all its rounding. `slack` is what rounding may cost for each symbol
    of the word (under Levenshtein distance, of the longest word; for a report, in all); it is subtracted from ε before
    the weights are chosen, so it is part of the claimed ε and not an addition to it.

    `proof` is the section of docs/theory.md in which the promise is proven; None for a guarantee that was not made by a
    mechanism of this package. `spelled` is the language of words that are written in other symbols than those that d is
    about, as plans are: d then counts states, and the words are moves.
    """

    epsilon: float
    distance: PromisedDistance
    k: int
    slack: float
    method: Literal["tight", "certified", "textbook", "online", "channel", "best", "report"]
    proof: int | None = None
    spelled: Language | None = field(default=None, repr=False, compare=False)

    @property
    def unit(self) -> str:
        """What the Hamming distance counts: positions, or states."""
        return "position" if self.spelled is None else "state"

    def loss(self, distance: int) -> float:
        """The largest privacy loss `|ln p(w;x)/p(w;x′)|` for two words at this distance."""
        return self.epsilon * -(-whole_number(distance, "a distance", 0) // self.k)

    def odds(self, distance: int) -> Odds:
        """How well outputs can tell two words at this distance apart, at most."""
        return Odds(whole_number(distance, "a distance", 0), self.distance, self.loss(distance), self.unit)

    def explain(self, one: Word, other: Word) -> Odds:
        """What is promised about two words of the caller's choice: their distance, the loss and the odds.

        Under Hamming distance both must have the same length, because releases show the length. Whether the words
        belong to the language is not checked, except for plans. Cost: their length; under Levenshtein distance
        its square. Of a report, the distance of two different words is 1.

        >>> from dpwords import Exponential, Words
        >>> found = Exponential(Words("abc"), epsilon=4).guarantee.explain("abba", "abca")
        >>> found.distance, found.loss, round(found.ratio, 1), round(found.certainty, 3)
        (1, 4.0, 54.6, 0.982)
        """
        return self.odds(distance_between(one, other, self.distance, self.spelled))

    @property
    def in_words(self) -> str:
        """The promise, without the names of ε and k."""
        steps = "d" if self.k == 1 else f"ceil(d/{self.k})"
        factor = f"e^{self.epsilon:g}" if self.distance == "any" else f"e^({self.epsilon:g}·{steps})"
        return f"{self._apart} give any output with probabilities within a factor {factor} of each other"

    @property
    def _apart(self) -> str:
        return _STATES_APART if self.spelled is not None and self.distance == "hamming" else _APART[self.distance]

    def __str__(self) -> str:
        chosen, factor = f"ε = {self.epsilon:g}, k = {self.k}", "e^(ε·ceil(d/k))"
        if self.distance == "any":
            chosen, factor = f"ε = {self.epsilon:g}", "e^ε"
        return (
            f"{chosen}: {self._apart} give any output with probabilities within a factor {factor} "
            f"({_METHODS.get(self.method, self.method)})"
        )


@dataclass(frozen=True)
class NotPrivate:
    """The absence of a guarantee, for a stated reason; it cannot be composed with, or counted as, a guarantee.

    `nominal` is the ε that was requested; `true_epsilon(length)` is the actual privacy loss, if it is known.
    """

    reason: str
    nominal: float
    k: int
    measure: Callable[[int], float] | None = field(default=None, repr=False, compare=False)
    spelled: Language | None = field(default=None, repr=False, compare=False)  # as in `PureDP`

    @property
    def unit(self) -> str:
        """What the Hamming distance counts: positions, or states."""
        return "position" if self.spelled is None else "state"

    def true_epsilon(self, length: int) -> float:
        """The largest log-ratio over all outputs and all pairs of words that differ in at most k positions."""
        if self.measure is None:
            raise InvalidValue(f"the true ε is not known here: {self.reason}")
        return self.measure(length)

    def explain(self, one: Word, other: Word) -> Odds:
        """Of two words of the caller's choice nothing is promised: the loss is infinite, unless they are the same."""
        kind: PromisedDistance = "hamming" if len(symbols_of(one)) == len(symbols_of(other)) else "levenshtein"
        distance = distance_between(one, other, kind, self.spelled)
        return Odds(distance, kind, math.inf if distance else 0.0, self.unit)

    def __str__(self) -> str:
        return f"not private: {self.reason}"


Guarantee = PureDP | NotPrivate


def steps_of(distance: float, k: int) -> float:
    """ceil(distance/k), the number of times that ε may be lost between two words; the distance itself, if k = 1."""
    return distance if k == 1 else math.ceil(distance / k)


def keeps(measured: float, claimed: float) -> bool:
    """Whether what is measured is within the claim; floating-point errors of the measurement itself are allowed for."""
    return measured <= claimed * (1 + 1e-9) + 1e-12


def distance_between(one: Word, other: Word, distance: PromisedDistance, spelled: Language | None = None) -> int:
    """The distance of two words in the form that users pass; raises `InvalidValue` where they have none.

    `spelled` is their language, if they are written in other symbols than the distance is about.
    """
    words = symbols_of(one), symbols_of(other)
    if spelled is not None:
        if not all(map(spelled.accepts, words)):
            raise NotInLanguage("plans are compared by the states that they enter: pass two plans of the language")
        words = spelled.read(words[0]), spelled.read(words[1])
    if not all(is_hashable(symbol) for word in words for symbol in word):
        raise InvalidValue("a symbol is a hashable value, such as a str, a number or a tuple: pass words of symbols")
    if distance == "any":
        return int(words[0] != words[1])
    if distance == "levenshtein":
        return levenshtein(*words)
    if len(words[0]) != len(words[1]):
        raise InvalidValue(
            "under Hamming distance a release shows how long its word is, so words of different lengths are not "
            "compared: pass two words of one length"
        )
    return hamming(*words)


def checked_epsilon(epsilon: object, zero_allowed: bool = False) -> float:
    """ε as a float, if it is a finite number above 0 (or 0, if that is allowed) and not above `LARGEST_EPSILON`."""
    return positive_number(epsilon, named("epsilon"), named("epsilon", 1), zero_allowed, LARGEST_EPSILON)


def loss_by_distance(logs: Floats, k: int) -> float:
    """The true ε of a mechanism whose probability of an output depends only on its distance, as on free words.

    `logs` are the log-probabilities of a single output at distances 0, …, n, all those at which there are words.
    Cost: n · k.
    """
    gaps = (np.abs(logs[lag:] - logs[:-lag]).max() for lag in range(1, min(k, len(logs) - 1) + 1))
    return float(max(gaps, default=0.0))
