"""Another mechanism's draws, each replaced by a nearest word of a language."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self, cast

import numpy as np

from dpwords.core.checks import LARGEST_EPSILON
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Integers
from dpwords.core.symbols import Alphabet, Codes, Distance, Ragged, Rows, Word, levenshtein
from dpwords.errors import InvalidValue, NotInLanguage, TooLarge, named
from dpwords.languages.language import Language, checked_language
from dpwords.languages.rules import relaxed
from dpwords.languages.spelling import spelled_alike
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import OutputKind, OutputWords, estimates_refused
from dpwords.mechanisms.private import Drawing, Private, StepDone
from dpwords.mechanisms.summary import Averages, InForce
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.guarantees import Guarantee, PureDP
from dpwords.privacy.methods import CalibrationMethod
from dpwords.privacy.utilities import Linear
from dpwords.spaces.choice import space_of
from dpwords.spaces.projection import ProjectedLaw, Ties, every_word, projection_onto
from dpwords.spaces.space import Law, LeastDistance, Space, Weights


class Simulation(NamedTuple):
    """What was measured on public words, drawn and released with fixed seeds."""

    distances: Integers  # of each release from its word
    moved: Integers  # how far each projection alone has moved the draw

    @property
    def error(self) -> float:
        """The standard error of the mean distance."""
        return float(np.std(self.distances, ddof=1) / math.sqrt(len(self.distances)))


class Projected(Private):
    """Draw from another mechanism, then release one of the nearest words of a public language, all equally likely.

    Whatever is done with a draw tells no more than the draw itself, so the promise is the mechanism's. Nearest words
    are those with the fewest changed positions if the mechanism keeps the length of words, otherwise those with the
    fewest edits. `mechanism.onto(language)` makes it. Words of the mechanism's language can go in, or those of `words`,
    which have to be among them. It can be projected again: the nearest word of a nearest word.

    Averages are over words of the language that is projected onto. They are exact where few words can be drawn, and
    otherwise simulated, always on the same public words: `standard_error` says how well they are known. Cost of a
    release: that of the mechanism, and of a word that has to be moved the edges of the language, times its length.

    >>> import dpwords as dw
    >>> world = dw.GridWorld(6, 6).by_states()
    >>> depot = world & dw.rules.contains((2, 3))
    >>> private = dw.Exponential(world, epsilon=4).onto(depot).release([(0, 1), (1, 1), (2, 1), (2, 2), (2, 3), (2, 2)])
    >>> (2, 3) in private
    True
    """

    def __init__(self, mechanism: Private, onto: Language, words: Language | None = None) -> None:
        if not isinstance(mechanism, Private):
            raise InvalidValue("what is projected is a mechanism: pass for example Exponential(language, epsilon=2)")
        if mechanism.releases is not OutputKind.WORDS:
            raise InvalidValue("a report is no word, so no word is nearest to it: project a mechanism of words")
        if not isinstance(onto, Language):
            raise InvalidValue("onto is a Words, a TransitionSystem, … : pass for example Words('abc', max_length=12)")
        language, limits = mechanism.language if words is None else checked_language(words), mechanism.limits
        if not all(spelled_alike(mechanism.language.spelling, each.spelling) for each in (onto, language)):
            raise InvalidValue(
                "plans are words of states that are written as moves, and other words are not: project a mechanism of "
                "the same plans, or use words of states, by_states()"
            )
        _check_symbols(checked_language(onto), mechanism.language, "the language that is projected onto")
        _check_symbols(language, mechanism.language, "the language of words that go in")
        _check_symbols(onto, language, "the language that is projected onto")
        space = mechanism._space if words is None else space_of(language, "hamming", limits)
        super().__init__(language, space, mechanism.k, mechanism.distance, limits)
        self.epsilon, self.mechanism, self.projected_onto, self._words = mechanism.epsilon, mechanism, onto, words
        self._projection = projection_onto(onto, cast(Distance, mechanism.distance), limits)
        self._into = _codes(language.alphabet, mechanism.language.alphabet)
        self._inside = _codes(mechanism.language.alphabet, onto.alphabet)
        self._outside = _codes(onto.alphabet, language.alphabet)
        self._drops_rules = words is onto and relaxed(onto) is mechanism.language
        self._simulations: dict[int, Simulation] = {}  # by length
        self._listed: dict[int, Ties | None] = {}  # likewise

    def __repr__(self) -> str:
        words = "" if self._words is None else f", words={self._words!r}"
        return f"{self.mechanism!r}.onto({self.projected_onto!r}{words})"

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_listed": {}}  # which is large, and quickly made again

    @property
    def guarantee(self) -> Guarantee:
        promise = self.mechanism.guarantee
        return self._unless_seeded(replace(promise, proof=18)) if isinstance(promise, PureDP) else promise

    @property
    def warning(self) -> str | None:
        return self.mechanism.warning

    @property
    def is_linear(self) -> bool:
        return self.mechanism.is_linear

    def no_estimates(self, length: int) -> str | None:
        if self.distance == "hamming":
            return estimates_refused("that were projected onto a language")
        return estimates_refused(
            "that were projected onto a language",
            f"release over an {named('alphabet')} alone, without {named('system')}, {named('lexicon')} or "
            f"{named('rules')}, or leave out {named('edits', 'all')}",
        )

    @property
    def certificates(self) -> Certifier | None:
        return self.mechanism.certificates

    def without_projection(self) -> Private:
        """The mechanism whose draws are projected, before any projection. Its outputs are private, too."""
        return self.mechanism.without_projection()

    def seconds_to_prepare(self, length: int) -> tuple[float, float]:
        return self.mechanism.seconds_to_prepare(length)

    def prepare(self, length: int, progress: StepDone | None = None, *, in_full: bool = False) -> None:
        self._checked_length(length)
        self.mechanism.prepare(length, progress, in_full=in_full)

    def notes(self, lengths: Any) -> list[str]:
        return [f"before the projection, {note}" for note in self.mechanism.notes(lengths)]

    def standard_error(self, length: int) -> float | None:
        positions = self._public_length(length)
        return None if self._is_exact(positions) else self._simulated(positions).error

    def _at_best(self, length: int) -> float:
        """What would be if all of ε went into the rate: a projection of e^(−ε·d), less two standard errors.

        No more than ε can be certified, and other public weights change averages little.
        """
        if self.distance == "levenshtein" or self.epsilon > LARGEST_EPSILON / 2:
            return 0.0
        whole = Exponential(
            self.mechanism.language, 2 * self.epsilon, self.k, Linear(), CalibrationMethod.TEXTBOOK, limits=self.limits
        ).onto(self._onto, words=self._words)
        try:
            return whole.expected_distance(length=length) - 2 * (whole.standard_error(length) or 0.0)
        except TooLarge:
            return 0.0

    @cached_property
    def _outputs(self) -> _WordsOnto:
        return _WordsOnto(self)

    @property
    def _onto(self) -> Language:
        return cast(Language, self.projected_onto)

    @cached_property
    def _public_space(self) -> Space:
        """The words that averages are over."""
        return space_of(self._onto, "hamming", self.limits)

    def _in_force(self, length: int) -> InForce:
        found = self.mechanism._in_force(length)
        then = "then the nearest word of the language"
        if self._drops_rules:
            where = "all words over the alphabet" if self._onto.system is None else "the system"
            then = f"released on {where} without its rules and goals, then the nearest word that obeys them"
        drawn = f"{found.drawn}, and replaced by one of the nearest words of the public language"
        return replace(found, text=f"{found.text}; {then}", drawn=drawn)

    def _least_distance(self, length: int) -> LeastDistance:
        return self.mechanism._least_distance(length) if self._words is None else super()._least_distance(length)

    def has_outputs(self, length: int) -> bool:
        return self._projection.has_words(length) and self.mechanism.has_outputs(length)

    def _checked_length(self, length: int) -> int:
        self._projection.check(super()._checked_length(length))
        return length

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.mechanism.like(epsilon=epsilon, k=k), self._onto, self._words)

    def _drawing(self, length: int) -> Drawing:
        self._projection.check(length)
        drawing = self.mechanism._drawing(length)

        def draw(rows: Codes, stream: Stream) -> Rows:
            return self._projected(drawing.draw(self._checked_words(rows), stream), stream, rows.dtype)

        def parameters() -> tuple[object, ...]:
            onto = self._onto
            named = (onto.alphabet.symbols, onto.max_length, self._public_space.identity)
            own = self.mechanism._space.identity, self.mechanism.language.alphabet.symbols
            return "projected", *named, *own, *drawing.parameters()

        return Drawing(draw, parameters)

    def _checked_words(self, rows: Codes) -> Codes:
        """Words that go in, in codes of the mechanism; raises before anything is drawn if one may not go in there."""
        if self._words is None:
            return rows
        codes = self._into[rows].astype(rows.dtype)
        if not self.mechanism._space.accepts(codes).all():
            raise NotInLanguage("a word is not in the language of the mechanism that is projected: pass others")
        return codes

    def _projected(self, drawn: Rows, stream: Stream, kind: Any = np.int64) -> Rows:
        """What is released for draws of the mechanism."""
        found = self._projection.draw(_mapped(self._inside, drawn), stream)
        if isinstance(found, Ragged):
            return _mapped(self._outside, found)
        return self._outside[found].astype(kind)

    def _law(self, codes: Codes) -> Law:
        law = self.mechanism._law(self._checked_words(codes[None])[0])
        return ProjectedLaw(codes, law, self._projected, self._ties(len(codes)), self.distance == "levenshtein")

    def _ties(self, length: int) -> Ties | None:
        """All words of this length, if they can be listed."""
        if self.distance == "levenshtein":
            return None
        if length not in self._listed:
            found, most = None, self.limits.attacked_words
            words, drawn = every_word(self._onto, length, most), every_word(self._drawn_from, length, most)
            if drawn is not None and words is not None:
                codes = _codes(self._drawn_from.alphabet, self.mechanism.language.alphabet)
                found = Ties.of(codes[drawn], self._inside, words, self._outside)
            self._listed[length] = found
        return self._listed[length]

    @property
    def _drawn_from(self) -> Language:
        """The language of what is projected."""
        return self.mechanism.projected_onto or self.mechanism.language

    def _is_exact(self, length: int) -> bool:
        """Whether averages are computed, and not simulated."""
        return self._has_few_ties(length, self.limits.averaged_ties)

    def _has_probabilities(self, length: int) -> bool:
        return self._has_few_ties(length, self.limits.attacked_ties)

    def _has_few_ties(self, length: int, ties: int) -> bool:
        """Whether there are at most so many pairs of a word that can be drawn and one that can be released."""
        limits = self.limits
        words = every_word(self._onto, length, limits.attacked_words) if self.distance == "hamming" else None
        most = 0 if words is None else min(ties // len(words), limits.attacked_words)
        return most > 0 and every_word(self._drawn_from, length, most) is not None

    def _average(self, length: int | None, width: int | None) -> tuple[float, list[float]]:
        positions = self._public_length(length)
        if self._is_exact(positions):
            rows = self._words_among(every_word(self._onto, positions, self.limits.attacked_words))
            means, proportions = self._distances(rows, width)
            return float(np.mean(means)), np.mean(proportions, axis=0).tolist()
        apart = self._simulated(positions).distances
        shown = positions + 1 if width is None else width
        return float(np.mean(apart)), (np.bincount(apart, minlength=shown)[:shown] / len(apart)).tolist()

    def _simulated(self, length: int) -> Simulation:
        """Releases of public words, drawn uniformly from the language, with fixed seeds. Cost: some hundred releases.

        They are the same on every machine.
        """
        if length not in self._simulations:
            limits, by_edits = self.limits, self.distance == "levenshtein"
            number = limits.simulated_steps // max(self._projection.steps(length), 1)
            number = min(max(number, limits.fewest_simulated), limits.most_simulated)
            drawn = self._public_space.uniform(length, number, SeededSource("words").open())
            rows, stream = self._words_among(drawn), SeededSource("releases").open()
            noisy = self.mechanism._drawing(length).draw(self._checked_words(rows), stream)
            released = self._projected(noisy, stream)
            before = _mapped(self._outside_of_all, noisy)
            apart = _edits if by_edits else _mismatches
            self._simulations[length] = Simulation(apart(rows, released), apart(before, released))
        return self._simulations[length]

    @cached_property
    def _outside_of_all(self) -> Integers:
        """The code that each symbol of the mechanism has among those that are released; −1 if it has none."""
        return _codes(self.mechanism.language.alphabet, self.language.alphabet)

    def _words_among(self, rows: Rows | None) -> Codes:
        """Those words of the language that may go in; if there are none, words that may."""
        words = self._outside[np.asarray(list(cast(Rows, rows)))]
        allowed: Codes = words[self._space.accepts(words)]
        if len(allowed):
            return allowed
        return np.asarray(self._space.uniform(words.shape[1], len(words), SeededSource("words").open()))

    def _known_averages(self, length: int) -> Averages:
        return Averages()

    def _public_averages(self, length: int) -> Averages:
        found = super()._public_averages(length)
        try:
            moved = max(float(np.mean(self._simulated(length).moved)), self._moved_without_noise(length))
        except TooLarge:
            return found
        return replace(found, error=self.standard_error(length), moved=moved)

    def _moved_without_noise(self, length: int) -> float:
        """How far words that may go in are moved even if nothing is changed by the mechanism, on average."""
        if self.distance == "levenshtein":
            return 0.0
        drawn = self._space.uniform(length, self.limits.fewest_simulated, SeededSource("words").open())
        words = np.asarray(list(drawn))
        released = self._projected(self._checked_words(words), SeededSource("releases").open())
        return float(np.mean(_mismatches(words, released)))

    def _random_distance(self, length: int) -> float | None:
        if self.distance == "levenshtein":
            return None
        words, times = self._public_space.typical(length)
        weights = Weights.linear(Fraction(0), length)
        return math.fsum(times * self._public_space.distances(words, weights, 0).means) / int(times.sum())


class _WordsOnto(OutputWords):
    """Outputs that are words of the language that is projected onto, in codes of the words that go in."""

    def __init__(self, mechanism: Projected) -> None:
        super().__init__(mechanism._onto, mechanism._encoder, mechanism.distance == "hamming")
        self._outside = mechanism._outside

    def codes(self, output: Word, length: int) -> Codes | None:
        found = super().codes(output, length)
        return None if found is None else self._outside[found]


def _check_symbols(language: Language, among: Language, which: str) -> None:
    if not set(language.alphabet.symbols) <= set(among.alphabet.symbols):
        raise InvalidValue(
            f"{which} has symbols that words of the mechanism do not have: use a mechanism whose language has them"
        )


def _codes(one: Alphabet, other: Alphabet) -> Integers:
    """The code in another alphabet of each symbol of one; −1 if it has none there."""
    return np.array([other.codes.get(symbol, -1) for symbol in one.symbols], dtype=np.int64)


def _mapped(codes: Integers, rows: Rows) -> Rows:
    return Ragged(codes[rows.values], rows.ends) if isinstance(rows, Ragged) else codes[rows]


def _mismatches(ones: Rows, others: Rows) -> Integers:
    return np.asarray(np.count_nonzero(np.asarray(ones) != np.asarray(others), axis=1))


def _edits(ones: Rows, others: Rows) -> Integers:
    pairs = zip(ones, others, strict=True)
    return np.array([levenshtein(one.tolist(), other.tolist()) for one, other in pairs], dtype=np.int64)
