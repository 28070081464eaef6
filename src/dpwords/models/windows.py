"""Fits where the normalising constant of the mechanism depends on the private word.

There a release tells about its run x through e^(−c·d(x,w))/Z(x). Sums over runs need Z(x) as a product over a run,
which it is not. So ln Z(x) is approximated by a sum over *windows*, that is over pairs of consecutive steps, fitted
where it matters: on runs drawn from their distribution given each release. What is left unexplained is then
uncorrelated, within a release, with every window, and so with every count that the estimates are made of.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.models.fitting import Fit, ProgressLine, fit, shrunk
from dpwords.models.hidden import Hidden
from dpwords.models.population import RunEvidence, SameLength
from dpwords.models.refined import Refined
from dpwords.models.tuning import RIDGE, ROUND_STEPS, ROUNDS, RUNS, SAMPLED_RELEASES, STILL, UNIFORM_RUNS
from dpwords.spaces.space import Space

_SOLVER_STEPS = 200


class Windows:
    """ln Z of words of one length as a sum over windows and the end of a run."""

    def __init__(self, words: SameLength, pairs: Hidden, space: Space) -> None:
        assert words.constants is not None
        self.hidden, self.constants, self.length = pairs, words.constants, words.length
        self.values = np.zeros(len(self.hidden.source) + self.hidden.size)
        rows = np.asarray(list(space.uniform(self.length, UNIFORM_RUNS, SeededSource("uniform runs").open())))
        self._improve(self.hidden.taken(rows), np.zeros(len(rows), dtype=np.int64))

    def weighted(self, words: SameLength, runs: Refined) -> SameLength:
        """The same words, where runs have the weight 1/Z as it is approximated."""
        number, weights = len(self.hidden.source), np.exp(-self.values)
        return replace(words, factor=weights[:number][runs.edge_was], ending=weights[number:][runs.state_was])

    def improve(self, words: SameLength, runs: Refined, chances: Floats, round_number: int) -> float:
        """Fit what is left unexplained, on runs drawn given some of the releases; return its standard deviation."""
        some = words.thinned(max(len(words.times) // SAMPLED_RELEASES, 1))
        taken = some.sampled(chances, RUNS, SeededSource(f"runs of round {round_number}").open())
        release = np.repeat(np.arange(len(taken)), RUNS)
        return self._improve(runs.edge_was[taken.reshape(-1, self.length)], release)

    def _improve(self, taken: Integers, release: Integers) -> float:
        hidden = self.hidden
        symbols = hidden.symbol[hidden.target[taken]]
        columns = np.concatenate([taken, len(hidden.source) + hidden.target[taken[:, -1:]]], axis=1)
        left = self.constants.logs(symbols) - self.values[columns].sum(axis=1)
        self.values += _regressed(columns, left, release, len(self.values))
        left = self.constants.logs(symbols) - self.values[columns].sum(axis=1)
        return float((left - _means(left, release)[release]).std())


class Corrected:
    """Normalising constants of words of several lengths, each where it matters, as products over a run."""

    def __init__(self, evidence: RunEvidence, space: Space) -> None:
        pairs = evidence.runs.coarse
        self.windows = {
            words.length: Windows(words, pairs, space) for words in evidence.lengths if words.constants is not None
        }

    def weighted(self, evidence: RunEvidence) -> RunEvidence:
        """The same releases, where runs have the weight 1/Z as it is approximated."""
        runs = evidence.runs
        known = ((self.windows.get(words.length), words) for words in evidence.lengths)
        return replace(evidence, lengths=tuple(w if each is None else each.weighted(w, runs) for each, w in known))

    def improve(self, evidence: RunEvidence, chances: Floats, round_number: int) -> float:
        """Fit what is left unexplained; return the largest standard deviation of what remains."""
        known = ((self.windows.get(words.length), words) for words in evidence.lengths)
        left = [each.improve(w, evidence.runs, chances, round_number) for each, w in known if each is not None]
        return max(left, default=0.0)


def fit_corrected(
    evidence: RunEvidence,
    constants: Corrected,
    start: Floats,
    pseudo: Floats | None = None,
    progress: ProgressLine | None = None,
    rounds: int = ROUNDS,
) -> tuple[RunEvidence, Fit]:
    """The fit, and the evidence with the approximated normalising constants. Cost: some hundred passes."""
    found, before = Fit(start, -np.inf, 0, False), np.zeros(0)
    for number in range(rounds):
        evidence = constants.weighted(evidence)
        found = fit(shrunk(evidence, pseudo), found.chances, most=ROUND_STEPS)
        uses = evidence.expected(found.chances)[1]
        moved = float(np.abs(uses - before).sum() / uses.sum()) if number else 1.0
        found, before = replace(found, converged=moved < STILL), uses
        left = constants.improve(evidence, found.chances, number)
        if progress is not None:
            unexplained = f"{left:.3f} of the normalising constants' logarithm unexplained"
            progress(f"round {number + 1} of {rounds}: {unexplained}, {moved:.1%} of all steps moved")
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
