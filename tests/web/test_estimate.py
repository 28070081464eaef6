"""The view of estimates: what its tasks answer, what a receipt fills in, and what is refused."""

from __future__ import annotations

import io
import json
import math
import re
from collections import Counter
from contextlib import redirect_stdout
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import browser
import dpwords as dw
from dpwords.web import data, estimate
from dpwords.web.app import STATIC
from dpwords.web.messages import Message
from dpwords.web.wording import on_page
from web.test_server import Client

EXAMPLE = (STATIC / "estimate_example.csv").read_bytes()
WORDS = EXAMPLE.decode().splitlines()[1:]
COLUMN = {"shape": "column", "column": "route"}
LETTERS = {"kind": "alphabet", "alphabet": "A-F"}
GRID = {"kind": "grid", "rows": 2, "columns": 2}


def nothing(_share: float) -> None:
    """Show no progress."""


def asked(content: bytes = EXAMPLE, name: str = "trips.private.csv", **changed: Any) -> Message:
    """A question about releases, as the page asks it."""
    values = {
        "name": name,
        "where": COLUMN,
        "language": LETTERS,
        "promise": {"epsilon": 2},
        "question": "frequencies",
        "confidence": 0.95,
    }
    return Message({**values, **changed}, content)


def released(language: dict[str, Any], promise: dict[str, Any], words: list[str], **changed: Any) -> Message:
    """The answer of the view of data, which releases a file of words."""
    values = {"name": "trips.csv", "where": COLUMN, "language": language, "promise": promise, "people": {}}
    return data.release(Message({**values, **changed}, "\n".join(["route", *words]).encode()), nothing)


def parquet_of(words: list[Any]) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({"route": words}), file)
    return file.getvalue()


def test_the_example_agrees_with_the_closed_form_of_randomised_response() -> None:
    """At k = 1 each symbol stays with probability e^ε/(e^ε + 5), and becomes each other one with 1/(e^ε + 5)."""
    found = estimate.answer(asked(), nothing).values
    stays, becomes = (share / (math.exp(2) + 5) for share in (math.exp(2), 1))
    counts = Counter("".join(WORDS))
    assert [label for label, *_ in found["rows"]] == [[letter] for letter in "ABCDEF"]
    for [letter], value, low, high, counted in found["rows"]:
        share = counts[letter] / counts.total()
        assert counted == pytest.approx(share)
        assert value == pytest.approx((share - becomes) / (stays - becomes))
        assert low < value < high
    moved = sum(abs(value - counted) for _, value, _, _, counted in found["rows"])
    assert found["moved"] == pytest.approx(moved)
    assert (found["releases"], found["method"], found["notes"]) == (len(WORDS), "inverse", [])


def test_pairs_lengths_and_other_questions_count_the_releases() -> None:
    pairs = Counter(pair for word in WORDS for pair in pairwise(word))
    graph = estimate.answer(asked(question="dfg"), nothing).values
    assert {tuple(label): counted for label, *_, counted in graph["rows"]} == pytest.approx(
        {(one, other): pairs[one, other] / pairs.total() for one in "ABCDEF" for other in "ABCDEF"}
    )
    assert graph["method"] == "em"
    lengths = estimate.answer(asked(question="lengths"), nothing).values
    assert [row[1] for row in lengths["rows"]] == pytest.approx(
        [sum(len(word) == length for word in WORDS) / len(WORDS) for length in range(8)]
    )
    for question, place in (("starts", 0), ("ends", -1)):
        rows = estimate.answer(asked(question=question), nothing).values["rows"]
        at_place = Counter(word[place] for word in WORDS)
        assert [row[4] for row in rows] == pytest.approx([at_place[letter] / len(WORDS) for letter in "ABCDEF"])


