"""The edit channel onto a language."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import pytest

import dpwords as dw
from dpwords.core.limits import Limits
from dpwords.core.symbols import levenshtein
from dpwords.spaces import exhaustive

LITTLE = pytest.mark.filterwarnings("ignore:of each word")
CASES = [("a", 1.0), ("ab", 1.0), ("ab", 2.0), ("abc", 3.5), ("abcd", 2.5), ("abcd", 6.0), ("abcdefgh", 4.0)]
SMALL = {
    "bounded words": dw.Words("ab", max_length=2),
    "a grid": dw.GridWorld(2, 2),
    "accepting states": dw.TransitionSystem(
        {"s": {"b": "t", "a": "s"}, "t": {"a": "u"}, "u": {"c": "t"}}, start="s", accepting=["u"]
    ),
    "all words": dw.Words("cab"),
}


@LITTLE
@pytest.mark.parametrize("language", SMALL.values(), ids=list(SMALL))
def test_projected_words_are_the_nearest(language: dw.Words | dw.TransitionSystem) -> None:
    """Beside the same draws unprojected, which have the same random bits."""
    alphabet = "NSEW" if isinstance(language, dw.GridWorld) else "abcd"
    channel = dw.EditChannel(alphabet, 1.2, onto=language)
    words = exhaustive.words_up_to(language, 7)
    word = "NEWS" if isinstance(language, dw.GridWorld) else "acbda"
    noisy = channel.without_projection().seeded(4).simulate(word, 60)
    projected = channel.seeded(4).simulate(word, 60)
    assert len(set(projected)) > 3
    for before, after in zip(noisy, projected, strict=True):
        if len(before) <= 4:  # so that no nearest word has more than 7 symbols
            assert levenshtein(before, after) == min(levenshtein(before, w) for w in words)
        assert language.accepts(after)


def _nearest(noisy: tuple[str, ...], words: list[str]) -> list[str]:
    apart = [levenshtein(noisy, word) for word in words]
    return [word for word, distance in zip(words, apart, strict=True) if distance == min(apart)]


@LITTLE
@pytest.mark.parametrize(("alphabet", "longest"), [("a", 60), ("ab", 12)])
def test_a_projection_tells_no_more_than_the_channel(alphabet: str, longest: int) -> None:
    """The probabilities of projected words, summed over all noisy words but for a few of tiny probability."""
    language = dw.Words(alphabet, max_length=1)
    channel = dw.EditChannel(alphabet, 3.0, onto=language)
    plain, noisy = channel.without_projection(), exhaustive.words_up_to(dw.Words(alphabet), longest, limit=10**4)
    nearest = {v: _nearest(v, ["", *alphabet]) for v in noisy}
    logs = {}
    for word in ("", "a", "aa", "aaa"):
        given_word = plain.given(word)
        proportions: Counter[str] = Counter()
        for v, words in nearest.items():
            for w in words:
                proportions[w] += math.exp(given_word.log_prob(v)) / len(words)  # type: ignore[assignment]
        assert sum(proportions.values()) == pytest.approx(1, abs=1e-3)
        drawn = Counter(channel.seeded(7).simulate(word, 3000))
        for w, proportion in proportions.items():
            assert drawn[w] / 3000 == pytest.approx(proportion, abs=0.05)
        logs[word] = {w: math.log(proportion) for w, proportion in proportions.items()}
    for one, other in itertools.combinations(logs, 2):
        for w in logs[one]:
            assert abs(logs[one][w] - logs[other][w]) <= 3.0 * levenshtein(one, other) + 1e-3


def test_what_is_not_known_of_projected_words_is_said() -> None:
    channel = dw.EditChannel("NSEW", 5, onto=dw.GridWorld(3, 3))
    assert channel.guarantee == dw.PureDP(5.0, "levenshtein", 1, 0.0, "channel", proof=18)
    assert repr(channel) == repr(dw.EditChannel("NSEW", 5).onto(dw.GridWorld(3, 3)))
    with pytest.raises(dw.InvalidValue, match=r"by edits.*without_projection"):
        channel.log_prob("EE", given="EE")
    with pytest.raises(dw.InvalidValue, match="simulate"):
        channel.expected_distance("EE")
    with pytest.raises(dw.InvalidValue, match="simulate"):
        channel.given("EE").distance_distribution()
    assert channel.without_projection().log_prob("EE", given="EE") < 0


def test_bad_languages_are_refused() -> None:
    with pytest.raises(dw.InvalidValue, match="use a mechanism whose language has them"):
        dw.EditChannel("NSE", 5, onto=dw.GridWorld(3, 3))
    with pytest.raises(dw.InvalidValue, match=r"pass language\.alphabet\.symbols, and onto=language"):
        dw.EditChannel(dw.GridWorld(3, 3), 5)  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="onto is a Words"):
        dw.EditChannel("ab", 5, onto="ab")  # type: ignore[arg-type]
    with pytest.raises(dw.InvalidValue, match="no word at all"):
        dw.EditChannel("ab", 5, onto=dw.TransitionSystem({"s": {"a": "s"}}, start="s", accepting=[]))


def test_a_projection_that_is_too_large_says_that_a_word_was_drawn() -> None:
    channel = dw.EditChannel("NSEW", 5, onto=dw.GridWorld(3, 3), limits=Limits(memory=10))
    with pytest.raises(dw.TooLarge, match="its ε is spent"):
        channel.release("EESS")
