"""True lengths from released ones: the length channel against sums over words and a generating function, the fit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.models.edit_model import fit_lengths, length_channel
from dpwords.spaces.edit_channel import Channel, CorruptedLaw

LITTLE = pytest.mark.filterwarnings("ignore:of each word")


def channel_of(symbols: int, epsilon: float) -> Channel:
    return dw.EditChannel(range(symbols), epsilon)._channel


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), [(1, 1.0), (2, 1.5), (3, 5.0)])
def test_lengths_are_sums_over_all_outputs(symbols: int, epsilon: float) -> None:
    channel = channel_of(symbols, epsilon)
    matrix = length_channel(channel, 4, 5)
    for true, released in itertools.product(range(5), range(6)):
        law = CorruptedLaw(np.arange(true) % symbols, channel)
        outputs = itertools.product(range(symbols), repeat=released)
        logs = [law.log_prob(np.array(output, dtype=np.int64)) for output in outputs]
        assert matrix[true, released] == pytest.approx(math.fsum(map(math.exp, logs)), rel=1e-11)


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), [(1, 1.0), (2, 0.9), (26, 4.0), (100, 8.0)])
def test_rows_have_the_generating_function(symbols: int, epsilon: float) -> None:
    """Σ P(j | i)·s^j = G(s)^(i+1)·(δ + (1 − δ)·s)^i, where G = empty + (double + around·s)·G²."""
    channel = channel_of(symbols, epsilon)
    matrix = length_channel(channel, 20, 600)
    empty, double, around = channel.tree
    deleted = channel.probabilities[0]
    for s in (0.0, 0.3, 0.9):
        growth = double + around * s
        gap = 2 * empty / (1 + math.sqrt(1 - 4 * growth * empty))
        true = np.arange(21)
        assert matrix @ s ** np.arange(601.0) == pytest.approx(
            gap ** (true + 1) * (deleted + (1 - deleted) * s) ** true, rel=1e-10, abs=0
        )


def test_mean_lengths_are_those_of_the_channel() -> None:
    channel = channel_of(5, 4.0)
    means = length_channel(channel, 10, 400) @ np.arange(401)
    true = np.arange(11)
    assert means == pytest.approx(true * (1 - channel.probabilities[0]) + (true + 1) * channel.inserted, rel=1e-9)


def test_exact_proportions_of_released_lengths_give_the_true_ones_back() -> None:
    """Without noise in the counts the best proportions are the true ones."""
    true = np.array([0.05, 0.0, 0.3, 0.5, 0.15, 0.0, 0.0])
    matrix = length_channel(channel_of(4, 5.0), 6, 30)
    assert fit_lengths(1e9 * (true @ matrix), matrix) == pytest.approx(true, abs=2e-4)


def test_no_proportions_are_more_likely_than_the_fitted_ones() -> None:
    """The likelihood is above that of the true proportions, and of mixtures with any other length, up to the stated
    0.1."""
    rng = np.random.default_rng(3)
    matrix = length_channel(channel_of(3, 3.0), 12, 60)
    true = rng.dirichlet(np.ones(13))
    counts = rng.multinomial(2000, (true @ matrix) / (true @ matrix).sum())
    fitted = fit_lengths(counts, matrix)

    def log_likelihood(proportions: np.ndarray) -> float:
        return float(counts @ np.log(proportions @ matrix))

    assert fitted.sum() == pytest.approx(1.0)
    assert (fitted >= 0).all()
    others = [true, np.full(13, 1 / 13), *(0.9 * fitted + 0.1 * one for one in np.eye(13))]
    assert max(map(log_likelihood, others)) < log_likelihood(fitted) + 0.1


@LITTLE
@pytest.mark.filterwarnings("ignore:the estimates are rough")
@pytest.mark.parametrize(("epsilon", "words", "widest"), [(2.0, 1000, 0.6), (3.0, 200, 0.4), (5.0, 200, 0.13)])
def test_intervals_cover_lengths_that_releases_hardly_tell_apart(epsilon: float, words: int, widest: float) -> None:
    """Lengths are uniform on 3 to 8, and a fit has some of them at 0."""
    mechanism, covered, widths = dw.EditChannel("abc", epsilon), [], []
    for seed in range(12):
        sizes = np.random.default_rng(seed).integers(3, 9, words)
        found = dw.estimate.lengths(mechanism.seeded(seed).release_all(["a" * size for size in sizes]), mechanism)
        covered += [found[length].low <= 1 / 6 <= found[length].high for length in range(3, 9)]
        widths += [found[length].high - found[length].low for length in range(3, 9)]
        beyond = [proportion for length, proportion in found.items() if not 3 <= length <= 8]
        assert np.mean([proportion.low <= 0.001 for proportion in beyond]) > 0.9
    assert np.mean(covered) > 0.9
    assert np.mean(widths) < widest


@pytest.mark.filterwarnings("ignore:the estimates are rough")
def test_two_releases_do_not_tell_lengths_exactly() -> None:
    found = dw.estimate.lengths(["abc", "ab"], dw.EditChannel("abc", 3.0))
    assert found[2].low < 0.2
    assert found[2].high > 0.95
    assert found[4].high > 0.3


def test_counted_lengths_have_the_intervals_of_a_sample() -> None:
    """Of 96 words none has one symbol: with two words more on each side, √(2/100·98/100/96) = 0.01429."""
    found = dw.estimate.lengths(["abc"] * 48 + ["ab"] * 48, dw.Exponential(dw.Words("abc"), 1.0))
    assert found[1] == pytest.approx((0, 0, 1.96 * 0.01429), rel=1e-3)
    assert found[2] == pytest.approx((0.5, 0.5 - 1.96 / 2 / 96**0.5, 0.5 + 1.96 / 2 / 96**0.5), rel=1e-3)


def test_impossible_requests_are_refused() -> None:
    matrix = length_channel(channel_of(3, 12.0), 2, 200)
    with pytest.raises(dw.errors.InvalidValue, match="longer true words"):
        fit_lengths(np.arange(201) == 200, matrix)
    with pytest.raises(dw.errors.InvalidValue, match="at least one"):
        fit_lengths(np.zeros(201), matrix)
    with pytest.raises(dw.errors.TooLarge, match="steps"):
        length_channel(channel_of(3, 12.0), 10**5, 10**5)
    with pytest.raises(dw.errors.TooLarge, match="bytes"):
        length_channel(channel_of(3, 12.0), 1000, 1000, Limits(memory=10**6))
