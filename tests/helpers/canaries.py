"""Private words that can be recognised wherever they turn up, and the search for them in everything a command leaves.

`SECRET` is no symbol of any alphabet, so it never belongs into an output. `RUN` and `MOVES` are words of a language.
They are so long, and released at so small an ε, that an output contains one of them by accident with probability less
than 10⁻¹⁵.
"""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import logging
import lzma
import os
import pickle
import random
import sqlite3
import sys
import tempfile
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import click
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

import dpwords as dw
from dpwords import cli

SECRET = "CANARY7f3"
RUN = "qzcanaryxkvw"  # over a–z
START, SIDE = (7, 7), 15


def _walk() -> tuple[str, list[tuple[int, int]]]:
    """A run of 40 moves on the grid, and the cells that it enters."""
    world, luck, at = dw.GridWorld(SIDE, SIDE, START), random.Random(3), START
    moves, cells = "", []
    for _ in range(40):
        move, at = luck.choice(list(world.follow(at)))
        moves, cells = moves + move, [*cells, at]
    return moves, cells


MOVES, CELLS = _walk()
_CODES = {
    "letters": [ord(letter) - ord("a") for letter in RUN],
    "moves": [dw.GridWorld(SIDE, SIDE, START).alphabet.codes[move] for move in MOVES],
    "cells": [dw.GridWorld(SIDE, SIDE, START).by_states().alphabet.codes[cell] for cell in CELLS],
}
_TEXTS = (
    SECRET,
    RUN,
    MOVES,
    " ".join(f"{row},{column}" for row, column in CELLS[:8]),
    json.dumps(CELLS[:8])[1:-1],
    json.dumps(CELLS[:8], separators=(",", ":"))[1:-1],
    str(CELLS[:8])[1:-1],
    repr(list(RUN))[1:-1],
    json.dumps(list(RUN))[1:-1],
    json.dumps(list(RUN), separators=(",", ":"))[1:-1],
    "\n".join(RUN),
    " ".join(RUN),
    ",".join(RUN),
)
_FORMS: dict[bytes, str] = {
    **{text.encode(coding): f"{text} in {coding}" for text in _TEXTS for coding in ("utf-8", "utf-16-le", "utf-32-le")},
    **{
        np.array(codes, dtype=kind).tobytes(): f"{name} as {kind}"
        for name, codes in _CODES.items()
        for kind in ("u1", "<u2", "<i4", "<i8")
        if max(codes) < 256 or kind != "u1"
    },
    **{
        np.array([ord(letter) for letter in RUN], dtype=kind).tobytes(): f"letters as {kind}" for kind in ("<i4", "<i8")
    },
}


def leaks(content: bytes | str) -> list[str]:
    """The forms in which private words occur in a content."""
    sought = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return [name for form, name in _FORMS.items() if form in sought]


def contents_of(path: Path, content: bytes) -> Iterator[bytes]:
    """The content of a file as it is, and unpacked if it is of a kind that is packed."""
    yield content
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}.get(path.suffix)
    if unpack is not None:
        yield unpack(content)
    if ".csv" in path.suffixes:
        rows = list(csv.reader(io.StringIO(content.decode() if unpack is None else unpack(content).decode())))
        yield from ("".join(column).encode() for column in zip(*rows, strict=False))  # a symbol in each row
        yield from ("".join(row).encode() for row in rows)  # a symbol in each column
    if content.startswith(b"PAR1"):
        file = pq.ParquetFile(io.BytesIO(content))
        yield from contents_of_table(file.read())
        yield from (f"{key} {value}".encode() for key, value in file.metadata.metadata.items())
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        columns = [group.column(place) for group in groups for place in range(group.num_columns)]
        yield str([column.to_dict() for column in columns]).encode()  # with the least and the largest value
    if content.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        reader = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        yield from contents_of_table(reader(content).read_all())
    if content.startswith(b"SQLite format 3\0") and path.exists():
        with closing(sqlite3.connect(path)) as ledger:
            yield "\n".join(ledger.iterdump()).encode()
    if content.startswith(b"\x89PNG"):
        at = 8
        while at < len(content):
            size, kind = int.from_bytes(content[at : at + 4], "big"), content[at + 4 : at + 8]
            if kind in (b"zTXt", b"iTXt"):
                yield zlib.decompressobj().decompress(content[at + 8 : at + 8 + size].partition(b"\0")[2][1:])
            at += size + 12


def contents_of_table(table: pa.Table) -> Iterator[bytes]:
    """The rows of an Arrow table, and what is not in them: metadata, dictionaries, and the bytes beneath nulls."""
    yield json.dumps(table.to_pylist(), default=str).encode()
    yield table.schema.to_string(show_field_metadata=True, show_schema_metadata=True, truncate_metadata=False).encode()
    for chunk in (chunk for column in table.columns for chunk in column.chunks):
        if pa.types.is_dictionary(chunk.type):
            yield str(chunk.dictionary.to_pylist()).encode()
        yield b"\n".join(buffer.to_pybytes() for buffer in chunk.buffers() if buffer is not None)


