"""Which words may go in, and what is said about a row whose word may not."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpwords.core.encoding import Codes
from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.frames.shapes import Fault, Found
from dpwords.languages.language import Language
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.private import Private
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Space


@dataclass(frozen=True, eq=False)
class WordRule:
    """The public rule that words have to obey: that of the mechanism, and, unless `any_word`, that of its `onto`."""

    mechanism: Private
    any_word: bool = True
    row: str = "row"  # what messages call a row

    @property
    def _onto(self) -> Language | None:
        """The language to which words have to belong beyond that of the mechanism."""
        return None if self.any_word or not isinstance(self.mechanism, EditChannel) else self.mechanism.onto

    def faults(self, found: Found) -> NDArray[np.uint8]:
        """The `Fault` of each row. Cost: that of the language, for words of one length at a time."""
        faults = found.faults.copy()
        words, mechanism = found.words, self.mechanism
        places = np.flatnonzero(words.values == len(mechanism.language.alphabet))
        _mark(faults, np.unique(np.searchsorted(words.ends, places, side="right")), Fault.UNKNOWN)
        if mechanism.distance == "hamming":
            _mark(faults, np.flatnonzero(words.sizes == 0), Fault.EMPTY)
        if mechanism.language.every_word and self._onto is None:
            return faults
        good = np.flatnonzero(faults == Fault.NONE)
        candidates = words if len(good) == len(words) else words.chosen(good)
        for numbers in candidates.by_length():
            _mark(faults, good[numbers[~self._accepted(candidates.rows(numbers))]], Fault.OUTSIDE)
        return faults

    def _accepted(self, rows: Codes) -> NDArray[np.bool_]:
        accepted = self.mechanism._space.accepts(rows)
        if self._onto is None:
            return accepted
        codes, space = self._onto.alphabet.codes, self._onto_space
        inside = np.array([codes.get(symbol, -1) for symbol in self.mechanism.language.alphabet.symbols])[rows]
        known = (inside >= 0).all(axis=1)
        accepted[known] &= space.accepts(inside[known])
        return accepted & known

    @cached_property
    def _onto_space(self) -> Space:
        assert self._onto is not None
        return space_of(self._onto, "hamming", self.mechanism.limits)

    def error(self, fault: Fault, codes: Codes, number: int) -> InvalidValue:
        """The error that a row causes. It names the row and the rule, and no symbol of the word."""
        row, remedy = f"{self.row} {number}", f"correct it, or skip such {self.row}s (invalid='skip', --invalid skip)"
        if fault is Fault.MISSING:
            return InvalidValue(f"{row} has no word, its value is null: {remedy}")
        if fault is Fault.GAP:
            return InvalidValue(f"{row} has a null before its last symbol: {remedy}")
        if fault is Fault.EMPTY:
            return InvalidValue(f"{row} has the empty word, which has nothing to hide: {remedy}")
        symbols = self.mechanism.language.alphabet.symbols
        unknown = object()  # which is in no alphabet
        word = tuple(symbols[code] if code < len(symbols) else unknown for code in codes.tolist())
        reason = self.mechanism.language.fault(word) or (self._onto.fault(word) if self._onto is not None else None)
        return NotInLanguage(f"{row} has a word that is not in the language ({reason}): {remedy}")


def _mark(faults: NDArray[np.uint8], rows: Integers, fault: Fault) -> None:
    """Note a fault of some rows, unless they have another one."""
    faults[rows[faults[rows] == Fault.NONE]] = fault
