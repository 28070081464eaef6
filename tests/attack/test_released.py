"""What is guessed with a prior that was fitted to released words, against true words and Bayes' rule by definition."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import dpwords as dw
from dpwords import attack
from dpwords.attack.results import in_a_crowd
from dpwords.core.limits import Limits
from dpwords.core.randomness import SeededSource
from dpwords.models.chains import Chain
from dpwords.spaces import exhaustive

VARIANTS = ["abcdef", "abdcef", "abcegh", "acbdfh", "abcdgh"]
PROPORTIONS = [0.5, 0.2, 0.15, 0.1, 0.05]
LOG = dw.Exponential(dw.Words("abcdefgh"), epsilon=4)
CELLS = dw.GridWorld(3, 3).by_states()


def log_of(number: int, variants: list[str] = VARIANTS, seed: int = 3) -> tuple[list[str], list[Any]]:
    """Words of few kinds, and what was released of them."""
    words = [variants[kind] for kind in np.random.default_rng(seed).choice(5, number, p=PROPORTIONS)]
    return words, LOG.seeded(seed).release_all(words)


def guessed_by_who_knows(words: list[str], released: list[Any], shares: dict[str, float], epsilon: float) -> float:
    """How many words somebody guesses whole who knows the variants and how frequent they are."""
    logs = {variant: np.log(share) for variant, share in shares.items()}

    def best(one: Any) -> str:
        return max(logs, key=lambda v: logs[v] - epsilon * sum(a != b for a, b in zip(v, one, strict=True)))

    return float(np.mean([best(one) == word for one, word in zip(released, words, strict=True)]))


def by_definition(mechanism: Any, chain: Any, outputs: list[Any]) -> tuple[float, float]:
    """Bayes' rule over all words: the mean over outputs of what the best guesses get right."""
    words = exhaustive.words(mechanism.language, len(outputs[0]))
    prior = [chain.log_prob(word) for word in words]
    joint = np.exp([[p + mechanism.log_prob(w, given=x) for w in outputs] for p, x in zip(prior, words, strict=True)])
    joint /= joint.sum(axis=0)
    hits = 0.0
    for position in range(len(outputs[0])):
        kinds = {word[position] for word in words}
        sums = [joint[[word[position] == symbol for word in words]].sum(axis=0) for symbol in kinds]
        hits += float(np.max(sums, axis=0).mean())
    return hits, float(joint.max(axis=0).mean())


def test_the_file_shows_as_much_as_the_variants_themselves() -> None:
    """The uniform prior guesses (e⁴/(e⁴ + 7))⁶ = 0.485 of the words; 0.97 of them are hit by who knows the variants."""
    words, released = log_of(3000)
    found = attack.guess(LOG, released=released)
    hit = guessed_by_who_knows(words, released, dict(zip(VARIANTS, PROPORTIONS, strict=True)), 4)
    assert 0.95 < hit < 0.99
    assert found.whole == pytest.approx(hit, abs=0.02)
    chance = np.exp(4) / (np.exp(4) + 7)
    assert found.uniform == (pytest.approx(6 * chance), pytest.approx(chance**6))
    assert found.uniform_without == (pytest.approx(6 / 8), pytest.approx(8.0**-6))
    assert found.without.whole == pytest.approx(0.5, abs=0.05)  # the most frequent variant
    assert (found.words, found.samples, found.length, found.exact) == (3000, 3000, 6, True)
    assert "some words are as common as the released ones show" in found.of_100
    assert (found.error, found.rehearsed) == ((0, 0), 0)


def test_variants_that_no_chain_describes_are_found_in_the_file() -> None:
    """Eight random words over six letters: a chain guesses every sixth, and the file shows enough for most of them."""
    chance = np.random.default_rng(11)
    variants = ["".join(chance.choice(list("abcdef"), 10)) for _ in range(8)]
    shares = {variant: 1 / (1 + rank) / 2.7178 for rank, variant in enumerate(variants)}
    words = chance.choice(variants, 1500, p=np.array([*shares.values()]) / sum(shares.values())).tolist()
    mechanism = dw.Exponential(dw.Words("abcdef"), 1.7)
    released = mechanism.seeded(4).release_all(words)
    found = attack.guess(mechanism, released=released)
    known = guessed_by_who_knows(words, released, shares, 1.7)
    assert known > 0.7
    assert found.whole == pytest.approx(known, abs=0.12)
    decoded = dw.estimate.decode(released, mechanism, dw.estimate.model(released, mechanism))
    by_chain = np.mean(["".join(guess) == word for guess, word in zip(decoded, words, strict=True)])
    assert by_chain < found.whole / 1.5


