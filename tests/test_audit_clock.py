"""Audits of samplers that read the clock: to say when they drew, to wait, or as a seed."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import random
import time
from datetime import UTC, datetime
from typing import Any

import pytest

import dpwords as dw
from dpwords.audit.repeats import CLOCK
from gallery import letters

CREATED = datetime(2024, 2, 3, tzinfo=UTC)


def _json(word: str) -> str:
    return json.dumps({"time": int(time.time()), "word": word})


STAMPS: dict[str, Any] = {
    "JSON": _json,
    "nanoseconds": lambda word: (time.time_ns(), word),
    "milliseconds": lambda word: f"{time.time():.3f} {word}",
    "any width": lambda word: f"{word} {time.time()}",
    "date": lambda word: [datetime.now(tz=UTC), word],
    "day": lambda word: f"{datetime.now(tz=UTC):%A} {word}",
    "hour": lambda word: f"{datetime.now(tz=UTC):%H}{word}",
    "hashed together": lambda word: hashlib.sha256(f"{time.time_ns()} {word}".encode()).hexdigest(),
}


MANY = [
    (name, epsilon) for name in STAMPS for epsilon in (1.0, 4.0, 20.0) if (name, epsilon) != ("hashed together", 20.0)
]


@pytest.mark.parametrize(("name", "epsilon"), MANY)
def test_an_honest_output_may_show_the_time(name: str, epsilon: float) -> None:
    """Letters through randomised response; at ε = 20 hardly any draw changes one, so that they repeat at each time."""
    honest = letters(epsilon)
    for seed in range(3):
        found = dw.audit.statistical(
            lambda word: STAMPS[name](honest(word)), "abcd", "abca", 3000, claimed=epsilon, seed=seed
        )
        assert found.loss < math.inf
        assert found.holds


@pytest.mark.parametrize("name", STAMPS)
@pytest.mark.parametrize("together", [False, True])
def test_a_seed_from_the_clock_is_seen_beside_the_time(name: str, together: bool) -> None:
    """The share of seeds for which both words lead to one output is 0, or one half if letters are replaced alike."""

    def replaced(word: str) -> str:
        coins = random.Random(time.time_ns())
        return "".join(letter if coins.random() < 0.5 else coins.choice("abcd") for letter in word)

    def apart(word: str) -> str:
        return letters(1.0, seed=time.time_ns())(word)

    seeded = replaced if together else apart
    found = dw.audit.statistical(lambda word: STAMPS[name](seeded(word)), "abcd", "abca", 3000, claimed=1.0, seed=name)
    assert not found.holds
    if together:
        assert found.repeats == CLOCK


def test_what_is_shown_to_somebody_who_knows_the_time_is_a_lower_bound() -> None:
    """Nothing repeats but at one time, and 500 pairs show at most ln(0.98/0.02) = 4 of what is lost."""
    found = dw.audit.statistical(lambda word: str(hash((word, time.time_ns()))), "ab", "aa", 2000, claimed=1.0)
    assert not found.holds
    assert 2.5 < found.loss < 4.7
    assert "at one time, draws of a word are more often equal" in str(found)


def test_stamps_of_the_true_clock_do_not_make_draws_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second passes after every 100 draws, so consecutive draws have the same stamp more often than others."""
    honest, calls, true = letters(3.0), [0], time.time

    def ticking() -> float:
        calls[0] += 1
        return 1.7e9 + calls[0] // 100

    monkeypatch.setattr(time, "time", ticking)
    found = dw.audit.statistical(lambda word: _json(honest(word)), "ab", "aa", 4000, claimed=3.0, seed=1)
    assert time.time is ticking is not true
    assert found.repeats == ""
    assert found.holds


@pytest.mark.parametrize("clock", ["monotonic", "perf_counter", "time"])
def test_a_callable_that_waits_comes_to_an_end(clock: str) -> None:
    honest = letters(1.0)

    def release(word: str) -> str:
        read = getattr(time, clock)
        end = read() + 0.0001
        while read() < end:
            pass
        return honest(word)

    assert dw.audit.statistical(release, "ab", "aa", 200, claimed=1.0).holds


def test_dates_can_be_pickled_while_the_clock_stands_still() -> None:
    honest = letters(1.0)

    def release(word: str) -> str:
        for date in (datetime.now(tz=UTC), CREATED):
            assert pickle.loads(pickle.dumps(date)) == date
        return honest(word)

    assert dw.audit.statistical(release, "ab", "aa", 200, claimed=1.0).holds
    assert type(pickle.loads(pickle.dumps(CREATED))) is datetime
