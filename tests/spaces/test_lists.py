"""The exponential mechanism where words are listed or counted: lexicons, and finite languages under edits."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.privacy.certificates.lists import PairCounts
from dpwords.spaces.lists import ListedWords
from mechanisms.test_exponential import UTILITIES
from zoo import FINITE, random_lexicons


def distances(lexicon: dw.Lexicon) -> Any:
    """Between all words, by the definition."""
    words = [tuple(word) for word in lexicon]
    return np.array([[contract.edits(one, other) for other in words] for one in words], dtype=float)


def brute_excess(apart: Any, c: float) -> float:
    """The largest ln Z(x')/Z(x) per unit of distance, over all pairs of words."""
    logs = np.log(np.exp(-c * apart).sum(axis=1))
    pairs = apart > 0
    return float(((logs[:, None] - logs[None, :])[pairs] / apart[pairs]).max(initial=0.0))


def brute_rate(apart: Any, epsilon: float) -> float:
    """The largest c of a fine grid with c + excess ≤ ε."""
    return max(c for c in np.linspace(epsilon / 2, epsilon, 2001) if c + brute_excess(apart, c) <= epsilon * (1 + 1e-9))


@pytest.mark.parametrize(("utility", "formula"), UTILITIES)
@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 1), (4.0, 2)])
def test_textbook_equals_the_reference(name: str, utility: Any, formula: Any, epsilon: float, k: int) -> None:
    language, longest = FINITE[name]
    mechanism = dw.Exponential(language, epsilon, k, utility, "textbook", "levenshtein")
    assert mechanism.calibration == "textbook"
    contract.check_probabilities(mechanism, longest, formula(epsilon, k, 0.5))
    contract.check_promise(mechanism, longest)


@pytest.mark.parametrize("name", FINITE)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_default_is_linear_and_certified(name: str, epsilon: float) -> None:
    language, longest = FINITE[name]
    mechanism = dw.Exponential(language, epsilon, distance="levenshtein")
    assert (mechanism.calibration, mechanism.utility) == ("tight", dw.Linear())
    certificate = mechanism.certificate()
    assert epsilon / 2 <= certificate.c <= certificate.bound <= epsilon
    assert certificate.method == "listed"
    contract.check_probabilities(mechanism, longest, lambda d: math.exp(-certificate.c * d))
    contract.check_promise(mechanism, longest)
    contract.check_draws(mechanism, longest)
    if len(contract.words_of(mechanism, longest)) <= 16:
        contract.check_stored_law(mechanism, longest)


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
@pytest.mark.parametrize(
    "name", ["cities", "with the empty word", "other symbols", "bounded words", "dead ends, bounded"]
)
@pytest.mark.parametrize(("utility", "k"), [(dw.Linear(), 1), (dw.Inverse(0.1), 1), (dw.Staircase(1), 2)])
def test_thresholds_read_back_keep_the_promise(name: str, epsilon: float, utility: Any, k: int) -> None:
    language, longest = FINITE[name]
    contract.check_stored_law(dw.Exponential(language, epsilon, k, utility, distance="levenshtein"), longest)


@given(random_lexicons(), st.floats(0.05, 12), st.integers(1, 3))
@settings(max_examples=100)
def test_random_lexicons_keep_the_promise_with_a_certified_rate(
    case: tuple[dw.Lexicon, int], epsilon: float, k: int
) -> None:
    lexicon, longest = case
    mechanism = dw.Exponential(lexicon, epsilon, k, distance="levenshtein")
    rate = mechanism.certificate().c
    contract.check_probabilities(mechanism, longest, lambda d: math.exp(-rate * d))
    contract.check_promise(mechanism, max(longest, 1))
    contract.check_draws(mechanism, longest, draws=200)
    for length in lexicon.lengths:
        if length >= k:
            same_length = dw.Exponential(lexicon, epsilon, k)
            rate = same_length.certificate(length).c
            contract.check_probabilities(same_length, length, lambda d, rate=rate: math.exp(-rate * d))
            contract.check_promise(same_length, length)


@given(random_lexicons(), st.floats(0.1, 7), st.sampled_from([0, 1, 5, 20, 10**6]), st.sampled_from([0, 10, 10**6]))
@settings(max_examples=200)
def test_the_excess_is_exact_or_an_upper_bound(
    case: tuple[dw.Lexicon, int], c: float, kept: int, compared: int
) -> None:
    """However few pairs are kept, and compared when they can matter."""
    limits = Limits(stored_pairs=kept, compared_pairs=compared, distances=20)
    truth = brute_excess(distances(case[0]), c)
    found = PairCounts(ListedWords(case[0], "levenshtein", limits).listing(case[1])).excess(c)
    assert found >= truth
    if 10**6 in (kept, compared):
        assert found == pytest.approx(truth, abs=2e-9)


