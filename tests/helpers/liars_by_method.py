"""More mechanisms that lie: only by one of their methods, seldom, or in the type of what they return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dpwords as dw
from liars import COINS, FITS, LETTERS, ByEdits, Lie, Stated


class OneInEighty(dw.Exponential):
    """Publishes one word in eighty, and otherwise draws what it says."""

    def release_all(self, words: Any, *arguments: Any, **options: Any) -> Any:
        drawn = super().release_all(words, *arguments, **options)
        return [word if COINS.random() < 0.0125 else each for word, each in zip(words, drawn, strict=True)]

    def release_codes(self, rows: Any, *arguments: Any, **options: Any) -> Any:
        kept = [[COINS.random() < 0.0125] for _ in rows]
        return np.where(kept, rows, super().release_codes(rows, *arguments, **options))


class ByCodes(dw.Exponential):
    """Publishes words that are given as codes."""

    def release_codes(self, rows: Any, *arguments: Any, **options: Any) -> Any:
        return rows


class ByKey(dw.Exponential):
    """Publishes words that are released with a key."""

    def release_all(self, words: Any, ids: Any = None, key: Any = None, **options: Any) -> Any:
        return super().release_all(words) if key is None else list(words)


class InStudies(dw.Exponential):
    def simulate(self, word: Any, draws: int) -> Any:
        return [word] * draws


class OnlyTogether(Stated):
    """Of somebody else, and can release many words at a time only."""

    def release_all(self, words: Any) -> Any:
        return list(words)


class Honest(Stated):
    """Of somebody else, and right in what it says."""

    def release(self, word: Any) -> Any:
        return tuple(COINS.choice("ab") for _ in word)


class TextOnly(Honest):
    """Publishes words that are text."""

    def release(self, word: Any) -> Any:
        return tuple(word) if isinstance(word, str) else super().release(word)


class Seldom(Honest):
    """Publishes one word, in symbols that are not in the language."""

    left = 5000

    def release(self, word: Any) -> Any:
        self.left -= 1
        return super().release(word) if self.left else tuple("AB"["ab".index(each)] for each in word)


class ForeignByEdits(ByEdits):
    """Publishes its word in other symbols instead of a long output, which it says is impossible."""

    language = dw.EditChannel("ab", 3.0).language
    guarantee = dw.PureDP(3.0, "levenshtein", 1, 0.0, "channel")
    honest = dw.EditChannel("ab", 3.0)

    def log_prob(self, output: Any, given: Any) -> float:
        return self.honest.log_prob(output, given=given)

    def release(self, word: Any) -> Any:
        drawn = tuple(self.honest.release(word))
        return drawn if len(drawn) <= 4 else tuple("AB"["ab".index(each)] for each in word)


class TypeTells(Honest):
    def release(self, word: Any) -> Any:
        return list(super().release(word)) if word[0] == "a" else super().release(word)


class Noted(str):
    """A text with an attribute."""


class AttributeTells(Honest):
    def release(self, word: Any) -> Any:
        found = Noted("".join(super().release(word)))
        found.word = word  # type: ignore[attr-defined]
        return found


class NumberTells(Stated):
    language = dw.Words([0, 1])

    def release(self, word: Any) -> Any:
        return tuple(COINS.choice([0.0, 1.0] if word[0] else [0, 1]) for _ in word)


BY_METHOD: dict[str, Callable[[], Lie]] = {
    "publishes one in eighty": lambda: Lie(OneInEighty(LETTERS, 0.1), 8, FITS),
    "codes": lambda: Lie(ByCodes(LETTERS, 1.0), 4, FITS),
    "with a key": lambda: Lie(ByKey(LETTERS, 1.0), 4, FITS),
    "in studies": lambda: Lie(InStudies(LETTERS, 1.0), 4, FITS),
    "only together": lambda: Lie(OnlyTogether(), 4, FITS),
    "text only": lambda: Lie(TextOnly(), 4, FITS),
    "one word, outside": lambda: Lie(Seldom(), 4, FITS),
    "other symbols, by edits": lambda: Lie(ForeignByEdits(), 2, FITS),
    "the type tells": lambda: Lie(TypeTells(), 4, "in several types"),
    "an attribute tells": lambda: Lie(AttributeTells(), 4, FITS),
    "the type of a symbol tells": lambda: Lie(NumberTells(), 4, "in several types"),
}
