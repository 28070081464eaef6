"""Optional packages, which are imported when they are needed."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from dpwords.errors import MissingExtra


def optional(module: str, extra: str, purpose: str) -> ModuleType:
    """The module, imported; raises `MissingExtra` with the command that installs its package if it is not there."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"{purpose} need {package}, which is not installed: pip install 'dpwords[{extra}]'"
        ) from None
