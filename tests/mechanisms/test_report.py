"""Reports: the law against subset selection by definition, the promise for any two words, sizes, draws, questions."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import contract
import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.languages.language import Language
from dpwords.privacy.subset_selection import best_selection
from zoo import ALL, random_systems

QUESTIONS: list[Any] = ["visits", "transitions", "symbols"]


def answers(language: Language, word: tuple[Any, ...], question: str) -> list[Any]:
    """The true answers at the positions of a word, by the plain meaning of the question."""
    if question == "symbols":
        return list(word)
    if language.system is None:
        return list(itertools.pairwise(word))
    run = language.run(word)
    if question == "visits":
        return run
    return list(itertools.pairwise(run if language.system.start is None else [language.system.start, *run]))


def by_definition(items: tuple[Any, ...], size: int, word: list[Any], more: Any) -> dict[frozenset[Any], Any]:
    """Subset selection, set by set: those with the true answer have `more` times the weight; positions are averaged."""
    law: dict[frozenset[Any], Any] = {}
    sets = [frozenset(some) for some in itertools.combinations(items, size)]
    for true in word:
        weights = {some: more if true in some else 1 for some in sets}
        total = sum(weights.values())
        for some, weight in weights.items():
            law[some] = law.get(some, 0) + weight / total / len(word)
    return law


def cases() -> list[Any]:
    """Every language of the zoo with every question that has several answers there, but not too many sets of them."""
    found = []
    for (name, (language, length)), question in itertools.product(ALL.items(), QUESTIONS):
        with suppress(dw.InvalidValue):
            report = dw.Report(language, 0.4, question)
            if math.comb(len(report.items), report.size) <= 2000:
                found.append(pytest.param(language, length, question, id=f"{name}, {question}"))
    return found


def test_most_languages_can_be_asked_most_questions() -> None:
    assert len(cases()) > 2 * len(ALL)


@pytest.mark.parametrize(("language", "length", "question"), cases())
@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_the_law_is_that_of_subset_selection(language: Language, length: int, question: Any, epsilon: float) -> None:
    report = dw.Report(language, epsilon, question)
    words = contract.words_of(report, length)
    assert {item for word in words for item in answers(language, word, question)} <= set(report.items)
    for word in words[:: max(len(words) // 7, 1)]:
        expected = by_definition(report.items, report.size, answers(language, word, question), math.exp(epsilon))
        at = report.given(word)
        assert {output: math.exp(at.log_prob(output)) for output in expected} == pytest.approx(expected, rel=1e-11)
        true = answers(language, word, question)
        for item in report.items:
            proportion = true.count(item) / len(true)
            mixed = proportion * report.share_if_true + (1 - proportion) * report.share_if_not
            assert math.fsum(p for some, p in expected.items() if item in some) == pytest.approx(mixed, rel=1e-11)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
def test_the_audit_is_over_all_lengths_and_all_sets(question: Any, epsilon: float) -> None:
    """All of ε is spent: two words that stay in one position each, with different answers, and a set with one of
    them."""
    language = dw.GridWorld(2, 2, stay=True)
    report = dw.Report(language, epsilon, question)
    found = dw.audit.exact(report, length=3)
    assert found.words == sum(language.count(n) for n in (1, 2, 3))
    assert found.claimed == epsilon
    assert found.holds
    laws = [report.given(word) for word in contract.words_of(report, 3)]
    sets = [frozenset(some) for some in itertools.combinations(report.items, report.size)]
    logs = [[law.log_prob(some) for some in sets] for law in laws]
    worst = max(abs(a - b) for one, other in itertools.combinations(logs, 2) for a, b in zip(one, other, strict=True))
    assert found.epsilon == pytest.approx(worst, abs=1e-12)
    assert found.epsilon == pytest.approx(epsilon, abs=1e-9)
    assert found.worst is not None
    assert found.worst.distance == 1
    assert found.worst.output in sets


@given(random_systems(), st.floats(0.05, 8), st.sampled_from(QUESTIONS))
@settings(max_examples=60, deadline=None)
def test_random_systems_keep_the_promise(case: tuple[Any, int], epsilon: float, question: Any) -> None:
    language, length = case
    try:
        report = dw.Report(language, epsilon, question)
    except dw.InvalidValue:
        return
    if length >= report.least_length and math.comb(len(report.items), report.size) < 2000:
        contract.check_promise(report, length)


@pytest.mark.parametrize("epsilon", [1e-3, 0.5, 2.0, 30.0, 200.0])
@pytest.mark.parametrize("question", QUESTIONS)
def test_the_stored_law_keeps_the_promise_without_tolerance(epsilon: float, question: Any) -> None:
    """The sampler's own weights, read back as fractions: no two words, of whatever lengths, lose more than ε."""
    report = dw.Report(dw.GridWorld(2, 2), epsilon, question)
    sets = list(itertools.combinations(range(len(report.items)), report.size))
    laws = []
    for word in contract.words_of(report, 3):
        law: Any = report.given(word).law
        laws.append([law.exact(np.array(some)) for some in sets])
        assert sum(laws[-1]) == 1
    for column in zip(*laws, strict=True):
        assert contract.log(max(column) / min(column)) <= Decimal(epsilon)
    assert min(map(min, laws)) > 0  # whatever the word is, every set can come out


