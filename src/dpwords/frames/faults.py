"""Which words may go in, and what is said about a row whose word may not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, NotInLanguage, named
from dpwords.frames.shapes import Fault, Found
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Space


@dataclass(frozen=True, eq=False)
class WordRule:
    """The public rule that words have to obey: to be in the language of the mechanism, and in `inside` if it is given.

    The latter is for channels that take any word, and project it onto a language.
    """

    mechanism: Private
    inside: Language | None = None
    row: str = "row"  # what messages call a row

    def faults(self, found: Found) -> NDArray[np.uint8]:
        """The `Fault` of each row. Cost: that of the language, for words of one length at a time."""
        faults = found.faults.copy()
        words, mechanism = found.words, self.mechanism
        size = len(mechanism.language.alphabet)
        if words.values.max(initial=0) == size:
            positions = np.flatnonzero(words.values == size)
            _mark(faults, np.unique(np.searchsorted(words.ends, positions, side="right")), Fault.UNKNOWN)
        if mechanism.least_length:
            _mark(faults, np.flatnonzero(words.sizes == 0), Fault.EMPTY)
            _mark(faults, np.flatnonzero(words.sizes < mechanism.least_length), Fault.SHORT)
        if mechanism.language.every_word and self.inside is None:
            return faults
        good = np.flatnonzero(faults == Fault.NONE)
        candidates = words if len(good) == len(words) else words.chosen(good)
        for numbers in candidates.by_length():
            _mark(faults, good[numbers[~self._accepted(candidates.rows(numbers))]], Fault.OUTSIDE)
        return faults

    def _accepted(self, rows: Codes) -> NDArray[np.bool_]:
        accepted = self.mechanism._space.accepts(rows)
        if self.inside is None:
            return accepted
        codes = self.inside.alphabet.codes
        within = np.array([codes.get(symbol, -1) for symbol in self.mechanism.language.alphabet.symbols])[rows]
        known = (within >= 0).all(axis=1)
        accepted[known] &= self._space.accepts(within[known])
        return accepted & known

    @cached_property
    def _space(self) -> Space:
        assert self.inside is not None
        return space_of(self.inside, "hamming", self.mechanism.limits)

    def error(self, fault: Fault, codes: Codes, name: int | str) -> InvalidValue:
        """The error that a row causes. It names the row and the rule, and no symbol of the word."""
        row, remedy = f"{self.row} {name}", f"correct it, or skip such {self.row}s ({named('invalid', 'skip')})"
        if fault in _SAID:
            return InvalidValue(f"{row} {_SAID[fault]}: {remedy}")
        symbols = self.mechanism.language.alphabet.symbols
        unknown = object()  # which is in no alphabet
        word = tuple(symbols[code] if code < len(symbols) else unknown for code in codes.tolist())
        reason = self.mechanism.language.fault(word)
        if reason is None and self.inside is not None:  # the mechanism itself would take the word
            reason = self.inside.fault(word)
            remedy = f"{remedy}, or take any word over the symbols ({named('any_word', True)})"
        return NotInLanguage(f"{row} has a word that is not in the language ({reason}): {remedy}")


_SAID = {
    Fault.MISSING: "has no word, its value is null",
    Fault.GAP: "has a null before its last symbol",
    Fault.EMPTY: "has the empty word, which has nothing to hide",
    Fault.SHORT: "has a word of one symbol, which has no transition to report",
}


def _mark(faults: NDArray[np.uint8], rows: Integers, fault: Fault) -> None:
    """Note a fault of some rows, unless they have another one."""
    faults[rows[faults[rows] == Fault.NONE]] = fault
