"""The likelihood of released words of the edit channel, if the true words come from a Markov chain.

It is a sum over all true words and all their alignments with the released ones, computed without approximation. The
chain has one row of chances for the start and one for each symbol. A row holds the chance of each symbol to come next
and, in its last position, the chance that the word ends; the end of the start's row is the chance of the empty word.
All rows one behind the other are the parameters of the population.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.limits import DEFAULTS, Limits, check_memory
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.core.values import Value, read_only
from dpwords.errors import InvalidValue, TooLarge
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.space import batches

_MOST_PARTS = 64  # sums over words are made in this many parts, whatever the number of threads
_LOG_NEGLIGIBLE = -40.0  # ln of a factor that is lost to rounding anyway
_TABLES = 3  # numbers for each released symbol and state that a thread holds
_MATRICES = 8  # matrices of the parameters' size that are held at a time


class SeenChain(NamedTuple):
    """A chain seen through a channel, in the form that kernels take; `_kernels/alignments.py` explains the fields."""

    through: Floats
    backward: Floats
    ending: Floats
    longer: Floats
    empty: float
    deleted: float
    kept: float
    replaced: float


class EditChances(NamedTuple):
    """The probabilities of an edit channel, times m for each released symbol, where m is the number of symbols."""

    gap: Floats  # of each number of symbols: that one given word is inserted
    deleted: float
    kept: float
    replaced: float  # by one given other symbol

    @classmethod
    def of(cls, channel: Channel, longest: int) -> EditChances:
        """Those of a channel, for at most so many inserted symbols."""
        many = channel.symbols
        gap = np.exp(channel.log_insertions(longest) + np.arange(longest + 1) * np.log(many))
        deleted, kept, replaced = np.exp(channel.log_operations()).tolist()
        return cls(gap, deleted, kept * many, replaced * many)


class Alignments(Value):
    """Released words and the edit channel that they went through, for estimates of the chain of the true words.

    Equal released words are computed once.

    >>> import numpy as np
    >>> from dpwords.core.symbols import Ragged
    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> words = Ragged.of([np.array([0, 1]), np.array([0, 1]), np.array([], dtype=int)])
    >>> alignments = Alignments(words, best_channel(symbols=2, rate=4))
    >>> log_likelihood, uses = alignments.expected(np.full(9, 1 / 3))
    >>> int(alignments.groups.max()), bool(uses.sum() > 3)
    (2, True)
    """

    groups: Integers  # for each parameter, the number of the row that it belongs to
    states: int  # rows of the chain
    words: Ragged  # all distinct words
    times: Floats  # how often each of them was released

    def __init__(self, words: Ragged, channel: Channel, limits: Limits = DEFAULTS) -> None:
        self.limits, self.channel, self.states = limits, channel, channel.symbols + 1
        self.times, self.words = _distinct(words)
        self._check(self.words.sizes)
        self.groups = np.repeat(np.arange(self.states), self.states)
        inserted = channel.log_insertions(int(self.words.sizes.max(initial=0)) + 1)
        self._empty, self._longer = math.exp(inserted[0]), np.exp(np.diff(inserted))
        read_only(self.groups, self.times, self.words.values, self.words.ends, self._longer)

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected number of uses of each parameter, summed over the words.

        The numbers of uses are also the derivatives of the log-likelihood with respect to the logarithms of the
        chances. They do not depend on the number of threads. Cost: for each distinct word of n released symbols,
        n²·m + n·m², with m symbols in the alphabet.
        """
        logs, uses = self.summed(kernel("alignments").add_uses_each, self._model(chances))
        return float(self.times @ logs), self._counts(chances, uses, logs)

    def logs_given_length(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability among all outputs of the same length.

        The probability of a length is that of any one word of it, if all symbols were written by a channel that does
        not look at them; the beginnings of one word have all lengths. Cost: that of `expected`.
        """
        model, longest = self._model(chances), int(self.words.sizes.max(initial=0))
        longer, written = self._longer * self.channel.symbols, 1 - model.deleted
        read_only(longer)  # as the other one is: the kernel is compiled once
        blind = model._replace(longer=longer, kept=written, replaced=written)
        shape = (longest + 1, self.states)
        table, scale = np.empty(shape), np.empty(longest + 1)
        kernel("alignments").forward(np.zeros(longest, dtype=np.int64), blind, np.empty(shape), table, scale)
        lengths = scale + np.log(table @ model.ending)
        return np.asarray(self.summed(kernel("alignments").add_uses_each, model)[0] - lengths[self.words.sizes])

    def summed(self, add_uses: Callable[..., None], model: NamedTuple) -> tuple[Floats, Floats]:
        """The logarithm of each distinct word's probability, and the sums of uses over all words.

        `add_uses` is the loop over words for this kind of model.
        """
        number = len(self.words)
        parts = max(min(_MOST_PARTS, number, self.limits.batch // self.states**2), 1)
        bounds = np.arange(parts + 1) * number // parts
        position = np.repeat(np.arange(parts), np.diff(bounds))
        uses, logs = np.zeros((parts, self.states, self.states)), np.zeros(number)
        words = (self.words.values, self.words.ends)

        def add(part: slice) -> None:
            begin, end = int(bounds[part.start]), int(bounds[part.stop])
            add_uses(*words, begin, end, self.times, position, model, uses, logs)

        in_parts(add, parts, cost=int(self._steps(self.words.sizes)) // parts, most=self.limits.threads)
        return logs, uses.sum(axis=0)

    def each(self, chances: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Batches of distinct words: how often each was released, and a row of the expected uses for one copy of it.

        Cost: that of `expected`, and the number of parameters for each distinct word.
        """
        for times, uses, logs in self.each_word(kernel("alignments").add_uses_each, self._model(chances)):
            yield times, self._counts(chances, uses, logs)

    def each_word(self, add_uses: Callable[..., None], model: NamedTuple) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Batches of distinct words: how often each was released, its own uses, and ln of its probability."""
        number = len(self.words)
        ones, logs = np.ones(number), np.zeros(number)
        read_only(ones)  # as the times are: the kernel is compiled once
        words = (self.words.values, self.words.ends)
        cost = int(self._steps(self.words.sizes)) // max(number, 1)
        for batch in batches(number, self.states**2, self.limits):
            begin, size = batch.start, batch.stop - batch.start
            position = np.arange(number) - begin
            uses = np.zeros((size, self.states, self.states))

            def add(part: slice) -> None:
                span = begin + part.start, begin + part.stop  # noqa: B023
                add_uses(*words, *span, ones, position, model, uses, logs)  # noqa: B023

            in_parts(add, size, cost=cost, most=self.limits.threads)
            yield self.times[batch], uses, logs[batch]

    def _counts(self, chances: Floats, uses: Floats, logs: Floats) -> Floats:
        """Expected uses of the parameters from what the kernel has summed, one row for each matrix."""
        matrix = np.asarray(chances, dtype=np.float64).reshape(self.states, self.states)
        counts = np.multiply(uses, matrix, out=np.zeros_like(uses), where=matrix > 0)
        if not (np.isfinite(logs).all() and np.isfinite(counts).all()):
            raise InvalidValue(
                "under these chances a released word is less likely than floats can express: take chances that are "
                "all positive"
            )
        return counts.reshape(*uses.shape[:-2], -1)

    def _model(self, chances: Floats) -> SeenChain:
        """The chain in the form that kernels take.

        Sums over symbols that leave nothing are a geometric series of matrices. Its terms are added up to a length that
        reaches every symbol, by repeated squaring, without a subtraction: small entries are as accurate as large ones.
        """
        matrix = np.asarray(chances, dtype=np.float64).reshape(self.states, self.states)
        deleted, kept, replaced = np.exp(self.channel.log_operations()).tolist()
        empty = self._empty
        power, series = deleted * empty * matrix[1:, :-1], np.eye(self.states - 1)
        for _ in range(math.ceil(math.log2(self.states + _LOG_NEGLIGIBLE / math.log(deleted * empty)))):
            series, power = series + series @ power, power @ power
        through = matrix[:, :-1] @ series
        backward, ending = np.ascontiguousarray(through.T), np.ascontiguousarray(matrix[:, -1])
        return SeenChain(through, backward, ending, self._longer, empty, deleted, kept, replaced)

    def _steps(self, sizes: Integers) -> float:
        """The number of steps that one pass over words of these lengths takes."""
        lengths = sizes + 1.0
        return float((self.states * lengths**2 + 3 * self.states**2 * lengths).sum())

    def _check(self, sizes: Integers) -> None:
        """Raise TooLarge if the words or the alphabet are beyond the limits."""
        longest, steps = int(sizes.max(initial=0)), self._steps(sizes) + self.states**3
        memory = 8 * (_TABLES * self.limits.threads * (longest + 1) * self.states + _MATRICES * self.states**2)
        for need, limit, unit in [
            (steps, self.limits.expected_steps, "steps"),
            (memory, self.limits.memory, "bytes"),
        ]:
            if need > limit:
                raise TooLarge(
                    f"an estimate from {len(sizes)} words, the longest with {longest} symbols, over {self.states - 1} "
                    f"symbols would take {need:.0e} {unit}, and the limit is {limit:.0e}: use fewer or shorter words"
                )
        check_memory(memory)


def _distinct(words: Ragged) -> tuple[Floats, Ragged]:
    """How often each distinct word occurs, and these words, dealt out so that any stretch of them has all lengths."""
    data, size = words.values.tobytes(), words.values.itemsize
    times = Counter(data[size * begin : size * end] for begin, end in pairwise([0, *words.ends.tolist()]))
    values = np.frombuffer(b"".join(times), dtype=words.values.dtype)
    lengths = np.array([len(word) // size for word in times], dtype=np.int64)
    order = np.argsort(lengths, kind="stable")
    deal = order[np.argsort(np.arange(len(order)) % _MOST_PARTS, kind="stable")]
    distinct = Ragged(values.astype(np.int64), np.cumsum(lengths)).chosen(deal)
    return np.array(list(times.values()), dtype=np.float64)[deal], distinct
