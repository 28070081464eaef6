"""Unbiased estimates from releases of the edit channel, whatever the population is (docs/theory.md, section 15 d).

A released symbol s counts as u(a) = [s = a] − 1/m for each symbol a of the alphabet, whose mean is 0 for inserted
symbols. Let z = −δ/(1 − δ), where δ is the probability of a deletion. If two released symbols that are e positions
apart count with the weight z^(e−1), the contributions of true symbols that are not next to each other cancel, because
the generating function of what one true symbol leaves is 0 at z.
"""

from __future__ import annotations

import math

import numpy as np

from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Ragged
from dpwords.estimate.edit_answers import EditQuestion, counted_edits, least_error
from dpwords.estimate.inversion import Inverted
from dpwords.estimate.uncertainty import scaled_to
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.space import batches


def is_invertible(channel: Channel) -> bool:
    """Whether counts can be inverted: less than half of the symbols are deleted, and what is kept shows."""
    return channel.probabilities[0] < 0.5 and not channel.only_length_shows


def inverted_edits(
    releases: Ragged, channel: Channel, kind: EditQuestion, limits: Limits, joint: bool = False
) -> Inverted:
    """The answers to a question about symbols; with `joint`, also their covariances.

    Cost: the symbols of all releases, and for pairs the square of the alphabet for each of them; for covariances the
    square of the answers for each release.
    """
    m = channel.symbols
    number = m * m if kind == "pair" else m
    total, whole, moments = np.zeros(number), 0.0, np.zeros((2, number))
    squared_sizes, products = 0.0, np.zeros((number, number)) if joint else None
    for numbers in releases.by_length():
        rows = releases.rows(numbers)
        for part in batches(len(rows), number + m * rows.shape[1], limits):
            answers, sizes = unbiased_answers(rows[part], channel, kind)
            total, whole = total + answers.sum(axis=0), whole + float(sizes.sum())
            moments += [(answers**2).sum(axis=0), sizes @ answers]
            squared_sizes += float(sizes @ sizes)
            if products is not None:
                products += answers.T @ answers
    counted = counted_edits(releases, m, kind)
    if whole <= 0:  # as far as these releases tell, no word gives any answer
        return Inverted(np.full(number, 1 / number), np.full(number, math.inf), counted)
    proportions = total / whole
    spread = moments[0] - 2 * proportions * moments[1] + proportions**2 * squared_sizes
    least = least_error(channel, max(whole, 1.0), 2 if kind == "pair" else 1)
    errors = np.maximum(np.sqrt(np.maximum(spread, 0.0)) / whole, least)
    if products is None:
        return Inverted(proportions, errors, counted)
    crossed = np.outer(proportions, moments[1])
    apart = products - crossed - crossed.T + np.outer(proportions, proportions) * squared_sizes
    return Inverted(proportions, errors, counted, scaled_to(apart, errors))


def unbiased_answers(rows: Floats, channel: Channel, kind: EditQuestion) -> tuple[Floats, Floats]:
    """For each release of one length, unbiased estimates of the answers of its true word, and of their number."""
    m, length = channel.symbols, rows.shape[1]
    deleted, kept, replaced = channel.probabilities
    z = -deleted / (1 - deleted)
    shown = kept - replaced / max(m - 1, 1) if m > 1 else 1 - deleted  # what is left of a difference between symbols
    gap = _generating(channel, z)
    each: Floats = (rows[:, :, None] == np.arange(m)) - 1 / m  # u
    powers = z ** np.arange(length) / gap
    empty = np.full(len(rows), z**length / gap)  # has the mean 1 for the empty word, and 0 for all others
    size = np.full(len(rows), (length - channel.inserted) / (1 - deleted + channel.inserted))
    first, last = (np.einsum("nja,j->na", side, powers) / shown for side in (each, each[:, ::-1]))
    if kind in ("first", "last"):
        some = 1 - empty
        return (first if kind == "first" else last) + some[:, None] / m, some
    symbols = each.sum(axis=1) / shown
    if kind == "each":
        return symbols + size[:, None] / m, size
    before = np.zeros_like(each)  # for each position the weighted sum of all that come before it
    for position in range(1, length):
        before[:, position] = each[:, position - 1] + z * before[:, position - 1]
    pairs = before.transpose(0, 2, 1) @ each / (gap * shown**2)
    number = size - 1 + empty
    pairs += ((symbols - last)[:, :, None] + (symbols - first)[:, None, :]) / m + (number / m**2)[:, None, None]
    return pairs.reshape(len(rows), -1), number


def _generating(channel: Channel, z: float) -> float:
    """Σ h(t)·z^t, where h(t) is the probability that t symbols are inserted in a gap, for z between −1 and 1.

    An inserted word is empty, two words, or two words around a symbol, so the sum solves H = e + (d + a·z)·H².
    """
    empty, double, around = channel.tree
    return 2 * empty / (1 + math.sqrt(1 - 4 * empty * (double + around * z)))
