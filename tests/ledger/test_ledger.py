"""The ledger: what is counted, what is refused, and which files are ledgers."""

from __future__ import annotations

import math
import os
import pickle
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import commands
import dpwords as dw
from dpwords.cli import cli
from dpwords.core.id_kinds import Id
from dpwords.core.limits import Limits
from dpwords.ledger import Account, Charge

MECHANISM = dw.Exponential(dw.Words("abc"), epsilon=0.1)
PROMISE = MECHANISM.guarantee


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "ledger.db"


def test_charges_add_up_to_the_budget_and_not_beyond(path: Path) -> None:
    """Ten times 0.1 is 1, which is not so for floats, nor for the fractions that they stand for."""
    ledger = dw.Ledger(path, budget=1)
    for number in range(10):
        assert ledger.spent("ann") == number / 10
        ledger.charge({"ann": 0.1}, PROMISE)
    assert (ledger.spent("ann"), ledger.left("ann"), ledger.left("bob")) == (1.0, 0.0, 1.0)
    with pytest.raises(dw.InvalidValue, match=r"id 'ann' with 0 left and 1e-09 to pay: nothing is charged"):
        ledger.charge({"ann": 1e-300}, PROMISE)
    assert len(ledger.entries("ann")) == 10


@pytest.mark.parametrize(("amount", "budget"), [(0.1 + 0.2, 0.9), (1.1 * 3, 9.9), (10 / 3, 10 + 2e-9)])
def test_what_floats_add_is_read_as_it_is_written(path: Path, amount: float, budget: float) -> None:
    """0.1 + 0.2 counts as 0.3; what 15 digits do not settle is rounded up, so 10/3 counts as 3.333333334."""
    ledger = dw.Ledger(path, budget)
    for _ in range(3):
        ledger.charge({1: amount}, PROMISE)
    assert ledger.left(1) == 0


def test_a_third_of_the_budget_does_not_fit_three_times(path: Path) -> None:
    ledger = dw.Ledger(path, budget=10)
    for _ in range(2):
        ledger.charge({1: 10 / 3}, PROMISE)
    with pytest.raises(dw.InvalidValue, match=r"3.333333332 left and 3.333333334 to pay"):
        ledger.charge({1: 10 / 3}, PROMISE)


def test_one_id_over_budget_refuses_all(path: Path) -> None:
    ledger = dw.Ledger(path, budget=10)
    ledger.charge({"ann": 8.5, "bob": 9, "cid": 1}, PROMISE)
    message = (
        r"the budget, 10 for each id, would be exceeded for 2 ids, the first of which is 'ann', with 1.5 left and 2 to "
        "pay: nothing is charged or drawn; use a smaller epsilon or fewer words, or leave such ids out"
    )
    with pytest.raises(dw.InvalidValue, match=message):
        ledger.charge({"bob": 2, "cid": 2, "ann": 2, "dan": 2}, PROMISE)
    assert [ledger.spent(id) for id in ("ann", "bob", "cid", "dan")] == [8.5, 9, 1, 0]
    assert len(ledger) == 3


def test_a_run_that_is_repeated_pays_once(path: Path) -> None:
    ledger = dw.Ledger(path, budget=10)
    for _ in range(3):
        ledger.charge({"ann": 6, "bob": 1}, PROMISE, run="may")
    assert (ledger.spent("ann"), ledger.spent("bob")) == (6, 1)
    ledger.charge({"ann": 8, "bob": 0.5, "cid": 2}, PROMISE, run="may")  # pays 2, nothing, 2
    assert [ledger.spent(id) for id in ("ann", "bob", "cid")] == [8, 1, 2]
    with pytest.raises(dw.InvalidValue, match=r"2 left and 2.5 to pay"):
        ledger.charge({"ann": 10.5}, PROMISE, run="may")
    ledger.charge({"ann": 2}, PROMISE, run="june")
    ledger.charge({"ann": 8}, PROMISE, run="may")  # also when nothing is left
    with pytest.raises(dw.InvalidValue, match="'ann' with 0 left"):
        ledger.charge({"ann": 8}, PROMISE)


