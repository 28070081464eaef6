"""Patterns, against Python's `re` and automata-lib."""

from __future__ import annotations

import itertools
import re

import pytest
from automata.fa.dfa import DFA
from automata.fa.nfa import NFA
from hypothesis import given, settings
from hypothesis import strategies as st

import dpwords as dw

LETTERS = "ab*"
WORDS = ["".join(word) for n in range(5) for word in itertools.product(LETTERS, repeat=n)]
ATOMS = st.sampled_from(["a", "b", r"\*", ".", "[ab]", "[^a]", "[a-b]", "[*]".replace("*", r"\*"), r"[^b\*]"])
REPEATED = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0}", "{,2}", "{2,}"])


def larger(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(parts, parts).map("".join),
        st.tuples(parts, parts).map("|".join).map("({})".format),
        st.tuples(parts.map("({})".format), REPEATED).map("".join),
    )


PATTERNS = st.recursive(ATOMS, larger, max_leaves=7)


@given(PATTERNS)
@settings(max_examples=400)
def test_patterns_match_what_re_matches(text: str) -> None:
    pattern = dw.Pattern(text, alphabet=LETTERS)
    assert [word for word in WORDS if pattern.accepts(word)] == [w for w in WORDS if re.fullmatch(text, w)]


@given(PATTERNS)
@settings(max_examples=200)
def test_an_alphabet_that_comes_later_is_the_same(text: str) -> None:
    met, own = dw.Words(LETTERS) & dw.Pattern(text), dw.Pattern(text, alphabet=LETTERS)
    assert [met.count(n) for n in range(5)] == [own.count(n) for n in range(5)]


@pytest.mark.parametrize(
    "text",
    ["(ab|c)*d", "a*b*c*", "(a|b)*a(a|b)(a|b)", "a?b?c?d?", "(a|ab)(c|bcd)(d*)", "((a|b)(c|d))*", "a{2,5}", "abcd"],
)
def test_automata_are_least(text: str) -> None:
    """The same language and as many states as automata-lib finds."""
    found = dw.Pattern(text, alphabet="abcd").explored()
    rows: dict[int, dict[str, int]] = {number: {} for number in range(len(found.states))}
    for source, label, target in zip(found.sources.tolist(), found.label, found.target.tolist(), strict=True):
        rows[source][label] = target
    pattern = dw.Pattern(text, alphabet="abcd")
    ends = {number for number, state in enumerate(found.states) if pattern.is_accepting(state)}
    ours = DFA(
        states=set(rows),
        input_symbols=set("abcd"),
        transitions=rows,
        initial_state=0,
        final_states=ends,
        allow_partial=True,
    )
    theirs = DFA.from_nfa(NFA.from_regex(text, input_symbols=set("abcd"))).to_partial(minify=True)
    assert ours == theirs
    assert len(ours.states) == len(theirs.states)


def test_names_with_a_separator() -> None:
    pattern = dw.Pattern("pay (ship | cancel)*", separator=" ")
    assert pattern.alphabet.symbols == ("pay", "ship", "cancel")
    assert pattern.accepts(["pay", "ship", "cancel"])
    assert not pattern.accepts(["ship"])
    assert dw.Pattern("pay(ship|cancel)*", separator=" ").count(3) == pattern.count(3) == 4
    commas = dw.Pattern("a-1,[b c],.?", separator=",", alphabet=["a-1", "b c", "x"])
    assert commas.accepts(["a-1", "b c", "x"])
    assert dw.Pattern("[a b]{2}", separator=" ").count(2) == 4
    assert dw.Pattern(r"v1\.2 \(x\)", separator=" ").accepts(["v1.2", "(x)"])
    assert not dw.Pattern("[^a b] .", separator=" ", alphabet=["a", "b", "c"]).accepts(["b", "c"])


def test_characters() -> None:
    assert dw.Pattern("a b").accepts("a b")  # without a separator, a space is a symbol
    assert dw.Pattern(r"\.\\\[").accepts(".\\[")
    assert dw.Pattern("[-a]-[b-]").accepts("--b")
    assert dw.Pattern("[a-c]+").count(2) == 9
    assert dw.Pattern("ä|🙂").accepts("🙂")


@pytest.mark.parametrize(
    ("text", "position", "rule"),
    [
        ("", 1, "a symbol is missing"),
        ("a|", 3, "a symbol is missing"),
        ("()", 2, "a symbol is missing"),
        ("(a", 3, r"a closing bracket \) is missing"),
        ("a)b", 2, "no bracket to close"),
        ("a**", 3, "two repetitions in a row"),
        ("a*?", 3, "two repetitions in a row"),
        ("*a", 1, "nothing to repeat"),
        ("(?:a)", 2, "nothing to repeat"),
        ("[ab", 4, "a closing bracket ] is missing"),
        ("a[]", 4, "a class needs at least one symbol"),
        ("[b-a]", 5, "the range b-a runs backwards"),
        ("[a[]", 3, r"\[ has no meaning here"),
        ("a]", 2, "] has no meaning here"),
        ("a}", 2, "} has no meaning here"),
        ("a{", 2, "repetitions are written"),
        ("a{,}", 2, "repetitions are written"),
        ("a{x}", 2, "repetitions are written"),
        ("a{3,2}", 2, "run backwards"),
        ("^a", 1, "whole words"),
        ("a$", 2, "whole words"),
        (r"a\d", 2, "neither a letter nor a digit"),
        ("a\\", 2, "neither a letter nor a digit"),
        ("(" * 101 + "a" + ")" * 101, 102, "at most 100 groups"),
    ],
)
def test_bad_patterns(text: str, position: int, rule: str) -> None:
    with pytest.raises(dw.InvalidValue, match=rf"^the pattern is not valid at character {position}: .*{rule}"):
        dw.Pattern(text)


def test_bad_arguments() -> None:
    with pytest.raises(dw.InvalidValue, match="a pattern must be a str"):
        dw.Pattern(["a"])  # type: ignore[arg-type]
    for separator in ("", "|", 3):
        with pytest.raises(dw.InvalidValue, match="the separator of a pattern"):
            dw.Pattern("a", separator=separator)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"re:ab names b, which is not in its alphabet"):
        dw.Pattern("ab", alphabet="a")


def test_patterns_that_grow_too_large() -> None:
    with pytest.raises(dw.TooLarge, match="at most 4096 symbols with its repetitions written out"):
        dw.Pattern("((a{1000}){1000}){1000}")
    with pytest.raises(dw.TooLarge, match="more than 100000 states"):
        dw.Pattern("(a|b)*a(a|b){25}")
    assert dw.Pattern("((a{0}){999999}){999999}b").accepts("b")


def test_nothing_to_release() -> None:
    for text in ("a{0}", "(a{0}|b{0})*"):
        with pytest.raises(dw.InvalidValue, match="has only the empty word"):
            dw.Exponential(dw.Pattern(text), 1.0)
    with pytest.raises(dw.InvalidValue, match=r"re:a\[\^a\] has no word"):
        dw.Exponential(dw.Pattern("a[^a]", alphabet="a"), 1.0)
    with pytest.raises(dw.InvalidValue, match=r"re:\.\* has no alphabet yet"):
        dw.Exponential(dw.Pattern(".*"), 1.0)


def test_every_word() -> None:
    mechanism = dw.Exponential(dw.Pattern("(a*b*)*", alphabet="ab"), 2.0)
    assert mechanism.certificate(5).method == "every word"
    free = dw.Exponential(dw.Words("ab"), 2.0)
    assert mechanism.expected_distance(length=5) == pytest.approx(free.expected_distance(length=5), rel=1e-9)
