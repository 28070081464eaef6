"""Operations on files that fail: the n-th one of a block raises an error, before it is done or afterwards."""

from __future__ import annotations

import _io
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from types import BuiltinFunctionType, FrameType
from typing import Any

ON_PATHS = {"open", "fsync", "rename", "replace", "mkdir", "unlink", "remove", "rmdir", "chmod", "truncate", "link"}
ON_FILES = {"write", "flush", "close", "truncate", "__exit__"}
ON_LEDGERS = {"execute", "executemany", "executescript", "close"}
FILES = (_io.FileIO, _io.BufferedReader, _io.BufferedWriter, _io.BufferedRandom)
STANDARD = (0, 1, 2)  # descriptors of the streams of the process


class Failing:
    """A block in which one of the operations on files raises an error, in whatever thread: instead of it, or after it.

    `error` makes the error; it is called with True for an operation of a database, whose errors are its own. The first
    moment is 1; at 0 nothing fails. Operations are seen when they are called from Python, so what SQLite and pyarrow do
    by themselves is not; pyarrow writes to a file of Python's.
    """

    def __init__(self, moment: int, error: Callable[[bool], Exception], after: bool = False) -> None:
        self.names: list[str] = []  # of the operations, in their order
        self.failed = ""  # the name of the one that failed
        self._moment, self._error, self._event = moment, error, "c_return" if after else "c_call"
        self._lock = threading.Lock()

    def __enter__(self) -> Failing:
        threading.setprofile(self._watch)
        sys.setprofile(self._watch)
        return self

    def __exit__(self, *_error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _watch(self, _frame: FrameType, event: str, called: Any) -> None:
        if event != self._event or not (name := _operation(called)):
            return
        closes = name.endswith((".close", ".__exit__"))
        if name == "open" and event == "c_return":
            return  # nobody could close what it returns
        with self._lock:
            self.names.append(name)
            fails = len(self.names) == self._moment
        if fails:
            self.failed = name
            if closes:
                called.__self__.close()  # as systems do, whatever the error
            raise self._error(name.startswith("Connection"))


def _operation(called: Any) -> str:
    """The name of an operation on a file; empty if the function is none."""
    if not isinstance(called, BuiltinFunctionType):
        return ""
    name, owner = called.__name__, called.__self__
    if owner is _io or getattr(owner, "__name__", "") == os.open.__module__:
        return name if name in ON_PATHS else ""
    if isinstance(owner, FILES) and name in ON_FILES and not owner.closed and owner.fileno() not in STANDARD:
        return f"{type(owner).__name__}.{name}"
    return f"Connection.{name}" if isinstance(owner, sqlite3.Connection) and name in ON_LEDGERS else ""
