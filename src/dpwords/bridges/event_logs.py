"""Systems from event logs: which activity directly follows which."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

from dpwords.core.checks import optional
from dpwords.core.symbols import Symbol, is_hashable
from dpwords.errors import InvalidValue, named, within_memory
from dpwords.languages.systems import TransitionSystem, system_of

CASE, SYMBOL, ORDER = "case:concept:name", "concept:name", "time:timestamp"  # of the XES standard for event logs
BEFORE_ALL = "▶"  # the state before the first activity of a case


@within_memory()
def from_log(public_log: Any, case: str = CASE, symbol: str = SYMBOL, order: str | None = None) -> TransitionSystem:
    """The directly-follows system of a public event log: its words are traces made of steps that occur in the log.

    `public_log` is a table with one row for each event (pyarrow, Polars, pandas, …) or the path of a CSV or Parquet
    file. `case`, `symbol` and `order` name its columns; rows of a case that are equal in `order`, or all of them if
    there is no such column, count in the order of the table. The default names are those of the XES standard.

    A word begins with an activity that begins a case of the log, continues with pairs of activities that follow each
    other in some case, and ends with an activity that ends a case. The state before the first activity is "▶".

    The log must be public: a log of an earlier, published period, simulated cases, or the process as it was designed.
    Never use the private log itself: the system is published along with the released words, and it shows every step
    that anybody ever took, even one that a single person took, with no privacy at all.

    Raises `InvalidValue` for missing columns and empty values. Cost: sorting the events.
    """
    traces = _traces(_table(public_log, case, symbol), case, symbol, order)
    if not traces:
        raise InvalidValue("the log has no events: a system needs at least one case with one activity")
    if any(BEFORE_ALL in trace for trace in traces):
        raise InvalidValue(f"an activity has the name {BEFORE_ALL}, which is that of the start: rename it")
    steps = dict.fromkeys(step for trace in traces for step in pairwise([BEFORE_ALL, *trace]))
    final = dict.fromkeys(trace[-1] for trace in traces)
    return system_of(((before, after, after) for before, after in steps), (BEFORE_ALL,), BEFORE_ALL, final)


def _table(log: Any, *text: str) -> Any:
    """The log as an Arrow table; these columns of a CSV file stay text, even if they look like numbers."""
    pyarrow = optional("pyarrow", "frames", "event logs")
    if not isinstance(log, (str, os.PathLike)):
        try:
            return pyarrow.table(log)
        except (TypeError, ValueError, pyarrow.ArrowException):
            raise InvalidValue("an event log must be a table or the path of a CSV or Parquet file") from None
    name, kind = Path(log).name, Path(log).suffix.lower()
    if kind not in (".csv", ".parquet"):
        raise InvalidValue(f"{name} must be a .csv or .parquet file: convert it")
    try:
        if kind == ".csv":
            csv = optional("pyarrow.csv", "frames", "event logs")
            types = dict.fromkeys(text, pyarrow.string())
            options = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
            table = csv.read_csv(log, convert_options=options)
        else:
            table = optional("pyarrow.parquet", "frames", "event logs").read_table(log)
        _ = table.column_names  # raises if they are not UTF-8
        return table
    except OSError as error:
        raise InvalidValue(f"{name} cannot be read ({error.strerror or 'bad content'}): check the file") from None
    except (ValueError, pyarrow.ArrowException) as error:
        raise InvalidValue(f"{name} is no table ({str(error).splitlines()[0]}): is the file cut off?") from None


def _traces(table: Any, case: str, symbol: str, order: str | None) -> list[list[Symbol]]:
    """The activities of each case, cases in the order of their first event."""
    if order is None and ORDER in table.column_names:
        order = ORDER
    for name in filter(None, (case, symbol, order)):
        if table.column_names.count(name) != 1:
            raise InvalidValue(
                f"the log needs one column {name}: name its columns with "
                f"{named('case')}, {named('symbol')} and {named('order')}"
            )
        empty = table[name].null_count
        if empty:
            raise InvalidValue(f"column {name} of the log has no value in {empty} of its rows: fill or remove them")
    cases, activities = table[case].to_pylist(), table[symbol].to_pylist()
    if not all(map(is_hashable, cases)) or not all(map(is_hashable, activities)):
        raise InvalidValue(f"values of columns {case} and {symbol} cannot be cases or symbols: use text or numbers")
    traces: dict[Any, list[Symbol]] = {each: [] for each in cases}
    for row in range(len(cases)) if order is None else _in_order(table, order):
        traces[cases[row]].append(activities[row])
    return list(traces.values())


def _in_order(table: Any, order: str) -> list[int]:
    """The rows by their position in time; rows of the same time keep their order."""
    pyarrow = optional("pyarrow", "frames", "event logs")
    keys = table[order]
    kind = keys.type.value_type if pyarrow.types.is_dictionary(keys.type) else keys.type
    if not (pyarrow.types.is_temporal(kind) or pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        zoned = pyarrow.timestamp("ns", "UTC")
        for form in (pyarrow.int64(), pyarrow.float64(), pyarrow.timestamp("ns"), zoned):
            try:
                keys = table[order].cast(form)
                break
            except pyarrow.ArrowException:
                continue
        else:
            raise InvalidValue(f"column {order} has neither numbers nor times such as 2000-01-31T23:59:59: convert it")
    rows: list[int] = optional("pyarrow.compute", "frames", "event logs").sort_indices(keys).to_pylist()
    return rows
