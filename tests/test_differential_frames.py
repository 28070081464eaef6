"""What a program can see of a released table in memory, or write to a file, for two tables that are neighbours."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpwords as dw
from neighbours import (
    BASE,
    MORE,
    NEIGHBOURS,
    SECRET,
    SHAPES,
    SYMBOLS,
    Rows,
    arrow,
    listed,
    noted,
    sliced,
    without_draws,
)

ALPHABET = dw.Exponential(dw.Words(SYMBOLS), 1.0)


@pytest.fixture(autouse=True)
def _fixed_words(monkeypatch: pytest.MonkeyPatch) -> None:
    without_draws(monkeypatch)


def _options(shape: str) -> dict[str, Any]:
    where: dict[str, Any] = {"column": "word"}
    if shape == "text":
        where["separator"] = " "
    if shape == "columns":
        where = {"columns": "m*"}
    if shape == "events":
        return {"case": "case", "symbol": "event", "order": "step", "invalid": "skip"}
    return {**where, "id": "id", "by": "who", "split": "first", "budget": 2.0, "invalid": "skip"}


def of_arrow(table: pa.Table) -> Any:
    return [arrow(table), [column.num_chunks for column in table.columns], table.schema.to_string()]


def of_pandas(frame: pd.DataFrame) -> Any:
    index, columns = frame.index, frame.columns
    return [
        *(
            repr(frame.to_dict("list")),
            frame.attrs,
            frame.dtypes.to_dict(),
            index.tolist(),
            index.names,
            columns.tolist(),
        ),
        [
            getattr(frame[name].dtype, "categories", None) is not None and list(frame[name].cat.categories)
            for name in frame
        ],
        [list(level) for level in getattr(index, "levels", ())],
        [type(value) for name in frame for value in frame[name]],
        arrow(pa.Table.from_pandas(frame)),
    ]


def of_polars(frame: pl.DataFrame) -> Any:
    file = io.BytesIO()
    frame.write_ipc(file)
    return [frame.to_dict(as_series=False), frame.schema, frame.n_chunks("all"), file.getvalue()]


@pytest.mark.parametrize("shape", SHAPES)
def test_arrow_tables_in_memory(shape: str) -> None:
    make, types, _ = SHAPES[shape]
    found = {}
    for name, some in {"the same": BASE, **NEIGHBOURS}.items():
        if shape != "events" or "paid" not in name:
            for way, change in (("", lambda table: table), ("noted", noted), ("chunks", sliced)):
                found[f"{name} {way}"] = dw.frames.release(ALPHABET, change(make(some, types[0])), **_options(shape))
    first = of_arrow(found["the same "])
    assert {name: of_arrow(each) == first for name, each in found.items()} == dict.fromkeys(found, True)
    if shape == "text":
        lists = [listed(make(some, types[0])) for some in (BASE, NEIGHBOURS["rows that are skipped"])]
        one, other = (dw.frames.release(ALPHABET, table, **_options(shape)) for table in lists)
        assert of_arrow(one) == of_arrow(other)
        assert one["who"].chunk(0).dictionary.to_pylist() == ["ann", "bob", "eve"]
        assert SECRET.encode() not in pickle.dumps(one)


@pytest.mark.parametrize("shape", SHAPES)
def test_pandas_frames_in_memory(shape: str) -> None:
    make = SHAPES[shape][0]
    kind = pa.int64() if shape == "numbers" else pa.string()
    found = {}
    for name, some in {"the same": BASE, **NEIGHBOURS}.items():
        if shape != "events" or "paid" not in name:
            for noted in (False, True):
                frame = make(some, kind).to_pandas()
                if shape != "events":
                    frame = frame.astype({"who": "category", "city": "category"})
                    frame.index = pd.MultiIndex.from_frame(frame[["city", "id"]])
                if noted:
                    frame.attrs = {SECRET: SECRET}
                    frame.columns.name = SECRET
                    if shape != "events":
                        frame["who"] = frame["who"].cat.add_categories([MORE])
                found[f"{name} {noted}"] = dw.frames.release(
                    ALPHABET, frame, **_options(shape), drop_others=shape == "text"
                )
    first = of_pandas(found["the same False"])
    for name, each in found.items():
        assert of_pandas(each) == first, name
        assert SECRET.encode() not in pickle.dumps(each)


@pytest.mark.parametrize("shape", SHAPES)
def test_polars_frames_in_memory(shape: str) -> None:
    make = SHAPES[shape][0]
    kind = pa.int64() if shape == "numbers" else pa.string()
    found = {}
    for name, some in {"the same": BASE, **NEIGHBOURS}.items():
        if shape != "events" or "paid" not in name:
            for more in ([], [MORE]):
                frame = pl.DataFrame(make(some, kind))
                if shape != "events":
                    people = pl.Enum([*more, *frame["who"].unique(maintain_order=True)])
                    frame = frame.with_columns(pl.col("who").cast(people), pl.col("city").cast(pl.Categorical))
                found[f"{name} {more}"] = dw.frames.release(ALPHABET, frame, **_options(shape))
    first = of_polars(found["the same []"])
    for name, each in found.items():
        assert of_polars(each) == first, name


def test_lists_of_values_in_types_are_those_of_the_alphabet() -> None:
    """An Enum or a category of true words or symbols would tell which occur."""
    for some in (BASE, NEIGHBOURS["all symbols"]):
        texts = [" ".join(row["word"]) for row in some]
        frame = pl.DataFrame({"word": pl.Series(texts).cast(pl.Enum(list(dict.fromkeys(texts))))})
        out = dw.frames.release(ALPHABET, frame, invalid="skip", column="word", separator=" ")
        assert set(out["word"].dtype.categories) == set(out["word"])  # type: ignore[attr-defined]
        steps = make_steps(some)
        enums = pl.DataFrame(steps).with_columns(pl.all().cast(pl.Enum([*SYMBOLS[::-1], "9", SECRET])))
        assert dw.frames.release(ALPHABET, enums, columns="m*", invalid="skip").schema == dict.fromkeys(
            steps, pl.Enum(SYMBOLS)
        )
        categories = pd.DataFrame(steps).astype("category")
        for column in dw.frames.release(ALPHABET, categories, columns="m*", invalid="skip").items():
            assert column[1].cat.categories.tolist() == SYMBOLS


def make_steps(some: Rows) -> dict[str, list[str | None]]:
    return {f"m{step}": [(row["word"][step : step + 1] or [None])[0] for row in some] for step in range(4)}


def test_arrays_in_pandas_have_the_type_of_the_alphabet(tmp_path: Path) -> None:
    """Narrow arrays once made the release fail after the ledger was charged, with a drawn symbol in the message."""
    mechanism = dw.Exponential(dw.Words(range(400)), 1e-6)
    for widths in ((np.uint8, np.uint16), (np.uint8, np.uint8), (np.int64, np.uint8)):
        words = [np.array([1, 2], dtype=widths[0]), np.array([3, 4], dtype=widths[1])]
        frame = pd.DataFrame({"who": ["ann", "bob"], "word": pd.Series(words, dtype=object)})
        ledger = dw.Ledger(tmp_path / f"{widths[0].__name__}{widths[1].__name__}.db")
        out = dw.frames.release(mechanism, frame, column="word", by="who", ledger=ledger)
        assert [word.dtype for word in out["word"]] == [np.dtype(np.int64)] * 2
        assert ledger.spent("ann") == 1e-6


def test_python_objects_follow_the_first_row_that_comes_out() -> None:
    for gone in ((), [], np.array(["9"])):
        words = pd.Series([gone, ("1", "2"), ["3"]], dtype=object)
        out = dw.frames.release(ALPHABET, pd.DataFrame({"word": words}), column="word", invalid="skip")
        assert [type(word) for word in out["word"]] == [tuple, tuple]


def test_types_do_not_follow_from_the_words() -> None:
    """If no symbol, or only whole numbers occur, the alphabet decides, and not an error."""
    numbers, channel = dw.Exponential(dw.Words([1, 2, 1.5]), 1.0), dw.EditChannel("abc", 3.0)
    for words in ([[1, 2]], [[1, 1.5]]):
        out = dw.frames.release(numbers, pd.DataFrame({"word": pd.Series(words, dtype=object)}), column="word")
        assert all(type(symbol) is float for symbol in out["word"][0])
    for kind in (pa.table, pd.DataFrame, pl.DataFrame):
        assert len(dw.frames.release(channel, kind({"word": [[]]}), column="word")) == 1
    cells = dw.EditChannel([(0, 1), (0, 2), (1, 1)], 3.0)
    for first in ([], [(0, 1)]):
        out = dw.frames.release(
            cells, pd.DataFrame({"word": pd.Series([first, [(0, 1)]], dtype=object)}), column="word"
        )
        assert {type(symbol) for word in out["word"] for symbol in word} <= {tuple}


def test_views_slices_and_nulls_show_nothing_else() -> None:
    hidden = pa.StructArray.from_arrays([pa.array([SECRET, "x", "y"])], ["a"], mask=pa.array([True, False, False]))
    table = pa.table({"word": ["1", SECRET, "2"], "list": [["x"], [SECRET], ["y"]], "hidden": hidden})
    for some in (table, table.slice(0, 1)):
        out = dw.frames.release(ALPHABET, some, column="word", invalid="skip")
        assert SECRET.encode() not in arrow(out)
        assert SECRET.encode() not in pickle.dumps(out)
    views = table.append_column("views", pa.array([["x"], [SECRET], ["y"]], pa.list_view(pa.string())))
    with pytest.raises(dw.InvalidValue, match="column views has unions or views of lists"):
        dw.frames.release(ALPHABET, views, column="word", invalid="skip")
    coded = pl.DataFrame({"word": pl.Series([["1", "2"]], dtype=pl.Array(pl.Enum(SYMBOLS), 2))})
    assert dw.frames.release(ALPHABET, coded, column="word").schema == coded.schema
