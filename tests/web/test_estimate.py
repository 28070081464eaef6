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
from dpwords.web.messages import Message, on_page
from web.test_server import Client

EXAMPLE = (STATIC / "estimate_example.csv").read_bytes()
WORDS = EXAMPLE.decode().splitlines()[1:]
LETTERS = {"alphabet": "A-F"}
GRID = {"system": "grid:2x2"}
BESIDE = ("receipt", "question", "confidence", "method", "model")  # values of a question that are not of its recipe


def nothing(_share: float) -> None:
    """Show no progress."""


def asked(content: bytes = EXAMPLE, name: str = "trips.private.csv", **changed: Any) -> Message:
    """A question about releases, as the page asks it."""
    values = {"question": "frequencies", "confidence": 0.95}
    beside = {key: value for key, value in changed.items() if key in BESIDE}
    recipe = {"input": name, "column": "route", "epsilon": 2} | {"alphabet": None if "system" in changed else "A-F"}
    recipe |= {key: value for key, value in changed.items() if key not in BESIDE}
    return Message({**values, **beside, "recipe": recipe}, content)


def released(language: dict[str, Any], promise: dict[str, Any], words: list[str], **changed: Any) -> Message:
    """The answer of the view of data, which releases a file of words."""
    recipe = {"input": "trips.csv", "column": "route", **language, **promise, **changed}
    return data.release(Message({"recipe": recipe}, "\n".join(["route", *words]).encode()), nothing)


def looked(name: str, content: bytes, receipt: str | None = None) -> Message:
    """A first question about a released file."""
    return Message({"recipe": {"input": name}, "receipt": receipt}, content)


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
    assert graph["method"] == "inverse"
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
        **GRID,
        epsilon=30,
        mechanism="online",
        question="visits",
    )
    found = estimate.answer(question, shares.append).values
    values = {label[0]: value for label, value, *_ in found["rows"]}
    assert values == pytest.approx({"0,0": 0, "0,1": 3 / 8, "1,0": 1 / 8, "1,1": 1 / 2}, abs=1e-6)
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 1
    steps = estimate.answer(Message({**question.values, "question": "transitions"}, question.content), nothing)
    assert {"→".join(label): value for label, value, *_ in steps.values["rows"]}["0,0→0,1"] == pytest.approx(3 / 8)


def test_rates_are_probabilities_in_each_row() -> None:
    found = estimate.answer(asked(question="rates"), nothing).values
    sums: Counter[str] = Counter()
    for (source, _), value, low, high, _ in found["rows"]:
        sums[source] += value
        assert low <= value <= high
    assert dict(sums) == pytest.approx(dict.fromkeys("ABCDEF", 1))
    assert not {"total_error", "moved"} & found.keys()  # sums over all rows mean nothing
    assert found["names"][0] == "A → A"


def test_variants_are_whole_words_with_names_and_a_text_for_tables() -> None:
    found = estimate.answer(
        asked(b"route\n" + b"ABC\n" * 150 + b"BBBBA\n" * 50, epsilon=9, question="variants"), nothing
    )
    by_name = dict(zip(found.values["names"], found.values["rows"], strict=True))
    assert by_name["ABC"][1:2] + by_name["BBBBA"][1:2] == pytest.approx([0.75, 0.25], abs=0.02)
    assert by_name["ABC"][0] == ["ABC"]
    log = b"case,event\n" + b"".join(b"%d,go on\n%d,go on\n%d,go on\n%d,stop\n" % ((n,) * 4) for n in range(200))
    settings = {"column": None, "case": "case", "symbol": "event", "alphabet": ["go on", "stop"], "epsilon": 9}
    named = estimate.answer(asked(log, "log.csv", question="variants", **settings), nothing).values
    assert named["names"][0] == "go on (3 times) → stop"
    assert named["rows"][0][0] == ["go on → go on → go on → stop"]


