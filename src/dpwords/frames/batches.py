"""The function that all releases of tables are made of: an Arrow record batch in, an Arrow record batch out."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged, code_type
from dpwords.frames.copies import copied, schema_of
from dpwords.frames.faults import WordRule
from dpwords.frames.ids import checked_ids, ids_of
from dpwords.frames.long import Events
from dpwords.frames.shapes import Fault, Found, Shape, released_names
from dpwords.mechanisms.private import Private

Invalid = Literal["fail", "skip"]


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
    invalid: Invalid = "fail"
    rule: WordRule | None = None  # which words may go in; by default, those of the mechanism's language
    output: tuple[str, ...] | None = None  # columns that come out, changed or not; all if it is None
    events: Events | None = None  # writes released words as rows of an event log, if they came from one
    named: bool = False  # whether messages know a row by its id, because rows have no numbers
    _kin: dict[tuple[float, int], Private] = field(default_factory=dict, init=False, repr=False)

    def __call__(self, batch: Any, first_row: int = 0, epsilons: Floats | None = None) -> Any:
        """The batch with its words released, without the rows that are skipped.

        `first_row` is the number of rows before this batch. `epsilons` is the ε of each row, if it is not that of the
        mechanism; a row with ε = 0 is left out. Cost: that of `release_codes`, and a few nanoseconds for each symbol.
        """
        return self.written(batch, *self.drawn(batch, self.read(batch, first_row), first_row, epsilons))

    def written(self, batch: Any, rows: Integers, words: Ragged) -> Any:
        """What comes out of a batch if these words are released for these rows."""
        names = released_names(batch.schema.names if self.output is None else self.output, self.shape)
        columns = dict(zip(self.shape.released, self.shape.write(words), strict=True))
        some = None if len(rows) == len(batch) else rows
        arrays = {name: columns[name] if name in columns else copied(batch.column(name), name, some) for name in names}
        schema = schema_of({name: array.type for name, array in arrays.items()})
        released = pa.RecordBatch.from_arrays(list(arrays.values()), schema=schema)
        return released if self.events is None else self.events(released)

    def drawn(
        self, batch: Any, found: Found, first_row: int = 0, epsilons: Floats | None = None
    ) -> tuple[Integers, Ragged]:
        """The rows of a batch that come out, and their released words; `found` is what `read` has found in it."""
        rows = self.rows(found, epsilons)
        return rows, self.draw(found, rows, self.ids(batch, first_row), epsilons)

    def read(self, batch: Any, first_row: int = 0) -> Found:
        """The words of a batch, and the fault of each row; raises for the first fault unless they are skipped."""
        found = self.shape.read(batch)
        rule = self._rule
        faults = rule.faults(found)
        if self.invalid == "fail" and faults.any():
            row = int(np.flatnonzero(faults)[0])
            codes = found.words.chosen(np.array([row])).values
            name = f"with id {batch.column(self.id)[row].as_py()!r}" if self.named else first_row + row + 1
            raise rule.error(Fault(int(faults[row])), codes, name)
        return Found(found.words, faults)

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
    values, which = np.unique(numbers, return_inverse=True)
    least, most = int(integers.min()), int(integers.max())
    combined, inverse = np.unique(which.ravel() * (most - least + 1) + (integers - least), return_inverse=True)
    pairs = [divmod(number, most - least + 1) for number in combined.tolist()]
    return [(float(values[value]), least + rest) for value, rest in pairs], inverse.ravel()
