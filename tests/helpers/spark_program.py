"""A program for a cluster, run by test_spark: it releases a Parquet file, with tasks that fail or are slow at first.

    python spark_program.py MASTER INPUT FOLDER KEY

The folder is shared by all machines of the cluster. Each attempt of a task leaves a file in it.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
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


def arrived(folder: Path) -> int:
    """Leave a file that says where this attempt of the first task runs; return its number, −1 for other tasks."""
    context = TaskContext.get()
    assert context is not None
    if context.partitionId():
        return -1
    attempt = context.attemptNumber()
    folder.joinpath(f"attempt {attempt}").write_text(str(Path.cwd()), "utf-8")
    for other in {0, 1} - {attempt}:
        with folder.joinpath(f"to {other}").open("r+b", buffering=0) as pipe:
            pipe.write(b"x")
    return attempt


def wait(folder: Path, attempt: int) -> None:
    """Return when the other one of the first two attempts has arrived, before or after this one."""
    with folder.joinpath(f"to {attempt}").open("r+b", buffering=0) as pipe:
        if not select.select([pipe], [], [], 120)[0]:
            raise RuntimeError("there was no other attempt")


def failing(folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The first attempt of one task fails after its words were drawn; a speculative copy waits for that."""

    def passed(batches: Iterator[Any]) -> Iterator[Any]:
        drawn = list(batches)
        attempt = arrived(folder)
        if attempt == 0:
            raise RuntimeError("made to fail")
        if attempt == 1:
            wait(folder, attempt)
        yield from drawn

    return passed


def speculative(folder: Path) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """One task ends only after two attempts at it have drawn its words, whichever of them is the first to do so."""

    def passed(batches: Iterator[Any]) -> Iterator[Any]:
        drawn = list(batches)
        attempt = arrived(folder)
        if attempt in (0, 1):
            wait(folder, attempt)
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
        with ExitStack() as pipes:  # open here until the end, so that they keep what is written before it is read
            for attempt in (0, 1):
                os.mkfifo(notes / f"to {attempt}")
                pipes.enter_context(notes.joinpath(f"to {attempt}").open("r+b", buffering=0))
            private.mapInArrow(trouble(notes), private.schema).write.parquet(str(folder / name))
    session.stop()


if __name__ == "__main__":
    main()
