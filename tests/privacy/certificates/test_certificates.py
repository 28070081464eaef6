"""Certified rates against brute force over all pairs of words, and against the rates of the notes."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from contract import reweighted_weights
from dpwords.core.limits import Limits
from dpwords.languages.systems import TransitionSystem
from dpwords.privacy.certificates.certificate import largest_rate
from dpwords.privacy.certificates.constant_range import ranges_of_constants
from dpwords.privacy.certificates.reweighted_blocks import ReweightedBlocks
from dpwords.privacy.certificates.reweighted_search import ReweightedSearch
from dpwords.privacy.certificates.reweighted_system import Detail, ReweightedSystem
from dpwords.privacy.certificates.small_languages import Listed
from dpwords.privacy.certificates.systems import SystemCertifier
from dpwords.privacy.guarantees import Budget
from dpwords.spaces import exhaustive
from dpwords.spaces.graph import Graph
from dpwords.spaces.reweighting import Reweighting
from dpwords.spaces.runs import Runs
from zoo import NO_NEIGHBOURS, SYSTEMS


def brute_excess(language: Any, length: int, c: float, reweighted: bool = False) -> float:
    """The largest ln Z(x')/Z(x) per position that differs, over all pairs of words."""
    words = exhaustive.words(language, length)
    apart = exhaustive.distances(words).astype(float)
    base = np.ones(len(words))
    if reweighted:
        weights = reweighted_weights(language, words, Fraction(math.exp(-c)))
        base = np.array([float(weights[word]) for word in words])
    logs = np.log(np.exp(-c * apart) @ base)
    pairs = apart > 0
    return float(((logs[:, None] - logs[None, :])[pairs] / apart[pairs]).max(initial=0.0))


def reweighted_blocks(graph: Graph, detail: Detail) -> ReweightedBlocks:
    reweighting = Reweighting.of(graph)
    assert reweighting is not None
    return ReweightedBlocks(ReweightedSystem(graph, reweighting, detail))


def brute_rate(language: Any, length: int, epsilon: float, reweighted: bool = False) -> float:
    """The largest c with c + excess ≤ ε, by bisection."""
    low, high = epsilon / 2, epsilon
    for _ in range(40):
        middle = (low + high) / 2
        holds = middle + brute_excess(language, length, middle, reweighted) <= epsilon
        low, high = (middle, high) if holds else (low, middle)
    return low


@st.composite
def systems_by_states(draw: st.DrawFn) -> tuple[TransitionSystem, int]:
    """Words of states of every kind: dead ends, one-way streets, unequal branching, accepting sets, any start."""
    size = draw(st.integers(2, 7))
    edges = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), min_size=2, max_size=24))
    rows: dict[int, dict[int, int]] = {0: {}}
    for source, target in edges:
        rows.setdefault(source, {})[target] = target
    known = sorted(set(rows) | {target for row in rows.values() for target in row})
    accepting = draw(st.one_of(st.none(), st.sets(st.sampled_from(known), min_size=1)))
    system = TransitionSystem(rows, start=draw(st.sampled_from([0, None])), accepting=accepting)
    lengths = [n for n in range(1, 7) if 2 <= system.count(n) <= 100]
    return (system, draw(st.sampled_from(lengths))) if lengths else (dw.GridWorld(2, 2).by_states(), 3)


@given(systems_by_states(), st.floats(0.1, 7), st.integers(2, 4))
@settings(max_examples=250, deadline=None)
def test_bounds_are_never_below_the_truth(case: tuple[TransitionSystem, int], c: float, radius: int) -> None:
    system, length = case
    graph = Graph.of(system)
    truth = brute_excess(system, length, c)
    listed = Listed.of(graph, length)
    assert listed is not None
    if Reweighting.of(graph) is not None:
        reweighted = brute_excess(system, length, c, reweighted=True)
        assert reweighted_blocks(graph, Detail(2, 1, radius)).excess(length, c) >= reweighted
    assert listed.excess(c) == pytest.approx(truth, abs=2e-9)
    assert ranges_of_constants(graph, length, c)[length] >= truth


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("c", [0.3, 1.0, 3.0])
def test_the_range_covers_every_kind_of_word(name: str, c: float) -> None:
    language, length = SYSTEMS[name]
    words = exhaustive.words(language, length)
    sums = np.exp(-c * exhaustive.distances(words)).sum(axis=1)
    assert ranges_of_constants(Graph.of(language), length, c)[length] >= math.log(sums.max() / sums.min())


