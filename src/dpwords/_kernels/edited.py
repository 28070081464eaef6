"""What released words of the edit channel tell about true words of a known length that come from a Markov chain.

`chain` and `channel` are the named tuples of dpwords.models.edited. An edge of the chain leads to a state, and each
state but the first, 0, stands for a symbol. The channel writes a *gap*, an inserted word, before each symbol and at the
end. A *row* has a number for each state and each number j of released symbols that have been written. All rows are
divided by their sum, whose logarithm is kept; what then underflows is less than 1e-290 of the row.
Kernels release the GIL, so several threads may run at the same time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(inner=True, nogil=True)
def scaled(row: Array) -> float:
    """Divide numbers by their sum; returns the logarithm of the sum, −inf if it is 0."""
    total = 0.0
    for j in range(len(row)):
        total += row[j]
    if total <= 0.0:
        return -math.inf
    for j in range(len(row)):
        row[j] /= total
    return math.log(total)


@compiled(inner=True, nogil=True)
def product(one: Array, other: Array) -> float:
    """The sum of the products of two rows."""
    total = 0.0
    for j in range(len(one)):
        total += one[j] * other[j]
    return total


@compiled(inner=True, nogil=True)
def with_gap(before: Array, gap: Array, after: Array) -> None:
    """after[j]: the sum over gaps of t symbols that follow j − t written ones. Cost: length² / 2."""
    for j in range(len(before)):
        total = 0.0
        for t in range(j + 1):
            total += gap[t] * before[j - t]
        after[j] = total


@compiled(inner=True, nogil=True)
def until_gap(after: Array, gap: Array, before: Array) -> None:
    """before[j]: the sum over gaps of t symbols that lead to j + t written ones. Cost: length² / 2."""
    for j in range(len(after)):
        total = 0.0
        for t in range(len(after) - j):
            total += gap[t] * after[j + t]
        before[j] = total


@compiled(inner=True, nogil=True)
def symbol_written(before: Array, word: Array, code: int, channel: Any, after: Array) -> None:
    """after[j]: a true symbol was deleted behind j written ones, or it was written as symbol j, kept or replaced.

    The two rows may be the same, here and in `symbol_ahead`.
    """
    for j in range(len(before) - 1, 0, -1):
        proportion = channel.kept if word[j - 1] == code else channel.replaced
        after[j] = channel.deleted * before[j] + proportion * before[j - 1]
    after[0] = channel.deleted * before[0]


@compiled(inner=True, nogil=True)
def symbol_ahead(after: Array, word: Array, code: int, channel: Any, before: Array) -> None:
    """before[j]: the same, summed over what comes after j written symbols."""
    last = len(after) - 1
    for j in range(last):
        proportion = channel.kept if word[j] == code else channel.replaced
        before[j] = channel.deleted * after[j] + proportion * after[j + 1]
    before[last] = channel.deleted * after[last]


@compiled(nogil=True)
def backward(word: Array, chain: Any, channel: Any, best: bool, ahead: Array) -> float:
    """ahead[i, s, j]: the chance of all that follows if true symbol i leads to state s, behind j written symbols.

    The symbol and the gap behind it are part of what follows. Chances are summed over all endings of the true word;
    with `best` only the ending with the largest sum is taken, anew for each s and j. Returns the logarithm of the
    chance of the released word, summed over true words in the same way. Cost: length · (edges · released + states ·
    released²).
    """
    positions, states, width = len(chain.steps), len(chain.code), len(word) + 1
    here, gapped, scale = np.zeros((states, width)), np.zeros(width), 0.0
    here[:, width - 1] = 1.0
    for position in range(positions - 1, -1, -1):
        row = ahead[position]
        row[0] = 0.0
        for s in range(1, states):
            until_gap(here[s], channel.gap, gapped)
            symbol_ahead(gapped, word, chain.code[s], channel, row[s])
        scale += scaled(row.reshape(-1))
        here[:] = 0.0
        for e in range(len(chain.source)):
            chance, start, end = chain.steps[position, e], here[chain.source[e]], row[chain.target[e]]
            if chance > 0.0:
                for j in range(width):
                    if best:
                        start[j] = max(start[j], chance * end[j])
                    else:
                        start[j] += chance * end[j]
    until_gap(here[0], channel.gap, gapped)
    return scale + (math.log(gapped[0]) if gapped[0] > 0.0 else -math.inf)


@compiled(nogil=True)
def proportions_of(word: Array, chain: Any, channel: Any, ahead: Array, proportions: Array) -> None:
    """proportions[i, a]: the probability that position i of the true word has symbol a, from the sums of `backward`."""
    positions, states, width = len(chain.steps), len(chain.code), len(word) + 1
    here, entered, written = np.zeros((states, width)), np.zeros((states, width)), np.zeros(width)
    here[0, :] = channel.gap[:width]
    for position in range(positions):
        entered[:] = 0.0
        for e in range(len(chain.source)):
            chance, start, end = chain.steps[position, e], here[chain.source[e]], entered[chain.target[e]]
            if chance > 0.0:
                for j in range(width):
                    end[j] += chance * start[j]
        scaled(entered.reshape(-1))
        proportions[position] = 0.0
        for s in range(1, states):
            proportions[position, chain.symbol[s]] += product(entered[s], ahead[position, s])
            symbol_written(entered[s], word, chain.code[s], channel, written)
            with_gap(written, channel.gap, here[s])
        scaled(proportions[position])
        here[0] = 0.0


@compiled(nogil=True)
def guess_of(word: Array, chain: Any, channel: Any, ahead: Array, symbols: Array) -> float:
    """A true word that is likely, symbol by symbol: the one with the largest chance by `ahead`, given those before.

    Returns the logarithm of the joint probability of that word and the released one, summed over all alignments.
    Cost: length · edges of a state · released, and length · released².
    """
    width, state, scale = len(word) + 1, 0, 0.0
    here, after = channel.gap[:width].copy(), np.zeros(width)
    for position in range(len(chain.steps)):
        largest, chosen = -1.0, -1
        for e in range(chain.first[state], chain.first[state + 1]):
            end = chain.target[e]
            value = chain.steps[position, e] * product(here, ahead[position, end])
            if value > largest:
                largest, chosen = value, e
        state = chain.target[chosen]
        symbols[position] = chain.symbol[state]
        symbol_written(here, word, chain.code[state], channel, after)
        with_gap(after, channel.gap, here)
        scale += scaled(here) + math.log(chain.steps[position, chosen])
    return scale + (math.log(here[width - 1]) if here[width - 1] > 0.0 else -math.inf)


@compiled(nogil=True)
def guessed_each(
    words: Array, ends: Array, begin: int, end: int, chain: Any, channel: Any, hits: Array, whole: Array, most: Array
) -> None:
    """For released words begin, …, end − 1: hits at each position, the chance of a guess of the whole, and its
    bound."""
    positions, states = len(chain.steps), len(chain.code)
    proportions, symbols = np.zeros((positions, chain.alphabet)), np.zeros(positions, dtype=np.int64)
    for i in range(begin, end):
        word = words[ends[i - 1] if i > 0 else 0 : ends[i]]
        ahead = np.zeros((positions, states, len(word) + 1))
        total = backward(word, chain, channel, False, ahead)
        proportions_of(word, chain, channel, ahead, proportions)
        most[i] = 1.0
        for position in range(positions):
            for a in range(chain.alphabet):
                hits[i, position] = max(hits[i, position], proportions[position, a])
            most[i] = min(most[i], hits[i, position])
        bound = backward(word, chain, channel, True, ahead)
        most[i] = min(most[i], math.exp(min(bound - total, 0.0)))
        whole[i] = min(math.exp(guess_of(word, chain, channel, ahead, symbols) - total), most[i])
