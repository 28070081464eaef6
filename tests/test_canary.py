"""No private word in anything that a command leaves behind: every command is run with words that can be recognised.

A new command needs a line in `PRIVATE`, with cases, or in `PUBLIC`, if no private word goes into it.
"""

from __future__ import annotations

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import click
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from canaries import CELLS, MOVES, RUN, SECRET, Trail, command, contents_of, leaks
from dpwords.cli import cli
from dpwords.frames.unfinished import Unfinished

LETTERS = "--alphabet a-z -e 0.01"
GRID = "--system grid:15x15@7,7 -e 0.01"
STATES = " ".join(f"{row},{column}" for row, column in CELLS)
OUTSIDE = MOVES + "N" * 20  # leaves the grid
HIDDEN = f"--input {{hidden}} --column w {LETTERS} --invalid skip"
TABLE = f"--input {{words}} --column w {LETTERS} --output out"


class Case(NamedTuple):
    """Arguments of a command with private words in them, in its input or in {a file}, and how it ends."""

    arguments: str
    code: int = 0
    stdin: str = ""
    own: tuple[str, ...] = ()  # what shows private words because that is what it is for


PRIVATE: dict[str, list[Case]] = {
    "release": [
        Case(f"{RUN} {LETTERS}"),
        Case(LETTERS, stdin=f"{RUN}\n{RUN[::-1]}\n"),
        Case(LETTERS, 2, stdin=f"{RUN}\n{SECRET}\n"),
        Case(f"{SECRET} {LETTERS}", 2),
        Case(f"--{SECRET} {LETTERS}", 2),
        Case(f"{RUN} --alphabet a-z -e {SECRET}", 2),
        Case(f"{RUN} --alphabet a-z -e -1", 2),
        Case(f"{RUN} --alphabet a-z -e 0.01 --rule never:q", 2),
        Case(f"{RUN} --alphabet a-c -e 0.01", 2),
        Case(f"{RUN} {LETTERS} -k 99", 2),
        Case("--alphabet a-z -e 3.4 --edits all", stdin=f"{RUN * 8}\n"),
        Case("--alphabet a-z -e 6 --edits all", 2, stdin=f"{SECRET}\n"),
        Case(f"{LETTERS} --report symbols", stdin=f"{RUN}\n"),
        Case(f"{GRID} --mechanism online", stdin=f"{MOVES}\n"),
        Case(f"{GRID} --mechanism exponential", stdin=f"{MOVES}\n"),
        Case(GRID, 2, stdin=f"{OUTSIDE}\n"),
        Case(f"{GRID} --protect states --mechanism online", stdin=f"{MOVES}\n"),
        Case(f"{GRID} --protect states", 2, stdin=f"{OUTSIDE}\n"),
        Case(f"{GRID} --protect states", 2, stdin=f"{SECRET}\n"),
        Case(f"{GRID} --words states --mechanism online", stdin=f"{STATES}\n"),
        Case(f"{GRID} --words states --mechanism online", 2, stdin=f"{STATES} {SECRET}\n"),
        Case(f"{GRID} --edits all", 2, stdin=f"{OUTSIDE}\n"),
        Case("--lexicon {lexicon} -e 2 --edits all", 2, stdin=f"{SECRET}\n"),
        Case(f"{TABLE}.csv"),
        Case(f"{TABLE}.csv --quiet --by who --budget 3 --split first"),
        Case(f"{TABLE}.parquet --by who --ledger ledger.db --budget 100"),
        Case(f"{TABLE}.parquet --by who --ledger ledger.db --budget 0.001", 2),
        Case(f"--input - --format csv --column w {LETTERS}", stdin=f"w\n{RUN}\n"),
        Case(f"--input - --format csv --column w {LETTERS} --output out.csv.gz", stdin=f"w\n{RUN}\n"),
        Case(f"--input - --format csv --column w {LETTERS}", 2, stdin=f"{RUN}\n{SECRET}\n"),  # no header
        Case(f"--input - --format tsv --columns m* {LETTERS}", 2, stdin="\t".join(RUN) + "\n"),
        Case(f"--input - --format csv --case c --symbol s {LETTERS}", 2, stdin=f"{SECRET},{RUN}\n"),
        Case(f"--input - --format csv {LETTERS} --output out.csv", 2, stdin=f"{RUN}\n{RUN}\n"),
        Case(f"--input - --format csv --columns * {LETTERS} --output out.csv", 2, stdin=",".join(dict.fromkeys(RUN))),
        Case(f"--input - --format csv --no-header {LETTERS} --output out.csv", stdin=f"{RUN}\n{RUN}\n"),
        Case(f"--input - --format csv --no-header --column w {LETTERS}", 2, stdin=f"{RUN}\n{SECRET}\n"),
        Case(f"--input {{bad}} --column w {LETTERS} --output out.csv", 2),
        Case(f"--input {{bad}} --column w {LETTERS} --output out.csv --invalid skip"),
        Case(f"--input {{json}} --column cells {GRID} --words states --mechanism online --output out.jsonl"),
        Case(f"--input {{json}} --column other {GRID} --words states --mechanism online --output out.jsonl", 2),
        Case(f"--input {{json}} --column cells {GRID} --mechanism online --output out.jsonl", 2),
        Case(f"--input {{lists}} --column w {LETTERS} --output out.arrow"),
        Case(f"--input {{lists}} --column w {LETTERS} --output out.csv", 2),
        *(Case(f"{HIDDEN} --output out.{kind}") for kind in ("parquet", "arrow", "arrows", "feather", "csv", "jsonl")),
        Case(f"{HIDDEN} --drop-others --output out.parquet"),
        Case(f"{HIDDEN} --id n --by who --budget 0.015 --split first --output out.arrow"),
        Case(f"--input {{packed}} --column w {LETTERS} --output out.csv.gz --id who"),
        Case(f"--input {{log}} --case c --symbol s --order t {LETTERS} --output out.csv"),
        Case(f"--input {{log}} --case c --symbol s --order s {LETTERS} --output out.csv", 2),
        Case(f"--input {{cut}} --column w {LETTERS} --output out.csv", 2),
    ],
    "draw": [
        Case(f"{RUN} --alphabet a-z -k 2 --output out.dot", own=("out.dot",)),
        Case(f"{RUN} --alphabet a-z -k 1", own=("stdout",)),
        Case(f"{SECRET} --alphabet a-z", 2),
        Case(f"{OUTSIDE} --system grid:15x15@7,7 -o out.svg", 2),
        Case(f"{MOVES} {OUTSIDE} --runs --system grid:15x15@7,7 -o out.svg", 2),
        Case(f"{MOVES} {SECRET} --runs --system grid:15x15@7,7 -o out.svg", 2),
    ],
    "study data": [
        Case("--input {words} --column w --alphabet a-z -e 1 --question frequencies --output figures"),
        Case("--input {bad} --column w --alphabet a-z -e 1", 2),
        Case("--input {bad} --column w --alphabet a-z -e 1 --question ends --invalid skip"),
        Case("--input {cut} --column w --alphabet a-z -e 1", 2),
    ],
    "estimate": [  # reads released words, which are public; one may still have named the private file by mistake
        Case("--input {bad} --column w --alphabet a-z -e 1 --question lengths", 2),
        Case("--input {words} --column w --alphabet a-z -e 1 --question lengths"),
        Case("--input {words} --question lengths", 2),
        Case("--input {cut} --column w --alphabet a-z -e 1 --question lengths", 2),
    ],
    "describe": [
        Case("{words} --column w --alphabet a-z -e 1"),
        Case("{words}", 2),
        Case("{bad} --alphabet a-z -e 1", 2),
    ],
    "attack": [  # likewise
        Case("--released {words}", 2),
        Case("--released {words} --alphabet a-z", 2),
        Case("--released {cut} --alphabet a-z", 2),
        Case("--alphabet a-z -e 1 --length 3"),
    ],
}
PUBLIC = {
    "accuracy",
    "audit",
    "completion",
    "ledger as-text",
    "ledger show",
    "serve",
    "study grid",
    "study strings",
}


