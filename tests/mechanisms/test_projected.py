"""Mechanisms whose draws are projected onto a language."""

from __future__ import annotations

import math
import pickle
import re
import threading
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.randomness import SystemSource
from dpwords.mechanisms.by_length import ByLength
from dpwords.mechanisms.choice import NAMED, best_by_length, contenders, mechanism, offers
from dpwords.mechanisms.projected import Projected
from dpwords.spaces import exhaustive

FREE, CELLS = dw.Words("abc"), dw.GridWorld(3, 3).by_states()
RULE, DEPOT = FREE & dw.rules.contains("a"), CELLS & dw.rules.contains((1, 1))
STREETS = Path(__file__).parents[2] / "examples" / "streets.txt"


def law_by_hand(inner: Any, onto: Any, word: Any) -> dict[Any, Fraction]:
    """Each draw shares its probability among the nearest words: by the definition, in fractions."""
    length, law = len(word), inner.given(word).law
    words = exhaustive.words(onto, length)
    found: Counter[Any] = Counter()
    for drawn in exhaustive.words(inner.language, length):
        apart = [sum(a != b for a, b in zip(drawn, other, strict=True)) for other in words]
        nearest = [other for other, distance in zip(words, apart, strict=True) if distance == min(apart)]
        for other in nearest:
            found[other] += law.exact(contract.codes_of(inner.language, drawn)) / len(nearest)  # type: ignore[assignment]
    return dict(found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("inner", "onto", "length"),
    [
        (dw.Exponential(FREE, 1.5), RULE, 3),
        (dw.Exponential(dw.Words("abcd"), 2.0, k=2), dw.Pattern("(ca|b)*"), 4),
        (dw.Exponential(CELLS, 2.0), DEPOT, 4),
        (dw.Online(dw.GridWorld(2, 3), 1.0), dw.GridWorld(2, 3, goal=(1, 2)), 3),
        (dw.Exponential(FREE, 1.0), dw.Lexicon(["abc", "bbb", "cb"]), 3),
        (dw.Exponential(FREE, 1.0), dw.Words("ca"), 3),
    ],
)
def test_the_law_is_that_of_the_definition(inner: Any, onto: Any, length: int) -> None:
    projected = inner.onto(onto)
    for word in exhaustive.words(inner.language, length)[::3]:
        expected, given = law_by_hand(inner, onto, word), projected.given(word)
        assert sum(expected.values()) == 1
        for other in exhaustive.words(onto, length):
            assert math.exp(given.log_prob(other)) == pytest.approx(float(expected.get(other, 0)), rel=1e-12)
            codes = np.array([inner.language.alphabet.codes[symbol] for symbol in other])
            assert given.law.exact(codes) == expected.get(other, 0)
        distances = Counter[int]()
        for other, probability in expected.items():
            distances[sum(a != b for a, b in zip(word, other, strict=True))] += float(probability)  # type: ignore[assignment]
        assert given.distance_distribution() == pytest.approx([distances[d] for d in range(length + 1)], abs=1e-12)
        assert given.expected_distance() == pytest.approx(sum(d * p for d, p in distances.items()), rel=1e-12)


def test_draws_follow_the_law() -> None:
    projected = dw.Exponential(FREE, 1.0).onto(RULE).seeded(3)
    expected = law_by_hand(projected.without_projection(), RULE, tuple("bca"))
    drawn = Counter(map(tuple, projected.release_all(["bca"] * 20_000)))
    assert drawn.keys() == expected.keys()
    counts = [drawn[word] for word in expected]
    assert stats.chisquare(counts, [20_000 * float(p) for p in expected.values()]).pvalue > 1e-6


def test_the_promise_is_that_of_the_mechanism() -> None:
    for inner in (dw.Exponential(FREE, 1.5, k=2), dw.Online(CELLS, 2.0), best_by_length(CELLS, 2.0)):
        onto = RULE if inner.language is FREE else DEPOT
        projected = inner.onto(onto)
        assert isinstance(inner.guarantee, dw.PureDP)
        assert projected.guarantee == replace(inner.guarantee, proof=18)
        assert (projected.epsilon, projected.k, projected.distance) == (inner.epsilon, inner.k, inner.distance)
        assert projected.without_projection() is inner
        assert projected.projected_onto is onto
        assert isinstance(projected.seeded(1).guarantee, dw.NotPrivate)
        assert isinstance(inner.seeded(1).onto(onto).guarantee, dw.NotPrivate)
        assert dw.audit.exact(projected, 4).holds


