"""The exponential mechanism against the brute-force twin, the notes' figures, and its own promise."""

from __future__ import annotations

import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import contract
import dpwords as dw
from dpwords.core.randomness import CipherStream, SeededSource
from dpwords.spaces import exhaustive
from zoo import ALL, FREE, SYSTEMS, random_systems


def linear(epsilon: float, k: int, share: float) -> contract.Weight:
    return lambda d: math.exp(-share * epsilon * d / k)


def inverse(epsilon: float, k: int, share: float, alpha: float = 0.7) -> contract.Weight:
    lemma = k / (alpha * (k + alpha))
    return lambda d: math.exp(share * epsilon / lemma / (d + alpha))


def staircase(epsilon: float, k: int, share: float, first: int) -> contract.Weight:
    return lambda d: math.exp(-share * epsilon * math.ceil((d - first) / k))


UTILITIES: list[tuple[Any, Any]] = [
    (dw.Linear(), linear),
    (dw.Inverse(0.7), inverse),
    (dw.Staircase(0), lambda e, k, share: staircase(e, k, share, 0)),
]


@pytest.mark.parametrize(("utility", "formula"), UTILITIES)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 1), (4.0, 2)])
def test_textbook_equals_the_twin(name: str, utility: Any, formula: Any, epsilon: float, k: int) -> None:
    language, length = ALL[name]
    mechanism = dw.Exponential(language, epsilon, k, utility, "textbook")
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 0.5))
    contract.check_promise(mechanism, length)


@pytest.mark.parametrize(("utility", "formula"), UTILITIES)
@pytest.mark.parametrize("name", FREE)
@pytest.mark.parametrize(("epsilon", "k"), [(0.3, 1), (4.0, 2)])
def test_tight_on_free_words_equals_the_twin(name: str, utility: Any, formula: Any, epsilon: float, k: int) -> None:
    language, length = FREE[name]
    mechanism = dw.Exponential(language, epsilon, k, utility)
    assert mechanism.calibration == "tight"
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 1.0))
    contract.check_promise(mechanism, length)


@pytest.mark.parametrize("name", SYSTEMS)
@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
def test_the_default_on_systems_is_linear_and_certified(name: str, epsilon: float) -> None:
    language, length = SYSTEMS[name]
    mechanism = dw.Exponential(language, epsilon)
    assert (mechanism.calibration, mechanism.utility) == ("tight", dw.Linear())
    rate = mechanism.certificate(length).c
    assert epsilon / 2 * (1 - 1e-12) <= rate <= epsilon
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-rate * d))
    contract.check_promise(mechanism, length)
    contract.check_draws(mechanism, length)
    if language.count(length) <= 16:
        contract.check_stored_law(mechanism, length)


@given(random_systems(), st.floats(0.05, 12), st.integers(1, 3))
@settings(max_examples=200, deadline=None)
def test_random_systems_keep_the_promise_with_a_certified_rate(case: tuple[Any, int], epsilon: float, k: int) -> None:
    (language, length), k = case, min(k, case[1])
    mechanism = dw.Exponential(language, epsilon, k)
    rate = mechanism.certificate(length).c
    contract.check_probabilities(mechanism, length, lambda d: math.exp(-rate * d))
    contract.check_promise(mechanism, length)


@given(random_systems(), st.floats(0.05, 12), st.integers(1, 3), st.sampled_from(UTILITIES))
@settings(max_examples=150, deadline=None)
def test_random_systems_equal_the_twin(
    case: tuple[Any, int], epsilon: float, k: int, utility_and_formula: tuple[Any, Any]
) -> None:
    (language, length), (utility, formula) = case, utility_and_formula
    k = min(k, length)
    mechanism = dw.Exponential(language, epsilon, k, utility, "textbook")
    contract.check_probabilities(mechanism, length, formula(epsilon, k, 0.5))
    contract.check_promise(mechanism, length)


