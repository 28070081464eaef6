"""Events that tell two words apart: what is looked at in an output, and the choice of the most telling event."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from operator import eq, ge, sub
from typing import Any, NamedTuple

import numpy as np

from dpwords.audit.intervals import quick_bounds
from dpwords.audit.tuning import COUNTED, ENDS, POSITIONS, THRESHOLDS
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes, Word
from dpwords.spaces.exhaustive import HasLogProb

PairDistance = Callable[[Any, Any], float]
_SHOWN = 60  # characters of an output
_NUMBERS = {float, int, bool, type(None)}


class Trait(NamedTuple):
    """Something to look at in an output: a number that is compared with thresholds, or a label."""

    name: str
    of: Callable[[Any], Any]
    is_number: bool


@dataclass(frozen=True)
class TellingEvent:
    """A set of outputs, and which of the two words makes it likelier."""

    text: str
    contains: Callable[[Any], bool]
    likelier: int

    def hits(self, outputs: Sequence[Hashable]) -> int:
        """How many of the outputs are in the event."""
        return sum(map(self.contains, outputs))


def traits(words: Sequence[Word], distance: PairDistance, laws: Sequence[HasLogProb] | None) -> list[Trait]:
    """What is looked at: distances from both words, what the output begins with, positions where the words differ, …"""
    one, other = (tuple(word) for word in words)

    @cache
    def apart(output: Any) -> tuple[float, float]:
        try:
            return float(distance(output, words[0])), float(distance(output, words[1]))
        except Exception:  # outputs may be anything, and the distance may be the caller's own
            return math.nan, math.nan

    found = [
        Trait("its distance from the word", lambda output: apart(output)[0], True),
        Trait("its distance from the neighbour", lambda output: apart(output)[1], True),
        Trait("its distance from the word, minus that from the neighbour,", lambda output: sub(*apart(output)), True),
        Trait("the number of first symbols as in the word", lambda output: _shared(output, one), True),
        Trait("the number of first symbols as in the neighbour", lambda output: _shared(output, other), True),
        Trait("its length", lambda output: math.nan if _symbols(output) is None else len(output), True),
        Trait("its value", _value, True),
        Trait("the output", lambda output: output, False),
        Trait("its pair of distances", apart, False),
    ]
    found += [Trait(f"what its first {size} symbols are", _part(slice(size)), False) for size in ENDS]
    found += [Trait(f"what its last {size} symbols are", _part(slice(-size, None)), False) for size in ENDS]
    differing = [position for position, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    positions = list(dict.fromkeys([*differing[:POSITIONS], *range(POSITIONS)]))[:POSITIONS]
    found += [Trait(f"the symbol at position {position + 1}", _symbol(position), False) for position in positions]
    found += [Trait(f"how often it has {_short(each)}", _count(each), False) for each in _counted(one, other)]
    if laws is not None:
        found.append(Trait("the model's log-ratio", lambda output: _log_ratio(laws, output), True))
    return found


def most_telling(
    seen: Sequence[Trait], first: Sequence[Sequence[Hashable]], second: Sequence[Sequence[Hashable]], error: float
) -> TellingEvent:
    """The event whose lower bound on the loss is likely to be the largest.

    Events are made from the `first` outputs of the two words and compared by their proportions in the `second`, so an
    event that only fits the outputs of which it was made has no advantage. `error` is that of the later test. The
    bounds are those that the `second` outputs show, or rare events, whose proportions are uncertain, would be chosen by
    luck.
    """
    number: dict[Hashable, int] = {}
    coded = [
        [np.array([number.setdefault(output, len(number)) for output in outputs], dtype=np.int64) for outputs in half]
        for half in (first, second)
    ]
    outputs = list(number)
    made = [each for trait in seen for each in _candidates(trait, outputs, *coded)]
    proportions = np.array([each.proportions for each in made]).T
    variants = np.concatenate([proportions, proportions[::-1], 1 - proportions, 1 - proportions[::-1]], axis=1)
    lows, highs = (quick_bounds(row, len(second[0]), error)[end] for end, row in enumerate(variants))
    with np.errstate(divide="ignore"):
        best = int(np.argmax(np.log(lows) - np.log(highs)))
    kind, chosen = best // len(made), made[best % len(made)]
    text, inside = f"{chosen.trait.name} is {chosen.value}", chosen.contains
    if kind < 2:
        return TellingEvent(text, inside, kind)
    return TellingEvent(f"not ({text})", lambda output: not inside(output), kind % 2)


class _Candidate(NamedTuple):
    """An event: what a trait is, in words and as a test of its value."""

    trait: Trait
    value: str
    test: Callable[[Any], bool]
    proportions: tuple[float, float]  # of the second outputs of both words

    def contains(self, output: Any) -> bool:
        return bool(self.test(self.trait.of(output)))


def _candidates(
    trait: Trait, outputs: list[Hashable], first: Sequence[Codes], second: Sequence[Codes]
) -> Iterator[_Candidate]:
    found = [trait.of(output) for output in outputs]
    if trait.is_number:
        yield from _thresholds(trait, np.array(found, dtype=np.float64), first, second)
        return
    yield from _labels(trait, found, first, second)
    if {*map(type, found)} <= _NUMBERS:  # such as the noisy counts that an output consists of
        values = np.array([_value(each) for each in found], dtype=np.float64)
        yield from _thresholds(Trait(trait.name, lambda output: _value(trait.of(output)), True), values, first, second)


def _thresholds(trait: Trait, values: Floats, first: Sequence[Codes], second: Sequence[Codes]) -> Iterator[_Candidate]:
    """At most so much, for thresholds that occur, and exactly so much, if there are few of them."""
    known = np.unique(values[np.concatenate(first)])
    known = known[~np.isnan(known)]
    few = len(known) <= THRESHOLDS
    for limit in known if few else known[np.linspace(0, len(known) - 1, THRESHOLDS).astype(np.int64)]:
        below = [float((values[codes] <= limit).mean()) for codes in second]
        yield _Candidate(trait, f"at most {limit:g}", partial(ge, limit), (below[0], below[1]))
        if few:
            there = [float((values[codes] == limit).mean()) for codes in second]
            yield _Candidate(trait, f"{limit:g}", partial(eq, float(limit)), (there[0], there[1]))


def _labels(trait: Trait, found: list[Any], first: Sequence[Codes], second: Sequence[Codes]) -> Iterator[_Candidate]:
    """The labels that occur most often, and those that were so many times as likely for the one word."""
    number: dict[Any, int] = {}
    codes = np.array([number.setdefault(label, len(number)) for label in found], dtype=np.int64)
    labels = list(number)
    before, after = ([np.bincount(codes[each], minlength=len(labels)) for each in half] for half in (first, second))
    seen = before[0] + before[1]
    sizes = [len(each) for each in second]
    for label in np.argsort(-seen, kind="stable")[:THRESHOLDS].tolist():
        proportions = (float(after[0][label] / sizes[0]), float(after[1][label] / sizes[1]))
        yield _Candidate(trait, _short(labels[label]), partial(eq, labels[label]), proportions)
    ratios = (before[0] + 0.5) / (before[1] + 0.5)
    order = np.argsort(-ratios, kind="stable")
    order = order[seen[order] > 0]
    steps = np.unique(np.linspace(1, len(order), min(THRESHOLDS, len(order))).astype(np.int64))
    totals = [np.cumsum(each[order]) for each in after]
    for step in steps.tolist():
        members = frozenset(labels[code] for code in order[:step].tolist())
        text = f"one of {step} that the first draws made likelier for the word"
        proportions = (float(totals[0][step - 1] / sizes[0]), float(totals[1][step - 1] / sizes[1]))
        yield _Candidate(trait, text, members.__contains__, proportions)


def _symbols(output: Any) -> Sequence[Any] | None:
    return output if isinstance(output, (str, bytes, tuple)) else None


def _shared(output: Any, word: Sequence[Any]) -> float:
    symbols = _symbols(output)
    if symbols is None:
        return math.nan
    equal = (a == b for a, b in zip(symbols, word, strict=False))
    return next((position for position, same in enumerate(equal) if not same), min(len(symbols), len(word)))


def _value(output: Any) -> float:
    try:
        return float(output) if not isinstance(output, (str, bytes)) else math.nan
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _part(positions: slice) -> Callable[[Any], Any]:
    return lambda output: None if _symbols(output) is None else output[positions]


def _symbol(position: int) -> Callable[[Any], Any]:
    return lambda output: None if len(_symbols(output) or ()) <= position else output[position]


def _counted(one: Sequence[Any], other: Sequence[Any]) -> list[Any]:
    """Symbols of the words, those first of which one has more than the other."""
    known = sorted(dict.fromkeys([*one, *other]), key=lambda symbol: one.count(symbol) == other.count(symbol))
    return known[:COUNTED]


def _count(symbol: Any) -> Callable[[Any], Any]:
    kinds = (str, tuple) if isinstance(symbol, str) else tuple
    return lambda output: output.count(symbol) if isinstance(output, kinds) else None


def _log_ratio(laws: Sequence[HasLogProb], output: Any) -> float:
    try:
        one, other = (float(law.log_prob(output)) for law in laws)
    except Exception:  # a model may know nothing of other outputs
        return math.nan
    return 0.0 if one == other else one - other


def _short(label: Any) -> str:
    text = repr(sorted(label, key=repr) if isinstance(label, frozenset) else label)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