def test_what_cannot_be_projected_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="a report is no word"):
        dw.Report(FREE, 1.0, "symbols").onto(RULE)
    with pytest.raises(dw.InvalidValue, match="has symbols that words of the mechanism do not have"):
        dw.Exponential(FREE, 1.0).onto(dw.Words("abx"))
    with pytest.raises(dw.InvalidValue, match="has symbols that words of the mechanism do not have"):
        dw.Exponential(FREE, 1.0).onto(dw.Words("ab"), words=dw.Words("x"))
    with pytest.raises(dw.InvalidValue, match="onto is a Words"):
        dw.Exponential(FREE, 1.0).onto("ab")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="has no alphabet yet"):
        dw.Exponential(FREE, 1.0).onto(dw.rules.contains("a"))
    with pytest.raises(dw.InvalidValue, match="what is projected is a mechanism"):
        Projected(dw.PaperLiteral(FREE, 1.0), RULE)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="leaves no word of"):
        dw.Exponential(dw.GridWorld(3, 3), 1.0).onto(dw.GridWorld(3, 3, goal=(2, 2)) & dw.rules.never((2, 2)))


def test_a_length_without_words_is_refused_before_anything_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    world = dw.GridWorld(3, 3)
    projected = dw.Online(world, 2.0).onto(dw.GridWorld(3, 3, goal=(2, 2)))
    monkeypatch.setattr(SystemSource, "open", lambda *_: pytest.fail("something was drawn"))
    for use in (projected.release, projected.given, lambda word: projected.release_all([word])):
        with pytest.raises(dw.InvalidValue, match=r"projected onto has no word of length 3: choose another length$"):
            use("ESE")
    with pytest.raises(dw.InvalidValue, match="no word of length 3"):
        projected.expected_distance(length=3)
    with pytest.raises(dw.InvalidValue, match="word 2: the language that words are projected onto has no word of"):
        projected.release_all(["ESES", "ESE"])


def test_only_words_of_both_languages_go_in() -> None:
    """`words` says what may go in, but nothing that the mechanism does not take."""
    projected = dw.Exponential(RULE, 3.0).onto(FREE, words=FREE)
    assert len(projected.release("bab")) == 3
    with pytest.raises(dw.NotInLanguage, match="of the mechanism that is projected"):
        projected.release("bbb")
    with pytest.raises(dw.NotInLanguage, match="the word is not in the language"):
        dw.Exponential(FREE, 3.0).onto(RULE, words=RULE).release("bbb")


def test_other_orders_of_symbols_do_not_matter() -> None:
    """The same symbols in another order, in what goes in, in what is drawn and in what comes out."""
    projected = dw.Exponential(dw.Words("cab"), 60.0).onto(dw.Words("bca"), words=dw.Words("abc"))
    assert projected.release("abcabc") == "abcabc"
    codes = np.array([[0, 1, 2]], dtype=np.uint8)
    released = projected.release_codes(codes)
    assert released.tolist() == codes.tolist()
    assert released.dtype == np.uint8


def test_keyed_draws_are_the_same_in_threads_and_pickles() -> None:
    projected, key = best_by_length(CELLS, 1.0).onto(DEPOT, words=DEPOT), bytes(range(32))
    words = exhaustive.words(DEPOT, 4) * 5
    expected = projected.release_all(words, key=key)
    copy = pickle.loads(pickle.dumps(projected))
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(copy.release_all(words, key=key))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 3
    assert all(DEPOT.accepts(word) for word in expected)
    assert copy.in_force(4) == projected.in_force(4)
    assert projected.parameters(4) == copy.parameters(4)
    others = [best_by_length(CELLS, 1.0).onto(CELLS & dw.rules.contains((0, 1)), words=DEPOT), projected.mechanism]
    assert all(other.parameters(4) != projected.parameters(4) for other in others)


def test_averages_are_simulated_on_large_languages_always_alike() -> None:
    world = dw.GridWorld(5, 5)
    rule = world & dw.rules.contains((3, 3))
    one, other = (dw.Online(world, 2.0).onto(rule) for _ in range(2))
    mean, error = one.expected_distance(length=12), one.standard_error(12)
    assert error is not None
    assert 0 < error < 0.2
    assert (mean, error) == (other.expected_distance(length=12), other.standard_error(12))
    assert math.fsum(one.distance_distribution(length=12)) == pytest.approx(1)
    words = [rule.alphabet.symbols[0]] and exhaustive.words(rule, 6, limit=10**5)
    exact = [one.given(word).simulate(200) for word in words[::29]]
    measured = [
        sum(a != b for a, b in zip(w, r, strict=True)) for w, rs in zip(words[::29], exact, strict=True) for r in rs
    ]
    assert one.expected_distance(length=6) == pytest.approx(np.mean(measured), abs=0.3)
    assert dw.Exponential(FREE, 1.0).onto(RULE).standard_error(3) is None
    assert dw.Online(world, 2.0).standard_error(12) is None


