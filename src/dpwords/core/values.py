"""Immutable objects."""

from __future__ import annotations

from abc import ABCMeta
from inspect import Signature, signature
from typing import Any

import numpy as np

from dpwords.errors import within_memory


class _ValueType(ABCMeta):
    """Closes an object once its constructor has run."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        with within_memory():
            made = super().__call__(*arguments, **options)
        vars(made)["_closed"] = True
        return made

    @property
    def __signature__(cls) -> Signature:
        """The signature of the class's own constructor, which `help`, editors and notebooks show."""
        own = signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=[*own.parameters.values()][1:])


class Value(metaclass=_ValueType):
    """An object whose attributes are set during its construction, and never afterwards.

    A guarantee refers to a mechanism and its language as they were built, so a later assignment to an attribute raises
    AttributeError; make a new object instead.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if "_closed" in vars(self):
            raise AttributeError(f"{name} of {type(self).__name__} is read-only: make a new object with another {name}")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} of {type(self).__name__} is read-only: it cannot be deleted")


def read_only(*arrays: Any) -> None:
    """Make arrays that several objects share read-only, so that nobody can change what is drawn through one of them."""
    for array in arrays:
        if isinstance(array, np.ndarray):
            array.setflags(write=False)


def read_only_view(array: Any) -> Any:
    """The same numbers, read-only; a loop is compiled once for these, and again for arrays that can be written."""
    view = array.view()
    view.setflags(write=False)
    return view
