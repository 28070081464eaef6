"""What outputs of the edit channel tell about words of one length, which they are longer or shorter than.

The true word comes from a Markov chain; sums over all true words and all their alignments with the output are computed
by forward and backward passes, so the probability of each symbol at each position is exact. The most likely word is not
known, but enclosed: by a word that is found symbol by symbol, and by a bound for which the rest of the word may be
chosen anew for each alignment (docs/theory.md, section 17).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, NoReturn, cast

import numpy as np

from dpwords.core.compiled import in_parts, kernel
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import TooLarge
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.private import Private
from dpwords.models.alignments import EditChances
from dpwords.models.chains import PriorWords
from dpwords.models.posteriors import Evidence, Known, Posteriors, Simulated
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.lists import codes_of, text_of


class ChainSteps(NamedTuple):
    """A Markov chain on words of one length, in the form that kernels take."""

    source: Integers  # of each edge; edges are ordered by it
    target: Integers
    first: Integers  # the first edge of each state
    steps: Floats  # for each position the probability of each edge in its state
    symbol: Integers  # of each state, in the language
    code: Integers  # of each state, in the alphabet of the channel
    alphabet: int  # number of symbols of the language


class AlignedEvidence(Evidence):
    """Outputs of the edit channel, which are aligned with true words in all ways. A projection is left out."""

    mechanism: Private
    remedy = "pass one release"

    @property
    def channel(self) -> Channel:
        return cast(EditChannel, self.mechanism.without_projection())._channel

    def posteriors(self, prior: PriorWords, releases: int) -> EditedPosteriors | None:
        return EditedPosteriors(self, prior) if releases == 1 else None

    def every_output(self, words: Codes) -> NoReturn:
        raise TooLarge("the outputs of an edit channel have any length, so they cannot be listed: simulate them")

    def log_probs(self, words: Codes, outputs: Sequence[Codes] | Codes) -> Floats:
        """Sums over alignments, once for each distinct output."""
        texts = [text_of(output) for output in outputs]
        distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
        order = np.lexsort(words.T[::-1])
        rows = np.ascontiguousarray(words[order], dtype=np.int64)
        shared = np.zeros(len(rows), dtype=np.int64)
        shared[1:] = np.cumprod(rows[1:] == rows[:-1], axis=1).sum(axis=1)
        found = np.empty((len(distinct), len(rows)))
        inserted = np.exp(self.channel.log_insertions(max(map(len, distinct))))
        operations = np.exp(self.channel.log_operations()).tolist()

        def fill(part: slice) -> None:
            for text, number in list(distinct.items())[part]:
                kernel("edit_channel").log_probs(rows, shared, codes_of(text), *operations, inserted, found[number])

        longest, limits = max(map(len, distinct)) + 1, self.mechanism.limits
        in_parts(fill, len(distinct), cost=rows.size * longest**2, most=limits.threads)
        plain = self.mechanism.without_projection()
        for number, row in zip(*np.nonzero(np.isneginf(found)), strict=True):  # less than floats can express
            found[number, row] = plain._law(rows[row]).log_prob(codes_of(list(distinct)[number]))
        matrix = np.empty((len(rows), len(texts)))
        matrix[order] = found[[distinct[text] for text in texts]].T
        return matrix


@dataclass(frozen=True, eq=False)
class EditedPosteriors(Posteriors):
    """Words of one length, each seen through one output of an edit channel."""

    too_large = "words of this length take too long to align with what is released: use a shorter one"
    evidence: AlignedEvidence

    @cached_property
    def _codes(self) -> Integers:
        """The code of each symbol of the language in the alphabet of the channel."""
        own = self.mechanism.language.alphabet.codes
        return np.array([own[symbol] for symbol in self.prior.language.alphabet.symbols])

    @cached_property
    def _chain(self) -> ChainSteps:
        hidden, codes = self.prior.population, self._codes
        symbol, steps = np.asarray(hidden.symbol, dtype=np.int64), self.prior._steps(self.length)
        return ChainSteps(hidden.source, hidden.target, hidden.first, steps, symbol, codes[symbol], len(codes))

    def cost(self, released: int | None = None) -> int:
        """About the number of additions for an output of so many symbols, or of as many as are expected."""
        hidden, longest = self.prior.population, self.length + self.evidence.channel.edits(self.length)
        longest = longest if released is None else released + 1
        return int(3 * self.length * longest * (hidden.size * longest / 2 + len(hidden.source)))

    def simulated(self, samples: int) -> Simulated:
        words = self.prior.drawn(self.length, samples, SeededSource("words that an adversary guesses").open())
        seeded = self.mechanism.without_projection().seeded("outputs that an adversary sees")
        released = seeded.release_codes(Ragged.even(self._codes[words]))
        hits, whole, most = np.zeros((samples, self.length)), np.zeros(samples), np.zeros(samples)
        chain, edits = self._chain, EditChances.of(self.evidence.channel, int(released.sizes.max(initial=0)))
        values = released.values.astype(np.int64)
        loops = kernel("edited")

        def work(part: slice) -> None:
            loops.guessed_each(values, released.ends, part.start, part.stop, chain, edits, hits, whole, most)

        in_parts(work, samples, cost=self.cost(), most=self.mechanism.limits.threads)
        mean = hits.mean(axis=1)
        return Simulated(hits.mean(axis=0), mean, mean, whole, most)

    def known(self, outputs: list[Codes]) -> Known | None:
        (output,) = outputs
        if self.cost(len(output)) > self.mechanism.limits.attacked_steps:
            raise TooLarge("words of this length take too long to align with this release: use shorter ones")
        chain, edits, loops = self._chain, EditChances.of(self.evidence.channel, len(output)), kernel("edited")
        ahead = np.zeros((self.length, len(chain.code), len(output) + 1))
        proportions, word = np.zeros((self.length, chain.alphabet)), np.zeros(self.length, dtype=np.int64)
        total = loops.backward(output, chain, edits, False, ahead)
        if not np.isfinite(total):
            return None
        loops.proportions_of(output, chain, edits, ahead, proportions)
        loops.backward(output, chain, edits, True, ahead)
        logarithm = loops.guess_of(output, chain, edits, ahead, word)
        return Known(proportions, word, float(np.exp(logarithm - total)))
