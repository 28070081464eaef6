"""What docs/frames.md says about Polars and DuckDB is so. Its code is run by test_readme."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import polars as pl
import pytest

import dpwords as dw

WORD = "abcabcabc"
MECHANISM = dw.Exponential(dw.Words("abc"), epsilon=1.0)


class Counting:
    """Releases columns, and counts their rows."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def __call__(self, words: Any) -> Any:
        self.rows.append(len(words))
        return dw.frames.release(MECHANISM, words)


@pytest.fixture
def connection() -> Iterator[Any]:
    with duckdb.connect() as opened:
        words = f"CASE WHEN i % 2 = 0 THEN '{WORD}' ELSE 'aaaaaaaaa' END"
        opened.sql(f"CREATE TABLE t AS SELECT {words} AS word FROM range(5000) numbers(i)")
        yield opened


def created(connection: Any, side_effects: bool) -> Counting:
    private = Counting()
    connection.create_function("private", private, ["VARCHAR"], "VARCHAR", type="arrow", side_effects=side_effects)
    return private


FILTERED = f"SELECT p FROM (SELECT private(word) AS p FROM t) WHERE p <> '{WORD}'"


def test_duckdb_without_side_effects_has_one_draw_for_all_rows(connection: Any) -> None:
    private = created(connection, side_effects=False)
    assert len(set(connection.sql(f"SELECT private('{WORD}') FROM range(5000)").fetchall())) == 1
    assert private.rows == [1]


def test_duckdb_without_side_effects_draws_twice_for_a_filter(connection: Any) -> None:
    """Of 2,500 equal words about 0.7% come out as they are: the filter drops them, and others take their place."""
    private = created(connection, side_effects=False)
    rows = connection.sql(FILTERED).fetchall()
    assert sum(private.rows) > 9_000
    assert (WORD,) in rows


def test_duckdb_with_side_effects_draws_each_row_once(connection: Any) -> None:
    """Two of 5,000 draws are equal with probability of about 0.6% at most, so most of them are different."""
    private = created(connection, side_effects=True)
    assert len(set(connection.sql(f"SELECT private('{WORD}') FROM range(5000)").fetchall())) > 2_000
    assert sum(private.rows) == 5_000
    private.rows.clear()
    assert (WORD,) not in connection.sql(FILTERED).fetchall()
    assert sum(private.rows) == 5_000


def test_duckdb_keeps_nulls(connection: Any) -> None:
    private = created(connection, side_effects=True)
    rows = connection.sql("SELECT private(CASE WHEN i % 2 = 0 THEN 'abc' END) FROM range(10) numbers(i)").fetchall()
    assert [row[0] is None for row in rows] == [False, True] * 5
    assert sum(private.rows) == 5


def test_polars_draws_at_every_evaluation() -> None:
    private = Counting()
    expression = pl.col("word").map_batches(private, return_dtype=pl.String)
    frame = pl.DataFrame({"word": [WORD] * 1000})
    assert frame.with_columns(expression)["word"].n_unique() > 500
    lazy = frame.lazy().select(one=expression, other=expression)
    assert not lazy.collect().equals(lazy.collect())
    assert sum(private.rows) == 5 * 1000  # once, and in each of two evaluations twice
    private.rows.clear()
    literal = pl.lit(WORD).map_batches(private, return_dtype=pl.String)
    assert frame.lazy().select(literal.alias("one"), "word").collect()["one"].n_unique() == 1
    assert private.rows == [1]


def test_polars_parts_are_independent() -> None:
    private = Counting()
    frame = pl.DataFrame({"word": [WORD] * 900, "group": [0, 1, 2] * 300})
    words = frame.group_by("group").agg(pl.col("word").map_batches(private, return_dtype=pl.String))
    assert private.rows == [300] * 3
    assert words["word"].explode().n_unique() > 400
