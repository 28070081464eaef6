"""Long words, large alphabets, small and large ε, and the rarest outputs."""

from __future__ import annotations

import math

import pytest

import dpwords as dw
from dpwords.core.randomness import CipherStream, SeededSource, Stream


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
def test_free_words_of_2000_symbols_over_1000(epsilon: float) -> None:
    n, m = 2000, 1000
    word = [i % m for i in range(n)]
    mechanism = dw.Exponential(dw.Words(range(m)), epsilon)
    distribution = mechanism.given(word)
    keep = 1 / (1 + (m - 1) * math.exp(-epsilon))  # randomized response, symbol by symbol
    assert distribution.expected_distance() == pytest.approx(n * (1 - keep), rel=1e-9)
    opposite = [(i + 1) % m for i in range(n)]
    assert distribution.log_prob(opposite) == pytest.approx(n * (math.log(keep) - epsilon), rel=1e-12)
    assert distribution.log_prob(word) == pytest.approx(n * math.log(keep), rel=1e-9)
    assert math.fsum(distribution.distance_distribution()) == pytest.approx(1, abs=1e-12)
    out = mechanism.release(word)
    assert len(out) == n
    assert set(out) <= set(range(m))


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
def test_linear_utility_on_a_system_of_2000_steps_and_1000_symbols(epsilon: float) -> None:
    """From either state any of 1000 actions leads to the other state: free words, as a system, so ε is all spent."""
    n, m = 2000, 1000
    system = dw.TransitionSystem({0: dict.fromkeys(range(m), 1), 1: dict.fromkeys(range(m), 0)}, start=0)
    word = tuple(i % m for i in range(n))
    mechanism = dw.Exponential(system, epsilon)
    distribution = mechanism.given(word)
    keep = 1 / (1 + (m - 1) * math.exp(-epsilon))
    assert mechanism.certificate(n).method == "every word"
    assert distribution.expected_distance() == pytest.approx(n * (1 - keep), rel=1e-8)
    opposite = tuple((i + 1) % m for i in range(n))
    assert distribution.log_prob(opposite) == pytest.approx(n * (math.log(keep) - epsilon), rel=1e-8)
    assert system.accepts(mechanism.release(word))


def test_other_utilities_on_long_runs_are_refused_before_memory_is_taken() -> None:
    world = dw.GridWorld(15, 15)
    with pytest.raises(dw.TooLarge, match=r"would take \d+\.\d GiB.*Linear"):
        dw.Exponential(world, 1.0, utility=dw.Inverse(1.0)).release("ESWN" * 5000)
    assert world.accepts(dw.Exponential(world, 1.0).release("ESWN" * 500))


class Chosen(Stream):
    """A source whose streams begin with chosen bytes and go on with a seeded stream."""

    def __init__(self, first: bytes) -> None:
        self.first = first

    def open(self) -> Chosen:
        self.left: bytes = self.first
        self.rest: CipherStream = SeededSource(0).open()
        return self

    def take(self, count: int) -> bytes:
        head, self.left = self.left[:count], self.left[count:]
        return head + self.rest.take(count - len(head))


def test_chosen_bits_reach_the_rarest_word_of_a_system() -> None:
    """All zeros take the first move of each cell, whatever it weighs."""
    world = dw.GridWorld(15, 15, start=(7, 7))
    word = "EW" * 1000
    mechanism = dw.Exponential(world, 100.0)
    out = mechanism._with(_source=Chosen(bytes(2**22))).simulate(word, 1)[0]
    assert out[:15] == "N" * 7 + "E" * 7 + "S"  # north to the wall, east to the corner
    assert world.accepts(out)
    assert mechanism.log_prob(out, given=word) < -150 * math.log(2)


def test_chosen_bits_reach_the_rarest_free_word() -> None:
    """All ones take the largest distance: every symbol changed, with probability e^(−200000)."""
    mechanism = dw.Exponential(dw.Words("ab"), 100.0)
    word = "ab" * 1000
    out = mechanism._with(_source=Chosen(b"\xff" * 2**16)).simulate(word, 1)[0]
    assert out == "ba" * 1000
    assert mechanism.log_prob(out, given=word) == pytest.approx(-200_000)


def test_chosen_bits_reach_the_rarest_word_by_distance_classes() -> None:
    """The same through shells: probability e^(−10000)."""
    mechanism = dw.Exponential(dw.Words("ab"), 100.0, k=2)
    out = mechanism._with(_source=Chosen(b"\xff" * 2**13)).simulate("ab" * 100, 1)[0]
    assert out == "ba" * 100
    assert mechanism.log_prob(out, given="ab" * 100) == pytest.approx(-10_000)
