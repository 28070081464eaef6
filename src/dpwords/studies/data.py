"""Evidence on the owner's own data: what each mechanism does to true words, and what analysts learn from its releases.

All results are statistics of the true words. They are for the owner of the data and not private.
"""

from __future__ import annotations

import math
import statistics
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dpwords import estimate, plots
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.core.symbols import Ragged, levenshtein
from dpwords.errors import DPWordsError, InvalidValue, TooLarge
from dpwords.estimate.asking import Asked
from dpwords.estimate.inversion import counted_answers, reported_proportions
from dpwords.languages.language import Language
from dpwords.mechanisms.choice import Edits, Maker, offers, quietly
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import NamedItems, OutputKind
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.models.releases import Releases
from dpwords.recipes.questions import OF_REPORTS
from dpwords.spaces.questions import Question
from dpwords.studies.study import ProgressBar, Seed, Study, Table, seeded, without_progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REPORT = "report, whole words"
NOT_PRIVATE = (
    "This study is for the owner of the data and is not private: its figures are statistics of the true words, and may "
    "not be published as if they were releases."
)
_LARGE = 50.0  # an ε at which every channel exists
HEADER = ("mechanism", "ε", "rate", "expected", "for these", "observed", "counted", "estimated", "foreseen")
_COLUMNS = (
    "Distances are per step: expected on public average over the language, expected for these words, and observed. The "
    "rate is the calibration in force.",
    "The last three columns are about the question. They are sums of the absolute errors of all proportions, at most "
    "2: if the releases are counted as they are, if they are estimated, and what the estimate foresees "
    "for a population.",
)
_OF_REPORTS = (
    "A report promises ε for any two words, and the other mechanisms for words at most k apart. Its errors are about "
    "the mean, over words, of the proportions within each word."
)


@dataclass(frozen=True)
class Trial:
    """What one simulated release of all words gave."""

    observed_distance_per_step: float | None  # None if what is released are no words
    counted_error: float  # of the question, if releases are counted as they are
    estimated_error: float | None = None  # None where the estimate was refused
    foreseen_error: float | None = None  # that the estimate expects of itself
    notes: list[str] = field(default_factory=list)  # why it was refused, or what it warns of


@dataclass(frozen=True)
class Measured:
    """A mechanism at one ε, and its trials. The names of all fields are those of the document for JSON."""

    mechanism: str
    epsilon: float
    promised_for: str
    rate: str | None  # the calibration in force, with the proportion of words that have it if not all do
    expected_distance_per_step: float | None  # averaged over the language
    expected_distance_per_step_of_these_words: float | None
    trials: list[Trial]

    def mean(self, name: str) -> float | None:
        """The mean of a figure over the trials that have it; an expected one is the same in all of them."""
        if name == "expected_distance_per_step":
            return self.expected_distance_per_step
        found = [value for trial in self.trials if (value := getattr(trial, name)) is not None]
        return statistics.fmean(found) if found else None

    def row(self) -> tuple[str | float | None, ...]:
        """The row of a table."""
        expected = self.expected_distance_per_step, self.expected_distance_per_step_of_these_words
        means = (self.mean(each.name) for each in fields(Trial) if each.name != "notes")
        return (self.mechanism, self.epsilon, self.rate, *expected, *means)


