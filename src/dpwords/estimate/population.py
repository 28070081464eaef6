"""The population as a Markov chain, fitted to releases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.randomness import SeededSource, uint64
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Word, symbols_of
from dpwords.errors import InvalidValue
from dpwords.estimate.corrected import fit_corrected
from dpwords.estimate.evidence import RunEvidence
from dpwords.estimate.fitting import Fit, ProgressLine, fit, normalised
from dpwords.estimate.hidden import Hidden
from dpwords.estimate.releases import Releases
from dpwords.estimate.results import CORRECTED
from dpwords.estimate.views import evidence_of, population_of, uneven_normalisers
from dpwords.languages.language import Language
from dpwords.mechanisms.private import Private
from dpwords.spaces.choice import space_of

_FIRST = 4000  # releases from which a fit to many more starts


@dataclass(frozen=True, eq=False)
class Model:
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
    method: str
    releases: int

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

    @property
    def transitions(self) -> dict[Any, dict[Any, float]]:
        """{state: {symbol: probability}}; on free words the states are symbols, and None is the start of a word."""
        hidden, symbols = self.population, self.language.alphabet.symbols
        table: dict[Any, dict[Any, float]] = {}
        names = self._state_names()
        chances = self.chances[hidden.parameter].tolist()
        entered = hidden.symbol[hidden.target].tolist()
        for source, symbol, chance in zip(hidden.origin[hidden.source].tolist(), entered, chances, strict=True):
            table.setdefault(names[source], {})[symbols[symbol]] = chance
        return table

    def _state_names(self) -> list[Any]:
        if self.language.alike:
            return [None, *self.language.alphabet.symbols]
        states = self.language.explored().states
        places = [self.language.place(state) for state in states]
        return places if len(set(places)) == len(places) else list(states)

    def log_prob(self, word: Word) -> float:
        """The natural logarithm of the probability of a word among all of its length that the chain can produce.

        Cost: its length · edges.
        """
        symbols = symbols_of(word)
        fault = self.language.fault(symbols)
        if fault is not None or not symbols:
            return -np.inf
        codes = np.array([[self.language.alphabet.codes[symbol] for symbol in symbols]])
        taken = self.population.taken(codes)
        return float(np.log(self._steps(len(symbols))[np.arange(len(symbols)), taken[0]]).sum())

    def simulate(self, length: int, draws: int, seed: int | str) -> list[tuple[Any, ...]]:
        """Words of this length drawn from the chain: synthetic data, at no further privacy cost.

        Cost: length · edges, and the length for each word.
        """
        places, number = whole_number(length, "length", 1), whole_number(draws, "draws", 0)
        steps = self._steps(places)
        uniform = uint64(SeededSource(seed).open(), (places, number)) * 2.0**-64
        state, hidden = np.zeros(number, dtype=np.int64), self.population
        first = np.searchsorted(hidden.source, np.arange(hidden.size + 1))
        words = np.zeros((number, places), dtype=np.int64)
        for place in range(places):
            total = np.concatenate([[0.0], np.cumsum(steps[place])])
            below = total[first[state]] + uniform[place] * (total[first[state + 1]] - total[first[state]])
            edge = np.clip(np.searchsorted(total, below, side="right") - 1, first[state], first[state + 1] - 1)
            state = hidden.target[edge]
            words[:, place] = hidden.symbol[state]
        symbols = self.language.alphabet.symbols
        return [tuple(symbols[code] for code in row) for row in words.tolist()]

    def _steps(self, length: int) -> Floats:
        """For each place, the probability of each edge in its state, given that a word of this length is completed."""
        hidden, chance = self.population, self.chances[self.population.parameter]
        left = hidden.accepting.astype(np.float64)
        steps = np.zeros((length, len(chance)))
        layers = hidden.layers(length)
        for place in reversed(range(length)):
            taken = layers.order[layers.begin[place] : layers.begin[place + 1]]
            if not len(taken):
                raise InvalidValue(f"the language has no word of length {length}: choose another length")
            weight = chance[taken] * left[hidden.target[taken]]
            left = np.bincount(hidden.source[taken], weight, hidden.size).astype(np.float64)
            steps[place, taken] = weight / left[hidden.source[taken]]
            left /= left.max()
        return steps


def fitted(releases: Releases, mechanism: Private, progress: ProgressLine | None = None) -> Model:
    """The population that makes the releases most likely. Cost: some tens of passes; see `Pass`."""
    words, population = releases.by_length(), population_of(mechanism)
    start = _counted(words, population)
    uneven = uneven_normalisers(mechanism, list(words))
    if uneven is not None:
        paired = population.paired(mechanism.limits)
        space = space_of(mechanism.language, "hamming", mechanism.limits)
        first = evidence_of(mechanism, words, paired)
        evidence, found = fit_corrected(first, uneven, space, start, progress)
        return Model(mechanism.language, population, evidence, found, CORRECTED, len(releases))
    evidence = evidence_of(mechanism, words, population)
    if len(releases) > 4 * _FIRST:
        start = fit(evidence.sample(_FIRST), start, progress).chances
    return Model(mechanism.language, population, evidence, fit(evidence, start, progress), "em", len(releases))


def _counted(words: dict[int, Any], population: Hidden) -> Floats:
    """Parameters to start from: the uses in the releases as they are, with something added to each."""
    uses = np.zeros(len(population.groups))
    for rows in words.values():
        taken = population.parameter[population.taken(rows)]
        uses += np.bincount(taken.ravel(), minlength=len(uses))
    outgoing = np.bincount(population.groups)[population.groups]
    total = np.bincount(population.groups, uses)[population.groups]
    return normalised(uses + (1 + 0.1 * total) / outgoing, population.groups)


def replaced_evidence(model: Model, evidence: RunEvidence, population: Hidden) -> Model:
    """The same fit, with runs that are followed in more detail."""
    return replace(model, evidence=evidence, population=population)
