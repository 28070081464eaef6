"""The likelihood of the edit channel's outputs under a Markov chain: against sums over true words, and closed forms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import dpwords as dw
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Ragged
from dpwords.models.alignments import Alignments, OwnEnds
from dpwords.spaces.edit_channel import Channel, CorruptedLaw

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
LITTLE = pytest.mark.filterwarnings("ignore:of each word")
CASES = [(1, 1.0), (2, 2.0), (3, 3.5), (3, 6.0)]  # symbols, ε


def channel_of(symbols: int, epsilon: float) -> Channel:
    return dw.EditChannel(range(symbols), epsilon)._channel


def alignments_of(words: Iterable[Iterable[int]], channel: Channel, limits: Limits = DEFAULTS) -> Alignments:
    return Alignments(Ragged.of([np.array(list(word), dtype=np.int64) for word in words]), channel, limits)


def own_ends(words: Iterable[Iterable[int]], channel: Channel, limits: Limits = DEFAULTS) -> OwnEnds:
    return OwnEnds(alignments_of(words, channel, limits))


def all_words(symbols: int, longest: int) -> Iterator[tuple[int, ...]]:
    for length in range(longest + 1):
        yield from itertools.product(range(symbols), repeat=length)


def steps_of(word: Iterable[int], symbols: int) -> Iterator[int]:
    """The numbers of the parameters that a true word uses, one after the other: its steps and its end."""
    state = 0
    for symbol in word:
        yield state * (symbols + 1) + symbol
        state = symbol + 1
    yield state * (symbols + 1) + symbols


def chain_of(word: Iterable[int], symbols: int) -> Floats:
    """The chain that produces one word, whose symbols all differ."""
    chances = np.zeros((symbols + 1) ** 2)
    chances[list(steps_of(word, symbols))] = 1.0
    return chances


def random_chain(symbols: int, seed: int, end: float = 0.0) -> Floats:
    """Random chances in each row; `end` is the least chance of the end."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(symbols + 1), symbols + 1) * (1 - end)
    rows[:, -1] += end
    return rows.ravel()


def by_listing(
    chances: Floats, output: Codes, channel: Channel, words: Iterable[tuple[int, ...]]
) -> tuple[float, Floats]:
    """ln of the probability of an output and the expected uses of all parameters, summed over a list of true words."""
    total, uses = 0.0, np.zeros(len(chances))
    for word in words:
        steps = list(steps_of(word, channel.symbols))
        chance = math.prod(chances[steps].tolist())
        if chance:
            chance *= math.exp(CorruptedLaw(np.array(word, dtype=np.int64), channel).log_prob(output))
            total += chance
            np.add.at(uses, steps, chance)
    return math.log(total), uses / total


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), CASES)
def test_one_certain_word_has_the_probabilities_of_the_channel(symbols: int, epsilon: float) -> None:
    mechanism = dw.EditChannel(range(symbols), epsilon)
    for length in range(symbols + 1):
        word = list(range(symbols))[::-1][:length]
        chances = chain_of(word, symbols)
        for output in all_words(symbols, 4):
            log_likelihood, uses = own_ends([output], mechanism._channel).expected(chances)
            assert log_likelihood == pytest.approx(mechanism.log_prob(list(output), given=word), rel=1e-11)
            assert uses == pytest.approx(chances, rel=1e-11)


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), CASES)
def test_uses_are_those_of_all_true_words(symbols: int, epsilon: float) -> None:
    """Nearly all words end after each symbol, so that those longer than the listed ones do not matter."""
    channel, chances = channel_of(symbols, epsilon), random_chain(symbols, seed=1, end=0.97)
    words = list(all_words(symbols, {1: 12, 2: 8, 3: 6}[symbols]))
    for output in [(), (0,), (symbols - 1, 0), (0, symbols - 1, symbols - 1), (0, 0, 0, 0)]:
        log_likelihood, uses = own_ends([output], channel).expected(chances)
        expected, expected_uses = by_listing(chances, np.array(output, dtype=np.int64), channel, words)
        assert log_likelihood == pytest.approx(expected, rel=1e-9)
        assert uses == pytest.approx(expected_uses, rel=1e-6, abs=1e-9)


