"""Compilation of the loops of this package by Numba, with a cache on disk where one can be written.

Numba takes what it finds in the cache for current if the file of a loop has not changed. But a loop contains those of
other files that it calls, and their constants. Here it is current only if no file of this directory has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from dpwords.core.room import address_space

Loop = TypeVar("Loop", bound=Callable[..., Any])
INTERPRETED = "dpwords._interpreted."  # prefix of the names of modules whose loops stay plain Python
_ROOM = 2**28  # bytes; more than the compiler takes for any loop of this package


def compiled(**options: Any) -> Callable[[Loop], Loop]:
    """Compile a function when it is first called, and keep the result in a cache for the next process.

    Where no cache can be written (a read-only installation and no home directory), or where the files of this directory
    cannot be read, the function is compiled anew in each process. In a module loaded by
    `dpwords.core.compiled.interpreted` it stays as it is.
    """

    def decorate(function: Loop) -> Loop:
        if function.__module__.startswith(INTERPRETED):
            return function
        _check_room()
        from numba import njit

        try:
            loop: Any = njit(cache=True, **options)(function)
            if hasattr(loop, "_cache"):  # it has none where compilation is switched off
                loop._cache = _ForgivingCache(_stamped(loop._cache))
        except (RuntimeError, OSError, AttributeError):  # no directory to write to, no files to read, another Numba
            loop = njit(**options)(function)
        return loop  # type: ignore[no-any-return]

    return decorate


def after_compiling(call: Callable[[], None]) -> None:
    """Call a function whenever Numba has compiled something in this process. Cost: importing Numba."""
    from numba.core import event

    class Compiled(event.Listener):
        """Compilations are nested, so that this is called every few seconds."""

        def on_start(self, event: Any) -> None:
            pass

        def on_end(self, event: Any) -> None:
            call()

    event.register("numba:compile", Compiled())  # type: ignore[no-untyped-call]


def _check_room() -> None:
    """Raise `MemoryError` where allocations of the compiler could fail: it then ends the process or never returns."""
    if address_space() < _ROOM:
        raise MemoryError


def _stamped(cache: Any) -> Any:
    """Numba's cache of one function, made to hold for the present files of this directory only."""
    cache._cache_file._source_stamp  # noqa: B018  # raises AttributeError if this Numba has no such thing
    cache._cache_file._source_stamp = _stamp()
    return cache


@cache
def _stamp() -> str:
    """A hash of the code of all loops; raises `OSError` if it cannot be read. Cost: a millisecond, once."""
    files = sorted(Path(__file__).parent.iterdir())
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files if file.suffix == ".py")).hexdigest()


class _ForgivingCache:
    """Numba's cache of one function, except that a damaged cache or a full disk leads to compilation, not to an error.

    A cache is damaged if a process was killed while writing it, or if another version of this package left it behind.
    Its content is then discarded. Numba asks its cache before it compiles, so this is where memory is checked.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *arguments: Any) -> Any:
        _check_room()
        try:
            return self._cache.load_overload(*arguments)
        except Exception:
            with suppress(OSError):
                self._cache.flush()
            return None

    def save_overload(self, *arguments: Any) -> None:
        with suppress(Exception):  # a full disk, for one
            self._cache.save_overload(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)
