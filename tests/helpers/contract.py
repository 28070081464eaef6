"""The laws that every mechanism has to pass, with numbers from the brute-force reference."""

from __future__ import annotations

import itertools
import math
import pickle
from collections import Counter
from collections.abc import Callable
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dpwords as dw
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import Ragged, hamming
from dpwords.languages.language import Language
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.private import Private
from dpwords.privacy.utilities import LinearOrStaircase
from dpwords.spaces import exhaustive
from dpwords.spaces.space import Space, WeightedWords, Weights

HIGH = Context(prec=60, Emin=-(10**9), Emax=10**9)
Weight = Callable[[int], float]
Symbols = tuple[Any, ...]


def words_of(mechanism: Mechanism, length: int) -> list[Symbols]:
    """What can go in: words of one length, or, if words of several lengths are compared, up to that of the longest."""
    listed = exhaustive.words if mechanism.distance == "hamming" else exhaustive.words_up_to
    words = [word for word in listed(mechanism.language, length) if len(word) >= mechanism.least_length]
    return [written(mechanism.language, word) for word in words]


def written(language: Language, symbols: Symbols) -> Symbols:
    """A word as users write it, step by step."""
    if language.spelling is None:
        return symbols
    at, found = language.spelling.start, []
    for state in symbols:
        (letter,) = [each for each, target in language.spelling.moves[at].items() if target == state]
        found.append(letter)
        at = state
    return tuple(found)


def symbols_of(language: Language, word: Symbols) -> Symbols:
    """What distances are about, step by step."""
    if language.spelling is None:
        return word
    at, found = language.spelling.start, []
    for letter in word:
        at = language.spelling.moves[at][letter]
        found.append(at)
    return tuple(found)


def has_endless_outputs(mechanism: Mechanism) -> bool:
    """Whether this is the edit channel, with a projection or without."""
    return isinstance(mechanism.without_projection(), dw.EditChannel)


def outputs_of(mechanism: Mechanism, length: int) -> list[Any]:
    """What can come out: the same words, or the sets that a report can name."""
    if mechanism.projected_onto is not None and mechanism.distance == "hamming":
        return exhaustive.words(mechanism.projected_onto, length)
    if isinstance(mechanism, dw.Report):
        return [frozenset(some) for some in itertools.combinations(mechanism.items, mechanism.size)]
    return words_of(mechanism, length)


def decoded(mechanism: Mechanism, row: Any) -> Any:
    """The output that a row of codes stands for."""
    if isinstance(mechanism, dw.Report):
        return frozenset(mechanism.items[code] for code in row.tolist())
    language = mechanism.language
    return written(language, tuple(language.alphabet.symbols[code] for code in row.tolist()))


def apart(mechanism: Mechanism, one: Symbols, other: Symbols) -> int:
    """The mechanism's distance, by the plain definition."""
    words = symbols_of(mechanism.language, one), symbols_of(mechanism.language, other)
    return hamming(*words) if mechanism.distance == "hamming" else edits(*words)


def edits(one: Symbols, other: Symbols) -> int:
    """Levenshtein distance, row by row."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        before, row = row, [i]
        for j, b in enumerate(other, start=1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b)))
    return row[-1]


def check_probabilities(mechanism: Mechanism, length: int, weight: Weight, by_shell: bool = False) -> None:
    """Every probability equals the reference's to 1e-12, they sum to 1, and no word of the language has none."""
    words = words_of(mechanism, length)
    base = {word: float(proportion) for word, proportion in base_measure(mechanism, words).items()}
    for word in words:
        reference = shell_law(mechanism, word, weight) if by_shell else reference_law(mechanism, word, words, weight)
        total = math.fsum(base[w] * reference[w] for w in words)
        reference = {w: base[w] * reference[w] / total for w in words}
        given = mechanism.given(word)
        found = {output: math.exp(given.log_prob(output)) for output in words}
        assert found == pytest.approx(reference, rel=1e-12, abs=0)
        assert math.fsum(found.values()) == pytest.approx(1, abs=1e-12)
        by_distance = [0.0] * (length + 1)
        for output, probability in reference.items():
            by_distance[apart(mechanism, word, output)] += probability
        assert given.distance_distribution() == pytest.approx(by_distance, abs=1e-12)
        mean = math.fsum(d * p for d, p in enumerate(by_distance))
        assert given.expected_distance() == pytest.approx(mean, abs=1e-12)
        assert mechanism.expected_distance(word) == given.expected_distance()
        assert mechanism.log_prob(words[0], given=word) == given.log_prob(words[0])
    for each in {len(word) for word in words} - {0}:
        means = [mechanism.expected_distance(word) for word in words if len(word) == each]
        assert mechanism.expected_distance(length=each) == pytest.approx(math.fsum(means) / len(means), abs=1e-12)


