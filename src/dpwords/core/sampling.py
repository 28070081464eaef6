"""Draws that follow stored weights exactly, and exactly uniform choices.

A category is chosen by a uniform number U, whose bits are drawn only as far as they are needed. The first 64 bits
settle almost every draw by floating-point comparison; if U is so close to a threshold that rounding could matter, the
comparison is repeated in integer arithmetic with as many further bits as it takes. So category j has probability
w_j / Σw for the stored weights, without any error, however small it is.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpwords.core.randomness import Stream, integer, uint64
from dpwords.core.scaled import Floats, Integers, Scaled

_UNIT = 2.0**-64


def choose(weights: Scaled, count: int, stream: Stream) -> Integers:
    """`count` independent categories, drawn from a flat array of D weights. Cost: D + count·log D."""
    return _categories(weights, uint64(stream, (count,)), stream)


def float_threshold(weights: Scaled) -> float:
    """The threshold between two categories, for `second_of_two`."""
    return float(_float_thresholds(weights)[0])


def second_of_two(weights: Scaled, threshold: float, count: int, stream: Stream) -> NDArray[np.bool_]:
    """Whether each of `count` draws from two weights falls into the second category, as `choose` does it, only quicker.

    `threshold` is their `float_threshold`. The work does not depend on what is drawn, except for draws that 64 bits do
    not settle.
    """
    first = uint64(stream, (count,))
    uniform = first.astype(np.float64) * _UNIT
    found = uniform >= threshold
    for draw in np.flatnonzero(np.abs(uniform - threshold) <= margin(1)):
        found[draw] = settle(weights, int(first[draw]), stream.of(draw)) == 1
    return np.asarray(found)


def byte_edge(weights: Scaled) -> int | None:
    """The one value of a random byte that does not settle a draw from two weights.

    If the first eight bits of U are smaller than this byte, U falls into the first category; if they are larger, into
    the second. None if the threshold is too close to a multiple of 1/256 for this.
    """
    lower, upper = thresholds(weights, precision=128)
    edge = 256 * lower[0] // upper[-1]
    return edge if edge + 1 == -(-256 * upper[0] // lower[-1]) else None


def after_byte(weights: Scaled, byte: int, count: int, stream: Stream) -> NDArray[np.bool_]:
    """For `count` draws whose first eight bits are this byte, whether each falls into the second of two categories."""
    further = uint64(stream, (count,)) >> np.uint64(8) | np.uint64(byte << 56)
    return np.asarray(_categories(weights, further, stream) == 1)


def exceptions(weights: Scaled, edge: int | None, count: int, stream: Stream) -> Integers:
    """The indices, in ascending order, of those of `count` draws from two weights that fall into the second category.

    `edge` is the `byte_edge` of the weights: eight bits settle all draws except one in 256. Cost: `count` bytes, and
    little more if the second category is rare.
    """
    if edge is None:
        return np.flatnonzero(choose(weights, count, stream))
    bits = np.frombuffer(stream.take(count), dtype=np.uint8)
    (late,) = (bits >= edge).nonzero()
    (unsure,) = (bits[late] == edge).nonzero()
    if not len(unsure):
        return late
    settled = np.ones(len(late), dtype=np.bool_)
    settled[unsure] = after_byte(weights, edge, len(unsure), stream.of(late[unsure]))
    return late[settled]


def _categories(weights: Scaled, first: NDArray[np.uint64], stream: Stream) -> Integers:
    """The categories of uniform numbers whose first 64 bits are given."""
    between = _float_thresholds(weights)
    uniform = first.astype(np.float64) * _UNIT
    index = np.searchsorted(between, uniform, side="right").astype(np.int64)
    near_one = margin(len(between))
    fenced = np.concatenate(([-1.0], between, [2.0]))
    near = np.flatnonzero((uniform - fenced[index] <= near_one) | (fenced[index + 1] - uniform <= near_one))
    for draw in near:
        index[draw] = settle(weights, int(first[draw]), stream.of(draw))
    return index


def choose_each(weights: Scaled, stream: Stream) -> Integers:
    """One category for each row of D weights; a category of weight 0 is never chosen. Cost: rows · D."""
    first = uint64(stream, (len(weights.mantissa),))
    between = _float_thresholds(weights)
    uniform = (first.astype(np.float64) * _UNIT)[:, None]
    index: Integers = (uniform >= between).sum(axis=1, dtype=np.int64)
    near = (np.abs(uniform - between) <= margin(between.shape[1])).any(axis=1)
    for row in np.flatnonzero(near):
        index[row] = settle(weights.take(row), int(first[row]), stream.of(row))
    return index


def thresholds(weights: Scaled, precision: int) -> tuple[list[int], list[int]]:
    """Lower and upper bounds of the cumulative sums t(j) of a flat array of weights, as integers.

    The unit is 2^(top − precision), where top is the largest exponent. A uniform number U belongs to category j if U
    times the last sum is in [t(j−1), t(j)). If the precision reaches the last bit of every weight, both bounds are
    exact. Cost: D integers of `precision` bits.
    """
    top = int(weights.exponent.max())
    lower, upper = [], []
    for mantissa, exponent in zip(weights.mantissa.tolist(), weights.exponent.tolist(), strict=True):
        whole, shift = int(mantissa * 2.0**53), precision - 53 + exponent - top
        lower.append(whole << shift if shift >= 0 else whole >> -shift)
        upper.append(whole << shift if shift >= 0 else -(-whole >> -shift))
    return list(accumulate(lower)), list(accumulate(upper))


def probabilities(weights: Scaled) -> list[Fraction]:
    """The exact probability of each category in a draw from a flat array of weights."""
    exact = weights.exact()
    whole = sum(exact)
    return [weight / whole for weight in exact]


def below(bound: int, shape: tuple[int, ...], stream: Stream) -> Integers:
    """Independent integers, exactly uniform on 0..bound−1, by rejection sampling."""
    kind: type[Any] = np.uint8 if bound <= 2**6 else np.uint64  # one byte may be enough, if few are rejected

    def draw(count: int, stream: Stream) -> NDArray[Any]:
        return np.frombuffer(stream.take(count * kind().itemsize), dtype=kind)

    drawn = draw(math.prod(shape), stream).copy()
    values = 2 ** (8 * kind().itemsize)
    last = kind(values - values % bound - 1)
    (rejected,) = (drawn > last).nonzero()
    while len(rejected):
        drawn[rejected] = draw(len(rejected), stream.of(rejected))
        rejected = rejected[drawn[rejected] > last]
    return np.asarray((drawn % kind(bound)).astype(np.int64).reshape(shape))


def integer_below(bound: int, stream: Stream) -> int:
    """One integer of any size, exactly uniform on 0..bound−1, by rejection sampling."""
    unused = -bound.bit_length() % 8
    while (drawn := integer(stream, bound.bit_length() + unused) >> unused) >= bound:
        pass
    return drawn


def subsets(sizes: Integers, universe: int, stream: Stream) -> NDArray[np.bool_]:
    """For each size, an exactly uniform subset of 0..universe−1 of that size, as a row of flags.

    A subset consists of the positions with the smallest of `universe` random keys; a row with equal keys is drawn
    again.
    """
    keys = uint64(stream, (len(sizes), universe)).copy()
    order = np.argsort(keys, axis=1)
    while (tied := _has_ties(np.take_along_axis(keys, order, axis=1))).any():
        keys[tied] = uint64(stream.of(np.flatnonzero(tied)), (int(tied.sum()), universe))
        order[tied] = np.argsort(keys[tied], axis=1)
    chosen = np.zeros(keys.shape, dtype=np.bool_)
    np.put_along_axis(chosen, order, np.arange(universe) < sizes[:, None], axis=1)
    return chosen


def _float_thresholds(weights: Scaled) -> Floats:
    """Thresholds between the categories (last axis), each within half of `margin` of the exact one."""
    top = weights.exponent.max(axis=-1, keepdims=True)
    sums = np.cumsum(weights.relative_to(top), axis=-1)
    return np.asarray(sums[..., :-1] / sums[..., -1:])


def margin(number: int) -> float:
    """Twice the largest error of `number` float thresholds, including the rounding of U to 53 bits."""
    return (number + 8) * 2.0**-51


def settle(weights: Scaled, prefix: int, stream: Stream) -> int:
    """The category of the uniform number whose first 64 bits are `prefix`, found in integer arithmetic.

    The number and the thresholds get more and more bits until only one category is possible.
    """
    bits = 64
    while True:
        lower, upper = thresholds(weights, precision=2 * bits)
        at_least = bisect_right(upper, prefix * lower[-1] >> bits)
        at_most = bisect_right(lower, -(-(prefix + 1) * upper[-1] >> bits) - 1)
        if at_least == at_most:
            return at_least
        prefix = prefix << bits | integer(stream, bits)
        bits *= 2


def _has_ties(ordered: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return np.asarray((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
