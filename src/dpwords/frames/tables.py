"""Releases of tables in memory: of pyarrow, pandas or Polars, and the result is a table of the same kind.

Only the columns that are needed are converted, so that others may hold whatever their package allows. The tables that
come out are made anew, of names, types and values: metadata, attributes and unused categories are not copied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.frames.arrays import bare_kind, copied, one_array, schema_of
from dpwords.frames.coders import ARROW_REFUSES
from dpwords.frames.columns import refuse_twins
from dpwords.frames.people import PeopleFacts
from dpwords.frames.requests import Request
from dpwords.frames.rows import ArrowRows, empty_batch
from dpwords.frames.shapes import ListWords, Shape
from dpwords.frames.word_table import WordTable
from dpwords.mechanisms.private import Private


class TableAdapter(ABC):
    """A table of some package."""

    bare = False  # whether it is a single column, without a table around it

    def __init__(self, table: Any, names: Sequence[str], back: Callable[[Any], Any] = lambda table: table) -> None:
        self.table, self.names = table, list(names)
        self.back = back  # makes of a table what was passed

    @abstractmethod
    def arrow(self, names: Sequence[str]) -> Any:
        """Some columns, as an Arrow table."""

    def declares(self, name: str) -> bool:
        """Whether somebody has chosen the type of a column; otherwise it follows from the values, which are private."""
        return True

    def made(self, names: Sequence[str], new: Mapping[str, Any], rows: Integers | None, index: bool = True) -> Any:
        """What was passed, with some columns of some rows (None: all of them), of which `new` are new.

        If all of them are new, the rows can be others, which have no `index`.
        """
        values = {name: self._new(name, new[name], rows) if name in new else self._old(name, rows) for name in names}
        return self.back(self._table(values, rows, index))

    @abstractmethod
    def _new(self, name: str, column: Any, rows: Integers | None) -> Any:
        """A new column, from an Arrow array, as values like those that these rows had in it before."""

    @abstractmethod
    def _old(self, name: str, rows: Integers | None) -> Any:
        """Some rows of a column, without anything that these do not show."""

    @abstractmethod
    def _table(self, values: Mapping[str, Any], rows: Integers | None, index: bool) -> Any:
        """A table of columns that were made by `_new` and `_old`."""


class ArrowTable(TableAdapter):
    """A pyarrow Table."""

    def arrow(self, names: Sequence[str]) -> Any:
        return self.table.select(list(names))

    def _new(self, name: str, column: Any, rows: Integers | None) -> Any:
        return column

    def _old(self, name: str, rows: Integers | None) -> Any:
        return copied(self.table.column(name), name, rows)

    def _table(self, values: Mapping[str, Any], rows: Integers | None, index: bool) -> Any:
        schema = schema_of({name: column.type for name, column in values.items()})
        table = pa.Table.from_arrays(list(values.values()), schema=schema)
        return table.unify_dictionaries().combine_chunks()  # chunks would tell how the input was cut


class PolarsFrame(TableAdapter):
    """A Polars DataFrame."""

    def arrow(self, names: Sequence[str]) -> Any:
        return self.table.select(list(names)).to_arrow()

    def _new(self, name: str, column: Any, rows: Integers | None) -> Any:
        import polars as pl

        series = pl.Series(name, column)
        if name in self.names and _same_kind(self.table[name].head(0).to_arrow().type, column.type):
            plain = series.cast(_unlisted(series.dtype))  # from which every other type can be made
            return plain.cast(_dtype(self.table.schema[name], one_array(column)))
        return series

    def _old(self, name: str, rows: Integers | None) -> Any:
        import polars as pl

        series = self.table[name] if rows is None else self.table[name][rows]
        if isinstance(series.dtype, pl.Enum):
            used = set(series.cast(pl.String).unique())
            return series.cast(pl.Enum([each for each in series.dtype.categories if each in used]))
        dtype = _unlisted(series.dtype)  # inside lists and structs, categories become text
        plain = series if dtype == series.dtype else series.cast(dtype)
        return plain.cast(series.dtype) if isinstance(series.dtype, pl.Categorical) else plain

    def _table(self, values: Mapping[str, Any], rows: Integers | None, index: bool) -> Any:
        return type(self.table)(dict(values)).rechunk()


class PandasFrame(TableAdapter):
    """A pandas DataFrame. Columns are known by their labels, written as text."""

    def __init__(self, table: Any, back: Callable[[Any], Any] = lambda table: table) -> None:
        super().__init__(table, list(map(str, table.columns)), back)
        self._labels = dict(zip(self.names, table.columns, strict=True))

    def arrow(self, names: Sequence[str]) -> Any:
        return pa.table({name: self._array(name) for name in names})

    def _array(self, name: str) -> Any:
        try:
            return pa.chunked_array([pa.array(self._column(name), from_pandas=True)])
        except ARROW_REFUSES:
            raise InvalidValue(f"column {name} has values of several kinds: give all of them one type") from None

    def declares(self, name: str) -> bool:
        return bool(self._column(name).dtype != object)

    def _old(self, name: str, rows: Integers | None) -> Any:
        import pandas as pd

        column = self._column(name)
        values = column.array.copy() if rows is None else column.array.take(rows)
        if isinstance(column.dtype, np.dtype):
            return values.to_numpy()
        if isinstance(column.dtype, pd.CategoricalDtype):
            return values.remove_unused_categories()
        if isinstance(column.dtype, pd.ArrowDtype):
            return pd.arrays.ArrowExtensionArray(copied(pa.chunked_array(pa.array(values)), name))
        return values

    def _table(self, values: Mapping[str, Any], rows: Integers | None, index: bool) -> Any:
        import pandas as pd

        series = [  # which stay objects, although pandas could find a type that fits them
            pd.Series(each, dtype=object if isinstance(each, np.ndarray) and each.dtype == object else None)
            for each in values.values()
        ]
        frame = pd.DataFrame(dict(enumerate(series)))
        if index:
            frame.index = _index(self.table.index if rows is None else self.table.index.take(rows))
        labels = [self._labels.get(name, name) for name in values]
        several = self.table.columns.nlevels > 1 and all(name in self._labels for name in values)
        frame.columns = pd.MultiIndex.from_tuples(labels) if several else pd.Index(labels, tupleize_cols=False)
        return frame

    def _column(self, name: str) -> Any:
        return self.table[self._labels[name]]

    def _new(self, name: str, column: Any, rows: Integers | None) -> Any:
        import pandas as pd

        if name not in self._labels:
            return column.to_pandas().array
        old = self._column(name) if rows is None else self._column(name).iloc[rows]
        dtype = old.dtype
        if isinstance(dtype, pd.CategoricalDtype) and pa.types.is_dictionary(column.type):
            return pd.Categorical(column.to_pandas())
        if self.declares(name):
            if not _same_kind(pa.array(old.iloc[:0], from_pandas=True).type, column.type):
                return column.to_pandas().array
            return pd.Series(pd.arrays.ArrowExtensionArray(column)).astype(dtype).array
        words = column.to_pylist()
        container = _container(old, column.type)
        values = np.empty(len(words), dtype=object)
        values[:] = [word if word is None else container(word) for word in words]
        return values


def opened(table: Any) -> TableAdapter:
    """The adapter of a table; raises `InvalidValue` for anything else."""
    package = type(table).__module__.partition(".")[0]
    word = "words"  # the name of a column that has none
    adapters: dict[tuple[str, str], Callable[[], TableAdapter]] = {
        ("pyarrow", "Table"): lambda: ArrowTable(table, table.schema.names),
        ("pyarrow", "RecordBatch"): lambda: ArrowTable(pa.Table.from_batches([table]), table.schema.names, _one_batch),
        ("pyarrow", "Array"): lambda: ArrowTable(pa.table({word: table}), [word], lambda made: one_array(made[word])),
        ("pyarrow", "ChunkedArray"): lambda: ArrowTable(pa.table({word: table}), [word], lambda made: made[word]),
        ("pandas", "DataFrame"): lambda: PandasFrame(table),
        ("pandas", "Series"): lambda: PandasFrame(table.to_frame(word), lambda made: made[word].rename(table.name)),
        ("polars", "DataFrame"): lambda: PolarsFrame(table, table.columns),
        ("polars", "Series"): lambda: PolarsFrame(table.to_frame(), [table.name], lambda made: made.to_series()),
    }
    names = {base.__name__ for base in type(table).__mro__}
    for (home, name), adapter in adapters.items():
        if package == home and name in names:
            found = adapter()
            found.bare = name in ("Array", "ChunkedArray", "Series")
            refuse_twins(found.names)
            return found
    if package == "polars" and "LazyFrame" in names:
        raise InvalidValue("a LazyFrame has no rows yet, and each collect would draw again: call collect() first")
    raise InvalidValue(
        "a table is a pyarrow Table, a pandas DataFrame or a Polars DataFrame: convert it to one of them"
    )


def _one_batch(table: Any) -> Any:
    return (table.to_batches() or [empty_batch(table.schema)])[0]


def _same_kind(one: Any, other: Any) -> bool:
    """Whether two Arrow types are the same, up to dictionaries and sizes of offsets."""
    names = [str(bare_kind(kind, dictionaries=False)).replace("large_", "") for kind in (one, other)]
    return names[0] == names[1]


def _container(column: Any, kind: Any) -> Callable[[Any], Any]:
    """What makes of a list the kind of Python object that the first row of a pandas column has.

    The numbers of an array have the type of the alphabet's symbols. That of the row could depend on the row's own.
    """
    words = [value for value in column if isinstance(value, (list, tuple, np.ndarray))]
    if not words:
        return lambda word: word
    first, symbol = words[0], next((word[0] for word in words if len(word)), ())
    inner = _tuples if isinstance(symbol, tuple) else lambda value: value
    if isinstance(first, tuple):
        return lambda word: tuple(map(inner, word))
    if not isinstance(first, np.ndarray):
        return lambda word: list(map(inner, word))
    number = pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)
    dtype = kind.value_type.to_pandas_dtype() if number else object

    def array(word: Any) -> Any:
        found = np.empty(len(word), dtype=dtype)
        found[:] = list(map(inner, word))
        return found

    return array


def _index(index: Any) -> Any:
    """A pandas index without levels and categories that no row has."""
    import pandas as pd

    if isinstance(index, pd.MultiIndex):
        levels = [_index(index.get_level_values(level)) for level in range(index.nlevels)]
        return pd.MultiIndex.from_arrays(levels, names=index.names)
    return index.remove_unused_categories() if isinstance(index, pd.CategoricalIndex) else index


def _unlisted(dtype: Any) -> Any:
    """A Polars type with text instead of categories, at any depth."""
    import polars as pl

    if isinstance(dtype, (pl.Categorical, pl.Enum)):
        return pl.String()
    if isinstance(dtype, pl.List):
        return pl.List(_unlisted(dtype.inner))
    if isinstance(dtype, pl.Array):
        return pl.Array(_unlisted(dtype.inner), dtype.size)
    if isinstance(dtype, pl.Struct):
        return pl.Struct({each.name: _unlisted(each.dtype) for each in dtype.fields})
    return dtype


def _dtype(dtype: Any, values: Any) -> Any:
    """The Polars type of new values, like that of the old ones. An Enum has the dictionary of the new ones."""
    import polars as pl

    if isinstance(dtype, pl.List):
        return pl.List(_dtype(dtype.inner, values.flatten()))
    if isinstance(dtype, pl.Array):
        return pl.Array(_dtype(dtype.inner, values.flatten()), dtype.size)
    return pl.Enum(values.dictionary.to_pylist()) if isinstance(dtype, pl.Enum) else dtype


def _tuples(value: Any) -> Any:
    """Lists, and those inside them, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


