"""Plans: words of moves with a promise about the states that they enter, in everything that takes words.

Runs and their distances are listed here by plain walks on a grid; the law is that of the formula.
"""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpwords as dw
from commands import refused, run

STEPS = {"N": (-1, 0), "E": (0, 1), "S": (1, 0), "W": (0, -1)}
WORLD = dw.GridWorld(3, 3, walls={(0, 2)})
PLANS, LENGTH = WORLD.plans(), 4
KEY = bytes(range(32))


def entered(word: str) -> tuple[tuple[int, int], ...] | None:
    """The cells that a word enters; None if it leaves the grid or enters the wall."""
    at, found = (0, 0), []
    for letter in word:
        at = at[0] + STEPS[letter][0], at[1] + STEPS[letter][1]
        if not (0 <= at[0] < 3 and 0 <= at[1] < 3) or at == (0, 2):
            return None
        found.append(at)
    return tuple(found)


RUNS = {
    word: cells for letters in itertools.product("NESW", repeat=LENGTH) if (cells := entered(word := "".join(letters)))
}


def apart(one: str, other: str) -> int:
    return sum(a != b for a, b in zip(RUNS[one], RUNS[other], strict=True))


@pytest.mark.parametrize("k", [1, 2])
def test_the_law_is_that_of_the_cells(k: int) -> None:
    """With textbook calibration, an output at distance d of cells has the weight exp(−ε·d/(2k))."""
    mechanism = dw.Exponential(PLANS, 2.0, k, utility=dw.Linear(), calibration="textbook")
    for word in list(RUNS)[::7]:
        weights = {other: math.exp(-2.0 * apart(word, other) / (2 * k)) for other in RUNS}
        total, given = sum(weights.values()), mechanism.given(word)
        found = {other: math.exp(given.log_prob(other)) for other in RUNS}
        assert found == pytest.approx({other: weight / total for other, weight in weights.items()}, rel=1e-12)
        mean = sum(apart(word, other) * found[other] for other in RUNS)
        assert mechanism.expected_distance(word) == pytest.approx(mean, rel=1e-9)
        assert given.log_prob("NNNN") == given.log_prob("E") == -math.inf
    assert PLANS.count(LENGTH) == len(RUNS) == 36


MAKERS: dict[str, Any] = {
    "tight": lambda language: dw.Exponential(language, 2.0),
    "online": lambda language: dw.Online(language, 2.0),
    "best, k = 2": lambda language: dw.best(language, 3.0, 2, length=None),
    "literal": lambda language: dw.PaperLiteral(language, 2.0),
}


@pytest.mark.parametrize("name", MAKERS)
def test_everything_is_that_of_words_of_states(name: str) -> None:
    """The bijection between moves and cells changes no probability, and so no distance and no loss."""
    plans, cells = MAKERS[name](PLANS), MAKERS[name](WORLD.by_states())
    for word, other in zip(list(RUNS)[::5], list(RUNS)[::-5], strict=True):
        assert plans.log_prob(other, given=word) == cells.log_prob(RUNS[other], given=RUNS[word])
    assert plans.distance_distribution(length=LENGTH) == cells.distance_distribution(length=LENGTH)
    found, expected = (dw.audit.exact(each, LENGTH, draws=2000) for each in (plans, cells))
    assert (found.epsilon, found.losses, found.words) == (expected.epsilon, expected.losses, len(RUNS))
    if name != "literal":
        assert found.holds
    assert found.worst is not None
    assert apart("".join(found.worst.word), "".join(found.worst.neighbour)) == found.worst.distance
    for word in ("EWEW", "SSEE"):
        released = plans.seeded(5).simulate(word, 50)
        assert [RUNS[each] for each in released] == cells.seeded(5).simulate(RUNS[word], 50)