@pytest.mark.parametrize("other", [{"k": 2}, {"distance": "levenshtein"}, {"method": "textbook"}])
def test_a_run_has_one_promise(path: Path, other: dict[str, object]) -> None:
    ledger = dw.Ledger(path)
    ledger.charge({"ann": 6}, PROMISE, run="may")
    with pytest.raises(dw.InvalidValue, match="give each release a run of its own"):
        ledger.charge({"bob": 6}, replace(PROMISE, **other), run="may")
    assert ledger.spent("bob") == 0


def test_only_a_proven_promise_can_be_charged(path: Path) -> None:
    ledger = dw.Ledger(path)
    literal = dw.PaperLiteral(dw.Words("ab"), epsilon=1)
    for guarantee in (MECHANISM.seeded(1).guarantee, literal.guarantee, None, 0.1, MECHANISM):
        with pytest.raises(dw.InvalidValue, match="only a proven ε can be charged"):
            ledger.charge({"ann": 1}, guarantee)  # type: ignore[arg-type]
    assert len(ledger) == 0


@pytest.mark.parametrize("amount", [0, -1, math.nan, math.inf, -math.inf, True, "1", None, 1.0000001e9, 10**400])
def test_bad_amounts_are_refused(path: Path, amount: object) -> None:
    ledger = dw.Ledger(path)
    with pytest.raises(dw.InvalidValue, match="the ε of an id"):
        ledger.charge({"ann": 1, "bob": amount}, PROMISE)  # type: ignore[dict-item]
    with pytest.raises(dw.InvalidValue, match="a budget"):
        dw.Ledger(path.with_name("other"), amount if amount is not None else 0)  # type: ignore[arg-type]
    assert len(ledger) == 0
    assert not path.with_name("other").exists()


def test_without_a_budget_sums_stay_whole_numbers(path: Path) -> None:
    ledger = dw.Ledger(path)
    ledger.charge({"ann": 1e9 - 1e-6}, PROMISE)
    assert (ledger.budget, ledger.left("ann")) == (None, math.inf)
    with pytest.raises(dw.InvalidValue, match=r"the most that a ledger counts, 1000000000 .* 1e-06 left"):
        ledger.charge({"ann": 2e-6}, PROMISE)


@pytest.mark.parametrize(
    "given",
    [
        {"1": 2, "01": 1, " 1": 3, "": 4, "a\0b": 5, "a": 6, "ñ": 7, "n\u0303": 11, "A": 10},  # nothing is normalised
        {1: 1, -(2**63): 8, np.int64(7): 9},
        {b"1": 3, b"": 1, b"1\0": 2},
    ],
    ids=["texts", "whole numbers", "bytes"],
)
def test_ids_are_what_they_are(path: Path, given: dict[Id, float]) -> None:
    ledger = dw.Ledger(path)
    ledger.charge(given, PROMISE)
    assert {each.id: each.spent for each in ledger.accounts()} == given
    assert [ledger.spent(id) for id in given] == list(given.values())
    assert len(ledger) == len(given)


KINDS: dict[str, tuple[Id, Id]] = {
    "texts": ("1", "2"),
    "whole numbers": (1, 2),
    "bytes": (b"1", b"2"),
}


