"""Both case studies at full size: the numbers, not only that they run."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

import dpwords as dw
from dpwords.core.symbols import hamming
from dpwords.studies.grid import grid
from dpwords.studies.strings import strings
from dpwords.studies.study import Block, Column, Study, Table

WORD = "american control conference 2019"
PATH = "SSSSEEESSSSSSENNN"


@pytest.fixture(scope="module")
def words() -> Study:
    return strings(seed=1)


@pytest.fixture(scope="module")
def runs() -> Study:
    return grid(seed=1)


def rows(table: Table) -> dict[str, list[Any]]:
    return {str(name): values for name, *values in table.rows}


def columns(block: Block) -> dict[str, Column]:
    return {column.mechanism: column for column in block.columns}


def test_sizes_and_times_of_strings_beside_the_papers(words: Study) -> None:
    found = rows(words.tables[0])
    assert words.tables[0].header == ("size or time", "paper", "here")
    assert found["states of the automaton"] == [561, 561]
    assert found["edges of the automaton"] == [1056, 1056]
    times = {name: values for name, values in found.items() if name.startswith("seconds")}
    assert [paper for paper, _ in times.values()] == [6.6, 1.53, None, None]
    assert all(here > 0 for _, here in times.values())


def test_true_epsilon_of_the_literal_formula(words: Study) -> None:
    expected = {"10": (11.17, 92.44), "1": (6.67, 87.95), "0.1": (6.22, 87.50), "0": (6.17, 87.45)}
    found = rows(words.tables[2])
    assert len(found) == len(expected)
    for epsilon, losses in expected.items():
        assert found[f"claimed ε = {epsilon}"] == pytest.approx(losses, abs=6e-3)
    literal = [block.columns[0] for block in words.blocks]
    assert [column.loss.epsilon for column in literal] == pytest.approx([11.17, 6.67, 6.22, 6.17], abs=6e-3)


def test_mean_distances_of_strings(words: Study) -> None:
    """By hand: on free words N_ℓ = C(32, ℓ)·15^ℓ; the literal formula counts each distance once."""
    sizes = [math.comb(32, d) * 15**d for d in range(33)]
    found = rows(words.tables[1])
    assert [values[0] for values in found.values()] == pytest.approx([27 / 5, 74 / 4, 71 / 5, 103 / 5])
    for epsilon, values in zip((10, 1, 0.1, 0), found.values(), strict=True):
        assert values[1] == pytest.approx(mean([1] * 33, lambda d, e=epsilon: e * 33 / 64 / (d + 1)))
        assert values[2] == pytest.approx(mean([1] * 33, lambda d, e=epsilon: e / (d + 1)))
        assert values[3] == pytest.approx(mean(sizes, lambda d, e=epsilon: e / (d + 1)))
        assert values[4] == pytest.approx(mean(sizes, lambda d, e=epsilon: -e * d))
    assert words.tables[1].header[2:] == ("literal, k = 32", "literal, k = 1", "textbook, k = 1", "tight, k = 1")
    assert found["claimed ε = 10"][3:] == pytest.approx([29.98, 0.0218], abs=3e-3)
    assert found["claimed ε = 0"][3:] == [30, 30]


def mean(sizes: list[int], power: Callable[[int], float]) -> float:
    weights = [size * math.exp(power(d)) for d, size in enumerate(sizes)]
    return sum(d * weight for d, weight in enumerate(weights)) / sum(weights)


def test_samples_of_strings(words: Study) -> None:
    """Five of each, with their distances; the correct mechanisms keep their claim, and textbook wastes half."""
    for block, epsilon in zip(words.blocks, (10, 1, 0.1, 0), strict=True):
        for column in block.columns:
            assert column.claimed == epsilon
            assert len(column.samples) == 5
            assert all(sample.distance == hamming(WORD, sample.word) for sample in column.samples)
            assert column.loss.bound == "="
        if epsilon:
            assert columns(block)["textbook, paper's utility"].loss.epsilon == pytest.approx(epsilon / 2)
            assert columns(block)["tight, linear"].loss.epsilon == pytest.approx(epsilon)
    assert all(sample.word == WORD for sample in columns(words.blocks[0])["tight, linear"].samples)


def test_at_epsilon_zero_the_correct_mechanism_is_the_uniform_word(words: Study) -> None:
    found = columns(words.blocks[3])
    assert list(found) == ["literal formula", "uniform word"]
    uniform = found["uniform word"]
    assert (uniform.loss.epsilon, uniform.expected_distance) == (0, 30)
    exact = [math.comb(32, d) * 15**d / 16**32 for d in range(33)]
    assert uniform.distance_distribution == pytest.approx(exact)
    assert found["literal formula"].distance_distribution == pytest.approx([1 / 33] * 33)


def test_the_alphabet_is_not_to_be_read_off_the_secret(words: Study) -> None:
    assert any("Never read an alphabet off a private word" in note for note in words.notes)


def test_the_papers_adjacency_of_strings() -> None:
    """k = 32: the whole word is the secret."""
    found = columns(strings(k=32, seed=1).blocks[0])
    assert found["literal formula"].loss.epsilon == pytest.approx(92.44, abs=6e-3)
    assert found["tight, linear"].loss.epsilon == pytest.approx(10)
    assert found["textbook, paper's utility"].loss.epsilon == pytest.approx(5)
    with pytest.raises(dw.InvalidValue, match="k is at most the word's length"):
        strings(k=33)


def test_sizes_and_times_of_the_grid_beside_the_papers(runs: Study) -> None:
    found = rows(runs.tables[0])
    assert found["cells of the grid"] == [225, 225]
    assert found["states of the product"] == [6194, 6194]
    assert found["edges of the product"] == [18762, 18762]
    times = {name: values for name, values in found.items() if name.startswith("seconds")}
    assert [paper for paper, _ in times.values()] == [193.0, 6.4, None, None, None]
    assert "100 runs at ε = 0.01" in list(times)[1]


def sizes_on_grid(secret: list[Any], by_states: bool) -> list[int]:
    """How many runs differ in 0, 1, … positions, counted cell by cell."""
    steps = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
    ways = {((1, 2), 0): 1}
    for own in secret:
        ahead: dict[Any, int] = {}
        for ((row, column), errors), number in ways.items():
            for name, (down, right) in steps.items():
                cell = (row + down, column + right)
                if 0 <= cell[0] < 15 and 0 <= cell[1] < 15:
                    key = (cell, errors + ((cell if by_states else name) != own))
                    ahead[key] = ahead.get(key, 0) + number
        ways = ahead
    sizes = [0] * (len(secret) + 1)
    for (_, errors), number in ways.items():
        sizes[errors] += number
    return sizes


def cells(moves: str) -> list[tuple[int, int]]:
    row, column = 1, 2
    visited = []
    for move in moves:
        row, column = row + (move == "S") - (move == "N"), column + (move == "E") - (move == "W")
        visited.append((row, column))
    return visited


@pytest.mark.parametrize("by_states", [False, True])
def test_runs_of_the_grid(runs: Study, by_states: bool) -> None:
    secret = cells(PATH) if by_states else list(PATH)
    sizes = sizes_on_grid(secret, by_states)
    block = runs.blocks[by_states]
    assert f"words of {'states' if by_states else 'moves'}, claimed ε = 5" in block.title
    found = columns(block)
    expected = {
        "literal formula": mean([1 if size else 0 for size in sizes], lambda d: 5 / (d + 1)),
        "textbook, paper's utility": mean(sizes, lambda d: 5 / (d + 1)),
        "textbook, linear": mean(sizes, lambda d: -5 / 2 * d),
    }
    tight = found["tight, linear"].expected_distance
    assert {name: c.expected_distance for name, c in found.items()} == pytest.approx(
        expected | {"tight, linear": tight}
    )
    assert tight < expected["textbook, linear"] / 3
    assert tight > 0.95 * mean(sizes, lambda d: -5 * d)  # that of c = ε, up to the weights of words
    world = dw.GridWorld(15, 15, start=(1, 2))
    for column in found.values():
        assert len(column.samples) == 5
        for sample in column.samples:
            assert world.accepts(sample.letters)
            assert sample.word == (cells(sample.letters) if by_states else list(sample.letters))
            assert sample.distance == hamming(secret, sample.word)


def test_the_literal_formula_breaks_its_claim_on_the_grid(runs: Study) -> None:
    """ln ρ(0)/ρ(1) + ln N_1 of a neighbour, at the secret itself as output: a lower bound by hand."""
    for block, by_states in zip(runs.blocks, (False, True), strict=True):
        zigzag = "ES" * 8 + "E"
        other = zigzag[:-1] + "S"
        neighbours = sizes_on_grid(cells(other) if by_states else list(other), by_states)[1]
        by_hand = 5 / 2 + math.log(neighbours)
        loss = columns(block)["literal formula"].loss
        assert loss.bound == "≥"
        assert loss.epsilon >= by_hand - 0.01  # the normalising constants of the two words differ a little
        assert loss.epsilon > 5
    claims = rows(runs.tables[1])
    assert min(claims["claimed ε = 0.01"]) > 3
    assert min(claims["claimed ε = 5"]) > 5


def test_the_papers_adjacency_of_the_grid() -> None:
    """k = 17, the zigzag and its mirror image: ln ρ(0)/ρ(d) + ln N_d by hand, at the zigzag as output."""
    study = grid(k=17, seed=1)
    for block, by_states in zip(study.blocks, (False, True), strict=True):
        zigzag, mirror = ("ES" * 8 + "E", "SE" * 8 + "S")
        one, other = (cells(zigzag), cells(mirror)) if by_states else (list(zigzag), list(mirror))
        apart = hamming(one, other)
        assert apart == (9 if by_states else 17)
        utility = 5 / (2 * 17 / 18)
        by_hand = utility * (1 - 1 / (apart + 1)) + math.log(sizes_on_grid(other, by_states)[apart])
        loss = columns(block)["literal formula"].loss
        assert loss.epsilon >= by_hand - 0.1  # the normalising constants of the two words differ a little
        assert loss.epsilon > 15


@pytest.mark.parametrize("study", [strings, grid])
def test_a_seed_repeats_everything_but_the_times(study: Callable[..., Study], words: Study, runs: Study) -> None:
    def without_times(found: Study) -> str:
        document = found.document()
        document["tables"] = [
            [row for row in table if not str(row.get("size or time")).startswith("seconds")]
            for table in document["tables"]
        ]
        return json.dumps(document["blocks"] + document["tables"])

    first = without_times(words if study is strings else runs)
    assert without_times(study(seed=1)) == first
    assert without_times(study()) != first


def test_figures_can_be_drawn(words: Study, runs: Study) -> None:
    assert list(words.figures) == ["samples", "distances"]
    assert list(runs.figures) == ["runs_moves", "runs_states"]
    assert len(words.figures["distances"]().axes) == 4
    for block, draw in zip(runs.blocks, runs.figures.values(), strict=True):
        panels = draw().axes
        assert len(panels) == 24  # four mechanisms, six panels each
        titles = [panel.get_title() for panel in panels]
        assert titles[::6] == ["private run"] * 4
        drawn = [f"distance {sample.distance}" for column in block.columns for sample in column.samples]
        assert [title for title in titles if title != "private run"] == drawn
