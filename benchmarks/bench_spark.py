"""Releases by Spark on one core, beside a `mapInArrow` that passes everything through, in the same run.

Words are read from Parquet, and the results are not written anywhere. Each figure is the best of a few repetitions; the
check that comes before the draws is timed by itself. Spark needs a Java runtime.

    python benchmarks/bench_spark.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import dpwords as dw

REPETITIONS = 3
HEX = "md5(cast(id AS string))"  # 32 symbols out of 16
STEPS = f"translate(substr({HEX}, 1, 10), '02468ace13579bdf', '0000000011111111')"
POSITIONS = [  # name, rows, words, mechanism
    ("free words of 32 out of 16, ε = 3", 1_000_000, HEX, dw.Exponential(dw.Words("0123456789abcdef"), 3.0)),
    (
        "runs of 20 moves, 15×15 grid, ε = 3",
        200_000,
        f"replace(replace({STEPS}, '0', 'SE'), '1', 'ES')",
        dw.Exponential(dw.GridWorld(15, 15), 3.0),
    ),
]


def passed(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


def seconds(work: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """The least time of a few repetitions."""
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def computed(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def opened() -> SparkSession:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.driver.host": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": 100_000,
        "spark.sql.shuffle.partitions": 2,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def measured(session: SparkSession, folder: str, name: str, rows: int, words: str, mechanism: Any) -> dict[str, Any]:
    """Seconds for the check of words and ids, for the draws, and for passing the rows through."""
    position = f"{tempfile.mkdtemp(dir=folder)}/words"
    session.range(rows).selectExpr("id", f"{words} AS word").write.parquet(position)
    frame = session.read.parquet(position)
    private = dw.spark.release(frame, mechanism, "word", id="id")
    computed(private)  # which compiles
    plain = seconds(lambda: computed(frame.mapInArrow(passed, frame.schema)))
    drawn = seconds(lambda: computed(private))
    check = seconds(lambda: dw.spark.release(frame, mechanism, "word", id="id"))
    return {"what": name, "rows": rows, "plain": plain, "check": check, "release": drawn, "ratio": drawn / plain}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few words only")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder, opened() as session:
        for name, rows, words, mechanism in POSITIONS:
            row = measured(session, folder, name, 1_000 if options.quick else rows, words, mechanism)
            found.append(row)
            speed = f"{row['rows'] / row['release']:,.0f} rows a second on one core"
            print(
                f"{name}: {speed}, {row['ratio']:.2f} times as long as passing them through; "
                f"check {row['check']:.2f} s, release {row['release']:.2f} s"
            )
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