def base_measure(mechanism: Mechanism, words: list[Symbols]) -> dict[Symbols, Fraction]:
    """The public weight of each word: 1, or where words are listed the stored number (any is allowed), or
    reweighted."""
    found, length = dict.fromkeys(words, Fraction(1)), len(words[0])
    listed = isinstance(mechanism.language, dw.Lexicon) or mechanism.distance != "hamming"
    linear = isinstance(mechanism, dw.Exponential) and isinstance(mechanism.utility, (dw.Linear, LinearOrStaircase))
    if isinstance(mechanism, dw.Exponential):
        base = mechanism._calibration.weights(length).base
        if isinstance(base, WeightedWords):
            stored = base.weight.exact()
            return {word: stored[base.number(codes_of(mechanism.language, word))] for word in words}
    if listed or not linear or "levelled" not in mechanism.certificate(length).method:
        return found
    z = Fraction(HIGH.exp(-Decimal(mechanism.certificate(length).c)))
    return reweighted_weights(mechanism.language, words, z)


def reweighted_weights(language: Any, words: list[Symbols], z: Fraction) -> dict[Symbols, Fraction]:
    """The product over the positions of 1/(1 + a·z + κ·z²), where a counts the words that differ at this position only.

    κ is 0.3·a² at the last position, and at the first one where runs start anywhere or never return to the start; at
    all others it is a²/2, or 0 if a is 1.
    """
    found, length = dict.fromkeys(words, Fraction(1)), len(words[0])
    loose = language.start is None or not any(language.start in row.values() for row in language.transitions.values())
    for position in range(length):
        fitting = Counter((word[:position], word[position + 1 :]) for word in words)
        at_end = position == length - 1 or (position == 0 and loose)
        for word in words:
            others = fitting[word[:position], word[position + 1 :]] - 1
            proportion = Fraction(0.3) if at_end else Fraction(1, 2) if others > 1 else Fraction(0)
            found[word] /= 1 + others * z + proportion * others**2 * z**2
    return found


def reference_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols], weight: Weight) -> dict[Symbols, float]:
    """Each output in proportion to the weight of its distance."""
    weights = {output: weight(apart(mechanism, word, output)) for output in outputs}
    total = math.fsum(weights.values())
    return {output: value / total for output, value in weights.items()}


def shell_law(mechanism: Mechanism, word: Symbols, weight: Weight) -> dict[Symbols, float]:
    """The reference of a law that draws the distance first, and then one of the words there."""
    counts = exhaustive.distance_counts(mechanism.language, symbols_of(mechanism.language, word))
    total = math.fsum(weight(d) for d, number in enumerate(counts) if number)
    outputs = words_of(mechanism, len(word))
    proportions = {output: apart(mechanism, word, output) for output in outputs}
    return {output: weight(d) / total / counts[d] for output, d in proportions.items()}


