"""Sums over true words and alignments of the edit channel, if lengths have a distribution of their own.

`model` is the named tuple `SeenWords` of dpwords.models.edit_model:

    first[b]         the chance that b is the first symbol of a word
    onward[a, b]     the chance that b comes after a, in a word that goes on
    lengths[i]       the proportion of words of i symbols
    gap[t]           the probability that one given word of t symbols is inserted
    deleted, kept, replaced
                     the probabilities that a symbol is deleted, kept, or replaced by one given other symbol

where `gap`, `kept` and `replaced` are multiplied by the number of symbols of the alphabet for each released symbol.
Rows of numbers are divided by their sum, whose logarithm is kept. Kernels release the GIL.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.edited import symbol_ahead, symbol_written, until_gap, with_gap

Array = Any


@compiled(inner=True, nogil=True)
def forward(word: Array, model: Any, written: Array, scale: Array) -> float:
    """The probabilities of the beginnings of true words; returns ln of the probability of the released word.

    written[i, b, j]·e^scale[i] is the probability that the i-th true symbol is b, and that it and all before it, with
    the gaps behind them, have become the first j released symbols. Entry [0, 0, j] is for the first gap alone.
    Cost: longest true length · symbols · released · (released / 2 + symbols).
    """
    symbols, last = len(model.first), len(word)
    moved = np.zeros((symbols, last + 1))
    written[0] = 0.0
    written[0, 0, :] = model.gap[: last + 1]
    scale[0] = 0.0
    total, top = model.lengths[0] * written[0, 0, last], 0.0
    for i in range(1, len(model.lengths)):
        before, after = written[i - 1], written[i]
        moved[:] = 0.0
        for b in range(symbols):
            for a in range(symbols if i > 1 else 1):
                chance = model.onward[a, b] if i > 1 else model.first[b]
                for j in range(last + 1):
                    moved[b, j] += chance * before[a, j]
        mass = 0.0
        for b in range(symbols):
            row = moved[b]
            symbol_written(row, word, b, model, row)
            with_gap(row, model.gap, after[b])
            for j in range(last + 1):
                mass += after[b, j]
        at_end = 0.0
        for b in range(symbols):
            for j in range(last + 1):
                after[b, j] /= mass
            at_end += after[b, last]
        scale[i] = scale[i - 1] + math.log(mass)
        if scale[i] > top:  # `total` is kept divided by e^top
            total, top = total * math.exp(top - scale[i]), scale[i]
        total += model.lengths[i] * at_end * math.exp(scale[i] - top)
    return top + math.log(total) if total > 0.0 else -np.inf


@compiled(inner=True, nogil=True)
def add_uses(word: Array, times: float, model: Any, written: Array, scale: Array, log_prob: float, uses: Array) -> None:
    """Add the expected steps of true words, from the sums of `forward`: rows of states, the first one is the start.

    uses[1 + a, b] counts the steps from a to b, and uses[1 + a, symbols] the words that end with a.
    Cost: twice that of `forward`.
    """
    symbols, last = len(model.first), len(word)
    rest, ahead = np.zeros((symbols, last + 1)), np.zeros((symbols, last + 1))
    for i in range(len(model.lengths) - 1, -1, -1):
        # ahead[b, j]: what follows if the next symbol is b behind j released ones, scaled as this layer is
        step = math.exp(scale[i] - scale[i + 1]) if i + 1 < len(model.lengths) else 0.0
        for b in range(symbols):
            gapped = ahead[b]
            if step > 0.0:
                until_gap(rest[b], model.gap, gapped)
                for j in range(last + 1):
                    gapped[j] *= step
                symbol_ahead(gapped, word, b, model, gapped)
            else:
                gapped[:] = 0.0
        ending = model.lengths[i] * math.exp(min(scale[i] - log_prob, 700.0))
        for a in range(symbols if i > 0 else 1):
            here, row = written[i, a], uses[1 + a] if i > 0 else uses[0]
            row[symbols] += times * ending * here[last]
            for b in range(symbols):
                chance, mass = model.onward[a, b] if i > 0 else model.first[b], 0.0
                for j in range(last + 1):
                    mass += here[j] * ahead[b, j]
                row[b] += times * chance * mass
            if i > 0:
                for j in range(last + 1):
                    found = ending if j == last else 0.0
                    for b in range(symbols):
                        found += model.onward[a, b] * ahead[b, j]
                    rest[a, j] = found


@compiled(nogil=True)
def add_uses_each(
    values: Array,
    ends: Array,
    begin: int,
    end: int,
    times: Array,
    position: Array,
    model: Any,
    uses: Array,
    logs: Array,
) -> None:
    """For released words begin, …, end − 1, set their ln-probabilities and add their uses to uses[position[word]].

    Word i is values[ends[i − 1]:ends[i]]. Cost: that of `forward` and `add_uses` for each word.
    """
    longest = 0
    for i in range(begin, end):
        longest = max(longest, ends[i] - (ends[i - 1] if i > 0 else 0))
    table = np.empty(len(model.lengths) * len(model.first) * (longest + 1))
    scale = np.empty(len(model.lengths))
    for i in range(begin, end):
        word = values[ends[i - 1] if i > 0 else 0 : ends[i]]
        shape = (len(model.lengths), len(model.first), len(word) + 1)
        written = table[: shape[0] * shape[1] * shape[2]].reshape(shape)
        logs[i] = forward(word, model, written, scale)
        if logs[i] > -np.inf:
            add_uses(word, times[i], model, written, scale, logs[i], uses[position[i]])
        logs[i] -= len(word) * math.log(len(model.first))
