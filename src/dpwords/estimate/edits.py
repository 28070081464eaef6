"""Answers from releases of the edit channel, whose words may have become longer or shorter, and their errors."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.estimate.uncertainty import Answered, Moments
from dpwords.models.edit_chains import scores_of
from dpwords.models.edit_model import EditModel, counted_steps
from dpwords.spaces.edit_channel import Channel

EditQuestion = Literal["each", "pair", "first", "last"]


def answered_edits(model: EditModel, kind: EditQuestion) -> Answered:
    """The answers to a question about symbols, with standard errors.

    A proportion is what is expected of an answer, divided by what is expected of all of them. As far as it is in doubt
    which chain is the better one, their difference is an error, too. Cost: that of `Alignments` and the square of the
    number of parameters for each release.
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
    errors = _errors(model, gather, proportions, steps, boundary=kind == "pair") / total.sum()
    least = least_error(model.channel, float(total.sum()), 2 if kind == "pair" else 1)
    apart = proportions - other / max(float(other.sum()), 1e-300)
    return Answered(proportions, np.sqrt(np.maximum(errors, least) ** 2 + model.doubt * apart**2))


def _errors(model: EditModel, gather: Floats, proportions: Floats, sums: Floats, boundary: bool) -> Floats:
    """The standard errors of the numbers of answers; gather[q, p] is 1 if step p gives answer q.

    `sums` are the expected uses of all steps. With `boundary`, errors reach to the chances that are not rejected for
    steps that seem never to be taken.
    """
    chain, chances, states = model.best.chain, model.best.found.chances, len(model.language.alphabet) + 1
    moments = Moments(len(gather), len(chances))
    centring = gather - np.outer(proportions, gather.sum(axis=0))
    for times, steps in chain.each(chances):
        moments.add((steps @ centring.T).T, scores_of(chain, chances, steps).T, times)
    along = model.releases * chain.covariance(chances, centring.reshape(len(gather), states, states))
    uses = chain.uses(sums)
    errors = moments.errors(along, uses, chain.groups, model.releases)
    if boundary:
        errors = np.maximum(errors, chain.uses(gather) @ moments.least_seen(uses, chain.groups, chances))
    return np.asarray(errors)


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
