"""Event logs: one row for each symbol. Words are gathered by case, released, and written as rows again."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.frames.long import LongWords

ACTIVITIES = dw.Words(["pay", "ship", "cancel"])
CERTAIN = dw.Exponential(ACTIVITIES, 1e5)  # the probability that a symbol changes is 2·e^(−100,000)
CASES = ["b", "a", "b", "a", "b"]
EVENTS = ["ship", "pay", "pay", "cancel", "ship"]  # by time: pay ship ship for b, cancel pay for a
BEGIN = datetime(2000, 1, 1)
SECOND = timedelta(seconds=1)


def log(times: Any) -> Any:
    return pa.table({"who": ["x"] * 5, "case": CASES, "time": times, "event": EVENTS, "cost": range(5)})


def released(table: Any, **options: Any) -> Any:
    return dw.frames.release(CERTAIN, table, case="case", symbol="event", order="time", **options)


MOMENTS = [
    datetime(2024, 5, 1, 12),
    datetime(2024, 5, 3),
    datetime(2024, 4, 30),
    datetime(2024, 5, 2),
    datetime(2024, 6, 1),
]
REBUILT: list[tuple[Any, list[Any]]] = [
    (pa.array(MOMENTS, pa.timestamp("us")), [BEGIN, BEGIN + SECOND, BEGIN + 2 * SECOND]),
    (pa.array(MOMENTS, pa.timestamp("s")), [BEGIN, BEGIN + SECOND, BEGIN + 2 * SECOND]),
    (
        pa.array(MOMENTS, pa.timestamp("ms", "UTC")),
        [(BEGIN + n * SECOND).replace(tzinfo=UTC) for n in range(3)],
    ),
    (pa.array(MOMENTS, pa.timestamp("us")).cast(pa.date32()), [date(2000, 1, 1), date(2000, 1, 2), date(2000, 1, 3)]),
    (
        [f"{moment:%Y-%m-%dT%H:%M:%S}" for moment in MOMENTS],
        ["2000-01-01T00:00:00", "2000-01-01T00:00:01", "2000-01-01T00:00:02"],
    ),
    (
        [f"{moment:%Y-%m-%d %H:%M:%S}.125+02:00" for moment in MOMENTS],
        ["2000-01-01T00:00:00+00:00", "2000-01-01T00:00:01+00:00", "2000-01-01T00:00:02+00:00"],
    ),
    (
        ["2024-05-01", "2024-05-03", "2024-04-01", "2024-05-02", "2024-06-01"],
        ["2000-01-01T00:00:00", "2000-01-01T00:00:01", "2000-01-01T00:00:02"],  # a longer text would be one event's
    ),
    (pa.array([9, 3, 1, 2, 10], pa.uint32()), [1, 2, 3]),
    (["9", "3", "1", "2", "10"], ["1", "2", "3"]),  # numbers, although they are text: 10 comes after 9
    ([0.5, 3.0, 0.25, 2.0, 10.0], [1.0, 2.0, 3.0]),
    (["0.5", "3.0", "0.25", "2.0", "10.0"], ["1", "2", "3"]),
    (pa.array([9, 3, 1, 2, 10], pa.duration("s")), [1, 2, 3]),
]


@pytest.mark.parametrize(("times", "rebuilt"), REBUILT, ids=lambda value: str(getattr(value, "type", value))[:30])
def test_events_are_sorted_and_their_times_rebuilt(times: Any, rebuilt: list[Any]) -> None:
    table = log(times)
    found = released(table)
    assert found.schema.names == ["case", "time", "event"]  # the others belong to events that are gone
    assert found["case"].to_pylist() == ["b", "b", "b", "a", "a"]
    assert found["event"].to_pylist() == ["pay", "ship", "ship", "cancel", "pay"]
    assert found["time"].to_pylist() == [*rebuilt, *rebuilt[:2]]
    if not pa.types.is_duration(table.schema.field("time").type):
        assert found.schema.field("time") == table.schema.field("time")


def test_names_of_event_logs_are_known() -> None:
    names = {"case": "case:concept:name", "event": "concept:name", "time": "time:timestamp"}
    table = log(MOMENTS)
    standard = table.rename_columns([names.get(name, name) for name in table.schema.names])
    found = dw.frames.release(CERTAIN, standard)
    assert found.rename_columns(["case", "time", "event"]) == released(table)
    assert dw.frames.release(CERTAIN, standard, column="concept:name", separator=";").num_columns == 5  # as it is said


def test_without_an_order_the_rows_are_in_order() -> None:
    table = log(MOMENTS).drop_columns(["time"])
    found = dw.frames.release(CERTAIN, table, case="case", symbol="event")
    assert found.to_pydict() == {"case": ["b", "b", "b", "a", "a"], "event": ["ship", "pay", "ship", "pay", "cancel"]}


def test_the_case_is_the_id() -> None:
    mechanism, key = dw.Exponential(ACTIVITIES, 1.0), bytes(32)
    words = [["pay", "ship", "ship"], ["cancel", "pay"]]
    expected = mechanism.release_all(words, ids=["b", "a"], key=key)
    found = dw.frames.release(mechanism, log(MOMENTS), case="case", symbol="event", order="time", key=key)
    assert found["event"].to_pylist() == [symbol for word in expected for symbol in word]


@given(st.permutations(range(5)))
def test_the_order_of_the_rows_does_not_matter(order: list[int]) -> None:
    mechanism, key = dw.Exponential(ACTIVITIES, 1.0), bytes(32)
    where = {"case": "case", "symbol": "event", "order": "time", "key": key}
    shuffled = dw.frames.release(mechanism, log(MOMENTS).take(pa.array(order)), **where)
    expected = dw.frames.release(mechanism, log(MOMENTS), **where)
    assert shuffled.sort_by([("case", "ascending"), ("time", "ascending")]) == expected.sort_by(
        [("case", "ascending"), ("time", "ascending")]
    )


def test_there_are_enough_numbers_for_long_words() -> None:
    for kind in (pa.int8(), pa.uint16()):
        table = pa.table({"case": [1] * 70_000, "event": ["pay"] * 70_000, "time": pa.array([5] * 70_000, kind)})
        assert released(table)["time"].to_pylist() == list(range(1, 70_001))


def test_types_of_cases_and_symbols() -> None:
    table = log(MOMENTS)
    text, coded = pa.large_string(), pa.dictionary(pa.int32(), pa.string())
    for case, event, out in (
        (text, pa.string_view(), (text, text)),
        (pa.string_view(), text, (text, text)),
        (coded, pa.dictionary(pa.int8(), pa.string()), (coded, coded)),
    ):
        kinds = table.set_column(1, "case", table["case"].cast(case)).set_column(3, "event", table["event"].cast(event))
        found = released(kinds)
        found.validate(full=True)
        assert (found.schema.field("case").type, found.schema.field("event").type) == out
        assert found.to_pylist() == released(table).to_pylist()
    numbers = table.set_column(1, "case", pa.array([7, 5, 7, 5, 7]))
    assert released(numbers)["case"].to_pylist() == [7, 7, 7, 5, 5]


def test_people_of_cases() -> None:
    """Each case has one person, and that person's cases proportion the budget."""
    table = log(MOMENTS)
    assert released(table, by="who", budget=2e5).num_rows == 5
    assert released(table, by="who", budget=1e5, split="first")["case"].to_pylist() == ["b", "b", "b"]
    mixed = table.set_column(0, "who", pa.array(["x", "y", "x", "x", "x"]))
    with pytest.raises(dw.InvalidValue, match="row 4 has another who than its case has before: a case has only one"):
        released(mixed, by="who")


