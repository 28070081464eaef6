"""Releases by Spark: a local one, and a cluster of a master and two workers, give what `dw.frames.release` gives.

There are few tests, each with many cases: every process that runs some of them starts a Spark of its own.
"""

from __future__ import annotations

import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark import TaskContext
from pyspark.errors import PythonException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

import dpwords as dw
from dpwords.frames.requests import Request
from dpwords.spark.driver import prepare
from dpwords.spark.workers import Shipment
from paths import HELPERS, ROOT

pytestmark = pytest.mark.skipif(
    not (shutil.which("java") or os.environ.get("JAVA_HOME") or os.environ.get("CI")),
    reason="Spark needs a Java runtime, version 17 or later: install for example openjdk-17-jre-headless",
)
KEY = bytes(range(32))
FREE = dw.Words("abc")
ABC = dw.Exponential(FREE, 1.0, k=2)
PAGE = ROOT / "docs" / "cluster.md"
SECONDS = 240  # that a process may take on a busy machine
QUICK_START = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
OPTIONS = {
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.sql.shuffle.partitions": 2,
    "spark.sql.execution.arrow.maxRecordsPerBatch": 4,
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local Spark of two threads, in which a task may fail twice."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_LOCAL_DIRS", str(folder))
        builder = SparkSession.builder.master("local[2,3]").config("spark.sql.warehouse.dir", str(folder))
        for name, value in OPTIONS.items():
            builder = builder.config(name, value)
        with builder.getOrCreate() as opened:
            yield opened


def table_of(rows: int = 20) -> pa.Table:
    words = ["abc"[: 1 + number % 3] * (1 + number % 2) for number in range(rows)]
    return pa.table(
        {
            "trip": [f"trip {number}" for number in range(rows)],
            "number": range(rows),
            "tag": [bytes([number]) for number in range(rows)],
            "letters": words,
            "names": [" > ".join(word) for word in words],
            "list": [list(word) for word in words],
            "positions": [["abc".index(symbol) for symbol in word] for word in words],
            "s1": [word[0] for word in words],
            "s2": [word[1] if len(word) > 1 else None for word in words],
        }
    )


TABLE = table_of()


def in_order(frame: Any, name: str = "number") -> list[Any]:
    return frame.toArrow().sort_by(name).to_pylist()


LETTERS = {"column": "letters", "id": "trip"}
MOVES = dw.TransitionSystem({0: {"a": 1, "b": 2}, 1: {"a": 0, "b": 1}, 2: {"b": 0}}, start=0)
SHAPES: list[tuple[Any, dict[str, Any]]] = [
    (ABC, LETTERS),
    (ABC, {"column": "names", "separator": " > ", "id": "number"}),
    (ABC, {"column": "list", "id": "number", "drop_others": True}),
    (dw.Exponential(dw.Words(range(3)), 1.0), {"column": "positions", "id": "trip"}),
    (ABC, {"columns": "s1:s2", "id": "trip"}),
    (dw.Exponential(MOVES.plans(), 1.0), LETTERS | {"invalid": "skip"}),
    (dw.EditChannel("abc", 4.0), LETTERS),
    (dw.Exponential(dw.Lexicon(["a", "ab", "abc"]), 1.0), LETTERS | {"invalid": "skip"}),
    (dw.Exponential(FREE, 2.0).onto(FREE & dw.rules.contains("a")), LETTERS),
    (dw.Exponential(FREE, 2.0).onto(dw.Lexicon(["abc", "acb"])), LETTERS | {"invalid": "skip"}),
]


def test_spark_releases_what_frames_release(session: SparkSession) -> None:
    """Whatever the partitions are, and with the same schema."""
    frame = session.createDataFrame(TABLE)
    for mechanism, options in SHAPES:
        private = dw.spark.release(frame.repartition(5), mechanism, key=KEY, **options)
        expected = dw.frames.release(mechanism, TABLE, key=KEY, **options)
        assert private.schema == frame.select(expected.schema.names).schema
        assert in_order(private, options["id"]) == expected.sort_by(options["id"]).to_pylist()


