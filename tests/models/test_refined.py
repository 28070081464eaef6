"""Models by position and with two steps of memory: against sums over all words, and on populations that need them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.symbols import Ragged
from dpwords.errors import TooLarge
from dpwords.models.chains import hidden_runs
from dpwords.models.checking import misfit
from dpwords.models.population import RunEvidence
from dpwords.models.refined import Counted, ModelKind, ModelShape
from populations import LANGUAGES, channel, listed, random_chances, refuse

SHAPES = {f"by place{counted}": (ModelKind.BY_PLACE, counted) for counted in Counted}
SHAPES["two steps"] = (ModelKind.TWO_STEPS, Counted.FROM_START)


def shape_of(language: Any, name: str, lengths: tuple[int, ...]) -> ModelShape:
    kind, counted = SHAPES[name]
    return ModelShape(hidden_runs(language), kind, lengths, counted)


def condition(shape: ModelShape, position: int, length: int, before: Any) -> Any:
    """What the chance of a step depends on beside its state."""
    if shape.kind is ModelKind.TWO_STEPS:
        return before
    places = {Counted.FROM_START: position, Counted.FROM_END: length - position, Counted.OF_LENGTH: (length, position)}
    return places[shape.counted]


def by_hand(shape: ModelShape, table: dict[Any, float], codes: Any) -> Any:
    """The weight of each word: a step has the chance of its parameter in the homogeneous chain, and its condition."""
    base, length = shape.base, codes.shape[1]
    found = []
    for taken in base.taken(codes):
        parameter = base.parameter[taken].tolist()
        weight = 1.0
        for position, each in enumerate(parameter):
            before = parameter[position - 1] if position else None
            weight *= table[condition(shape, position, length, before), each]
        found.append(weight)
    return np.array(found)


def tables(shape: ModelShape, chances: Any, lengths: Any, language: Any) -> dict[Any, float]:
    """The chance of each pair of a condition and a parameter of the base, read off walks through the refined runs."""
    hidden, base, found = shape.runs().hidden, shape.base, {}
    for length in lengths:
        _, codes = listed(language, length)
        for fine, coarse in zip(hidden.taken(codes), base.taken(codes), strict=True):
            parameter = base.parameter[coarse].tolist()
            for position, edge in enumerate(fine.tolist()):
                before = parameter[position - 1] if position else None
                key = condition(shape, position, length, before), parameter[position]
                chance = float(chances[hidden.parameter[edge]])
                assert found.setdefault(key, chance) == chance  # one parameter for each condition
    return found


@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("kind", SHAPES)
def test_likelihoods_and_uses_are_those_of_all_words(name: str, kind: str) -> None:
    language, longest = LANGUAGES[name]
    lengths = [n for n in (longest - 1, longest) if language.count(n)]
    shape, mechanism = shape_of(language, kind, tuple(lengths)), dw.Online(language, 2.0)
    hidden = shape.runs().hidden
    chances, other = random_chances(hidden), random_chances(hidden, 5)
    known, known_other = (tables(shape, each, lengths, language) for each in (chances, other))
    rows = {length: listed(language, length)[1] for length in lengths}
    evidence = RunEvidence.of(mechanism, rows, shape, distinct=False)
    for each, (length, codes) in zip(evidence.lengths, rows.items(), strict=True):
        seen = channel(mechanism, listed(language, length)[0])
        weights = by_hand(shape, known, codes)
        gain = np.log(by_hand(shape, known_other, codes) @ seen) - np.log(weights @ seen)
        assert each.log_likelihoods(other) - each.log_likelihoods(chances) == pytest.approx(gain, abs=1e-9)
        posterior = weights[:, None] * seen / (weights @ seen)
        taken = hidden.taken(codes)
        uses = np.array([np.bincount(row, minlength=len(hidden.source)) for row in taken])
        assert each.expected(slice(None), chances).uses == pytest.approx(uses.T @ posterior, abs=1e-9)


@pytest.mark.parametrize("kind", SHAPES)
def test_each_row_sums_to_1_and_belongs_to_a_row_of_the_chain(kind: str) -> None:
    shape = shape_of(dw.GridWorld(3, 3).by_states(), kind, (3, 5))
    runs = shape.runs()
    hidden = runs.hidden
    for group in range(int(hidden.groups.max()) + 1):
        members = np.flatnonzero(hidden.groups == group)
        assert len(set(shape.base.groups[runs.tied[members]])) == 1
        assert len(set(runs.tied[members])) == len(members)


def trips(number: int, seed: int) -> list[str]:
    """There and back: a, some b and c, and the same in reverse; what comes next depends on the position."""
    rng = np.random.default_rng(seed)
    out = ["a" + "".join(rng.choice(["b", "c"], 2, p=[0.8, 0.2])) for _ in range(number)]
    return [word + word[::-1] for word in out]


def test_the_model_is_the_one_that_explains_releases_left_out_best() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 3.0)
    chain = np.array([[0.6, 0.3, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])
    rng = np.random.default_rng(8)
    codes = rng.integers(3, size=(1500, 6))
    for position in range(1, 6):
        uniform = rng.random((1500, 1))
        codes[:, position] = (uniform > chain[codes[:, position - 1]].cumsum(axis=1)).sum(axis=1)
    homogeneous = dw.estimate.model(mechanism.seeded(1).release_codes(codes), mechanism)
    assert homogeneous.kind == "chain"
    releases = mechanism.seeded(1).release_all(trips(1500, 1))
    model = dw.estimate.model(releases, mechanism)
    assert model.kind == "by place"
    assert max(model.held_out, key=lambda name: model.held_out[name]) == "by place"
    assert "(by place)" in repr(model)
    asked = dw.estimate.transitions(releases, mechanism, model="two steps")
    assert asked.model == "two steps"
    assert dw.estimate.model(releases, mechanism, "chain").misfit is not None


def test_words_that_end_alike_are_counted_from_their_end() -> None:
    rng = np.random.default_rng(2)
    words = ["".join(rng.choice(["a", "b"], rng.integers(1, 6))) + "cd" for _ in range(1500)]
    mechanism = dw.Exponential(dw.Words("abcd"), 3.0)
    releases = mechanism.seeded(4).release_all(words)
    model = dw.estimate.model(releases, mechanism, "by place")
    assert isinstance(model, dw.estimate.Model)
    assert str(model.shape) == "by place, from the end"
    assert 0.2 < np.exp(model.log_prob("aacd")) < 0.3  # one of four words of that length
    ends = dw.estimate.ends(releases, mechanism, model=model, method="em")
    assert ends["d"].value > 0.95


def test_models_that_do_not_fit_the_mechanism_or_the_size_are_refused() -> None:
    releases = ["abca", "abc"] * 100
    mechanism = dw.Exponential(dw.Words("abc"), 3.0)
    refuse("model is 'auto', 'chain'", lambda: dw.estimate.model(releases, mechanism, "markov"))  # type: ignore[arg-type]
    refuse("model is 'auto', 'chain'", lambda: dw.estimate.dfg(releases, mechanism, model="markov"))  # type: ignore[typeddict-item]
    edits = dw.EditChannel("abc", 5.0)
    refuse("the edit channel moves positions", lambda: dw.estimate.dfg(releases, edits, model="by place"))
    small = dw.Exponential(dw.Words("abc"), 3.0, limits=Limits(chain_edges=20))
    assert dw.estimate.model(releases, small).kind == "chain"
    with pytest.raises(TooLarge, match="choose another model"):
        dw.estimate.model(releases, small, "by place")


def test_words_that_the_model_does_not_explain_are_found_and_others_are_not() -> None:
    """Of 200 pairs of samples from the same words, the check at 1 % rejects 2 on average, and at most 7 in all but one
    of 1,000 cases; of samples with other words it rejects all."""
    rng, rejected = np.random.default_rng(12), 0
    for _ in range(200):
        one, other = (Ragged.even(rng.choice(4, (600, 6), p=[0.4, 0.3, 0.2, 0.1])) for _ in range(2))
        rejected += misfit(one, other, "abcd") is not None
    assert rejected <= 7
    stayers = np.repeat(rng.choice(4, (600, 1), p=[0.4, 0.3, 0.2, 0.1]), 6, axis=1)
    found = misfit(Ragged.even(stayers), other, "abcd")
    assert found is not None
    assert abs(found.z) > 10
    moved = np.where(np.arange(6) == 2, 3, rng.choice(4, (600, 6), p=[0.4, 0.3, 0.2, 0.1]))
    text = str(misfit(Ragged.even(moved), other, "abcd"))
    assert "d at position 3" in text
    assert "600 times" in text


@pytest.mark.parametrize("kind", ["auto", "chain", "by place", "two steps"])
def test_words_of_one_symbol_have_a_model(kind: Any) -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 3.0)
    releases = mechanism.seeded(1).release_all(["a"] * 250 + ["b"] * 50)
    model = dw.estimate.model(releases, mechanism, kind)
    assert model.kind == "chain"
    assert model.transitions[None]["a"] == pytest.approx(250 / 300, abs=0.08)
    assert (
        dw.estimate.starts(releases, mechanism)["a"].low < 250 / 300 < dw.estimate.starts(releases, mechanism)["a"].high
    )


def test_where_the_model_does_not_fit_the_next_best_one_counts_for_errors() -> None:
    """Ten words, drawn at random once: all models mix their parts, so that too few words are the same."""
    mechanism, rng = dw.Exponential(dw.Words("abcd"), 4.0), np.random.default_rng(8)
    few, random = rng.integers(4, size=(10, 9))[rng.integers(10, size=1500)], rng.integers(4, size=(1500, 9))
    for words, fits in ((few, False), (random, True)):
        releases = mechanism.seeded(2).release_codes(words)
        model = dw.estimate.model(releases, mechanism)
        assert (model.misfit is None) == fits
        in_full = [each for each in model.rivals if each.doubt == 0.5 and each.is_runner_up]
        assert len(in_full) == (0 if fits else 1)
        assert fits or in_full[0].evidence.groups.size != in_full[0].best_evidence.groups.size  # of another kind


def test_what_contradicts_a_model_is_told_in_numbers() -> None:
    """Words that stay or alternate from one of two symbols on are 4, each with 1/4, and of random ones two are the same
    with 2⁻¹². 19 steps that change with 0.2 or with 0.8 have changes around 3.8 or 15.2 with a variance of 3.04, which
    is 3.04 + 5.7² = 35.5 around their mean; random ones have 19/4."""
    rng = np.random.default_rng(5)
    first, alternates = rng.integers(2, size=(2, 2000, 1))
    plain = rng.integers(2, size=(2000, 12))
    text = str(misfit(Ragged.even((first + alternates * np.arange(12)) % 2), Ragged.even(plain), "ab"))
    same, expected = map(float, re.findall(r"probability (\S+), and the model expects (\S+)", text)[0])
    assert same == pytest.approx(1 / 4, rel=0.05)
    assert expected == pytest.approx(2**-12, rel=0.3)
    changes = rng.random((2000, 20)) < np.where(rng.random((2000, 1)) < 0.5, 0.2, 0.8)
    moved, random = changes.cumsum(axis=1) % 2, rng.integers(2, size=(2000, 20))
    text = str(misfit(Ragged.even(moved), Ragged.even(random), "ab"))
    variance, expected = map(float, re.findall(r"variance (\S+), and the model expects (\S+)", text)[0])
    assert variance == pytest.approx(35.5, rel=0.05)
    assert expected == pytest.approx(19 / 4, rel=0.15)


VARIANTS, PROPORTIONS = ("abcab", "aacab", "bbbbb", "abccc"), (0.5, 0.2, 0.2, 0.1)


@pytest.mark.parametrize(
    "language",
    [
        dw.Words("abc"),
        dw.TransitionSystem({state: {"a": "A", "b": "B", "c": "C"} for state in ("s", "A", "B", "C")}, start="s"),
    ],
)
def test_a_word_that_a_chain_rules_out_is_found(language: Any) -> None:
    """The chain that fits best has hardly any step from a to a, which a fifth of the words begin with."""
    mechanism = dw.Exponential(language, 4.0)
    drawn = np.random.default_rng(5).choice(4, 2000, p=PROPORTIONS)
    releases = mechanism.seeded(5).release_all([VARIANTS[number] for number in drawn])
    chain, model = (dw.estimate.model(releases, mechanism, model=name) for name in ("chain", "two steps"))
    assert np.exp(chain.log_prob("aacab")) < 0.01
    assert model.log_likelihood > chain.log_likelihood + 1000
    for word, share in zip(VARIANTS, PROPORTIONS, strict=True):
        assert np.exp(model.log_prob(word)) == pytest.approx(share, abs=0.04)
    found = dw.estimate.variants(releases, mechanism)
    for word, share in zip(VARIANTS, PROPORTIONS, strict=True):
        assert found[tuple(word)].low <= share <= found[tuple(word)].high
