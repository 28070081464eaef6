"""The probability that the edit channel turns one word into another: a sum over all alignments of the two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(inner=True)
def log_sum(one: float, other: float) -> float:
    """ln(e^one + e^other)."""
    if one < other:
        one, other = other, one
    return one if other == -np.inf else one + math.log1p(math.exp(other - one))


@compiled()
def log_prob(word: Array, output: Array, deleted: float, kept: float, replaced: float, inserted: Array) -> float:
    """ln of the probability that the channel turns `word` into `output`.

    The other arguments are logarithms of the probabilities that a symbol is deleted, kept, or replaced by one given
    other symbol, and that one given word of t symbols is inserted. After each symbol of the word and the gap behind it,
    here[j] is ln of the probability that exactly the first j symbols of the output have been produced.
    Cost: length of the word · (length of the output)².
    """
    size = len(output) + 1
    here, read = inserted.copy(), np.empty(size)
    for symbol in word:
        for j in range(size):
            read[j] = here[j] + deleted
            if j > 0:
                read[j] = log_sum(read[j], here[j - 1] + (kept if output[j - 1] == symbol else replaced))
        for j in range(size):
            top = -np.inf
            for t in range(j + 1):
                top = max(top, read[j - t] + inserted[t])
            total = 0.0
            for t in range(j + 1):
                total += math.exp(read[j - t] + inserted[t] - top)
            here[j] = top + math.log(total)
    return float(here[size - 1])


@compiled(nogil=True)
def log_probs(
    words: Array,
    shared: Array,
    output: Array,
    deleted: float,
    kept: float,
    replaced: float,
    inserted: Array,
    logs: Array,
) -> None:
    """logs[i]: the same for words[i] as `log_prob`, from probabilities instead of their logarithms.

    shared[i] is the number of first symbols that words[i] has in common with the word before it, for which nothing is
    computed again. Where probabilities underflow, the result is −inf.
    Cost: symbols that are not shared · (length of the output)² / 2.
    """
    size, length = len(output) + 1, words.shape[1]
    rows, scale, read = np.zeros((length + 1, size)), np.zeros(length + 1), np.empty(size)
    rows[0] = inserted[:size]
    for i in range(len(words)):
        for position in range(shared[i], length):
            before, after, symbol = rows[position], rows[position + 1], words[i, position]
            read[0] = deleted * before[0]
            for j in range(1, size):
                read[j] = deleted * before[j] + (kept if output[j - 1] == symbol else replaced) * before[j - 1]
            top = 0.0
            for j in range(size):
                total = 0.0
                for t in range(j + 1):
                    total += inserted[t] * read[j - t]
                after[j] = total
                top = max(top, total)
            for j in range(size):
                after[j] /= top
            scale[position + 1] = scale[position] + math.log(top)
        last = rows[length, size - 1]
        logs[i] = scale[length] + math.log(last) if last > 0.0 else -np.inf