@pytest.mark.parametrize(("answers", "epsilon"), [(2, 1e-12), (225, 1.0), (225, 4.0), (840, 2.0), (10**6, 0.01)])
def test_rounding_costs_less_than_the_slack(answers: int, epsilon: float) -> None:
    """The ratio between a set with the true answer and one without, exactly as stored: between ε − 2 · slack and ε."""
    selection = best_selection(answers, epsilon)
    named, left_out = selection.weights.exact()
    size = selection.size
    loss = contract.log(named / left_out * Fraction(answers - size, size))
    assert Decimal(epsilon) - 2 * Decimal(2.0**-49) <= loss <= Decimal(epsilon)


def test_proportions_by_the_formulas() -> None:
    """p = w·e^ε/(w·e^ε + D − w) and q = (w·e^ε·(w−1) + (D−w)·w)/((D−1)(w·e^ε + D − w)), and Σ of the proportions is
    w."""
    for items, epsilon in [(5, 0.7), (225, 2.0), (225, 6.0), (840, 1.0)]:
        report = dw.Report(dw.Words(range(items)), epsilon, "symbols")
        w, e, d = report.size, math.exp(epsilon), items
        assert report.share_if_true == pytest.approx(w * e / (w * e + d - w), rel=1e-12)
        assert report.share_if_not == pytest.approx(
            (w * e * (w - 1) + (d - w) * w) / ((d - 1) * (w * e + d - w)), rel=1e-12
        )
        assert report.share_if_true + (d - 1) * report.share_if_not == pytest.approx(w, rel=1e-12)


def variance(items: int, size: int, epsilon: float, proportions: list[float]) -> float:
    """The sum of the variances of ([named] − q)/(p − q) over all items, by the plain formulas."""
    weight = size * math.exp(epsilon)
    p = weight / (weight + items - size)
    q = (weight * (size - 1) + (items - size) * size) / ((items - 1) * (weight + items - size))
    seen = [f * p + (1 - f) * q for f in proportions]
    return math.fsum(r * (1 - r) for r in seen) / (p - q) ** 2


@pytest.mark.parametrize("items", [2, 3, 5, 16, 61, 225])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 4.0, 6.0, 10.0])
def test_no_other_size_has_less_variance(items: int, epsilon: float) -> None:
    """Whatever the true proportions are: the size that is best for one population is best for all."""
    chosen = best_selection(items, epsilon).size
    for proportions in (
        [1 / items] * items,
        [1.0] + [0.0] * (items - 1),
        [2 * (i + 1) / items / (items + 1) for i in range(items)],
    ):
        by_size = {size: variance(items, size, epsilon, proportions) for size in range(1, items)}
        assert by_size[chosen] == pytest.approx(min(by_size.values()), rel=1e-9)
    assert chosen == 1 or epsilon < math.log(items)  # generalised randomised response at large ε


@pytest.mark.parametrize("batch", [Limits.batch, 100])
@pytest.mark.parametrize(
    ("language", "question"), [(dw.Words("abcdef"), "symbols"), (dw.GridWorld(3, 2), "transitions")]
)
def test_draws_follow_the_law(language: Language, question: Any, batch: int) -> None:
    """At once, and a few words at a time."""
    contract.check_draws(dw.Report(language, 1.0, question, limits=Limits(batch=batch)), 3)


