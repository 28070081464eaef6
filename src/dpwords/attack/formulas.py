"""What can be guessed, by formulas: of free words that are all equally likely, from the promise alone, and how far
simulated words may be from what is expected of them (docs/theory.md, section 17)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.attack.results import Success
from dpwords.core.scaled import Floats
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.models.posteriors import Evidence
from dpwords.privacy.guarantees import PureDP

MOST_RELEASES = 200  # of which all counts are summed


def promised(mechanism: Mechanism, length: int, every_word: bool, without: Success, releases: int) -> Success | None:
    """The most that can be guessed through any mechanism with this promise; None where no bound is known.

    With `every_word`, all words over the alphabet are equally likely. Then a guess of a position is right with at most
    e^L/(e^L + m − 1), L = r·ε, and one of the whole word with 1/Σ N_d·e^(−r·loss(d)). If the promise is ε for any two
    words, a guess that is right with probability p without any release is right with at most p/(p + (1 − p)·e^(−L)).
    Cost: the length.
    """
    guarantee = mechanism.guarantee
    if not isinstance(guarantee, PureDP):
        return None
    loss = guarantee.epsilon * releases
    if guarantee.distance == "any":
        hits = length * _risen(without.hits / length, loss)  # the bound is concave in the chance of each position
        return Success(hits, _risen(without.whole, loss))
    if not every_word:
        return None
    others = len(mechanism.language.alphabet) - 1
    distance = np.arange(length + 1)
    counts = log_binomials(length)
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = counts + np.where(distance > 0, distance * np.log(float(others)), 0.0)
    logs = counts - loss * np.ceil(distance / guarantee.k)
    whole = math.exp(-float(np.logaddexp.reduce(logs)))
    return Success(length / (1 + others * math.exp(-loss)), min(whole, 1.0))


def log_binomials(number: int) -> Floats:
    """ln of the number of ways to choose 0, 1, 2, … of so many."""
    factorials = np.array([math.lgamma(each + 1) for each in range(number + 1)])
    return np.asarray(factorials[-1] - factorials - factorials[::-1])


def _risen(chance: float, loss: float) -> float:
    return chance / (chance + (1 - chance) * math.exp(-loss)) if chance > 0 else 0.0


def margin(values: Floats, spread: float, confidence: float) -> float:
    """How far the mean of independent values may be from what is expected of it, on either side.

    This is the empirical Bernstein bound of Maurer and Pontil (2009), which holds for any number of values within a
    range of this spread, whatever their distribution: each side fails with probability at most (1 − confidence)/2.
    """
    number, log = len(values), math.log(4 / (1 - confidence))
    variance = float(np.var(values, ddof=1))
    return math.sqrt(2 * variance * log / number) + 7 * spread * log / (3 * (number - 1))


def by_formula(evidence: Evidence, releases: int) -> Success | None:
    """What is guessed of free words that are all equally likely; None where no formula is known.

    With linear weights each position goes through a channel of its own, for any number of releases. With weights that
    depend on the distance alone, one release w is most likely to be the word itself, or one at the distance with the
    largest weight, and position i is w_i with probability 1 − E[d]/n. Cost: releases³, or the length.
    """
    mechanism, length = evidence.mechanism, evidence.length
    if not mechanism.language.alike or mechanism.distance != "hamming" or mechanism.projected_onto is not None:
        return None
    symbols = len(mechanism.language.alphabet)
    if symbols == 1:
        return Success(float(length), 1.0)
    if evidence.rate is not None:
        if releases > MOST_RELEASES:
            return None
        position = guessed_position(symbols, evidence.rate, releases)
        return Success(length * position, position**length)
    if releases > 1:
        return None
    proportions = np.asarray(mechanism.distance_distribution(length=length))
    changed = float(proportions @ np.arange(length + 1)) / length
    with np.errstate(divide="ignore"):
        logs = np.log(proportions) - log_binomials(length) - np.arange(length + 1) * math.log(symbols - 1)
    return Success(length * max(1 - changed, changed / (symbols - 1)), min(math.exp(float(logs.max())), 1.0))


def guessed_position(symbols: int, rate: float, releases: int) -> float:
    """The probability that one of m equally likely symbols is guessed from r releases of it.

    Each release shows the true symbol e^rate times as often as any other. The symbol that is shown most often is the
    best guess, so this is the sum, over the number k of releases that show the true symbol, of the probability that no
    other is shown more than k times, divided by the number of symbols that are shown k times. Cost: releases³.
    """
    others = symbols - 1
    keep = -math.log1p(others * math.exp(-rate))  # the logarithm of a probability, as the next one is
    change = keep - rate + math.log(others)
    if releases == 1:
        return math.exp(keep)
    total = 0.0
    for k, binomial in enumerate(log_binomials(releases).tolist()):
        shown = k * keep + (releases - k) * change
        total += math.exp(binomial + shown) * _best_with(k, releases - k, others)
    return min(total, 1.0)


def _best_with(k: int, rest: int, others: int) -> float:
    """The probability of guessing the true symbol, which is shown k times, if `rest` releases show others uniformly.

    The numbers of times that others are shown are those of independent Poisson variables with a given sum.
    """
    if rest == 0:
        return 1.0
    mean = rest / others
    poisson = np.array([j * math.log(mean) - mean - math.lgamma(j + 1) for j in range(rest + 1)])
    fewer = np.exp(poisson)
    fewer[k:] = 0.0
    found, tied_log = 0.0, float(poisson[k]) if k <= rest else -math.inf
    for tied in range(0, min(rest // k, others) + 1 if 0 < k <= rest else 1):
        ways = math.lgamma(others + 1) - math.lgamma(tied + 1) - math.lgamma(others - tied + 1)
        left = _power(fewer, others - tied, rest)[rest - tied * k]
        if left > 0:
            weight = ways + (tied * tied_log if tied else 0.0)
            found += math.exp(weight + math.log(left)) / (1 + tied)
    total = rest * math.log(rest) - rest - math.lgamma(rest + 1)  # the sum is Poisson with mean `rest`
    return found / math.exp(total)


def _power(series: Floats, exponent: int, degree: int) -> Floats:
    """The first coefficients of a power of a series, by repeated squaring."""
    result = np.zeros(degree + 1)
    result[0] = 1.0
    while exponent:
        if exponent & 1:
            result = np.convolve(result, series)[: degree + 1]
        series, exponent = np.convolve(series, series)[: degree + 1], exponent >> 1
    return result
