"""Guesses where all words of one length can be listed: Bayes' rule over all of them, at all outputs or drawn ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice

import numpy as np

from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.models.hidden import uniform_numbers
from dpwords.models.posteriors import Evidence, Known, Simulated


@dataclass(frozen=True, eq=False)
class LikelyWords:
    """All words of one length as rows of codes, and ln of how likely each of them is.

    `inputs` are the same words in the codes of the mechanism's alphabet, which can be another one.
    """

    words: Codes
    log_prior: Floats
    inputs: Codes
    symbols: int  # of the alphabet

    def known(self, log_probs: Floats) -> Known | None:
        """What is known by Bayes' rule, if each word leads to what was seen with a probability whose ln is given."""
        logs = self.log_prior + log_probs
        total = float(np.logaddexp.reduce(logs))
        if not np.isfinite(total):
            return None
        proportions, best = np.exp(logs - total), int(logs.argmax())
        positions = np.array(
            [np.bincount(column, proportions, self.symbols) for column in self.words.T], dtype=np.float64
        )
        return Known(positions, self.words[best], float(proportions[best]))

    def joint(self, logs: Floats) -> tuple[Floats, Floats]:
        """For each output (column of ln of joint probabilities), the largest sum for a symbol at each position (row),
        and the largest probability of a word."""
        joint = np.exp(logs)
        positions = np.zeros((self.words.shape[1], logs.shape[1]))
        for position in range(len(positions)):
            order = np.argsort(self.words[:, position], kind="stable")
            ordered = self.words[order, position]
            first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
            positions[position] = np.add.reduceat(joint[order], first, axis=0).max(axis=0)
        return positions, joint.max(axis=0)


def over_every_output(listing: LikelyWords, matrix: Floats, releases: int, most: int) -> tuple[Floats, float]:
    """The expected hits at each position, and the probability of guessing the whole word, summed over all outputs.

    Releases that come in another order tell the same, so multisets of outputs are listed, each with the number of its
    orders. `most` numbers are held at a time. Cost: words · multisets · length.
    """
    positions, whole = np.zeros(listing.words.shape[1]), 0.0
    for numbers, orders in _multisets(matrix.shape[1], releases, max(most // (releases * len(matrix)), 1)):
        logs = matrix[:, numbers].sum(axis=2) + orders + listing.log_prior[:, None]
        hits, best = listing.joint(logs)
        positions, whole = positions + hits.sum(axis=1), whole + float(best.sum())
    return np.minimum(positions, 1.0), min(whole, 1.0)


def at_drawn_outputs(
    listing: LikelyWords, evidence: Evidence, matrix: Floats | None, releases: int, samples: int
) -> Simulated:
    """What is guessed of simulated words, by the best guesses given their outputs.

    Words are drawn from the prior, and outputs at each of them, with fixed seeds: from the rows of the matrix, or, if
    there is none, from the mechanism. Cost: words · samples · releases.
    """
    stream = SeededSource("words that an adversary guesses").open()
    uniform = uniform_numbers(stream, (releases + 1, samples))
    chosen = _chosen(np.exp(listing.log_prior), uniform[0])
    logs = np.repeat(listing.log_prior[:, None], samples, axis=1)
    if matrix is None:
        for outputs in evidence.drawn(listing.inputs[chosen], releases):
            logs += evidence.log_probs(listing.inputs, outputs)
    else:
        for each in uniform[1:]:
            drawn = np.zeros(samples, dtype=np.int64)
            for number in np.unique(chosen):
                here = chosen == number
                drawn[here] = _chosen(np.exp(matrix[number]), each[here])
            logs += matrix[:, drawn]
    positions, best = listing.joint(logs - np.logaddexp.reduce(logs, axis=0))
    hits = positions.mean(axis=0)
    return Simulated(positions.mean(axis=1), hits, hits, best, best)


def _chosen(proportions: Floats, uniform: Floats) -> Integers:
    total = np.cumsum(proportions)
    return np.asarray(np.minimum(np.searchsorted(total, uniform * total[-1], side="right"), len(proportions) - 1))


def _multisets(outputs: int, releases: int, most: int) -> Iterator[tuple[Integers, Floats]]:
    """All multisets of outputs, some at a time: a row of numbers for each, and ln of the number of its orders."""
    every = combinations_with_replacement(range(outputs), releases)
    factorials = np.array([math.lgamma(k + 1) for k in range(releases + 1)])
    while some := list(islice(every, most)):
        numbers = np.array(some, dtype=np.int64)
        runs = np.ones(numbers.shape, dtype=np.int64)  # how often each has occurred in its row so far
        for position in range(1, releases):
            runs[:, position] = np.where(numbers[:, position] == numbers[:, position - 1], runs[:, position - 1] + 1, 1)
        yield numbers, factorials[releases] - np.log(runs).sum(axis=1)