def test_a_fresh_key_is_made_once_in_each_call(session: SparkSession) -> None:
    """Two draws of 200 symbols at ε = 0.1 are equal with probability below 0.4^200."""
    table = pa.table({"trip": range(10), "word": ["abcab" * 4] * 10})
    frame, mechanism = session.createDataFrame(table), dw.Exponential(FREE, 0.1)
    private = dw.spark.release(frame, mechanism, "word", id="trip")
    first = in_order(private, "trip")
    assert in_order(private.repartition(3), "trip") == first
    assert in_order(private.where("trip < 5"), "trip") == first[:5]
    assert len({row["word"] for row in first}) == 10
    assert in_order(dw.spark.release(frame, mechanism, "word", id="trip"), "trip") != first


def test_a_task_that_fails_after_its_draws_is_repeated(session: SparkSession, tmp_path: Path) -> None:
    private = dw.spark.release(session.createDataFrame(TABLE).repartition(3), ABC, "letters", id="trip", key=KEY)

    def failing(batches: Iterator[Any]) -> Iterator[Any]:
        drawn, task = list(batches), TaskContext.get()
        assert task is not None
        pq.write_table(pa.Table.from_batches(drawn), tmp_path / f"{task.partitionId()} {task.attemptNumber()}")
        if task.partitionId() == 1 and task.attemptNumber() == 0:
            raise RuntimeError("made to fail")
        yield from drawn

    assert in_order(private.mapInArrow(failing, private.schema)) == in_order(private)
    assert {path.name for path in tmp_path.iterdir()} == {"0 0", "1 0", "1 1", "2 0"}
    assert pq.read_table(tmp_path / "1 0") == pq.read_table(tmp_path / "1 1")


def test_metadata_of_columns_do_not_pass_through(session: SparkSession, tmp_path: Path) -> None:
    """As `ml_attr` does, they can list the true words. Whether a column may have nulls is not told either."""
    frame = session.createDataFrame(TABLE)
    noted = {"ml_attr": {"vals": ["CANARY7f3"]}, "__CHAR_VARCHAR_TYPE_STRING": "varchar(9)"}
    marked = frame.select(*(F.col(name).alias(name, metadata=noted) for name in frame.columns))
    marked = marked.withColumn("pair", F.struct(F.col("trip").alias("inner", metadata=noted)))
    assert "CANARY7f3" in marked.schema.json()
    for options in ({"column": "letters"}, {"columns": "s1:s2"}, {"column": "letters", "drop_others": True}):
        private = dw.spark.release(marked, ABC, id="trip", key=KEY, **options)
        assert "CANARY7f3" not in private.schema.json()
        fields = json.loads(private.schema.json())["fields"]
        assert all(field["metadata"] == {} and field["nullable"] for field in fields)
    private.write.parquet(str(tmp_path / "private"))
    written = list((tmp_path / "private").glob("*.parquet"))
    assert written
    assert not any(b"CANARY7f3" in path.read_bytes() for path in written)
    log = marked.select("trip", "number", F.col("letters").alias("event", metadata=noted)).where("length(event) = 1")
    events = dw.spark.release(log, ABC, case="trip", symbol="event", order="number", key=KEY)
    assert "CANARY7f3" not in events.schema.json()


