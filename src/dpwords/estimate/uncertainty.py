"""How uncertain an estimate is: standard errors from the observed information.

An answer is the mean, over the releases, of what is expected of the hidden run at the fitted parameters T. The score of
a release w has, for each parameter p, the entry ψ(w) = E[n_p|w] − T_p·E[n|w], where n_p counts the uses of p, and n
those of all parameters of its state. S = Σ ψψ′ is the observed information. The variance of an answer is the part of
its own variation that the scores do not explain, plus K·S⁻¹·K′, where K are the covariances of the answers with the
scores under the fitted population (docs/theory.md, section 15).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.estimate.questions import NONE, RunQuestion
from dpwords.estimate.results import sampling_errors
from dpwords.estimate.tuning import FEWEST_USES, FEWEST_WORDS, SMALL, SPREAD_PROPORTION, UNSEEN
from dpwords.models.edit_model import EditModel, counted_steps
from dpwords.models.hidden import Hidden
from dpwords.models.population import Part, RunEvidence
from dpwords.spaces.edit_channel import Channel
from dpwords.spaces.graph import Flags

EditQuestion = Literal["each", "pair", "first", "last"]

_TWO_SIDED = 1.96  # standard errors at which a chance on the boundary counts as rejected
_WIDEST = 0.5  # the largest standard deviation that a number between 0 and 1 can have


class Answered(NamedTuple):
    """Estimated proportions, and their standard errors."""

    proportions: Floats
    errors: Floats


def answered(evidence: RunEvidence, population: Hidden, question: RunQuestion, chances: Floats) -> Answered:
    """The answers to a question, with standard errors, which are NaN for a chain with too many parameters.

    Cost: three passes over the releases, (parameters + answers) · parameters for each release, and
    `model_covariance`.
    """
    total, whole = np.zeros(question.number), np.zeros(question.number)  # of each answer, and of all that it may be
    lengths: dict[int, float] = defaultdict(float)
    for part in evidence.each(chances, question.kind == "position"):
        words = float(part.times.sum())
        total += _found(part, evidence.hidden, question) @ part.times
        whole += question.sizes(part.length) * words
        lengths[part.length] += words
    proportions = np.divide(total, whole, out=np.zeros_like(total), where=whole > 0)
    number, parameters = question.number, len(evidence.groups)
    if parameters > evidence.limits.interval_parameters:
        return Answered(proportions, np.full(number, np.nan))
    moments, uses = Moments(number, parameters), evidence.expected(chances)[1]
    for part in evidence.each(chances, question.kind == "position"):
        apart = _found(part, evidence.hidden, question) - (proportions * question.sizes(part.length))[:, None]
        moments.add(apart, scores_of(part, evidence, chances), part.times)
    along = model_covariance(population, question, chances, lengths)
    errors = moments.errors(along, uses, evidence.groups, sum(lengths.values()))
    if question.kind == "pair":
        numbers, parameter = question.edges(evidence.hidden), evidence.hidden.parameter
        least = moments.least_seen(uses, evidence.groups, chances)
        counts = numbers != NONE
        np.maximum.at(errors, numbers[counts], least[parameter[counts]])
    return Answered(proportions, np.divide(errors, whole, out=np.zeros_like(errors), where=whole > 0))


class Moments:
    """Sums over releases of products of their answers, taken relative to the proportions, and their scores."""

    def __init__(self, answers: int, parameters: int) -> None:
        self.own, self.cross = np.zeros(answers), np.zeros((answers, parameters))
        self.information, self.slopes = np.zeros((parameters, parameters)), np.zeros(parameters)

    def add(self, apart: Floats, scores: Floats, times: Floats) -> None:
        """Add some releases, a column for each, that occur so many times."""
        self.own += (apart**2) @ times
        self.cross += (apart * times) @ scores.T
        self.information += (scores * times) @ scores.T
        self.slopes += scores @ times

    def errors(self, along: Floats, uses: Floats, groups: Integers, releases: float) -> Floats:
        """The standard errors of the numbers of answers; `along` are the covariances K of docs/theory.md, 15 e.

        The variances are (v − G·S⁻¹·G′) + K·S⁻¹·K′. Where there are as few releases as parameters, scores seem to
        explain everything; what they explain counts with the weight of `trust`, which is how far sums over releases of
        products of different scores mean something: 1 − (parameters/releases)² or 0.
        """
        free = inside(self.information, uses, groups)
        trust = max(1 - (np.count_nonzero(free) / releases) ** 2, 0.0)
        root = root_of_inverse(self.information, free, trust)
        left = np.maximum(self.own - trust * ((self.cross @ root) ** 2).sum(axis=1), 0.0)
        return np.asarray(np.sqrt(left + ((along @ root) ** 2).sum(axis=1)))

    def least_seen(self, uses: Floats, groups: Integers, chances: Floats) -> Floats:
        """For each parameter on the boundary a standard error of its number of uses; 0 for all others.

        Along a chance t the log-likelihood is about slope·t − curvature·t²/2, which bounds the chances that it rejects.
        """
        curvature, slope = np.diagonal(self.information) / chances**2, np.minimum(self.slopes / chances, 0.0)
        root = np.sqrt(slope**2 + _TWO_SIDED**2 * curvature)
        bound = _TWO_SIDED**2 / np.maximum(root - slope, 1e-300)  # (slope + root)/curvature, without cancellation
        most = np.minimum(bound, 1.0) * np.bincount(groups, uses)[groups]
        return np.where(uses < FEWEST_USES, most / _TWO_SIDED, 0.0)


def scores_of(part: Part, evidence: RunEvidence, chances: Floats) -> Floats:
    """The scores of some releases, a column for each."""
    uses = _summed(part.found.uses, evidence.hidden.parameter, len(evidence.groups))
    of_state = _summed(uses, evidence.groups, int(evidence.groups.max()) + 1)
    return np.asarray(uses - chances[:, None] * of_state[evidence.groups])


def _found(part: Part, hidden: Hidden, question: RunQuestion) -> Floats:
    """What is expected of each release: for each answer, how often its run gives it."""
    if not question.by_position:
        return _summed(part.found.uses, question.edges(hidden), question.number)
    found, positions = np.zeros((question.number, part.found.states.shape[2])), len(part.found.states)
    for position, states in enumerate(
        part.found.states, start=part.length - positions
    ):  # all positions, or the last one
        found += _summed(states, question.states(hidden, position, part.length), question.number)
    return found


def _summed(rows: Floats, numbers: Integers, size: int) -> Floats:
    """The sums of the rows with each number from 0 to size − 1."""
    kept = np.flatnonzero(numbers != NONE)
    order = kept[np.argsort(numbers[kept], kind="stable")]
    found = np.zeros((size, rows.shape[1]))
    if len(order):
        present, begin = np.unique(numbers[order], return_index=True)
        found[present] = np.add.reduceat(rows[order], begin, axis=0)
    return found


def model_covariance(
    population: Hidden, question: RunQuestion, chances: Floats, lengths: Mapping[int, float]
) -> Floats:
    """The covariance of each answer with each score under the fitted population, summed over words of these lengths.

    Cost: longest length · states · (states + answers) · parameters, for each length where runs can get stuck or must
    end in some states, otherwise once.
    """
    found = np.zeros((question.number, len(population.groups)))
    prefixes = bool(population.accepting.all()) and question.kind != "last"
    prefixes = prefixes and len(np.unique(population.source)) == population.size
    for longest in [max(lengths)] if prefixes else lengths:
        for length, covariance in enumerate(_covariances(population, question, chances, longest), start=1):
            if length == longest or (prefixes and length in lengths):
                found += lengths[length] * covariance
    return found


def _covariances(hidden: Hidden, question: RunQuestion, chances: Floats, length: int) -> Iterator[Floats]:
    """The covariances of answers and scores of runs up to each position of words of one length."""
    size, parameters, groups = hidden.size, len(chances), hidden.groups
    begin, joint = np.eye(1, size)[0], np.zeros((question.number, parameters))
    uses, answers = np.zeros((parameters, size)), np.zeros((question.number, size))  # by state reached
    mean_uses, mean_answers = np.zeros(parameters), np.zeros(question.number)
    layers, proportions = hidden.layers(length), hidden.completing(chances, length)
    edges = None if question.by_position else question.edges(hidden)
    for position, taken in enumerate(np.split(layers.order, layers.begin[1:-1])):
        source, target, parameter = hidden.source[taken], hidden.target[taken], hidden.parameter[taken]
        proportion = proportions[position, taken]
        mass = begin[source] * proportion
        numbers = question.states(hidden, position, length)[target] if edges is None else edges[taken]
        counted = numbers != NONE
        to_state = _matrix(source, target, proportion, size, size)
        to_answer = _matrix(source[counted], numbers[counted], proportion[counted], size, question.number)
        joint += (uses @ to_answer).T + answers @ _matrix(source, parameter, proportion, size, parameters)
        np.add.at(joint, (numbers[counted], parameter[counted]), mass[counted])
        mean_uses += np.bincount(parameter, mass, parameters)
        mean_answers += np.bincount(numbers[counted], mass[counted], question.number)
        begin, uses, answers = begin @ to_state, uses @ to_state, answers @ to_state
        np.add.at(uses, (parameter, target), mass)
        np.add.at(answers, (numbers[counted], target[counted]), mass[counted])
        centred = joint - np.outer(mean_answers, mean_uses)
        by_group = _summed(np.ascontiguousarray(centred.T), groups, int(groups.max()) + 1)
        yield np.asarray(centred - (chances[:, None] * by_group[groups]).T)


def _matrix(rows: Integers, columns: Integers, values: Floats, height: int, width: int) -> Floats:
    found = np.bincount(rows * width + columns, values, height * width).reshape(height, width)
    return np.asarray(found, dtype=np.float64)


def inside(information: Floats, uses: Floats, groups: Integers) -> Flags:
    """Which parameters do not lie on the boundary: those that are used, but not alone among those of their state.

    Those whose scores are all next to 0 are left out, too: a run that takes both ways once each has a score of 0.
    """
    others = np.bincount(groups, uses)[groups] - uses
    in_true_words = uses * others / np.maximum(uses + others, FEWEST_USES)
    shown = np.diagonal(information) > UNSEEN * in_true_words
    return np.asarray((np.minimum(uses, others) >= FEWEST_USES) & shown)


def root_of_inverse(information: Floats, free: Flags, trust: float) -> Floats:
    """A matrix R with R·R′ = the inverse of the information about the parameters that do not lie on the boundary.

    All others count as known. Directions about which there is no information are left out. The products of different
    scores count with the weight `trust`.
    """
    scale = np.sqrt(np.where(free, np.diagonal(information), 0.0))
    scale[scale == 0.0] = np.inf
    correlation = trust * information / np.outer(scale, scale)
    np.fill_diagonal(correlation, np.where(free, 1.0, 0.0))
    values, vectors = np.linalg.eigh(correlation)
    keep = values > SMALL * values.max(initial=0.0)
    return np.asarray(vectors[:, keep] / np.sqrt(values[keep]) / scale[:, None])


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
    information = releases * (slopes * released) @ slopes.T + np.eye(size) / _WIDEST**2
    covariance = np.linalg.inv(information)
    whole = covariance.sum(axis=0)
    variance = np.diagonal(covariance) - whole**2 / whole.sum()  # given that proportions sum to 1
    errors[first:after] = np.maximum(errors[first:after], np.sqrt(np.maximum(variance, 0.0)))
    return errors


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
        moments.add((steps @ centring.T).T, chain.scores(chances, steps).T, times)
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
