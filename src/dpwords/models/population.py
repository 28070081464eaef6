"""Releases that keep the length of words, as evidence about a population that is a Markov chain on hidden runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dpwords.core.compiled import in_parts
from dpwords.core.limits import Limits
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain
from dpwords.models.checking import Misfit
from dpwords.models.dense import DensePass, is_dense
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import EstimateMethod, Fit, normalised
from dpwords.models.hidden import Expected, Hidden, Pass
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.refined import ModelKind, ModelShape, Refined
from dpwords.spaces.space import batches


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
        if is_dense(self.hidden):
            return self._dense_total(chances)
        found: list[tuple[float, Floats]] = [(0.0, np.zeros(0))] * len(self.parts)

        def work(numbers: slice) -> None:
            for number in range(numbers.start, numbers.stop):
                part = self.parts[number]
                one = self.expected(part, chances)
                found[number] = float(self.times[part] @ one.log_likelihood), one.uses @ self.times[part]

        cost = len(self.layers.order) * (self.parts[0].stop if self.parts else 1)
        in_parts(work, len(self.parts), cost=cost, most=self.limits.threads)
        return float(sum(value for value, _ in found)), np.sum([uses for _, uses in found], axis=0)

    def _dense_total(self, chances: Floats) -> tuple[float, Floats]:
        one, hidden, likelihood = DensePass.of(self, chances), self.hidden, 0.0
        uses = np.zeros_like(one.weights)
        for part in batches(len(self.times), (self.length + 1) * hidden.size, self.limits):
            value, used = one.total(self.rows[part], self.times[part])
            likelihood, uses = likelihood + value, uses + used
        return likelihood, self.weights(chances)[0] * uses[hidden.source, hidden.target]


class Part(NamedTuple):
    """What is expected of some released words of one length."""

    length: int
    times: Floats
    found: Expected


@dataclass(frozen=True, eq=False)
class RunEvidence:
    """Released words of several lengths, all seen as hidden runs of one population."""

    runs: Refined
    lengths: tuple[SameLength, ...]

    @classmethod
    def of(cls, mechanism: Private, words: dict[int, Codes], shape: ModelShape, distinct: bool = True) -> RunEvidence:
        """Releases of each length, with normalising constants taken as equal, each distinct one once, or one by one.

        If they are `uneven`, these are runs of pairs of steps. Cost: the symbols of the releases.
        """
        told = {length: evidence_of(mechanism, length) for length in words}
        uneven = {length: each.uneven() for length, each in told.items()}
        runs = shape.runs(paired=any(each is not None for each in uneven.values()))
        hidden = runs.hidden
        lengths = []
        for length, rows in words.items():
            some, number = np.unique(rows, axis=0, return_counts=True) if distinct else (rows, np.ones(len(rows)))
            seen, times = told[length].seen(some), number.astype(np.float64)
            lengths.append(SameLength(hidden, seen, mechanism.limits, times=times, constants=uneven[length]))
        return cls(runs, tuple(lengths))

    @property
    def uneven(self) -> bool:
        """Whether normalising constants differ so much, at any length, that a fit has to correct for them."""
        return any(each.constants is not None for each in self.lengths)

    @property
    def hidden(self) -> Hidden:
        """The runs that all of the releases are evidence about."""
        return self.lengths[0].hidden if self.lengths else self.runs.hidden

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

    def log_likelihoods(self, chances: Floats) -> Floats:
        """The log-likelihood of each distinct release. Cost: a forward pass."""
        return np.concatenate([each.log_likelihoods(chances) for each in self.lengths])

    def each(self, chances: Floats, every_position: bool = False) -> Iterator[Part]:
        """What is expected of each released word, a part of the words at a time."""
        for each in self.lengths:
            for part in each.parts:
                yield Part(each.length, each.times[part], each.expected(part, chances, every_position))

    def sample(self, number: int) -> RunEvidence:
        """About so many of the released words, spread evenly over all of them."""
        proportion = max(int(sum(len(each.times) for each in self.lengths) / number), 1)
        return replace(self, lengths=tuple(each.thinned(proportion) for each in self.lengths))


class Rival(NamedTuple):
    """Another model that explains releases nearly as well: what it says of the releases that both were fitted to."""

    doubt: float  # the probability that chance alone makes it look worse
    evidence: RunEvidence
    chances: Floats
    best_evidence: RunEvidence
    best_chances: Floats
    is_runner_up: bool = False  # whether it is the best one of those of another kind
    by_place: bool = False  # whether it is the best one by place, and the other is not by place


@dataclass(frozen=True, eq=False)
class Model(MarkovChain):
    """A Markov chain on a language: in each state, the probabilities of what comes next.

    On free words the state is the symbol before; on a system it is the state of the system (and of the rules that it is
    combined with). What comes next may also depend on the position in the word, or on the step before; `kind` says so.
    `transitions` are then averages. `held_out` has, for each kind that was tried, the mean log-likelihood of releases
    that were left out of the fit, up to a constant; the kind with the largest one was taken. `method` says how the
    model was fitted.

    >>> from dpwords import Exponential, GridWorld, estimate
    >>> mechanism = Exponential(GridWorld(3, 3), epsilon=6)
    >>> releases = mechanism.seeded(1).release_all(["EESS", "ESES"] * 200)
    >>> chain = estimate.model(releases, mechanism)
    >>> round(chain.transitions[(0, 0)]["E"], 2), chain.converged
    (1.0, True)
    """

    language: Language
    shape: ModelShape
    evidence: RunEvidence
    found: Fit
    method: EstimateMethod
    releases: int
    fitted_to: str  # the fingerprint of the releases
    held_out: Mapping[str, float] = field(default_factory=dict)  # by model: log-likelihood of releases left out, each
    rivals: tuple[Rival, ...] = ()
    misfit: Misfit | None = None  # what contradicts the model

    def __repr__(self) -> str:
        kind = "" if self.kind is ModelKind.CHAIN else f" ({self.shape})"
        fitted = f"fitted to {self.releases} releases ({self.method})"
        return f"<Model: a Markov chain{kind} on {self.language!r}, {fitted}>"

    @property
    def kind(self) -> ModelKind:
        """What a step depends on: "chain", "by place" or "two steps"."""
        return self.shape.kind

    @cached_property
    def population(self) -> Hidden:
        """The runs of the population, without what the releases tell."""
        return self.shape.runs().hidden

    def _rows(self) -> Floats:
        """The mean chances of each step over all positions and steps before it, by how often they are expected."""
        if self.kind is ModelKind.CHAIN:
            return self.chances
        base, uses = self.shape.base, self.evidence.expected(self.chances)[1]
        pooled: Floats = np.bincount(self.evidence.runs.tied, uses, len(base.groups)).astype(np.float64)
        return normalised(pooled, base.groups)

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


def counted_chances(words: dict[int, Codes], population: Hidden) -> Floats:
    """Parameters to start from: the uses in the releases as they are, with something added to each."""
    uses = np.zeros(len(population.groups))
    for rows in words.values():
        taken = population.parameter[population.taken(rows)]
        uses += np.bincount(taken.ravel(), minlength=len(uses))
    outgoing = np.bincount(population.groups)[population.groups]
    total = np.bincount(population.groups, uses)[population.groups]
    return normalised(uses + (1 + 0.1 * total) / outgoing, population.groups)
