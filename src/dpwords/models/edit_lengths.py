"""A chain of words whose lengths have a distribution of their own, for releases of the edit channel.

The distribution of the lengths is estimated from the lengths of the releases alone, and kept. Given its length, a word
is a Markov chain without an end. Sums over all true words and alignments are exact, as in `alignments.py`, but go over
the positions of the true word as well, so that they are for short words.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.scaled import Floats, Integers
from dpwords.models.alignments import Alignments, EditChances
from dpwords.models.true_lengths import explained_lengths
from dpwords.models.tuning import WHOLE_LENGTHS_STEPS


class SeenWords(NamedTuple):
    """Words seen through a channel, in the form that kernels take; `_kernels/edit_lengths.py` explains the fields."""

    first: Floats
    onward: Floats
    lengths: Floats
    gap: Floats
    deleted: float
    kept: float
    replaced: float


class LengthChain:
    """Released words as evidence about the first symbol, and the one after each symbol.

    The parameters are a row of chances for the first symbol, and one for each symbol that others follow. As in
    `EditChain`, rows of steps have the uses of each symbol after each state, and last the words that end there.
    """

    def __init__(self, alignments: Alignments) -> None:
        self.alignments = alignments
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
        """For each parameter, the number of its group: the parameters of a group sum to 1."""
        symbols = self.alignments.states - 1
        return np.repeat(np.arange(symbols + 1), symbols)

    def matrix(self, chances: Floats) -> Floats:
        """The proportions of what comes after each state, as in `EditChain`: ends are averages over all positions."""
        states = self.alignments.states
        steps = self.steps(chances)[1].reshape(states, states)
        return np.asarray(steps / np.maximum(steps.sum(axis=1, keepdims=True), 1e-300))

    def uses(self, steps: Floats) -> Floats:
        """From the uses of all steps, one row for each word or sum, those of the parameters."""
        states = self.alignments.states
        return np.asarray(steps.reshape(*steps.shape[:-1], states, states)[..., :-1].reshape(*steps.shape[:-1], -1))

    def steps(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected uses of all steps. Cost: see `forward` of the kernel."""
        logs, steps = self._passed(chances)
        return float(self.alignments.times @ logs), steps

    def each(self, chances: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Batches of distinct words: how often each was released, and a row of the expected uses for one copy of it."""
        for times, uses, _ in self.alignments.each_word(kernel("edit_lengths").add_uses_each, self._model(chances)):
            yield times, uses.reshape(len(uses), -1)

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected number of uses of each parameter."""
        log_likelihood, steps = self.steps(chances)
        return log_likelihood, self.uses(steps)

    def logs(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability."""
        return self._passed(chances)[0]

    def logs_given_length(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability among all outputs of the same length."""
        return np.asarray(self.logs(chances) - np.log(self._released[self.alignments.words.sizes]))

    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        """The covariance of statistics of a true word with the scores of the parameters.

        stats[q, a, b] is what a step from state a to symbol b, or last to the end, adds to statistic q. Scores of later
        steps do not depend on what came before, nor do lengths depend on symbols, so only what is expected after each
        step counts.
        """
        first, onward = self._rows(chances)
        number, symbols = len(self.lengths), len(first)
        longer = np.append(np.cumsum(self.lengths[::-1])[::-1], 0.0)  # the proportion of words of i symbols and more
        at = [first]
        for _ in range(number - 2):
            at.append(at[-1] @ onward)
        found = np.zeros((len(stats), symbols + 1, symbols))
        future = np.zeros((len(stats), symbols))  # expected from position i + 1 on, of words that have it
        for position in range(number - 1, 0, -1):
            value = stats[:, 1:, :-1] + future[:, None, :]
            mean = np.einsum("ab,qab->qa", onward, value)
            weight = longer[position + 1] * at[position - 1]
            found[:, 1:] += weight[:, None] * onward * (value - mean[:, :, None])
            ends = self.lengths[position] / longer[position] if longer[position] > 0 else 1.0
            future = ends * stats[:, 1:, -1] + (1 - ends) * mean
        value = stats[:, 0, :-1] + future
        found[:, 0] = longer[1] * first * (value - (value @ first)[:, None])
        return found.reshape(len(stats), -1)

    def _rows(self, chances: Floats) -> tuple[Floats, Floats]:
        symbols = self.alignments.states - 1
        rows = chances.reshape(symbols + 1, symbols)
        return np.ascontiguousarray(rows[0]), np.ascontiguousarray(rows[1:])

    def _model(self, chances: Floats) -> SeenWords:
        longest = int(self.alignments.words.sizes.max(initial=0))
        edits = EditChances.of(self.alignments.channel, longest)
        return SeenWords(*self._rows(chances), self.lengths, edits.gap, edits.deleted, edits.kept, edits.replaced)

    def _passed(self, chances: Floats) -> tuple[Floats, Floats]:
        logs, steps = self.alignments.summed(kernel("edit_lengths").add_uses_each, self._model(chances))
        return logs, steps.ravel()
