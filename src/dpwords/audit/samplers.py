"""Anything that releases words, called in one of two ways, and its draws for two words in random order."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeGuard

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.limits import DEFAULTS
from dpwords.core.randomness import Stream, uint64
from dpwords.core.symbols import Word, is_hashable
from dpwords.errors import InvalidValue, TooLarge
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.private import Progress

BATCHES = 16  # for each word; enough to see whether batches repeat each other
_CALLS = 256  # single calls between two steps of a progress bar


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
            each = np.array([part.size for part in np.array_split(np.arange(draws), min(BATCHES, draws))])
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


Batches = list[list[Hashable]]


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


_TO_LIST = ("tolist", "to_list", "to_pylist")  # of arrays, and of columns of pandas, polars and pyarrow


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


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
