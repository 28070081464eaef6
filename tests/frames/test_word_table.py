"""One pass over a table: which columns are read, how often words are checked, and what a failed pass leaves behind."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

import dpwords as dw
from dpwords.frames.formats import FileForm
from dpwords.frames.jobs import FileRelease, Job
from dpwords.frames.requests import Request
from dpwords.frames.rows import ArrowRows
from dpwords.frames.streams import MemoryInput
from dpwords.frames.word_table import WordTable

TABLE = pa.table({"n": ["1", "2", "3"], "w": ["ab", "ba", "b"], "note": ["x", "y", "z"]})


def written(kind: str, table: pa.Table) -> bytes:
    file = io.BytesIO()
    writer = FileForm(kind).writer(file, table.schema, ())
    for batch in table.to_batches():
        writer.write(batch)
    writer.close()
    return file.getvalue()


@pytest.mark.parametrize("columns", [["w"], ["n", "note"], ["n", "w", "note"]], ids=str)
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet", "arrow", "arrows", "feather"])
def test_readers_give_the_columns_that_are_asked_for(kind: str, columns: list[str]) -> None:
    reader = FileForm(kind).reader(MemoryInput("t", written(kind, TABLE)))
    batches = list(reader.batches(columns))
    assert pa.Table.from_batches(batches).to_pylist() == TABLE.select(columns).to_pylist()
    assert {batch.schema for batch in batches} == {reader.selected(columns)}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows"])
def test_names_with_dots_dictionaries_and_objects(kind: str) -> None:
    """In pyarrow, "a.b" also names a part of the object "a"."""
    objects = pa.array([{"b": "in"}, {"b": "side"}])
    listed = pa.array([["p"], ["q", "p"]], pa.list_(pa.dictionary(pa.int32(), pa.string())))
    table = pa.table({"a": objects, "a.b": ["out", "side"], "c": pa.array(["u", "v"]).dictionary_encode(), "l": listed})
    reader = FileForm(kind).reader(MemoryInput("t", written(kind, table)))
    for columns in (["a.b"], ["a"], ["c"], ["l"], ["a", "c"], table.column_names):
        assert pa.Table.from_batches(reader.batches(columns)).to_pylist() == table.select(columns).to_pylist()


def damaged(path: Path) -> Path:
    """A Parquet file whose column `note`, which is only copied, cannot be decoded."""
    pq.write_table(TABLE, path, compression="none", use_dictionary=False, write_statistics=False)
    page = pq.read_metadata(path).row_group(0).column(2)
    content = bytearray(path.read_bytes())
    end = page.data_page_offset + page.total_compressed_size
    content[end - 15 : end] = b"\xff" * 15
    path.write_bytes(content)
    return path


class Refusing:
    """A ledger that must not be charged."""

    def charge(self, *_arguments: Any, **_named: Any) -> None:
        raise AssertionError


def test_a_survey_reads_what_words_need_and_a_failed_run_leaves_nothing(tmp_path: Path) -> None:
    source, target = damaged(tmp_path / "in.parquet"), tmp_path / "out.parquet"
    request = Request(column="w", by="n")
    job = Job(dw.Exponential(dw.Words("ab"), 1.0), str(source), str(target), request=request)
    with FileRelease(job) as run:
        plan = run.survey()
        assert plan.lengths == {1: 1, 2: 2}
        with pytest.raises(dw.InvalidValue, match=r"in\.parquet cannot be read as Parquet"):
            run.write(plan)
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
    with FileRelease(job) as run, pytest.raises(dw.InvalidValue, match=r"in\.parquet cannot be read as Parquet"):
        run.write(run.survey(charged=True), Refusing())  # what is charged cannot be taken back, so all is read first
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]


def test_membership_is_checked_once_for_each_word_and_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mechanism = dw.Exponential(dw.GridWorld(3, 3), 2.0)
    mechanism.release("SE")  # makes what it needs
    table = pa.table({"word": ["SE", "SS", "ES", "SEN"], "note": [1, 2, 3, 4]})
    space, checked = type(mechanism._space), []

    def counting(self: Any, rows: Any) -> NDArray[np.bool_]:
        checked.append(len(rows))
        return np.asarray(accepts(self, rows))

    accepts = space.accepts
    monkeypatch.setattr(space, "accepts", counting)
    dw.frames.release(mechanism, table, "word")
    assert sum(checked) == 4  # a table in memory is read once
    checked.clear()
    pq.write_table(table, tmp_path / "in.parquet")
    job = Job(mechanism, str(tmp_path / "in.parquet"), str(tmp_path / "out.parquet"), request=Request(column="word"))
    with FileRelease(job) as run:
        plan = run.survey()
        assert sum(checked) == 4
        run.write(plan)
    assert sum(checked) == 8


def test_the_same_words_in_every_shape() -> None:
    """One column of text or of lists, one column for each step, or events: the codes are the same."""
    mechanism = dw.Exponential(dw.Words("abc"), 1.0)
    expected = [[0, 1, 2], [2], [1, 1]]
    words = [["abc"[code] for code in word] for word in expected]
    steps = [[(word[position : position + 1] or [None])[0] for word in words] for position in range(3)]
    events = [(case, symbol) for case, word in enumerate(words) for symbol in word]
    tables = [
        (pa.table({"w": ["".join(word) for word in words]}), Request(column="w")),
        (pa.table({"w": ["-".join(word) for word in words]}), Request(column="w", separator="-")),
        (pa.table({"w": words, "x": [1, 2, 3]}), Request(column="w", id="x")),
        (pa.table({f"m{position}": column for position, column in enumerate(steps)}), Request(columns="m*")),
        (
            pa.table({"case": [case for case, _ in events], "what": [symbol for _, symbol in events]}),
            Request(case="case", symbol="what"),
        ),
    ]
    for table, request in tables:
        found = WordTable.of(ArrowRows(table), request, mechanism).words()
        assert [word.tolist() for word in found.words] == expected
        assert found.skipped == 0


@pytest.mark.parametrize("numbers", [[3, 1, 3], [1, 1, 2]])
def test_whole_numbers_that_are_no_ids(numbers: list[int]) -> None:
    table = pa.table({"w": ["a", "b", "a"], "n": numbers})
    with pytest.raises(dw.InvalidValue, match="two rows have the same id in column n"):
        dw.frames.release(dw.Exponential(dw.Words("ab"), 1.0), table, "w", id="n")