def test_a_chain_without_cycles_is_summed_exactly() -> None:
    """Symbols only rise, so that there are 2^4 true words; many chances are 0."""
    chances = np.random.default_rng(5).random((5, 5)) * np.triu(np.ones((5, 5)))
    chances = (chances / chances.sum(axis=1, keepdims=True)).ravel()
    channel = channel_of(4, 3.0)
    words = [word for size in range(5) for word in itertools.combinations(range(4), size)]
    outputs = [(3, 2, 1, 0), (), (1, 1), (0, 1, 2, 3, 0, 1), (1, 1)]
    found = [by_listing(chances, np.array(output, dtype=np.int64), channel, words) for output in outputs]
    log_likelihood, uses = own_ends(outputs, channel).expected(chances)
    assert log_likelihood == pytest.approx(sum(each for each, _ in found), rel=1e-12)
    assert uses == pytest.approx(sum(each for _, each in found), rel=1e-10)
    assert (uses[chances == 0] == 0).all()


def test_uses_are_derivatives_of_the_log_likelihood() -> None:
    chain = own_ends([(0, 2, 1, 1), (), (2,), (2,), (1, 0, 0, 2, 2, 1, 0)], channel_of(3, 3.0))
    chances, step = random_chain(3, seed=2), 1e-5
    _, uses = chain.expected(chances)
    for parameter in range(len(chances)):
        ups = np.exp(step * (np.arange(len(chances)) == parameter))
        above, below = chain.expected(chances * ups)[0], chain.expected(chances / ups)[0]
        assert (above - below) / (2 * step) == pytest.approx(uses[parameter], rel=1e-5, abs=1e-6)


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), CASES)
def test_the_empty_output_is_a_geometric_series(symbols: int, epsilon: float) -> None:
    """With i symbols in a proportion (1 − q)·q^i of the words, all are deleted and i + 1 gaps empty."""
    channel, more = channel_of(symbols, epsilon), 0.8
    chances = np.tile([*[more / symbols] * symbols, 1 - more], symbols + 1)
    deleted, empty = channel.probabilities[0], math.exp(channel.log_insertions(0)[0])
    log_likelihood, uses = own_ends([()], channel).expected(chances)
    assert log_likelihood == pytest.approx(math.log(empty * (1 - more) / (1 - more * deleted * empty)), rel=1e-12)
    expected_length = more * deleted * empty / (1 - more * deleted * empty)
    is_end = np.arange(len(chances)) % (symbols + 1) == symbols
    assert uses[is_end].sum() == pytest.approx(1.0, rel=1e-12)
    assert uses[~is_end].sum() == pytest.approx(expected_length, rel=1e-11)


def test_probabilities_below_the_range_of_floats_are_exact() -> None:
    """A true word of 150 different symbols and an output of 200 others: e^(−1600), but no underflow."""
    symbols, word, output = 150, np.arange(150), np.random.default_rng(3).integers(0, 150, 200)
    channel = channel_of(symbols, 8.0)
    expected = CorruptedLaw(word, channel).log_prob(output)
    log_likelihood, uses = own_ends([output], channel).expected(chain_of(word, symbols))
    assert expected < -1000
    assert log_likelihood == pytest.approx(expected, rel=1e-11)
    assert uses == pytest.approx(chain_of(word, symbols), rel=1e-9)


@LITTLE
@pytest.mark.parametrize("symbols", [1, 2, 4])
def test_uses_in_a_long_word_balance(symbols: int) -> None:
    """Every true word starts and ends once, and leaves each symbol as often as it comes to it."""
    output = np.random.default_rng(4).integers(0, symbols, 3000)
    log_likelihood, uses = own_ends([output], channel_of(symbols, 3.0)).expected(random_chain(symbols, seed=6))
    matrix = uses.reshape(symbols + 1, symbols + 1)
    assert math.isfinite(log_likelihood)
    assert matrix[0].sum() == pytest.approx(1.0, rel=1e-9)
    assert matrix[:, -1].sum() == pytest.approx(1.0, rel=1e-9)
    assert matrix[1:].sum(axis=1) == pytest.approx(matrix[:, :-1].sum(axis=0), rel=1e-9)
    assert matrix.sum() > 1000


