"""What a mechanism promises and what it costs at one length, in words, before anything is drawn."""

from __future__ import annotations

import math
from abc import abstractmethod
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from dpwords.core.symbols import PromisedDistance
from dpwords.errors import TooLarge, named, rendered
from dpwords.languages.systems import GridWorld
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.guarantees import Guarantee, NotPrivate, Odds, PureDP
from dpwords.privacy.methods import CalibrationMethod, Method
from dpwords.spaces.space import LeastDistance, Weights

_MOSTLY = 0.9  # a word that is so likely to come out unchanged is hardly hidden
_TINY = 0.001  # smaller probabilities are not written out; as a lower bound they say nothing
_DIFFERENCE = (
    "a detour by one cell changes two moves and one state, and a route that is shifted as a whole few moves and many "
    "states"
)
_FAR = 0.25  # of a word's length: a projection that usually moves farther is warned of
_RANDOM = 0.9  # of the distance of a random word: an output that far away says next to nothing


@dataclass(frozen=True)
class InForce:
    """How ε is turned into probabilities at one length."""

    text: str
    calibration: CalibrationMethod | None = None  # None where nothing has to be calibrated
    c: float | None = None  # the rate of the weights e^(−c·distance), where they have one
    proof: Method | None = None  # the method of its certificate
    is_fallback: bool = False  # whether "tight" was asked for, and nothing better than "textbook" is proven
    drawn: str = "at random"  # how an output is drawn, for readers who do not know the mechanism


@dataclass(frozen=True)
class Averages:
    """Public averages over the words of one length; None where they are not known or too large to compute."""

    unchanged: float | None = None  # the probability that a word comes out as it went in
    distance: float | None = None  # of a release from its word
    random: float | None = None  # the distance of an output that does not depend on the word at all
    of_edits: bool = False  # whether the first two count edits made: then they are a lower and an upper bound
    error: float | None = None  # the standard error of the distance, where it is simulated
    moved: float | None = None  # how far a projection alone moves a draw

    @property
    def least_unchanged(self) -> float:
        """A lower bound of `unchanged`: a word that is changed is at distance 1 or more."""
        if self.unchanged is not None:
            return self.unchanged
        return 0.0 if self.distance is None else 1.0 - self.distance


