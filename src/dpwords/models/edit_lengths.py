"""The lengths of true words, and a chain of words whose lengths have a distribution of their own.

The distribution of the true lengths is estimated from the lengths of the releases of the edit channel alone, and kept.
Given its length, a word is a Markov chain without an end. Sums over all true words and alignments are exact, as in
`alignments.py`, but go over the places of the true word as well, so that they are for short words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.memory import check_memory
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue, TooLarge
from dpwords.models.alignments import Alignments, EditChain, EditChances
from dpwords.models.tuning import LENGTHS_MISSING, LENGTHS_ROUNDS, WHOLE_LENGTHS_STEPS
from dpwords.spaces.edit_channel import Channel


class SeenWords(NamedTuple):
    """Words seen through a channel, in the form that kernels take; `_kernels/edit_lengths.py` explains the fields."""

    first: Floats
    onward: Floats
    lengths: Floats
    gap: Floats
    deleted: float
    kept: float
    replaced: float


class LengthChain(EditChain):
    """Released words as evidence about the first symbol, and the one after each symbol.

    The parameters are a row of chances for the first symbol, and one for each symbol that others follow. Cost of a
    pass: see `forward` of the kernel.
    """

    def __init__(self, alignments: Alignments) -> None:
        super().__init__(alignments)
        counts = np.bincount(alignments.words.sizes, alignments.times).astype(np.float64)
        self.lengths, matrix = explained_lengths(counts, alignments.channel, alignments.limits)
        self._released = self.lengths @ matrix

    @classmethod
    def of(cls, alignments: Alignments) -> LengthChain | None:
        """The chain, or None if words are so long, or so many, that passes would take minutes."""
        sizes = alignments.words.sizes + 1.0
        most = 2.0 * sizes.max(initial=1.0)  # nearly all true words are shorter than that
        symbols = alignments.states - 1
        steps = 3 * most * symbols * float((sizes * (sizes / 2 + symbols)).sum())
        return cls(alignments) if len(sizes) and steps <= WHOLE_LENGTHS_STEPS else None

    @property
    def groups(self) -> Integers:
        symbols = self.alignments.states - 1
        return np.repeat(np.arange(symbols + 1), symbols)

    def matrix(self, chances: Floats) -> Floats:
        """The shares of what comes after each state: ends are averages over all places."""
        states = self.alignments.states
        steps = self.steps(chances)[1].reshape(states, states)
        return np.asarray(steps / np.maximum(steps.sum(axis=1, keepdims=True), 1e-300))

    def uses(self, steps: Floats) -> Floats:
        states = self.alignments.states
        return np.asarray(steps.reshape(*steps.shape[:-1], states, states)[..., :-1].reshape(*steps.shape[:-1], -1))

    def logs_given_length(self, chances: Floats) -> Floats:
        return np.asarray(self.logs(chances) - np.log(self._released[self.alignments.words.sizes]))

    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        first, onward = self._rows(chances)
        number, symbols = len(self.lengths), len(first)
        longer = np.append(np.cumsum(self.lengths[::-1])[::-1], 0.0)  # the share of words of i symbols and more
        at = [first]
        for _ in range(number - 2):
            at.append(at[-1] @ onward)
        found = np.zeros((len(stats), symbols + 1, symbols))
        future = np.zeros((len(stats), symbols))  # expected from place i + 1 on, of words that have it
        for place in range(number - 1, 0, -1):
            value = stats[:, 1:, :-1] + future[:, None, :]
            mean = np.einsum("ab,qab->qa", onward, value)
            weight = longer[place + 1] * at[place - 1]
            found[:, 1:] += weight[:, None] * onward * (value - mean[:, :, None])
            ends = self.lengths[place] / longer[place] if longer[place] > 0 else 1.0
            future = ends * stats[:, 1:, -1] + (1 - ends) * mean
        value = stats[:, 0, :-1] + future
        found[:, 0] = longer[1] * first * (value - (value @ first)[:, None])
        return found.reshape(len(stats), -1)

    def _rows(self, chances: Floats) -> tuple[Floats, Floats]:
        symbols = self.alignments.states - 1
        rows = chances.reshape(symbols + 1, symbols)
        return np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1:])

    def _task(self, chances: Floats) -> tuple[Callable[..., None], SeenWords]:
        longest = int(self.alignments.words.sizes.max(initial=0))
        edits = EditChances.of(self.alignments.channel, longest)
        model = SeenWords(*self._rows(chances), self.lengths, edits.gap, edits.deleted, edits.kept, edits.replaced)
        return kernel("edit_lengths").add_uses_each, model


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
    for _ in range(LENGTHS_ROUNDS):
        ratios = matrix @ (counts / (shares @ matrix)) / counts.sum()
        shares = shares * ratios
        missing = counts.sum() * (ratios.max() - 1)  # at most: the log-likelihood is concave, and this is its slope
        if missing < LENGTHS_MISSING:
            break
    return shares


def explained_lengths(counts: Floats, channel: Channel, limits: Limits = DEFAULTS) -> tuple[Floats, Floats]:
    """The shares of the true lengths up to the longest likely one, and the probability of each pair of lengths."""
    longest = len(counts) - 1
    spare = int(4 * np.sqrt(longest + 1) * channel.shares[0] ** 0.5) + 1  # symbols that the longest word may have lost
    matrix = length_channel(channel, longest + spare, longest, limits)
    return fit_lengths(counts, matrix), matrix
