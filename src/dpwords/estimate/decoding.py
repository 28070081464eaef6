"""Likely true words, given their releases: post-processing, never a release of its own."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from dpwords.core.compiled import kernel
from dpwords.core.scaled import Floats
from dpwords.core.symbols import Codes
from dpwords.errors import InvalidValue, named
from dpwords.estimate.asking import Asked
from dpwords.mechanisms.private import Private
from dpwords.models.chains import MarkovChain, hidden_runs
from dpwords.models.evidence import evidence_of
from dpwords.models.hidden import symbol_proportions
from dpwords.models.population import Model, RunEvidence, SameLength
from dpwords.models.refined import ModelShape
from dpwords.models.releases import Releases
from dpwords.models.windows import Corrected
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


def decode(releases: Any, mechanism: Private, prior: MarkovChain | None = None) -> Decoded:
    """For each release, the word of the language with the least expected distance from the true one.

    This is a guess of the true word by whoever has the release: it costs no privacy, and it is not a release of its
    own. `prior` is a chain on the language, fitted (`model`) or assumed (`chain`); without one, all words of the
    language are equally likely, and little is gained. The result is a list of words with `expected_distance`, how far
    they are from the true ones on average if the prior is right, and `released_distance`, the same for the releases. If
    the prior is wrong, these distances are, too. A prior that was fitted to releases that tell little is wrong, and
    with these same releases there is a warning. Cost: a pass over the releases, and one search for the best run for
    each; with a model that was fitted to them, also the errors of its proportions of symbols.

    >>> import dpwords as dw
    >>> mechanism = dw.Exponential(dw.Words("ab"), epsilon=1)
    >>> releases = mechanism.seeded(1).release_all(["aaaa"] * 300)
    >>> likely = dw.estimate.decode(releases, mechanism, dw.estimate.model(releases, mechanism))
    >>> likely[0], likely.expected_distance < likely.released_distance
    (('a', 'a', 'a', 'a'), True)
    """
    checked = Releases.of(releases, mechanism)
    if evidence_of(mechanism, int(checked.words.sizes.max())).channel is not None:
        raise InvalidValue("only words that keep their length are decoded, and the edit channel changes it")
    if (
        isinstance(prior, Model)
        and prior.fitted_to == checked.fingerprint(mechanism)
        and _tells_little(checked, mechanism, prior)
    ):
        warnings.warn(
            f"{len(checked)} releases at this ε are too few to fit a prior to: the decoded words are hardly more than "
            "guesses, and the expected distance is too small; pass a chain that is known (estimate.chain), or release "
            "with a larger ε",
            stacklevel=2,
        )
    encoder, found = mechanism.language.encoder(), list[Any]([None] * len(checked))
    wrong, released_wrong = 0.0, 0.0
    for positions, best in zip(checked.words.by_length(), _decoded(checked.by_length(), mechanism, prior), strict=True):
        wrong, released_wrong = wrong + float(best[1].sum()), released_wrong + float(best[2].sum())
        for number, word in zip(positions.tolist(), encoder.words(best[0], tuple), strict=True):
            found[number] = word
    return Decoded(found, wrong / len(checked), released_wrong / len(checked))


def likely_words(words: dict[int, Codes], mechanism: Private, prior: MarkovChain | None) -> dict[int, Codes]:
    """The decoded words of each length, a row of codes each."""
    return {best[0].shape[1]: best[0] for best in _decoded(words, mechanism, prior)}


def _decoded(
    words: dict[int, Codes], mechanism: Private, prior: MarkovChain | None
) -> Iterator[tuple[Codes, Floats, Floats]]:
    """For each length, the codes of the best words, their expected distances, and those of the releases."""
    evidence, chances = _evidence(mechanism, words, prior)
    for each, rows in zip(evidence.lengths, words.values(), strict=True):
        yield _best(each, rows, chances)


def _tells_little(releases: Releases, mechanism: Private, model: Model) -> bool:
    """Whether the proportions of symbols in a model that was fitted to these releases are rough, or would be
    refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return Asked("frequencies", releases, mechanism, model=model).answer().rough
        except InvalidValue:
            return True


def _evidence(mechanism: Private, words: dict[int, Codes], prior: MarkovChain | None) -> tuple[RunEvidence, Floats]:
    """The releases as evidence, one by one, and the weights of the steps of a run."""
    if prior is not None and not isinstance(prior, MarkovChain):
        raise InvalidValue(
            "the prior is a chain on the language: pass what estimate.model or estimate.chain returns, or leave it out"
        )
    population = hidden_runs(mechanism.language, mechanism.limits)
    if prior is not None and not prior.shape.base.same_runs(population):
        raise InvalidValue("the prior was fitted on another language: pass a model of the mechanism's language")
    shape = ModelShape(population, limits=mechanism.limits) if prior is None else prior.shape
    if shape.lengths and not set(words) <= set(shape.lengths):
        raise InvalidValue(
            "the prior was fitted to words of other lengths: fit it to releases that have these lengths, or with "
            f"{named('model', 'chain')}"
        )
    evidence = RunEvidence.of(mechanism, words, shape, distinct=False)
    if evidence.uneven:
        evidence = _corrected(evidence, mechanism, prior)
    if prior is None:
        return evidence, np.ones(len(population.groups))
    return evidence, np.maximum(prior.chances, 1e-12)  # a prior of 0 would exclude words that were possible


def _corrected(evidence: RunEvidence, mechanism: Private, prior: MarkovChain | None) -> RunEvidence:
    """The releases with normalising constants as a fit has found them, or as they are on uniform runs."""
    known = {each.length: each for each in prior.evidence.lengths} if isinstance(prior, Model) else {}
    plain = Corrected(evidence, space_of(mechanism.language, "hamming", mechanism.limits)).weighted(evidence)
    lengths = []
    for each in plain.lengths:
        like = known.get(each.length)
        same = like is not None and len(like.hidden.source) == len(each.hidden.source)
        lengths.append(replace(each, factor=like.factor, ending=like.ending) if like is not None and same else each)
    return replace(evidence, lengths=tuple(lengths))


def _best(each: SameLength, rows: Codes, chances: Floats) -> tuple[Codes, Floats, Floats]:
    """The codes of the best words, their expected distances, and those of the releases."""
    hidden, found = each.hidden, np.zeros(rows.shape, dtype=np.int64)
    gained, kept, ending = np.zeros(len(rows)), np.zeros(len(rows)), each.weights(chances)[1]
    for part in each.parts:
        proportions = symbol_proportions(each.expected(part, chances, every_position=True).states, hidden)
        kept[part] = np.take_along_axis(proportions, rows[part].T[:, None, :], axis=1).sum(axis=(0, 1))
        gains = np.ascontiguousarray(proportions[:, np.maximum(hidden.symbol, 0)])  # of entering each state
        kernel("decoding").best_runs(each.layers, ending, gains, found[part], gained[part])
    return hidden.symbol[found], each.length - gained, each.length - kept
