"""A program for a cluster, run by test_spark: it releases a Parquet file, with tasks that fail or are slow at first.

    python spark_program.py MASTER INPUT FOLDER KEY

The folder is shared by all machines of the cluster. Each attempt of a task leaves a file in it.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

import dpwords as dw

PARTITIONS = 3
OPTIONS = {
    "spark.cores.max": 2,
    "spark.executor.cores": 1,
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    "spark.driver.host": "127.0.0.1",
    "spark.scheduler.minRegisteredResourcesRatio": 1,  # wait for both executors
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "120s",
    "spark.speculation": "true",
    "spark.speculation.interval": "50ms",
    "spark.speculation.multiplier": 1,
    "spark.speculation.quantile": 0.1,
    "spark.sql.shuffle.partitions": 2,
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
}


def left(folder: Path) -> int:
    """Leave a file that says where this attempt of the first task runs; return its number, −1 for other tasks."""
    context = TaskContext.get()
    assert context is not None
    if context.partitionId():
        return -1
    attempt = context.attemptNumber()
    folder.joinpath(f"attempt {attempt}").write_text(str(Path.cwd()), "utf-8")
    return attempt


def failing(folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first attempt of one task fails after its words were drawn."""

    def passed(batches: Iterator[Any]) -> Iterator[Any]:
        drawn = list(batches)
        if left(folder) == 0:
            raise RuntimeError("made to fail")
        yield from drawn

    return passed


def speculative(folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first attempt of one task draws its words, and waits until a speculative copy has drawn them as well."""

    def passed(batches: Iterator[Any]) -> Iterator[Any]:
        drawn = list(batches)
        attempt = left(folder)
        if attempt >= 0:
            pipe = os.open(folder / "pipe", os.O_RDWR)
            if attempt == 0 and not select.select([pipe], [], [], 120)[0]:
                raise RuntimeError("there was no speculative copy")
            os.write(pipe, b"x")
        yield from drawn

    return passed


def main() -> None:
    master, source, folder, key = sys.argv[1], sys.argv[2], Path(sys.argv[3]), bytes.fromhex(sys.argv[4])
    builder = SparkSession.builder.master(master)
    for name, value in OPTIONS.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    frame = session.read.parquet(source).repartition(PARTITIONS)
    private = dw.spark.release(frame, dw.Exponential(dw.GridWorld(3, 3), 2.0), "moves", id="trip", key=key)
    for name, trouble in (("failing", failing), ("speculative", speculative)):
        notes = folder / f"{name} tasks"
        notes.mkdir()
        os.mkfifo(notes / "pipe")
        private.mapInArrow(trouble(notes), private.schema).write.parquet(str(folder / name))
    session.stop()


if __name__ == "__main__":
    main()
