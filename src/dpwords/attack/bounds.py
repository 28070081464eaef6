"""Bounds on what can be guessed: from the promise alone, and from simulated words (docs/theory.md, section 17)."""

from __future__ import annotations

import math

import numpy as np

from dpwords.attack.results import Success
from dpwords.core.scaled import Floats
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.privacy.guarantees import PureDP


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
