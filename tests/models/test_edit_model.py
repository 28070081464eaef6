"""Chains for the edit channel: two ways in which words end, which of them is taken, and when the search may stop."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.scaled import Floats, Integers
from dpwords.models.alignments import EditChain, EndsAlike, OwnEnds
from dpwords.models.edit_model import LengthChain, better_chain, fitted_chains, length_channel
from dpwords.models.fitting import fit
from dpwords.spaces.edit_channel import CorruptedLaw
from models.test_alignments import LITTLE, alignments_of, all_words, channel_of, own_ends, random_chain

LAZY = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
TURNS = np.array([[0.05, 0.9, 0.05], [0.05, 0.05, 0.9], [0.9, 0.05, 0.05]])  # a is followed by b, b by c, c by a


def chances_of(symbols: int, seed: int) -> Floats:
    """Random chances of a chain whose words end alike."""
    rng = np.random.default_rng(seed)
    first, inner = rng.dirichlet(np.ones(symbols + 1)), rng.dirichlet(np.ones(symbols), symbols)
    return np.concatenate([first, inner.ravel(), [0.7, 0.3]])


def population(lengths: Any, chain: Floats, seed: int) -> list[str]:
    """Words over abc of these lengths, all of which start with a."""
    rng, words = np.random.default_rng(seed), []
    for length in lengths:
        word = [0]
        while len(word) < length:
            word.append(rng.choice(3, p=chain[word[-1]]))
        words.append("".join("abc"[code] for code in word))
    return words


def error(found: Any, answers: Any) -> float:
    """The L1 distance of estimates from the proportions of the true answers."""
    true = Counter(answers)
    return sum(abs(proportion.value - true[label] / true.total()) for label, proportion in found.items())


def test_a_matrix_whose_words_end_alike() -> None:
    chain = EndsAlike(alignments_of([(0,)], channel_of(2, 3.0)))
    matrix = chain.matrix(np.array([0.5, 0.3, 0.2, 0.9, 0.1, 0.4, 0.6, 0.75, 0.25]))
    assert matrix == pytest.approx(np.array([[0.5, 0.3, 0.2], [0.675, 0.075, 0.25], [0.3, 0.45, 0.25]]))
    assert chain.groups.tolist() == [0, 0, 0, 1, 1, 2, 2, 3, 3]
    uses = chain.uses(np.arange(9.0))  # of the steps; 3 + 4 + 6 + 7 of them go on from a symbol, and 5 + 8 end there
    assert uses.tolist() == [0, 1, 2, 3, 4, 6, 7, 20, 13]


@pytest.mark.parametrize("kind", [OwnEnds, EndsAlike])
def test_scores_are_derivatives_of_the_log_likelihood(kind: type[OwnEnds]) -> None:
    """Along each way to move chances of a group from the others to one of them."""
    words = [(0, 2, 1, 1), (), (2,), (2,), (1, 0, 0, 2, 2, 1, 0)]
    chain = kind(alignments_of(words, channel_of(3, 3.0)))
    chances = chances_of(3, seed=1) if kind is EndsAlike else random_chain(3, seed=1)
    check_scores(chain, chances)


def test_scores_of_words_with_lengths_of_their_own_are_derivatives() -> None:
    chain = LengthChain(alignments_of([(0, 2, 1, 1), (), (2,), (2,), (1, 0, 0, 2, 2, 1, 0)], channel_of(3, 3.0)))
    check_scores(chain, np.random.default_rng(2).dirichlet(np.ones(3), 4).ravel())


def check_scores(chain: EditChain, chances: Floats) -> None:
    """Scores are what the log-likelihood gains if a chance rises and the others of its group fall."""
    scores = sum(times @ chain.scores(chances, steps) for times, steps in chain.each(chances))
    for parameter, group in enumerate(chain.groups.tolist()):

        def moved(step: float, parameter: int = parameter, group: int = group) -> float:
            found = chances * np.exp(step * (np.arange(len(chances)) == parameter))
            own = chain.groups == group
            found[own] /= found[own].sum()
            return chain.expected(found)[0]

        assert (moved(1e-5) - moved(-1e-5)) / 2e-5 == pytest.approx(scores[parameter], rel=1e-5, abs=1e-6)


def test_covariances_with_the_scores_of_a_chain_whose_words_end_alike() -> None:
    """Scores of steps become scores of parameters by the same sums as uses do: by definition over listed words."""
    chain = EndsAlike(alignments_of([(0,)], channel_of(2, 3.0)))
    chances = np.array([0.5, 0.3, 0.2, 0.9, 0.1, 0.4, 0.6, 0.2, 0.8])
    matrix = chain.matrix(chances)

    def chance(states: list[int], codes: list[int]) -> float:
        return float(np.prod(matrix[states, codes]))

    check_covariance(chain, chances, 11, chance)  # 0.2^10 of the words are longer


def test_covariances_with_the_scores_of_words_with_lengths_of_their_own() -> None:
    chain = LengthChain(alignments_of([(0,), (0, 1, 1), (1, 1, 0, 1)], channel_of(2, 3.0)))
    chances = np.array([0.6, 0.4, 0.9, 0.1, 0.3, 0.7])

    def chance(states: list[int], codes: list[int]) -> float:
        steps = zip(states, codes[:-1], strict=False)
        return float(chain.lengths[len(codes) - 1]) * math.prod(float(chances[2 * a + b]) for a, b in steps)

    check_covariance(chain, chances, len(chain.lengths), chance)


def check_covariance(chain: EditChain, chances: Floats, lengths: int, chance_of: Any) -> None:
    """How many a, how many ab, and whether the last symbol is b: covariances by definition over listed words."""
    counted = np.zeros((3, 3, 3))
    counted[0, :, 0], counted[1, 1, 1], counted[2, 2, 2] = 1, 1, 1
    listed = []
    for length in range(lengths):
        for word in itertools.product(range(2), repeat=length):
            states, codes, steps = [0, *(code + 1 for code in word)], [*word, 2], np.zeros((3, 3))
            np.add.at(steps, (states, codes), 1)
            text = "".join("ab"[code] for code in word)
            stats = np.array([text.count("a"), text.count("ab"), text.endswith("b")])
            listed.append((chance_of(states, codes), stats, chain.uses(steps.ravel())))
    mean = sum(chance * stats for chance, stats, _ in listed)
    expected = np.zeros((3, len(chances)))
    for chance, stats, uses in listed:
        expected += chance * np.outer(stats - mean, uses - chances * np.bincount(chain.groups, uses)[chain.groups])
    assert chain.covariance(chances, counted) == pytest.approx(expected, abs=1e-5)


def test_words_with_lengths_of_their_own_are_summed_exactly() -> None:
    """Likelihoods and uses against sums over all true words of up to 4 symbols, with lengths that no chain has."""
    channel, outputs = channel_of(2, 2.5), [(), (0,), (1, 0, 1), (0, 0, 1, 1), (1,)]
    chances, words = np.array([0.6, 0.4, 0.9, 0.1, 0.3, 0.7]), list(all_words(2, 4))
    chain = LengthChain(alignments_of(outputs, channel))
    chain.lengths = np.array([0.1, 0.0, 0.5, 0.1, 0.3])
    ((_, rows),) = chain.each(chances)
    logs = chain.logs(chances)
    values, ends = chain.alignments.words.values, [0, *chain.alignments.words.ends.tolist()]
    for number, (begin, end) in enumerate(itertools.pairwise(ends)):
        total, steps = 0.0, np.zeros((3, 3))
        for word in words:
            states = [0, *(code + 1 for code in word)]
            chance = chain.lengths[len(word)] * math.prod(
                chances[2 * a + b] for a, b in zip(states, word, strict=False)
            )
            chance *= math.exp(CorruptedLaw(np.array(word, dtype=np.int64), channel).log_prob(values[begin:end]))
            total += chance
            np.add.at(steps, (states, [*word, 2]), chance)
        assert logs[number] == pytest.approx(math.log(total), rel=1e-12)
        assert rows[number].reshape(3, 3) == pytest.approx(steps / total, rel=1e-11)


def test_long_words_with_lengths_of_their_own_do_not_underflow() -> None:
    """Every true word starts and ends once, and leaves each symbol as often as it comes to it."""
    output = np.random.default_rng(4).integers(0, 3, 600)
    chain = LengthChain(alignments_of([output], channel_of(3, 3.0)))
    log_likelihood, steps = chain.steps(np.random.default_rng(6).dirichlet(np.ones(3), 4).ravel())
    matrix = steps.reshape(4, 4)
    assert math.isfinite(log_likelihood)
    assert (matrix[0].sum(), matrix[:, -1].sum()) == (pytest.approx(1.0), pytest.approx(1.0))
    assert matrix[1:].sum(axis=1) == pytest.approx(matrix[:, :-1].sum(axis=0))
    assert chain.logs_given_length(np.full(12, 1 / 3))[0] == pytest.approx(-600 * math.log(3), rel=1e-9)


@LITTLE
@pytest.mark.parametrize(("symbols", "epsilon"), [(1, 1.0), (2, 2.0), (3, 3.5)])
def test_probabilities_among_the_outputs_of_one_length_sum_to_one(symbols: int, epsilon: float) -> None:
    outputs = [word for length in range(5) for word in itertools.product(range(symbols), repeat=length)]
    chain = own_ends(outputs, channel_of(symbols, epsilon))
    found = np.exp(chain.logs_given_length(random_chain(symbols, seed=3)))
    assert found.sum() == pytest.approx(5, rel=1e-11)  # the lengths 0 to 4
    assert found.max() <= 1 + 1e-11
    assert len(found) == len(outputs)


def test_a_long_output_has_the_length_that_the_channel_of_lengths_gives() -> None:
    """Of a chain that always ends after three symbols, with 60 released ones: far below what may happen by chance."""
    mechanism = dw.EditChannel("abc", 4.0)
    chances = np.zeros((4, 4))
    chances[0, 0] = chances[1, 1] = chances[2, 2] = chances[3, 3] = 1.0  # abc, and nothing else
    output = np.random.default_rng(1).integers(0, 3, 60)
    (given,) = own_ends([output], mechanism._channel).logs_given_length(np.maximum(chances, 1e-300).ravel())
    law = mechanism.given("abc")
    word = "".join("abc"[code] for code in output)
    lengths = length_channel(mechanism._channel, 3, 60)[3]
    assert given == pytest.approx(law.log_prob(word) - math.log(lengths[60]), rel=1e-9)


LENGTHS: dict[str, Integers] = {
    "all ten": np.full(1000, 10),
    "five to fourteen": np.random.default_rng(2).integers(5, 15, 1000),
    "three or fifteen": np.random.default_rng(3).choice([3, 15], 1000),
}


@LITTLE
@pytest.mark.parametrize("name", LENGTHS)
def test_lengths_that_no_chain_has_are_not_explained_by_symbols(name: str) -> None:
    """At ε = 2.1 half of the symbols are kept. A chain whose symbols end words by themselves was off by 1 and more."""
    words = population(LENGTHS[name], TURNS, seed=4)
    mechanism = dw.EditChannel("abc", 2.1)
    releases = mechanism.seeded(5).release_all(words)
    model = dw.estimate.model(releases, mechanism)
    assert isinstance(model, dw.estimate.EditModel)
    assert isinstance(model.best.chain, LengthChain)
    firsts = dw.estimate.starts(releases, mechanism, model=model)
    assert error(firsts, [word[0] for word in words]) < 2 * max(firsts.total_error, 0.1)
    graph = dw.estimate.dfg(releases, mechanism, model=model)
    assert error(graph, [pair for word in words for pair in itertools.pairwise(word)]) < 0.4
    assert sum(abs(graph.counted[pair] - proportion.value) for pair, proportion in graph.items()) > 0.6


def test_words_that_end_after_certain_symbols() -> None:
    """Words end after c only, with 0.4: the chain has ends of its own, and there is no doubt."""
    rng, words = np.random.default_rng(6), []
    for _ in range(1000):
        word = [0]
        while word[-1] != 2 or rng.random() > 0.4:
            word.append(rng.choice(3, p=TURNS[word[-1]]))
        words.append("".join("abc"[code] for code in word))
    mechanism = dw.EditChannel("abc", 2.5)
    releases = mechanism.seeded(7).release_all(words)
    model = dw.estimate.model(releases, mechanism)
    assert isinstance(model, dw.estimate.EditModel)
    assert isinstance(model.best.chain, OwnEnds)
    assert model.doubt < 1e-6
    assert error(dw.estimate.ends(releases, mechanism, model=model), [word[-1] for word in words]) < 0.1


def test_the_difference_of_chains_that_cannot_be_told_apart_is_an_error() -> None:
    """20 words tell nothing about how they end: standard errors reach from the one chain to the other."""
    mechanism = dw.EditChannel("abc", 3.0)
    releases = mechanism.seeded(8).release_all(["abc", "abcabc", "bca", "cab"] * 5)
    model = dw.estimate.model(releases, mechanism)
    assert isinstance(model, dw.estimate.EditModel)
    fits = (model.best, model.other)
    first, second = (each.chain.steps(each.found.chances)[1].reshape(4, 4) for each in fits)
    ends = [each[1:, -1] / each[1:, -1].sum() for each in (first, second)]
    assert 1e-4 < model.doubt <= 0.5
    found = dw.estimate.ends(releases, mechanism, model=model)
    errors = np.array(
        [(proportion.high - proportion.value) / 1.96 for proportion in found.values() if proportion.high < 1]
    )
    assert (errors >= math.sqrt(model.doubt) * np.abs(ends[0] - ends[1])[: len(errors)] * 0.99).all()


def test_chains_are_compared_without_their_lengths() -> None:
    """All words have ten symbols, and no chain has such lengths."""
    words = population(np.full(500, 10), LAZY, seed=9)
    mechanism = dw.EditChannel("abc", 2.2)
    releases = [["abc".index(symbol) for symbol in word] for word in mechanism.seeded(10).release_all(words)]
    own_ends, alike = fitted_chains(alignments_of(releases, mechanism._channel), np.ones(16))
    best, other, doubt = better_chain(own_ends, alike)
    assert (best, other) == (alike, own_ends)
    assert doubt < 1e-3


class Slow:
    """Evidence about one proportion of two, where a step goes a hundredth of the way to the largest likelihood, at
    0.9."""

    groups = np.array([0, 0])

    def __init__(self) -> None:
        self.steps = 0

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """The log-likelihood falls with the square of the distance."""
        self.steps += 1
        goal = chances + 0.01 * (np.array([0.9, 0.1]) - chances)
        return float(-100 * (chances[0] - 0.9) ** 2), 1000 * goal


def test_small_steps_are_not_taken_for_the_end() -> None:
    """The first step gains 100·0.6²·(1 − 0.99²) = 0.7, and 36 are missing; the eleventh gains less than 0.6."""
    found = fit(Slow(), np.array([0.3, 0.7]), most=1000, enough=0.01)
    assert found.converged
    assert found.log_likelihood > -0.02
    assert found.chances == pytest.approx([0.9, 0.1], abs=0.02)


class Saddle(Slow):
    """Next to a saddle point at 0.5, from which steps lead away, to 0.9 at last."""

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """d/dt of the distance is in proportion to it, until it is 0.4."""
        self.steps += 1
        away = chances[0] - 0.5
        goal = 0.5 + np.clip(1.5 * away, -0.4, 0.4)
        return float(1000 * min(away, 0.4) ** 2), 1000 * np.array([goal, 1 - goal])


def test_a_saddle_point_is_not_taken_for_the_end() -> None:
    """The first step gains 1000·(0.0015² − 0.001²), next to nothing."""
    found = fit(Saddle(), np.array([0.501, 0.499]), enough=0.2)
    assert found.chances == pytest.approx([0.9, 0.1], abs=1e-6)
    assert found.converged
