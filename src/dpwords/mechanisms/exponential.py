"""The exponential mechanism over the words of a language."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.scaled import Integers
from dpwords.core.symbols import AnyWord, Distance
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.languages.language import Language
from dpwords.languages.lexicon import Lexicon
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.calibration import Calibration, profile, rate, weighted_space
from dpwords.privacy.certificates.systems import Certifier
from dpwords.privacy.guarantees import Guarantee, PureDP, checked_epsilon
from dpwords.privacy.utilities import Linear, Utility
from dpwords.spaces.by_distance import Law, Profile, ShellLaw, ShellWeights, draw_each, linear_law
from dpwords.spaces.edit_counts import Edits
from dpwords.spaces.free_words import Rows, shells_around
from dpwords.spaces.graph import Graph
from dpwords.spaces.lists import Surroundings, Table


class Exponential(Mechanism):
    """Release words of a language with probability π(word) · f(distance from the private word) / normaliser.

    π is 1, or, where that is proven to allow more, a public weight that makes the normalisers of words of states
    nearly equal (`certificate(length).method` tells).

    `epsilon` is spent on words that differ in at most `k` places; see `guarantee` for all pairs. `utility` is
    `Linear()`, `Inverse(alpha)`, `Staircase()` or, by default, the best that is proven for the language;
    `calibration` is "tight" (the same: the best that is proven) or "textbook", ε/(2Δu). With distance="levenshtein"
    the outputs are all words of a finite language, a `Lexicon` or one bounded by `up_to`, of whatever length.

    Cost of `given`: on free words the length; on a system of E edges, length · E with `Linear`, else length² · E; on
    a lexicon one distance for each word, 10 milliseconds for 100,000.

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
        distance: Distance = "hamming",
    ) -> None:
        if distance not in ("hamming", "levenshtein"):
            raise InvalidValue("distance is 'hamming', places that differ, or 'levenshtein', edits")
        super().__init__(language, k, distance)
        self.epsilon = checked_epsilon(epsilon)
        self._around = _surroundings(language, distance)
        self._calibration = Calibration.choose(calibration, utility, self.epsilon, self.k, self._around or self._space)

    def __repr__(self) -> str:
        chosen = f"epsilon={self.epsilon:g}, k={self.k}, {self.utility}, {self.calibration}"
        return f"Exponential({self.language!r}, {chosen}, {self.distance})"

    @property
    def utility(self) -> Utility:
        """The utility in force, given or chosen."""
        return self._calibration.utility

    @property
    def calibration(self) -> Literal["tight", "textbook"]:
        """The calibration in force: "textbook" where nothing better is proven for the utility on the language.

        On a lexicon of more than 2,000 words (of one length, under Hamming distance) that is so until certificates
        are made or loaded: for all of them, see `certificate`.
        """
        return self._calibration.in_force

    @property
    def guarantee(self) -> Guarantee:
        return self._unless_seeded(
            PureDP(self.epsilon, self.distance, self.k, self._calibration.slack, self.calibration)
        )

    @property
    def certificate(self) -> Certifier:
        """How the calibration was proven, for each length: `certificate(18).c`, `.bound`, `.method`; save and load.

        Under Levenshtein distance there is one for all words, `certificate()`. Cost, once for each length: see
        `Certifier`; seconds for words of states on a 15 × 15 grid; minutes for a lexicon of 100,000 words.
        """
        return self._calibration.certifier

    def release(self, word: AnyWord) -> AnyWord:
        """One private word, of the same kind (str, list or tuple); under Hamming distance of the same length.

        Each release spends ε. Cost: that of `given`, and the length times the branching.
        """
        return self.simulate(word, 1)[0]

    def release_codes(self, rows: Integers) -> Integers:
        """One private word for each row of an array of symbol codes: arrays in and out, for many words of one length.

        A code is the place of a symbol in `language.alphabet.symbols`. Each row spends ε. With linear utility all rows
        are drawn at once, on all cores. Cost: on free words a byte or two of randomness for each symbol, on a system
        the edges within reach for each row.

        >>> import numpy as np
        >>> from dpwords import Exponential, Words
        >>> Exponential(Words("acgt"), epsilon=5).release_codes(np.zeros((1000, 20), dtype=np.uint8)).shape
        (1000, 20)
        """
        if not isinstance(rows, np.ndarray) or rows.ndim != 2 or rows.dtype.kind not in "iu":
            raise InvalidValue("codes are a two-dimensional array of whole numbers, a word in each row")
        if isinstance(rows, np.ma.MaskedArray):
            raise InvalidValue("a masked array hides some of its codes: fill it first")
        rows = np.array(
            rows, dtype=rows.dtype.newbyteorder("="), order="C", subok=False
        )  # a copy, and nothing but codes
        length, most = self._checked_length(rows.shape[1]), len(self.language.alphabet) - 1
        if most > np.iinfo(rows.dtype).max:
            raise InvalidValue(f"codes up to {most} do not fit into {rows.dtype}: take a wider kind of number")
        if not len(rows):
            return rows
        if rows.min() < 0 or rows.max() > most:
            raise NotInLanguage(f"a code is outside 0 to {most}: only symbols can go in")
        if self._around is not None or self._by_distance:
            raise InvalidValue("arrays are for linear utility under Hamming distance: release words one by one")
        if isinstance(self._space, Graph):
            wrong = np.flatnonzero(self._space.faults(rows) <= length)
            if len(wrong):
                raise NotInLanguage(f"row {wrong[0]} is not in the language: only words of the language can go in")
        space = weighted_space(self._calibration, self._space, length)
        return draw_each(rows, space, rate(self._calibration, length), self._source.open())

    @property
    def _by_distance(self) -> bool:
        return not isinstance(self.utility, Linear)

    def _law(self, codes: Integers) -> Law:
        if self._around is None and not self._by_distance:
            space = weighted_space(self._calibration, self._space, len(codes))
            return linear_law(codes, space, rate(self._calibration, len(codes)))
        shells = shells_around(codes, self._space) if self._around is None else self._around.shells(codes)
        return ShellLaw(shells, ShellWeights.by_profile(shells.sizes, self._profile(len(codes))))

    def _profile(self, length: int) -> Profile:
        """The weights of the distances that outputs at a word of this length can have."""
        if self._around is None:
            return profile(self._calibration, length)
        reach = self._around.reach(length)
        return profile(self._calibration, max(reach, self.k)).up_to(reach)

    def _typical_words(self, length: int) -> tuple[Rows, Integers]:
        if self._around is None:
            return super()._typical_words(length)
        return self._around.typical(self._checked_length(whole_number(length, "length", 1)))


def _surroundings(language: Language, distance: Distance) -> Surroundings | None:
    """What lies around the words of a language, where that is listed or counted."""
    if isinstance(language, Lexicon):
        return Table.of(language, distance)
    return Edits(language) if distance == "levenshtein" else None
