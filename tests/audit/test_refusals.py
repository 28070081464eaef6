"""What audits refuse, in one line and without a symbol of a word, and which outputs they can compare."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpwords as dw
from commands import refused


class Equal:
    """Has __eq__, but no hash, and a representation with its address."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal) and self.word == other.word

    __hash__ = None  # type: ignore[assignment]


class Shown:
    """Has a representation, but is equal only to itself."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __repr__(self) -> str:
        return "Shown()"


@dataclass(eq=False)
class Fields:
    """Fields that are compared one by one, though the objects are not."""

    word: str


@dataclass
class Unhashable:
    """Equal if its fields are, but without a hash."""

    word: str


def long(word: str) -> list[str]:
    """So many symbols that tables and arrays show only some of them."""
    return ["x"] * 501 + list(word) + ["x"] * 501


@dataclass(frozen=True)
class Remembers:
    """Equal whatever the word was, which it keeps."""

    released: str = "x"
    word: str = field(default="", compare=False)


class Tagged(str):
    """A text that is always the same, with the word as an attribute."""

    word: str


class Alike:
    """All are equal, and each has its word."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    def __hash__(self) -> int:
        return 1


def tagged(word: str) -> Tagged:
    text = Tagged("x")
    text.word = word
    return text


COMPARED: dict[str, Any] = {
    "dataclass with a field that is not compared": lambda word: Remembers(word=word),
    "text with an attribute": tagged,
    "equal objects": Alike,
    "dataclass": Fields,
    "dataclass without hash": Unhashable,
    "pandas": lambda word: pd.Series(long(word)),
    "polars": lambda word: pl.Series(long(word)),
    "pyarrow": lambda word: pa.array(long(word)),
    "numpy": lambda word: np.array(long(word)),
    "dict": lambda word: {"released": np.array(long(word)), "length": 2},
    "bytes": lambda word: bytearray(word.encode()),
    "None": lambda word: None if word == "ab" else 1,
}


@pytest.mark.parametrize("name", COMPARED)
def test_outputs_are_compared_by_what_they_hold(name: str) -> None:
    """Words that come out as they are."""
    found = dw.audit.statistical(COMPARED[name], "ab", "aa", 100, claimed=1.0, confidence=0.99, seed=1)
    assert not found.holds
    assert found.repeats == ""


@pytest.mark.parametrize("kind", [Equal, Shown, lambda word: [Equal(word)], lambda word: pd.DataFrame({"a": [word]})])
def test_outputs_that_cannot_be_compared_are_refused(kind: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="cannot be compared with each other: return strings, numbers, lists"):
        dw.audit.statistical(kind, "ab", "aa", 1000, claimed=1.0)


class Textual:
    """Its probabilities are no numbers."""

    def log_prob(self, output: Any, given: Any) -> Any:
        return "qzx"


def failing(one: Any, other: Any) -> float:
    raise KeyError(one)


def dividing(one: Any, other: Any) -> float:
    return 1 / 0


WORDS = ["qzx", "qzy"]
REFUSED: dict[str, tuple[Any, str]] = {
    "list": (lambda: dw.audit.statistical(str, *WORDS, 100, distance=[1]), "distance is 'hamming', 'levenshtein'"),
    "failing": (lambda: dw.audit.statistical(str, *WORDS, 100, distance=failing), "the distance fails .*KeyError"),
    "text": (
        lambda: dw.audit.exact(Textual(), 1, language=dw.Words("qzx"), claimed=1.0, k=1),
        "make it return a number",
    ),
    "channel": (lambda: dw.audit.channel(np.eye(2), failing, inputs=WORDS), "the distance fails .*KeyError"),
    "dividing": (lambda: dw.audit.channel(np.eye(2), dividing, inputs=WORDS), "the distance fails .*ZeroDivisionError"),
    "nothing": (lambda: dw.audit.statistical(lambda: 1, *WORDS, 100), "this one takes nothing"),
    "surrogate": (
        lambda: dw.audit.statistical(dw.audit.Program("cat"), "qzx\ud800", "qzy\ud800", draws=100),
        "a program reads UTF-8",
    ),
    "transitions": (
        lambda: dw.audit.exact(dw.Report(dw.Words("qz"), 1, "transitions"), length=1),
        "words have at least 2 symbols here: use a longer length",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals_are_one_line_without_the_word(name: str) -> None:
    ask, reason = REFUSED[name]
    with pytest.raises(dw.DPWordsError, match=reason) as raised:
        ask()
    assert "\n" not in str(raised.value)
    assert not any(word in str(raised.value) for word in WORDS)
    assert raised.value.__suppress_context__ or raised.value.__context__ is None


def test_a_release_with_a_default_or_any_arguments_takes_a_word() -> None:
    for release in (lambda *words: words[0], lambda word="": word):
        assert dw.audit.statistical(release, "ab", "aa", 400).loss < math.inf


@pytest.mark.parametrize("language", [("--alphabet", "a"), ("--lexicon", "words.txt")])
def test_one_word_cannot_be_compared(
    language: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text("abc\nab\n")
    assert "only one word of this length" in refused("audit", *language, "--length", "3", "--epsilon", "1")
