"""The population as a Markov chain, fitted to releases that keep the length of words.

Where the normalising constant of the mechanism depends on the private word, a release tells about its run x through
e^(−c·d(x,w))/Z(x). Sums over runs need Z(x) as a product over a run, which it is not. So ln Z(x) is approximated by a
sum over *windows*, that is over pairs of consecutive steps, fitted where it matters: on runs drawn from their
distribution given each release. What is left unexplained is then uncorrelated, within a release, with every window, and
so with every count that the estimates are made of.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from dpwords.core.compiled import in_parts
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain, hidden_runs
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, Fit, ProgressLine, fit, normalised
from dpwords.models.hidden import Expected, Hidden, Pass
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.releases import Releases
from dpwords.models.tuning import (
    FIRST_RELEASES,
    RIDGE,
    ROUND_STEPS,
    ROUNDS,
    RUNS,
    SAMPLED_RELEASES,
    STILL,
    UNIFORM_RUNS,
)
from dpwords.spaces.choice import space_of
from dpwords.spaces.space import Space

_SOLVER_STEPS = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class SameLength(Pass):
    """Distinct released words of one length, and how often each of them was released."""

    times: Floats
    constants: NormalisingConstants | None = None  # if they differ so much that a fit has to correct for them

    def thinned(self, proportion: int) -> SameLength:
        """One of so many of the words, spread evenly over all of them."""
        rows = np.ascontiguousarray(self.seen.rows[::proportion])
        return replace(self, seen=self.seen._replace(rows=rows), times=self.times[::proportion])

    def total(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all words, and the expected uses of each edge."""
        found: list[tuple[float, Floats]] = [(0.0, np.zeros(0))] * len(self.parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                part = self.parts[number]
                one = self.expected(part, chances)
                found[number] = float(self.times[part] @ one.log_likelihood), one.uses @ self.times[part]

        cost = len(self.layers.order) * (self.parts[0].stop if self.parts else 1)
        in_parts(work, len(self.parts), cost=cost, most=self.limits.threads)
        return float(sum(value for value, _ in found)), np.sum([uses for _, uses in found], axis=0)


class Part(NamedTuple):
    """What is expected of some released words of one length."""

    length: int
    times: Floats
    found: Expected


@dataclass(frozen=True, eq=False)
class RunEvidence:
    """Released words of several lengths, all seen as hidden runs of one population."""

    hidden: Hidden
    lengths: tuple[SameLength, ...]

    @classmethod
    def of(cls, mechanism: Private, words: dict[int, Codes], population: Hidden, distinct: bool = True) -> RunEvidence:
        """Releases of each length, with normalising constants taken as equal, each distinct one once, or one by one.

        If they are `uneven`, these are runs of pairs of steps. Cost: the symbols of the releases.
        """
        told = {length: evidence_of(mechanism, length) for length in words}
        uneven = {length: each.uneven() for length, each in told.items()}
        hidden = (
            population.paired(mechanism.limits) if any(each is not None for each in uneven.values()) else population
        )
        lengths = []
        for length, rows in words.items():
            some, number = np.unique(rows, axis=0, return_counts=True) if distinct else (rows, np.ones(len(rows)))
            seen, times = told[length].seen(some), number.astype(np.float64)
            lengths.append(SameLength(hidden, seen, mechanism.limits, times=times, constants=uneven[length]))
        return cls(hidden, tuple(lengths))

    @property
    def uneven(self) -> bool:
        """Whether normalising constants differ so much, at any length, that a fit has to correct for them."""
        return any(each.constants is not None for each in self.lengths)

    @property
    def groups(self) -> Integers:
        """For each parameter, the number of its state."""
        return self.hidden.groups

    @property
    def limits(self) -> Limits:
        """The limits of the computation."""
        return self.lengths[0].limits

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood of all releases, and the expected number of uses of each parameter."""
        likelihood, uses = 0.0, np.zeros(len(self.hidden.source))
        for each in self.lengths:
            one, used = each.total(chances)
            likelihood, uses = likelihood + one, uses + used
        return likelihood, np.bincount(self.hidden.parameter, uses, len(self.groups)).astype(np.float64)

    def each(self, chances: Floats, every_position: bool = False) -> Iterator[Part]:
        """What is expected of each released word, a part of the words at a time."""
        for each in self.lengths:
            for part in each.parts:
                yield Part(each.length, each.times[part], each.expected(part, chances, every_position))

    def sample(self, number: int) -> RunEvidence:
        """About so many of the released words, spread evenly over all of them."""
        proportion = max(int(sum(len(each.times) for each in self.lengths) / number), 1)
        return replace(self, lengths=tuple(each.thinned(proportion) for each in self.lengths))


@dataclass(frozen=True, eq=False)
class Model(MarkovChain):
    """A Markov chain on a language: in each state, the probabilities of what comes next.

    On free words the state is the symbol before; on a system it is the state of the system (and of the rules that it is
    combined with). `method` says how it was fitted.

    >>> from dpwords import Exponential, GridWorld, estimate
    >>> mechanism = Exponential(GridWorld(3, 3), epsilon=6)
    >>> releases = mechanism.seeded(1).release_all(["EESS", "ESES"] * 200)
    >>> chain = estimate.model(releases, mechanism)
    >>> round(chain.transitions[(0, 0)]["E"], 2), chain.converged
    (1.0, True)
    """

    language: Language
    population: Hidden
    evidence: RunEvidence
    found: Fit
    method: EstimateMethod
    releases: int
    fitted_to: str  # the fingerprint of the releases

    def __repr__(self) -> str:
        return f"<Model: a Markov chain on {self.language!r}, fitted to {self.releases} releases ({self.method})>"

    @property
    def chances(self) -> Floats:
        """The fitted parameters."""
        return self.found.chances

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood of the releases, up to a constant that does not depend on the model."""
        return self.found.log_likelihood

    @property
    def converged(self) -> bool:
        """Whether the search ended because the likelihood no longer rose."""
        return self.found.converged


def fitted(releases: Releases, mechanism: Private, progress: ProgressLine | None = None) -> Model:
    """The population that makes the releases most likely. Cost: some tens of passes; see `Pass`."""
    words, population = releases.by_length(), hidden_runs(mechanism.language, mechanism.limits)
    start, evidence = _counted(words, population), RunEvidence.of(mechanism, words, population)
    method = EstimateMethod.CORRECTED if evidence.uneven else EstimateMethod.EM
    if evidence.uneven:
        space = space_of(mechanism.language, "hamming", mechanism.limits)
        evidence, found = fit_corrected(evidence, space, start, progress)
    else:
        if len(releases) > 4 * FIRST_RELEASES:
            start = fit(evidence.sample(FIRST_RELEASES), start, progress).chances
        found = fit(evidence, start, progress)
    about = method, len(releases), releases.fingerprint(mechanism)
    return Model(mechanism.language, population, evidence, found, *about)


def _counted(words: dict[int, Any], population: Hidden) -> Floats:
    """Parameters to start from: the uses in the releases as they are, with something added to each."""
    uses = np.zeros(len(population.groups))
    for rows in words.values():
        taken = population.parameter[population.taken(rows)]
        uses += np.bincount(taken.ravel(), minlength=len(uses))
    outgoing = np.bincount(population.groups)[population.groups]
    total = np.bincount(population.groups, uses)[population.groups]
    return normalised(uses + (1 + 0.1 * total) / outgoing, population.groups)


class Windows:
    """ln Z of words of one length as a sum over windows and the end of a run."""

    def __init__(self, words: SameLength, space: Space) -> None:
        assert words.constants is not None
        self.hidden, self.constants, self.length = words.hidden, words.constants, words.length
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
    evidence: RunEvidence, space: Space, start: Floats, progress: ProgressLine | None
) -> tuple[RunEvidence, Fit]:
    """The fit, and the evidence with the approximated normalising constants. Cost: some hundred passes."""
    windows = [None if words.constants is None else Windows(words, space) for words in evidence.lengths]
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
