"""The first line of CSV and TSV: a header is written, so it must not be a row of private values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import dpwords as dw
from commands import refused, run
from dpwords.web import data, estimate
from dpwords.web.messages import Message, on_page

ABC = ("--alphabet", "abc", "-e", "1")
SURE = ("--alphabet", "abc", "-e", "200")  # words come out as they are
LENGTHS = ("--question", "lengths")
REMEDY = "could be a row of words and not the names of the columns: name one of its columns"


def file(tmp_path: Path, text: str, name: str = "in.csv") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return str(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("abcabca\nabcbbbb\n", ()),  # the first word
        ("abcabcz\nabcbbbb\n", ()),  # a first word that is not in the language, but nearly
        ("zzzza\nabcbbbb\n", ("--invalid", "skip")),
        ("a>b>c\nb>b\n", ("--separator", ">", "--format", "tsv")),
        ("a,b,c\nc,b,a\n", ("--columns", "*")),
        ("a,b,z\nc,b,a\n", ("--columns", "*", "--invalid", "skip")),
        ("17,b,c\n18,b,a\n", ("--columns", "[a-c]")),
        ("a,b,c\nc,b,a\n", ("--columns", "?", "--drop-others", "--output-format", "jsonl")),
    ],
)
def test_a_first_line_that_could_be_words_is_not_published(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    source, target = file(tmp_path, text), tmp_path / "out"
    message = refused("release", "--input", source, *ABC, *options, "--output-format", "csv", "--output", str(target))
    assert REMEDY in message
    assert text.partition("\n")[0] not in message
    assert not target.exists()


@pytest.mark.parametrize(
    ("text", "where", "alphabet"),
    [
        ("1,3,2\n3,3,3\n", ("--columns", "1:2"), "1-3"),  # numbers are names without a header
        ("17,3\n18,12\n", ("--column", "3"), "1-3"),
        ("7,2,3\n7,1,5\n", ("--case", "7", "--symbol", "2", "--order", "3"), "1-3"),
    ],
)
def test_a_number_does_not_confirm_a_header(tmp_path: Path, text: str, where: tuple[str, ...], alphabet: str) -> None:
    """As if --no-header had been forgotten, and the first row had the numbers that were meant as names."""
    assert REMEDY in refused("release", "--input", file(tmp_path, text), *where, "--alphabet", alphabet, "-e", "1")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("word\nabc\n", ("--alphabet", "abc")),  # nothing in common with any word
        ("w\nabc\n", ("--alphabet", "a-z", "--column", "w")),  # spelled out
        ("n,who,w\n1,ann,abc\n", ("--alphabet", "a-z", "--column", "w")),
        ("n,b,c\n1,a,b\n", ("--alphabet", "a-z", "--columns", "b:c")),
        ("b,c,who\na,b,ann\n", ("--alphabet", "a-z", "--columns", "?", "--by", "who")),
        ("m1,m2\na,b\n", ("--alphabet", "a-z", "--columns", "m*")),
        ("0,1\n7,abc\n", ("--alphabet", "abc", "--column", "1")),  # a number, but no word
        ("case,act,t\n1,a,1\n1,b,2\n", ("--alphabet", "a-z", "--case", "case", "--symbol", "act", "--order", "t")),
        ("case:concept:name,concept:name\n1,a\n1,b\n", ("--alphabet", "a-z")),
    ],
)
def test_headers_are_headers(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    done = run("release", "--input", file(tmp_path, text), *options, "-e", "200", "-q")
    assert (done.returncode, done.stdout, done.stderr) == (0, text, "")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("abcabca\nabcbbbb\n", ()),
        ("17,abc\n18,cba\n", ("--column", "2")),
        ("17,abc\n18,cba\n", ("--column", "2", "--id", "1", "--by", "1")),
        ("a,b,a\nc,b,a\n", ("--columns", "1:3")),
        ("a,b,a\nc,b,a\n", ("--columns", "*")),
        ("7,a,1\n7,b,2\n8,c,1\n", ("--case", "1", "--symbol", "2", "--order", "3")),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "tsv"])
def test_files_without_a_header(tmp_path: Path, text: str, options: tuple[str, ...], kind: str) -> None:
    rows = text.replace(",", "\t") if kind == "tsv" else text
    source, target = file(tmp_path, rows, f"in.{kind}"), tmp_path / f"out.{kind}"
    done = run("release", "--input", source, "--no-header", *options, *SURE, "-q", "--output", str(target))
    assert (done.returncode, done.stderr, target.read_text("utf-8")) == (0, "", rows)
    receipt = json.loads(Path(f"{target}.receipt.json").read_text("utf-8"))
    assert receipt["recipe"]["no_header"] is True
    found = run("estimate", "--input", str(target), "--question", "lengths")  # the receipt tells that it has none
    assert "lengths from 2 releases" in found.stderr
    where = options[:2] if "--id" in options else options
    again = run("estimate", "--input", "-", "--format", kind, "--no-header", *where, *SURE, *LENGTHS, stdin=rows)
    assert again.stdout == found.stdout


def test_other_formats_give_the_columns_their_numbers_as_names(tmp_path: Path) -> None:
    source, target = file(tmp_path, "17,abc\n18,cba\n"), tmp_path / "out.parquet"
    arguments = ("release", "--no-header", *SURE, "-q")
    assert run(*arguments, "--input", source, "--column", "2", "--output", str(target)).returncode == 0
    assert pq.read_table(target).to_pylist() == [{"1": "17", "2": "abc"}, {"1": "18", "2": "cba"}]
    assert run("estimate", "--input", str(target), "--question", "lengths").returncode == 0
    assert "--no-header is for CSV and TSV, and out.parquet is another format" in refused(
        *arguments, "--input", str(target), "--column", "2"
    )
    assert "leave out --no-header" in refused("release", "abc", "--no-header", *ABC)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\nc\n", ("--columns", "*"), "row 2 of in.csv has 1 values, but row 1 has 2"),
        ("a,b\n\nc,d\n", ("--columns", "*"), "row 2 of in.csv is blank"),
        ('a,b\n"c,a\n', ("--columns", "*"), "row 2 of in.csv has a quote"),
        ('"a,b\n', ("--columns", "*"), "row 1 of in.csv has a quote"),
        ("", (), "in.csv begins with a blank line, or is empty"),
        ("\na\n", (), "in.csv begins with a blank line, or is empty"),
        ("1,abc\n2,abz\n", ("--column", "2"), "row 2 has a word that is not in the language"),
        ("1,abc\n", ("--column", "word"), "there is no column word: the columns are 1, 2"),
        ("1,abc\n", (), "say where the words are"),
    ],
)
def test_bad_files_without_a_header(tmp_path: Path, text: str, options: tuple[str, ...], message: str) -> None:
    assert message in refused("release", "--input", file(tmp_path, text), "--no-header", *options, *ABC)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b,a\nc,b,a\n", ("--columns", "*"), "two columns of in.csv have the same name: rename one of them, or use"),
        ("17,cab\n18,abc\n", ("--column", "word"), "there is no column word: see that the first line of in.csv has"),
        ("1,112\n1,2\n", ("--columns", "1:1123"), "there is no column 1123 for an end of the range 1:1123: see that"),
    ],
)
def test_errors_about_columns_do_not_show_the_first_line(
    tmp_path: Path, text: str, options: tuple[str, ...], message: str
) -> None:
    found = refused("release", "--input", file(tmp_path, text), *options, *ABC)
    assert message in found
    assert "--no-header" in found
    for private in ("cab", "112,", " 112"):
        assert private not in found.replace("1123", "")


def test_studies_do_not_lose_the_first_word(tmp_path: Path) -> None:
    source = file(tmp_path, "abcabca\nabcbbbb\n")
    arguments = ("study", "data", "--input", source, "--alphabet", "abc", "-e", "5", "--seed", "1")
    assert REMEDY in refused(*arguments)
    assert "2 words with 14 symbols" in run(*arguments, "--no-header").stdout.replace("\n", " ")


def asked(content: bytes, column: str, **told: Any) -> Message:
    return Message(
        {"recipe": {"input": "in.csv", "alphabet": "abc", "epsilon": 200.0, "column": column, **told}}, content
    )


def nothing(_proportion: float) -> None:
    pass


def test_the_page_guesses_columns_and_so_asks_whether_there_is_a_header() -> None:
    """The column that it offers is the first line, so that it confirms nothing; the choice of a format does."""
    for question in (data.check, data.release):
        with pytest.raises(dw.InvalidValue) as caught:
            question(asked(b"abcabca\nabcbbbb\n", "abcabca"), nothing)
        assert "or use “Format: with a header” if it is a header, or use “Format: without a" in on_page(caught.value)
    look = Message({"recipe": {"input": "in.csv", "format": "csv", "no_header": True}}, b"7,abcabca\n8,abcbbbb\n")
    assert data.look(look, nothing).values["columns"] == [["1", "text"], ["2", "text"]]
    assert data.look(look, nothing).values["guess"]["column"] == "2"
    rows = b"7,abcabca\n8,abcbbbb\n"
    released = data.release(asked(rows, "2", format="csv", no_header=True), nothing)
    assert released.content == rows
    assert data.release(asked(b"cab\nabc\n", "cab", format="csv", header=True), nothing).content == b"cab\nabc\n"
    assert data.release(asked(b"word\nabc\n", "word"), nothing).content == b"word\nabc\n"
    checked = data.check(asked(rows, "2", format="csv", no_header=True), nothing).values
    assert "--no-header" in checked["command"]
    assert "header=None" in checked["python"]
    seen = {"recipe": {"input": "in.csv"}, "receipt": released.values["receipt"]}
    assert estimate.look(Message(seen, released.content), nothing).values["columns"] == [["1", "text"], ["2", "text"]]
