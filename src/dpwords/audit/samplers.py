"""Anything that releases words, called in one of two ways: its draws for two words in random order, and their repeats.

A sampler that is seeded by the clock repeats itself, and can be repeated by whoever knows the time.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from dpwords.audit.intervals import largest_proportion, least_proportion, quick_bounds
from dpwords.audit.tuning import BATCHES_OF_A_WORD
from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.randomness import Stream, uint64
from dpwords.core.symbols import Word, is_hashable
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.private import Progress

_TO_LIST = ("tolist", "to_list", "to_pylist")  # of arrays, and of columns of pandas, polars and pyarrow
_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_CALLS = 256  # single calls between two steps of a progress bar
Batches = list[list[Hashable]]
Pairs = list[bool]  # whether the two draws of a pair are equal
IN_A_ROW = "consecutive draws of a batch repeat each other more often than others of it"
BATCHES = "each draw of a batch repeats the draw at the same position of the batch before"
SEEDS = "draws at about the same time are the same, and the time decides whether they tell the two words apart"
NEAR = "draws of a word at about the same time are more often equal to each other than to those of its neighbour"
WHY = "whoever knows what they were seeded with, such as the time, can repeat them and rule words out"


@dataclass(frozen=True)
class Sampler:
    """A black box: `release(word, count)` if it draws in batches, and otherwise `release(word)` for each draw."""

    release: Callable[..., Any]
    in_batches: bool

    @classmethod
    def of(cls, release: Any, batch: bool | None) -> Sampler:
        """The black box that a mechanism, a program or a callable is."""
        if is_ours(release):
            return cls(release._repeated, True)
        if not callable(release):
            raise InvalidValue("an audit needs a callable or a mechanism: pass for example mechanism.release")
        return cls(release, _takes_draws(release) if batch is None else batch)

    def draw(self, word: Word, count: int) -> list[Hashable]:
        """Outputs for one word. They are copied at once, since a callable may change what it has returned."""
        if not self.in_batches:
            return [hashable(self.release(_copy(word))) for _ in range(count)]
        found = self.release(_copy(word), count)
        if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
            raise InvalidValue("what takes a word and a number of draws must return a list with so many outputs")
        outputs = [hashable(each) for each in found]
        if len(outputs) != count:
            raise InvalidValue(f"a batch of {count} draws came back with {len(outputs)}: return one output for each")
        return outputs

    def draw_both(self, words: Sequence[Word], draws: int, stream: Stream, progress: Progress) -> PairDraws:
        """So many outputs of each of the two words, which come in random order."""
        found: list[Batches] = [[], []]
        if self.in_batches:
            each = np.array([part.size for part in np.array_split(np.arange(draws), min(BATCHES_OF_A_WORD, draws))])
            order = _shuffled(len(each), stream)
            for call in progress(order):
                found[call % 2].append(self.draw(words[call % 2], int(each[call // 2])))
            return PairDraws(found, order, True)
        found = [[[]], [[]]]
        order = _shuffled(draws, stream)
        for first in progress(range(0, len(order), _CALLS)):
            for call in order[first : first + _CALLS]:
                found[call % 2][0] += self.draw(words[call % 2], 1)
        return PairDraws(found, order, False)


@dataclass(frozen=True)
class PairDraws:
    """The draws of two words: for each its batches, in the order in which they were drawn.

    Draws that were made one by one are a single batch. Even numbers in `order` are calls for the first word.
    """

    of_words: list[Batches]
    order: Sequence[int]
    in_batches: bool

    def outputs(self) -> list[list[Hashable]]:
        """All outputs of each word."""
        return [[draw for batch in batches for draw in batch] for batches in self.of_words]

    def in_order(self) -> Iterator[tuple[int, Hashable]]:
        """The word, 0 or 1, and the output of each call, in the order of the calls, if each call made one draw."""
        outputs = [iter(each) for each in self.outputs()]
        return ((call % 2, next(outputs[call % 2])) for call in self.order)


def hashable(output: Any) -> Hashable:
    """An output as something that can be counted: what consists of parts, such as a list or an array, becomes a tuple.

    Raises `InvalidValue` for objects that cannot be compared by what they hold, since nothing could be said about them.
    """
    try:
        return _by_parts(output)
    except RecursionError:
        raise _incomparable(type(output)) from None


def _by_parts(output: Any) -> Hashable:
    kind: Any = type(output)
    if not isinstance(output, type):
        to_list = next((getattr(output, name) for name in _TO_LIST if callable(getattr(kind, name, None))), None)
        output = output if to_list is None else to_list()
    if isinstance(output, (set, frozenset)):
        return frozenset(_by_parts(each) for each in output)
    if isinstance(output, float) and math.isnan(output):
        return "NaN"
    is_single = output is None or output is ... or isinstance(output, (type, Enum))  # equal only to itself
    parts = None if is_single else _parts(output)
    if parts is not None:
        return tuple(_by_parts(each) for each in parts)
    if is_single or _is_counted_by_value(output):
        return output  # type: ignore[no-any-return]
    raise _incomparable(kind)


def _incomparable(kind: type) -> InvalidValue:
    return InvalidValue(
        f"outputs of type {kind.__name__} cannot be compared with each other: return strings, numbers, lists, dicts, "
        "or hashable objects with a method __eq__"
    )


def _parts(output: Any) -> Iterable[Any] | None:
    """What an output consists of: all that it shows, in its order; None if it is compared as a whole."""
    if isinstance(output, Mapping):
        return [*output.items()]
    if isinstance(output, (list, tuple, deque, Iterator)):
        return output
    if isinstance(output, bytearray):
        return [bytes(output)]
    if dataclasses.is_dataclass(output):
        return [type(output).__name__, *(getattr(output, each.name) for each in dataclasses.fields(output))]
    if getattr(output, "__dict__", None) and _is_counted_by_value(output):  # equal objects may differ in attributes
        plain: tuple[Any, ...] = (str, bytes, int, float)
        return [type(output).__name__, *(kind(output) for kind in plain if isinstance(output, kind)), vars(output)]
    return None


def _is_counted_by_value(output: Any) -> bool:
    """Whether an object is counted by what it holds, and not by where it is."""
    return getattr(type(output), "__eq__", None) is not object.__eq__ and is_hashable(output)


def is_ours(mechanism: object) -> TypeGuard[Mechanism]:
    """Whether what is audited is a mechanism of this package: audits take anything that draws or has probabilities."""
    return issubclass(type(mechanism), Mechanism)  # whatever it says itself


def checked_draws(draws: object, least: int) -> int:
    """A number of draws, if it is a whole number from `least` up to the limit."""
    number = whole_number(draws, "draws", least)
    if number > DEFAULTS.audit_draws:
        raise TooLarge(f"an audit draws at most {DEFAULTS.audit_draws} times for each word: pass fewer draws")
    return number


def _copy(word: Word) -> Word:
    return list(word) if isinstance(word, list) else word


def _shuffled(calls: int, stream: Stream) -> list[int]:
    """The numbers of so many calls for each of two words, in random order; even numbers are for the first word."""
    found: list[int] = np.argsort(uint64(stream, (2 * calls,)), kind="stable").tolist()
    return found


def _takes_draws(release: Callable[..., Any]) -> bool:
    """Whether a callable needs a number of draws beside the word."""
    try:
        parameters = inspect.signature(release).parameters.values()
    except (TypeError, ValueError):  # some functions that are written in C
        return False
    if not any(each.kind not in (each.KEYWORD_ONLY, each.VAR_KEYWORD) for each in parameters):
        raise InvalidValue("a release takes a word, and this one takes nothing: pass a callable with a parameter")
    needed = [each for each in parameters if each.default is each.empty and each.kind not in _VARIABLE]
    if len(needed) > 2 or any(each.kind is each.KEYWORD_ONLY for each in needed):
        raise InvalidValue("a release takes a word, or a word and a number of draws: wrap what needs more in a lambda")
    return len(needed) == 2


class Repeats(NamedTuple):
    """How draws repeat each other, in words, "" if nothing shows that they do, and the loss that follows from it."""

    how: str
    loss: float


def repeats(drawn: PairDraws, error: float, stream: Stream) -> Repeats:
    """How the draws of two words repeat each other.

    For independent draws, the loss is above the true one with probability at most `error`. Outputs that are drawn one
    by one may show the time at which they were drawn. Cost: the number of draws.
    """
    if not drawn.in_batches:
        loss = _near_in_time(drawn, error)
        return Repeats(SEEDS if loss == math.inf else NEAR if loss > 0 else "", loss)
    for batches in drawn.of_words:
        for how, pairs in ((IN_A_ROW, _in_a_row), (BATCHES, _across)):
            if _more_often(*pairs(batches, stream), error / 4):  # two questions for each of two words
                return Repeats(how, math.inf)
    return Repeats("", 0.0)


def _near_in_time(drawn: PairDraws, error: float) -> float:
    """A lower bound on the loss, from calls that followed each other; infinite if they show a seed that changes.

    A seed is told from a time that the outputs show by two words that lead to the same output at some times and to
    different ones at others, while each of them always leads to the same (docs/theory.md, section 16).
    """
    pairs: dict[tuple[int, ...], Pairs] = {(0, 0): [], (1, 1): [], (0, 1): []}
    calls = list(drawn.in_order())
    for (word, one), (other_word, other) in zip(calls[::2], calls[1::2], strict=False):
        pairs[tuple(sorted((word, other_word)))].append(one == other)
    if not all(pairs.values()):
        return 0.0
    bounds = {which: _bounds(equal, error / 4) for which, equal in pairs.items()}
    least, (lowest, highest) = [bounds[0, 0][0], bounds[1, 1][0]], bounds[0, 1]
    if 2 - sum(least) < lowest and highest < least[0] * least[1]:
        return math.inf
    return max(math.log(max(least) / highest), 0.0) if max(least) > 0 else 0.0


def _bounds(pairs: Pairs, error: float) -> tuple[float, float]:
    """A lower and an upper bound on the mean probability that pairs are equal, which need not be that of each pair."""
    low, high = quick_bounds(np.array([sum(pairs) / len(pairs)]), len(pairs), error)
    return float(low[0]), float(high[0])


def _more_often(pairs: Pairs, others: Pairs, error: float) -> bool:
    """Whether pairs are equal with a larger probability than other pairs, by exact bounds for both."""
    if not pairs or not others:
        return False
    least = least_proportion(sum(pairs), len(pairs), error / 2)
    return least > largest_proportion(sum(others), len(others), error / 2)


def _in_a_row(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs of consecutive draws, and pairs of other draws of the same batch at random."""
    pairs = [batch[at] == batch[at + 1] for batch in batches for at in range(0, len(batch) - 1, 4)]
    rest = ([draw for at in range(2, len(batch), 4) for draw in batch[at : at + 2]] for batch in batches)
    return pairs, [equal for each in rest for equal in _at_random(each, stream)]


def _across(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs at the same position of two consecutive batches, and pairs from other batches at random."""
    pairs = [
        one == other
        for at in range(0, len(batches) - 1, 4)
        for one, other in zip(batches[at], batches[at + 1], strict=False)
    ]
    rest = [draw for at in range(2, len(batches), 4) for batch in batches[at : at + 2] for draw in batch]
    return pairs, _at_random(rest, stream)


def _at_random(draws: Sequence[Hashable], stream: Stream) -> Pairs:
    order = np.argsort(uint64(stream, (len(draws),)), kind="stable").tolist()
    return [draws[one] == draws[other] for one, other in zip(order[::2], order[1::2], strict=False)]
