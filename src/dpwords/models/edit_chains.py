"""Markov chains of true words, for releases of the edit channel, and which of two of them is the better one.

Words may end after certain symbols, as traces of a process do, or have lengths that tell nothing about their symbols. A
chain with a chance to end after each symbol has lengths that real words seldom have. Where there is much noise, it uses
its freedom to explain lengths by symbols: if all words have the same length, it invents symbols for their beginnings
and ends. So a chain whose lengths tell nothing is fitted, too, and the one is taken that explains the symbols better,
given how long the releases are (docs/theory.md, section 15 d).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.models.alignments import Alignments
from dpwords.models.edit_lengths import LengthChain
from dpwords.models.fitting import Fit, ProgressLine, fit, normalised
from dpwords.models.tuning import EDITS_MISSING, EDITS_PATIENCE


@dataclass(frozen=True, eq=False)
class EditChain:
    """Released words as evidence about a chain. `alignments` has a matrix of chances, one row for each state.

    If words end with the same chance after every symbol, the parameters are the first row of this matrix, the other
    rows without the end and divided by what is left, and at last the chances to go on and to end.
    """

    alignments: Alignments
    ends_alike: bool

    @property
    def groups(self) -> Integers:
        """For each parameter, the number of its group: the parameters of a group sum to 1."""
        states = self.alignments.states
        if not self.ends_alike:
            return self.alignments.groups
        return np.repeat(np.arange(states + 1), [states, *[states - 1] * (states - 1), 2])

    def matrix(self, chances: Floats) -> Floats:
        """The chances of all steps, in a row for each state: what is before the first symbol, then the symbols."""
        states = self.alignments.states
        if not self.ends_alike:
            return chances.reshape(states, states)
        first, inner, (on, end) = np.split(chances, [states, -2])
        rows = on * inner.reshape(states - 1, states - 1)
        return np.vstack([first, np.column_stack([rows, np.full(states - 1, end)])])

    def uses(self, steps: Floats) -> Floats:
        """From the uses of all steps, one row for each word or sum, those of the parameters."""
        if not self.ends_alike:
            return steps
        states = self.alignments.states
        rows = steps.reshape(-1, states, states)
        inner, ends = rows[:, 1:, :-1].reshape(len(rows), -1), rows[:, 1:, -1].sum(axis=1)
        found = np.column_stack([rows[:, 0], inner, inner.sum(axis=1), ends])
        return found.reshape(*steps.shape[:-1], -1)

    def steps(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected uses of all steps."""
        return self.alignments.expected(self.matrix(chances).ravel())

    def each(self, chances: Floats) -> Iterator[tuple[Floats, Floats]]:
        """Batches of distinct words: how often each was released, and a row of the expected uses for one copy of it."""
        return self.alignments.each(self.matrix(chances).ravel())

    def logs_given_length(self, chances: Floats) -> Floats:
        """For each distinct word, the logarithm of its probability among all outputs of the same length."""
        return self.alignments.logs_given_length(self.matrix(chances).ravel())

    def covariance(self, chances: Floats, stats: Floats) -> Floats:
        """The covariance of statistics of a true word with the scores of the parameters; see `model_covariance`."""
        return scores_of(self, chances, model_covariance(self.matrix(chances), stats))

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected number of uses of each parameter."""
        log_likelihood, steps = self.steps(chances)
        return log_likelihood, self.uses(steps)


def model_covariance(matrix: Floats, stats: Floats) -> Floats:
    """The covariance of statistics of a true word with the scores of the chain.

    stats[q, a, b] is what a step from row a to symbol b adds to statistic q. Scores of later steps do not depend on
    what came before, so only the future of each step counts: its own statistic, and what is expected after it.
    """
    size = len(matrix)
    onward = matrix[1:, :-1]
    visits = np.linalg.inv(np.eye(size - 1) - onward)  # expected number of visits to a symbol after another
    arrivals = np.concatenate([[1.0], matrix[0, :-1] @ visits])
    gained = np.einsum("ab,qab->qa", matrix, stats)  # by the next step from each row
    future = np.zeros((len(stats), size))
    future[:, :-1] = gained[:, 1:] @ visits.T
    value = stats + future[:, None, :]
    mean = np.einsum("ab,qab->qa", matrix, value)
    return np.asarray((arrivals[:, None] * matrix * (value - mean[:, :, None])).reshape(len(stats), -1))


def scores_of(chain: EditChain | LengthChain, chances: Floats, steps: Floats) -> Floats:
    """From the uses of all steps, one row for each word, its scores: the uses beyond what the chances foresee."""
    uses, groups = chain.uses(steps), chain.groups
    begin = np.flatnonzero(np.diff(groups, prepend=-1))
    return np.asarray(uses - chances * np.add.reduceat(uses, begin, axis=1)[:, groups])


@dataclass(frozen=True, eq=False)
class FittedChain:
    """A chain with the parameters that make the releases most likely."""

    chain: EditChain | LengthChain
    found: Fit

    @property
    def matrix(self) -> Floats:
        """The chances of all steps."""
        return self.chain.matrix(self.found.chances)

    @property
    def free(self) -> int:
        """The number of parameters that can be chosen freely."""
        return len(self.found.chances) - len(np.unique(self.chain.groups))


def fitted_chains(
    alignments: Alignments, steps: Floats, progress: ProgressLine | None = None
) -> tuple[FittedChain, FittedChain]:
    """The most likely chain with ends of their own, and one whose lengths tell nothing about symbols.

    The search starts from the uses of all steps, for the former from what it has found for the latter. Cost: some tens
    of passes for each.
    """
    alike = LengthChain.of(alignments) or EditChain(alignments, ends_alike=True)
    one = FittedChain(alike, _fit(alike, steps, progress))
    own_ends = EditChain(alignments, ends_alike=False)
    return FittedChain(own_ends, _fit(own_ends, alike.steps(one.found.chances)[1], progress)), one


def _fit(chain: EditChain | LengthChain, steps: Floats, progress: ProgressLine | None) -> Fit:
    start = normalised(chain.uses(steps), chain.groups)
    return fit(chain, start, progress, enough=EDITS_MISSING, patience=EDITS_PATIENCE)


def better_chain(own_ends: FittedChain, alike: FittedChain) -> tuple[FittedChain, FittedChain, float]:
    """The better of two chains, the other one, and the probability that chance alone makes it look better.

    They are compared by the probabilities of the releases among all outputs of the same length, which do not depend on
    how well lengths are explained. Ends of their own must gain more than they have more parameters. The difference is
    judged by its own size (Akaike) and by how much it varies from release to release (Vuong), whichever leaves more
    doubt. Cost: two passes.
    """
    one, other = (each.chain.logs_given_length(each.found.chances) for each in (own_ends, alike))
    gains, times = one - other, own_ends.chain.alignments.times
    gain = float(times @ gains)
    spread = math.sqrt(float(times @ (gains - gain / times.sum()) ** 2))
    difference = gain - (own_ends.free - alike.free)
    by_size = 1 / (1 + math.exp(min(abs(difference), 700)))
    by_spread = math.erfc(abs(difference) / max(spread, 1e-9) / math.sqrt(2)) / 2
    pair = (own_ends, alike) if difference > 0 else (alike, own_ends)
    return *pair, max(by_size, by_spread)
