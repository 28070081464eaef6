"""How the loops of this package are compiled: by Numba, kept on disk where there is a place for that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Loop = TypeVar("Loop", bound=Callable[..., Any])
INTERPRETED = "dpwords._interpreted."  # how the names of modules begin whose loops stay plain Python


def compiled(**options: Any) -> Callable[[Loop], Loop]:
    """Compile a function when it is first called, and keep the result in a cache for the next process.

    Where no cache can be written (a read-only installation and no home directory) the function is compiled anew in
    each process. In a module loaded by `dpwords.core.compiled.interpreted` the function stays as it is.
    """

    def decorate(function: Loop) -> Loop:
        if function.__module__.startswith(INTERPRETED):
            return function
        from numba import njit

        try:
            loop: Loop = njit(cache=True, **options)(function)
        except RuntimeError:  # Numba found no directory that it may write to
            loop = njit(**options)(function)
        return loop

    return decorate