def test_the_loss_is_within_epsilon_for_each_changed_cell() -> None:
    mechanism = dw.Exponential(PLANS, 1.5)
    logs = {word: [mechanism.log_prob(other, given=word) for other in RUNS] for word in RUNS}
    losses = {
        pair: max(abs(a - b) for a, b in zip(logs[pair[0]], logs[pair[1]], strict=True))
        for pair in itertools.combinations(RUNS, 2)
    }
    assert max(loss / apart(*pair) for pair, loss in losses.items()) <= 1.5
    assert losses["ESES", "SEES"] <= 1.5  # a detour by one cell: two moves, one cell
    assert mechanism.guarantee.explain("ESES", "SEES").distance == 1
    assert mechanism.guarantee.explain("SSEE", "ESES").distance == 3
    assert mechanism.seeded(1).guarantee.explain("ESES", "SEES").distance == 1
    with pytest.raises(dw.NotInLanguage, match="plans are compared by the states"):
        mechanism.guarantee.explain("ESES", "NNNN")


def test_the_promise_and_the_summary_speak_of_states() -> None:
    text = str(dw.Exponential(PLANS, 2.0).summary(LENGTH))
    assert "two words whose runs differ in d of the states entered" in text
    assert "a detour by one cell changes two moves and one state" in text
    assert "the nearest two words differ in 1 state:" in text
    assert "states are changed, on average" in text
    assert "this is about the states entered, as is usual for plans and routes" in text
    moves, cells = (str(dw.Exponential(each, 2.0).summary(LENGTH)) for each in (WORLD, WORLD.by_states()))
    assert "this is about moves; for plans and routes, the states entered are usually meant (plans, with " in moves
    assert "this is about" not in cells


def test_words_of_every_kind_and_codes_of_states() -> None:
    mechanism = dw.Exponential(PLANS, 1.0)
    words: list[Any] = ["ESES", list("ESES"), tuple("ESES"), "SE"]
    for word, found in zip(words, mechanism.release_all(words), strict=True):
        assert type(found) is type(word)
        assert PLANS.accepts(found)
    codes = np.array([[PLANS.alphabet.codes[cell] for cell in RUNS["ESES"]]] * 3)
    released = mechanism.release_codes(codes, range(3), KEY)
    texts = mechanism.release_all(["ESES"] * 3, range(3), KEY)
    assert [[PLANS.alphabet.symbols[code] for code in row] for row in released] == [list(RUNS[text]) for text in texts]
    for bad, message in {"NESW": "symbol 1 of 4 cannot follow", "ESE?": "symbol 4 of 4 is not in"}.items():
        with pytest.raises(dw.NotInLanguage, match=f"word 2: .*{message}"):
            mechanism.release_all(["ESES", bad])
    with pytest.raises(dw.NotInLanguage, match="row 0"):
        mechanism.release_codes(np.zeros((1, 4), dtype=np.int64))


def test_streams_take_and_give_moves() -> None:
    stream = dw.Online(PLANS & dw.rules.ends_in((1, 1)), 50.0).stream(length=4)
    assert "".join(stream.push(move) for move in "SNES") == "SNES"
    stream = dw.Online(PLANS, 0.1).seeded(3).stream()
    drawn = [stream.push(move) for move in "SSEENNWW"[:5] + "SWW"]
    assert PLANS.accepts(drawn)
    for bad, message in (("N", "cannot follow"), ("?", "not in the alphabet"), (["N"], "not in the alphabet")):
        with pytest.raises(dw.InvalidValue, match=message):
            dw.Online(PLANS, 1.0).stream().push(bad)


