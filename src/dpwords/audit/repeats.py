"""Do draws repeat each other? A sampler that is seeded by the clock can be repeated by whoever knows the time."""

from __future__ import annotations

import contextlib
import datetime
import sys
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Self

import numpy as np

from dpwords.audit.intervals import largest_share, least_share
from dpwords.audit.samplers import Batches, Sampler
from dpwords.core.randomness import Stream, integer, uint64
from dpwords.core.symbols import Word

Pairs = list[bool]  # whether the two draws of a pair are equal
IN_A_ROW = "consecutive draws repeat each other more often than draws in random order"
BATCHES = "each draw of a batch repeats the draw at the same place of the batch before"
CLOCK = "draws repeat while the clock is stopped"
WHY = "whoever knows what they were seeded with, such as the time, can repeat them and rule words out"
_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns")
_PAIRS = 512  # with a stopped clock, and as many with a clock that moves
_TOGETHER = 8  # draws of a batch that are compared at one time
_READINGS = 10_000  # of a stopped clock; then it moves, for a callable that waits for it


def repeats(
    sampler: Sampler, words: Sequence[Word], found: Sequence[Batches], draws: int, error: float, stream: Stream
) -> str:
    """How the draws of a word repeat each other, in words; "" if nothing shows that they do.

    For independent draws, it says anything with probability at most `error`. Cost: a few hundred draws.
    """
    share = error / (3 * len(words))  # three questions for each word
    for word, batches in zip(words, found, strict=True):
        if _more_often(*_in_a_row(batches, stream), share):
            return IN_A_ROW
        if len(batches) > 1 and _more_often(*_across(batches, stream), share):
            return BATCHES
        if sampler.in_this_process and _more_often(*_by_the_clock(sampler, word, draws, stream), share):
            return CLOCK
    return ""


def _more_often(pairs: Pairs, others: Pairs, error: float) -> bool:
    """Whether pairs are equal with a larger probability than other pairs, by exact bounds for both."""
    if not pairs or not others:
        return False
    least = least_share(sum(pairs), len(pairs), error / 2)
    return least > largest_share(sum(others), len(others), error / 2)


def _in_a_row(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs of consecutive draws, and pairs of other draws at random."""
    pairs = [batch[at] == batch[at + 1] for batch in batches for at in range(0, len(batch) - 1, 4)]
    rest = [draw for batch in batches for at in range(2, len(batch), 4) for draw in batch[at : at + 2]]
    return pairs, _at_random(rest, stream)


def _across(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs at the same place of two consecutive batches, and pairs from other batches at random."""
    pairs = [
        one == other
        for at in range(0, len(batches) - 1, 4)
        for one, other in zip(batches[at], batches[at + 1], strict=False)
    ]
    rest = [draw for at in range(2, len(batches), 4) for batch in batches[at : at + 2] for draw in batch]
    return pairs, _at_random(rest, stream)


def _at_random(draws: Sequence[Hashable], stream: Stream) -> Pairs:
    order = np.argsort(uint64(stream, (len(draws),)), kind="stable").tolist()
    return [draws[one] == draws[other] for one, other in zip(order[::2], order[1::2], strict=False)]


def _by_the_clock(sampler: Sampler, word: Word, draws: int, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs of draws at the same time of a stopped clock, and pairs at different times."""
    together = _TOGETHER if sampler.in_batches else 1
    found: tuple[Pairs, Pairs] = ([], [])
    with _clock(sampler.release) as stop:
        for _ in range(min(_PAIRS, draws // 4) // together):
            for moves in (False, True):
                stop(_moment(stream))
                one = sampler.draw(word, together)
                stop(_moment(stream) if moves else None)
                found[moves].extend(map(_equal, one, sampler.draw(word, together)))
    return found


def _equal(one: Hashable, other: Hashable) -> bool:
    return one == other


def _moment(stream: Stream) -> int:
    """A random time of the last few years, in nanoseconds."""
    return 1_600_000_000 * 10**9 + integer(stream, 56)


@contextlib.contextmanager
def _clock(release: Callable[..., Any]) -> Iterator[Callable[[int | None], None]]:
    """Let the clock stand still, as far as Python code can see it, until the block ends.

    The block gets something to call with the time at which it stands, or None for the same time again. The functions
    of the module `time` and the class `datetime` are replaced, also where modules have imported them by name, except
    those of Python itself. A program, or code that is not written in Python, asks the system and sees the true time.
    """
    true = {name: getattr(time, name) for name in _CLOCKS}
    state = {"now": 0, "readings": 0}

    def reading(name: str) -> Callable[[], Any]:
        def read() -> Any:
            state["readings"] += 1
            if state["readings"] > _READINGS:
                return true[name]()
            return state["now"] if name.endswith("_ns") else state["now"] / 10**9

        return read

    def stop(now: int | None) -> None:
        state.update(readings=0, now=state["now"] if now is None else now)

    stopped: dict[int, Any] = {id(true[name]): reading(name) for name in _CLOCKS}
    stopped[id(datetime.datetime)] = _stopped_datetime(stopped[id(true["time"])])
    changed = [
        (place, name, value) for place in _places(release) for name, value in [*place.items()] if id(value) in stopped
    ]
    try:
        for place, name, value in changed:
            place[name] = stopped[id(value)]
        yield stop
    finally:
        for place, name, value in changed:
            place[name] = value


def _stopped_datetime(read: Callable[[], float]) -> type[datetime.datetime]:
    """A class like `datetime.datetime`, for which it is the time that is read."""
    true = datetime.datetime

    class DatetimeKind(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, true)

    class StoppedDatetime(datetime.datetime, metaclass=DatetimeKind):
        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Self:
            return cls.fromtimestamp(read(), tz)

        @classmethod
        def today(cls) -> Self:
            return cls.fromtimestamp(read())

        @classmethod
        def utcnow(cls) -> Self:
            return cls.fromtimestamp(read(), datetime.UTC).replace(tzinfo=None)

    return StoppedDatetime


def _places(release: Callable[..., Any]) -> list[dict[str, Any]]:
    """Where Python code can have the functions of a clock: those of its own modules, and the globals of a callable."""
    others = (
        module for name, module in [*sys.modules.items()] if name.partition(".")[0] not in sys.stdlib_module_names
    )
    globals_of_callable = getattr(_function(release), "__globals__", {})
    found = [vars(time), vars(datetime), globals_of_callable, *(getattr(module, "__dict__", {}) for module in others)]
    return [*{id(each): each for each in found}.values()]


def _function(release: Any) -> Any:
    """The function behind a method, a partial call or a callable object."""
    release = getattr(release, "func", release)
    release = release if hasattr(release, "__code__") or hasattr(release, "__func__") else type(release).__call__
    return getattr(release, "__func__", release)
