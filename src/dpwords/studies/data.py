"""Evidence on the owner's own data: what each mechanism does to true words, and what analysts learn from its releases.

All results are statistics of the true words. They are for the owner of the data and not private.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpwords import plots
from dpwords.core.encoding import Ragged
from dpwords.core.limits import DEFAULTS, Limits
from dpwords.errors import DPWordsError, InvalidValue, TooLarge
from dpwords.languages.language import Language
from dpwords.mechanisms.choice import Edits, Maker, offers, quietly
from dpwords.mechanisms.edit_channel import EditChannel
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.spaces.questions import Question
from dpwords.studies.study import ProgressBar, Seed, Study, Table, seeded, without_progress
from dpwords.studies.trials import REPORT, Measured, TrueWords, unavailable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    asked = question or default_question(language, edits)
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
        found.append(Measured(name, epsilon, true.rate(mechanism), *true.expected(mechanism), tuple(trials)))
    if not found:
        raise InvalidValue(missing[0])
    several = f"Each row has the means of {draws} simulated releases of all words."
    notes = [*_COLUMNS, *([_OF_REPORTS] if REPORT in makers else ()), *([several] if draws > 1 else ())]
    about = {"warning": NOT_PRIVATE, "language": repr(language), "words": len(words), "symbols": len(words.values)}
    chosen = {"k": k, "edits": edits, "question": asked, "draws": draws, "seed": seed}
    return Study(
        "data",
        f"{len(words):,} words with {len(words.values):,} symbols, k = {k}, edits: {edits}, question: {asked}",
        {**about, **chosen, "results": [each.document() for each in found]},
        (Table(HEADER, tuple(each.row() for each in found)),),
        (),
        (*notes, *missing, *_notes(found), NOT_PRIVATE),
        {
            "data_distance": lambda: _figure(found, ("expected", "observed"), "distance per step"),
            f"data_{asked}": lambda: _figure(found, ("counted", "estimated"), f"error of {asked} (of at most 2)"),
        },
    )


def reading(language: Language, edits: Edits) -> tuple[Private, Language | None]:
    """A mechanism that could release the true words of a file, and a language that they have to be in besides."""
    if edits == "substitutions" or language.listed:
        return Exponential(language, 1.0, distance="levenshtein" if edits == "all" else "hamming"), None
    return EditChannel(language.alphabet.symbols, _LARGE), None if language.every_word else language


def default_question(language: Language, edits: Edits) -> str:
    """Transitions on a system whose words keep their length, otherwise the directly-follows graph."""
    return "transitions" if language.system is not None and edits == "substitutions" else "dfg"


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
        values = {
            (each.mechanism, each.epsilon): each.expected if column == "expected" else each.mean(column)
            for each in found
        }
        names = dict.fromkeys(name for (name, _), value in values.items() if value is not None)
        panels[column] = {
            name: [math.nan if (value := values.get((name, one))) is None else value for one in epsilons]
            for name in names
        }
    return plots.panels(epsilons, {title: curves for title, curves in panels.items() if curves}, label)