def test_no_figure_is_below_what_is_guessed_without_the_fit_or_the_release() -> None:
    """Mostly one word, and few releases of it: corrections alone would take off too much."""
    for seed in range(6):
        chance = np.random.default_rng(seed)
        words = ["abcabc" if chance.random() < 0.75 else "".join(chance.choice(list("abc"), 6)) for _ in range(150)]
        mechanism = dw.Exponential(dw.Words("abc"), 2)
        found = attack.guess(mechanism, released=mechanism.seeded(seed).release_all(words))
        assert found.whole >= max(found.without.whole, found.uniform.whole)
        assert found.hits >= max(found.without.hits, found.uniform.hits)


def test_a_fitted_chain_that_the_releases_contradict_says_so() -> None:
    """Half of the people hardly ever change, the others nearly always: the number of changes varies too much."""
    chance = np.random.default_rng(2)
    steps = np.where(chance.random((1500, 1)) < 0.5, 0.05, 0.95)
    changes = chance.random((1500, 20)) < steps
    words = (chance.integers(0, 3, (1500, 1)) + np.cumsum(changes * chance.integers(1, 3, (1500, 20)), axis=1)) % 3
    mechanism = dw.Exponential(dw.Words("abc"), 4)
    found = attack.guess(mechanism, released=mechanism.seeded(1).release_codes(words))
    assert not found.fits
    assert "the fitted prior does not fit" in str(found).splitlines()[-1]
    chain = Chain.predictable(dw.Words("abc")).drawn(20, 1500, SeededSource("a chain").open())
    right = attack.guess(mechanism, released=mechanism.seeded(2).release_codes(chain))
    assert right.fits
    assert right.doubt == ""


@pytest.mark.parametrize(
    ("mechanism", "length", "tolerance"),
    [
        (dw.Exponential(dw.Words("abc"), 2), 4, 1e-5),
        (dw.Online(CELLS, 2), 4, 1e-5),
        (dw.Exponential(CELLS & dw.rules.contains((1, 1)), 3), 4, 1e-5),
        (dw.Exponential(CELLS, 2, calibration="textbook"), 4, 0.03),  # whose normalising constants differ
        (dw.Exponential(dw.GridWorld(3, 3), 4, calibration="textbook"), 4, 0.03),
    ],
)
def test_a_known_chain_against_the_definition(mechanism: Any, length: int, tolerance: float) -> None:
    outputs = exhaustive.words(mechanism.language, length)
    chain = Chain.predictable(mechanism.language)
    found = attack.guess(mechanism, released=outputs, prior=chain)
    hits, whole = by_definition(mechanism, chain, outputs)
    assert found.exact == (tolerance < 0.01)
    assert found.error == (0, 0)
    assert found.rehearsed == 0
    assert found.informed == (pytest.approx(hits, abs=tolerance), pytest.approx(whole, abs=tolerance))
    assert "if words come from the given chain" in found.of_100
    plain = by_definition(mechanism, Chain.uniform(mechanism.language), outputs)
    assert found.uniform == (pytest.approx(plain[0], abs=tolerance), pytest.approx(plain[1], abs=tolerance))


def test_lengths_are_weighted_by_how_many_words_have_them() -> None:
    words = ["abcd"] * 300 + ["abcdef"] * 600
    released = LOG.seeded(1).release_all(words)
    found = attack.guess(LOG, released=released)
    assert found.lengths == {4: 300, 6: 600}
    assert found.length == pytest.approx(16 / 3)
    chance = np.exp(4) / (np.exp(4) + 7)
    assert found.uniform.whole == pytest.approx((chance**4 + 2 * chance**6) / 3)
    short, long = (attack.guess(LOG, length=length, released=released) for length in (4, 6))
    assert (short.words, long.words) == (300, 600)
    assert found.whole == pytest.approx((short.whole + 2 * long.whole) / 3)
    assert "released words of length 4 to 6" in str(found)


