"""Weights of edges under which pairs of words have nearly the same normalising constant (docs/theory.md, section 9).

Only the search for weights is here. Whatever it returns, a proof over all pairs decides.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled
from dpwords._kernels.pairs import LayersOfEdges, log_constants

Array = Any
LITTLE = 1e-4  # less of a pair, or of a gradient, is not noticed


@compiled(error_model="numpy")
def use(layers: LayersOfEdges, z: float, word: Array, times: float, forward: Array, into: Array) -> None:
    """Add, for each edge, the probability that an output of this word takes it, so many times."""
    n, width = len(layers.size) - 1, len(layers.ending)
    forward[0] = 0.0
    forward[0, layers.source[0, word[0]]] = 1.0
    for i in range(n):
        forward[i + 1] = 0.0
        own = layers.symbol[i, word[i]]
        for e in range(layers.begin[i, layers.size[i]]):
            term = forward[i, layers.source[i, e]] * layers.weight[i, e]
            forward[i + 1, layers.target[i, e]] += term if layers.symbol[i, e] == own else term * z
        forward[i + 1] /= forward[i + 1].max()
    after, before = layers.ending.copy(), np.zeros(width)
    for i in range(n - 1, -1, -1):
        own, total = layers.symbol[i, word[i]], 0.0
        before[:] = 0.0
        for e in range(layers.begin[i, layers.size[i]]):
            term = layers.weight[i, e] * after[layers.target[i, e]]
            before[layers.source[i, e]] += term if layers.symbol[i, e] == own else term * z
        for s in range(layers.size[i]):
            total += forward[i, s] * before[s]
        for e in range(layers.begin[i, layers.size[i]]):
            term = forward[i, layers.source[i, e]] * layers.weight[i, e] * after[layers.target[i, e]]
            into[i, e] += times / total * (term if layers.symbol[i, e] == own else term * z)
        after[:] = before / before.max()


@compiled(error_model="numpy")
def descended(
    layers: LayersOfEdges, z: float, pairs: Array, apart: Array, rounds: int, rate: float, near: float, enough: float
) -> tuple[Array, Array, int]:
    """Weights that lower the largest |ln Z(x′) − ln Z(x)| / d over pairs of words, until it is `enough` or less.

    Each round goes down the mean over the pairs that are within `near` of the largest, more for those that are closer
    to it. It is scaled by means of past gradients and of their squares (Adam). No exponential is needed: a step s
    multiplies a weight by (2 + s)/(2 − s). Returns the losses of the pairs, too, and the number of rounds.
    """
    n, number = len(layers.size) - 1, len(pairs)
    weight, losses, total = layers.weight.copy(), np.zeros(number), 0.0
    mean, square, gradient = np.zeros(weight.shape), np.zeros(weight.shape), np.zeros(weight.shape)
    forward, fades, slow = np.zeros((n + 1, len(layers.ending))), 1.0, 1.0
    words = pairs.copy().reshape(2 * number, n)
    for done in range(rounds + 1):
        now = LayersOfEdges(
            layers.source, layers.symbol, layers.target, weight, layers.begin, layers.size, layers.ending,
            layers.branching,
        )  # fmt: skip
        logs = log_constants(now, z, words)
        for t in range(number):
            losses[t] = abs(logs[2 * t + 1] - logs[2 * t]) / apart[t]
        most = losses.max()
        if most <= enough or done == rounds:
            break
        total = 0.0
        for t in range(number):
            total += max(1.0 - (most - losses[t]) / near, 0.0) ** 2
        gradient[:] = 0.0
        for t in range(number):
            part = max(1.0 - (most - losses[t]) / near, 0.0) ** 2 / total
            if part > LITTLE:
                times = (part if logs[2 * t + 1] > logs[2 * t] else -part) / apart[t]
                use(now, z, words[2 * t + 1], times, forward, gradient)
                use(now, z, words[2 * t], -times, forward, gradient)
        fades, slow = 0.9 * fades, 0.99 * slow
        for i in range(n):
            for e in range(layers.begin[i, layers.size[i]]):
                mean[i, e] = 0.9 * mean[i, e] + 0.1 * gradient[i, e]
                square[i, e] = 0.99 * square[i, e] + 0.01 * gradient[i, e] ** 2
                scale = math.sqrt(square[i, e] / (1.0 - slow)) + LITTLE
                step = rate * (mean[i, e] / (1.0 - fades)) / scale
                weight[i, e] *= (2.0 - step) / (2.0 + step)
    return weight, losses, done
