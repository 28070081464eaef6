"""Likely true words, given their releases: post-processing, never a release of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue
from dpwords.estimate.asking import Asked
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain, hidden_runs
from dpwords.models.corrected import Windows
from dpwords.models.evidence import evidence_of
from dpwords.models.hidden import Hidden, symbol_proportions
from dpwords.models.population import Model
from dpwords.models.releases import Releases
from dpwords.models.run_evidence import RunEvidence, SameLength, varying_constants
from dpwords.spaces.choice import space_of


class Decoded(list[Any]):
    """Likely true words, in the order of the releases.

    `expected_distance` is the number of positions in which such a word is expected to differ from the true one, on
    average, if the prior is right; `released_distance` is the same for the releases themselves. With a prior that is
    wrong, both can be far too small.
    """

    def __init__(self, words: Iterable[Any], expected_distance: float, released_distance: float) -> None:
        super().__init__(words)
        self.expected_distance, self.released_distance = expected_distance, released_distance

    def __repr__(self) -> str:
        return (
            f"<Decoded: {len(self)} words, which differ from the true ones in {self.expected_distance:.4g} positions "
            f"on average, and the releases in {self.released_distance:.4g}, if the prior is right: {list(self)!r}>"
        )


def decoded(releases: Releases, mechanism: Private, prior: MarkovChain | None) -> Decoded:
    """For each release the word of the language with the least expected distance from the true one.

    Cost: a pass over the releases, and one search for the best run for each; with a model that was fitted to them, also
    the errors of its proportions of symbols.
    """
    if evidence_of(mechanism, int(releases.words.sizes.max())).channel is not None:
        raise InvalidValue("only words that keep their length are decoded, and the edit channel changes it")
    if (
        isinstance(prior, Model)
        and prior.fitted_to == releases.fingerprint(mechanism)
        and _tells_little(releases, mechanism, prior)
    ):
        warnings.warn(
            f"{len(releases)} releases at this ε are too few to fit a prior to: the decoded words are hardly more than "
            "guesses, and the expected distance is too small; pass a chain that is known (estimate.chain), or release "
            "with a larger ε",
            stacklevel=3,
        )
    words, numbers = releases.by_length(), releases.words.by_length()
    evidence, chances = _evidence(mechanism, words, prior)
    found: list[Any] = [None] * len(releases)
    wrong, released_wrong = 0.0, 0.0
    for each, rows, positions in zip(evidence.lengths, words.values(), numbers, strict=True):
        codes, apart, released_apart = _best(each, rows, evidence.hidden, chances)
        wrong, released_wrong = wrong + float(apart.sum()), released_wrong + float(released_apart.sum())
        for number, word in zip(positions.tolist(), releases.encoder.words(codes, tuple), strict=True):
            found[number] = word
    return Decoded(found, wrong / len(releases), released_wrong / len(releases))


def _tells_little(releases: Releases, mechanism: Private, model: Model) -> bool:
    """Whether the proportions of symbols in a model that was fitted to these releases are rough, or would be
    refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Asked("frequencies", releases, mechanism, model=model).answer().rough
        except InvalidValue:
            return True


def _evidence(mechanism: Private, words: dict[int, Codes], prior: MarkovChain | None) -> tuple[RunEvidence, Any]:
    """The releases as evidence, one by one, and the weights of the steps of a run."""
    if prior is not None and not isinstance(prior, MarkovChain):
        raise InvalidValue(
            "the prior is a chain on the language: pass what estimate.model or estimate.chain returns, or leave it out"
        )
    uneven = varying_constants(mechanism, words)
    population = hidden_runs(mechanism.language, mechanism.limits)
    hidden = population if uneven is None else population.paired(mechanism.limits)
    evidence = RunEvidence.of(mechanism, words, hidden, distinct=False)
    if uneven is not None:
        space = space_of(mechanism.language, "hamming", mechanism.limits)
        known = {each.length: each for each in prior.evidence.lengths} if isinstance(prior, Model) else {}
        lengths = []
        for each, constant in zip(evidence.lengths, uneven, strict=True):
            like = known.get(each.length)
            usable = like is not None and len(like.factor) == len(each.factor)
            if constant is None:
                lengths.append(each)
            elif usable and like is not None:
                lengths.append(replace(each, factor=like.factor, ending=like.ending))
            else:
                lengths.append(Windows(each, constant, space).weighted(each))
        evidence = RunEvidence(hidden, tuple(lengths))
    if prior is None:
        return evidence, np.ones(len(hidden.groups))
    if not prior.population.same_runs(population):
        raise InvalidValue("the prior was fitted on another language: pass a model of the mechanism's language")
    return evidence, np.maximum(prior.chances, 1e-12)  # a prior of 0 would exclude words that were possible


def _best(each: SameLength, rows: Codes, hidden: Hidden, chances: Any) -> tuple[Codes, Any, Any]:
    """The codes of the best words, their expected distances, and those of the releases."""
    length, passes = each.length, each.passes
    found = np.zeros(rows.shape, dtype=np.int64)
    gained, kept = np.zeros(len(rows)), np.zeros(len(rows))
    factor = chances[hidden.parameter] * each.factor
    by_symbol = hidden.symbol[None, :, None]
    for part in passes.parts:
        states = passes.expected(part, factor, each.ending, every_position=True).states
        own = rows[part].T[:, None, :] == by_symbol
        kept[part] = np.where(own, states, 0.0).sum(axis=(0, 1))
        gains = _by_symbol(states, hidden)
        kernel("decoding").best_runs(hidden.steps, passes.layers, each.ending, gains, found[part], gained[part])
    return hidden.symbol[found], length - gained, length - kept


def _by_symbol(states: Any, hidden: Hidden) -> Any:
    """For each state, the probability of its symbol, which other states may have, too."""
    _, order = hidden.of_symbol
    if len(order) == len(np.unique(hidden.symbol[order])):
        return states
    return np.ascontiguousarray(symbol_proportions(states, hidden)[:, np.maximum(hidden.symbol, 0)])