DrawnBatch = tuple[Any, int, Integers, Ragged]  # a batch, its first row, those of its rows that come out, their words


@within_memory()
def release(mechanism: Private, table: Any, request: Request, key: bytes | None, ledger: Any) -> Any:
    """A table of the same kind with released words; see `dpwords.frames.release`."""
    source = opened(table)
    if (key is not None or ledger is not None) and source.bare:
        raise _bare()
    words = _words(mechanism, source, replace(request, reused_key=key is not None), key)
    first = next(words.reader.batches(words.needed)).slice(0, 1)
    for number in range(1 + len(first)):  # a table that cannot be made is refused before it is paid for
        _made(source, words, [(first, 0, np.arange(number), _some_words(words.release.out, number))])
    survey = words.survey(charged=ledger is not None)
    batches = list(words.surveyed(survey))
    plan, drawn, done = survey.plan(), [], 0
    if ledger is not None:
        plan.charge(ledger)
    for batch, found in batches:
        drawn.append((batch, done, *plan.release.drawn(batch, found, done, plan.epsilons(done, len(batch)))))
        done += len(batch)
    return _made(source, words, drawn, every=plan.words == plan.rows)


@within_memory()
def facts(mechanism: Private, table: Any, request: Request) -> PeopleFacts:
    """What people spend in a release; see `dpwords.frames.facts`."""
    source = opened(table)
    log = request.log(source.names)
    person = request.by or (request.id if log is None else log.case)
    words = _words(mechanism, source, replace(request, by=person), None)
    survey = words.survey()
    for _ in words.surveyed(survey):
        pass
    found = survey.plan().facts
    if found is None:
        raise InvalidValue(f"facts are about people: name the column that says who it is, with {named('by')}")
    return found


