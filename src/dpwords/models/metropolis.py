"""Independence Metropolis–Hastings: from runs that are easy to draw to what is known of a word given its releases.

Let q be a distribution of words given releases that leaves out the normaliser Z of the mechanism. The word that was
drawn first, and then released, is an exact draw given its releases. So a chain that starts there, proposes runs drawn
from q, and accepts them by the ratio of normalisers consists of exact draws (docs/theory.md, section 17 e).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dpwords.core.encoding import Codes
from dpwords.core.scaled import Floats


class Corrections(NamedTuple):
    """What has to be added to probabilities under q, so that they become unbiased, for each of some words."""

    places: Floats  # [place, symbol, word]: to that of a symbol at a place
    guess: Floats  # to that of one guess of the whole word
    largest: Floats  # at most, to that of any word

    def hits(self, shares: Floats) -> tuple[Floats, Floats, Floats]:
        """From shares[place, symbol, word] under q, for each word: the chance of a hit at each place, its mean for the
        likeliest symbols under q, and that for the best ones, at most."""
        corrected = shares + self.places
        at_guess = np.take_along_axis(corrected, shares.argmax(axis=1)[:, None, :], axis=1)[:, 0].T
        most = corrected.max(axis=1).T
        return (at_guess + most) / 2, at_guess.mean(axis=1), most.mean(axis=1)


def corrections(
    words: Codes, runs: Codes, logs: Floats, proposed_logs: Floats, uniform: Floats, guesses: Codes, symbols: int
) -> Corrections:
    """Corrections from the proposals runs[word, number], whose logarithms of normalisers are `proposed_logs`.

    There is a row for each word in `words`, its `logs` of normalisers, `uniform` random numbers, one for each proposal,
    and `guesses`. For r releases, the logarithms are r times as large. Cost: the symbols of all runs.
    """
    number, length = words.shape
    proposed = runs.shape[1]
    wrong = np.zeros((length, symbols, number))
    own, missed, at = logs.copy(), np.zeros(number), words.copy()
    places, lanes = np.arange(length)[:, None], np.arange(number)[None]
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
        np.add.at(wrong, (places, at.T, lanes), 1.0 / proposed)
        np.add.at(wrong, (places, runs[:, step].T, lanes), -1.0 / proposed)
        is_guess = (at == guesses).all(axis=1).astype(float) - (runs[:, step] == guesses).all(axis=1)
        missed += is_guess / proposed
    added, place = np.unique(np.concatenate([*kept, run_ids.ravel()]), return_inverse=True)
    more = np.bincount(place.ravel(), np.repeat([1.0, -1.0], number * proposed)) / proposed
    largest = np.zeros(number)
    np.maximum.at(largest, added // len(every), more)
    return Corrections(wrong, missed, largest)
