"""From the lengths of released words of the edit channel to the distribution of the true lengths."""

from __future__ import annotations

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue, TooLarge
from dpwords.models.tuning import LENGTHS_MISSING, LENGTHS_ROUNDS
from dpwords.spaces.edit_channel import Channel


def length_channel(channel: Channel, longest_true: int, longest_released: int, limits: Limits = DEFAULTS) -> Floats:
    """The probability of each released length j at each true length i, as entry [i, j] of a matrix.

    A word of i symbols has i + 1 gaps with an inserted word each, and each of its symbols is deleted or not. A row sums
    to 1 minus the probability of released words that are longer than `longest_released`.

    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> length_channel(best_channel(symbols=4, rate=6), 2, 3).round(3)
    array([[0.99 , 0.01 , 0.   , 0.   ],
           [0.002, 0.978, 0.019, 0.   ],
           [0.   , 0.005, 0.966, 0.028]])

    Cost: longest_true · longest_released².
    """
    rows, columns = longest_true + 1, longest_released + 1
    steps, memory = rows * columns**2, 8 * rows * columns
    for need, limit, unit in [(steps, limits.length_steps, "steps"), (memory, limits.memory, "bytes")]:
        if need > limit:
            raise TooLarge(
                f"the lengths of words of up to {longest_true} symbols, released with up to {longest_released}, would "
                f"take {need:.0e} {unit}, and the limit is {limit:.0e}: use shorter words"
            )
    check_memory(memory)
    lengths = np.arange(columns)
    gap = np.exp(channel.log_insertions(longest_released) + lengths * np.log(channel.symbols))
    deleted, kept, replaced = channel.probabilities
    symbol_and_gap = np.convolve([deleted, kept + replaced], gap)[:columns]
    matrix = np.empty((rows, columns))
    matrix[0] = gap
    for i in range(1, rows):
        matrix[i] = np.convolve(matrix[i - 1], symbol_and_gap)[:columns]
    return matrix


def fit_lengths(counts: Floats, matrix: Floats) -> Floats:
    """Proportions of the true lengths that explain the numbers of released words of each length about as well as any
    can.

    `matrix` comes from `length_channel`, and counts[j] is the number of released words of length j. The search (EM)
    starts from equal proportions and improves them until no proportions can have a log-likelihood that is larger by
    0.1, which is no difference that data could show, or for 10,000 rounds. With little noise that takes tens of rounds,
    with much noise all of them. Cost: entries of the matrix for each round.

    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> matrix = length_channel(best_channel(symbols=4, rate=6), 4, 3)
    >>> fit_lengths(np.array([0, 30, 970, 0]), matrix).round(2)
    array([0.  , 0.03, 0.97, 0.  , 0.  ])
    """
    seen = np.flatnonzero(counts)
    if not len(seen):
        raise InvalidValue("there are no released words to estimate lengths from: pass at least one")
    counts, matrix = np.asarray(counts, dtype=np.float64)[seen], matrix[:, seen]
    if not matrix.any(axis=0).all():
        raise InvalidValue("a released word is too long for these true lengths: allow longer true words")
    proportions = np.full(len(matrix), 1 / len(matrix))
    for _ in range(LENGTHS_ROUNDS):
        ratios = matrix @ (counts / (proportions @ matrix)) / counts.sum()
        proportions = proportions * ratios
        missing = counts.sum() * (ratios.max() - 1)  # at most: the log-likelihood is concave, and this is its slope
        if missing < LENGTHS_MISSING:
            break
    return proportions


def explained_lengths(counts: Floats, channel: Channel, limits: Limits = DEFAULTS) -> tuple[Floats, Floats]:
    """The proportions of the true lengths up to the longest likely one, and the probability of each pair of lengths."""
    longest = len(counts) - 1
    spare = (
        int(4 * np.sqrt(longest + 1) * channel.probabilities[0] ** 0.5) + 1
    )  # symbols that the longest word may have lost
    matrix = length_channel(channel, longest + spare, longest, limits)
    return fit_lengths(counts, matrix), matrix
