"""Words in the columns of a table, for every shape and type: they are read, released and written back.

Most of these releases have ε = 10⁵: the probability that any of the symbols changes is below e^(−99,000), so the words
must come out as they went in, and every difference is a fault of reading or writing.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw

CERTAIN = 1e5
CHARACTERS = dw.Words("abc")
WIDE_CHARACTERS = dw.Words("aß€🙂")
NAMES = dw.Words(["pay", "ship it", "öl"])
NUMBERS = dw.Words([0, 1, 200])
CELLS = dw.Words([(0, 1), (0, 2), (1, 0)])
TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
LISTS: list[Any] = [pa.list_, pa.large_list]


def same(language: dw.Words, table: Any, **where: Any) -> None:
    """A release that changes nothing returns an equal table, with the same schema. Encodings are not part of it."""
    released = dw.frames.release(dw.Exponential(language, CERTAIN), table, **where)
    released.validate(full=True)
    for field, was in zip(released.schema, table.schema, strict=True):
        assert str(field) == re.sub(
            "string_view", "large_string", re.sub(r"indices=u?int\d+", "indices=int32", str(was))
        )
    assert released.to_pylist() == table.to_pylist()


def column(values: list[Any], kind: Any) -> Any:
    """A table whose rows do not begin where their buffers begin."""
    return pa.table({"other": range(len(values) + 2), "word": pa.array([None, *values, None], kind)}).slice(
        1, len(values)
    )


@pytest.mark.parametrize("kind", TEXTS, ids=str)
@pytest.mark.parametrize(
    ("language", "texts", "separator"),
    [
        (CHARACTERS, ["abc", "a", "cabba"], None),
        (WIDE_CHARACTERS, ["aß€🙂", "a", "🙂🙂"], None),
        (CHARACTERS, ["a-b-c", "c"], "-"),
        (NAMES, ["pay;ship it;öl", "öl"], ";"),
        (NUMBERS, ["0 1 200", "1"], None),
        (NUMBERS, ["0=>1=>200", "1"], "=>"),
        (CELLS, ["0,1 0,2 1,0", "0,2"], None),
    ],
)
def test_text(kind: Any, language: dw.Words, texts: list[str], separator: str | None) -> None:
    same(language, column(texts, kind), column="word", separator=separator)


@pytest.mark.parametrize("kind", TEXTS, ids=str)
@pytest.mark.parametrize("outer", LISTS)
def test_lists_of_text(outer: Any, kind: Any) -> None:
    same(NAMES, column([["pay", "öl"], ["ship it"]], outer(kind)), column="word")
    same(NUMBERS, column([["0", "200"], ["1"]], outer(kind)), column="word")
    same(CELLS, column([["0,1", "1,0"], ["0,2"]], outer(kind)), column="word")
    same(NAMES, column([["pay", "öl"], ["ship it", "pay"]], pa.list_(kind, 2)), column="word")


@pytest.mark.parametrize("index", [pa.int8(), pa.uint16(), pa.int32()], ids=str)
@pytest.mark.parametrize("kind", TEXTS[:2], ids=str)
def test_dictionaries(index: Any, kind: Any) -> None:
    table = column([["pay", "öl"], ["ship it"]], pa.list_(pa.dictionary(index, kind)))
    same(NAMES, table, column="word")
    released = dw.frames.release(dw.Exponential(NAMES, CERTAIN), table, column="word")
    listed = released["word"].chunk(0).values.dictionary
    assert listed.to_pylist() == ["pay", "ship it", "öl"]  # the alphabet, and not what occurs
    same(CHARACTERS, column(["abc", "cab", "abc"], pa.dictionary(pa.int32(), kind)), column="word")


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int16(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("outer", LISTS)
def test_lists_of_numbers(outer: Any, kind: Any) -> None:
    same(NUMBERS, column([[0, 200], [1]], outer(kind)), column="word")
    same(NUMBERS, column([[0, 200], [1, 1]], pa.list_(kind, 2)), column="word")


@pytest.mark.parametrize("kind", [pa.uint8(), pa.int64()], ids=str)
def test_numbers_that_the_alphabet_writes_as_text(kind: Any) -> None:
    """On the command line all symbols are text, also where a file has numbers."""
    same(dw.Words(["0", "1", "200"]), column([[0, 200], [1]], pa.list_(kind)), column="word")


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.int64()),
        pa.large_list(pa.uint8()),
        pa.list_(pa.int16(), 2),
        pa.struct([("row", pa.int8()), ("column", pa.int32())]),
    ],
    ids=str,
)
def test_cells(kind: Any) -> None:
    same(CELLS, column([[(0, 1), (0, 2)], [(1, 0)]], pa.list_(kind)), column="word")


def test_tuples_of_tuples() -> None:
    symbols = [((0, 1), "a"), ((2, 1), "b")]
    kind = pa.struct([("cell", pa.list_(pa.int8())), ("name", pa.string())])
    same(dw.Words(symbols), column([symbols, symbols[1:]], pa.list_(kind)), column="word")


def test_wide() -> None:
    table = pa.table(
        {
            "m1": pa.array(["pay", "öl", "öl"], pa.large_string()),
            "other": [1, 2, 3],
            "m2": pa.array(["ship it", "pay", None]).dictionary_encode(),
            "m3": ["öl", None, None],
        }
    )
    for columns in ("m*", ["m1", "m2", "m3"], ["m1", "m2:m3"]):
        same(NAMES, table, columns=columns)
    same(NUMBERS, pa.table({"a": pa.array([0, 1], pa.int8()).cast(pa.uint8()), "b": [200.0, None]}), columns="a:b")
    same(CELLS, pa.table({"a": [[0, 1], [1, 0]], "b": [[0, 2], None]}), columns="a:b")


def test_empty_text_is_no_symbol_of_a_wide_row() -> None:
    """In files of text an empty cell stands for a null."""
    texts = {"a": ["a", "b"], "b": ["c", ""], "c": ["b", ""]}
    nulls = {"a": ["a", "b"], "b": ["c", None], "c": ["b", None]}
    for kind in (pa.string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())):
        table = pa.table({name: pa.array(values).cast(kind) for name, values in texts.items()})
        assert dw.frames.release(dw.Exponential(CHARACTERS, CERTAIN), table, columns="a:c").to_pydict() == nulls


def test_a_range_of_columns_goes_by_the_order_of_the_table() -> None:
    table = pa.table({"b": ["a"], "x": ["b"], "a": ["c"], "last": ["zzz"]})
    same(CHARACTERS, table, columns="b:a")
    with pytest.raises(dw.InvalidValue, match=r"the range a:b runs backwards: write b:a"):
        same(CHARACTERS, table, columns="a:b")


def test_the_only_column_needs_no_name() -> None:
    same(CHARACTERS, pa.table({"word": ["abc"]}))
    same(CHARACTERS, pa.table({"id": ["7"], "word": [["a", "b"]]}))
    with pytest.raises(dw.InvalidValue, match=r"say where the words are, .*: the columns are id, word"):
        same(CHARACTERS, pa.table({"id": ["7"], "word": ["abc"]}))


def test_tables_without_rows() -> None:
    for kind in (pa.string(), pa.list_(pa.string()), pa.list_(pa.string(), 3)):
        same(CHARACTERS, pa.table({"word": pa.array([], kind)}), column="word")
    same(CHARACTERS, pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}), columns="a:b")


@given(
    words=st.lists(st.lists(st.sampled_from(CELLS.alphabet.symbols), min_size=1, max_size=5), min_size=1, max_size=8),
    chunks=st.integers(1, 4),
)
def test_all_shapes_read_the_same_words(words: list[list[Any]], chunks: int) -> None:
    """With one key, the same words come out of every shape, whatever the chunks of the column."""
    mechanism, key = dw.Exponential(CELLS, 1.0), bytes(32)
    ids = pa.array([str(number) for number in range(len(words))])
    expected = mechanism.release_all(words, ids.to_pylist(), key)
    names = [[f"{row},{column}" for row, column in word] for word in words]
    most = max(map(len, words))
    padded = [[*word, *[None] * (most - len(word))] for word in words]
    tables = {
        "word": pa.table({"word": pa.array(words, pa.list_(pa.list_(pa.int64())))}),
        "text": pa.table({"word": [" ".join(word) for word in names]}),
        "list": pa.table({"word": names}),
    }
    for table in tables.values():
        named = table.append_column("n", ids)
        pieces = pa.concat_tables([named.slice(at, chunks) for at in range(0, len(words), chunks)])
        released = dw.frames.release(mechanism, pieces, column="word", id="n", key=key)["word"].to_pylist()
        split = [word.split() if isinstance(word, str) else word for word in released]
        assert [[cell_of(symbol) for symbol in word] for word in split] == expected
    steps = dict(enumerate(zip(*padded, strict=True)))
    wide = pa.table({str(position): pa.array(step, pa.list_(pa.int64())) for position, step in steps.items()})
    whole = wide.append_column("n", ids)
    rows = dw.frames.release(mechanism, whole, columns=wide.schema.names, id="n", key=key).drop("n").to_pylist()
    assert [[tuple(cell) for cell in row.values() if cell is not None] for row in rows] == expected


def cell_of(symbol: Any) -> tuple[int, ...]:
    """A cell from what a table has for it: a text such as 0,1, or a list."""
    return tuple(map(int, symbol.split(","))) if isinstance(symbol, str) else tuple(symbol)


def test_cells_of_fixed_size_in_one_column_for_each_step() -> None:
    """A cell has two numbers, whatever the number of steps."""
    cells = dw.Exponential(dw.GridWorld(3, 3).by_states(), epsilon=2)
    table = pa.table({"m1": pa.array([[0, 1], [1, 0]], pa.list_(pa.int64(), 2))})
    found = dw.frames.release(cells, table, columns=["m1"])
    assert found.schema == table.schema
    assert all(cell in ([0, 1], [1, 0]) for cell in found["m1"].to_pylist())
