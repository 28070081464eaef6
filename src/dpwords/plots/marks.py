"""Where a released word differs from the private one, symbol by symbol, for display to the owner of the word."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal, NamedTuple

from rapidfuzz.distance import Levenshtein

from dpwords.core.symbols import PromisedDistance

MarkKind = Literal["same", "changed", "inserted", "deleted"]
_CHANGES: dict[str, MarkKind] = {"equal": "same", "replace": "changed", "insert": "inserted"}


class Mark(NamedTuple):
    """A symbol of the released word, or, if it was deleted, of the private one."""

    symbol: Hashable
    change: MarkKind


def marks(
    private: Sequence[Hashable], released: Sequence[Hashable], distance: PromisedDistance = "hamming"
) -> list[Mark]:
    """The symbols of the released word with their changes; under Levenshtein distance, those of a shortest edit script.

    Cost: the length; under Levenshtein distance, its square.

    >>> [mark.change for mark in marks("abc", "adc")]
    ['same', 'changed', 'same']
    >>> [mark.change for mark in marks("abc", "bcd", "levenshtein")]
    ['deleted', 'same', 'same', 'inserted']
    """
    if distance == "hamming":
        pairs = zip(private, released, strict=True)
        return [Mark(new, "same" if old == new else "changed") for old, new in pairs]
    found: list[Mark] = []
    for step in Levenshtein.opcodes(private, released):
        old, new = private[step.src_start : step.src_end], released[step.dest_start : step.dest_end]
        found += [Mark(symbol, "deleted") for symbol in old] if step.tag == "delete" else []
        found += [Mark(symbol, _CHANGES[step.tag]) for symbol in new]
    return found
