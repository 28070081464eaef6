"""Lists of words as languages."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings

import dpwords as dw
from dpwords.spaces import exhaustive
from zoo import random_lexicons


def test_words_are_kept_once_and_in_order() -> None:
    lexicon = dw.Lexicon(iter(["bonn", "bern", ["b", "o", "n", "n"], ("b", "e", "r", "n"), "", "be"]))
    assert list(lexicon) == ["", "be", "bern", "bonn"]
    assert len(lexicon) == 4
    assert lexicon.alphabet.symbols == tuple("benor")
    assert lexicon.lengths == {0: 1, 2: 1, 4: 2}
    assert [lexicon.count(n) for n in range(6)] == [1, 0, 1, 0, 2, 0]
    assert "4 words over 5 symbols" in repr(lexicon)


def test_a_given_alphabet_orders_the_words_and_may_have_more_symbols() -> None:
    lexicon = dw.Lexicon(["ab", "ba", "b"], alphabet="cba")
    assert list(lexicon) == ["b", "ba", "ab"]
    assert not lexicon.accepts("c")
    assert not lexicon.accepts("x")


def test_symbols_of_any_kind() -> None:
    steps = dw.Lexicon([(1, 10), (2,), (10, 2)])
    assert steps.alphabet.symbols == (1, 2, 10)
    assert list(steps) == [(1, 10), (2,), (10, 2)]
    mixed = dw.Lexicon([(None, 1), ("a", 1), ((0, 1),)])
    assert set(mixed) == {(None, 1), ("a", 1), ((0, 1),)}
    assert mixed.accepts([None, 1])
    assert not mixed.accepts([None, [1]])


@given(random_lexicons())
@settings(max_examples=100)
def test_it_is_the_language_of_its_words(case: tuple[dw.Lexicon, int]) -> None:
    lexicon, longest = case
    words = {tuple(word) for word in lexicon}
    assert exhaustive.words_up_to(lexicon, longest) == sorted(words, key=lambda word: (len(word), word))
    for length in range(4):
        for word in itertools.product(lexicon.alphabet.symbols, repeat=length):
            assert lexicon.accepts(word) == (word in words)
        assert lexicon.count(length) == sum(len(word) == length for word in words)
    shorter = {word for word in words if len(word) <= longest - 1}
    if shorter:
        assert {tuple(word) for word in lexicon.up_to(longest - 1)} == shorter


def test_thousands_of_symbols() -> None:
    """Codes run through the surrogates of Unicode, which are no characters, and beyond."""
    words = [(55_300, 55_301), (55_300, 57_000, 1), (66_000,), (66_000, 57_000), (0, 69_999)]
    lexicon = dw.Lexicon(words, alphabet=range(70_000))
    assert sorted(lexicon) == sorted(words)
    near = dw.Exponential(lexicon, 1.0, distance="levenshtein").given((66_000,))
    assert near.distance_distribution()[1] > 0
    assert near.log_prob((66_000, 57_000)) > near.log_prob((55_300, 55_301)) > near.log_prob((55_300, 57_000, 1))
    same_length = dw.Exponential(lexicon, 1.0).given((66_000, 57_000))
    assert same_length.log_prob((55_300, 55_301)) == same_length.log_prob((0, 69_999)) > -100


@pytest.mark.parametrize(
    ("words", "alphabet", "message"),
    [
        ([], None, "at least one word"),
        ("abc", None, "a list or another collection"),
        (17, None, "a list or another collection"),
        (["ab", 3], None, "item 2 of the lexicon is not a word"),
        (["ab", None], None, "item 2 of the lexicon is not a word"),
        ([("a", ["b"])], None, "item 1 of the lexicon is not a word"),
        (["ab"], "bc", "outside the alphabet"),
        (["ab", ("go", "stop")], None, "pass lists"),
        ([""], None, "at least one symbol"),
    ],
)
def test_bad_lexicons(words: Any, alphabet: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message):
        dw.Lexicon(words, alphabet)


def test_only_the_empty_word() -> None:
    lexicon = dw.Lexicon([""], alphabet="a")
    assert dw.Exponential(lexicon, 1.0, distance="levenshtein").release("") == ""
    with pytest.raises(dw.InvalidValue, match="empty word"):
        dw.Exponential(lexicon, 1.0).release("")


def test_words_outside_are_refused_without_a_symbol_of_them() -> None:
    lexicon = dw.Lexicon(["bern", "bonn", "berlin"])
    for distance in ("hamming", "levenshtein"):
        mechanism = dw.Exponential(lexicon, 1.0, distance=distance)
        messages = set()
        for word in ("bebb", "bern!", "ber", "bernn"):
            with pytest.raises(dw.NotInLanguage) as caught:
                mechanism.release(word)
            messages.add(str(caught.value).split("(")[1])
        assert messages == {
            "symbol 3 of 4 cannot follow the ones before it): only words of the language can go in",
            "symbol 5 of 5 is not in the alphabet): only words of the language can go in",
            "it ends where no word of the language may end): only words of the language can go in",
            "symbol 5 of 5 cannot follow the ones before it): only words of the language can go in",
        }


def test_a_trie_serves_the_other_mechanisms() -> None:
    lexicon = dw.Lexicon(["bern", "bonn", "born", "ulm"])
    assert dw.audit.exact(dw.Online(lexicon, 1.0), 4).holds
    assert lexicon.accepts(dw.Online(lexicon, 1.0).release("bern"))