def test_each_word_by_itself_sums_to_all_words_whatever_the_batches_and_threads() -> None:
    rng = np.random.default_rng(7)
    words = [rng.integers(0, 3, length) for length in rng.integers(0, 9, 400)]
    channel, chances = channel_of(3, 4.0), random_chain(3, seed=8)
    one = own_ends(words, channel, Limits(threads=1)).expected(chances)
    many = own_ends(words, channel, Limits(threads=5)).expected(chances)
    assert one[0] == many[0]
    assert (one[1] == many[1]).all()
    batches = list(own_ends(words, channel, Limits(batch=16 * 50)).each(chances))
    times = np.concatenate([times for times, _ in batches])
    uses = np.concatenate([uses for _, uses in batches])
    assert len(batches) > 3
    assert len(times) == len({tuple(word) for word in words})
    assert times.sum() == len(words)
    assert times @ uses == pytest.approx(one[1], rel=1e-11)
    end = np.arange(16) % 4 == 3
    assert uses[:, end].sum(axis=1) == pytest.approx(np.ones(len(times)), rel=1e-11)


def test_groups_are_the_rows_of_the_chain() -> None:
    assert own_ends([], channel_of(2, 3.0)).groups.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_no_words_have_likelihood_one() -> None:
    chain = own_ends([], channel_of(2, 3.0))
    log_likelihood, uses = chain.expected(np.full(9, 1 / 3))
    assert log_likelihood == 0.0
    assert not uses.any()
    assert list(chain.each(np.full(9, 1 / 3))) == []


def test_too_much_work_is_refused_beforehand() -> None:
    with pytest.raises(dw.errors.TooLarge, match="steps"):
        own_ends([np.zeros(10**6, dtype=np.int64)], channel_of(2, 3.0))
    with pytest.raises(dw.errors.TooLarge, match="bytes"):
        own_ends([(0, 1)], channel_of(1000, 9.0), Limits(memory=10**6))


def test_chances_that_floats_cannot_follow_are_refused() -> None:
    """300 symbols that all have to be deleted: the output is possible, but its probability is below e^(−2000)."""
    chain = own_ends([()], channel_of(300, 9.0))
    with pytest.raises(dw.errors.InvalidValue, match="all positive"):
        chain.expected(chain_of(range(300), 300))


def test_em_finds_the_pairs_of_a_synthetic_log() -> None:
    """2,000 orders of a shop: the likelihood never falls, and the pairs of steps come much nearer to the truth."""
    rng = np.random.default_rng(9)
    variants = [(0, 1, 2, 3, 4), (0, 2, 1, 3, 4), (0, 1, 1, 2, 5), (0, 5), (0, 1, 2, 3, 6, 3, 4), (), (7,)]
    chosen = rng.choice(len(variants), 2000, p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05])
    truth = [list(variants[number]) for number in chosen]
    mechanism = dw.EditChannel(range(8), 4.5).seeded(10)
    released = mechanism.release_all(truth)
    chain = own_ends(released, mechanism._channel)
    chances, before = np.full(81, 1 / 9), -math.inf
    for _ in range(60):
        log_likelihood, uses = chain.expected(chances)
        assert log_likelihood >= before - 1e-9 * abs(log_likelihood)
        before = log_likelihood
        chances = uses / np.bincount(chain.groups, uses)[chain.groups]
    fitted = uses.reshape(9, 9)[1:, :-1]
    errors = [np.abs(pairs / pairs.sum() - proportions(truth)).sum() for pairs in (proportions(released), fitted)]
    assert errors[0] > 0.4
    assert errors[1] < 0.12


def proportions(words: list[list[int]]) -> Floats:
    """The proportions of pairs of consecutive symbols in words over 8 symbols."""
    pairs = np.zeros((8, 8))
    for word in words:
        np.add.at(pairs, (word[:-1], word[1:]), 1)
    return pairs / pairs.sum()