@pytest.mark.parametrize(("first", "second"), list(permutations(KINDS, 2)))
def test_a_ledger_has_ids_of_one_kind(path: Path, first: str, second: str) -> None:
    """Otherwise one person has two budgets, as 1 in a Parquet file and 1 in a CSV file once had."""
    ledger, (one, other) = dw.Ledger(path, budget=2), KINDS[first]
    mixed: dict[Id, float] = {one: 2, KINDS[second][0]: 2}
    with pytest.raises(dw.InvalidValue, match="all ids of a ledger are of one kind"):
        ledger.charge(mixed, PROMISE)
    ledger.charge({one: 2, other: 1}, PROMISE)
    with pytest.raises(dw.InvalidValue, match="so that one person could have two budgets: nothing is charged") as error:
        ledger.charge({KINDS[second][0]: 2}, PROMISE)
    assert first in str(error.value)
    assert second in str(error.value)
    assert ("ledger as-text" in str(error.value)) == ((first, second) == ("whole numbers", "texts"))
    for asked in (ledger.spent, ledger.left, ledger.entries):
        with pytest.raises(dw.InvalidValue, match=f"the ids in this ledger are {first}: ask for one of that kind"):
            asked(KINDS[second][0])
    assert {each.id: each.spent for each in ledger.accounts()} == {one: 2, other: 1}


def test_a_ledger_of_an_earlier_version_is_moved_to_texts(path: Path) -> None:
    """Two kinds of ids, as releases of Parquet and CSV files left them: 1 has spent its budget of 4 twice."""
    ledger = dw.Ledger(path, budget=4)
    ledger.charge({"ann": 1, "1": 4, "2": 1}, PROMISE, run="csv")
    with closing(sqlite3.connect(path)) as connection, connection:
        query = (
            "INSERT INTO runs (name, k, distance, method, time) SELECT 'parquet', k, distance, method, time FROM runs"
        )
        connection.execute(query)
        connection.execute("INSERT INTO charges VALUES (1, 2, 4000000000), (3, 2, 1000000000), (2, 1, 500000000)")
    assert [line.split()[0] for line in show(path)[2:6]] == ["1", "'1'", "3", "'2'"]
    assert "as-text" in show(path)[-1]
    assert "as-text" in show(path, "--limit", "1")[-1]
    assert [ledger.spent(id) for id in (1, "1", 3, "3")] == [4, 4, 1, 0]
    with pytest.raises(dw.InvalidValue, match="write the ledger's as text with 'dpwords ledger as-text FILE'"):
        ledger.charge({"eve": 1}, PROMISE)
    for _ in range(2):
        done = commands.run("ledger", "as-text", str(path))
        assert (done.returncode, done.stderr) == (0, "")
        assert {each.id: each.spent for each in ledger.accounts()} == {"ann": 1, "1": 8, "2": 1.5, "3": 1}
    assert [(each.epsilon, each.run) for each in ledger.entries("1")] == [(4, "csv"), (4, "parquet")]
    assert ledger.left("1") == 0
    with pytest.raises(dw.InvalidValue, match="id '1' with 0 left"):
        ledger.charge({"1": 1}, PROMISE)
    ledger.charge({"3": 3}, PROMISE)
    assert "there is no ledger at this path" in commands.refused("ledger", "as-text", str(path.with_name("none")))


@pytest.mark.parametrize("id", [None, 1.0, True, ("a",), 2**63, "\ud800"])
def test_other_ids_are_refused(path: Path, id: object) -> None:
    ledger = dw.Ledger(path)
    for refused in (lambda: ledger.charge({"ann": 1, id: 1}, PROMISE), lambda: ledger.spent(id)):  # type: ignore[arg-type]
        with pytest.raises(dw.InvalidValue, match="an id is a text, bytes, or a whole number of at most 64 bits"):
            refused()
    assert len(ledger) == 0


def test_bad_arguments_of_a_charge(path: Path) -> None:
    ledger = dw.Ledger(path)
    with pytest.raises(dw.InvalidValue, match="amounts are a dict"):
        ledger.charge([("ann", 1)], PROMISE)  # type: ignore[arg-type]
    for run in ("", 1, b"may", "\ud800"):
        with pytest.raises(dw.InvalidValue):
            ledger.charge({"ann": 1}, PROMISE, run=run)  # type: ignore[arg-type]
    ledger.charge({}, PROMISE)
    assert ledger.neighbours() == []


