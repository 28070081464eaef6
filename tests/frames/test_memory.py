"""Releases from bytes to bytes, and the looks into a table that come before: guesses, and the symbols that occur."""

from __future__ import annotations

import bz2
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from dpwords.frames.jobs import MemoryRelease
from dpwords.frames.requests import Request
from dpwords.frames.samples import MOST_SYMBOLS, guessed, occurring, sample_of
from dpwords.frames.sources import memory_source
from jobs import job, run

ROWS = "id,user,w,note\n1,ann,gattaca,007\n2,bob,acgt,\n3,ann,tt,x\n"
DNA = dw.Words("acgt")


def parquet(table: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def test_the_same_bytes_as_from_file_to_file(tmp_path: Path) -> None:
    some = job(tmp_path / "in.csv", tmp_path / "out.csv", epsilon=200)
    (tmp_path / "in.csv").write_text(ROWS, encoding="utf-8")
    run(some)
    memory = MemoryRelease(some.mechanism, memory_source("in.csv", ROWS.encode()), some.request, some.recipe)
    plan = memory.survey()
    assert memory.write(plan) == (tmp_path / "out.csv").read_bytes() == ROWS.encode()
    assert plan.lengths == {2: 1, 4: 1, 7: 1}
    assert (plan.words, memory.receipt(plan)["words"]) == (3, 3)


def test_types_of_other_columns_stay() -> None:
    table = pa.table({"n": pa.array([1, 2], pa.int16()), "w": pa.array([["a", "c"], ["t"]])})
    memory = MemoryRelease(dw.Exponential(DNA, 200), memory_source("x.parquet", parquet(table)), Request(column="w"))
    content = memory.write(memory.survey())
    found = pq.ParquetFile(io.BytesIO(content))
    assert found.schema_arrow.remove_metadata() == table.schema
    assert found.metadata.row_group(0).column(0).compression == "SNAPPY"  # whatever the input has
    assert found.read().to_pylist() == table.to_pylist()
    assert b"dpwords" in found.schema_arrow.metadata


def test_compressed_text_comes_out_compressed() -> None:
    source = memory_source("w.txt.bz2", bz2.compress(b"acgt\nca\n"))
    memory = MemoryRelease(dw.Exponential(DNA, 200), source, Request())
    assert bz2.decompress(memory.write(memory.survey())) == b"acgt\nca\n"


def test_examples_are_what_is_written_without_the_rows_that_are_left_out() -> None:
    rows = "\n".join(f"u{number % 3},{'acgt' * 3 if number % 2 else 'no word'}" for number in range(40))
    request = Request(column="w", by="u", budget=3.0, split="first", invalid="skip")
    memory = MemoryRelease(dw.Exponential(DNA, 1), memory_source("x.csv", f"u,w\n{rows}\n".encode()), request)
    plan = memory.survey()
    written = [line.split(",")[1] for line in memory.write(plan).decode().splitlines()[1:]]
    assert len(written) == plan.words == 9  # three words of each of three people
    examples = memory.examples(plan, 6)
    assert ["".join(after) for _, after in examples] == written[:6]
    assert {"".join(before) for before, _ in examples} == {"acgt" * 3}
    assert len(memory.examples(plan, 100)) == 9


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ({"user": ["ann", "bob"], "route": ["a>b>a", "b>b"]}, Request(column="route", separator=">", by="user")),
        ({"n": [1, 2], "x": ["abba", "ab"], "y": ["m", "f"]}, Request(column="x")),
        ({"x": ["go stop", "stop go go"]}, Request(column="x")),
        ({"x": ["a b b", "b a"]}, Request(column="x", separator=" ")),
        ({"t": ["long text here", "z"], "states": [["a"], ["b"]]}, Request(column="states")),
        ({"id": [1], "m1": ["x"], "m2": ["y"], "m3": ["x"]}, Request(columns=("m1", "m2", "m3"))),
        (
            {"who": ["a", "b"], "jan": ["x", "y"], "feb": ["y", "x"], "mar": ["x", "y"], "apr": ["x", "y"]},
            Request(columns=("jan", "feb", "mar", "apr")),
        ),
        (
            {"case_id": [1, 1, 2], "Activity": ["p", "q", "p"], "Timestamp": ["1", "2", "3"]},
            Request(case="case_id", symbol="Activity", order="Timestamp"),
        ),
        ({"patient_id": [1], "n": [2]}, Request(by="patient_id")),
    ],
)
def test_guesses(columns: dict[str, list[Any]], expected: Request) -> None:
    assert guessed(pa.record_batch(columns)) == expected


def test_a_sample_leaves_out_columns_of_several_types() -> None:
    content = b'{"w": "ab", "x": 1}\n{"w": "b", "x": "one"}\n'
    assert sample_of(memory_source("x.jsonl", content)).to_pylist() == [{"w": "ab"}, {"w": "b"}]
    assert sample_of(memory_source("x.csv", b"w,x\n")).num_rows == 0


@pytest.mark.parametrize(
    ("name", "content", "where", "expected"),
    [
        ("x.csv", b"w\nbab\nc\n", Request(column="w"), ["a", "b", "c"]),
        ("x.csv", b"w\ngo\nstop go\n", Request(column="w"), ["go", "stop"]),
        ("x.csv", b"w\ngo on;x\nx\n", Request(column="w", separator=";"), ["go on", "x"]),
        ("x.csv", b"m1,m2\nx,y\ny,\n", Request(columns="m1:m2"), ["x", "y"]),
        ("x.csv", b"c,s\n1,p\n1,q\n", Request(case="c", symbol="s"), ["p", "q"]),
        ("x.jsonl", b'{"w": [3, 1]}\n{"w": [1, null]}\n', Request(column="w"), ["1", "3"]),
    ],
)
def test_symbols_that_occur(name: str, content: bytes, where: Request, expected: list[str]) -> None:
    assert occurring(memory_source(name, content), where) == expected


def test_symbols_that_are_no_list() -> None:
    cells = memory_source("x.jsonl", b'{"w": [[0, 1], [1, 1]]}\n')
    with pytest.raises(dw.InvalidValue, match="describe them as a grid or a system"):
        occurring(cells, Request(column="w"))
    many = "c,s\n" + "".join(f"1,{number}\n" for number in range(MOST_SYMBOLS + 1))
    with pytest.raises(dw.TooLarge, match="more than 10,000 symbols"):
        occurring(memory_source("x.csv", many.encode()), Request(case="c", symbol="s"))