def test_estimates_are_about_states_and_decoded_words_are_moves() -> None:
    plans, cells = dw.Exponential(PLANS, 3.0), dw.Exponential(WORLD.by_states(), 3.0)
    words = ["ESES", "SSEE"] * 150
    released = plans.seeded(2).release_all(words)
    runs = [list(RUNS[word]) for word in released]
    for question in (dw.estimate.frequencies, dw.estimate.transitions, dw.estimate.visits, dw.estimate.ends):
        assert question(released, plans) == question(runs, cells)
    found = dw.estimate.patterns(released, plans, [[(1, 1), (1, 2)], dw.rules.contains((2, 0))])
    assert [round(each.value, 1) for each in found.values()] == [0.5, 0.5]
    model = dw.estimate.model(released, plans)
    assert model.log_prob("ESES") == dw.estimate.model(runs, cells).log_prob(RUNS["ESES"])
    assert set(map("".join, model.simulate(LENGTH, 20, seed=1))) <= RUNS.keys()
    decoded, by_cells = dw.estimate.decode(released, plans, model), dw.estimate.decode(runs, cells)
    assert [type(word) for word in decoded[:2]] == [tuple, tuple]
    assert len(by_cells) == len(decoded)
    assert set(map("".join, decoded)) <= RUNS.keys()
    with pytest.raises(dw.NotInLanguage, match="release 2 is no word"):
        dw.estimate.frequencies(["ESES", "NNNN"], plans)
    with pytest.raises(dw.NotInLanguage, match="release 1 has a symbol"):
        dw.estimate.frequencies([[(0, 1)]], plans)


def test_attacks_are_about_states() -> None:
    plans, cells = dw.Exponential(PLANS, 2.0), dw.Exponential(WORLD.by_states(), 2.0)
    assert dw.attack.guess(plans, LENGTH) == dw.attack.guess(cells, LENGTH)
    known, expected = dw.attack.posterior(["ESES"], plans), dw.attack.posterior([RUNS["ESES"]], cells)
    assert known.places == expected.places
    assert (RUNS["".join(known.word)], known.probability) == (expected.word, expected.probability)
    report = dw.Report(PLANS, 3.0, "visits")
    assert report.items == dw.Report(WORLD, 3.0, "visits").items
    assert len(report.release("ESES")) == report.size


def test_a_statistical_audit_measures_states() -> None:
    mechanism = dw.Exponential(PLANS, 1.0)
    found = dw.audit.statistical(mechanism, "ESES", "SEES", draws=2000, seed=1)
    assert (found.distance, found.holds) == (1, True)
    one, other = dw.audit.public_pair(PLANS, LENGTH)
    assert apart("".join(one), "".join(other)) == 1
    with pytest.raises(dw.NotInLanguage):
        dw.audit.statistical(mechanism, "ESES", "NNNN", draws=100)


