"""How often intervals of 95 % cover the true proportions: populations × mechanisms × ε × questions.

Each repetition draws new people and new noise, from seeds that are derived from `--seed` and from the names of what is
measured; no other test or benchmark uses the default, so nothing in the package was chosen by looking at these draws.
The truth is that of the population, computed exactly for chains and variants, otherwise from 100,000 words. Columns:

- cover: the proportion of intervals that cover, over all labels with a true share above 0.002 that the public system
  does not make certain, and its standard error over repetitions; main: the same for shares above 0.02; least: that of
  the worst label with such a share;
- L1 and counted: mean L1 distances from the truth of the estimates, and of counting the releases as they are (rates
  count by how often their state is left); width: mean half-width, divided by that of counting as many true words;
- refused: repetitions in which there was no answer; unfit: those in which `fits` was False; model: what was used.

Flags: "short" and "wide" for coverage below 90 and above 99 %, "worse" if the L1 distance is more than 2 % above that
of counting. Proofs take up to half a minute each the first time, and are cached; everything takes some hours.

    python benchmarks/bench_coverage.py [--quick] [--output FILE.json] [--markdown FILE.md] [--processes 2]
    python benchmarks/bench_coverage.py --trips | --panel | --receipt LOG.csv
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from coverage_populations import POPULATIONS, cases_of, population
from coverage_tables import HEADER, line, markdown, trips_table
from coverage_truths import QUESTIONS, Label, Population, Rows, Truth, sampled

import dpwords as dw
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.report import Report
from dpwords.spaces.questions import Question

Row = dict[str, Any]
MECHANISMS = ("Exponential", "Online", "EditChannel", "Report", "words, k = 1", "words, k = 2")
EPSILONS = (1.5, 2.0, 3.0, 4.0, 6.0)
SEED = 990_001
SOME, MAIN = 0.002, 0.02  # true shares from which on a label counts, and is one of the main ones
ROUNDING = 1e-9
CONFIDENT = 1.959964  # standard errors in the half-width of an interval of 95 %


@dataclass(frozen=True)
class Cell:
    """A population and a mechanism at one ε: each set of releases answers all questions."""

    population: str
    mechanism: str
    epsilon: float
    questions: tuple[str, ...]
    people: int
    repetitions: int
    seed: int

    @property
    def free(self) -> bool:
        return self.mechanism.startswith(("words", "EditChannel"))

    def coins(self, repetition: int) -> np.random.Generator:
        """Those of one repetition, the same whatever else is measured."""
        name = f"{self.population}|{self.mechanism}|{self.epsilon:g}|{self.people}".encode()
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(crc32(name), repetition)))


@dataclass
class Score:
    """What was found about one question so far."""

    truth: Truth
    people: int
    free: bool
    hits: Counter[Label] = field(default_factory=Counter)
    tried: Counter[Label] = field(default_factory=Counter)
    covered: list[float] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    errors: dict[str, list[float]] = field(default_factory=dict)
    models: Counter[str] = field(default_factory=Counter)
    refused: int = 0
    unfit: int = 0

    def add(self, found: list[dw.estimate.Estimates], of_people: dict[Label, float], *, places: bool) -> None:
        """The answer of one repetition, and the truth about its people."""
        labelled = [
            {(place, label) if places else _plain(label, each.question): estimate for label, estimate in each.items()}
            for place, each in enumerate(found)
        ]
        table = {label: estimate for part in labelled for label, estimate in part.items()}
        counted = {
            (place, label) if places else _plain(label, each.question): share
            for place, each in enumerate(found)
            for label, share in each.counted.items()
        }
        shares, true = self.truth.shares(), self.truth.values
        partial = found[0].question in ("rates", "variants")  # states that are left, and the most frequent words
        asked = [label for label, share in shares.items() if share > SOME and (label in table or not partial)]
        asked = [label for label in asked if self.free or true[label] < 1 - ROUNDING]  # else certain, by the system
        seen, half, of_sample = 0, 0.0, 0.0
        with_interval = [label for label in asked if label not in table or not np.isnan(table[label].low)]
        for label in with_interval:
            low, high = table[label][1:] if label in table else (0.0, 0.0)
            hit = low - ROUNDING <= true[label] <= high + ROUNDING
            self.hits[label] += hit
            self.tried[label] += 1
            seen += hit
            half += (high - low) / 2
            of_sample += CONFIDENT * self.truth.errors.get(label, 0.0) / self.people**0.5
        if with_interval:
            self.covered.append(seen / len(with_interval))
        if of_sample > 0:
            self.widths.append(half / of_sample)
        values = {label: estimate.value for label, estimate in table.items()}
        for name, one in (("L1", values), ("counted", counted)):
            self.errors.setdefault(name, []).append(self._distance(one, true))
            self.errors.setdefault(f"{name}, these people", []).append(self._distance(one, of_people))
        self.models[found[0].model or found[0].method] += 1
        self.unfit += not all(each.fits for each in found)

    def _distance(self, found: dict[Label, float], true: dict[Label, float]) -> float:
        known = self.truth.values.keys() | (set() if self.truth.worth else found.keys() | true.keys())
        worth = self.truth.worth
        return sum(worth.get(x, 1.0) * abs(found.get(x, 0.0) - true.get(x, 0.0)) for x in known)

    def row(self) -> Row:
        """The figures; those that there are not are None."""
        shares = self.truth.shares()
        main = {label: self.hits[label] / tried for label, tried in self.tried.items() if shares[label] > MAIN}
        worst = min(main, key=lambda label: main[label], default=None)
        spread = float(np.std(self.covered, ddof=1) / len(self.covered) ** 0.5) if len(self.covered) > 1 else None
        tried = self.tried.total()
        return {
            "labels": len(self.tried),
            "cover": self.hits.total() / tried if tried else None,
            "cover, error": spread,
            "main": float(np.mean(list(main.values()))) if main else None,
            "least": None if worst is None else main[worst],
            "least, label": None if worst is None else str(worst),
            "width": float(np.mean(self.widths)) if self.widths else None,
            **{name: float(np.mean(values)) for name, values in self.errors.items()},
            "refused": self.refused,
            "unfit": self.unfit,
            "model": dict(self.models),
        }


def _plain(label: Label, question: str) -> Label:
    return tuple(label) if question == "variants" else label


def mechanism_of(people: Population, cell: Cell) -> Private:
    """The mechanism of a cell; not for reports, of which each question has its own."""
    language = people.system or dw.Words(people.symbols)
    if cell.mechanism == "EditChannel":
        return dw.EditChannel(people.symbols, cell.epsilon)
    if cell.mechanism == "Online":
        return dw.Online(language, cell.epsilon)
    return dw.Exponential(language, cell.epsilon, k=2 if cell.mechanism == "words, k = 2" else 1)


def report_of(people: Population, question: str, epsilon: float) -> Report:
    """The report that answers a question about symbols or about transitions."""
    each: Question = "visits" if people.system is not None else "symbols"
    return dw.Report(
        people.system or dw.Words(people.symbols), epsilon, "transitions" if question == "transitions" else each
    )


def answers(people: Population, mechanism: Private, rows: Rows, cell: Cell, seed: int) -> Iterator[tuple[str, Any]]:
    """For each question its tables, or None if it is refused.

    On systems a model is fitted once for all questions; elsewhere each is asked as users would without further
    thought.
    """
    releases = released(mechanism, encoded(people, mechanism, rows), seed)
    options: dict[str, Any] = {}
    refused = False
    if cell.mechanism in ("Exponential", "Online"):
        try:
            options = {"model": dw.estimate.model(releases, mechanism)}
        except InvalidValue:
            refused = True
    for question in cell.questions:
        ask = getattr(dw.estimate, asked_as(question, people, cell))
        places = {"per_place": True} if question == "per place" else {}
        try:
            yield question, None if refused else ask(releases, mechanism, **places, **options)
        except InvalidValue:
            yield question, None


def released(mechanism: Private, words: Any, seed: int) -> Any:
    """The releases; words shorter than k have their length as k, as in tables."""
    if not isinstance(words, Ragged) or mechanism.k == 1:
        return mechanism.seeded(seed).release_codes(words)
    parts = [(each, words.rows(each)) for each in words.by_length()]
    drawn = [(each, mechanism.within(rows.shape[1]).seeded(seed).release_codes(rows)) for each, rows in parts]
    return Ragged.gathered(drawn, len(words), np.int64)


def asked_as(question: str, people: Population, cell: Cell) -> str:
    """The name of the function of `dw.estimate`."""
    if question == "frequencies" and people.system is not None:
        return "visits"
    if question == "transitions" and people.system is None and cell.mechanism != "Report":
        return "dfg"
    return "frequencies" if question == "per place" else question


def encoded(people: Population, mechanism: Private, rows: Rows) -> Any:
    """Words as the mechanism takes them: in the codes of its alphabet."""
    code_of = mechanism.language.alphabet.codes
    codes = np.array([code_of[symbol] for symbol in people.symbols])
    if (rows >= 0).all():
        return Ragged.even(codes[rows]) if mechanism.distance == "levenshtein" else codes[rows]
    return Ragged.of([codes[row[row >= 0]] for row in rows])


def measured(cell: Cell) -> list[Row]:
    """One row for each question."""
    warnings.simplefilter("ignore")  # estimates that are called rough are what is shown here
    begin, reports = time.perf_counter(), cell.mechanism == "Report"
    people = population(cell.population, free=cell.free)
    truths = {question: people.truth(question, by_person=reports) for question in cell.questions}
    scores = {question: Score(truth, cell.people, cell.free) for question, truth in truths.items()}
    mechanism = None if reports else mechanism_of(people, cell)
    for repetition in range(cell.repetitions):
        coins = cell.coins(repetition)
        rows = people.draw(cell.people, coins)
        seed = int(coins.integers(2**31))
        found: dict[str, Any] = {}
        if mechanism is not None:
            found = dict(answers(people, mechanism, rows, cell, seed))
        for question in cell.questions if reports else ():
            one = Cell(**{**vars(cell), "questions": (question,)})
            found |= dict(answers(people, report_of(people, question, cell.epsilon), rows, one, seed))
        for question, answer in found.items():
            if answer is None:
                scores[question].refused += 1
                continue
            own, _ = sampled(people, rows, question, reports) if question != "variants" else ({}, {})
            tables = answer if isinstance(answer, list) else [answer]
            scores[question].add(tables, own, places=question == "per place")
    about = {"population": people.name, "mechanism": cell.mechanism, "ε": cell.epsilon, "people": cell.people}
    seconds = (time.perf_counter() - begin) / len(scores)
    return [
        {**about, "question": question, "repetitions": cell.repetitions, **score.row(), "seconds": seconds}
        for question, score in scores.items()
    ]


def questions_of(name: str, mechanism: str, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the wanted questions that this mechanism answers."""
    there = [question for question in wanted if question in QUESTIONS[:5] or hasattr(dw.estimate, question)]
    if mechanism == "Report":
        short = name == "lengths"  # words of one symbol have no transition to report
        there = [question for question in there if question in (("frequencies",) if short else QUESTIONS[:2])]
    if mechanism == "EditChannel":
        there = [question for question in there if question != "per place"]
    return tuple(there)


