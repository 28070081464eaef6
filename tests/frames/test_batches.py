"""One batch of rows after the other: what is drawn does not depend on how a table is cut; bad rows; k; ε by row."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.frames.batches import BatchRelease
from dpwords.frames.requests import Request
from dpwords.frames.rows import ArrowRows
from dpwords.frames.shapes import shape_of
from dpwords.frames.word_table import Survey, WordTable

KEY = bytes(range(32))
FREE = dw.Words("abc")
WORDS = ["abc", "a", "cab", "bb", "abc", "abcabc", "c", "ba", "aaa", "cc"]
TABLE = pa.table({"name": [f"row {number}" for number in range(10)], "word": WORDS})


def released(release: BatchRelease, table: Any, cuts: list[int]) -> list[Any]:
    """The rows that come out of a table cut at some positions."""
    rows: list[Any] = []
    for begin, end in zip([0, *cuts], [*cuts, len(table)], strict=True):
        for batch in table.slice(begin, end - begin).combine_chunks().to_batches():
            rows += release(batch, begin).to_pylist()
    return rows


def batch_release(mechanism: Any, **options: Any) -> BatchRelease:
    return BatchRelease(mechanism, shape_of(TABLE.schema, mechanism.language, "word"), KEY, **options)


@given(cuts=st.lists(st.integers(0, 10)).map(sorted), name=st.sampled_from([None, "name"]), k=st.integers(1, 3))
def test_cuts_do_not_matter(cuts: list[int], name: str | None, k: int) -> None:
    release = batch_release(dw.Exponential(FREE, 1.0, k=k), id=name)
    assert released(release, TABLE, cuts) == released(release, TABLE, [])


def test_rows_with_ids_may_come_in_any_order_and_on_any_machine() -> None:
    release = batch_release(dw.Exponential(FREE, 1.0, k=2), id="name")
    elsewhere = pickle.loads(pickle.dumps(release))
    backwards = TABLE.take(pa.array(range(9, -1, -1)))
    assert released(elsewhere, backwards, [4])[::-1] == released(release, TABLE, [])
    assert "key" not in repr(release)


def test_a_keyed_release_is_that_of_the_mechanism() -> None:
    mechanism = dw.Exponential(FREE, 1.0)
    table = dw.frames.release(mechanism, TABLE, "word", id="name", key=KEY)
    assert table["word"].to_pylist() == mechanism.release_all(WORDS, ids=TABLE["name"].to_pylist(), key=KEY)
    names: list[Any] = [
        pa.array(range(70, 80), pa.int16()),
        pa.array(range(70, 80)).dictionary_encode(),
        pa.array(range(-5, 5), pa.int64()),
        pa.array(range(2**64 - 10, 2**64), pa.uint64()),
        pa.array([f"ß{number}" for number in range(10)], pa.string_view()),
        pa.array([f"ß{number}" for number in range(10)]).dictionary_encode(),
    ]
    for ids in names:  # named by text, as in a CSV file
        table = dw.frames.release(mechanism, TABLE.set_column(0, "name", ids), "word", id="name", key=KEY)
        assert table["word"].to_pylist() == mechanism.release_all(WORDS, ids=list(map(str, ids.to_pylist())), key=KEY)


def test_a_key_that_is_reused_needs_ids_of_its_own_for_each_row() -> None:
    """Without ids, rows would be known by their numbers, which are the same in the next table."""
    mechanism, log = dw.Exponential(FREE, 1.0), pa.table({"case": [1, 1, 2], "event": ["a", "b", "c"]})
    with pytest.raises(
        dw.InvalidValue, match=r"a key that is reused needs ids that name the words, .*: name the column"
    ):
        dw.frames.release(mechanism, TABLE, "word", key=KEY)
    first, second = (dw.frames.release(mechanism, log, case="case", symbol="event", key=KEY) for _ in range(2))
    assert first == second  # the case is the id


@pytest.mark.parametrize("kind", [pa.binary(2), pa.large_binary()], ids=str)
def test_bytes_are_no_ids_because_nobody_knows_which_text_they_are(kind: Any) -> None:
    ids = pa.array([bytes([number, 0]) for number in range(10)], kind)
    with pytest.raises(dw.InvalidValue, match=r"ids are text or whole numbers, and column name has type .*binary"):
        dw.frames.release(dw.Exponential(FREE, 1.0), TABLE.set_column(0, "name", ids), "word", id="name")


MECHANISMS: list[tuple[Any, list[str]]] = [
    (dw.Exponential(dw.GridWorld(3, 3), 2.0), ["SE", "SSEE", "ES", "EESS"]),
    (dw.Exponential(dw.GridWorld(3, 3), 2.0, k=2), ["SE", "SSEE", "ES", "EESS"]),
    (dw.Online(dw.GridWorld(3, 3), 2.0), ["SE", "SSEE", "ES", "EESS"]),
    (dw.best(dw.GridWorld(3, 3), 2.0, length=None), ["SE", "SSEE", "ES", "EESS"]),
    (dw.Exponential(dw.Lexicon(["cat", "cut", "dog"]), 2.0), ["cat", "dog"]),
    (dw.Exponential(dw.Lexicon(["cat", "coat", "dog", ""]), 2.0, distance="levenshtein"), ["coat", "", "dog"]),
    (dw.EditChannel("NSEW", 3.0, onto=dw.GridWorld(3, 3)), ["SE", "NN", ""]),
]


@pytest.mark.parametrize(("mechanism", "words"), MECHANISMS, ids=lambda value: repr(value)[:40])
def test_all_mechanisms_release_tables(mechanism: Any, words: list[str]) -> None:
    ids = [str(number) for number in range(len(words))]
    table = dw.frames.release(mechanism, pa.table({"word": words, "id": ids}), "word", id="id", key=KEY)
    assert table["word"].to_pylist() == mechanism.release_all(words, ids, KEY)
    split = pa.table({"word": pa.array(list(map(list, words))), "id": ids})
    lists = dw.frames.release(mechanism, split, "word", id="id", key=KEY)
    assert lists["word"].to_pylist() == list(map(list, table["word"].to_pylist()))


def test_a_short_word_has_its_length_as_k() -> None:
    """Two symbols at k = 3 are released as by the mechanism with k = 2."""
    mechanism = dw.Exponential(FREE, 1.0, k=3)
    rows = dw.frames.release(mechanism, TABLE, "word", id="name", key=KEY)["word"].to_pylist()
    for name, word, row in zip(TABLE["name"].to_pylist(), WORDS, rows, strict=True):
        own = dw.Exponential(FREE, 1.0, k=min(3, len(word)))
        assert [row] == own.release_all([word], ids=[name], key=KEY)


def test_each_row_has_its_own_epsilon() -> None:
    """Of 20,000 symbols at ε, a proportion of e^ε/(e^ε + 2) stays; the bound is 5 standard deviations. ε = 0: left
    out."""
    size = 20_000
    table = pa.table({"name": [""] * 3 * size, "word": ["a"] * 3 * size})
    epsilons = np.repeat([0.5, 2.0, 0.0], size)
    release = batch_release(dw.Exponential(FREE, 1.0))
    (batch,) = table.to_batches()
    kept = np.array(release(batch, 0, epsilons).column("word").to_pylist()) == "a"
    assert len(kept) == 2 * size
    for part, epsilon in zip(kept.reshape(2, size), (0.5, 2.0), strict=True):
        proportion = math.exp(epsilon) / (math.exp(epsilon) + 2)
        assert abs(part.mean() - proportion) < 5 * math.sqrt(proportion * (1 - proportion) / size)


def test_without_a_key_draws_are_fresh() -> None:
    """Two releases of 1,000 symbols at ε = 0.1 are equal with probability below 0.4^1000."""
    table = pa.table({"word": ["abc" * 10] * 34})
    mechanism = dw.Exponential(FREE, 0.1)
    assert dw.frames.release(mechanism, table) != dw.frames.release(mechanism, table)
    assert dw.frames.release(mechanism.seeded(1), table) == dw.frames.release(mechanism.seeded(1), table)


def test_mechanisms_that_change_lengths() -> None:
    """At ε = 60 on 3 symbols fewer than one of 10^10 symbols is edited."""
    channel = dw.EditChannel("abc", epsilon=60)
    table = pa.table({"word": [["a", "b"], [], ["c"]], "text": ["ab", "", "c"]})
    assert dw.frames.release(channel, table, "word") == table
    assert dw.frames.release(channel, table, "text") == table
    lengths = dw.frames.release(dw.EditChannel("abc", epsilon=3), pa.table({"word": ["abc"] * 200}))["word"]
    assert {len(word) for word in lengths.to_pylist()} > {3}
    with pytest.raises(
        dw.InvalidValue, match="changes the lengths of words, and a table has a fixed number of columns"
    ):
        dw.frames.release(channel, pa.table({"a": ["a"], "b": ["b"]}), columns="a:b")
    fixed = pa.table({"word": pa.array([["a", "b"]], pa.list_(pa.string(), 2))})
    with pytest.raises(dw.InvalidValue, match="this column has lists of one length: change its type"):
        dw.frames.release(channel, fixed)


LISTS = pa.list_(pa.string())
BAD: list[tuple[Any, Any, str]] = [
    (["abc", None], pa.string(), "row 2 has no word, its value is null"),
    (["abc", "abd"], pa.string(), r"row 2 has a word that is not in the language \(symbol 3 of 3 is not in the alpha"),
    (
        ["abc", "aß"],
        pa.string(),
        r"row 2 has a word that is not in the language \(symbol 2 of 2 is not in the alphabet",
    ),
    (["abc", ""], pa.string(), "row 2 has the empty word, which has nothing to hide"),
    ([["a"], None], LISTS, "row 2 has no word"),
    ([["a"], ["b", None]], LISTS, r"row 2 has a word .* \(symbol 2 of 2 is not in the alphabet\)"),
    ([["a"], ["b", "ab"]], LISTS, r"row 2 has a word .* \(symbol 2 of 2 is not in the alphabet\)"),
    ([["a"], []], LISTS, "row 2 has the empty word"),
    ([["a", "b"], None], pa.list_(pa.string(), 2), "row 2 has no word"),
]


@pytest.mark.parametrize(("values", "kind", "message"), BAD, ids=lambda value: str(value)[:20])
def test_rows_that_break_the_rule(values: list[Any], kind: Any, message: str) -> None:
    table = pa.table({"word": pa.array(values, kind), "other": [1, 2]})
    mechanism = dw.Exponential(FREE, 1e5)
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        dw.frames.release(mechanism, table, "word")
    assert "\n" not in str(caught.value)
    assert "abd" not in str(caught.value)
    assert "invalid='skip'" in str(caught.value)
    assert dw.frames.release(mechanism, table, "word", invalid="skip") == table.slice(0, 1)


def test_wide_rows_that_break_the_rule() -> None:
    table = pa.table({"a": ["a", "a", None, None], "b": ["b", None, None, "c"], "c": ["c", "c", None, None]})
    mechanism = dw.Exponential(FREE, 1e5)
    assert dw.frames.release(mechanism, table, columns="a:c", invalid="skip") == table.slice(0, 1)
    with pytest.raises(dw.InvalidValue, match="row 2 has a null before its last symbol"):
        dw.frames.release(mechanism, table, columns="a:c")
    with pytest.raises(dw.InvalidValue, match="row 1 has the empty word"):
        dw.frames.release(mechanism, table.slice(2), columns="a:c")


def test_words_that_are_no_runs() -> None:
    world = dw.GridWorld(3, 3)
    table = pa.table({"word": ["SE", "NE", "SSS", "SSEE", "SSEEE"], "row": range(5)})
    mechanism = dw.Exponential(world, 1.0)
    with pytest.raises(dw.NotInLanguage, match=r"row 2 .* \(symbol 1 of 2 cannot follow the ones before it\)"):
        dw.frames.release(mechanism, table, "word")
    kept = dw.frames.release(mechanism, table, "word", invalid="skip")
    assert kept["row"].to_pylist() == [0, 3]
    assert all(map(world.accepts, kept["word"].to_pylist()))


def surveyed(request: Request, table: pa.Table, mechanism: Any) -> Survey:
    """The survey that has seen all words of a table."""
    words = WordTable.of(ArrowRows(table), request, mechanism, KEY)
    survey = words.survey()
    assert sum(len(batch) for batch, _ in words.surveyed(survey)) == len(table)
    return survey


def test_words_outside_of_the_language_onto_which_a_channel_projects() -> None:
    """They may go in, unless the user says that words have to be inside of that language."""
    table = pa.table({"word": ["SE", "NE", "SS"]})
    channel = dw.EditChannel("NSEWX", 30.0, onto=dw.GridWorld(3, 3))
    survey = surveyed(Request("word"), table, channel)
    assert survey.plan().skipped == 0
    survey = surveyed(Request("word", inside=channel.projected_onto, invalid="skip"), table, channel)
    assert survey.plan().skipped == 1
    with pytest.raises(dw.NotInLanguage, match=r"row 2 .* \(symbol 1 of 2 cannot follow"):
        surveyed(Request("word", inside=channel.projected_onto), table, channel)


def test_other_columns() -> None:
    table = pa.table({"other": [1, 2], "word": ["ab", "ba"], "name": ["x", "y"]}).replace_schema_metadata({"who": "me"})
    mechanism = dw.Exponential(FREE, 1e5)
    assert dw.frames.release(mechanism, table, "word") == table
    assert dw.frames.release(mechanism, table, "word").schema.metadata is None
    assert dw.frames.release(mechanism, table, "word", drop_others=True) == table.select(["word"])
    assert dw.frames.release(mechanism, table, "word", id="name", drop_others=True) == table.select(["word", "name"])


def test_rows_can_be_left_out_of_columns_of_every_type() -> None:
    """Arrow itself takes no rows from views of text, as Polars passes them on."""
    kinds = (pa.string_view(), pa.list_(pa.string_view()), pa.list_(pa.int8(), 1), pa.struct([("a", pa.string())]))
    values: list[list[Any]] = [["x", "y", "z", None], [["x"], [], None, ["z"]], [[1], [2], [3], None], [{"a": "x"}] * 4]
    others = {str(kind): pa.array(some, kind) for kind, some in zip(kinds, values, strict=True)}
    table = pa.table({"word": ["ab", None, "c", "a"], **others})
    mechanism = dw.Exponential(FREE, 1e5)
    expected = [row for row in table.to_pylist() if row["word"] is not None]
    for chunks in (table, pa.concat_tables([table.slice(0, 3), table.slice(3)])):
        assert dw.frames.release(mechanism, chunks, "word", invalid="skip").to_pylist() == expected
    (batch,) = table.to_batches()
    release = BatchRelease(mechanism, shape_of(table.schema, FREE, "word"), KEY, invalid="skip")
    assert release(batch).to_pylist() == expected
    assert release(batch.slice(1, 1)).num_rows == 0


SYMBOLS: list[tuple[Any, Any]] = [
    ([0, 300], pa.list_(pa.int8())),
    (["a", "b"], pa.list_(pa.int64())),
    ([0, 1], pa.list_(pa.list_(pa.int64()))),
    ([(0, 1)], pa.list_(pa.int64())),
    ([(0, 1), (0, 1, 2)], pa.list_(pa.list_(pa.int64()))),
    ([(0, 1)], pa.list_(pa.list_(pa.int64(), 3))),
    ([(0, 1)], pa.list_(pa.struct([("row", pa.int64())]))),
    ([0.5], pa.list_(pa.int64())),
    ([0.5], pa.list_(pa.float16())),
]


@pytest.mark.parametrize(("symbols", "kind"), SYMBOLS, ids=str)
def test_symbols_that_are_no_values_of_the_column(symbols: Any, kind: Any) -> None:
    """Whether they are is found out before anything is drawn, and does not depend on the words."""
    with pytest.raises(dw.InvalidValue, match="not every symbol of the language is one: change the column's type, or"):
        dw.frames.release(dw.Exponential(dw.Words(symbols), 1.0), pa.table({"word": pa.array([], kind)}))


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"column": "work"}, "there is no column work: the columns are name, word"),
    ({"column": 1}, "a column is named by a text"),
    ({"columns": [1]}, "a column is named by a text"),
    ({"columns": "m*"}, r"no column is called m\*, and none matches it: the columns are name, word"),
    ({"columns": []}, "columns= names no column"),
    ({"columns": ["word", "w*"]}, "columns= names a column twice"),
    ({"column": "word", "columns": "w*"}, "do not go with columns="),
    ({"column": "word", "id": "ids"}, "there is no column ids"),
    ({"column": "word", "id": "word"}, "a column of words cannot be the id or the person as well"),
    ({"column": "word", "invalid": "repair"}, "invalid is 'fail', .* or 'skip'"),
    ({"column": "word", "separator": ""}, "a separator needs at least one character"),
    ({"column": "word", "id": "name", "key": b"short"}, "a key must be 32 bytes"),
    ({"column": "word", "split": "equal"}, "split= says how a budget is divided"),
]


@pytest.mark.parametrize(("options", "message"), FAULTS, ids=lambda value: str(value)[:40])
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.frames.release(dw.Exponential(FREE, 1.0), TABLE, **options)


def test_tables_that_are_refused() -> None:
    mechanism = dw.Exponential(FREE, 1.0)
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"])], names=["word", "word"])
    with pytest.raises(dw.InvalidValue, match="two columns of the table have the same name"):
        dw.frames.release(mechanism, twice, "word")
    with pytest.raises(dw.InvalidValue, match="a table is a pyarrow Table, a pandas DataFrame or a Polars DataFrame"):
        dw.frames.release(mechanism, [["a"]], "word")
    with pytest.raises(dw.InvalidValue, match="words are in a column of lists or of text, and this one has type int64"):
        dw.frames.release(mechanism, pa.table({"word": [1]}), "word")
    with pytest.raises(dw.InvalidValue, match="separator= is for a column of text, and this one has lists"):
        dw.frames.release(mechanism, pa.table({"word": [["a"]]}), "word", separator=";")
    with pytest.raises(dw.InvalidValue, match="mechanisms with a proven guarantee"):
        dw.frames.release(dw.PaperLiteral(FREE, 1.0), pa.table({"word": ["a"]}), "word")  # type: ignore[arg-type]


def test_ids_that_are_refused() -> None:
    mechanism = dw.Exponential(FREE, 1.0)
    for ids, message in (
        (["x", "x"], "two rows have the same id in column id, and ids tell draws apart: name a column that differs"),
        (["x", None], "row 2 has no value in column id, which tells rows or people apart"),
        ([0.5, 1.5], "ids are text or whole numbers, and column id has type double"),
    ):
        with pytest.raises(dw.InvalidValue, match=message):
            dw.frames.release(mechanism, pa.table({"word": ["a", "b"], "id": ids}), "word", id="id")
