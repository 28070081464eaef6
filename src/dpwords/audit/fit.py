"""Whether a mechanism draws what its probabilities say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, cycle, islice
from typing import Any

import numpy as np

from dpwords.audit.samplers import hashable
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import is_hashable
from dpwords.errors import InvalidValue
from dpwords.mechanisms.private import Private
from dpwords.spaces.exhaustive import SUM_ERROR, Symbols

FALSE_ALARM = 1e-9  # the probability with which an honest mechanism is refused, at most
_ONE_BY_ONE = 256  # draws by `release`, of a mechanism that can also release many words at a time
_POWERS = (0.0, 0.5, 0.8, 1.25, 2.0, 4.0)  # laws that are flatter and sharper than the stated one
_PUBLISHED = (0.05, 0.5)  # laws by which the word itself comes out so often
_URNS = (1.0, 10.0, 100.0, 1000.0)  # how many draws a stated probability weighs against those that were seen


@dataclass(frozen=True)
class Draws:
    """Outputs for each of some words, all drawn in one way."""

    outputs: Sequence[Sequence[Hashable]]

    def counts(self, columns: Mapping[Hashable, int]) -> list[Counter[int]]:
        """How often each column was drawn for each word; −1 stands for all outputs that have none."""
        return [Counter(columns.get(each, -1) for each in drawn) for drawn in self.outputs]

    def __len__(self) -> int:
        return sum(map(len, self.outputs))


def draw_each(mechanism: Any, words: Sequence[Symbols], draws: int) -> list[Draws]:
    """About so many outputs in all, as many for each word; none if the mechanism has neither `release` nor `simulate`.

    What has `release` is asked to release. Of dpwords' own mechanisms, many words are released at a time, and then some
    one by one, as text if their symbols are characters.
    """
    numbers = list(range(len(words))) * -(-draws // len(words))
    found: list[Draws] = []
    given: Sequence[Any] = words
    if isinstance(mechanism, Private) and numbers:
        released = mechanism.release_all([words[number] for number in numbers])
        found.append(_by_word(len(words), zip(numbers, released, strict=True)))
        numbers = list(islice(cycle(range(len(words))), _ONE_BY_ONE))
        if mechanism.language.alphabet.of_characters:
            given = ["".join(word) for word in words]
    if hasattr(mechanism, "release") and numbers:
        found.append(_by_word(len(words), ((number, mechanism.release(given[number])) for number in numbers)))
    elif hasattr(mechanism, "simulate") and numbers:
        times = len(numbers) // len(words)
        simulated = ((number, each) for number, word in enumerate(words) for each in mechanism.simulate(word, times))
        found.append(_by_word(len(words), simulated))
    return found


def _by_word(words: int, drawn: Iterable[tuple[int, Any]]) -> Draws:
    found: list[list[Hashable]] = [[] for _ in range(words)]
    for number, output in drawn:
        symbols = tuple(output) if isinstance(output, (str, list)) else output
        found[number].append(symbols if is_hashable(symbols) else hashable(symbols))
    return Draws(found)


def check_fit(drawn: Sequence[Draws], logs: Floats, words: Sequence[Symbols], columns: Mapping[Hashable, int]) -> None:
    """Refuse a mechanism whose draws contradict its log-probabilities: words in rows, outputs in columns.

    Outputs without a column are one event, with the probability that the row leaves. What is right is refused with
    probability at most `FALSE_ALARM` (docs/theory.md, section 16). Cost: the draws, and the size of the table.
    """
    rest = np.maximum(1 - np.exp(logs).sum(axis=1), 0.0) + SUM_ERROR
    table = np.column_stack([logs, np.log(rest)])
    own = np.array([columns.get(word, -2) for word in words])
    if any(_evidence(table, each.counts(columns), own) > math.log(len(drawn) / FALSE_ALARM) for each in drawn):
        raise InvalidValue(
            f"the draws do not follow log_prob (an honest mechanism is refused with probability {FALSE_ALARM:g} at "
            "most), so what is released is not what was measured: correct one of them, or use audit.statistical"
        )


def _evidence(table: Floats, seen: Sequence[Mapping[int, int]], own: Integers) -> float:
    """ln of a number whose mean is at most 1 if the draws follow the table.

    It is the average of ratios between the probability of the draws under other laws and that under the table.
    """
    rows = np.array([row for row, counts in enumerate(seen) for _ in counts], dtype=np.int64)
    places = np.array(list(chain.from_iterable(seen)), dtype=np.int64)
    counts = np.array([count for each in seen for count in each.values()], dtype=np.float64)
    stated = table[rows, places]
    if np.isneginf(stated).any():
        return math.inf  # what is impossible was drawn
    found = [float(counts @ ((power - 1) * stated - _log_total(table, power)[rows])) for power in _POWERS]
    published = (places == own[rows]) * np.exp(-stated)
    found += [float(counts @ np.log1p(share * (published - 1))) for share in _PUBLISHED]
    for weight in _URNS:
        each = np.array([_urn(table[row], drawn, weight) for row, drawn in enumerate(seen)])
        found += [float(each.sum()), float(np.logaddexp.reduce(each)) - math.log(len(each))]
    return float(np.logaddexp.reduce(found)) - math.log(len(found))


def _log_total(table: Floats, power: float) -> Floats:
    """ln of the sum of the probabilities to a power, of each row; what is impossible stays so."""
    with np.errstate(invalid="ignore"):
        powers = np.where(np.isneginf(table), -np.inf, power * table)
    return np.asarray(np.logaddexp.reduce(powers, axis=1))


def _urn(row: Floats, seen: Mapping[int, int], weight: float) -> float:
    """ln of how much likelier the draws of a word are under Pólya's urn, which learns from them, than by its row."""
    gain = math.lgamma(weight) - math.lgamma(weight + sum(seen.values()))
    for place, count in seen.items():
        stated = float(row[place])
        share = weight * math.exp(stated)
        if share < 1e-300:  # lgamma would overflow: Γ(n + s)/Γ(s) is s·Γ(n) for such a small s
            gain += math.log(weight) + stated + math.lgamma(count)
        else:
            gain += math.lgamma(count + share) - math.lgamma(share)
        gain -= count * stated
    return gain
