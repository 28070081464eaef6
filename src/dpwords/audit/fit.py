"""Whether a mechanism draws what its probabilities say."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from itertools import chain, cycle, islice
from secrets import token_bytes
from typing import Any, NamedTuple

import numpy as np

from dpwords.audit.samplers import hashable, is_ours
from dpwords.audit.tuning import ONE_BY_ONE, POWERS, PUBLISHED, URNS
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import is_hashable
from dpwords.errors import InvalidValue
from dpwords.languages.language import Language
from dpwords.spaces.exhaustive import SUM_ERROR, Symbols

FALSE_ALARM = 1e-9  # the probability with which an honest mechanism is refused, at most


@dataclass(frozen=True)
class Draws:
    """Outputs for each of some words, all drawn in one way."""

    outputs: Sequence[Sequence[Hashable]]
    alike: bool  # whether words of one type have outputs of one type, and so have equal symbols

    def counts(self, columns: Mapping[Hashable, int]) -> list[Counter[int]]:
        """How often each column was drawn for each word; −1 stands for all outputs that have none."""
        return [Counter(columns.get(each, -1) for each in drawn) for drawn in self.outputs]

    def __len__(self) -> int:
        return sum(map(len, self.outputs))


def draw_each(mechanism: Any, language: Language, words: Sequence[Symbols], draws: int) -> list[Draws]:
    """About so many outputs in all, as many for each word, in every way in which the mechanism draws.

    Words of characters are given as text every other time. Of dpwords' own mechanisms, most words are released many at
    a time, and some one by one.
    """
    ways = [way for way in _WAYS if callable(getattr(mechanism, way.method, None)) and way.is_offered(mechanism)]
    many = [way for way in ways if way.is_quick or not is_ours(mechanism)] or ways
    times = -(-draws // (len(words) * max(len(many), 1)))
    every = list(range(len(words))) * times
    some = list(islice(cycle(range(len(words))), ONE_BY_ONE if draws else 0))
    found = []
    for way in ways:
        numbers = every if way in many else some
        as_text = language.letters.of_characters and way.takes_text
        given = [
            "".join(words[number]) if as_text and (at + at // len(words)) % 2 else words[number]
            for at, number in enumerate(numbers)
        ]
        if given:
            try:
                outputs = list(way.draw(mechanism, language, given))
            except Exception:
                if not as_text or is_ours(mechanism):
                    raise
                given = [words[number] for number in numbers]  # what is not ours need not take text
                outputs = list(way.draw(mechanism, language, given))
            if len(outputs) != len(given):
                raise InvalidValue(f"{way.method} must return one output for each word: correct it")
            found.append(_by_word(len(words), numbers, given, outputs))
    return found


def _released_codes(mechanism: Any, language: Language, words: list[Any]) -> Iterable[Any]:
    """Codes of words of one length together, and the symbols that they come back as."""
    symbols, codes = language.alphabet.symbols, language.alphabet.codes
    found: dict[int, Any] = {}
    for length in {len(word) for word in words}:
        numbers = [number for number, word in enumerate(words) if len(word) == length]
        read = (language.read(words[number]) for number in numbers)
        rows = np.array([[codes[symbol] for symbol in word] for word in read], dtype=np.int64)
        released = mechanism.release_codes(rows.reshape(len(numbers), length))
        if is_ours(mechanism) and mechanism.answers is not None:
            found |= zip(numbers, mechanism.answers.words(released, tuple), strict=False)
            continue
        for number, row in zip(numbers, released, strict=False):
            plain = row.tolist() if isinstance(row, np.ndarray) else row
            drawn = tuple(symbols[each] if each in range(len(symbols)) else (each,) for each in plain)
            found[number] = language.spell(drawn)
    return [found[number] for number in sorted(found)]


def _simulated(mechanism: Any, _language: Language, words: list[Any]) -> Iterable[Any]:
    found: dict[Any, list[Any]] = {
        word: list(mechanism.simulate(word, times)) for word, times in Counter(words).items()
    }
    return [found[word].pop() for word in words if found[word]]


class _Way(NamedTuple):
    """One of the methods by which a mechanism draws."""

    method: str
    draw: Callable[[Any, Language, list[Any]], Iterable[Any]]
    is_quick: bool = True
    takes_text: bool = True
    needs: frozenset[str] = frozenset()  # parameters, of mechanisms of somebody else

    def is_offered(self, mechanism: Any) -> bool:
        if not self.needs or is_ours(mechanism):
            return True
        return self.needs <= signature(getattr(mechanism, self.method)).parameters.keys()


_WAYS = (
    _Way("release_all", lambda mechanism, _, words: mechanism.release_all(words)),
    _Way(
        "release_all",
        lambda mechanism, _, words: mechanism.release_all(words, ids=list(range(len(words))), key=token_bytes(32)),
        needs=frozenset({"ids", "key"}),
    ),
    _Way("release_codes", _released_codes, takes_text=False),
    _Way("release", lambda mechanism, _, words: map(mechanism.release, words), is_quick=False),
    _Way("simulate", _simulated, is_quick=False),
)


def _by_word(words: int, numbers: Iterable[int], given: Iterable[Any], outputs: Iterable[Any]) -> Draws:
    """Outputs as they are counted: by their symbols, and by their attributes if they have any."""
    found: list[list[Hashable]] = [[] for _ in range(words)]
    kinds: dict[type, set[type]] = {}
    parts: set[Any] = set()
    for number, word, output in zip(numbers, given, outputs, strict=True):
        kinds.setdefault(type(word), set()).add(type(output))
        counted: Any = tuple(output) if isinstance(output, (str, list)) else output
        if getattr(output, "__dict__", None) or not is_hashable(counted):
            counted = hashable(output)
        if isinstance(counted, (tuple, frozenset)):
            parts.update((type(each), each) for each in counted)
        found[number].append(counted)
    alike = all(len(each) == 1 for each in kinds.values()) and len(parts) == len({each for _, each in parts})
    return Draws(found, alike)


def check_fit(
    drawn: Sequence[Draws],
    logs: Floats,
    words: Sequence[Symbols],
    columns: Mapping[Hashable, int],
    complete: bool = False,
) -> None:
    """Refuse a mechanism whose draws contradict its log-probabilities: words in rows, outputs in columns.

    Outputs without a column are impossible if the columns are `complete`, and otherwise one event, with the probability
    that the row leaves. The draws of each way are compared, and all of them together. What is right is refused with
    probability at most `FALSE_ALARM` (docs/theory.md, section 16). Cost: the draws, and the size of the table.
    """
    rest = np.maximum(1 - np.exp(logs).sum(axis=1), 0.0) + SUM_ERROR
    table = np.column_stack([logs, np.full(len(logs), -np.inf) if complete else np.log(rest)])
    own = np.array([columns.get(word, -2) for word in words])
    totals = [_log_total(table, power) for power in POWERS]
    seen = [each.counts(columns) for each in drawn]
    if len(seen) > 1:
        seen.append([sum(each, Counter()) for each in zip(*seen, strict=True)])
    if any(_evidence(table, each, own, totals) > math.log(len(seen) / FALSE_ALARM) for each in seen):
        raise contradiction()
    if not all(each.alike for each in drawn):
        raise InvalidValue(
            "outputs, or symbols that are equal, come in several types, which can tell something about the word: "
            "return all of them in one type"
        )


def contradiction() -> InvalidValue:
    """The refusal of a mechanism that draws something else than it says."""
    return InvalidValue(
        f"the draws do not follow log_prob (an honest mechanism is refused with probability {FALSE_ALARM:g} at "
        "most), so what is released is not what was measured: correct one of them, or use audit.statistical"
    )


def _evidence(table: Floats, seen: Sequence[Mapping[int, int]], own: Integers, totals: Sequence[Floats]) -> float:
    """ln of a number whose mean is at most 1 if the draws follow the table.

    It is the average of ratios between the probability of the draws under other distributions and that under the table.
    """
    rows = np.array([row for row, counts in enumerate(seen) for _ in counts], dtype=np.int64)
    positions = np.array(list(chain.from_iterable(seen)), dtype=np.int64)
    counts = np.array([count for each in seen for count in each.values()], dtype=np.float64)
    stated = table[rows, positions]
    if np.isneginf(stated).any():
        return math.inf  # what is impossible was drawn
    found = [float(counts @ ((power - 1) * stated - total[rows])) for power, total in zip(POWERS, totals, strict=True)]
    published = (positions == own[rows]) * np.exp(-stated)
    found += [float(counts @ np.log1p(proportion * (published - 1))) for proportion in PUBLISHED]
    for weight in URNS:
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
    for position, count in seen.items():
        stated = float(row[position])
        prior = weight * math.exp(stated)
        if prior < 1e-300:  # lgamma would overflow: Γ(n + s)/Γ(s) is s·Γ(n) for such a small s
            gain += math.log(weight) + stated + math.lgamma(count)
        else:
            gain += math.lgamma(count + prior) - math.lgamma(prior)
        gain -= count * stated
    return gain