def test_many_words_are_sampled() -> None:
    _, released = log_of(20_000)
    some, every = (attack.guess(LOG, released=released, samples=samples) for samples in (1000, 20_000))
    assert (some.samples, every.samples, some.words) == (1000, 20_000, 20_000)
    assert abs(some.whole - every.whole) < 4 * some.error.whole < 0.1
    assert "from 1,000 of the released words" in str(some)
    assert attack.guess(LOG, released=released, samples=1000) == some  # the same words each time


def test_a_prior_with_zeros_breaks_nothing() -> None:
    """The chain excludes c at the start, and every release begins with it."""
    free = dw.Exponential(dw.Words("abc"), 3)
    chain = {None: {"a": 1.0}, "a": {"b": 1.0}, "b": {"a": 1.0}}
    found = attack.guess(free, released=["cbc", "cca"], prior=chain)
    assert 0 < found.whole <= 1
    always = attack.guess(free, released=["aaa"] * 50)  # the fit has zeros of its own
    assert 0.97 < always.whole <= 1
    assert always.hits <= 3


def test_a_chain_that_was_fitted_elsewhere_and_one_with_more_states() -> None:
    """Chains are compared by their languages: the states of a model are its own."""
    _, released = log_of(90)  # too few to look for common words
    fitted = dw.estimate.model(released, LOG)
    refined = Chain(fitted.language, fitted.shape, fitted.chances)
    expected = attack.guess(LOG, released=released)
    for prior in (fitted, refined):
        found = attack.guess(LOG, released=released, prior=prior)
        assert (
            expected.whole < found.whole < expected.whole + 0.1
        )  # it is not known to be fitted, and taken at its word
        assert attack.guess(LOG, 6, prior, samples=200).whole > 0.7
    equal = dw.Exponential(dw.Words("abcdefgh"), epsilon=4)
    assert attack.guess(equal, 6, refined, samples=200).whole > 0.7
    for other in (dw.Words("abcdefgx"), dw.GridWorld(3, 3)):
        with pytest.raises(dw.InvalidValue, match="the prior is a chain on another language"):
            attack.guess(dw.Exponential(other, 4), 4, prior=refined)


def test_a_predictable_population() -> None:
    """The usual word is guessed with 0.9⁴ without any release: a, and each time the next symbol."""
    found = attack.guess(dw.Exponential(dw.Words("abc"), 2), 4, "predictable")
    assert found.without.whole == pytest.approx(0.9**4)
    assert found.whole > attack.guess(dw.Exponential(dw.Words("abc"), 2), 4).whole
    assert "guessed as a whole if words are predictable (one usual next symbol, in 9 of 10 cases)" in found.of_100
    drawn = Counter("".join(word) for word in Chain.predictable(dw.Words("abc")).simulate(3, 1000, seed=1))
    assert drawn.most_common(1)[0][0] == "abc"
    alone = attack.guess(dw.Exponential(dw.Words("a"), 2), 4, "predictable")
    assert alone.without.whole == 1
    grid = attack.guess(dw.Online(dw.GridWorld(2, 2), 2), 3, "predictable")  # two steps from each cell
    assert grid.without.whole == pytest.approx(0.9**3)


def test_an_answer_in_words() -> None:
    _, released = log_of(1000)
    lines = str(attack.guess(LOG, released=released)).splitlines()
    assert lines[0] == "1,000 released words of length 6, each seen through its one release"
    assert lines[1] == "if all words are equally likely: of 100 such words, about 48 are guessed as a whole"
    assert lines[3].startswith("if some words are as common as the released ones show: of 100 such words, about 9")
    assert in_a_crowd(0.9902, "about") == "of 100 such words, about 99 are"
    assert in_a_crowd(0.004, "about") == "of 1,000 such words, about 4 are"
    assert lines[-1] == "(from each released word)"
    few = str(attack.guess(LOG, released=released[:90])).splitlines()
    assert "if words come from the chain that fits the released ones best: of 100 such words, about " in few[3]
    assert any("a fitted prior believes too much, which 900 words drawn from it correct" in line for line in few)


