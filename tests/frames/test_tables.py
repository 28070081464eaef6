"""Tables of pandas and Polars, and single columns: the kind that goes in comes out, with its types and its index.

Most of these releases have ε = 10⁵, at which no symbol ever changes: whatever differs is a fault of the conversion.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import polars.testing
import pyarrow as pa
import pytest

import dpwords as dw

CHARACTERS = dw.Exponential(dw.Words("abc"), 1e5)
NAMES = dw.Exponential(dw.Words(["pay", "ship", "cancel"]), 1e5)
NUMBERS = dw.Exponential(dw.Words([1, 2]), 1e5)
CELLS = dw.Exponential(dw.Words([(0, 1), (0, 2), (1, 0)]), 1e5)
KEY = bytes(range(32))


def same(mechanism: Any, frame: Any, **where: Any) -> None:
    released = dw.frames.release(mechanism, frame, **where)
    if isinstance(frame, pd.DataFrame):
        pd.testing.assert_frame_equal(released, frame)
    else:
        polars.testing.assert_frame_equal(released, frame)


@pytest.mark.parametrize(
    "dtype", ["str", object, "string", "string[pyarrow]", pd.ArrowDtype(pa.large_string())], ids=str
)
def test_pandas_text(dtype: Any) -> None:
    """The other column holds what Arrow has no type for."""
    frame = pd.DataFrame({"word": ["abc", "a"], "other": [object(), 3]}, index=["x", "y"])
    same(CHARACTERS, frame.astype({"word": dtype}), column="word")


WORDS: list[tuple[Any, list[Any]]] = [
    (NAMES, [["pay", "ship"], ["cancel"]]),
    (NAMES, [("pay", "ship"), ("cancel",)]),
    (NUMBERS, [[1, 2], [2]]),
    (NUMBERS, [np.array([1, 2]), np.array([2])]),
    (CELLS, [[(0, 1), (0, 2)], [(1, 0)]]),
    (CELLS, [((0, 1), (0, 2)), ((1, 0),)]),
    (CELLS, [[[0, 1], [0, 2]], [[1, 0]]]),
]


@pytest.mark.parametrize(("mechanism", "words"), WORDS, ids=lambda value: str(value)[:30])
def test_pandas_lists_come_out_as_they_went_in(mechanism: Any, words: list[Any]) -> None:
    frame = pd.DataFrame({"word": pd.Series(words, index=[7, 5], dtype=object)})
    released = dw.frames.release(mechanism, frame, column="word")
    assert list(released.index) == [7, 5]
    for word, was in zip(released["word"], words, strict=True):
        assert type(word) is type(was)
        if isinstance(was, np.ndarray):
            assert word.dtype == was.dtype
            assert word.tolist() == was.tolist()
        else:
            assert word == was


def test_pandas_arrays_of_text_are_not_cut_off() -> None:
    """At ε near 0 the symbols of the output are longer than those of the input, which has arrays of 3 letters."""
    mechanism = dw.Exponential(NAMES.language, 1e-6).seeded(1)
    frame = pd.DataFrame({"word": [np.array(["pay"] * 50)]})
    assert set(dw.frames.release(mechanism, frame, column="word")["word"][0]) == {"pay", "ship", "cancel"}


def test_pandas_wide() -> None:
    steps = pd.CategoricalDtype(["pay", "ship", "cancel"])
    frame = pd.DataFrame({"id": [1, 2], "m1": pd.Series(["pay", "ship"], dtype=steps), "m2": ["ship", None]})
    same(NAMES, frame, columns="m*")
    same(NUMBERS, pd.DataFrame({0: [1, 2], 1: [2, np.nan], 2: pd.array([1, None], dtype="Int64")}), columns="0:2")
    same(CELLS, pd.DataFrame({"a": [(0, 1), (1, 0)], "b": [(0, 2), None]}), columns=["a", "b"])


def test_categories_are_those_of_the_alphabet() -> None:
    """Those of the input show what occurs in it."""
    alphabet = ["pay", "ship", "cancel"]
    frame = pd.DataFrame({"a": pd.Categorical(["ship", "pay"]), "b": pd.Categorical(["pay", "pay"], ordered=True)})
    released = dw.frames.release(NAMES, frame, columns="a:b")
    assert released["a"].cat.categories.tolist() == alphabet
    assert released["b"].cat.categories.tolist() == alphabet
    assert released["b"].cat.ordered
    assert released.astype(str).to_dict("list") == frame.astype(str).to_dict("list")
    words = dw.frames.release(CHARACTERS, pd.DataFrame({"word": pd.Categorical(["cab", "a", "cab"])}), column="word")
    assert words["word"].tolist() == ["cab", "a", "cab"]
    assert isinstance(words["word"].dtype, pd.CategoricalDtype)


POLARS: list[tuple[Any, list[Any], Any]] = [
    (CHARACTERS, ["abc", "a"], pl.String),
    (CHARACTERS, ["abc", "a"], pl.Categorical),
    (NAMES, [["pay", "ship"], ["cancel"]], pl.List(pl.String)),
    (NAMES, [["pay", "ship"], ["cancel"]], pl.List(pl.Categorical)),
    (NAMES, [["pay", "ship"], ["cancel"]], pl.List(pl.Enum(["pay", "ship", "cancel"]))),
    (NAMES, [["pay", "ship"], ["cancel", "pay"]], pl.Array(pl.String, 2)),
    (NUMBERS, [[1, 2], [2]], pl.List(pl.UInt8)),
    (CELLS, [[[0, 1], [0, 2]], [[1, 0]]], pl.List(pl.List(pl.Int64))),
    (CELLS, [[[0, 1], [0, 2]], [[1, 0]]], pl.List(pl.Array(pl.Int8, 2))),
    (CELLS, [[{"row": 0, "column": 1}]], pl.List(pl.Struct({"row": pl.Int32, "column": pl.Int8}))),
]


@pytest.mark.parametrize(("mechanism", "words", "dtype"), POLARS, ids=lambda value: str(value)[:40])
def test_polars(mechanism: Any, words: list[Any], dtype: Any) -> None:
    """The other column holds what Arrow has no type for."""
    frame = pl.DataFrame(
        {"word": pl.Series(words).cast(dtype), "other": pl.Series([object()] * len(words), dtype=pl.Object)}
    )
    released = dw.frames.release(mechanism, frame, column="word")
    assert released.schema == frame.schema
    assert released["word"].to_list() == frame["word"].to_list()
    assert released["other"].to_list() == frame["other"].to_list()


def test_polars_wide() -> None:
    steps = pl.DataFrame({"m1": ["pay", "ship"], "id": [1, 2], "m2": ["ship", None]})
    same(NAMES, steps.cast({"m1": pl.Categorical, "m2": pl.Enum(["pay", "ship", "cancel"])}), columns="m*")


def test_an_enum_has_every_symbol_afterwards() -> None:
    step, lists = pl.Enum(["ship", "pay"]), pl.List(pl.Enum(["pay", "other"]))
    frame = pl.DataFrame({"step": pl.Series(["pay"]).cast(step), "word": pl.Series([["pay"]]).cast(lists)})
    every = pl.Enum(["pay", "ship", "cancel"])
    assert dw.frames.release(NAMES, frame, columns=["step"]).schema["step"] == every
    assert dw.frames.release(NAMES, frame, column="word").schema["word"] == pl.List(every)


def test_all_kinds_of_tables_have_the_same_draws() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 1.0, k=2)
    words = {"id": [3, 1, 2, 9], "word": ["abc", "a", "cab", "bd"]}
    options: dict[str, Any] = {"column": "word", "id": "id", "key": KEY, "invalid": "skip"}
    expected = dw.frames.release(mechanism, pa.table(words), **options).to_pydict()
    assert expected["id"] == [3, 1, 2]
    assert dw.frames.release(mechanism, pa.RecordBatch.from_pydict(words), **options).to_pydict() == expected
    released = dw.frames.release(mechanism, pd.DataFrame(words, index=list("wxyz")), **options)
    assert released.to_dict("list") == expected
    assert list(released.index) == ["w", "x", "y"]
    assert dw.frames.release(mechanism, pl.DataFrame(words), **options).to_dict(as_series=False) == expected


def test_what_goes_in_is_not_changed() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 1e-6)
    frame, polars_frame = pd.DataFrame({"word": ["abc"] * 9}), pl.DataFrame({"word": ["abc"] * 9})
    dw.frames.release(mechanism, frame)
    dw.frames.release(mechanism, polars_frame)
    assert frame["word"].tolist() == polars_frame["word"].to_list() == ["abc"] * 9


def test_single_columns() -> None:
    series = pd.Series(["abc", "a"], index=[4, 2], name="route")
    pd.testing.assert_series_equal(dw.frames.release(CHARACTERS, series), series)
    polars_series = pl.Series("route", ["abc", "a"])
    polars.testing.assert_series_equal(dw.frames.release(CHARACTERS, polars_series), polars_series)
    array = pa.array([["pay", "ship"], ["cancel"]])
    assert dw.frames.release(NAMES, array) == array
    chunks = pa.chunked_array([["pay ship", "cancel"], [], ["pay"]])
    assert dw.frames.release(NAMES, chunks) == chunks
    assert dw.frames.release(NAMES, pa.array(["pay;ship", "x"]), separator=";", invalid="skip").to_pylist() == [
        "pay;ship"
    ]


def test_single_columns_have_no_key() -> None:
    """They can be parts of a longer column, and row numbers would give the same draws to rows of several parts."""
    for options in ({"key": KEY}, {"id": "words"}, {"column": "words"}, {"ledger": object()}):
        with pytest.raises(dw.InvalidValue, match="a column without a table takes only separator=, invalid= and any"):
            dw.frames.release(CHARACTERS, pa.array(["abc"]), **options)


class Tagged(pa.ExtensionType):
    """A type of somebody's own. Unlike types of pyarrow, it has no hash."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "tests.tagged")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


