"""What a released symbol tells about the true one, where words are drawn symbol by symbol.

Given the symbols released before it, a released symbol has the same probability for most true symbols. Its
*likelihood ratio* to that is another for those of which it is the preferred substitute, the true symbol itself among
them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes
from dpwords.errors import TooLarge
from dpwords.spaces.graph import Flags, edges_taken
from dpwords.spaces.online import OnlineRuns
from dpwords.spaces.space import Weights

_LEAST = Scaled(np.array([0.5]), np.array([-864]))  # 2^−865; costs below it tell no more, and floats do not hold them


class LikelihoodRatios(NamedTuple):
    """The likelihood ratios of each row: how many times as likely it is for the true symbols
    symbol[first[r]:first[r + 1]] as for all others."""

    first: Integers
    symbol: Integers
    times: Floats


def likelihood_ratios(space: OnlineRuns, weights: Weights, released: Codes) -> tuple[Integers, LikelihoodRatios]:
    """For each position of some released words of one length its row, and the ratios of each row.

    A row stands for an edge of the graph at a position, or at all positions with the same open edges. Cost: states ·
    symbols · branching for each set of open edges that occurs.
    """
    graph, length = space.graph, released.shape[1]
    useful = graph.useful(length)
    taken = edges_taken(graph.start, graph.sources, graph.symbol, graph.target, released)
    known: dict[tuple[bytes, bool], int] = {}
    tables: list[LikelihoodRatios] = []
    rows = np.zeros(released.shape, dtype=np.int64)
    for position in range(length):
        first = position == 0 and space.has_many_starts
        key = useful[position + 1].tobytes(), first
        if key not in known:
            known[key] = len(tables)
            tables.append(_table(space, weights, useful[position + 1], first, length))
        rows[:, position] = taken[:, position] + known[key] * len(graph.target)
    ends = np.cumsum([0, *(len(table.symbol) for table in tables)])
    starts = [table.first[:-1] + begin for table, begin in zip(tables, ends, strict=False)]
    symbol, times = (np.concatenate([table[part] for table in tables]) for part in (1, 2))
    return rows, LikelihoodRatios(np.concatenate([*starts, ends[-1:]]), symbol, times)


def _table(space: OnlineRuns, weights: Weights, useful: Flags, first: bool, length: int) -> LikelihoodRatios:
    """The likelihood ratios of each edge of the graph, where these states are useful after it."""
    graph, symbols = space.graph, len(space.graph.alphabet)
    states = np.array([graph.start]) if first else np.flatnonzero(np.diff(graph.first) > 0)
    if not first and space.has_many_starts:
        states = states[states != graph.start]
    if len(states) * symbols * graph.branching > space.limits.memory // 8:
        raise TooLarge("the system is too large to say what each released symbol tells: use a smaller one")
    preferences = space.preferences(_LEAST if weights.z.logs()[0] < _LEAST.logs()[0] else weights.z, length)
    choices = space.choices(
        useful, np.repeat(states, symbols), np.tile(np.arange(symbols), len(states)), preferences.starts
    )
    stored = preferences.weights(choices)
    relative = stored.relative_to(np.zeros(1, dtype=np.int64))
    z, _ = preferences.plain()
    with np.errstate(invalid="ignore", divide="ignore"):
        proportions = relative / relative.sum(axis=1, keepdims=True)
        number = choices.open_to.sum(axis=1, keepdims=True)
        preferred = preferences.starts if first else 1
        ratio = proportions / (z / (preferred + (number - preferred) * z))
    own, column = np.nonzero(choices.open_to & (np.abs(ratio - 1) > 1e-12))
    edge = choices.edges[own, column]
    order = np.argsort(edge, kind="stable")
    begin = np.searchsorted(edge[order], np.arange(len(graph.target) + 1))
    return LikelihoodRatios(begin, (own % symbols)[order], ratio[own, column][order])