def check_draws(mechanism: Mechanism, length: int, draws: int = 4000) -> None:
    """The sampler agrees with `log_prob` (chi-square; seeds are fixed, so the verdict is too)."""
    words, outputs = words_of(mechanism, length), outputs_of(mechanism, length)
    given = mechanism.seeded(7).given(words[len(words) // 2])
    check_counts(Counter(given.simulate(draws)), {output: math.exp(given.log_prob(output)) for output in outputs})


def check_promise(mechanism: Mechanism, length: int, draws: int = 0) -> None:
    """The exact audit finds no more than is claimed, over every pair of words, and compares so many draws."""
    found = dw.audit.exact(mechanism, length, draws=draws)
    assert isinstance(mechanism.guarantee, dw.PureDP)
    assert found.claimed == mechanism.guarantee.epsilon
    assert found.epsilon <= found.claimed * (1 + 1e-12) + 1e-12
    assert found.draws >= draws
    if has_endless_outputs(mechanism):  # only some of them can be listed
        assert found.holds is None
        assert 0 < found.delta < 0.1
    else:
        assert (found.holds, found.delta < 1e-12) == (True, True)


def check_stored_law(mechanism: Mechanism, length: int) -> None:
    """The sampler's own thresholds, read back as fractions, keep the promise without any tolerance,
    and lie within half the slack of the ideal law at the calibrated weights."""
    guarantee = mechanism.guarantee
    assert isinstance(guarantee, dw.PureDP)
    words = words_of(mechanism, length)
    reserve = Decimal(guarantee.slack) * length
    logs: dict[Symbols, list[Decimal]] = {}
    for word in words:
        law, ideal = stored_law(mechanism, word, words), ideal_law(mechanism, word, words)
        assert sum(law.values()) == 1
        logs[word] = [log(law[output]) for output in words]
        for output, found in zip(words, logs[word], strict=True):
            assert abs(found - log(ideal[output])) <= reserve / 2
    for word, other in itertools.combinations(words, 2):
        bound = Decimal(guarantee.epsilon) * math.ceil(apart(mechanism, word, other) / guarantee.k)
        for one, two in zip(logs[word], logs[other], strict=True):
            assert abs(HIGH.subtract(one, two)) <= bound


def stored_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols]) -> dict[Symbols, Fraction]:
    """The exact probability with which the program draws each word, from its stored thresholds."""
    law: Any = mechanism.given(word).law
    return {output: law.exact(codes_of(mechanism.language, output)) for output in outputs}


def codes_of(language: Language, word: Symbols) -> Any:
    return np.array([language.alphabet.codes[symbol] for symbol in symbols_of(language, word)], dtype=np.int64)


def ideal_law(mechanism: Mechanism, word: Symbols, outputs: list[Symbols]) -> dict[Symbols, Fraction]:
    """The law in 60 digits, from the exact powers that calibration chose."""
    assert isinstance(mechanism, dw.Exponential)
    powers = mechanism._calibration.weights(len(word)).powers
    weights = [Fraction(HIGH.exp(HIGH.divide(Decimal(-p.numerator), Decimal(p.denominator)))) for p in powers]
    base = base_measure(mechanism, outputs)
    total = sum(base[w] * weights[apart(mechanism, word, w)] for w in outputs)
    return {w: base[w] * weights[apart(mechanism, word, w)] / total for w in outputs}


def log(value: Fraction) -> Decimal:
    """ln to 60 digits."""
    return HIGH.subtract(HIGH.ln(Decimal(value.numerator)), HIGH.ln(Decimal(value.denominator)))


# --- every space against the reference -------------------------------------------------------------------------------