def commands(group: click.Group, before: str = "") -> dict[str, click.Command]:
    """All commands by name, those of groups with the name of the group."""
    found: dict[str, click.Command] = {}
    for name, each in group.commands.items():
        found |= commands(each, f"{before}{name} ") if isinstance(each, click.Group) else {before + name: each}
    return found


def test_every_command_has_a_canary() -> None:
    assert set(commands(cli)) == PRIVATE.keys() | PUBLIC
    assert not PRIVATE.keys() & PUBLIC


def hidden_words() -> pa.Table:
    """Private words where no row shows them: in metadata, categories, dictionaries, rows that are left out."""
    frame = pd.DataFrame({"n": range(4), "who": ["ann", "ann", SECRET, "bob"], "w": [RUN, RUN[::-1], SECRET, RUN]})
    frame = frame.astype({"who": pd.CategoricalDtype(["ann", f"{SECRET} of no row", SECRET, "bob"]), "w": "category"})
    frame.attrs = {"words": [SECRET]}
    table = pa.Table.from_pandas(frame)
    fields = [field.with_metadata({"ml_attr": SECRET, "_PL_ENUM_VALUES": RUN}) for field in table.schema]
    return table.cast(pa.schema(fields, {**table.schema.metadata, b"notes": SECRET.encode()}))


