"""Tables of pyarrow, pandas and Polars: their columns as Arrow arrays, and tables of the same kind from the results.

Only the columns that are needed are converted, so that others may hold whatever their package allows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Alphabet
from dpwords.errors import InvalidValue
from dpwords.frames.coders import names_of, rows_of, schema_with

_KINDS = "a pyarrow Table, a pandas DataFrame or a Polars DataFrame"


class TableAdapter(ABC):
    """A table of some package."""

    names: list[str]  # of the columns
    bare = False  # whether it is a single column, without a table around it

    @abstractmethod
    def arrow(self, names: Sequence[str]) -> Any:
        """Some columns, as an Arrow table."""

    @abstractmethod
    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        """A table of the same kind with some columns of some rows (None: all of them), of which `columns` are new."""

    @abstractmethod
    def made(self, columns: Mapping[str, Any]) -> Any:
        """A table of the same kind that has only new columns, of other rows."""

    def check_symbols(self, names: Sequence[str], alphabet: Alphabet) -> None:
        """Raise `InvalidValue` if a column's type lists its values and lacks a symbol. Most types list none."""
        return


class ArrowTable(TableAdapter):
    """A pyarrow Table."""

    def __init__(self, table: Any) -> None:
        self.table, self.names = table, table.schema.names

    def arrow(self, names: Sequence[str]) -> Any:
        return self.table.select(list(names))

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        arrays = dict(columns)
        for name in names:
            if name not in arrays:
                column = self.table.column(name)
                arrays[name] = column if rows is None else rows_of(column, rows)
        schema = schema_with(self.table.schema, {name: arrays[name].type for name in names})
        return pa.Table.from_arrays([arrays[name] for name in names], schema=schema)

    def made(self, columns: Mapping[str, Any]) -> Any:
        return pa.table(dict(columns))


class ArrowBatch(ArrowTable):
    """A pyarrow RecordBatch."""

    def __init__(self, batch: Any) -> None:
        super().__init__(pa.Table.from_batches([batch]))

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        return _one_batch(super().replaced(rows, names, columns))

    def made(self, columns: Mapping[str, Any]) -> Any:
        return _one_batch(super().made(columns))


class ArrowColumn(ArrowTable):
    """A pyarrow Array or ChunkedArray."""

    bare = True

    def __init__(self, column: Any) -> None:
        super().__init__(pa.table({"words": column}))
        self._chunked = isinstance(column, pa.ChunkedArray)

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        column = super().replaced(rows, names, columns).column(0)
        return column if self._chunked else _one_array(column)


