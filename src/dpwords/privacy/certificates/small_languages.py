"""The exact excess of a language so small that its words can be listed (docs/theory.md, section 9)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.privacy.certificates.rounding import ULP, margin
from dpwords.spaces.graph import Graph
from dpwords.spaces.levelling import Levelling


class Listed:
    """The excess over all pairs of words of a language so small that they can be listed. Cost: words²."""

    def __init__(self, rows: Integers, others: Integers) -> None:
        self.length = rows.shape[1]
        self.apart = np.zeros((len(rows), len(rows)))
        for column in rows.T:
            self.apart += column[:, None] != column[None, :]
        self.others = others  # for each word, how many others fit at each place; only `levelled` results need them

    @classmethod
    def of(cls, graph: Graph, length: int, levelling: Levelling | None, limits: Limits = DEFAULTS) -> Listed | None:
        """None if there are more words than `limits.compared_words`."""
        graph = graph if levelling is None else levelling.line
        listed = graph.words(length, limits.compared_words)
        if listed is None:
            return None
        taken, states = listed
        if levelling is None:
            return cls(graph.symbol[taken], np.zeros((len(taken), 1), dtype=np.int64))
        others = np.concatenate([levelling.others[taken], levelling.others_at_end[states][:, None]], axis=1)
        return cls(graph.symbol[taken], others)

    def excess(self, c: float) -> float:
        """The largest |ln Z(x′)/Z(x)| / d(x, x′) with equal weights."""
        return self._excess(c, levelled=False)

    def levelled_excess(self, c: float) -> float:
        """The same with the weights of `levelling`."""
        return self._excess(c, levelled=True)

    def mean_distance(self, c: float, levelled: bool) -> float:
        """The expected distance from a uniform word."""
        powers = self._log_weights(c, levelled) - c * self.apart
        shares = np.exp(powers - powers.max(axis=1, keepdims=True))
        return float(((shares * self.apart).sum(axis=1) / shares.sum(axis=1)).mean())

    def _log_weights(self, c: float, levelled: bool) -> Floats:
        if not levelled:
            return np.zeros(len(self.apart))
        return np.asarray(-np.log1p(self.others * math.exp(-c)).sum(axis=1))

    def _excess(self, c: float, levelled: bool) -> float:
        weights = self._log_weights(c, levelled)
        powers = weights - c * self.apart
        top = powers.max(axis=1)
        logs = top + np.log(np.exp(powers - top[:, None]).sum(axis=1))
        pairs = self.apart > 0
        rounding = 2 * (len(self.apart) + (self.length + 8) * float(np.abs(weights).max())) * ULP
        excess = (np.subtract.outer(logs, logs)[pairs] / self.apart[pairs]).max(initial=0.0)
        return float(excess + rounding + margin(self.length))