@pytest.mark.parametrize(("epsilon", "best"), [(1, 0.755), (2, 1.717), (3, 2.859), (4, 3.946), (6, 5.993)])
def test_rates_on_the_3x3_grid(epsilon: float, best: float) -> None:
    """Exact where words can be listed; blocks, reweighted, are within 2 % of the best rate with their weights."""
    cells = dw.GridWorld(3, 3).by_states()
    assert brute_rate(cells, 4, epsilon) == pytest.approx(best, abs=6e-4)
    certificate = dw.Exponential(cells, epsilon).certificate(4)
    assert certificate.method == "listed, balanced"
    assert certificate.c == pytest.approx(epsilon, rel=3e-5)  # where balanced weights exist, nothing is lost
    assert certificate.c < certificate.bound <= epsilon
    blocks_of_4 = reweighted_blocks(Graph.of(cells), Detail(2, 1, 4))
    c, loss = largest_rate(epsilon, lambda c: blocks_of_4.excess(4, c), epsilon)
    exact = brute_rate(cells, 4, epsilon, reweighted=True)
    assert 0.98 * exact <= c <= exact + 3e-4 * epsilon
    assert c < loss <= epsilon
    assert exact > best


@pytest.mark.parametrize(("epsilon", "least"), [(3, 2.94), (4, 3.99), (5, 4.95), (6, 5.98)])
def test_rates_on_the_15x15_grid(epsilon: float, least: float) -> None:
    """From a language of more than 10^9 runs; equal weights reach 2.634, 3.884, 4.958 and 5.984, enough for ε ≥ 5."""
    cells = dw.GridWorld(15, 15).by_states()
    mechanism = dw.Exponential(cells, epsilon)
    certificate = mechanism.certificate(18)
    assert least <= certificate.c < certificate.bound <= epsilon
    run = [(i // 2 + i % 2, i // 2) if i % 2 == 0 else (i // 2, i // 2 + 1) for i in range(1, 19)]
    assert cells.accepts(run)
    textbook = dw.Exponential(cells, epsilon, calibration="textbook").expected_distance(run)
    assert textbook == pytest.approx({3: 4.574, 4: 2.409, 5: 1.469, 6: 0.918}[epsilon], abs=6e-4)
    assert mechanism.expected_distance(run) < {3: 1.03, 4: 0.367, 5: 0.14, 6: 0.0505}[epsilon]


def test_a_small_epsilon_on_the_15x15_grid() -> None:
    """With equal weights nothing better than the textbook's rate is known here; more detail proves more."""
    cells = dw.GridWorld(15, 15).by_states()
    assert dw.Exponential(cells, 2.5, limits=Limits(certificate_time=20.0)).certificate(18).c > 2.36
    assert 2.42 + reweighted_blocks(Graph.of(cells), Detail(3, 2, 6)).excess(9, 2.42) <= 2.5
    assert 1.81 + reweighted_blocks(Graph.of(cells), Detail(3, 2, 8)).excess(9, 1.81) <= 2.0


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", SYSTEMS)
def test_listed_rates_are_the_best_ones(name: str, epsilon: float) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon)
    found, best = mechanism.certificate(length), brute_rate(language, length, epsilon)
    if found.method == "listed":
        assert found.c == pytest.approx(best, abs=1e-3 * epsilon)
    elif found.method == "listed, balanced":
        words = exhaustive.words(language, length)
        equal = np.exp(-best * exhaustive.distances(words))
        mean = ((equal * exhaustive.distances(words)).sum(axis=1) / equal.sum(axis=1)).mean()
        assert mechanism.expected_distance(length=length) <= mean * (1 + 1e-3)


def test_languages_of_more_than_10_to_the_12_words() -> None:
    cells = dw.GridWorld(6, 6).by_states()
    assert cells.count(24) > 10**12
    mechanism = dw.Exponential(cells, 5)
    assert mechanism.certificate(24).c > 4.9
    assert dw.GridWorld(6, 6).count(24) > 10**12
    assert dw.Exponential(dw.GridWorld(6, 6), 7).certificate(24).c > 6.5


def test_without_neighbours_the_release_is_as_noisy_as_epsilon_demands() -> None:
    """Two words at distance 3: adjacent pairs do not exist, and the bare definition would let the secret out."""
    mechanism = dw.Exponential(NO_NEIGHBOURS, epsilon=1.0)
    assert mechanism.certificate(3).c <= 1.0
    kept = math.exp(mechanism.log_prob("aaa", given="aaa"))
    assert kept <= 1 / (1 + math.exp(-3.0)) + 1e-12
    found = dw.audit.exact(mechanism, 3)
    assert found.holds
    assert found.worst is not None
    assert found.worst.distance == 3


def test_k_divides_epsilon_among_the_positions() -> None:
    cells = dw.GridWorld(3, 3).by_states()
    assert dw.Exponential(cells, 6, k=2, utility=dw.Linear()).certificate(4).c == pytest.approx(
        dw.Exponential(cells, 3).certificate(4).c, rel=1e-9
    )
    assert dw.audit.exact(dw.Exponential(cells, 6, k=2, utility=dw.Linear()), 4).holds


@pytest.mark.parametrize("epsilon", [1.5, 3.0, 6.0])
@pytest.mark.parametrize("name", ["grid by states", "any start"])
def test_blocks_keep_the_promise(name: str, epsilon: float) -> None:
    """At the rate that blocks certify, where all pairs can be compared."""
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon, limits=Limits(certified_words=0, good_enough=2.0))
    assert mechanism.certificate(length).method == "blocks, levelled"
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-mechanism.certificate(length).c * d))
    contract.check_promise(mechanism, length)
    if language.count(length) <= 16:
        contract.check_stored_law(mechanism, length)


