"""The boxes of levelled certificates against the masses around single words, in plain NumPy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpwords.privacy.certificates.levelled_blocks import AHEAD, Group, _EveryPlace
from dpwords.privacy.certificates.levelled_blocks_boxes import Bounds, Boxes, PrefixLayer
from dpwords.privacy.certificates.levelled_system import LevelledSystem
from dpwords.privacy.certificates.word_lengths import WordLengths
from test_levelled_certificates import random_cases


def outside_of_box(system: LevelledSystem, bounds: Bounds, begin: int, own: int, masses: Any) -> Any:
    """The masses of nodes outside the box of an own state; those inside are within its bounds."""
    outside = masses.copy()
    first, states, at = system.near[:3]
    for state in states[first[own] : first[own + 1]]:
        nodes, place = slice(system.lf[state], system.lf[state + 1]), begin + at[own, state]
        box = slice(place, place + nodes.stop - nodes.start)
        assert (bounds.lo[box] <= masses[nodes] * (1 + 1e-12)).all()
        assert (masses[nodes] <= bounds.hi[box] * (1 + 1e-12)).all()
        outside[nodes] = 0.0
    return outside


@pytest.mark.parametrize("seed", range(3))
def test_masses_of_words_are_within_their_boxes(seed: int) -> None:
    """Masses of ways to all nodes, and from all of them, around some words: for each place and for all places."""
    checked = 0
    for rng, graph, blocks, listed in random_cases(200 + seed, 30):
        system, z, some = blocks.system, math.exp(-rng.uniform(1.5, 4.0)), [n for n in listed if n >= 4]
        every = _EveryPlace.of(Boxes(system, WordLengths(graph, 4, None), z))
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


def check_word(every: _EveryPlace, z: float, word: tuple[int, ...], grown: dict[Any, list[float]]) -> int:
    """Masses around one word; ln growth of that of its own state, by place and by what is before, goes to `grown`."""
    system, n, checked = every.boxes.system, len(word), 0
    graph, src, tgt, back = system.graph, system.src, system.tgt, system.detail.back
    joined = np.zeros((graph.size, graph.size))
    joined[src, tgt] = 1
    others, fresh = (joined @ joined)[src][:, tgt] - 1, graph.start not in graph.target
    share = np.where((fresh & (src == graph.start))[:, None], 0.3, np.where(others >= 2, 0.5, 0.0))
    step = (tgt[:, None] == src) / (1 + others * z + share * others**2 * z * z)
    fitting = np.maximum((joined @ graph.accepting)[src] - 1, 0)
    match = [np.where(tgt == state, 1.0, z) for state in word]
    own = [int(np.flatnonzero((src == s) & (tgt == t))[0]) for s, t in zip((graph.start, *word), word, strict=False)]
    after = [graph.accepting[tgt] / (1 + fitting * z + 0.3 * fitting**2 * z * z)]
    for place in reversed(range(1, n)):
        after.append(step @ (match[place] * after[-1]))
    masses, prefix, whole = (src == graph.start) * match[0], len(system.last) - 1, 1.0
    for i, node in enumerate(own, start=1):
        prefix = system.prefixes[4][system.prefixes[3][prefix] + system.turn[node]]
        last, left = min(i, len(every.layers) - 1), min(n - i, len(every.completions) - 1)
        ends = None if n - i >= len(every.completions) - 1 else left + AHEAD - 1
        exact = Group(last, None if i >= len(every.layers) - 1 else last, left + AHEAD - 1, ends)
        for group in [exact, Group(back, None, AHEAD - 1, None)][: 1 + (i >= back)]:
            if i < n:
                layer = every.prefixes(group).bounds
                shares = masses / masses[tgt == word[i - 1]].sum()
                rest = outside_of_box(system, layer, system.bf[prefix], word[i - 1], shares)
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
