"""The questions that users ask: labels, shapes of input and output, patterns, decoding, and what is refused."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.symbols import Ragged
from dpwords.estimate.questions import detector_of
from dpwords.models.chains import hidden_runs
from populations import CELLS, FREE, LANGUAGES, ROUTES, RUNS, WORDS, channel, listed, prior, random_chances, refuse


def values(found: Any) -> dict[Any, float]:
    """The estimated proportions that are not 0."""
    return {label: each.value for label, each in found.items() if each.value > 1e-4}


@pytest.mark.parametrize("method", ["auto", "inverse", "em"])
def test_without_noise_the_answers_are_the_counts(method: Any) -> None:
    asked = {"method": method}
    assert values(dw.estimate.frequencies(WORDS, FREE, **asked)) == pytest.approx(
        {"a": 0.4, "b": 0.3, "c": 0.3}, abs=1e-3
    )
    pairs = {("a", "b"): 1 / 3, ("b", "c"): 1 / 3, ("c", "a"): 1 / 3}
    assert values(dw.estimate.dfg(WORDS, FREE, **asked)) == pytest.approx(pairs, abs=1e-3)
    assert values(dw.estimate.transitions(WORDS, FREE, **asked)) == pytest.approx(pairs, abs=1e-3)
    assert values(dw.estimate.starts(WORDS, FREE, **asked)) == pytest.approx({"a": 0.5, "c": 0.25, "b": 0.25}, abs=1e-3)
    ends = dw.estimate.ends(WORDS, FREE, **asked)
    assert values(ends) == pytest.approx({"a": 0.5, "b": 0.25, "c": 0.25}, abs=1e-3)
    assert ends.counted == pytest.approx({"a": 0.5, "b": 0.25, "c": 0.25})
    first, second, third, fourth = dw.estimate.frequencies(WORDS, FREE, per_place=True, **asked)
    assert values(first) == pytest.approx({"a": 0.5, "b": 0.25, "c": 0.25}, abs=1e-3)
    assert values(second) == pytest.approx({"b": 2 / 3, "a": 1 / 3}, abs=1e-3)
    assert values(third) == pytest.approx({"c": 1.0}, abs=1e-3)
    assert values(fourth) == pytest.approx({"a": 1.0}, abs=1e-3)
    assert third.counted == pytest.approx({"a": 0, "b": 0, "c": 1})


def test_answers_about_runs() -> None:
    visits = {(0, 1): 1 / 6, (0, 2): 1 / 6, (1, 2): 1 / 6, (1, 0): 1 / 3, (1, 1): 1 / 6}
    found = dw.estimate.visits(ROUTES, RUNS)
    assert (found[2, 0].value, found[2, 0].low) == (0.0, 0.0)  # could be visited, and never was
    assert values(found) == pytest.approx(visits, abs=1e-3)
    assert values(dw.estimate.frequencies(ROUTES, RUNS)) == pytest.approx(visits, abs=1e-3)
    assert (found.question, found.method, found.releases, found.confidence) == ("visits", "em", 40, 0.95)
    steps = {(a, b): 1 / 6 for route in ROUTES[:2] for a, b in pairwise([(0, 0), *route])}
    assert values(dw.estimate.transitions(ROUTES, RUNS)) == pytest.approx(steps, abs=1e-3)
    follows = {(a, b): 1 / 4 for route in ROUTES[:2] for a, b in pairwise(route)}
    assert values(dw.estimate.dfg(ROUTES, RUNS)) == pytest.approx(follows, abs=1e-3)
    assert values(dw.estimate.lengths(ROUTES, RUNS)) == {3: 1.0}
    moves = dw.Online(dw.GridWorld(3, 3), 200.0)
    released = ["EES", "SEW"] * 20
    assert values(dw.estimate.visits(released, moves)) == pytest.approx(visits, abs=1e-3)
    assert values(dw.estimate.transitions(released, moves)) == pytest.approx(steps, abs=1e-3)
    assert values(dw.estimate.frequencies(released, moves)) == pytest.approx(
        {"E": 1 / 2, "S": 1 / 3, "W": 1 / 6}, abs=1e-3
    )
    assert values(dw.estimate.dfg(released, moves)) == pytest.approx(
        {("E", "E"): 1 / 4, ("E", "S"): 1 / 4, ("S", "E"): 1 / 4, ("E", "W"): 1 / 4}, abs=1e-3
    )
    anywhere = dw.Online(dw.GridWorld(3, 3, start=None).by_states(), 200.0)
    route = [[(1, 1), (1, 2)]] * 30
    assert values(dw.estimate.transitions(route, anywhere)) == pytest.approx({((1, 1), (1, 2)): 1.0}, abs=1e-3)
    assert values(dw.estimate.visits(route, anywhere)) == pytest.approx({(1, 1): 0.5, (1, 2): 0.5}, abs=1e-3)


@pytest.mark.filterwarnings("ignore:the estimates are rough")  # four different words say little about a chain
@pytest.mark.parametrize("method", ["em", "inverse"])
def test_answers_from_the_edit_channel(method: Any) -> None:
    mechanism = dw.EditChannel("abc", 30.0)
    found = dw.estimate.frequencies(WORDS, mechanism, method=method)
    assert values(found) == pytest.approx({"a": 0.4, "b": 0.3, "c": 0.3}, abs=2e-2)
    pairs = {("a", "b"): 1 / 3, ("b", "c"): 1 / 3, ("c", "a"): 1 / 3}
    assert values(dw.estimate.dfg(WORDS, mechanism, method=method)) == pytest.approx(pairs, abs=2e-2)
    assert values(dw.estimate.starts(WORDS, mechanism, method=method)) == pytest.approx(
        {"a": 0.5, "c": 0.25, "b": 0.25}, abs=2e-2
    )
    assert values(dw.estimate.ends(WORDS, mechanism, method=method)) == pytest.approx(
        {"a": 0.5, "b": 0.25, "c": 0.25}, abs=2e-2
    )
    found = dw.estimate.lengths([*WORDS, ""], mechanism)
    assert values(found) == pytest.approx({0: 1 / 81, 1: 20 / 81, 2: 20 / 81, 3: 20 / 81, 4: 20 / 81}, abs=1e-3)
    chain = dw.estimate.model(WORDS, mechanism)
    assert chain.transitions[None]["a"] == pytest.approx(0.5, abs=2e-2)
    assert chain.transitions["c"][None] == pytest.approx(1 / 3, abs=2e-2)


@pytest.mark.parametrize(
    "column",
    [
        lambda words: words,
        tuple,
        lambda words: (word for word in words),
        pa.array,
        lambda words: pa.chunked_array([words[:3], words[3:]]),
        lambda words: pytest.importorskip("pandas").Series(words),
        lambda words: pytest.importorskip("polars").Series(words),
        lambda words: np.array(words, dtype=object),
        lambda words: [tuple(word) for word in words],
    ],
)
def test_releases_may_be_a_list_or_a_column(column: Any) -> None:
    expected = dw.estimate.frequencies(WORDS, FREE)
    assert dw.estimate.frequencies(column(WORDS), FREE) == expected


def test_codes_and_cells_from_tables() -> None:
    rows = np.array([[0, 1], [1, 2]] * 5)
    expected = dw.estimate.frequencies(["ab", "bc"] * 5, FREE)
    assert dw.estimate.frequencies(rows, FREE) == expected
    assert dw.estimate.frequencies(Ragged.even(rows), FREE) == expected
    as_lists = [[list(cell) for cell in route] for route in ROUTES]  # as JSON and Arrow have cells
    assert dw.estimate.visits(as_lists, RUNS) == dw.estimate.visits(ROUTES, RUNS)


def test_a_model_is_fitted_once() -> None:
    chain = dw.estimate.model(ROUTES, RUNS)
    lines: list[str] = []
    found = dw.estimate.visits(ROUTES, RUNS, model=chain, progress=lines.append)
    assert not lines
    assert found == dw.estimate.visits(ROUTES, RUNS, progress=lines.append)
    assert lines
    assert isinstance(chain, dw.estimate.Model)
    assert chain.transitions[0, 0] == pytest.approx({(0, 1): 0.5, (1, 0): 0.5}, abs=1e-3)
    assert pickle.loads(pickle.dumps(chain)).transitions == chain.transitions


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_model_gives_probabilities_and_synthetic_words(name: str) -> None:
    language, length = LANGUAGES[name]
    mechanism = dw.Online(language, 3.0)
    words, codes = listed(language, length)
    releases = mechanism.seeded(1).release_all([words[i] for i in range(0, len(words), 2)] * 5)
    chain = dw.estimate.model(releases, mechanism)
    assert isinstance(chain, dw.estimate.Model)
    chances = np.exp([chain.log_prob(word) for word in words])
    assert chances == pytest.approx(prior(chain.population, chain.chances, codes), rel=1e-9)
    drawn = chain.simulate(length, 4000, seed=1)
    assert all(map(language.accepts, drawn))
    proportions = np.array([drawn.count(word) for word in words]) / 4000
    assert np.abs(proportions - chances).max() < 0.04
    assert chain.log_prob((*words[0][:-1], "nothing")) == -np.inf
    assert drawn == chain.simulate(length, 4000, seed=1)


@pytest.mark.parametrize("name", ["free words", "words of states", "words of moves", "with a goal"])
def test_patterns_are_those_of_all_words(name: str) -> None:
    """The proportion of words with a pattern, given the releases: against sums over all words."""
    language, length = LANGUAGES[name]
    mechanism = dw.Online(language, 2.0)
    words, codes = listed(language, length)
    releases = mechanism.seeded(1).release_all(words[::2] * 3)
    chain = dw.estimate.model(releases, mechanism)
    joint = prior(chain.population, chain.chances, codes)[:, None] * channel(mechanism, words)
    posterior = joint / joint.sum(axis=0)
    number = {word: index for index, word in enumerate(words)}
    given = [number[tuple(word)] for word in releases]
    factor = words[3][1:3]
    rule = dw.rules.at_least(2, words[0][0])
    found = dw.estimate.patterns(releases, mechanism, [factor, rule], model=chain)
    has = [factor in pairwise(word) for word in words], [word.count(words[0][0]) >= 2 for word in words]
    for label, true in zip((factor, rule), has, strict=True):
        assert found[label].value == pytest.approx(float(np.mean(np.array(true) @ posterior[:, given])), abs=1e-5)
        assert found.counted[label] == pytest.approx(np.mean([true[i] for i in given]))
        assert found[label].low <= found[label].value <= found[label].high


def test_detectors_find_what_str_finds() -> None:
    language = dw.Words("ab")
    rng = np.random.default_rng(1)
    for pattern in ("a", "ab", "aa", "abab", "aabaa", "abaab"):
        detector = detector_of(pattern, language)
        for _ in range(100):
            word = "".join("ab"[bit] for bit in rng.integers(0, 2, 12))
            state = 0
            for symbol in word:
                state = detector.step[state, "ab".index(symbol)]
            assert bool(detector.accepting[state]) == (pattern in word)


@pytest.mark.filterwarnings("ignore:.*releases at this ε are too few to fit a prior")
@pytest.mark.parametrize("name", LANGUAGES)
@pytest.mark.parametrize("fitted", [False, True])
def test_decoding_finds_the_word_with_the_least_expected_distance(name: str, fitted: bool) -> None:
    language, length = LANGUAGES[name]
    mechanism = dw.Online(language, 1.0)
    words, codes = listed(language, length)
    some = words[:: max(len(words) // 12, 1)]
    chain = dw.estimate.model(some, mechanism) if fitted else None
    hidden = hidden_runs(mechanism.language)
    proportions = np.full(len(words), 1 / len(words))
    if isinstance(chain, dw.estimate.Model):
        proportions = prior(hidden, chain.chances, codes)
    joint = proportions[:, None] * channel(mechanism, words)
    posterior = joint / joint.sum(axis=0)
    apart = (codes[:, None, :] != codes[None]).sum(axis=2)
    found = dw.estimate.decode(some, mechanism, chain)
    expected = [apart @ posterior[:, words.index(word)] for word in some]  # for each decoded word
    for word, distances in zip(found, expected, strict=True):
        assert distances[words.index(word)] == pytest.approx(distances.min(), abs=1e-6)
    assert found.expected_distance == pytest.approx(np.mean([each.min() for each in expected]), abs=1e-6)
    own = [distances[words.index(word)] for word, distances in zip(some, expected, strict=True)]
    assert found.released_distance == pytest.approx(np.mean(own), abs=1e-6)


def test_a_prior_with_zeros_excludes_nothing() -> None:
    """The chain saw only one route, and its steps have probability 1; another release is decoded all the same."""
    mechanism = dw.Online(CELLS, 1.0)
    chain = dw.estimate.model([ROUTES[0]] * 50, RUNS)
    other = [(1, 0), (2, 0), (2, 1)]
    assert dw.estimate.decode([other] * 2, mechanism, chain)[0] == tuple(ROUTES[0])  # type: ignore[arg-type]
    sure = dw.Online(CELLS, 60.0)
    assert dw.estimate.decode([other], sure, chain)[0] == tuple(other)  # type: ignore[arg-type]


def upper_end(raw: float, error: float) -> float:
    """The largest proportion t with (raw − t)² − (raw − t₀)² ≤ 1.96² · error², where t₀ ≥ 0 is the likeliest one."""
    return float(raw + np.sqrt(min(raw, 0.0) ** 2 + (1.959964 * error) ** 2))


def test_reports() -> None:
    report = dw.Report(CELLS, 3.0, "visits")
    answers = report.seeded(1).release_all(ROUTES * 50)
    found = dw.estimate.visits(answers, report)
    p, q = report.share_if_true, report.share_if_not
    for item in report.items:
        named = np.mean([item in answer for answer in answers])
        likely = min(max(named, q), p)
        raw, error = (named - q) / (p - q), np.sqrt(likely * (1 - likely) / len(answers)) / (p - q)
        assert found[item].high == pytest.approx(max(upper_end(raw, error), found[item].value), abs=1e-6)
    assert sum(each.value for each in found.values()) == pytest.approx(1)
    assert found[1, 0].low < 1 / 3 < found[1, 0].high
    codes = np.array([sorted(report.items.index(item) for item in answer) for answer in answers])
    assert dw.estimate.visits(codes, report) == found
    as_lists = [[list(item) for item in answer] for answer in answers]
    assert dw.estimate.visits(pa.array(as_lists), report) == found
    for wrong, words in [
        ([*answers[:3], answers[0] | {(9, 9)}], "answer 4"),
        ([], "no answers"),
        ([{(0, 1)}], "answer 1"),
    ]:
        if report.size == 1 and words == "answer 1":
            continue
        with pytest.raises(dw.DPWordsError, match=words):
            dw.estimate.visits(wrong, report)
    with pytest.raises(dw.InvalidValue, match="asked about visits"):
        dw.estimate.transitions(answers, report)
    with pytest.raises(dw.InvalidValue, match="answered by releases of words"):
        dw.estimate.model(answers, report)
    refuse("at least two", lambda: dw.estimate.visits(answers[:1], report))
    refuse("by inversion", lambda: dw.estimate.visits(answers, report, method="em"))
    refuse("leave out per_place", lambda: dw.estimate.frequencies(answers, report, per_place=True))
    with pytest.raises(TypeError, match="palce"):
        dw.estimate.visits(answers, report, palce=1)  # type: ignore[call-arg]


@pytest.mark.filterwarnings("ignore:the estimates are rough")
def test_few_releases_that_happen_to_agree_do_not_make_intervals_short() -> None:
    """A symbol out of 3 is kept with p = e²/(e² + 2) at ε = 2, so n symbols leave an error of √(q(1 − q)/n)/(p − q)."""
    mechanism = dw.Exponential(dw.Words("abc"), 2.0)
    p, q = np.exp(2.0) / (np.exp(2.0) + 2), 1 / (np.exp(2.0) + 2)
    found = dw.estimate.frequencies(["ab"] * 20, mechanism)
    half = 1.959964 * np.sqrt(q * (1 - q) / 40) / (p - q)
    assert found["a"].high == pytest.approx((0.5 - q) / (p - q) + half, abs=1e-6)
    pairs = dw.estimate.dfg(["aaa"] * 200, mechanism, method="inverse")
    least = q * (1 - q) / (p - q) ** 2 / np.sqrt(400)
    assert pairs["b", "b"].high == pytest.approx((q / (p - q)) ** 2 + 1.959964 * least, abs=1e-6)
    few = dw.estimate.dfg(["aa"] * 20, mechanism, method="inverse")  # none of 20 pairs, and 2 of 4 others: 2 of 24
    assert few["b", "b"].high == pytest.approx((q / (p - q)) ** 2 + 1.959964 * np.sqrt(2 * 22 / 24**2 / 20), abs=1e-6)
    report = dw.Report(dw.Words("ab"), 1.0, "symbols")
    p, q = report.share_if_true, report.share_if_not
    answers = dw.estimate.frequencies([{"a"}] * 10, report)
    assert answers["b"].high == pytest.approx(upper_end(-q / (p - q), np.sqrt(p * q / 10) / (p - q)), abs=1e-6)


@pytest.mark.filterwarnings("ignore:the estimates are rough")
@pytest.mark.parametrize("mechanism", [dw.EditChannel("ab", 9.0), dw.Exponential(dw.Words("ab"), 9.0)])
def test_intervals_from_very_few_words_are_those_of_a_sample_at_least(mechanism: dw.Private) -> None:
    """With two words more on each side, a proportion of 1/2 of 3 words has the error √(1/4/3), and one of 0
    √(10/49/3)."""
    releases = ["ab", "ba", "aabb"]
    found = dw.estimate.frequencies(releases, mechanism)
    assert found["a"].high - found["a"].low > 2 * 1.959 * np.sqrt(1 / 12) - 0.14  # cut off at 1
    graph = dw.estimate.dfg(["abb"] * 3, mechanism)
    assert graph["b", "a"].high > 1.959 * np.sqrt(10 / 49 / 3)
    assert "3 releases are very few: intervals are rough" in found.notes
    assert not any("very few" in note for note in dw.estimate.starts(releases * 5, mechanism).notes)


def test_proportions_of_words_are_no_more_certain_than_in_a_sample() -> None:
    """All of 96 words start with a: with two words more on each side, the error is √(2/100·98/100/96) = 0.01429."""
    mechanism = dw.Exponential(dw.Words("ab"), 50.0)
    for found in (dw.estimate.starts(["ab"] * 96, mechanism), dw.estimate.ends(["ba"] * 96, mechanism)):
        assert found["b"] == pytest.approx((0, 0, 1.96 * 0.01429), rel=1e-3)
        assert found["a"].low == pytest.approx(1 - 1.96 * 0.01429, rel=1e-3)


def test_a_mechanism_for_each_length() -> None:
    """`best` may use another mechanism for each length: each release is seen through the one that made it."""
    best = dw.best(dw.GridWorld(9, 9), 2.3, length=None)
    assert best.chosen(10) != best.chosen(2)
    words = ["ES", "SE", "EESSWWNNES", "EEESSSNWES"] * 200
    releases = best.seeded(1).release_all(words)
    found = dw.estimate.frequencies(releases, best)
    assert found["E"].value == pytest.approx(9 / 24, abs=0.04)


def test_random_chances_are_chances() -> None:
    hidden = hidden_runs(RUNS.language)
    assert np.bincount(hidden.groups, random_chances(hidden)) == pytest.approx(1)


def test_chains_with_too_many_parameters_have_no_intervals() -> None:
    few = Limits(interval_parameters=1)
    for mechanism in (dw.Online(CELLS, 4.0, limits=few), dw.EditChannel("abcde", 6.0, limits=few)):
        words: list[Any] = ROUTES if mechanism.distance == "hamming" else WORDS
        found = dw.estimate.dfg(words, mechanism, method="em")
        assert all(np.isnan(each.low) and not np.isnan(each.value) for each in found.values())
        assert any("intervals are not computed" in note for note in found.notes)
    assert dw.estimate.dfg(WORDS, mechanism).method == "inverse"  # which has intervals


def test_models_are_shown_in_one_line() -> None:
    shown = repr(dw.estimate.model(WORDS, FREE))
    assert shown == "<Model: a Markov chain on <Words: 3 symbols>, fitted to 80 releases (em)>"
    shown = repr(dw.estimate.model(WORDS, dw.EditChannel("abc", 5.0)))
    assert shown == "<EditModel: a Markov chain on <Words: 3 symbols>, fitted to 80 releases (em)>"
    assert repr(dw.estimate.chain(dw.Words("ab"), {None: {"a": 1}, "a": {"a": 1}})) == (
        "<Chain: a Markov chain on <Words: 2 symbols>>"
    )


def test_what_the_language_excludes_is_not_told_as_estimated_as_zero() -> None:
    """Runs of the grid start with one of two cells, and of these three runs none starts with (1, 0)."""
    found = dw.estimate.starts([[(0, 1), (0, 2), (1, 2)]] * 30, RUNS)
    assert len(found) == 9
    assert [note.partition(",")[0] for note in found.notes] == ["1 of 2 proportions is estimated as 0"]