def test_the_exact_average_and_the_simulated_one_agree() -> None:
    inner = dw.Exponential(FREE, 1.0)
    exact = inner.onto(RULE)
    simulated = dw.Exponential(FREE, 1.0, limits=Limits(averaged_ties=0)).onto(RULE)
    error = simulated.standard_error(4)
    assert error is not None
    assert abs(exact.expected_distance(length=4) - simulated.expected_distance(length=4)) < 5 * error
    assert exact.standard_error(4) is None


def test_many_draws_onto_few_words_are_simulated() -> None:
    """6,561 draws and a single word: their product is small, but probabilities are not computed over so many."""
    projected = dw.Exponential(FREE, 1.0).onto(dw.Lexicon(["abcabcab"]))
    assert projected.standard_error(8) == 0.0
    assert projected.expected_distance(length=8) == 0.0
    assert projected.summary(8).unchanged == 1.0


def test_projections_of_projections_and_by_edits() -> None:
    twice = dw.EditChannel("abc", 4.0).onto(dw.Words("ab")).onto(dw.Pattern("(ab)*"))
    assert isinstance(twice.without_projection(), dw.EditChannel)
    assert set(twice.release("abcab")) <= set("ab")
    assert dw.attack.guess(twice, length=4).whole <= 1
    listed = dw.Exponential(dw.Lexicon(["ab", "bab", "bb", "b"]), 2.0, distance="levenshtein")
    projected = listed.onto(dw.Lexicon(["ab", "bb"]))
    assert set(projected.release_all(["b"] * 200)) == {"ab", "bb"}
    assert projected.expected_distance(length=2) > 0


def test_on_large_languages_probabilities_are_refused() -> None:
    projected = dw.Exponential(FREE, 2.0).onto(RULE)
    word = "ab" * 30
    with pytest.raises(dw.InvalidValue, match=r"call without_projection\(\)"):
        projected.log_prob(word, given=word)
    with pytest.raises(dw.InvalidValue, match="measure it on words from simulate"):
        projected.expected_distance(word)
    assert len(projected.simulate(word, 3)) == 3


@pytest.mark.parametrize(
    ("rules", "most"),
    [([(2, 4)], {3: 0.93, 4: 0.33}), ([(2, 4), (5, 1)], {3: 0.54, 4: 0.19})],
)
def test_rules_that_remember_on_a_grid(rules: list[Any], most: dict[float, float]) -> None:
    """Words of states on a 6 × 6 grid, 14 steps. The figures of another program, with their simulation errors."""
    language: Any = dw.GridWorld(6, 6).by_states()
    for cell in rules:
        language = language & dw.rules.contains(cell)
    for epsilon, figure in most.items():
        best = best_by_length(language, epsilon)
        assert isinstance(best, ByLength)
        assert best.chosen(14) == "projected"
        assert best.expected_distance(length=14) <= figure
        assert best.expected_distance(length=14) < min(best.compared(14)[name] for name in ("tight", "online"))


def test_the_best_is_never_worse_than_what_it_offers() -> None:
    streets = dw.from_map(STREETS)
    for language, epsilon, k, length in [
        (streets, 2.0, 2, 20),
        (streets, 3.0, 2, 20),
        (DEPOT, 1.0, 2, 4),
        (RULE, 2.0, 1, 6),
    ]:
        best = best_by_length(language, epsilon, k)
        single = [offer(epsilon).expected_distance(length=length) for offer in contenders(language, k).values()]
        assert best.expected_distance(length=length) == pytest.approx(min(single), rel=1e-9)


def test_where_it_is_offered() -> None:
    world = dw.GridWorld(3, 3)
    for language in (RULE, DEPOT, dw.GridWorld(3, 3, goal=(2, 2)), dw.Pattern("(ab)*"), world & dw.rules.contains("E")):
        assert "projected" in offers(language, 1)
        made = NAMED["projected"].make(language, 2.0, 1, Limits())
        assert made.language is language
        assert made.without_projection().language is dw.rules.relaxed(language)
    for language in (FREE, world, CELLS, dw.Lexicon(["ab", "ba"]), dw.Words("ab", max_length=4)):
        assert "projected" not in offers(language, 1)
        assert dw.rules.relaxed(language) is language
        with pytest.raises(dw.InvalidValue, match="has none"):
            mechanism(language, 2.0, name="projected")


