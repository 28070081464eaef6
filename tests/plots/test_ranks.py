"""Graphs in rows: the main arrows lead down, neighbours have room, and long arrows pass between nodes."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from dpwords.plots.layout import Route
from dpwords.plots.ranks import ranked


def test_rows_are_the_longest_paths_over_the_largest_flows() -> None:
    flows = {(0, 1): 5.0, (1, 2): 4.0, (0, 2): 1.0, (2, 3): 5.0, (3, 1): 0.5, (2, 2): 9.0}
    found = ranked(4, flows)
    assert [row for _, row in found.spots] == [0, 1, 2, 3]
    assert [row for _, row in found.passes[0, 2]] == [1]
    assert [row for _, row in found.passes[3, 1]] == [2]  # upwards
    assert (2, 2) not in found.passes
    assert [row for _, row in ranked(3, {(0, 1): 1.0, (1, 2): 2.0, (2, 0): 3.0}, starts=[0]).spots] == [0, 1, 2]


def test_what_nothing_leads_to_is_just_above_its_successor() -> None:
    flows = {(0, 1): 1.0, (1, 2): 1.0, (2, 3): 1.0, (4, 3): 0.1}
    assert [row for _, row in ranked(5, flows).spots] == [0, 1, 2, 3, 2]


@pytest.mark.parametrize("seed", range(5))
def test_nodes_of_a_row_do_not_overlap(seed: int) -> None:
    drawn = random.Random(seed)
    flows = {(drawn.randrange(20), drawn.randrange(20)): drawn.random() for _ in range(40)}
    spots, passes = ranked(20, flows)
    for (x, row), (other, below) in itertools.combinations(spots, 2):
        assert row != below or abs(x - other) > 1 - 1e-9
    for way in passes.values():
        for x, row in way:
            assert all(at != row or abs(x - column) > 0.7 for column, at in spots)


def test_parallel_chains_do_not_cross() -> None:
    """0 leads to two chains of four nodes, which come in mixed order."""
    left, right = [1, 4, 5, 8], [2, 3, 6, 7]
    flows = dict.fromkeys([(0, 1), (0, 2), *itertools.pairwise(left), *itertools.pairwise(right)], 1.0)
    spots = ranked(9, flows).spots
    sides = {spots[one][0] < spots[other][0] for one, other in zip(left, right, strict=True)}
    assert len(sides) == 1


def test_routes_pass_through_their_points_and_do_not_overshoot() -> None:
    points = ((0.0, 0.0), (10.0, -10.0), (12.0, -20.0), (5.0, -30.0))
    route = Route(points)
    assert route.at(np.array([0, 1 / 3, 2 / 3, 1])) == pytest.approx(np.array(points))
    way = route.at(np.linspace(0, 1, 500))
    assert way[:, 0].max() == pytest.approx(12.0, abs=1e-3)
    assert (np.diff(way[:, 1]) < 0).all()
    assert np.abs(np.diff(way[:, 0])).max() < 0.2  # no jumps
    back = Route(points[::-1]).at(np.linspace(0, 1, 500))
    assert back[::-1] == pytest.approx(way)


def test_the_end_is_below_all_others() -> None:
    flows = {(0, 1): 3.0, (1, 2): 2.0, (2, 3): 1.0, (1, 4): 0.1}  # 4 is the end, and 3 leads nowhere
    assert [row for _, row in ranked(5, flows).spots] == [0, 1, 2, 3, 2]
    assert [row for _, row in ranked(5, flows, bottom=4).spots] == [0, 1, 2, 3, 4]


def test_the_start_is_above_all_others_and_what_is_apart_from_it_is_below() -> None:
    flows = {(0, 1): 3.0, (1, 2): 2.0, (2, 6): 2.0, (3, 4): 1.0, (5, 2): 1.0}  # 0 is the start
    assert [row for _, row in ranked(7, flows).spots] == [0, 1, 2, 0, 1, 1, 3]
    assert [row for _, row in ranked(7, flows, top=0).spots] == [0, 1, 2, 2, 3, 1, 3]
    ended = {**flows, (6, 7): 1.0, (4, 7): 1.0}  # an end that they have in common does not join them
    assert [row for _, row in ranked(8, ended, top=0, bottom=7).spots] == [0, 1, 2, 2, 3, 1, 3, 4]
