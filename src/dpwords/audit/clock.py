"""A clock that stands still for Python code in this process."""

from __future__ import annotations

import contextlib
import copyreg
import datetime
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Self

_CLOCKS = [f"{name}{unit}" for name in ("time", "monotonic", "perf_counter", "process_time") for unit in ("", "_ns")]
_READINGS = 1000  # of a stopped clock; then it goes on from there, for a callable that waits for it


@contextlib.contextmanager
def stopped_clock(release: Callable[..., Any]) -> Iterator[Callable[[int | None], None]]:
    """Let the clock stand still, as far as Python code can see it, until the block ends.

    The block gets something to call with the time at which it stands, or None for the same time again. The functions
    of the module `time` and the class `datetime` are replaced, also where modules have imported them by name, except
    those of Python itself. A program, or code that is not written in Python, asks the system and sees the true time.
    """
    true = {name: getattr(time, name) for name in _CLOCKS}
    state = {"now": 0, "readings": 0, "since": 0}

    def elapsed() -> int:
        """Nanoseconds since the clock was read too often."""
        state["readings"] += 1
        if state["readings"] <= _READINGS:
            state["since"] = true["monotonic_ns"]()
            return 0
        return int(true["monotonic_ns"]()) - state["since"]

    def reading(name: str) -> Callable[[], Any]:
        def read() -> Any:
            now = state["now"] + elapsed()
            return now if name.endswith("_ns") else now / 10**9

        return read

    def stop(now: int | None) -> None:
        state.update(readings=0, now=state["now"] if now is None else now)

    stopped: dict[int, Any] = {id(true[name]): reading(name) for name in _CLOCKS}
    stopped[id(datetime.datetime)] = StoppedDatetime
    before, pickled, true_datetime = StoppedDatetime.read, copyreg.dispatch_table, datetime.datetime
    changed = [
        (place, name, value) for place in _places(release) for name, value in [*place.items()] if id(value) in stopped
    ]
    try:
        StoppedDatetime.read = stopped[id(true["time"])]
        pickled[true_datetime] = _as_stopped  # pickle finds a class by its name, which is that of another one now
        for place, name, value in changed:
            place[name] = stopped[id(value)]
        yield stop
    finally:
        for place, name, value in changed:
            place[name] = value
        pickled.pop(true_datetime, None)
        StoppedDatetime.read = before


class _DatetimeKind(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.__mro__[1])


class StoppedDatetime(datetime.datetime, metaclass=_DatetimeKind):
    """A class like `datetime.datetime`, for which it is the time that is read."""

    read: ClassVar[Callable[[], float]] = time.time

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Self:
        """The time of the stopped clock."""
        return cls.fromtimestamp(cls.read(), tz)

    @classmethod
    def today(cls) -> Self:
        """The time of the stopped clock."""
        return cls.fromtimestamp(cls.read())

    @classmethod
    def utcnow(cls) -> Self:
        """The time of the stopped clock."""
        return cls.fromtimestamp(cls.read(), datetime.UTC).replace(tzinfo=None)


def _as_stopped(value: datetime.datetime) -> tuple[Any, ...]:
    return StoppedDatetime, value.__reduce_ex__(2)[1]


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
