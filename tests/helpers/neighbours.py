"""Tables of words that are neighbours, or differ in what a release does not write, in every shape, type and format.

Once draws are replaced by fixed words, whatever still differs between two releases, in a file, a receipt, a message, an
exit code or a table in memory, has leaked.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpwords.core.symbols import Ragged
from dpwords.frames.batches import BatchRelease
from dpwords.frames.shapes import Found

SECRET = "CANARY7f3"
MORE = f"{SECRET} of no row"
SYMBOLS = ["1", "2", "3", "40"]
Rows = list[dict[str, Any]]  # a row has an id, a person, a city and a word, which is a list of symbols


def without_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace draws by words that depend on the ids and lengths of the words alone."""

    def fixed(self: BatchRelease, found: Found, rows: Any, ids: Any, _epsilons: Any = None) -> Ragged:
        hamming = self.mechanism.distance == "hamming"  # otherwise lengths are hidden as well
        sizes = found.words.sizes[rows] if hamming else np.ones(len(rows), np.int64)
        first = [sum(str(id).encode()) for id in ids.take(pa.array(rows)).to_pylist()]
        positions = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        codes = np.repeat(np.array(first, dtype=np.int64), sizes) + 7 * positions
        return Ragged((codes % len(self.mechanism.language.alphabet)).astype(np.uint8), np.cumsum(sizes))

    monkeypatch.setattr(BatchRelease, "draw", fixed)


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


# The same table in files that differ in everything but the rows.


def parquet(table: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    return file.getvalue()


def arrow(table: pa.Table, rows: int = 100, **options: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=True, **options)) as out:
        out.write_table(table, max_chunksize=rows)
    return file.getvalue()


def noted(table: pa.Table) -> pa.Table:
    """With metadata of the table and of each field, as pandas, Spark and Polars write them."""
    fields = [
        field.with_metadata({"ml_attr": json.dumps({"vals": [SECRET]}), "_PL_ENUM": SECRET}) for field in table.schema
    ]
    return table.cast(pa.schema(fields, {"pandas": json.dumps({"columns": [SECRET]}), "dpwords": SECRET, SECRET: "x"}))


def listed(table: pa.Table) -> pa.Table:
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


def sliced(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.slice(0, 2), table.slice(2, 1), table.slice(3)])


BINARY: dict[str, dict[str, Callable[[pa.Table], bytes]]] = {
    "parquet": {
        "plain": parquet,
        "metadata": lambda table: parquet(noted(table)),
        "row groups": lambda table: parquet(table, row_group_size=2, data_page_size=1),
        "encoding": lambda table: parquet(table, use_dictionary=False, compression="zstd", write_statistics=False),
        "version": lambda table: parquet(table, version="1.0", data_page_version="2.0", compression="gzip"),
        "chunks": lambda table: parquet(sliced(table), store_schema=False),
    },
    "arrow": {
        "plain": arrow,
        "metadata": lambda table: arrow(noted(table)),
        "batches": lambda table: arrow(table, 2),
        "compression": lambda table: arrow(table, compression="zstd"),
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
