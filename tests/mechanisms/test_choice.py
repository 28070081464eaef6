"""The best mechanism: the choice against brute force, and what it may depend on."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

import dpwords as dw
from contract import apart
from dpwords import accuracy
from dpwords.core.limits import Limits
from dpwords.mechanisms.by_length import ByLength, least
from dpwords.mechanisms.choice import contenders, offers
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.uniform import Uniform
from dpwords.spaces import exhaustive
from zoo import SYSTEMS

STATES = dw.GridWorld(4, 4).by_states()
LARGE, LONG = dw.GridWorld(9, 9), "EESSESWNEWEESSEE"  # long words of which too many pairs would have to be compared
WORLD = dw.GridWorld(4, 4)  # has at most 10,000 words of up to 8 moves, whose certificates are exact


def average_by_enumeration(mechanism: Mechanism, length: int, at_most: int) -> tuple[float, float]:
    """The mean distance and the probability of at most so many changes, over every word and every output."""
    words = exhaustive.words(mechanism.language, length)
    mean = within = 0.0
    for word in words:
        law = mechanism.given(word)
        for output in words:
            proportion = math.exp(law.log_prob(output)) / len(words)
            distance = apart(mechanism, word, output)
            mean += distance * proportion
            within += proportion * (distance <= at_most)
    return mean, within


@pytest.mark.parametrize("name", [name for name, (language, _) in SYSTEMS.items() if not language.listed])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 5.0])
@pytest.mark.parametrize("k", [1, 2])
def test_the_choice_equals_that_of_enumeration(name: str, epsilon: float, k: int) -> None:
    language, length = SYSTEMS[name]
    made = {title: make(epsilon) for title, make in offers(language, k).items()}
    expected = {title: average_by_enumeration(each, length, 1)[0] for title, each in made.items()}
    found = dw.best(language, epsilon, k, length)
    mean, within = average_by_enumeration(found, length, 1)
    assert mean == pytest.approx(min(expected.values()), abs=1e-9)
    compared = accuracy.compare(language, epsilon, k, length)
    assert compared.figures[compared.winner].distance == pytest.approx(mean, abs=1e-9)
    assert compared.figures[compared.winner].within == pytest.approx(within, abs=1e-9)
    assert isinstance(found.guarantee, dw.PureDP)
    assert (found.guarantee.epsilon, found.k, found.language) == (epsilon, k, language)


def test_online_wins_at_small_epsilon_and_the_exponential_mechanism_at_large() -> None:
    assert isinstance(dw.best(LARGE, 1, length=14), dw.Online)
    assert isinstance(dw.best(LARGE, 6, length=14), dw.Exponential)
    for epsilon, winner in ((1.0, "online"), (6.0, "tight")):
        found = accuracy.compare(LARGE, epsilon, length=14)
        assert found.winner == winner
        assert str(found).startswith(f"expected distance at ε = {epsilon:g} for words of length 14: {winner} ")


def test_nothing_is_compared_where_there_is_no_choice() -> None:
    assert isinstance(dw.best(dw.Words("ab"), 2.0), dw.Exponential)
    assert isinstance(dw.best(dw.Words("ab"), 2.0, k=3, length=10**7), dw.Exponential)  # too long to be averaged
    assert isinstance(dw.best(dw.Lexicon(["ab", "ba"]), 2.0), dw.Exponential)  # has no words of 18 symbols
    assert isinstance(dw.best(dw.Words("ab"), 8.0, distance="levenshtein"), dw.EditChannel)
    onto = dw.best(dw.GridWorld(3, 3), 8.0, length=None, distance="levenshtein")
    assert isinstance(onto.without_projection(), dw.EditChannel)
    assert onto.projected_onto is not None


def test_what_is_released_stays_in_the_language_under_levenshtein_distance() -> None:
    cities = dw.Lexicon(["basel", "berlin", "bern", "bonn", "born", "milan", "paris", "rome"])
    for epsilon in (0.5, 2.0, 6.0):  # the channel does not exist at 0.5
        made = dw.best(cities, epsilon, length=None, distance="levenshtein")
        assert made.distance == "levenshtein"
        assert cities.accepts(made.release("bern"))
        candidates = contenders(cities, 1, "all")
        assert set(candidates) == {"tight (default)", "channel onto the language"}
        if epsilon > 0.7:
            figures = {n: accuracy.expected_distance(make, epsilon, 4) for n, make in candidates.items()}
            assert type(made) is type(candidates[least(figures)](epsilon))


def test_each_length_has_its_own_mechanism() -> None:
    """The choice for a length does not depend on the words of other lengths, nor on what was asked before."""
    every = dw.best(LARGE, 2.3, length=None)
    assert isinstance(every, ByLength)
    assert {length: every.chosen(length) for length in (16, 3, 6)} == {16: "online", 3: "tight", 6: "tight"}
    for length in (3, 16):
        assert type(dw.best(LARGE, 2.3, length=length)) is type(every.at(length))
        assert every.expected_distance(length=length) == min(every.compared(length).values())
    again = pickle.loads(pickle.dumps(every))
    assert again.chosen(3) == "tight"
    words = ["EES", LONG, "ESE"]
    assert [len(word) for word in every.release_all(words)] == [3, 16, 3]
    with pytest.raises(dw.NotInLanguage, match="word 2: "):
        every.release_all(["EESS", "NESS"])
    assert isinstance(every.seeded(1).guarantee, dw.NotPrivate)
    for word, alone in ((LONG, dw.Online(LARGE, 2.3)), ("EES", dw.Exponential(LARGE, 2.3))):
        assert [every.seeded(s).release(word) for s in range(9)] == [alone.seeded(s).release(word) for s in range(9)]


def test_candidates_make_one_promise() -> None:
    words = dw.Words("ab")
    other: dict[str, Any] = {
        "ε": dw.Exponential(words, 2.0),
        "k": dw.Exponential(words, 5.0, k=2),
        "language": dw.Exponential(dw.Words("ab"), 5.0),
        "no promise": dw.Exponential(words, 5.0).seeded(1),
        "distance": dw.EditChannel("ab", 5.0),
    }
    for wrong in other.values():
        with pytest.raises(dw.InvalidValue, match="promise the same"):
            ByLength({"one": dw.Exponential(words, 5.0), "other": wrong})


def test_a_candidate_that_is_too_large_is_not_chosen() -> None:
    assert least({"a": math.nan, "b": 3.0, "c": 2.0, "d": 2.0}) == "c"
    system = dw.GridWorld(3, 3)
    small = Limits(memory=2**9)
    pair = ByLength({"tight": dw.Exponential(system, 1.0, limits=small), "online": dw.Online(system, 1.0)})
    assert math.isnan(pair.compared(6)["tight"])
    assert pair.chosen(6) == "online"


def test_targets_are_reached_at_the_least_epsilon() -> None:
    """By brute force: reached at that ε, and missed a little below it."""
    world, length = dw.GridWorld(3, 3), 4
    for target in (accuracy.Target(1.0), accuracy.Target(probability=0.9), accuracy.Target(1.0, 0.5, 0)):
        found = accuracy.least_epsilon(lambda e: dw.Online(world, e), target, length)
        for epsilon, reached in ((found, True), (found * 0.998, False)):
            mean, within = average_by_enumeration(dw.Online(world, epsilon), length, target.at_most)
            assert (mean <= (target.distance or math.inf) and within >= (target.probability or 0)) == reached
    assert math.isnan(accuracy.least_epsilon(lambda _: Uniform(world), accuracy.Target(probability=0.9), length))
    easy = accuracy.Target(probability=1e-9)
    assert accuracy.least_epsilon(lambda e: dw.Online(world, e), easy, length) == accuracy.lowest_epsilon(1)


def test_bad_arguments_are_refused_in_one_line() -> None:
    for probability in (0.0, 1.0, 1.5, math.nan):
        with pytest.raises(dw.InvalidValue, match="probability"):
            accuracy.Target(probability=probability)
    with pytest.raises(dw.InvalidValue, match="a distance, a probability, or both"):
        accuracy.Target()
    with pytest.raises(dw.InvalidValue, match="distance is 'hamming'"):
        dw.best(STATES, 1.0, distance="euclid")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="the language must be"):
        dw.best("abc", 1.0)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="length must be a whole number"):
        dw.best(STATES, 1.0, length=0)
    with pytest.raises(dw.InvalidValue, match="epsilon= must be"):
        dw.best(STATES, 0.0)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.best(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0, length=2)
    with pytest.raises(dw.InvalidValue, match="k is at most"):
        dw.best(STATES, 1.0, k=7, length=6)
