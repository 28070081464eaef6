"""The true answers about a population: computed where it says what its words have on average, or from a large sample.

Words are rows of codes of symbols, filled up with −1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpwords.languages.language import Language

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]
Label = Any
SAMPLED, SAMPLE = 20_412, 100_000  # the seed, and the number, of the words that serve as truth
COMMON = 0.1  # positions that fewer words than this proportion have are not asked about
QUESTIONS = ("frequencies", "transitions", "starts", "ends", "per place", "rates", "variants")


class Truth(NamedTuple):
    """The true answers to a question, and how far those of a sample of one word are off."""

    values: dict[Label, float]
    errors: dict[Label, float]  # standard errors of counting one true word: divide by √words
    worth: dict[Label, float]  # how much a label's error counts: 1, or for a rate how often its state is left

    def shares(self) -> dict[Label, float]:
        """How frequent each label is."""
        return {label: value * self.worth.get(label, 1.0) for label, value in self.values.items()}


class Occurrences(NamedTuple):
    """What a word has on average."""

    places: Floats  # [position, symbol]: the probability of a symbol there; rows sum to that of being so long
    steps: Floats  # [symbol, next symbol]: the expected number
    last: Floats  # the probability of ending with each symbol


@dataclass(frozen=True, eq=False)
class Population(ABC):
    """People's words, as codes of `symbols`; on a system, the states that are entered, from `start` on if it has
    one."""

    name: str
    symbols: tuple[Any, ...]
    mechanisms: tuple[str, ...]
    system: Language | None = None
    start: Any = None

    @abstractmethod
    def draw(self, people: int, coins: np.random.Generator) -> Rows:
        """The words of some people."""

    def exact(self) -> Occurrences | None:
        """What words have on average, if that can be computed."""
        return None

    @cached_property
    def sample(self) -> Rows:
        """Many words, for what is not computed."""
        return self.draw(SAMPLE, np.random.default_rng(SAMPLED))

    def truth(self, question: str, *, by_person: bool = False) -> Truth:
        """The true answers; `by_person` as means over people, as reports give them, not over all symbols."""
        return truth_of(self, question, by_person)


@cache
def truth_of(population: Population, question: str, by_person: bool = False) -> Truth:
    """See `Population.truth`. Cost: the symbols of the sample, once."""
    rows = population.sample
    if question == "variants":
        return _listed(population, rows)
    counted, errors = sampled(population, rows, question, by_person)
    exact = None if by_person and len(np.unique((rows >= 0).sum(axis=1))) > 1 else population.exact()
    values = counted if exact is None else computed(population, exact, question)
    worth: dict[Label, float] = {}
    if question == "rates":
        codes, _, names = _events(population, rows, question)
        uses, states = np.bincount(codes[codes >= 0], minlength=len(names)), Counter[Any]()
        for (state, _), number in zip(names, uses.tolist(), strict=True):
            states[state] += number
        worth = {label: states[label[0]] / states.total() for label in values}
    return Truth(values, errors, worth)


def computed(population: Population, found: Occurrences, question: str) -> dict[Label, float]:
    """The answers to a question from exact means."""
    symbols = population.symbols
    pairs = {(a, b): p for a, row in zip(symbols, found.steps, strict=True) for b, p in _named(symbols, row).items()}
    first = {(population.start, b): p for b, p in _named(symbols, found.places[0]).items()}
    if question == "frequencies":
        return _shares(_named(symbols, found.places.sum(axis=0)))
    if question == "transitions":
        return _shares(Counter(pairs) + Counter(first if population.start is not None else {}))
    if question == "rates":
        return _by_state(Counter(pairs) + Counter(first))
    if question == "per place":
        kept = found.places[found.places.sum(axis=1) >= COMMON]
        return {(i, s): p for i, row in enumerate(kept) for s, p in _shares(_named(symbols, row)).items()}
    return _shares(_named(symbols, found.places[0] if question == "starts" else found.last))


def sampled(
    population: Population, rows: Rows, question: str, by_person: bool = False
) -> tuple[dict[Label, float], dict[Label, float]]:
    """The answers among some words, and standard errors of one word: those of a ratio of sums over words.

    `by_person`, each word counts as much as any other, whatever its length.
    """
    codes, groups, names = _events(population, rows, question)
    number, size = len(rows), len(names)
    words, places = np.nonzero(codes >= 0)
    labels = codes[words, places]
    of_group = groups[labels]
    sizes = np.zeros((number, int(groups.max()) + 1))
    np.add.at(sizes, (words, of_group), 1.0)
    each, times = np.unique(words * size + labels, return_counts=True)
    word, label = np.divmod(each, size)
    count = times.astype(np.float64)
    if by_person:
        count /= sizes[word, groups[label]]
        sizes = (sizes > 0).astype(np.float64)
    whole = sizes.sum(axis=0)[groups]
    sums, squares, products = (
        np.bincount(label, x, size) for x in (count, count**2, count * sizes[word, groups[label]])
    )
    share = np.divide(sums, whole, out=np.zeros(size), where=whole > 0)
    spread = squares - 2 * share * products + share**2 * (sizes**2).sum(axis=0)[groups]
    errors = np.divide(np.sqrt(np.maximum(spread, 0.0) * number), whole, out=np.zeros(size), where=whole > 0)
    return dict(zip(names, share.tolist(), strict=True)), dict(zip(names, errors.tolist(), strict=True))


def _events(population: Population, rows: Rows, question: str) -> tuple[Rows, Rows, list[Label]]:
    """The labels that each word has, as codes with −1 for none; the groups within which labels are shared out, and
    what labels are called."""
    symbols, size, number = population.symbols, len(population.symbols), len(rows)
    before = np.hstack([np.full((number, 1), size), rows[:, :-1]])  # the code after the last one is the start
    named = [*symbols, population.start]
    if question in ("transitions", "rates"):
        told = question != "transitions" or population.start is not None
        codes = np.where(rows >= 0, before * size + rows, -1)[:, 0 if told else 1 :]
        labels: list[Label] = [(a, b) for a in named for b in symbols]
        alone = np.arange(len(labels)) // size if question == "rates" else np.zeros(len(labels), dtype=np.int64)
        if population.start in symbols:  # steps from the start, and from where one has come back to it
            again = symbols.index(population.start)
            codes = np.where(codes >= size * size, codes - size * size + again * size, codes)
            labels, alone = labels[: size * size], alone[: size * size]
        return codes, alone, labels
    one = np.zeros(size, dtype=np.int64)
    if question == "frequencies":
        return rows, one, list(symbols)
    if question == "per place":
        kept = (rows >= 0).mean(axis=0) >= COMMON
        codes = np.where(rows >= 0, np.arange(rows.shape[1]) * size + rows, -1)[:, kept]
        labels = [(i, s) for i in range(int(kept.sum())) for s in symbols]
        return codes, np.arange(len(labels)) // size, labels
    last = (rows >= 0).sum(axis=1) - 1
    return (rows[:, :1] if question == "starts" else rows[np.arange(number), last][:, None]), one, list(symbols)


def _listed(population: Population, rows: Rows) -> Truth:
    """The whole words."""
    symbols = population.symbols
    words, counts = np.unique(rows, axis=0, return_counts=True)
    names = [tuple(symbols[code] for code in word if code >= 0) for word in words.tolist()]
    shares = getattr(population, "shares", None)
    found = dict(zip(names, (counts / len(rows)).tolist(), strict=True)) if shares is None else dict(shares)
    return Truth(found, {word: (p * (1 - p)) ** 0.5 for word, p in found.items()}, {})


def _named(symbols: tuple[Any, ...], values: Floats) -> dict[Label, float]:
    return dict(zip(symbols, values.tolist(), strict=True))


def _shares(table: dict[Label, float]) -> dict[Label, float]:
    whole = sum(table.values())
    return {label: value / whole for label, value in table.items()}


def _by_state(table: dict[Label, float]) -> dict[Label, float]:
    whole: Counter[Any] = Counter()
    for (state, _), value in table.items():
        whole[state] += value  # type: ignore[assignment]
    return {label: value / whole[label[0]] for label, value in table.items()}
