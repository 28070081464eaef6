"""Immutable objects."""

from __future__ import annotations

from typing import Any


class Value:
    """An object whose attributes can be set only once, during its construction.

    A guarantee refers to a mechanism and its language as they were built, so a later assignment to an attribute raises
    AttributeError; make a new object instead.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        declared = getattr(type(self), name, None)  # a plain default may be overridden once, a method or property never
        if name in vars(self) or hasattr(declared, "__get__"):
            raise AttributeError(f"{name} of {type(self).__name__} is read-only: make a new object with another {name}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of {type(self).__name__} is read-only: it cannot be deleted")
