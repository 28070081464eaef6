"""Passes over hidden runs in logarithms, where products of likelihood ratios leave the range of floats.

They give what `Pass` of `models/hidden.py` gives, at some twenty times its cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.models.hidden import Pass, StateRatios, uniform_numbers


@dataclass(frozen=True, eq=False)
class LogPasses:
    """Passes over the releases of `passes`, whose ratios, and the weights of edges and of ends, are logarithms."""

    passes: Pass
    state_ratios: StateRatios
    factor: Floats
    ending: Floats

    @cached_property
    def _layers(self) -> list[Integers]:
        """The edges that can be taken at each position."""
        layers = self.passes.layers
        return [layers.order[begin:end] for begin, end in zip(layers.begin, layers.begin[1:], strict=False)]

    @cached_property
    def _ahead(self) -> list[Floats]:
        """[position][state, word]: ln of the weight of all runs up to a state, ratios of the position before it
        included."""
        hidden, rows = self.passes.hidden, self.passes.seen.rows
        here = np.full((hidden.size, len(rows)), -np.inf)
        here[0] = 0.0
        found = [here]
        for position, edges in enumerate(self._layers):
            values = here[hidden.source[edges]] + self.factor[edges, None]
            here = _summed(values, hidden.target[edges], hidden.size)
            self._add(position, here)
            found.append(here)
        return found

    def _add(self, position: int, logs: Floats) -> None:
        first = self.state_ratios.first
        rows = self.passes.seen.rows[:, position]
        sizes = first[rows + 1] - first[rows]
        word = np.repeat(np.arange(len(rows)), sizes)
        entry = np.repeat(first[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(word))
        np.add.at(logs, (self.state_ratios.state[entry], word), self.state_ratios.times[entry])

    def log_totals(self) -> Floats:
        """ln of the weight of all runs of each word. Cost: words · edges of all layers."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.logaddexp.reduce(self._ahead[-1] + self.ending[:, None], axis=0))

    def states(self) -> Floats:
        """[position, state, word]: the probability of each state after each symbol. Cost: words · edges of all
        layers."""
        hidden, ahead, total = self.passes.hidden, self._ahead, self.log_totals()
        total = np.where(np.isfinite(total), total, 0.0)
        back = np.repeat(self.ending[:, None], len(total), axis=1)
        found = np.zeros((len(self._layers), *back.shape))
        for position in reversed(range(len(self._layers))):
            found[position] = np.exp(ahead[position + 1] + back - total)
            edges = self._layers[position]
            self._add(position, back)
            values = back[hidden.target[edges]] + self.factor[edges, None]
            back = _summed(values, hidden.source[edges], hidden.size)
        return found

    def sampled(self, runs: int, stream: Stream) -> Integers:
        """For each word so many hidden runs, drawn from their distribution given the word, as edges.

        Cost: that of `log_totals`, and length · edges into a state for each run.
        """
        hidden, (words, length) = self.passes.hidden, self.passes.seen.rows.shape
        uniform = uniform_numbers(stream, (words, runs, length + 1))
        taken = np.zeros((words, runs, length), dtype=np.int64)
        into = [_into(hidden.target[edges], edges, hidden.size) for edges in self._layers]
        lanes = np.arange(words)
        for run in range(runs):
            state = _chosen((self._ahead[-1] + self.ending[:, None]).T, uniform[:, run, length])
            for position in reversed(range(length)):
                edges = into[position][state]  # −1 where there are fewer
                logs = self._ahead[position][hidden.source[edges], lanes[:, None]] + self.factor[edges]
                picked = _chosen(np.where(edges < 0, -np.inf, logs), uniform[:, run, position])
                taken[:, run, position] = edges[lanes, picked]
                state = hidden.source[taken[:, run, position]]
        return taken


def _summed(logs: Floats, owner: Integers, size: int) -> Floats:
    """The logarithms of sums: rows with the same owner are added up; −inf for owners without any."""
    order = np.argsort(owner, kind="stable")
    owners, begin = np.unique(owner[order], return_index=True)
    found = np.full((size, logs.shape[1]), -np.inf)
    found[owners] = np.logaddexp.reduceat(logs[order], begin, axis=0)
    return found


def _into(target: Integers, edges: Integers, size: int) -> Integers:
    """For each state the edges into it, filled up with −1."""
    order = np.argsort(target, kind="stable")
    number = np.bincount(target, minlength=size)
    found = np.full((size, int(number.max())), -1)
    column = np.arange(len(edges)) - np.repeat(np.cumsum(number) - number, number)
    found[target[order], column] = edges[order]
    return found


def _chosen(logs: Floats, uniform: Floats) -> Integers:
    """For each row a column, drawn in proportion to e^logs by a uniform number."""
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    ends = np.cumsum(weights, axis=1)
    found = np.argmax((ends >= (uniform * ends[:, -1])[:, None]) & (weights > 0), axis=1)
    return np.asarray(found)
