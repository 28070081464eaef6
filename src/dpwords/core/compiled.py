"""The only place that loads compiled loops, and that decides where plain Python is faster.

A *kernel* is a file of loops over arrays in `_kernels/`. Importing the compiler takes half a second, so kernels are
loaded by name when they are first needed.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import dpwords._kernels
from dpwords._kernels.compiler import INTERPRETED

# Up to so many steps of a file of loops are interpreted in a process. A step takes about 3 µs, so that they take as
# long as loading the compiler with loops that were compiled before, a tenth of what compiling them takes.
_FEW_STEPS = 100_000
_STEPS_SO_FAR: Counter[str] = Counter()  # both kinds of loops give the same results, so this affects time only


def kernel(name: str) -> Any:
    """The compiled loops of a file in `_kernels`."""
    return import_module(f"dpwords._kernels.{name}")


@cache
def interpreted(name: str) -> Any:
    """The same loops as plain Python: the same operations in the same order, hence the same results, bit for bit."""
    path = Path(dpwords._kernels.__path__[0], f"{name}.py")
    spec = spec_from_file_location(f"{INTERPRETED}{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def kernel_for(name: str, steps: int) -> Any:
    """The loops for a task of so many steps: interpreted while a process has done few steps, compiled from then on.

    A process that releases a single short run therefore never waits for the compiler.
    """
    if _STEPS_SO_FAR[name] + steps <= _FEW_STEPS:
        _STEPS_SO_FAR[name] += steps
        return interpreted(name)
    return kernel(name)
