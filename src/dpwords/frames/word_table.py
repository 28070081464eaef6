"""One pass over a table of words, whatever holds the table and wherever its words are.

A table comes as a `TableReader`: a file of any format, or a table in memory. Its words are in a column of lists or of
text, in one column for each step, or in the rows of an event log, whose cases are gathered into words first. From then
on each row has one word, and rows go through here batch by batch:

    read    a batch of rows becomes symbol codes, and each word is checked against the language, once
    survey  all batches are read; what may not go in is refused; a `Plan` says what will be drawn, and at which ε
    draw    all batches are read again; words are drawn as the plan says, and the batch that comes out is made anew

Everybody makes the same passes: releases of files (`jobs`) and of data frames (`tables`), which differ in where
batches come from and go to; workers of a cluster (`dpwords.spark`), to whom a `BatchRelease` is sent; and whoever
only reads words, true ones (`sources.words_in`) or released ones (`sources.released`).
"""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpwords.core.keyed import Key, distinct
from dpwords.core.limits import CORES
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Ragged, code_type
from dpwords.errors import DPWordsError, InvalidValue, named
from dpwords.frames.batches import BatchRelease, pairs_of
from dpwords.frames.columns import checked_ids, ids_of
from dpwords.frames.long import LongWords
from dpwords.frames.people import Division, PeopleFacts, counted
from dpwords.frames.requests import Request
from dpwords.frames.rows import ArrowRows, TableReader
from dpwords.frames.shapes import Fault, Found
from dpwords.mechanisms.mechanism import OutputKind
from dpwords.mechanisms.private import Private

Draw = Callable[[], pa.RecordBatch]  # draws one batch


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

    @property
    def shared_epsilon(self) -> float | None:
        """The ε of every word that comes out, if a budget is divided and they all have the same; otherwise None."""
        used = np.zeros(0) if self.by_row is None else np.unique(self.by_row[self.by_row > 0])
        return float(used[0]) if len(used) == 1 else None

    @property
    def epsilons_differ(self) -> bool:
        """Whether a budget is divided so that words that come out have different ε."""
        return self.by_row is not None and self.words > 0 and self.shared_epsilon is None

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

    `by` in the request is the column that says which person a word belongs to. With `charged`, the plan has amounts for
    a ledger. A budget or a ledger needs to know who is one person: if `by` is not given, it is the id. Ids have to
    differ between rows, except if the id is the person: then rows are distinguished by their numbers, unless the key is
    reused. Cost: that of reading. Memory: about 150 bytes for each row with ids and people, and nothing otherwise.
    """

    def __init__(self, release: BatchRelease, request: Request, charged: bool = False) -> None:
        self.division = Division.of(release.mechanism.epsilon, request.budget, request.split)
        limited, by = self.division.budget is not None, request.by
        if by is None and (limited or charged):
            if release.id is None:
                what = "a budget is" if limited else "a ledger is kept"
                raise InvalidValue(f"{what} for each person: name the column that says who it is, with {named('by')}")
            by = release.id
        self.release, self.by, self.charged, self.reused_key = release, by, charged, request.reused_key
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
        kinds = tuple((release.like(epsilon, length), length) for epsilon, length in used)
        facts, epsilons = PeopleFacts.of(numbers, self.division), None if self.division.budget is None else by_row
        plan = replace(plan, kinds=kinds, facts=facts, by_row=epsilons)
        if not self.charged:
            return plan
        names = pa.chunked_array(self._names).take(pa.array(stays[first])).to_pylist()  # of one row of each person
        amounts = dict(zip(names, self.division.paid(numbers).tolist(), strict=True))
        return replace(plan, amounts=amounts, digest=self._digest(by_row, sizes))

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


@dataclass(frozen=True, eq=False)
class FoundWords:
    """The words of a table, as symbol codes, and how many of its rows were left out."""

    words: Ragged
    skipped: int


@dataclass(frozen=True, eq=False)
class WordTable:
    """A table with a word in each row, and what a release makes of a batch of its rows."""

    reader: TableReader
    request: Request  # about these rows; see `Request.of_cases`
    release: BatchRelease
    log: LongWords | None  # where the words were, if each row is a case of an event log

    @classmethod
    def of(
        cls,
        reader: TableReader,
        request: Request,
        mechanism: Private,
        key: bytes | None = None,
        declared: Callable[[str], bool] = lambda name: False,
    ) -> WordTable:
        """The words of a table, where the request says. The events of a log are read into memory at once."""
        names, events = reader.schema.names, None
        log = request.log(names)
        if log is not None:
            used = request.needed(names)
            rows = pa.Table.from_batches(reader.batches(used), reader.selected(used))
            cases, events = log.gathered(rows, request.by)
            reader, request = ArrowRows(cases), request.of_cases(log)
        release = request.release(reader.schema, mechanism, key, declared)
        if log is not None and mechanism.releases is OutputKind.WORDS:
            release = replace(release, events=events)
        elif log is not None:  # the answers about a case stay one row
            release = replace(release, output=(log.case, log.symbol))
        return cls(reader, request, release, log)

    @property
    def needed(self) -> list[str]:
        """The columns that say what the words are, and whose."""
        wanted = {*self.release.shape.columns, self.release.id, self.request.by}
        return [name for name in self.reader.schema.names if name in wanted]

    def survey(self, charged: bool = False) -> Survey:
        """What all batches are to be added to; `charged` says whether a ledger will be charged."""
        return Survey(self.release, self.request, charged)

    def surveyed(
        self, survey: Survey, columns: Sequence[str] = (), complete: bool = False
    ) -> Iterator[tuple[pa.RecordBatch, Found]]:
        """Each batch, with these columns or else those that are needed, and its words, which the survey has seen."""
        for batch in self.reader.batches(columns or self.needed, complete):
            yield batch, survey.add(batch)

    def words(self) -> FoundWords:
        """All words as they are, in memory. Cost: that of reading."""
        survey = Survey(replace(self.release, id=None), Request())
        parts = [
            found.words.chosen(np.flatnonzero(found.faults == Fault.NONE)) if found.faults.any() else found.words
            for _, found in self.surveyed(survey)
        ]
        kind = code_type(len(self.release.mechanism.language.alphabet))
        values = np.concatenate([np.zeros(0, dtype=kind), *(part.values.astype(kind, copy=False) for part in parts)])
        sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(part.sizes for part in parts)])
        return FoundWords(Ragged(values, np.cumsum(sizes)), survey.skipped)

    def drawn(
        self, plan: Plan, columns: Sequence[str], complete: bool, one: Callable[[int, Draw], pa.RecordBatch]
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The number of rows of each batch, and what comes out of it, in order; some are drawn ahead, on all cores.

        `one` is called with the number of each batch and the function that draws it, on several threads.
        """

        def draw(batch: pa.RecordBatch, first: int) -> Draw:
            return lambda: plan.release(batch, first, plan.epsilons(first, len(batch)))

        waiting: deque[tuple[int, Future[pa.RecordBatch]]] = deque()
        first, pool = 0, ThreadPoolExecutor(CORES)
        try:
            for number, batch in enumerate(self.reader.batches(columns, complete)):
                waiting.append((len(batch), pool.submit(one, number, draw(batch, first))))
                first += len(batch)
                if len(waiting) > CORES:
                    rows, drawn = waiting.popleft()
                    yield rows, drawn.result()
            for rows, drawn in waiting:
                yield rows, drawn.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
