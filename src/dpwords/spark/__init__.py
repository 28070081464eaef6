"""Words in Spark: a DataFrame in, a DataFrame with released words out, drawn by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from dpwords.errors import MissingExtra
from dpwords.frames import need_pyarrow

if TYPE_CHECKING:
    from dpwords.mechanisms.private import Private


def release(
    dataframe: Any,
    mechanism: Private,
    column: str | None = None,
    *,
    columns: str | Sequence[str] | None = None,
    case: str | None = None,
    symbol: str | None = None,
    order: str | None = None,
    separator: str | None = None,
    id: str | None = None,
    key: bytes | None = None,
    invalid: Literal["fail", "skip"] = "fail",
    drop_others: bool = False,
    check_ids: bool = True,
) -> Any:
    """Return the Spark DataFrame with each of its words released. Each word spends ε.

    Where the words are, what comes out, `invalid` and `drop_others` are as in `dpwords.frames.release`. The result has
    the same columns and types, without metadata. The rows of an event log (`case`, `symbol`, `order`) are sorted by an
    order column of numbers or times, and rows of one case with the same order by their symbols.

    `id` names the column that tells rows apart, since rows have no numbers on a cluster; in an event log it is the
    case. The draw of a word is a function of the `key`, the row's id, the mechanism and the word. A fresh key is made
    in each call. So retried and speculative tasks, and several actions on the result, give the same words and spend ε
    once; a second call draws anew. Ids must be different, or else equal outputs would tell that words are equal. They
    and the words must not be computed anew by each action, as `uuid()` and `monotonically_increasing_id()` are.

    The call runs up to two jobs before anything is drawn, and then returns a lazy DataFrame. The first job checks all
    words and collects their lengths, for which certificates are made here, once; the second groups the ids, to find
    equal ones. `check_ids=False` leaves out the second job if you know that the ids differ. The mechanism and the key
    are broadcast to the workers. Cost: reading the data once or twice more, a shuffle of the ids, and then the cost
    of `dpwords.frames.release`, divided by the number of cores. See docs/cluster.md.

        private = dw.spark.release(trips, mechanism, column="route", id="trip")
        private.write.parquet("private")
    """
    need_pyspark()
    from dpwords.frames.requests import Request
    from dpwords.spark import driver

    request = Request(
        column, columns, case, symbol, order, separator, id, invalid=invalid, drop_others=drop_others, named=True
    )
    return driver.release(dataframe, mechanism, request, key, check_ids)


def need_pyspark() -> None:
    """Raise a one-line error if pyspark or pyarrow is not installed."""
    if find_spec("pyspark") is None:
        raise MissingExtra("Spark needs pyspark and a Java runtime: pip install 'dpwords[spark]'")
    need_pyarrow()
