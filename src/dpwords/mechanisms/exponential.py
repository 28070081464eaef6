"""The exponential mechanism over the words of a language."""

from __future__ import annotations

from typing import Literal

from dpwords.automata import Language
from dpwords.calibration import Calibration, profile, rate
from dpwords.certificates import Certifier
from dpwords.errors import InvalidValue
from dpwords.laws import Law, ShellLaw, ShellWeights, linear_law
from dpwords.mechanisms.base import Mechanism
from dpwords.privacy import Guarantee, Linear, PureDP, Utility, checked_epsilon
from dpwords.scaled import Integers
from dpwords.shells import shells_around
from dpwords.words import AnyWord


class Exponential(Mechanism):
    """Release words of a language with probability f(distance from the private word) / normaliser.

    `epsilon` is spent on words that differ in at most `k` places; see `guarantee` for all pairs. `utility` is
    `Linear()`, `Inverse(alpha)`, `Staircase()` or, by default, the best that is proven for the language;
    `calibration` is "tight" (the same: the best that is proven) or "textbook", ε/(2Δu).

    Cost of `given`: on free words the length; on a system of E edges, length · E with `Linear`, else length² · E.

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
        calibration: Literal["tight", "textbook"] = "tight",
        distance: Literal["hamming"] = "hamming",
    ) -> None:
        super().__init__(language, k)
        if distance != "hamming":
            raise InvalidValue("distance is 'hamming', the number of places that differ")
        self.epsilon = checked_epsilon(epsilon)
        self._calibration = Calibration.choose(calibration, utility, self.epsilon, self.k, self._space)

    def __repr__(self) -> str:
        chosen = self._calibration
        return (
            f"Exponential({self.language!r}, epsilon={self.epsilon:g}, k={self.k}, {chosen.utility}, {chosen.method})"
        )

    @property
    def utility(self) -> Utility:
        """The utility in force, given or chosen."""
        return self._calibration.utility

    @property
    def calibration(self) -> Literal["tight", "textbook"]:
        """The calibration in force: "textbook" where nothing better is proven for the utility on the language."""
        return self._calibration.method

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(PureDP(self.epsilon, "hamming", self.k, self._calibration.slack, self.calibration))

    @property
    def certificate(self) -> Certifier:
        """How the calibration was proven, for each length: `certificate(18).c`, `.bound`, `.method`; save and load.

        Cost, once for each length: see `Certifier`; a second or so for words of states on a 15 × 15 grid.
        """
        return self._calibration.certifier

    def release(self, word: AnyWord) -> AnyWord:
        """One private word, of the same kind (str, list or tuple) and length. Each release spends ε.

        Cost: that of `given`, and the length times the branching.
        """
        return self.simulate(word, 1)[0]

    @property
    def _by_distance(self) -> bool:
        return not isinstance(self.utility, Linear)

    def _law(self, codes: Integers) -> Law:
        if not self._by_distance:
            return linear_law(codes, self._space, rate(self._calibration, len(codes)))
        shells = shells_around(codes, self._space)
        return ShellLaw(shells, ShellWeights.by_profile(shells.sizes, profile(self._calibration, len(codes))))
