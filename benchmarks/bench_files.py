"""A release from Parquet to Parquet, beside reading and writing alone, and beside the draws alone, fresh and keyed.

Words have 32 letters. CPU time (user and system) and the largest memory are those of a process of its own, which
releases the whole file, without ids and with a column of them.

    python benchmarks/bench_files.py [--quick | --large] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import dpwords as dw

LETTERS, LENGTH, EPSILON = 26, 32, 5.0
STEP = 2**20
REPETITIONS = 3
SCRIPT = """
import contextlib, pathlib, re
from dpwords.cli import main
with contextlib.suppress(SystemExit):
    main()
print(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1])
"""  # Linux tells the largest memory in KiB


def seconds(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """The least time of a few repetitions."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def codes(rows: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, LETTERS, size=(rows, LENGTH), dtype=np.uint8)


def make(path: Path, rows: int) -> None:
    """A file of random words."""
    writer = None
    for begin in range(0, rows, STEP):
        number = min(STEP, rows - begin)
        offsets = pa.py_buffer(np.arange(0, LENGTH * (number + 1), LENGTH, dtype=np.int32))
        words = pa.Array.from_buffers(
            pa.string(), number, [None, offsets, pa.py_buffer((codes(number) + 97).tobytes())]
        )
        table = pa.table({"id": np.arange(begin, begin + number), "word": words})
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def copy(source: Path, target: Path) -> None:
    """Read and write alone, in batches."""
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow) as writer:
        for batch in file.iter_batches(STEP):
            writer.write_table(pa.Table.from_batches([batch]))


def release(source: Path, target: Path, *more: str) -> dict[str, float]:
    """The command line, in a process of its own; returns its seconds, those of the processor, and its largest MiB."""
    options = ["--column", "word", "--alphabet", "a-z", "--epsilon", str(EPSILON), "--quiet", *more]
    command = [sys.executable, "-c", SCRIPT, "release", "--input", str(source), "--output", str(target), *options]
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert not done.stderr, done.stderr
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - begin, "CPU": processor, "MiB": int(done.stdout) / 1024}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a small file only")
    parser.add_argument("--large", action="store_true", help="10 million rows instead of one million")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    rows = 10_000 if options.quick else 10_000_000 if options.large else 1_000_000
    mechanism, some = dw.Exponential(dw.Words("abcdefghijklmnopqrstuvwxyz"), EPSILON), codes(min(rows, STEP))
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "in.parquet"), Path(folder, "out.parquet")
        make(source, rows)
        release(source, target)  # compiles
        proportion = rows / len(some)
        times = {
            "copied by pyarrow": seconds(lambda: copy(source, target)),
            "arrays, fresh draws": proportion * seconds(lambda: mechanism.release_codes(some)),
            "arrays, keyed": proportion
            * seconds(lambda: mechanism.release_codes(some, np.arange(len(some)), bytes(32))),
        }
        found = [{"what": what, "seconds": each} for what, each in times.items()]
        for what, more in (("file to file", []), ("file to file, with ids", ["--id", "id"])):
            runs = [release(source, target, *more) for _ in range(REPETITIONS)]
            found.append({"what": what, **{name: min(run[name] for run in runs) for name in runs[0]}})
    print(f"{rows:,} words of {LENGTH} letters")
    for row in found:
        row |= {"rows/s": rows / row["seconds"], "ratio": row["seconds"] / times["copied by pyarrow"]}
        own = f"{row['CPU']:7.2f} s of CPU {row['MiB']:6.0f} MiB" if "CPU" in row else ""
        speed = f"{row['seconds']:7.2f} s {row['rows/s']:12,.0f} rows/s"
        print(f"{row['what']:22} {speed} {row['ratio']:6.1f} times a copy {own}")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
