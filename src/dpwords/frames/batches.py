"""The function that all releases of tables are made of: an Arrow record batch in, an Arrow record batch out.

It also knows which words may go in, and what is said about a row whose word may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Ragged, code_type
from dpwords.errors import InvalidValue, NotInLanguage, named
from dpwords.frames.arrays import copied, schema_of
from dpwords.frames.columns import checked_ids, ids_of
from dpwords.frames.long import Events
from dpwords.frames.shapes import Fault, Found, Shape
from dpwords.languages.language import Language
from dpwords.languages.spelling import IMPOSSIBLE, UNKNOWN, SpellingEncoder
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
        if words.values.max(initial=0) >= size:
            for wrong, fault in ((words.values == size, Fault.UNKNOWN), (words.values > size, Fault.OUTSIDE)):
                positions = np.flatnonzero(wrong)
                _mark(faults, np.unique(np.searchsorted(words.ends, positions, side="right")), fault)
        if mechanism.least_length:
            _mark(faults, np.flatnonzero(words.sizes == 0), Fault.EMPTY)
            _mark(faults, np.flatnonzero(words.sizes < mechanism.least_length), Fault.SHORT)
        for size in np.unique(words.sizes).tolist():
            if not mechanism.has_outputs(size):
                _mark(faults, np.flatnonzero(words.sizes == size), Fault.LENGTH)
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
        known = (*symbols, UNKNOWN, IMPOSSIBLE)
        word = tuple(known[code] for code in codes.tolist())
        reason = self.mechanism.language.fault_of(word)
        if reason is None and self.inside is not None:  # the mechanism itself would take the word
            reason = self.inside.fault_of(word)
            remedy = f"{remedy}, or take any word over the symbols ({named('any_word', True)})"
        return NotInLanguage(f"{row} has a word that is not in the language ({reason}): {remedy}")


_SAID = {
    Fault.MISSING: "has no word, its value is null",
    Fault.GAP: "has a null before its last symbol",
    Fault.EMPTY: "has the empty word, which has nothing to hide",
    Fault.SHORT: "has a word of one symbol, which has no transition to report",
    Fault.LENGTH: "has a word of a length that no word has in the language that is projected onto",
}


def _mark(faults: NDArray[np.uint8], rows: Integers, fault: Fault) -> None:
    """Note a fault of some rows, unless they have another one."""
    faults[rows[faults[rows] == Fault.NONE]] = fault


@dataclass(frozen=True, eq=False)
class BatchRelease:
    """Releases the words of one batch of rows after the other, each row as if it were released by itself.

    With a key, the draw of a row depends on the key, on the row's id, on its word, and on the mechanism with the row's
    ε and k. Nothing else matters: not the batches into which a table is cut, nor their order, nor the machine. Without
    an id column the id of a row is its number in the table, from 0, which is for a key that is used for one table only.
    Without a key each draw is fresh.

    A word that is shorter than k is released with its length as k: lengths are public, and any two words of such a
    length stay ε-indistinguishable. The object can be pickled, and holds the key: whoever has it can repeat the draws.
    """

    mechanism: Private
    shape: Shape
    key: bytes | None = field(default=None, repr=False)
    id: str | None = None
    invalid: str = "fail"  # or "skip"
    rule: WordRule | None = None  # which words may go in; by default, those of the mechanism's language
    output: tuple[str, ...] | None = None  # columns that come out, changed or not; all if it is None
    events: Events | None = None  # writes released words as rows of an event log, if they came from one
    named: bool = False  # whether messages know a row by its id, because rows have no numbers
    answers: Shape | None = None  # where answers of a report go; by default, words are released where they are
    _kin: dict[tuple[float, int], Private] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, batch: Any, first_row: int = 0, epsilons: Floats | None = None) -> Any:
        """The batch with its words released, without the rows that are skipped.

        `first_row` is the number of rows before this batch. `epsilons` is the ε of each row, if it is not that of the
        mechanism; a row with ε = 0 is left out. Cost: that of `release_codes`, and a few nanoseconds for each symbol.
        """
        return self.written(batch, *self.drawn(batch, self.read(batch, first_row), first_row, epsilons))

    def written(self, batch: Any, rows: Integers, words: Ragged) -> Any:
        """What comes out of a batch if these words are released for these rows."""
        columns = dict(zip(self.out.columns, self.columns(words), strict=True))
        some, names = None if len(rows) == len(batch) else rows, self.names_out(batch.schema.names)
        arrays = {name: columns[name] if name in columns else copied(batch.column(name), name, some) for name in names}
        schema = schema_of({name: array.type for name, array in arrays.items()})
        released = pa.RecordBatch.from_arrays(list(arrays.values()), schema=schema)
        return released if self.events is None else self.events(released)

    def columns(self, released: Ragged) -> list[Any]:
        """The columns of what is released, from its codes."""
        if self._spelling is not None and self.answers is None:
            released = self._spelling.of_letters(released)
        return self.out.write(released)

    @property
    def out(self) -> Shape:
        """Where what is released goes."""
        return self.answers or self.shape

    def names_out(self, names: Sequence[str]) -> list[str]:
        """The columns that come out of a table with columns of these names.

        If what is released has a column of its own, it stands where the first column of the words was.
        """
        names, words, new = names if self.output is None else self.output, self.shape.columns, self.out.columns
        if new == words:
            return list(names)
        position = names.index(words[0])
        before, after = ([name for name in some if name not in words] for some in (names[:position], names[position:]))
        for name in new:
            if name in before or name in after:
                raise InvalidValue(
                    f"what is released goes into a new column, {name}, and there is one already: rename it"
                )
        return [*before, *new, *after]

    def drawn(
        self, batch: Any, found: Found, first_row: int = 0, epsilons: Floats | None = None
    ) -> tuple[Integers, Ragged]:
        """The rows of a batch that come out, and their released words; `found` is what `read` has found in it."""
        rows = self.rows(found, epsilons)
        return rows, self.draw(found, rows, self.ids(batch, first_row), epsilons)

    def read(self, batch: Any, first_row: int = 0) -> Found:
        """The words of a batch, and the fault of each row; raises for the first fault unless they are skipped."""
        found, rule = self.shape.read(batch), self._rule
        if self._spelling is not None:
            found = Found(self._spelling.read(found.words), found.faults)
        faults = rule.faults(found)
        if self.invalid == "fail" and faults.any():
            row = int(np.flatnonzero(faults)[0])
            codes = found.words.chosen(np.array([row])).values
            name = f"with id {batch.column(self.id)[row].as_py()!r}" if self.named else first_row + row + 1
            raise rule.error(Fault(int(faults[row])), codes, name)
        return Found(found.words, faults)

    @cached_property
    def _spelling(self) -> SpellingEncoder | None:
        """What reads words that are written in other symbols than those of the language."""
        language = self.mechanism.language
        return None if language.spelling is None else SpellingEncoder(language.alphabet, language.spelling)

    @cached_property
    def _rule(self) -> WordRule:
        return self.rule or WordRule(self.mechanism)

    @property
    def row(self) -> str:
        """What messages call a row."""
        return self._rule.row

    def rows(self, found: Found, epsilons: Floats | None = None) -> Integers:
        """The rows that come out: those without a fault, and with some ε."""
        stay = found.faults == Fault.NONE
        return np.flatnonzero(stay if epsilons is None else stay & (epsilons > 0))

    def ids(self, batch: Any, first_row: int = 0) -> Any:
        """The ids of all rows, as an Arrow array."""
        if self.id is None:
            return pa.array(np.arange(first_row, first_row + len(batch)))
        return checked_ids(batch.column(self.id), self.id, first_row)

    def draw(self, found: Found, rows: Integers, ids: Any, epsilons: Floats | None = None) -> Ragged:
        """The released words of some rows, in their order."""
        hamming = self.mechanism.distance == "hamming"
        positions = np.minimum(found.words.sizes[rows], self.mechanism.k) if hamming else np.zeros(len(rows), np.int64)
        kinds, numbers = pairs_of(np.zeros(len(rows)) if epsilons is None else epsilons[rows], positions)
        groups = []
        for number, (epsilon, k) in enumerate(kinds):
            some = np.flatnonzero(numbers == number)
            groups.append((some, self._drawn(self.like(epsilon, k), found.words, rows[some], ids)))
        if len(groups) == 1:
            return groups[0][1]
        return Ragged.gathered(groups, len(rows), self.mechanism._outputs.kind)

    def _drawn(self, mechanism: Private, words: Ragged, rows: Integers, ids: Any) -> Ragged:
        if len(rows) < len(words):
            words, ids = words.chosen(rows), ids.take(pa.array(rows))
        kind = code_type(len(mechanism.language.alphabet))
        codes = Ragged(words.values.astype(kind, copy=False), words.ends)
        keyed: Any = None if self.key is None else ids_of(ids)
        return mechanism._release_checked(codes, keyed, self.key)

    def like(self, epsilon: float, length: int) -> Private:
        """The mechanism that words of this length use at this ε; 0 stands for the mechanism's own ε."""
        mechanism = self.mechanism
        k = min(mechanism.k, max(length, 1)) if mechanism.distance == "hamming" else mechanism.k
        epsilon = epsilon or mechanism.epsilon
        if (epsilon, k) == (mechanism.epsilon, mechanism.k):
            return mechanism
        if (epsilon, k) not in self._kin:
            self._kin[epsilon, k] = mechanism.like(epsilon=epsilon, k=k)
        return self._kin[epsilon, k]


def pairs_of(numbers: Floats, integers: Integers) -> tuple[list[tuple[float, int]], Integers]:
    """The distinct pairs of a number and an integer, both given by row, and for each row which of them it has.

    >>> pairs_of(np.array([0.5, 0.5, 2.0]), np.array([3, 3, 1]))
    ([(0.5, 3), (2.0, 1)], array([0, 0, 1]))
    """
    if not len(numbers) or ((numbers == numbers[0]).all() and (integers == integers[0]).all()):
        return [(float(numbers[0]), int(integers[0]))] if len(numbers) else [], np.zeros(len(numbers), dtype=np.int64)
    pairs, which = np.unique(numbers + 1j * integers, return_inverse=True)
    return [(pair.real, int(pair.imag)) for pair in pairs.tolist()], which.ravel()