def test_wider_confidence_wider_intervals() -> None:
    wide, narrow = (estimate.answer(asked(confidence=each), nothing).values["rows"] for each in (0.99, 0.8))
    ratio = (wide[0][3] - wide[0][2]) / (narrow[0][3] - narrow[0][2])
    assert ratio == pytest.approx(2.575829 / 1.281552, rel=1e-5)  # quantiles of the normal distribution


def test_visits_on_a_grid_by_a_fit_with_progress() -> None:
    """At ε = 30 releases are the true runs: 300 people go right and down, 100 down and right."""
    words = ["ES"] * 300 + ["SE"] * 100
    shares: list[float] = []
    question = asked(
        parquet_of([list(word) for word in words]),
        "runs.parquet",
        language=GRID,
        promise={"epsilon": 30, "mechanism": "online"},
        question="visits",
    )
    found = estimate.answer(question, shares.append).values
    values = {label[0]: value for label, value, *_ in found["rows"]}
    assert values == pytest.approx({"0,0": 0, "0,1": 3 / 8, "1,0": 1 / 8, "1,1": 1 / 2}, abs=1e-6)
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    steps = estimate.answer(Message({**question.values, "question": "transitions"}, question.content), nothing)
    assert {"→".join(label): value for label, value, *_ in steps.values["rows"]}["0,0→0,1"] == pytest.approx(3 / 8)


def test_a_receipt_beside_a_file_fills_in_the_form() -> None:
    answer = released({**LETTERS, "rules": ["at_most:3;A"]}, {"epsilon": 1.23456789, "k": 2}, ["ABC", "BBD"])
    receipt = answer.values["receipt"]
    look = Message({"name": answer.values["name"], "receipt": receipt}, answer.content)
    found = estimate.look(look, nothing).values["receipt"]
    form = found["form"]
    assert {name: form[name] for name in ("kind", "alphabet", "epsilon", "k", "edits", "rules", "shape", "column")} == {
        **{"kind": "alphabet", "alphabet": "A-F", "epsilon": "1.23456789", "k": "2", "edits": "substitutions"},
        **{"rules": "at_most:3;A", "shape": "column", "column": "route"},
    }
    assert (form["mechanism"], form["separator"], found["words"], found["needs"]) == ("", "", 2, None)


def test_a_receipt_inside_of_a_file_has_the_symbols() -> None:
    names = {"kind": "symbols", "symbols": "pay\nship"}
    answer = data.release(
        Message(
            {
                **{"name": "traces.parquet", "where": COLUMN, "language": names, "promise": {"epsilon": 2}},
                **{"people": {}},
            },
            parquet_of([["pay", "ship"], ["ship"]] * 50),
        ),
        nothing,
    )
    found = estimate.look(Message({"name": "traces.private.parquet"}, answer.content), nothing).values
    form = found["receipt"]["form"]
    assert (form["kind"], form["symbols"], found["receipt"]["needs"]) == ("symbols", "pay\nship", None)
    assert estimate.look(Message({"name": "a.parquet"}, parquet_of(["AB"])), nothing).values["receipt"] is None
    receipt, question = found["receipt"]["text"], {"language": names, "question": "lengths"}
    rows = estimate.answer(asked(answer.content, "a.parquet", receipt=receipt, **question), nothing).values["rows"]
    assert [row[4] for row in rows] == [0, 0.5, 0.5]
    turned = {**question, "language": {"kind": "symbols", "symbols": "ship\npay"}}
    with pytest.raises(dw.InvalidValue, match="a release in another language"):
        estimate.answer(asked(answer.content, "a.parquet", receipt=receipt, **turned), nothing)


