"""Files as tables: what is read is written again as it was, and what is damaged is refused in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from commands import run
from dpwords.frames.formats import FileForm
from dpwords.frames.streams import LONGEST_LINE, Input

PACKED = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def table(path: Path, used: list[str] | None = None) -> pa.Table:
    with Input(str(path)) as source:
        reader = FileForm.of(str(path)).reader(source)
        batches = list(reader.batches(reader.schema.names if used is None else used))
        return pa.Table.from_batches(batches, None if batches else reader.schema)


def rewritten(path: Path, to: Path, changed: list[str] | None = None) -> bytes:
    """A file written again from what was read, in the form that the second path says."""
    with Input(str(path)) as source, to.open("wb") as file:
        reader = FileForm.of(str(path)).reader(source)
        batches = list(reader.batches(reader.schema.names if reader.line is None else [*(changed or []), reader.line]))
        writer = FileForm.of(str(to)).writer(file, batches[0].schema, changed or [])
        for batch in batches:
            writer.write(batch)
        writer.close()
        assert not file.closed
    return to.read_bytes()


def saved(path: Path, content: bytes | str) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


AWKWARD = 'id,"route ""x""",note\n007,"a,b",1e3\n2,"line\nbreak",\n,"cr\rhere"," padded "\n'


@pytest.mark.parametrize("suffix", PACKED)
def test_csv_stays_as_it_was(tmp_path: Path, suffix: str) -> None:
    path = saved(tmp_path / f"t.csv{suffix}", PACKED[suffix](AWKWARD.encode()))
    found = table(path)
    assert found.column_names == ["id", 'route "x"', "note"]
    assert found.to_pydict() == {
        "id": ["007", "2", ""],
        'route "x"': ["a,b", "line\nbreak", "cr\rhere"],
        "note": ["1e3", "", " padded "],
    }
    assert rewritten(path, tmp_path / "again.csv").decode() == AWKWARD.replace('" padded "', " padded ")
    assert table(saved(tmp_path / "again.csv.zst", rewritten(path, tmp_path / "z.csv.zst"))) == found
    for other in (*PACKED, ".zst"):
        rewritten(path, tmp_path / f"other.tsv{other}")
        assert table(tmp_path / f"other.tsv{other}") == found


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=2),
        min_size=1,
    )
)
def test_any_text_survives_csv_and_json(rows: list[list[str]]) -> None:
    batch = pa.record_batch([pa.array(column, pa.string()) for column in zip(*rows, strict=True)], names=["a", "b"])
    for kind in ("csv", "tsv", "jsonl", "arrow", "arrows", "feather", "parquet"):
        file = io.BytesIO()
        writer = FileForm(kind).writer(file, batch.schema, ["a"])
        writer.write(batch)
        writer.close()
        source = Source(file.getvalue())
        found = pa.Table.from_batches(FileForm(kind).reader(source).batches(["a", "b"])).select(["a", "b"])
        assert found.to_pylist() == batch.to_pylist()


class Source(Input):
    """An input in memory."""

    def __init__(self, content: bytes) -> None:
        self.name, self.file = "memory", io.BytesIO(content)


def test_line_ends_marks_and_trailing_lines(tmp_path: Path) -> None:
    for content in (b"\xef\xbb\xbfid,w\r\n1,ab\r\n2,ba\r\n\r\n\r\n", b"id,w\n1,ab\n2,ba"):
        assert table(saved(tmp_path / "t.csv", content)).to_pydict() == {"id": ["1", "2"], "w": ["ab", "ba"]}
    text = saved(tmp_path / "t.txt", b"\xef\xbb\xbfab\r\n\nba\n\n\n")
    assert table(text).to_pydict() == {"word": ["ab", "", "ba"]}
    assert rewritten(text, tmp_path / "again.txt") == b"ab\n\nba\n"
    lines = saved(tmp_path / "t.jsonl", b'\xef\xbb\xbf{"w": "ab"}\r\n{"w": "ba"}\n\n  \n')
    assert table(lines).column("w").to_pylist() == ["ab", "ba"]
    assert table(saved(tmp_path / "only_header.csv", "id,w\n")).num_rows == 0


LINES = """{"id": 1234567890123456789012, "w": ["a", "b"], "more": {"x": [1.50, 1E5], "ü": "\\u00fc\\ud800"}, "z": -0}
{"w": ["b"], "id": 1, "other": true}
"""


