"""Everything that a release writes, for two inputs that are neighbours or differ in what is not written: it is equal.

The draws are replaced by words that depend on the ids and lengths of the words alone. So whatever still differs
between two runs, in a file, a receipt, a message, an exit code or a table in memory, was not drawn: it leaked.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import pickle
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from commands import run
from dpwords.core.encoding import Ragged
from dpwords.frames import receipts
from dpwords.frames.batches import BatchRelease

SECRET = "CANARY7f3"
MORE = f"{SECRET} of no row"
SYMBOLS = ["1", "2", "3", "40"]
Rows = list[dict[str, Any]]  # a row has an id, a person, a city and a word, which is a list of symbols


@pytest.fixture(autouse=True)
def _words_that_are_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    def fixed(_self: BatchRelease, mechanism: Any, words: Ragged, rows: Any, ids: Any) -> Ragged:
        sizes = words.sizes[rows]
        first = [sum(str(id).encode()) for id in ids.take(pa.array(rows)).to_pylist()]
        places = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = (np.repeat(np.array(first, dtype=np.int64), sizes) + 7 * places) % len(mechanism.language.alphabet)
        return Ragged(codes.astype(np.uint8), np.cumsum(sizes))

    monkeypatch.setattr(BatchRelease, "_drawn", fixed)


def rows(**changes: Any) -> Rows:
    """Eight rows. The third and the last one have no word of the language, and ann has more words than are paid for."""
    words = ["1 2 3", "2 2", "9 9", "3 2 40 1", "1", "40 40", "2 1 2", "9"]
    people = ["ann", "bob", changes.get("gone", "nobody"), "ann", "eve", "ann", "bob", changes.get("gone", "nobody")]
    found = [
        {"id": number, "who": who, "city": f"city {number}", "word": word.split()}
        for number, (word, who) in enumerate(zip(words, people, strict=True), start=1)
    ]
    for number, word in changes.get("words", {}).items():
        found[number]["word"] = word.split()
    for number, city in changes.get("cities", {}).items():
        found[number]["city"] = city
    return found


BASE = rows()
NEIGHBOURS = {
    "a symbol": rows(words={3: "3 2 40 2"}),
    "all symbols": rows(words={0: "2 1 1", 1: "40 40", 3: "1 1 1 1"}),
    "rows that are skipped": rows(words={2: SECRET, 7: f"{SECRET} 8"}, gone=SECRET, cities={2: SECRET}),
    "a word that is not paid for": rows(words={5: "3 3"}, cities={5: SECRET}),
}

# Tables of each shape, with the types of their columns.


def as_text(some: Rows, kind: Any) -> pa.Table:
    return _table(some, word=pa.array([" ".join(row["word"]) for row in some]).cast(kind))


def as_lists(some: Rows, kind: Any) -> pa.Table:
    words = [row["word"] for row in some]
    if pa.types.is_integer(kind):
        words = [[int(symbol) if symbol.isdigit() else 99 for symbol in word] for word in words]
    return _table(some, word=pa.array(words, pa.list_(kind)))


def as_columns(some: Rows, kind: Any) -> pa.Table:
    cells = {f"m{step}": [(row["word"][step : step + 1] or [None])[0] for row in some] for step in range(4)}
    return _table(some, **{name: pa.array(values).cast(kind) for name, values in cells.items()})


def as_events(some: Rows, kind: Any) -> pa.Table:
    events = [(row["id"], step, symbol) for row in some for step, symbol in enumerate(row["word"])]
    cases, steps, symbols = zip(*events, strict=True)
    names = [f"case {case}" for case in cases]
    return pa.table(
        {"case": names, "step": steps, "event": pa.array(symbols).cast(kind), "note": [SECRET] * len(steps)}
    )


def _table(some: Rows, **words: Any) -> pa.Table:
    return pa.table({name: [row[name] for row in some] for name in ("id", "who", "city")} | words)


TEXTS = (
    pa.string(),
    pa.large_string(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.large_string()),
)
SHAPES: dict[str, tuple[Callable[[Rows, Any], pa.Table], tuple[Any, ...], list[str]]] = {
    "text": (as_text, TEXTS, ["--column", "word", "--separator", " "]),
    "lists": (as_lists, TEXTS, ["--column", "word"]),
    "numbers": (as_lists, (pa.int64(), pa.int8(), pa.uint16()), ["--column", "word"]),
    "columns": (as_columns, TEXTS, ["--columns", "m*"]),
    "events": (as_events, TEXTS, ["--case", "case", "--symbol", "event", "--order", "step"]),
}
PEOPLE = ["--id", "id", "--by", "who", "--split", "first", "--budget", "2"]

# The same table in files that differ in everything but the rows.


def _parquet(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def _arrow(table: pa.Table, rows: int = 100, **options: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True, **options)) as out:
        out.write_table(table, max_chunksize=rows)
    return file.getvalue()


def _noted(table: pa.Table) -> pa.Table:
    """With metadata of the table and of each field, as pandas, Spark and Polars write them."""
    fields = [
        field.with_metadata({"ml_attr": json.dumps({"vals": [SECRET]}), "_PL_ENUM": SECRET}) for field in table.schema
    ]
    return table.cast(pa.schema(fields, {"pandas": json.dumps({"columns": [SECRET]}), "dpwords": SECRET, SECRET: "x"}))


def _listed(table: pa.Table) -> pa.Table:
    """With values in the dictionaries of other columns that no row has."""

    def more(column: pa.ChunkedArray) -> pa.Array:
        encoded = column.combine_chunks().dictionary_encode()
        dictionary = pa.concat_arrays([pa.array([SECRET]), encoded.dictionary])
        codes = pa.array([code + 1 for code in encoded.indices.to_pylist()], pa.int8())
        return pa.DictionaryArray.from_arrays(codes, dictionary)

    for name in ("who", "city"):
        if name in table.column_names:
            table = table.set_column(table.column_names.index(name), name, more(table[name]))
    return table


def _sliced(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 1), table.slice(3)])


BINARY: dict[str, dict[str, Callable[[pa.Table], bytes]]] = {
    "parquet": {
        "plain": _parquet,
        "metadata": lambda table: _parquet(_noted(table)),
        "row groups": lambda table: _parquet(table, row_group_size=2, data_page_size=1),
        "encoding": lambda table: _parquet(table, use_dictionary=False, compression="zstd", write_statistics=False),
        "version": lambda table: _parquet(table, version="1.0", data_page_version="2.0", compression="gzip"),
        "chunks": lambda table: _parquet(_sliced(table), store_schema=False),
    },
    "arrow": {
        "plain": _arrow,
        "metadata": lambda table: _arrow(_noted(table)),
        "batches": lambda table: _arrow(table, 2),
        "compression": lambda table: _arrow(table, compression="zstd"),
    },
}
BINARY["feather"] = BINARY["arrows"] = BINARY["arrow"]


def _delimited(table: pa.Table, delimiter: str, **options: Any) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, **options)
    writer.writerows([table.column_names, *(tuple(row.values()) for row in table.to_pylist())])
    return file.getvalue().encode()


def _json(table: pa.Table, **options: Any) -> bytes:
    return "".join(json.dumps(row, **options) + "\n" for row in table.to_pylist()).encode()


TEXT: dict[str, dict[str, Callable[[pa.Table], bytes]]] = {
    "csv": {
        "plain": lambda table: _delimited(table, ","),
        "quotes": lambda table: (
            b"\xef\xbb\xbf" + _delimited(table, ",", quoting=csv.QUOTE_ALL, lineterminator="\n") + b"\n\n"
        ),
    },
    "tsv": {"plain": lambda table: _delimited(table, "\t")},
    "jsonl": {
        "plain": _json,
        "space": lambda table: _json(table, separators=(" ,", " :  ")) + b"\n",
        "escapes": lambda table: _json(table).replace(b'"word"', b'"w\\u006frd"').replace(b'"m1"', b'"\\u006d1"'),
    },
}
PACKINGS: dict[str, tuple[Callable[[bytes], bytes], ...]] = {
    ".gz": (gzip.compress, lambda content: gzip.compress(content, 1, mtime=7)),
    ".bz2": (bz2.compress, lambda content: bz2.compress(content, 1)),
    ".xz": (lzma.compress, lambda content: lzma.compress(content, preset=0)),
    ".zst": (lambda content: pa.compress(content, "zstd", asbytes=True),),
}


def written(folder: Path, name: str, content: bytes, options: list[str], target: str) -> dict[str, Any]:
    """Everything that a release of a file writes, of which the time that it took is left out."""
    folder.mkdir(parents=True)
    (folder / name).write_bytes(content)
    (folder / "symbols.txt").write_text("\n".join(SYMBOLS), encoding="utf-8")
    public = ["--alphabet", f"@{folder / 'symbols.txt'}", "--epsilon", "1", "--invalid", "skip"]
    done = run("release", *public, "--input", str(folder / name), *options, "--output", str(folder / target))
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in (name, "symbols.txt")}
    errors = re.sub(r" in [\d.]+ s(, [\d,]+ \w+/s)?", "", done.stderr)
    return {"code": done.returncode, "out": done.stdout, "errors": errors, **files}


def check_equal(found: dict[str, dict[str, Any]], target: str) -> None:
    """Assert that all runs have written the same, and a file."""
    first, *others = found.values()
    assert first["code"] == 0, first["errors"]
    assert target in first
    for name, other in zip(list(found)[1:], others, strict=True):
        assert other.keys() == first.keys(), name
        for part, value in first.items():
            assert other[part] == value, (name, part, other[part], value)


LISTS = {"lists", "numbers"}
CASES = [
    (shape, kind) for shape in SHAPES for kind in (*BINARY, *TEXT) if shape not in LISTS or kind not in ("csv", "tsv")
]


@pytest.mark.parametrize(("shape", "kind"), CASES)
def test_files_differ_in_the_drawn_words_only(shape: str, kind: str, tmp_path: Path) -> None:
    make, types, options = SHAPES[shape]
    neighbours = dict(NEIGHBOURS)
    if shape == "events":
        del neighbours["a word that is not paid for"]
    else:
        options = [*options, *PEOPLE]
    ways = (BINARY | TEXT)[kind]
    inputs = {name: write(make(BASE, types[0])) for name, write in ways.items()}
    inputs |= {name: ways["plain"](make(neighbour, types[0])) for name, neighbour in neighbours.items()}
    if kind in BINARY:
        inputs |= {str(each): ways["plain"](make(BASE, each)) for each in types[1:]}
    source = "in.arrow" if kind in ("feather", "arrows") else f"in.{kind}"
    found = {
        name: written(tmp_path / str(number), source, content, options, f"out.{kind}")
        for number, (name, content) in enumerate(inputs.items())
    }
    check_equal(found, f"out.{kind}")


@pytest.mark.parametrize("kind", [*BINARY, "csv", "jsonl"])
def test_columns_that_are_copied_show_the_rows_that_are_written(kind: str, tmp_path: Path) -> None:
    """Their dictionaries have neither the values of rows that are left out nor values that no row had."""
    others = {name: rows for name, rows in NEIGHBOURS.items() if "symbol" not in name} | {"the same": BASE}
    ways = BINARY["parquet" if kind in TEXT else kind]
    source = "in.parquet" if ways is BINARY["parquet"] else "in.arrow"
    found = {}
    for number, (name, some) in enumerate(others.items()):
        encoded = {place: as_text(some, pa.string())[place].dictionary_encode() for place in ("who", "city")}
        table = as_text(some, pa.string())
        for place, column in encoded.items():
            table = table.set_column(table.column_names.index(place), place, column)
        for way, content in (("as it is", table), ("with more", _listed(table)), ("with notes", _noted(table))):
            folder = tmp_path / f"{number} {way}"
            options = ["--column", "word", "--separator", " ", *PEOPLE]
            found[f"{name}, {way}"] = written(folder, source, ways["plain"](content), options, f"out.{kind}")
    check_equal(found, f"out.{kind}")
    if kind in BINARY:
        out = pq.read_table if kind == "parquet" else pa.ipc.open_stream if kind == "arrows" else pa.ipc.open_file
        table = out(tmp_path / "0 as it is" / f"out.{kind}")
        table = table if isinstance(table, pa.Table) else table.read_all()
        assert set(table["who"].chunk(0).dictionary.to_pylist()) == {"ann", "bob", "eve"}
        assert table["city"].to_pylist() == [f"city {number}" for number in (1, 2, 4, 5, 7)]


@pytest.mark.parametrize("suffix", PACKINGS)
def test_compressed_text(suffix: str, tmp_path: Path) -> None:
    found = {}
    for number, (name, some) in enumerate({"the same": BASE, **NEIGHBOURS}.items()):
        for packing, pack in enumerate(PACKINGS[suffix]):
            content = pack(TEXT["csv"]["plain"](as_text(some, pa.string())))
            options = ["--column", "word", "--separator", " ", *PEOPLE]
            folder = tmp_path / f"{number} {packing}"
            found[f"{name} {packing}"] = written(folder, f"in.csv{suffix}", content, options, f"out.csv{suffix}")
    check_equal(found, f"out.csv{suffix}")


def test_plain_text(tmp_path: Path) -> None:
    found = {}
    for number, some in enumerate((BASE, *NEIGHBOURS.values())):
        for ends, letters in enumerate(("\n", "\r\n")):
            content = letters.join(" ".join(row["word"]) for row in some) + letters
            options = ["--separator", " "]
            found[f"{number} {ends}"] = written(
                tmp_path / f"{number} {ends}", "in.txt", content.encode(), options, "out.txt"
            )
    check_equal(found, "out.txt")


def test_many_rows_are_cut_by_what_is_written(tmp_path: Path) -> None:
    """Row groups and batches end where the written rows say, however long the rows are that are left out."""
    words, gone = ["1 2 3"] * 70_000, [SECRET * 100, "9"]
    options = ["--column", "word", "--separator", " ", "--id", "id"]
    for kind in ("parquet", "arrow"):
        found = {}
        for number, other in enumerate(gone):
            every = [word for pair in zip(words, [other] * len(words), strict=True) for word in pair]
            table = pa.table(
                {"id": [name for each in range(len(words)) for name in (2 * each, 2 * each + 1)], "word": every}
            )
            for way, content in BINARY[kind].items():
                if way in ("plain", "encoding", "compression"):
                    folder = tmp_path / f"{kind} {number} {way}"
                    found[f"{number} {way}"] = written(folder, f"in.{kind}", content(table), options, f"out.{kind}")
        check_equal(found, f"out.{kind}")


KEYS = {b"dpwords", b"ARROW:schema"}  # the second is the schema, as Arrow writes it into every Parquet file
RECEIPT = {"receipt", "version", "mechanism", "epsilon", "k", "distance", "guarantee", "language", "options", "words"}


def _metadata(kind: Any) -> Iterator[Any]:
    """What is attached to the fields inside a type, or to those of a schema."""
    fields = list(kind) if isinstance(kind, pa.Schema) else [kind.field(place) for place in range(kind.num_fields)]
    for field in fields:
        yield {key for key in field.metadata or {} if key != b"PARQUET:field_id"}
        yield from _metadata(field.type)


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_but_these_keys_is_written(shape: str, tmp_path: Path) -> None:
    make, types, options = SHAPES[shape]
    content = _parquet(_noted(make(BASE, types[0])))
    assert written(tmp_path / "a", "in.parquet", content, options, "out.parquet")["code"] == 0
    file = pq.ParquetFile(tmp_path / "a" / "out.parquet")
    assert set(file.metadata.metadata) == KEYS
    assert not any(_metadata(file.schema_arrow))
    written(tmp_path / "b", "in.parquet", content, options, "out.arrow")
    arrow = pa.ipc.open_file(tmp_path / "b" / "out.arrow")
    assert set(arrow.schema.metadata) == {b"dpwords"}
    assert not any(_metadata(arrow.schema))
    assert not any(
        (arrow.get_batch_with_custom_metadata(number)[1] or {}) for number in range(arrow.num_record_batches)
    )
    for document in (json.loads(file.metadata.metadata[b"dpwords"]), json.loads(arrow.schema.metadata[b"dpwords"])):
        assert set(document) == RECEIPT
        assert set(document["options"]) <= set(receipts.OPTIONS)


def test_a_receipt_tells_no_option_that_is_not_listed() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    told = receipts.receipt(mechanism, {"alphabet": "ab", "input": SECRET, "key_file": SECRET}, 3)
    assert told["options"] == {"alphabet": "ab"}


# Tables in memory: what a program can see of them, or write to a file.

ALPHABET = dw.Exponential(dw.Words(SYMBOLS), 1.0)


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
    return [_arrow(table), [column.num_chunks for column in table.columns], table.schema.to_string()]


def of_pandas(frame: pd.DataFrame) -> Any:
    index, columns = frame.index, frame.columns
    return [
        *(repr(frame.to_dict("list")), frame.attrs, frame.dtypes.to_dict(), index.tolist(), index.names, columns.tolist()),
        [
            getattr(frame[name].dtype, "categories", None) is not None and list(frame[name].cat.categories)
            for name in frame
        ],
        [list(level) for level in getattr(index, "levels", ())],
        [type(value) for name in frame for value in frame[name]],
        _arrow(pa.Table.from_pandas(frame)),
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
            for way, change in (("", lambda table: table), ("noted", _noted), ("chunks", _sliced)):
                found[f"{name} {way}"] = dw.frames.release(ALPHABET, change(make(some, types[0])), **_options(shape))
    first = of_arrow(found["the same "])
    assert {name: of_arrow(each) == first for name, each in found.items()} == dict.fromkeys(found, True)
    if shape == "text":
        lists = [_listed(make(some, types[0])) for some in (BASE, NEIGHBOURS["rows that are skipped"])]
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