def test_a_position_is_chosen_uniformly() -> None:
    """At a large ε the answer is the symbol at the chosen position: each of four with one quarter."""
    report = dw.Report(dw.Words("abcd"), 200.0, "symbols")
    seen = Counter(report.seeded(5).simulate("abcd", 4000))
    contract.check_counts(seen, {frozenset(symbol): 0.25 for symbol in "abcd"})
    twice = Counter(report.seeded(6).simulate("aab", 3000))
    contract.check_counts(twice, {frozenset("a"): 2 / 3, frozenset("b"): 1 / 3})


def test_another_question_or_system_draws_anew() -> None:
    """Draws are a function of everything public: with one key, two questions do not share their randomness."""
    key, word = bytes(32), ["E", "W"] * 4
    one, other = (dw.Report(dw.GridWorld(3, 3), 1.0, q) for q in ("visits", "transitions"))
    assert one.parameters(8) != other.parameters(8)
    drawn = [
        [sorted(map(report.items.index, report.release_all([word], [i], key)[0])) for i in range(40)]
        for report in (one, other)
    ]
    assert drawn[0] != drawn[1]


def test_what_is_asked_on_each_kind_of_language() -> None:
    grid = dw.GridWorld(2, 2)
    cells = ((0, 0), (0, 1), (1, 0), (1, 1))
    assert dw.Report(grid, 1.0).items == dw.Report(grid.by_states(), 1.0).items == cells
    assert dw.Report(grid, 1.0, "symbols").items == ("E", "S", "W", "N")
    steps = tuple((a, b) for a in cells for b in cells if abs(a[0] - b[0]) + abs(a[1] - b[1]) == 1)
    anywhere = dw.GridWorld(2, 2, start=None).by_states()
    assert dw.Report(grid, 1.0, "transitions").items == dw.Report(anywhere, 1.0, "transitions").items == steps
    assert dw.Report(dw.Words("ab"), 1.0, "transitions").items == tuple(itertools.product("ab", repeat=2))
    assert dw.Report(dw.Pattern("(ab|c)*"), 1.0, "transitions").items == tuple(
        (a, b) for a, b in itertools.product("abc", repeat=2) if (a == "a") == (b == "b")
    )
    once = dw.TransitionSystem({"in": {"go": "hall"}, "hall": {"up": "attic", "down": "cellar"}}, start="in")
    assert dw.Report(once, 1.0).items == ("hall", "attic", "cellar")  # no run comes back to the start
    assert dw.Report(grid & dw.rules.never((1, 1)), 1.0).items == cells[:3]


def test_an_answer_is_a_set_that_the_law_knows() -> None:
    report = dw.Report(dw.Words("abcdef"), 1.0, "symbols")
    at = report.given("abba")
    assert report.size == 2
    assert at.log_prob(["b", "a"]) == at.log_prob({"a", "b"}) == at.log_prob(frozenset("ab"))
    for impossible in ({"a"}, ["a", "a"], {"a", "x"}, [["a"], "b"], set()):
        assert at.log_prob(impossible) == -math.inf  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="a set of items"):
        at.log_prob("ab")


def test_the_promise_is_a_value_about_any_two_words() -> None:
    report = dw.Report(dw.Words("abc"), 2.0, "symbols")
    promise = report.guarantee
    assert promise == dw.PureDP(2.0, "any", 1, 2.0**-49, "report", proof=14)
    assert [promise.explain("a", other).loss for other in ("a", "b", "abcabc")] == [0.0, 2.0, 2.0]
    assert str(promise) == (
        "ε = 2: any two words, whatever their lengths, give any output with probabilities within a factor e^ε (report)"
    )
    assert "any two words, whatever their lengths, give any output with probabilities within a factor e^2 of" in (
        promise.in_words
    )
    assert str(promise.explain("ab", "c")).startswith("the two words are different: any output is at most e^2 = 7.39")
    text = str(report.summary(5))
    assert "k = " not in text
    assert "any two words: any output is at most e^2" in text
    assert "by naming 1 of 3 symbols; the true one is named with probability 0.787, any other with 0.107" in text
    assert isinstance(report.seeded(1).guarantee, dw.NotPrivate)


def test_weights_that_reports_proportion_are_read_only() -> None:
    weights = best_selection(5, 1.0).weights
    assert best_selection(5, 1.0).weights is weights
    assert not any(array.flags.writeable for array in weights)


