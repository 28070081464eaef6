"""Damaged data files of every format: one line, exit code 2, no private word in it, nothing half-written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from fuzzing import MUTANTS, SECRET, Case

WORDS = ["abba", "ab", "babab", "aabb", "b", "abab"]
ROWS = [(number, "ann" if number % 2 else "bob", word, f"note {number}") for number, word in enumerate(WORDS)]
TABLE = pa.table({"id": [r[0] for r in ROWS], "user": [r[1] for r in ROWS], "w": WORDS, "note": [r[3] for r in ROWS]})
LISTS = TABLE.set_column(2, "w", pa.array([list(word) for word in WORDS]))
OTHERS = [word.replace("aa", SECRET) for word in WORDS]  # a word that is not in the language
EVENTS = [
    (number, symbol, f"2026-01-0{day}") for number, word in enumerate(WORDS) for day, symbol in enumerate(word, 1)
]
RELEASE = "release --input {file} --alphabet ab -e 3 --quiet --output {output}"


def delimited(words: list[str], mark: str = ",") -> bytes:
    lines = [
        ("id", "user", "w", "note"),
        *((str(i), user, word, note) for (i, user, _, note), word in zip(ROWS, words, strict=True)),
    ]
    return "".join(mark.join(line) + "\n" for line in lines).encode()


def json_lines(words: list[str]) -> bytes:
    lines = [
        f'{{"id": {i}, "user": "{user}", "w": "{word}", "note": {{"n": [1.50, null]}}}}'
        for (i, user, *_), word in zip(ROWS, words, strict=True)
    ]
    return "".join(line + "\n" for line in lines).encode()


def arrow(table: pa.Table, stream: bool) -> bytes:
    sink = io.BytesIO()
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, store_schema=False)
    return sink.getvalue()


def feather(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pyarrow.feather.write_feather(table, sink)
    return sink.getvalue()


def wide(words: list[str]) -> bytes:
    rows = [",".join([str(number), *word, *[""] * (5 - len(word))]) for number, word in enumerate(words)]
    return "\n".join(["id,m1,m2,m3,m4,m5", *rows]).encode()


LOG = ("case,event,time\n" + "".join(",".join(map(str, event)) + "\n" for event in EVENTS)).encode()
CELLS = b'{"run": [[0, 1], [0, 2]]}\n{"run": [[1, 0], [1, 1], [0, 1]]}\n'
OUT = "out.parquet"
TEXT = f"{RELEASE} --column w"
SKIP = f"{TEXT} --invalid skip --by user --budget 4"
CASES = [
    Case("CSV", "t.csv", delimited(WORDS), TEXT, output=OUT),
    Case("CSV, bad word", "t.csv", delimited(OTHERS), TEXT, private=True, output=OUT),
    Case("CSV, skipped word", "t.csv", delimited(OTHERS), SKIP, private=True, output=OUT),
    Case("CSV, ids", "t.csv", delimited(WORDS), f"{TEXT} --id id --by user --drop-others", output=OUT),
    Case("TSV", "t.tsv", delimited(OTHERS, "\t"), SKIP, private=True, output=OUT),
    Case(
        "CSV from standard input",
        "",
        delimited(OTHERS),
        SKIP.replace("{file}", "- --format csv"),
        private=True,
        output=OUT,
    ),
    Case("JSON Lines", "t.jsonl", json_lines(WORDS), TEXT, output=OUT),
    Case("JSON Lines, bad word", "t.jsonl", json_lines(OTHERS), TEXT, private=True, output=OUT),
    Case(
        "JSON Lines, cells",
        "t.jsonl",
        CELLS,
        RELEASE.replace("--alphabet ab", "--column run --system grid:3x3 --words states --mechanism online"),
        output=OUT,
    ),
    Case("text", "t.txt", "\n".join(OTHERS).encode(), RELEASE + " --invalid skip", private=True, output=OUT),
    Case("wide", "t.csv", wide(OTHERS), RELEASE + " --columns m* --invalid skip", private=True, output=OUT),
    Case("log", "t.csv", LOG, RELEASE + " --case case --symbol event --order time", output=OUT),
    Case("Parquet", "t.parquet", parquet(TABLE), TEXT, output=OUT),
    Case("Parquet, lists", "t.parquet", parquet(LISTS), TEXT, output=OUT),
    Case("Arrow file", "t.arrow", arrow(LISTS, stream=False), TEXT, output=OUT),
    Case("Arrow stream", "t.arrow", arrow(TABLE, stream=True), TEXT, output=OUT),
    Case("Feather", "t.feather", feather(TABLE), TEXT, output=OUT),
    Case("gzip", "t.csv.gz", gzip.compress(delimited(OTHERS)), SKIP, private=True, output=OUT),
    Case("bzip2", "t.csv.bz2", bz2.compress(delimited(OTHERS)), SKIP, private=True, output=OUT),
    Case("xz", "t.csv.xz", lzma.compress(delimited(OTHERS)), SKIP, private=True, output=OUT),
    Case(
        "zstandard",
        "t.jsonl.zst",
        bytes(pa.compress(json_lines(OTHERS), codec="zstd", asbytes=True)),
        SKIP,
        private=True,
        output=OUT,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_damaged_files_are_refused_in_one_line(case: Case, tmp_path: Path) -> None:
    assert case.check(0, tmp_path) == (2 if "bad word" in case.title else 0)
    for number in range(1, MUTANTS // 2):
        case.check(number, tmp_path)


def test_a_parquet_file_with_damaged_facts_does_not_end_the_process() -> None:
    """pyarrow aborts when it is asked for some facts about a column that are damaged."""
    script = """
import sys
from dpwords.errors import DPWordsError
from dpwords.frames.sources import memory_source
content, refused = sys.stdin.buffer.read(), 0
for position in range(len(content)):
    for value in (content[position] ^ 4, 255):
        try:
            reader = memory_source("t.parquet", content[:position] + bytes([value]) + content[position + 1:]).reader
            list(reader.batches(reader.schema.names))
        except DPWordsError:
            refused += 1
print(refused)
"""
    done = subprocess.run([sys.executable, "-c", script], input=parquet(TABLE), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert int(done.stdout) > 100
