"""What an adversary can guess, against Bayes' rule by definition: all words, all outputs, all orders of releases."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import pytest

import dpwords as dw
from dpwords import attack
from dpwords.core.limits import Limits
from dpwords.spaces import exhaustive

CELLS = dw.GridWorld(2, 3).by_states()
MOVES = dw.GridWorld(3, 3)
FREE = dw.Words("ab")
LISTED = dw.Lexicon(["aab", "aba", "bba", "bbb", "abb"])
UNEVEN = dw.Lexicon(["aab", "ba", "bba", "bbbb", "abb"])
FEW = Limits(attacked_words=1)  # so that words are simulated instead of listed
VISIT = dw.GridWorld(2, 2) & dw.rules.contains((1, 1))
FREE_CHAIN = {None: {"a": 0.9, "b": 0.1}, "a": {"a": 0.2, "b": 0.8}, "b": {"a": 0.5, "b": 0.5}}
CELL_CHAIN = {
    (0, 0): {(0, 1): 0.7, (1, 0): 0.3},
    (0, 1): {(0, 0): 0.1, (0, 2): 0.6, (1, 1): 0.3},
    (0, 2): {(0, 1): 0.5, (1, 2): 0.5},
    (1, 0): {(0, 0): 0.25, (1, 1): 0.75},
    (1, 1): {(1, 0): 0.0, (0, 1): 0.4, (1, 2): 0.6},
    (1, 2): {(1, 1): 0.2, (0, 2): 0.8},
}


def chain_proportions(words: list[Any], rows: dict[Any, dict[Any, float]], start: Any) -> list[float]:
    """The probability of each word of states or of free symbols, where the symbol is the next state."""
    found = []
    for word in words:
        steps = zip([start, *word[:-1]], word, strict=True)
        found.append(math.prod(rows[state].get(symbol, 0.0) for state, symbol in steps))
    return [each / sum(found) for each in found]


def by_definition(mechanism: Any, length: int, releases: int, prior: list[float] | None = None) -> tuple[Any, float]:
    """Hits at each position, and the probability of the whole word: sums over all tuples of outputs of the best
    guess."""
    words = exhaustive.words(mechanism.language, length)
    if isinstance(mechanism, dw.Report):
        outputs: Any = mechanism.every_output()
    elif mechanism.distance == "levenshtein":
        outputs = exhaustive.words_up_to(mechanism.language, 4 if mechanism.language is UNEVEN else 3)
    else:
        outputs = words
    proportions = prior or [1 / len(words)] * len(words)
    laws = [mechanism.given(word) for word in words]
    table = [[math.exp(law.log_prob(output)) for output in outputs] for law in laws]
    positions, whole = [0.0] * length, 0.0
    for seen in itertools.product(range(len(outputs)), repeat=releases):
        joint = [p * math.prod(row[w] for w in seen) for p, row in zip(proportions, table, strict=True)]
        whole += max(joint)
        for position in range(length):
            sums: dict[Any, float] = {}
            for word, each in zip(words, joint, strict=True):
                sums[word[position]] = sums.get(word[position], 0.0) + each
            positions[position] += max(sums.values())
    return positions, whole


MECHANISMS = {
    "free": (lambda limits: dw.Exponential(FREE, 1.5, limits=limits), 3),
    "free, textbook": (lambda limits: dw.Exponential(FREE, 2, calibration="textbook", limits=limits), 3),
    "free, online": (lambda limits: dw.Online(FREE, 1, limits=limits), 3),
    "three symbols": (lambda limits: dw.Exponential(dw.Words("abc"), 2, limits=limits), 2),
    "staircase": (lambda limits: dw.Exponential(FREE, 2, k=2, limits=limits), 3),
    "inverse": (lambda limits: dw.Exponential(FREE, 2, utility=dw.Inverse(1.0), limits=limits), 3),
    "literal": (lambda limits: dw.PaperLiteral(FREE, 0.5, limits=limits), 3),
    "literal at 0": (lambda limits: dw.PaperLiteral(dw.Words("abcde"), 0, limits=limits), 2),
    "literal cells": (lambda limits: dw.PaperLiteral(CELLS, 1, limits=limits), 3),
    "cells": (lambda limits: dw.Exponential(CELLS, 2, limits=limits), 3),
    "cells, textbook": (lambda limits: dw.Exponential(CELLS, 2, calibration="textbook", limits=limits), 3),
    "cells, online": (lambda limits: dw.Online(CELLS, 1, limits=limits), 3),
    "moves": (lambda limits: dw.Exponential(MOVES, 2, limits=limits), 3),
    "moves, online": (lambda limits: dw.Online(MOVES, 2, limits=limits), 3),
    "best": (lambda limits: dw.best(MOVES, 2, length=None), 3),
    "rule": (lambda limits: dw.Exponential(VISIT, 2, limits=limits), 4),
    "cells, inverse": (lambda limits: dw.Exponential(CELLS, 8, utility=dw.Inverse(0.5), limits=limits), 3),
    "moves, inverse": (lambda limits: dw.Exponential(MOVES, 4, utility=dw.Inverse(1.0), limits=limits), 3),
    "cells, staircase": (
        lambda limits: dw.Exponential(CELLS, 5, 2, dw.Staircase(), calibration="textbook", limits=limits),
        4,
    ),
    "rule, inverse": (lambda limits: dw.Exponential(VISIT, 8, utility=dw.Inverse(1.0), limits=limits), 4),
    "any start": (lambda limits: dw.Online(dw.GridWorld(2, 2, start=None).by_states(), 2, limits=limits), 3),
    "lexicon": (lambda limits: dw.Exponential(LISTED, 2, limits=limits), 3),
    "lexicon, edits": (lambda limits: dw.Exponential(UNEVEN, 2, distance="levenshtein", limits=limits), 3),
    "counted, edits": (
        lambda limits: dw.Exponential(dw.Words("ab", max_length=3), 2, distance="levenshtein", limits=limits),
        2,
    ),
    "report": (lambda limits: dw.Report(CELLS, 2, limits=limits), 3),
    "report of symbols": (lambda limits: dw.Report(FREE, 1, "transitions", limits=limits), 3),
}


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_against_the_definition(name: str, releases: int) -> None:
    make, length = MECHANISMS[name]
    mechanism = make(Limits())
    found = attack.guess(mechanism, length, releases=releases)
    positions, whole = by_definition(mechanism, length, releases)
    assert found.exact
    assert found.whole == pytest.approx(whole, rel=1e-9)
    assert list(found.hits_by_place) == pytest.approx(positions, rel=1e-9)
    assert found.hits == pytest.approx(sum(positions))
    none = by_definition(mechanism, length, 0)
    assert found.without == (pytest.approx(sum(none[0])), pytest.approx(none[1]))
    assert list(found.without_by_place) == pytest.approx(none[0])
    assert found.promised is None or found.promised.whole >= whole * (1 - 1e-9)
    assert found.promised is None or found.promised.hits >= sum(positions) * (1 - 1e-9)


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("name", ["free", "inverse", "literal", "free, online", "cells", "cells, textbook", "report"])
def test_a_chain_as_prior_against_the_definition(name: str, releases: int) -> None:
    make, length = MECHANISMS[name]
    mechanism = make(Limits())
    free = mechanism.language.alike
    words = exhaustive.words(mechanism.language, length)
    rows, start = (FREE_CHAIN, None) if free else (CELL_CHAIN, (0, 0))
    positions, whole = by_definition(mechanism, length, releases, chain_proportions(words, rows, start))
    for prior in (rows, dw.estimate.chain(mechanism.language, rows)):
        found = attack.guess(mechanism, length, prior, releases)
        assert found.whole == pytest.approx(whole, rel=1e-9)
        assert list(found.hits_by_place) == pytest.approx(positions, rel=1e-9)


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("name", ["cells", "cells, textbook", "cells, online", "moves", "moves, online", "rule"])
def test_simulated_intervals_hold_the_truth(name: str, releases: int) -> None:
    """Words are not listed, so that forward and backward passes and the correction for normalising constants are
    used."""
    make, length = MECHANISMS[name]
    found = attack.guess(make(FEW), length, releases=releases, samples=1500)
    positions, whole = by_definition(make(Limits()), length, releases)
    assert (found.method, found.samples, found.exact) == ("simulation", 1500, False)
    assert found.low.hits <= sum(positions) <= found.high.hits
    assert found.low.whole <= whole <= found.high.whole
    assert found.high.hits - found.low.hits < 0.45  # of 3 or 4 positions
    assert found.hits == pytest.approx(sum(positions), abs=0.1)


def test_simulation_with_a_chain_on_free_words() -> None:
    found = attack.guess(dw.Exponential(FREE, 1.5, limits=FEW), 3, FREE_CHAIN, samples=1500)
    proportions = chain_proportions(exhaustive.words(FREE, 3), FREE_CHAIN, None)
    positions, whole = by_definition(dw.Exponential(FREE, 1.5), 3, 1, proportions)
    assert found.method == "simulation"
    assert found.low.hits <= sum(positions) <= found.high.hits
    assert found.low.whole <= whole <= found.high.whole


def test_many_releases_are_simulated_over_listed_words() -> None:
    """Free words by a formula, and the same mechanism over the same words by simulation."""
    exact = attack.guess(dw.Online(FREE, 0.5), 3, releases=25)
    chain = {None: {"a": 0.5, "b": 0.5}, "a": {"a": 0.5, "b": 0.5}, "b": {"a": 0.5, "b": 0.5}}
    found = attack.guess(dw.Online(FREE, 0.5), 3, chain, releases=25)
    assert (exact.method, found.method) == ("formula", "simulation")
    assert found.low.whole <= exact.whole <= found.high.whole
    assert found.low.hits <= exact.hits <= found.high.hits


@pytest.mark.parametrize(("symbols", "length", "epsilon"), [("acgt", 20, 3.0), ("ab", 5, 0.1), ("abcdefgh", 1, 9.0)])
def test_randomised_response_by_its_formula(symbols: str, length: int, epsilon: float) -> None:
    position = math.exp(epsilon) / (math.exp(epsilon) + len(symbols) - 1)
    found = attack.guess(dw.Exponential(dw.Words(symbols), epsilon), length)
    assert found.hits == pytest.approx(length * position)
    assert found.whole == pytest.approx(position**length)
    assert found.promised is not None
    assert found.promised == (pytest.approx(length * position), pytest.approx(position**length))
    assert found.without == (length / len(symbols), pytest.approx(len(symbols) ** -length))


def test_the_edit_channel_is_simulated() -> None:
    """Bayes' rule over all outputs of at most 9 symbols, which have all but 0.1% of the probability."""
    channel = dw.EditChannel("ab", epsilon=3)
    words, outputs = exhaustive.words(FREE, 2), exhaustive.words_up_to(FREE, 9)
    laws = [channel.given(word) for word in words]
    table = [[math.exp(law.log_prob(output)) / 4 for output in outputs] for law in laws]
    assert sum(map(sum, table)) > 0.999
    whole = sum(map(max, zip(*table, strict=True)))
    found = attack.guess(channel, 2)
    assert found.low.whole <= whole + 0.001
    assert whole <= found.high.whole
    assert found.high.whole <= found.promised.whole if found.promised else False


