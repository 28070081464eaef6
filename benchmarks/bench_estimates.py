"""How far estimates from releases are from the true proportions, beside counting the releases; and how long they take.

Errors are L1 distances, summed over all proportions, from the proportions of the very people whose words were released.
"sample" is how far these people themselves are from the population that they were drawn from, "from the population" how
far the estimate is from it, and "told" what its intervals say about that. The proof for words of states at ε = 3 takes
about a minute the first time, and is cached; the rest takes some minutes.

    python benchmarks/bench_estimates.py [--quick] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rivals_population import Population

import dpwords as dw
from dpwords.core.scaled import Floats, Integers
from dpwords.core.symbols import Ragged
from dpwords.errors import InvalidValue
from dpwords.mechanisms.exponential import Exponential
from dpwords.mechanisms.private import Private
from dpwords.mechanisms.uniform import Uniform
from dpwords.models.chains import hidden_runs
from dpwords.models.edit_model import EditModel
from dpwords.models.population import Model, RunEvidence, counted_chances
from dpwords.models.refined import ModelShape
from dpwords.spaces.questions import Question

Row = dict[str, Any]
Proportions = dict[Any, float]
STEPS, MONTHS, STATES = 18, 24, "abcdef"
PEOPLE, MANY, LARGE = (100, 10_000), 1_000_000, 50_000
SEED = 16


def distance(found: dict[Any, float], truth: Proportions) -> float:
    """The L1 distance of two tables of proportions."""
    return sum(abs(found.get(label, 0.0) - truth.get(label, 0.0)) for label in found.keys() | truth.keys())


def measured(ask: Callable[[], Any], truths: list[Proportions], populations: list[Proportions]) -> Row:
    """The errors of counting and of the estimate, averaged over tables; only "refused" where there is none."""
    sample = float(np.mean([distance(a, b) for a, b in zip(truths, populations, strict=True)]))
    try:
        answer = ask()
    except InvalidValue:
        return {"sample": sample, "refused": 1}
    found: list[dw.estimate.Estimates] = answer if isinstance(answer, list) else [answer]
    proportions = [{label: proportion.value for label, proportion in each.items()} for each in found]
    return {
        "counted": float(np.mean([distance(each.counted, b) for each, b in zip(found, truths, strict=True)])),
        "estimated": float(np.mean([distance(a, b) for a, b in zip(proportions, truths, strict=True)])),
        "from the population": float(np.mean([distance(a, b) for a, b in zip(proportions, populations, strict=True)])),
        "told": float(np.mean([each.total_error for each in found])),
        "sample": sample,
        "refused": 0,
    }


def averaged(found: dict[str, list[Row]], **about: Any) -> Iterator[Row]:
    """For each question the mean of several measurements; those that were refused do not count."""
    for question, rows in found.items():
        kept = [row for row in rows if not row["refused"]]
        names = [*(kept[0] if kept else {}), "sample"]
        means = {name: float(np.mean([row[name] for row in rows if name in row])) for name in names}
        yield {**about, "question": question, **means, "refused": len(rows) - len(kept), "surveys": len(rows)}


class Grid:
    """Surveys of runs on a square grid, as words of states: of one chain that drifts away from where all start."""

    def __init__(self, side: int, people: int, steps: int, surveys: int = 1) -> None:
        self.name, self.language = f"{side}×{side} grid", dw.GridWorld(side, side).by_states()
        self.drawn = Population(side, people * surveys, steps, SEED)
        self.edges = np.split(self.drawn.edges, surveys)
        self.population = self._by_question(self.drawn.expected_proportions(self.drawn.chain))

    def rows(self, survey: int) -> Integers:
        """The runs of a survey, as codes of symbols."""
        return np.asarray(self.drawn.runs.symbol[self.edges[survey]])

    def truths(self, survey: int) -> dict[str, Proportions]:
        """The proportions among the people of a survey."""
        return self._by_question(self.drawn.proportions(self.edges[survey].ravel()))

    def _by_question(self, proportions: Any) -> dict[str, Proportions]:
        runs = self.drawn.runs
        cells = [runs.symbols[code] for code in self.drawn.cell_of_state]
        steps = zip(runs.source.tolist(), runs.target.tolist(), proportions.transitions.tolist(), strict=True)
        return {
            "visits": dict(zip(cells, proportions.visits.tolist(), strict=True)),
            "transitions": {(cells[a], cells[b]): proportion for a, b, proportion in steps},
        }


class Traces:
    """Traces of a seeded process: a chain over activities in which each goes on to a few others, or ends.

    With a length, all have this length: months of people who mostly stay in their state.
    """

    def __init__(self, symbols: int, people: int, seed: int, length: int | None = None) -> None:
        shape, self.length = np.random.default_rng(SEED), length
        self.symbols = list(STATES[:symbols] if length else range(symbols))
        if length:
            self.chain = 0.1 * shape.dirichlet(np.ones(symbols), symbols) + 0.9 * np.eye(symbols)
            self.ending = np.zeros(symbols)
        else:
            self.chain = shape.dirichlet(np.full(symbols, 0.15), symbols)
            self.ending = np.linspace(0.05, 0.35, symbols)
        self.first = shape.dirichlet(np.full(symbols, 1.0 if length else 0.3))
        coins = np.random.default_rng(seed)
        columns = [coins.choice(symbols, people, p=self.first)]
        going = [np.full(people, True)]
        upper = np.cumsum(self.chain, axis=1)
        while going[-1].any() and len(columns) != length and len(columns) < 60:
            before = columns[-1]
            going.append(going[-1] & (coins.random(people) >= self.ending[before]))
            after = (coins.random(people)[:, None] > upper[before]).sum(axis=1)
            columns.append(np.minimum(after, symbols - 1))
        table, there = np.stack(columns, axis=1), np.stack(going, axis=1)
        self.rows = [row[kept].astype(np.int64) for row, kept in zip(table, there, strict=True)]
        self.table = table

    def truths(self) -> dict[str, list[Proportions]]:
        """The proportions among these people: of activities, of pairs of them, and of each state in each month."""
        size = len(self.symbols)
        pairs = np.concatenate([row[:-1] * size + row[1:] for row in self.rows])
        labels = [(a, b) for a in self.symbols for b in self.symbols]
        found = {
            "frequencies": [self._proportions(np.concatenate(self.rows), self.symbols)],
            "dfg": [self._proportions(pairs, labels)],
        }
        if self.length:
            found["months"] = [self._proportions(column, self.symbols) for column in self.table.T]
        return found

    @staticmethod
    def _proportions(values: Integers, labels: list[Any]) -> Proportions:
        counts = np.bincount(values, minlength=len(labels)) / max(len(values), 1)
        return dict(zip(labels, counts.tolist(), strict=True))


def grid_rows(side: int, epsilons: Iterable[float], people: Iterable[int]) -> Iterator[Row]:
    """Visits and transitions from releases of runs."""
    for number in people:
        grid = Grid(side, number, STEPS, surveys_of(number))
        for epsilon in epsilons:
            mechanism = dw.Exponential(grid.language, epsilon)
            found: dict[str, list[Row]] = {"visits": [], "transitions": []}
            for survey in range(surveys_of(number)):
                truth = grid.truths(survey)
                releases = mechanism.seeded(survey).release_codes(grid.rows(survey))
                model = dw.estimate.model(releases, mechanism)
                for question, rows in found.items():
                    ask = partial(getattr(dw.estimate, question), releases, mechanism, model=model)
                    rows.append(measured(ask, [truth[question]], [grid.population[question]]))
            yield from averaged(found, data=grid.name, mechanism="Exponential", ε=epsilon, people=number)


def report_rows(side: int, epsilons: Iterable[float], people: Iterable[int]) -> Iterator[Row]:
    """The same from reports, with a total ε for a whole run."""
    questions: tuple[Question, ...] = ("visits", "transitions")
    for number in people:
        grid = Grid(side, number, STEPS, surveys_of(number))
        for epsilon in epsilons:
            found: dict[str, list[Row]] = {question: [] for question in questions}
            for survey, question in product(range(surveys_of(number)), questions):
                report, truth = dw.Report(grid.language, epsilon, question), grid.truths(survey)[question]
                answers = report.seeded(survey).release_codes(grid.rows(survey))
                ask = partial(getattr(dw.estimate, question), answers, report)
                found[question].append(measured(ask, [truth], [grid.population[question]]))
            yield from averaged(found, data=grid.name, mechanism="Report", ε=epsilon, people=number)


def trace_rows(symbols: int, people: Iterable[int], mechanisms: Iterable[tuple[str, float]]) -> Iterator[Row]:
    """Activities and the directly-follows graph of a process."""
    population = Traces(symbols, LARGE, SEED).truths()
    for number in people:
        surveys = [Traces(symbols, number, SEED + 1 + survey) for survey in range(surveys_of(number))]
        for kind, epsilon in mechanisms:
            words, edits = dw.Exponential(dw.Words(range(symbols)), epsilon), dw.EditChannel(range(symbols), epsilon)
            mechanism: Private = edits if kind == "EditChannel" else words
            found: dict[str, list[Row]] = {"frequencies": [], "dfg": []}
            for seed, survey in enumerate(surveys):
                truth = survey.truths()
                releases = mechanism.seeded(seed).release_codes(Ragged.of(survey.rows))
                for question, rows in found.items():
                    ask = partial(getattr(dw.estimate, question), releases, mechanism)
                    rows.append(measured(ask, truth[question], population[question]))
            yield from averaged(found, data=f"{symbols} activities", mechanism=kind, ε=epsilon, people=number)


def month_rows(people: Iterable[int], epsilons: Iterable[float]) -> Iterator[Row]:
    """States of each month (the mean over months), by inversion and by a chain, and changes of state.

    With very many people the chain is left out, which would take long.
    """
    population = Traces(len(STATES), LARGE, SEED, MONTHS).truths()
    for number in people:
        surveys = [Traces(len(STATES), number, SEED + 1 + survey, MONTHS) for survey in range(surveys_of(number))]
        for epsilon in epsilons:
            mechanism = dw.Exponential(dw.Words(STATES), epsilon)
            found: dict[str, list[Row]] = {"months": []}
            for seed, survey in enumerate(surveys):
                truth, releases = survey.truths(), mechanism.seeded(seed).release_codes(survey.table)
                by_month = partial(dw.estimate.frequencies, releases, mechanism, per_place=True)
                asked: dict[str, Callable[[], Any]] = {"months": by_month}
                if number < MANY:
                    model = dw.estimate.model(releases, mechanism)
                    asked["months, chain"] = partial(by_month, model=model)
                    asked["dfg"] = partial(dw.estimate.dfg, releases, mechanism, model=model)
                for question, ask in asked.items():
                    about = question.removesuffix(", chain")
                    found.setdefault(question, []).append(measured(ask, truth[about], population[about]))
            yield from averaged(found, data="6 states, 24 months", mechanism="Exponential", ε=epsilon, people=number)


def surveys_of(people: int) -> int:
    """In how many surveys an error is measured."""
    return 4 if people <= 1000 else 1


def decoding_rows(side: int, epsilons: Iterable[float], people: int) -> Iterator[Row]:
    """Wrong positions of the releases, and of what is decoded with a uniform prior and with a fitted one."""
    grid = Grid(side, people, STEPS)
    rows, code_of = grid.rows(0), grid.language.alphabet.codes
    for epsilon in epsilons:
        mechanism = dw.Exponential(grid.language, epsilon)
        releases = mechanism.seeded(1).release_codes(rows)
        row: Row = {"ε": epsilon, "people": people, "released": wrong_positions(releases, rows)}
        priors = {"uniform prior": None, "fitted prior": dw.estimate.model(releases, mechanism)}
        for name, prior in priors.items():
            assert not isinstance(prior, EditModel)
            likely = dw.estimate.decode(releases, mechanism, prior)
            codes = np.array([[code_of[symbol] for symbol in word] for word in likely])
            row |= {name: wrong_positions(codes, rows), f"{name}, expected": likely.expected_distance}
        yield row


def wrong_positions(rows: NDArray[Any], true: NDArray[Any]) -> float:
    """The mean number of positions in which rows differ."""
    return float((rows != true).sum(axis=1).mean())


def whole_run_rows(side: int, epsilons: Iterable[float]) -> Iterator[Row]:
    """Wrong positions of a released run if ε is for all of its steps together, beside a run drawn without data."""
    language = dw.GridWorld(side, side).by_states()
    for epsilon in epsilons:
        wrong = dw.Exponential(language, epsilon, k=STEPS).expected_distance(length=STEPS)
        yield {"ε": epsilon, "released": wrong, "no data": Uniform(language, k=1).expected_distance(length=STEPS)}


def speed(side: int, runs: int, steps: int, compared: int) -> Row:
    """CPU seconds of an estimate, and of one E-step beside the same in plain NumPy, on some of the same releases."""
    grid = Grid(side, runs, steps)
    mechanism = dw.Exponential(grid.language, 4)
    releases = mechanism.seeded(1).release_codes(grid.rows(0))
    dw.estimate.transitions(releases[:2000], mechanism)  # compiles
    begin, wall = time.process_time(), time.perf_counter()
    model = dw.estimate.model(releases, mechanism)
    fitted = time.process_time()
    dw.estimate.transitions(releases, mechanism, model=model)
    done, wall = time.process_time(), time.perf_counter() - wall
    some = dw.estimate.model(releases[:compared], mechanism)
    assert isinstance(some, Model)
    plain = PlainPass(some.evidence, mechanism, steps)
    (likelihood, uses), ours = timed(partial(some.evidence.expected, some.chances))
    (same_likelihood, same_uses), theirs = timed(partial(plain.expected, some.chances))
    apart = max(np.abs(uses - same_uses).max() / same_uses.max(), abs(likelihood / same_likelihood - 1))
    return {
        "runs": runs,
        "steps": steps,
        "fit": fitted - begin,
        "intervals": done - fitted,
        "wall": wall,
        "compared": compared,
        "ours": ours,
        "plain NumPy": theirs,
        "ratio": theirs / ours,
        "difference": float(apart),
    }


def many_symbols(symbols: int, runs: int, steps: int) -> Row:
    """CPU seconds of an E-step over many symbols, by products of matrices, and edge by edge."""
    mechanism = dw.Exponential(dw.Words([f"s{number}" for number in range(symbols)]), 5)
    words = np.random.default_rng(SEED).integers(symbols, size=(runs, steps))
    shape = ModelShape(hidden_runs(mechanism.language, mechanism.limits), limits=mechanism.limits)
    evidence = RunEvidence.of(mechanism, {steps: mechanism.seeded(1).release_codes(words)}, shape)
    chances = counted_chances({steps: words}, evidence.hidden)
    (likelihood, _), ours = timed(partial(evidence.expected, chances))
    parts, loops = timed(lambda: list(evidence.each(chances)))
    same = sum(float(part.times @ part.found.log_likelihood) for part in parts)
    about = {"symbols": symbols, "runs": runs, "steps": steps, "ours": ours, "edge by edge": loops}
    return {**about, "ratio": loops / ours, "difference": abs(likelihood / same - 1)}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What comes out, and the least CPU seconds of three repetitions."""
    times = []
    for _ in range(3):
        begin = time.process_time()
        found = work()
        times.append(time.process_time() - begin)
    return found, min(times)


