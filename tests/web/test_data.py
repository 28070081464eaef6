"""The view of data: what its tasks answer, and that the command and the code that it shows do the same."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import dpwords as dw
from commands import run
from dpwords.cli import cli
from dpwords.frames.formats import FileForm
from dpwords.frames.sources import memory_source
from dpwords.recipes.table_formats import output_name
from dpwords.web import data
from dpwords.web.messages import Message, on_page

SURE = 200.0  # an ε at which words come out as they went in
CSV = b'user,note,course\nann,007,AAB\nbob,NA,ABBA\nann,"x, y",BA\n'
ROADS = "source,target\na,b\nb,c\nc,a\nb,a\n"


def nothing(_share: float) -> None:
    """Show no progress."""


def asked(content: bytes = CSV, name: str = "visits.csv", **changed: Any) -> Message:
    """A question about a file, as the page asks it."""
    values = {"input": name, "column": "course", "alphabet": "AB", "epsilon": SURE}
    recipe = {key: value for key, value in {**values, **changed}.items() if value is not None}
    return Message({"recipe": recipe}, content)


def looked(name: str, content: bytes) -> Message:
    """A first question about a file, before anything else is known."""
    return Message({"recipe": {"input": name}}, content)


def parquet_of(table: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


def feather_of(table: Any) -> bytes:
    file = io.BytesIO()
    feather.write_feather(table, file)
    return file.getvalue()


LOG = (
    b"case:concept:name,concept:name,time:timestamp,resource\n1,go on,2026-03-01T09:00:00,Kim\n"
    b"1,stop,2026-03-01T10:30:00,Lee\n2,stop,2026-03-01T09:20:00,Kim\n"
)
TRIPS = pa.table({"trip": [1, 2], "by car": ["x", "x"], "route": [["a", "b", "c"], ["b", "a"]]})
CASES = {
    "text in a column, with people": asked(by="user"),
    "names with a separator, and a shared budget": asked(
        b"who\tpath\nann\tit's->$x->it's\nann\t$x\n",
        "o'brien.2026.tsv",
        column="path",
        separator="->",
        alphabet=["it's", "$x", "\\"],
        epsilon=None,
        k=2,
        by="who",
        budget=2 * SURE,
    ),
    "lists of cells on a grid": asked(
        b'{"id": 1, "cells": [[0, 1], [0, 2]], "x": {"y": 1.50}}\n{"cells": [[1, 0], [1, 1]], "id": 2, "y": "z"}\n',
        "runs.jsonl",
        column="cells",
        alphabet=None,
        system="grid:3x3",
        words="states",
        walls="2,2",
        rules=["never:2,0"],
    ),
    "lists of states of a system, the first words only": asked(
        parquet_of(TRIPS),
        "routes.parquet",
        column="route",
        alphabet=None,
        system={"name": "roads.csv", "content": ROADS},
        by="by car",
        budget=SURE,
        split="first",
    ),
    "an event log, all edits": asked(
        LOG,
        "log.csv",
        column=None,
        case="case:concept:name",
        symbol="concept:name",
        order="time:timestamp",
        alphabet=["go on", "stop"],
        edits="all",
    ),
    "columns for steps, and rows that are left out": asked(
        b"id,m1,m2,m3\n1,x,y,x\n2,y,y,\n3,x,q,x\n",
        "wide.data",
        format="csv",
        column=None,
        columns="m1:m3",
        alphabet="xy",
        rules=["re:(x|y)*", "at_most:2;x"],
        invalid="skip",
    ),
    "compressed text on a map": asked(
        gzip.compress(b"SE\nES\n", mtime=0),
        "plans.txt.gz",
        column="word",
        alphabet=None,
        system={"name": "map.txt", "content": "S.\n..\n"},
    ),
    "one column of a feather file": asked(
        feather_of(pa.table({"user": ["ann"], "course": ["@B@"], "note": ["n"]})),
        "few.feather",
        alphabet=r"\@AB",
        by="user",
        drop_others=True,
    ),
}


class Released(NamedTuple):
    """A file and its receipt."""

    rows: list[dict[str, Any]]
    schema: list[tuple[str, str]]
    content: bytes


def read(name: str, content: bytes, named: str | None = None) -> Released:
    """What is in a file."""
    reader = memory_source(name, content, named).reader
    table = pa.Table.from_batches(reader.batches(reader.schema.names), reader.schema)
    return Released(table.to_pylist(), [(field.name, str(field.type)) for field in table.schema], content)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_the_command_and_the_code_do_what_the_page_does(name: str, place: Path) -> None:
    question = CASES[name]
    recipe = question.values["recipe"]
    source, named = recipe["input"], recipe.get("format")
    Path(source).write_bytes(question.content)
    if isinstance(recipe.get("system"), dict):
        Path(recipe["system"]["name"]).write_text(recipe["system"]["content"], encoding="utf-8")
    shown = data.check(question, nothing)
    answer = data.release(question, nothing)
    assert [each.encoded()[:1] for each in (shown, answer)] == [b"{", b"{"]  # without NaN
    page = read(output_name(source), answer.content, named)

    cli.main(arguments(shown.values["command"], place), standalone_mode=False)
    target = place / output_name(source)
    assert answer.values["name"] == target.name
    assert target.read_bytes() == page.content
    if answer.values["inside"]:
        kept = memory_source(target.name, page.content).reader.schema.metadata[b"dpwords"]
    else:
        kept = target.with_name(f"{target.name}.receipt.json").read_bytes()
    assert json.loads(kept) == json.loads(answer.values["receipt"])

    target.unlink()
    exec(compile(shown.values["python"], "python", "exec"), {})
    code = read(target.name, target.read_bytes(), named)
    assert code.rows == page.rows
    if FileForm.of(source, named).kind != "jsonl":
        assert code.schema == page.schema


def arguments(command: str, place: Path) -> list[str]:
    """The arguments with which a shell calls dpwords."""
    tool = place / "bin" / "dpwords"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nprintf '%s\\0' \"$@\"\n", encoding="utf-8")
    tool.chmod(0o755)
    path = f"{tool.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", command], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


def test_what_people_spend_is_known_before_anything_is_drawn() -> None:
    found = data.check(asked(by="user", epsilon=1.5), nothing).values
    assert (found["rows"], found["words"], found["skipped"], found["fault"]) == (3, 3, 0, None)
    assert found["lengths"] == [[2, 1], [3, 1], [4, 1]]
    people = found["people"]
    assert (people["people"], people["most"], people["typical"], people["typical_spent"]) == (2, 2, 1.5, 2.25)
    assert found["spent"] == 3.0
    assert found["typical"] == {"epsilon": 1.5, "k": 1, "edits": "substitutions"}
    assert data.check(asked(by="user", budget=4, epsilon=None), nothing).values["spent"] == 4.0
    cut = data.check(asked(by="user", budget=2, split="first", epsilon=2), nothing).values
    assert (cut["spent"], cut["people"]["left_out"], cut["words"]) == (2.0, 1, 2)
    assert data.check(asked(), nothing).values["people"] is None
    told = data.release(asked(by="user", budget=4, epsilon=0.1), nothing).values
    assert (told["spent"], json.loads(told["receipt"])["epsilon"]) == (4.0, 4.0)


def test_the_summary_is_that_of_the_library() -> None:
    lines = data.summary(Message({"length": 3, "recipe": {"alphabet": "AB", "epsilon": 2, "k": 2}}), nothing)
    expected = str(dw.Exponential(dw.Words("AB"), 2, k=2).summary(3))
    assert "\n".join(lines.values["lines"]) == expected.partition("\n")[2]


def test_rows_without_a_word_are_counted_and_stop_the_release() -> None:
    content = b"user,course\nann,AB\nbob,AxQ\ncat,zB\n"
    bad = asked(content)
    found = data.check(bad, nothing).values
    assert (found["skipped"], found["words"]) == (2, 1)
    assert found["fault"].startswith("row 2 has a word that is not in the language")
    assert "Q" not in found["fault"]
    with pytest.raises(dw.NotInLanguage, match=r"row 2 ") as caught:
        data.release(bad, nothing)
    assert on_page(caught.value).endswith("skip such rows (“Leave out rows that have no word of the language”)")
    skipped = data.release(asked(content, invalid="skip"), nothing)
    assert skipped.content == b"user,course\nann,AB\n"
    with pytest.raises(dw.InvalidValue, match="no word that could be released"):
        data.release(asked(b"user,course\nann,q\n", invalid="skip"), nothing)


def test_the_owner_sees_what_became_of_the_first_words() -> None:
    rows = b"".join(b"u%d,%s\n" % (number, b"ABBA" * 5) for number in range(20))
    answer = data.release(asked(b"user,course\n" + rows, epsilon=1), nothing)
    written = [line.split(",")[1] for line in answer.content.decode().splitlines()[1:]]
    examples = answer.values["examples"]
    assert len(examples) == data.EXAMPLES
    for (before, marked), out in zip(examples, written, strict=False):
        assert "".join(before) == "ABBA" * 5
        assert "".join(symbol for symbol, _ in marked) == out
        changes = [old != new for old, new in zip("ABBA" * 5, out, strict=True)]
        assert [change == "changed" for _, change in marked] == changes
    assert any("changed" in str(marked) for _, marked in examples)


def test_progress_goes_up_to_the_end() -> None:
    shares: list[float] = []
    data.release(asked(), shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1


def test_a_first_look() -> None:
    found = data.look(looked("visits.csv", CSV), nothing).values
    assert found["columns"] == [["user", "text"], ["note", "text"], ["course", "text"]]
    assert found["rows"] == [["ann", "007", "AAB"], ["bob", "NA", "ABBA"], ["ann", "x, y", "BA"]]
    assert (found["format"], found["guess"]["shape"], found["guess"]["column"]) == ("csv", "column", "course")
    assert found["guess"]["by"] == "user"
    lists = data.look(looked("routes.parquet", parquet_of(TRIPS)), nothing).values
    assert lists["columns"] == [["trip", "numbers"], ["by car", "text"], ["route", "lists of text"]]
    wide = data.look(looked("w.csv", b"id,m1,m2,m3\n1,x,y,x\n"), nothing).values["guess"]
    assert (wide["shape"], wide["first"], wide["last"]) == ("wide", "m1", "m3")
    log = data.look(looked("log.csv", LOG), nothing).values["guess"]
    assert (log["shape"], log["case"], log["order"]) == ("log", "case:concept:name", "time:timestamp")


def test_a_list_of_symbols_is_in_the_receipt_and_an_estimate_needs_no_other(place: Path) -> None:
    """The page offers the file and its receipt for download; nobody has a file with the symbols."""
    rows = b"case,event\n" + b"".join(b"%d,stop\n%d,go on\n" % (case, case) for case in range(40))
    answer = data.release(
        asked(rows, "log.csv", column=None, case="case", symbol="event", alphabet=["go on", "stop"]), nothing
    )
    receipt = json.loads(answer.values["receipt"])
    assert receipt["recipe"]["alphabet"] == ["go on", "stop"]
    Path(answer.values["name"]).write_bytes(answer.content)
    Path(f"{answer.values['name']}.receipt.json").write_text(answer.values["receipt"], encoding="utf-8")
    found = run("estimate", "--input", answer.values["name"], "--question", "starts").stdout
    rows_of = dict(line.split("\t", 1) for line in found.splitlines())
    assert (rows_of["stop"].split("\t")[0], rows_of["go on"].split("\t")[0]) == ("1", "0")


def test_symbols_are_read_off_the_file_only_if_they_are_confirmed_to_be_public() -> None:
    values = {"recipe": {"input": "visits.csv", "column": "course"}}
    with pytest.raises(dw.InvalidValue, match="confirms"):
        data.symbols(Message(values, CSV), nothing)
    assert data.symbols(Message({**values, "confirmed": True}, CSV), nothing).values == {"symbols": ["A", "B"]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"input": "-"}, "a file needs a name"),
        ({"input": "visits.doc"}, "the suffix of visits.doc is not one of"),
        ({"input": "visits.parquet"}, "cannot be read as Parquet"),
        ({"column": "x"}, "there is no column x"),
        ({"format": "csv", "alphabet": r"\@/etcpaswd"}, "row 1 has a word that is not in the language"),
        ({"alphabet": "@/etc/passwd"}, "the page must not name a path: “Alphabet”"),
        ({"alphabet": None, "lexicon": "/etc/passwd"}, "the page must not name a path"),
        ({"alphabet": None, "system": "roads.csv"}, "the page must not name a path: “File of the system”"),
        ({"alphabet": None, "system": {"name": "passwd", "content": "x"}}, "a system must be a grid or a file"),
        ({"alphabet": None, "system": {"name": "/etc/roads.csv", "content": ROADS}}, "a file without its folder"),
        (
            {"alphabet": None, "system": {"name": "roads.csv", "content": ROADS}, "words": "moves"},
            "a .csv file has words of states only",
        ),
        ({"alphabet": None, "system": "grid:3x3", "walls": "x"}, "“Walls” takes cells ROW,COLUMN"),
        ({"alphabet": None, "system": "grid:3x3@@"}, "a grid is written"),
        ({"alphabet": ["a", "", "b"]}, "“Alphabet” must be a text, or a list of symbols"),
        ({"rules": ["sometimes:A"]}, "a rule is written NAME:SYMBOL"),
        ({"budget": 3}, "a budget is for each person: choose the column"),
        ({"by": "user", "split": "first", "budget": 1}, "the budget 1 is below"),
        ({"epsilon": "3"}, "“ε of each word” must be a finite number"),
        ({"ledger": "ledger.db"}, "has values that are not known here"),
    ],
)
def test_what_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(dw.DPWordsError) as caught:
        data.release(asked(**changed), nothing)
    shown = on_page(caught.value)
    assert re.search(message, shown)
    assert "--" not in shown
    assert "\n" not in shown


def test_nothing_is_written_to_disk() -> None:
    data.release(asked(), nothing)  # imports what it needs
    written: list[Any] = []
    watching = True

    def watch(event: str, details: tuple[Any, ...]) -> None:
        if watching and event == "open" and isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR):
            written.append(details)

    sys.addaudithook(watch)
    answers = [data.release(question, nothing) for question in CASES.values()]
    watching = False
    assert len(answers) == len(CASES)
    assert written == []


def test_names_of_released_files() -> None:
    names = ["a.csv", "a.b.csv.gz", "A.CSV.GZ", "data", ".csv"]
    assert list(map(output_name, names)) == [
        *("a.private.csv", "a.b.private.csv.gz", "A.private.CSV.GZ", "data.private", ".csv.private")
    ]
