"""Many words at once: order, kinds and lengths are kept; a bad word is named by its row before anything is drawn."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpwords as dw
from dpwords.core.symbols import Alphabet, Encoder, Ragged

SURE = 500.0  # an ε at which every word comes out as it went in


def test_order_kinds_and_lengths_are_kept() -> None:
    draw = random.Random(3)
    words: list[Any] = []
    for number in range(300):
        text = "".join(draw.choices("acgt", k=draw.randint(1, 9)))
        codes = np.array(["acgt".index(letter) for letter in text])
        words.append([text, list(text), tuple(text), codes, codes.astype(np.int16)][number % 5])
    released = dw.Exponential(dw.Words("acgt"), SURE).release_all(words)
    for word, out in zip(words, released, strict=True):
        assert type(out) is type(word)
        assert list(out) == list(word)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (dw.Exponential(dw.Words("aé€𝄞\ud800"), SURE), ["é𝄞", "\ud800", "a€€a"]),
        (dw.Exponential(dw.Words([chr(n) for n in range(256)]), SURE), ["\x00\xff\x7f", "a"]),
        (dw.Exponential(dw.Words([("go", 1), None, 2.5, "x"]), SURE), [[None, ("go", 1)], (2.5, "x", "x")]),
        (dw.Exponential(dw.GridWorld(4, 4), SURE), ["EES", "S", "SEN"]),
        (dw.Exponential(dw.GridWorld(3, 3).by_states(), SURE), [[(0, 1), (1, 1)], ((1, 0),)]),
        (dw.Exponential(dw.Lexicon(["bern", "bonn", "ulm"]), SURE), ["ulm", "bern", "bonn"]),
        (dw.Exponential(dw.Lexicon(["bern", "", "ulm"]), SURE, distance="levenshtein"), ["ulm", "", "bern"]),
        (dw.Online(dw.GridWorld(4, 4), SURE), ["EES", "S", "SEN"]),
        (dw.EditChannel("ab", 100.0), ["", "abba", "b"]),
        (dw.EditChannel("NESW", 100.0, onto=dw.GridWorld(4, 4)), ["EES", "", "SEN"]),
    ],
)
def test_every_kind_of_mechanism(mechanism: Any, words: list[Any]) -> None:
    assert mechanism.release_all(words) == words
    assert mechanism.release_all(iter(words)) == words
    assert mechanism.release_all([]) == []
    codes = [np.array([mechanism.language.alphabet.codes[s] for s in word], dtype=np.int64) for word in words]
    assert [row.tolist() for row in mechanism.release_codes(codes)] == [row.tolist() for row in codes]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["ab", "abX"], r"word 2: .*symbol 3 of 3 is not in the alphabet"),
        (["ab", "aX", "ab"], r"word 2: .*symbol 2 of 2 is not in the alphabet"),
        (["ab", ["a", ["b"]]], r"word 2: .*symbol 2 of 2 is not in the alphabet"),
        (["ab", ""], r"word 2: the empty word"),
        (["ab", 17], r"word 2 is no word: pass a str, a list or a tuple"),
        (["ab", {"a"}], r"word 2 is no word"),
        ([("a", "b"), np.array([0, 7])], r"word 2: a code is outside 0 to 1"),
        ([np.zeros((2, 2), dtype=int)], r"word 1 is an array, but not of symbol codes"),
        ([np.array([0.5])], r"word 1 is an array, but not of symbol codes"),
        ("ab", r"takes a list of words"),
        (None, r"takes a list of words"),
        (["ab", "abX", "aX"], r"word 2: .*symbol 3 of 3"),
        (["aX", "ab", "abX"], r"word 1: .*symbol 2 of 2"),
        (["aaa", "a"], r"word 2: k is at most the word's length"),
    ],
)
def test_a_bad_word_is_named_by_its_row(words: Any, message: str) -> None:
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        dw.Exponential(dw.Words("ab"), 1.0, k=2).release_all(words)
    assert "X" not in str(caught.value)


def test_words_outside_a_system_are_named_by_their_row() -> None:
    mechanism = dw.Exponential(dw.GridWorld(3, 3), 2.0)
    with pytest.raises(dw.NotInLanguage, match=r"word 3: .*symbol 2 of 2 cannot follow"):
        mechanism.release_all(["EE", "ES", "EN"])
    with pytest.raises(dw.InvalidValue, match=r"word 1: a str is a word of single characters"):
        dw.Exponential(dw.GridWorld(3, 3).by_states(), 2.0).release_all(["EE"])


def test_nothing_is_drawn_if_one_word_is_bad() -> None:
    class Spent:
        def open(self) -> Any:
            raise AssertionError("bits were drawn")

    mechanism = dw.Exponential(dw.Words("ab"), 1.0)._with(_source=Spent())
    with pytest.raises(dw.NotInLanguage):
        mechanism.release_all(["ab", "abab", "abX"])


def test_progress_sees_every_group() -> None:
    seen: list[int] = []

    def progress(groups: Any) -> Any:
        for group in groups:
            seen.append(len(group[1]))
            yield group

    dw.Exponential(dw.Words("ab"), 1.0).release_all(["a", "ab", "b", "ba", "aba"], progress=progress)
    assert seen == [2, 2, 1]
    with pytest.raises(dw.InvalidValue, match="must yield every group"):
        dw.Exponential(dw.Words("ab"), 1.0).release_all(["a", "ab"], progress=lambda groups: groups[:1])


def test_arrays_come_back_with_their_own_kind_of_number() -> None:
    given = [np.array([0, 1], dtype=kind) for kind in (np.int64, np.uint64, np.uint8)]
    released = dw.Exponential(dw.Words("ab"), SURE).release_all(given)
    assert [row.dtype for row in released] == [row.dtype for row in given]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_the_shape_does_not_depend_on_the_number_of_rows(rows: int) -> None:
    codes = np.zeros((rows, 2), dtype=np.uint8)
    for mechanism in (dw.Exponential(dw.Lexicon(["aa", "ab"]), 1.0), dw.Exponential(dw.Words("ab"), 1.0)):
        released = mechanism.release_codes(codes)
        assert isinstance(released, np.ndarray)
        assert (released.shape, released.dtype) == (codes.shape, codes.dtype)
    assert isinstance(dw.EditChannel("ab", 4.0).release_codes(codes), list)


def test_an_empty_text_is_refused_where_symbols_are_no_characters() -> None:
    for mechanism in (
        dw.EditChannel([1, 2, 3], 4.0),
        dw.Exponential(dw.Lexicon([("aa", "b"), ()]), 1.0, distance="levenshtein"),
    ):
        with pytest.raises(dw.InvalidValue, match="a str is a word of single characters"):
            mechanism.release_all(["", ""])
        assert mechanism.language.accepts(mechanism.release_all([()])[0])


@given(st.data())
def test_encoding_and_back(data: st.DataObject) -> None:
    letters = data.draw(st.lists(st.characters(codec=None), min_size=1, max_size=40, unique=True))
    encoder = Encoder(Alphabet(letters))
    length = data.draw(st.integers(0, 6))
    words = data.draw(st.lists(st.text(st.sampled_from(letters), min_size=length, max_size=length), min_size=1))
    expected = [[letters.index(letter) for letter in word] for word in words]
    for codes in (encoder.texts(words, length), encoder.sequences([list(word) for word in words], length)):
        assert codes is not None
        assert codes.tolist() == expected
        assert encoder.words(codes, str) == words
        assert encoder.words(codes, tuple) == [tuple(word) for word in words]
    ragged = Ragged.of([np.array(row, dtype=np.int64) for row in expected])
    assert encoder.words(ragged, str) == words
    assert encoder.words(ragged, list) == [list(word) for word in words]
    other = data.draw(st.characters(codec=None).filter(lambda letter: letter not in letters))
    assert encoder.texts([*words, other * max(length, 1)], max(length, 1)) is None
