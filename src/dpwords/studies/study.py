"""The results of a study, in a form that can be printed, drawn and written as JSON."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import dpwords
from dpwords.core.symbols import Word
from dpwords.languages.language import Language
from dpwords.mechanisms.choice import Title
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.privacy.utilities import Inverse, Linear

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Made = TypeVar("Made")
AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)
ProgressBar = Callable[[Sequence[Any], str], Iterable[Any]]  # the same items, with a label for a progress bar
Seed = int | str | None

LITERAL, TEXTBOOK, TIGHT = Title.LITERAL_FORMULA, Title.PAPERS_UTILITY, Title.TIGHT_LINEAR
ALPHA = 1.0  # the constant of the paper's utility; the paper does not say which value it used
SAMPLES = 5  # as many as the paper prints
_TIMED = 5  # timed repetitions, of which the median is reported


@dataclass(frozen=True)
class Loss:
    """The true ε of a mechanism: an exact value, an upper bound or a lower bound."""

    bound: Literal["=", "≤", "≥"]
    epsilon: float


@dataclass(frozen=True)
class Sample:
    """A drawn word, a letter for each of its positions, and which positions differ from the secret."""

    word: Word
    letters: str
    changed: tuple[bool, ...]

    @property
    def distance(self) -> int:
        """The number of positions that differ."""
        return sum(self.changed)


@dataclass(frozen=True)
class Column:
    """Samples of one mechanism."""

    mechanism: str
    claimed: float
    loss: Loss
    expected_distance: float
    distance_distribution: tuple[float, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Block:
    """Columns of samples that are shown side by side."""

    title: str
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class Table:
    """Rows that consist of a name and numbers; None stands for a missing number."""

    header: tuple[str, ...]
    rows: tuple[tuple[str | float | None, ...], ...]


@dataclass(frozen=True)
class Study:
    """Everything that a study shows. `figures` maps names to functions that draw them."""

    name: str
    title: str
    facts: Mapping[str, Any]
    tables: tuple[Table, ...]
    blocks: tuple[Block, ...]
    notes: tuple[str, ...]
    figures: Mapping[str, Callable[[], Figure]]

    def document(self) -> dict[str, Any]:
        """The results as a document for JSON."""
        return {
            "study": self.name,
            "version": dpwords.__version__,
            "private": False,
            **self.facts,
            "tables": [[dict(zip(table.header, row, strict=True)) for row in table.rows] for table in self.tables],
            "blocks": [
                {"title": block.title, "columns": [_column(column) for column in block.columns]}
                for block in self.blocks
            ],
            "notes": list(self.notes),
        }


def _column(column: Column) -> dict[str, Any]:
    return {
        "mechanism": column.mechanism,
        "claimed_epsilon": column.claimed,
        "true_epsilon": {"bound": column.loss.bound, "epsilon": column.loss.epsilon},
        "expected_distance": column.expected_distance,
        "distance_distribution": list(column.distance_distribution),
        "samples": [
            {
                "word": sample.word,
                "distance": sample.distance,
                "changed": [position for position, differs in enumerate(sample.changed, start=1) if differs],
            }
            for sample in column.samples
        ],
    }


def seeded(mechanism: AnyMechanism, seed: Seed, *purpose: object) -> AnyMechanism:
    """The mechanism with reproducible draws if there is a seed, otherwise unchanged; each purpose has its own draws."""
    return mechanism if seed is None else mechanism.seeded(" ".join(map(str, (seed, *purpose))))


def mechanism_of(name: str, language: Language, epsilon: float, k: int) -> Mechanism:
    """The paper's literal formula, or one of the correct mechanisms."""
    if name == LITERAL:
        return PaperLiteral(language, epsilon, k, ALPHA)
    utility = Inverse(ALPHA) if name == TEXTBOOK else Linear()
    return Exponential(language, epsilon, k, utility, "tight" if name == TIGHT else "textbook")


def column(
    name: str, claimed: float, mechanism: Mechanism, loss: Loss, secret: Any, letters: Callable[[Any], str] = "".join
) -> Column:
    """Samples of a mechanism at the secret word, with the distribution of their distances."""
    at = mechanism.given(secret)
    samples = tuple(
        Sample(word, letters(word), tuple(own != other for own, other in zip(secret, word, strict=True)))
        for word in at.simulate(SAMPLES)
    )
    return Column(name, claimed, loss, at.expected_distance(), tuple(at.distance_distribution()), samples)


def by_epsilon(header: Sequence[str], epsilons: Iterable[float], *figures: Callable[[float], float]) -> Table:
    """A table with a row for each claimed ε, and a column for each figure that depends on it."""
    return Table(
        tuple(header),
        tuple((f"claimed ε = {epsilon:g}", *(figure(epsilon) for figure in figures)) for epsilon in epsilons),
    )


def timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """The result of the work, and the median of the seconds that it takes after a first run."""
    made, seconds = work(), []
    for _ in range(_TIMED):
        begin = time.perf_counter()
        made = work()
        seconds.append(time.perf_counter() - begin)
    return made, statistics.median(seconds)


def sizes_and_times(
    sizes: Sequence[tuple[str, float, float]],
    drawn: str,
    paper: float,
    draws: Mapping[str, Callable[[], object]],
    progress: ProgressBar,
) -> Table:
    """Sizes in the paper and here, and the seconds that each mechanism takes to draw; the paper has the literal one."""
    times = {name: timed(draws[name])[1] for name in progress(list(draws), "timing")}
    rows = ((f"seconds for {drawn}, {name}", paper if name == LITERAL else None, took) for name, took in times.items())
    return Table(("size or time", "paper", "here"), (*sizes, *rows))


def closing_notes(seed: Seed) -> tuple[str, ...]:
    """Notes that every study ends with, on the privacy of what it shows."""
    shown = "Distances are shown because this secret is public; a release prints only the word."
    if seed is None:
        return (shown,)
    return (
        shown,
        f"The seed is {seed}: anyone who knows it can repeat these draws, so nothing printed here is private.",
    )


def without_progress(items: Sequence[Any], _label: str) -> Iterable[Any]:
    """The items, without a progress bar."""
    return items
