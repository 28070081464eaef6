"""Projections against the definition: all nearest words, found by listing them, come out equally often."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import Ragged, levenshtein
from dpwords.languages.language import Language
from dpwords.spaces.projection import Ties, every_word, projection_onto
from zoo import ALL

BITS = SeededSource("projections").open()


def listed(language: Language, length: int) -> list[tuple[int, ...]]:
    """All words of one length, by trying every sequence of symbols."""
    symbols = language.alphabet.symbols
    words = itertools.product(range(len(symbols)), repeat=length)
    return [word for word in words if language.accepts([symbols[code] for code in word])]


def apart(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def nearest(words: list[tuple[int, ...]], word: tuple[int, ...]) -> list[tuple[int, ...]]:
    least = min(apart(word, other) for other in words)
    return sorted(other for other in words if apart(word, other) == least)


def check_draws(language: Language, word: tuple[int, ...], expected: list[tuple[int, ...]], each: int = 50) -> None:
    rows = np.tile(np.array(word, dtype=np.int64), (each * len(expected), 1))
    drawn = projection_onto(language, "hamming").draw(rows, BITS)
    counts = Counter(tuple(row.tolist()) for row in drawn)
    assert sorted(counts) == expected
    assert len(expected) == 1 or stats.chisquare([counts[other] for other in expected]).pvalue > 1e-6


@pytest.mark.parametrize("name", ALL)
def test_all_nearest_words_come_out_equally_often(name: str) -> None:
    language, length = ALL[name]
    length, symbols = min(length, 4), len(language.alphabet)
    words = listed(language, length)
    bits = np.random.default_rng(7)
    for word in (*bits.integers(-1, symbols, size=(4, length)).tolist(), [-1] * length):
        check_draws(language, tuple(word), nearest(words, tuple(word)))


@settings(max_examples=60)
@given(st.sampled_from(sorted(ALL)), st.data())
def test_what_is_listed_is_what_is_drawn(name: str, data: st.DataObject) -> None:
    """The words that `Ties` lists as nearest are those of the definition."""
    language, length = ALL[name]
    length, same = min(length, 4), np.arange(len(language.alphabet))
    words = listed(language, length)
    every = every_word(language, length, 10**4)
    assert every is not None
    assert sorted(map(tuple, every.tolist())) == sorted(words)
    word = data.draw(st.lists(st.integers(0, len(same) - 1), min_size=length, max_size=length))
    ties = Ties.of(np.array([word]), same, every, same)
    found = sorted(tuple(row) for row in ties.words[ties.nearest[0]].tolist())
    assert found == nearest(words, tuple(word))
    assert ties.sizes.tolist() == [len(found)]


def test_a_million_nearest_words_and_far_more() -> None:
    """No a at all, where one is wanted in each half: the positions of both are uniform, and all else stays."""
    half = dw.Pattern("[bc]*a[bc]*d[bc]*a[bc]*")
    rows = np.tile(np.array([half.alphabet.codes[s] for s in "b" * 1000 + "d" + "b" * 1000]), (4000, 1))
    drawn = np.asarray(projection_onto(half, "hamming").draw(rows, BITS))
    a = half.alphabet.codes["a"]
    assert ((drawn != rows).sum(axis=1) == 2).all()  # a million nearest words
    for part in (drawn[:, :1000], drawn[:, 1001:]):
        positions = np.argmax(part == a, axis=1)
        assert (part == a).sum() == 4000
        assert stats.kstest(positions / 1000 + 0.0005, "uniform").pvalue > 1e-6
    free = dw.Pattern("(x|y|z)*")
    many = np.asarray(projection_onto(free, "hamming").draw(np.full((200, 3000), -1), BITS))  # 3^3000 nearest words
    assert stats.chisquare(np.bincount(many.ravel(), minlength=3)).pvalue > 1e-6


def test_ties_between_branches_of_very_different_size() -> None:
    """One word on the left, 2^1500 on the right, all at the same distance: the right one is always taken."""
    language = dw.Pattern("la{1500}|r[ab]{1500}")
    codes = language.alphabet.codes
    word = np.full((50, 1501), -1)
    drawn = np.asarray(projection_onto(language, "hamming").draw(word, BITS))
    assert (drawn[:, 0] == codes["r"]).all()
    word[:, 1:] = codes["a"]  # now each branch has one nearest word
    drawn = np.asarray(projection_onto(language, "hamming").draw(np.tile(word, (20, 1)), BITS))
    assert stats.binomtest(int((drawn[:, 0] == codes["r"]).sum()), 1000).pvalue > 1e-6
    assert (drawn[:, 1:] == codes["a"]).all()


def test_batches_and_threads_do_not_matter() -> None:
    language, rows = dw.GridWorld(4, 4) & dw.rules.contains((2, 2)), np.random.default_rng(1).integers(0, 4, (300, 9))
    by_limits = [
        projection_onto(language, "hamming", limits).draw(rows, SeededSource(5).open()).tolist()  # type: ignore[union-attr]
        for limits in (Limits(threads=1), Limits(threads=4))
    ]
    assert by_limits[0] == by_limits[1]
    few = np.asarray(projection_onto(language, "hamming", Limits(batch=50)).draw(rows, BITS))
    assert ((few != rows).sum(axis=1) == (np.array(by_limits[0]) != rows).sum(axis=1)).all()


@pytest.mark.parametrize("name", ["lexicon", "goal", "two letters"])
def test_a_length_without_words_is_refused(name: str) -> None:
    language = ALL[name][0] if name != "two letters" else dw.Words("ab", max_length=9)
    projection = projection_onto(language, "hamming")
    for length in range(1, 12):
        if language.count(length) if name != "lexicon" else length in (3, 4):
            projection.check(length)
        else:
            with pytest.raises(dw.InvalidValue, match=f"has no word of length {length}: choose another length"):
                projection.check(length)


@given(st.data())
def test_the_nearest_words_of_a_lexicon_by_edits(data: st.DataObject) -> None:
    words = data.draw(st.lists(st.text("cab", max_size=5), min_size=1, max_size=12))
    lexicon = dw.Lexicon(words, alphabet="cab")
    codes = data.draw(st.lists(st.integers(-1, 2), max_size=8))
    order = {symbol: code for code, symbol in enumerate("cab")}
    all_words = {tuple(order[symbol] for symbol in word) for word in words}
    least = min(levenshtein(codes, word) for word in all_words)
    expected = {word for word in all_words if levenshtein(codes, word) == least}
    rows = [np.array(codes, dtype=np.int64)] * 40 * len(expected)
    drawn = {tuple(row.tolist()) for row in projection_onto(lexicon, "levenshtein").draw(Ragged.of(rows), BITS)}
    assert drawn == expected  # one of at most 12 is missing with a probability below 1e-13


def test_a_noisy_word_may_be_much_longer_than_those_of_a_lexicon() -> None:
    onto = projection_onto(dw.Lexicon(["a", "b" * 300]), "levenshtein")
    assert [len(word) for word in onto.draw(np.full((1, 1000), 1), BITS)] == [300]
    assert [len(word) for word in onto.draw(np.full((1, 1000), 0), BITS)] == [1]
