"""The population as a Markov chain, fitted to releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpwords.core.scaled import Floats
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain, hidden_runs
from dpwords.models.corrected import fit_corrected
from dpwords.models.fitting import EstimateMethod, Fit, ProgressLine, fit, normalised
from dpwords.models.hidden import Hidden
from dpwords.models.releases import Releases
from dpwords.models.run_evidence import RunEvidence, varying_constants
from dpwords.models.tuning import FIRST_RELEASES
from dpwords.spaces.choice import space_of


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
    start = _counted(words, population)
    uneven = varying_constants(mechanism, words)
    if uneven is not None:
        paired = population.paired(mechanism.limits)
        space = space_of(mechanism.language, "hamming", mechanism.limits)
        first = RunEvidence.of(mechanism, words, paired)
        evidence, found = fit_corrected(first, uneven, space, start, progress)
    else:
        evidence = RunEvidence.of(mechanism, words, population)
        if len(releases) > 4 * FIRST_RELEASES:
            start = fit(evidence.sample(FIRST_RELEASES), start, progress).chances
        found = fit(evidence, start, progress)
    method, fingerprint = (
        EstimateMethod.EM if uneven is None else EstimateMethod.CORRECTED,
        releases.fingerprint(mechanism),
    )
    return Model(mechanism.language, population, evidence, found, method, len(releases), fingerprint)


def _counted(words: dict[int, Any], population: Hidden) -> Floats:
    """Parameters to start from: the uses in the releases as they are, with something added to each."""
    uses = np.zeros(len(population.groups))
    for rows in words.values():
        taken = population.parameter[population.taken(rows)]
        uses += np.bincount(taken.ravel(), minlength=len(uses))
    outgoing = np.bincount(population.groups)[population.groups]
    total = np.bincount(population.groups, uses)[population.groups]
    return normalised(uses + (1 + 0.1 * total) / outgoing, population.groups)
