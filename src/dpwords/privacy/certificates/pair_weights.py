"""Public weights under which all pairs of words have nearly the same normalising constant (docs/theory.md, section 9).

An edge has a weight for each position at which words can take it. Weights are found by turns: a proof that fails shows
pairs of words that are above the limit, and the weights are changed until all pairs seen so far are below it. They are
public, since nothing but the language, ε and the length determines them, and they are a part of the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.scaled import Floats, Integers, indicator, normalised
from dpwords.privacy.certificates.certificate import on_grid
from dpwords.privacy.certificates.pairs import PairProofs
from dpwords.privacy.certificates.reweighted_blocks import Tick
from dpwords.privacy.certificates.rounding import price
from dpwords.privacy.certificates.tuning import (
    AIM,
    DESCENT,
    DESCENT_ROUNDS,
    FIRST_RISE,
    FITTING_TIME,
    LEAST_RISE,
    MOST_FITS,
    MOST_PAIRS,
    NEAR_LIMIT,
    SECONDS_A_STEP,
)
from dpwords.spaces.graph import Graph

_ONE = 2**16  # weights are multiples of 2^(−16), up to 1


class Fitted(NamedTuple):
    """A rate that was proven with weights of edges; the weights are multiples of 2^(−16)."""

    c: float
    weights: tuple[int, ...]


def weighted_pairs(graph: Graph, length: int, weights: Sequence[int]) -> Graph | None:
    """The words of one length, with states of their own for each position, and weights of all edges.

    None if these are not so many weights. Cost: length · edges.
    """
    active = graph.live(length) & graph.useful(length)
    number = (np.cumsum(active) - 1).reshape(active.shape)
    layer, edge = np.nonzero(active[:-1, graph.sources] & active[1:, graph.target])
    if len(weights) != len(edge) or not all(0 < each <= _ONE for each in weights):
        return None
    source, target, size = number[layer, graph.sources[edge]], number[layer + 1, graph.target[edge]], int(active.sum())
    accepting = np.zeros(size, dtype=np.bool_)
    accepting[number[-1, active[-1]]] = True
    return Graph(
        graph.alphabet, int(number[0, graph.start]), graph.symbol[edge], target,
        np.searchsorted(source, np.arange(size + 1)), accepting,
        weight=normalised(np.array(weights) / _ONE, np.zeros(len(edge), dtype=np.int64)), ending=indicator(accepting),
    )  # fmt: skip


def fit(pairs: PairProofs, epsilon: float, least: float, tick: Tick = lambda: None) -> Fitted | None:
    """The largest rate above `least` that was proven with weights; None if none was.

    Rates are tried in steps, which are halved when one is given up: when even the pairs of words that were seen cannot
    be brought below the limit, when a proof fails without a pair above it, or after some fits. The work of all is
    limited, in steps and not in seconds, so that all machines find the same.
    """
    seen, found, weights = pairs.no_pairs, None, np.full(int(pairs.layers.begin.max(axis=1).sum()), _ONE)
    holds, step, fits = least, FIRST_RISE * epsilon, 0
    work = int(FITTING_TIME * pairs.limits.certificate_time / SECONDS_A_STEP)
    while work > 0 and step > LEAST_RISE * epsilon:
        c = on_grid(min(holds + step, epsilon), epsilon)
        graph = weighted_pairs(pairs.graph, pairs.length, weights.tolist())
        assert graph is not None
        proofs = replace(pairs, graph=graph)
        verdict = proofs.verdict(c, epsilon - c, tick)
        work, given_up = work - verdict.work, False
        if verdict.proven:
            holds, fits, found = c, 0, Fitted(c, tuple(weights.tolist()))
        elif not len(verdict.pairs) or proofs.losses(price(c), verdict.pairs).max() <= epsilon - c:
            given_up = True
        else:
            seen = np.unique(np.concatenate([seen, verdict.pairs]), axis=0)
            weights, losses, steps = _lowered(proofs, c, epsilon - c, seen)
            work, fits = work - steps, fits + 1
            seen = seen[np.argsort(-losses, kind="stable")[:MOST_PAIRS]]
            given_up = fits == MOST_FITS or bool(losses.max() > epsilon - c)
        if given_up:
            step, fits = step / 2, 0
    return found


def _lowered(proofs: PairProofs, c: float, limit: float, seen: Integers) -> tuple[Integers, Floats, int]:
    """Weights under which pairs of words lose less, what each of them loses then, and the steps that it took."""
    layers, codes = proofs.layers, proofs.codes(seen)
    apart = (codes[:, 0] != codes[:, 1]).sum(axis=1).astype(np.float64)
    found, losses, rounds = kernel("pair_weights").descended(
        layers, price(c), seen, apart, DESCENT_ROUNDS, DESCENT, NEAR_LIMIT * limit, AIM * limit
    )
    flat = found[layers.weight > 0.0]
    return np.maximum(np.rint(flat / flat.max() * _ONE), 1).astype(np.int64), losses, 8 * rounds * len(seen) * len(flat)