def cells_of(options: argparse.Namespace) -> list[Cell]:
    """What is measured, in the order of the output."""
    found = []
    for name in options.populations:
        about = population(name)
        for mechanism in MECHANISMS:
            if mechanism not in options.mechanisms or mechanism not in about.mechanisms:
                continue
            questions = questions_of(name, mechanism, tuple(options.questions))
            for epsilon in options.epsilons if questions else ():
                numbers = (options.people, options.repetitions, options.seed)
                found.append(Cell(name, mechanism, epsilon, questions, *numbers))
    return found


def run(cells: list[Cell], processes: int) -> Iterator[Row]:
    """All rows in order; each process has one thread of linear algebra, so that it is not in the way of the others."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for rows in pool.map(measured, cells):
            yield from rows


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """What was asked for; `--trips`, `--panel`, `--receipt` and `--quick` are choices of the other options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--quick", action="store_true", help="three populations, few people, one ε, two repetitions")
    kinds.add_argument("--trips", action="store_true", help="3,000 trips there and back, with what should be reached")
    kinds.add_argument("--panel", action="store_true", help="monthly activity of people who mostly stay: transitions")
    kinds.add_argument("--receipt", type=Path, metavar="FILE", help="a real event log in CSV, with XES column names")
    parser.add_argument("--populations", nargs="+", choices=POPULATIONS, metavar="NAME", help=", ".join(POPULATIONS))
    parser.add_argument("--mechanisms", nargs="+", choices=MECHANISMS, metavar="NAME", help=", ".join(MECHANISMS))
    parser.add_argument("--questions", nargs="+", choices=QUESTIONS, metavar="NAME", help=", ".join(QUESTIONS))
    parser.add_argument("--epsilons", nargs="+", type=float, metavar="ε", help="1.5, 2, 3, 4 and 6 by default")
    parser.add_argument("--people", type=int, help="2,000 by default")
    parser.add_argument("--repetitions", type=int, help="20 by default")
    parser.add_argument("--seed", type=int, default=SEED, help=f"{SEED} by default, which nothing else uses")
    parser.add_argument("--processes", type=int, default=1, help="cells that are measured at a time")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    parser.add_argument("--markdown", type=Path, help="a file for the tables of the documentation")
    options = parser.parse_args(arguments)
    preset: dict[str, Any] = {
        "populations": tuple(POPULATIONS),
        "mechanisms": MECHANISMS,
        "questions": QUESTIONS,
        "epsilons": EPSILONS,
        "people": 2000,
        "repetitions": 20,
    }
    if options.quick:
        some = {"populations": ("chain", "stayers", "variants"), "mechanisms": ("Online", "words, k = 1", "Report")}
        preset |= {**some, "epsilons": (4.0,), "people": 300, "repetitions": 2}
    elif options.trips:
        preset |= {"populations": ("there and back",), "mechanisms": ("Exponential", "Online"), "people": 3000}
        preset |= {"questions": ("frequencies", "transitions"), "epsilons": (2.0, 3.0, 4.0)}
    elif options.panel:
        preset |= {"populations": ("stayers",), "mechanisms": ("words, k = 1",), "questions": ("transitions",)}
        preset |= {"epsilons": (2.5, 3.0, 4.0)}
    elif options.receipt is not None:
        preset |= {"populations": (str(options.receipt),), "mechanisms": ("words, k = 1",)}
        preset |= {"people": len(cases_of(options.receipt))}
        preset |= {"questions": ("transitions",), "epsilons": (4.0,)}
    for name, value in preset.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    return options


def main() -> None:
    options = options_of()
    print(HEADER, flush=True)
    found = []
    for row in run(cells_of(options), options.processes):
        found.append(row)
        print(line(row), flush=True)
    if options.trips:
        print(f"\nL1 distances from the words of these very people:\n{trips_table(found)}")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8")
    if options.markdown is not None:
        options.markdown.write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    main()
