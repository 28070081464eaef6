"""Do draws repeat each other? A sampler that is seeded by the clock can be repeated by whoever knows the time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dpwords.audit.clock import stopped_clock
from dpwords.audit.intervals import largest_share, least_share
from dpwords.audit.samplers import Batches, Sampler
from dpwords.core.randomness import Stream, integer, uint64
from dpwords.core.symbols import Word

Pairs = list[bool]  # whether the two draws of a pair are equal
IN_A_ROW = "consecutive draws repeat each other more often than draws in random order"
BATCHES = "each draw of a batch repeats the draw at the same place of the batch before"
CLOCK = "draws repeat while the clock is stopped"
KNOWN_TIME = "at one time, draws of a word are more often equal to each other than to those of its neighbour"
WHY = "whoever knows what they were seeded with, such as the time, can repeat them and rule words out"
_MOMENTS = 512  # at which the clock is stopped
_TOGETHER = 8  # draws of a batch that are compared at one time
_BATCHES, _IN_BATCH = 64, 32  # drawn at one time


class Repeats(NamedTuple):
    """How draws repeat each other, in words, "" if nothing shows that they do, and the loss that follows from it."""

    how: str
    loss: float


def repeats(
    sampler: Sampler, words: Sequence[Word], found: Sequence[Batches], draws: int, error: float, stream: Stream
) -> Repeats:
    """How the draws of a word repeat each other. Outputs may show the time at which they were drawn.

    For independent draws, the loss is above the true one with probability at most `error`. Cost: a few thousand draws.
    """
    share = error / 3  # three questions, the first two for each word
    for word, batches in zip(words, found, strict=True):
        for how, pairs in ((IN_A_ROW, _in_a_row), (BATCHES, _across)):
            if not _more_often(*pairs(batches, stream), share / 2):
                continue
            if not sampler.in_this_process or _more_often(*pairs(_at_one_time(sampler, word, stream), stream), share):
                return Repeats(how, math.inf)
    if sampler.in_this_process:
        loss = _by_the_clock(_Moments.of(sampler, words, draws, stream), share)
        return Repeats(CLOCK if loss == math.inf else KNOWN_TIME if loss > 0 else "", loss)
    return Repeats("", 0.0)


def _at_one_time(sampler: Sampler, word: Word, stream: Stream) -> Batches:
    """Draws of a word while the clock stands still, so that equal ones are not equal by showing the same time."""
    calls, count = (_BATCHES, _IN_BATCH) if sampler.in_batches else (_BATCHES * _IN_BATCH, 1)
    found = []
    with stopped_clock(sampler.release) as stop:
        stop(_moment(stream))
        for _ in range(calls):
            stop(None)
            found.append(sampler.draw(word, count))
    return found if sampler.in_batches else [[draw for batch in found for draw in batch]]


def _more_often(pairs: Pairs, others: Pairs, error: float) -> bool:
    """Whether pairs are equal with a larger probability than other pairs, by exact bounds for both."""
    if not pairs or not others:
        return False
    least = least_share(sum(pairs), len(pairs), error / 2)
    return least > largest_share(sum(others), len(others), error / 2)


def _in_a_row(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs of consecutive draws, and pairs of other draws at random."""
    pairs = [batch[at] == batch[at + 1] for batch in batches for at in range(0, len(batch) - 1, 4)]
    rest = [draw for batch in batches for at in range(2, len(batch), 4) for draw in batch[at : at + 2]]
    return pairs, _at_random(rest, stream)


def _across(batches: Batches, stream: Stream) -> tuple[Pairs, Pairs]:
    """Pairs at the same place of two consecutive batches, and pairs from other batches at random."""
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


class _Moments(NamedTuple):
    """Outputs at many times at which the clock stood still: two for each of two words at each of them."""

    outputs: tuple[list[Hashable], list[Hashable], list[Hashable], list[Hashable]]  # the first word, then the other
    later: list[Hashable]  # one more of the first word for each, but at another time

    @classmethod
    def of(cls, sampler: Sampler, words: Sequence[Word], draws: int, stream: Stream) -> _Moments:
        together = _TOGETHER if sampler.in_batches else 1
        found = cls(([], [], [], []), [])
        with stopped_clock(sampler.release) as stop:
            for _ in range(min(_MOMENTS, draws // 4) // together):
                stop(_moment(stream))
                for kept, word in zip(found.outputs, (words[0], words[0], words[1], words[1]), strict=True):
                    stop(None)
                    kept.extend(sampler.draw(word, together))
                stop(_moment(stream))
                found.later.extend(sampler.draw(words[0], together))
        return found


def _by_the_clock(moments: _Moments, error: float) -> float:
    """A lower bound on the loss for somebody who knows the time; 0 if the outputs do not depend on it.

    An output may show the time. So the bound is infinite only if a draw itself depends on the time (docs/theory.md,
    section 16): if the time and the word decide what comes out, and the time decides whether two words lead to the same
    output, or a place of the output that tells the words apart repeats with the time.
    """
    one, again, other, other_again = moments.outputs
    number, each = len(one), error / 8
    if not number:
        return 0.0
    same, other_same, cross = _equal(one, again), _equal(other, other_again), _equal(one, other)
    if not _more_often(same, _equal(one, moments.later), error / 4):
        return 0.0
    least = [least_share(sum(pairs), number, each) for pairs in (same, other_same)]
    lowest, highest = (bound(sum(cross), number, each) for bound in (least_share, largest_share))
    if 2 - sum(least) < lowest and highest < least[0] * least[1]:
        return math.inf
    if all(same) and all(other_same) and _a_telling_place_repeats(moments, error / 4):
        return math.inf
    return max(math.log(max(least) / highest), 0.0) if max(least) > 0 else 0.0


def _a_telling_place_repeats(moments: _Moments, error: float) -> bool:
    """Whether a character of the output that differs between the words at one time repeats more often at one time."""
    one, again, other, _, later = ([repr(each) for each in drawn] for drawn in (*moments.outputs, moments.later))
    length = len(one[0])
    if any(len(text) != length for drawn in (one, again, other, later) for text in drawn):
        return False
    places = [at for at in range(length) if any(a[at] != b[at] for a, b in zip(one, other, strict=True))]
    for at in places:
        pairs, others = ([a[at] == b[at] for a, b in zip(one, drawn, strict=True)] for drawn in (again, later))
        if _more_often(pairs, others, error / length):
            return True
    return False


def _equal(some: Sequence[Hashable], others: Sequence[Hashable]) -> Pairs:
    return [one == other for one, other in zip(some, others, strict=True)]


def _moment(stream: Stream) -> int:
    """A random time of the last few years, in nanoseconds."""
    return 1_600_000_000 * 10**9 + integer(stream, 56)
