"""Subset selection: of all possible answers, some are named; the true one is more often among them than any other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from dpwords.core import sampling, scaled
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.randomness import Stream
from dpwords.core.scaled import Floats, Integers, Scaled
from dpwords.core.symbols import Codes, code_type
from dpwords.errors import InvalidValue
from dpwords.spaces.questions import Answers
from dpwords.spaces.space import batches

NO_DISTANCE = "a report names answers, which have no distance from a word: see share_if_true and share_if_not"
_NUMBERS = 5  # held at a time for each possible answer of each draw


@dataclass(frozen=True, eq=False)
class Selection:
    """How many of the possible answers are named, and how likely the true one is among them, exactly as it is drawn.

    With the probability of the first weight, the true answer is named, and size − 1 of the others; otherwise size of
    the others. All sets of others are equally likely.
    """

    answers: int  # that are possible, at least 2
    size: int  # how many of them are named
    weights: Scaled  # of naming the true one, and of leaving it out

    @property
    def parameters(self) -> tuple[object, ...]:
        """All numbers that determine the draws, as values whose `repr` is exact."""
        return self.answers, self.size, *(tuple(array.tolist()) for array in self.weights)

    @cached_property
    def _parts(self) -> tuple[float, float]:
        """The probabilities that the true answer is named, and that it is left out."""
        named, left_out = self.weights.relative_to(self.weights.exponent.max(keepdims=True)).tolist()
        return named / (named + left_out), left_out / (named + left_out)

    @property
    def share_if_true(self) -> float:
        """The probability that the true answer is named."""
        return self._parts[0]

    @property
    def share_if_not(self) -> float:
        """The probability that any other answer is named."""
        named, left_out = self._parts
        return (named * (self.size - 1) + left_out * self.size) / (self.answers - 1)

    @cached_property
    def log_proportions(self) -> tuple[float, float]:
        """ln of the probability of one set with the true answer in it, and of one without."""
        named, left_out = self.weights.logs().tolist()
        total = float(scaled.total(self.weights).logs()[0])
        sets = math.lgamma(self.answers) - math.lgamma(self.size) - math.lgamma(self.answers - self.size + 1)
        inside = named - total - sets
        return inside, inside + left_out - named + math.log(self.size) - math.log(self.answers - self.size)

    def exact_proportions(self) -> tuple[Fraction, Fraction]:
        """The exact probability, without any rounding, of one set with the true answer in it, and of one without."""
        named, left_out = sampling.probabilities(self.weights)
        others = self.answers - 1
        return named / math.comb(others, self.size - 1), left_out / math.comb(others, self.size)

    def draw(self, true: Integers, stream: Stream) -> Codes:
        """For each true answer, the numbers of the named ones, in ascending order. Cost: all possible answers."""
        left_out = sampling.choose(self.weights, len(true), stream).astype(np.bool_)
        others = sampling.subsets(self.size - 1 + left_out.astype(np.int64), self.answers - 1, stream)
        named = np.zeros((len(true), self.answers), dtype=np.bool_)
        numbers = np.arange(self.answers - 1)
        np.put_along_axis(named, numbers + (numbers >= true[:, None]), others, axis=1)
        named[np.arange(len(true)), true] = ~left_out
        return np.nonzero(named)[1].reshape(len(true), self.size).astype(code_type(self.answers))


def draw_each(rows: Codes, answers: Answers, selection: Selection, stream: Stream, limits: Limits) -> Codes:
    """For each word, the answers that are named: about one of its positions, all of which are equally likely.

    Cost: the length of the word, and a random number for each possible answer.
    """
    drawn = [np.zeros((0, selection.size), dtype=code_type(selection.answers))]
    for part in batches(len(rows), max(_NUMBERS * selection.answers, rows.shape[1]), limits):
        own = stream.of(part)
        items = answers.at_positions(rows[part])
        positions = sampling.below(items.shape[1], (len(items),), own)
        drawn.append(selection.draw(items[np.arange(len(items)), positions], own))
    return np.concatenate(drawn)


class SelectedLaw:
    """The distribution of the named answers at one word. Outputs are numbers of answers, in ascending order."""

    def __init__(self, codes: Codes, answers: Answers, selection: Selection, limits: Limits = DEFAULTS) -> None:
        self._codes, self._answers, self._selection, self._limits = codes, answers, selection, limits
        self._items = answers.at_positions(codes.reshape(1, -1))[0]

    def _proportion(self, codes: Codes) -> Fraction:
        """The proportion of the positions whose answer is among these."""
        return Fraction(int(np.isin(self._items, codes).sum()), len(self._items))

    def log_prob(self, codes: Codes) -> float:
        proportion = self._proportion(codes)
        parts = zip((proportion, 1 - proportion), self._selection.log_proportions, strict=True)
        return float(np.logaddexp.reduce([math.log(part) + log for part, log in parts if part]))

    def exact(self, codes: Codes) -> Fraction:
        """The exact probability, without any rounding, with which `draw` returns a set."""
        proportion, (inside, outside) = self._proportion(codes), self._selection.exact_proportions()
        return proportion * inside + (1 - proportion) * outside

    def draw(self, count: int, stream: Stream) -> Codes:
        rows = np.broadcast_to(self._codes, (count, len(self._codes)))
        return draw_each(rows, self._answers, self._selection, stream, self._limits)

    def distance_distribution(self) -> Floats:
        raise InvalidValue(NO_DISTANCE)

    def expected_distance(self) -> float:
        raise InvalidValue(NO_DISTANCE)