def test_words_that_cannot_be_listed_are_bounded_by_the_promise() -> None:
    """The edit channel hides a substitution, so a position is guessed with at most e^L/(e^L + m − 1), L = 2ε."""
    found = attack.guess(dw.EditChannel("acgt", epsilon=3), 20, releases=2)
    position = math.exp(6) / (math.exp(6) + 3)
    assert (found.method, found.exact) == ("bound", False)
    assert found.high == (pytest.approx(20 * position), pytest.approx(position**20))
    assert "bounds that follow from the promise" in str(found)
    with pytest.raises(dw.TooLarge, match="at most 4096 words"):
        attack.guess(dw.Exponential(dw.GridWorld(9, 9), 2, utility=dw.Inverse(1.0)), 12, releases=2)


def test_a_channel_onto_a_language_guesses_words_of_it() -> None:
    channel = dw.EditChannel("cba", 4, onto=LISTED)
    found = attack.guess(channel, 3, samples=1000)
    assert found.without.whole == pytest.approx(1 / 5)
    assert found.promised is None  # the bound for all words over the alphabet would be too low
    assert 0.3 < found.low.whole < found.whole < found.high.whole
    free = attack.guess(dw.EditChannel("cba", 4), 3, samples=1000)
    assert free.without.whole == pytest.approx(1 / 27)