def test_a_column_of_an_extension_type_is_copied_by_value() -> None:
    others = pa.ExtensionArray.from_storage(Tagged(), pa.array(["x", None]))
    released = dw.frames.release(CHARACTERS, pa.table({"word": ["ab", "c"], "other": others}), column="word")
    assert released.schema == pa.schema([("word", pa.string()), ("other", pa.string())])
    assert released["other"].to_pylist() == ["x", None]


def test_what_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="a LazyFrame has no rows yet, and each collect would draw again"):
        dw.frames.release(CHARACTERS, pl.DataFrame({"word": ["a"]}).lazy(), column="word")
    with pytest.raises(dw.InvalidValue, match="two columns of the table have the same name"):
        dw.frames.release(CHARACTERS, pd.DataFrame([["a", "b"]], columns=["word", "word"]), column="word")
    with pytest.raises(dw.InvalidValue, match="two columns of the table have the same name"):
        dw.frames.release(CHARACTERS, pd.DataFrame([["a", "b"]], columns=[1, "1"]), column="1")
    with pytest.raises(dw.InvalidValue, match="column word has values of several kinds") as caught:
        dw.frames.release(CHARACTERS, pd.DataFrame({"word": ["secret", 1]}, dtype=object), column="word")
    assert "secret" not in str(caught.value)


def test_pyarrow_is_an_extra() -> None:
    """Where it is not installed, one line tells how to get it; the package itself works without it."""
    script = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "import dpwords as dw\n"
        "assert dw.Exponential(dw.Words('ab'), 1.0).release('ab')\n"
        "try:\n    dw.frames.release(dw.Exponential(dw.Words('ab'), 1.0), None)\n"
        "except dw.MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "tables need pyarrow: pip install 'dpwords[frames]'"
