"""No error about a private file carries any of its content, not even in the errors behind it."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw
from canaries import RUN, SECRET, chain, leaks, raised
from dpwords.core.files import FileContent, read_text
from dpwords.errors import unchained
from dpwords.frames.jobs import FileRelease, Job, MemoryRelease
from dpwords.frames.requests import Request
from dpwords.frames.samples import occurring, sample_of
from dpwords.frames.sources import memory_source

LETTERS = dw.Exponential(dw.Words("abcdefghijklmnopqrstuvwxyz"), 0.01)
BROKEN = SECRET.encode() + b"\xff"


def arrow(values: pa.Array, file: bool = True) -> bytes:
    out, table = io.BytesIO(), pa.table({"w": values})
    with (pa.ipc.new_file if file else pa.ipc.new_stream)(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def parquet(values: pa.Array) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"w": values}), out)
    return out.getvalue()


def not_utf8() -> pa.Array:
    """A column of text that is not UTF-8, as a damaged file can have it."""
    return pa.array([BROKEN], pa.binary()).view(pa.string())


FILES: dict[str, bytes] = {
    "bytes.csv": b"w\n" + BROKEN + b"\n",
    "bytes.tsv": b"w\tv\n" + BROKEN + b"\t1\n",
    "bytes.txt": BROKEN,
    "bytes.jsonl": b'{"w": "' + BROKEN + b'"}\n',
    "bytes.csv.gz": gzip.compress(b"w\n" + BROKEN + b"\n"),
    "cut.csv.gz": gzip.compress(b"w\n" + RUN.encode() * 1000)[:-9],
    "quote.csv": f'w\n"{SECRET}\n'.encode(),
    "header.csv": f"{RUN},{SECRET}\n".encode(),
    "object.jsonl": f'{{"w": "{SECRET}"\n'.encode(),
    "twice.jsonl": f'{{"w": "{SECRET}", "w": "{RUN}"}}\n'.encode(),
    "deep.jsonl": f'{{"w": {"[" * 100_000}"{SECRET}"'.encode(),
    "types.jsonl": f'{{"w": 1}}\n{{"w": "{SECRET}"}}\n'.encode(),
    "types_of_lists.jsonl": f'{{"w": ["a"]}}\n{{"w": {{"{SECRET}": "{RUN}"}}}}\n'.encode(),
    "number.jsonl": json.dumps({"w": [10**400, SECRET]}).encode(),
    "unknown.csv": f"w\n{SECRET}\n".encode(),
    "bytes.parquet": parquet(not_utf8()),
    "bytes.arrow": arrow(not_utf8()),
    "bytes.arrows": arrow(not_utf8(), file=False),
    "cut.arrows": arrow(pa.array([SECRET, RUN]), file=False)[:-30],
    "unknown.parquet": parquet(pa.array([[SECRET], list(RUN)])),
    "null.parquet": parquet(pa.array([RUN, None])),
    "objects.parquet": parquet(pa.array([{"a": SECRET}])),
    "binary.parquet": parquet(pa.array([SECRET.encode()])),
}


def look(name: str, content: bytes, _place: Path, request: Request) -> None:
    source = memory_source(name, content)
    sample_of(source)
    occurring(source, request)


def in_memory(name: str, content: bytes, _place: Path, request: Request) -> None:
    run = MemoryRelease(LETTERS, memory_source(name, content), request)
    run.write(run.survey())


def in_files(name: str, content: bytes, place: Path, request: Request) -> None:
    (place / name).write_bytes(content)
    with FileRelease(Job(LETTERS, str(place / name), str(place / f"out.{name}"), request=request)) as run:
        run.write(run.survey(lambda rows: None))


REQUESTS = (Request("w"), Request("w", by="v"), Request(columns="w*"), Request(case="w", symbol="w", order="w"))


@pytest.mark.parametrize("way", [look, in_memory, in_files])
@pytest.mark.parametrize("name", FILES)
def test_errors_carry_nothing_of_a_private_file(name: str, way: Callable[..., None], tmp_path: Path) -> None:
    refused = 0
    for request in REQUESTS:
        error = raised(lambda request=request: way(name, FILES[name], tmp_path, request))  # type: ignore[misc]
        if error is not None:
            refused += 1
            assert isinstance(error, dw.DPWordsError), repr(error)
            assert (error.__context__, error.__cause__) == (None, None)
            assert not leaks(chain(error)), (leaks(chain(error)), chain(error)[:1000])
    assert refused


def pandas_column(values: pa.Array) -> Any:
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([values])))  # type: ignore[attr-defined]


def released(table: Any, **options: Any) -> Any:
    return dw.frames.release(LETTERS, table, column="w", **options)


def on_account(place: Path) -> Any:
    return released(pa.table({"w": ["ab"], "v": not_utf8()}), by="v", ledger=dw.Ledger(place / "ledger", budget=1.0))


TABLES: dict[str, Callable[[Path], Any]] = {  # tables that are in memory, where nobody has validated them
    "words": lambda _: released(pa.table({"w": not_utf8()})),
    "categories": lambda _: released(pa.table({"w": pa.DictionaryArray.from_arrays(pa.array([0]), not_utf8())})),
    "pandas": lambda _: released(pd.DataFrame({"w": pandas_column(not_utf8())})),
    "persons": on_account,
    "releases": lambda _: dw.estimate.frequencies(not_utf8(), LETTERS),
    "releases in pandas": lambda _: dw.estimate.lengths(pandas_column(not_utf8()), LETTERS),
    "releases to repair": lambda _: dw.estimate.decode(not_utf8(), LETTERS),
    "reports": lambda _: dw.estimate.frequencies(
        pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), not_utf8()), dw.Report(dw.Words("ab"), 1.0, "symbols")
    ),
}


@pytest.mark.parametrize("name", TABLES)
def test_errors_carry_nothing_of_a_table_in_memory(name: str, tmp_path: Path) -> None:
    error = raised(lambda: TABLES[name](tmp_path))
    assert isinstance(error, dw.DPWordsError), repr(error)
    assert (error.__context__, error.__cause__) == (None, None)
    assert not leaks(chain(error))


def test_text_that_is_not_utf8() -> None:
    with pytest.raises(dw.InvalidValue, match="not UTF-8") as caught:
        read_text(FileContent("words.txt", BROKEN))
    assert caught.value.__context__ is None


def test_what_the_caller_was_handling_stays() -> None:
    """An error that is raised while a caller handles one of its own has that one behind it, as everywhere in Python."""
    own = KeyError("the caller's")

    @unchained()
    def refuse() -> None:
        try:
            {}[SECRET]
        except KeyError:
            raise dw.InvalidValue("a rule: a remedy") from None

    def handling() -> None:
        try:
            raise own
        except KeyError:
            refuse()

    error = raised(handling)
    assert isinstance(error, dw.InvalidValue)
    assert error.__context__ is own