def test_counts_come_from_many_blocks() -> None:
    lexicon = dw.Lexicon(f"{i * i}" for i in range(60))
    whole = PairCounts(ListedWords(lexicon, "levenshtein").listing(4))
    assert whole.counts.tolist() == [np.bincount(row.astype(int), minlength=5).tolist() for row in distances(lexicon)]
    proportions: list[float] = []
    parts = PairCounts(ListedWords(lexicon, "levenshtein", Limits(distances=200)).listing(4), proportions.append)
    assert (parts.counts == whole.counts).all()
    assert parts.excess(1.3) == whole.excess(1.3)
    assert len(proportions) > 5
    assert proportions == sorted(proportions)
    assert proportions[-1] == 1.0


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize("name", ["cities", "with the empty word", "far apart"])
def test_rates_are_the_best_ones(name: str, epsilon: float) -> None:
    lexicon = FINITE[name][0]
    assert isinstance(lexicon, dw.Lexicon)
    found = dw.Exponential(lexicon, epsilon, distance="levenshtein").certificate().c
    assert found == pytest.approx(brute_rate(distances(lexicon), epsilon), abs=1e-3 * epsilon)


def test_how_often_the_word_itself_comes_out() -> None:
    at = dw.Exponential(dw.Lexicon(["bern", "bonn", "born", "ulm"]), 3.0, distance="levenshtein").given("bern")
    assert at.distance_distribution()[0] == pytest.approx(math.exp(at.log_prob("bern")))
    assert at.log_prob("berne") == -math.inf


def test_words_of_more_than_255_symbols() -> None:
    lexicon = dw.Lexicon(["a" * 300, "b" * 300, "a" * 299, "ab"])
    at = dw.Exponential(lexicon, 0.01, calibration="textbook", distance="levenshtein").given("a" * 300)
    weights = [math.exp(-0.005 * d) for d in (0, 1, 299, 300)]
    found = at.distance_distribution()
    assert [found[d] for d in (0, 1, 299, 300)] == pytest.approx([w / sum(weights) for w in weights])
    assert dw.Exponential(lexicon, 1.0).given("a" * 300).distance_distribution()[300] > 0


def test_k_beyond_the_longest_word() -> None:
    lexicon, longest = FINITE["with the empty word"]
    for utility in (None, dw.Inverse(0.5), dw.Staircase(2)):
        mechanism = dw.Exponential(lexicon, 1.0, 7, utility, distance="levenshtein")
        contract.check_promise(mechanism, longest)
        contract.check_stored_law(mechanism, longest)


# --- certificates ----------------------------------------------------------------------------------------------


SQUARES = dw.Lexicon(f"{i * i:04}" for i in range(40))
FEW = Limits(automatic_words=30)  # for which certificates of that list have to be asked for


def method(mechanism: dw.Exponential) -> str:
    guarantee = mechanism.guarantee
    assert isinstance(guarantee, dw.PureDP)
    return guarantee.method


@pytest.mark.parametrize(("distance", "length"), [("levenshtein", None), ("hamming", 4)])
def test_large_lists_are_textbook_until_a_certificate_is_asked_for(distance: Any, length: int | None) -> None:
    mechanism = dw.Exponential(SQUARES, 2.0, distance=distance, limits=FEW)
    assert (mechanism.calibration, method(mechanism)) == ("textbook", "textbook")
    contract.check_probabilities(mechanism, 4, lambda d: math.exp(-1.0 * d))
    assert mechanism.certificate.certified(4).certificate.method == "textbook"
    assert "textbook" in repr(mechanism)
    proportions: list[float] = []
    rate = mechanism.certificate(length, progress=proportions.append).c
    assert proportions[-1] == 1.0
    assert rate > 1.01
    assert (mechanism.calibration, method(mechanism)) == ("tight", "tight")
    contract.check_probabilities(mechanism, 4, lambda d: math.exp(-rate * d))
    contract.check_promise(mechanism, 4)
    asked = dw.Exponential(SQUARES, 2.0, calibration="textbook", distance=distance, limits=FEW)
    assert asked.certificate(length).method == "textbook"
    assert (asked.calibration, method(asked)) == ("textbook", "textbook")


def test_by_length_all_certificates_are_needed() -> None:
    lexicon = dw.Lexicon(["a", "b", "aa", "ab", "bb", "aaa", "aab", "bbb"])
    mechanism = dw.Exponential(lexicon, 2.0, limits=Limits(automatic_words=2))
    assert method(mechanism) == "textbook"
    mechanism.certificate(2)
    assert method(mechanism) == "textbook"
    mechanism.certificate(3)
    assert method(mechanism) == "tight"  # words of one symbol are few