def test_cases_that_become_empty_have_no_rows() -> None:
    """At ε = 0.8 the channel deletes many symbols; every case of the output is one that went in."""
    with pytest.warns(UserWarning, match="only the length will show"):
        channel = dw.EditChannel(ACTIVITIES.alphabet.symbols, 0.8).seeded(1)
    table = pa.table({"case": range(300), "event": ["pay"] * 300})
    found = dw.frames.release(channel, table, case="case", symbol="event")
    assert set(found["case"].to_pylist()) < set(range(300))


def test_bad_logs() -> None:
    table = log(MOMENTS)
    with pytest.raises(
        dw.NotInLanguage, match=r"case 2 has a word .* \(symbol 2 of 2 is not in the alphabet\)"
    ) as caught:
        released(table.set_column(3, "event", pa.array(["ship", "fly", "pay", "cancel", "ship"])))
    assert "fly" not in str(caught.value)
    kept = released(table.set_column(3, "event", pa.array(["ship", None, "pay", "cancel", "ship"])), invalid="skip")
    assert kept["case"].to_pylist() == ["b", "b", "b"]
    with pytest.raises(dw.InvalidValue, match="row 2 has no value in column case, which tells rows or people apart"):
        released(table.set_column(1, "case", pa.array(["b", None, "b", "a", "b"])))
    with pytest.raises(dw.InvalidValue, match="row 3 has no value in column time: give every row its position"):
        released(log(["1", "2", None, "3", "4"]))
    with pytest.raises(dw.InvalidValue, match="rows cannot be sorted by values of type list"):
        released(log([[1], [2], [3], [4], [5]]))
    with pytest.raises(dw.InvalidValue, match="column time has text that is neither numbers nor times"):
        released(log(["1/5/2024", "3/5/2024", "1/5/2024", "2/5/2024", "1/6/2024"]))