def test_a_model_can_be_chosen_and_one_that_does_not_fit_is_told_first() -> None:
    """Symbols come in twos, which a chain does not remember."""
    words = "\n".join(["route", *["AABBAABB"] * 300, *["BBAABBAA"] * 300]).encode()
    settings: dict[str, Any] = {"alphabet": "AB", "epsilon": 6, "question": "dfg"}
    assert estimate.answer(asked(words, **settings), nothing).values["method"] == "inverse"
    chain = estimate.answer(asked(words, **settings, model="chain"), nothing).values
    assert (chain["model"], chain["fits"]) == ("chain", False)
    assert chain["notes"][0].startswith("the model (chain) does not fit")
    two = estimate.answer(asked(words, **settings, model="two steps"), nothing).values
    assert two["model"] == "two steps"
    command = two["command"].replace(" \\\n   ", "")
    assert "--question dfg --model 'two steps' --column route" in command
    assert 'dw.estimate.dfg(words, mechanism, model="two steps")' in two["python"]
    with pytest.raises(dw.InvalidValue) as caught:
        estimate.answer(asked(epsilon=9, edits="all", model="by place", question="dfg"), nothing)
    assert on_page(caught.value).endswith("leave out “Model of the population” by place")


def test_a_receipt_beside_a_file_fills_in_the_form() -> None:
    answer = released({**LETTERS, "rules": ["at_most:3;A"]}, {"epsilon": 1.23456789, "k": 2}, ["ABC", "BBD"])
    receipt = answer.values["receipt"]
    found = estimate.look(looked(answer.values["name"], answer.content, receipt), nothing).values["receipt"]
    assert {key: value for key, value in found["recipe"].items() if key != "recipe"} == {
        **{"alphabet": "A-F", "rules": ["at_most:3;A"], "epsilon": 1.23456789, "k": 2, "column": "route"}
    }
    assert found["words"] == 2


def test_a_receipt_inside_of_a_file_has_the_symbols() -> None:
    recipe = {"input": "traces.parquet", "column": "route", "alphabet": ["pay", "ship"], "epsilon": 2}
    answer = data.release(Message({"recipe": recipe}, parquet_of([["pay", "ship"], ["ship"]] * 50)), nothing)
    found = estimate.look(looked("traces.private.parquet", answer.content), nothing).values
    assert found["receipt"]["recipe"]["alphabet"] == ["pay", "ship"]
    assert estimate.look(looked("a.parquet", parquet_of(["AB"])), nothing).values["receipt"] is None
    receipt, question = found["receipt"]["text"], {"alphabet": ["pay", "ship"], "question": "lengths"}
    rows = estimate.answer(asked(answer.content, "a.parquet", receipt=receipt, **question), nothing).values["rows"]
    assert [row[4] for row in rows] == [0, 0.5, 0.5]
    turned = {**question, "alphabet": ["ship", "pay"]}
    with pytest.raises(dw.InvalidValue, match="with another alphabet, system or rules"):
        estimate.answer(asked(answer.content, "a.parquet", receipt=receipt, **turned), nothing)


@pytest.mark.parametrize(
    ("described", "word"),
    [
        ({"system": "grid:3x5@1,2", "words": "states", "walls": "0,0"}, "1,3 1,4"),
        ({"system": "grid:3x5"}, "ES"),
        ({"system": {"name": "roads.csv", "content": "source,target\na,b\nb,a\n"}, "start": "a"}, "ba"),
    ],
)
def test_a_receipt_of_a_system(described: dict[str, Any], word: str) -> None:
    answer = released(described, {"epsilon": 3}, [f'"{word}"'] * 2)
    look = looked("trips.private.csv", answer.content, answer.values["receipt"])
    found = estimate.look(look, nothing).values["receipt"]["recipe"]
    told = {key: value for key, value in found.items() if key not in ("recipe", "epsilon", "column")}
    if word == "ba":  # of the file, its content is in the receipt
        system = told["system"]
        assert system.keys() == {"start", "transitions"}
        assert (system["start"], set(system["transitions"])) == ("a", {"a", "b"})
        assert told["words"] == "states"
    else:
        assert told == described
    question = {**told, "epsilon": 3, "question": "lengths"}
    again = estimate.answer(asked(answer.content, receipt=answer.values["receipt"], **question), nothing)
    assert again.values["releases"] == 2


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        ({"epsilon": 2.5}, r"the receipt says that ε was 9.0, and .* says 2.5: leave out or correct what differs"),
        ({"epsilon": 9, "k": 3}, "the receipt says that k was 1, and .* says 3"),
        ({"epsilon": 9, "edits": "all"}, "the mechanism was Exponential, and .* says EditChannel"),
        ({"epsilon": 9, "mechanism": "online"}, "the mechanism was Exponential, and .* says On"),
        ({"epsilon": 9, "calibration": "textbook"}, "the receipt says that calibration= was tight"),
    ],
)
def test_settings_that_differ_from_the_receipt_are_refused(promise: dict[str, Any], message: str) -> None:
    answer = released(LETTERS, {"epsilon": 9}, ["ABC", "BBD"])
    with pytest.raises(dw.InvalidValue, match=message) as caught:
        estimate.answer(asked(answer.content, **promise, receipt=answer.values["receipt"]), nothing)
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
        estimate.look(looked("trips.private.csv", EXAMPLE, receipt), nothing)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"receipt": 3}', '{"receipt": 1, "options": 3}', "[" * 10**5])
