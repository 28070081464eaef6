"""How tests call the parts of compiled loops that Python cannot call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from numba import njit

from dpwords.core.compiled import kernel


def callable_parts(name: str) -> Any:
    """What is in a kernel, with each loop compiled so that Python can call it."""
    found = vars(kernel(name))
    return SimpleNamespace(
        **{key: _callable(item) if hasattr(item, "py_func") else item for key, item in found.items()}
    )


def _callable(loop: Any) -> Any:
    return njit(error_model=loop.targetoptions.get("error_model", "python"))(loop.py_func)
