from __future__ import annotations

from fractions import Fraction

import pytest

import dpwords as dw
from dpwords.privacy.calibration import Calibration, profile, rate, rounding_slack
from dpwords.spaces.free_words import FreeWords
from dpwords.spaces.graph import Graph


def test_textbook_is_half_of_epsilon_over_the_sensitivity() -> None:
    graph = Graph.of(dw.GridWorld(3, 3))
    powers = profile(Calibration.choose("textbook", dw.Linear(), 3.0, 2, graph), 5).powers
    assert [float(p) for p in powers] == pytest.approx([0.75 * d for d in range(6)], rel=1e-13)
    powers = profile(Calibration.choose("textbook", dw.Inverse(2.0), 3.0, 1, graph), 4).powers
    lemma = 1 / (2.0 * 3.0)
    expected = [3.0 / (2 * lemma) * (1 / 2 - 1 / (d + 2)) for d in range(5)]
    assert [float(p) for p in powers] == pytest.approx(expected, rel=1e-12)


def test_tight_is_all_of_it_on_free_words_and_certified_on_systems() -> None:
    free, graph = FreeWords(4), Graph.of(dw.GridWorld(3, 3))
    tight = Calibration.choose("tight", dw.Linear(), 3.0, 2, free)
    assert float(profile(tight, 5).powers[1]) == pytest.approx(1.5, rel=1e-13)
    assert rate(tight, 5) == profile(tight, 5).powers[1]
    assert Calibration.choose("tight", None, 3.0, 2, free).utility == dw.Staircase()
    assert Calibration.choose("tight", None, 3.0, 1, free).utility == dw.Linear()
    assert Calibration.choose("textbook", None, 3.0, 2, free).utility == dw.Linear()
    on_graph = Calibration.choose("tight", None, 3.0, 2, graph)
    assert (on_graph.method, on_graph.utility) == ("tight", dw.Linear())
    assert rate(on_graph, 5) == Fraction(on_graph.certifier(5).c) == profile(on_graph, 5).powers[1]
    assert Calibration.choose("tight", dw.Inverse(1.0), 3.0, 2, graph).method == "textbook"


def test_the_staircase_of_the_notes_steps_first_after_one() -> None:
    found = profile(Calibration.choose("tight", None, 12.0, 4, FreeWords(4)), 16).powers
    steps = [round(float(p) / 12) for p in found]
    assert steps == [0, 0] + [1] * 4 + [2] * 4 + [3] * 4 + [4] * 3


def test_slack_is_taken_off_epsilon_before_it_is_spent() -> None:
    graph = Graph.of(dw.GridWorld(3, 3))  # at most 4 moves from a cell
    assert rounding_slack(graph) == 4 * (4 + 3) * 2.0**-53
    assert rounding_slack(FreeWords(9)) == 2.0**-50
    calibration = Calibration.choose("textbook", None, 1.0, 1, graph)
    rest = 1 - 10 * Fraction(4 * 7, 2**53)
    assert calibration.power(10) == rest / 2
    assert profile(calibration, 10).powers[1] == rate(calibration, 10) == rest / 2
    assert Calibration.choose("tight", None, 1.0, 1, FreeWords(9)).power(10) == 1 - 10 * Fraction(1, 2**50)
