"""A pass over released words where most states lead to most others: products of matrices, in place of loops.

The results are those of `expected` in `_kernels/hidden.py`, up to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.models.hidden import Hidden, Pass
from dpwords.models.tuning import DENSE, FEWEST_DENSE


def is_dense(hidden: Hidden) -> bool:
    """Whether there are so many states, and edges between them, that products of matrices are faster."""
    states = hidden.size
    return hidden.place is None and states >= FEWEST_DENSE and len(hidden.source) >= DENSE * states**2


class DensePass(NamedTuple):
    """What a pass needs: weights from each state (rows) to each other, and by what released symbols multiply them."""

    weights: Floats
    ending: Floats
    ratios: Floats  # a row for each row of ratios, a column for each state

    @classmethod
    def of(cls, run: Pass, chances: Floats) -> DensePass:
        """That of a pass with these chances. Cost: edges, and rows of ratios · states."""
        hidden, sparse = run.hidden, run.state_ratios
        weights, ending = np.zeros((hidden.size, hidden.size)), run.weights(chances)
        np.add.at(weights, (hidden.source, hidden.target), ending[0])
        ratios = np.ones((len(sparse.first) - 1, hidden.size))
        row = np.repeat(np.arange(len(ratios)), np.diff(sparse.first))
        np.multiply.at(ratios, (row, sparse.state), sparse.times)
        return cls(weights, ending[1], ratios)

    def total(self, rows: Integers, times: Floats) -> tuple[float, Floats]:
        """The log-likelihood of released words, each of them `times` times, and by what the weight of a step from each
        state (rows) to each other is multiplied to give its expected uses.

        Cost: words · length · states², as products of matrices.
        """
        words, length = rows.shape
        ahead, scale = np.zeros((length + 1, words, len(self.ending))), np.ones((length, words))
        ahead[0, :, 0] = 1.0
        for position in range(length):
            there = np.matmul(ahead[position], self.weights, out=ahead[position + 1])
            there *= self.ratios[rows[:, position]]
            total = there.sum(axis=1)
            scale[position] = np.where(total > 0, total, 1.0)
            there /= scale[position][:, None]
        last = ahead[length] @ self.ending
        with np.errstate(divide="ignore"):
            found = np.log(scale).sum(axis=0) + np.log(last)
        back = np.divide(times, last, out=np.zeros(words), where=last > 0)[:, None] * self.ending
        uses = np.zeros_like(self.weights)
        for position in range(length - 1, -1, -1):
            back = back * self.ratios[rows[:, position]] / scale[position][:, None]
            uses += ahead[position].T @ back
            back = back @ self.weights.T
        return float(times @ found), uses
