"""Mechanisms that lie: about where their probability is, about the draws, or about what they promise.

Each publishes its word, always or sometimes, or draws other than it says. An exact audit has to refuse or accuse them.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import dpwords as dw

LETTERS = dw.Words("ab")
COINS = random.Random(1)


class Lie(NamedTuple):
    """A mechanism, the length at which it is audited, and what the refusal says, or "" if the audit accuses it."""

    mechanism: Any
    length: int
    said: str


class Stated:
    """A mechanism of somebody else, with a promise of ε = 1 and nothing behind it."""

    language: Any = LETTERS
    distance: Any = "hamming"
    guarantee: Any = dw.PureDP(1.0, "hamming", 1, 0.0, "tight")

    def log_prob(self, output: Any, given: Any) -> float:
        return -len(given) * math.log(2)  # any word of the same length, whatever the true one is


class ByEdits(Stated):
    distance = "levenshtein"
    guarantee = dw.PureDP(1.0, "levenshtein", 1, 0.0, "channel")


def marked(word: Any) -> tuple[str, ...]:
    """The word itself, behind so many letters that no audit lists it."""
    return ("b",) * 20 + tuple(word)


class Outside(ByEdits):
    """Publishes every word, in outputs that are not listed."""

    def log_prob(self, output: Any, given: Any) -> float:
        return 0.0 if tuple(output) == marked(given) else -math.inf


class DrawsOutside(Outside):
    """The same, and its draws can be seen."""

    def release(self, word: Any) -> Any:
        return marked(word)


class OneInTen(ByEdits):
    """Publishes one word in ten, and says truthfully how likely that is."""

    def log_prob(self, output: Any, given: Any) -> float:
        return {(): math.log(0.9), marked(given): math.log(0.1)}.get(tuple(output), -math.inf)

    def release(self, word: Any) -> Any:
        return marked(word) if COINS.random() < 0.1 else ()


class Everywhere(ByEdits):
    """The listed outputs have all the probability, and the one that is published has some as well."""

    def log_prob(self, output: Any, given: Any) -> float:
        return {(): 0.0, marked(given): math.log(0.1)}.get(tuple(output), -math.inf)

    def release(self, word: Any) -> Any:
        return marked(word) if COINS.random() < 0.1 else ()


def constant(value: Any, kind: type = Stated, at: Any = None) -> Any:
    """A mechanism with one log-probability for all outputs, or for one of them."""

    class Constant(kind):  # type: ignore[misc,valid-type]
        def log_prob(self, output: Any, given: Any) -> Any:
            return value if at in (None, tuple(output)) else super().log_prob(output, given)

    return Constant()


class Within(Stated):
    """The outputs that are possible depend on the word: it, and those that differ in one position."""

    def log_prob(self, output: Any, given: Any) -> float:
        near = sum(a != b for a, b in zip(output, given, strict=True)) <= 1
        return -math.log(1 + len(given)) if near else -math.inf


class Publishes(Stated):
    def release(self, word: Any) -> Any:
        return word


class AsText(Stated):
    """Another kind of object, with the same symbols."""

    def release(self, word: Any) -> str:
        return "".join(word)


class Foreign(Stated):
    """Draws what is no word of the language."""

    def release(self, word: Any) -> list[str]:
        return ["x", *word[1:]]


class Unhashable(Stated):
    def release(self, word: Any) -> Any:
        return [[symbol] for symbol in word]


class Sometimes(Stated):
    """Publishes one word in ten, and otherwise draws what it says."""

    def __init__(self) -> None:
        self.coins = random.Random(3)

    def release(self, word: Any) -> Any:
        return word if self.coins.random() < 0.1 else tuple(self.coins.choice("ab") for _ in word)


class LastLetter(Sometimes):
    def release(self, word: Any) -> Any:
        return (*(self.coins.choice("ab") for _ in word[1:]), word[-1])


class OneWord(Sometimes):
    """Publishes only one of the 64 words that are audited."""

    def release(self, word: Any) -> Any:
        return word if set(word) == {"a"} else tuple(self.coins.choice("ab") for _ in word)


class SameNoise(Stated):
    """A fixed seed: each letter is changed with the right probability, but always the same ones."""

    def release(self, word: Any) -> Any:
        coins = random.Random(5)
        return tuple(letter if coins.random() < 0.5 else "ab"[letter == "a"] for letter in word)


class Simulates(Stated):
    """Has no release, but draws for studies."""

    def simulate(self, word: Any, draws: int) -> list[Any]:
        return [word] * draws


class Disguised(Publishes):
    """An object that says that it is a mechanism of dpwords."""

    @property
    def __class__(self) -> type:  # type: ignore[override]
        return dw.Exponential

    def given(self, word: Any) -> Any:
        return dw.Exponential(LETTERS, 1.0).given(word)

    def release_all(self, words: Any) -> list[Any]:
        return list(words)


class OneByOne(dw.Exponential):
    """Of dpwords' own kind, but one word at a time is published as it is."""

    def release(self, word: Any) -> Any:
        return word


class AsCharacters(dw.Exponential):
    """The same, but only where a word is a text."""

    def release(self, word: Any) -> Any:
        return word if isinstance(word, str) else super().release(word)


class Together(dw.Exponential):
    """The same for many words at a time."""

    def release_all(self, words: Any, *arguments: Any, **options: Any) -> Any:
        return list(words)


