"""Audits of samplers that read the clock: to say when they drew, or as a seed. The audit leaves the clock alone."""

from __future__ import annotations

import atexit
import copyreg
import datetime as datetime_module
import decimal
import gc
import hashlib
import itertools
import json
import locale
import math
import os
import pickle
import random
import signal
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import dpwords as dw
from dpwords.audit.samplers import SEEDS
from gallery import SlowClock, letters, seeded_by

COINS = random.Random(11)


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


@pytest.mark.parametrize("name", ["JSON", "day", "hour"])
@pytest.mark.parametrize("alike", [False, True])
def test_a_seed_from_the_clock_is_seen_beside_the_time(name: str, alike: bool) -> None:
    """The proportion of seeds for which both words lead to one output is 0, or one half if letters are replaced
    alike."""
    seeded = seeded_by(SlowClock(20), alike)
    found = dw.audit.statistical(lambda word: STAMPS[name](seeded(word)), "abcd", "abca", 3000, claimed=1.0, seed=name)
    assert not found.holds
    if alike:
        assert found.repeats == SEEDS


@pytest.mark.parametrize("readings", [1, 3, 100])
@pytest.mark.parametrize("epsilon", [3.0, 20.0])
def test_stamps_do_not_make_draws_repeat(readings: int, epsilon: float) -> None:
    """Consecutive draws have the same second more often than others, and at ε = 20 hardly any draw differs."""
    honest, clock = letters(epsilon), SlowClock(readings)
    for seed in range(5):
        found = dw.audit.statistical(
            lambda word: f"{clock():.0f} {honest(word)}", "ab", "aa", 4000, claimed=epsilon, seed=seed
        )
        assert found.loss < math.inf
        assert found.holds


class Seen(NamedTuple):
    """What all code of a process proportions, and an audit must not touch."""

    clocks: dict[str, int]
    seconds: float
    others: tuple[Any, ...]

    @classmethod
    def now(cls) -> Seen:
        names = [
            f"{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")
        ]
        clocks = {name: id(getattr(time, name)) for name in names}
        clocks |= {"datetime": id(datetime_module.datetime), "sleep": id(time.sleep), "urandom": id(os.urandom)}
        others = (
            random.getstate(),
            pickle.dumps(np.random.get_state()),
            [*warnings.filters],
            [signal.getsignal(each) for each in signal.valid_signals()],
            dict(os.environ),
            (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count()),
            (sys.getswitchinterval(), sys.getrecursionlimit(), sys.gettrace(), sys.getprofile(), sys.excepthook),
            (sys.stdin, sys.stdout, sys.stderr, sys.path[:], sys.meta_path[:]),
            (locale.setlocale(locale.LC_ALL), os.getcwd(), decimal.getcontext().prec, np.geterr()),
            (copyreg.dispatch_table.copy(), threading.excepthook, threading.active_count(), atexit._ncallbacks()),
        )
        return cls(clocks, time.time(), others)


def _statistical(release: Any) -> None:
    dw.audit.statistical(release, "ab", "aa", 100, claimed=9.0)


def _statistical_together(release: Any) -> None:
    dw.audit.statistical(lambda word, draws: [release(word) for _ in range(draws)], "ab", "aa", 100, claimed=9.0)


def _exact(release: Any) -> None:
    class Fair:
        language, guarantee = dw.Words("ab"), dw.PureDP(1.0, "hamming", 1, 0.0, "tight")

        def log_prob(self, output: Any, given: Any) -> float:
            release("ab")
            return math.log(0.25)

        def release(self, word: Any) -> Any:
            release("ab")
            return tuple(COINS.choice("ab") for _ in word)

    assert dw.audit.exact(Fair(), 2, draws=100).holds


def _channel(release: Any) -> None:
    def law(word: str) -> dict[str, float]:
        release(word)
        return {"a": 0.5, "b": 0.5}

    assert dw.audit.channel(law, "hamming", inputs=["a", "b"], claimed=1.0).holds


AUDITS = {"statistical": _statistical, "batches": _statistical_together, "exact": _exact, "channel": _channel}


@pytest.mark.parametrize("name", AUDITS)
def test_an_audit_touches_nothing_outside_itself(name: str) -> None:
    """Before, after, and during each call, as another thread and this one see it; clocks show the true time."""
    during: list[Seen] = []
    with ThreadPoolExecutor(1) as other:
        other.submit(Seen.now).result()  # what is imported and started on first use
        before, start = Seen.now(), time.clock_gettime(time.CLOCK_REALTIME)

        def release(word: str) -> str:
            during.extend([other.submit(Seen.now).result(), Seen.now()])
            return "".join(COINS.choice("ab") for _ in word)

        AUDITS[name](release)
        after, end = Seen.now(), time.clock_gettime(time.CLOCK_REALTIME)
    assert len(during) > 3
    for seen in (*during, after):
        assert seen.clocks == before.clocks
        assert seen.others == before.others
        assert start - 1 < seen.seconds < end + 1


def test_what_others_write_during_an_audit_has_the_true_date(tmp_path: Path) -> None:
    """Another thread charges a ledger while the audit draws, from its first call to its last."""
    ledger, promise = dw.Ledger(tmp_path / "ledger.db"), dw.Exponential(dw.Words("ab"), 1.0).guarantee
    honest, calls, start = letters(1.0, "ab"), itertools.count(), datetime.now(tz=UTC).replace(microsecond=0)
    with ThreadPoolExecutor(1) as other:

        def release(word: str) -> str:
            if (call := next(calls)) % 40 == 0:
                other.submit(ledger.charge, {f"person {call}": 1.0}, promise).result()
            return honest(word)

        assert dw.audit.statistical(release, "ab", "aa", 400, claimed=2.0).holds
    times = [datetime.fromisoformat(entry.time) for entry in ledger.entries()]
    assert len(times) == -(-next(calls) // 40)
    assert start <= min(times) <= max(times) <= datetime.now(tz=UTC)
