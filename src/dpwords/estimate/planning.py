"""What to expect of an estimate before there is any data: people are simulated, released and estimated.

Standard errors fall with the root of the number of people, so that those of very many follow from fewer.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dpwords.core.checks import whole_number
from dpwords.core.randomness import SeededSource
from dpwords.core.symbols import Codes, Ragged
from dpwords.errors import InvalidValue, named
from dpwords.estimate.asking import answered_question, counted_question
from dpwords.estimate.results import Estimates, interval_factor
from dpwords.estimate.tuning import BATCHES, MOST_PLANNED, MOST_SIMULATED, POPULATION, SIMULATED_PEOPLE
from dpwords.mechanisms.private import Private
from dpwords.models.chains import Chain
from dpwords.models.fitting import ProgressLine
from dpwords.models.priors import Prior, assumption_of, chain_of
from dpwords.recipes.questions import KINDS, OF_REPORTS


@dataclass(frozen=True)
class Forecast:
    """What to expect of the answer to a question about so many people.

    `half_width` is the half-width of the interval of a proportion, a mean in which each counts as often as it occurs
    among the answers, and `of_true_words` the same if the true words were known. `labels` is the number of proportions,
    and `total_error` is the sum of the absolute errors of all proportions, and `counted` the same if the
    releases were taken for the true words.
    """

    question: str
    people: int
    length: int
    labels: int
    half_width: float
    of_true_words: float
    total_error: float
    counted: float
    confidence: float
    method: str
    model: str | None
    assumed: str

    def __str__(self) -> str:
        return (
            f"{self.question} of {self.people:,} people with words of length {self.length}, if {self.assumed}\n"
            f"a usual one of {self.labels} proportions: ± {self.half_width:.2g} (intervals of {self.confidence:g}), "
            f"and ± {self.of_true_words:.2g} if the true words were known\n"
            f"all of them together: off by {self.total_error:.2g}, and by {self.counted:.2g} if noise is not taken out"
        )


def forecast(
    mechanism: Private,
    people: int,
    length: int,
    question: str = "transitions",
    *,
    prior: Prior = "predictable",
    confidence: float = 0.95,
    progress: ProgressLine | None = None,
) -> Forecast:
    """How precise the answer to a question will be, before there is any data: so many people are simulated.

    Their words have this length and come from a public `prior`: "predictable", one next symbol is usual in each state;
    "uniform", all words are equally likely; or a chain. The questions are "frequencies", "visits", "transitions",
    "dfg", "starts" and "ends". Real people differ from all of these, so take it for an order of magnitude. Raises the
    `InvalidValue` with which the estimate would be refused. Cost: that of the estimate, for at most 4,000 people, or
    where so few tell nothing, for at most 40,000.

    >>> import dpwords as dw
    >>> found = dw.estimate.forecast(dw.Exponential(dw.Words("abcd"), epsilon=2), people=2000, length=12)
    >>> round(found.half_width, 3), round(found.of_true_words, 4), found.method
    (0.008, 0.0021, 'inverse')
    """
    number, positions = whole_number(people, named("people"), 2), whole_number(length, "length", 1)
    factor = interval_factor(confidence)
    _check(question, mechanism)
    language, limits = mechanism.language, mechanism.limits
    chain = Chain.uniform(language, limits) if prior == "uniform" else chain_of(prior, language, limits)
    population = chain.drawn(positions, POPULATION, SeededSource("the population of a forecast").open())
    true = counted_question(question, Ragged.even(population), mechanism)
    half, total, counted = [], [], []
    few, many = (min(number, most) for most in (SIMULATED_PEOPLE, MOST_SIMULATED))
    for some in dict.fromkeys((few, many)):
        for turn in range(min(-(-SIMULATED_PEOPLE // (4 * some)), MOST_PLANNED)):
            words = chain.drawn(positions, some, SeededSource(f"people of a forecast, {turn}").open())
            if progress is not None:
                progress(f"estimating from {some:,} simulated people")
            try:
                found = _estimated(question, mechanism, words, confidence, turn)
            except InvalidValue:
                if some == many:
                    raise
                break
            half.append(factor * _weighted(found.errors, true))
            total.append(_apart({label: each.value for label, each in found.items()}, true))
            counted.append(_apart(found.counted, true))
        else:
            break
    fewer, of_true = math.sqrt(some / number), factor * math.sqrt(POPULATION / number)
    return Forecast(
        question,
        number,
        positions,
        len(found),
        fewer * float(np.mean(half)),
        of_true * _weighted(_sampling(question, mechanism, population), true),
        fewer * float(np.mean(total)),
        float(np.mean(counted)),
        confidence,
        str(found.method),
        found.model,
        assumption_of(prior),
    )


def _check(question: object, mechanism: Private) -> None:
    if not isinstance(question, str) or question not in KINDS:
        raise InvalidValue(f"a forecast answers one of {', '.join(KINDS)}: ask for one of these")
    answers = mechanism.answers
    if answers is not None and OF_REPORTS[answers.question] != question:
        raise InvalidValue(
            f"these people will be asked about {answers.question}: ask for {OF_REPORTS[answers.question]}"
        )


def _estimated(question: str, mechanism: Private, words: Codes, confidence: float, turn: int) -> Estimates:
    seeded = mechanism.seeded(f"releases of a forecast, {turn}")
    released = seeded.release_codes(words if mechanism.answers is not None else Ragged.even(words))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that estimates are rough is what the figures show
        return answered_question(question, released, mechanism, confidence=confidence)


def _apart(one: dict[object, float], other: dict[object, float]) -> float:
    """The sum of the absolute differences."""
    return math.fsum(abs(one.get(label, 0.0) - other.get(label, 0.0)) for label in one.keys() | other.keys())


def _weighted(errors: Mapping[object, float], true: Mapping[object, float]) -> float:
    """The mean of the errors, in which each counts as much as the proportion that it is the error of."""
    return math.fsum(share * errors.get(label, 0.0) for label, share in true.items()) / math.fsum(true.values())


def _sampling(question: str, mechanism: Private, words: Codes) -> dict[object, float]:
    """The standard errors of counting these true words, by how much parts of them differ."""
    parts = np.array_split(words, min(BATCHES, len(words)))
    tables = [counted_question(question, Ragged.even(part), mechanism) for part in parts]
    labels = list(dict.fromkeys(label for table in tables for label in table))
    values = np.array([[table.get(label, 0.0) for label in labels] for table in tables])
    return dict(zip(labels, (values.std(axis=0, ddof=1) / math.sqrt(len(parts))).tolist(), strict=True))