class PlainPass:
    """Forward and backward sums over hidden runs by products of matrices, all runs at a time."""

    def __init__(self, evidence: RunEvidence, mechanism: Exponential, steps: int) -> None:
        self.hidden, self.times = evidence.hidden, evidence.lengths[0].times
        rows, (_, states) = evidence.lengths[0].seen.rows, self.hidden.of_symbol
        rate = mechanism.weights(steps).rate
        assert rate is not None
        self.shown = np.ones((steps, len(rows), self.hidden.size))  # for each position, run and state, its weight
        np.put_along_axis(self.shown, states[rows.T][:, :, None], np.exp(float(rate)), axis=2)

    def expected(self, chances: Floats) -> tuple[float, Floats]:
        """What `RunEvidence.expected` returns."""
        hidden, size = self.hidden, self.hidden.size
        matrix = np.zeros((size, size))
        matrix[hidden.source, hidden.target] = chances[hidden.parameter]
        forward, likelihood = [np.tile(np.eye(1, size), (len(self.times), 1))], 0.0
        for shown in self.shown:
            after = forward[-1] @ matrix * shown
            total = after.sum(axis=1, keepdims=True)
            likelihood += float(self.times @ np.log(total[:, 0]))
            forward.append(after / total)
        backward, uses = np.ones_like(forward[0]), np.zeros((size, size))
        for before, shown in zip(forward[-2::-1], self.shown[::-1], strict=True):
            ahead = shown * backward
            backward = ahead @ matrix.T
            total = (before * backward).sum(axis=1, keepdims=True)
            uses += (before * self.times[:, None] / total).T @ ahead
            backward /= backward.max(axis=1, keepdims=True)
        used = (uses * matrix)[hidden.source, hidden.target]
        return likelihood, np.bincount(hidden.parameter, used, len(chances))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small systems and few people only")
    parser.add_argument("--output", type=Path, help="a JSON file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # estimates from 100 people are called rough, which is what is shown here
    people, side = ((50, 200), 3) if options.quick else (PEOPLE, 15)
    many = () if options.quick else (MANY,)
    traces = [("Exponential", 2), ("Exponential", 4), ("EditChannel", 6)]
    parts: list[Iterator[Row]] = [
        report_rows(side, (2, 4, 10), people),
        *(trace_rows(symbols, people, traces) for symbols in ((3,) if options.quick else (12, 27))),
        month_rows((*people, *many), (1, 2)),
        grid_rows(side, (3, 4, 6), people),
    ]
    errors = []
    for row in chain.from_iterable(parts):
        errors.append(row)
        about = f"{row['data']}, {row['mechanism']}, ε = {row['ε']}, {row['people']} people, {row['question']}"
        counts = (
            f"{row['counted']:.3g} counted, {row['estimated']:.3g} estimated" if "counted" in row else "no estimate"
        )
        print(
            f"{about}: {counts} ({row['refused']} of {row['surveys']} refused), {row['sample']:.3g} sample", flush=True
        )
    found: dict[str, Any] = {
        "errors": errors,
        "decoding": list(decoding_rows(side, (3, 4), people[-1])),
        "whole runs": list(whole_run_rows(side, (1, 2, 4, 10))),
        "speed": speed(side, *((50, 6, 50) if options.quick else (100_000, 20, 2000))),
        "many symbols": many_symbols(*((70, 50, 4) if options.quick else (300, 1500, 8))),
    }
    for name in ("decoding", "whole runs", "speed", "many symbols"):
        print(f"{name}: {found[name]}")
    if options.output is not None:
        options.output.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