def test_json_lines_keep_every_letter_of_what_is_not_released(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.jsonl", LINES)
    assert table(path, ["w"]).column("w").to_pylist() == [["a", "b"], ["b"]]
    assert rewritten(path, tmp_path / "again.jsonl", ["w"]).decode() == LINES
    spaced = saved(tmp_path / "s.jsonl", LINES.replace('"w": ', '"w"  :').replace(', "id"', ',\t"id"'))
    assert rewritten(spaced, tmp_path / "again.jsonl", ["w"]).decode() == LINES
    with pytest.raises(dw.InvalidValue, match=r"row 1 of t\.jsonl has another type.*drop_others=True"):
        table(path)  # an integer that is too large for Arrow
    half = saved(tmp_path / "half.jsonl", '{"w": ["a"], "\\ud800": 1}\n')
    with pytest.raises(dw.InvalidValue, match=r"a key of half\.jsonl has half a character"):
        table(half, ["w"])


def test_json_values_of_cells_and_of_mixed_types(tmp_path: Path) -> None:
    cells = saved(tmp_path / "cells.jsonl", '{"c": [[0, 1], [0, 2]]}\n{"c": [[1, 1]]}\n')
    assert table(cells).column("c").to_pylist() == [[[0, 1], [0, 2]], [[1, 1]]]
    mixed = saved(tmp_path / "mixed.jsonl", '{"w": "ab", "n": 1}\n{"w": 7, "n": "x"}\n')
    with pytest.raises(dw.InvalidValue, match=r"row 2 of mixed\.jsonl has another type"):
        table(mixed, ["w"])
    assert table(saved(tmp_path / "some.jsonl", '{"w": "ab", "n": 1}\n{"w": "b", "n": "x"}\n'), ["w"]).num_rows == 2


def test_parquet_is_written_in_one_way(tmp_path: Path) -> None:
    columns = {
        "w": pa.array([["a", "b"], ["b"], None], pa.large_list(pa.dictionary(pa.int8(), pa.string()))),
        "when": pa.array([datetime(2020, 1, 2)] * 3, pa.timestamp("us", "UTC")),
        "kind": pa.array(["x", "y", "x"]).dictionary_encode(),
    }
    for codec in ("zstd", "gzip", "none", "snappy"):
        pq.write_table(pa.table(columns), tmp_path / "t.parquet", compression=codec)
        rewritten(tmp_path / "t.parquet", tmp_path / "again.parquet")
        found = pq.ParquetFile(tmp_path / "again.parquet")
        assert found.read() == pq.read_table(tmp_path / "t.parquet")
        assert found.metadata.row_group(0).column(0).compression == "SNAPPY"


@pytest.mark.parametrize("suffix", [".arrow", ".feather", ".arrows"])
def test_arrow_files_with_dictionaries_that_grow(tmp_path: Path, suffix: str) -> None:
    parts = [
        pa.record_batch({"w": pa.array(words).dictionary_encode()}) for words in (["a", "b"], ["c", None, "a"], ["b"])
    ]
    with pa.ipc.new_stream(tmp_path / "t.arrows", parts[0].schema) as stream:
        for part in parts:
            stream.write_batch(part)
    rewritten(tmp_path / "t.arrows", tmp_path / f"again{suffix}")
    found = table(tmp_path / f"again{suffix}")
    assert found.column("w").to_pylist() == ["a", "b", "c", None, "a", "b"]
    assert found.schema == parts[0].schema


def test_batches_are_small_whatever_the_file(tmp_path: Path) -> None:
    words = pa.table({"w": ["ab" * 2**19] * 40})
    pq.write_table(words, tmp_path / "t.parquet", use_dictionary=False, compression="none")
    with pa.ipc.new_file(tmp_path / "t.arrow", words.schema) as file:
        file.write_table(words)
    saved(tmp_path / "t.csv", "w\n" + ("ab" * 2**19 + "\n") * 40)
    for name in ("t.parquet", "t.arrow", "t.csv"):
        with Input(str(tmp_path / name)) as source:
            sizes = [batch.nbytes for batch in FileForm.of(name).reader(source).batches(["w"])]
        assert sum(sizes) >= 40 * 2**20
        assert max(sizes) <= 2**25


def test_forms_of_names() -> None:
    assert FileForm.of("routes.v2.CSV.gz") == FileForm("csv", "gz")
    assert FileForm.of("routes.dat", "jsonl") == FileForm("jsonl")
    assert FileForm.of("-", "tsv") == FileForm("tsv")
    for path, named, message in (
        ("routes.dat", None, "convert or rename it"),
        ("routes", None, "convert or rename it"),
        ("-", None, "give format="),
        ("t.parquet.gz", None, "compressed inside"),
    ):
        with pytest.raises(dw.InvalidValue, match=message):
            FileForm.of(path, named)


SECRET = "gattaca"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "add a header"),
        ("t.csv", "\n\nid,w\n", "add a header"),
        ("t.csv", "w,w\n", "same name"),
        ("t.csv", f"id;w\n1;{SECRET}\n", "semicolons: convert it to commas"),
        ("t.csv", f"id\tw\n1\t{SECRET}\n", "rename it to end in .tsv"),
        ("t.csv", f"id,w\n1,{SECRET}\n2\n", "row 2 of t.csv has 1 values, but the header has 2"),
        ("t.csv", f"id,w\n1,{SECRET}\n\n2,b\n", "row 2 of t.csv is blank"),
        ("t.csv", f'id,w\n1,"{SECRET}\n2,b\n', "row 1 of t.csv has a quote"),
        ("t.csv", f'id,w\n1,"a"{SECRET}\n', "row 1 of t.csv has a quote"),
        ("t.csv", f"id,w\n1,{SECRET}\0\n".encode(), "line 2 of t.csv has a null byte"),
        ("t.csv", f"id,w\n1,{SECRET}".encode() + b"\xff\n", "line 2 of t.csv is not UTF-8"),
        ("t.csv", f"id,w\n1,{SECRET}\n".encode("utf-16"), "t.csv"),
        ("t.csv.gz", gzip.compress(SECRET.encode() * 99, mtime=0)[:-9], "damaged or cut off"),
        ("t.csv.xz", lzma.compress(SECRET.encode() * 99)[:-9], "damaged or cut off"),
        ("t.csv.bz2", bz2.compress(SECRET.encode() * 99)[:-9], "damaged or cut off"),
        ("t.csv.bz2", SECRET, "damaged or cut off"),
        ("t.csv.zst", SECRET, "damaged or cut off"),
        ("t.jsonl", "", "is empty"),
        ("t.jsonl", f'["{SECRET}"]\n', "line 1 of t.jsonl is not a JSON object"),
        ("t.jsonl", f'{{"w": "{SECRET}"\n', "line 1 of t.jsonl is not a JSON object"),
        ("t.jsonl", f'{{"w": "{SECRET}"}} 1\n', "line 1 of t.jsonl is not a JSON object"),
        ("t.jsonl", f'{{"w": "{SECRET}", "w": "a"}}\n', "distinct keys"),
        ("t.jsonl", f'{{"w": "{SECRET}", "n": NaN}}\n', "line 1 of t.jsonl is not a JSON object"),
        ("t.jsonl", f'{{"w": "{SECRET}"}}\n\n{{}}\n', "line 2 of t.jsonl is blank"),
        ("t.jsonl", '{"w": ' + "[" * 10**5 + "\n", "line 1 of t.jsonl is not a JSON object"),
        ("t.parquet", SECRET, "cannot be read as Parquet"),
        ("t.parquet", b"PAR1" + SECRET.encode() * 99 + b"PAR1", "cannot be read as Parquet"),
        ("t.arrow", b"ARROW1" + SECRET.encode() * 99, "cannot be read as Arrow"),
        ("t.feather", "FEA1", "version 1"),
        ("t.arrows", SECRET, "cannot be read as Arrow"),
    ],
)
def test_damaged_files_are_refused_without_showing_them(tmp_path: Path, name: str, content: Any, message: str) -> None:
    path = saved(tmp_path / name, content)
    with pytest.raises(dw.InvalidValue) as error:
        table(path)
    assert message in str(error.value)
    assert SECRET not in str(error.value)
    assert "\n" not in str(error.value)