@pytest.mark.parametrize(
    ("described", "form"),
    [
        (
            {"kind": "grid", "rows": 3, "columns": 5, "start": "1,2", "words": "states", "walls": "0,0"},
            {
                "kind": "grid",
                "rows": "3",
                "columns": "5",
                "start": "1,2",
                "words": "states",
                "walls": "0,0",
                "goal": "",
            },
        ),
        (
            {"kind": "grid", "rows": 3, "columns": 5},
            {"kind": "grid", "rows": "3", "columns": "5", "start": "0,0", "words": "moves", "walls": ""},
        ),
        (
            {"kind": "system", "name": "roads.csv", "system": "source,target\na,b\nb,a\n", "start": "a"},
            {"kind": "system", "symbols-are": "states", "start-state": ""},  # of the system that is in the receipt
        ),
    ],
)
def test_a_receipt_of_a_system(described: dict[str, Any], form: dict[str, str]) -> None:
    word = {"grid": "1,3 1,4" if described.get("words") else "ES", "system": "ba"}[described["kind"]]
    answer = released(described, {"epsilon": 3}, [f'"{word}"'] * 2)
    look = Message({"name": "trips.private.csv", "receipt": answer.values["receipt"]}, answer.content)
    receipt = estimate.look(look, nothing).values["receipt"]
    found = receipt["form"]
    assert {name: found[name] for name in form} == form
    assert not set(form) - set(found)
    if described["kind"] == "system":
        whole = receipt["system"]
        again = {"kind": "system", "name": whole["name"], "system": whole["text"], "words": "states"}
        question = {"language": again, "promise": {"epsilon": 3}, "question": "lengths"}
        asked_again = asked(answer.content, receipt=answer.values["receipt"], **question)
        assert estimate.answer(asked_again, nothing).values["releases"] == 2


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"epsilon": 2.5}, r"the receipt says ε = 9.0, and the settings say 2.5: correct the settings"),
        ({"epsilon": 9, "k": 3}, "the receipt says k = 1, and the settings say 3"),
        ({"epsilon": 9, "edits": "all"}, "the receipt says the distance hamming, and the settings say levenshtein"),
        ({"epsilon": 9, "mechanism": "online"}, "the receipt says the mechanism Exponential, and the settings say On"),
        ({"epsilon": 9, "calibration": "textbook"}, "the receipt says the calibration tight"),
    ],
)
def test_settings_that_differ_from_the_receipt_are_refused(promise: dict[str, Any], message: str) -> None:
    answer = released(LETTERS, {"epsilon": 9}, ["ABC", "BBD"])
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        estimate.answer(asked(answer.content, promise=promise, receipt=answer.values["receipt"]), nothing)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"budget": 4.0, "by": "rider"}, "need one ε for all words"),
        ({"report": "visits"}, "answers of a report, not words"),
        ({"lexicon": "cities.txt"}, "a lexicon, which the page does not have: use the command line"),
    ],
)
def test_receipts_that_the_page_cannot_use(changed: dict[str, Any], message: str) -> None:
    receipt = json.dumps({"receipt": 1, "epsilon": 2.0, "options": {"alphabet": "A-F", **changed}})
    with pytest.raises(dw.InvalidValue, match=message):
        estimate.look(Message({"name": "trips.private.csv", "receipt": receipt}, EXAMPLE), nothing)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"receipt": 3}', '{"receipt": 1, "options": 3}', "[" * 10**5])
def test_damaged_receipts_are_refused(text: str) -> None:
    with pytest.raises(dw.InvalidValue, match=r"the receipt of trips.private.csv .*: release "):
        estimate.answer(asked(receipt=text), nothing)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (asked(b"route\n"), "there are no releases to estimate from"),
        (asked(b"route\nABX\n"), r"row 1 .*: check .*, where its words are, and which words could come out$"),
        (asked(promise={"epsilon": 0.001}), "collect about .* times as many releases"),
        (asked(question="visits"), "only runs of a system visit states"),
        (asked(question="patterns"), "question must be one of"),
        (asked(confidence=1), "confidence is a share between 0 and 1"),
        (asked(where={"shape": "column", "column": "x"}), "there is no column x"),
        (asked(promise={"epsilon": 2, "mechanism": "channel"}), "say “What is hidden” all"),
        (asked(promise={"epsilon": 2, "utility": "inverse"}, question="dfg", method="em"), "values that are not known"),
        (asked(name="trips.doc"), "the suffix of trips.doc"),
        (asked(b"\x00\x01", "trips.parquet"), "cannot be read as Parquet"),
    ],
)
def test_what_is_refused(question: Message, message: str) -> None:
    with pytest.raises(dw.DPWordsError) as caught:
        estimate.answer(question, nothing)
    shown = on_page(caught.value)
    assert re.search(message, shown)
    assert "\n" not in shown
    assert "--" not in shown
    assert "X" not in shown