class Sharper(dw.Exponential):
    """Draws with ε = 1.25 and states the probabilities of ε = 1."""

    def release_all(self, words: Any, *arguments: Any, **options: Any) -> Any:
        return dw.Exponential(LETTERS, 1.25).release_all(words)


class Contradicts(dw.Exponential):
    """Shows one ε, and is audited for another."""

    @property
    def guarantee(self) -> Any:
        return dw.PureDP(9.0, "hamming", 1, 0.0, "tight")


class LargeK(dw.Exponential):
    @property
    def guarantee(self) -> Any:
        return dw.PureDP(1.0, "hamming", 6, 0.0, "tight")


class OtherDistance(dw.Exponential):
    @property
    def guarantee(self) -> Any:
        return dw.PureDP(1.0, "levenshtein", 1, 0.0, "tight")


def promising(**changed: Any) -> Any:
    """The promise of a mechanism with something in it that is no promise."""

    class Promising(Stated):
        guarantee = dw.PureDP(
            **({"epsilon": 1.0, "distance": "hamming", "k": 1, "slack": 0, "method": "tight"} | changed)
        )

    return Promising()


class Unknown(Stated):
    distance = "manhattan"
    guarantee = dw.PureDP(1.0, "manhattan", 1, 0.0, "tight")  # type: ignore[arg-type]


class Twice(dw.Words):
    """A language that lists each word twice, so that half of the probability can be hidden."""

    def follow(self, state: Any) -> Iterator[tuple[Any, Any]]:
        return itertools.chain(super().follow(state), super().follow(state))


class Halved(Stated):
    language = Twice("ab")

    def log_prob(self, output: Any, given: Any) -> float:
        return -len(given) * math.log(4)


FITS = "the draws do not follow log_prob"
NOTHING = "no listed output has any probability: pass a larger outputs_up_to"
LIARS: dict[str, Callable[[], Lie]] = {
    "publishes outside": lambda: Lie(Outside(), 3, NOTHING),
    "publishes outside, and draws": lambda: Lie(DrawsOutside(), 3, ""),
    "one in ten outside": lambda: Lie(OneInTen(), 3, ""),
    "more than all, outside": lambda: Lie(Everywhere(), 3, FITS),
    "NaN": lambda: Lie(constant(math.nan), 3, "a log-probability is NaN"),
    "NaN, by edits": lambda: Lie(constant(math.nan, ByEdits), 3, "a log-probability is NaN"),
    "NaN for one output": lambda: Lie(constant(math.nan, at=("a", "b")), 2, "a log-probability is NaN"),
    "nothing is possible": lambda: Lie(constant(-math.inf), 3, "do not sum to 1"),
    "nothing is possible, by edits": lambda: Lie(constant(-math.inf, ByEdits), 3, NOTHING),
    "certain of all": lambda: Lie(constant(0.0), 3, "more than 1"),
    "certain of all, by edits": lambda: Lie(constant(0.0, ByEdits), 3, "more than 1"),
    "more than certain": lambda: Lie(constant(math.inf, ByEdits, at=("a",)), 3, "above 0"),
    "half": lambda: Lie(constant(-4 * math.log(2)), 3, "do not sum to 1"),
    "no number": lambda: Lie(constant("0"), 3, "make it return a number"),
    "a complex number": lambda: Lie(constant(1j), 3, "make it return a number"),
    "support by the word": lambda: Lie(Within(), 3, ""),
    "publishes": lambda: Lie(Publishes(), 6, FITS),
    "publishes text": lambda: Lie(AsText(), 6, FITS),
    "publishes another symbol": lambda: Lie(Foreign(), 6, FITS),
    "publishes lists": lambda: Lie(Unhashable(), 6, FITS),
    "publishes one in ten": lambda: Lie(Sometimes(), 6, FITS),
    "publishes the last letter": lambda: Lie(LastLetter(), 6, FITS),
    "publishes one word": lambda: Lie(OneWord(), 6, FITS),
    "a fixed seed": lambda: Lie(SameNoise(), 6, FITS),
    "simulates": lambda: Lie(Simulates(), 6, FITS),
    "disguised": lambda: Lie(Disguised(), 3, FITS),
    "one by one": lambda: Lie(OneByOne(LETTERS, 1.0), 4, FITS),
    "characters": lambda: Lie(AsCharacters(LETTERS, 1.0), 4, FITS),
    "together": lambda: Lie(Together(LETTERS, 1.0), 4, FITS),
    "sharper": lambda: Lie(Sharper(LETTERS, 1.0), 4, FITS),
    "two claims": lambda: Lie(Contradicts(LETTERS, 1.0), 3, "pass claimed="),
    "two k": lambda: Lie(LargeK(LETTERS, 1.0), 3, "pass k="),
    "two distances": lambda: Lie(OtherDistance(LETTERS, 1.0), 3, "two distances"),
    "k = 0": lambda: Lie(promising(k=0), 3, "k must be a whole number, 1 or more"),
    "k = 2.5": lambda: Lie(promising(k=2.5), 3, "k must be a whole number, 1 or more"),
    "ε = NaN": lambda: Lie(promising(epsilon=math.nan), 3, "claimed must be a finite number"),
    "ε = inf": lambda: Lie(promising(epsilon=math.inf), 3, "claimed must be a finite number"),
    "another distance": lambda: Lie(Unknown(), 3, "is 'hamming', 'levenshtein' or 'any'"),
    "words twice": lambda: Lie(Halved(), 3, "listed twice"),
}
