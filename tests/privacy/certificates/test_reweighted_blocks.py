"""Reweighted certificates for one length and for all lengths against the listing of all words."""

from __future__ import annotations

import json
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.languages.systems import TransitionSystem
from dpwords.privacy.certificates import reweighted_blocks
from dpwords.privacy.certificates.reweighted_blocks import LONGEST, ReweightedBlocks
from dpwords.spaces.graph import Graph
from listed_systems import blocks_of, listings, random_cases

UNLISTED = Limits(certified_words=1)


@pytest.mark.parametrize("seed", range(3))
def test_one_length_is_never_below_the_truth(seed: int) -> None:
    compared, finite = 0, 0
    for rng, _, blocks, listed in random_cases(seed, 40):
        for c in rng.uniform((0.5, 2.0), (2.0, 4.5)).tolist():
            for length in rng.permutation(list(listed))[:5].tolist():
                bound = blocks.excess(length, c)
                assert bound >= listed[length].excess(c)
                compared, finite = compared + 1, finite + math.isfinite(bound)
    assert finite > 0.9 * compared > 200


@pytest.mark.parametrize("seed", range(6))
def test_all_lengths_are_never_below_the_truth(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With targets that make groups of positions be split, and with few layers, so that unions of many are met early.

    A bound that all groups went into holds even where longer blocks raise it above the target.
    """
    whole: list[int] = []  # a margin for all lengths is added when all groups have been seen
    margin = reweighted_blocks.margin
    monkeypatch.setattr(reweighted_blocks, "margin", lambda length: whole.append(length) or margin(length))
    compared = split = 0
    for rng, _, made, listed in random_cases(100 + seed, 50):
        numbers = int(rng.integers(5)), int(rng.integers(9)), int(rng.integers(1, 5))
        numbers = numbers if rng.random() < 0.7 else (4, 8, 4)
        blocks = ReweightedBlocks(made.system, reweighted_blocks.Cover(*numbers))
        c, most = float(rng.uniform(1.2, 4.5)), int(rng.integers(4, 15))
        truth = {length: found.excess(c) for length, found in listed.items()}
        low, high, target = 0.0, math.inf, math.inf
        for tries in range(6):
            whole.clear()
            bound, least = blocks.excess_of_all(c, target, most)
            assert whole or not bound <= target or math.isinf(bound)
            if not whole or math.isinf(bound):
                low = target
            else:
                assert numbers[2] <= least <= most
                covered = [value for length, value in truth.items() if length >= least]
                assert bound >= max(covered, default=0.0)
                compared, split, high = compared + len(covered), split + (tries > 0), min(bound, target)
            if math.isinf(high):
                break
            target = low + (high - low) * float(rng.uniform(0.3, 0.999))
    assert compared > 500
    assert split > 30


def test_labels_are_cut_short_where_an_accepting_state_has_no_way_on() -> None:
    """Completions that end before K nodes: their labels are as long as the word is, and count like others."""
    rows: dict[Any, dict[Any, Any]] = {"a": {}, "b": {}, "c": {}, "end": {}, "other": {}}
    for source, targets in {"a": "abc", "b": "ac", "c": "ab"}.items():
        rows[source] = {target: target for target in [*targets, "end", *(["other"] if source != "a" else [])]}
    graph = Graph.of(TransitionSystem(rows, "a", accepting=["end", "other"]))
    listed, finite = listings(graph, 700), 0
    for ahead in (1, 2, 3):
        blocks = blocks_of(graph, 2, ahead, 3)
        assert blocks is not None
        for c in (2.0, 3.0, 4.0):
            truth = {length: found.excess(c) for length, found in listed.items()}
            bounds = {length: blocks.excess(length, c) for length in listed}
            assert all(truth[length] <= bounds[length] < 20 * truth[length] for length in listed if length > 1)
            bound, least = blocks.excess_of_all(c, c, 4)
            assert least == 4
            assert bound >= max(truth[length] for length in listed if length >= least)
            finite += bound <= c
    assert finite >= 6


@pytest.mark.parametrize("accepting", [[0], [0, 2], [5]])
def test_words_of_every_third_length(accepting: list[int]) -> None:
    """Three parts, one after another, so that words end, and states are met, at some lengths only."""
    edges = [(s, t) for s in range(6) for t in range(6) if (s + 1 - t) % 3 == 0 and (s, t) != (1, 5)]
    rows: dict[Any, dict[Any, Any]] = {s: {t: t for source, t in edges if source == s} for s in range(6)}
    graph = Graph.of(TransitionSystem(rows, 0, accepting=accepting))
    listed = listings(graph, 600)
    assert len(listed) >= 3
    for detail in ((2, 1, 2), (3, 2, 3), (4, 3, 2)):
        blocks = blocks_of(graph, *detail)
        assert blocks is not None
        for c in (2.0, 3.5):
            truth = {length: found.excess(c) for length, found in listed.items()}
            assert all(truth[length] <= blocks.excess(length, c) < math.inf for length in listed)
            bound, least = blocks.excess_of_all(c, 0.4 * c, 9)
            assert bound <= 0.4 * c
            assert all(bound >= truth[length] for length in listed if length >= least)


# --- mechanisms that use the certificate for all lengths --------------------------------------------------------------

ROADS = [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (0, 3), (3, 3), (1, 3)]
SYSTEMS: dict[str, tuple[Any, float, int]] = {  # with ε and a length whose words can be listed
    "grid": (dw.GridWorld(3, 3).by_states(), 4.0, 6),
    "grid, any start": (dw.GridWorld(2, 3, start=None).by_states(), 4.0, 5),
    "roads": (dw.from_edges(ROADS, start=0), 4.5, 6),
    "roads, any start": (dw.from_edges(ROADS, start=None), 5.0, 5),
}


def public_weights(mechanism: dw.Exponential, words: list[Any], at_start: bool) -> dict[Any, Fraction]:
    """The weights by their definition, at the certified rate, in 60 digits."""
    length = len(words[0])
    z = Fraction(contract.HIGH.exp(-Decimal(mechanism.certificate(length).c)))
    found = dict.fromkeys(words, Fraction(1))
    for position in range(length):
        fitting = Counter((word[:position], word[position + 1 :]) for word in words)
        for word in words:
            others = fitting[word[:position], word[position + 1 :]] - 1
            at_end = position == length - 1 or (position == 0 and at_start)
            proportion = Fraction(0.3) if at_end else Fraction(1, 2) if others >= 2 else Fraction(0)
            found[word] /= 1 + others * z + proportion * others**2 * z * z
    return found


@pytest.mark.parametrize("name", SYSTEMS)
def test_mechanisms_keep_their_promise_with_the_certificate_for_all_lengths(name: str) -> None:
    language, epsilon, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon, limits=UNLISTED)
    certificate = mechanism.certificate()
    assert (certificate.method, certificate.longest) == ("blocks, levelled", LONGEST)
    assert certificate.c > 0.93 * epsilon
    for each in range(certificate.least_length, length + 1):
        assert mechanism.certificate(each) == certificate
        found = dw.audit.exact(mechanism, each, draws=0)
        assert found.holds
        assert certificate.c < found.epsilon <= certificate.bound + 1e-9


@pytest.mark.parametrize("name", ["grid, any start", "roads"])
def test_the_stored_law_keeps_the_promise(name: str) -> None:
    """The thresholds of the sampler as fractions: within half the slack of the law, and no pair loses more than ε."""
    language, epsilon, _ = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon, limits=UNLISTED)
    length = mechanism.certificate().least_length
    assert mechanism.certificate(length).longest == LONGEST
    words = contract.words_of(mechanism, length)
    base = public_weights(mechanism, words, "any" in name)
    price = Fraction(contract.HIGH.exp(-Decimal(mechanism.certificate(length).c)))
    some = words[:: max(len(words) // 8, 1)]
    laws = {word: contract.stored_law(mechanism, word, words) for word in some}
    assert isinstance(mechanism.guarantee, dw.PureDP)
    reserve = Decimal(mechanism.guarantee.slack) * length / 2
    for word, law in laws.items():
        assert sum(law.values()) == 1
        weights = {output: base[output] * price ** contract.apart(mechanism, word, output) for output in words}
        total = sum(weights.values())
        assert all(abs(contract.log(law[w]) - contract.log(weights[w] / total)) <= reserve for w in words)
        for other, other_law in laws.items():
            most = Decimal(epsilon) * contract.apart(mechanism, word, other)
            assert all(abs(contract.log(law[w] / other_law[w])) <= most for w in words)


def test_one_certificate_covers_all_lengths_from_some_number_on() -> None:
    language, epsilon, _ = SYSTEMS["grid"]
    one, other = dw.Exponential(language, epsilon, limits=UNLISTED), dw.Exponential(language, epsilon, limits=UNLISTED)
    certificate = one.certificate()
    least = certificate.least_length
    assert certificate.covers(least)
    assert certificate.covers(LONGEST)
    assert not certificate.covers(least - 1)
    assert not certificate.covers(LONGEST + 1)
    lengths = [least + 20, least, least - 1, least + 3]
    assert [one.certificate(n) for n in lengths] == [other.certificate(n) for n in lengths[::-1]][::-1]
    assert other.certificate() == certificate
    own = one.certificate(least - 1)
    assert (own.length, own.longest) == (least - 1, None)
    assert own.covers(least - 1)
    assert not own.covers(least)
    fresh = dw.Exponential(language, epsilon, limits=UNLISTED)
    assert fresh.certificate(least + 3) == certificate


def test_save_load_and_tampering(tmp_path: Path) -> None:
    language, epsilon, length = SYSTEMS["roads"]
    path = tmp_path / "certificates.json"
    made = dw.Exponential(language, epsilon, limits=UNLISTED)
    certificate = made.certificate()
    made.certificate.save(path)
    loaded = dw.Exponential(language, epsilon, limits=UNLISTED)
    loaded.certificate.load(path)
    assert loaded.certificate() == certificate
    assert loaded.certificate(length) == certificate
    document = json.loads(path.read_text("utf-8"))
    assert len(document["certificates"]) == 1
    least, (back, ahead, radius) = certificate.least_length, certificate.detail
    weaker = certificate.epsilon * 0.9
    document["certificates"][0] |= {"c": weaker, "bound": 0.0}
    path.write_text(json.dumps(document), encoding="utf-8")
    loaded.certificate.load(path)  # what it says of its bound is not believed
    assert loaded.certificate().c == weaker < loaded.certificate().bound <= certificate.epsilon
    changes: list[dict[str, Any]] = [
        {"c": certificate.epsilon * (1 - 1e-6)},
        {"c": certificate.epsilon * 1.1},
        {"c": certificate.epsilon * 0.4},
        {"c": math.nan},
        {"length": 3},
        {"length": 1},
        {"length": 0},
        {"detail": [back, ahead]},
        {"detail": []},
        {"detail": [back, ahead, radius + 7]},
        {"detail": [1, 1, 1]},
        {"method": "every word"},
        {"method": "range"},
    ]
    if least > reweighted_blocks.SHORTEST:
        changes.append({"length": least - 1})
    for change in changes:
        document["certificates"][0] |= {"c": certificate.c, "length": least, "detail": [back, ahead, radius]}
        document["certificates"][0] |= {"method": certificate.method} | change
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match="does not hold"):
            loaded.certificate.load(path)
    for longest in (LONGEST + 1, LONGEST - 1, 0):
        document["certificates"][0] = json.loads(json.dumps(certificate.__dict__)) | {"longest": longest}
        path.write_text(json.dumps(document), encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match=r"does not hold|another system or another ε"):
            loaded.certificate.load(path)
    assert loaded.certificate().c == weaker
