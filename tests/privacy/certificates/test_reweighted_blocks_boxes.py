"""The boxes of reweighted certificates against the masses around single words, in plain NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.privacy.certificates.reweighted_blocks import AHEAD, Cover, Group, _EveryPosition
from dpwords.privacy.certificates.reweighted_blocks_boxes import Bounds, Boxes, PrefixLayer, WordLengths
from dpwords.privacy.certificates.reweighted_system import ReweightedSystem
from dpwords.spaces.graph import Graph
from listed_systems import blocks_of, random_cases
from loops import callable_parts


def outside_of_box(system: ReweightedSystem, bounds: Bounds, begin: int, own: int, masses: Any) -> Any:
    """The masses of nodes outside the box of an own state; those inside are within its bounds."""
    outside = masses.copy()
    first, near = system.near[:2]
    nodes = near[first[own] : first[own + 1]]
    box = slice(begin, begin + len(nodes))
    assert (bounds.lo[box] <= masses[nodes] * (1 + 1e-12)).all()
    assert (masses[nodes] <= bounds.hi[box] * (1 + 1e-12)).all()
    outside[nodes] = 0.0
    return outside


@pytest.mark.parametrize("seed", range(3))
def test_masses_of_words_are_within_their_boxes(seed: int) -> None:
    """Masses of ways to all nodes, and from all of them, around some words: for each position and for all positions."""
    checked = 0
    for rng, graph, blocks, listed in random_cases(200 + seed, 30):
        system, z, some = blocks.system, math.exp(-rng.uniform(1.5, 4.0)), [n for n in listed if n >= 4]
        every = _EveryPosition.of(Boxes(system, WordLengths(graph, 4, None), z), Cover())
        if every is None or not some:
            continue
        words = listed[max(some) if rng.random() < 0.5 else int(rng.choice(some))].words
        begin = int(rng.integers(len(words)))
        grown: dict[Any, list[float]] = {}
        for word in words[begin : begin + 5]:  # many of them begin alike
            checked += check_word(every, z, word, grown)
        for key, logs in grown.items():
            before = key if isinstance(key, int) else len(key) + 1
            layer = every.layers[min(before, len(every.layers) - 1)]
            assert max(logs) - min(logs) <= (layer.growth if key == before else layer.opening) + 1e-12
    assert checked > 500


def check_word(every: _EveryPosition, z: float, word: tuple[int, ...], grown: dict[Any, list[float]]) -> int:
    """Masses around one word; ln growth of that of its own state, by position and by what is before, goes to
    `grown`."""
    system, n, checked = every.boxes.system, len(word), 0
    graph, src, tgt, back = system.graph, system.src, system.tgt, system.detail.back
    joined = np.zeros((graph.size, graph.size))
    joined[src, tgt] = 1
    others, fresh = (joined @ joined)[src][:, tgt] - 1, graph.start not in graph.target
    proportion = np.where((fresh & (src == graph.start))[:, None], 0.3, np.where(others >= 2, 0.5, 0.0))
    step = (tgt[:, None] == src) / (1 + others * z + proportion * others**2 * z * z)
    fitting = np.maximum((joined @ graph.accepting)[src] - 1, 0)
    match = [np.where(tgt == state, 1.0, z) for state in word]
    own = [int(np.flatnonzero((src == s) & (tgt == t))[0]) for s, t in zip((graph.start, *word), word, strict=False)]
    after = [graph.accepting[tgt] / (1 + fitting * z + 0.3 * fitting**2 * z * z)]
    for position in reversed(range(1, n)):
        after.append(step @ (match[position] * after[-1]))
    masses, prefix, whole = (src == graph.start) * match[0], len(system.last) - 1, 1.0
    for i, node in enumerate(own, start=1):
        prefix = every.boxes.prefixes.child[every.boxes.prefixes.tf[prefix] + system.turn[node]]
        last, left = min(i, len(every.layers) - 1), min(n - i, len(every.completions) - 1)
        ends = None if n - i >= len(every.completions) - 1 else left + AHEAD - 1
        exact = Group(last, None if i >= len(every.layers) - 1 else last, left + AHEAD - 1, ends)
        for group in [exact, Group(back, None, AHEAD - 1, None)][: 1 + (i >= back)]:
            if i < n:
                layer = every.prefixes(group).bounds
                proportions = masses / masses[tgt == word[i - 1]].sum()
                rest = outside_of_box(system, layer, system.bf[prefix], word[i - 1], proportions)
                assert rest.sum() <= layer.outside[1 + prefix] * (1 + 1e-12)
                assert np.bincount(tgt, rest).max() <= layer.outside[0] * (1 + 1e-12)
            known = own[i - 1 : i - 1 + system.label_nodes.shape[1]]
            bounds = every.completions_of(group)
            for label in np.flatnonzero((system.label_nodes[:, : len(known)] == known).all(axis=1)):
                ratio = after[n - i] / after[n - i][node]
                rest = outside_of_box(system, bounds, system.af[label], word[i - 1], ratio)
                assert rest.max() <= bounds.outside[0] * (1 + 1e-12)
                checked += 1
        mass = masses[tgt == word[i - 1]].sum()
        if 1 < i < n:
            for key in (i, word[: i - 1]):
                grown.setdefault(key, []).append(math.log(mass / whole))
        masses, whole = (masses @ step) * match[i] if i < n else masses, mass
    return checked


def test_bounds_contain_others_only_with_all_their_parts() -> None:
    bounds = Bounds(np.array([0.1, np.inf]), np.array([0.5, 0.0]), np.array([0.2, 0.3]))
    assert bounds.contains(bounds)
    for part, value in (("lo", [0.05, np.inf]), ("lo", [0.1, 0.9]), ("hi", [0.6, 0.0]), ("outside", [0.2, 0.31])):
        larger = replace(bounds, **{part: np.array(value)})
        assert not bounds.contains(larger)
        assert bounds.hull(larger).contains(larger)
        assert larger.wider().contains(bounds)


def test_a_union_of_layers_has_the_largest_of_all_numbers() -> None:
    bounds = Bounds(np.zeros(1), np.ones(1), np.zeros(2))
    one, other = (
        PrefixLayer(bounds, np.array([1.0, 4.0]), 2.0, 7.0),
        PrefixLayer(bounds, np.array([3.0, 2.0]), 5.0, 6.0),
    )
    for union in (one.hull(other), other.hull(one)):
        assert (union.turns.tolist(), union.opening, union.growth) == ([3.0, 4.0], 5.0, 7.0)


def test_many_ways_at_once_are_the_same_as_one_by_one() -> None:
    """On a ring whose boxes are small, so that much is outside: what enters a box, what leaves it, completions."""
    ring = dw.from_edges([(i, (i + step) % 14) for i in range(14) for step in (1, 2, 13)], start=None)
    blocks = blocks_of(Graph.of(ring), 2, 1, 2)
    assert blocks is not None
    system, z, rng = blocks.system, math.exp(-2.0), np.random.default_rng(5)
    every = Boxes(system, WordLengths(system.graph, 4, None), z)
    steps, closings = callable_parts("reweighted_blocks_steps"), callable_parts("reweighted_blocks")
    at_price, states = every.at_price, system.graph.size
    near, size = at_price.near, system.size
    most = int(size.max())

    def masses(columns: int) -> Any:
        numbers = np.zeros((2, most, columns)), np.zeros((2, columns)), np.zeros(columns, dtype=np.int64)
        return steps.Masses(*numbers[0], *numbers[1], numbers[2])

    def stepped(price: float, own: int, new: int, some: Any, first: int) -> Any:
        count = len(some.single)
        after, reached = masses(first + count), steps.Reached(np.zeros((states + 1, count)), np.zeros(states))
        steps.step(price, at_price, reached, own, count, some, new, after, first)
        assert not any(scratch.any() for scratch in reached)
        return after

    for own, new in {(int(system.src[e]), int(system.tgt[e])) for e in range(len(system.src)) if size[system.src[e]]}:
        entering = int(system.lf[own + 1] - system.lf[own])
        lo, (single, outside) = rng.random((most, 3)), rng.random((2, 3))
        some = steps.Masses(lo, lo + rng.random((most, 3)), single, 3 * outside, rng.integers(0, entering + 1, 3))
        for price in (1.0, z):
            together = stepped(price, own, new, some, 2)
            for c in range(3):
                one = steps.Masses(*(np.ascontiguousarray(part[..., c : c + 1]) for part in some))
                alone, columns = stepped(price, own, new, one, 0), size[new]
                assert (together.lo[:columns, 2 + c] == alone.lo[:columns, 0]).all()
                assert (together.hi[:columns, 2 + c] == alone.hi[:columns, 0]).all()
                assert (together.single[2 + c], together.outside[2 + c]) == (alone.single[0], alone.outside[0])
    after = closings.Completions(
        *system.labels[1:3], np.ones(len(system.label_nodes), dtype=np.bool_), *np.ones((2, system.af[-1])), 7.0
    )
    e = int(np.flatnonzero(size[system.src])[0])
    r, s = int(system.src[e]), int(system.tgt[e])
    t_lo, t_hi, position = np.ones(most + 1), np.ones(most + 1), np.arange(most + 1)
    closings.completed(z, system.lf, system.tgt, near, r, s, after, int(every.labels.of_node[e]), position, t_lo, t_hi)
    nodes, beyond = ({*near.ns[near.nf[state] : near.nf[state + 1]].tolist()} for state in (r, s))
    found = {v: t_hi[i] / (1.0 if system.tgt[v] == s else z) for i, v in enumerate(sorted(nodes))}
    assert found == {v: pytest.approx(1.0 if v in beyond else 7.0) for v in found}
    assert sorted(set(np.round(list(found.values()), 9))) == [1.0, 7.0]
    assert t_hi[size[r]] == pytest.approx(7.0 * z)


def test_long_blocks_change_at_most_as_much_as_growth_does() -> None:
    blocks = blocks_of(Graph.of(dw.GridWorld(2, 2).by_states()), 2, 1, 2)
    assert blocks is not None
    every = _EveryPosition.of(Boxes(blocks.system, WordLengths(blocks.system.graph, 4, None), math.exp(-3.0)), Cover())
    assert every is not None
    last = replace(every.layers[-1], growth=5.0, opening=0.0)
    assert replace(every, layers=[*every.layers[:-1], last]).longer_blocks(np.zeros(len(every.layers))) >= 5.0


def test_what_is_outside_of_a_box_is_a_row_of_its_own() -> None:
    steps, blocks = callable_parts("reweighted_blocks_steps"), callable_parts("reweighted_blocks")
    lo, hi = np.array([[0.1, 0.2], [0.0, 0.0], [9.0, 9.0]]), np.array([[0.3, 0.4], [0.0, 0.0], [9.0, 9.0]])
    mixture, position = np.zeros(3), np.zeros(3, dtype=np.int64)
    masses = steps.Masses(lo, hi, np.zeros(2), np.array([0.5, 0.7]), np.zeros(2, dtype=np.int64))
    kept = blocks.mixed(masses, 2, 2, mixture, position)
    assert (kept, position.tolist()) == (2, [0, -1, 1])  # the row without any mass is dropped
    assert (lo[:2].tolist(), hi[:2].tolist()) == ([[0.1, 0.2], [0.0, 0.0]], [[0.3, 0.4], [0.5, 0.7]])
    assert mixture[:2] == pytest.approx([0.25, 0.35])


def test_the_end_of_a_word_counts_what_is_outside_of_the_box() -> None:
    """With weights of 1 at the end, the whole mass is the sum of all masses in the box, and of those outside."""
    steps, kernels = callable_parts("reweighted_blocks_steps"), callable_parts("reweighted_blocks")
    blocks = blocks_of(Graph.of(dw.GridWorld(3, 3).by_states()), 2, 1, 2)
    assert blocks is not None
    system = blocks.system
    near, own = steps.Near(*system.near), int(system.tgt[0])
    lo, hi = np.full((system.size[own], 2), 0.25), np.full((system.size[own], 2), 0.5)
    low, high, outside = np.zeros(2), np.zeros(2), np.array([0.0, 3.0])
    masses = steps.Masses(lo, hi, np.zeros(2), outside, np.zeros(2, dtype=np.int64))
    kernels.log_ends(near, np.ones(len(system.src)), own, 2, masses, low, high)
    assert np.exp(low) == pytest.approx(0.25 * system.size[own])
    assert np.exp(high) == pytest.approx(0.5 * system.size[own] + outside)
