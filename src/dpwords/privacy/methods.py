"""How rates are chosen and proven: values that are equal to, and print as, the texts that users and files have.

Nothing heavy is imported here: tables of what users can choose need these values before anything is made.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal


class _Text(StrEnum):
    """A value that is shown as its text, in collections too."""

    __repr__ = str.__repr__


class CalibrationMethod(_Text):
    """How ε is turned into weights."""

    TIGHT = "tight"  # the best rate that is proven
    TEXTBOOK = "textbook"  # ε/(2Δu)


CalibrationName = CalibrationMethod | Literal["tight", "textbook"]  # as users pass it


class Method(_Text):
    """How a certificate proves its rate (docs/theory.md, sections 9 and 13)."""

    LISTED = "listed"  # all pairs of words are compared
    BALANCED = "listed, balanced"  # the same, with public weights that make the normalising constants equal
    REWEIGHTED = (
        "blocks, levelled"  # blocks of positions that differ, one at a time, with weights of `spaces/reweighting.py`
    )
    PAIRS = "pairs"  # all pairs of words at once, in boxes that sweeps from both ends make finer
    FITTED = "pairs, fitted"  # the same, with public weights that lower what the worst pairs lose
    RANGE = "range"  # the largest and the least normalising constant
    TEXTBOOK = "textbook"  # at least half of ε is always allowed
    EVERY_WORD = "every word"  # the normalising constant is the same for all words
