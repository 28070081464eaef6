"""Hidden runs given several releases of each: their probabilities, and the most likely one of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.encoding import Codes
from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.estimate.chains import MarkovChain
from dpwords.estimate.hidden import Hidden, Pass, Seen, symbol_shares
from dpwords.spaces.online_favours import SymbolFavours

_LARGEST = 300.0  # ln of a favour; larger ones make no difference


def together(releases: Seen, number: int, more: tuple[Codes, float] | None = None) -> Seen:
    """What several releases of each word tell together: so many rows of `releases` for each word, one after the other.

    With `more`, words and a logarithm, the symbol of that word is favoured at each place, too. Cost: their symbols.
    """
    rows, favours = releases.rows, releases.favours
    if number == 1 and more is None:
        return releases
    length, symbols = rows.shape[1], int(favours.symbol.max(initial=0)) + 1
    cells = rows.reshape(-1, number, length).swapaxes(1, 2).reshape(-1, number)
    first, symbol, log = favours.first, favours.symbol, np.log(favours.times)
    if more is not None:
        symbols = max(symbols, int(more[0].max()) + 1)
        own = np.arange(symbols)
        first = np.concatenate([first, first[-1] + 1 + own])
        symbol, log = np.concatenate([symbol, own]), np.concatenate([log, np.full(symbols, more[1])])
        cells = np.concatenate([cells, more[0].reshape(-1, 1) + len(favours.first) - 1], axis=1)
    distinct, place = np.unique(np.sort(cells, axis=1), axis=0, return_inverse=True)
    sizes = np.diff(first)[distinct]
    ends = np.cumsum(sizes)
    entry = np.repeat(first[distinct].ravel() - (ends - sizes.ravel()), sizes.ravel()) + np.arange(ends[-1])
    owner = np.repeat(np.repeat(np.arange(len(distinct)), distinct.shape[1]), sizes.ravel())
    keys, merged = np.unique(owner * symbols + symbol[entry], return_inverse=True)
    times = np.exp(np.clip(np.bincount(merged.ravel(), log[entry], len(keys)), -_LARGEST, _LARGEST))
    begin = np.searchsorted(keys, np.arange(len(distinct) + 1) * symbols)
    return Seen(place.reshape(-1, length), SymbolFavours(begin, keys % symbols, times))


class Likeliest(NamedTuple):
    """The most likely run of each word, as codes of symbols, and ln of its weight."""

    words: Codes
    logs: Floats


@dataclass(frozen=True, eq=False)
class HiddenWords:
    """Hidden words of a chain, seen through several releases of each, where runs have the weight of the chain."""

    prior: MarkovChain
    seen: Seen
    limits: Limits

    @property
    def hidden(self) -> Hidden:
        """The runs."""
        return self.prior.population

    @cached_property
    def passes(self) -> Pass:
        """Passes over the releases."""
        return Pass(self.hidden, self.seen, self.limits)

    @cached_property
    def factor(self) -> Floats:
        """The weight of each edge."""
        return np.ascontiguousarray(self.prior.chances[self.hidden.parameter], dtype=np.float64)

    @cached_property
    def ending(self) -> Floats:
        """The weight of each state at the end of a run."""
        return self.hidden.accepting.astype(np.float64)

    def shares(self) -> tuple[Floats, Floats]:
        """ln of the weight of all runs of each word, and the probability of each symbol at each place: axes place,
        symbol, word. Cost: words · edges of all layers."""
        found = self.passes.expected(slice(None), self.factor, self.ending, every_place=True)
        return found.log_likelihood, symbol_shares(found.states, self.hidden)

    def likeliest(self) -> Likeliest:
        """The most likely run of each word. Cost: words · edges of all layers."""
        words, length = self.seen.rows.shape
        states, logs = np.zeros((words, length), dtype=np.int64), np.zeros(words)
        favoured = self.passes.favoured
        with np.errstate(divide="ignore"):
            weights = np.log(self.factor), np.log(self.ending)
        kernel("likeliest").likeliest(
            self.hidden.steps,
            self.passes.layers,
            *weights,
            favoured._replace(times=np.log(favoured.times)),
            self.seen.rows,
            states,
            logs,
        )
        return Likeliest(self.hidden.symbol[states], logs)

    def codes(self, taken: Integers) -> Codes:
        """The symbols of runs that are given by their edges."""
        return np.asarray(self.hidden.symbol[self.hidden.target[taken]])