@pytest.mark.parametrize(("distance", "length"), [("levenshtein", None), ("hamming", 4)])
def test_save_and_load(distance: Any, length: int | None, tmp_path: Path) -> None:
    path = tmp_path / "certificate.json"
    made = dw.Exponential(SQUARES, 2.0, distance=distance, limits=FEW)
    certificate = made.certificate(length)
    assert certificate.method == "listed"
    made.certificate.save(path)
    loaded = dw.Exponential(SQUARES, 2.0, distance=distance, limits=FEW)
    loaded.certificate.load(path)
    assert method(loaded) == "tight"
    assert loaded.log_prob("0016", given="0016") == made.log_prob("0016", given="0016")
    other = "hamming" if distance == "levenshtein" else "levenshtein"
    for different in (
        dw.Exponential(SQUARES, 2.5, distance=distance, limits=FEW),
        dw.Exponential(SQUARES, 2.0, distance=other, limits=FEW),
        dw.Exponential(dw.Lexicon([*SQUARES, "0002"]), 2.0, distance=distance, limits=FEW),
    ):
        with pytest.raises(dw.InvalidValue, match="another system or another ε"):
            different.certificate.load(path)
        assert method(different) == "textbook"


@pytest.mark.parametrize("automatic", [0, 10**6])
def test_a_certificate_that_claims_too_much_is_refused(automatic: int, tmp_path: Path) -> None:
    """Whether certificates of the list are made automatically or not, all pairs are compared again."""
    path = tmp_path / "certificate.json"
    limits = Limits(automatic_words=automatic)
    made = dw.Exponential(SQUARES, 2.0, distance="levenshtein", limits=limits)
    made.certificate()
    made.certificate.save(path)
    document = json.loads(path.read_text("utf-8"))
    for changes in ({"c": 1.95, "bound": 1.96}, {"c": 0.5, "bound": 0.6}, {"method": "blocks"}):
        changed = {"certificates": [document["certificates"][0] | changes]}
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(dw.InvalidValue, match="does not hold"):
            dw.Exponential(SQUARES, 2.0, distance="levenshtein", limits=limits).certificate.load(path)


def test_which_certificate() -> None:
    with pytest.raises(dw.InvalidValue, match=r"ask for certificate\(\)"):
        dw.Exponential(SQUARES, 2.0, distance="levenshtein", limits=FEW).certificate(4)
    for length in (0, True, "4"):
        with pytest.raises(dw.InvalidValue, match="length must be a whole number, 1 or more"):
            dw.Exponential(SQUARES, 2.0, limits=FEW).certificate(length)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="each length has its own certificate"):
        dw.Exponential(SQUARES, 2.0, limits=FEW).certificate()
    with pytest.raises(dw.InvalidValue, match="no word of length 3"):
        dw.Exponential(SQUARES, 2.0, limits=FEW).certificate(3)
    with pytest.raises(dw.InvalidValue, match=r"utility Linear\(\)"):
        _ = dw.Exponential(SQUARES, 2.0, utility=dw.Inverse(), distance="levenshtein", limits=FEW).certificate
    assert "0 of 1 classes" in repr(dw.Exponential(SQUARES, 2.0, limits=FEW).certificate)


def test_what_would_not_fit_is_refused_before_it_is_counted() -> None:
    lexicon = dw.Lexicon(["a" * 60, "b" * 60])
    mechanism = dw.Exponential(lexicon, 2.0, distance="levenshtein", limits=Limits(pair_counts=100))
    with pytest.raises(dw.TooLarge, match="leave out long words"):
        mechanism.release("a" * 60)
    assert dw.Exponential(mechanism.language, 2.0, calibration="textbook", distance="levenshtein").release("a" * 60)


def test_public_average_over_the_words_of_a_length() -> None:
    lexicon = dw.Lexicon(f"{i:04}" for i in range(0, 10_000, 17))
    mechanism = dw.Exponential(lexicon, 4.0, calibration="textbook", distance="levenshtein")
    estimate = mechanism.expected_distance(length=4)
    assert estimate == dw.Exponential(lexicon, 4.0, calibration="textbook", distance="levenshtein").expected_distance(
        length=4
    )
    truth = sum(mechanism.expected_distance(word) for word in lexicon) / len(lexicon)
    assert estimate == pytest.approx(truth, rel=0.02)
    for distance in ("hamming", "levenshtein"):
        with pytest.raises(dw.InvalidValue, match="no word of length 5"):
            dw.Exponential(lexicon, 4.0, distance=distance).expected_distance(length=5)


def test_epsilon_below_the_rounding_slack_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="rounding"):
        dw.Exponential(FINITE["cities"][0], 1e-15, distance="levenshtein").release("bern")