def test_accounts_and_entries(path: Path) -> None:
    ledger = dw.Ledger(path, budget=4)
    ledger.charge({"ann": 1, "bob": 2}, PROMISE, run="may")
    ledger.charge({"ann": 2}, replace(PROMISE, k=2, distance="levenshtein", method="channel"), run="june")
    assert ledger.accounts() == [Account("ann", 3.0, 1.0, 2), Account("bob", 2.0, 2.0, 1)]
    assert ledger.accounts(1) == ledger.accounts()[:1]
    first, second = ledger.entries("ann")
    assert first == Charge("ann", 1.0, "may", 1, "hamming", "tight", first.time)
    assert second == Charge("ann", 2.0, "june", 2, "levenshtein", "channel", second.time)
    assert [(each.id, each.run) for each in ledger.entries()] == [("ann", "may"), ("ann", "june"), ("bob", "may")]
    assert ledger.neighbours() == [("hamming", 1), ("levenshtein", 2)]
    assert ledger.entries("eve") == []


def test_the_first_budget_is_kept(path: Path) -> None:
    dw.Ledger(path).charge({"ann": 6}, PROMISE, run="may")
    ledger = dw.Ledger(path, budget=5)  # of which more is already spent
    assert (ledger.budget, ledger.left("ann")) == (5, 0)
    ledger.charge({"ann": 6}, PROMISE, run="may")
    for other in (4, 6):
        with pytest.raises(dw.InvalidValue, match=rf"ledger.db has a budget of 5, not {other}: leave the budget out"):
            dw.Ledger(path, budget=other)
    for same in (None, 5, 5.0):
        with pytest.raises(dw.InvalidValue, match="'ann' with 0 left"):
            dw.Ledger(path, same).charge({"ann": 1}, PROMISE)


def test_an_empty_ledger_is_still_a_ledger(path: Path) -> None:
    with dw.Ledger(path) as ledger:
        assert ledger
        assert len(ledger) == 0
    copy = pickle.loads(pickle.dumps(ledger))
    ledger.charge({"ann": 1}, PROMISE)
    assert copy.spent("ann") == 1
    with pytest.raises(AttributeError, match="read-only"):
        ledger.path = path


