"""What cannot be estimated is refused, and what is rough is said to be."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from populations import CELLS, FREE, ROUTES, RUNS, WORDS, listed, refuse


def test_what_is_refused() -> None:
    ask = dw.estimate.frequencies
    refuse("there are no releases", lambda: ask([], FREE))
    refuse("list of words", lambda: ask("abc", FREE))
    refuse("list of words", lambda: ask(3, FREE))
    refuse("release 2 has a symbol that is not in the alphabet", lambda: ask(["ab", "ax"], FREE))
    refuse("release 2 is no word", lambda: ask(["ab", None], FREE))
    refuse("outside the alphabet", lambda: ask(np.array([[0, 7]]), FREE))
    refuse("release 1 is no word of the mechanism's language", lambda: ask([[(2, 2), (0, 0)]], RUNS))
    refuse("release 3 is no word", lambda: ask(["ab", "b", ""], FREE))
    for confidence in (95, 0.0, 1.0, 1e-300, 1 - 1e-16, float("nan"), True):
        refuse("between 0 and 1", lambda confidence=confidence: ask(["ab"], FREE, confidence=confidence))
    refuse("method is", lambda: ask(["ab"], FREE, method="best"))
    refuse("biased on a system", lambda: ask(ROUTES, RUNS, method="inverse"))
    refuse("only runs of a system visit", lambda: dw.estimate.visits(["ab"], FREE))
    refuse("the mechanism itself", lambda: ask(["ab"], dw.PaperLiteral(dw.Words("ab"), 1.0)))
    refuse("the mechanism is an Exponential, an Online", lambda: ask(["ab"], "exponential"))
    edits = dw.EditChannel("ab", 4.0)
    refuse("no fixed positions", lambda: ask(["ab"], edits, per_place=True))
    refuse("changes lengths: ask for pairs of symbols", lambda: dw.estimate.patterns(["ab"], edits, ["a"]))
    refuse("changes it", lambda: dw.estimate.decode(["ab"], edits))
    onto = dw.EditChannel("ab", 4.0, onto=dw.Words("ab", max_length=3))
    for projected in (ask, dw.estimate.dfg, dw.estimate.lengths, dw.estimate.model):
        refuse("projected onto a language: .* over an alphabet= alone", partial(projected, ["ab", "b"], onto))
    stairs = dw.Exponential(dw.GridWorld(3, 3), 4.0, k=2, utility=dw.Staircase(), calibration="textbook")
    refuse("do not fall exponentially", lambda: ask(["EESS"], stairs))
    free = dw.Exponential(dw.Words("ab"), 4.0, k=2)
    refuse("pairs or variants, which need none", lambda: dw.estimate.model(["abab"] * 9, free))
    refuse("pairs or variants, which need none", lambda: dw.estimate.variants(["abab"] * 9, free, method="em"))
    refuse("needs no model", lambda: ask(["ab"], FREE, method="inverse", model="chain"))
    refuse("model is 'auto', 'chain'", lambda: ask(["ab"], FREE, model=3))  # type: ignore[arg-type]
    refuse("at least one", lambda: dw.estimate.patterns(["ab"], FREE, []))
    refuse("list of patterns", lambda: dw.estimate.patterns(["ab"], FREE, "ab"))
    refuse("symbol 2 of the pattern", lambda: dw.estimate.patterns(["ab"], FREE, ["ax"]))
    refuse("in a row", lambda: dw.estimate.patterns(["ab"], FREE, [""]))
    refuse("another language", lambda: dw.estimate.decode(["ab"], FREE, dw.estimate.model(ROUTES, RUNS)))  # type: ignore[arg-type]


def test_a_whole_table_is_refused() -> None:
    words = {"who": [1, 2, 3], "word": ["ab", "ba", "bb"]}
    for table in (pandas.DataFrame(words), pyarrow.table(words), polars.DataFrame(words)):
        refuse("one column of a table, not the whole table", partial(dw.estimate.frequencies, table, FREE))
        assert dw.estimate.lengths(table["word"], FREE)[2].value == 1
    report = dw.Report(dw.Words("ab"), 1.0, "symbols")
    refuse("not the whole table", lambda: dw.estimate.frequencies(pandas.DataFrame({"answer": [["a"]]}), report))


def test_too_little_is_told_or_refused() -> None:
    weak = dw.Exponential(dw.Words("abcdefgh"), 0.01)
    words = ["abcdefgh"] * 50
    releases = weak.seeded(1).release_all(words)
    refuse("nothing can be estimated from 50 releases", lambda: dw.estimate.frequencies(releases, weak))
    some = dw.Exponential(dw.Words("abcdefgh"), 0.5)
    with pytest.warns(UserWarning, match="the estimates are rough: 30 releases are few"):
        found = dw.estimate.frequencies(some.seeded(1).release_all(words[:30]), some)
    assert any("rough" in note for note in found.notes)
    refuse("at least two", lambda: dw.estimate.frequencies(["ab"], FREE))
    two = dw.estimate.frequencies(["ab", "ab"], FREE)
    assert two["a"].value == pytest.approx(0.5, abs=1e-3)
    assert any("estimated as 0" in note for note in two.notes)


def test_normalising_constants_that_cannot_be_corrected_for_are_refused() -> None:
    mechanism = dw.Exponential(dw.GridWorld(4, 4).by_states(), 1.0, utility=dw.Linear(), calibration="textbook")
    words = [word for word, _ in zip(listed(mechanism.language, 6)[0], range(300), strict=False)]
    releases = mechanism.seeded(1).release_all(words)
    for ask in (dw.estimate.transitions, dw.estimate.visits):
        refuse("normalising constant depends on the private word", partial(ask, releases, mechanism))


def test_models_of_other_releases_are_refused() -> None:
    chain = dw.estimate.model(ROUTES, RUNS)
    refuse("fitted to other releases", lambda: dw.estimate.visits(ROUTES[:5], RUNS, model=chain))
    refuse("fitted to other releases", lambda: dw.estimate.dfg(WORDS, dw.EditChannel("abc", 5.0), model=chain))
    edits = dw.estimate.model(WORDS, dw.EditChannel("abc", 5.0))
    refuse("fitted to other releases", lambda: dw.estimate.visits(ROUTES, RUNS, model=edits))
    words = dw.estimate.model(WORDS, FREE)
    other, weaker, wider = WORDS[::-1], dw.Exponential(dw.Words("abc"), 2.0), dw.Exponential(dw.Words("abcd"), 200.0)
    refuse("fitted to other releases", lambda: dw.estimate.dfg(other, FREE, model=words))
    refuse("another mechanism", lambda: dw.estimate.dfg(WORDS, weaker, model=words))
    refuse("another mechanism", lambda: dw.estimate.dfg(WORDS, wider, model=words))
    textbook = dw.Exponential(dw.Words("abc"), 200.0, utility=dw.Linear(), calibration="textbook")
    refuse("another mechanism", lambda: dw.estimate.dfg(WORDS, textbook, model=words))
    refuse("fitted to other releases", lambda: dw.estimate.dfg(WORDS, dw.EditChannel("abc", 6.0), model=edits))
    assert dw.estimate.dfg(WORDS, FREE.seeded(1), model=words) == dw.estimate.dfg(WORDS, FREE, model=words)


def test_priors_on_other_symbols_are_refused() -> None:
    """The chain on xyz has as many states and steps as one on abc."""
    other = dw.estimate.chain(dw.Words("xyz"), {None: {"x": 1.0}, "x": {"x": 1.0}})
    refuse("another language", lambda: dw.estimate.decode(WORDS, FREE, other))
    moved = dw.GridWorld(3, 3, start=(2, 2)).by_states()
    prior = dw.estimate.model(
        dw.Online(moved, 4.0).seeded(1).release_all([[(2, 1), (2, 2)]] * 9), dw.Online(moved, 4.0)
    )
    refuse("another language", lambda: dw.estimate.decode(ROUTES, RUNS, prior))


def test_a_prior_fitted_to_releases_that_tell_nothing_is_warned_of() -> None:
    """At ε = 0.01 a symbol is kept with probability 0.337, so decoded symbols are wrong about two times in three."""
    words = ["aabbccabca", "abcabcabcc"] * 40
    mechanism = dw.Exponential(dw.Words("abc"), 0.01)
    releases = mechanism.seeded(1).release_all(words)
    chain = dw.estimate.model(releases, mechanism)
    with pytest.warns(UserWarning, match="80 releases at this ε are too few to fit a prior to"):
        found = dw.estimate.decode(releases, mechanism, chain)
    wrong = np.mean([sum(a != b for a, b in zip(*pair, strict=True)) for pair in zip(found, words, strict=True)])
    assert found.expected_distance < 0.7 * wrong
    assert "if the prior is right" in repr(found)
    known = dw.estimate.chain(mechanism.language, chain.transitions)  # assumed, so that nothing is known about its fit
    assert dw.estimate.decode(releases, mechanism, known) == found
    better = dw.Exponential(dw.Words("abc"), 2.0)
    releases = better.seeded(1).release_all(words)
    assert len(dw.estimate.decode(releases, better, dw.estimate.model(releases, better))) == 80


CHANGING = ["aabbccca", "abbbbcca", "ccaaabbb", "cabbaaca"] * 60


@pytest.mark.parametrize("epsilon", [1e-6, 0.01])
@pytest.mark.parametrize("make", [lambda e: dw.Exponential(dw.Words("abc"), e), lambda e: dw.Online(CELLS, e)])
def test_releases_that_tell_nothing_are_refused_wherever_the_fit_ends(make: Any, epsilon: float) -> None:
    """By inversion, a pair of symbols has a standard error of √(1/9·8/9/1680)/(ε/3)² at small ε: 690 at ε = 0.01."""
    mechanism = make(epsilon)
    words: list[Any] = CHANGING if mechanism.language.alike else ROUTES * 6
    for seed in range(4):
        releases = mechanism.seeded(seed).release_all(words)
        chain = dw.estimate.model(releases, mechanism)
        refuse("nothing can be estimated from 240 releases", partial(dw.estimate.dfg, releases, mechanism, model=chain))


def test_a_fit_on_the_boundary_does_not_hide_that_proportions_are_rough() -> None:
    """By inversion, a symbol has a standard error of √(1/3·2/3/1920)/0.02 = 0.54 at ε = 0.06: 1.3 for all three."""
    mechanism = dw.Exponential(dw.Words("abc"), 0.06)
    for seed in range(6):
        releases = mechanism.seeded(seed).release_all(CHANGING)
        with pytest.warns(UserWarning, match="the estimates are rough"):
            dw.estimate.frequencies(releases, mechanism, method="em")


@pytest.mark.filterwarnings("ignore:of each word only")
def test_releases_of_the_edit_channel_that_tell_nothing_are_refused() -> None:
    """At ε = 1 a symbol comes out as itself no more often than as another, so that only lengths are told."""
    mechanism = dw.EditChannel("abc", 1.0)
    releases = mechanism.seeded(1).release_all(CHANGING)
    for ask in (dw.estimate.dfg, dw.estimate.starts, dw.estimate.ends):
        refuse("nothing can be estimated from 240 releases", partial(ask, releases, mechanism))


MANY = [chr(0x4E00 + number) for number in range(100)]  # a chain on them has too many chances for intervals


@pytest.mark.filterwarnings("ignore:of each word only")
def test_chains_without_intervals_are_refused_where_releases_tell_nothing() -> None:
    """At ε = 0.1, p − q is about ε/100: a pair has an error of at least √(0.01²/160)/0.001² = 790."""
    weak, edits = dw.Exponential(dw.Words(MANY), 0.1), dw.EditChannel(MANY, 4.0)
    words = [MANY[:9]] * 20
    releases = weak.seeded(1).release_all(words)
    refuse("nothing can be estimated from 20 releases", lambda: dw.estimate.dfg(releases, weak))
    refuse("nothing can be estimated", lambda: dw.estimate.frequencies(releases, weak, method="em", per_place=True))
    assert edits._channel.only_length_shows
    changed = edits.seeded(1).release_all(words)
    refuse("nothing can be estimated from 20 releases", lambda: dw.estimate.frequencies(changed, edits))
    assert dw.estimate.lengths(changed, edits)


@pytest.mark.filterwarnings("ignore:of each word only")
def test_chains_without_intervals_are_called_rough_by_the_noise_alone() -> None:
    """With p = 0.23 and q = 0.0078 at ε = 3.4, the 9 symbols of 5 words have errors of at least √(q/45)/(p − q)."""
    some = dw.Exponential(dw.Words(MANY), 3.4, limits=Limits(interval_parameters=1))
    releases = some.seeded(1).release_all([MANY[:9]] * 5)
    with pytest.warns(UserWarning, match="the estimates are rough"):
        found = dw.estimate.frequencies(releases, some, method="em")
    assert np.isnan(found[MANY[0]].low)
    assert any("rough" in note for note in found.notes)
    assert any("not computed" in note for note in found.notes)


def test_many_patterns_at_once_are_answered_as_one_by_one() -> None:
    """The errors of forty patterns add up to more than proportions can be off, but each pattern is a question of its
    own."""
    mechanism = dw.Exponential(dw.Words("abc"), 2.0)
    releases = mechanism.seeded(1).release_all(CHANGING[:40])
    asked = ["".join(symbols) for size in (1, 2, 3) for symbols in product("abc", repeat=size)]
    together = dw.estimate.patterns(releases, mechanism, asked)
    assert len(together) == 39
    assert sum(each.high - each.low for each in together.values()) / 3.92 * 0.8 > 2
    assert together["ab"] == dw.estimate.patterns(releases, mechanism, ["ab"])["ab"]
    assert any("a model of the population" in note for note in together.notes)


def test_words_of_one_symbol_have_no_pairs() -> None:
    for method in ("em", "inverse"):
        refuse("have no pairs", partial(dw.estimate.dfg, ["a", "b"] * 20, FREE, method=method))
    refuse("have no pairs", lambda: dw.estimate.dfg([[(0, 1)], [(1, 0)]] * 20, RUNS))
    found = dw.estimate.transitions([[(0, 1)], [(1, 0)]] * 20, RUNS)  # the step from the start
    assert found[(0, 0), (0, 1)].value == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("epsilon", [3.0, 20.0])
def test_empty_words_have_no_pairs(epsilon: float) -> None:
    """All releases of the edit channel are empty: no chain has a pair, and 0/0 would be no proportion."""
    mechanism = dw.EditChannel("abc", epsilon)
    refuse("too short for that: ask for lengths", lambda: dw.estimate.dfg([""] * 50, mechanism))
    refuse("too short for that|nothing can be estimated", lambda: dw.estimate.starts([""] * 50, mechanism))
    assert dw.estimate.lengths([""] * 50, mechanism)[0].value > 0.9


def test_few_runs_that_are_hardly_changed_are_rough_and_not_refused() -> None:
    """At ε = 6 a step in a thousand is changed: 25 runs leave a model uncertain because they are few."""
    grid, rng, words = dw.GridWorld(9, 9).by_states(), np.random.default_rng(3), []
    for _ in range(25):
        row, column, word = 0, 0, list[tuple[int, int]]()
        for east in rng.integers(2, size=8).tolist():
            row, column = (row, column + 1) if east else (row + 1, column)
            word.append((row, column))
        words.append(word)
    steps = Counter(step for word in words for step in pairwise([(0, 0), *word]))
    mechanism = dw.Exponential(grid, 6.0)
    with pytest.warns(UserWarning, match="the estimates are rough: 25 releases are few"):
        found = dw.estimate.transitions(mechanism.seeded(1).release_all(words), mechanism)
    assert sum(abs(each.value - steps[step] / 200) for step, each in found.items()) < 0.05
    small = dw.Exponential(grid, 3.0)
    releases = small.seeded(1).release_all(words)
    refuse("nothing (reliable )?can be estimated from 25", lambda: dw.estimate.transitions(releases, small))
