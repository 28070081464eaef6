"""Audits by sampling: what is broken is accused, what is proven is not, and the bounds are exact."""

from __future__ import annotations

import itertools
import math
import os
import random
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpwords as dw
from dpwords.audit.events import Trait, most_telling
from dpwords.audit.intervals import largest_proportion, least_proportion, quick_bounds
from dpwords.audit.samplers import BATCHES, IN_A_ROW, NEAR, SEEDS
from dpwords.audit.statistical import reach_of
from gallery import BENCHMARKS, BROKEN, CLOCKS, OURS, aligned, letters

RUNS = int(os.environ.get("DPWORDS_AUDITS", "10"))  # `make audits` runs 200
DRAWS = 20_000


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_accused(name: str) -> None:
    case = BROKEN[name]()
    found = dw.audit.statistical(
        case.release, case.word, case.neighbour, DRAWS, claimed=case.claimed, distance=case.distance, seed=name
    )
    assert not found.holds
    assert found.claimed < found.epsilon <= case.loss / found.steps  # type: ignore[operator]
    assert found.repeats == ""
    assert "BROKEN" in str(found)


@pytest.mark.parametrize("name", CLOCKS)
def test_seeds_from_a_clock_that_stands_for_some_draws_are_accused(name: str) -> None:
    found = dw.audit.statistical(CLOCKS[name](), "abcd", "abca", 4000, claimed=1.0, seed=name)
    assert not found.holds
    assert "BROKEN" in str(found)
    if "batch" in name:
        assert found.repeats == (IN_A_ROW if "within" in name else BATCHES)
    if "alike" in name:
        assert found.repeats == SEEDS
    if found.repeats in (IN_A_ROW, BATCHES, SEEDS):
        assert (found.epsilon, found.loss) == (math.inf, math.inf)
        assert "whoever knows" in str(found)
    elif "slowly" in name:
        assert found.repeats == NEAR
        assert 1 < found.loss < math.inf


@pytest.mark.parametrize("run", range(RUNS))
def test_ours_are_not_accused(run: int) -> None:
    """Seeded, so that the verdict does not depend on luck."""
    name = list(OURS)[run % len(OURS)]
    mechanism, word, neighbour = OURS[name]()
    found = dw.audit.statistical(mechanism.seeded(f"audit {run}"), word, neighbour, DRAWS, seed=run)
    assert found.holds, name
    assert found.claimed == mechanism.epsilon
    assert found.epsilon > 0


def test_accusations_of_an_exact_claim_are_as_rare_as_is_said() -> None:
    """Randomised response loses exactly ln 3; at confidence 0.8 at most a fifth of the audits may be wrong."""
    wrong = 0
    for seed in range(200):
        coins = random.Random(seed)
        found = dw.audit.statistical(
            lambda word, draws, coins=coins: [
                word if coins.random() < 0.75 else "ab"[word == "a"] for _ in range(draws)
            ],
            "a",
            "b",
            200,
            0.8,
            claimed=math.log(3),
            seed=seed,
            batch=True,
        )
        wrong += not found.holds
    assert wrong <= stats.binom.isf(1e-6, 200, 0.2)
    assert wrong < 40