def test_a_fitted_prior_is_corrected_for_what_it_believes_too_much() -> None:
    """Few traces: the likeliest words under the fitted prior are right in 0.69 of the cases, over ten logs, and it
    expects 0.86. Uniform words at ε = 0.01, of which nothing can be told, are guessed no better than by chance."""
    expected, hit, believed = [], [], []
    for seed in range(10):
        words, released = log_of(60, seed=seed)
        model = dw.estimate.model(released, LOG)
        known = Chain(model.language, model.shape, np.maximum(model.chances, 1e-12))
        believed.append(attack.guess(LOG, released=released, prior=known).whole)
        expected.append(attack.guess(LOG, released=released).whole)
        decoded = dw.estimate.decode(released, LOG, model)
        hit.append(np.mean(["".join(guess) == word for guess, word in zip(decoded, words, strict=True)]))
    assert np.mean(believed) > np.mean(hit) + 0.1
    assert np.mean(expected) == pytest.approx(np.mean(hit), abs=0.06)
    free, chance = dw.Exponential(dw.Words("abcd"), 0.01), np.random.default_rng(1)
    blind = attack.guess(free, released=free.seeded(1).release_codes(chance.integers(0, 4, (1000, 6))))
    assert blind.informed == blind.uniform
    assert blind.uniform.whole == pytest.approx(4**-6, rel=0.1)
    assert "the releases do not show which ones are common" in blind.of_100


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (dw.EditChannel("abc", 4), ["abc", "ab"]),
        (dw.Exponential(dw.Words("abc"), 4, utility=dw.Inverse(1.0)), ["abc"]),
        (dw.Exponential(dw.Words("abc"), 4, k=2), ["abc"]),
        (dw.Exponential(dw.Words("abc", max_length=4), 4, distance="levenshtein"), ["abc"]),
        (dw.Online(CELLS, 2).onto(CELLS & dw.rules.contains((1, 1))), [[(0, 1), (1, 1)]]),
    ],
)
def test_mechanisms_to_whose_releases_no_prior_is_fitted(mechanism: Any, words: list[Any]) -> None:
    with pytest.raises(dw.InvalidValue, match=r"no prior is fitted to releases of this mechanism.*pass length="):
        attack.guess(mechanism, released=words)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({}, "pass length=, or released="),
        ({"released": []}, "there are no releases"),
        ({"released": ["abz"]}, "release 1 has a symbol that is not in the alphabet"),
        ({"released": "abc"}, "releases are a list of words"),
        ({"released": ["abc"], "length": 5}, "no released word has the length 5: leave out length="),
        ({"released": ["abc"], "length": 0}, "length must be a whole number"),
        ({"released": ["abc"], "releases": 2}, "seen through one release: leave out releases"),
        ({"released": ["abc"], "prior": "uniform"}, "the uniform one is shown beside it: leave out prior"),
        ({"released": ["abc"], "prior": 3}, "the prior is 'uniform', 'predictable', a table"),
        ({"released": ["abc"], "confidence": float("nan")}, "confidence"),
        ({"released": ["abc"], "samples": 7}, "samples must be a whole number, 100 or more"),
        ({"length": 3, "prior": "popular"}, "the prior is 'uniform', 'predictable', a table"),
    ],
)
def test_bad_use(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(dw.InvalidValue, match=reason):
        attack.guess(LOG, **arguments)


def test_reports_and_what_is_too_large() -> None:
    with pytest.raises(dw.InvalidValue, match="answered by releases of words"):
        attack.guess(dw.Report(CELLS, 2), released=[(0, 1)])
    small = dw.Exponential(dw.Words("abcdefgh"), 4, limits=Limits(attacked_steps=10**4))
    with pytest.raises(dw.TooLarge, match="use shorter words"):
        attack.guess(small, released=log_of(200)[1])
    short = dw.Exponential(dw.Words("abcdefgh"), 4, limits=Limits(attacked_length=5))
    with pytest.raises(dw.TooLarge, match="at most 5 symbols: pass a shorter length="):
        attack.guess(short, released=log_of(200)[1])
