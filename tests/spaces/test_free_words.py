from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource, Stream
from dpwords.spaces.free_words import FreeSurroundings, FreeWords, exact_sizes
from dpwords.spaces.space import Weights


@pytest.mark.parametrize(("n", "m"), [(0, 3), (5, 1), (7, 2), (20, 16)])
def test_shell_sizes(n: int, m: int) -> None:
    sizes = list(exact_sizes(n, m))
    assert sizes == [math.comb(n, d) * (m - 1) ** d for d in range(n + 1)]
    assert sum(sizes) == m**n
    for stored, exact in zip(FreeWords(m).sizes(n).exact(), sizes, strict=True):
        assert abs(stored - exact) <= exact * 2.0**-53


def test_free_shells_change_exactly_the_asked_number_of_positions() -> None:
    codes = np.array([0, 1, 2, 0, 1])
    distances = np.repeat(np.arange(6), 50)
    rows = FreeSurroundings(codes, FreeWords(3)).draw(distances, SeededSource(0).open())
    assert (rows != codes).sum(axis=1).tolist() == distances.tolist()
    assert rows.min() >= 0
    assert rows.max() <= 2


def test_shells_of_very_long_words_are_refused_and_linear_utility_does_without() -> None:
    words = dw.Words("ab")
    for mechanism in (dw.Exponential(words, 1.0, k=2), dw.Exponential(words, 1.0, utility=dw.Inverse(1.0))):
        with pytest.raises(dw.TooLarge, match=r"up to 20000 symbols.*Linear"):
            mechanism.release("ab" * 20_000)
    assert len(dw.Exponential(words, 1.0).release("ab" * 500_000)) == 1_000_000


def test_weights_by_hand() -> None:
    weights = Weights.linear(Fraction(1, 3), 4)
    assert weights.powers == (0, Fraction(1, 3), Fraction(2, 3), 1, Fraction(4, 3))
    assert weights.logs.tolist() == pytest.approx([0, -1 / 3, -2 / 3, -1, -4 / 3], rel=1e-15)
    by_distance = Weights.by_distance((Fraction(0), Fraction(2)))
    assert by_distance.values.logs().tolist() == pytest.approx([0, -2], rel=1e-15)
    assert (by_distance.reach, by_distance.rate) == (1, None)


@pytest.mark.parametrize("utility", [dw.Linear(), dw.Inverse(1.0)])
def test_draws_in_batches_are_all_there(utility: dw.Linear) -> None:
    for language, word in ((dw.Words("ab"), "ab"), (dw.GridWorld(2, 2), "ES")):
        given = dw.Exponential(language, 1.0, utility=utility, limits=Limits(batch=12)).given(word)
        assert len(given.simulate(23)) == 23


class Counting(Stream):
    """A stream that notes how many bytes it is asked for."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.asked: list[int] = []

    def take(self, count: int) -> bytes | memoryview:
        self.asked.append(count)
        return self.stream.take(count)


@pytest.mark.parametrize("rate", [Fraction(0), Fraction(3), Fraction(6), Fraction(20)])
def test_one_word_takes_the_same_work_however_much_is_replaced(rate: Fraction) -> None:
    """Over 5 symbols no byte is rejected: a number for each position, and a replacement, used or not."""
    words, space = [np.zeros((1, 40), dtype=np.int64), np.arange(40).reshape(1, 40) % 5], FreeWords(5)
    changed, asked = set(), set()
    for seed in range(100):
        for word in words:
            stream = Counting(SeededSource(seed).open())
            drawn = space.draw_each(word, Weights.linear(rate, 40), stream)
            changed.add(int(np.count_nonzero(drawn != word)))
            asked.add(tuple(stream.asked))
    assert asked == {(8 * 40, 40)}
    assert len(changed) > 1 or rate == 20  # where nothing is replaced in 8,000 symbols
