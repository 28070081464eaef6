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

from dpwords.core.limits import address_space

Loop = TypeVar("Loop", bound=Callable[..., Any])
INTERPRETED = "dpwords._interpreted."  # prefix of the names of modules whose loops stay plain Python
_MEMORY = 2**28  # bytes; more than the compiler takes for any loop of this package


def compiled(*, inner: bool = False, **options: Any) -> Callable[[Loop], Loop]:
    """Compile a function when it is first called, and keep the result in a cache for the next process.

    Where no cache can be written (a read-only installation and no home directory), or where the files of this directory
    cannot be read, the function is compiled anew in each process. An `inner` function is called by compiled loops only
    and becomes a part of them, which takes half as long as making something that Python can call. In a module loaded by
    `dpwords.core.compiled.interpreted` a function stays as it is.
    """

    chosen: Any = {**options, "no_cfunc_wrapper": True, "no_cpython_wrapper": inner}

    def decorate(function: Loop) -> Loop:
        if function.__module__.startswith(INTERPRETED):
            return function
        _check_memory()
        from numba import njit

        loop: Any
        try:
            loop = njit(cache=not inner, **chosen)(function)
            if loop is not function and not inner:
                loop._cache._cache_file._source_stamp  # noqa: B018  # raises AttributeError if Numba has no such thing
                loop._cache._cache_file._source_stamp = _stamp()  # the cache holds for the present files only
        except (RuntimeError, OSError, AttributeError):  # no directory to write to, no files to read, another Numba
            loop = njit(**chosen)(function)
        if loop is function:  # compilation is switched off
            return function
        if inner:
            loop._insert, loop._compile_for_args = lambda *_: None, _refuse  # what Python calls
        else:
            loop._cache = _ForgivingCache(loop._cache)
        _forget_constants(loop)
        return loop  # type: ignore[no-any-return]

    return decorate


def _refuse(*_arguments: Any) -> None:
    raise TypeError("this is a part of compiled loops, which Python cannot call: call it in a compiled function")


def _forget_constants(loop: Any) -> None:
    """Have a loop compiled once for all numbers that other loops pass to it, and not again for each constant."""
    from numba.core.types import unliteral

    template = loop.get_call_template
    loop.get_call_template = lambda args, kws: template(tuple(map(unliteral, args)), kws)


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


def _check_memory() -> None:
    """Raise `MemoryError` where allocations of the compiler could fail: it then ends the process or never returns."""
    if address_space() < _MEMORY:
        raise MemoryError


@cache
def _announce(cached: bool) -> None:
    """Log, once in a process, that loops are compiled; without a configuration of logging, on standard error."""
    from logging import getLogger

    when = "once after an installation" if cached else "in each process, unless NUMBA_CACHE_DIR can be written to"
    getLogger("dpwords").warning("compiling loops for this processor: a few seconds to half a minute, %s", when)


@cache
def _stamp() -> str:
    """A hash of the code of all loops; raises `OSError` if it cannot be read. Cost: a millisecond, once."""
    files = sorted(Path(__file__).parent.iterdir())
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files if file.suffix == ".py")).hexdigest()


class _ForgivingCache:
    """Numba's cache of one function, except that a damaged cache or a full disk leads to compilation, not to an error.

    A cache is damaged if a process was killed while writing it, or if another version of this package left it behind.
    Its content is then discarded. Numba asks its cache before it compiles, so this is where memory is checked, and
    where it is said that something is compiled.
    """

    def __init__(self, cache: Any) -> None:
        self._cache = cache

    def load_overload(self, *arguments: Any) -> Any:
        _check_memory()
        found = None
        try:
            found = self._cache.load_overload(*arguments)
        except Exception:
            with suppress(OSError):
                self._cache.flush()
        if found is None:
            _announce(type(self._cache).__name__ != "NullCache")
        return found

    def save_overload(self, *arguments: Any) -> None:
        with suppress(Exception):  # a full disk, for one
            self._cache.save_overload(*arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._cache, name)
