"""Case study 2: a path of 17 moves of a robot on a grid of 15 × 15 cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from dpwords import plots
from dpwords.core.symbols import hamming
from dpwords.languages.automata import Automaton, LevenshteinAutomaton
from dpwords.languages.systems import GridWorld, TransitionSystem
from dpwords.mechanisms.choice import Title
from dpwords.mechanisms.mechanism import Mechanism
from dpwords.mechanisms.paper_literal import PaperLiteral
from dpwords.studies import study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PATH = "SSSSEEESSSSSSENNN"  # the paper does not print its path; this one gives a product of the same size
START = (1, 2)
_ZIGZAG = "ES" * 8 + "E"
_TURNED = ["SE" * pairs + "ES" * (8 - pairs) + "E" for pairs in range(1, 9)] + ["SE" * 8 + "S"]
EPSILON = 5.0  # as in the paper's last figure
LINEAR = Title.TEXTBOOK_LINEAR
NAMES = (study.LITERAL, study.TEXTBOOK, LINEAR, study.TIGHT)
TIMED_EPSILON, TIMED_RUNS = 0.01, 100

PAPER_CELLS = 225
PAPER_STATES, PAPER_EDGES = 6194, 18762
PAPER_BUILD, PAPER_DRAW = 193.0, 6.4  # seconds


@dataclass(frozen=True)
class _Labelling:
    """A choice of what the symbols of a run are, the moves made or the cells entered, and the study's runs as words."""

    name: str
    language: TransitionSystem
    secret: list[Any]
    zigzag: list[Any]
    turned: list[list[Any]]
    letters: Callable[[Any], str]  # from a word to its moves, one letter each


def grid(k: int = 1, seed: study.Seed = None, progress: study.ProgressBar = study.without_progress) -> study.Study:
    """Run the study; runs that differ in up to k positions are neighbours. Cost: a few seconds."""
    world = GridWorld(15, 15, start=START)
    labellings = (
        _Labelling("moves", world, list(PATH), list(_ZIGZAG), [list(run) for run in _TURNED], "".join),
        _Labelling(
            "states",
            world.by_states(),
            world.run(PATH),
            world.run(_ZIGZAG),
            [world.run(run) for run in _TURNED],
            lambda cells: "".join(world.moves(cells)),
        ),
    )
    tasks = [(labelling, name) for labelling in labellings for name in NAMES]
    drawn = [_column(labelling, name, k, seed) for labelling, name in progress(tasks, "drawing runs")]
    blocks = [
        study.Block(f"words of {labelling.name}, claimed ε = {EPSILON:g}, k = {k}", tuple(columns))
        for labelling, columns in zip(labellings, (drawn[: len(NAMES)], drawn[len(NAMES) :]), strict=True)
    ]
    figures = {
        f"runs_{labelling.name}": partial(_figure, labelling, block)
        for labelling, block in zip(labellings, blocks, strict=True)
    }
    where = {"path": PATH, "start": START, "rows": world.rows, "columns": world.columns, "cells": world.run(PATH)}
    timed = {"timed_runs": TIMED_RUNS, "timed_epsilon": TIMED_EPSILON}
    return study.Study(
        "grid",
        f"Case study 2: the path {PATH} from cell (1, 2) of a 15×15 grid (α = {study.ALPHA:g})",
        {**where, "k": k, "alpha": study.ALPHA, "seed": seed, **timed},
        (_sizes_and_times(world, k, seed, progress), _losses(labellings, k)),
        tuple(blocks),
        (
            "The paper does not print its path; this one gives a product of the same size.",
            "Runs are drawn on layers of the system; the product is built only for comparison.",
            "Runs of both kinds are shown as moves. The moves (or the cells) that differ from those of the path are "
            "marked, and the number after a run says how many they are.",
            "The true ε of the literal formula is bounded from below by how well an output distinguishes a zigzag run "
            "from other runs within k positions of it.",
            *study.closing_notes(seed),
        ),
        figures,
    )


def _column(labelling: _Labelling, name: str, k: int, seed: study.Seed) -> study.Column:
    mechanism = study.mechanism_of(name, labelling.language, EPSILON, k)
    loss = study.Loss("≥", _least_loss(mechanism, labelling)) if name == study.LITERAL else study.Loss("≤", EPSILON)
    source = study.seeded(mechanism, seed, labelling.name, name)
    return study.column(name, EPSILON, source, loss, labelling.secret, labelling.letters)


def _sizes_and_times(world: GridWorld, k: int, seed: study.Seed, progress: study.ProgressBar) -> study.Table:
    def product() -> Automaton:
        near = LevenshteinAutomaton(PATH, len(PATH), world.alphabet.symbols, edits="substitutions")
        return near.product(world)

    def runs(name: str) -> list[str]:
        return study.seeded(study.mechanism_of(name, world, TIMED_EPSILON, k), seed).simulate(PATH, TIMED_RUNS)

    built, build = study.timed(product)
    sizes = [
        ("cells of the grid", PAPER_CELLS, len(world.states)),
        ("states of the product", PAPER_STATES, len(built.states)),
        ("edges of the product", PAPER_EDGES, len(built.edges)),
        ("seconds to build it", PAPER_BUILD, build),
    ]
    drawn = f"{TIMED_RUNS} runs at ε = {TIMED_EPSILON:g}"
    return study.sizes_and_times(sizes, drawn, PAPER_DRAW, {name: partial(runs, name) for name in NAMES}, progress)


def _losses(labellings: tuple[_Labelling, ...], k: int) -> study.Table:
    def loss(each: _Labelling, epsilon: float) -> float:
        return _least_loss(PaperLiteral(each.language, epsilon, k, study.ALPHA), each)

    header = ("true ε of the literal formula, at least", *(f"words of {each.name}" for each in labellings))
    return study.by_epsilon(header, (TIMED_EPSILON, EPSILON), *(partial(loss, each) for each in labellings))


def _least_loss(mechanism: Mechanism, labelling: _Labelling) -> float:
    """The largest log-ratio between a zigzag run and other runs within k positions of it, with either as the output.

    The more runs there are at the distance between the two, the better the formula distinguishes them.
    """
    zigzag = labelling.zigzag
    here = mechanism.given(zigzag)
    losses = []
    for other in (*_neighbours(labelling.language, zigzag), *labelling.turned):
        if hamming(zigzag, other) <= mechanism.k:
            there = mechanism.given(other)
            losses += [abs(here.log_prob(output) - there.log_prob(output)) for output in (zigzag, other)]
    return max(losses)


def _neighbours(language: TransitionSystem, word: list[Any]) -> Iterator[list[Any]]:
    """The words of the language that differ from a word in exactly one position."""
    for position, own in enumerate(word):
        for symbol in language.alphabet.symbols:
            other = [*word[:position], symbol, *word[position + 1 :]]
            if symbol != own and language.accepts(other):
                yield other


def _figure(labelling: _Labelling, block: study.Block) -> Figure:
    rows = {
        f"{column.mechanism}: true ε {column.loss.bound} {column.loss.epsilon:.3g}, "
        f"expected distance {column.expected_distance:.3g}": [labelling.secret, *(s.word for s in column.samples)]
        for column in block.columns
    }
    return plots.runs(labelling.language, rows, block.title)
