"""Hidden runs given several releases of each: their probabilities, and the most likely one of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.limits import Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.models.chains import MarkovChain
from dpwords.models.hidden import Hidden, Pass, symbol_proportions, uniform_numbers
from dpwords.models.state_ratios import Emissions
from dpwords.spaces.online_likelihoods import LikelihoodRatios

_LARGEST = 300.0  # ln of a likelihood ratio; with larger ones, runs are summed in logarithms
_SAFE = 600.0  # ln of the ratios of all positions of a word; up to here no product leaves the range of floats


class Likeliest(NamedTuple):
    """The most likely run of each word, as codes of symbols, and ln of its weight."""

    words: Codes
    logs: Floats


@dataclass(frozen=True, eq=False)
class LogPasses:
    """Passes in logarithms, where products of likelihood ratios leave the range of floats.

    The ratios of `passes`, and the weights of edges and of ends, are logarithms. The results are those of `Pass`, at
    some twenty times its cost.
    """

    passes: Pass
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
        first, state, times = self.passes.state_ratios
        rows = self.passes.rows[:, position]
        sizes = first[rows + 1] - first[rows]
        word = np.repeat(np.arange(len(rows)), sizes)
        entry = np.repeat(first[rows] - (np.cumsum(sizes) - sizes), sizes) + np.arange(len(word))
        np.add.at(logs, (state[entry], word), times[entry])

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

    def likeliest(self) -> Likeliest:
        """The most likely run of each word. Cost: words · edges of all layers."""
        passes, (words, length) = self.passes, self.passes.seen.rows.shape
        states, logs = np.zeros((words, length), dtype=np.int64), np.zeros(words)
        runs = passes.layers, self.factor, self.ending, passes.state_ratios
        kernel("likeliest").likeliest(*runs, passes.rows, states, logs)
        return Likeliest(passes.hidden.symbol[states], logs)


@dataclass(frozen=True, eq=False)
class HiddenWords:
    """Hidden words of a chain, seen through several releases of each, where runs have the weight of the chain."""

    prior: MarkovChain
    seen: Emissions  # what all releases of a word tell together; the ratios are e^logs, where floats hold them
    logs: Floats
    limits: Limits

    @classmethod
    def of(
        cls,
        prior: MarkovChain,
        releases: Emissions,
        number: int,
        limits: Limits,
        more: tuple[Codes, float] | None = None,
    ) -> HiddenWords:
        """Words of which so many rows of `releases` tell each, one after the other.

        With `more`, words and a logarithm, the ratio of the symbol of that word is multiplied by its exponential at
        each position. Cost: their symbols.
        """
        (rows, ratios), symbols = releases, len(prior.population.alphabet)
        first, symbol, log = ratios.first, ratios.symbol, np.log(ratios.times)
        if number == 1 and more is None:
            return cls(prior, releases, log, limits)
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
        seen = Emissions(position.reshape(-1, length), LikelihoodRatios(begin, keys % symbols, times))
        return cls(prior, seen, sums, limits)

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
            factor, ending = map(np.log, self.passes.weights(self.prior.chances))
        ratios = self.seen.ratios._replace(times=self.logs)
        return LogPasses(replace(self.passes, seen=self.seen._replace(ratios=ratios)), factor, ending)

    def _exceeds(self, most: float) -> bool:
        return bool(np.abs(self.logs).max(initial=0.0) > most)

    @cached_property
    def _known(self) -> tuple[Floats, Floats, bool]:
        """ln of the weight of all runs, the probability of each state, and whether they were found by logarithms."""
        if not self._exceeds(_LARGEST):
            with np.errstate(all="ignore"):
                found = self.passes.expected(slice(None), self.prior.chances, every_position=True)
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
        if self._exceeds(_SAFE / self.passes.length):
            return self.by_logs.log_totals()
        return self.passes.log_likelihoods(self.prior.chances)

    def sampled(self, runs: int, stream: Stream) -> Codes:
        """For each word so many runs, drawn from their distribution given the releases."""
        if self._known[2]:
            taken = self.by_logs.sampled(runs, stream)
        else:
            taken = self.passes.sampled(self.prior.chances, runs, stream)
        return np.asarray(self.hidden.symbol[self.hidden.target[taken]])


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
