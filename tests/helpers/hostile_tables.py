"""Small files that stand for much, for `test_hostile_tables.py`: how their rows are read under a limit of memory.

Each file is made first. The process may then take only `ROOM` more address space, and reads the first batches.
"""

from __future__ import annotations

import gzip
import io
import json
import resource
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dpwords.frames.sources import memory_source

MEMORY = 768 * 2**20  # bytes
ROWS = 2**16
LONG = "a" * 2**20
SHOWN = 3  # batches


def repeated(value: Any, kind: Any, rows: int = ROWS) -> Any:
    """A column in which all rows share one value of a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), rows), pa.array([value], kind))


def lists_of(values: Any, each: int) -> Any:
    """A column of lists of so many values."""
    ends = pa.array(range(0, len(values) + 1, each), pa.int32())
    return pa.ListArray.from_arrays(ends, values)


def parquet(column: Any, kind: Any = None) -> bytes:
    """A file with dictionary-encoded pages. With `kind`, it says that the column had this type."""
    out = io.BytesIO()
    table = pa.table({"w": column})
    if kind is not None:
        pq.write_table(pa.table({"w": pa.array([], kind)}), out)
        table = table.replace_schema_metadata(pq.read_metadata(out).metadata)
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", store_schema=False)
    return out.getvalue()


def arrow(column: Any, stream: bool = False, compression: str | None = None) -> bytes:
    out, table = io.BytesIO(), pa.table({"w": column})
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(out, table.schema, options=options) as writer:
        writer.write_table(table)
    return out.getvalue()


def packed(begin: bytes, row: bytes, times: int) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=1) as file:
        file.write(begin)
        for _ in range(times):
            file.write(row)
    return out.getvalue()


def header(columns: int) -> bytes:
    return ",".join(f"c{number}" for number in range(columns)).encode() + b"\n"


def keys(row: int, number: int = 300) -> bytes:
    """A line of JSON whose keys no other line has."""
    return json.dumps(dict.fromkeys(range(number * row, number * row + number), 1)).encode() + b"\n"


def views() -> Any:
    """A column of views that all show the same text."""
    one = pa.array([LONG], pa.string_view())
    _, view, *data = one.buffers()
    return pa.Array.from_buffers(pa.string_view(), ROWS, [None, pa.py_buffer(view.to_pybytes()[:16] * ROWS), *data])


def list_views() -> Any:
    """A column of lists that all are the same part of one array."""
    begins, sizes = pa.repeat(pa.scalar(0, pa.int32()), ROWS), pa.repeat(pa.scalar(2**20, pa.int32()), ROWS)
    return pa.ListViewArray.from_arrays(begins, sizes, pa.repeat(pa.scalar(0, pa.int8()), 2**20))


def runs() -> Any:
    """A column in which one value is repeated by its run."""
    return pa.RunEndEncodedArray.from_arrays(pa.array([ROWS], pa.int32()), pa.array([LONG]))


FILES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "text": ("t.parquet", lambda: parquet(repeated(LONG, pa.string()))),
    "bytes": ("t.parquet", lambda: parquet(repeated(LONG.encode(), pa.binary()))),
    "large text": ("t.parquet", lambda: parquet(repeated(LONG, pa.string()), pa.large_string())),
    "views of text": ("t.parquet", lambda: parquet(repeated(LONG, pa.string()), pa.string_view())),
    "lists of text": ("t.parquet", lambda: parquet(lists_of(repeated(LONG, pa.string()), 8))),
    "objects": ("t.parquet", lambda: parquet(pa.StructArray.from_arrays([repeated(LONG, pa.string())], ["a"]))),
    "a long list": ("t.parquet", lambda: parquet(lists_of(repeated(LONG, pa.string()), 512))),
    "dictionary": ("t.arrow", lambda: arrow(repeated(LONG, pa.string()))),
    "dictionary in a stream": ("t.arrows", lambda: arrow(repeated(LONG, pa.string()), stream=True)),
    "views": ("t.arrow", lambda: arrow(views())),
    "views of lists": ("t.arrow", lambda: arrow(list_views())),
    "runs": ("t.arrow", lambda: arrow(runs())),
    "empty cells": ("t.csv.gz", lambda: packed(header(20_000), b"," * 19_999 + b"\n", 1200)),
    "empty objects": ("t.jsonl.gz", lambda: packed(keys(0, 3000), b"{}\n", 9000)),
    "many columns": ("t.csv.gz", lambda: packed(header(70_000), b"", 0)),
    "a row of many lines": ("t.csv.gz", lambda: packed(b"w\n", b'"' + b"a" * 2**22 + b'\n",', 200)),
    "keys that differ": ("t.jsonl.gz", lambda: packed(b"".join(map(keys, range(300))), b"", 0)),
    "JSON": ("t.parquet", lambda: parquet(repeated(LONG, pa.string()), pa.json_())),
}


def outcome(name: str, content: bytes) -> Any:
    """The numbers of rows of the first batches, with all values written out, or the error."""
    try:
        reader = memory_source(name, content).reader
        batches = islice(reader.batches(reader.schema.names), SHOWN)
        return [len(batch) for batch in batches if any(len(column.to_pylist()) for column in batch.columns)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    outcome("t.parquet", parquet(pa.array(["a"]))), outcome("t.arrow", arrow(pa.array(["a"])))  # import what is needed
    files = {title: (name, make()) for title, (name, make) in FILES.items()}
    taken = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + MEMORY, resource.RLIM_INFINITY))
    print(json.dumps({title: (len(content), outcome(name, content)) for title, (name, content) in files.items()}))