def test_only_its_owner_can_read_it(path: Path) -> None:
    before = os.umask(0)
    try:
        dw.Ledger(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_paths_that_cannot_be_ledgers(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    os.mkfifo(tmp_path / "pipe")
    for name, message in (
        (".", "is not a regular file"),
        ("pipe", "is not a regular file"),
        ("none/ledger.db", "No such file or directory"),
        ("a\0b", "valid path"),
        ("circle", "valid path|cannot be made"),
        ("x" * 300, "File name too long"),
    ):
        with pytest.raises(dw.InvalidValue, match=message):
            dw.Ledger(tmp_path / name)
    with pytest.raises(dw.InvalidValue, match="valid path"):
        dw.Ledger(3)  # type: ignore[arg-type]
    odd = tmp_path / "100%?mode=memory#ñ.db"
    dw.Ledger(odd).charge({"ann": 1}, PROMISE)
    assert dw.Ledger(odd).spent("ann") == 1
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["circle", "pipe", odd.name])


def other_files(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    for name, content in (("short", b"a"), ("text", b"ann,1\n" * 1000), ("zeros", bytes(10**4))):
        (tmp_path / name).write_bytes(content)
        yield tmp_path / name, "is not a ledger: pass the path of a ledger"
    with closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE charges (id, units)")
    yield tmp_path / "other", "is not a ledger: pass the path of a ledger"
    dw.Ledger(tmp_path / "newer")
    with closing(sqlite3.connect(tmp_path / "newer")) as connection:
        connection.execute("PRAGMA user_version = 2")
    yield tmp_path / "newer", "was made by a newer version of dpwords"
    ledger = dw.Ledger(tmp_path / "damaged")
    ledger.charge(dict.fromkeys(range(1000), 1.0), PROMISE)
    content = ledger.path.read_bytes()
    ledger.path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    yield ledger.path, "is damaged: replace it by a copy"


def test_files_that_are_not_ledgers_stay_as_they_are(tmp_path: Path) -> None:
    for path, message in other_files(tmp_path):
        before = path.read_bytes()
        with pytest.raises(dw.InvalidValue, match=f"{path.name} {message}"):
            dw.Ledger(path, budget=1).charge({1: 1}, PROMISE)
        assert path.read_bytes() == before


def test_a_ledger_that_has_gone_is_not_made_anew(path: Path) -> None:
    ledger = dw.Ledger(path, budget=1)
    for change, message in ((lambda: path.write_bytes(b""), "is not a ledger"), (path.unlink, "cannot be opened")):
        change()
        with pytest.raises(dw.InvalidValue, match=message):
            ledger.charge({"ann": 1}, PROMISE)
    assert not path.exists()


def test_a_ledger_that_stays_locked(path: Path) -> None:
    ledger = dw.Ledger(path, limits=Limits(ledger_wait=0.01))
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(dw.InvalidValue, match="in use by another program for too long: wait"):
            ledger.charge({"ann": 1}, PROMISE)
    ledger.charge({"ann": 1}, PROMISE)
    assert ledger.spent("ann") == 1


def show(*arguments: object) -> list[str]:
    done = CliRunner().invoke(cli, ["ledger", "show", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout.splitlines()


def test_show(path: Path) -> None:
    ledger = dw.Ledger(path, budget=4)
    assert show(path) == ["0 ids, a budget of 4 each"]
    ledger.charge({"ann": 1.25, "17": 3, "7": 2, "two\nlines": 0.5}, PROMISE, run="may")
    assert [line.split() for line in show(path, "--limit", 3)] == [
        ["4", "ids,", "a", "budget", "of", "4", "each"],
        ["id", "spent", "left", "runs"],
        ["17", "3", "1", "1"],
        ["7", "2", "2", "1"],
        ["ann", "1.25", "2.75", "1"],
        ["(1", "more", "have", "spent", "no", "more", "than", "these:", "--limit", "shows", "them)"],
    ]
    assert show(path)[5].split() == ["'two\\nlines'", "0.5", "3.5", "1"]
    ledger.charge({"ann": 1}, replace(PROMISE, k=3), run="june")
    assert "substitutions in at most k = 1 positions" in show(path)[-1]
    lines = show(path, "--id", "ann")
    assert lines[0] == "ann: 2.25 spent, 1.75 left"
    assert [line.split()[1:] for line in lines[2:]] == [
        ["1.25", "1", "hamming", "tight", "may"],
        ["1", "3", "hamming", "tight", "june"],
    ]
    assert show(path, "--id", "ann", "--limit", 1)[0].endswith("(the latest 1 of 2 charges)")
    assert [line for line in show(path, "--id", "7") if "spent" in line] == ["7: 2 spent, 2 left"]
    assert show(path, "--id", "eve") == ["nothing has been charged for this id"]
    numbers = dw.Ledger(path.with_name("numbers.db"))
    numbers.charge({7: 3}, PROMISE)
    assert show(numbers.path, "--id", "7")[0] == "7: 3 spent"
    assert show(numbers.path, "--id", "eve") == ["nothing has been charged for this id"]


def test_show_without_a_budget(path: Path) -> None:
    dw.Ledger(path).charge({"ann": 2}, PROMISE)
    assert [line.split() for line in show(path)][1:] == [["id", "spent", "left", "runs"], ["ann", "2", "—", "1"]]
    assert show(path, "--id", "ann")[0] == "ann: 2 spent"


def test_show_changes_nothing(tmp_path: Path) -> None:
    empty, ledger = tmp_path / "empty", dw.Ledger(tmp_path / "ledger.db")
    empty.touch()
    for path in (tmp_path, tmp_path / "none", empty):
        with pytest.raises(dw.InvalidValue, match="there is no ledger at this path"):
            show(path)
    with pytest.raises(dw.InvalidValue, match="--limit must be a whole number, 1 or more"):
        show(ledger.path, "--limit", 0)
    assert empty.read_bytes() == b""
    assert not (tmp_path / "none").exists()