CASES = {
    "letters in a column": asked(question="dfg", confidence=0.9),
    "names in a log": asked(
        b"case,event\n1,go on\n1,stop\n2,stop\n2,go on\n3,go on\n",
        "log.csv",
        where={"shape": "log", "case": "case", "symbol": "event"},
        language={"kind": "symbols", "symbols": "go on\nstop"},
        promise={"epsilon": 9},
    ),
    "columns for steps, at the textbook rate": asked(
        b"m1,m2\nA,B\nB,B\nA,\n",
        "wide.data",
        format="csv",
        where={"shape": "wide", "first": "m1", "last": "m2"},
        language={"kind": "alphabet", "alphabet": "AB"},
        promise={"epsilon": 12, "utility": "linear", "calibration": "textbook"},
    ),
    "lists of cells, released online": asked(
        parquet_of([[[0, 1], [1, 1]], [[1, 0], [1, 1]]] * 20),
        "runs.parquet",
        language={**GRID, "words": "states"},
        promise={"epsilon": 8, "mechanism": "online"},
        question="transitions",
    ),
    "the edit channel": asked(
        b"route\n" + b"AB\nABA\nB\n" * 20,
        language={"kind": "alphabet", "alphabet": "AB"},
        promise={"epsilon": 9, "edits": "all"},
        question="starts",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_code_estimates_what_the_page_estimates(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = CASES[name]
    Path(question.values["name"]).write_bytes(question.content)
    shown = estimate.answer(question, nothing)
    shown.encoded()  # without NaN
    scope: dict[str, Any] = {}
    with redirect_stdout(io.StringIO()) as printed:
        exec(compile(shown.values["python"], "python", "exec"), scope)
    found = scope["found"]
    assert [row[1:] for row in shown.values["rows"]] == [
        [*share, found.counted[label]] for label, share in found.items()
    ]
    assert len(printed.getvalue().splitlines()) == len(found)


def test_the_command_names_the_mechanism_unless_there_is_a_receipt() -> None:
    question = CASES["columns for steps, at the textbook rate"]
    command = estimate.answer(question, nothing).values["command"].replace(" \\\n   ", "")
    assert command == (
        "dpwords estimate --input wide.data --question frequencies --format csv --columns m1:m2 --alphabet AB "
        "--epsilon 12 --utility linear --calibration textbook"
    )
    answer = released(LETTERS, {"epsilon": 12}, ["ABC", "BBD"] * 20)
    question = asked(answer.content, receipt=answer.values["receipt"], promise={"epsilon": 12}, confidence=0.9)
    assert estimate.answer(question, nothing).values["command"] == (
        "dpwords estimate --input trips.private.csv --question frequencies \\\n    --confidence 0.9"
    )


def test_the_server_answers_both_questions() -> None:
    with browser.server() as address:
        client = Client(address)
        look = client.ask(Message({"name": "trips.private.csv"}, EXAMPLE).encoded(), "estimate/look")
        assert (look.status, look.values["columns"]) == (200, [["route", "text"]])
        lines = client.ask(asked(question="starts").encoded(), "estimate/answer").text.splitlines()
        assert json.loads(lines[0]) == {"progress": 0.1}
        assert json.loads(lines[-1])["releases"] == 800
        refused = client.ask(asked(b"route\n").encoded(), "estimate/answer").text.splitlines()
        assert json.loads(refused[-1])["error"].startswith("there are no releases")
