"""Small files that stand for much are read in little memory, or refused in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest

from dpwords.frames.arrays import parts, row_sizes
from hostile_tables import FILES, LONG
from paths import HELPERS

REFUSED = {
    "a long list": "TooLarge: row 1 of t.parquet takes more than 256 MiB when it is decoded: leave it out, or split it",
    "many columns": "TooLarge: t.csv.gz has more than 65536 columns: write symbols one below the other",
    "a row of many lines": "TooLarge: row 1 of t.csv.gz is longer than 32 MiB: see whether its quotes are closed",
}
DIVIDED = {"empty cells": 53, "empty objects": 350, "keys that differ": 60}  # by their cells


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is set on Linux")
def test_small_files_that_stand_for_much() -> None:
    """A file of 433 bytes has 65,536 texts of 1 MiB, 64 GiB together; it is read under 768 MiB, 16 rows at a time."""
    script = HELPERS / "hostile_tables.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    assert found.keys() == FILES.keys()
    assert found["text"][0] < 500
    assert {title: said for title, (_, said) in found.items() if isinstance(said, str)} == REFUSED
    for title, (size, rows) in found.items():
        assert size < 4 * len(LONG), title
        assert title in REFUSED or all(1 <= number <= DIVIDED.get(title, 16) for number in rows), (title, rows)


@pytest.mark.parametrize(
    ("column", "sizes"),
    [
        (pa.array(["ab", None, "ü"]), [2, 0, 2]),
        (pa.array(["ab", None, "c", "ab"]).dictionary_encode()[1:], [0, 1, 2]),
        (pa.array(["x" * 40, None, "c"], pa.string_view())[1:], [0, 1]),
        (pa.array([b"abc", b""], pa.large_binary()), [3, 0]),
        (pa.array([b"abc"], pa.binary(3)), [3]),
        (pa.array([["a", "bb"], None, [], ["c"]]), [2 + 3, 0, 0, 2]),
        (pa.array([["a", "bb"], [], ["c"]])[1:], [0, 2]),
        (pa.array([[1, 2], [3, 4]], pa.list_(pa.int16(), 2))[1:], [2 * 3]),
        (pa.array([{"x": "abc", "y": 1}]), [1 + 3 + 8]),
        (pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())), [1 + 1 + 1 + 1]),
        (pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(["abc", "d"]))[1:4], [3, 1, 1]),
        (
            pa.ListViewArray.from_arrays(
                pa.array([0, 0, 1], pa.int32()), pa.array([3, 3, 1], pa.int32()), pa.array(["a", "bb", "c"])
            ),
            [2 + 3 + 2, 2 + 3 + 2, 3],
        ),
        (
            pa.UnionArray.from_dense(
                pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array(["abcdefghi"]), pa.array([1])]
            ),
            [9, 9],
        ),
        (pa.array([True, None]), [1, 1]),
        (pa.nulls(2), [1, 1]),
    ],
)
def test_sizes_of_rows_that_are_written_out(column: Any, sizes: list[int]) -> None:
    """Lists take a byte for each value more than the values do; in a union, all rows count as the largest."""
    assert row_sizes(column).tolist() == sizes


def test_batches_are_divided_by_what_they_take() -> None:
    """Rows of 6 MiB go two at a time into batches of 16 MiB, small rows by the number of rows; none gets lost."""
    large = pa.record_batch({"w": pa.array(["x" * 6 * 2**20] * 5)})
    assert [len(part) for part in parts(large, "t", 0)] == [2, 2, 1]
    small = pa.record_batch({"w": pa.array(range(150_000))})
    found = list(parts(small, "t", 0))
    assert [len(part) for part in found] == [65_536, 65_536, 18_928]
    assert pa.Table.from_batches(found).equals(pa.Table.from_batches([small]))
