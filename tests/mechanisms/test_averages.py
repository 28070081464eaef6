"""Public averages over many words: batched passes against the laws of single words, and these against enumeration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import dpwords as dw
from contract import apart
from dpwords.core import sampling
from dpwords.core.limits import Limits
from dpwords.core.randomness import Stream
from dpwords.mechanisms.choice import best_by_length
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.uniform import Uniform
from dpwords.spaces import exhaustive
from dpwords.spaces.online import OnlineLaw
from dpwords.spaces.runs import Runs
from zoo import ALL, random_systems

LARGE: dict[str, tuple[Any, int]] = {  # more words than are listed
    "grid by states, longer": (dw.GridWorld(4, 4).by_states(), 12),
    "walls, longer": (dw.GridWorld(4, 5, walls={(1, 1), (2, 3)}), 11),
    "many starts": (dw.GridWorld(5, 5, start=None, walls={(2, 2)}).by_states(), 7),
}


def mechanisms(language: Any, epsilon: float) -> Iterator[Mechanism]:
    yield dw.Exponential(language, epsilon)
    yield dw.Exponential(language, epsilon, utility=dw.Inverse(1.0), calibration="textbook")
    yield dw.PaperLiteral(language, epsilon)
    yield Uniform(language)
    if not language.listed:
        yield dw.Online(language, epsilon)


def check_against_enumeration(mechanism: Mechanism, length: int) -> None:
    """The average of the probabilities of each distance, summed over every word and every output."""
    words = exhaustive.words(mechanism.language, length)
    expected = np.zeros(length + 1)
    for word in words:
        law = mechanism.given(word)
        for output in words:
            expected[apart(mechanism, word, output)] += math.exp(law.log_prob(output)) / len(words)
    found = mechanism.distance_distribution(length=length)
    assert found == pytest.approx(expected.tolist(), abs=1e-11)
    assert mechanism.distance_distribution(length=length, at_most=1) == pytest.approx(found[:2], abs=1e-12)
    mean = mechanism.expected_distance(length=length)
    assert mean == pytest.approx(math.fsum(d * proportion for d, proportion in enumerate(expected)), abs=1e-11)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_averages_equal_enumeration(name: str, epsilon: float) -> None:
    language, length = ALL[name]
    for mechanism in mechanisms(language, epsilon):
        check_against_enumeration(mechanism, length)


@given(random_systems())
@settings(max_examples=30, deadline=None)
def test_averages_on_random_systems_equal_enumeration(case: tuple[Any, int]) -> None:
    for mechanism in (dw.Exponential(case[0], 1.5), dw.Online(case[0], 1.5)):
        check_against_enumeration(mechanism, case[1])


def distances_by_steps(law: OnlineLaw) -> Any:
    """The probability of each distance where words are drawn symbol by symbol, from the stored weights of all steps."""
    graph, length = law.space.graph, len(law.codes)
    useful, preferences = graph.useful(length), law.space.preferences(law.weights.z, length)
    reached = {(graph.start, 0): 1.0}
    for position, own in enumerate(law.codes):
        ahead: dict[tuple[int, int], float] = {}
        for (state, distance), proportion in reached.items():
            choices = law.space.choices(useful[position + 1], np.array([state]), np.array([own]), preferences.starts)
            for edge, part in zip(
                choices.edges[0], sampling.probabilities(preferences.weights(choices).take(0)), strict=True
            ):
                there = int(graph.target[edge]), distance + int(graph.symbol[edge] != own)
                ahead[there] = ahead.get(there, 0.0) + proportion * float(part)
        reached = ahead
    found = np.zeros(length + 1)
    for (_, distance), proportion in reached.items():
        found[distance] += proportion
    return found


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("epsilon", [0.05, 3.0, 500.0])
@pytest.mark.parametrize("batch", [2**22, 2**9])  # all words in one batch, and a few at a time
def test_averages_equal_those_of_single_words(name: str, epsilon: float, batch: int) -> None:
    language, length = LARGE[name]
    limits = Limits(batch=batch, most_averaged=40)
    for mechanism in (dw.Exponential(language, epsilon, limits=limits), dw.Online(language, epsilon, limits=limits)):
        rows, times = mechanism._space.typical(length)
        assert times.sum() == 40
        laws = [mechanism._law(codes) for codes in rows]
        total = times.sum()
        for law in (each for each in laws[:4] if isinstance(each, OnlineLaw)):
            one_by_one = distances_by_steps(law)
            assert law.distance_distribution() == pytest.approx(one_by_one, abs=1e-12)
            assert law.expected_distance() == pytest.approx(one_by_one @ np.arange(length + 1), abs=1e-11)
        mean = math.fsum(t * law.expected_distance() for t, law in zip(times, laws, strict=True)) / total
        proportions = sum(t * law.distance_distribution() for t, law in zip(times, laws, strict=True)) / total
        assert mechanism.expected_distance(length=length) == pytest.approx(mean, abs=1e-11)
        assert mechanism.distance_distribution(length=length) == pytest.approx(proportions.tolist(), abs=1e-12)
        beyond = mechanism.distance_distribution(length=length, at_most=length + 3)
        assert beyond == pytest.approx([*proportions, 0.0, 0.0, 0.0], abs=1e-12)


def test_reweighted_words_are_averaged_with_their_public_weights() -> None:
    """A run that is averaged with equal weights instead would be farther off than rounding explains."""
    mechanism = dw.Exponential(dw.GridWorld(4, 4).by_states(), 3.0)
    assert "levelled" in mechanism.certificate(12).method
    rows, times = mechanism._space.typical(12)
    means = [mechanism.given([mechanism.language.alphabet.symbols[c] for c in row]).expected_distance() for row in rows]
    assert mechanism.expected_distance(length=12) == pytest.approx(float(times @ means / times.sum()), abs=1e-11)


def test_few_distances_of_long_free_words_are_binomial() -> None:
    """So many words cannot be counted by distance, but the number of replaced symbols is binomial."""
    n, mechanism = 30_000, dw.Exponential(dw.Words("acgt"), 9.0)
    odds = 3 * math.exp(-9.0)
    keep = 1 / (1 + odds)
    expected = [math.comb(n, d) * keep ** (n - d) * (odds * keep) ** d for d in range(4)]
    assert mechanism.distance_distribution(length=n, at_most=3) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(dw.TooLarge):
        mechanism.distance_distribution(length=n)
    assert dw.Exponential(dw.Words("a"), 1.0).distance_distribution(length=9, at_most=2) == [1.0, 0.0, 0.0]


def test_the_number_of_edits() -> None:
    channel = dw.EditChannel("ab", 3.0)
    whole = channel.distance_distribution(length=3)
    assert whole == pytest.approx(channel.distance_distribution("aba"), abs=1e-15)
    assert sum(d * proportion for d, proportion in enumerate(whole)) == pytest.approx(
        channel.expected_distance(length=3)
    )
    assert channel.distance_distribution(length=3, at_most=1) == whole[:2]


def test_what_is_asked_for() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0)
    assert mechanism.distance_distribution("ab") == mechanism.given("ab").distance_distribution()
    with pytest.raises(dw.InvalidValue, match="either a word or length="):
        mechanism.distance_distribution()
    with pytest.raises(dw.InvalidValue, match="at_most must be"):
        mechanism.distance_distribution(length=3, at_most=-1)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.Online(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0).distance_distribution(length=2)


def test_averages_do_not_depend_on_the_number_of_threads() -> None:
    """All of them could not have their tables at once: they are refused on no machine, however many cores it has."""
    cells = dw.GridWorld(6, 6).by_states()
    for mechanism in (dw.Exponential, dw.Online):
        found = [
            mechanism(cells, 2.0, limits=Limits(memory=2**18, threads=most)).distance_distribution(length=8)
            for most in (1, 10**7)
        ]
        assert found[0] == found[1]
    limits = [Limits(memory=2**18, threads=most, certified_words=0) for most in (1, 10**7)]
    one, many = (best_by_length(cells, 1.0, 1, limits=each) for each in limits)
    assert one.compared(8) == many.compared(8)
    assert one.chosen(8) == many.chosen(8) == "online"


def test_mechanisms_are_compared_on_words_that_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    uniform = Runs.uniform

    def counted(space: Runs, length: int, count: int, stream: Stream) -> Any:
        drawn.append(length)
        return uniform(space, length, count, stream)

    monkeypatch.setattr(Runs, "uniform", counted)
    best_by_length(dw.GridWorld(7, 7), 2.0).compared(7)
    assert drawn == [7]
    dw.Online(dw.GridWorld(7, 7), 2.0, limits=Limits(most_averaged=20)).expected_distance(length=7)
    assert drawn == [7, 7]  # another number of words