def test_damaged_receipts_are_refused(text: str) -> None:
    with pytest.raises(dw.InvalidValue, match=r"the receipt of trips.private.csv .*: release "):
        estimate.answer(asked(receipt=text), nothing)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (asked(b"route\n"), "there are no releases to estimate from"),
        (asked(b"route\nABX\n"), r"row 1 .*: check .*, where its words are, and which words could come out$"),
        (asked(epsilon=0.001), "collect about .* times as many releases"),
        (asked(question="visits"), "only runs of a system visit states"),
        (asked(question="patterns"), "question must be one of"),
        (asked(model="linear"), "model must be one of auto, chain, by place, two steps"),
        (asked(confidence=1), "confidence is a number between 0 and 1"),
        (asked(column="x"), "there is no column x"),
        (asked(mechanism="channel"), "say “What is hidden” all"),
        (asked(utility="inverse", question="dfg", method="em"), "values that are not known"),
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
        column=None,
        case="case",
        symbol="event",
        alphabet=["go on", "stop"],
        epsilon=9,
    ),
    "columns for steps, at the textbook rate": asked(
        b"m1,m2\nA,B\nB,B\nA,\n",
        "wide.data",
        format="csv",
        column=None,
        columns="m1:m2",
        alphabet="AB",
        epsilon=12,
        utility="linear",
        calibration="textbook",
    ),
    "lists of cells, released online": asked(
        parquet_of([[[0, 1], [1, 1]], [[1, 0], [1, 1]]] * 20),
        "runs.parquet",
        **GRID,
        words="states",
        epsilon=8,
        mechanism="online",
        question="transitions",
    ),
    "rates by a chosen model": asked(question="rates", model="by place", epsilon=6),
    "whole words": asked(b"route\n" + b"AB\nBA\n" * 60, alphabet="AB", epsilon=5, question="variants", confidence=0.8),
    "the edit channel": asked(
        b"route\n" + b"AB\nABA\nB\n" * 20,
        alphabet="AB",
        epsilon=9,
        edits="all",
        question="starts",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_code_estimates_what_the_page_estimates(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    question = CASES[name]
    Path(question.values["recipe"]["input"]).write_bytes(question.content)
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
    question = asked(answer.content, receipt=answer.values["receipt"], epsilon=12, confidence=0.9)
    assert estimate.answer(question, nothing).values["command"] == (
        "dpwords estimate --input trips.private.csv --question frequencies \\\n    --confidence 0.9"
    )


def test_the_server_answers_both_questions() -> None:
    with browser.server() as address:
        client = Client(address)
        look = client.ask(looked("trips.private.csv", EXAMPLE).encoded(), "estimate/look")
        assert (look.status, look.values["columns"]) == (200, [["route", "text"]])
        lines = client.ask(asked(question="starts").encoded(), "estimate/answer").text.splitlines()
        assert json.loads(lines[0]) == {"progress": 0.1}
        assert json.loads(lines[-1])["releases"] == 800
        refused = client.ask(asked(b"route\n").encoded(), "estimate/answer").text.splitlines()
        assert json.loads(refused[-1])["error"].startswith("there are no releases")
