"""Standard errors: covariances against sums over all words, and how often intervals cover the truth."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.symbols import Alphabet
from dpwords.estimate.questions import of_states, of_symbols
from dpwords.estimate.uncertainty import inside, population_moments, unclear
from dpwords.models.chains import hidden_runs
from models.test_alignments import channel_of, own_ends
from populations import LANGUAGES, listed, prior, random_chances


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("kind", ["each", "pair", "first", "last", "position"])
def test_covariances_are_those_of_all_words(name: str, kind: Any) -> None:
    language, length = LANGUAGES[name]
    hidden = hidden_runs(language)
    chances, expected, variances = random_chances(hidden, 3), 0, 0
    question = of_symbols(hidden.alphabet, kind, length if kind == "position" else 1, hidden)
    lengths = {length: 2.0, length - 1: 3.0} if len(listed(language, length - 1)[0]) else {length: 2.0}
    for each, number in lengths.items():
        _, codes = listed(language, each)
        proportions = prior(hidden, chances, codes)
        taken = hidden.taken(codes)
        uses = np.array([np.bincount(hidden.parameter[row], minlength=len(chances)) for row in taken])
        of_group = np.array([np.bincount(hidden.groups, row)[hidden.groups] for row in uses])
        scores = uses - chances * of_group
        found = np.array([answers(row, hidden, question, each) for row in taken])
        centred = found - proportions @ found
        expected = expected + number * (centred * proportions[:, None]).T @ scores
        variances = variances + number * proportions @ (found - 0.1 * question.sizes(each)) ** 2
    moments = population_moments(hidden, question, chances, lengths, np.full(question.number, 0.1))
    assert moments[0] == pytest.approx(expected, abs=1e-10)
    assert moments[1] == pytest.approx(variances, abs=1e-10)


def answers(taken: Any, hidden: Any, question: Any, length: int) -> Any:
    """What one word answers, position by position."""
    found = np.zeros(question.number)
    for position, edge in enumerate(taken.tolist()):
        symbol, before = hidden.symbol[hidden.target[edge]], hidden.symbol[hidden.source[edge]]
        symbols = hidden.alphabet.symbols
        if question.kind == "each" or (question.kind, position) in (("first", 0), ("last", length - 1)):
            found[question.labels.index(symbols[symbol])] += 1
        elif question.kind == "position":
            found[position * len(symbols) + symbol] += 1
        elif question.kind == "pair" and position > 0:
            found[question.labels.index((symbols[before], symbols[symbol]))] += 1
    return found


def test_covariances_of_a_chain_whose_words_end() -> None:
    """Two symbols, in order: there are five words, and every moment is a sum over them."""
    matrix = np.array([[0.5, 0.3, 0.2], [0.0, 0.6, 0.4], [0.0, 0.0, 1.0]])
    words = {"ab": 0.5 * 0.6, "a": 0.5 * 0.4, "b": 0.3, "": 0.2}
    stats = np.zeros((2, 3, 3))
    stats[0, :, 0], stats[1, 1, 1] = 1, 1  # how many a, how many ab
    expected = np.zeros((2, 9))
    mean = [sum(p * (w.count("a"), w.count("ab"))[q] for w, p in words.items()) for q in range(2)]
    for word, chance in words.items():
        rows = [0, *("ab".index(symbol) + 1 for symbol in word)]
        columns = [*("ab".index(symbol) for symbol in word), 2]
        uses = np.zeros((3, 3))
        for row, column in zip(rows, columns, strict=True):
            uses[row, column] += 1
        scores = (uses - matrix * uses.sum(axis=1, keepdims=True)).ravel()
        for q, value in enumerate((word.count("a"), word.count("ab"))):
            expected[q] += chance * (value - mean[q]) * scores
    assert own_ends([(0,)], channel_of(2, 3.0)).covariance(matrix.ravel(), stats) == pytest.approx(expected, abs=1e-12)


CHAIN = {(0, 0): 0.8, (0, 1): 0.7, (1, 0): 0.3, (1, 1): 0.6}  # the probability of the first of the moves


def population(number: int, length: int, rng: Any) -> list[list[tuple[int, int]]]:
    """Runs on a grid of 3 × 3 cells that prefer some moves."""
    world = dw.GridWorld(3, 3).by_states().transitions
    words = []
    for _ in range(number):
        state, word = (0, 0), []
        for _ in range(length):
            ahead = sorted(world[state])
            first = CHAIN.get((state[0] % 2, state[1] % 2), 0.5)
            rest = (1 - first) / (len(ahead) - 1)
            state = ahead[rng.choice(len(ahead), p=[first] + [rest] * (len(ahead) - 1))]
            word.append(state)
        words.append(word)
    return words


def truth(length: int) -> tuple[Counter[Any], Counter[Any]]:
    """The expected proportions of visits and of steps, by following the chain."""
    world = dw.GridWorld(3, 3).by_states().transitions
    at, visits, steps = {(0, 0): 1.0}, Counter[Any](), Counter[Any]()
    for _ in range(length):
        ahead: Counter[Any] = Counter()
        for state, mass in at.items():
            targets = sorted(world[state])
            first = CHAIN.get((state[0] % 2, state[1] % 2), 0.5)
            for number, target in enumerate(targets):
                proportion = mass * (first if number == 0 else (1 - first) / (len(targets) - 1))
                ahead[target] += proportion
                steps[state, target] += proportion / length
        at = ahead
        for state, mass in at.items():
            visits[state] += mass / length
    return visits, steps


@pytest.mark.parametrize(
    ("make", "least"),
    [
        (lambda cells: dw.Online(cells, 2.0), 0.92),
        (lambda cells: dw.Exponential(cells, 2.0), 0.92),
        (lambda cells: dw.Exponential(cells, 3.0, utility=dw.Linear(), calibration="textbook"), 0.90),
    ],
    ids=["online", "certified", "textbook"],
)
def test_intervals_of_95_percent_cover_about_that_proportion(make: Any, least: float) -> None:
    """30 samples of 600 runs of 6 steps; seeds are fixed, so the verdict is too."""
    mechanism = make(dw.GridWorld(3, 3).by_states())
    visits, steps = truth(6)
    covered, errors, told = [], [], []
    for seed in range(30):
        words = population(600, 6, np.random.default_rng(seed))
        releases = mechanism.seeded(seed).release_all(words)
        model = dw.estimate.model(releases, mechanism)
        for true, found in (
            (visits, dw.estimate.visits(releases, mechanism, model=model)),
            (steps, dw.estimate.transitions(releases, mechanism, model=model)),
        ):
            covered += [found[label].low <= proportion <= found[label].high for label, proportion in true.items()]
            errors.append(sum(abs(found[label].value - proportion) for label, proportion in true.items()))
            told.append(found.total_error)
    assert least < np.mean(covered) < 0.98
    assert np.mean(told) == pytest.approx(np.mean(errors), rel=0.15)


@pytest.mark.parametrize("method", ["em", "inverse"])
def test_intervals_for_the_edit_channel_cover_too(method: Any) -> None:
    """Words over two symbols that change their symbol with probability 0.3, of random lengths."""
    mechanism, covered = dw.EditChannel("ab", 3.0), []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        words = []
        for _ in range(500):
            word = ["ab"[rng.random() < 0.25]]
            while rng.random() < 0.8:
                word.append(word[-1] if rng.random() < 0.7 else {"a": "b", "b": "a"}[word[-1]])
            words.append(word)
        releases = mechanism.seeded(seed).release_all(words)
        found = dw.estimate.dfg(releases, mechanism, method=method)
        # after a first symbol a (0.75), pairs are 4 for each word, and the symbol before them follows the chain
        a = (
            sum((0.75 - 0.5) * 0.4**position * 0.8**position for position in range(200))
            / sum(0.8**p for p in range(200))
            + 0.5
        )
        true = {("a", "a"): a * 0.7, ("a", "b"): a * 0.3, ("b", "a"): (1 - a) * 0.3, ("b", "b"): (1 - a) * 0.7}
        covered += [found[pair].low <= proportion <= found[pair].high for pair, proportion in true.items()]
        assert sum(each.value for each in found.values()) == pytest.approx(1)
        assert set(found) == set(pairwise("aabba")) | {("b", "a")}
    assert 0.88 < np.mean(covered) < 0.99


def test_states_of_products_are_positions_of_the_system() -> None:
    language = LANGUAGES["with a rule"][0]
    hidden = hidden_runs(language)
    question = of_states(hidden, language, "pair")
    assert ((0, 0), (0, 1)) in question.labels
    assert len(set(question.labels)) == len(question.labels)


def test_a_run_that_takes_both_ways_once_tells_nothing_about_their_chances() -> None:
    """Its score is 1 − 2/2 = 0 up to rounding; divided by so little information, errors would have no bound."""
    free = inside(np.array([1e-16, 1e-16, 0.5, 0.5]), np.array([1.0, 1.0, 1.2, 3.0]), np.array([0, 0, 1, 1]))
    assert free.tolist() == [False, False, True, True]


def test_with_few_releases_scores_do_not_explain_everything() -> None:
    """100 traces over 27 activities have over 700 parameters: errors are those of a sample, and not next to nothing."""
    rng = np.random.default_rng(3)
    chain, ending = rng.dirichlet(np.full(27, 0.15), 27), np.linspace(0.05, 0.35, 27)
    told, off = [], []
    for _ in range(4):
        words = []
        for _ in range(100):
            word = [0]
            while rng.random() > ending[word[-1]]:
                word.append(int(rng.choice(27, p=chain[word[-1]])))
            words.append(word)
        mechanism = dw.EditChannel(range(27), 6.0)
        found = dw.estimate.frequencies(mechanism.seeded(4).release_all(words), mechanism, method="em")
        visits = np.linalg.inv(np.eye(27) - (1 - ending)[:, None] * chain)[0]
        off.append(sum(abs(found[code].value - proportion) for code, proportion in enumerate(visits / visits.sum())))
        told.append(found.total_error)
    assert 0.7 < np.mean(told) / np.mean(off) < 2


def test_a_fit_gives_a_little_to_what_nobody_does() -> None:
    """0.94 and six times 0.01, each of which may be 0: then the first is 1, which is 0.06 more."""
    question = of_symbols(Alphabet("abcdefg"), "last")
    shares = np.array([0.94, *[0.01] * 6])
    added = unclear(shares, np.full(7, 0.02), question)
    assert added == pytest.approx([0.06, *[0.0] * 6])
    assert unclear(shares, np.full(7, 0.001), question) == pytest.approx(np.zeros(7))


@pytest.mark.parametrize("epsilon", [3.0, 4.0])
def test_intervals_of_what_everybody_does_reach_1(epsilon: float) -> None:
    """Trips of three steps and the same way back all end where they started; fits give other ends up to a tenth."""
    system, chance = dw.GridWorld(4, 4).by_states(), np.random.default_rng(7)
    mechanism, ends = dw.Online(system, epsilon), []
    for seed in range(10):
        trips = []
        for east in chance.random((500, 3)) < 0.5:
            there = [(int((~east[:n]).sum()), int(east[:n].sum())) for n in range(1, 4)]
            trips.append([*there, *there[-2::-1], (0, 0)])
        ends.append(dw.estimate.ends(mechanism.seeded(seed).release_all(trips), mechanism)[0, 0])
    assert np.mean([each.value for each in ends]) < 0.99
    assert sum(each.high >= 1 - 1e-9 for each in ends) >= 9
