"""How much the normalising constant of the exponential mechanism depends on the private word.

A release w of x has probability π(w)·e^(−c·d(x,w))/Z(x). Where Z is nearly the same for all words, it drops out of what
a release tells about its word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.models.hidden import Hidden, Pass
from dpwords.models.state_ratios import emissions_of_own_symbol
from dpwords.spaces.graph import Graph
from dpwords.spaces.space import Space, WeightedWords, Weights

_LARGEST_RATE = 600.0


@dataclass(frozen=True, eq=False)
class NormalisingConstants:
    """The normalising constants of the words of one length of a system, with weights that are linear in the
    exponent."""

    graph: Graph
    weights: Weights
    limits: Limits

    @cached_property
    def _measured(self) -> tuple[Hidden, Floats, Floats]:
        """The runs of the graph that has the public weights, the weight of each parameter and of each state at an
        end."""
        base = self.weights.base if isinstance(self.weights.base, Graph) else self.graph
        hidden, zero = Hidden.of(base), np.zeros(1, dtype=np.int64)
        edge = np.ones(len(base.target)) if base.weight is None else base.weight.relative_to(zero)
        ending = base.accepting.astype(np.float64) if base.ending is None else base.ending.relative_to(zero)
        return hidden, edge, ending[hidden.origin]

    def logs(self, words: Codes) -> Floats:
        """ln Z(x) of each word, up to a constant for the length. Cost: words · edges of all layers."""
        base = self.weights.base
        ratio = ratio_of(rate_of(self.weights))
        if isinstance(base, WeightedWords):
            apart = np.count_nonzero(words[:, None, :] != base.rows[None], axis=2)
            weight = base.weight.relative_to(base.weight.exponent.max())
            return np.asarray(np.log(ratio ** -apart.astype(np.float64) @ weight))
        hidden, chances, ending = self._measured
        seen = emissions_of_own_symbol(words, len(hidden.alphabet), ratio)
        return Pass(hidden, seen, self.limits, ending=ending).log_likelihoods(chances)

    def spread(self, space: Space, length: int) -> float:
        """The standard deviation of ln Z(x) over typical words of the language."""
        words, times = space.typical(length)
        logs = self.logs(np.asarray(words))
        return float(np.sqrt(np.cov(logs, fweights=times, ddof=0))) if len(logs) > 1 else 0.0


def ratio_of(rate: float) -> float:
    """e^rate: how many times as much weight an output has for each position where it agrees with the word.

    At most e^600: larger ones tell no more, and floats do not hold them.
    """
    return float(np.exp(min(rate, _LARGEST_RATE)))


def rate_of(weights: Weights) -> float:
    """The rate of weights that are linear in the exponent."""
    return float(-weights.z.logs()[0])
