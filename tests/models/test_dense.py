"""Passes as products of matrices: against sums over all words, and against passes edge by edge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.models.chains import hidden_runs
from dpwords.models.dense import DensePass, is_dense
from dpwords.models.population import RunEvidence
from dpwords.models.refined import ModelShape
from populations import LANGUAGES, channel, listed, prior, random_chances


@pytest.mark.parametrize("make", [dw.Exponential, dw.Online])
@pytest.mark.parametrize("name", LANGUAGES)
def test_expected_uses_are_those_of_all_words(name: str, make: Any) -> None:
    language, length = LANGUAGES[name]
    mechanism = make(language, 3.0)
    hidden, (words, codes) = hidden_runs(language), listed(language, length)
    times = np.random.default_rng(4).integers(1, 5, len(codes)).astype(float)
    chances = random_chances(hidden)
    joint = prior(hidden, chances, codes)[:, None] * channel(mechanism, words)
    posterior = joint / joint.sum(axis=0)
    used = np.array([np.bincount(row, minlength=len(hidden.source)) for row in hidden.taken(codes)])
    (run,) = RunEvidence.of(mechanism, {length: codes}, ModelShape(hidden), distinct=False).lengths
    _, uses = DensePass.of(run, chances).total(run.rows, times)
    found = chances[hidden.parameter] * uses[hidden.source, hidden.target]
    assert found == pytest.approx(used.T @ posterior @ times, abs=1e-5 * times.sum())


def test_many_symbols_are_passed_as_matrices_with_the_same_result() -> None:
    mechanism = dw.Exponential(dw.Words([f"s{number}" for number in range(70)]), 4.0)
    hidden, rng = hidden_runs(mechanism.language), np.random.default_rng(5)
    chances = random_chances(hidden)
    chances[rng.random(len(chances)) < 0.5] = 0.0  # steps that nobody takes
    rows = {length: rng.integers(70, size=(40, length)) for length in (1, 3, 6)}
    evidence = RunEvidence.of(mechanism, rows, ModelShape(hidden))
    assert is_dense(evidence.hidden)
    assert not is_dense(hidden_runs(dw.GridWorld(9, 9)))
    likelihood, uses = evidence.expected(chances)
    parts = list(evidence.each(chances))
    assert likelihood == pytest.approx(sum(part.times @ part.found.log_likelihood for part in parts), abs=1e-8)
    edges = sum(part.found.uses @ part.times for part in parts)
    assert uses == pytest.approx(np.bincount(hidden.parameter, edges, len(hidden.groups)), abs=1e-10)
    assert uses.sum() == pytest.approx(40 * (1 + 3 + 6))


def test_words_that_cannot_be_have_no_uses() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 2.0)
    hidden = hidden_runs(mechanism.language)
    chances = np.zeros(len(hidden.groups))  # nobody takes any step
    (run,) = RunEvidence.of(mechanism, {3: np.array([[0, 1, 0]])}, ModelShape(hidden)).lengths
    likelihood, uses = DensePass.of(run, chances).total(run.rows, np.ones(1))
    assert likelihood == -np.inf
    assert not uses.any()
