"""Hidden runs given several releases of each: their probabilities, and the most likely one of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.limits import Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.models.chains import MarkovChain
from dpwords.models.hidden import Emissions, Hidden, Pass, symbol_proportions
from dpwords.models.log_passes import LogPasses
from dpwords.spaces.online_likelihoods import LikelihoodRatios

_LARGEST = 300.0  # ln of a likelihood ratio; with larger ones, runs are summed in logarithms
_SAFE = 600.0  # ln of the ratios of all positions of a word; up to here no product leaves the range of floats


class JointEvidence(NamedTuple):
    """What several releases of each word say together: the ratios of `seen` are e^logs, where floats hold them."""

    seen: Emissions
    logs: Floats


def together(releases: Emissions, number: int, symbols: int, more: tuple[Codes, float] | None = None) -> JointEvidence:
    """What several releases of each word tell together: so many rows of `releases` for each word, one after the other.

    There are so many `symbols` in the alphabet. With `more`, words and a logarithm, the ratio of the symbol of
    that word is multiplied by its exponential at each position. Cost: their symbols.
    """
    rows, ratios = releases.rows, releases.ratios
    first, symbol, log = ratios.first, ratios.symbol, np.log(ratios.times)
    if number == 1 and more is None:
        return JointEvidence(releases, log)
    length = rows.shape[1]
    cells = rows.reshape(-1, number, length).swapaxes(1, 2).reshape(-1, number)
    if more is not None:
        own = np.arange(symbols)
        first = np.concatenate([first, first[-1] + 1 + own])
        symbol, log = np.concatenate([symbol, own]), np.concatenate([log, np.full(symbols, more[1])])
        cells = np.concatenate([cells, more[0].reshape(-1, 1) + len(ratios.first) - 1], axis=1)
    distinct, position = np.unique(np.sort(cells, axis=1), axis=0, return_inverse=True)
    sizes = np.diff(first)[distinct]
    ends = np.cumsum(sizes)
    entry = np.repeat(first[distinct].ravel() - (ends - sizes.ravel()), sizes.ravel()) + np.arange(ends[-1])
    owner = np.repeat(np.repeat(np.arange(len(distinct)), distinct.shape[1]), sizes.ravel())
    keys, merged = np.unique(owner * symbols + symbol[entry], return_inverse=True)
    sums: Floats = np.bincount(merged.ravel(), log[entry], len(keys)).astype(np.float64)
    begin = np.searchsorted(keys, np.arange(len(distinct) + 1) * symbols)
    times = np.exp(np.clip(sums, -_SAFE, _SAFE))
    return JointEvidence(Emissions(position.reshape(-1, length), LikelihoodRatios(begin, keys % symbols, times)), sums)


class Likeliest(NamedTuple):
    """The most likely run of each word, as codes of symbols, and ln of its weight."""

    words: Codes
    logs: Floats


@dataclass(frozen=True, eq=False)
class HiddenWords:
    """Hidden words of a chain, seen through several releases of each, where runs have the weight of the chain."""

    prior: MarkovChain
    joint: JointEvidence
    limits: Limits

    @property
    def seen(self) -> Emissions:
        """The releases, as passes take them."""
        return self.joint.seen

    @property
    def hidden(self) -> Hidden:
        """The runs."""
        return self.prior.population

    @cached_property
    def passes(self) -> Pass:
        """Passes over the releases."""
        return Pass(self.hidden, self.seen, self.limits)

    @cached_property
    def by_logs(self) -> LogPasses:
        """Passes in logarithms."""
        with np.errstate(divide="ignore"):
            weights = np.log(self.factor), np.log(self.ending)
        by_logs = Pass(self.hidden, self.seen._replace(ratios=self.seen.ratios._replace(times=self.joint.logs)))
        return LogPasses(self.passes, by_logs.state_ratios, *weights)

    def _exceeds(self, most: float) -> bool:
        return bool(np.abs(self.joint.logs).max(initial=0.0) > most)

    @cached_property
    def factor(self) -> Floats:
        """The weight of each edge."""
        return np.ascontiguousarray(self.prior.chances[self.hidden.parameter], dtype=np.float64)

    @cached_property
    def ending(self) -> Floats:
        """The weight of each state at the end of a run."""
        return self.hidden.accepting.astype(np.float64)

    @cached_property
    def _known(self) -> tuple[Floats, Floats, bool]:
        """ln of the weight of all runs, the probability of each state, and whether they were found by logarithms."""
        if not self._exceeds(_LARGEST):
            with np.errstate(all="ignore"):
                found = self.passes.expected(slice(None), self.factor, self.ending, every_position=True)
            if np.isfinite(found.states).all():
                return found.log_likelihood, found.states, False
        return self.by_logs.log_totals(), self.by_logs.states(), True

    def proportions(self) -> tuple[Floats, Floats]:
        """ln of the weight of all runs of each word, and the probability of each symbol at each position: axes
        position, symbol, word. Cost: words · edges of all layers."""
        logs, states, _ = self._known
        return logs, symbol_proportions(states, self.hidden)

    def log_totals(self) -> Floats:
        """ln of the weight of all runs of each word. Cost: words · edges of all layers."""
        if self._exceeds(_SAFE / self.seen.rows.shape[1]):
            return self.by_logs.log_totals()
        return self.passes.log_likelihoods(self.factor, self.ending)

    def sampled(self, runs: int, stream: Stream) -> Integers:
        """For each word so many runs, drawn from their distribution given the releases, as edges."""
        if self._known[2]:
            return self.by_logs.sampled(runs, stream)
        return self.passes.sampled(self.factor, self.ending, runs, stream)

    def likeliest(self) -> Likeliest:
        """The most likely run of each word. Cost: words · edges of all layers."""
        words, length = self.seen.rows.shape
        states, logs = np.zeros((words, length), dtype=np.int64), np.zeros(words)
        by_logs = self.by_logs
        kernel("likeliest").likeliest(
            self.hidden.steps,
            self.passes.layers,
            by_logs.factor,
            by_logs.ending,
            by_logs.state_ratios,
            self.seen.rows,
            states,
            logs,
        )
        return Likeliest(self.hidden.symbol[states], logs)

    def codes(self, taken: Integers) -> Codes:
        """The symbols of runs that are given by their edges."""
        return np.asarray(self.hidden.symbol[self.hidden.target[taken]])
