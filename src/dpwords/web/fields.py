"""The values of a request, checked one by one: what is missing, of another kind or too long is refused in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpwords.core.checks import positive_number, whole_number
from dpwords.errors import InvalidValue


class Fields:
    """Named values of a request, of which null is none. Each is taken once; `done()` refuses what is left over."""

    def __init__(self, values: Mapping[str, Any], about: str = "the request") -> None:
        self._values, self._about = {name: each for name, each in values.items() if each is not None}, about

    def has(self, name: str) -> bool:
        """Whether there is such a value."""
        return name in self._values

    def text(self, name: str, longest: int = 2_000, default: str | None = None) -> str:
        """A text of at most `longest` characters."""
        value = self._take(name, default)
        if not isinstance(value, str):
            raise InvalidValue(f"{name} must be a text")
        if len(value) > longest:
            raise InvalidValue(f"{name} may have at most {longest:,} characters here: use the command line for more")
        return value

    def choice(self, name: str, choices: Sequence[str], default: str | None = None) -> str:
        """One of some texts."""
        value = self._take(name, default)
        if value not in choices:
            raise InvalidValue(f"{name} must be one of {', '.join(choices)}")
        return str(value)

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number above 0."""
        return positive_number(self._take(name, default), name, f"{name} = 1")

    def whole(self, name: str, least: int, most: int, default: int | None = None) -> int:
        """A whole number between two others."""
        value = whole_number(self._take(name, default), name, least)
        if value > most:
            raise InvalidValue(f"{name} can be at most {most:,} here: use the command line for more")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        """Whether something is switched on."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise InvalidValue(f"{name} must be true or false")
        return value

    def items(self, name: str, most: int) -> list[Any]:
        """A list of at most `most` values, empty if it is missing."""
        value = self._take(name, [])
        if not isinstance(value, list):
            raise InvalidValue(f"{name} must be a list")
        if len(value) > most:
            raise InvalidValue(f"{name} can have at most {most:,} entries here: use the command line for more")
        return value

    def mapping(self, name: str) -> dict[str, Any]:
        """An object with named values, which its reader checks."""
        value = self._take(name, None)
        if not isinstance(value, dict):
            raise InvalidValue(f"{name} must be an object with named values")
        return value

    def done(self) -> None:
        """Refuse values that were not asked for."""
        if self._values:
            raise InvalidValue(f"{self._about} has values that are not known here: reload the page")

    def _take(self, name: str, default: object) -> Any:
        value = self._values.pop(name, default)
        if value is None:
            raise InvalidValue(f"{name} is missing from {self._about}")
        return value