@given(random_systems(), st.floats(1e-3, 100), st.sampled_from([dw.Linear(), dw.Inverse(0.7)]))
@settings(max_examples=40, deadline=None)
def test_random_systems_keep_the_promise_in_rational_arithmetic(
    case: tuple[Any, int], epsilon: float, utility: Any
) -> None:
    language, length = case
    if language.count(length) <= 16:
        contract.check_stored_law(dw.Exponential(language, epsilon, utility=utility), length)


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
@pytest.mark.parametrize(
    "mechanism",
    [
        lambda e: (dw.Exponential(dw.Words("ab"), e), 4),
        lambda e: (dw.Exponential(dw.Words("abc"), e, k=2), 3),
        lambda e: (dw.Exponential(dw.Words("abc"), e, utility=dw.Inverse(0.1)), 3),
        lambda e: (dw.Exponential(SYSTEMS["dead ends"][0], e), 4),
        lambda e: (dw.Exponential(SYSTEMS["accepting set"][0], e, k=2), 4),
        lambda e: (dw.Exponential(SYSTEMS["any start"][0], e, utility=dw.Inverse(2.5)), 3),
        lambda e: (dw.Exponential(SYSTEMS["parallel actions"][0], e, k=3, utility=dw.Staircase(1)), 3),
    ],
)
def test_thresholds_read_back_keep_the_promise(mechanism: Any, epsilon: float) -> None:
    contract.check_stored_law(*mechanism(epsilon))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("utility", [dw.Linear(), dw.Inverse(1.0)])
def test_draws_follow_the_law(name: str, utility: Any) -> None:
    language, length = ALL[name]
    contract.check_draws(dw.Exponential(language, 1.5, utility=utility), length)


@pytest.mark.parametrize(
    ("n", "m", "k", "epsilon", "best", "linear_tight", "plain_staircase", "textbook"),
    [
        (8, 4, 1, 4, 0.4167, 0.4167, 0.4167, 2.3101),
        (8, 4, 2, 8, 0.1648, 0.4167, 0.1648, 2.3101),
        (8, 4, 3, 8, 1.0739, 1.3800, 1.0739, 3.5327),
        (16, 4, 4, 12, 1.4969, 2.0792, 1.9647, 6.4157),
        (32, 16, 2, 16, 0.0249, 0.1602, 0.0249, 6.8967),
    ],
)
def test_expected_distances_of_the_notes(
    n: int, m: int, k: int, epsilon: float, best: float, linear_tight: float, plain_staircase: float, textbook: float
) -> None:
    words = dw.Words(range(m))

    def expected(utility: Any, calibration: Any) -> float:
        return dw.Exponential(words, epsilon, k, utility, calibration).expected_distance(length=n)

    assert expected(None, "tight") == pytest.approx(best, abs=5e-5)
    assert expected(dw.Linear(), "tight") == pytest.approx(linear_tight, abs=5e-5)
    assert expected(dw.Staircase(0), "tight") == pytest.approx(plain_staircase, abs=5e-5)
    assert expected(dw.Linear(), "textbook") == pytest.approx(textbook, abs=5e-5)


@pytest.mark.parametrize(
    ("n", "m", "k", "epsilon"), [(6, 3, 1, 1.0), (6, 3, 2, 2.0), (9, 2, 3, 1.5), (12, 5, 4, 6.0), (5, 4, 5, 3.0)]
)
def test_the_default_on_free_words_is_the_optimum(n: int, m: int, k: int, epsilon: float) -> None:
    """The least expected distance over all f with f(i) ≤ e^ε f(j) for |i − j| ≤ k, by linear programming."""
    sizes = np.array([math.comb(n, d) * (m - 1) ** d for d in range(n + 1)], dtype=float)
    rows = []
    for i in range(n + 1):
        for j in range(max(0, i - k), min(n, i + k) + 1):
            if i != j:
                row = np.zeros(n + 1)
                row[i], row[j] = 1.0, -math.exp(epsilon)
                rows.append(row)
    best = linprog(sizes * np.arange(n + 1), rows, np.zeros(len(rows)), sizes[None, :], [1.0]).fun
    assert dw.Exponential(dw.Words(range(m)), epsilon, k).expected_distance(length=n) == pytest.approx(best, rel=1e-7)


