"""Forecasts: how precise estimates will be, against formulas and against estimates of people that were drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate import forecast

FACTOR = 1.959964  # standard errors in the half-width of an interval of 95 %


@pytest.mark.parametrize(("people", "length", "epsilon"), [(2000, 12, 2.0), (100_000, 6, 1.0), (300, 20, 4.0)])
def test_half_widths_of_uniform_words_are_those_of_the_formula(people, length, epsilon):
    """Symbols that are drawn independently: released ones are uniform, and counts are binomial."""
    found = forecast(
        dw.Exponential(dw.Words("abcd"), epsilon), people, length, "frequencies", prior="uniform", confidence=0.95
    )
    rate = (math.exp(epsilon) - 1) / (math.exp(epsilon) + 3)
    plain = FACTOR * math.sqrt(0.25 * 0.75 / (people * length))
    assert found.half_width == pytest.approx(plain / rate, rel=0.05)
    assert found.of_true_words == pytest.approx(plain, rel=0.2)
    assert found.labels == 4
    assert found.method == "inverse"


def test_errors_of_people_that_are_drawn_are_as_forecast():
    language, people = dw.Words("abc"), 1000
    mechanism = dw.Exponential(language, 3)
    prior = {None: {"a": 0.8, "b": 0.2}, "a": {"b": 0.7, "c": 0.3}, "b": {"c": 1.0}, "c": {"a": 0.5, "c": 0.5}}
    found = forecast(mechanism, people, 6, "dfg", prior=prior)
    chain = dw.estimate.chain(language, prior)
    true = dw.estimate.dfg(chain.simulate(6, 50_000, seed="truth"), dw.Exponential(language, 60)).counted
    sums = []
    for seed in range(30):
        words = chain.simulate(6, people, seed=f"people {seed}")
        answer = dw.estimate.dfg(mechanism.seeded(seed).release_all(words), mechanism)
        sums.append(sum(abs(answer[label].value - true[label]) for label in true))
    assert found.total_error == pytest.approx(np.mean(sums), rel=0.35)  # the forecast is one such sum
    assert found.counted > 3 * found.total_error


def test_runs_of_systems_edits_and_reports_have_forecasts():
    cells = dw.GridWorld(3, 3).by_states()
    for mechanism, question in (
        (dw.Exponential(cells, 3), "visits"),
        (dw.Online(cells, 3), "transitions"),
        (dw.EditChannel("ab", 3), "dfg"),
        (dw.Report(cells, 3, "visits"), "visits"),
    ):
        found = forecast(mechanism, 400, 4, question)
        assert 0 < found.of_true_words < found.half_width < 0.2
        assert "one usual next symbol" in str(found)


def test_what_cannot_be_forecast_is_refused():
    words = dw.Exponential(dw.Words("ab"), 1)
    with pytest.raises(dw.InvalidValue, match="one of frequencies, visits"):
        forecast(words, 100, 4, "variants")
    with pytest.raises(dw.InvalidValue, match="2 or more"):
        forecast(words, 1, 4)
    with pytest.raises(dw.InvalidValue, match="visit states"):
        forecast(words, 100, 4, "visits")
    with pytest.raises(dw.InvalidValue, match="ask for visits"):
        forecast(dw.Report(dw.GridWorld(2, 2), 1, "visits"), 100, 4, "transitions")
    with pytest.raises(dw.InvalidValue, match="a larger ε"):
        forecast(dw.Exponential(dw.Words("abcdefgh"), 0.1), 50, 6)
