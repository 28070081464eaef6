"""Estimates from releases of the edit channel, whose words may have become longer or shorter."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpwords.core.encoding import Ragged
from dpwords.core.scaled import Floats, Integers
from dpwords.errors import InvalidValue
from dpwords.estimate.uncertainty import Answered, inside, least_seen, variance_of
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.models.alignments import Alignments
from dpwords.models.edit_chains import FittedChain, better_chain, fitted_chains, scores_of
from dpwords.models.fitting import ProgressLine
from dpwords.models.releases import Releases
from dpwords.spaces.edit_channel import Channel

EditQuestion = Literal["each", "pair", "first", "last"]


@dataclass(frozen=True, eq=False)
class EditModel:
    """A Markov chain over an alphabet whose words end at some time, fitted to releases of the edit channel.

    Words end with a chance of its own after each symbol, or with the same chance after all of them, whichever explains
    the releases better.
    """

    mechanism: EditChannel
    best: FittedChain
    other: FittedChain
    doubt: float  # the probability that chance alone makes the one look better than the other
    releases: int
    fitted_to: str  # the fingerprint of the releases

    method = "em"

    def __repr__(self) -> str:
        return f"<EditModel: a Markov chain on {self.mechanism.language!r}, fitted to {self.releases} releases (em)>"

    @property
    def matrix(self) -> Floats:
        """Row 0: the first symbol, and last the empty word; row 1 + a: the symbol after a, and last the end."""
        return self.best.matrix

    @property
    def converged(self) -> bool:
        """Whether the search ended because the likelihood no longer rose."""
        return self.best.found.converged

    @property
    def log_likelihood(self) -> float:
        """The logarithm of the likelihood of the releases."""
        return self.best.found.log_likelihood

    @property
    def transitions(self) -> dict[Any, dict[Any, float]]:
        """{symbol: {next symbol: probability}}; None is the start, and as a next symbol the end of a word."""
        names = [*self.mechanism.language.alphabet.symbols, None]
        rows = zip([None, *names[:-1]], self.matrix.tolist(), strict=True)
        return {name: dict(zip(names, row, strict=True)) for name, row in rows}


def refuse_projected(mechanism: EditChannel) -> None:
    """Raise InvalidValue if releases went through a projection."""
    if mechanism.projected_onto is not None:
        raise InvalidValue(
            "releases that were projected onto a language have no likelihood that can be computed: estimate from "
            "releases of the channel over an alphabet alone, not onto a system or lexicon"
        )


def fitted_edits(releases: Releases, mechanism: EditChannel, progress: ProgressLine | None = None) -> EditModel:
    """The population of words that makes the releases most likely. Cost: some tens of passes of `Alignments`, twice."""
    refuse_projected(mechanism)
    alignments = Alignments(releases.words, mechanism._channel, mechanism.limits)
    steps = _start(releases.words, len(mechanism.language.alphabet))
    best, other, doubt = better_chain(*fitted_chains(alignments, steps, progress))
    return EditModel(mechanism, best, other, doubt, len(releases), releases.fingerprint(mechanism))


def _start(words: Ragged, symbols: int) -> Floats:
    """Uses of all steps to start from: those in the releases as they are, with something added to each."""
    size = symbols + 1
    uses = np.full((size, size), 1.0)
    ends = words.ends[words.sizes > 0]
    starts = (words.ends - words.sizes)[words.sizes > 0]
    inner = np.ones(len(words.values), dtype=np.bool_)
    inner[starts] = False
    after = np.flatnonzero(inner)
    np.add.at(uses, (1 + words.values[after - 1].astype(np.int64), words.values[after]), 1.0)
    uses[0, :-1] += np.bincount(words.values[starts], minlength=symbols)
    uses[1:, -1] += np.bincount(words.values[ends - 1], minlength=symbols)
    uses[0, -1] += np.count_nonzero(words.sizes == 0)
    uses += 0.1 * uses.sum(axis=1, keepdims=True) / size
    return uses.ravel()


def answered_edits(model: EditModel, kind: EditQuestion) -> Answered:
    """The answers to a question about symbols, with standard errors.

    A share is what is expected of an answer, divided by what is expected of all of them. As far as it is in doubt which
    chain is the better one, their difference is an error, too. Cost: that of `Alignments` and the square of the number
    of parameters for each release.
    """
    numbers = _answers(len(model.mechanism.language.alphabet), kind).ravel()
    counted, number = np.flatnonzero(numbers >= 0), int(numbers.max()) + 1
    steps, others = (each.chain.steps(each.found.chances)[1] for each in (model.best, model.other))
    total, other = (np.bincount(numbers[counted], each[counted], number) for each in (steps, others))
    if not total.any():
        raise InvalidValue("as far as these releases tell, true words are too short for that: ask for lengths instead")
    shares = total / total.sum()
    if numbers.size > model.mechanism.limits.interval_parameters:
        return Answered(shares, np.full(number, np.nan))
    gather = np.zeros((number, numbers.size))
    gather[numbers[counted], counted] = 1.0
    errors = _errors(model, gather, shares, steps, boundary=kind == "pair") / total.sum()
    least = least_error(model.mechanism._channel, float(total.sum()), 2 if kind == "pair" else 1)
    apart = shares - other / max(float(other.sum()), 1e-300)
    return Answered(shares, np.sqrt(np.maximum(errors, least) ** 2 + model.doubt * apart**2))


def _errors(model: EditModel, gather: Floats, shares: Floats, sums: Floats, boundary: bool) -> Floats:
    """The standard errors of the numbers of answers; gather[q, p] is 1 if step p gives answer q.

    `sums` are the expected uses of all steps. With `boundary`, errors reach to the chances that are not rejected for
    steps that seem never to be taken.
    """
    chain, chances, states = model.best.chain, model.best.found.chances, len(model.mechanism.language.alphabet) + 1
    answers, parameters = len(gather), len(chances)
    own, cross = np.zeros(answers), np.zeros((answers, parameters))
    information, slopes = np.zeros((parameters, parameters)), np.zeros(parameters)
    centring = gather - np.outer(shares, gather.sum(axis=0))
    for times, steps in chain.each(chances):
        scores, apart = scores_of(chain, chances, steps), steps @ centring.T
        own += times @ apart**2
        cross += (apart * times[:, None]).T @ scores
        information += (scores * times[:, None]).T @ scores
        slopes += times @ scores
    along = model.releases * chain.covariance(chances, centring.reshape(answers, states, states))
    uses = chain.uses(sums)
    free = inside(information, uses, chain.groups)
    errors = np.sqrt(variance_of(own, cross, along, information, free, model.releases))
    if boundary:
        errors = np.maximum(errors, chain.uses(gather) @ least_seen(information, slopes, uses, chain.groups, chances))
    return np.asarray(errors)


def least_error(channel: Channel, answers: float, symbols: int) -> float:
    """The standard error of a share that the noise alone has, even for somebody who knows all alignments.

    `answers` is the number of all answers in the true words, and `symbols` that of the symbols that an answer consists
    of. What is not deleted is itself with probability p and each other symbol with q, as in `inversion.py`.
    """
    if channel.only_length_shows:
        return math.inf
    deleted, kept, replaced = channel.shares
    right, wrong = kept / (kept + replaced), replaced / (kept + replaced) / max(channel.symbols - 1, 1)
    least = min(right * (1 - right), wrong * (1 - wrong)) / ((1 - deleted) * (right - wrong) ** 2)
    return math.sqrt(least**symbols / answers)


def _answers(symbols: int, kind: EditQuestion) -> Integers:
    """For each parameter, the number of its answer, −1 for none."""
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
