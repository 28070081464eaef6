"""Reports of tables: where the answers go, with which types, and that nothing of the words stays beside them.

Most of these reports have ε = 10⁵, and words that have one answer only: it is then named alone, and can be checked.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpwords as dw

KEY = bytes(range(32))
HUGE = 1e5
LETTERS = dw.Report(dw.Words("abc"), HUGE, "symbols")
NAMES = dw.Report(dw.Words(["pay", "ship", "cancel"]), HUGE, "symbols")
PAIRS = dw.Report(dw.Words(["pay", "ship", "cancel"]), HUGE, "transitions")
MOVES = dw.GridWorld(2, 2)
CELLS = MOVES.by_states()


@pytest.mark.parametrize(
    ("report", "words", "kind", "answers"),
    [
        (NAMES, [["pay", "pay"], ["ship"]], pa.list_(pa.string()), [["pay"], ["ship"]]),
        (NAMES, [["pay", "pay"], ["ship"]], pa.large_list(pa.large_string()), [["pay"], ["ship"]]),
        (NAMES, [["pay", "pay"], ["ship", "ship"]], pa.list_(pa.string(), 2), [["pay"], ["ship"]]),
        (PAIRS, [["pay", "pay", "pay"], ["ship", "pay"]], pa.list_(pa.string()), [[["pay", "pay"]], [["ship", "pay"]]]),
        (dw.Report(dw.Words([1, 2]), HUGE, "symbols"), [[1, 1], [2]], pa.list_(pa.int8()), [[1], [2]]),
        (dw.Report(CELLS, HUGE), [[(0, 1)], [(1, 0)]], pa.list_(pa.list_(pa.int64())), [[[0, 1]], [[1, 0]]]),
        (dw.Report(CELLS, HUGE), [["0,1"], ["1,0"]], pa.list_(pa.string()), [["0,1"], ["1,0"]]),
        (
            dw.Report(CELLS, HUGE, "transitions"),
            [["0,1"], ["1,0"]],
            pa.list_(pa.string()),
            [[["0,0", "0,1"]], [["0,0", "1,0"]]],
        ),
        (dw.Report(MOVES, HUGE), [["E"], ["S"]], pa.list_(pa.string()), [[[0, 1]], [[1, 0]]]),
        (dw.Report(MOVES, HUGE, "transitions"), [["E"]], pa.list_(pa.string()), [[[[0, 0], [0, 1]]]]),
        (LETTERS, ["aa", "b"], pa.string(), ["a", "b"]),
        (LETTERS, ["aa", "b"], pa.dictionary(pa.int8(), pa.string()), ["a", "b"]),
        (NAMES, ["pay pay", "ship"], pa.large_string(), ["pay", "ship"]),
        (PAIRS, ["pay pay", "ship pay"], pa.string(), ["pay>pay", "ship>pay"]),
        (dw.Report(MOVES, HUGE), ["E", "S"], pa.string(), ["0,1", "1,0"]),
    ],
    ids=lambda value: str(value)[:40],
)
def test_answers_take_the_position_of_the_words(report: dw.Report, words: Any, kind: Any, answers: Any) -> None:
    table = pa.table({"w": pa.array(words, kind), "other": range(len(words))})
    released = dw.frames.release(report, table, column="w")
    assert released.schema.names == ["w", "other"]
    assert released["w"].to_pylist() == answers
    assert released["other"].to_pylist() == list(range(len(words)))


def test_several_items_as_text_and_as_lists_are_those_of_release_all() -> None:
    report = dw.Report(dw.Words("abcdef"), 0.5, "symbols")
    words = ["abc", "fed", "aaaa"] * 5
    ids = [str(number) for number in range(len(words))]
    named = report.release_all(words, ids, KEY)
    text = dw.frames.release(report, pa.table({"w": words, "n": ids}), "w", id="n", key=KEY)["w"].to_pylist()
    lists = dw.frames.release(report, pa.table({"w": list(map(list, words)), "n": ids}), "w", id="n", key=KEY)
    assert report.size == 2
    assert text == [" ".join(sorted(some)) for some in named]
    assert [frozenset(some) for some in lists["w"].to_pylist()] == named
    table = pa.table({"w": [";".join(word) for word in words], "n": ids})
    parted = dw.frames.release(report, table, column="w", separator=";", id="n", key=KEY)
    assert parted["w"].to_pylist() == [";".join(sorted(some)) for some in named]


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame], ids=["pyarrow", "polars", "pandas"])
def test_words_in_columns_are_answered_in_one(make: Any) -> None:
    table = make({"id": [7, 8], "m1": ["pay", "ship"], "m2": ["pay", None], "z": [0.5, 1.5]})
    released = dw.frames.release(NAMES, table, columns="m*")
    plain = released.to_pandas() if isinstance(released, pa.Table) else pd.DataFrame(released.to_dict())
    if isinstance(released, pl.DataFrame):
        plain = pd.DataFrame(released.to_dicts())
    assert list(plain.columns) == ["id", "answer", "z"]
    assert [list(some) for some in plain["answer"]] == [["pay"], ["ship"]]
    assert plain["id"].tolist() == [7, 8]
    few = dw.frames.release(NAMES, table, columns="m*", drop_others=True, id="id")
    assert list(getattr(few, "columns", []) if not isinstance(few, pa.Table) else few.schema.names) == ["id", "answer"]
    with pytest.raises(dw.InvalidValue, match="new column, answer, and there is one already: rename it"):
        dw.frames.release(NAMES, make({"answer": [1], "m1": ["pay"]}), columns="m*")


@pytest.mark.parametrize("make", [pa.table, pl.DataFrame, pd.DataFrame], ids=["pyarrow", "polars", "pandas"])
def test_each_case_of_a_log_has_one_row(make: Any) -> None:
    log = make({"c": [1, 2, 1], "act": ["pay", "ship", "pay"], "t": [2, 1, 1], "who": ["x", "y", "x"]})
    released = dw.frames.release(NAMES, log, case="c", symbol="act", order="t", by="who")
    if not isinstance(released, pa.Table):
        released = released.to_arrow() if isinstance(released, pl.DataFrame) else pa.Table.from_pandas(released)
    assert released.to_pydict() == {"c": [1, 2], "act": [["pay"], ["ship"]]}


def test_pandas_and_polars_columns() -> None:
    cells = dw.Report(CELLS, HUGE)
    frame = pd.DataFrame({"w": pd.Series([[(0, 1)], [(1, 0)]], index=[5, 3], dtype=object)})
    assert dw.frames.release(cells, frame, column="w")["w"].to_dict() == {5: [(0, 1)], 3: [(1, 0)]}
    steps = dw.Report(CELLS, HUGE, "transitions")
    assert dw.frames.release(steps, frame, column="w")["w"].tolist() == [[((0, 0), (0, 1))], [((0, 0), (1, 0))]]
    arrow = pd.DataFrame({"w": pd.Series([["E"]], dtype=pd.ArrowDtype(pa.list_(pa.string())))})
    (answer,) = dw.frames.release(dw.Report(MOVES, HUGE), arrow, column="w")["w"]
    assert [list(cell) for cell in answer] == [[0, 1]]
    series = dw.frames.release(NAMES, pl.Series("w", [["pay"], ["ship", "ship"]]))
    assert series.to_list() == [["pay"], ["ship"]]
    words = np.array(["aa", "b"], dtype=object)
    assert dw.frames.release(LETTERS, pd.Series(words)).tolist() == ["a", "b"]


def test_words_without_a_transition_are_refused_or_left_out() -> None:
    table = pa.table({"w": [["pay", "pay"], ["ship"], []]})
    with pytest.raises(dw.InvalidValue, match="row 2 has a word of one symbol, which has no transition to report"):
        dw.frames.release(PAIRS, table, column="w")
    skipped = dw.frames.release(PAIRS, table, column="w", invalid="skip")
    assert skipped["w"].to_pylist() == [[["pay", "pay"]]]
    with pytest.raises(dw.InvalidValue, match="row 3 has the empty word"):
        dw.frames.release(NAMES, table, column="w")


def test_a_shared_budget_names_more_items_of_those_who_have_several_words() -> None:
    """ε = 2 for one word, 1 for each of two: 225/(e^ε + 1) items, rounded to 27 and 61."""
    report = dw.Report(dw.Words(range(225)), 2.0, "symbols")
    table = pa.table({"w": [[1, 2], [3], [4]], "who": ["ann", "ann", "bob"]})
    released = dw.frames.release(report, table, column="w", by="who", budget=2.0)
    assert [len(some) for some in released["w"].to_pylist()] == [61, 61, 27]


def test_items_that_a_text_cannot_hold_are_refused() -> None:
    report = dw.Report(dw.Words("ab "), 1.0, "symbols")
    with pytest.raises(dw.InvalidValue, match="contains what separates items in a text"):
        dw.frames.release(report, pa.table({"w": ["a b"]}), column="w")
    assert dw.frames.release(report, pa.table({"w": [["a", " "]]}), column="w").num_rows == 1