def test_every_word_is_feasible_or_all_are_free() -> None:
    for language in (dw.Words("abc"), dw.TransitionSystem({0: {"a": 1, "b": 0}, 1: {"a": 0, "b": 1}}, start=0)):
        certificate = dw.Exponential(language, 2.5).certificate(6)
        assert certificate.method == "every word"
        assert certificate.c == pytest.approx(2.5, rel=1e-9)
    textbook = dw.Exponential(dw.Words("abc"), 2.5, calibration="textbook").certificate(6)
    assert (textbook.method, textbook.c) == ("textbook", pytest.approx(1.25))
    with pytest.raises(dw.InvalidValue, match=r"utility Linear\(\)"):
        _ = dw.Exponential(dw.Words("abc"), 2.5, k=2).certificate


def test_save_and_load(tmp_path: Path) -> None:
    cells, path = dw.GridWorld(3, 3).by_states(), tmp_path / "certificates.json"
    few = Limits(certified_words=200)
    made = dw.Exponential(cells, 3, limits=few)
    first, second = made.certificate(4), made.certificate(8)
    assert (first.method, second.method) == ("listed, balanced", "blocks, levelled")
    made.certificate.save(path)
    loaded = dw.Exponential(cells, 3, limits=few)
    loaded.certificate.load(path)
    assert (loaded.certificate(4), loaded.certificate(8)) == (first, second)
    for other in (
        dw.Exponential(cells, 3.5),
        dw.Exponential(cells, 3, k=2),
        dw.Exponential(dw.GridWorld(3, 3, start=(1, 1)).by_states(), 3),
        dw.Exponential(dw.GridWorld(3, 3), 3),
    ):
        with pytest.raises(dw.InvalidValue, match="another system or another ε"):
            other.certificate.load(path)
    text = path.read_text("utf-8")
    document = json.loads(text)
    for change in (
        {"c": 2.9999999},
        {"c": 9.0},
        {"c": -1.0},
        {"c": math.nan},
        {"c": 1.0},
        {"method": "every word"},
        {"method": "blocks"},  # which earlier versions had
        {"method": "faith"},
    ):
        document["certificates"][0] |= change
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match="does not hold"):
            loaded.certificate.load(path)
        document = json.loads(text)
    wrong = [json.dumps({"certificates": [document["certificates"][0] | change]}) for change in (
        {"c": "2"}, {"c": None}, {"c": 10**400}, {"c": True}, {"length": 4.0}, {"length": "4"}, {"method": ["blocks"]},
        {"length": -4},
    )]  # fmt: skip
    for broken in (text[:-30], "[]", '{"certificates": [{"c": 1}]}', "[" * 10**5, *wrong):
        path.write_text(broken, encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match="holds no certificates"):
            loaded.certificate.load(path)


def test_what_does_not_fit_is_certified_by_less() -> None:
    graph = Graph.of(dw.GridWorld(6, 6).by_states())
    bounds = {}
    for memory in (10**9, 10**6, 0):
        space = Runs(graph, Limits(certificate_memory=memory, certified_words=0))
        bounds[memory] = SystemCertifier(space, Budget(4.0, 1, 0.0))(8)
    assert [bounds[memory].method for memory in bounds] == ["blocks, levelled", "blocks, levelled", "range"]
    assert bounds[10**9].c > bounds[10**6].c > bounds[0].c >= 2.0
    assert bounds[10**9].detail > bounds[10**6].detail == (2, 1, 2)
    reweighting = Reweighting.of(graph)
    assert reweighting is not None
    tried = {
        seconds: [
            (detail.back, detail.ahead)
            for _, detail in ReweightedSearch(graph, reweighting, Limits(certificate_time=seconds)).attempts(8)
        ]
        for seconds in (1000.0, 3.0, 0.0)
    }
    assert tried == {1000.0: [(2, 1), (3, 2), (4, 2)], 3.0: [(2, 1), (3, 2)], 0.0: []}
    assert Listed.of(graph, 4, Limits(certified_words=5)) is None
    assert Listed.of(graph, 4) is not None


