"""Estimates from reports: each person has named some items, the true one more often than the others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpwords.core.scaled import Integers
from dpwords.core.symbols import Ragged, is_hashable
from dpwords.errors import InvalidValue, NotInLanguage
from dpwords.estimate.results import Estimates, estimates, interval_factor, on_simplex
from dpwords.mechanisms.mechanism import NamedItems
from dpwords.models.fitting import EstimateMethod, MethodName
from dpwords.models.releases import listed
from dpwords.recipes.questions import OF_REPORTS


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
    return estimates(
        report.items,
        on_simplex(raw),
        raw,
        errors,
        confidence=confidence,
        counted=counted,
        releases=len(answers),
        question=question,
        method=EstimateMethod.INVERSE,
    )


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
