"""Expectation–maximisation where the normalising constant of the mechanism depends on the private word.

A release tells about its run x through e^(−c·d(x,w))/Z(x). Sums over runs need Z(x) as a product over a run, which it
is not. So ln Z(x) is approximated by a sum over *windows*, that is over pairs of consecutive steps, fitted where it
matters: on runs drawn from their distribution given each release. What is left unexplained is then uncorrelated, within
a release, with every window, and so with every count that the estimates are made of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.models.fitting import Fit, ProgressLine, fit
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.run_evidence import RunEvidence, SameLength
from dpwords.models.tuning import RIDGE, ROUND_STEPS, ROUNDS, RUNS, SAMPLED_RELEASES, STILL, UNIFORM_RUNS
from dpwords.spaces.space import Space

_SOLVER_STEPS = 200


class Windows:
    """ln Z of words of one length as a sum over windows and the end of a run."""

    def __init__(self, words: SameLength, constants: NormalisingConstants, space: Space) -> None:
        self.hidden, self.constants, self.length = words.hidden, constants, words.length
        self.values = np.zeros(len(self.hidden.source) + self.hidden.size)
        rows = np.asarray(list(space.uniform(self.length, UNIFORM_RUNS, SeededSource("uniform runs").open())))
        self._improve(self.hidden.taken(rows), np.zeros(len(rows), dtype=np.int64))

    def weighted(self, words: SameLength) -> SameLength:
        """The same words, where runs have the weight 1/Z as it is approximated."""
        number, weights = len(self.hidden.source), np.exp(-self.values)
        return replace(words, factor=weights[:number], ending=weights[number:])

    def improve(self, words: SameLength, chances: Floats, round_number: int) -> float:
        """Fit what is left unexplained, on runs drawn given some of the releases; return its standard deviation."""
        some = words.thinned(max(len(words.times) // SAMPLED_RELEASES, 1))
        taken = some.sampled(chances, RUNS, SeededSource(f"runs of round {round_number}").open())
        release = np.repeat(np.arange(len(taken)), RUNS)
        return self._improve(taken.reshape(-1, self.length), release)

    def _improve(self, taken: Integers, release: Integers) -> float:
        hidden = self.hidden
        symbols = hidden.symbol[hidden.target[taken]]
        columns = np.concatenate([taken, len(hidden.source) + hidden.target[taken[:, -1:]]], axis=1)
        left = self.constants.logs(symbols) - self.values[columns].sum(axis=1)
        self.values += _regressed(columns, left, release, len(self.values))
        left = self.constants.logs(symbols) - self.values[columns].sum(axis=1)
        return float((left - _means(left, release)[release]).std())


def fit_corrected(
    evidence: RunEvidence,
    constants: list[NormalisingConstants | None],
    space: Space,
    start: Floats,
    progress: ProgressLine | None,
) -> tuple[RunEvidence, Fit]:
    """The fit, and the evidence with the approximated normalising constants. The evidence must be of pairs of steps.

    There is None instead of normalising constants for lengths at which they are the same for all words.
    Cost: some hundred passes.
    """
    pairs = zip(evidence.lengths, constants, strict=True)
    windows = [None if each is None else Windows(words, each, space) for words, each in pairs]
    found, before = Fit(start, -np.inf, 0, False), np.zeros(0)
    for number in range(ROUNDS):
        weighted = zip(windows, evidence.lengths, strict=True)
        lengths = tuple(words if each is None else each.weighted(words) for each, words in weighted)
        evidence = replace(evidence, lengths=lengths)
        found = fit(evidence, found.chances, most=ROUND_STEPS)
        uses = evidence.expected(found.chances)[1]
        moved = float(np.abs(uses - before).sum() / uses.sum()) if number else 1.0
        found, before = replace(found, converged=moved < STILL), uses
        drawn = [(each, words) for each, words in zip(windows, lengths, strict=True) if each is not None]
        left = [each.improve(words, found.chances, number) for each, words in drawn]
        if progress is not None:
            unexplained = f"{max(left):.3f} of the normalising constants' logarithm unexplained"
            progress(f"round {number + 1} of {ROUNDS}: {unexplained}, {moved:.1%} of all steps moved")
    return evidence, found


def _means(values: Floats, release: Integers) -> Floats:
    return np.bincount(release, values) / np.bincount(release)


def _regressed(columns: Integers, values: Floats, release: Integers, number: int) -> Floats:
    """Ridge regression of values on the numbers of windows, both taken relative to their means within each release.

    Solved by conjugate gradients. Cost: runs · length for each of at most 200 steps.
    """
    width = columns.shape[1]

    def centred(v: Floats) -> Floats:
        return np.asarray(v - _means(v, release)[release])

    def applied(x: Floats) -> Floats:
        back = np.repeat(centred(x[columns].sum(axis=1)), width)
        return np.asarray(np.bincount(columns.ravel(), back, number) + RIDGE * x)

    rest: Floats = np.bincount(columns.ravel(), np.repeat(centred(values), width), number).astype(np.float64)
    found, direction = np.zeros(number), rest
    size = float(rest @ rest)
    goal = 1e-10 * size
    for _ in range(_SOLVER_STEPS):
        if size <= goal:
            break
        image = applied(direction)
        step = size / float(direction @ image)
        found, rest = found + step * direction, rest - step * image
        size, before = float(rest @ rest), size
        direction = rest + size / before * direction
    return found