def test_the_papers_utility_is_nearly_uniform_and_linear_is_not() -> None:
    words = dw.Words("0123456789abcdef")
    paper = dw.Exponential(words, 10, utility=dw.Inverse(1.0), calibration="textbook")
    assert paper.expected_distance(length=32) == pytest.approx(29.98, abs=5e-3)
    assert dw.Exponential(words, 10, calibration="textbook").expected_distance(length=32) == pytest.approx(
        2.94, abs=5e-3
    )
    assert dw.Exponential(words, 10).expected_distance(length=32) == pytest.approx(0.022, abs=5e-4)


def test_textbook_on_grids_as_in_the_notes() -> None:
    small = dw.GridWorld(3, 3).by_states()
    assert small.count(4) == 48
    found = [dw.Exponential(small, e, calibration="textbook").expected_distance(length=4) for e in (1, 2, 3, 4, 6)]
    assert found == pytest.approx([2.1319, 1.5532, 1.0419, 0.6637, 0.2530], abs=5e-5)
    run = [((i + 0) // 2, (i + 1) // 2) for i in range(1, 19)]  # E, S, E, S, …
    large = dw.GridWorld(15, 15).by_states()
    found = [dw.Exponential(large, e, calibration="textbook").expected_distance(run) for e in (3, 4, 5, 6)]
    assert found == pytest.approx([4.574, 2.409, 1.469, 0.918], abs=5e-4)


def test_no_neighbours_still_means_noise() -> None:
    """Two words at distance 3 and nothing between: the promise is 3ε, not infinity."""
    language, length = SYSTEMS["no neighbours"]
    found = dw.audit.exact(dw.Exponential(language, 1.0), length)
    assert found.worst is not None
    assert found.worst.distance == 3
    assert 0 < found.worst.loss <= 3.0


# --- long words, large alphabets, small and large ε -------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
def test_free_words_of_2000_symbols_over_1000(epsilon: float) -> None:
    n, m = 2000, 1000
    word = [i % m for i in range(n)]
    mechanism = dw.Exponential(dw.Words(range(m)), epsilon)
    distribution = mechanism.given(word)
    keep = 1 / (1 + (m - 1) * math.exp(-epsilon))  # randomized response, symbol by symbol
    assert distribution.expected_distance() == pytest.approx(n * (1 - keep), rel=1e-9)
    opposite = [(i + 1) % m for i in range(n)]
    assert distribution.log_prob(opposite) == pytest.approx(n * (math.log(keep) - epsilon), rel=1e-12)
    assert distribution.log_prob(word) == pytest.approx(n * math.log(keep), rel=1e-9)
    assert math.fsum(distribution.distance_distribution()) == pytest.approx(1, abs=1e-12)
    out = mechanism.release(word)
    assert len(out) == n
    assert set(out) <= set(range(m))


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 100.0])
def test_linear_utility_on_a_system_of_2000_steps_and_1000_symbols(epsilon: float) -> None:
    """From either state any of 1000 actions leads to the other state: free words, as a system, so ε is all spent."""
    n, m = 2000, 1000
    system = dw.TransitionSystem({0: dict.fromkeys(range(m), 1), 1: dict.fromkeys(range(m), 0)}, start=0)
    word = tuple(i % m for i in range(n))
    mechanism = dw.Exponential(system, epsilon)
    distribution = mechanism.given(word)
    keep = 1 / (1 + (m - 1) * math.exp(-epsilon))
    assert mechanism.certificate.method == "every word"
    assert distribution.expected_distance() == pytest.approx(n * (1 - keep), rel=1e-8)
    opposite = tuple((i + 1) % m for i in range(n))
    assert distribution.log_prob(opposite) == pytest.approx(n * (math.log(keep) - epsilon), rel=1e-8)
    assert system.accepts(mechanism.release(word))