@pytest.mark.parametrize("draws", [1, 2, 13, 100, 5000, 10**6])
@pytest.mark.parametrize("error", [0.3, 0.05, 1e-4, 1e-9])
def test_the_bounds_are_those_of_clopper_and_pearson(draws: int, error: float) -> None:
    for hits in {0, 1, draws // 3, draws // 2, draws - 1, draws}:
        least = stats.beta.ppf(error, hits, draws - hits + 1) if hits else 0.0
        largest = stats.beta.isf(error, hits + 1, draws - hits) if hits < draws else 1.0
        assert least_proportion(hits, draws, error) == pytest.approx(least, rel=3e-6, abs=0)
        assert largest_proportion(hits, draws, error) == pytest.approx(largest, rel=3e-6)
        assert least_proportion(hits, draws, error) <= least * (1 + 1e-9)
        assert largest_proportion(hits, draws, error) >= largest * (1 - 1e-9)
        low, high = (float(bound[0]) for bound in quick_bounds(np.array([hits / draws]), draws, error))
        assert low <= least + 1e-9
        assert high >= largest - 1e-9


def test_no_hit_at_all_gives_a_finite_bound() -> None:
    """1,000 of 1,000 against none: both bounds by hand, each wrong with probability 0.001/4."""
    found = dw.audit.statistical(lambda word: word, "ab", "ba", 2000, claimed=4.0)
    expected = math.log(0.00025 ** (1 / 1000) / (1 - 0.00025 ** (1 / 1000)))
    assert found.loss == pytest.approx(expected, rel=1e-6) == found.reach
    assert found.reach == reach_of(2000, 0.999)
    assert found.epsilon == pytest.approx(expected / 2)
    assert found.holds  # 2.39 for each of two positions
    assert {found.of_word.hits, found.of_neighbour.hits} == {0, 1000}
    assert found.repeats == ""  # it is deterministic, and what is published shows that already


def test_the_alignments_of_the_gallery_are_those_of_openfst() -> None:
    pytest.importorskip("pynini")
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from bench_edits import aligned as by_openfst
    finally:
        sys.path.remove(str(BENCHMARKS))
    words = ["".join(each) for n in range(3) for each in itertools.product("ab", repeat=n)]
    table = np.array([[aligned(x, w, math.exp(-0.5)) for w in words] for x in words])
    listed = by_openfst(dw.Words("ab", max_length=2), [tuple(word) for word in words], 1.0)
    assert np.exp(listed) == pytest.approx(table / table.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("outputs", "event"),
    [
        ({"a": [1, 2], "b": [2, 3]}, "value"),
        ({"a": [None, "x"], "b": ["x", "y"]}, ""),
        ({"a": [(1, (2,)), [1]], "b": [[1], {3}]}, ""),
        ({"a": ["", "abcabc"], "b": ["abcabc"]}, ""),
        ({"a": [math.nan, 1.5], "b": [1.5]}, ""),
        ({"a": [np.array([1, 2]), {"k": 1}], "b": [{"k": 1}]}, ""),
        ({"a": [b"x", b"xyz"], "b": [b"x"]}, ""),
        ({"a": [np.int64(4), (), Decimal("1.5")], "b": [np.float32(2.0), np.str_("x"), (1,)]}, ""),
        ({"a": [10**400, 1], "b": [1, (10**400,)]}, ""),
    ],
)
def test_outputs_may_be_anything(outputs: dict[str, list[Any]], event: str) -> None:
    coins = random.Random(2)
    found = dw.audit.statistical(lambda word: coins.choice(outputs[word]), "a", "b", 2000, claimed=1.0)
    assert not found.holds  # an output of the one word is impossible for the other
    assert found.epsilon > 2
    assert event in found.event or not event


def test_symbols_that_are_no_strings_are_not_looked_for_in_strings() -> None:
    found = dw.audit.statistical(lambda word: f"{word[0]}-{word[1]}", [1, 2], [1, (3, 4)], 2000, claimed=1.0)
    assert not found.holds


def test_iterators_are_read() -> None:
    found = dw.audit.statistical(lambda word: (each for each in word), "ab", "aa", 2000, claimed=1.0)
    assert not found.holds


def test_objects_that_cannot_be_compared_are_refused() -> None:
    """They would all be different, so that nothing could be seen, whatever they contain."""

    class Box:
        def __init__(self, word: str) -> None:
            self.word = word

    with pytest.raises(dw.InvalidValue, match="outputs of type Box cannot be compared with each other: return strings"):
        dw.audit.statistical(Box, "ab", "aa", 2000, claimed=1.0)


def test_an_event_is_not_chosen_for_its_luck() -> None:
    """By the bounds of Clopper and Pearson, 490 and 180 hits of 5,000 show ln 1.82, and 30 and 1 only ln 1.35."""
    hits = {"often": (490, 180), "rarely": (30, 1)}
    drawn = [[each for each in hits for _ in range(hits[each][word])] for word in (0, 1)]
    drawn = [each + ["else"] * (5000 - len(each)) for each in drawn]
    event = most_telling([Trait("the output", lambda output: output, False)], drawn, drawn, 0.00025)
    assert event.contains("often")
    shown = {
        each: stats.beta.ppf(0.00025, one, 5001 - one) / stats.beta.isf(0.00025, other + 1, 5000 - other)
        for each, (one, other) in hits.items()
    }
    assert shown == pytest.approx({"often": 1.82, "rarely": 1.35}, abs=0.01)


def test_an_output_that_is_changed_later_is_counted_as_it_was() -> None:
    """A callable that returns the same list each time, and changes it."""
    shared: list[str] = [""]
    coins = random.Random(3)

    def release(word: str) -> list[str]:
        shared[0] = word if coins.random() < 0.75 else "ab"[word == "a"]
        return shared

    found = dw.audit.statistical(release, "a", "b", 4000, claimed=1.2)
    assert found.holds
    assert 0.8 < found.epsilon < math.log(3)


def test_a_callable_that_changes_its_word_gets_another_one_each_time() -> None:
    def release(word: list[str]) -> tuple[str, ...]:
        word[0] = random.choice("ab")
        return tuple(word)

    assert dw.audit.statistical(release, ["a", "b"], ["b", "b"], 1000, claimed=0.5).holds


def test_draws_that_depend_on_each_other_are_accused() -> None:
    """A batch that says everything twice, and one that proportions its state with all others."""
    twice = letters(1.0)
    found = dw.audit.statistical(
        lambda word, draws: [each for _ in range(draws) for each in [twice(word)] * 2][:draws], "abcd", "abca", 4000
    )
    assert found.repeats == IN_A_ROW
    assert found.holds is None
    kept: dict[str, list[str]] = {}
    once = letters(1.0)
    found = dw.audit.statistical(
        lambda word, draws: kept.setdefault(word, [once(word) for _ in range(draws)])[:draws], "abcd", "abca", 4000
    )
    assert found.repeats == BATCHES


def test_a_model_gives_the_most_telling_event() -> None:
    """Half of the words, chosen at random, are three times as likely for the one word as for the other."""
    words = ["".join(each) for each in itertools.product("ab", repeat=13)]
    coins = random.Random(4)
    favoured = set(coins.sample(words, len(words) // 2))

    class Favours:
        def log_prob(self, output: Any, given: Any) -> float:
            return math.log((0.75 if (output in favoured) == (given[0] == "a") else 0.25) / (len(words) // 2))

    def release(word: str) -> str:
        while True:
            drawn = coins.choice(words)
            if (drawn in favoured) == (word[0] == "a") or coins.random() < 1 / 3:
                return drawn

    one, other = "a" * 13, "b" + "a" * 12
    plain = dw.audit.statistical(release, one, other, 8000, claimed=0.5, seed=1)
    found = dw.audit.statistical(release, one, other, 8000, claimed=0.5, model=Favours(), seed=1)
    assert plain.epsilon < 0.5 < found.epsilon < math.log(3)
    assert "model" in found.event


def test_what_a_mechanism_states_is_taken_from_it() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 2.0, k=2)
    for release in (mechanism, mechanism.release, mechanism.simulate):
        found = dw.audit.statistical(release, "aaaa", "aabb", 400)
        assert (found.claimed, found.k, found.distance, found.steps) == (2.0, 2, 2, 1)
    assert dw.audit.statistical(mechanism, "aaaa", "abbb", 400, claimed=9.0, k=1).allowed == 27
    channel = dw.audit.statistical(dw.EditChannel("ab", 2.0).release, "ab", "abab", 400)
    assert (channel.distance, channel.allowed) == (2, 4)
    literal = dw.PaperLiteral(dw.Words("ab"), 0.5)
    assert dw.audit.statistical(literal.perturb, "aaaa", "aaab", 400).claimed == 0.5
    assert dw.audit.statistical(lambda word: word, "a", "b", 400, distance=lambda a, b: 0.5).steps == 0.5


def test_how_a_callable_is_called() -> None:
    class Callable:
        def __call__(self, word: str, draws: int) -> list[str]:
            return [word] * draws

    def with_default(word: str, draws: int = 1) -> str:
        return word * draws

    for release in (Callable(), with_default, str.lower, "".join, lambda *words: words[0]):
        assert dw.audit.statistical(release, "ab", "aa", 100).epsilon > 0
    with pytest.raises(dw.InvalidValue, match="must return a list"):
        dw.audit.statistical(with_default, "ab", "aa", 100, batch=True)


def test_what_is_refused() -> None:
    audit = dw.audit.statistical
    with pytest.raises(dw.InvalidValue, match="the two words are the same"):
        audit(str, "ab", ["a", "b"])
    with pytest.raises(dw.InvalidValue, match="words of different lengths are not compared"):
        audit(str, "ab", "abc")
    for draws in (0, 1, 3, 1.5, True):
        with pytest.raises(dw.InvalidValue, match="draws must be a whole number, 4 or more"):
            audit(str, "a", "b", draws=draws)  # type: ignore[arg-type]
    with pytest.raises(dw.TooLarge, match="at most 100000000 times"):
        audit(str, "a", "b", draws=10**9)
    for confidence in (0, 1, 1.0, math.nan, "0.9"):
        with pytest.raises(dw.InvalidValue, match="confidence is between 0 and 1"):
            audit(str, "a", "b", confidence=confidence)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="claimed must be a finite number"):
        audit(str, "a", "b", claimed=math.nan)
    with pytest.raises(dw.InvalidValue, match="distance is 'hamming', 'levenshtein', or a callable"):
        audit(str, "a", "b", distance="edit")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="distance of the two words must be a finite number above 0"):
        audit(str, "a", "b", distance=lambda one, other: 0)
    with pytest.raises(dw.InvalidValue, match="needs a callable or a mechanism"):
        audit("ab", "a", "b")
    with pytest.raises(dw.InvalidValue, match="wrap what needs more in a lambda"):
        audit(lambda word, draws, seed: word, "a", "b")
    with pytest.raises(dw.InvalidValue, match="batch of 25 draws came back with 1"):
        audit(lambda word, draws: [word], "a", "b", 400)
    with pytest.raises(dw.InvalidValue, match="must return a list"):
        audit(lambda word, draws: word, "a", "b", 400)
    with pytest.raises(dw.NotInLanguage):
        audit(dw.Exponential(dw.Words("ab"), 1.0), "xy", "xx")


def test_what_few_draws_cannot_show_is_said() -> None:
    found = dw.audit.statistical(lambda word: word, "a", "b", 4, claimed=1.0)
    assert (found.epsilon, found.loss, found.reach, found.holds) == (0.0, 0.0, 0.0, True)
    assert "which does not prove the claim" in str(found)
    assert "nothing was claimed" in str(dw.audit.statistical(lambda word: word, "a", "b", 4))


def test_too_little_memory_is_said() -> None:
    def release(word: str) -> str:
        raise MemoryError

    with pytest.raises(dw.TooLarge, match="not enough memory"):
        dw.audit.statistical(release, "a", "b", 100)


def test_words_of_different_kinds_are_not_compared() -> None:
    """A mechanism returns a str for a str and a list for a list, which says nothing about the symbols."""
    with pytest.raises(dw.InvalidValue, match="pass both words as the same kind"):
        dw.audit.statistical(dw.Exponential(dw.Words("ab"), 1.0), "aaa", ["a", "a", "b"], 100)


def test_a_model_without_probabilities_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="a model has a method log_prob"):
        dw.audit.statistical(lambda word: word, "a", "b", 100, model=3)  # type: ignore[arg-type]