@dataclass(frozen=True, eq=False)
class TrueWords:
    """The true words, as codes of symbols, and the question that is asked about them."""

    words: Ragged
    question: str

    @cached_property
    def lengths(self) -> Counter[int]:
        """How many words have each length."""
        return Counter(self.words.sizes.tolist())

    def trial(self, mechanism: Private, source: Private) -> Trial:
        """Release all words once. `source` is the mechanism with the randomness that is wanted."""
        if mechanism.answers is not None:
            return self._report(mechanism, mechanism.answers, source)
        released = source.release_codes(self.words)
        observed = self._distance(released, mechanism) / max(len(self.words.values), 1)
        truth = self._counted(self.words, mechanism)
        counted = error_between(self._counted(released, mechanism), truth)
        return self._with_estimate(released, mechanism, truth, observed, counted)

    def expected(self, mechanism: Private) -> tuple[float | None, float | None]:
        """The expected distance per step, averaged over the language and over the true words.

        They are None where no formula is known or the computation is too large. Cost: for each length, that of the
        public average, and on systems that of the distinct true words.
        """
        if mechanism.releases is OutputKind.ANSWERS or mechanism.projected_onto is not None:
            return None, None
        steps = max(len(self.words.values), 1)
        try:
            public = math.fsum(
                number * mechanism.expected_distance(length=length) for length, number in self.lengths.items() if length
            )
        except TooLarge:
            return None, None
        if mechanism.language.alike:  # all words of a length have the same expected distance
            return public / steps, public / steps
        if not mechanism.is_linear:  # a word costs as much as its length times that of a linear utility
            return public / steps, None
        total = 0.0
        for numbers in self.words.by_length():
            rows, times = np.unique(self.words.rows(numbers), axis=0, return_counts=True)
            total += float(times @ mechanism._distances(rows, 0).means)
        return public / steps, total / steps

    def rate(self, mechanism: Private) -> str | None:
        """The calibration that is in force for the words, with the proportion of words that have it if not all do."""
        if mechanism.releases is OutputKind.ANSWERS:
            return None
        found: Counter[str] = Counter()
        for length, number in self.lengths.items():
            calibration = mechanism.in_force(length).calibration if length else None
            if calibration is not None:
                found[calibration] += number
        if len(found) < 2:
            return next(iter(found), None)
        return f"tight {found['tight'] / found.total():.0%}"

    def _report(self, mechanism: Private, report: NamedItems, source: Private) -> Trial:
        long = np.flatnonzero(self.words.sizes >= mechanism.least_length)
        words = self.words if len(long) == len(self.words) else self.words.chosen(long)
        answers = source.release_codes(words).values.reshape(len(words), -1)
        truth = reported_proportions(words, report)
        counted = error_between(counted_answers(answers, report), truth)
        return self._with_estimate(answers, mechanism, truth, None, counted)

    def _with_estimate(
        self, released: Any, mechanism: Private, truth: Mapping[Any, float], observed: float | None, counted: float
    ) -> Trial:
        asked = self.question if mechanism.answers is None else OF_REPORTS[mechanism.answers.question]
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UserWarning)
                found = getattr(estimate, asked)(released, mechanism)
        except (InvalidValue, TooLarge) as error:
            return Trial(observed, counted, notes=[f"no estimate: {error}"])
        proportions = {label: each.value for label, each in found.items()}
        notes = [str(each.message) for each in caught if each.category is UserWarning]
        return Trial(observed, counted, error_between(proportions, truth), found.total_error, notes)

    def _counted(self, words: Ragged, mechanism: Private) -> dict[Any, float]:
        return Asked(self.question, Releases.of(words, mechanism), mechanism).counted()

    def _distance(self, released: Ragged, mechanism: Private) -> int:
        """The sum of the distances between the words and their releases."""
        if mechanism.distance == "hamming":
            return int(np.count_nonzero(released.values != self.words.values))
        pairs = Counter(zip(_texts(self.words), _texts(released), strict=True))
        return sum(number * levenshtein(*pair) for pair, number in pairs.items())


def error_between(found: Mapping[Any, float], truth: Mapping[Any, float]) -> float:
    """The sum of the absolute differences of all proportions, at most 2.

    >>> error_between({"a": 0.75, "b": 0.25}, {"a": 0.5, "c": 0.5})
    1.0
    """
    return math.fsum(abs(found.get(label, 0.0) - truth.get(label, 0.0)) for label in {*found, *truth})


def unavailable(error: DPWordsError, name: str, epsilon: float | None = None) -> str:
    """A note on a mechanism that cannot be tried."""
    return f"{name}{'' if epsilon is None else f' at ε = {epsilon:g}'} is left out: {error}"


def _texts(words: Ragged) -> list[tuple[int, ...]]:
    return [tuple(word.tolist()) for word in words]