def test_cut_off_binary_files(tmp_path: Path) -> None:
    words = pa.table({"w": [SECRET] * 1000})
    pq.write_table(words, tmp_path / "t.parquet")
    with pa.ipc.new_file(tmp_path / "t.arrow", words.schema) as file:
        file.write_table(words)
    with pa.ipc.new_stream(tmp_path / "t.arrows", words.schema) as stream:
        stream.write_table(words)
    for name in ("t.parquet", "t.arrow", "t.arrows"):
        content = (tmp_path / name).read_bytes()
        for proportion in (0.1, 0.5, 0.9):
            path = saved(tmp_path / f"cut.{name}", content[: int(proportion * len(content))])
            with pytest.raises(dw.InvalidValue, match="damaged or cut off"):
                table(path)


def test_lines_without_end_are_refused_before_they_are_read() -> None:
    class Endless(io.BytesIO):
        def readline(self, size: int | None = -1) -> bytes:  # type: ignore[override]
            assert size == LONGEST_LINE + 1
            return b"a" * size

    source = Source(b"")
    source.file = Endless()
    for kind in ("text", "csv", "jsonl"):
        with pytest.raises(dw.TooLarge, match="line 1 of memory is longer than 16 MiB"):
            list((reader := FileForm(kind).reader(source)).batches(reader.schema.names))
    unclosed = Source(b'w\n"' + b"a" * 2**20 + b"\n" + (b"a" * 2**20 + b"\n") * 20)
    with pytest.raises(dw.InvalidValue, match="row 1 of memory has a quote that is not closed"):
        list((reader := FileForm("csv").reader(unclosed)).batches(reader.schema.names))


