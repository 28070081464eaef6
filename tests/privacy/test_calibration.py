from __future__ import annotations

from fractions import Fraction

import pytest

import dpwords as dw
from dpwords.privacy.calibration import Calibration
from dpwords.privacy.utilities import LinearOrStaircase
from dpwords.spaces.choice import space_of
from dpwords.spaces.free_words import FreeWords


def test_textbook_is_half_of_epsilon_over_the_sensitivity() -> None:
    runs = space_of(dw.GridWorld(3, 3))
    powers = Calibration.choose("textbook", dw.Linear(), 3.0, 2, runs).weights(5).powers
    assert [float(p) for p in powers] == pytest.approx([0.75 * d for d in range(6)], rel=1e-13)
    powers = Calibration.choose("textbook", dw.Inverse(2.0), 3.0, 1, runs).weights(4).powers
    lemma = 1 / (2.0 * 3.0)
    expected = [3.0 / (2 * lemma) * (1 / 2 - 1 / (d + 2)) for d in range(5)]
    assert [float(p) for p in powers] == pytest.approx(expected, rel=1e-12)


def test_tight_is_all_of_it_on_free_words_and_certified_on_systems() -> None:
    free, runs = FreeWords(4), space_of(dw.GridWorld(3, 3))
    tight = Calibration.choose("tight", dw.Linear(), 3.0, 2, free)
    assert float(tight.weights(5).powers[1]) == pytest.approx(1.5, rel=1e-13)
    assert tight.weights(5).rate == tight.weights(5).powers[1]
    assert Calibration.choose("tight", None, 3.0, 2, free).utility == dw.Staircase()
    assert Calibration.choose("tight", None, 3.0, 1, free).utility == dw.Linear()
    assert Calibration.choose("textbook", None, 3.0, 2, free).utility == dw.Linear()
    on_runs = Calibration.choose("tight", None, 3.0, 2, runs)
    assert (on_runs.method, on_runs.utility) == ("tight", LinearOrStaircase())
    assert on_runs.weights(5).powers[1] == Fraction(on_runs.certifier(5).c)
    linear = Calibration.choose("tight", dw.Linear(), 3.0, 2, runs)
    assert linear.weights(5).rate == Fraction(linear.certifier(5).c)
    assert Calibration.choose("tight", dw.Inverse(1.0), 3.0, 2, runs).method == "textbook"


def test_the_staircase_of_the_notes_steps_first_after_one() -> None:
    found = Calibration.choose("tight", None, 12.0, 4, FreeWords(4)).weights(16).powers
    steps = [round(float(p) / 12) for p in found]
    assert steps == [0, 0] + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 3


def test_slack_is_taken_off_epsilon_before_it_is_spent() -> None:
    runs = space_of(dw.GridWorld(3, 3))  # at most 4 moves from a cell
    assert runs.slack == 4 * (4 + 3) * 2.0**-53
    assert FreeWords(9).slack == 2.0**-50
    calibration = Calibration.choose("textbook", None, 1.0, 1, runs)
    rest = 1 - 10 * Fraction(4 * 7, 2**53)
    assert calibration.weights(10).rate == calibration.weights(10).powers[1] == rest / 2
    assert Calibration.choose("tight", None, 1.0, 1, FreeWords(9)).weights(10).rate == 1 - 10 * Fraction(1, 2**50)


def test_what_a_draw_needs_is_kept_with_its_certificate() -> None:
    """The public weights of a certificate are computed once, not for each word."""
    calibration = Calibration.choose("tight", None, 3.0, 1, space_of(dw.GridWorld(3, 3).by_states()))
    assert calibration.certifier(4).method == "listed, balanced"
    assert calibration.weights(4) is calibration.weights(4)
    assert calibration.weights(4).base is not None


def test_the_choice_between_linear_and_staircase_is_linear_where_neither_is_certified() -> None:
    assert LinearOrStaircase().values(3, 2) == [0, -1, -2, -3]


def test_staircases_are_compared_only_where_they_can_differ_from_linear_weights() -> None:
    cells = dw.GridWorld(2, 2).by_states()
    assert dw.Exponential(cells, 1.0).utility == dw.Linear()
    assert dw.Exponential(cells, 2.0, k=2).utility == LinearOrStaircase()
    assert dw.Exponential(cells, 1.0, utility=dw.Staircase(0)).calibration == "tight"
    assert dw.Exponential(cells, 1.0, utility=dw.Inverse(1.0)).calibration == "textbook"
