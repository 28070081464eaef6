"""The edit channel: its law against brute force, its promise measured exactly, its parameters against a search."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import dpwords as dw
from dpwords import accuracy
from dpwords.core import scaled
from dpwords.core.limits import Limits
from dpwords.core.symbols import levenshtein
from dpwords.privacy.channel_parameters import LEAST_EPSILON, best_channel, keeps
from dpwords.spaces import exhaustive
from dpwords.spaces.edit_channel import Channel, CorruptedLaw

LITTLE = pytest.mark.filterwarnings("ignore:of each word")
CASES = [("a", 1.0), ("ab", 1.0), ("ab", 2.0), ("abc", 3.5), ("abcd", 2.5), ("abcd", 6.0), ("abcdefgh", 4.0)]


def fractions_of(channel: Channel) -> tuple[list[Fraction], list[Fraction]]:
    """The probabilities with which the program draws: stored weights over their exact sums."""
    groups = [channel.operations.exact(), channel.growth.exact()]
    operations, growth = ([weight / sum(group) for weight in group] for group in groups)
    return operations, growth


def reference(channel: Channel, word: str, output: str) -> float:
    """p(output | word) by plain recursion over what becomes of the word, gap by gap; proportions nothing with the
    kernel."""
    (deleted, kept, replaced), (empty, double, around) = fractions_of(channel)
    m = channel.symbols
    p_empty = Fraction(2 * empty / (1 + Fraction(math.sqrt(1 - 4 * empty * double))))  # to 1e-16, enough here

    @cache
    def length(t: int) -> Fraction:
        """The probability of an inserted length t, from T = empty + double·T∗T + around·T∗one symbol∗T."""
        if t == 0:
            return p_empty
        pairs = sum((length(a) * length(t - a) for a in range(1, t)), Fraction(0))
        triples = sum((length(a) * length(t - 1 - a) for a in range(t)), Fraction(0))
        return (double * pairs + around * triples) / (1 - 2 * double * p_empty)

    @cache
    def rest(i: int, j: int) -> Fraction:
        """What is left of the word from its symbol i on, gap before it included, becomes the output from j on."""
        total = length(len(output) - j) / m ** (len(output) - j) if i == len(word) else Fraction(0)
        for t in range(len(output) - j + 1):
            if i == len(word):
                break
            gap = length(t) / m**t
            total += gap * deleted * rest(i + 1, j + t)
            if j + t < len(output):
                same = output[j + t] == word[i]
                total += gap * (kept if same else replaced / max(m - 1, 1)) * rest(i + 1, j + t + 1)
        return total

    return float(rest(0, 0))


@LITTLE
@pytest.mark.parametrize(("alphabet", "epsilon"), [("a", 1.0), ("ab", 2.0), ("abc", 4.0)])
def test_probabilities_are_those_of_all_alignments(alphabet: str, epsilon: float) -> None:
    mechanism = dw.EditChannel(alphabet, epsilon)
    words = ["".join(word) for n in range(4) for word in itertools.product(alphabet, repeat=n)][:30]
    for word, output in itertools.product(words, words):
        expected = reference(mechanism._channel, word, output)
        assert math.exp(mechanism.log_prob(output, given=word)) == pytest.approx(expected, rel=1e-12)


@LITTLE
@pytest.mark.parametrize(("alphabet", "epsilon"), [("ab", 3.0), ("abc", 4.0)])
def test_probabilities_sum_to_one(alphabet: str, epsilon: float) -> None:
    """All outputs of up to so many symbols; the rest is less than the chance of that many insertions."""
    mechanism = dw.EditChannel(alphabet, epsilon)
    given_word = mechanism.given(alphabet)
    size = 10 if len(alphabet) == 2 else 7
    words = ["".join(w) for n in range(size + 1) for w in itertools.product(alphabet, repeat=n)]
    listed = math.fsum(math.exp(given_word.log_prob(word)) for word in words)
    more = sum(given_word.distance_distribution()[size + 1 - len(alphabet) :])
    assert 1 - more - 1e-12 <= listed <= 1 + 1e-12
    assert more < 1e-3


@LITTLE
@pytest.mark.parametrize(("alphabet", "epsilon"), CASES)
def test_the_exact_audit_finds_just_what_is_claimed(alphabet: str, epsilon: float) -> None:
    """Nothing above the claim; and the claim is reached, so that no ε is wasted."""
    length = {1: 12, 2: 4, 3: 3, 4: 2, 8: 1}[len(alphabet)]
    found = dw.audit.exact(dw.EditChannel(alphabet, epsilon), length)
    assert found.holds is (True if found.delta <= 1e-9 else None)
    assert found.epsilon <= epsilon
    assert found.epsilon == pytest.approx(epsilon, abs=1e-9)
    assert found.words == sum(len(alphabet) ** n for n in range(length + 1))


@LITTLE
@pytest.mark.parametrize(("alphabet", "epsilon"), [("ab", 0.7), ("ab", 2.0), ("abc", 3.5), ("abcdefghijklmnop", 6.0)])
def test_long_outputs_of_one_or_two_symbols_tell_no_more(alphabet: str, epsilon: float) -> None:
    """An edit in the middle, and outputs of up to 120 symbols: a run, a run with one other, alternating, halves."""
    mechanism = dw.EditChannel(alphabet, epsilon)
    pairs = [("", "a"), ("a", "b"), ("aaa", "aaaa"), ("aba", "abba"), ("bab", "bbb"), ("ab" * 5, "ab" * 4 + "a")]
    reached = 0.0
    for one, other in pairs:
        assert levenshtein(one, other) == 1
        before, after = mechanism.given(one), mechanism.given(other)
        for t in (1, 2, 3, 10, 40, 120):
            for output in ("a" * t, "b" * t, "a" * (t - 1) + "b", ("ab" * t)[:t], "a" * (t // 2) + "b" * (t - t // 2)):
                loss = abs(before.log_prob(output) - after.log_prob(output))
                assert loss <= epsilon + 1e-11
                reached = max(reached, loss)
    assert reached == pytest.approx(epsilon, abs=1e-9)


@LITTLE
@settings(max_examples=60, deadline=None)
@given(
    alphabet=st.sampled_from(["a", "ab", "abc", "abcdefghij"]),
    epsilon=st.floats(0.7, 12.0),
    k=st.integers(1, 2),
    data=st.data(),
)
def test_any_pair_at_any_output(alphabet: str, epsilon: float, k: int, data: st.DataObject) -> None:
    word, other, output = (data.draw(st.text(alphabet, max_size=9)) for _ in range(3))
    mechanism = dw.EditChannel(alphabet, epsilon * k, k)
    loss = abs(mechanism.log_prob(output, given=word) - mechanism.log_prob(output, given=other))
    assert loss <= mechanism.guarantee.loss(levenshtein(word, other)) + 1e-10  # type: ignore[union-attr]


def conditions_hold(m: int, limit: float, deleted: float, kept: float) -> bool:
    """What a channel with these probabilities has to satisfy (docs/theory.md), written down once more."""
    double, around = deleted / limit, m * kept / limit
    empty, other = 1 - double - around, (1 - deleted - kept) / max(m - 1, 1)
    if double + around >= 0.5 or other < 0 or kept < other:
        return False
    nothing = (1 - math.sqrt(1 - 4 * double * empty)) / (2 * double)
    one = around * nothing**2 / (1 - 2 * double * nothing)  # P(an inserted word has one symbol)
    shorter, longer = nothing**2, 2 * nothing * one  # the same for two inserted words side by side
    return deleted * nothing * limit >= 1 and (
        deleted * longer + kept * m * shorter <= limit * (deleted * longer + other * m * shorter)
    )


@LITTLE
@pytest.mark.parametrize(("m", "epsilon"), [(2, 1.6), (2, 2.0), (4, 2.0), (4, 3.0), (26, 4.0), (26, 5.0), (100, 5.5)])
def test_no_channel_of_the_family_makes_fewer_edits(m: int, epsilon: float) -> None:
    channel, limit = best_channel(m, Fraction(epsilon)), math.exp(epsilon)
    deleted, kept, _ = channel.probabilities
    edits = 1 - kept + channel.inserted
    best = math.inf
    for one in deleted * np.concatenate([np.linspace(0.5, 1.5, 101), 1 + np.logspace(-6, 0.5, 40)]):
        for other in np.concatenate([np.linspace(0.001, 0.999, 400), kept + np.linspace(-1e-3, 1e-3, 81)]):
            if one + other < 1 and conditions_hold(m, limit, float(one), float(other)):
                best = min(best, 1 - other + m * other / (limit - 2 * one - 2 * m * other))
    assert edits <= best * (1 + 1e-9)
    assert best <= edits * 1.02  # the search does find channels nearly as good


@pytest.mark.parametrize(
    ("m", "epsilon", "kept", "inserted"),
    [
        (2, 2, 0.730612, 0.354186),
        (4, 4, 0.929284, 0.0788789),
        (16, 6, 0.961667, 0.0412898),
        (16, 10, 0.999274, 0.000726927),
        (26, 8, 0.991348, 0.00879872),
    ],
)
def test_fewer_edits_than_the_first_parameters(m: int, epsilon: float, kept: float, inserted: float) -> None:
    """Those with the plain condition on substitutions, worked out independently, are a little worse."""
    channel = best_channel(m, Fraction(epsilon))
    assert channel.edits(1000) < 1000 * (1 - kept) + 1001 * inserted + 1e-2
    assert channel.probabilities[1] == pytest.approx(kept, rel=0.03)
    assert channel.inserted == pytest.approx(inserted, rel=0.06)


@LITTLE
@pytest.mark.parametrize(("m", "epsilon"), [(1, 0.7), (2, 0.7), (2, 2.0), (26, 4.0), (1000, 8.0), (4, 100.0)])
def test_parameters_are_safe_as_stored_and_hardly_more(m: int, epsilon: float) -> None:
    channel, rate = best_channel(m, Fraction(epsilon)), Fraction(epsilon)
    assert keeps(channel, rate)
    assert not keeps(channel, rate - Fraction(1, 10**12))
    spoilt = Fraction(1, 10**11)
    deleted, kept, replaced = channel.operations.exact()
    empty, double, around = channel.growth.exact()
    for operations in ([deleted * (1 - spoilt), kept, replaced], [deleted, kept * (1 + spoilt), replaced]):
        assert not keeps(replace(channel, operations=scaled.from_fractions(operations)), rate)
    for growth in ([empty, double * (1 - spoilt), around], [empty, double, around * (1 - spoilt)]):
        assert not keeps(replace(channel, growth=scaled.from_fractions(growth)), rate)


def test_a_channel_is_refused_for_each_condition_by_itself() -> None:
    """Probabilities that satisfy all conditions amply but one, by hand for m = 4, E = e^3 = 20.09."""

    def channel(operations: list[float], growth: list[float]) -> Channel:
        return Channel(4, *(scaled.from_fractions(map(Fraction, each)) for each in (operations, growth)))

    rate = Fraction(3)
    good = channel([0.07, 0.70, 0.23], [0.84, 0.005, 0.155])
    assert keeps(good, rate)
    assert not keeps(channel([0.07, 0.70, 0.23], [0.842, 0.003, 0.155]), rate)  # p1·E = 0.060 < δ
    assert not keeps(channel([0.07, 0.70, 0.23], [0.865, 0.005, 0.13]), rate)  # p2·E = 2.61 < 4κ
    assert not keeps(channel([0.05, 0.70, 0.25], [0.84, 0.005, 0.155]), rate)  # δ·h(0)·E = 0.85
    assert not keeps(channel([0.07, 0.85, 0.08], [0.815, 0.005, 0.18]), rate)  # κ = 0.85 > 20·0.0267 + 0.09
    assert not keeps(channel([0.07, 0.01, 0.92], [0.84, 0.005, 0.155]), rate)  # κ′ = 0.307 > 20·κ
    assert not keeps(channel([0.07, 0.70, 0.23], [0.39, 0.305, 0.305]), rate)  # trees that never end


def test_proportions_of_epsilon_are_exact() -> None:
    """2.1/3 in floats is not 2.1 divided by 3."""
    assert Fraction(2.1) / 3 != Fraction(2.1 / 3)
    channel = dw.EditChannel("abc", 8.1, k=3)._channel
    assert channel.operations.exact() == best_channel(3, Fraction(8.1) / 3).operations.exact()
    assert keeps(channel, Fraction(8.1) / 3)


@LITTLE
@pytest.mark.parametrize(
    ("alphabet", "epsilon", "word"),
    [
        ("a", 1.0, "aaa"),
        ("ab", 2.0, ""),
        ("ab", 4.0, "b"),
        ("ab", 2.0, "abba"),
        ("abc", 3.0, "cab"),
        ("abcd", 4.0, "d"),
    ],
)
@pytest.mark.parametrize(("piece", "batch"), [(2**18, 2**20), (1, 7), (3, 64)])
def test_draws_follow_the_probabilities(alphabet: str, epsilon: float, word: str, piece: int, batch: int) -> None:
    """Also where words are corrupted in small pieces and drawn in small batches."""
    given_word = dw.EditChannel(alphabet, epsilon, limits=Limits(piece=piece, batch=batch)).seeded(5).given(word)
    draws = 20_000 if batch > 64 else 3000
    seen = Counter(given_word.simulate(draws))
    listed = exhaustive.words_up_to(dw.Words(alphabet), 5 if len(alphabet) > 1 else 12)
    expected = {"".join(w): draws * math.exp(given_word.log_prob("".join(w))) for w in listed}
    common = {w: number for w, number in expected.items() if number >= 5}
    found = [seen[w] for w in common]
    rest = draws - sum(found), draws - sum(common.values())
    test = stats.chisquare([*found, rest[0]], [*common.values(), rest[1]])
    assert test.pvalue > 1e-4


def test_long_words_are_handled_in_pieces() -> None:
    """Expected and found lengths, symbols kept and replaced: five standard deviations."""
    mechanism = dw.EditChannel("acgt", 5, limits=Limits(piece=1000)).seeded(1)
    word = "acgt" * 25_000
    made = mechanism.release(word)
    n = len(word)
    lengths = n * (1 - mechanism.deleted) + (n + 1) * mechanism.inserted
    assert abs(len(made) - lengths) < 5 * math.sqrt(n * (mechanism.deleted + 2 * mechanism.inserted))
    assert levenshtein(word[:2000], made[:2000]) < 2000 * 0.2
    edits = mechanism.expected_distance(word)
    assert levenshtein(word, made) <= edits + 5 * math.sqrt(2 * edits)
    assert levenshtein(word, made) > 0.8 * edits


@LITTLE
@pytest.mark.parametrize("length", [0, 1, 1_000_000])
@pytest.mark.parametrize("symbols", [1, 1000])
def test_every_length_and_alphabet(length: int, symbols: int) -> None:
    mechanism = dw.EditChannel(range(symbols), 9).seeded(3)
    word = [position * 7919 % symbols for position in range(length)]
    made = mechanism.release(word)
    assert type(made) is list
    assert all(symbol in range(symbols) for symbol in set(made))
    assert abs(len(made) - length) <= 10 + 3 * mechanism.expected_distance(word)


@LITTLE
@pytest.mark.parametrize(("alphabet", "epsilon", "word"), [("a", 1.0, "aa"), ("ab", 2.0, "abba"), ("abcd", 9.0, "")])
def test_the_number_of_edits(alphabet: str, epsilon: float, word: str) -> None:
    """Its distribution sums to 1, has the expected mean, and its first entry is κ^n times empty gaps."""
    mechanism = dw.EditChannel(alphabet, epsilon)
    proportions = mechanism.given(word).distance_distribution()
    assert math.fsum(proportions) == pytest.approx(1, abs=1e-12)
    mean = math.fsum(edits * proportion for edits, proportion in enumerate(proportions))
    expected = len(word) * (mechanism.deleted + mechanism.replaced) + (len(word) + 1) * mechanism.inserted
    assert mean == pytest.approx(expected, rel=1e-9)
    assert mechanism.expected_distance(word) == pytest.approx(expected, rel=1e-12)
    if word:
        assert mechanism.expected_distance(length=len(word)) == mechanism.expected_distance(word)
    nothing = math.exp(mechanism.log_prob("", given=""))  # the chance that a gap stays empty
    assert proportions[0] == pytest.approx(mechanism.kept ** len(word) * nothing ** (len(word) + 1), rel=1e-9)


@pytest.mark.parametrize(("length", "epsilon"), [(10**6, 5.0), (10**7, 30.0), (10**6, 100.0)])
def test_the_number_of_edits_of_long_words(length: int, epsilon: float) -> None:
    law = CorruptedLaw(np.zeros(length, dtype=np.int64), best_channel(4, Fraction(epsilon)))
    proportions = law.distance_distribution()
    assert math.fsum(proportions) == pytest.approx(1, abs=1e-10)
    mean = float(proportions @ np.arange(len(proportions)))
    assert mean == pytest.approx(law.expected_distance(), rel=1e-8, abs=1e-13)


def test_the_promise_is_in_terms_of_levenshtein_distance() -> None:
    mechanism = dw.EditChannel("abc", 6, k=2)
    assert mechanism.guarantee == dw.PureDP(6.0, "levenshtein", 2, 0.0, "channel", proof=12)
    assert "insertions" in str(mechanism.guarantee)
    assert mechanism.kept == dw.EditChannel("abc", 3).kept
    assert isinstance(mechanism.seeded(1).guarantee, dw.NotPrivate)
    assert mechanism.seeded(1).release("abc") == mechanism.seeded(1).release("abc")
    assert dw.audit.exact(mechanism, 2).epsilon == pytest.approx(3 * 2, abs=1e-9)


def test_beyond_a_hundred_no_more_is_spent() -> None:
    assert best_channel(4, Fraction(10**6)).probabilities == best_channel(4, Fraction(100)).probabilities
    assert dw.EditChannel("acgt", 1e6).release("gattaca") == "gattaca"


def test_little_of_a_word_survives_a_small_epsilon() -> None:
    with pytest.warns(UserWarning, match=r"only 32% of the symbols"):
        dw.EditChannel("abcdefghijklmnopqrstuvwxyz", 4)
    with pytest.warns(UserWarning, match=r"only the length will show"):
        flat = dw.EditChannel("ab", 1)
    assert flat.log_prob("ab", given="aa") == pytest.approx(flat.log_prob("ab", given="bb"), abs=1e-12)


@LITTLE
@pytest.mark.parametrize("k", range(1, 40))
def test_the_least_epsilon_is_accepted_for_any_k(k: int) -> None:
    assert dw.EditChannel("ab", 0.7 * k, k).kept > 0
    assert accuracy.least_epsilon(lambda e: dw.EditChannel("ab", e, k), 1e9, 5, accuracy.lowest_epsilon(k, "all")) > 0


@pytest.mark.parametrize(
    "setting",
    [
        "getcontext().traps[Inexact] = True",
        "getcontext().prec = 1",
        "getcontext().Emin = -20",
        "DefaultContext.Emax = 50",
    ],
)
def test_the_callers_decimal_context_plays_no_part(setting: str) -> None:
    script = (
        f"from decimal import *; {setting}; import dpwords as dw; "
        "print(dw.EditChannel('abcd', 5)._channel.operations.exact(), dw.EditChannel('abcd', 1e6).kept)"
    )
    channel = dw.EditChannel("abcd", 5)._channel
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"{channel.operations.exact()} 1.0\n"


@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 1), (0.69, 1), (1.3, 2), (6.9, 10)])
def test_the_least_epsilon_is_said(epsilon: float, k: int) -> None:
    with pytest.raises(dw.InvalidValue, match=f"at least {LEAST_EPSILON} for each edit"):
        dw.EditChannel("ab", epsilon, k)


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "2", None, True])
def test_bad_epsilon_is_refused(bad: object) -> None:
    with pytest.raises(dw.InvalidValue, match="epsilon"):
        dw.EditChannel("ab", bad)  # type: ignore[arg-type]


def test_bad_words_are_refused_without_a_symbol_of_them() -> None:
    mechanism = dw.EditChannel("ab", 3)
    with pytest.raises(dw.NotInLanguage, match="symbol 3 of 4") as caught:
        mechanism.release("abXb")
    assert "X" not in str(caught.value)
    with pytest.raises(dw.InvalidValue, match="a word must be a str, a list or a tuple"):
        mechanism.release(5)  # type: ignore[type-var]
    assert mechanism.log_prob("abX", given="ab") == -math.inf


def test_too_long_for_a_probability() -> None:
    mechanism = dw.EditChannel("ab", 3)
    with pytest.raises(dw.TooLarge, match="use shorter words"):
        mechanism.log_prob("ab" * 5000, given="ab" * 5000)
    with pytest.raises(dw.TooLarge, match="use shorter words"):
        mechanism.log_prob("ab" * 100_000, given="")