def test_it_is_charged_like_any_other(tmp_path: Any) -> None:
    ledger = dw.Ledger(tmp_path / "ledger.db", budget=3)
    report = dw.Report(dw.Words("abc"), 2.0, "symbols")
    ledger.charge({"ann": 2.0}, report.guarantee)  # type: ignore[arg-type]
    (entry,) = ledger.entries("ann")
    assert (entry.epsilon, entry.distance, entry.method) == (2.0, "any", "report")
    with pytest.raises(dw.InvalidValue, match="budget"):
        ledger.charge({"ann": 2.0}, report.guarantee)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: dw.Report(dw.Words("ab"), 1.0), "this language has none: ask for 'symbols'"),
        (lambda: dw.Report(dw.Words("a"), 1.0, "symbols"), "fewer than two possible answers"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "positions"), "question is one of 'visits', 'transitions', 'symbols'"),  # type: ignore[arg-type]
        (lambda: dw.Report(dw.Words("ab"), 0.0, "symbols"), "epsilon= must be a finite number above 0"),
        (lambda: dw.Report(dw.Words("ab"), 1e-16, "symbols"), "no larger than what rounding may cost"),
        (lambda: dw.Report(dw.Words("ab"), 2.0**-49, "symbols"), "no larger than what rounding may cost"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").like(k=2), "leave out k"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").release(""), "the empty word has nothing to hide"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "transitions").release("b"), "one symbol has no transition"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").expected_distance("ab"), "no distance from a word"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").expected_distance(length=3), "no distance from a word"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").given("ab").distance_distribution(), "no distance"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols", limits=Limits(answers=1)), "at most 1 possible answers"),
        (lambda: dw.Report(dw.Words("abc"), 1.0, "transitions", limits=Limits(answers=8)), "at most 8 possible"),
        (lambda: dw.audit.exact(dw.Report(dw.GridWorld(9, 9), 1.0), 2), "sets of 22 items can be named"),
        (lambda: dw.Report(dw.Words("ab"), 1.0, "symbols").release("ax"), "not in the language"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(build: Any, message: str) -> None:
    with pytest.raises(dw.DPWordsError, match=message) as caught:
        build()
    assert "\n" not in str(caught.value)


def test_many_words_of_all_kinds() -> None:
    report = dw.Report(dw.Words("abc"), 1.0, "symbols")
    released = report.release_all(["abc", list("ab"), np.array([0, 1, 2, 2])])
    assert [type(each) for each in released] == [frozenset, frozenset, np.ndarray]
    rows = report.release_codes(np.zeros((50, 4), dtype=np.uint8))
    assert rows.shape == (50, report.size)  # type: ignore[union-attr]
    assert report.release_all([]) == []
    copy = pickle.loads(pickle.dumps(report))
    assert copy.items == report.items
    assert not copy._answers.keys.flags.writeable
    with pytest.raises(dw.InvalidValue, match="word 2: a word of one symbol"):
        dw.Report(dw.Words("abc"), 1.0, "transitions").release_all(["abc", "a"])


def test_a_population_is_estimated_as_in_the_notes() -> None:
    """225 cells and 10,000 people, all of ε for one position each: the root of the mean squared error by its formula.

    The variance of an estimated proportion is that of [named]/(p − q), over the number of people; the notes' figures
    for the L1 error after projection onto the simplex (0.65 / 0.28 / 0.07 at ε = 2 / 4 / 10) rest on the same numbers.
    """
    people, cells = 10_000, dw.GridWorld(15, 15).by_states()
    words = [[(0, 1), (0, 2)], [(1, 0), (1, 1)], [(1, 0), (0, 0)]]
    codes = np.array([[cells.alphabet.codes[cell] for cell in word] for word in words])
    rows = np.repeat(codes, [people // 2, people // 4, people - people // 2 - people // 4], axis=0)
    true = np.zeros(225)
    for word, proportion in zip(words, (0.5, 0.25, 0.25), strict=True):
        for cell in word:
            true[list(cells.alphabet.symbols).index(cell)] += proportion / 2
    for epsilon in (2.0, 4.0, 10.0):
        report = dw.Report(cells, epsilon)
        named = np.bincount(np.ravel(report.seeded(3).release_codes(rows)), minlength=225) / people  # type: ignore[arg-type]
        p, q = report.share_if_true, report.share_if_not
        estimate = (named - q) / (p - q)
        expected = variance(225, report.size, epsilon, true.tolist()) / people
        assert float(((estimate - true) ** 2).sum()) == pytest.approx(expected, rel=0.5)