def test_a_large_system_is_simulated_twice_alike() -> None:
    """The whole word of one release is guessed exactly as often as it comes out unchanged, on average."""
    mechanism = dw.Exponential(dw.GridWorld(6, 6).by_states(), 4, calibration="textbook")
    found = attack.guess(mechanism, 10, samples=400)
    assert found == attack.guess(mechanism, 10, samples=400)
    unchanged = mechanism.distance_distribution(length=10, at_most=0)[0]
    assert found.low.whole <= unchanged <= found.high.whole
    assert found.without.whole == pytest.approx(1 / mechanism.language.count(10))


def posterior_by_definition(seen: list[Any], mechanism: Any, length: int) -> tuple[list[dict[Any, float]], Any, float]:
    words = exhaustive.words(mechanism.language, length)
    joint = {word: math.exp(sum(mechanism.given(word).log_prob(each) for each in seen)) for word in words}
    total = sum(joint.values())
    positions: list[dict[Any, float]] = [{} for _ in range(length)]
    for word, weight in joint.items():
        for position, symbol in enumerate(word):
            positions[position][symbol] = positions[position].get(symbol, 0.0) + weight / total
    best = max(joint, key=lambda word: joint[word])
    return positions, best, joint[best] / total


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_posterior_against_the_definition(name: str, releases: int) -> None:
    make, length = MECHANISMS[name]
    mechanism = make(Limits())
    source = mechanism.seeded(releases)
    word = exhaustive.words(mechanism.language, length)[1]
    outputs = source.given(word).simulate(releases)
    positions, _, probability = posterior_by_definition(outputs, mechanism, length)
    options = {} if mechanism.distance == "hamming" else {"length": length}
    found = attack.posterior(outputs, mechanism, **options)
    assert found.exact
    assert found.probability == pytest.approx(probability, rel=1e-9)
    for proportions, expected in zip(found.places, positions, strict=True):
        assert {symbol: proportion for symbol, proportion in proportions.items() if proportion} == pytest.approx(
            expected, rel=1e-9
        )


