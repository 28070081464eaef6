from __future__ import annotations

from fractions import Fraction

import pytest

import dpwords as dw
from dpwords.spaces import by_distance as laws
from dpwords.spaces.by_distance import Profile


def test_profiles_by_hand() -> None:
    profile = Profile.linear(Fraction(1, 3), 4)
    assert profile.powers == (0, Fraction(1, 3), Fraction(2, 3), 1, Fraction(4, 3))
    assert profile.logs.tolist() == pytest.approx([0, -1 / 3, -2 / 3, -1, -4 / 3], rel=1e-15)
    assert Profile((Fraction(0), Fraction(2))).weights.logs().tolist() == pytest.approx([0, -2], rel=1e-15)


@pytest.mark.parametrize("utility", [dw.Linear(), dw.Inverse(1.0)])
def test_draws_in_batches_are_all_there(monkeypatch: pytest.MonkeyPatch, utility: object) -> None:
    monkeypatch.setattr(laws, "_BATCH", 12)
    for language, word in ((dw.Words("ab"), "ab"), (dw.GridWorld(2, 2), "ES")):
        given = dw.Exponential(language, 1.0, utility=utility).given(word)  # type: ignore[arg-type]
        assert len(given.simulate(23)) == 23