WORDS = ["ESES", "SSEE", "SE"]
TABLES: dict[str, Any] = {
    "pyarrow, text": (pa.table({"w": WORDS, "id": ["0", "1", "2"]}), lambda found: found["w"].to_pylist()),
    "pandas, lists": (
        pd.DataFrame({"w": [list(word) for word in WORDS], "id": ["0", "1", "2"]}),
        lambda found: ["".join(word) for word in found["w"]],
    ),
    "polars, text": (pl.DataFrame({"w": WORDS, "id": ["0", "1", "2"]}), lambda found: found["w"].to_list()),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_the_draws_of_lists(name: str) -> None:
    table, read = TABLES[name]
    mechanism = dw.Exponential(PLANS, 1.0)
    found = dw.frames.release(mechanism, table, column="w", id="id", key=KEY)
    assert read(found) == mechanism.release_all(WORDS, ["0", "1", "2"], KEY)
    skipped = (
        type(table)({"w": ["ESES", "NNNN"]}) if not isinstance(table, pa.Table) else pa.table({"w": ["ESES", "N"]})
    )
    assert len(dw.frames.release(mechanism, skipped, column="w", invalid="skip")) == 1
    with pytest.raises(dw.NotInLanguage, match=r"row 2 .*symbol 1 of \d cannot follow"):
        dw.frames.release(mechanism, skipped, column="w")


def test_columns_and_logs() -> None:
    mechanism = dw.Exponential(PLANS, 1.0)
    wide = pd.DataFrame([[*"ESES", "0"], [*"SE", None, None, "1"]], columns=["a", "b", "c", "d", "id"])
    found = dw.frames.release(mechanism, wide, columns="a:d", id="id", key=KEY)
    released = ["".join(letter for letter in row[:4] if isinstance(letter, str)) for row in found.to_numpy().tolist()]
    assert released == mechanism.release_all(["ESES", "SE"], ["0", "1"], KEY)
    log = pd.DataFrame({"case": [1] * 4 + [2] * 2, "move": [*"ESESSE"], "at": [*range(4), *range(2)]})
    found = dw.frames.release(mechanism, log, case="case", symbol="move", order="at")
    assert all(PLANS.accepts("".join(moves)) for _, moves in found.groupby("case")["move"])


SYSTEM = ("--system", "grid:3x3", "--walls", "0,2", "--protect", "states")


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("release", "ESES", *SYSTEM, "-e", "40").stdout == "ESES\n"
    recipe = json.loads(run("release", *SYSTEM, "-e", "4", "--print-recipe").stdout)
    assert recipe["protect"] == "states"
    code = dw.Recipe.from_json(recipe).python()
    assert ".plans()" in code
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["mechanism"].language.fault(tuple("ESES")) is None
    Path("plans.csv").write_text("who,plan\n" + "a,ESES\nb,SSEE\n" * 40, encoding="utf-8")
    told = run("release", "--input", "plans.csv", "--column", "plan", *SYSTEM, "-e", "3", "--output", "out.csv")
    assert "states are changed, on average" in told.stderr
    assert json.loads(Path("out.csv.receipt.json").read_text("utf-8"))["recipe"]["protect"] == "states"
    assert all(entered(line.split(",")[1]) for line in Path("out.csv").read_text("utf-8").splitlines()[1:])
    estimate = run("estimate", "--input", "out.csv", "--question", "patterns", "--pattern", "1,1 1,2")
    assert estimate.stdout.splitlines()[1].startswith("1,1 1,2\t0.")
    assert run("estimate", "--input", "out.csv", "--question", "frequencies").stdout.startswith("state\t")
    assert "the claim holds" in run("audit", *SYSTEM, "--length", "4", "-e", "2").stdout
    accuracy = run("accuracy", *SYSTEM, "--length", "4", "-e", "2").stdout
    assert "(distances count the states that are changed, not the moves)" in accuracy
    assert "4 positions" not in run("attack", *SYSTEM, "--length", "4", "-e", "2").stderr
    program = ("--command", "cat", "--word", "ESES", "--neighbour", "SEES", "--draws", "200", "-e", "9")
    assert "(distance 1)" in run("audit", *SYSTEM, *program).stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--alphabet", "ab"), "--protect, --start, --action and --dot-symbols belong to --system"),
        (("--system", "grid:3x3", "--words", "states"), "words of states already"),
        (("--system", "grid:3x3@any"), "name a start"),
        (("--system", "two.json"), "from state a, x and y both lead to b"),
        (("--system", "grid:3x3", "--edits", "all"), "leave out --edits all, or use --words states instead"),
        (("--system", "grid:3x3", "--report", "visits"), "leave out --protect"),
        (("--system", "grid:3x3", "--rule", "never:N"), "neither a symbol nor a state"),
        (("--system", "grid:2x2"), "symbol 1 of 2 cannot follow the ones before it"),
    ],
)
def test_what_the_command_line_refuses(
    options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("two.json").write_text('{"start": "a", "transitions": {"a": {"x": "b", "y": "b"}, "b": {"z": "a"}}}', "utf-8")
    assert message in refused("release", "NE", *options, "--protect", "states", "-e", "4")


def test_there_are_no_moves_to_protect_in_words_of_states() -> None:
    said = refused("release", "0,1", "--system", "grid:3x3", "--words", "states", "--protect", "moves", "-e", "4")
    assert "have no moves to protect" in said