def chain(error: BaseException) -> bytes:
    """What an exception carries along: what a traceback shows, its attributes, and all that of those behind it.

    Also of exceptions that a traceback hides, as after `from None`. Variables of the frames are left out.
    """
    found = ["".join(traceback.TracebackException.from_exception(error, limit=0).format()).encode()]
    left, seen = [error], set()
    while left:
        at = left.pop()
        seen.add(id(at))
        names = [name for name in dir(at) if not name.startswith("__")]
        values = [at.args, getattr(at, "__notes__", ()), *(getattr(at, name, None) for name in names)]
        found += (part for value in values if not callable(value) for part in parts_of(value))
        left += (each for each in (at.__cause__, at.__context__) if each is not None and id(each) not in seen)
    return b"\n".join(found)


def raised(call: Callable[[], object]) -> BaseException | None:
    """What a call raises; None if it returns."""
    try:
        call()
    except Exception as error:
        return error
    return None


def parts_of(value: Any, depth: int = 12, seen: set[int] | None = None) -> Iterator[bytes]:
    """The texts, bytes and arrays that can be reached from a value: through attributes, containers and caches."""
    seen = set() if seen is None else seen
    if id(value) in seen or depth == 0:
        return
    seen.add(id(value))
    if isinstance(value, (str, bytes)):
        yield value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    elif isinstance(value, np.ndarray):
        yield value.tobytes()
    elif isinstance(value, (pd.DataFrame, pd.Series)):
        yield pickle.dumps(value, protocol=4)
        yield repr((value.attrs, value.index, value.dtypes)).encode()
    elif isinstance(value, (pl.DataFrame, pl.Series)):
        yield pickle.dumps(value)
        yield repr(getattr(value, "schema", value)).encode()
    elif isinstance(value, (pa.Table, pa.RecordBatch)):
        yield from contents_of_table(value if isinstance(value, pa.Table) else pa.Table.from_batches([value]))
    elif isinstance(value, Mapping):
        yield repr(list(value)).encode("utf-8", "surrogatepass")
        for each in [*value.keys(), *value.values()]:
            yield from parts_of(each, depth - 1, seen)
    elif isinstance(value, (list, tuple, set, frozenset)):
        yield repr(value).encode("utf-8", "surrogatepass") if len(value) < 10_000 else b""
        for each in value:
            yield from parts_of(each, depth - 1, seen)
    elif hasattr(value, "__dict__") and not isinstance(value, type):
        yield from parts_of(vars(value), depth - 1, seen)


@dataclass
class Trail:
    """Everything that a command left behind."""

    code: int | str | None = None
    texts: dict[str, bytes | str] = field(default_factory=dict)  # streams, logs, warnings, exceptions
    removed: list[tuple[str, bytes]] = field(default_factory=list)  # files that were deleted again

    def check(self, roots: list[Path], own: tuple[str, ...] = ()) -> None:
        """Assert that no private word is in it, nor below the roots; `own` names what is there to show one."""
        for name, text in self.texts.items():
            assert name in own or not leaks(text), (name, leaks(text), text[-2000:])
        for name, content in self.removed:
            assert not leaks(name), name
            for part in contents_of(Path(name), content):
                assert Path(name).name in own or not leaks(part), (name, leaks(part))
        for root in roots:
            for path in root.rglob("*"):
                assert not leaks(str(path)), path
                if path.is_file() and path.name not in own:
                    for part in contents_of(path, path.read_bytes()):
                        assert not leaks(part), (path, leaks(part))


@contextmanager
def watched(trail: Trail) -> Iterator[None]:
    """Keep what is deleted, logged at any level, or warned of, while the block runs."""
    unlink = os.unlink

    def keep(path: Any, *, dir_fd: int | None = None) -> None:
        try:
            with os.fdopen(os.open(path, os.O_RDONLY, dir_fd=dir_fd), "rb") as file:
                trail.removed.append((os.fsdecode(path), file.read()))
        except OSError:
            trail.removed.append((os.fsdecode(path), b""))
        unlink(path, dir_fd=dir_fd)

    said = io.StringIO()
    handler, root = logging.StreamHandler(said), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with mock.patch.object(os, "unlink", keep), mock.patch.object(os, "remove", keep):
            yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        trail.texts["log"] = said.getvalue()


def command(arguments: list[str], stdin: bytes, here: Path, environment: Mapping[str, str]) -> Trail:
    """Run a command in this process, in a directory and an environment, and follow its trail."""
    trail = Trail()
    streams: dict[str, Any] = {
        name: io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for name in ("stdout", "stderr")
    }
    streams["stdin"] = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    run, before = cli._run, Path.cwd()

    def followed(given: list[str]) -> int:
        try:
            return run(given)
        except BaseException as error:
            if not isinstance(error, click.ClickException):  # which `main` never shows as it is
                trail.texts["exception"] = chain(error)
            raise

    os.chdir(here)
    try:
        with (
            mock.patch.multiple(sys, argv=["dpwords", *arguments], **streams),
            mock.patch.dict(os.environ, environment),
            mock.patch.object(tempfile, "tempdir", None),
            mock.patch.object(cli, "_run", followed),
            warnings.catch_warnings(),
            watched(trail),
        ):
            warnings.simplefilter("always")
            try:
                cli.main()
            except SystemExit as left:
                trail.code = left.code
            except KeyboardInterrupt:
                trail.code = 130
    finally:
        os.chdir(before)
    for name in ("stdout", "stderr"):
        trail.texts[name] = streams[name].buffer.getvalue().decode("utf-8", "replace")
    return trail