class Place:
    """Directories of a command's own: where it runs, where the user's files are, and where the private data is."""

    def __init__(self, folder: Path) -> None:
        self.here, self.home, self.scratch, private = (folder / name for name in ("here", "home", "tmp", "private"))
        for each in (self.here, self.home, self.scratch, private):
            each.mkdir()
        self.environment = {
            "HOME": str(self.home),
            "TMPDIR": str(self.scratch),
            "MPLCONFIGDIR": str(self.home / "matplotlib"),
            "DPWORDS_CACHE": str(self.home / "kept"),
            **{f"XDG_{kind}_HOME": str(self.home / kind) for kind in ("CACHE", "CONFIG", "DATA", "STATE")},
        }
        rows = [f"{number},p{number % 2},{RUN}" for number in range(4)]
        tables = {
            "words": "\n".join(["n,who,w", *rows]),
            "bad": "\n".join(["n,who,w", *rows, f"5,p1,{SECRET}", f"6,p1,{RUN}"]),
            "cut": "\n".join(["n,who,w", *rows, f'7,p1,"{SECRET}']),
            "json": "\n".join(json.dumps({"n": number, "cells": CELLS}) for number in range(3)),
            "short": json.dumps({"cells": CELLS[:12]}),
            "log": "\n".join(["c,s,t", *(f"1,{symbol},{place}" for place, symbol in enumerate(RUN))]),
            "lexicon": "bern\nbonn\nrome",
        }
        suffixes = {"json": ".jsonl", "short": ".jsonl", "lexicon": ".txt"}
        self.files = {name: private / f"{name}{suffixes.get(name, '.csv')}" for name in tables}
        for name, text in tables.items():
            self.files[name].write_text(f"{text}\n", encoding="utf-8")
        self.files["packed"] = private / "packed.csv.gz"
        self.files["packed"].write_bytes(gzip.compress(f"who,w\nann,{RUN}\nbob,{RUN}\n".encode()))
        self.files["lists"] = private / "lists.parquet"
        pq.write_table(pa.table({"w": [list(RUN)] * 3}), self.files["lists"])
        self.files["hidden"] = private / "hidden.parquet"
        pq.write_table(hidden_words(), self.files["hidden"])

    def run(self, arguments: str, stdin: str = "") -> Trail:
        given = [part.format(**self.files) if part.startswith("{") else part for part in arguments.split()]
        return command(given, stdin.encode(), self.here, self.environment)

    def check(self, trail: Trail, own: tuple[str, ...] = ()) -> None:
        trail.check([self.here, self.home, self.scratch], own)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_the_search_finds_private_words(place: Place) -> None:
    """In every file that has some, whatever its format."""
    found = {name: any(map(leaks, contents_of(path, path.read_bytes()))) for name, path in place.files.items()}
    assert found == {name: name != "lexicon" for name in place.files}


CASES = [(name, case) for name, cases in PRIVATE.items() for case in cases]


@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name} {case.arguments}" for name, case in CASES])
def test_commands_leave_no_private_word(name: str, case: Case, place: Place) -> None:
    trail = place.run(f"{name} {case.arguments}", case.stdin)
    assert trail.code == case.code, trail.texts
    place.check(trail, case.own)
    if case.code:
        assert {path.name for path in place.here.iterdir()} <= {"ledger.db"}


@pytest.mark.parametrize("name", sorted(commands(cli)))
def test_a_word_in_the_wrong_place_is_not_repeated(name: str, place: Place) -> None:
    for given in (f"--{SECRET}", f"--{SECRET}={SECRET}", f"-{SECRET}", f"{SECRET} {SECRET} {SECRET}"):
        trail = place.run(f"{name} {given}")
        assert trail.code == 2
        place.check(trail)


