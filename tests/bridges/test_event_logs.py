"""The directly-follows systems of event logs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpwords as dw

EVENTS = [  # two cases, mixed: order, pay, ship; order, ship, pay, ship
    ("c1", "order", 1),
    ("c2", "order", 2),
    ("c1", "ship", 9),
    ("c1", "pay", 3),
    ("c2", "pay", 10),
    ("c2", "ship", 4),
    ("c2", "ship", 11),
]
COLUMNS = {
    "case:concept:name": [case for case, _, _ in EVENTS],
    "concept:name": [activity for _, activity, _ in EVENTS],
    "time:timestamp": [datetime(2026, 1, 1, hour) for _, _, hour in EVENTS],
}
STEPS = {
    "▶": {"order": "order"},
    "order": {"pay": "pay", "ship": "ship"},
    "pay": {"ship": "ship"},
    "ship": {"pay": "pay"},
}


@pytest.mark.parametrize("kind", [pa.table, pd.DataFrame, pl.DataFrame])
def test_tables(kind: Any) -> None:
    system = dw.from_log(kind(COLUMNS))
    assert system.transitions == STEPS
    assert system.start == "▶"
    assert system.accepting == {"ship"}
    assert system.accepts(["order", "pay", "ship", "pay", "ship"])
    assert not system.accepts(["order", "pay"])
    assert not system.accepts(["pay", "ship"])


@pytest.mark.parametrize("hours", ["{}", "{}.5", "2026-01-01T{:02}:00:00", "2026-01-01 {:02}:00:00.250+01:00"])
def test_files(tmp_path: Path, hours: str) -> None:
    file = tmp_path / "log.csv"
    rows = [f"{case},{activity},{hours.format(hour)}\n" for case, activity, hour in EVENTS]
    file.write_text("who,what,when\n" + "".join(rows), encoding="utf-8")
    assert dw.from_log(file, case="who", symbol="what", order="when").transitions == STEPS
    text = pa.table({"who": COLUMNS["case:concept:name"], "what": COLUMNS["concept:name"]})
    text = text.append_column("when", [pa.array([hours.format(hour) for _, _, hour in EVENTS]).dictionary_encode()])
    pq.write_table(text, tmp_path / "log.parquet")
    assert dw.from_log(str(tmp_path / "log.parquet"), "who", "what", "when").transitions == STEPS


def test_without_an_order_the_rows_count() -> None:
    rows = pa.table(COLUMNS).drop_columns("time:timestamp")
    assert dw.from_log(rows).accepts(["order", "ship", "pay", "ship", "ship"])


def test_a_log_with_one_case() -> None:
    system = dw.from_log(pa.table({"case:concept:name": [1], "concept:name": ["only"]}))
    assert system.count(1) == 1
    assert system.accepts(["only"])
    assert not system.accepts(["only", "only"])


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ({"concept:name": ["a"]}, {}, "needs one column case:concept:name"),
        ({"c": ["a"], "s": ["b"]}, {"case": "c", "symbol": "s", "order": "t"}, "needs one column t"),
        (
            {"c": ["a", None], "s": ["b", "b"]},
            {"case": "c", "symbol": "s"},
            "column c of the log has no value in 1 of",
        ),
        ({"c": pa.array([], pa.string()), "s": pa.array([], pa.string())}, {"case": "c", "symbol": "s"}, "no events"),
        ({"c": ["a"], "s": ["▶"]}, {"case": "c", "symbol": "s"}, "rename it"),
        ({"c": ["a"], "s": [["b"]]}, {"case": "c", "symbol": "s"}, "cannot be cases or symbols"),
        ({"c": ["a"], "s": ["b"], "t": ["soon"]}, {"case": "c", "symbol": "s", "order": "t"}, "neither numbers nor"),
    ],
)
def test_bad_tables_are_refused(table: dict[str, Any], options: dict[str, str], message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.from_log(pa.table(table), **options)


def test_bad_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(dw.InvalidValue, match=r"gone\.csv cannot be read"):
        dw.from_log(tmp_path / "gone.csv")
    with pytest.raises(dw.InvalidValue, match=r"log\.xes must be a \.csv or \.parquet file"):
        dw.from_log(tmp_path / "log.xes")
    bad = {"cut.parquet": b"PAR1abc", "ragged.csv": b"a,b\n1,2\n1\n", "empty.csv": b"", "latin.csv": b"\xe9,b\n1,2\n"}
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(dw.InvalidValue, match=f"{name} is no table") as caught:
            dw.from_log(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(dw.InvalidValue, match="must be a table or the path"):
        dw.from_log(3)
