"""Guesses of words that went through the edit channel, whose outputs are longer or shorter than they were.

The true word has a known length and comes from a Markov chain; sums over all true words and all their alignments with
the output are computed by forward and backward passes, so the probability of each symbol at each place is exact. The
most likely word is not known, but enclosed: by a word that is found symbol by symbol, and by a bound for which the rest
of the word may be chosen anew for each alignment (docs/theory.md, section 17).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core import threads
from dpwords.core.compiled import kernel
from dpwords.core.encoding import Codes, Ragged
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.models.chains import MarkovChain
from dpwords.models.runs import Simulated


class ChainSteps(NamedTuple):
    """A Markov chain on words of one length, in the form that kernels take."""

    source: Integers  # of each edge; edges are ordered by it
    target: Integers
    first: Integers  # the first edge of each state
    steps: Floats  # for each place the probability of each edge in its state
    symbol: Integers  # of each state, in the language
    code: Integers  # of each state, in the alphabet of the channel
    alphabet: int  # number of symbols of the language


class EditChances(NamedTuple):
    """The probabilities of an edit channel, times m for each released symbol, where m is the number of symbols."""

    gap: Floats  # of each number of symbols: that one given word is inserted
    deleted: float
    kept: float
    replaced: float  # by one given other symbol


class Known(NamedTuple):
    """What an output tells: the probabilities of the symbols (columns) at each place (row), and a likely word."""

    places: Floats
    word: Codes
    probability: float


@dataclass(frozen=True, eq=False)
class EditedAttack:
    """An edit channel, and a prior for words of one length."""

    mechanism: EditChannel
    prior: MarkovChain
    length: int

    @cached_property
    def _codes(self) -> Integers:
        """The code of each symbol of the language in the alphabet of the channel."""
        own = self.mechanism.language.alphabet.codes
        return np.array([own[symbol] for symbol in self.prior.language.alphabet.symbols])

    @cached_property
    def _chain(self) -> ChainSteps:
        hidden, codes = self.prior.population, self._codes
        first = np.searchsorted(hidden.source, np.arange(hidden.size + 1))
        symbol = np.asarray(hidden.symbol, dtype=np.int64)
        steps = self.prior._steps(self.length)
        return ChainSteps(hidden.source, hidden.target, first, steps, symbol, codes[symbol], len(codes))

    def _edits(self, longest: int) -> EditChances:
        channel = self.mechanism._channel
        symbols = channel.symbols
        gap = np.exp(channel.log_insertions(longest) + np.arange(longest + 1) * np.log(symbols))
        deleted, kept, replaced = np.exp(channel.log_operations()).tolist()
        return EditChances(gap, deleted, kept * symbols, replaced * symbols)

    def cost(self, released: int | None = None) -> int:
        """About the number of additions for an output of so many symbols, or of as many as are expected."""
        hidden, longest = self.prior.population, self.length + self.mechanism._channel.edits(self.length)
        longest = longest if released is None else released + 1
        return int(3 * self.length * longest * (hidden.size * longest / 2 + len(hidden.source)))

    def simulated(self, samples: int) -> Simulated:
        """Draw words and outputs with fixed seeds, and guess each of them. Cost: samples · `cost`."""
        words = self.prior.drawn(self.length, samples, SeededSource("words that an adversary guesses").open())
        seeded = self.mechanism.without_projection().seeded("outputs that an adversary sees")
        released = seeded.release_codes(Ragged.even(self._codes[words]))
        hits, whole, most = np.zeros((samples, self.length)), np.zeros(samples), np.zeros(samples)
        chain, edits = self._chain, self._edits(int(released.sizes.max(initial=0)))
        values = released.values.astype(np.int64)
        loops = kernel("edited")

        def work(part: slice) -> None:
            loops.guessed_each(values, released.ends, part.start, part.stop, chain, edits, hits, whole, most)

        threads.in_parts(work, samples, cost=self.cost(), most=self.mechanism.limits.threads)
        mean = hits.mean(axis=1)
        return Simulated(hits.mean(axis=0), mean, mean, whole, most, 1.0, 1.0)

    def known(self, output: Codes) -> Known | None:
        """What one output tells; None if no word that the prior allows can have led to it. Cost: `cost`."""
        chain, edits, loops = self._chain, self._edits(len(output)), kernel("edited")
        ahead = np.zeros((self.length, len(chain.code), len(output) + 1))
        shares, word = np.zeros((self.length, chain.alphabet)), np.zeros(self.length, dtype=np.int64)
        total = loops.backward(output, chain, edits, False, ahead)
        if not np.isfinite(total):
            return None
        loops.shares_of(output, chain, edits, ahead, shares)
        loops.backward(output, chain, edits, True, ahead)
        logarithm = loops.guess_of(output, chain, edits, ahead, word)
        return Known(shares, word, float(np.exp(logarithm - total)))
