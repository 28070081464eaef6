"""Words that are common in a population, beside a chain that stands for all others: a mixture, fitted to releases.

A chain says of few variants only which symbols follow each other. Whoever has the releases can find the variants
themselves: they are near many releases. So candidates are the words that are decoded most often with the chain; on all
words over an alphabet each of them then moves to what is released most often, position by position, by those who are
likely to have it. The proportions of the candidates and of all other words are fitted by expectation–maximisation
(docs/theory.md, section 17 g).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import Chain, MarkovChain, PriorWords, hidden_runs
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import fit
from dpwords.models.population import RunEvidence, SameLength
from dpwords.models.refined import ModelShape
from dpwords.models.runs import RunPosteriors
from dpwords.models.tuning import FEWEST_TIMES, MOST_COMMON, MOVES
from dpwords.spaces.space import batches


class Mixture:
    """Releases as evidence about the proportions of some words and of a model that stands for all others."""

    def __init__(self, likelihoods: Floats, times: Floats) -> None:
        self.likelihoods, self.times = likelihoods, times
        self.groups = np.zeros(likelihoods.shape[1], dtype=np.int64)

    @classmethod
    def of_logs(cls, logs: Floats, times: Floats) -> Mixture:
        """From the logarithms of likelihoods, a row for each release."""
        return cls(np.exp(logs - logs.max(axis=1, keepdims=True)), times)

    def fitted(self) -> Floats:
        """The proportions that make the releases most likely."""
        size = self.likelihoods.shape[1]
        return fit(self, np.full(size, 1 / size)).chances

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all releases, and the expected number of releases of each component."""
        joint = self.likelihoods * chances
        total = joint.sum(axis=1)
        return float(self.times @ np.log(total)), self.times @ (joint / total[:, None])


def log_weights(each: SameLength, row: Codes) -> Floats:
    """For each release, ln of the likelihood of one word, as passes have it."""
    ratios, found = each.seen.ratios, np.zeros(len(each.times))
    owner, number = np.repeat(np.arange(len(ratios.first) - 1), np.diff(ratios.first)), len(ratios.first) - 1
    for position, symbol in enumerate(row.tolist()):
        table, own = np.zeros(number), ratios.symbol == symbol
        table[owner[own]] = np.log(ratios.times[own])
        found += table[each.seen.rows[:, position]]
    taken, hidden = each.hidden.taken(row[None])[0], each.hidden
    factor = np.broadcast_to(each.factor, len(hidden.source))[taken]
    ending = np.broadcast_to(each.ending, hidden.size)[hidden.target[taken[-1]]]
    return np.asarray(found + np.log(factor).sum() + np.log(ending))


@dataclass(frozen=True, eq=False)
class CommonWords:
    """Some words of one length, with their proportions, and what stands for all others (`rest`): a chain, or none if
    they are equally likely."""

    mechanism: Private
    chain: Chain | None
    words: Codes
    proportions: Floats
    rest: float

    @classmethod
    def beside(cls, mechanism: Private, chain: Chain | None, words: Codes, rows: Codes) -> CommonWords:
        """With the proportions that make these releases most likely."""
        each = _seen(mechanism, rows, chain, distinct=True)
        found = Mixture.of_logs(np.column_stack(_logs(each, words, chain, mechanism.language)), each.times).fitted()
        return cls(mechanism, chain, words, found[:-1], float(found[-1]))

    @cached_property
    def _known(self) -> MarkovChain:
        return PriorWords(self.mechanism.language, self.chain, self.mechanism.limits).known

    @cached_property
    def _by_chain(self) -> Floats:
        """ln of the probability of each of the words under the chain, which contains them, too."""
        return self._known.log_probs(self.words)

    def log_likelihoods(self, rows: Codes) -> Floats:
        """Those of these releases, up to constants that depend on the releases alone."""
        logs, rest = _logs(self._seen(rows), self.words, self.chain, self.mechanism.language)
        return np.asarray(np.log(np.exp(logs - rest[:, None]) @ self.proportions + self.rest) + rest)

    def guessed(self, rows: Codes) -> tuple[Floats, Floats]:
        """For each release, the chance of guessing each position (a row each), and of the whole word."""
        found = [self._guessed(rows[part]) for part in self._parts(rows)]
        positions, whole = map(np.concatenate, zip(*found, strict=True))
        return positions, whole

    def guesses(self, rows: Codes) -> tuple[Codes, Codes]:
        """For the same releases, the likeliest symbol at each position, and the likeliest word."""
        found = [self._guesses(rows[part]) for part in self._parts(rows)]
        symbols, words = map(np.concatenate, zip(*found, strict=True))
        return symbols, words

    def without(self) -> tuple[float, float]:
        """The positions that are guessed without any release, and the chance of guessing the whole word."""
        length = self.words.shape[1]
        marginals = self.rest * self._known.marginals(length)
        for word, proportion in zip(self.words, self.proportions, strict=True):
            marginals[np.arange(length), word] += proportion
        own = self.proportions + self.rest * np.exp(self._by_chain)
        return float(marginals.max(axis=1).sum()), max(float(own.max()), self.rest * self._known.likeliest(length)[1])

    def _parts(self, rows: Codes) -> list[slice]:
        width = rows.shape[1] * len(self.mechanism.language.alphabet) + len(self.words)
        return list(batches(len(rows), 4 * width, self.mechanism.limits))

    def _seen(self, rows: Codes) -> SameLength:
        return _seen(self.mechanism, rows, self.chain, distinct=False)

    def _posterior(self, rows: Codes) -> tuple[Floats, Floats, Floats, Floats]:
        """The chances, given each release, of the words as such and of all others, and with the words that the chain
        has itself; and those of the symbols at each position."""
        logs, others = _logs(self._seen(rows), self.words, self.chain, self.mechanism.language)
        likelihoods = np.exp(logs - others[:, None])
        total = likelihoods @ self.proportions + self.rest
        own = likelihoods * self.proportions / total[:, None]
        either = likelihoods * (self.proportions + self.rest * np.exp(self._by_chain)) / total[:, None]
        rest = self.rest / total
        marginals = rest[:, None, None] * self._posteriors.symbols(rows)
        for position, column in enumerate(self.words.T):
            np.add.at(marginals[:, position].T, column, own.T)
        return either, rest, marginals, own

    def _guessed(self, rows: Codes) -> tuple[Floats, Floats]:
        either, rest, marginals, _ = self._posterior(rows)
        return marginals.max(axis=2), np.maximum(either.max(axis=1), rest * self._posteriors.guessed(rows)[1])

    def _guesses(self, rows: Codes) -> tuple[Codes, Codes]:
        either, rest, marginals, _ = self._posterior(rows)
        others = rest * self._posteriors.guessed(rows)[1] > either.max(axis=1)
        words = np.where(others[:, None], self._posteriors.guesses(rows)[1], self.words[either.argmax(axis=1)])
        return marginals.argmax(axis=2), words

    @cached_property
    def _posteriors(self) -> RunPosteriors:
        return _posteriors(self.mechanism, self.words.shape[1], self.chain)