def test_a_word_instead_of_a_command_is_not_repeated(place: Place) -> None:
    for given in (SECRET, f"study {SECRET}", f"ledger {SECRET}", f"--{SECRET}", f"completion {SECRET}"):
        trail = place.run(given)
        assert trail.code == 2
        place.check(trail)


def test_a_failure_of_dpwords_itself_shows_no_word(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the program, such as a missing key, can have a symbol in its text."""

    def fail(_self: object, text: str) -> None:
        raise KeyError(text)

    monkeypatch.setattr("dpwords.recipes.notation.Notation.read", fail)
    trail = place.run(f"release {RUN} {LETTERS}")
    assert trail.code == 3
    assert trail.texts["stderr"].startswith("dpwords: dpwords itself failed (KeyError in test_canary.py, line ")
    assert leaks(trail.texts["exception"])
    place.check(trail, own=("exception",))


def test_an_interrupted_run_and_its_end(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither what lies beside the output of an unfinished release nor what is removed at its end has a private
    word."""

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    arguments = f"release {TABLE}.csv --by who --ledger ledger.db --budget 100"
    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "finish", interrupt)
        trail = place.run(arguments)
    assert trail.code == 130
    assert (place.here / ".out.csv.dpwords" / "run.json").exists()
    place.check(trail)
    again = place.run(arguments)
    assert again.code == 2
    place.check(again)
    done = place.run(f"{arguments} --resume")
    assert done.code == 0
    assert len((place.here / "out.csv").read_text("utf-8").splitlines()) == 5
    place.check(done)


def test_completion_offers_no_word(place: Place) -> None:
    """The Tab key is pressed after options whose values are in a file with private words, which lies right there."""
    (place.here / "words.csv").write_bytes(place.files["words"].read_bytes())
    for line in (
        "release --input words.csv --column ",
        "release --input words.csv --id ",
        "estimate --input ",
        "draw ",
    ):
        asked = {"COMP_WORDS": f"dpwords {line}", "COMP_CWORD": str(len(line.split()) + 1), "COMP_CUR": ""}
        for shell in ("bash", "zsh", "fish"):
            place.environment |= {**asked, "_DPWORDS_COMPLETE": f"{shell}_complete"}
            trail = place.run("")
            assert trail.code == 0
            place.check(trail, own=("words.csv",))


def on_a_terminal(
    place: Place, arguments: str, when: bytes = b"", more: dict[str, str] | None = None
) -> tuple[int, str]:
    """The exit code of a process on a terminal, and all that is shown; Ctrl-C is pressed when a text is shown."""
    ours, theirs = pty.openpty()
    given = [part.format(**place.files) if part.startswith("{") else part for part in arguments.split()]
    with subprocess.Popen(
        [sys.executable, "-m", "dpwords", *given],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        cwd=place.here,
        env={**os.environ, **place.environment, **(more or {})},
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 2**16):
                shown += part
                if when and when in shown:
                    process.send_signal(signal.SIGINT)
                    when = b""
        except OSError:  # the other side has closed the terminal
            pass
    os.close(ours)
    return process.returncode, shown.decode()


@pytest.mark.parametrize(
    ("arguments", "when", "code"),
    [
        (f"release {TABLE}.csv --by who", b"", 0),
        (f"release --input {{bad}} --column w {LETTERS} --output out.csv", b"", 2),
        (
            "release --input {short} --column cells --system grid:15x15@7,7 --words states -e 2.5 "
            "--mechanism exponential --output out.jsonl",
            b"certifying",
            130,
        ),
    ],
)
def test_progress_on_a_terminal(arguments: str, when: bytes, code: int, place: Place) -> None:
    found, shown = on_a_terminal(place, arguments, when)
    assert found == code, shown
    place.check(Trail(texts={"terminal": shown}))


def test_compiled_code_that_is_kept(place: Place) -> None:
    kept = {"NUMBA_CACHE_DIR": str(place.home / "compiled")}
    words = " ".join([MOVES] * 4000)  # too many for interpreted loops
    code, shown = on_a_terminal(place, f"release {words} {GRID} --mechanism online --quiet", more=kept)
    assert code == 0, shown
    assert list((place.home / "compiled").rglob("*.nbc"))
    place.check(Trail(texts={"terminal": shown}))
