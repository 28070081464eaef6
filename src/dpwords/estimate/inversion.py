"""Unbiased estimates, for free words and for reports: counts in the releases, with the noise taken off.

A release differs from its word in D positions, all sets of D positions equally likely and each symbol there a uniform
other one. So a symbol is kept with probability p = 1 − E[D]/n and becomes a given other one with q = E[D]/(n(m−1)), and
the mean of ([w_i = s] − q)/(p − q) is the proportion of s among the true symbols. Pairs of positions are inverted
likewise.

Where positions are changed independently of each other, an indicator [w_i = s] has at least the smaller of the
variances p(1 − p) and q(1 − q), whatever the true word is. Few releases can vary less than that by chance, and a
likelihood that is nearly flat may have its largest value where errors seem to be small; errors are never below that of
the noise.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Codes, Ragged, is_hashable
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.estimate.questions import RunQuestion
from dpwords.estimate.results import Estimates, FoundAnswers, estimates, interval_factor
from dpwords.estimate.uncertainty import scaled_to
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.mechanisms.private import Private
from dpwords.models.fitting import EstimateMethod, MethodName
from dpwords.models.releases import listed
from dpwords.recipes.questions import OF_REPORTS
from dpwords.spaces.space import batches


class Noise(NamedTuple):
    """What the noise leaves of differences between symbols, and of those between pairs of symbols."""

    one: float  # p − q
    two: float
    symbols: int
    least: float  # variance of the inverted indicator of a symbol at a position, given the true word

    @classmethod
    def at(cls, mechanism: Private, length: int) -> Noise:
        """The noise in words of this length."""
        proportions, m = np.array(mechanism.distance_distribution(length=length)), len(mechanism.language.alphabet)
        changed = np.arange(len(proportions))
        others, positions = max(m - 1, 1), length * (length - 1)
        wrong = float(proportions @ changed) / length
        both, none = (
            proportions @ (changed * (changed - 1)),
            proportions @ ((length - changed) * (length - changed - 1)),
        )
        either = proportions @ (changed * (length - changed))
        two = none - 2 * either / others + both / others**2
        one, other = 1 - wrong - wrong / others, wrong / others
        least = min(wrong * (1 - wrong), other * (1 - other)) / one**2 if mechanism.is_linear and one > 0 else 0.0
        return cls(one, float(two) / positions if positions else 1.0, m, least)


class Inverted(NamedTuple):
    """Unbiased estimates, their standard errors, what plain counting would give, and perhaps their covariances."""

    proportions: Floats
    errors: Floats
    counted: Floats
    covariance: Floats | None = None


def inverted(words: dict[int, Codes], mechanism: Private, question: RunQuestion, joint: bool = False) -> Inverted:
    """The answers to a question about symbols; with `joint`, also their covariances.

    Cost: symbols of all words, and their answers; for covariances their squares.
    """
    number = question.number
    total, plain, whole, kept = (np.zeros(number) for _ in range(4))
    moments = np.zeros((3, number))  # of each word's answer and size: squares, products, squares of the size
    products = np.zeros((number, number)) if joint else None
    for length, rows in words.items():
        sizes, noise = question.sizes(length), Noise.at(mechanism.within(length), length)
        whole += sizes * len(rows)
        for part in batches(len(rows), number, mechanism.limits):
            counts = _counts(rows[part], question, length)
            plain += counts.sum(axis=0)
            unbiased = _unbiased(counts, sizes, noise, question)
            total += unbiased.sum(axis=0)
            moments += [
                (unbiased**2).sum(axis=0),
                (unbiased * sizes).sum(axis=0),
                sizes**2 * len(unbiased),
            ]
            if products is not None:
                products += unbiased.T @ unbiased
    seen = whole > 0
    for sums, found in ((total, kept), (plain, plain)):
        np.divide(sums, whole, out=found, where=seen)
    spread = moments[0] - 2 * kept * moments[1] + kept**2 * moments[2]
    errors = np.divide(np.sqrt(np.maximum(spread, 0.0)), whole, out=np.zeros(number), where=seen)
    errors = np.maximum(errors, least_errors(words, mechanism, question))
    if products is None:
        return Inverted(kept, errors, plain)
    crossed = np.outer(kept, moments[1])
    apart = products - crossed - crossed.T + np.outer(kept, kept) * moments[2]  # all answers have the same size
    return Inverted(kept, errors, plain, scaled_to(apart, errors))


def least_errors(words: dict[int, Codes], mechanism: Private, question: RunQuestion) -> Floats:
    """The standard errors that the noise alone has, whatever the true words are. Cost: a pass over the lengths."""
    least, whole = np.zeros(question.number), np.zeros(question.number)
    for length, rows in words.items():
        sizes, noise = question.sizes(length) * len(rows), Noise.at(mechanism.within(length), length)
        whole += sizes
        least += sizes * (noise.least**2 if question.kind == "pair" else noise.least)
    return np.divide(np.sqrt(least), whole, out=np.zeros(question.number), where=whole > 0)


def noise_errors(words: dict[int, Codes], mechanism: Private, question: RunQuestion, proportions: Floats) -> Floats:
    """The standard errors that the noise alone adds, if these are the proportions: positions are changed independently.

    With u = ([w = s] − q)/(p − q), the mean of u² is A where the true symbol is s, and B where it is not. Cost: a pass
    over the lengths.
    """
    found, whole = np.zeros(question.number), np.zeros(question.number)
    likely = np.clip(proportions, 0.0, 1.0)
    for length, rows in words.items():
        sizes, noise = question.sizes(length) * len(rows), Noise.at(mechanism.within(length), length)
        q = (1 - noise.one) / noise.symbols
        p = q + noise.one
        own, other = (t * (1 - q) ** 2 + (1 - t) * q**2 for t in (p, q))
        a, b = own / noise.one**2, other / noise.one**2
        whole += sizes
        if question.kind != "pair":
            found += sizes * (likely * (a - 1) + (1 - likely) * b)
            continue
        pairs = likely.reshape(noise.symbols, noise.symbols)
        either = pairs.sum(axis=1, keepdims=True) + pairs.sum(axis=0, keepdims=True) - 2 * pairs
        found += sizes * (pairs * (a * a - 1) + either * a * b + (1 - either - pairs).clip(0.0) * b * b).ravel()
    return np.divide(np.sqrt(found), whole, out=np.zeros(question.number), where=whole > 0)


def _counts(rows: Codes, question: RunQuestion, length: int) -> Floats:
    """How often each word gives each answer."""
    symbols, number = question.size, question.number
    words = np.arange(len(rows))[:, None]
    if question.kind == "pair":
        answers = rows[:, :-1].astype(np.int64) * symbols + rows[:, 1:]
    elif question.kind == "position":
        answers = rows + symbols * np.arange(length)
    else:
        answers = rows[:, {"each": slice(None), "first": slice(1), "last": slice(-1, None)}[question.kind]]
    flat = words * number + answers.astype(np.int64)
    return np.bincount(flat.ravel(), minlength=len(rows) * number).reshape(-1, number).astype(np.float64)


def _unbiased(counts: Floats, sizes: Floats, noise: Noise, question: RunQuestion) -> Floats:
    """Answers whose expectation is that of the true word."""
    if question.kind != "pair":
        return np.asarray((counts - sizes / noise.symbols) / noise.one + sizes / noise.symbols)
    pairs = counts.reshape(-1, noise.symbols, noise.symbols)
    rows, columns = pairs.mean(axis=2, keepdims=True), pairs.mean(axis=1, keepdims=True)
    mean = pairs.mean(axis=(1, 2), keepdims=True)
    found = mean + (rows + columns - 2 * mean) / noise.one + (pairs - rows - columns + mean) / noise.two
    return np.asarray(found.reshape(counts.shape))


def answered_report(
    releases: Any,
    report: NamedItems,
    question: str,
    *,
    method: MethodName = EstimateMethod.AUTO,
    confidence: float = 0.95,
    model: Any = None,
    progress: Any = None,
) -> Estimates:
    """The mean, over people, of the proportion of each item in a person's word. Cost: the items named by all of them.

    An item is named with probability p if it is at the chosen position and q if it is not, so (named − q)/(p − q) is an
    unbiased estimate of its proportion; all of them are then projected to proportions.
    """
    interval_factor(confidence)
    if method not in (EstimateMethod.AUTO, EstimateMethod.INVERSE) or model is not None:
        raise InvalidValue(
            "answers of a report are estimated by inversion, without a model: leave out method and model"
        )
    if OF_REPORTS[report.question] != question:
        raise InvalidValue(
            f"these people were asked about {report.question}: use estimate.{OF_REPORTS[report.question]}, or "
            "reports with another question"
        )
    answers = _numbers(releases, report)
    if len(answers) < 2:
        raise InvalidValue("one answer tells nothing about a population: pass at least two")
    named = np.bincount(answers.ravel(), minlength=len(report.items)) / len(answers)
    rate = report.share_if_true - report.share_if_not
    raw = (named - report.share_if_not) / rate
    likely = np.clip(named, report.share_if_not, report.share_if_true)  # the mean over people lies between them
    errors = np.sqrt(likely * (1 - likely) / len(answers)) / rate
    counted = named / report.size
    found = FoundAnswers(report.items, raw, errors, EstimateMethod.INVERSE, counted)
    return estimates(found, confidence=confidence, releases=len(answers), question=question)


def counted_answers(releases: Any, report: NamedItems) -> dict[Any, float]:
    """The proportion of each item among all items that were named, as if nobody had named a wrong one."""
    answers = _numbers(releases, report)
    named = np.bincount(answers.ravel(), minlength=len(report.items)) / answers.size
    return dict(zip(report.items, named.tolist(), strict=True))


def reported_proportions(words: Ragged, report: NamedItems) -> dict[Any, float]:
    """What reports of these true words are about: the mean, over words, of the proportion of each item in a word.

    The words are codes of symbols, each long enough to be asked about. Cost: their symbols.
    """
    found = np.zeros(len(report.items))
    for numbers in words.by_length():
        items = report.at_positions(words.rows(numbers))
        found += np.bincount(items.ravel(), minlength=len(found)) / items.shape[1]
    return dict(zip(report.items, (found / len(words)).tolist(), strict=True))


def _numbers(releases: Any, report: NamedItems) -> Integers:
    """The numbers of the items that each person has named, a row for each person."""
    if isinstance(releases, Ragged) and len(releases) and (releases.sizes == releases.sizes[0]).all():
        releases = releases.rows(np.arange(len(releases)))
    if isinstance(releases, np.ndarray) and releases.ndim == 2 and releases.dtype.kind in "iu":
        found = releases.astype(np.int64)
        if found.shape[1] != report.size or found.min(initial=0) < 0 or found.max(initial=0) >= len(report.items):
            raise NotInLanguage(f"each row has {report.size} numbers of items: pass what release_codes returned")
    else:
        number = {item: index for index, item in enumerate(report.items)}
        rows = []
        for position, answer in enumerate(listed(releases), start=1):
            items = [_item(item) for item in answer] if isinstance(answer, (set, frozenset, list, tuple)) else []
            known = all(is_hashable(item) and item in number for item in items)
            if len(set(items) if known else ()) != report.size:
                raise NotInLanguage(
                    f"answer {position} does not name {report.size} items of the report: pass what its release returned"
                )
            rows.append([number[item] for item in items])
        found = np.array(rows, dtype=np.int64).reshape(-1, report.size)
    if not len(found):
        raise InvalidValue("there are no answers to estimate from: pass at least one")
    return found


def _item(item: Any) -> Any:
    """An item as it was before a table made lists of its tuples."""
    return tuple(map(_item, item)) if isinstance(item, list) else item
