"""How uncertain an estimate from releases of the edit channel is: errors of lengths, and of proportions of symbols."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.estimate.results import WIDEST, sampling_errors
from dpwords.estimate.tuning import FEWEST_WORDS, SPREAD_PROPORTION
from dpwords.estimate.uncertainty import Answered, Moments, scaled_to
from dpwords.models.edit_model import EditModel, counted_steps
from dpwords.spaces.edit_channel import Channel

EditQuestion = Literal["each", "pair", "first", "last"]


def length_errors(proportions: Floats, matrix: Floats, releases: float) -> Floats:
    """The standard errors of fitted proportions of lengths.

    A fit puts all of the weight on some of the lengths, though the releases hardly tell these from their neighbours. So
    the information is that of proportions a tenth of which is spread over all lengths between the shortest and the
    longest that occur, and none of them counts as known. As proportions lie between 0 and 1, no direction has more than
    a standard deviation of a half. No error is below that of a sample. Cost: entries of the matrix · lengths.
    """
    held = np.flatnonzero(releases * proportions >= FEWEST_WORDS)
    first, after = held[0], held[-1] + 1
    size, errors = after - first, sampling_errors(proportions, releases)
    spread = (1 - SPREAD_PROPORTION) * proportions[first:after] + SPREAD_PROPORTION / size
    rows = matrix[first:after]
    released = spread @ rows / spread.sum()
    slopes = np.divide(rows, released, out=np.zeros_like(rows), where=released > 0)
    information = releases * (slopes * released) @ slopes.T + np.eye(size) / WIDEST**2
    covariance = np.linalg.inv(information)
    whole = covariance.sum(axis=0)
    variance = np.diagonal(covariance) - whole**2 / whole.sum()  # given that proportions sum to 1
    errors[first:after] = np.maximum(errors[first:after], np.sqrt(np.maximum(variance, 0.0)))
    return errors


def answered_edits(model: EditModel, kind: EditQuestion, joint: bool = False) -> Answered:
    """The answers to a question about symbols, with standard errors.

    A proportion is what is expected of an answer, divided by what is expected of all of them. As far as it is in doubt
    which chain is the better one, their difference is an error, too. With `joint`, their covariances are found, too.
    Cost: that of `Alignments` and the square of the number of parameters for each release.
    """
    numbers = edit_answers(len(model.language.alphabet), kind).ravel()
    counted, number = np.flatnonzero(numbers >= 0), int(numbers.max()) + 1
    steps, others = (each.chain.steps(each.found.chances)[1] for each in (model.best, model.other))
    total, other = (np.bincount(numbers[counted], each[counted], number) for each in (steps, others))
    if not total.any():
        raise InvalidValue("as far as these releases tell, true words are too short for that: ask for lengths instead")
    proportions = total / total.sum()
    if numbers.size > model.limits.interval_parameters:
        return Answered(proportions, np.full(number, np.nan))
    gather = np.zeros((number, numbers.size))
    gather[numbers[counted], counted] = 1.0
    covariance, boundary = _errors(model, gather, proportions, steps, kind == "pair", joint)
    errors = np.maximum(np.sqrt(covariance.diagonal() if joint else covariance), boundary) / total.sum()
    least = least_error(model.channel, float(total.sum()), 2 if kind == "pair" else 1)
    apart = proportions - other / max(float(other.sum()), 1e-300)
    wide = np.sqrt(np.maximum(errors, least) ** 2 + model.doubt * apart**2)
    return Answered(proportions, wide, scaled_to(covariance, wide) if joint else None)


def _errors(
    model: EditModel, gather: Floats, proportions: Floats, sums: Floats, boundary: bool, joint: bool
) -> tuple[Floats, Floats]:
    """The variances, or covariances, of the numbers of answers; gather[q, p] is 1 if step p gives answer q.

    `sums` are the expected uses of all steps. Also errors that reach, with `boundary`, to the chances that are not
    rejected for steps that seem never to be taken.
    """
    chain, chances, states = model.best.chain, model.best.found.chances, len(model.language.alphabet) + 1
    moments = Moments(len(gather), len(chances), np.arange(len(chances)), joint)
    centring = gather - np.outer(proportions, gather.sum(axis=0))
    for times, steps in chain.each(chances):
        moments.add((steps @ centring.T).T, chain.scores(chances, steps).T, times)
    along = model.releases * chain.covariance(chances, centring.reshape(len(gather), states, states))
    uses = chain.uses(sums)
    covariance = moments.covariance(along, uses, chain.groups, model.releases)
    seen = moments.least_seen(uses, chain.groups, chances)
    return covariance, chain.uses(gather) @ seen if boundary else np.zeros(len(gather))


def least_error(channel: Channel, answers: float, symbols: int) -> float:
    """The standard error of a proportion that the noise alone has, even for somebody who knows all alignments.

    `answers` is the number of all answers in the true words, and `symbols` that of the symbols that an answer consists
    of. What is not deleted is itself with probability p and each other symbol with q, as in `inversion.py`.
    """
    if channel.only_length_shows:
        return math.inf
    deleted, kept, replaced = channel.probabilities
    right, wrong = kept / (kept + replaced), replaced / (kept + replaced) / max(channel.symbols - 1, 1)
    least = min(right * (1 - right), wrong * (1 - wrong)) / ((1 - deleted) * (right - wrong) ** 2)
    return math.sqrt(least**symbols / answers)


def edit_answers(symbols: int, kind: EditQuestion) -> Integers:
    """For each step of `EditModel.matrix`, the number of its answer, −1 for none."""
    numbers = np.full((symbols + 1, symbols + 1), -1)
    if kind == "each":
        numbers[:, :-1] = np.arange(symbols)
    elif kind == "pair":
        numbers[1:, :-1] = np.arange(symbols**2).reshape(symbols, symbols)
    elif kind == "first":
        numbers[0, :-1] = np.arange(symbols)
    else:
        numbers[1:, -1] = np.arange(symbols)
    return numbers


def counted_edits(words: Ragged, symbols: int, kind: EditQuestion) -> Floats:
    """The answers of words as they are. Cost: their symbols."""
    numbers = edit_answers(symbols, kind).ravel()
    counted = numbers >= 0
    found = np.bincount(numbers[counted], counted_steps(words, symbols).ravel()[counted])
    return np.asarray(found / max(found.sum(), 1.0))