def test_what_a_format_cannot_hold() -> None:
    lists, two = pa.schema([("w", pa.list_(pa.string()))]), pa.schema([("a", pa.string()), ("b", pa.string())])
    for kind, schema, message in (("csv", lists, "lists"), ("text", lists, "lists"), ("text", two, "one column")):
        with pytest.raises(dw.InvalidValue, match=message):
            FileForm(kind).writer(io.BytesIO(), schema, [])
    batch = pa.record_batch({"w": ["a\nb"]})
    with pytest.raises(dw.InvalidValue, match="line break"):
        write_all("text", batch)
    for values in ([float("nan")], [b"a"]):
        batch = pa.record_batch({"w": values})
        with pytest.raises(dw.InvalidValue, match="JSON has no"):
            write_all("jsonl", batch)


def write_all(kind: str, batch: pa.RecordBatch) -> None:
    writer = FileForm(kind).writer(io.BytesIO(), batch.schema, [])
    writer.write(batch)
    writer.close()


def test_typed_columns_become_text() -> None:
    batch = pa.record_batch(
        {"n": [1, None], "x": [0.5, 1.25], "yes": [True, False], "d": pa.array(["p", "q"]).dictionary_encode()}
    )
    file = io.BytesIO()
    writer = FileForm("csv").writer(file, batch.schema, [])
    writer.write(batch)
    writer.close()
    assert file.getvalue() == b"n,x,yes,d\n1,0.5,true,p\n,1.25,false,q\n"
    file = io.BytesIO()
    writer = FileForm("jsonl").writer(file, batch.schema, [])
    writer.write(batch)
    writer.close()
    assert json.loads(file.getvalue().splitlines()[1]) == {"n": None, "x": 1.25, "yes": False, "d": "q"}


def test_inputs_that_are_no_files(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none.csv", "No such file"),
        ("a\0b", "cannot be read"),
    ):
        with pytest.raises(dw.InvalidValue, match=message):
            Input(str(path))
    path = saved(tmp_path / "t.csv", "w\n")
    with Input(str(path)) as source:
        source.check_unchanged()
        assert source.digest(b"k") != source.digest(b"j")
        saved(path, "w\nab\n")
        with pytest.raises(dw.InvalidValue, match="changed while it was read"):
            source.check_unchanged()


def test_a_number_of_thousands_of_digits_is_copied_as_it_is(tmp_path: Path) -> None:
    """Python refuses to read it as a number; in a column that is only copied nobody has to."""
    line = f'{{"w": "ab", "n": {"1" * 5_000}}}\n'
    (tmp_path / "in.jsonl").write_text(line, encoding="utf-8")
    options = ("--column", "w", "--alphabet", "ab", "-e", "300", "-q")
    done = run("release", "--input", str(tmp_path / "in.jsonl"), *options)
    assert (done.returncode, done.stdout) == (0, line)
