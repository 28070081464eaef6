"""The pass over a table before anything is drawn: everything that can be refused is refused here."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpwords.core.keyed import Key, distinct
from dpwords.core.scaled import Floats
from dpwords.errors import DPWordsError, InvalidValue, named
from dpwords.frames.batches import BatchRelease, pairs_of
from dpwords.frames.ids import checked_ids, ids_of
from dpwords.frames.people import Division, PeopleFacts, counted
from dpwords.frames.shapes import Fault, Found
from dpwords.mechanisms.private import Private


@dataclass(frozen=True, eq=False)
class Plan:
    """What will be released: the function for each batch, and the ε of each row."""

    release: BatchRelease
    rows: int
    skipped: int  # rows without a word of the language
    kinds: tuple[tuple[Private, int], ...]  # the mechanisms that are used, each with a length of words
    lengths: Mapping[int, int]  # how many words have each length; this is for their owner
    facts: PeopleFacts | None = None  # if it is known who is one person
    amounts: Mapping[Any, float] | None = None  # the ε that each person spends, if there is a ledger
    digest: bytes = b""  # of key, words, ids and people, if there is a ledger; not of how the table is cut
    by_row: Floats | None = None  # the ε of each row, if it is not that of the mechanism

    @cached_property
    def run(self) -> str:
        """A repeated release with the same key has the same name; without the key it tells nothing.

        Cost: that of the certificates of all mechanisms.
        """
        public = [mechanism.parameters(max(length, 1)) for mechanism, length in self.kinds]
        described = repr(public).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(described, key=self.digest, digest_size=16).hexdigest()

    @property
    def words(self) -> int:
        """The number of words that come out."""
        return self.rows - self.skipped - (0 if self.facts is None else self.facts.left_out)

    @property
    def commonest_length(self) -> int:
        """The length that most words have, the longest of several; 0 if there are no words."""
        return max(self.lengths, key=lambda length: (self.lengths[length], length), default=0)

    def epsilons(self, first_row: int, number: int) -> Floats | None:
        """The ε of each of some rows; None if it is that of the mechanism."""
        return None if self.by_row is None else self.by_row[first_row : first_row + number]

    @property
    def typical_epsilon(self) -> float:
        """The ε of a typical word: the median of those that are used."""
        used = np.zeros(0) if self.by_row is None else np.sort(self.by_row[self.by_row > 0])
        return float(used[len(used) // 2]) if len(used) else self.release.mechanism.epsilon

    def charge(self, ledger: Any) -> None:
        """Record in a ledger what will be spent. If a budget does not pay for it, the ledger refuses."""
        ledger.charge(self.amounts, self.release.mechanism.guarantee, run=self.run)

    def may_be_charged(self, ledger: Any) -> bool:
        """Whether a ledger has recorded this, also if `charge` has raised an error since; True if it cannot tell."""
        try:
            return any(each.run == self.run for id in list(self.amounts or ())[:1] for each in ledger.entries(id))
        except DPWordsError:
            return True


class Survey:
    """Goes over the batches of a table, in their order, and then makes a plan.

    `by` is the column that says which person a word belongs to. With `charged`, the plan has amounts for a ledger.
    A budget or a ledger needs to know who is one person: if `by` is not given, it is the id. Ids have to differ between
    rows, except if the id is the person: then rows are distinguished by their numbers, unless the key is reused. Cost:
    that of reading. Memory: about 150 bytes for each row with ids and people, and nothing otherwise.
    """

    def __init__(
        self,
        release: BatchRelease,
        by: str | None = None,
        division: Division | None = None,
        charged: bool = False,
        reused_key: bool = False,
    ) -> None:
        self.division = division or Division(release.mechanism.epsilon)
        limited = self.division.budget is not None
        if by is None and (limited or charged):
            if release.id is None:
                what = "a budget is" if limited else "a ledger is kept"
                raise InvalidValue(f"{what} for each person: name the column that says who it is, with {named('by')}")
            by = release.id
        self.release, self.by, self.charged, self.reused_key = release, by, charged, reused_key
        self.rows, self.skipped = 0, 0
        self._key = Key.fresh() if release.key is None else Key(release.key)
        self._lengths: Counter[int] = Counter()
        self._ids: list[NDArray[Any]] = []  # tags
        self._people: list[NDArray[Any]] = []  # tags
        self._names: list[Any] = []  # of the people, as Arrow arrays
        self._sizes: list[NDArray[Any]] = []  # the length of each word, −1 for a row that is skipped
        self._symbols = hashlib.blake2b(key=self._key.derived("symbols"))

    def add(self, batch: Any) -> Found:
        """The words of the next batch; raises `InvalidValue` for what may not go in."""
        found = self.release.read(batch, self.rows)
        sizes = np.where(found.faults == Fault.NONE, found.words.sizes, -1)
        self._lengths.update(dict(zip(*(each.tolist() for each in np.unique(sizes, return_counts=True)), strict=True)))
        if self.release.id not in (None, self.by):
            self._ids.append(self._told_apart(batch))
        if self.by is not None:
            names = checked_ids(batch.column(self.by), self.by, self.rows)
            self._people.append(self._key.id_tags(ids_of(names)))
            self._sizes.append(sizes.astype(np.int32))
            if self.charged:
                self._names.append(names)
                self._symbols.update(found.words.values.tobytes())
        self.rows += len(batch)
        self.skipped += self._lengths.pop(-1, 0)
        return found

    def _told_apart(self, batch: Any) -> NDArray[Any]:
        """What tells the ids of a batch apart: whole numbers do by themselves, and tags stand for texts."""
        column = batch.column(self.release.id)
        if pa.types.is_integer(column.type) and not column.null_count and not self.charged:
            return np.asarray(column.to_numpy())
        return self._key.id_tags(ids_of(self.release.ids(batch, self.rows)))

    def plan(self) -> Plan:
        """The plan, once all batches were added; raises `InvalidValue` if two rows have the same id."""
        release = self.release
        own = release.id is not None and self.by == release.id
        if not _distinct(self._people if own else self._ids):
            if not own or self.reused_key:
                remedy = "" if self.reused_key else ", or leave the id out"
                raise InvalidValue(
                    f"two rows have the same id in column {release.id}, and ids tell draws apart: name a column that "
                    f"differs in every row{remedy}; {named('by')} names the person"
                )
            release = replace(release, id=None)
        plan = Plan(release, self.rows, self.skipped, (), dict(sorted(self._lengths.items())))
        if not self._people:
            return replace(plan, kinds=tuple((release.like(0.0, length), length) for length in plan.lengths))
        sizes = np.concatenate(self._sizes)
        stays = np.flatnonzero(sizes >= 0)
        people = np.concatenate(self._people)
        first, person, numbers = counted(people if len(stays) == len(sizes) else people[stays])
        by_row = np.zeros(len(sizes))
        by_row[stays] = self.division.each(person, numbers)
        used, _ = pairs_of(by_row[by_row > 0], sizes[by_row > 0])
        spent = self.division.spent(numbers) * np.minimum(numbers, self.division.words or numbers)
        kinds = tuple((release.like(epsilon, length), length) for epsilon, length in used)
        return replace(
            plan,
            kinds=kinds,
            facts=PeopleFacts.of(numbers, self.division),
            amounts=self._amounts(stays[first], spent) if self.charged else None,
            digest=self._digest(by_row, sizes) if self.charged else b"",
            by_row=None if self.division.budget is None else by_row,
        )

    def _amounts(self, rows: NDArray[np.int64], spent: Floats) -> dict[Any, float]:
        """What each person spends, by name; each has one of their rows as an example."""
        names = pa.chunked_array(self._names).take(pa.array(rows)).to_pylist()
        return dict(zip(names, spent.tolist(), strict=True))

    def _digest(self, by_row: Floats, sizes: NDArray[Any]) -> bytes:
        name = hashlib.blake2b(self._symbols.digest(), key=self._key.derived("run"))
        ids = self._people if self.by == self.release.id else self._ids
        for part in (by_row, sizes, *ids, *self._people):
            name.update(part.tobytes())
        return name.digest()


def _distinct(ids: list[NDArray[Any]]) -> bool:
    """Whether no id occurs twice: whole numbers, or tags of two halves."""
    found: NDArray[Any] = np.concatenate(ids) if ids else np.zeros(0)
    if found.ndim == 2:
        return distinct(found)
    if not (found[1:] > found[:-1]).all():  # most tables number their rows
        found.sort()
    return bool((found[1:] != found[:-1]).all())
