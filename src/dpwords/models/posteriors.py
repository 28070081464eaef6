"""What is known of private words by whoever has seen releases of them, where words are too many to be listed.

*Normalising constants that differ.* Let q be a distribution of words given releases that leaves out the normalising
constant Z of the mechanism. The word that was drawn first, and then released, is an exact draw given its releases. So a
Markov chain that starts there, proposes runs drawn from q, and accepts them by the ratio of normalising constants
(independence Metropolis–Hastings) consists of exact draws; docs/theory.md, section 17 e.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.errors import TooLarge

SPREAD = 3.0  # probabilities between 0 and 1 that were corrected by up to 1 are between −1 and 2


class Known(NamedTuple):
    """What releases of one word tell: the probabilities of the symbols (columns) at each position (row), a likely
    word."""

    positions: Floats
    word: Codes
    probability: float
    error: float = 0.0  # standard error of every probability, at most; 0 if they are exact


class Simulated(NamedTuple):
    """For each simulated word, what guesses get right: by a guess that is known, and by the best one at most.

    Hits are the mean over the positions. Where the distribution given the releases is known exactly, both are the same.
    """

    hits_by_place: Floats  # mean over the words
    hits: Floats
    hits_at_most: Floats
    whole: Floats
    whole_at_most: Floats
    hits_spread: float  # of the range of hits
    whole_spread: float


class Posteriors(ABC):
    """Words of one length with a prior, seen through some releases of each."""

    too_large: ClassVar[str] = "the system is too large to simulate what can be guessed: use a shorter length"

    @property
    def gain(self) -> float:
        """How many times as likely a guess of the whole word can become by a release."""
        return math.inf

    @abstractmethod
    def cost(self) -> int:
        """About the number of additions for each simulated word."""

    @abstractmethod
    def simulated(self, samples: int) -> Simulated:
        """Draw words and releases with fixed seeds, and guess each of them. Cost: samples · `cost`."""

    def known(self, outputs: list[Codes]) -> Known | None:
        """What the releases of one word tell; None if no word that the prior allows can have led to them."""
        raise TooLarge("of a single word nothing is known without listing all words: use a shorter length")


class Corrections(NamedTuple):
    """What has to be added to probabilities under q, so that they become unbiased, for each of some words."""

    positions: Floats  # [position, symbol, word]: to that of a symbol at a position
    guess: Floats  # to that of one guess of the whole word
    largest: Floats  # at most, to that of any word

    def hits(self, proportions: Floats) -> tuple[Floats, Floats, Floats]:
        """From proportions[position, symbol, word] under q, for each word: the chance of a hit at each position, its
        mean for the likeliest symbols under q, and that for the best ones, at most."""
        corrected = proportions + self.positions
        at_guess = np.take_along_axis(corrected, proportions.argmax(axis=1)[:, None, :], axis=1)[:, 0].T
        most = corrected.max(axis=1).T
        return (at_guess + most) / 2, at_guess.mean(axis=1), most.mean(axis=1)


def corrections(
    words: Codes, runs: Codes, logs: Floats, proposed_logs: Floats, uniform: Floats, guesses: Codes, symbols: int
) -> Corrections:
    """Corrections from the proposals runs[word, number], whose logarithms of normalising constants are `proposed_logs`.

    There is a row for each word in `words`, its `logs` of normalising constants, `uniform` random numbers, one for each
    proposal, and `guesses`. For r releases, the logarithms are r times as large. Cost: the symbols of all runs.
    """
    number, length = words.shape
    proposed = runs.shape[1]
    wrong = np.zeros((length, symbols, number))
    own, missed, at = logs.copy(), np.zeros(number), words.copy()
    positions, lanes = np.arange(length)[:, None], np.arange(number)[None]
    every, ids = np.unique(np.concatenate([words, runs.reshape(-1, length)]), axis=0, return_inverse=True)
    ids = ids.ravel() + len(every) * np.concatenate([lanes[0], np.repeat(lanes[0], proposed)])
    at_id, run_ids, kept = ids[:number], ids[number:].reshape(number, proposed), []
    for step in range(proposed):
        with np.errstate(divide="ignore"):
            accepted = np.log(uniform[:, step]) < own - proposed_logs[:, step]
        at = np.where(accepted[:, None], runs[:, step], at)
        own = np.where(accepted, proposed_logs[:, step], own)
        at_id = np.where(accepted, run_ids[:, step], at_id)
        kept.append(at_id)
        np.add.at(wrong, (positions, at.T, lanes), 1.0 / proposed)
        np.add.at(wrong, (positions, runs[:, step].T, lanes), -1.0 / proposed)
        is_guess = (at == guesses).all(axis=1).astype(float) - (runs[:, step] == guesses).all(axis=1)
        missed += is_guess / proposed
    added, position = np.unique(np.concatenate([*kept, run_ids.ravel()]), return_inverse=True)
    more = np.bincount(position.ravel(), np.repeat([1.0, -1.0], number * proposed)) / proposed
    largest = np.zeros(number)
    np.maximum.at(largest, added // len(every), more)
    return Corrections(wrong, missed, largest)
