from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpwords.core import sampling, scaled
from dpwords.core.randomness import SeededSource, Stream
from dpwords.core.scaled import Scaled
from weights import mantissas, stored


class Bits(Stream):
    """A stream that gives the binary digits of one number; 64-bit integers are read from it low byte first."""

    def __init__(self, number: Fraction) -> None:
        self.number, self.first = number, True

    def take(self, count: int) -> bytes:
        self.number *= 256**count
        whole = int(self.number)
        self.number -= whole
        order = "little" if self.first else "big"  # the first 64 bits are an array element
        self.first = False
        return whole.to_bytes(count, order)


weights = st.lists(st.tuples(mantissas, st.integers(-500, 500)), min_size=1, max_size=6).filter(
    lambda values: any(m for m, _ in values)
)


@given(weights)
def test_thresholds_are_the_stored_weights(values: list[tuple[float, int]]) -> None:
    array = stored(values)
    lower, thresholds = sampling.thresholds(array, precision=53 + 1001)
    assert lower == thresholds
    total = sum(array.exact(), Fraction(0))
    proportions = [Fraction(b - a, thresholds[-1]) for a, b in zip([0, *thresholds], thresholds, strict=False)]
    assert proportions == [value / total for value in array.exact()]


@given(
    weights,
    st.integers(0, 2**80 - 1).map(lambda bits: Fraction(bits, 2**80)),
    st.sampled_from([-3, -1, 1, 3]),
    st.integers(50, 700),
)
def test_every_uniform_number_falls_into_its_own_category(
    values: list[tuple[float, int]], at: Fraction, steps: int, depth: int
) -> None:
    """Both ways to choose agree with exact arithmetic, far from thresholds and 2^(−700) beside them.

    (A number exactly on a threshold has probability 0, and would ask for bits without end.)
    """
    array = stored(values)
    thresholds, _ = sampling.thresholds(array, precision=53 + 1001)
    edge = Fraction(thresholds[int(at * len(thresholds))], thresholds[-1])
    for uniform in (at, edge + Fraction(steps, 2**depth)):
        if 0 <= uniform < 1 and uniform != edge:
            expected = sum(Fraction(t, thresholds[-1]) <= uniform for t in thresholds)
            assert sampling.choose(array, 1, Bits(uniform)).tolist() == [expected]
            row = Scaled(array.mantissa[None, :], array.exponent[None, :])
            assert sampling.choose_each(row, Bits(uniform)).tolist() == [expected]


@given(weights, st.integers(1, 1200))
def test_coarse_thresholds_bound_the_exact_ones(values: list[tuple[float, int]], precision: int) -> None:
    array = stored(values)
    exact = list(itertools.accumulate(array.exact()))
    unit = Fraction(2) ** (int(array.exponent.max()) - precision)
    lower, upper = sampling.thresholds(array, precision)
    for below, value, above in zip(lower, exact, upper, strict=True):
        assert below * unit <= value <= above * unit
        assert above - below <= len(values)


@given(weights)
def test_proportions_are_exact(values: list[tuple[float, int]]) -> None:
    exact = stored(values).exact()
    total = sum(exact, Fraction(0))
    assert [proportion * total for proportion in sampling.probabilities(stored(values))] == exact


@pytest.mark.parametrize(("bits", "category"), [(b"\x00", 2), (b"\xff", 3)])
def test_a_threshold_in_the_last_unit_is_not_overlooked(bits: bytes, category: int) -> None:
    """t(2) = 1/2 + 2^(−64) − 2^(−128) lies one unit of the first precision before the end of [1/2, 1/2 + 2^(−64))."""

    class Same(Stream):
        def take(self, count: int) -> bytes:
            return bits * count

    parts = [(2**12 - 1, -128), (2**52 - 1, -116), (1, -1), (2**52 - 1, -53), (2**11 - 1, -64), (1, -128)]
    exact = [Fraction(whole) * Fraction(2) ** power for whole, power in parts]
    assert sum(exact) == 1
    assert sum(exact[:3]) == Fraction(1, 2) + Fraction(1, 2**64) - Fraction(1, 2**128)
    array = scaled.normalised(*(np.array(each) for each in zip(*((float(a), b) for a, b in parts), strict=True)))
    assert array.exact() == exact
    assert sampling.settle(array, 2**63, Same()) == category


def test_draws_have_the_stored_frequencies() -> None:
    array = scaled.from_integers([1, 0, 5, 10])
    stream = SeededSource(3).open()
    many = np.repeat(array.mantissa[None, :], 16_000, axis=0), np.repeat(array.exponent[None, :], 16_000, axis=0)
    for drawn in (sampling.choose(array, 16_000, stream), sampling.choose_each(Scaled(*many), stream)):
        counts = np.bincount(drawn, minlength=4)
        assert counts[1] == 0
        assert stats.chisquare(counts[[0, 2, 3]], [1000, 5000, 10000]).pvalue > 1e-3


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 1000, 2**63 + 1])
def test_below_is_in_range_and_rejects_the_biased_tail(bound: int) -> None:
    drawn = sampling.below(bound, (500,), SeededSource(1).open())
    assert ((drawn >= 0) & (drawn.astype(np.uint64) < np.uint64(bound))).all()

    class Largest(Stream):
        """The largest number first, of one byte or of eight, then 5."""

        calls = 0

        def take(self, count: int) -> bytes:
            self.calls += 1
            return b"\xff" * count if self.calls == 1 else (5).to_bytes(8, "little")[:count]

    stream = Largest()
    values = 2**8 if bound <= 64 else 2**64
    expected = (values - 1) % bound if values % bound == 0 else 5 % bound
    assert sampling.below(bound, (1,), stream).tolist() == [expected]


