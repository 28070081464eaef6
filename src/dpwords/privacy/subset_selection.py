"""How many answers to name, and how often the true one among them, at a given ε (docs/theory.md, section 14)."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from dpwords.core import scaled
from dpwords.core.scaled import Scaled
from dpwords.core.values import read_only
from dpwords.errors import InvalidValue
from dpwords.spaces.questions import Selection

SLACK = 2.0**-49  # more than rounding costs


@lru_cache(maxsize=64)
def best_selection(answers: int, epsilon: float) -> Selection:
    """The subset selection whose estimates of proportions have the least variance at this ε. Cost: constant.

    A set with the true answer in it is e^ε times as likely as one without.
    """
    rest = Fraction(epsilon) - Fraction(SLACK)
    if rest <= 0:
        raise InvalidValue("epsilon is no larger than what rounding may cost: take a larger epsilon")
    fall = scaled.exp_minus([rest])
    size = best_size(answers, float(fall.relative_to(np.zeros(1, dtype=np.int64))[0]))
    left_out = fall.times(scaled.from_integers([answers - size]))
    named = scaled.from_integers([size])
    weights = Scaled(*(np.concatenate(parts) for parts in zip(named, left_out, strict=True)))
    read_only(*weights)
    return Selection(answers, size, weights)


def best_size(answers: int, fall: float) -> int:
    """How many of the answers to name so that the variance is least; `fall` is e^(−ε).

    The variance is least at answers/(e^ε + 1), which is a whole number only by chance.
    """
    middle = answers * fall / (1 + fall)
    sizes = {max(math.floor(middle), 1), max(math.ceil(middle), 1)}
    return min(sorted(sizes), key=lambda size: spread(answers, size, fall))


def spread(answers: int, size: int, fall: float) -> float:
    """The part of the variance of estimated proportions that depends on the size, up to a factor."""
    root = size * (1 - fall) + answers * fall
    return root * root / (size * (answers - size))