class PolarsFrame(TableAdapter):
    """A Polars DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, frame.columns

    def arrow(self, names: Sequence[str]) -> Any:
        return self.frame.select(list(names)).to_arrow()

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        frame = self.frame.select([name for name in names if name in self.names])
        return (frame if rows is None else frame[rows]).with_columns(self._series(columns)).select(list(names))

    def made(self, columns: Mapping[str, Any]) -> Any:
        return type(self.frame)(self._series(columns))

    def check_symbols(self, names: Sequence[str], alphabet: Alphabet) -> None:
        import polars as pl

        for name in names:
            kind = self.frame.schema[name]
            kind = kind.inner if isinstance(kind, (pl.List, pl.Array)) else kind
            if isinstance(kind, pl.Enum) and not set(names_of(alphabet.symbols)) <= set(kind.categories):
                raise InvalidValue(
                    f"column {name} is an Enum, and not every symbol of the language is one of its categories: cast it "
                    "to an Enum with all symbols, or to text"
                )

    def _series(self, columns: Mapping[str, Any]) -> list[Any]:
        import polars as pl

        found = []
        for name, column in columns.items():
            series = pl.Series(name, column)
            same = name in self.names and self.arrow([name]).schema.field(0).type == column.type
            found.append(series.cast(self.frame.schema[name]) if same else series)
        return found


class PolarsSeries(PolarsFrame):
    """A Polars Series."""

    bare = True

    def __init__(self, series: Any) -> None:
        super().__init__(series.to_frame())

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        return super().replaced(rows, names, columns).to_series()


class PandasFrame(TableAdapter):
    """A pandas DataFrame. Columns are known by their labels, written as text."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.names = [str(label) for label in frame.columns]
        self._labels = dict(zip(self.names, frame.columns, strict=True))

    def arrow(self, names: Sequence[str]) -> Any:
        return pa.table({name: self._array(name) for name in names})

    def _array(self, name: str) -> Any:
        try:
            return pa.chunked_array([pa.array(self.frame[self._labels[name]], from_pandas=True)])
        except (pa.ArrowException, TypeError, ValueError):
            raise InvalidValue(f"column {name} has values of several kinds: give all of them one type") from None

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        frame = self.frame[[self._labels[name] for name in names if name in self._labels]]
        frame = frame.copy() if rows is None else frame.take(rows)
        for name, column in columns.items():
            label = self._labels.get(name)
            if label is None:
                frame.insert(names.index(name), name, column.to_pandas().set_axis(frame.index))
            else:
                frame[label] = self._values(name, column, frame[label])
        return frame

    def made(self, columns: Mapping[str, Any]) -> Any:
        import pandas as pd

        series = {}
        for name, column in columns.items():
            label = self._labels[name]
            like = self.frame[label].iloc[:0] if self._array(name).type == column.type else None
            series[label] = column.to_pandas() if like is None else self._values(name, column, like)
        return pd.DataFrame(series)

    def _values(self, name: str, column: Any, old: Any) -> Any:
        """A new column as the kind of the old one, whose rows it has."""
        import pandas as pd

        index = old.index if len(old) == len(column) else None
        if isinstance(old.dtype, pd.CategoricalDtype):
            return pd.Series(pd.Categorical(column.to_pandas()), index=index)
        if old.dtype != object:
            series = pd.Series(pd.arrays.ArrowExtensionArray(column), index=index)
            return series.astype(old.dtype) if column.type == self._array(name).type else series
        words = column.to_pylist()
        values = np.empty(len(words), dtype=object)
        values[:] = words if index is None else [_as_came(word, was) for word, was in zip(words, old, strict=True)]
        return pd.Series(values, index=index, dtype=object)


class PandasSeries(PandasFrame):
    """A pandas Series."""

    bare = True

    def __init__(self, series: Any) -> None:
        super().__init__(series.to_frame("words"))
        self._name = series.name

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        return super().replaced(rows, names, columns)["words"].rename(self._name)


def opened(table: Any) -> TableAdapter:
    """The adapter of a table; raises `InvalidValue` for anything else."""
    package = type(table).__module__.partition(".")[0]
    adapters: dict[tuple[str, str], Callable[[Any], TableAdapter]] = {
        ("pyarrow", "Table"): ArrowTable,
        ("pyarrow", "RecordBatch"): ArrowBatch,
        ("pyarrow", "Array"): ArrowColumn,
        ("pyarrow", "ChunkedArray"): ArrowColumn,
        ("pandas", "DataFrame"): PandasFrame,
        ("pandas", "Series"): PandasSeries,
        ("polars", "DataFrame"): PolarsFrame,
        ("polars", "Series"): PolarsSeries,
    }
    names = {base.__name__ for base in type(table).__mro__}
    for (home, name), adapter in adapters.items():
        if package == home and name in names:
            found = adapter(table)
            if len(set(found.names)) < len(found.names):
                raise InvalidValue("two columns of the table have the same name: rename one of them")
            return found
    if package == "polars" and "LazyFrame" in names:
        raise InvalidValue("a LazyFrame has no rows yet, and each collect would draw again: call collect() first")
    raise InvalidValue(f"a table is {_KINDS}: convert it to one of them")


def empty_batch(schema: Any) -> Any:
    """A record batch without rows, of any types."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _one_batch(table: Any) -> Any:
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else empty_batch(table.schema)


def _one_array(column: Any) -> Any:
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.nulls(0, column.type)


def _as_came(word: Any, was: Any) -> Any:
    """A released word of Python objects, of the same types as the word that went in."""
    if not isinstance(word, list):
        return word
    first = was[0] if len(was) else None
    if isinstance(first, tuple):
        word = [_tuples(symbol) for symbol in word]
    if isinstance(was, np.ndarray):
        return np.array(word, dtype=None if was.dtype.kind in "US" else was.dtype)  # text must not be cut off
    return tuple(word) if isinstance(was, tuple) else word


def _tuples(value: Any) -> Any:
    """Lists, and those inside them, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
