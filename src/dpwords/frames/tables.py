"""Tables of pyarrow, pandas and Polars: their columns as Arrow arrays, and tables of the same kind from the results.

Only the columns that are needed are converted, so that others may hold whatever their package allows. The tables that
come out are made anew, of names, types and values: metadata, attributes and unused categories are not copied.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dpwords.core.scaled import Integers
from dpwords.errors import InvalidValue
from dpwords.frames.arrays import bare_kind, copied, one_array, schema_of
from dpwords.frames.rows import empty_batch


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

    def declares(self, name: str) -> bool:
        """Whether somebody has chosen the type of a column; otherwise it follows from the values, which are private."""
        return True


class ArrowTable(TableAdapter):
    """A pyarrow Table."""

    def __init__(self, table: Any) -> None:
        self.table, self.names = table, table.schema.names

    def arrow(self, names: Sequence[str]) -> Any:
        return self.table.select(list(names))

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        return self.made(
            {name: columns[name] if name in columns else copied(self.table.column(name), name, rows) for name in names}
        )

    def made(self, columns: Mapping[str, Any]) -> Any:
        schema = schema_of({name: column.type for name, column in columns.items()})
        table = pa.Table.from_arrays(list(columns.values()), schema=schema)
        return table.unify_dictionaries().combine_chunks()  # chunks would tell how the input was cut


class ArrowBatch(ArrowTable):
    """A pyarrow RecordBatch."""

    def __init__(self, batch: Any) -> None:
        super().__init__(pa.Table.from_batches([batch]))

    def made(self, columns: Mapping[str, Any]) -> Any:
        table = super().made(columns)
        return (table.to_batches() or [empty_batch(table.schema)])[0]


class ArrowColumn(ArrowTable):
    """A pyarrow Array or ChunkedArray."""

    bare = True

    def __init__(self, column: Any) -> None:
        super().__init__(pa.table({"words": column}))
        self._chunked = isinstance(column, pa.ChunkedArray)

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        column = super().replaced(rows, names, columns).column(0)
        return column if self._chunked else one_array(column)


class PolarsFrame(TableAdapter):
    """A Polars DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.frame, self.names = frame, frame.columns

    def arrow(self, names: Sequence[str]) -> Any:
        return self.frame.select(list(names)).to_arrow()

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        others = self.frame.select([name for name in names if name in self.names and name not in columns])
        others = others if rows is None or not others.width else others[rows]
        series = [*map(_relisted, others.get_columns()), *self._series(columns)]
        found = {each.name: each for each in series}
        return type(self.frame)({name: found[name] for name in names}).rechunk()

    def made(self, columns: Mapping[str, Any]) -> Any:
        return type(self.frame)({each.name: each for each in self._series(columns)})

    def _series(self, columns: Mapping[str, Any]) -> list[Any]:
        import polars as pl

        found = []
        for name, column in columns.items():
            series = pl.Series(name, column)
            if name in self.names and _same_kind(self._kind(name), column.type):
                plain = series.cast(_unlisted(series.dtype))  # from which every other type can be made
                series = plain.cast(_dtype(self.frame.schema[name], one_array(column)))
            found.append(series)
        return found

    def _kind(self, name: str) -> Any:
        return self.frame.select(name).head(0).to_arrow().schema.field(0).type


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
            return pa.chunked_array([pa.array(self._column(name), from_pandas=True)])
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            raise InvalidValue(f"column {name} has values of several kinds: give all of them one type") from None

    def declares(self, name: str) -> bool:
        return bool(self._column(name).dtype != object)

    def replaced(self, rows: Integers | None, names: Sequence[str], columns: Mapping[str, Any]) -> Any:
        index = _index(self.frame.index if rows is None else self.frame.index.take(rows))
        arrays = {
            name: self._values(name, columns[name], rows)
            if name in columns
            else _copied(self._column(name), name, rows)
            for name in names
        }
        return self._frame(arrays, index)

    def made(self, columns: Mapping[str, Any]) -> Any:
        return self._frame({name: self._values(name, column) for name, column in columns.items()}, None)

    def _frame(self, arrays: Mapping[str, Any], index: Any) -> Any:
        import pandas as pd

        series = [  # which stay objects, although pandas could find a type that fits them
            pd.Series(each, dtype=object if isinstance(each, np.ndarray) and each.dtype == object else None)
            for each in arrays.values()
        ]
        frame = pd.DataFrame(dict(enumerate(series)))
        if index is not None:
            frame.index = index
        labels = [self._labels.get(name, name) for name in arrays]
        several = self.frame.columns.nlevels > 1 and all(name in self._labels for name in arrays)
        frame.columns = pd.MultiIndex.from_tuples(labels) if several else pd.Index(labels, tupleize_cols=False)
        return frame

    def _column(self, name: str) -> Any:
        return self.frame[self._labels[name]]

    def _values(self, name: str, column: Any, rows: Integers | None = None) -> Any:
        """A new column, as the kind of values that these rows had before; see `_container` for Python objects."""
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
    raise InvalidValue(
        "a table is a pyarrow Table, a pandas DataFrame or a Polars DataFrame: convert it to one of them"
    )


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


def _copied(column: Any, name: str, rows: Integers | None) -> Any:
    """Some rows of a pandas column, without categories that none of them has."""
    import pandas as pd

    values = column.array.copy() if rows is None else column.array.take(rows)
    if isinstance(column.dtype, np.dtype):
        return values.to_numpy()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return values.remove_unused_categories()
    if isinstance(column.dtype, pd.ArrowDtype):
        return pd.arrays.ArrowExtensionArray(copied(pa.chunked_array(pa.array(values)), name))
    return values


def _relisted(series: Any) -> Any:
    """A Polars column whose type lists no category that none of its rows has; inside lists and structs, it is text."""
    import polars as pl

    if isinstance(series.dtype, pl.Enum):
        used = set(series.cast(pl.String).unique())
        return series.cast(pl.Enum([each for each in series.dtype.categories if each in used]))
    plain = _unlisted(series.dtype)
    if isinstance(series.dtype, pl.Categorical):
        return series.cast(plain).cast(series.dtype)
    return series if plain == series.dtype else series.cast(plain)


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