@dataclass(frozen=True)
class Summary:
    """What a mechanism promises, and what its releases are like, for words of one length. Everything in it is public.

    `str(summary)` is a short text for people. `nearest`, `within_k` and `whole` are the odds between the nearest two
    words of the language, between words at most k positions or edits apart, and between any two words of this length;
    they are None where nothing is promised, and `nearest` also where there are no two words. `nearest_is_exact` is
    False if the search for the nearest two words was cut short: they may then be farther apart than `nearest.distance`.
    """

    length: int
    guarantee: Guarantee
    distance: PromisedDistance
    averages: Averages
    in_force: InForce | None
    least: LeastDistance
    about: str = ""  # whether moves or states are meant, where that can be chosen
    no_estimates: str | None = None  # why no proportions can be estimated from such releases, and what to do instead

    @property
    def epsilon(self) -> float:
        """The ε of the promise; the one that was asked for where nothing is promised."""
        return self.guarantee.epsilon if isinstance(self.guarantee, PureDP) else self.guarantee.nominal

    @property
    def proof(self) -> int | None:
        """The section of docs/theory.md that proves the promise; None where nothing is promised."""
        return self.guarantee.proof if isinstance(self.guarantee, PureDP) else None

    @property
    def unchanged(self) -> float | None:
        """The probability that a word comes out as it went in, averaged over the language."""
        return self.averages.unchanged

    @property
    def expected_distance(self) -> float | None:
        """The expected distance of a release from its word, averaged over the language."""
        return self.averages.distance

    @property
    def nearest(self) -> Odds | None:
        return None if self.least.value is None else self._odds(self.least.value)

    @property
    def nearest_is_exact(self) -> bool:
        return self.least.is_exact

    @property
    def within_k(self) -> Odds | None:
        return self._odds(min(self.guarantee.k, self.length))

    @property
    def whole(self) -> Odds | None:
        return self._odds(1 if self.distance == "any" else self.length)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Why the promise is thin, or the releases of little use; empty if there is nothing to say."""
        found, k, figures = [], self.guarantee.k, self.averages
        if self.least.value is None:
            found.append("there is only one word of this length, and it comes out whatever ε is")
        elif self.nearest is not None and self.nearest.distance > k:
            more = "" if self.nearest_is_exact else " or more"
            found.append(
                f"no two of these words {self.nearest.apart('fewer than ')}, so the promise for k = {k} is about no "
                f"two words: what counts is the loss {self.nearest.loss:g}{more} of the nearest two"
            )
        far = figures.moved is not None and figures.moved > _FAR * self.length
        if figures.least_unchanged > _MOSTLY and self.least.value is not None and not far:
            found.append("ε is so large that most words come out as they went in: take a smaller one to hide more")
        if self._is_random:
            apart = f" (an output that does not depend on the word is at distance {figures.random or 0:.3g})"
            found.append(
                f"ε is so small that an output says next to nothing about its word{apart if figures.random else ''}: "
                "take a larger one to keep more"
            )
        if far:
            found.append(
                f"the projection alone moves a word that may go in, or a draw, by {figures.moved:.3g} of {self.length} "
                "on average, so that much of it is lost (averages are about words of the language that is projected "
                "onto): project onto a language with more words, or do not project"
            )
        return tuple(found)

    def __str__(self) -> str:
        return rendered(self.message)

    @property
    def message(self) -> str:
        """The text as it was made, for `rendered`."""
        k = "" if self.distance == "any" else f", k = {self.guarantee.k}"
        lines = [f"words of length {self.length}, ε = {self.epsilon:g}{k}"]
        lines += self._promise()
        lines += self.figures()
        lines += [] if self.in_force is None else [f"in force: {self.in_force.text}"]
        lines += [] if self.proof is None else [f"proof: docs/theory.md, section {self.proof}"]
        if self.no_estimates is not None:
            lines.append(self.no_estimates)
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])

    def _promise(self) -> list[str]:
        if isinstance(self.guarantee, NotPrivate):
            return [f"{self.guarantee}; nothing is promised"]
        lines = [f"promised: {self.guarantee.in_words}"]
        lines += [self.about] if self.about else []
        nearest, within, whole = self.nearest, self.within_k, self.whole
        if nearest is None or within is None or whole is None:
            return lines
        if self.distance == "any":
            return [*lines, f"any two words: {whole.in_words}"]
        if self.nearest_is_exact:
            lines.append(f"the nearest two words {nearest.apart()}: {nearest.in_words}")
        else:
            lines.append(f"the nearest two words {nearest.apart('at least ')}; the search for them was cut short")
            lines.append(f"two words that {nearest.apart()}: {nearest.in_words}")
        if nearest.distance < within.distance < whole.distance:
            lines.append(f"two words that {within.apart('up to ')}: {within.likelier}, so that one {within.surer}")
        if nearest.distance < whole.distance:
            apart = f"any two words of this length, which {whole.apart('up to ')}"
            lines.append(f"{apart}: {whole.likelier}, so that one {whole.surer}")
        return lines

    def figures(self) -> list[str]:
        """The averages in words, a line for each that is known."""
        figures, lines = self.averages, []
        says_nothing = figures.of_edits and figures.unchanged is not None and figures.unchanged < _TINY
        if figures.unchanged is not None and not says_nothing:
            least = "at least " if figures.of_edits else ""
            lines.append(
                f"a word comes out unchanged with probability {least}{_percent(figures.unchanged)}, on average"
            )
        if figures.distance is not None:
            what = (
                f"{self.guarantee.unit}s are changed"
                if self.distance == "hamming"
                else "edits lie between it and its release"
            )
            what = "edits are made" if figures.of_edits else what
            number = f"{figures.distance:.3g}"
            if figures.error is not None:
                number, what = f"≈ {with_error(figures.distance, figures.error)}", f"{what} (simulated)"
            lines.append(f"{number} {what}, on average")
        return lines

    @property
    def _is_random(self) -> bool:
        """Whether outputs are about as far from the word as if they did not depend on it.

        It may follow from the promise alone: for any two words the probability of an output is at least e^(−loss) ≥
        1 − loss times that of the other.
        """
        figures, whole = self.averages, self.whole
        if figures.distance is not None and figures.random:
            return figures.distance > _RANDOM * figures.random
        return whole is not None and self.least.value is not None and 1.0 - whole.loss > _RANDOM

    def _odds(self, distance: int) -> Odds | None:
        return self.guarantee.odds(distance) if isinstance(self.guarantee, PureDP) else None


class Summarised(Mechanism):
    """A mechanism that can say, before anything is drawn, what its releases mean."""

    @abstractmethod
    def _in_force(self, length: int) -> InForce:
        """How ε is turned into probabilities at words of this length."""

    def in_force(self, length: int) -> InForce:
        """How ε is turned into probabilities at words of this length: which calibration is in force, in words too.

        It is public. Cost: on a system, that of the certificate for this length.

        >>> from dpwords import Exponential, GridWorld
        >>> moves = Exponential(GridWorld(15, 15), epsilon=2)
        >>> moves.in_force(4).calibration, moves.in_force(18).calibration
        ('tight', 'textbook')
        """
        return self._in_force(self._public_length(length))

    def summary(self, length: int) -> Summary:
        """What is promised about words of this length, and what their releases are like, before any is drawn.

        It is public: it depends on the language, ε, k and the length only. Figures that are too large to compute are
        left out. Cost: that of `expected_distance(length=…)`, the certificate for this length, and about a second for
        the nearest two words of a large system.

        >>> from dpwords import Exponential, Words
        >>> summary = Exponential(Words("acgt"), epsilon=4).summary(length=18)
        >>> summary.nearest.distance, round(summary.nearest.certainty, 3), round(summary.unchanged, 2)
        (1, 0.982, 0.38)
        """
        positions = self._public_length(length)
        averages, in_force = self._public_averages(positions), None
        with suppress(TooLarge):
            in_force = self._in_force(positions)
        least = self._least_distance(positions)
        about = self._about(), self.no_estimates(positions)
        return Summary(positions, self.guarantee, self.distance, averages, in_force, least, *about)

    def _about(self) -> str:
        """Whether the promise is about moves or states, and what is usually meant, for plans and on grids."""
        if self.distance != "hamming":
            return ""
        if self.language.spelling is not None:
            return f"this is about the states entered, as is usual for plans and routes: {_DIFFERENCE}"
        if isinstance(self.language.system, GridWorld) and self.language.symbols_are == "moves":
            meant = (
                f"for plans and routes, the states entered are usually meant (plans, with {named('protect', 'states')})"
            )
            return f"this is about moves; {meant}: {_DIFFERENCE}"
        return ""

    def known_warnings(self, length: int) -> tuple[str, ...]:
        """Those warnings of `summary(length)` for which no average has to be computed. They are public.

        Cost: that of the nearest two words, a second or so on a large system.
        """
        positions = self._public_length(length)
        known, least = self._known_averages(positions), self._least_distance(positions)
        return Summary(positions, self.guarantee, self.distance, known, None, least).warnings

    def _known_averages(self, length: int) -> Averages:
        """The averages of a summary that are known, or that a formula gives."""
        return self._public_averages(length) if self._space.homogeneous else Averages()

    def _least_distance(self, length: int) -> LeastDistance:
        """The least distance between two words that the promise compares."""
        return self._space.least_distance(length)

    def _public_averages(self, length: int) -> Averages:
        """The averages of a summary; those that are too large to compute are None."""
        found = Averages()
        with suppress(TooLarge):
            found = Averages(random=self._random_distance(length))
        for width in (1, 0):  # without the distribution the distance may still be known
            with suppress(TooLarge):
                mean, proportions = self._average(length, width)
                return replace(found, distance=mean, unchanged=min(proportions[0], 1.0) if proportions else None)
        return found

    def _random_distance(self, length: int) -> float | None:
        """The public expected distance of an output that does not depend on the word."""
        words, times = self._space.typical(length)
        weights = Weights.linear(Fraction(0), self._space.reach(length))
        return math.fsum(times * self._space.distances(words, weights, 0).means) / int(times.sum())


def _percent(proportion: float) -> str:
    """A probability, without claiming that anything is certain or impossible."""
    return "below 0.1%" if proportion < _TINY else "above 99.9%" if proportion > 0.999 else f"{proportion:.1%}"


def with_error(value: float, error: float) -> str:
    """A number with its standard error, in as many digits as the error leaves: 2.91 ± 0.05."""
    digits = 2 if error <= 0 else max(-int(f"{error:e}".partition("e")[2]), 0)
    return f"{value:.{digits}f} ± {error:.{digits}f}"