@pytest.mark.parametrize("name", ["cells", "cells, textbook", "cells, online", "moves", "moves, online", "rule"])
def test_the_posterior_by_passes(name: str) -> None:
    """Exact where there is no normalising constant, and within five standard errors where it is averaged over drawn
    runs."""
    make, length = MECHANISMS[name]
    mechanism, plain = make(FEW), make(Limits())
    word = exhaustive.words(mechanism.language, length)[2]
    outputs = plain.seeded(5).given(word).simulate(2)
    positions, best, probability = posterior_by_definition(outputs, plain, length)
    found = attack.posterior(outputs, mechanism)
    assert found.exact == isinstance(mechanism, dw.Online)
    tolerance = 1e-9 + 5 * found.error
    assert found.error < 0.02
    assert found.probability == pytest.approx(probability, abs=tolerance)
    assert plain.given(found.word).log_prob(outputs[0]) + plain.given(found.word).log_prob(outputs[1]) == (
        pytest.approx(sum(plain.given(best).log_prob(each) for each in outputs), abs=1e-6)
    )
    for proportions, expected in zip(found.places, positions, strict=True):
        for symbol, proportion in expected.items():
            assert proportions[symbol] == pytest.approx(proportion, abs=tolerance)


def test_a_guess_in_words() -> None:
    text = str(attack.guess(dw.Exponential(dw.Words("acgt"), 3), 20))
    assert "of 100 such words, at most 7 are guessed as a whole if all words are equally likely" in text  # 0.0618
    assert "17.5 of 20 positions are guessed, on average (without any release, 5)" in text  # 17.40
    rare = attack.guess(dw.Exponential(dw.Words("acgt"), 1), 20)  # 0.4754^20 = 3.5e-7
    assert rare.of_100 == "of 10,000,000 such words, at most 4 are guessed as a whole if all words are equally likely"
    certain = attack.guess(dw.Exponential(dw.Words("a"), 1), 3)
    assert certain.of_100.startswith("of 100 such words, at most 100 are guessed as a whole if")
    assert "2 releases" in str(attack.guess(dw.Online(FREE, 1), 2, releases=2))
    assert "0.99 intervals, from 4,000 simulated words" in str(attack.guess(dw.EditChannel("ab", 3), 2))


def test_results_are_values() -> None:
    found = attack.guess(dw.Online(FREE, 1), 2)
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(AttributeError):
        found.whole = 0.0  # type: ignore[misc]