def test_the_summary_says_what_is_done() -> None:
    text = str(NAMED["projected"].make(DEPOT, 2.0, 1, Limits()).summary(4))
    assert "released on the system without its rules and goals, then the nearest word that obeys them" in text
    large = dw.GridWorld(5, 5) & dw.rules.contains((3, 3))
    assert " ± 0.0" in (text := str(dw.Online(dw.GridWorld(5, 5), 4.0).onto(large).summary(12)))
    assert "positions are changed (simulated), on average" in text
    assert "then the nearest word of the language" in text
    assert "moves a draw" not in text


def test_a_projection_that_moves_far_is_warned_of() -> None:
    only = dw.Pattern("a*|b*")
    (warning,) = [each for each in dw.Exponential(FREE, 0.5).onto(only).summary(12).warnings if "projection" in each]
    assert warning.startswith("the projection alone moves a word that may go in, or a draw, by ")


def test_certificates_and_notes_are_those_of_the_mechanism() -> None:
    world = dw.GridWorld(3, 4, walls={(0, 2)}).by_states()
    inner = best_by_length(world, 3.0)
    projected, steps = inner.onto(world & dw.rules.contains((1, 1))), []
    assert projected.certificates is inner.certificates
    assert projected.seconds_to_prepare(8) == inner.seconds_to_prepare(8)
    projected.prepare(4, lambda text, proportion: steps.append(text))
    assert any("certifying words of length" in text or "choosing a mechanism" in text for text in steps), steps
    assert projected.notes([4]) == [f"before the projection, {note}" for note in inner.notes([4])]


def test_estimates_are_refused_and_small_languages_attacked() -> None:
    projected = mechanism(DEPOT, 3.0, name="projected")
    releases = projected.release_all(exhaustive.words(DEPOT, 4) * 5)
    with pytest.raises(dw.InvalidValue, match=r"release with Online .* without a projection"):
        dw.estimate.frequencies(releases, projected)
    guessed = dw.attack.guess(projected, length=4)
    words = exhaustive.words(DEPOT, 4)
    matrix = np.array([[math.exp(projected.log_prob(out, given=word)) for out in words] for word in words])
    assert guessed.whole == pytest.approx(matrix.max(axis=0).sum() / len(words), rel=1e-9)
    with pytest.raises(dw.TooLarge, match=r"attack without_projection\(\)"):
        dw.attack.guess(mechanism(DEPOT, 3.0, name="projected"), length=40)
    assert dw.attack.guess(dw.Exponential(FREE, 2.0).onto(RULE), length=40).method == "bound"


@pytest.mark.parametrize(
    ("language", "onto"),
    [
        (dw.GridWorld(4, 4), dw.GridWorld(4, 4, goal=(2, 2))),
        (dw.Words("NESW"), dw.GridWorld(4, 4, goal=(2, 2))),
        (dw.GridWorld(4, 4).plans(), dw.GridWorld(4, 4, goal=(2, 2)).plans()),
        (dw.Words("NESW"), dw.Lexicon(["EESS", "SE"])),
    ],
)
def test_tables_with_words_of_which_nothing_can_come_out(language: Any, onto: Any) -> None:
    """No plan of 3 moves ends at the goal."""
    pandas = pytest.importorskip("pandas")
    projected, table = dw.Exponential(language, 2.0).onto(onto), pandas.DataFrame({"plan": ["EESS", "ESE", "SEES"]})
    with pytest.raises(dw.InvalidValue, match="row 2 has a word of a length that no word has"):
        dw.frames.release(projected, table, "plan")
    kept = dw.frames.release(projected, table, "plan", invalid="skip")
    assert kept.index.tolist() == [0, 2]
    assert all(onto.accepts(word) for word in kept["plan"])
    with pytest.raises(dw.InvalidValue, match="has no word of length 3"):
        projected._drawing(3)


def test_a_projection_onto_one_word_is_called_far() -> None:
    """A uniform word of 10 letters out of two differs from any other one in 5."""
    summary = dw.Exponential(dw.Words("ab"), 8.0).onto(dw.Lexicon(["b" * 10])).summary(10)
    (warning,) = summary.warnings
    assert float(re.search(r"by ([\d.]+) of 10", warning)[1]) == pytest.approx(5, abs=0.5)  # type: ignore[index]


def test_where_draws_cannot_be_listed_an_attack_is_too_large() -> None:
    """Words to the goal can be listed, those that are drawn cannot."""
    goal = dw.GridWorld(6, 6, goal=(3, 3))
    projected = dw.Exponential(dw.rules.relaxed(goal), 2.0, calibration="textbook").onto(goal, words=goal)
    with pytest.raises(dw.TooLarge, match=r"attack without_projection\(\)"):
        dw.attack.guess(projected, length=8)
