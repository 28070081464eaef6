"""Sums over all runs of a graph, weighted by their distance from a word.

`edges` is the named tuple of dpwords.spaces.graph, and values[d] the weight of distance d. Numbers of ways are divided
by the largest of their layer. Kernels release the GIL, so several threads may run at the same time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any


@compiled(nogil=True)
def forward(word: Array, edges: Any, start: int, ways: Array) -> float:
    """ways[i, s, e]: the number of ways to state s in i steps, e of which differ from the word, up to a factor for i.

    Returns the logarithm of the factor of the last layer. Cost: length² / 2 · edges.
    """
    length, states, log = len(word), len(edges.first) - 1, 0.0
    ways[0, :, :1] = 0.0
    ways[0, start, 0] = 1.0
    for i in range(length):
        here, there = ways[i], ways[i + 1]
        there[:, : i + 2] = 0.0
        for s in range(states):
            for k in range(edges.first[s], edges.first[s + 1]):
                more = 1 if edges.symbol[k] != word[i] else 0
                row = there[edges.target[k]]
                for e in range(i + 1):
                    row[e + more] += here[s, e]
        top = 0.0
        for s in range(states):
            for e in range(i + 2):
                top = max(top, there[s, e])
        for s in range(states):
            for e in range(i + 2):
                there[s, e] /= top
        log += math.log(top)
    return log


@compiled(nogil=True)
def log_totals(words: Array, edges: Any, start: int, accepting: Array, values: Array, logs: Array) -> None:
    """logs[i]: the logarithm of the sum of the weights of all runs for word i. Cost: words · length² / 2 · edges."""
    length, states = words.shape[1], len(accepting)
    ways = np.empty((length + 1, states, length + 1))
    for i in range(len(words)):
        log, total = forward(words[i], edges, start, ways), 0.0
        for s in range(states):
            if accepting[s]:
                for e in range(length + 1):
                    total += ways[length, s, e] * values[e]
        logs[i] = log + math.log(total)


@compiled(nogil=True)
def proportions(words: Array, edges: Any, start: int, accepting: Array, values: Array, found: Array) -> None:
    """found[i, j, a]: the proportion of the weight for word i that runs with symbol a at position j have.

    Cost: words · length² · (edges + states · length / 6).
    """
    length, states = words.shape[1], len(accepting)
    ways, ahead = np.empty((length + 1, states, length + 1)), np.empty((states, length + 1))
    after, before = np.empty((states, length + 1)), np.empty((states, length + 1))
    for i in range(len(words)):
        word = words[i]
        forward(word, edges, start, ways)
        for s in range(states):
            after[s, 0] = 1.0 if accepting[s] else 0.0
        for j in range(length - 1, -1, -1):
            left = length - j  # numbers of steps after position j are 0, …, left − 1
            for s in range(states):
                for e in range(j + 2):
                    total = 0.0
                    for d in range(left):
                        total += after[s, d] * values[e + d]
                    ahead[s, e] = total
            row, sum_of_all, top = found[i, j], 0.0, 0.0
            row[:] = 0.0
            before[:, : left + 1] = 0.0
            for s in range(states):
                for k in range(edges.first[s], edges.first[s + 1]):
                    t, more, mass = edges.target[k], 1 if edges.symbol[k] != word[j] else 0, 0.0
                    for e in range(j + 1):
                        mass += ways[j, s, e] * ahead[t, e + more]
                    row[edges.symbol[k]] += mass
                    sum_of_all += mass
                    for d in range(left):
                        before[s, d + more] += after[t, d]
                for d in range(left + 1):
                    top = max(top, before[s, d])
            for a in range(len(row)):
                row[a] /= sum_of_all
            for s in range(states):
                for d in range(left + 1):
                    after[s, d] = before[s, d] / top
