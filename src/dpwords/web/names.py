"""Lists of names as people type them: on lines, with commas, or with spaces between them."""

from __future__ import annotations

from collections.abc import Container


def spaced(text: str) -> list[str]:
    """Names without spaces in them, separated by white space, with or without commas, or by commas alone.

    A comma inside of a name stays if there is white space between names.

    >>> spaced("order, pay, ship"), spaced("order,pay"), spaced("0,1 0,2")
    (['order', 'pay', 'ship'], ['order', 'pay'], ['0,1', '0,2'])
    """
    parts = text.split()
    if len(parts) == 1:
        return _between_commas(text)
    return [name for name in (part.strip(",") for part in parts) if name]


def known(text: str, names: Container[object]) -> list[str]:
    """The names in a text, likewise; what is not a name is divided at commas.

    >>> known("0,1 0,2", ["0,1", "0,2"]), known("order, pay,ship", ["order", "pay", "ship"])
    (['0,1', '0,2'], ['order', 'pay', 'ship'])
    """
    return [name for part in text.split() for name in ([part] if part in names else _between_commas(part) or [part])]


def listed(text: str) -> list[str]:
    """The lines of a text. A single line, which would be a single name, is divided at commas, or at white space.

    >>> listed("pay now\\nship"), listed("pay now, ship"), listed("pay ship")
    (['pay now', 'ship'], ['pay now', 'ship'], ['pay', 'ship'])
    """
    lines = text.replace("\r\n", "\n").rstrip("\n").split("\n")
    if len(lines) > 1:
        return lines
    return _between_commas(text) if "," in text else text.split()


def _between_commas(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