def test_subsets_are_uniform() -> None:
    flags = sampling.subsets(np.full(12_000, 2), 4, SeededSource(2).open())
    counts = Counter(tuple(row) for row in flags.tolist())
    expected = {tuple(i in pair for i in range(4)) for pair in itertools.combinations(range(4), 2)}
    assert set(counts) == expected
    assert stats.chisquare(list(counts.values())).pvalue > 1e-3


def test_subsets_with_equal_keys_are_drawn_again() -> None:
    class Tied(Stream):
        """Equal keys for the first row of the first call, then distinct ones."""

        calls = 0

        def take(self, count: int) -> bytes:
            self.calls += 1
            keys = [7, 7, 9, 3, 1, 2] if self.calls == 1 else [30, 20, 10]
            return b"".join(key.to_bytes(8, "little") for key in keys[: count // 8])

    stream = Tied()
    flags = sampling.subsets(np.array([1, 2]), 3, stream)
    assert stream.calls == 2
    assert flags.tolist() == [[False, False, True], [False, True, True]]


class Bytes(Stream):
    """A stream of chosen bytes."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def take(self, count: int) -> bytes:
        head, self.content = self.content[:count], self.content[count:]
        return head


@pytest.mark.parametrize("bound", [1, 2, 5, 128, 200, 255, 257, 40_000])
def test_integers_below_any_bound_are_equally_likely(bound: int) -> None:
    """Every start of a stream is tried; what is too large is followed by zeros, so it becomes 0."""
    size = -(-bound.bit_length() // 8)
    drawn = Counter(
        sampling.integer_below(bound, Bytes(start.to_bytes(size, "big") + bytes(size))) for start in range(256**size)
    )
    each = 2 ** (8 * size - bound.bit_length())
    assert set(drawn) == set(range(bound))
    assert all(drawn[value] == each for value in range(1, bound))
    assert drawn[0] == 256**size - each * (bound - 1)


def test_integers_below_large_bounds() -> None:
    stream, bound = SeededSource(3).open(), 3**200
    drawn = [sampling.integer_below(bound, stream) for _ in range(2000)]
    proportions = Counter(value * 10 // bound for value in drawn)
    assert stats.chisquare([proportions[tenth] for tenth in range(10)]).pvalue > 1e-4


def test_small_bounds_are_uniform() -> None:
    for bound in (1, 3, 15, 64, 65):
        counts = np.bincount(sampling.below(bound, (65_000,), SeededSource(bound).open()), minlength=bound)
        assert len(counts) == bound
        assert bound == 1 or stats.chisquare(counts).pvalue > 1e-3


@pytest.mark.parametrize(
    ("first", "second"), [(1.0, 1.0), (3.0, 1.0), (0.7, 0.3), (1.0, 1e-3), (1e-3, 1.0), (1.0, 0.0), (1.0, 2.0**-600)]
)
def test_exceptions_follow_the_second_weight(first: float, second: float) -> None:
    weights = scaled.normalised(np.array([first, second]), np.zeros(2, dtype=np.int64))
    found = sampling.exceptions(weights, sampling.byte_edge(weights), 200_000, SeededSource(2).open())
    assert (np.diff(found) > 0).all()
    expected = 200_000 * second / (first + second)
    assert abs(len(found) - expected) <= 4 * np.sqrt(expected * first / (first + second))


@pytest.mark.parametrize(("first", "second"), [(1.0, 1.0), (0.3, 0.7), (1.0, 1e-3), (1.0, 0.0), (1.0, 2.0**-600)])
def test_the_second_of_two_is_what_choose_gives(first: float, second: float) -> None:
    """For the same bits, at random and right at the threshold, where further bits settle it."""
    weights = scaled.normalised(np.array([first, second]), np.zeros(2, dtype=np.int64))
    proportion = Fraction(first) / (Fraction(first) + Fraction(second))
    near = min(int(proportion * 2**64), 2**64 - 1)
    chosen = [max(near - 1, 0), near, min(near + 1, 2**64 - 1), 0, 2**64 - 1]

    class Chosen(Stream):
        def __init__(self) -> None:
            self.rest: Stream | None = None

        def take(self, count: int) -> bytes | memoryview:
            if self.rest is None:
                self.rest = SeededSource(3).open()
                return np.array(chosen, dtype="<u8").tobytes() + bytes(self.rest.take(count - 8 * len(chosen)))
            return self.rest.take(count)

    threshold = sampling.float_threshold(weights)
    found = sampling.second_of_two(weights, threshold, 5000, Chosen())
    assert found.tolist() == (sampling.choose(weights, 5000, Chosen()) == 1).tolist()


def test_exceptions_are_settled_bit_by_bit() -> None:
    """0.3 · 256 = 76.8: byte 76 is settled by further bits, on either side of the threshold or right at it."""
    weights = scaled.normalised(np.array([0.3, 0.7]), np.zeros(2, dtype=np.int64))
    proportion = Fraction(0.3) / (Fraction(0.3) + Fraction(0.7))
    near = int(proportion * 2**64)

    class Chosen(Stream):
        def __init__(self, *parts: bytes) -> None:
            self.parts = list(parts)

        def take(self, count: int) -> bytes:
            return self.parts.pop(0) if self.parts else bytes(count)

    def late(first: int, *more: int) -> list[int]:
        further = b"".join((number % 2**56 << 8).to_bytes(8, "little") for number in more)
        return sampling.exceptions(weights, sampling.byte_edge(weights), 1, Chosen(bytes([first]), further)).tolist()

    assert [late(75), late(77)] == [[], [0]]
    assert [late(76, near - 2**20), late(76, near + 2**20)] == [[], [0]]
    assert late(76, near) == []  # further bits are zeros: below the threshold by less than 2^−64
