"""Forward and backward passes over the hidden runs of many released words, several words side by side.

Hidden runs are those of a graph with edges k from source[k] to target[k], each with a factor. A pass over words of n
symbols has n layers. The edges that can be taken in layer t are order[begin[t]], …, order[begin[t + 1] − 1], and the
states that they lead to are reached[since[t]], …, reached[since[t + 1] − 1]; numbers of other states are never read. A
released symbol has a *row* of likelihood ratios: its row r multiplies the weight of state state[j] by times[j], for j
from first[r] to first[r + 1] − 1. All other states have weight 1.

Words are treated LANES at a time: arrays have one column for each of them, so that the innermost loops run over
consecutive numbers. Kernels release the GIL.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords._kernels.compiler import compiled

Array = Any
LANES = 32


@compiled(inner=True, nogil=True)
def _multiply(ratios: Any, rows: Array, begin: int, number: int, position: int, weights: Array) -> None:
    """Multiply the weights of states by the likelihood ratios of the released symbols at a position."""
    for lane in range(number):
        row = rows[begin + lane, position]
        for j in range(ratios.first[row], ratios.first[row + 1]):
            weights[ratios.state[j], lane] *= ratios.times[j]


@compiled(inner=True, nogil=True)
def _forward(layers: Any, factor: Array, ratios: Any, rows: Array, begin: int, number: int, ahead: Array) -> Array:
    """Fill ahead[t, s]: the probability of state s after t symbols given the released ones up to there.

    Returns the logarithms of the factors by which the layers were divided, summed over the layers, and these factors.
    """
    positions = rows.shape[1]
    scale = np.ones((positions + 1, LANES))
    ahead[0, 0] = 1.0
    for position in range(positions):
        here, there = ahead[position], ahead[position + 1]
        live = layers.reached[layers.since[position] : layers.since[position + 1]]
        for s in live:
            there[s] = 0.0
        for i in range(layers.begin[position], layers.begin[position + 1]):
            k = layers.order[i]
            before, after, f = here[layers.source[k]], there[layers.target[k]], factor[k]
            for lane in range(LANES):
                after[lane] += before[lane] * f
        _multiply(ratios, rows, begin, number, position, there)
        total = scale[position + 1]
        total[:] = 0.0
        for s in live:
            for lane in range(LANES):
                total[lane] += there[s, lane]
        for lane in range(LANES):
            if total[lane] == 0.0:
                total[lane] = 1.0
        for s in live:
            for lane in range(LANES):
                there[s, lane] /= total[lane]
    return scale


@compiled(inner=True, nogil=True)
def _ended(layers: Any, ending: Array, ahead: Array) -> Array:
    """The sum of the weights of all runs of each word, from the last layer of `ahead`."""
    positions = len(ahead) - 1
    last = np.zeros(LANES)
    for s in layers.reached[layers.since[positions - 1] :]:
        for lane in range(LANES):
            last[lane] += ahead[positions, s, lane] * ending[s]
    return last


@compiled(nogil=True)
def log_likelihoods(layers: Any, factor: Array, ending: Array, ratios: Any, rows: Array, found: Array) -> None:
    """found[i]: ln of the sum of the weights of all runs, for the released word in row i. Cost: words · edges of all
    layers."""
    ahead = np.zeros((rows.shape[1] + 1, len(ending), LANES))
    for begin in range(0, len(rows), LANES):
        number = min(LANES, len(rows) - begin)
        scale = _forward(layers, factor, ratios, rows, begin, number, ahead)
        last = _ended(layers, ending, ahead)
        for lane in range(number):
            whole = np.log(last[lane]) if last[lane] > 0.0 else -np.inf
            found[begin + lane] = np.log(scale[:, lane]).sum() + whole


@compiled(nogil=True)
def expected(
    layers: Any,
    factor: Array,
    ending: Array,
    ratios: Any,
    rows: Array,
    log_likelihood: Array,
    uses: Array,
    states: Array,
) -> None:
    """For each released word, what its hidden run is expected to be.

    log_likelihood[i] is as in `log_likelihoods`. uses[k, i] is increased by the expected number of uses of edge k. If
    `states` has one layer, states[0, s, i] is the probability that the run ends in state s, otherwise states[t, s, i]
    that it is in s after t + 1 symbols. Words without any run get no uses. Cost: words · edges of all layers.
    """
    positions, size = rows.shape[1], len(ending)
    ahead = np.zeros((positions + 1, size, LANES))
    back, onward = np.zeros((size, LANES)), np.zeros((size, LANES))
    used = np.zeros((len(layers.source), LANES))
    for begin in range(0, len(rows), LANES):
        number = min(LANES, len(rows) - begin)
        scale = _forward(layers, factor, ratios, rows, begin, number, ahead)
        used[:] = 0.0
        live, last = layers.reached[layers.since[positions - 1] :], _ended(layers, ending, ahead)
        for lane in range(LANES):
            if lane < number:
                found = np.log(last[lane]) if last[lane] > 0.0 else -np.inf
                log_likelihood[begin + lane] = np.log(scale[:, lane]).sum() + found
            last[lane] = 1.0 / last[lane] if last[lane] > 0.0 else 0.0
        for s in live:
            for lane in range(LANES):
                back[s, lane] = ending[s] * last[lane]
        for position in range(positions - 1, -1, -1):
            live = layers.reached[layers.since[position] : layers.since[position + 1]]
            if position == positions - 1 or len(states) > 1:
                at = states[position if len(states) > 1 else 0]
                for s in live:
                    for lane in range(number):
                        at[s, begin + lane] = ahead[position + 1, s, lane] * back[s, lane]
            for s in live:
                for lane in range(LANES):
                    onward[s, lane] = back[s, lane] / scale[position + 1, lane]
            _multiply(ratios, rows, begin, number, position, onward)
            if position > 0:
                for s in layers.reached[layers.since[position - 1] : layers.since[position]]:
                    back[s] = 0.0
            here = ahead[position]
            for i in range(layers.begin[position], layers.begin[position + 1]):
                k = layers.order[i]
                before, after = here[layers.source[k]], onward[layers.target[k]]
                behind, taken, f = back[layers.source[k]], used[k], factor[k]
                for lane in range(LANES):
                    value = f * after[lane]
                    behind[lane] += value
                    taken[lane] += before[lane] * value
        for k in range(len(used)):
            for lane in range(number):
                uses[k, begin + lane] += used[k, lane]


@compiled(nogil=True)
def sampled(
    layers: Any,
    incoming: Any,
    factor: Array,
    ending: Array,
    ratios: Any,
    rows: Array,
    uniform: Array,
    taken: Array,
) -> None:
    """taken[i, r]: the edges of the r-th hidden run drawn for the released word in row i, from its distribution.

    uniform[i, r] are numbers between 0 and 1, one more than the word has symbols. The edges into state s are
    incoming.edge[incoming.first[s]:incoming.first[s + 1]]; incoming.live[t, s] tells whether a run can be in state s
    after t symbols. Cost: that of `log_likelihoods`, and length · edges into a state for each run.
    """
    positions = rows.shape[1]
    ahead = np.zeros((positions + 1, len(ending), LANES))
    final = layers.reached[layers.since[positions - 1] :]
    for begin in range(0, len(rows), LANES):
        number = min(LANES, len(rows) - begin)
        _forward(layers, factor, ratios, rows, begin, number, ahead)
        last = _ended(layers, ending, ahead)
        for lane in range(number):
            for run in range(taken.shape[1]):
                left, state = uniform[begin + lane, run, positions] * last[lane], 0
                for s in final:
                    weight = ahead[positions, s, lane] * ending[s]
                    if weight > 0.0:
                        state = s
                        left -= weight
                        if left <= 0.0:
                            break
                for position in range(positions - 1, -1, -1):
                    mass = 0.0
                    for j in range(incoming.first[state], incoming.first[state + 1]):
                        k = incoming.edge[j]
                        if incoming.live[position, layers.source[k]]:
                            mass += ahead[position, layers.source[k], lane] * factor[k]
                    left, chosen = uniform[begin + lane, run, position] * mass, -1
                    for j in range(incoming.first[state], incoming.first[state + 1]):
                        k = incoming.edge[j]
                        if incoming.live[position, layers.source[k]]:
                            weight = ahead[position, layers.source[k], lane] * factor[k]
                            if weight > 0.0:
                                chosen = k
                                left -= weight
                                if left <= 0.0:
                                    break
                    taken[begin + lane, run, position] = chosen
                    state = layers.source[chosen]