def test_a_loaded_certificate_is_used_from_then_on(tmp_path: Path) -> None:
    cells, path = dw.GridWorld(3, 3).by_states(), tmp_path / "certificates.json"
    mechanism = dw.Exponential(cells, 3)
    run = exhaustive.words(cells, 4)[0]
    before = mechanism.log_prob(run, given=run)
    mechanism.certificate.save(path)
    document = json.loads(path.read_text("utf-8"))
    document["certificates"][0]["c"] = 2.0
    path.write_text(json.dumps(document), encoding="utf-8")
    mechanism.certificate.load(path)
    assert mechanism.certificate(4).c == 2.0
    assert mechanism.log_prob(run, given=run) < before


def test_words_that_no_run_reaches_do_not_count() -> None:
    """A part more than n steps away that grows faster than the language must not drown its numbers."""
    n, wide = 1500, 20
    system: dict[Any, dict[Any, Any]] = {"s": {0: "P", 1: "Q"}, "P": {0: 0}, "Q": dict.fromkeys(range(wide), 0)}
    system |= {i: {0: i + 1} for i in range(n)}
    system[n] = dict.fromkeys(range(6), n)
    mechanism = dw.Exponential(dw.TransitionSystem(system, start="s"), 2.0)
    assert dw.audit.exact(mechanism, n, draws=0).holds


@pytest.mark.parametrize("epsilon", [1.0, 2.0])
def test_long_words_with_many_ways_at_small_rates(epsilon: float) -> None:
    """Bounds that overflow are given up, not ignored."""
    many = [f"R{i}" for i in range(20)]
    edges = [("s", "P"), ("s", "Q"), ("P", "P2"), ("P2", "h"), ("h", "h")]
    edges += [("Q", each) for each in many] + [(each, "h") for each in many]
    mechanism = dw.Exponential(dw.from_edges(edges, start="s"), epsilon)
    assert dw.audit.exact(mechanism, 700, draws=0).holds


def test_extreme_rates_and_shapes() -> None:
    cells = dw.GridWorld(3, 3).by_states()
    for epsilon in (1e-3, 199.0, 1000.0, 1e6):
        certificate = dw.Exponential(cells, epsilon).certificate(4)
        assert epsilon / 2 * (1 - 1e-9) <= certificate.c <= certificate.bound <= epsilon
    clique = dw.from_edges([(a, b) for a in range(40) for b in range(40)] + [(40, 0)], start=0)
    assert dw.Exponential(clique, 2.0).certificate(5).method in ("range", "textbook")  # blocks would take hours
    with pytest.raises(dw.InvalidValue, match="radius is 2 or more"):
        Detail(2, 1, 1)
    with pytest.raises(dw.InvalidValue, match="looks back 2 nodes or more"):
        Detail(1, 1, 2)
    reweighted = reweighted_blocks(Graph.of(cells), Detail(2, 1, 2))
    assert reweighted.excess(4, 0.01) > 1
    assert reweighted.excess(4, 300.0) < 1e-8
    assert reweighted.excess_of_all(300.0, 1.0, 12) == (reweighted.excess_of_all(400.0, 1.0, 12)[0], 4)


def test_bad_lengths() -> None:
    ends = dw.from_edges([("a", "b"), ("b", "c")], start="a")
    with pytest.raises(dw.InvalidValue, match="no word of length 5"):
        dw.Exponential(ends, 2.0).certificate(5)
    for length in (0, -1, True, 4.0, "4"):
        with pytest.raises(dw.InvalidValue, match="length must be a whole number"):
            dw.Exponential(ends, 2.0).certificate(length)  # type: ignore[arg-type]
    with pytest.raises(dw.TooLarge, match="take shorter words"):
        dw.Exponential(dw.GridWorld(3, 3), 2.0).certificate(10**9)


def test_a_rate_does_not_depend_on_what_was_asked_before() -> None:
    cells = dw.GridWorld(5, 5).by_states()
    one, other = dw.Exponential(cells, 4), dw.Exponential(cells, 4)
    assert [one.certificate(n) for n in (14, 12, 9)] == [other.certificate(n) for n in (9, 12, 14)][::-1]
