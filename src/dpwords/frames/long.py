"""Long format, as of event logs: one row for each symbol, with columns for the case, the symbol and the order.

The rows of a case are gathered into a word, and the released word is written as rows again. The released events are
not the events that went in, and there can be more or fewer of them, so nothing of a true event may stay beside a
released one: the order column is rebuilt, and all other columns are dropped. Times would tell which events are true,
and how many there were.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue, named
from dpwords.frames.arrays import copied, decoded, one_array, schema_of
from dpwords.frames.coders import is_text, kind_name
from dpwords.frames.columns import checked_column, checked_ids, first_null

CASE, SYMBOL, ORDER = "case:concept:name", "concept:name", "time:timestamp"  # of the XES standard for event logs
_EPOCH = 946_684_800  # seconds from 1970-01-01 to 2000-01-01
_DAY = 86_400
Form = Literal["numbers", "times", "days"]


@dataclass(frozen=True)
class LongWords:
    """The columns of an event log. Without an order column, the order of the rows counts."""

    case: str
    symbol: str
    order: str | None

    @classmethod
    def of(cls, names: Sequence[str], case: str | None, symbol: str | None, order: str | None) -> LongWords:
        """From the columns that there are, and those that a user names; the names in event logs are known."""
        for given, what, known in ((case, "case", CASE), (symbol, "symbol", SYMBOL)):
            if given is None and known not in names:
                raise InvalidValue(f"an event log needs {named(what)}, as there is no column {known}: name it")
        found = cls(case or CASE, symbol or SYMBOL, ORDER if order is None and ORDER in names else order)
        for name in found.columns:
            checked_column(names, name)
        if len(set(found.columns)) < len(found.columns):
            raise InvalidValue("case, symbol and order are different columns: name each of them once")
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.case, self.symbol) if self.order is None else (self.case, self.symbol, self.order)

    def gathered(self, table: Any, by: str | None = None) -> tuple[Any, Events]:
        """A table with one row for each case, in the order in which they first appear, and what turns it back.

        It has the column of the case, the column of the symbol, which now has lists, and that of the person, if `by`
        names one. Cost: sorting the rows.
        """
        case, symbols = _combined(table, self.case), _combined(table, self.symbol)
        encoded = checked_ids(case, self.case, 0).dictionary_encode()
        numbers = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        keys = pa.nulls(0) if self.order is None else decoded(_combined(table, self.order))
        order = Order(None) if self.order is None else Order.of(keys, self.order)
        try:
            symbols = symbols.take(pa.array(order.positions(numbers)))
        except pa.ArrowNotImplementedError:
            raise InvalidValue(
                f"symbols cannot be values of type {kind_name(symbols.type)}: convert column {self.symbol}"
            ) from None
        ends = np.cumsum(np.bincount(numbers, minlength=len(encoded.dictionary)))
        first = pa.array(np.unique(numbers, return_index=True)[1])
        columns = {
            self.case: case.take(first),  # with the dictionary of all cases; see `Events`
            self.symbol: pa.LargeListArray.from_arrays(pa.array(np.concatenate([[0], ends]), pa.int64()), symbols),
        }
        if by is not None and by != self.case:
            people = _combined(table, checked_column(table.schema.names, by))
            codes = checked_ids(people, by, 0).dictionary_encode().indices.to_numpy(zero_copy_only=False)
            mixed = np.flatnonzero(codes != codes[first][numbers])
            if len(mixed):
                raise InvalidValue(f"row {mixed[0] + 1} has another {by} than its case has before: a case has only one")
            columns[by] = people.take(first)
        names = tuple(name for name in table.schema.names if name in self.columns)
        kind = pa.string() if is_text(keys.type) else keys.type
        return pa.table(columns), Events(self, names, kind, order.form, order.pattern)


@dataclass(frozen=True)
class Events:
    """Writes words as rows of events."""

    log: LongWords
    names: tuple[str, ...]  # of the log's own columns, in their order
    order: Any  # the Arrow type of the order column, if there is one
    form: Form
    pattern: str  # of times, if they are text

    def __call__(self, batch: Any) -> Any:
        """One row for each symbol of a batch that has one row for each case. Cost: the symbols."""
        words = batch.column(self.log.symbol)
        lengths = pc.list_value_length(words).to_numpy(zero_copy_only=False).astype(np.int64)
        ends = np.cumsum(lengths)
        before = np.arange(len(words.flatten())) - np.repeat(ends - lengths, lengths)
        case, rows = self.log.case, np.repeat(np.arange(len(batch)), lengths)
        columns = {case: copied(batch.column(case), case, rows), self.log.symbol: words.flatten()}
        if self.log.order is not None:
            columns[self.log.order] = self._rebuilt(before)
        schema = schema_of({name: columns[name].type for name in self.names})
        return pa.RecordBatch.from_arrays([columns[name] for name in self.names], schema=schema)

    def _rebuilt(self, before: Integers) -> Any:
        """The order column, for events that have so many events of their case before them."""
        kind = self.order
        if self.form == "days":
            return pa.array(_EPOCH // _DAY + before, pa.int32()).cast(pa.date32()).cast(kind)
        if self.form == "times":
            seconds = pa.array(_EPOCH + before, pa.int64())
            if is_text(kind):
                return pc.strftime(seconds.cast(pa.timestamp("s")), self.pattern).cast(kind)
            return seconds.cast(pa.timestamp("s", kind.tz)).cast(kind)
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        fits = is_text(kind) or (is_number and kind.bit_width >= 32)  # narrower ones could be too small for a long word
        return pa.array(before + 1, pa.int64()).cast(kind if fits else pa.int64())


@dataclass(frozen=True, eq=False)
class Order:
    """What the rows of a case are sorted by, and how the order column is rebuilt."""

    keys: Any  # an Arrow array; None for the order of the rows
    form: Form = "numbers"
    pattern: str = ""

    @classmethod
    def of(cls, column: Any, name: str) -> Order:
        """From the order column. Text is read as numbers or as ISO 8601 times: sorted as text, 10 comes before 9."""
        if column.null_count:
            raise InvalidValue(f"row {first_null(column)} has no value in column {name}: give every row its position")
        if not is_text(column.type):
            if pa.types.is_timestamp(column.type):
                return cls(column, "times")
            return cls(column, "days" if pa.types.is_date(column.type) else "numbers")
        for kind in (pa.int64(), pa.float64(), pa.timestamp("ns"), pa.timestamp("ns", "UTC")):
            with suppress(pa.ArrowInvalid):
                keys = column.cast(kind)
                if not pa.types.is_timestamp(kind):
                    return cls(keys)
                return cls(keys, "times", f"%Y-%m-%dT%H:%M:%S{'+00:00' if kind.tz else ''}")
        raise InvalidValue(
            f"column {name} has text that is neither numbers nor times such as 2000-01-31T23:59:59, all with or all "
            "without a time zone: convert it"
        )

    def positions(self, cases: Integers) -> Integers:
        """The rows, sorted by their case and then by their position in it; rows of equal position keep their order."""
        if self.keys is None:
            return np.argsort(cases, kind="stable")
        keys = pa.table({"case": pa.array(cases), "order": self.keys})
        try:
            order = pc.sort_indices(keys, sort_keys=[("case", "ascending"), ("order", "ascending")])
        except pa.ArrowException:
            raise InvalidValue(
                f"rows cannot be sorted by values of type {kind_name(self.keys.type)}: order them by numbers or times"
            ) from None
        return np.asarray(order.to_numpy(zero_copy_only=False)).astype(np.int64)


def _combined(table: Any, name: str) -> Any:
    """A column as one array."""
    column = one_array(table.column(name))
    return column if pa.types.is_dictionary(column.type) else decoded(column)
