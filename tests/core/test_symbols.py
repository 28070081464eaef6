from __future__ import annotations

import pytest

import dpwords as dw
from dpwords.core.symbols import Alphabet, Word, hamming, levenshtein, same_kind, symbols_of


def test_alphabets_keep_their_order_and_each_symbol_once() -> None:
    assert Alphabet("banana").symbols == ("b", "a", "n")
    assert Alphabet({"b", "a", "c"}).symbols == ("a", "b", "c")
    assert len(Alphabet(iter([1, (2, 3), None]))) == 3


@pytest.mark.parametrize("bad", ["", [], [["a"]], 5, None])
def test_bad_alphabets_are_refused(bad: object) -> None:
    with pytest.raises(dw.InvalidValue, match="alphabet"):
        dw.Words(bad)  # type: ignore[arg-type]


def test_membership_takes_anything() -> None:
    letters = Alphabet("ab")
    assert "a" in letters
    assert "c" not in letters
    assert ["a"] not in letters


def test_kinds() -> None:
    assert same_kind("xy", ["a", "b"]) == "ab"
    assert same_kind(["x"], iter("ab")) == ["a", "b"]
    assert same_kind(("x",), iter("ab")) == ("a", "b")
    assert symbols_of("añ") == ("a", "ñ")
    assert hamming("karolin", "kathrin") == 3
    with pytest.raises(ValueError, match="argument"):
        hamming("ab", "abc")


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [("", "", 0), ("", "abc", 3), ("kitten", "sitting", 3), ("intention", "execution", 5), ([-1, 3], [-2, 3], 1)],
)
def test_levenshtein(one: Word, other: Word, edits: int) -> None:
    """Textbook values; −1 and −2 have the same hash in CPython, and are different symbols."""
    assert levenshtein(one, other) == levenshtein(other, one) == edits