def data(
    words: Ragged,
    language: Language,
    epsilons: Sequence[float],
    k: int = 1,
    edits: Edits = "substitutions",
    question: str | None = None,
    *,
    draws: int = 1,
    seed: Seed = None,
    limits: Limits = DEFAULTS,
    progress: ProgressBar = without_progress,
) -> Study:
    """Simulate releases of true words by every mechanism that applies, at each ε, and measure them.

    `words` are codes of symbols. The question is by default about transitions on a system, and otherwise about the
    directly-follows graph. Cost: for each mechanism and ε the release of all words, its expected distance at each
    length that occurs, and an estimate; on words of states a certificate for each length.
    """
    if not len(words):
        raise InvalidValue("there are no words to study: name a file with at least one")
    if edits == "substitutions" and int(words.sizes.min()) < k:
        raise InvalidValue(f"k is at most the length of every word, and here k = {k} is beyond some: take a smaller k")
    asked = question or ("transitions" if language.system is not None and edits == "substitutions" else "dfg")
    true, missing = TrueWords(words, asked), list[str]()
    makers = _makers(language, k, edits, asked, limits, missing)
    found: list[Measured] = []
    for name, epsilon in progress([(name, epsilon) for name in makers for epsilon in epsilons], "simulating releases"):
        try:
            mechanism = quietly(makers[name], epsilon)
        except (InvalidValue, TooLarge) as error:
            missing.append(unavailable(error, name, epsilon))
            continue
        trials = (true.trial(mechanism, seeded(mechanism, seed, name, epsilon, draw)) for draw in range(draws))
        promised = "any two words" if name == REPORT else "words at most k apart"
        expected = true.expected(mechanism)
        found.append(Measured(name, epsilon, promised, true.rate(mechanism), *expected, list(trials)))
    if not found:
        raise InvalidValue(missing[0])
    several = f"Each row has the means of {draws} simulated releases of all words."
    notes = [*_COLUMNS, *([_OF_REPORTS] if REPORT in makers else ()), *([several] if draws > 1 else ())]
    about = {"warning": NOT_PRIVATE, "language": repr(language), "words": len(words), "symbols": len(words.values)}
    chosen = {"k": k, "edits": edits, "question": asked, "draws": draws, "seed": seed}
    return Study(
        "data",
        f"{len(words):,} words with {len(words.values):,} symbols, k = {k}, edits: {edits}, question: {asked}",
        {**about, **chosen, "results": [asdict(each) for each in found]},
        (Table(HEADER, tuple(each.row() for each in found)),),
        (),
        (*notes, *missing, *_notes(found), NOT_PRIVATE),
        {
            "data_distance": lambda: _figure(
                found, ("expected_distance_per_step", "observed_distance_per_step"), "distance per step"
            ),
            f"data_{asked}": lambda: _figure(
                found, ("counted_error", "estimated_error"), f"error of {asked} (of at most 2)"
            ),
        },
    )


def reading(language: Language, edits: Edits) -> tuple[Private, Language | None]:
    """A mechanism that could release the true words of a file, and a language that they have to be in besides."""
    if edits == "substitutions" or language.listed:
        return Exponential(language, 1.0, distance="levenshtein" if edits == "all" else "hamming"), None
    return EditChannel(language.alphabet.symbols, _LARGE), None if language.every_word else language


def reported_question(question: str, language: Language) -> Question | None:
    """What a report has to ask for the same answer; None if there is no such report."""
    if question == "dfg" and language.system is not None:
        return None
    known: dict[str, Question] = {"frequencies": "symbols", "visits": "visits", "transitions": "transitions"}
    return known.get("transitions" if question == "dfg" else question)


def _makers(
    language: Language, k: int, edits: Edits, question: str, limits: Limits, missing: list[str]
) -> dict[str, Maker]:
    """What applies to the language, a report included if there is one for the question."""
    found: dict[str, Maker] = {**offers(language, k, edits, limits)}
    about = reported_question(question, language)
    if about is not None:
        try:
            Report(language, 1.0, about, limits=limits)
        except DPWordsError as error:
            missing.append(unavailable(error, REPORT))
        else:
            found[REPORT] = lambda epsilon: Report(language, epsilon, about, limits=limits)
    return found


def _notes(found: Sequence[Measured]) -> list[str]:
    """What the trials have to say, each text once, with the rows that it is about."""
    about: dict[str, dict[str, list[float]]] = {}
    for each in found:
        for text in dict.fromkeys(note for trial in each.trials for note in trial.notes):
            about.setdefault(text, {}).setdefault(each.mechanism, []).append(each.epsilon)
    return [
        "; ".join(f"{name} at ε = {', '.join(f'{one:g}' for one in some)}" for name, some in rows.items()) + f": {text}"
        for text, rows in about.items()
    ]


def _figure(found: Sequence[Measured], columns: tuple[str, str], label: str) -> Figure:
    """Two panels of curves against ε, one for each column; a mechanism without any figure in it has no curve."""
    epsilons = list(dict.fromkeys(each.epsilon for each in found))
    panels: dict[str, dict[str, list[float]]] = {}
    for column in columns:
        values = {(each.mechanism, each.epsilon): each.mean(column) for each in found}
        names = dict.fromkeys(name for (name, _), value in values.items() if value is not None)
        panels[column.partition("_")[0]] = {
            name: [math.nan if (value := values.get((name, one))) is None else value for one in epsilons]
            for name in names
        }
    return plots.panels(epsilons, {title: curves for title, curves in panels.items() if curves}, label)
