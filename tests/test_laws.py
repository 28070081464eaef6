from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpwords import laws
from dpwords.laws import FreeShells, Profile
from dpwords.randomness import SeededSource


@pytest.mark.parametrize(("n", "m"), [(0, 3), (5, 1), (7, 2), (20, 16)])
def test_shell_sizes(n: int, m: int) -> None:
    sizes = laws.free_sizes(n, m)
    assert sizes == [math.comb(n, d) * (m - 1) ** d for d in range(n + 1)]
    assert sum(sizes) == m**n


def test_profiles_know_when_they_are_linear() -> None:
    assert Profile(tuple(Fraction(d, 3) for d in range(5))).rate == Fraction(1, 3)
    assert Profile((Fraction(0), Fraction(1), Fraction(1))).rate is None
    assert Profile((Fraction(0),)).rate == 0
    assert Profile((Fraction(0), Fraction(2))).logs.tolist() == [0, -2]


def test_free_shells_change_exactly_the_asked_number_of_places() -> None:
    codes = np.array([0, 1, 2, 0, 1])
    distances = np.repeat(np.arange(6), 50)
    rows = FreeShells(codes, 3).draw(distances, SeededSource(0).open())
    assert (rows != codes).sum(axis=1).tolist() == distances.tolist()
    assert rows.min() >= 0
    assert rows.max() <= 2


def test_draws_in_batches_are_all_there(monkeypatch: pytest.MonkeyPatch) -> None:
    import dpwords as dw

    monkeypatch.setattr(laws, "_BATCH", 12)
    for language in (dw.Words("ab"), dw.GridWorld(2, 2)):
        given = dw.Exponential(language, 1.0).given("ab" if isinstance(language, dw.Words) else "ES")
        assert len(given.simulate(23)) == 23
