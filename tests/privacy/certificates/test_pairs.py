"""Proofs about all pairs of words, against listing: every word, every pair, Z from its definition."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.certificates.pairs import PairProofs
from dpwords.privacy.certificates.rounding import price
from dpwords.spaces.graph import Graph
from pairs_of_words import case_of, random_cases, streets
from zoo import SYSTEMS

UNLISTED = Limits(certified_words=0, range_steps=0)  # otherwise other methods come first on small languages


@pytest.mark.parametrize("boxes", [1, 2, 6])
@pytest.mark.parametrize("grow", [False, True])
def test_nothing_false_is_proven(boxes: int, grow: bool) -> None:
    proofs = missed = 0
    for rng, case in random_cases(boxes, 100):
        sizes = {"first_boxes": boxes, "many_boxes": 10**6 if grow else 0}
        pairs, words = PairProofs(case.graph, case.length, **sizes), set(map(bytes, case.words))
        c = float(rng.choice([0.3, 0.5, 1, 2, 3]))
        truth = case.losses(price(c)).max()
        for delta in (truth * rng.uniform(0.5, 1.3), truth * (1 - 1e-6), truth * (1 + 1e-6) + 1e-8):
            found = pairs.verdict(c, delta)
            assert not found.proven or truth <= delta
            assert {bytes(word) for word in pairs.codes(found.pairs).reshape(-1, case.length)} <= words
            if len(found.pairs):
                assert pairs.losses(price(c), found.pairs).max() <= truth + 1e-9
            proofs, missed = proofs + found.proven, missed + (delta > truth and not found.proven)
    assert proofs > 100
    assert not grow or missed < 10  # exact, but for 10⁻⁶, where boxes may become points


def test_proofs_hold_in_exact_arithmetic() -> None:
    """Limits within some units in the last place of the truth, for Z in rational arithmetic: there is no tolerance."""
    seen = set()
    for rng, case in random_cases(7, 120):
        if len(case.words) > 40:
            continue
        z = price(float(rng.choice([0.3, 1, 2, 5])))
        losses, sums = case.losses(z), case.exact_sums(z)
        worst = np.argwhere(losses > losses.max() - 1e-9).tolist()  # only these can be above the limits that follow
        for ulps in (-4000, -40, -4, -1, 0, 1, 4, 40):
            fall = math.exp(-losses.max()) * (1 + ulps * 2.0**-52)
            found = PairProofs(case.graph, case.length).sweeps(z, fall).proven
            truth = all(Fraction(fall) ** int(case.apart[i, j]) * sums[j] <= sums[i] for i, j in worst)
            assert truth or not found
            seen.add((found, truth))
    assert {(True, True), (False, False)} <= seen


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_kind_of_language(name: str) -> None:
    language, length = SYSTEMS[name]
    case = case_of(Graph.of(language), length)
    if case is None:
        return
    for c in (0.5, 2.0):
        truth, pairs = max(case.losses(price(c)).max(), 0.0), PairProofs(case.graph, length)
        assert pairs.verdict(c, truth + 1e-6).proven
        if truth > 1e-6:
            found = pairs.verdict(c, truth * (1 - 1e-6))
            assert not found.proven
            assert pairs.losses(price(c), found.pairs).max() == pytest.approx(truth, rel=1e-9)  # the worst pair


@pytest.mark.parametrize(("length", "c", "worst"), [(24, 1.8, 0.794), (24, 2.0, 0.650), (30, 2.5, 0.683)])
def test_plans_to_a_goal(length: int, c: float, worst: float) -> None:
    """The largest ln Z(x′)/Z(x) at distance 2, found before by another program; nothing is worse farther apart."""
    pairs = PairProofs(Graph.of(streets()), length, Limits(certificate_time=1000.0))
    assert pairs.verdict(c, worst / 2 + 5e-4).proven
    if length == 24:
        found = pairs.verdict(c, worst / 2 - 5e-4)
        assert not found.proven
        assert pairs.losses(price(c), found.pairs).max() == pytest.approx(worst / 2, abs=5e-4)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("name", ["goal", "moves under a rule", "accepting set", "dead ends", "pattern", "any start"])
def test_exact_audits(name: str, k: int) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, 3.0, k=k, utility=dw.Linear(), limits=UNLISTED)
    found = mechanism.certificate(length)
    assert "pairs" in found.method or name == "any start" or (name == "dead ends" and k == 1)
    assert dw.audit.exact(mechanism, length).epsilon <= 3.0


def test_rates_are_nearly_the_best() -> None:
    """Of equal weights, by bisection over all pairs."""
    used = 0
    for _, weighted in random_cases(3, 40):
        graph, low, high = replace(weighted.graph, weight=None, ending=None), 1.0, 2.0
        case = weighted._replace(graph=graph, weight=[Fraction(1)] * len(weighted.words))
        for _ in range(30):
            c = (low + high) / 2
            low, high = (c, high) if c + case.losses(price(c)).max() <= 2 else (low, c)
        found = PairProofs(graph, case.length).rate(2.0, 1.0).c
        assert found <= low + 1e-6
        if 1.05 < low < 1.99:
            used += 1
            assert found >= low - 0.005
    assert used > 5


def test_certificates_are_saved_and_proven_again(tmp_path: Path) -> None:
    mechanism = dw.Exponential(streets(), 4.0, k=2, utility=dw.Linear(), limits=UNLISTED)
    found = mechanism.certificate(20)
    assert (found.method, found.bound) == ("pairs", found.epsilon)
    assert found.c == pytest.approx(1.9345, abs=2e-3)
    assert found == dw.Exponential(streets(), 4.0, k=2, utility=dw.Linear(), limits=UNLISTED).certificate(20)
    mechanism.certificates.save(tmp_path / "own.json")
    other = dw.Exponential(streets(), 4.0, k=2, utility=dw.Linear(), limits=UNLISTED)
    other.certificates.load(tmp_path / "own.json")
    assert other.certificate(20) == found
    text = json.loads((tmp_path / "own.json").read_text())
    text["certificates"][0]["c"] = 1.95
    (tmp_path / "other.json").write_text(json.dumps(text))
    with pytest.raises(dw.InvalidValue, match="does not hold"):
        other.certificates.load(tmp_path / "other.json")


def test_a_proof_that_takes_too_long_is_given_up() -> None:
    graph = Graph.of(streets())
    assert PairProofs(graph, 24, Limits(certificate_time=1e-3)).rate(2.0, 1.0).c == 0.0
    assert PairProofs(graph, 24, Limits(certificate_memory=2**16)).rate(2.0, 1.0).c == 0.0
    assert not PairProofs(graph, 24, Limits(certificate_memory=2**16)).fits
    assert not PairProofs(graph, 24).verdict(1.5, 0.0).proven
    assert not PairProofs(graph, 24).verdict(300.0, 1.0).proven


def test_the_time_is_told() -> None:
    mechanism = dw.Exponential(
        streets(), 4.0, k=2, utility=dw.Linear(), limits=replace(UNLISTED, certificate_time=30.0)
    )
    assert mechanism.seconds_to_prepare(20) == (0.0, 30.0)
    fractions: list[float] = []
    mechanism.certificate(20, fractions.append)
    assert fractions == sorted(fractions)
    assert 0 < fractions[-1] < 1
    assert mechanism.seconds_to_prepare(20) == (0.0, 0.0)
