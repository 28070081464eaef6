"""What runs on the driver: the jobs that check words and ids, the certificates, and the lazy DataFrame that draws."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyspark.sql.functions as F  # noqa: N812
from pyspark.errors import PySparkTypeError
from pyspark.sql import DataFrame
from pyspark.sql import types as kinds

from dpwords import __version__, errors
from dpwords.core.keyed import Key
from dpwords.errors import InvalidValue
from dpwords.frames.batches import BatchRelease
from dpwords.frames.columns import checked_ids, refuse_twins
from dpwords.frames.long import Events, Form, LongWords
from dpwords.frames.requests import Request
from dpwords.frames.rows import empty_batch
from dpwords.mechanisms.mechanism import OutputKind
from dpwords.mechanisms.private import Private
from dpwords.spark.workers import SURVEY, Shipment

_SAME = (kinds.IntegerType, kinds.LongType, kinds.FloatType, kinds.DoubleType)  # numbers that an order column keeps
_LONG = (kinds.ByteType, kinds.ShortType, kinds.DecimalType)  # numbers that become long ones
_TIMES = (kinds.TimestampType, kinds.TimestampNTZType)


def release(dataframe: Any, mechanism: Private, request: Request, key: bytes | None, check_ids: bool) -> Any:
    """A DataFrame with released words; see `dpwords.spark.release`."""
    frame = _checked(dataframe)
    secret = Key.fresh() if key is None else Key(key)
    log = request.log(frame.columns)
    if log is not None:
        words, out, events = _gathered(frame, log)
        request = request.of_cases(log)
    else:
        words, out, events = frame, _bare(frame.schema), None
    if request.id is None:
        raise InvalidValue(
            "rows of a Spark DataFrame have no numbers: name a column that tells them apart with id=, for example the "
            "number of the trip"
        )
    schema = _arrow_schema(words)
    release = request.release(schema, mechanism, None, declared=lambda name: True)
    if mechanism.releases is OutputKind.ANSWERS:
        raise InvalidValue(
            "a report is not released on a cluster yet: use dw.frames.release, or the command dpwords release"
        )
    checked_ids(empty_batch(schema).column(request.id), request.id, 0)
    needed = [name for name in words.columns if name in {*release.shape.columns, request.id}]
    lengths = _lengths(words.select(*map(_quoted, needed)), release)
    if check_ids and log is None:
        _check_ids(frame, request.id)
    release = replace(release, key=secret.secret, events=events)
    prepare(release, lengths)
    if release.output is not None:
        words = words.select(*map(_quoted, release.output))
        out = _bare(words.schema)
    shared = frame.sparkSession.sparkContext.broadcast(Shipment(release, __version__))
    return _mapped(words, shared, out, draws=True)


def prepare(release: BatchRelease, lengths: list[int]) -> None:
    """Make what draws of words of these lengths need, above all certificates. It is pickled with the release."""
    for length in lengths:
        release.like(0.0, length).prepare(length)


def _checked(dataframe: Any) -> DataFrame:
    """A DataFrame whose rows can be computed twice; raises `InvalidValue` for anything else."""
    if not isinstance(dataframe, DataFrame):
        raise InvalidValue("a Spark DataFrame is needed: pass other tables to dw.frames.release")
    if type(dataframe).__module__.startswith("pyspark.sql.connect"):
        raise InvalidValue(
            "Spark Connect cannot broadcast a mechanism: run the program on the cluster, with spark-submit"
        )
    if dataframe.isStreaming:
        raise InvalidValue(
            "a stream has no end, and words are checked before any is drawn: release each part, with foreachBatch"
        )
    refuse_twins(dataframe.columns)
    if not dataframe._jdf.queryExecution().analyzed().deterministic():
        raise InvalidValue(
            "each action computes some values of this DataFrame anew, as by uuid(), rand() or "
            "monotonically_increasing_id(), and would draw anew: write it to a table, or call localCheckpoint(), and "
            "pass the result"
        )
    return dataframe


def _bare(kind: Any) -> Any:
    """A Spark type, as that of a table, without metadata: they can list the values of a column."""
    if isinstance(kind, kinds.StructType):
        return kinds.StructType([kinds.StructField(field.name, _bare(field.dataType)) for field in kind])
    if isinstance(kind, kinds.ArrayType):
        return kinds.ArrayType(_bare(kind.elementType))
    if isinstance(kind, kinds.MapType):
        return kinds.MapType(_bare(kind.keyType), _bare(kind.valueType))
    return kind


def _arrow_schema(frame: DataFrame) -> Any:
    try:
        return frame.limit(0).toArrow().schema
    except PySparkTypeError:
        raise InvalidValue(
            "Spark does not pass columns of some types, such as intervals, to Python: drop or convert them"
        ) from None


def _lengths(words: DataFrame, release: BatchRelease) -> list[int]:
    """The lengths of all words; raises the error of the first partition in which something is wrong."""
    shared = words.sparkSession.sparkContext.broadcast(Shipment(release, __version__))
    try:
        found = _mapped(words, shared, SURVEY, draws=False).collect()
    finally:
        shared.destroy()
    for row in found:
        if row.kind is not None:
            raise getattr(errors, row.kind)(row.message)
    return sorted({length for row in found for length in row.lengths})


def _mapped(frame: DataFrame, shared: Any, schema: Any, *, draws: bool) -> DataFrame:
    """The batches of a frame, as the workers change them. Spark itself would misread names with dots or backticks.

    A worker process loads the shipment once, for all of its tasks.
    """
    names = list(frame.columns)

    def changed(batches: Iterator[Any]) -> Iterator[Any]:
        shipment: Shipment = shared.value
        named = (batch.rename_columns(names) for batch in batches)
        return shipment.released(named) if draws else shipment.surveyed(named)

    return frame.toDF(*(f"c{number}" for number in range(len(names)))).mapInArrow(changed, schema)


def _check_ids(frame: DataFrame, name: str) -> None:
    if frame.groupBy(_quoted(name)).count().where(F.col("count") > 1).limit(1).collect():
        raise InvalidValue(
            f"two rows have the same id in column {name}, and ids tell draws apart: name a column that differs in "
            "every row"
        )


def _gathered(frame: DataFrame, log: LongWords) -> tuple[DataFrame, kinds.StructType, Events]:
    """One row for each case of an event log, the schema of the events that come out, and what writes them."""
    if log.order is None:
        raise InvalidValue("rows have no order on a cluster: name the column of numbers or times with order=")
    form, kind = _form(frame.schema[log.order].dataType)
    case, symbol, order = map(_quoted, log.columns)
    if frame.where(F.col(case).isNull() | F.col(order).isNull()).limit(1).collect():
        raise InvalidValue(
            f"a row has no value in column {log.case} or {log.order}: give every row a case and a position"
        )
    steps = F.array_sort(F.collect_list(F.struct(F.col(order).alias("order"), F.col(symbol).alias("symbol"))))
    words = frame.groupBy(case).agg(steps.getField("symbol").alias(log.symbol))
    fields = [
        kinds.StructField(field.name, kind if field.name == log.order else field.dataType)
        for field in _bare(frame.schema)
        if field.name in log.columns
    ]
    own = tuple(field.name for field in fields)
    return words, kinds.StructType(fields), Events(log, own, _arrow_schema(frame.select(order)).field(0).type, form, "")


def _form(kind: Any) -> tuple[Form, Any]:
    """How the order column is rebuilt, and its type."""
    if isinstance(kind, _TIMES):
        return "times", kind
    if isinstance(kind, kinds.DateType):
        return "days", kind
    if isinstance(kind, _SAME):
        return "numbers", kind
    if isinstance(kind, _LONG):
        return "numbers", kinds.LongType()
    raise InvalidValue(
        f"events are ordered by numbers or times, not by values of type {kind.simpleString()}: convert it"
    )


def _quoted(name: str) -> str:
    """A column's name as Spark takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"
