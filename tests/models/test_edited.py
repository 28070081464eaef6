"""What an adversary can guess of words that went through the edit channel, against Bayes' rule over all words."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords import attack
from dpwords.attack.guessing import Attack
from dpwords.core.compiled import kernel
from dpwords.core.limits import Limits
from dpwords.models.alignments import EditChances
from dpwords.models.edit_model import length_channel
from dpwords.models.edited import EditedPosteriors
from dpwords.models.evidence import evidence_of
from dpwords.spaces import exhaustive

FEW = Limits(attacked_words=3)  # so that words are aligned instead of listed
UNEVEN = {None: {"a": 0.5, "b": 0.5}, "a": {"a": 0.7, "b": 0.3}, "b": {"b": 0.1, "c": 0.9}, "c": {"a": 1.0}}


def by_bayes(channel: dw.EditChannel, words: list[Any], prior: Any, output: Any) -> tuple[Any, Any]:
    """The probability of each word given an output, and of each symbol at each position, by sums over all words."""
    joint = {}
    for word in words:
        steps = zip([None, *word[:-1]], word, strict=True)
        chance = 1.0 if prior == "uniform" else math.prod(prior[one].get(other, 0.0) for one, other in steps)
        joint[word] = chance * math.exp(channel.without_projection().given(word).log_prob(output))
    proportions = {word: each / sum(joint.values()) for word, each in joint.items()}
    positions = [Counter[Any]() for _ in words[0]]
    for word, proportion in proportions.items():
        for symbol, position in zip(word, positions, strict=True):
            position[symbol] += proportion
    return proportions, positions


def bound(channel: dw.EditChannel, prior: Any, length: int, output: Any) -> float:
    """The upper bound of the probability of every word, given an output."""
    attack = Attack.of(channel, length, prior)
    edited = attack.evidence.posteriors(attack.prior, 1)
    assert isinstance(edited, EditedPosteriors)
    codes = np.array([channel.language.alphabet.codes[symbol] for symbol in output], dtype=np.int64)
    hits, whole, most = np.zeros((1, length)), np.zeros(1), np.zeros(1)
    job = (codes, np.array([len(codes)]), 0, 1, edited._chain, EditChances.of(channel._channel, len(codes)))
    kernel("edited").guessed_each(*job, hits, whole, most)
    return float(most[0])


@pytest.mark.parametrize("prior", ["uniform", UNEVEN])
@pytest.mark.parametrize("epsilon", [3, 5])
@pytest.mark.parametrize("output", ["abca", "", "bbbbb", "cab", "abcabcabc"])
def test_alignments_give_the_same_as_all_words(prior: Any, epsilon: float, output: str) -> None:
    """Probabilities of symbols are exact; the largest of a word is enclosed."""
    channel = dw.EditChannel("abc", epsilon, limits=FEW)
    proportions, positions = by_bayes(channel, [*product("abc", repeat=4)], prior, output)
    found = attack.posterior([output], channel, prior, length=4)
    for proportion, position in zip(found.places, positions, strict=True):
        assert proportion == pytest.approx({symbol: position[symbol] for symbol in "abc"}, abs=1e-12)
    assert found.probability == pytest.approx(proportions[found.word], rel=1e-9)
    largest = max(proportions.values())
    assert largest / 2 < found.probability
    assert largest - 1e-12 <= bound(channel, prior, 4, output) < 7 * largest


def test_alignments_of_runs_of_a_system() -> None:
    """Words of states come from the grid, with another order of symbols than the channel has."""
    world = dw.GridWorld(3, 3).by_states()
    symbols = world.alphabet.symbols
    channel = dw.EditChannel(symbols[::-1], 4, onto=world, limits=FEW)
    output = [(0, 1), (1, 1), (1, 2), (0, 0), (2, 2), (2, 1)]
    proportions, positions = by_bayes(channel, exhaustive.words(world, 5), "uniform", output)
    found = attack.posterior([output], channel, length=5)
    for proportion, position in zip(found.places, positions, strict=True):
        assert proportion == pytest.approx({symbol: position[symbol] for symbol in symbols}, abs=1e-12)
    assert found.probability == pytest.approx(proportions[found.word], rel=1e-9)
    assert world.accepts(found.word)


def test_guesses_by_alignments() -> None:
    """Sums over all words and all outputs of at most 9 symbols, which have all but 0.1% of the probability."""
    free = dw.Words("ab")
    words, outputs = exhaustive.words(free, 2), exhaustive.words_up_to(free, 9)
    channel = dw.EditChannel("ab", epsilon=3, limits=FEW)
    joint = [[math.exp(channel.given(word).log_prob(output)) / 4 for word in words] for output in outputs]
    whole = sum(map(max, joint))
    hits = sum(
        max(sum(p for p, word in zip(row, words, strict=True) if word[position] == symbol) for symbol in "ab")
        for row in joint
        for position in range(2)
    )
    found = attack.guess(channel, 2)
    assert found.method == "simulation"
    assert found.low.whole - 0.001 < whole < found.high.whole < whole + 0.1
    assert found.low.hits - 0.002 < hits < found.high.hits < hits + 0.1


def test_nothing_is_guessed_where_only_the_length_shows() -> None:
    with pytest.warns(UserWarning, match="only the length will show"):
        channel = dw.EditChannel("acgt", epsilon=1)
    found = attack.guess(channel, 20, samples=200)
    assert found.hits == pytest.approx(5)
    assert found.whole == pytest.approx(4.0**-20)


def test_long_words_do_not_underflow() -> None:
    """If all words are equally likely, so are all outputs of a length. There are 26²⁵⁰ words, more than floats hold."""
    channel, word = dw.EditChannel(range(26), epsilon=12), [(7 * position) % 26 for position in range(250)]
    found = attack.posterior([word], channel, length=250)
    same_length = length_channel(channel._channel, 250, 250)[250, 250]
    assert list(found.word) == word
    assert found.probability == pytest.approx(math.exp(channel.given(word).log_prob(word)) / same_length, rel=1e-9)


def test_what_takes_too_long_is_refused() -> None:
    channel = dw.EditChannel("acgt", 4)
    with pytest.raises(dw.TooLarge, match="pass one release"):
        attack.posterior(["acgt", "acct"], channel, length=20)
    with pytest.raises(dw.TooLarge, match="too long to align"):
        attack.posterior(["acgt" * 50_000], channel, length=20)
    assert attack.guess(channel, 15_000).method == "bound"


@pytest.mark.parametrize(("symbols", "epsilon"), [(2, 2.0), (3, 4.0)])
def test_listed_words_have_the_probabilities_of_the_channel(symbols: int, epsilon: float) -> None:
    """Words in any order, of which many begin alike, and outputs that occur several times."""
    mechanism, rng = dw.EditChannel(range(symbols), epsilon), np.random.default_rng(symbols)
    words = rng.permutation(np.array(list(product(range(symbols), repeat=4))))
    outputs = [np.array(output, dtype=np.int64) for output in ([], [0], [1, 1, 0], [0, 1, 0, 1, 1, 0, 0], [0])]
    found = evidence_of(mechanism, words.shape[1]).log_probs(words, outputs)
    laws = [mechanism.given(word.tolist()) for word in words]
    expected = [[law.log_prob(output.tolist()) for output in outputs] for law in laws]
    assert found == pytest.approx(np.array(expected), rel=1e-11)


def test_outputs_that_are_less_likely_than_floats_can_express() -> None:
    """Two symbols become 400: the probability is below 10^(−300)."""
    mechanism, words = dw.EditChannel(range(30), 9.0), np.array([[0, 1], [1, 0]])
    output = np.arange(400) % 30
    found = evidence_of(mechanism, words.shape[1]).log_probs(words, [output])
    assert found[0, 0] == pytest.approx(mechanism.log_prob(output.tolist(), given=[0, 1]), rel=1e-11)
    assert found.max() < -700


def test_several_releases_over_listed_words() -> None:
    """Two releases of a word of two symbols, over all pairs of outputs of at most 7 symbols: all but 0.4% of them."""
    mechanism, words = dw.EditChannel("ab", 3.0), exhaustive.words(dw.Words("ab"), 2)
    outputs = exhaustive.words_up_to(dw.Words("ab"), 7)
    laws = [mechanism.given(word) for word in words]
    table = np.array([[math.exp(law.log_prob(output)) for output in outputs] for law in laws])
    pairs = table[:, :, None] * table[:, None, :] / 4
    assert pairs.sum() > 0.996
    whole = pairs.max(axis=0).sum()
    first = np.array([word[0] == "a" for word in words])
    position = np.maximum(pairs[first].sum(axis=0), pairs[~first].sum(axis=0)).sum()
    found = attack.guess(mechanism, 2, releases=2)
    assert found.method == "simulation"
    assert found.low.whole <= whole + 0.004
    assert whole <= found.high.whole
    assert found.hits_by_place[0] == pytest.approx(position, abs=0.02)
    assert attack.guess(dw.EditChannel("abc", 3.0), 6, releases=3, samples=100).method == "simulation"