def test_columns_of_all_types_pass_through(session: SparkSession) -> None:
    """Every type that Spark passes to Python; other columns, their nulls and their names stay."""
    values = ["1S", "2L", "1.5D", "cast(1.5 as decimal(9, 2))", "true", "null", "date'2024-02-29'", "X'00FF'"]
    values += ["timestamp'2024-02-29 12:00:00.123456'", "timestamp_ntz'2024-02-29 12:00:00'", "interval '1' day"]
    values += ["map('a', 1)", "named_struct('a', array(1, null))", "if(id = 1, 'ß', null)"]
    columns = [F.expr(value).alias(f"`.{number} ä") for number, value in enumerate(values)]
    frame = session.range(3).select("id", F.lit("abc").alias("a word"), *columns)
    private = dw.spark.release(frame, dw.Exponential(FREE, 1e5), "a word", id="id")
    assert private.dtypes == frame.dtypes
    assert private.sort("id").collect() == frame.collect()
    dropped = dw.spark.release(frame, dw.Exponential(FREE, 1e5), "a word", id="id", drop_others=True)
    assert dropped.columns == ["id", "a word"]


SECRET = "abdabd"
FAULTS: list[tuple[str | None, dict[str, Any], str]] = [
    (
        SECRET,
        {},
        r"row with id 7 has a word that is not in the language \(symbol 3 of 6 is not in the alphabet\): corr",
    ),
    ("", {}, "row with id 7 has the empty word"),
    (None, {}, "row with id 7 has no word"),
    ("abc", {"id": "twice"}, "two rows have the same id in column twice"),
    ("abc", {"id": "null"}, "a row has no value in column null, which tells rows apart: give every row one"),
    ("abc", {"id": "half"}, "ids are text or whole numbers, and column half has type double"),
    ("abc", {"id": None}, "rows of a Spark DataFrame have no numbers: name a column that tells them apart with id="),
    ("abc", {"id": "word"}, "a column of words cannot be the id"),
    ("abc", {"column": "work"}, "there is no column work: the columns are id, word"),
    ("abc", {"invalid": "repair"}, "invalid is 'fail'"),
    ("abc", {"key": b"short"}, "a key must be 32 bytes"),
    ("abc", {"order": "id"}, "do not go with case=, symbol= and order="),
]


