"""The likelihood of released words of the edit channel, if the true words come from a Markov chain.

It is a sum over all true words and all their alignments with the released ones, computed without approximation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

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
    """Released words and the edit channel that they went through; equal released words are computed once."""

    states: int  # of the chain of the true words: the start, and each symbol
    words: Ragged  # all distinct words
    times: Floats  # how often each of them was released

    def __init__(self, words: Ragged, channel: Channel, limits: Limits = DEFAULTS) -> None:
        self.limits, self.channel, self.states = limits, channel, channel.symbols + 1
        self.times, self.words = _distinct(words)
        self._check(self.words.sizes)
        read_only(self.times, self.words.values, self.words.ends)

    def summed(self, add_uses: Callable[..., None], model: NamedTuple) -> tuple[Floats, Floats]:
        """The logarithm of each distinct word's probability, and the sums of uses over all words.

        `add_uses` is the loop over words for this kind of model. The sums do not depend on the number of threads.
        """
        number = len(self.words)
        parts = max(min(_MOST_PARTS, number, self.limits.batch // self.states**2), 1)
        bounds = np.arange(parts + 1) * number // parts
        position = np.repeat(np.arange(parts), np.diff(bounds))
        uses, logs = np.zeros((parts, self.states, self.states)), np.zeros(number)
        self._add(bounds, add_uses, self.times, position, model, uses, logs)
        return logs, uses.sum(axis=0)

    def each_word(self, add_uses: Callable[..., None], model: NamedTuple) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Batches of distinct words: how often each was released, its own uses, and ln of its probability."""
        number = len(self.words)
        ones, logs = np.ones(number), np.zeros(number)
        read_only(ones)  # as the times are: the kernel is compiled once
        for batch in batches(number, self.states**2, self.limits):
            uses = np.zeros((batch.stop - batch.start, self.states, self.states))
            bounds = np.arange(batch.start, batch.stop + 1)
            self._add(bounds, add_uses, ones, np.arange(number) - batch.start, model, uses, logs)
            yield self.times[batch], uses, logs[batch]

    def _add(self, bounds: Integers, add_uses: Callable[..., None], *arguments: Any) -> None:
        """Call a loop on the words between every two bounds, in several threads."""

        def add(part: slice) -> None:
            begin, end = int(bounds[part.start]), int(bounds[part.stop])
            add_uses(self.words.values, self.words.ends, begin, end, *arguments)

        number, parts = int(bounds[-1] - bounds[0]), len(bounds) - 1
        cost = int(self._steps(self.words.sizes)) * number // (max(len(self.words), 1) * parts)
        in_parts(add, parts, cost=cost, most=self.limits.threads)

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


