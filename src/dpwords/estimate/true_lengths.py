"""From the lengths of released words of the edit channel to the distribution of the true lengths."""

from __future__ import annotations

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.room import check_room
from dpwords.core.scaled import Floats
from dpwords.errors import InvalidValue, TooLarge
from dpwords.estimate.results import sampling_errors
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.spaces.edit_channel import Channel

_ENOUGH = 0.1  # distance from the largest log-likelihood at which the search ends; going on would fit the noise
_ROUNDS = 10_000  # rounds after which it ends in any case
_FEWEST_WORDS = 0.5  # expected number of words from which on a length occurs
_SPREAD = 0.1  # share that is spread over all lengths before errors are computed
_WIDEST = 0.5  # the largest standard deviation that a number between 0 and 1 can have


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
    check_room(memory)
    lengths = np.arange(columns)
    gap = np.exp(channel.log_insertions(longest_released) + lengths * np.log(channel.symbols))
    deleted, kept, replaced = channel.shares
    symbol_and_gap = np.convolve([deleted, kept + replaced], gap)[:columns]
    matrix = np.empty((rows, columns))
    matrix[0] = gap
    for i in range(1, rows):
        matrix[i] = np.convolve(matrix[i - 1], symbol_and_gap)[:columns]
    return matrix


def fit_lengths(counts: Floats, matrix: Floats) -> Floats:
    """Shares of the true lengths that explain the numbers of released words of each length about as well as any can.

    `matrix` comes from `length_channel`, and counts[j] is the number of released words of length j. The search (EM)
    starts from equal shares and improves them until no shares can have a log-likelihood that is larger by 0.1, which is
    no difference that data could show, or for 10,000 rounds. With little noise that takes tens of rounds, with much
    noise all of them. Cost: entries of the matrix for each round.

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
    shares = np.full(len(matrix), 1 / len(matrix))
    for _ in range(_ROUNDS):
        ratios = matrix @ (counts / (shares @ matrix)) / counts.sum()
        shares = shares * ratios
        if counts.sum() * (ratios.max() - 1) < _ENOUGH:  # the log-likelihood is concave, so that its slope bounds it
            break
    return shares


def explained_lengths(counts: Floats, channel: Channel, limits: Limits = DEFAULTS) -> tuple[Floats, Floats]:
    """The shares of the true lengths up to the longest likely one, and the probability of each pair of lengths."""
    longest = len(counts) - 1
    spare = int(4 * np.sqrt(longest + 1) * channel.shares[0] ** 0.5) + 1  # symbols that the longest word may have lost
    matrix = length_channel(channel, longest + spare, longest, limits)
    return fit_lengths(counts, matrix), matrix


def fitted_lengths(counts: Floats, mechanism: EditChannel) -> tuple[Floats, Floats]:
    """The shares of the true lengths up to the longest likely one, and their standard errors."""
    shares, matrix = explained_lengths(counts, mechanism._channel, mechanism.limits)
    return shares, length_errors(shares, matrix, float(counts.sum()))


def length_errors(shares: Floats, matrix: Floats, releases: float) -> Floats:
    """The standard errors of fitted shares of lengths.

    A fit puts all of the weight on some of the lengths, though the releases hardly tell these from their neighbours. So
    the information is that of shares a tenth of which is spread over all lengths between the shortest and the longest
    that occur, and none of them counts as known. As shares lie between 0 and 1, no direction has more than a standard
    deviation of a half. No error is below that of a sample. Cost: entries of the matrix · lengths.
    """
    held = np.flatnonzero(releases * shares >= _FEWEST_WORDS)
    first, after = held[0], held[-1] + 1
    size, errors = after - first, sampling_errors(shares, releases)
    spread = (1 - _SPREAD) * shares[first:after] + _SPREAD / size
    rows = matrix[first:after]
    released = spread @ rows / spread.sum()
    slopes = np.divide(rows, released, out=np.zeros_like(rows), where=released > 0)
    information = releases * (slopes * released) @ slopes.T + np.eye(size) / _WIDEST**2
    covariance = np.linalg.inv(information)
    whole = covariance.sum(axis=0)
    variance = np.diagonal(covariance) - whole**2 / whole.sum()  # given that shares sum to 1
    errors[first:after] = np.maximum(errors[first:after], np.sqrt(np.maximum(variance, 0.0)))
    return errors