BAD_ROWS: dict[str, Any] = {
    "sums to 0.9": FREE_CHAIN | {"a": {"a": 0.4, "b": 0.5}},
    "numbers from 0 to 1": FREE_CHAIN | {"a": {"a": math.nan, "b": 0.5}},
    "numbers from 0 to": FREE_CHAIN | {"a": {"a": 1.5, "b": -0.5}},
    "row of state b is missing": {state: row for state, row in FREE_CHAIN.items() if state != "b"},
    "a symbol that is not in the alphabet": FREE_CHAIN | {"a": {"c": 1.0}},
    "a mapping with a row for each state": {},
    "is no table: write it as": {"a": 3},
    "what estimate.model or": "popular",
    "on another language": dw.estimate.chain(dw.Words("xy"), {None: {"x": 1.0}, "x": {"x": 1.0}}),
    "a step that the language does not have": FREE_CHAIN | {"z": {"a": 1.0}},
}


@pytest.mark.parametrize("reason", BAD_ROWS)
def test_priors_that_do_not_fit_are_refused(reason: str) -> None:
    with pytest.raises(dw.InvalidValue, match=reason):
        attack.guess(dw.Online(FREE, 1), 3, BAD_ROWS[reason])


def test_other_arguments_that_do_not_fit_are_refused() -> None:
    mechanism = dw.Online(FREE, 1)
    for length in (0, -1, 2.5, "3"):
        with pytest.raises(dw.InvalidValue, match="length must be a whole number, 1 or more"):
            attack.guess(mechanism, length)  # type: ignore[arg-type]
    for releases in (0, 1.5):
        with pytest.raises(dw.InvalidValue, match="releases must be a whole number, 1 or more"):
            attack.guess(mechanism, 3, releases=releases)  # type: ignore[arg-type]
    for confidence in (0, 1, math.nan):
        with pytest.raises(dw.InvalidValue, match="confidence"):
            attack.guess(mechanism, 3, confidence=confidence)
    with pytest.raises(dw.InvalidValue, match="samples"):
        attack.guess(mechanism, 3, samples=3)
    with pytest.raises(dw.InvalidValue, match="no word of length 4"):
        attack.guess(dw.Exponential(LISTED, 1), 4)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        attack.guess(dw.Exponential(LISTED, 1), 2)
    with pytest.raises(dw.InvalidValue, match="an Exponential, an Online"):
        attack.guess("tight", 3)  # type: ignore[arg-type]
    back_and_forth = {(0, 0): {"E": 1.0}, (0, 1): {"W": 1.0}}
    with pytest.raises(dw.InvalidValue, match="produces no word of length 2"):
        attack.guess(dw.Online(dw.GridWorld(1, 3, goal=(0, 2)), 1), 2, back_and_forth)


def test_releases_that_do_not_fit_are_refused() -> None:
    mechanism = dw.Online(FREE, 1)
    with pytest.raises(dw.InvalidValue, match="releases must be a list"):
        attack.posterior("ab", mechanism)
    with pytest.raises(dw.InvalidValue, match="pass a list with at least one"):
        attack.posterior([], mechanism)
    with pytest.raises(dw.NotInLanguage, match="release 2 cannot have come out"):
        attack.posterior(["ab", "aba"], mechanism)
    with pytest.raises(dw.InvalidValue, match="leave out length"):
        attack.posterior(["ab"], mechanism, length=2)
    with pytest.raises(dw.InvalidValue, match="pass length="):
        attack.posterior(["ab"], dw.EditChannel("ab", 3))
    assert attack.posterior(["ab", "abb"], dw.EditChannel("ab", 3), length=2).word == ("a", "b")
    sure = {None: {"a": 1.0}, "a": {"a": 1.0}}
    assert attack.posterior(["bb"], mechanism, sure).word == ("a", "a")


@pytest.mark.parametrize("ask", ["guess", "posterior"])
def test_too_little_memory_is_said(ask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(attack.guessing.Attack, "of", full)
    mechanism = dw.Online(dw.Words("ab"), 1.0)
    with pytest.raises(dw.TooLarge, match="not enough memory"):
        attack.guess(mechanism, 3) if ask == "guess" else attack.posterior(["ab"], mechanism)
