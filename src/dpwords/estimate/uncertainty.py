"""How uncertain an estimate is: standard errors from the observed information.

An answer is the mean, over the releases, of what is expected of the hidden run at the fitted parameters T. The score of
a release w has, for each parameter p, the entry ψ(w) = E[n_p|w] − T_p·E[n|w], where n_p counts the uses of p, and n
those of all parameters of its state. S = Σ ψψ′ is the observed information. The variance of an answer is the part of
its own variation that the scores do not explain, plus K·S⁻¹·K′, where K are the covariances of the answers with the
scores under the fitted population (docs/theory.md, section 15). No variance is below that of as many true words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.estimate.questions import NONE, RunQuestion
from dpwords.estimate.tuning import FEWEST_USES, INFORMATION_STEPS, MOST_LENGTHS, SMALL, UNSEEN
from dpwords.models.fitting import normalised
from dpwords.models.hidden import Hidden
from dpwords.models.population import Model, Part, Rival, RunEvidence
from dpwords.models.tuning import LEAST_DOUBT
from dpwords.spaces.graph import Flags

_TWO_SIDED = 1.96  # standard errors at which a chance on the boundary counts as rejected


class Answered(NamedTuple):
    """Estimated proportions, their standard errors, and if they were asked for, their covariances."""

    proportions: Floats
    errors: Floats
    covariance: Floats | None = None


def answered(
    evidence: RunEvidence, population: Hidden, question: RunQuestion, chances: Floats, joint: bool = False
) -> Answered:
    """The answers to a question, with standard errors, which are NaN for a chain with too many parameters.

    With `joint`, also their covariances. Cost: three passes over the releases, (parameters + answers) · parameters for
    each release, parameters³, and `population_moments`.
    """
    proportions, whole, lengths = expected_answers(evidence, question, chances)
    uses = evidence.expected(chances)[1]
    used = np.flatnonzero(_shares(uses, evidence.groups) >= FEWEST_USES)
    if len(used) > evidence.limits.interval_parameters:
        return Answered(proportions, np.full(question.number, np.nan))
    moments = Moments(question.number, len(uses), used, joint)
    releases = sum(lengths.values())
    some = evidence.sample(max(int(INFORMATION_STEPS / max(len(used), 1) ** 2), 1000))
    for part in some.each(chances, question.kind == "position"):
        apart = _found(part, evidence.hidden, question) - (proportions * question.sizes(part.length))[:, None]
        moments.add(apart, scores_of(part, evidence, chances), part.times)
    moments.scale(releases)
    along, own = population_moments(population, question, chances, lengths, proportions)
    covariance = moments.covariance(along[:, used], uses, evidence.groups, releases)
    errors = np.sqrt(np.maximum(covariance.diagonal() if joint else covariance, own))
    if question.kind == "pair":
        numbers, parameter = question.edges(evidence.hidden), evidence.hidden.parameter
        least = moments.least_seen(uses, evidence.groups, chances)
        counts = numbers != NONE
        np.maximum.at(errors, numbers[counts], least[parameter[counts]])
    wide = np.divide(errors, whole, out=np.zeros_like(errors), where=whole > 0)
    return Answered(proportions, wide, scaled_to(covariance, wide) if joint else None)


def expected_answers(
    evidence: RunEvidence, question: RunQuestion, chances: Floats
) -> tuple[Floats, Floats, dict[int, float]]:
    """The answers to a question, the number of all answers of which each is a proportion, and the words by length.

    Cost: a pass over the releases.
    """
    total, whole = np.zeros(question.number), np.zeros(question.number)
    lengths: dict[int, float] = defaultdict(float)
    for part in evidence.each(chances, question.kind == "position"):
        words = float(part.times.sum())
        total += _found(part, evidence.hidden, question) @ part.times
        whole += question.sizes(part.length) * words
        lengths[part.length] += words
    return np.divide(total, whole, out=np.zeros_like(total), where=whole > 0), whole, lengths


def inner_chances(model: Model) -> Floats:
    """Chances near those of a model, and none on the boundary, as if each step had been used once more.

    On the boundary a chance has no standard error, and those of others are what they would be if it were known.
    """
    uses = model.evidence.expected(model.chances)[1]
    return normalised(uses + 1.0, model.evidence.groups)


def disagreement(rivals: Sequence[Rival], question: RunQuestion) -> Floats:
    """By how much models that explain the releases nearly as well answer otherwise, as standard errors.

    If another model is the better one with probability u, the squared difference of the two answers counts with the
    weight 2u, so that for models that explain the releases equally well it counts in full. A model whose steps depend
    on the position knows more than others about the first and the last symbol and about each position: for such
    questions its difference counts in full. Cost: two passes for each.
    """
    found, of_positions = np.zeros(question.number), question.kind in ("first", "last", "position")
    for rival in rivals:
        doubt = 0.5 if rival.by_place and of_positions else rival.doubt
        if doubt <= LEAST_DOUBT:
            continue
        own = expected_answers(rival.best_evidence, question, rival.best_chances)[0]
        other = expected_answers(rival.evidence, question, rival.chances)[0]
        found = np.maximum(found, 2 * doubt * (own - other) ** 2)
    return np.sqrt(found)


def unclear(proportions: Floats, errors: Floats, question: RunQuestion) -> Floats:
    """What each proportion would gain if those that cannot be told from 0 were 0, as standard errors.

    A fitted proportion is never negative, so what nobody does gets a little of what everybody does.
    """
    apart = question.number // question.size if question.kind == "position" else 1
    found, some = proportions.reshape(apart, -1), (proportions < _TWO_SIDED * errors).reshape(apart, -1)
    small = (found * some).sum(axis=1, keepdims=True)
    return np.asarray(found * ~some * small / np.maximum(1 - small, 0.5)).ravel()


def scaled_to(covariance: Floats, errors: Floats) -> Floats:
    """The covariances with the same correlations and these standard errors."""
    own = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    scale = np.divide(errors, own, out=np.zeros_like(own), where=own > 0)
    found = covariance * np.outer(scale, scale)
    np.fill_diagonal(found, errors**2)
    return np.asarray(found)


class Moments:
    """Sums over releases of products of their answers, taken relative to the proportions, and their scores.

    Products of different scores are summed for the `used` parameters only.
    """

    def __init__(self, answers: int, parameters: int, used: Integers, joint: bool = False) -> None:
        self.used, self.joint, self.times = used, joint, 0.0
        self.own = np.zeros((answers, answers) if joint else answers)
        self.cross, self.information = np.zeros((answers, len(used))), np.zeros((len(used), len(used)))
        self.squares, self.slopes = np.zeros(parameters), np.zeros(parameters)

    def add(self, apart: Floats, scores: Floats, times: Floats) -> None:
        """Add some releases, a column for each, that occur so many times."""
        some = scores[self.used]
        self.own += (apart * times) @ apart.T if self.joint else (apart**2) @ times
        self.cross += (apart * times) @ some.T
        self.information += (some * times) @ some.T
        self.squares += (scores**2) @ times
        self.slopes += scores @ times
        self.times += float(times.sum())

    def scale(self, releases: float) -> None:
        """Let the releases that were added stand for so many."""
        for sums in (self.own, self.cross, self.information, self.squares, self.slopes):
            np.multiply(sums, releases / self.times, out=sums)

    def covariance(self, along: Floats, uses: Floats, groups: Integers, releases: float) -> Floats:
        """The variances of the numbers of answers, or their covariances; `along` are K of docs/theory.md, 15 e.

        They are (v − G·S⁻¹·G′) + K·S⁻¹·K′. Where there are as few releases as parameters, scores seem to explain
        everything; what they explain counts with the weight of `trust`, which is how far sums over releases of products
        of different scores mean something: 1 − (parameters/releases)² or 0.
        """
        free = inside(self.squares, uses, groups)[self.used]
        trust = max(1 - (np.count_nonzero(free) / releases) ** 2, 0.0)
        root = root_of_inverse(self.information, free, trust)
        explained, added = self.cross @ root, along @ root
        if self.joint:
            left = self.own - trust * explained @ explained.T
            return np.asarray(left + added @ added.T)
        left = np.maximum(self.own - trust * (explained**2).sum(axis=1), 0.0)
        return np.asarray(left + (added**2).sum(axis=1))

    def least_seen(self, uses: Floats, groups: Integers, chances: Floats) -> Floats:
        """For each parameter on the boundary a standard error of its number of uses; 0 for all others.

        Along a chance t the log-likelihood is about slope·t − curvature·t²/2, which bounds the chances that it rejects.
        """
        curvature, slope = self.squares / chances**2, np.minimum(self.slopes / chances, 0.0)
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


def population_moments(
    population: Hidden, question: RunQuestion, chances: Floats, lengths: Mapping[int, float], proportions: Floats
) -> tuple[Floats, Floats]:
    """Under the fitted population, summed over words of these lengths: the covariance of each answer with each score,
    and the variance of each answer relative to its proportion, which is that of true words.

    Of very many lengths some stand for those near them. Cost: for each length, its edges · answers.
    """
    along, own = np.zeros((question.number, len(population.groups))), np.zeros(question.number)
    for length, number in _representative(lengths).items():
        covariance, mean, variance = _of_length(population, question, chances, length)
        along += number * covariance
        own += number * (variance + (mean - proportions * question.sizes(length)) ** 2)
    by_group = _summed(np.ascontiguousarray(along.T), population.groups, int(population.groups.max()) + 1)
    return np.asarray(along - (chances[:, None] * by_group[population.groups]).T), own


def _representative(lengths: Mapping[int, float]) -> dict[int, float]:
    """The numbers of words of each length, where those of very many lengths count for the next one that is kept."""
    known = np.array(sorted(lengths))
    kept = known[np.unique(np.linspace(0, len(known) - 1, MOST_LENGTHS).round().astype(int))]
    found: dict[int, float] = defaultdict(float)
    for length, number in lengths.items():
        found[int(kept[np.searchsorted(kept, length)])] += number
    return found


def _of_length(hidden: Hidden, question: RunQuestion, chances: Floats, length: int) -> tuple[Floats, Floats, Floats]:
    """For words of one length: covariances of answers and uses, and the means and variances of the answers.

    An answer A is a sum over positions. With F the answers up to a position and V those after it, a step e that is
    taken with probability m has E[A·[e]] = m·(F + [e counts] + V).
    """
    layers, steps = hidden.layers(length), hidden.completing(chances, length)
    edges = None if question.by_position else question.edges(hidden)
    taken = np.split(layers.order, layers.begin[1:-1])
    live = [np.zeros(1, dtype=np.int64), *np.split(layers.reached, layers.since[1:-1])]
    numbers = [
        (question.states(hidden, t, length)[hidden.target[each]] if edges is None else edges[each])
        for t, each in enumerate(taken)
    ]
    later = [np.zeros((len(live[-1]), question.number))]  # V, from the last position on
    value: list[Floats] = []
    for t in reversed(range(length)):
        each, rows = taken[t], np.arange(len(taken[t]))
        found = later[-1][np.searchsorted(live[t + 1], hidden.target[each])]
        counted = numbers[t] != NONE
        found[rows[counted], numbers[t][counted]] += 1.0
        value.append(found)
        source = np.searchsorted(live[t], hidden.source[each])
        later.append(_summed(steps[t, each, None] * found, source, len(live[t])))
    mean, uses = later[-1][0], np.zeros(len(chances))
    joint, squares = np.zeros((len(chances), question.number)), np.zeros(question.number)
    mass, before = np.ones(1), np.zeros((1, question.number))  # of each state, and F·mass
    for t, each in enumerate(taken):
        source, target = (
            np.searchsorted(live[t], hidden.source[each]),
            np.searchsorted(live[t + 1], hidden.target[each]),
        )
        step = steps[t, each]
        taking, parameter = mass[source] * step, hidden.parameter[each]
        come = before[source] * step[:, None]
        joint += _summed(come + taking[:, None] * value[length - 1 - t], parameter, len(chances))
        uses += np.bincount(parameter, taking, len(chances))
        rows = np.flatnonzero(numbers[t] != NONE)
        column = numbers[t][rows]
        np.add.at(squares, column, taking[rows] + 2 * come[rows, column])
        come[rows, column] += taking[rows]
        before = _summed(come, target, len(live[t + 1]))
        mass = np.bincount(target, taking, len(live[t + 1])).astype(np.float64)
    return (joint - np.outer(uses, mean)).T, mean, np.maximum(squares - mean**2, 0.0)


def _shares(uses: Floats, groups: Integers) -> Floats:
    """For each parameter its uses or those of all others of its state, whichever is less."""
    return np.asarray(np.minimum(uses, np.bincount(groups, uses)[groups] - uses))


def inside(squares: Floats, uses: Floats, groups: Integers) -> Flags:
    """Which parameters do not lie on the boundary: those that are used, but not alone among those of their state.

    Those whose scores, of which these are the sums of squares, are all next to 0 are left out, too: a run that takes
    both ways once each has a score of 0.
    """
    others = np.bincount(groups, uses)[groups] - uses
    in_true_words = uses * others / np.maximum(uses + others, FEWEST_USES)
    return np.asarray((_shares(uses, groups) >= FEWEST_USES) & (squares > UNSEEN * in_true_words))


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
