"""Do draws repeat each other? A sampler that is seeded by the clock can be repeated by whoever knows the time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from dpwords.audit.intervals import largest_proportion, least_proportion, quick_bounds
from dpwords.audit.samplers import Batches, PairDraws
from dpwords.core.randomness import Stream, uint64

Pairs = list[bool]  # whether the two draws of a pair are equal
IN_A_ROW = "consecutive draws of a batch repeat each other more often than others of it"
BATCHES = "each draw of a batch repeats the draw at the same position of the batch before"
SEEDS = "draws at about the same time are the same, and the time decides whether they tell the two words apart"
NEAR = "draws of a word at about the same time are more often equal to each other than to those of its neighbour"
WHY = "whoever knows what they were seeded with, such as the time, can repeat them and rule words out"


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
