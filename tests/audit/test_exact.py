from __future__ import annotations

import math
from typing import Any

import pytest

import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.spaces import exhaustive
from zoo import ALL


def brute(mechanism: Any, length: int) -> float:
    """The definition, pair by pair and output by output."""
    words = exhaustive.words(mechanism.language, length)
    laws = {word: mechanism.given(word) for word in words}
    return max(
        (
            abs(laws[x].log_prob(w) - laws[y].log_prob(w)) / math.ceil(hamming(x, y) / mechanism.k)
            for x in words
            for y in words
            if x != y
            for w in words
        ),
        default=0.0,
    )


@pytest.mark.parametrize("name", ["two letters", "dead ends", "no neighbours", "any start", "one symbol"])
def test_it_measures_the_definition(name: str) -> None:
    language, length = ALL[name]
    for mechanism in (dw.Exponential(language, 1.3, k=2), dw.PaperLiteral(language, 1.3, k=2)):
        found = dw.audit.exact(mechanism, length)
        assert found.epsilon == pytest.approx(brute(mechanism, length), abs=1e-12)
        assert found.words == language.count(length)
        if found.worst is not None:
            x, y, output, distance, loss = found.worst
            assert distance == hamming(x, y)
            assert loss == pytest.approx(abs(mechanism.log_prob(output, given=x) - mechanism.log_prob(output, given=y)))
            assert found.epsilon == pytest.approx(loss / math.ceil(distance / 2))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_tight_on_free_words_spends_all_of_epsilon(k: int) -> None:
    found = dw.audit.exact(dw.Exponential(dw.Words("abc"), 2.0, k), length=4)
    assert found.epsilon == pytest.approx(2.0, abs=1e-12)
    assert found.holds
    assert "holds" in str(found)


def test_a_broken_claim_is_found() -> None:
    literal = dw.PaperLiteral(dw.Words("abc"), 1.0)
    found = dw.audit.exact(literal, length=4)
    assert found.claimed == 1.0
    assert found.epsilon == pytest.approx(literal.guarantee.true_epsilon(4))
    assert not found.holds
    assert "BROKEN" in str(found)


class Leaky:
    """Has only log_prob: the secret comes out unchanged, with certainty."""

    def log_prob(self, output: Any, given: Any) -> float:
        return 0.0 if tuple(output) == tuple(given) else -math.inf


def test_anything_with_log_prob_can_be_audited() -> None:
    found = dw.audit.exact(Leaky(), length=2, language=dw.Words("ab"), claimed=5.0, k=1)
    assert found.epsilon == math.inf
    assert not found.holds
    with pytest.raises(dw.InvalidValue, match="pass language= and claimed= and k="):
        dw.audit.exact(Leaky(), length=2)


class Skewed:
    """Two words; the secret comes out with odds e^1.01 to 1."""

    def log_prob(self, output: Any, given: Any) -> float:
        return -math.log1p(math.exp(-1.01)) - 1.01 * (output != given)


def test_a_claim_broken_by_one_percent_is_found() -> None:
    words = dw.Words("ab")
    assert not dw.audit.exact(Skewed(), length=1, language=words, claimed=1.0, k=1).holds
    assert dw.audit.exact(Skewed(), length=1, language=words, claimed=1.011, k=1).holds
    assert not dw.audit.exact(Skewed(), length=1, language=words, claimed=1.01 - 1e-8, k=1).holds


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (math.nan, "NaN, which says nothing: return −inf"),
        (math.inf, "above 0, and no probability is above 1: normalise"),
        (0.1, "above 0"),
        (math.log(0.75), "sum to 1.5 at some word, which is more than 1: normalise"),
        (-math.inf, "do not sum to 1 .off by 1.: an exact audit needs every output"),
        (math.log(0.25), "do not sum to 1 .off by 0.5."),
    ],
)
def test_what_does_not_sum_to_one_is_refused(wrong: float, said: str) -> None:
    """No probabilities at all, or a mechanism that says the rest outside the language."""

    class Wrong:
        def log_prob(self, output: Any, given: Any) -> float:
            return wrong

    with pytest.raises(dw.InvalidValue, match=said):
        dw.audit.exact(Wrong(), length=1, language=dw.Words("ab"), claimed=1.0, k=1)


def test_limits() -> None:
    with pytest.raises(dw.TooLarge, match="1024 is the most"):
        dw.audit.exact(dw.Exponential(dw.Words("ab"), 1.0), length=11)
    with pytest.raises(dw.InvalidValue, match="no word of length 2"):
        dw.audit.exact(dw.Exponential(dw.TransitionSystem({"s": {"a": "end"}}, start="s"), 1.0), length=2)
    with pytest.raises(dw.InvalidValue, match="claimed must be a finite number"):
        dw.audit.exact(Skewed(), length=1, language=dw.Words("ab"), claimed="1", k=1)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="the language must be"):
        dw.audit.exact(Skewed(), length=1, language="ab", claimed=1.0, k=1)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="empty word"):
        dw.audit.exact(dw.Exponential(dw.Words("ab"), 1.0), length=0)


@pytest.mark.parametrize(
    ("symbols", "length", "k", "expected"),
    [
        (27, 20, 1, (3, 6)),
        (4, 20, 1, (4, 4)),
        (2, 20, 1, (8, 2)),
        (2, 5, 1, (5, 2)),
        (9, 2, 1, (2, 9)),
        (9, 9, 8, (8, 2)),
    ],
)
def test_small_instances_of_free_words(symbols: int, length: int, k: int, expected: tuple[int, int]) -> None:
    """At most 256 words: 6³ = 216, 4⁴ = 2⁸ = 256, 9² = 81."""
    found = dw.audit.small_instance(dw.Words(range(symbols)), length, k)
    assert found[1:] == expected
    assert found.language.alphabet.symbols == tuple(range(expected[1]))


def test_small_instances_of_systems_keep_the_system() -> None:
    world = dw.GridWorld(3, 3)
    found = dw.audit.small_instance(world, 18, most=64)
    assert found.language is world
    assert world.count(found.length) <= 64 < world.count(found.length + 1)


@pytest.mark.parametrize(("language", "length", "k"), [(dw.Words("ab"), 20, 9), (dw.Words("a"), 5, 1)])
def test_there_may_be_no_small_instance(language: dw.Words, length: int, k: int) -> None:
    with pytest.raises(dw.InvalidValue, match="between 2 and 256 words"):
        dw.audit.small_instance(language, length, k)


def test_k_beyond_the_length_has_no_instance() -> None:
    with pytest.raises(dw.InvalidValue, match="k = 4 is beyond it: take a smaller k"):
        dw.audit.small_instance(dw.Words("ab"), 3, k=4)
    assert dw.audit.small_instance(dw.Words("ab"), 3, k=4, distance="levenshtein").length == 3