class EditChain(ABC):
    """Released words as evidence about a chain of the true words.

    A *step* of the chain leads from a state to the next symbol, or last to the end of the word; the states are the
    start, and each symbol. Uses of all steps are a matrix with a row for each state, all rows one behind the other.
    """

    def __init__(self, alignments: Alignments) -> None:
        self.alignments = alignments

    @property
    @abstractmethod
    def groups(self) -> Integers:
        """For each parameter, the number of its group: the parameters of a group sum to 1."""

    @abstractmethod
    def matrix(self, chances: Floats) -> Floats:
        """The chances of all steps, in a row for each state: what is before the first symbol, then the symbols."""

    @abstractmethod
    def uses(self, steps: Floats) -> Floats:
        """From the uses of all steps, one row for each word or sum, those of the parameters."""

    @abstractmethod
    def logs_given_length(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability among all outputs of the same length."""

    @abstractmethod
    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        """The covariance of statistics of a true word with the scores of the parameters.

        stats[q, a, b] is what a step from state a to symbol b, or last to the end, adds to statistic q. Scores of later
        steps do not depend on what came before, so only the future of each step counts: its own statistic, and what is
        expected after it.
        """

    @abstractmethod
    def _task(self, chances: Floats) -> tuple[Callable[..., None], Any]:
        """The loop over words for this kind of chain, and the chain in the form that it takes."""

    def _counts(self, chances: Floats, uses: Floats, logs: Floats) -> Floats:
        """Expected uses of all steps from what the loop has summed, one row for each matrix."""
        return uses.reshape(*uses.shape[:-2], -1)

    def _summed(self, chances: Floats) -> tuple[Floats, Floats]:
        return self.alignments.summed(*self._task(chances))

    def logs(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability."""
        return self._summed(chances)[0]

    def steps(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected uses of all steps, summed over the words."""
        logs, uses = self._summed(chances)
        return float(self.alignments.times @ logs), self._counts(chances, uses, logs)

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected number of uses of each parameter.

        The numbers of uses are also the derivatives of the log-likelihood with respect to the logarithms of the
        chances.
        """
        log_likelihood, steps = self.steps(chances)
        return log_likelihood, self.uses(steps)

    def drawn(self, chances: Floats, number: int, coins: np.random.Generator) -> Ragged:
        """So many words of the chain, for simulations."""
        longest = 4 * int(self.alignments.words.sizes.max(initial=0)) + 4
        return walked(self.matrix(chances), np.full(number, longest), coins)

    def each(self, chances: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Batches of distinct words: how often each was released, and a row of the expected steps of one copy of it.

        Cost: that of `steps`, and the number of steps for each distinct word.
        """
        for times, uses, logs in self.alignments.each_word(*self._task(chances)):
            yield times, self._counts(chances, uses, logs)

    def scores(self, chances: Floats, steps: Floats) -> Floats:
        """From the uses of all steps, one row for each word, its scores: the uses beyond what the chances foresee."""
        uses, groups = self.uses(steps), self.groups
        begin = np.flatnonzero(np.diff(groups, prepend=-1))
        return np.asarray(uses - chances * np.add.reduceat(uses, begin, axis=1)[:, groups])


class OwnEnds(EditChain):
    """A chain whose words end with a chance of its own after each symbol: the parameters are those of all steps.

    Cost of a pass: for each distinct word of n released symbols, n²·m + n·m², with m symbols in the alphabet.

    >>> import numpy as np
    >>> from dpwords.core.symbols import Ragged
    >>> from dpwords.privacy.channel_parameters import best_channel
    >>> words = Ragged.of([np.array([0, 1]), np.array([0, 1]), np.array([], dtype=int)])
    >>> chain = OwnEnds(Alignments(words, best_channel(symbols=2, rate=4)))
    >>> log_likelihood, uses = chain.expected(np.full(9, 1 / 3))
    >>> int(chain.groups.max()), bool(uses.sum() > 3)
    (2, True)
    """

    def __init__(self, alignments: Alignments) -> None:
        super().__init__(alignments)
        inserted = alignments.channel.log_insertions(int(alignments.words.sizes.max(initial=0)) + 1)
        self._empty, self._longer = math.exp(inserted[0]), np.exp(np.diff(inserted))
        read_only(self._longer)

    @property
    def groups(self) -> Integers:
        return np.repeat(np.arange(self.alignments.states), self.alignments.states)

    def matrix(self, chances: Floats) -> Floats:
        return np.asarray(chances, dtype=np.float64).reshape(self.alignments.states, -1)

    def uses(self, steps: Floats) -> Floats:
        return steps

    def logs_given_length(self, chances: Floats) -> Floats:
        """The probability of a length is that of any one word of it, if all symbols were written by a channel that does
        not look at them; the beginnings of one word have all lengths. Cost: that of a pass."""
        (_, model), sizes = self._task(chances), self.alignments.words.sizes
        longest = int(sizes.max(initial=0))
        longer, written = self._longer * self.alignments.channel.symbols, 1 - model.deleted
        read_only(longer)  # as the other one is: the kernel is compiled once
        blind = model._replace(longer=longer, kept=written, replaced=written)
        shape = (longest + 1, self.alignments.states)
        table, scale = np.empty(shape), np.empty(longest + 1)
        kernel("alignments").forward(np.zeros(longest, dtype=np.int64), blind, np.empty(shape), table, scale)
        lengths = scale + np.log(table @ model.ending)
        return np.asarray(self.logs(chances) - lengths[sizes])

    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        matrix = self.matrix(chances)
        size, onward = len(matrix), matrix[1:, :-1]
        visits = np.linalg.inv(np.eye(size - 1) - onward)  # expected number of visits to a symbol after another
        arrivals = np.concatenate([[1.0], matrix[0, :-1] @ visits])
        gained = np.einsum("ab,qab->qa", matrix, stats)  # by the next step from each row
        future = np.zeros((len(stats), size))
        future[:, :-1] = gained[:, 1:] @ visits.T
        value = stats + future[:, None, :]
        mean = np.einsum("ab,qab->qa", matrix, value)
        steps = arrivals[:, None] * matrix * (value - mean[:, :, None])
        return self.scores(chances, steps.reshape(len(stats), -1))

    def _counts(self, chances: Floats, uses: Floats, logs: Floats) -> Floats:
        matrix = self.matrix(chances)
        counts = np.multiply(uses, matrix, out=np.zeros_like(uses), where=matrix > 0)
        if not (np.isfinite(logs).all() and np.isfinite(counts).all()):
            raise InvalidValue(
                "under these chances a released word is less likely than floats can express: take chances that are "
                "all positive"
            )
        return super()._counts(chances, counts, logs)

    def _task(self, chances: Floats) -> tuple[Callable[..., None], SeenChain]:
        """The loop over words, and the chain in the form that it takes.

        Sums over symbols that leave nothing are a geometric series of matrices. Its terms are added up to a length that
        reaches every symbol, by repeated squaring, without a subtraction: small entries are as accurate as large ones.
        """
        matrix, empty, states = self.matrix(chances), self._empty, self.alignments.states
        deleted, kept, replaced = np.exp(self.alignments.channel.log_operations()).tolist()
        power, series = deleted * empty * matrix[1:, :-1], np.eye(states - 1)
        for _ in range(math.ceil(math.log2(states + _LOG_NEGLIGIBLE / math.log(deleted * empty)))):
            series, power = series + series @ power, power @ power
        through = matrix[:, :-1] @ series
        backward, ending = np.ascontiguousarray(through.T), np.ascontiguousarray(matrix[:, -1])
        model = SeenChain(through, backward, ending, self._longer, empty, deleted, kept, replaced)
        return kernel("alignments").add_uses_each, model


class EndsAlike(OwnEnds):
    """A chain whose words end with the same chance after every symbol.

    The parameters are the first row of the matrix, the other rows without the end and divided by what is left, and at
    last the chances to go on and to end.
    """

    @property
    def groups(self) -> Integers:
        states = self.alignments.states
        return np.repeat(np.arange(states + 1), [states, *[states - 1] * (states - 1), 2])

    def matrix(self, chances: Floats) -> Floats:
        states = self.alignments.states
        first, inner, (on, end) = np.split(chances, [states, -2])
        rows = on * inner.reshape(states - 1, states - 1)
        return np.vstack([first, np.column_stack([rows, np.full(states - 1, end)])])

    def uses(self, steps: Floats) -> Floats:
        states = self.alignments.states
        rows = steps.reshape(-1, states, states)
        inner, ends = rows[:, 1:, :-1].reshape(len(rows), -1), rows[:, 1:, -1].sum(axis=1)
        found = np.column_stack([rows[:, 0], inner, inner.sum(axis=1), ends])
        return found.reshape(*steps.shape[:-1], -1)


def walked(matrix: Floats, lengths: Integers, coins: np.random.Generator) -> Ragged:
    """Words drawn step by step from a matrix of chances, whose last column ends a word; none exceeds its length."""
    upper, number = np.cumsum(matrix, axis=1), len(lengths)
    upper /= upper[:, -1:]
    state, going = np.zeros(number, dtype=np.int64), np.arange(number)
    sizes = np.zeros(number, dtype=np.int64)
    table = np.zeros((number, int(lengths.max(initial=0))), dtype=np.int64)
    for position in range(table.shape[1]):
        going = going[lengths[going] > position]
        after = (coins.random(len(going))[:, None] > upper[state[going]]).sum(axis=1)
        going, after = going[after < len(matrix) - 1], after[after < len(matrix) - 1]
        if not len(going):
            break
        table[going, position], state[going] = after, 1 + after
        sizes[going] += 1
    kept = np.arange(table.shape[1]) < sizes[:, None]
    return Ragged(table[kept], np.cumsum(sizes))
