"""Exact audits cannot be fooled: each liar is refused or accused, and what is honest is not."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords.audit import fit
from liars import COINS, LETTERS, LIARS, OneInTen, Publishes, Stated
from liars_by_method import BY_METHOD

ALL = LIARS | BY_METHOD


def _evidence(table: Any, seen: Any, own: Any) -> float:
    return fit._evidence(table, seen, own, [fit._log_total(table, power) for power in fit.POWERS])


@pytest.mark.parametrize("name", ALL)
def test_every_liar_is_refused_or_accused(name: str) -> None:
    mechanism, length, said = ALL[name]()
    if not said:
        found = dw.audit.exact(mechanism, length)
        assert (found.holds, found.epsilon) == (False, math.inf)
        assert "BROKEN" in str(found)
        return
    with pytest.raises(dw.InvalidValue, match=said) as raised:
        dw.audit.exact(mechanism, length)
    assert "\n" not in str(raised.value)


def test_a_claim_about_listed_outputs_only_does_not_hold() -> None:
    """Without draws nothing is known of the tenth that is outside; the audit says so, and not that the claim holds."""
    found = dw.audit.exact(OneInTen(), 3, draws=0)
    assert (found.epsilon, found.holds, found.draws) == (0, None, 0)
    assert found.delta == pytest.approx(0.1)
    assert "not broken by outputs of up to 5 symbols; others, with probability up to 0.1, are not covered" in str(found)
    assert "holds" not in str(found)


@pytest.mark.parametrize("missing", [0.0, 5e-10, 2e-9, 1e-3])
def test_the_error_that_is_allowed_is_the_one_that_is_stated(missing: float) -> None:
    """10⁻⁹ for rounding, in probabilities as in their sum; a larger rest is a δ."""

    class Short(Stated):
        distance = "levenshtein"
        guarantee = dw.PureDP(1.0, "levenshtein", 1, 0.0, "channel")

        def log_prob(self, output: Any, given: Any) -> float:
            return math.log1p(-missing) if len(output) == 0 else -math.inf

    found = dw.audit.exact(Short(), 2)
    assert found.holds is (True if missing <= 1e-9 else None)
    assert found.delta == pytest.approx(missing, abs=1e-15)


def test_evidence_against_the_truth_has_a_mean_of_one() -> None:
    """All 3³ · 3² outcomes of three draws of one word and two of another, with their probabilities in the table."""
    table = np.log([[0.6, 0.3, 0.1], [0.05, 0.15, 0.8]])
    mean = 0.0
    for first, second in itertools.product(
        itertools.product(range(3), repeat=3), itertools.product(range(3), repeat=2)
    ):
        probability = math.exp(sum(table[0][each] for each in first) + sum(table[1][each] for each in second))
        mean += probability * math.exp(_evidence(table, [Counter(first), Counter(second)], np.array([0, 2])))
    assert mean == pytest.approx(1, abs=1e-12)


def test_evidence_grows_with_draws_that_are_wrong() -> None:
    """What is impossible is proof; 40 draws of a fair coin on one side are 40·ln 2 = 28 nats, before averaging."""
    fair = np.log([[0.5, 0.5 - 1e-12, 1e-12]])
    assert _evidence(fair, [Counter({0: 40})], np.array([-2])) > 20
    assert _evidence(fair, [Counter({0: 21, 1: 19})], np.array([-2])) < 0
    with np.errstate(divide="ignore"):
        sure = np.log([[1.0, 0.0, 1e-9]])
    assert _evidence(sure, [Counter({1: 1})], np.array([-2])) == math.inf
    assert _evidence(sure, [Counter({0: 10**4})], np.array([-2])) <= 1e-4


def test_honest_draws_of_somebody_else_are_not_refused() -> None:
    """Fair letters, 20 times; each audit would be wrong with probability 10⁻⁹."""
    coins = np.random.default_rng(1)

    class Fair(Stated):
        def release(self, word: Any) -> str:
            return "".join("ab"[bit] for bit in coins.integers(2, size=len(word)))

    for _ in range(20):
        found = dw.audit.exact(Fair(), 4, draws=1000)
        assert (found.holds, found.draws, found.epsilon) == (True, 1008, 0)  # 63 of each of 16 words


def test_draws_are_an_argument() -> None:
    assert dw.audit.exact(Publishes(), 3, draws=0).holds  # of what it says, not of what it does
    with pytest.raises(dw.InvalidValue, match="the draws do not follow log_prob"):
        dw.audit.exact(Publishes(), 3, draws=100)
    with pytest.raises(dw.InvalidValue, match="draws must be a whole number, 0 or more"):
        dw.audit.exact(Publishes(), 3, draws=-1)
    found = dw.audit.exact(dw.Exponential(LETTERS, 1.0), 3)
    assert found.draws == 3 * 417 * 8 + 2 * 256  # many at a time in three ways, and one by one in two
    assert dw.audit.exact(dw.PaperLiteral(LETTERS, 1.0), 3).draws == 10_000


def test_what_is_passed_settles_two_claims() -> None:
    two = LIARS["two claims"]().mechanism
    assert dw.audit.exact(two, 3, claimed=1.0).holds
    assert not dw.audit.exact(two, 3, claimed=0.9).holds
    assert dw.audit.exact(LIARS["two k"]().mechanism, 3, k=1).holds


@pytest.mark.parametrize("skipped", [1, 2])
def test_progress_cannot_leave_out_words(skipped: int) -> None:
    """A progress bar that stops early at the probabilities, or at the comparisons."""
    calls = itertools.count(1)

    def progress(items: Any) -> Any:
        return items[:-1] if next(calls) == skipped else items

    with pytest.raises(dw.InvalidValue, match="progress must yield everything"):
        dw.audit.exact(dw.PaperLiteral(LETTERS, 1.0), 3, progress=progress)


def test_outputs_may_be_arrays_and_sets() -> None:
    """Honest mechanisms whose outputs have no hash."""

    class Fair(Stated):
        def release(self, word: Any) -> Any:
            return np.array([COINS.choice("ab") for _ in word])

    assert dw.audit.exact(Fair(), 3, draws=400).holds


def test_two_promises_are_refused_by_sampling_as_well() -> None:
    two = LIARS["two claims"]().mechanism
    with pytest.raises(dw.InvalidValue, match="state two claims: pass claimed="):
        dw.audit.statistical(two, "ab", "aa", 400)
    assert dw.audit.statistical(two, "ab", "aa", 400, claimed=1.0).claimed == 1.0


def test_what_the_audit_does_not_list_is_as_likely_as_it_says() -> None:
    """Outputs of more than five symbols, counted in draws of the longest word, of which most come out long."""
    mechanism = dw.EditChannel("ab", 3.0)
    found = dw.audit.exact(mechanism, 3)
    assert (found.longest, found.holds) == (5, None)
    drawn = mechanism.seeded(5).simulate("aba", 40_000)
    assert found.delta == pytest.approx(sum(len(output) > 5 for output in drawn) / len(drawn), abs=0.004)
    assert dw.audit.exact(dw.EditChannel("ab", 60.0), 2).holds  # hardly anything else comes out


def test_the_audit_sees_what_long_outputs_tell() -> None:
    class LeaksLate:
        """Runs of one symbol, shorter ones with probability 1/2, 1/4, …; those of five symbols depend on the word."""

        language, distance, guarantee = dw.Words("a"), "levenshtein", dw.PureDP(1.0, "levenshtein", 1, 0.0, "channel")

        def log_prob(self, output: str, given: str) -> float:
            return -(1 + len(output)) * math.log(2) - (3 * len(given) if len(output) == 5 else 0)

    short, long = dw.audit.exact(LeaksLate(), 2), dw.audit.exact(LeaksLate(), 2, outputs_up_to=6)
    assert (short.epsilon, short.holds, short.delta) == (0, None, pytest.approx(1 / 32))
    assert "holds" not in str(short)
    assert "not broken by outputs of up to 4 symbols; others, with probability up to 0.0312, are not" in str(short)
    assert (long.epsilon, long.holds) == (pytest.approx(3), False)
    assert long.delta == pytest.approx(1 / 128 + (1 - math.exp(-6)) / 64)
    assert dw.audit.exact(LeaksLate(), 3).epsilon == pytest.approx(3)
    with pytest.raises(dw.InvalidValue, match="leave out outputs_up_to"):
        dw.audit.exact(dw.Exponential(dw.Words("ab"), 1.0), 2, outputs_up_to=3)


def test_attributes_are_a_promise_where_there_is_no_guarantee() -> None:
    class Plain:
        language, epsilon = dw.Words("ab"), 1.0

        def log_prob(self, output: Any, given: Any) -> float:
            return -len(output) * math.log(2)

    with pytest.raises(dw.InvalidValue, match="does not say everything that it promises: pass k="):
        dw.audit.exact(Plain(), 2)
    assert dw.audit.exact(Plain(), 2, k=1).claimed == 1
    Plain.k = 1  # type: ignore[attr-defined]
    assert dw.audit.exact(Plain(), 2).claimed == 1
    assert dw.audit.exact(Plain(), 2, claimed=2.0).claimed == 2


def test_mechanisms_that_take_only_tuples_are_audited() -> None:
    honest = dw.Exponential(dw.Words("ab"), 1.0)

    class Strict:
        language, epsilon, k, distance = honest.language, 1.0, 1, "hamming"

        def log_prob(self, output: Any, given: Any) -> float:
            return honest.log_prob(output, given=given)

        def release(self, word: Any) -> Any:
            if not isinstance(word, tuple):
                raise TypeError("a tuple is needed")
            return honest.release(word)

    found = dw.audit.exact(Strict(), length=3)
    assert found.holds
    assert found.draws > 0
