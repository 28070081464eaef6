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

    @property
    def in_words(self) -> str:
        """How the rate is proven, as the end of a sentence."""
        return _IN_WORDS[self]


_IN_WORDS = {
    Method.LISTED: "by comparing all pairs of words",
    Method.BALANCED: "by comparing all pairs of words, with public weights that make normalising constants equal",
    Method.REWEIGHTED: "by bounding the loss of one block of differing positions at a time, with public weights",
    Method.PAIRS: "by bounding the loss of all pairs of words at once",
    Method.FITTED: "by bounding the loss of all pairs of words at once, with public weights fitted to the worst pairs",
    Method.RANGE: "by the largest and the least normalising constant of the language",
    Method.TEXTBOOK: "by the general bound of the exponential mechanism",
    Method.EVERY_WORD: "by a formula, because all words have the same normalising constant",
}