@within_memory()
def words(mechanism: Private, table: Any, request: Request) -> Ragged:
    """The words of a table as they are; see `dpwords.frames.words`."""
    return _words(mechanism, opened(table), request, None).words().words


def _words(mechanism: Private, source: TableAdapter, request: Request, key: bytes | None) -> WordTable:
    plain = Request(separator=request.separator, invalid=request.invalid, any_word=request.any_word)
    if source.bare and request != plain:
        raise _bare()
    reader = ArrowRows(source.arrow(request.needed(source.names)))
    return WordTable.of(reader, request, mechanism, key, source.declares)


def _made(source: TableAdapter, table: WordTable, drawn: list[DrawnBatch], every: bool = False) -> Any:
    """The table that comes out, of the kind that came in; `every` says that all rows do."""
    release, out = table.release, table.release.out
    if table.log is not None:
        events = pa.Table.from_batches([release.written(batch, rows, words) for batch, _, rows, words in drawn])
        names = events.schema.names
        return source.made(names, dict(zip(names, events.columns, strict=True)), None, index=False)
    columns = [release.columns(words) for *_, words in drawn]
    new = {name: pa.chunked_array(parts) for name, *parts in zip(out.columns, *columns, strict=True)}
    rows = None if every else np.concatenate([first + rows for _, first, rows, _ in drawn])
    return source.made(release.names_out(source.names), new, rows)


def _some_words(shape: Shape, number: int) -> Ragged:
    """So many words of the first symbol."""
    size = getattr(shape.written[0], "list_size", 1) if isinstance(shape, ListWords) else 1
    return Ragged(np.zeros(number * size, np.int64), size * np.arange(1, number + 1))


def _bare() -> InvalidValue:
    return InvalidValue(
        f"a column without a table takes only {named('separator')}, {named('invalid')} and {named('any_word')}: it has "
        "no ids, and can be a part of a longer column, so pass a table"
    )
