"""Whether a fitted model explains what was released: counts that it had no freedom to fit are compared with releases of
words that are drawn from it.

A statistic is a mean over released words. Its mean under the model comes from simulated words, released by the same
mechanism with a fixed seed. Differences are divided by their standard errors, and the largest one of each family counts
(Bonferroni's rule). Counts to which the model was fitted differ less than by chance, so that the check rejects a true
model less often than it says (docs/theory.md, section 15 g).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.languages.systems import written
from dpwords.models.tuning import CHECKED_SYMBOLS, FEWEST_SEEN, MOST_DRAWN, SIZE_OF_CHECK

# Statistics that are means over words, as sentences; the others are counts.
_MEANS = {
    "changes": "the number of changes of symbol in a word has the variance {}",
    "repeated": "two words are the same with probability {}",
}


@dataclass(frozen=True)
class Misfit:
    """What contradicts a model: a number in the releases, what the model expects it to be, and how many standard errors
    they are apart. `what` is a sentence about the number, with {} in its place."""

    what: str
    released: float
    expected: float
    z: float

    def __str__(self) -> str:
        return (
            f"{self.what.format(_written(self.released))}, and the model expects {_written(self.expected)} "
            f"({abs(self.z):.1f} standard errors apart)"
        )


def _written(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of one kind: for each of them its sum over words and the sum of its squares."""

    name: str
    sums: Floats
    squares: Floats


def simulated_words(number: int) -> int:
    """How many words are drawn from the model of so many releases, at most."""
    return min(max(2 * number, 2000), MOST_DRAWN)


def misfit(released: Ragged, simulated: Ragged, symbols: Sequence[Any]) -> Misfit | None:
    """What contradicts a model most, given releases of words drawn from it; None if chance explains all differences.

    Cost: symbols of all words, sorted.
    """
    number, drawn, size = len(released), len(simulated), len(symbols)
    positions = int(max(released.sizes.max(initial=0), simulated.sizes.max(initial=0)))
    if number < 2 or drawn < 2:
        return None
    found, families = None, 0
    middle = float(_changes(simulated).mean())
    both = zip(*(_families(each, size, positions, middle) for each in (released, simulated)), strict=True)
    for own, other in both:
        mean = (own.sums + other.sums) / (number + drawn)
        known = np.flatnonzero(np.minimum(mean, _room(own.name, mean)) * min(number, drawn) >= FEWEST_SEEN)
        if not len(known):
            continue
        families += 1
        square = (own.squares + other.squares)[known] / (number + drawn)
        spread = np.sqrt(np.maximum(square - mean[known] ** 2, 1e-300) * (1 / number + 1 / drawn))
        z = (own.sums[known] / number - other.sums[known] / drawn) / spread
        worst = int(np.abs(z).argmax())
        far = abs(float(z[worst]))
        chance = len(known) * math.erfc(far / math.sqrt(2))
        if found is None or (chance, -far) < (found[0], -abs(found[1].z)):  # chances below 1e-308 are 0
            at = int(known[worst])
            what, each = _named(own.name, at, symbols), number if own.name in _MEANS else 1
            numbers = float(own.sums[at]) / each, float(other.sums[at]) / each * number / drawn
            found = chance, Misfit(what, *numbers, float(z[worst]))
    return found[1] if found is not None and families * found[0] < SIZE_OF_CHECK else None


def _room(name: str, mean: Floats) -> Floats:
    """How many words do not have something, where a word has it once at most."""
    return 1 - mean if name == "position" else mean


def _families(words: Ragged, size: int, positions: int, middle: float) -> Iterator[Statistics]:
    """Symbols at each position, pairs of symbols one and two steps apart, changes, lengths and repeated words."""
    number, values = np.repeat(np.arange(len(words)), words.sizes), words.values.astype(np.int64)
    place = np.arange(len(values)) - np.repeat(words.ends - words.sizes, words.sizes)
    once = np.bincount(place * size + values, minlength=positions * size).astype(np.float64)
    yield Statistics("position", once, once)
    pairs = size if size <= CHECKED_SYMBOLS else 0
    for apart, name in ((1, "pair"), (2, "apart")):
        inside = number[apart:] == number[:-apart] if len(values) > apart else np.zeros(0, dtype=np.bool_)
        keys = (values[:-apart] * size + values[apart:])[inside] if pairs else np.zeros(0, dtype=np.int64)
        yield Statistics(name, *_counted(number[apart:][inside][: len(keys)], keys, pairs**2))
    changes = (_changes(words) - middle) ** 2
    yield Statistics("changes", np.array([changes.sum()]), np.array([(changes**2).sum()]))
    lengths = np.bincount(words.sizes, minlength=positions + 1).astype(np.float64)
    yield Statistics("length", lengths, lengths)
    same = _repeated(words)
    yield Statistics(
        "repeated",
        np.array([same.sum()]),
        np.array([4 * ((same - same.mean()) ** 2).sum() + same.sum() ** 2 / len(same)]),
    )


def _counted(number: Integers, keys: Integers, cells: int) -> tuple[Floats, Floats]:
    """For each cell, the sum over words of how often a word has it, and of the squares of that."""
    known, times = np.unique(number * max(cells, 1) + keys, return_counts=True)
    cell = known % max(cells, 1)
    return np.bincount(cell, times, cells).astype(np.float64), np.bincount(cell, times**2, cells).astype(np.float64)


def _changes(words: Ragged) -> Floats:
    """For each word, the number of positions whose symbol differs from the one before."""
    number = np.repeat(np.arange(len(words)), words.sizes)
    moved = (words.values[1:] != words.values[:-1]) & (number[1:] == number[:-1])
    return np.bincount(number[1:][moved], minlength=len(words)).astype(np.float64)


def _repeated(words: Ragged) -> Floats:
    """For each word, the proportion of the others that are the same."""
    found = np.zeros(len(words))
    for numbers in words.by_length():
        rows = words.rows(numbers)
        if rows.shape[1]:
            _, same, times = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
            found[numbers] = (times[same.ravel()] - 1) / max(len(words) - 1, 1)
    return found


def _named(name: str, number: int, symbols: Sequence[Any]) -> str:
    """A sentence about a statistic, with {} in the place of its number."""
    if name in _MEANS:
        return _MEANS[name]
    size = len(symbols)
    if name == "length":
        what = f"a word of {number} symbols"
    elif name == "position":
        what = f"{written(symbols[number % size])} at position {number // size + 1}"
    else:
        first, second = (written(symbols[each]) for each in divmod(number, size))
        what = f"{second} after {first}" if name == "pair" else f"{second} two positions after {first}"
    return what.replace("{", "{{").replace("}", "}}") + " was released {} times"
