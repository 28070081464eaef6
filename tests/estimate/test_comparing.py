"""Differences of two estimates: by hand from their values and errors, and against populations that are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate import Differences, Estimate, Estimates, difference

MECHANISM = dw.Exponential(dw.Words("ab"), epsilon=2)


def table(values: dict[Any, tuple[float, float]], question: str = "frequencies", **more: Any) -> Estimates:
    """A table with these values and standard errors."""
    items = {label: Estimate(value, max(value - error, 0.0), value + error) for label, (value, error) in values.items()}
    told: dict[str, Any] = {"method": "em", "confidence": 0.95, "releases": 100, "counted": {}} | more
    return Estimates(items.items(), question=question, errors={k: e for k, (_, e) in values.items()}, **told)


def test_by_hand() -> None:
    """The errors 0.03 and 0.04 make 0.05, and 1.959964 of them are the half-width at 95 %."""
    one = table({"a": (0.7, 0.03), "b": (0.3, 0.0)}, counted={"a": 0.6, "b": 0.4}, notes=("few",))
    other = table({"b": (0.5, 0.0), "a": (0.5, 0.04)}, method="inverse", releases=50, rough=True)
    found = difference(one, other)
    assert isinstance(found, Differences)
    assert list(found) == ["a", "b"]
    assert found["a"] == pytest.approx((0.2, 0.2 - 0.0979982, 0.2 + 0.0979982), abs=1e-6)
    assert found["b"] == pytest.approx((-0.2, -0.2, -0.2))
    assert found.errors == pytest.approx({"a": 0.05, "b": 0.0})
    assert found.counted == pytest.approx({"a": 0.6, "b": 0.4})
    assert (found.question, found.method, found.confidence, found.of) == (
        "frequencies",
        "em and inverse",
        0.95,
        (100, 50),
    )
    assert (found.notes, found.rough, found.fits, found.beyond_chance) == (("the first: few",), True, True, ["a", "b"])
    assert found.total_error == pytest.approx(0.8 * 0.05)


def test_what_neither_has_is_no_error_of_all_differences_together() -> None:
    one, other = table({"a": (0.7, 0.03), "b": (0.0, 0.5)}), table({"a": (0.5, 0.04), "b": (0.0, 0.5)})
    assert difference(one, other).total_error == pytest.approx(0.8 * 0.05)


def test_confidence_is_that_of_the_first_unless_another_is_passed() -> None:
    one, other = table({"a": (0.5, 0.1)}, confidence=0.9), table({"a": (0.5, 0.0)})
    assert difference(one, other)["a"].high == pytest.approx(0.1644854, abs=1e-6)
    assert difference(other, one)["a"].high == pytest.approx(0.1959964, abs=1e-6)
    found = difference(one, other, confidence=0.5)
    assert (found["a"].high, found.confidence) == (pytest.approx(0.0674490, abs=1e-6), 0.5)
    assert found.beyond_chance == []
    with pytest.raises(dw.InvalidValue, match="between 0 and 1"):
        difference(one, other, confidence=95)


def test_intervals_stay_within_one_and_unknown_errors_unknown() -> None:
    found = difference(table({"a": (0.9, 0.5), "b": (0.1, math.nan)}), table({"a": (0.0, 0.5), "b": (0.2, 0.1)}))
    assert (found["a"].high, found["a"].low > -1) == (1.0, True)
    assert found["b"].value == pytest.approx(-0.1)
    assert math.isnan(found["b"].low)
    assert math.isnan(found["b"].high)
    assert found.beyond_chance == []


def test_labels_of_one_table_only() -> None:
    """A symbol that the other alphabet does not have is surely not there; a length may only have been missed."""
    one, other = table({"a": (0.6, 0.1), "b": (0.4, 0.1)}), table({"a": (0.5, 0.1), "c": (0.5, 0.3)})
    found = difference(one, other)
    assert list(found) == ["a", "b", "c"]
    assert (found["b"].value, found.errors["b"], found["c"].value, found.errors["c"]) == (0.4, 0.1, -0.5, 0.3)
    assert found.notes == (
        "the two have different symbols: 2 of 3 occur in one of them only, and count as 0 in the other",
    )
    short, long = table({1: (1.0, 0.0)}, "lengths"), table({1: (0.5, 0.0), 2: (0.5, 0.0)}, "lengths", releases=96)
    missed = difference(long, short)  # 0 of 100, with two more of either kind: (2/104)(102/104)/100 is its variance
    assert missed.errors[2] == pytest.approx(math.sqrt(2 / 104 * 102 / 104 / 100))


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (table({"a": (1, 0)}), table({"a": (1, 0)}, "starts"), "one answers frequencies and the other starts"),
        (table({"a": (1, 0)}), [table({"a": (1, 0)})], "compared with estimates by position"),
        ([table({"a": (1, 0)})], [table({"a": (1, 0)})] * 2, "each of 1 positions, and the other for each of 2"),
        (table({"a": (1, 0)}), table({"b": (1, 0)}), "different symbols, and none in common"),
        (table({"a": (1, 0), "b": (0, 0)}, "patterns"), table({"a": (1, 0)}, "patterns"), "different patterns"),
        ({"a": 0.5}, {"a": 0.5}, "differences are those of two estimates"),
        ([], [], "differences are those of two estimates"),
        (table({"a": (1, 0)}), None, "differences are those of two estimates"),
        (table({"a": (1, 0)}), {"a": 0.5}, "differences are those of two estimates"),
    ],
)
def test_what_cannot_be_compared(one: Any, other: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        difference(one, other)


def test_differences_of_differences_are_refused() -> None:
    one = table({"a": (0.5, 0.1)})
    with pytest.raises(dw.InvalidValue, match="not differences of differences"):
        difference(difference(one, one), one)


def test_position_by_position() -> None:
    one = dw.estimate.frequencies(MECHANISM.seeded(1).release_all(["ab"] * 2000), MECHANISM, per_place=True)
    other = dw.estimate.frequencies(MECHANISM.seeded(2).release_all(["bb"] * 2000), MECHANISM, per_place=True)
    first, second = difference(one, other)
    assert first["a"].low > 0.9
    assert second["a"].low <= 0 <= second["a"].high


def test_intervals_cover_the_true_difference() -> None:
    """Two populations of a known difference, 100 times: 95 % of the intervals should cover it, and 88 surely do.

    P(fewer than 88 of 100) is below 0.002 for a coverage of 95 %.
    """
    words = ["aab", "abb", "aaa", "bbb"]  # with 2/3, 1/3, 1 and 0 of the symbol a
    draw = np.random.default_rng(7)
    proportions = np.array([[0.4, 0.3, 0.2, 0.1], [0.1, 0.3, 0.2, 0.4]])
    truth = (proportions[0] - proportions[1]) @ [2 / 3, 1 / 3, 1.0, 0.0]
    hits = 0
    for number in range(100):
        one, other = (
            dw.estimate.frequencies(
                MECHANISM.seeded(2 * number + which).release_all(
                    draw.choice(words, 300, p=proportions[which]).tolist()
                ),
                MECHANISM,
            )
            for which in (0, 1)
        )
        found = difference(one, other)["a"]
        hits += found.low <= truth <= found.high
    assert hits >= 88


def test_a_variant_or_rate_that_only_one_has_is_not_known_to_be_0() -> None:
    """Variants are the most frequent words only, and rates those of states that surely occur."""
    for question in ("variants", "rates"):
        one = table({("a", "b"): (0.5, 0.1), ("b", "b"): (0.2, 0.1)}, question)
        found = difference(one, table({("a", "b"): (0.4, 0.1), ("c", "c"): (0.1, 0.1)}, question))
        assert list(found) == [("a", "b")]
        assert found.notes == (f"2 {question} are estimated in one of the two only, and are left out",)
        with pytest.raises(dw.InvalidValue, match=r"different steps, and none in common|no variant was found in both"):
            difference(one, table({("c", "c"): (0.1, 0.1)}, question))
