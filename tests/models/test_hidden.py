"""Hidden runs seen through releases: every expectation against sums over all words, one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from contract import check_counts
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.models.chains import hidden_runs
from dpwords.models.evidence import evidence_of
from dpwords.models.fitting import fit, normalised
from dpwords.models.normalising_constants import NormalisingConstants
from dpwords.models.population import RunEvidence
from dpwords.models.refined import ModelShape
from populations import CELLS, LANGUAGES, channel, listed, prior, random_chances

MAKERS = {
    "exponential": lambda language: dw.Exponential(language, 4.0),
    "online": lambda language: dw.Online(language, 2.0),
}
ALL = [(name, maker) for name in LANGUAGES for maker in MAKERS]


def uses_of(hidden: Any, codes: Any) -> Any:
    """How often each listed word uses each edge."""
    taken = hidden.taken(codes)
    return np.array([np.bincount(row, minlength=len(hidden.source)) for row in taken])


@pytest.mark.parametrize(("name", "maker"), ALL)
def test_expected_uses_and_states_are_those_of_all_words(name: str, maker: str) -> None:
    language, length = LANGUAGES[name]
    mechanism = MAKERS[maker](language)
    hidden = hidden_runs(mechanism.language)
    words, codes = listed(language, length)
    chances = random_chances(hidden)
    seen = channel(mechanism, words)
    joint = prior(hidden, chances, codes)[:, None] * seen
    posterior = joint / joint.sum(axis=0)
    evidence = RunEvidence.of(mechanism, {length: codes}, ModelShape(hidden), distinct=False)
    (part,) = evidence.each(chances, every_position=True)
    uses, states = part.found.uses, part.found.states
    assert uses == pytest.approx(uses_of(hidden, codes).T @ posterior, abs=1e-5)
    entered = hidden.target[hidden.taken(codes)]
    for position in range(length):
        proportions = np.array([posterior[entered[:, position] == state].sum(axis=0) for state in range(hidden.size)])
        assert states[position] == pytest.approx(proportions, abs=1e-5)
    # log-likelihoods agree up to a constant for each word, which does not depend on the chain
    other = random_chances(hidden, seed=2)
    ratio = np.log((prior(hidden, other, codes) @ seen) / (prior(hidden, chances, codes) @ seen))
    likelihood = [
        np.concatenate([each.found.log_likelihood for each in evidence.each(each_chances)])
        for each_chances in (other, chances)
    ]
    stays = [np.log(sum_of(hidden, each, codes)) for each in (other, chances)]  # words that the chain completes
    assert likelihood[0] - likelihood[1] == pytest.approx(ratio + stays[0] - stays[1], abs=1e-5)


def sum_of(hidden: Any, chances: Any, codes: Any) -> float:
    """The probability that the chain produces one of the listed words at all."""
    taken = hidden.parameter[hidden.taken(codes)]
    return float(chances[taken].prod(axis=1).sum())


def test_parts_threads_and_repeated_words_change_nothing() -> None:
    mechanism = dw.Online(CELLS, 2.0)
    hidden, (_, codes) = hidden_runs(mechanism.language), listed(CELLS, 4)
    rows = codes[np.random.default_rng(3).integers(0, len(codes), 100)]
    chances = random_chances(hidden)
    whole = RunEvidence.of(mechanism, {4: rows}, ModelShape(hidden)).expected(chances)
    one_by_one = RunEvidence.of(mechanism, {4: rows}, ModelShape(hidden), distinct=False).expected(chances)
    narrow = dw.Online(CELLS, 2.0, limits=Limits(threads=1, batch=64))
    parts = RunEvidence.of(narrow, {4: rows}, ModelShape(hidden)).expected(chances)
    for found in (one_by_one, parts):
        assert found[0] == pytest.approx(whole[0], rel=1e-12)
        assert found[1] == pytest.approx(whole[1], rel=1e-10)
    threaded = RunEvidence.of(dw.Online(CELLS, 2.0, limits=Limits(threads=2)), {4: rows}, ModelShape(hidden)).expected(
        chances
    )
    assert np.array_equal(threaded[1], whole[1])


@pytest.mark.parametrize("name", ["words of states", "words of moves", "with a goal"])
def test_runs_are_drawn_from_their_distribution(name: str) -> None:
    language, length = LANGUAGES[name]
    mechanism = dw.Online(language, 1.5)
    hidden, (words, codes) = hidden_runs(mechanism.language), listed(language, length)
    chances = random_chances(hidden)
    evidence = RunEvidence.of(mechanism, {length: codes[:1]}, ModelShape(hidden))
    (same,) = evidence.lengths
    drawn = same.sampled(chances, 4000, SeededSource("draws").open())[0]
    joint = prior(hidden, chances, codes) * channel(mechanism, words)[:, 0]
    symbols = hidden.symbol[hidden.target[drawn]]
    expected = {
        tuple(row): float(proportion) for row, proportion in zip(codes.tolist(), joint / joint.sum(), strict=True)
    }
    check_counts(Counter(map(tuple, symbols.tolist())), expected)


@pytest.mark.parametrize("name", [name for name in LANGUAGES if name != "free words"])
@pytest.mark.parametrize("calibration", ["tight", "textbook"])
def test_normalising_constants_are_those_of_the_mechanism(name: str, calibration: Any) -> None:
    language, length = LANGUAGES[name]
    mechanism = dw.Exponential(language, 3.0, utility=dw.Linear(), calibration=calibration)
    words, codes = listed(language, length)
    weights = mechanism.weights(length)
    constants = NormalisingConstants(mechanism._space.graph, weights, mechanism.limits)
    seen, distance = np.log(channel(mechanism, words)), (codes[:, None, :] != codes[None]).sum(axis=2)
    # ln p(w|x) + rate·d = ln π(w) − ln Z(x): differences along a column are those of the normalising constants
    along = -(seen + float(weights.rate) * distance)[:, 0]
    found = constants.logs(codes)
    assert found - found[0] == pytest.approx(along - along[0], abs=1e-9)
    assert constants.spread(mechanism._space, length) == pytest.approx(found.std(), abs=1e-9)
    uneven = evidence_of(mechanism, length).uneven()
    assert (uneven is not None) == (found.std() > 0.03)
    assert RunEvidence.of(mechanism, {length: codes}, ModelShape(hidden_runs(language))).uneven == (uneven is not None)


def test_steps_of_the_fit_never_lower_the_likelihood_and_reach_the_top() -> None:
    """Against plain steps on the listed words, without any of the machinery."""
    mechanism = dw.Online(CELLS, 1.0)
    hidden, (words, codes) = hidden_runs(mechanism.language), listed(CELLS, 4)
    truth = prior(hidden, random_chances(hidden, 7), codes)
    rows = codes[np.random.default_rng(5).choice(len(codes), 400, p=truth)]
    released = mechanism.seeded(1).release_codes(rows)
    evidence = RunEvidence.of(mechanism, {4: released}, ModelShape(hidden))
    seen = channel(mechanism, words)
    numbers = {tuple(row): index for index, row in enumerate(codes.tolist())}
    times = np.bincount([numbers[tuple(row)] for row in released.tolist()], minlength=len(codes))
    uses, parameters = uses_of(hidden, codes), len(hidden.groups)
    by_parameter = np.array([np.bincount(hidden.parameter, row, parameters) for row in uses])
    chances, before = np.full(parameters, 1.0) / np.bincount(hidden.groups)[hidden.groups], -np.inf
    start = chances
    for _ in range(2000):
        joint = prior(hidden, chances, codes)[:, None] * seen
        likelihood = float(times @ np.log(joint.sum(axis=0)))
        assert likelihood >= before - 1e-9
        if likelihood - before < 1e-7:
            break
        before = likelihood
        posterior = (joint / joint.sum(axis=0)) @ times
        chances = normalised(by_parameter.T @ posterior, hidden.groups)
    found = fit(evidence, start, enough=1e-6, most=3000)
    assert found.converged
    reached = float(times @ np.log(prior(hidden, found.chances, codes) @ seen))
    assert reached == pytest.approx(before, abs=1e-3)
    lines: list[str] = []
    assert not fit(evidence, start, lines.append, most=3).converged
    assert lines == ["step 3: log-likelihood " + lines[0].rsplit(" ", 1)[1]]


def test_the_correction_brings_the_fit_to_that_of_the_exact_likelihood() -> None:
    """At the textbook rate normalising constants differ: against EM on all listed words with the mechanism's own
    law."""
    language, length = dw.GridWorld(3, 4).by_states(), 6
    mechanism = dw.Exponential(language, 3.0, utility=dw.Linear(), calibration="textbook")
    hidden, (words, codes) = hidden_runs(mechanism.language), listed(language, length)
    seen = channel(mechanism, words)
    truth = prior(hidden, random_chances(hidden, 11), codes)
    rows = codes[np.random.default_rng(5).choice(len(codes), 4000, p=truth)]
    released = mechanism.seeded(2).release_codes(rows)
    numbers = {tuple(row): index for index, row in enumerate(codes.tolist())}
    times = np.bincount([numbers[tuple(row)] for row in released.tolist()], minlength=len(codes))
    parameters = len(hidden.groups)
    by_parameter = np.array([np.bincount(hidden.parameter, row, parameters) for row in uses_of(hidden, codes)])
    chances = np.full(parameters, 1.0) / np.bincount(hidden.groups)[hidden.groups]
    for _ in range(400):
        proportions = prior_fast(by_parameter, chances)
        exact = by_parameter.T @ (proportions * (seen @ (times / (proportions @ seen))))
        chances = normalised(exact, hidden.groups)
    model = dw.estimate.model(released, mechanism, "chain")
    assert isinstance(model, dw.estimate.Model)
    assert model.method == "em, corrected"
    corrected = model.evidence.expected(model.chances)[1]
    plain_evidence = RunEvidence.of(mechanism, {length: released}, ModelShape(hidden))
    plain_fit = fit(plain_evidence, np.full(parameters, 1.0) / np.bincount(hidden.groups)[hidden.groups])
    plain = plain_evidence.expected(plain_fit.chances)[1]
    off = [float(np.abs(each - exact).sum() / exact.sum()) for each in (plain, corrected)]
    assert off[1] < 0.02 < off[0]
    assert isinstance(model.evidence, RunEvidence)


def prior_fast(by_parameter: Any, chances: Any) -> Any:
    """The probability of each listed word, from its uses."""
    found = np.exp(by_parameter @ np.log(chances))
    return found / found.sum()