def common_words(mechanism: Private, rows: Codes, chain: Chain) -> Codes:
    """The words of one length that are most likely to be common, given releases; perhaps none.

    Cost: that of decoding, and releases · `MOST_COMMON` words, up to `MOVES` times.
    """
    each, distinct = _seen(mechanism, rows, chain, distinct=True), np.unique(rows, axis=0)
    decoded = _posteriors(mechanism, rows.shape[1], chain).guesses(distinct)[1]
    words, number = np.unique(decoded, axis=0, return_inverse=True)
    often = np.bincount(number.ravel(), each.times)
    order = np.argsort(-often, kind="stable")[:MOST_COMMON]
    words = words[np.sort(order[often[order] >= FEWEST_TIMES])]
    for _ in range(MOVES):
        if not len(words):
            break
        mixture = Mixture.of_logs(np.column_stack(_logs(each, words, chain, mechanism.language)), each.times)
        proportions = mixture.fitted()
        moved = _moved(mixture, proportions, distinct, words) if mechanism.language.alike else words
        moved = np.unique(moved[proportions[:-1] * len(rows) >= FEWEST_TIMES], axis=0)
        if np.array_equal(moved, words):
            break
        words = moved
    return words


def _moved(mixture: Mixture, proportions: Floats, distinct: Codes, words: Codes) -> Codes:
    """At each position, what those who are likely to have a word have released most often."""
    joint = mixture.likelihoods * proportions
    shares = (joint / joint.sum(axis=1, keepdims=True) * mixture.times[:, None])[:, :-1]
    found = words.copy()
    for position, column in enumerate(distinct.T):
        counts = np.zeros((int(column.max()) + 1, len(words)))
        np.add.at(counts, column, shares)
        found[:, position] = counts.argmax(axis=0)
    return found


def chain_log_likelihoods(mechanism: Private, rows: Codes, chain: Chain) -> Floats:
    """The log-likelihoods of releases of words of a chain, up to the same constants as with common words beside it."""
    return _seen(mechanism, rows, chain, distinct=False).log_likelihoods(chain.chances)


def _logs(each: SameLength, words: Codes, chain: Chain | None, language: Language) -> tuple[Floats, Floats]:
    """For each release, ln of the likelihood of each of the words (columns), and of all others."""
    logs = np.stack([log_weights(each, word) for word in words], axis=1)
    if chain is not None:
        return logs, each.log_likelihoods(chain.chances)
    return logs, each.log_likelihoods(np.ones(len(each.hidden.groups))) - math.log(language.count(each.length))


def _seen(mechanism: Private, rows: Codes, chain: Chain | None, distinct: bool) -> SameLength:
    limits = mechanism.limits
    shape = ModelShape(hidden_runs(mechanism.language, limits), limits=limits) if chain is None else chain.shape
    return RunEvidence.of(mechanism, {rows.shape[1]: rows}, shape, distinct).lengths[0]


def _posteriors(mechanism: Private, length: int, chain: Chain | None) -> RunPosteriors:
    known = PriorWords(mechanism.language, chain, mechanism.limits)
    found = evidence_of(mechanism, length).posteriors(known, 1)
    assert isinstance(found, RunPosteriors)
    return found
