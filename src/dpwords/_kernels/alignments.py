"""Sums over all true words and alignments that lead to released words of the edit channel.

The true words come from a Markov chain. Its state is 0 before the first symbol of a word and 1 + a after symbol a. The
channel writes a *gap*, an inserted word, in every state, and the chain then ends or takes one more symbol. `model` is
the named tuple `SeenChain` of dpwords.models.alignments:

    through[s, b]    the chances of getting from state s to symbol b over any number of symbols that leave nothing
    backward[b, s]   the same, transposed
    ending[s]        the chance that a word ends in state s
    empty            the probability that a gap is empty
    longer[t]        the probability that a gap is one given word of t + 1 symbols, divided by the same for t symbols
    deleted, kept, replaced
                     the probabilities that a symbol is deleted, kept, or replaced by one given other symbol

Here a symbol *leaves nothing* if it is deleted and the gap behind it is empty. All rows of numbers are divided by their
largest entry, whose logarithm is kept, so that long words do not underflow. The probabilities of long gaps come from
those of shorter ones, divided in the same way: what then underflows is less than 1e-290 of the row it is added to.
Kernels release the GIL, so several threads may run at the same time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def forward(word: Array, model: Any, read: Array, written: Array, scale: Array) -> None:
    """The probabilities of the beginnings of a released word.

    read[j, s]·e^scale[j] is the probability that the chain gets to state s with exactly the first j released symbols
    produced when it arrives, and written[j, s]·e^scale[j] that it is there with j produced after the gap.
    Cost: states · (length² / 2 + length · symbols).
    """
    states, symbols = model.through.shape
    moved, gap, base = np.zeros(symbols), np.empty(len(word) + 1), 0.0
    for j in range(
        len(word) + 1
    ):  # gap[i]: the probability of a gap between rows i and j, scaled from one to the other
        here, after = read[j], written[j]
        after[:] = 0.0
        for i in range(j):
            for s in range(states):
                after[s] += gap[i] * read[i, s]
        here[0] = 1.0 if j == 0 else 0.0
        for b in range(symbols):  # moved[b]: b is the next true symbol after j − 1 released ones
            here[1 + b] = model.replaced * moved[b]
        if j > 0:
            own = word[j - 1]
            here[1 + own] = model.kept * moved[own]
        moved[:] = 0.0
        for s in range(states):
            mass = after[s] + model.empty * here[s]
            if mass > 0.0:
                for b in range(symbols):
                    moved[b] += mass * model.through[s, b]
        for b in range(symbols):
            here[1 + b] += model.deleted * moved[b]
        top = 0.0
        for s in range(states):
            after[s] += model.empty * here[s]
            top = max(top, after[s])
        for s in range(states):
            here[s] /= top
            after[s] /= top
        for b in range(symbols):
            moved[b] /= top
        for i in range(j):
            gap[i] *= model.longer[j - i] / top
        gap[j] = model.longer[0] * model.empty
        base += math.log(top)
        scale[j] = base


@compiled(inner=True, nogil=True)
def add_uses(word: Array, times: float, model: Any, written: Array, scale: Array, rest: Array, uses: Array) -> float:
    """Add the expected uses of the chain's steps in `times` copies of a released word, and return its ln-probability.

    `written` and `scale` come from `forward`. uses[s, b], with b = symbols for the end, still has to be multiplied by
    the chance of that step. rest[j, s] is the probability that a chain in state s, after the gap, produces the released
    symbols from the j-th on, up to a factor for each j. Cost: states · (length² / 2 + 2 · length · symbols).
    """
    states, symbols = model.through.shape
    last = len(word)
    total = 0.0
    for s in range(states):
        total += written[last, s] * model.ending[s]
    if total == 0.0:
        return -np.inf
    log_prob = scale[last] + math.log(total)
    for s in range(states):
        uses[s, symbols] += times * written[last, s] / total
    before, later, step = np.zeros(states), np.empty(states), np.empty(symbols)
    gap, base = np.empty(last + 1), 0.0
    for j in range(last, -1, -1):
        here = rest[j]
        later[:] = 0.0
        for i in range(j + 1, last + 1):
            for s in range(states):
                later[s] += gap[i] * rest[i, s]
        for b in range(symbols):  # step[b]: b is the next true symbol, and everything behind it fits
            step[b] = model.deleted * later[1 + b] + model.replaced * before[1 + b]
        if j < last:
            own = word[j]
            step[own] = model.deleted * later[1 + own] + model.kept * before[1 + own]
        vanishing, at_end = model.deleted * model.empty, 1.0 if j == last else 0.0
        for s in range(states):
            here[s] = at_end * model.ending[s]
        for b in range(symbols):
            mass = step[b] + at_end * vanishing * model.ending[1 + b]
            if mass > 0.0:
                for s in range(states):
                    here[s] += mass * model.backward[b, s]
        top = 0.0
        for b in range(symbols):
            step[b] += vanishing * here[1 + b]
        for s in range(states):  # before[s]: the same as rest[j, s], but before the gap
            before[s] = later[s] + model.empty * here[s]
            top = max(top, before[s])
        for s in range(states):
            here[s] /= top
            before[s] /= top
        for i in range(j + 1, last + 1):
            gap[i] *= model.longer[i - j] / top
        gap[j] = model.longer[0] * model.empty
        base += math.log(top)
        factor = times * math.exp(scale[j] + base - log_prob) / top
        for s in range(states):
            mass = factor * written[j, s]
            if mass > 0.0:
                for b in range(symbols):
                    uses[s, b] += mass * step[b]
    return float(log_prob)


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
    shape = (longest + 1, model.through.shape[0])
    read, written, rest = np.empty(shape), np.empty(shape), np.empty(shape)
    scale = np.empty(longest + 1)
    for i in range(begin, end):
        word = values[ends[i - 1] if i > 0 else 0 : ends[i]]
        forward(word, model, read, written, scale)
        logs[i] = add_uses(word, times[i], model, written, scale, rest, uses[position[i]])
