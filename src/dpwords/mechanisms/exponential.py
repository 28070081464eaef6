"""The exponential mechanism over the words of a language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Self

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Distance
from dpwords.errors import InvalidValue, TooLarge, named
from dpwords.languages.language import Language, checked_language
from dpwords.mechanisms.mechanism import estimates_refused
from dpwords.mechanisms.private import StepDone, Weighted
from dpwords.mechanisms.summary import InForce
from dpwords.privacy.calibration import Calibration
from dpwords.privacy.certificates.certifier import Certifier
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.privacy.methods import CalibrationMethod, CalibrationName, Method
from dpwords.privacy.utilities import Utility
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Weights


class Exponential(Weighted):
    """Release each word of a language with probability π(word) · f(distance from the private word) / Z.

    f falls with the distance, and Z is the normalising constant. π is a public weight of the word: 1, or, where that is
    proven to be better, a weight that makes the constants equal, or nearly so (`certificate(length).method` says
    which).

    Two words that differ in at most `k` positions are `epsilon`-indistinguishable; `guarantee` covers all pairs.
    `utility` is `Linear()`, `Inverse(alpha)`, `Staircase()` or, by default, the best one that is proven for the
    language. `calibration` is "tight", the best rate that is proven, or "textbook", ε/(2Δu). With
    distance="levenshtein" the outputs are all words of a finite language (a `Lexicon`, or a language bounded by
    `up_to`), of any length.

    Cost of `given`: the length on free words; on a system with E edges length · E with `Linear`, otherwise length² · E;
    on a lexicon one distance for each word, 10 milliseconds for 100,000 words.

    >>> from dpwords import Exponential, Words
    >>> private = Exponential(Words("abc"), epsilon=2).release("abacab")
    >>> len(private)
    6
    """

    def __init__(
        self,
        language: Language,
        epsilon: float,
        k: int = 1,
        utility: Utility | None = None,
        calibration: CalibrationName = "tight",
        distance: Distance = "hamming",
        *,
        limits: Limits = DEFAULTS,
    ) -> None:
        if distance not in ("hamming", "levenshtein"):
            raise InvalidValue("distance is 'hamming', positions that differ, or 'levenshtein', edits")
        space = space_of(checked_language(language), distance, limits)
        super().__init__(language, space, k, distance, limits)
        self.epsilon = checked_epsilon(epsilon)
        self._given = utility, calibration
        self._calibration = Calibration.choose(calibration, utility, self.epsilon, self.k, space)

    def __repr__(self) -> str:
        chosen = f"epsilon={self.epsilon:g}, k={self.k}, {self.utility}, {self._calibration.claim}"
        return f"Exponential({self.language!r}, {chosen}, {self.distance})"

    @property
    def utility(self) -> Utility:
        """The utility in force, given or chosen."""
        return self._calibration.utility

    @property
    def is_linear(self) -> bool:
        return self.utility.is_linear

    def no_estimates(self, length: int) -> str | None:
        if self.distance != "hamming":
            return estimates_refused(
                "in which this mechanism changes lengths",
                f"leave out {named('edits', 'all')}, so that words keep their length",
            )
        try:
            linear = self.language.alike or self.weights(length).rate is not None
        except TooLarge:
            linear = False
        return None if linear else estimates_refused("whose probabilities do not fall exponentially with the distance")

    @property
    def calibration(self) -> CalibrationMethod:
        """The kind of calibration: "textbook" where nothing better is proven for the utility on the language.

        On a system "tight" is the best rate that is proven for each length, which may be the textbook's for some:
        `in_force(18).calibration` is the one for words of 18 symbols. On a lexicon of more than 2,000 words
        (of one length, under Hamming distance) it is "textbook" until all its certificates have been made or loaded;
        see `certificate`.
        """
        return self._calibration.applied

    @property
    def guarantee(self) -> Guarantee:
        claim, proof = self._calibration.claim, self._calibration.proof
        return self._unless_seeded(PureDP(self.epsilon, self.distance, self.k, self._space.slack, claim, proof))

    @property
    def certificates(self) -> Certifier | None:
        """The certificates that prove its rate.

        None on free words, where a formula does, and in textbook calibration.
        """
        proven_by_formula = self._calibration.method is CalibrationMethod.TEXTBOOK or self._space.homogeneous
        return None if proven_by_formula else self._calibration.rates

    def seconds_to_prepare(self, length: int) -> tuple[float, float]:
        return (0.0, 0.0) if self.certificates is None else self.certificates.seconds(length)

    def prepare(self, length: int, progress: StepDone | None = None, *, in_full: bool = False) -> None:
        certifier = self.certificates
        if certifier is not None and (in_full or not self.language.listed):
            for_all = self.distance == "levenshtein"
            text = "certifying all words" if for_all else f"certifying words of length {length}"
            _, seconds = self.seconds_to_prepare(length)
            text += f", up to about {seconds:.0f} s" if seconds >= 1 else ""
            certifier(None if for_all else length, None if progress is None else partial(progress, text))
        super().prepare(length, progress)

    def notes(self, lengths: Sequence[int]) -> list[str]:
        some = [length for length in lengths if self.in_force(length).is_fallback]
        named = ", ".join(map(str, some))
        return [f"the textbook rate, half of ε, is in force for words of length {named}"] if some else []

    @property
    def certificate(self) -> Certifier:
        """The proof of the calibration: `certificate(18)` for words of 18 symbols, `certificate()` for all lengths.

        Both have `c`, `bound` and `method`. Words of states have a certificate for all lengths from `least_length` on,
        and under Levenshtein distance one certificate covers all words. `save` and `load` move certificates between
        machines; those that take long are also cached. Cost: seconds for words of states on a 15 × 15
        grid at ε ≥ 3, a few minutes at ε = 2, minutes for a lexicon of 100,000 words; see `Certifier`.
        """
        return self._calibration.certifier

    def _like(self, epsilon: float, k: int) -> Self:
        return type(self)(self.language, epsilon, k, *self._given, self._space.distance, limits=self.limits)

    def weights(self, length: int) -> Weights:
        return self._calibration.weights(length)

    def _in_force(self, length: int) -> InForce:
        calibration, certificate = self._calibration.at(length)
        c, proof = (None, None) if certificate is None else (certificate.c, certificate.method)
        if calibration is CalibrationMethod.TEXTBOOK:
            wanted, yet = self._calibration.method is CalibrationMethod.TIGHT, " yet" if self.language.listed else ""
            why = f", because nothing better has been proven for words of this length{yet}" if wanted else ""
            text = f"exponential mechanism at the textbook rate{why}: half of ε goes into the weights"
        elif certificate is None or certificate.method is Method.EVERY_WORD:
            text = "exponential mechanism, tight: all of ε goes into the weights"
        else:
            proportion = certificate.c / certificate.epsilon
            text = (
                f"exponential mechanism with a certificate for words of this length ({proof}): {proportion:.1%} of ε "
                "goes into the weights"
            )
        is_fallback = calibration == "textbook" and self._given[1] == "tight"
        apart = "Hamming" if self.distance == "hamming" else "Levenshtein"
        falls = f"probabilities that fall {self.utility.falls} the {apart} distance from the true word"
        drawn = f"by the exponential mechanism, with {falls}"
        return InForce(text, calibration, c, proof, is_fallback, drawn)
