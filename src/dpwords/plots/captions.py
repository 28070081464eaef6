"""What is written beside estimates: names in full, on as many lines as they need, and proportions with intervals."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Protocol

from dpwords.languages.systems import ANY_START, written
from dpwords.plots.structure import visible
from dpwords.recipes.questions import KINDS

ARROW = " → "
_SHOWN = 320  # characters of a name, unless two names would look alike
_REPEATED = 3  # from so many equal symbols on, a sequence names them once
_OF_SYMBOLS = ("each", "first", "last")  # questions about single symbols; a cell of a grid is one, though a tuple


class EstimatedProportions(Protocol):
    """What is drawn of estimates: values with intervals by label, what the releases give, and how they were made."""

    question: str
    confidence: float
    releases: int

    @property
    def counted(self) -> Mapping[Any, float]:
        """The proportion of each label among the releases."""

    def ordered(self) -> list[Any]:
        """The labels, the largest proportions first."""

    def __getitem__(self, label: Any, /) -> tuple[float, float, float]: ...

    def __iter__(self) -> Iterator[Any]: ...

    def __len__(self) -> int: ...


def is_of_pairs(question: str) -> bool:
    """Whether the labels of a question are pairs between which there are arrows."""
    return KINDS.get(question) == "pair"


def name(label: Any, question: str = "frequencies") -> str:
    """A label in full on one line. A tuple is a sequence, unless the question is about single symbols.

    >>> name(("register request", "check ticket"), "dfg")
    'register request → check ticket'
    >>> name(("wait", "wait", "wait", "go"), "variants"), name((0, 1), "visits")
    ('wait (3 times) → go', '0,1')
    """
    if not isinstance(label, tuple) or KINDS.get(question) in _OF_SYMBOLS:
        return _symbol(label)
    runs = [(symbol, len(list(run))) for symbol, run in groupby(map(_symbol, label))]
    parts = [[f"{symbol} ({times} times)"] if times >= _REPEATED else [symbol] * times for symbol, times in runs]
    return ARROW.join(part for run in parts for part in run) or "␣"


def names(labels: Iterable[Any], question: str) -> list[str]:
    """Labels in full, each on one line. Whole words are written without arrows if each of their symbols is a character.

    >>> names([("g", "o"), ("g", "g", "g", "o")], "variants"), names([("g", "o"), ("go",)], "variants")
    (['go', 'gggo'], ['g → o', 'go'])
    """
    shown = list(labels)
    if question == "variants" and all(len(_symbol(each)) == 1 for label in shown for each in label):
        return ["".join(map(_symbol, label)) or "␣" for label in shown]
    return [name(label, question) for label in shown]


def _symbol(label: Any) -> str:
    """A symbol or state, with visible blanks where there is nothing else."""
    if label is None or label is ANY_START:
        return "start"
    text = written(label)
    shown = text if text.strip() else visible(label)
    return "".join(letter if letter.isprintable() else "�" for letter in shown)


def shortened(texts: Iterable[str]) -> list[str]:
    """Texts with their middles left out where they are very long, unless two would look alike.

    >>> [len(text) for text in shortened(["a" * 1000, "b" * 20])]
    [320, 20]
    """
    full = list(texts)
    half = (_SHOWN - 3) // 2
    short = [text if len(text) <= _SHOWN else _without_middle(text, half) for text in full]
    return [text if short.count(cut) > 1 else cut for text, cut in zip(full, short, strict=True)]


def _without_middle(text: str, half: int) -> str:
    """The beginning and the end of a text, whole symbols of sequences."""
    begin, end = text[:half], text[half + 3 - _SHOWN :]
    head, tail = begin.rpartition(ARROW)[0] or begin, end.partition(ARROW)[2] or end
    return f"{head}{ARROW}…{ARROW}{tail}" if ARROW in begin and ARROW in end else f"{begin} … {end}"


def wrapped(text: str, width: int) -> list[str]:
    """A text on lines of at most so many characters, broken after arrows, and else at blanks if possible.

    >>> wrapped("register a new request → check", 30), wrapped("register a new request → check", 14)
    (['register a new request → check'], ['register a new', 'request →', 'check'])
    """
    *parts, last = text.split(ARROW)
    lines = [""]
    for part in [*(f"{part}{ARROW.rstrip()}" for part in parts), last]:
        if len(lines[-1]) + 1 + len(part) <= width:
            lines[-1] = f"{lines[-1]} {part}".lstrip()
        else:
            lines += textwrap.wrap(part, width, break_on_hyphens=False)
    return [line for line in lines if line] or [text]


def percent(proportion: float) -> str:
    """A proportion with two digits.

    >>> percent(0.1234)
    '12%'
    """
    return f"{100 * proportion:.2g}%"


def with_interval(value: float, low: float, high: float) -> tuple[str, str]:
    """A proportion, and its interval in brackets, with as many digits as the interval is narrow.

    >>> with_interval(0.1562, 0.1486, 0.1638), with_interval(0.17, 0.12, 0.22), with_interval(0.03, 0.004, 0.056)
    (('15.6%', '(14.9–16.4)'), ('17%', '(12–22)'), ('3.0%', '(0.4–5.6)'))
    """
    half = (high - low) / 2
    if math.isnan(half):
        return percent(value), ""
    two_digits = 1 - math.floor(math.log10(100 * max(high, 1e-12)))
    digits = two_digits if half <= 0 else max(0, min(two_digits + 2, -math.floor(math.log10(50 * half))))
    least = min(number for number in (value, low, high) if number > 0) if high > 0 else 1.0
    more = range(digits, two_digits + 3)  # what is more than 0 does not look like 0, if so many digits are enough
    digits = next((number for number in more if round(100 * least, number) > 0), digits)
    one, two, three = (f"{100 * number:.{max(digits, 0)}f}" for number in (value, low, high))
    return f"{one}%", f"({two}–{three})"