def test_what_is_refused() -> None:
    table = log(MOMENTS)
    with pytest.raises(dw.InvalidValue, match=r"an event log needs symbol=, as there is no column concept:name"):
        dw.frames.release(CERTAIN, table, case="case")
    with pytest.raises(dw.InvalidValue, match=r"an event log needs case=, as there is no column case:concept:name"):
        dw.frames.release(CERTAIN, table, order="time")
    with pytest.raises(dw.InvalidValue, match="there is no column nothing"):
        dw.frames.release(CERTAIN, table, case="nothing", symbol="event")
    with pytest.raises(dw.InvalidValue, match="case, symbol and order are different columns"):
        dw.frames.release(CERTAIN, table, case="case", symbol="case")
    with pytest.raises(dw.InvalidValue, match="do not go with case=, symbol= and order=: the case is the id"):
        released(table, id="who")


def test_logs_of_pandas_and_polars() -> None:
    table = log(MOMENTS)
    expected = released(table)
    frame = table.to_pandas().astype({"event": "category", "case": object})
    found = released(frame.set_index("cost"))
    assert list(found.dtypes[:2]) == list(frame.dtypes[["case", "time"]])
    assert isinstance(found["event"].dtype, pd.CategoricalDtype)
    assert list(found["event"].cat.categories) == list(ACTIVITIES.alphabet.symbols)
    assert found.astype({"event": str}).to_dict("list") == expected.to_pydict()
    polars = pl.from_arrow(table)
    assert isinstance(polars, pl.DataFrame)
    polars = polars.cast({"event": pl.Enum(["cancel", "ship", "pay"])})
    kinds = {"case": pl.String(), "time": polars.schema["time"], "event": pl.Enum(["pay", "ship", "cancel"])}
    assert released(polars).schema == kinds
    assert released(polars).rows() == [tuple(row.values()) for row in expected.to_pylist()]


def test_what_writes_events_can_be_sent_to_another_machine() -> None:
    cases, events = LongWords.of(log(MOMENTS).schema.names, "case", "event", "time").gathered(log(MOMENTS))
    (batch,) = cases.to_batches()
    assert pickle.loads(pickle.dumps(events))(batch).to_pylist() == events(batch).to_pylist()
