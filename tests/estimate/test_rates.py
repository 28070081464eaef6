"""Rates and variants: against what is known of the words, and how often their intervals cover."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

import dpwords as dw
from dpwords.estimate.variants import inverse_weights, released_distances
from populations import CELLS, refuse

STEPS = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.1, 0.6]])


def words_of_a_chain(number: int, seed: int, length: int = 6) -> np.ndarray:
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=(number, length))
    for position in range(1, length):
        uniform = rng.random((number, 1))
        codes[:, position] = (uniform > STEPS[codes[:, position - 1]].cumsum(axis=1)).sum(axis=1)
    return codes


@pytest.mark.parametrize("method", ["inverse", "em"])
def test_rates_are_rows_of_the_matrix_and_their_intervals_cover(method: str) -> None:
    mechanism, covered = dw.Exponential(dw.Words(range(3)), 3.0), []
    scaled = []
    for seed in range(30):
        releases = mechanism.seeded(seed).release_codes(words_of_a_chain(500, seed))
        found = dw.estimate.rates(releases, mechanism, method=method)  # type: ignore[arg-type]
        for a in range(3):
            assert sum(found[a, b].value for b in range(3)) == pytest.approx(1)
        labels = list(product(range(3), repeat=2))
        assert list(found) == labels
        covered += [found[a, b].low <= STEPS[a, b] <= found[a, b].high for a, b in labels]
        assert np.sqrt(np.diagonal(found.covariance)) == pytest.approx([found.errors[label] for label in labels])
        row = found.covariance[:3, :3]
        assert row.sum(axis=1) == pytest.approx(np.zeros(3), abs=1e-9)  # a row sums to 1, whatever it is
        scaled.append([found[label].value for label in labels])
    assert 0.9 < np.mean(covered) < 0.99
    spread = np.cov(np.array(scaled).T)
    assert np.trace(found.covariance) == pytest.approx(np.trace(spread), rel=0.35)
    between = [found.covariance[a, b] for a in range(9) for b in range(9) if a // 3 == b // 3 and a != b]
    assert max(between) < 0  # what one step of a row gains, the others lose


def test_rates_of_rare_states_are_no_more_certain_than_in_a_sample() -> None:
    """a occurs in 12 of 1,000 words, and c follows it in 7 of 10 cases. All of 2 true steps lead to one symbol: with
    two steps more on each side, the error is √(4/6·2/6/2) = 1/3."""
    mechanism, chance, covered = dw.Exponential(dw.Words("racdp"), 8.0), np.random.default_rng(3), []
    for seed in range(60):
        rare, there = chance.random((2, 300)) < [[0.012], [0.7]]
        words = [("racd" if c else "rapd") if a else "rcdp" for a, c in zip(rare, there, strict=True)]
        found = dw.estimate.rates(mechanism.seeded(seed).release_all(words), mechanism)
        covered += [found["a", "c"].low <= 0.7 <= found["a", "c"].high] if ("a", "c") in found else []
    assert len(covered) > 40
    assert np.mean(covered) > 0.85
    sure = dw.Exponential(dw.Words("ab"), 50.0)
    two = dw.estimate.rates(["ab", "ab"], sure)
    assert two["a", "b"].low == pytest.approx(1 - 1.959964 / 3, abs=1e-6)
    assert np.sqrt(np.diagonal(two.covariance)) == pytest.approx([1 / 3, 1 / 3])


def test_states_that_may_not_occur_have_no_rates() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 4.0)
    found = dw.estimate.rates(mechanism.seeded(1).release_all(["abab"] * 300), mechanism)
    assert {a for a, _ in found} == {"a", "b"}
    assert "a state may not occur at all, and is left out" in found.notes


def test_rates_on_a_system_and_through_edits() -> None:
    runs = [[(0, 1), (0, 2), (1, 2)], [(0, 1), (1, 1), (1, 2)], [(1, 0), (1, 1), (1, 2)]] * 200
    online = dw.Online(CELLS, 4.0)
    found = dw.estimate.rates(online.seeded(1).release_all(runs), online)
    assert found[(0, 0), (0, 1)].low < 2 / 3 < found[(0, 0), (0, 1)].high
    edits = dw.EditChannel("abc", 6.0)
    through = dw.estimate.rates(edits.seeded(1).release_all(["abab", "abac"] * 300), edits)
    assert through["a", "b"].low < 0.75 < through["a", "b"].high


def test_rates_of_too_many_symbols_are_refused_with_what_can_be_asked() -> None:
    """Their covariances would take 4,000,000² · 8 bytes, 128 TB."""
    mechanism = dw.Exponential(dw.Words([f"s{number}" for number in range(2000)]), 9.0)
    releases = mechanism.seeded(1).release_all([["s1", "s2", "s3"]] * 20)
    with pytest.raises(
        dw.TooLarge, match=r"rates of 2,000 symbols, whose up to 4,000,000 steps .* merge symbols, or ask"
    ):
        dw.estimate.rates(releases, mechanism)


def test_words_that_are_all_rare_are_said_not_to_be_found() -> None:
    mechanism = dw.Exponential(dw.Words([f"s{number}" for number in range(200)]), 7.0)
    rng = np.random.default_rng(1)
    words = [[f"s{symbol}" for symbol in row] for row in rng.integers(200, size=(300, 8))]
    releases = mechanism.seeded(1).release_all(words)
    with pytest.raises(dw.InvalidValue, match="no word is frequent enough to be told from noise: ask for pairs"):
        dw.estimate.variants(releases, mechanism)
    common = dw.estimate.variants(mechanism.seeded(1).release_all([words[0]] * 300), mechanism)
    assert max(common, key=lambda word: common[word].value) == tuple(words[0])


@pytest.mark.parametrize(("epsilon", "k"), [(1.5, 1), (3.0, 2), (5.0, 3)])
def test_weights_of_distances_invert_the_channel(epsilon: float, k: int) -> None:
    """The expectation over all releases of each word is 1 for the candidate, and 0 for every other word."""
    mechanism = dw.Exponential(dw.Words("abc"), epsilon, k=k)
    words = ["".join(each) for each in product("abc", repeat=4)]
    weights = inverse_weights(released_distances(mechanism, 4))
    counts = np.array([weights[sum(a != b for a, b in zip(word, "abca", strict=True))] for word in words])
    for word in ("abca", "abcb", "bbca", "cccc", "bcab"):
        law = mechanism.given(word)
        mean = sum(np.exp(law.log_prob(output)) * count for output, count in zip(words, counts, strict=True))
        assert mean == pytest.approx(float(word == "abca"), abs=1e-9)


VARIANTS = {"abcd": 0.5, "acbd": 0.3, "abbd": 0.15, "aabd": 0.05}


@pytest.mark.parametrize("k", [1, 2])
def test_variants_are_found_and_their_intervals_cover(k: int) -> None:
    mechanism, covered = dw.Exponential(dw.Words("abcd"), 3.0 * k, k=k), []
    for seed in range(15):
        rng = np.random.default_rng(seed)
        words = rng.choice(list(VARIANTS), 1000, p=list(VARIANTS.values())).tolist()
        found = dw.estimate.variants(mechanism.seeded(seed).release_all(words), mechanism, most=4)
        assert next(iter(found)) == tuple("abcd")
        assert found.method == "inverse"
        covered += [found[tuple(w)].low <= p <= found[tuple(w)].high for w, p in VARIANTS.items() if tuple(w) in found]
    assert len(covered) > 50
    assert 0.88 < np.mean(covered) <= 1


@pytest.mark.filterwarnings("ignore:the estimates are rough")
def test_rare_releases_near_a_word_count_for_its_error() -> None:
    """At k = 2 and ε = 4, of 800 people with one of four words about 1 in 60 has an unchanged release, whose weight is
    large: errors by what is seen alone covered about half of the proportions."""
    mechanism, covered, listed = dw.Exponential(dw.Words("abcd"), 4.0, k=2), [], 0
    true = {(symbol,) * 12: share for symbol, share in zip("abcd", (0.45, 0.3, 0.2, 0.05), strict=True)}
    for seed in range(12):
        words = np.random.default_rng(seed).choice(4, 800, p=list(true.values()))
        releases = mechanism.seeded(seed).release_all([list(true)[number] for number in words])
        found = dw.estimate.variants(releases, mechanism, most=6)
        listed += len(true.keys() & found.keys())
        covered += [each.low <= true.get(word, 0.0) <= each.high for word, each in found.items()]
    assert listed >= 40
    assert np.mean(covered) > 0.9


def test_words_of_which_nothing_can_be_told_are_left_out_or_refused() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 4.0, k=2)
    found = dw.estimate.variants(mechanism.seeded(1).release_all(["ab"] * 300 + ["ab" * 20] * 100), mechanism)
    assert max(map(len, found)) == 2
    assert 0.7 < sum(each.value for each in found.values()) < 0.7501
    assert any("words of 40 symbols and more are left out" in note for note in found.notes)
    weak = dw.Exponential(dw.Words("abcde"), 1.5, k=2)
    releases = weak.seeded(1).release_all(["abcdeabcdeab"] * 500)
    with pytest.warns(UserWarning, match="the estimates are rough"):
        dw.estimate.variants(releases, weak)
    refuse("no word is frequent enough", lambda: dw.estimate.variants(releases[:100], weak))
    long = mechanism.seeded(1).release_all(["ab" * 20] * 100)
    refuse("whole words of 40 symbols leave nothing that could be", lambda: dw.estimate.variants(long, mechanism))


def test_variants_on_a_system_are_a_mixture() -> None:
    routes = [((0, 1), (0, 2), (1, 2), (2, 2)), ((1, 0), (2, 0), (2, 1), (2, 2)), ((0, 1), (1, 1), (2, 1), (2, 2))]
    mechanism, covered = dw.Online(CELLS, 3.0), []
    for seed in range(100, 112):
        rng = np.random.default_rng(seed)
        chosen = rng.choice(3, 800, p=[0.6, 0.3, 0.1])
        releases = mechanism.seeded(seed).release_all([routes[number] for number in chosen])
        found = dw.estimate.variants(releases, mechanism, most=5)
        top = Counter({word: each.value for word, each in found.items()}).most_common(2)
        assert [word for word, _ in top] == routes[:2]
        covered += [
            found[w].low <= p <= found[w].high for w, p in zip(routes, (0.6, 0.3, 0.1), strict=True) if w in found
        ]
    assert np.mean(covered) > 0.85


def test_variants_that_cannot_be_estimated_are_refused() -> None:
    refuse("variants are not estimated", lambda: dw.estimate.variants(["ab"] * 9, dw.EditChannel("ab", 3.0)))
    refuse("most must be", lambda: dw.estimate.variants(["ab"] * 9, dw.Exponential(dw.Words("ab"), 3.0), most=0))
    refuse("pass at least two", lambda: dw.estimate.variants(["ab"], dw.Exponential(dw.Words("ab"), 3.0)))
    singular = dw.Exponential(dw.Words("abc"), 4.0, k=3)  # weights that cannot be inverted at this length
    refuse("whole words of 4 symbols", lambda: dw.estimate.variants(["abca"] * 9, singular))
    weak = dw.Exponential(dw.Words("abcd"), 0.5)
    releases = weak.seeded(1).release_all(["abcdabcd"] * 200)
    refuse("no word is frequent enough", lambda: dw.estimate.variants(releases, weak))


def test_one_long_word_does_not_change_the_method() -> None:
    """Words of 30 symbols cannot be inverted; the others can, as if it were not there."""
    mechanism = dw.Exponential(dw.Words("abc"), 3.0)
    words = ["abcab"] * 600 + ["aacab"] * 400
    short = dw.estimate.variants(mechanism.seeded(1).release_all(words), mechanism)
    found = dw.estimate.variants(mechanism.seeded(1).release_all([*words, "a" * 30]), mechanism)
    assert (short.method, found.method) == ("inverse", "inverse")
    for word, share in (("abcab", 0.6), ("aacab", 0.4)):
        assert found[tuple(word)].low <= share <= found[tuple(word)].high
        assert found[tuple(word)].value == pytest.approx(short[tuple(word)].value, abs=0.03)
    assert "words of 30 symbols and more are left out: only a model can tell about them" in found.notes


def test_the_largest_rates_are_those_that_surely_are() -> None:
    """The rates of a state that is hardly ever left are between 0 and 1."""
    mechanism = dw.Exponential(dw.Words("abc"), 3.0)
    found = dw.estimate.rates(mechanism.seeded(1).release_all(["ababab"] * 500 + ["ababac"]), mechanism)
    assert set(found.ordered()[:2]) == {("a", "b"), ("b", "a")}
    assert [found[label].low for label in found.ordered()] == sorted(
        (each.low for each in found.values()), reverse=True
    )