def test_other_utilities_on_long_runs_are_refused_before_memory_is_taken() -> None:
    world = dw.GridWorld(15, 15)
    with pytest.raises(dw.TooLarge, match=r"would take \d+\.\d GiB.*Linear"):
        dw.Exponential(world, 1.0, utility=dw.Inverse(1.0)).release("ESWN" * 5000)
    assert world.accepts(dw.Exponential(world, 1.0).release("ESWN" * 500))


class Chosen:
    """A source whose streams begin with chosen bytes and go on with a seeded stream."""

    def __init__(self, first: bytes) -> None:
        self.first = first

    def open(self) -> Chosen:
        self.left: bytes = self.first
        self.rest: CipherStream = SeededSource(0).open()
        return self

    def take(self, count: int) -> bytes:
        head, self.left = self.left[:count], self.left[count:]
        return head + self.rest.take(count - len(head))


def test_chosen_bits_reach_the_rarest_word_of_a_system() -> None:
    """All zeros take the first move of each cell, whatever it weighs."""
    world = dw.GridWorld(15, 15, start=(7, 7))
    word = "EW" * 1000
    mechanism = dw.Exponential(world, 100.0)
    out = mechanism._drawing_from(Chosen(bytes(2**22))).simulate(word, 1)[0]
    assert out[:15] == "N" * 7 + "E" * 7 + "S"  # north to the wall, east to the corner
    assert world.accepts(out)
    assert mechanism.log_prob(out, given=word) < -150 * math.log(2)


def test_chosen_bits_reach_the_rarest_free_word() -> None:
    """All ones take the largest distance: every symbol changed, with probability e^(−200000)."""
    mechanism = dw.Exponential(dw.Words("ab"), 100.0)
    word = "ab" * 1000
    out = mechanism._drawing_from(Chosen(b"\xff" * 2**16)).simulate(word, 1)[0]
    assert out == "ba" * 1000
    assert mechanism.log_prob(out, given=word) == pytest.approx(-200_000)


def test_chosen_bits_reach_the_rarest_word_by_distance_classes() -> None:
    """The same through shells: probability e^(−10000)."""
    mechanism = dw.Exponential(dw.Words("ab"), 100.0, k=2)
    out = mechanism._drawing_from(Chosen(b"\xff" * 2**13)).simulate("ab" * 100, 1)[0]
    assert out == "ba" * 100
    assert mechanism.log_prob(out, given="ab" * 100) == pytest.approx(-10_000)


# --- randomness ----------------------------------------------------------------------------------------------


def test_seeded_draws_repeat_and_are_not_private() -> None:
    mechanism = dw.Exponential(dw.Words("abcd"), 1.0)
    one, two = mechanism.seeded(5), mechanism.seeded(5)
    first = [one.release("abcdabcd") for _ in range(20)]
    assert first == [two.release("abcdabcd") for _ in range(20)]
    assert len(set(first)) > 10
    assert isinstance(one.guarantee, dw.NotPrivate)
    assert isinstance(mechanism.guarantee, dw.PureDP)
    with pytest.raises(dw.InvalidValue, match="not known"):
        one.guarantee.true_epsilon(4)


def test_threads_do_not_share_draws() -> None:
    mechanism = dw.Exponential(dw.Words("abcdefgh"), 0.1)
    with ThreadPoolExecutor(8) as pool:
        outs = list(pool.map(lambda _: mechanism.release("abcdefgh" * 8), range(200)))
    assert len(set(outs)) == 200