def check_space(space: Space, reference: Space, length: int, weights: Weights) -> None:
    """The laws of all words of a length equal the reference's; the stored ones are within half the slack of them."""
    every = reference.every(length, 10**4)
    assert every is not None
    assert space.reach(length) == reference.reach(length)
    for codes in every[:: max(len(every) // 12, 1)]:
        law, ideal = space.law(codes, weights), reference.law(codes, weights)
        outputs = ideal.probabilities  # type: ignore[attr-defined]
        found = {output: law.log_prob(np.array(output, dtype=np.int64)) for output in outputs}
        assert found == pytest.approx({o: ideal.log_prob(np.array(o, dtype=np.int64)) for o in outputs}, abs=1e-11)
        assert law.distance_distribution().tolist() == pytest.approx(ideal.distance_distribution().tolist(), abs=1e-12)
        assert law.expected_distance() == pytest.approx(ideal.expected_distance(), abs=1e-11)
        stored = {output: law.exact(np.array(output, dtype=np.int64)) for output in outputs}
        assert sum(stored.values()) == 1
        reserve = Decimal(space.slack) * max(space.reach(length), 1) / 2
        assert all(abs(log(stored[o]) - log(outputs[o])) <= reserve for o in outputs)
        around, other = space.around(codes), reference.around(codes)
        assert around.sizes.exact() == other.sizes.exact()
        assert {o: around.probability(np.array(o, dtype=np.int64)) for o in outputs} == {
            o: pytest.approx(other.probability(np.array(o, dtype=np.int64)), rel=1e-12) for o in outputs
        }
    assert space.accepts(every).all()


def check_many(space: Space, reference: Space, length: int, weights: Weights, draws: int = 3000) -> None:
    """Many words at once are drawn as each of them alone (chi-square; seeds are fixed, so the verdict is too)."""
    every = reference.every(length, 10**4)
    assert every is not None
    rows = np.tile(every[[0, len(every) // 2]], (draws, 1))
    drawn = [tuple(row.tolist()) for row in space.draw_each(rows, weights, SeededSource("many").open())]
    assert len(drawn) == len(rows)
    for which in (0, 1):
        probabilities = reference.law(rows[which], weights).probabilities  # type: ignore[attr-defined]
        check_counts(Counter(drawn[which::2]), {o: float(p) for o, p in probabilities.items()})


def check_counts(seen: Counter[Any], probabilities: dict[Any, float]) -> None:
    """What was seen fits the probabilities: nothing impossible, and no frequency too far off."""
    draws = seen.total()
    assert set(seen) <= set(probabilities)
    expected = np.array([draws * probabilities[output] for output in probabilities])
    found = np.array([seen[output] for output in probabilities])
    common = expected >= 5
    rest = (found[~common].sum(), expected[~common].sum())
    found, expected = found[common], expected[common]
    if rest[1] > 1e-6:
        found, expected = np.append(found, rest[0]), np.append(expected, rest[1])
    else:
        assert rest[0] == 0
    if len(found) > 1:
        assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-4


# --- mechanisms are values ------------------------------------------------------------------------------------------


def check_value(mechanism: Mechanism, length: int) -> None:
    """Nothing that a promise is about can be changed; a copy through a pickle, made at any time, has the same law."""
    for name in ("epsilon", "k", "distance", "language", "guarantee", "limits"):
        with pytest.raises(AttributeError):
            setattr(mechanism, name, getattr(mechanism, name))
        with pytest.raises(AttributeError):
            delattr(mechanism, name)
    words, outputs = words_of(mechanism, length), outputs_of(mechanism, length)
    word = words[len(words) // 2]
    fresh = pickle.loads(pickle.dumps(mechanism))
    before = mechanism.given(word)
    used = pickle.loads(pickle.dumps(mechanism))
    for copy in (fresh, used):
        assert repr(copy) == repr(mechanism)
        assert copy.seeded(3).simulate(word, 20) == mechanism.seeded(3).simulate(word, 20)
        if mechanism.projected_onto is None or not has_endless_outputs(mechanism):
            assert [copy.given(word).log_prob(w) for w in outputs] == [before.log_prob(w) for w in outputs]
    seeded = mechanism.seeded(4)
    seeded.simulate(word, 1)
    assert pickle.loads(pickle.dumps(seeded)).simulate(word, 20) == seeded.simulate(word, 20)


def check_no_traces(mechanism: Private, length: int) -> None:
    """After releases, a mechanism is the same whatever the words were: nothing of them is in its pickle."""
    words, stored = words_of(mechanism, length), pickle.dumps(mechanism)
    longest = [word for word in words if len(word) == max(map(len, words))]
    left = []
    for word in (longest[0], longest[0], longest[-1], longest[len(longest) // 2]):
        copy = pickle.loads(stored)
        copy.release_all([word] * 20)
        copy.release(word)
        left.append(pickle.dumps(copy))
    assert left[1:] == [left[1]] * 3  # the first one may have prepared public facts that the others proportion


def check_release(mechanism: Private, length: int) -> None:
    """One word, many words and arrays of codes come out of the same distribution, each of the kind that went in."""
    words = words_of(mechanism, length)
    word = words[len(words) // 2]
    language, given = mechanism.language, mechanism.given(word)
    kinds = [frozenset, frozenset] if isinstance(mechanism, dw.Report) else [tuple, list]
    assert [type(mechanism.release(word)), type(mechanism.release(list(word)))] == kinds
    codes, draws = codes_of(language, word), 1500
    by_list = mechanism.seeded(1).release_all([word] * draws)
    by_codes = mechanism.seeded(2).release_codes(np.tile(codes, (draws, 1)))
    from_codes = [decoded(mechanism, row) for row in by_codes]
    mixed = mechanism.seeded(3).release_all([list(word) if i % 2 else word for i in range(draws)])
    assert [type(w) for w in mixed[:4]] == kinds * 2
    apart_one_by_one = [mechanism.seeded(i).release(word) for i in range(draws // 5)]
    outputs = None if has_endless_outputs(mechanism) else outputs_of(mechanism, length)
    for drawn in (by_list, from_codes, [tuple(w) if isinstance(w, list) else w for w in mixed], apart_one_by_one):
        if outputs is not None:
            check_counts(Counter(drawn), {w: math.exp(given.log_prob(w)) for w in outputs})
        else:
            allowed = mechanism.projected_onto or language
            assert all(allowed.accepts(w) for w in drawn)
            own = sum(w == word for w in drawn) / len(drawn)
            expected = sum(w == word for w in mechanism.seeded(9).simulate(word, 6000)) / 6000
            assert own == pytest.approx(expected, abs=5 * math.sqrt(max(expected, 0.01) / len(drawn)))


# --- keyed draws ----------------------------------------------------------------------------------------------------


def check_keyed(mechanism: Private, length: int, draws: int = 1500) -> None:
    """Keyed draws follow the same law, and each depends on its own key, id and word only."""
    words, key = words_of(mechanism, length), bytes(range(32))
    word, given = words[len(words) // 2], mechanism.given(words[len(words) // 2])
    drawn = mechanism.release_all([word] * draws, range(draws), key)
    if not has_endless_outputs(mechanism):
        check_counts(Counter(drawn), {w: math.exp(given.log_prob(w)) for w in outputs_of(mechanism, length)})
    else:
        own = sum(w == word for w in drawn) / draws
        expected = sum(w == word for w in mechanism.seeded(9).simulate(word, 6000)) / 6000
        assert own == pytest.approx(expected, abs=5 * math.sqrt(max(expected, 0.01) / draws))
    some, ids = words[:40], [f"id {number}" for number in range(40)][: len(words)]
    together = mechanism.release_all(some, ids, key)
    assert together == [mechanism.release_all([w], [i], key)[0] for w, i in zip(some, ids, strict=True)]
    assert together[::-1] == mechanism.release_all(some[::-1], ids[::-1], key)
    ragged = Ragged.of([codes_of(mechanism.language, w) for w in some])
    released = mechanism.release_codes(ragged, ids, key)
    assert [decoded(mechanism, row) for row in released] == together
    copy = pickle.loads(pickle.dumps(mechanism))
    assert copy.release_all(some, ids, key) == together
    if mechanism.epsilon:
        other = mechanism.like(epsilon=2 * mechanism.epsilon)
        assert (other.epsilon, other.k, type(other)) == (2 * mechanism.epsilon, mechanism.k, type(mechanism))
        assert other.language.alphabet.symbols == mechanism.language.alphabet.symbols