def test_what_is_refused(session: SparkSession) -> None:
    """On the driver, in one line without a symbol of the word, before anything is drawn."""
    for word, options, message in FAULTS:
        rows = [(n, word if n == 7 else "abc", n // 2, None if n == 3 else n, n / 2) for n in range(10)]
        frame = session.createDataFrame(rows, "id long, word string, twice long, `null` long, half double")
        with pytest.raises(dw.InvalidValue, match=message) as caught:
            dw.spark.release(frame, ABC, **{"column": "word", "id": "id"} | options)
        assert "\n" not in str(caught.value)
        assert SECRET not in str(caught.value)


def test_frames_that_are_refused(session: SparkSession) -> None:
    frame = session.range(4).withColumn("word", F.lit("ab"))
    refused: list[tuple[Any, str]] = [
        (TABLE, "a Spark DataFrame is needed: pass other tables to dw.frames.release"),
        (frame.withColumn("id", F.monotonically_increasing_id()), "each action computes some values .* anew"),
        (frame.withColumn("id", F.expr("uuid()")), "write it to a table, or call localCheckpoint"),
        (frame.withColumn("word", F.when(F.rand() < 0.5, "a").otherwise("b")), "and would draw anew"),
        (frame.withColumn("other", F.expr("make_interval(1)")), "Spark does not pass columns of some types"),
        (frame.withColumn("word", F.expr("cast(X'61FF' AS string)")), "check that text is valid UTF-8"),
        (frame.select("id", "word", "word"), "two columns of the table have the same name"),
        (session.readStream.format("rate").load().selectExpr("value AS id", "'ab' AS word"), "a stream has no end"),
    ]
    for table, message in refused:
        with pytest.raises(dw.InvalidValue, match=message):
            dw.spark.release(table, ABC, "word", id="id")
    with pytest.raises(dw.InvalidValue, match="a report is not released on a cluster"):
        dw.spark.release(frame, dw.Report(FREE, 1.0, "symbols"), "word", id="id")
    stable = frame.withColumn("id", F.expr("uuid()")).localCheckpoint()
    private = dw.spark.release(stable, ABC, "word", id="id")
    assert in_order(private, "id") == in_order(private, "id")


def test_ids_that_are_not_checked(session: SparkSession) -> None:
    """Then equal words with equal ids come out equal, in different batches: 4 rows are one batch here."""
    frame = session.createDataFrame(pa.table({"id": [0, 1, 2, 3] * 2, "word": ["abc" * 20] * 8})).coalesce(1)
    private = dw.spark.release(frame, dw.Exponential(FREE, 1.0), "word", id="id", check_ids=False)
    words = [row.word for row in private.collect()]
    assert words[:4] == words[4:]
    assert len(set(words)) == 4


def test_words_that_turn_bad_after_the_check(session: SparkSession, tmp_path: Path) -> None:
    """They are refused by the worker. Spark's error shows its message, and no symbol of a word."""

    def turning(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            words = [SECRET if (tmp_path / "bad").exists() else "abc"] * len(batch)
            yield pa.RecordBatch.from_arrays([batch.column(0), pa.array(words)], names=["id", "word"])

    frame = session.range(3).mapInArrow(turning, "id long, word string")
    private = dw.spark.release(frame, ABC, "word", id="id")
    (tmp_path / "bad").touch()
    with pytest.raises(PythonException, match=r"row with id \d has a word that is not in the language") as caught:
        private.collect()
    assert SECRET not in f"{caught.value} {caught.value!r} {caught.value.getMessage()}"


LOG = pa.table(
    {
        "case:concept:name": ["b", "a", "b", "a", "b"],
        "who": ["ann"] * 5,
        "concept:name": ["a", "b", "c", "a", "b"],
        "n": [1, 2, 5, 1, 3],
    }
)
TIMES = LOG.append_column("time:timestamp", pa.array([60 * n for n in [1, 2, 5, 1, 3]]).cast(pa.timestamp("us", "UTC")))


def test_event_logs(session: SparkSession) -> None:
    for log, order in ((LOG, "n"), (TIMES, None)):
        for mechanism in (ABC, dw.EditChannel("abc", 4.0)):
            private = dw.spark.release(session.createDataFrame(log), mechanism, order=order, key=KEY)
            expected = dw.frames.release(mechanism, log, order=order, key=KEY)
            assert private.columns == expected.schema.names
            rows = [sorted(tuple(row.values()) for row in some.to_pylist()) for some in (private.toArrow(), expected)]
            assert rows[0] == rows[1]


def test_event_logs_that_are_refused(session: SparkSession) -> None:
    frame = session.createDataFrame(LOG)
    gap = frame.withColumn("n", F.when(F.col("n") < 5, F.col("n")))
    bad = frame.withColumn("concept:name", F.lit("d"))
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (frame, {}, "rows have no order on a cluster: name the column of numbers or times with order="),
        (frame, {"order": "who"}, "events are ordered by numbers or times, not by values of type string"),
        (gap, {"order": "n"}, "a row has no value in column case:concept:name or n"),
        (bad, {"order": "n"}, r"case with id '[ab]' has a word that is not in the language"),
    ]
    for table, options, message in refused:
        with pytest.raises(dw.InvalidValue, match=message):
            dw.spark.release(table, ABC, **options)


def test_certificates_travel_with_the_release() -> None:
    """Workers do not prove again what the driver has proven, also for words that are shorter than k."""
    cells = dw.GridWorld(3, 3).by_states()
    schema = pa.schema({"trip": pa.int64(), "cells": pa.list_(pa.list_(pa.int64()))})
    for k, proven in ((1, ["3 lengths"]), (2, ["2 lengths", "1 lengths"])):
        release = Request("cells", id="trip").release(schema, dw.Exponential(cells, 4.0, k=k), KEY)
        prepare(release, [1, 2, 3])
        arrived = pickle.loads(pickle.dumps(release))
        kinds = dict.fromkeys([arrived.like(0.0, 3), arrived.like(0.0, 1)])
        assert [each.certificate for each in kinds]
        assert [re.findall(r"\d+ lengths", repr(each.certificate))[0] for each in kinds] == proven


def test_a_worker_with_another_version_is_refused() -> None:
    table = pa.table({"trip": [1], "word": ["abc"]})
    release = Request("word", id="trip").release(table.schema, ABC, KEY)
    (facts,) = Shipment(release, "0.0").surveyed(iter(table.to_batches()))
    assert "install the same version everywhere" in facts.to_pylist()[0]["message"]
    with pytest.raises(
        dw.InvalidValue, match=r"a worker has dpwords .*, and the driver 0\.0: install the same version"
    ):
        next(Shipment(release, "0.0").released(iter(table.to_batches())))


def test_pyspark_is_an_extra() -> None:
    script = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import dpwords as dw\n"
        "try:\n    dw.spark.release(None, dw.Exponential(dw.Words('ab'), 1.0))\n"
        "except dw.MissingExtra as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Spark needs pyspark and a Java runtime: pip install 'dpwords[spark]'"


def test_the_code_of_the_page_runs(session: SparkSession) -> None:
    codes = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert len(codes) == 3
    for code in codes:
        exec(compile(code, PAGE.name, "exec"), {})


@contextmanager
def daemon(ready: str, *arguments: str) -> Iterator[re.Match[str]]:
    """A master or a worker of a cluster, from the line of its log that says that it is ready until it is stopped."""
    program = Path(pyspark.__file__).parent / "bin" / "spark-class"
    environment = os.environ | {
        "SPARK_HOME": str(program.parent.parent),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_DAEMON_JAVA_OPTS": QUICK_START,
    }
    process = subprocess.Popen(
        [str(program), *arguments], stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    assert process.stderr is not None
    with process, process.stderr as log:
        limit = threading.Timer(SECONDS, process.kill)
        limit.start()
        try:
            found = next(filter(None, (re.search(ready, line) for line in log)), None)
            assert found, "the process has ended before it was ready"
            threading.Thread(target=log.read, daemon=True).start()  # so that it never waits for a reader
            yield found
        finally:
            limit.cancel()
            os.killpg(process.pid, signal.SIGTERM)  # also the executors that a worker has started
            process.wait(SECONDS)


def test_a_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A master and two workers. A task fails after its draws, another gets a speculative copy on the other worker."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    moves = pa.table({"trip": [f"trip {number}" for number in range(60)], "moves": ["SE", "SSEE", "ES"] * 20})
    pq.write_table(moves, tmp_path / "moves.parquet")
    deploy = "org.apache.spark.deploy"
    ports = ["--port", "0", "--webui-port", "0"]
    with ExitStack() as cluster:
        master = cluster.enter_context(
            daemon(r"Starting Spark master at (spark://\S+)", f"{deploy}.master.Master", "--host", "127.0.0.1", *ports)
        )[1]
        for host in ("127.0.0.1", "127.0.0.2"):  # copies of a task run on different machines
            position = ["--host", host, "--cores", "1", "--memory", "1g", "--work-dir", str(tmp_path / host)]
            cluster.enter_context(
                daemon("Successfully registered with master", f"{deploy}.worker.Worker", *position, *ports, master)
            )
        program = [sys.executable, str(HELPERS / "spark_program.py"), master]
        arguments = [str(tmp_path / "moves.parquet"), str(tmp_path), KEY.hex()]
        subprocess.run([*program, *arguments], check=True, capture_output=True, timeout=SECONDS)
    expected = dw.frames.release(dw.Exponential(dw.GridWorld(3, 3), 2.0), moves, "moves", id="trip", key=KEY)
    for name in ("failing", "speculative"):
        assert pq.read_table(tmp_path / name).sort_by("trip") == expected.sort_by("trip")
    attempts = [tmp_path / "speculative tasks" / f"attempt {number}" for number in (0, 1)]
    assert len({path.read_text("utf-8") for path in attempts}) == 2
    assert all((tmp_path / "failing tasks" / f"attempt {number}").exists() for number in (0, 1))