def test_a_forked_process_draws_anew() -> None:
    script = """
import os
import dpwords as dw
mechanism = dw.Exponential(dw.Words("abcdefgh"), 0.1)
mechanism.release("abcdefgh")
child = os.fork()
os.write(1, mechanism.release("abcdefgh" * 8).encode() + b"\\n")
if child: os.wait()
"""
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert len(out) == 2
    assert out[0] != out[1]


# --- what goes in and what comes out --------------------------------------------------------------------------


def test_words_come_back_as_they_went_in() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 0.5)
    assert isinstance(mechanism.release("abab"), str)
    assert isinstance(mechanism.release(["a", "b"]), list)
    assert isinstance(mechanism.release(("a", "b")), tuple)
    mixed = dw.Exponential(dw.Words([("cell", 1), None, 3.5]), 0.5)
    out = mixed.release([None, 3.5, ("cell", 1)])
    assert set(out) <= {("cell", 1), None, 3.5}
    assert mechanism.simulate("ab", 0) == []


def test_a_distribution_does_not_follow_later_changes_of_the_word() -> None:
    word = list("abc")
    at = dw.Exponential(dw.Words("abc"), 1.0).given(word)
    before = at.log_prob("abc")
    word.append("a")
    assert at.log_prob("abc") == before > -math.inf
    assert len(at.simulate(1)[0]) == 3


def test_log_prob_is_minus_infinity_outside() -> None:
    given_word = dw.Exponential(dw.Words("ab"), 1.0).given("abab")
    assert given_word.log_prob("aba") == -math.inf
    assert given_word.log_prob("abac") == -math.inf
    on_grid = dw.Exponential(dw.GridWorld(2, 2), 1.0)
    assert on_grid.log_prob("N", given="E") == -math.inf


def bad_word_cases() -> list[tuple[Any, Any, str]]:
    grid = dw.GridWorld(3, 3)
    return [
        (dw.Words("abc"), "", "empty word"),
        (dw.Words("abc"), "abd", r"symbol 3 of 3 is not in the alphabet"),
        (dw.Words("abc"), ["a", ["b"]], r"symbol 2 of 2 is not in the alphabet"),
        (dw.Words("abc", max_length=2), "abc", "at most 2 symbols"),
        (dw.Words("abc"), 17, "a word is a str, a list or a tuple"),
        (dw.Words("abc"), {"a"}, "a word is a str, a list or a tuple"),
        (dw.Words(["go", "stop"]), "go", "pass a list"),
        (grid.by_states(), "ab", "pass a list"),
        (grid, "NE", r"symbol 1 of 2 cannot follow"),
        (SYSTEMS["accepting set"][0], "ab", "ends where no word"),
    ]


@pytest.mark.parametrize(("language", "word", "message"), bad_word_cases())
def test_bad_words_are_refused(language: Any, word: Any, message: str) -> None:
    for mechanism in (dw.Exponential(language, 1.0), dw.PaperLiteral(language, 1.0)):
        with pytest.raises(dw.InvalidValue, match=message):
            mechanism.given(word)


def test_errors_do_not_tell_which_word_it_was() -> None:
    mechanism = dw.Exponential(dw.Words("abc"), 1.0)
    messages = set()
    for word in ("abXc", "ccYa", "aaZb"):
        with pytest.raises(dw.NotInLanguage) as caught:
            mechanism.release(word)
        messages.add(str(caught.value))
    assert len(messages) == 1
    assert not set("XYZ") & set(messages.pop())


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "abc", None, True, 1e9, 1j])
def test_bad_epsilon_is_refused(epsilon: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="epsilon is"):
        dw.Exponential(dw.Words("ab"), epsilon)


def test_epsilon_below_the_rounding_slack_is_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="rounding"):
        dw.Exponential(dw.Words("ab"), 1e-15).release("ab")


@pytest.mark.parametrize("k", [0, -1, 1.5, "1", True, None])
def test_bad_k_is_refused(k: Any) -> None:
    with pytest.raises(dw.InvalidValue, match="k is a whole number, 1 or more"):
        dw.Exponential(dw.Words("ab"), 1.0, k)


def test_k_beyond_the_length_is_refused() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.0, k=3)
    assert len(mechanism.release("aba")) == 3
    for use in (lambda: mechanism.release("ab"), lambda: mechanism.expected_distance(length=2)):
        with pytest.raises(dw.InvalidValue, match="k is at most the word's length"):
            use()


def test_other_bad_arguments_are_refused() -> None:
    words = dw.Words("ab")
    with pytest.raises(dw.InvalidValue, match="calibration is"):
        dw.Exponential(words, 1.0, calibration="loose")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match=r"utility is Linear\(\)"):
        dw.Exponential(words, 1.0, utility=dw.Linear)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="the language is"):
        dw.Exponential("ab", 1.0)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="distance is 'hamming'"):
        dw.Exponential(words, 1.0, distance="edits")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="length is a whole number, 1 or more"):
        dw.Exponential(words, 1.0).expected_distance(length=0)
    with pytest.raises(dw.InvalidValue, match="a seed is"):
        dw.Exponential(words, 1.0).seeded(None)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="draws is a whole number"):
        dw.Exponential(words, 1.0).simulate("ab", -1)
    with pytest.raises(dw.InvalidValue, match="either a word or length"):
        dw.Exponential(words, 1.0).expected_distance()
    with pytest.raises(dw.InvalidValue, match="either a word or length"):
        dw.Exponential(words, 1.0).expected_distance("ab", length=2)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.Exponential(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0).expected_distance(length=2)


def test_absurd_lengths_are_refused_at_once() -> None:
    for language in (dw.Words("abc"), dw.GridWorld(3, 3)):
        for utility in (dw.Linear(), dw.Inverse(1.0)):
            with pytest.raises(dw.TooLarge):
                dw.Exponential(language, 1.0, utility=utility).expected_distance(length=10**12)
    with pytest.raises(dw.TooLarge):
        dw.Exponential(dw.GridWorld(3, 3), 1.0).expected_distance(length=10**8)
    with pytest.raises(dw.InvalidValue, match="at most 3 symbols"):
        dw.Exponential(dw.Words("ab", max_length=3), 1.0).expected_distance(length=4)
    assert dw.Exponential(SYSTEMS["one symbol"][0], 1.0).expected_distance(length=5000) == 0.0


def test_guarantee_and_repr_say_what_is_promised() -> None:
    mechanism = dw.Exponential(dw.Words("ab"), 1.5, k=2)
    guarantee = mechanism.guarantee
    assert isinstance(guarantee, dw.PureDP)
    assert (guarantee.epsilon, guarantee.distance, guarantee.k, guarantee.method) == (1.5, "hamming", 2, "tight")
    assert [guarantee.loss(d) for d in range(5)] == [0, 1.5, 1.5, 3.0, 3.0]
    assert 0 < guarantee.slack < 1e-14
    with pytest.raises(dw.InvalidValue, match="a distance is a whole number"):
        guarantee.loss(-1)
    assert "ε = 1.5, k = 2" in str(guarantee)
    assert "epsilon=1.5, k=2" in repr(mechanism)
    assert "secret" not in repr(dw.Exponential(dw.Words("cerst"), 1.0).given("secret"))


def test_public_average_of_a_large_language_is_stable_and_near_the_truth() -> None:
    """2 × 10^4 words: 256 of them stand for all, always the same ones."""
    language = dw.GridWorld(3, 3, stay=True)
    mechanism = dw.Exponential(language, 2.0)
    estimate = mechanism.expected_distance(length=7)
    assert estimate == dw.Exponential(language, 2.0).expected_distance(length=7)
    every = exhaustive.words(language, 7, limit=10**5)
    sample = every[:: len(every) // 400]
    truth = sum(mechanism.expected_distance(word) for word in sample) / len(sample)
    assert estimate == pytest.approx(truth, rel=0.03)
